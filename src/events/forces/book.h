/* book.h: the book of works (docs/explanation/method.md, Energy and the book), the sums for energy.csv, and the
 * counters of run.json. */
#ifndef TACTUS_EVENTS_FORCES_BOOK_H
#define TACTUS_EVENTS_FORCES_BOOK_H

#include "base/state.h"
#include "scene/kind.h"
#include <tactus/accum.h>
#include <tactus/counters.h>

struct tac_sim;

_Static_assert((int)TAC_KINDS == (int)TAC_COUNTED_KINDS, "every kind of force is counted");

/* A vertex in a damper's stencil at the instant t: what its damping takes out is known when the instant is over. */
struct tac_damped {
    double before[3]; /* velocity before the kicks of t, m/s */
    tac_time t;       /* quanta; its negative after the dampers' kicks, -1 after the instant */
    double change[3]; /* by the dampers' kicks; until then velocity before them, m/s */
};

/* What was dissipated, by its cause, J. Friction's part is in tac_books.dissipated too, from which restitution's
 * follows by subtraction: the sums are exact, so the parts add up. */
struct tac_losses {
    struct tac_accum friction, damping, plasticity;
};

/* Accumulators and counters. */
struct tac_books {
    /* accumulators (docs/explanation/method.md, Energy and the book); saved at a window's start */
    struct tac_accum dissipated, work, dissipated_start, work_start;
    struct tac_losses losses, losses_start;      /* `dissipated` is without what damping and plasticity took */
    bool losses_known;                           /* else the run began in a version that did not tell them */
    struct tac_accum couple[3], couple_start[3]; /* friction's angular impulse since t = 0, N m s */
    struct tac_book book, book_start;
    double kinetic_start; /* J, at t = 0 */
    bool has_start;
    struct tac_accum total_start;         /* total energy of the first row */
    int64_t deepest_layer, deepest_start; /* since the last row */
    int64_t ticks[TAC_KINDS], silent;     /* of the pass under way */
    int64_t deepest_ever;

    struct tac_damped *damped; /* owned, (owned); NULL: no material damps */

    tac_time before_at; /* keep the velocities before the kicks of this instant (those of knots are always kept) */
    tac_time kept_at;   /* the instant whose v_before was kept in the last pass, -1: none */
    double *v_before;   /* owned, (V, 3) */
    struct tac_accum damping_ahead, friction_ahead; /* see the next two */
    struct tac_accum dissipated_ahead, work_ahead; /* J: of what the ticks at kept_at entered, the part after kept_at */
    struct tac_counters counters;
    int untimed, timed;          /* instants until the next that is timed; how many were, as far as remembered */
    double instant_s, contact_s; /* mean wall time of those, and of contact in them */
};

/* ---- damping.c: what dampers take ---- */
enum tac_err tac_damping_create(struct tac_sim *sim);
/* Local. Call at a window's start: its instants may come again. */
void tac_damping_save(struct tac_sim *sim);
/* Local. Before the kicks of an instant; whether some damper is due. */
bool tac_damping_begin(struct tac_sim *sim, tac_time t);
/* Local. The dampers' kicks. */
void tac_damping_kick(struct tac_sim *sim, tac_time t);
/* Local. After all kicks of an instant with dampers: what they took out of the motion. */
void tac_damping_end(struct tac_sim *sim, tac_time t);

/* ---- energy.c ---- */
/* Collective. The row of now; v_before must be from now.  The books' deepest_layer, as the row has it, is then that of
 * all ranks; who takes the row for the last one sets it to 0. */
enum tac_err tac_sim_energy(struct tac_sim *sim, struct tac_energy_row *row);
/* Collective. Can the row of now be told: were v_before kept, or was nothing kicked now? */
bool tac_sim_knows_row(const struct tac_sim *sim);
/* Collective; of a state that was just restored. The row's `contacts`, now: pairs of all ranks within their outermost
 * layer. */
enum tac_err tac_sim_contact_count(struct tac_sim *sim, int64_t *contacts);
/* Collective; of a state that was just restored. Ghosts of active pairs, for which lists of candidates ask else. */
enum tac_err tac_sim_ask_ghosts(struct tac_sim *sim);
/* Collective. Brings those that this rank hears of to where they are now. */
enum tac_err tac_sim_look_ghosts(struct tac_sim *sim);
/* Collective. Adds up each of `count` sums over all ranks, exactly. */
enum tac_err tac_sim_sum(const struct tac_sim *sim, struct tac_accum *sum, int count);
/* Local. What this rank has dissipated so far, J: all of it; by friction, damping, plasticity. */
void tac_books_dissipated(const struct tac_books *books, struct tac_accum *all, struct tac_accum part[3]);
/* Collective. Book of works: |sum of works - change of kinetic energy| / sum |work|. */
double tac_sim_book_residual(const struct tac_sim *sim);
double tac_sim_kinetic(const struct tac_sim *sim); /* Collective. J */

#endif
