/* change.h: changes a scene while its simulation runs: gravity, friction, restitution, loads, paths of motions.
 *
 * A changed scene is a scene like any other: its text gives the values from now on (and, of motions, the path before),
 * and its hash is of that text.  So a run can go on from a later checkpoint with the changed scene only.
 *
 *     struct tac_scene_change change;
 *     TAC_TRY(tac_scene_change(ctx, scene, "gravity=[0, 0, -9.81]", now, &change));
 *     tac_scene_change_swap(scene, &change);      swapping again undoes it
 *     tac_scene_change_clear(&change);
 */
#ifndef TACTUS_SCENE_CHANGE_H
#define TACTUS_SCENE_CHANGE_H

#include <tactus/scene.h>

struct tac_scene_change {
    struct tac_scene scene;       /* as it will be: `settings` below, and the mesh as it is */
    struct tac_settings settings; /* laws, loads, knots of motions and text are owned, all else is a view */
    uint8_t *motion;              /* owned, (motion_count): 1: the path of the motion is another one from now on */
};

/* Local. Computes the scene as "path=value" changes it at `now` [quanta].  A motion's path (or its rotate.path) may
 * only be given knots after now: the knots before it stay, and where the motion has begun and not ended, one is put at
 * now. TAC_ERR_INPUT: a value that the scene's reader refuses too, or one that cannot change in mid-run. */
enum tac_err tac_scene_change(struct tac_ctx *ctx, const struct tac_scene *scene, const char *assignment, tac_time now,
                              struct tac_scene_change *out);
/* Local. Applies the change to the scene and to all scenes that share its settings.  Afterwards the change holds what
 * undoes it. */
void tac_scene_change_swap(struct tac_scene *scene, struct tac_scene_change *change);
/* Local. */
void tac_scene_change_clear(struct tac_scene_change *change);

#endif
