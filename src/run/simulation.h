/* simulation.h: a simulation on its ranks: its scene, its integrator, and which rank owns which vertex. The public
 * stepping API (tactus/simulation.h) and the driver of whole runs (run.c) are both built on it.
 *
 *     struct tac_simulation sim;
 *     tac_simulation_begin(&sim, ctx, scene);
 *     TAC_TRY(tac_simulation_pieces(sim.ctx, sim.whole, &pieces));      several ranks
 *     TAC_TRY(tac_simulation_make(&sim, &pieces));        at t = 0
 *     TAC_TRY(tac_simulation_go(&sim, t, NULL));
 *     tac_simulation_end(&sim);
 */
#ifndef TACTUS_RUN_SIMULATION_H
#define TACTUS_RUN_SIMULATION_H

#include "integrators/integrator.h"
#include "partition/part.h"
#include <tactus/output.h>
#include <tactus/simulation.h>

/* What is known of the last distribution of the scene over the ranks, and what decides the next one. */
struct tac_balance {
    int64_t passes;
    int64_t deep_messages;      /* so many messages of deep pairs are dearer than a rebalancing; 0: not known yet */
    int64_t joined_at;          /* the pass after which deep pairs last went to one rank; 0: never */
    struct tac_workload load;   /* work done until the last distribution */
    struct tac_workload recent; /* from which on it says what the next distribution should weigh */
    int64_t distributed_at;     /* the pass after which that was */
    bool cut_known;             /* some partition has known the contacts */
    bool gathered;              /* one rank has all: more would be slower */
    bool distributes_small;     /* tests: however little there is to do */
    bool due;                   /* a step was made since */
    uint64_t shuffle;           /* tests: rebalance at every commit */
};

struct tac_simulation {
    struct tac_ctx *ctx;     /* borrowed: of the engine. In the public API it is `own` */
    struct tac_scene *whole; /* borrowed: the scene that was read; on several ranks without its large arrays */
    struct tac_scene *local; /* owned; NULL on one rank */
    const struct tac_integrator *integrator;
    void *state;               /* owned, made by the integrator; NULL: lost in a failure */
    struct tac_record *record; /* borrowed: where breakpoints are recorded; NULL: they are not */
    struct tac_balance balance;
    tac_time last_frame;  /* time since which the contact impulses are summed */
    int64_t ticks_before; /* ticks committed before this process began, by this rank's counters */

    /* used by the public API only */
    struct tac_ctx *host, own; /* host: borrowed, the caller's; own: with a communicator of its own */
    enum tac_err failed;       /* the first failure; the simulation cannot be used after it */
    int64_t restarts;
    double wall_s;               /* wall time of all runs before this one */
    bool has_row;                /* tac_simulation_energy() can be called */
    bool (*go_on)(void *user);   /* the watcher: false stops the simulation; NULL: none */
    void *user;                  /* borrowed */
    size_t vertices;             /* capacity of the two arrays below */
    double *position;            /* owned */
    tac_gid *id;                 /* owned */
    bool looked;                 /* `position` holds the positions of now */
    struct tac_contact *contact; /* owned: the list that was last asked for */
};

/* What a driver does around each step. */
struct tac_observer {
    void *user;
    /* Local, before the step. Fills the requests in `step`; returns the time at which the step must end, at most t. */
    tac_time (*before)(void *user, tac_time t, struct tac_step *step);
    /* Collective, after the step. An error ends tac_simulation_go(). */
    enum tac_err (*after)(void *user, tac_time t, const struct tac_step *step);
};

/* Local. Makes an empty simulation of this scene (borrowed). */
void tac_simulation_begin(struct tac_simulation *sim, struct tac_ctx *ctx, struct tac_scene *scene);
/* Collective. On several ranks turns the scene's arrays into pieces, unless *pieces are given; on one rank *pieces
 * stays NULL. */
enum tac_err tac_simulation_pieces(struct tac_ctx *ctx, struct tac_scene *whole, struct tac_pieces **pieces);
/* Collective. Refuses a scene that starts with overlaps and writes them to `dir` (NULL: nowhere). */
enum tac_err tac_simulation_check(struct tac_ctx *ctx, struct tac_scene *whole, const struct tac_pieces *pieces,
                                  const char *dir);
/* Collective. Distributes the scene to the ranks and makes the integrator's state at t = 0.  Destroys the pieces. */
enum tac_err tac_simulation_make(struct tac_simulation *sim, struct tac_pieces **pieces);
/* Collective. Steps to t > now, and balances the ranks between steps. */
enum tac_err tac_simulation_go(struct tac_simulation *sim, tac_time t, const struct tac_observer *observer);
/* Collective. Makes a new state of the integrator from a checkpoint and sim->whole as it is now; on several ranks with
 * the owners that the pieces name. After a failure there is no state. */
enum tac_err tac_simulation_rebuild(struct tac_simulation *sim, struct tac_pieces *pieces,
                                    const struct tac_checkpoint *state);
/* Collective. Changes the scene from now on, by "path=value" (tac_simulation_set_control() in tactus/simulation.h).
 * *lost: after an error, the state is gone. */
enum tac_err tac_simulation_change(struct tac_simulation *sim, const char *assignment, bool *lost);
/* Local. */
void tac_simulation_end(struct tac_simulation *sim);
/* Local. Force ticks that were committed, of all kinds. */
int64_t tac_simulation_ticks(const struct tac_counters *counters);

/* Local. Makes the row of now the last one: what a row counts begins anew. */
static inline void tac_simulation_begin_row(struct tac_simulation *sim)
{
    if (sim->integrator->book != NULL)
        sim->integrator->book->begin_row(sim->state);
}

/* Local. */
static inline struct tac_state_view tac_simulation_view(const struct tac_simulation *sim)
{
    struct tac_state_view view;
    sim->integrator->view(sim->state, &view);
    return view;
}
static inline tac_time tac_simulation_now(const struct tac_simulation *sim)
{
    return tac_simulation_view(sim).now;
}

/* ---- balance.c ---- */
/* Collective. The first distribution: fills the owners of the pieces' vertices. A small scene stays on one rank until
 * it is known to have more work. */
enum tac_err tac_simulation_distribute(struct tac_simulation *sim, struct tac_pieces *pieces);
/* Collective, after a step. Distributes the scene anew, with regard to its contacts, if the ranks are out of balance or
 * exchange too many messages and moving the vertices costs less. */
enum tac_err tac_simulation_balance(struct tac_simulation *sim);

/* ---- stepping.c: the public API ---- */
/* Local. Clears the errors of both contexts; fails if the simulation has failed before. */
enum tac_err tac_simulation_enter(struct tac_simulation *sim);
/* Local. Copies the error to the caller's context. lost: the simulation cannot be used after an error. */
enum tac_err tac_simulation_leave(struct tac_simulation *sim, enum tac_err err, bool lost);

#endif
