/* simulation.h: a simulation on its ranks: its scene, its integrator, and who holds what.  What the public stepping API
 * (tactus/simulation.h) and the driver of whole runs (run.c) both stand on.
 *
 *     struct tac_simulation sim;
 *     tac_simulation_begin(&sim, ctx, scene);
 *     TAC_TRY(tac_simulation_pieces(&sim, &pieces));      several ranks
 *     TAC_TRY(tac_simulation_make(&sim, &pieces));        at t = 0; or then tac_simulation_put(): where a checkpoint is
 *     TAC_TRY(tac_simulation_go(&sim, t, NULL));
 *     tac_simulation_end(&sim);
 */
#ifndef TACTUS_RUN_SIMULATION_H
#define TACTUS_RUN_SIMULATION_H

#include "integrators/integrator.h"
#include "partition/part.h"
#include <tactus/output.h>
#include <tactus/simulation.h>

/* When the ranks were last dealt. */
struct tac_balance {
    int64_t passes;
    int64_t deep_messages;      /* so many messages of deep pairs are dearer than a rebalancing; 0: not known yet */
    int64_t joined_at;          /* the pass after which deep pairs last went to one rank; 0: never */
    struct tac_workload load;   /* work done until the last deal */
    struct tac_workload recent; /* from which on it says what the next deal should weigh */
    int64_t dealt_at;           /* the pass after which that was */
    bool cut_known;             /* some partition has known the contacts */
    bool gathered;              /* one rank has all: more would be slower */
    bool deals;                 /* tests: however little there is to do */
    bool due;                   /* a step was made since */
    uint64_t shuffle;           /* tests: rebalance at every commit */
};

struct tac_simulation {
    struct tac_ctx *ctx;     /* borrowed: of the engine. In the public API it is `own` */
    struct tac_scene *whole; /* borrowed: what was read; on several ranks without its big arrays */
    struct tac_scene *local; /* owned; NULL on one rank */
    const struct tac_integrator *way;
    void *state;               /* owned, by the integrator; NULL: lost in a failure */
    struct tac_record *record; /* borrowed: breakpoints go there; NULL: nowhere */
    struct tac_balance balance;
    tac_time last_frame;  /* since when the contact impulses are summed */
    int64_t ticks_before; /* committed before this process, as this rank's counters have it */

    /* the public API's */
    struct tac_ctx *host, own; /* borrowed: the caller's; on a communicator of its own */
    enum tac_err failed;       /* of no more use since then */
    int64_t restarts;
    double wall_s;               /* of all runs before this one */
    bool has_row;                /* energy() can be asked for */
    bool (*go_on)(void *user);   /* the watcher; NULL: none */
    void *user;                  /* borrowed */
    size_t vertices;             /* room of the following two */
    double *position;            /* owned */
    tac_gid *id;                 /* owned */
    bool looked;                 /* `position` is of now */
    struct tac_contact *contact; /* owned: the list that was last asked for */
};

/* What a driver does around each step. */
struct tac_observer {
    void *user;
    /* Before it: wishes; returns where it shall end, not after t. */
    tac_time (*before)(void *user, tac_time t, struct tac_step *step);
    /* Collective. After it; an error ends tac_simulation_go(). */
    enum tac_err (*after)(void *user, tac_time t, const struct tac_step *step);
};

/* Local. Empty, of this scene (borrowed). */
void tac_simulation_begin(struct tac_simulation *sim, struct tac_ctx *ctx, struct tac_scene *scene);
/* Collective. On several ranks: the scene's arrays become pieces, unless *pieces are given; NULL on one rank. */
enum tac_err tac_simulation_pieces(struct tac_simulation *sim, struct tac_pieces **pieces);
/* Collective. Refuses a scene that starts with overlaps, which are written to `dir` (NULL: nowhere). */
enum tac_err tac_simulation_check(struct tac_simulation *sim, const struct tac_pieces *pieces, const char *dir);
/* Collective. Distributes the scene to the ranks and makes the integrator's state at t = 0.  Destroys the pieces. */
enum tac_err tac_simulation_make(struct tac_simulation *sim, struct tac_pieces **pieces);
/* Collective. Goes on to t > now: steps, and between them balance. */
enum tac_err tac_simulation_go(struct tac_simulation *sim, tac_time t, const struct tac_observer *observer);
/* Collective. The same state (a checkpoint) in a new one of the integrator's, of sim->whole as it is now; on several
 * ranks by the owners that the pieces tell. After a failure there is none. */
enum tac_err tac_simulation_rebuild(struct tac_simulation *sim, struct tac_pieces *pieces,
                                    const struct tac_checkpoint *state);
/* Collective. Changes the scene from now on, by "path=value" (tac_simulation_set_control() in tactus/simulation.h).
 * *lost: after an error, the state is gone. */
enum tac_err tac_simulation_change(struct tac_simulation *sim, const char *assignment, bool *lost);
/* Local. */
void tac_simulation_end(struct tac_simulation *sim);
/* Local. Force ticks that were committed, of all kinds. */
int64_t tac_simulation_ticks(const struct tac_counters *counters);

/* Local. The row of now is the last one from now on. */
static inline void tac_simulation_begin_row(struct tac_simulation *sim)
{
    if (sim->way->book != NULL)
        sim->way->book->begin_row(sim->state);
}

/* Local. */
static inline struct tac_state_view tac_simulation_view(const struct tac_simulation *sim)
{
    struct tac_state_view view;
    sim->way->view(sim->state, &view);
    return view;
}
static inline tac_time tac_simulation_now(const struct tac_simulation *sim)
{
    return tac_simulation_view(sim).now;
}

/* ---- balance.c ---- */
/* Collective. The first deal: owners of the pieces' vertices.  A small scene goes to one rank until it is known to have
 * more work. */
enum tac_err tac_simulation_deal(struct tac_simulation *sim, struct tac_pieces *pieces);
/* Collective; after a step. Are the ranks out of balance, or do they talk too much, and is it worth the move?  If so
 * the scene is distributed anew, by what is known of contacts. */
enum tac_err tac_simulation_balance(struct tac_simulation *sim);

/* ---- stepping.c: the public API ---- */
/* Local. Empties the contexts; an error if the simulation has failed before. */
enum tac_err tac_simulation_enter(struct tac_simulation *sim);
/* Local. Tells the caller's context; lost: it is of no more use after an error. */
enum tac_err tac_simulation_leave(struct tac_simulation *sim, enum tac_err err, bool lost);

#endif
