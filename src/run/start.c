/* start.c: from a checkpoint to the scene that it goes on with. */
#include "run/start.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/geometry.h"
#include <stdlib.h>
#include <string.h>

enum tac_err tac_start_resume(struct tac_ctx *ctx, const char *path, const struct tac_scene_source *source,
                              struct tac_start *out)
{
    enum tac_err err;
    struct tac_gathered gathered = {0};
    json_t *json = NULL;
    char sha256[65];
    TAC_TRY(tac_checkpoint_read(ctx, path, &out->file, &json, sha256, &out->checkpoint));
    TAC_TRY(tac_geometry_gather(ctx, out->checkpoint, &gathered));
    TAC_TRY(tac_scene_resume(ctx, source->path, source->set, source->set_count, json, sha256, &gathered.geometry,
                             &out->scene));
done:
    tac_gathered_clear(&gathered);
    json_decref(json);
    return err;
}

void tac_start_clear(struct tac_start *start)
{
    tac_checkpoint_destroy(&start->checkpoint);
    tac_scene_destroy(&start->scene);
    free(start->file);
    memset(start, 0, sizeof *start);
}
