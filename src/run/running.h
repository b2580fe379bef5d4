/* running.h: the state of a whole run: the loop over its frames (run.c), its checkpoints (run_save.c) and its beginning
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
    char *moved;     /* owned: the path of the folder after it was renamed, which dir then points to; NULL: it was not
                        renamed */
    struct tac_simulation sim;
    struct tac_output *out;
    struct tac_follow *follow; /* owned: what histories keep from row to row */
    int64_t *followed;         /* owned, (followed_count): the same, from the checkpoint at which the run began */
    int64_t followed_count;
    struct tac_record *record;          /* owned; NULL: breakpoints are not recorded */
    size_t room;                        /* capacity of the three arrays below, vertices */
    double *position, *velocity;        /* owned, (room, 3) */
    float *force;                       /* owned, likewise */
    struct tac_fields fields;           /* of the newest frame */
    int64_t frame;                      /* of the next frame */
    double wall_start_s, wall_before_s; /* start of this process; wall time of earlier ones */
    int64_t all_before;                 /* ticks of all ranks that earlier processes committed */
    int64_t restarts;
    double requested_wall_s, longest_pass_s; /* when the present pass began; the longest pass so far */
    double saved_wall_s, save_took_s;        /* when the newest checkpoint was written; how long that took */
    tac_time next_save;                      /* when the next checkpoint is due by simulated time */
    char saved[64];                          /* name of the newest checkpoint */
    struct tac_progress progress;            /* since this process began to step */
    struct tac_energy_row row;
    int64_t contacts;     /* number in the last frame's row; after a restart, at the checkpoint */
    tac_time row_at;      /* time of `row` if its frame is not written yet; else negative */
    struct tac_step step; /* the last one */
    const char **
        change; /* owned, (change_count): assignments that change the scene where the run is branched; borrowed texts */
    int change_count;
};

/* Collective. Runs frame after frame to the scene's end. */
enum tac_err tac_running_loop(struct tac_running *run);
/* Collective. Writes a checkpoint of now. The files that a restart from it needs reach the disk first. */
enum tac_err tac_running_save(struct tac_running *run);
/* Collective. Writes how the run ended; err: the failure, if there was one. Call it after a failure too. */
enum tac_err tac_running_finish(struct tac_running *run, enum tac_err err);

#endif
