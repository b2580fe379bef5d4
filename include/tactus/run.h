/* tactus/run.h: a whole run: from a scene to a run folder.
 *
 *     struct tac_run_options options = {.dir = "drop.run"};
 *     TAC_TRY(tac_run(ctx, scene, &options));
 */
#ifndef TACTUS_RUN_H
#define TACTUS_RUN_H

#include <tactus/base.h>
#include <tactus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tac_checkpoint; /* io/checkpoint/checkpoint.h */
struct tac_pieces;     /* partition/part.h */

struct tac_run_options {
    const char *dir; /* run folder; made */
    bool overwrite;  /* replace an old run there */
    bool record;     /* keep every breakpoint in record.h5 */
    int argc;        /* for run.json: how it was called; may be 0 */
    char **argv;
    double wall_limit_s;                /* stop with a checkpoint before so much wall time is over; 0: none */
    const char *restart;                /* the checkpoint file to go on from; NULL: none */
    struct tac_checkpoint **checkpoint; /* what it holds; tac_run() destroys it when it needs it no more */
    struct tac_pieces *
        *pieces; /* several ranks: the scene's arrays, with topology, if `scene` is without them; likewise */
};

/* Collective. Refuses scenes that start with overlaps; runs to scene->t_end; writes frames, energies, checkpoints,
 * status and run.json (docs/run-folder.md).  TAC_ERR_INPUT: nothing was run; TAC_ERR_RUN: it failed, with what was
 * committed written; TAC_ERR_STOPPED: a signal or the wall limit ended it, with a checkpoint saved.  On several ranks
 * the big arrays of `scene` are freed once each rank has its part. */
enum tac_err tac_run(struct tac_ctx *ctx, struct tac_scene *scene, const struct tac_run_options *options);

#ifdef __cplusplus
}
#endif
#endif
