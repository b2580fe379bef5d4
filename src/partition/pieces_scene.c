/* pieces_scene.c: a rank's scene before it has a mesh: it shares the settings of the whole one. */
#include "partition/pieces.h"

enum tac_err tac_scene_share(struct tac_ctx *ctx, const struct tac_scene *common, struct tac_scene **out)
{
    struct tac_scene *s = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_scene_make(ctx, common->settings, &s));
    TAC_TRY(tac_alloc(ctx, (size_t)common->settings->motion_count, sizeof *s->mesh->moved, &s->mesh->moved));
    s->mesh->moved_count = common->settings->motion_count;
    *out = s;
    s = NULL;
done:
    tac_scene_destroy(&s);
    return err;
}
