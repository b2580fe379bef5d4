/* tactus/run.h: computes a whole run, from a scene to a run folder.
 *
 *     const struct tac_scene_source source = {.path = "drop.json"};
 *     const struct tac_run_options options = {.dir = "drop.run"};
 *     TAC_TRY(tac_run(ctx, &source, &options));
 */
#ifndef TACTUS_RUN_H
#define TACTUS_RUN_H

#include <tactus/base.h>
#include <tactus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tac_run_options {
    const char *dir; /* the run folder, which is made. NULL: <stem of the scene's file>.run, or the checkpoint's */
    bool overwrite;  /* replace an old run there */
    bool record;     /* keep every breakpoint in record.h5 */
    int argc;        /* for run.json: how it was called; may be 0 */
    char **argv;
    double wall_limit_s;   /* stop with a checkpoint before so much wall time is over; 0: none */
    const double *until_s; /* the end, s, instead of the scene's time.end; NULL: time.end */
    const char *restart;   /* the checkpoint to go on from, or the folder with it; NULL: none */
    bool branch;           /* the source's `set` changes the scene from the checkpoint's time on; dir is a new folder */
};

/* Collective. Reads the scene, refuses a scene whose surfaces overlap at the start, and runs it to its end. Writes
 * frames, energies, checkpoints, status and run.json (docs/reference/run-folder.md).  With `restart` it goes on from a
 * checkpoint; the source may then be without a path, and the scene is the checkpoint's own, with the source's `set`.
 * With `branch` the source's `set` may change what tac_simulation_set_control() may change (tactus/simulation.h).
 * TAC_ERR_INPUT: nothing was run; TAC_ERR_RUN: the run failed, and everything up to the last commit is written;
 * TAC_ERR_STOPPED: a signal (tactus/process.h) or the wall limit ended the run, and a checkpoint is saved. */
enum tac_err tac_run(struct tac_ctx *ctx, const struct tac_scene_source *source, const struct tac_run_options *options);

#ifdef __cplusplus
}
#endif
#endif
