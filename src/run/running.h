/* running.h: a run under way (run.c), its checkpoints (run_save.c), and how its scene is dealt out to the ranks
 * (run_deal.c). */
#ifndef TACTUS_RUN_RUNNING_H
#define TACTUS_RUN_RUNNING_H

#include "events/sim.h"
#include "run/start.h"
#include <tactus/output.h>

struct tac_running {
    struct tac_ctx *ctx;
    const struct tac_run_options *options;
    struct tac_run_start *start; /* borrowed */
    struct tac_scene *whole;     /* borrowed: what was read; on several ranks without its big arrays */
    struct tac_scene *local;     /* owned; NULL on one rank */
    struct tac_sim *sim;
    struct tac_output *out;
    struct tac_record *record;   /* owned; NULL: breakpoints are not kept */
    double *position, *velocity; /* owned, (owned vertices, 3) */
    float *force;                /* owned, likewise */
    int64_t frame;               /* of the next frame */
    tac_time last_frame;
    double wall_start_s, wall_before_s; /* of this sitting; spent in earlier ones */
    int64_t ticks_before, all_before; /* committed in earlier ones, as this rank's counters and those of all have it */
    int64_t restarts;
    double wished_wall_s, longest_pass_s; /* since when the pass under way runs; what one took at most */
    double saved_wall_s, save_took_s;     /* when the newest checkpoint was written, and how long that took */
    tac_time next_save;                   /* by simulated time */
    char saved[64];                       /* name of the newest checkpoint */
    struct tac_energy_row row;
    int64_t contacts; /* of the last frame's row; after a restart those at the checkpoint */
    tac_time row_at;  /* `row` is that of this time, for a frame that is not written yet; else before 0 */
    double moved_wall_s, move_took_s; /* the last deal: when, how long */
    bool cut_known;                   /* some deal has known the contacts */
    double busy_s, balance_wall_s;    /* for balance: work done when it was last looked at, and when that was */
    int64_t passes;
    int64_t chatter;  /* so many messages of deep pairs are dearer than a deal; 0: not known yet */
    uint64_t shuffle; /* tests: deal anew at every commit */
};

/* Collective. On several ranks: the scene's arrays become pieces, unless they are that already.  *pieces: owned by the
 * caller; NULL on one rank. */
enum tac_err tac_run_pieces(struct tac_running *run, struct tac_pieces **pieces);
/* Local. Force ticks that were committed, of all kinds. */
int64_t tac_run_ticks(const struct tac_counters *counters);
/* Collective. Deals the scene out to the ranks, and makes the simulation of this rank's part.  Destroys the pieces. */
enum tac_err tac_run_deal(struct tac_running *run, struct tac_pieces **pieces);
/* Collective. Writes a checkpoint of now; what it supposes to be in the folder comes to the disk first. */
enum tac_err tac_run_save(struct tac_running *run);
/* Collective; after a pass. Are the ranks out of balance, or do they talk too much, and is it worth the move?  If so
 * the scene is dealt anew, by what is known of contacts. */
enum tac_err tac_run_balance(struct tac_running *run);

#endif
