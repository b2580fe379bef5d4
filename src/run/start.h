/* start.h: reads the checkpoint that a run or a simulation continues from, and its scene. */
#ifndef TACTUS_RUN_START_H
#define TACTUS_RUN_START_H

#include <tactus/scene.h>

struct tac_checkpoint;
struct tac_pieces;

struct tac_start {
    struct tac_scene *scene;           /* owned */
    struct tac_pieces *pieces;         /* owned; of a large scene on several ranks, for which `scene` has no arrays */
    struct tac_checkpoint *checkpoint; /* owned */
    char *file;                        /* owned; path of the checkpoint */
};

/* Collective. Reads a checkpoint (a file, or the newest whole one of a folder) and its scene: its own, or that of
 * source->path, which must be the same; source->set is applied. */
enum tac_err tac_start_resume(struct tac_ctx *ctx, const char *path, const struct tac_scene_source *source,
                              struct tac_start *out);
/* Local. Frees all; leaves it empty. */ void tac_start_clear(struct tac_start *start);

#endif
