/* whole_steps.h: steps of one length, which end on the grid of frames (tac_scene_grid()), for integrators whose state
 * exists at the ends of steps only. */
#ifndef TACTUS_STATE_WHOLE_STEPS_H
#define TACTUS_STATE_WHOLE_STEPS_H

#include <tactus/scene.h>

/* Local. TAC_ERR_INPUT: the scene does not end with a whole step of step_s, s (--until may name any time). who: "the
 * implicit integrator". */
enum tac_err tac_steps_check_end(struct tac_ctx *ctx, const struct tac_scene *scene, double step_s, const char *who);
/* Local. TAC_ERR_INPUT: the next step, which ends at `end`, ends after `limit`. */
enum tac_err tac_steps_check_limit(struct tac_ctx *ctx, const struct tac_scene *scene, double step_s, tac_time end,
                                   tac_time limit, const char *who);
/* Local. Returns the number of the step that ended at `now`. */
int64_t tac_steps_number(const struct tac_scene *scene, double step_s, tac_time now);

#endif
