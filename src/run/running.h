/* running.h: a whole run under way, from frame to frame (run.c), its checkpoints (run_save.c), and how it begins
 * (run_start.c). */
#ifndef TACTUS_RUN_RUNNING_H
#define TACTUS_RUN_RUNNING_H

#include "run/progress.h"
#include "run/requested_fields.h"
#include "run/simulation.h"
#include "run/steps.h"
#include <tactus/output.h>
#include <tactus/run.h>

struct tac_running {
    struct tac_ctx *ctx;
    const struct tac_run_options *options;
    const char *dir; /* borrowed: the run folder */
    char *moved;     /* owned: where it is since it was renamed, then dir is this; NULL: it was not */
    struct tac_simulation sim;
    struct tac_output *out;
    struct tac_follow *follow; /* owned: what histories remember */
    int64_t *followed;         /* owned, (followed_count): the same in the checkpoint that it goes on from */
    int64_t followed_count;
    struct tac_record *record;          /* owned; NULL: breakpoints are not kept */
    size_t room;                        /* vertices of the following three */
    double *position, *velocity;        /* owned, (room, 3) */
    float *force;                       /* owned, likewise */
    struct tac_fields fields;           /* of the newest frame */
    int64_t frame;                      /* of the next frame */
    double wall_start_s, wall_before_s; /* of this sitting; spent in earlier ones */
    int64_t all_before;                 /* ticks of all ranks that were committed in earlier ones */
    int64_t restarts;
    double requested_wall_s, longest_pass_s; /* since when the pass under way runs; what one took at most */
    double saved_wall_s, save_took_s;        /* when the newest checkpoint was written, and how long that took */
    tac_time next_save;                      /* by simulated time */
    char saved[64];                          /* name of the newest checkpoint */
    struct tac_progress progress;            /* since this sitting began to step */
    struct tac_energy_row row;
    int64_t contacts;     /* of the last frame's row; after a restart those at the checkpoint */
    tac_time row_at;      /* `row` is that of this time, for a frame that is not written yet; else before 0 */
    struct tac_step step; /* the last one */
    const char **change;  /* owned, (change_count): where the run is branched, what changes there; borrowed texts */
    int change_count;
};

/* Collective. Frame after frame to the scene's end. */
enum tac_err tac_running_loop(struct tac_running *run);
/* Collective. Writes a checkpoint of now; what it supposes to be in the folder comes to the disk first. */
enum tac_err tac_running_save(struct tac_running *run);
/* Collective. Writes how it ended, also after a failure: err. */
enum tac_err tac_running_finish(struct tac_running *run, enum tac_err err);

#endif
