/* start.h: runs that do not begin with a scene that is whole on every rank, as tactus/run.h has it: those that go on
 * from a checkpoint, and those of which each rank has read a part. */
#ifndef TACTUS_RUN_START_H
#define TACTUS_RUN_START_H

#include "io/checkpoint/checkpoint.h"
#include "partition/part.h"
#include <tactus/run.h>

struct tac_run_start {
    char *file;                        /* owned by the caller: the checkpoint to go on from; NULL: none */
    struct tac_checkpoint *checkpoint; /* owned: what it holds; destroyed when it is needed no more; NULL: none */
    struct tac_pieces *pieces;         /* owned, several ranks: the scene's arrays, with topology, if the scene is
                                          without them; likewise */
};

/* Collective. tac_run() from such a start.  What is left of it is the caller's. */
enum tac_err tac_run_from(struct tac_ctx *ctx, struct tac_scene *scene, const struct tac_run_options *options,
                          struct tac_run_start *start);

#endif
