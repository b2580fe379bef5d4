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

/* A vertex in a damper's stencil at the instant t. The energy that damping takes from it is known when the instant is
 * over. */
struct tac_damped {
    double before[3]; /* velocity before the kicks of t, m/s */
    tac_time t;       /* quanta; -t after the dampers' kicks, -1 after the instant */
    double change[3]; /* of velocity by the dampers' kicks; until then the velocity before them, m/s */
};

/* The dissipated energy by its cause, J. tac_books.dissipated is the sum of friction and restitution, so the part of
 * restitution follows by subtraction: the sums are exact, so the parts add up. */
struct tac_losses {
    struct tac_accum friction, damping, plasticity;
};

/* Work that was booked between instants of forces. */
struct tac_handed {
    tac_time at;            /* the last time; -1: none */
    struct tac_accum ahead; /* J: what was booked then, which belongs to the time after it */
};

/* Accumulators and counters. */
struct tac_books {
    /* accumulators (docs/explanation/method.md, Energy and the book); saved at a window's start */
    struct tac_accum dissipated, work, dissipated_start, work_start;
    struct tac_losses losses, losses_start;      /* `dissipated` does not contain damping and plasticity */
    bool losses_known;                           /* false: the run began with a version that did not compute them */
    struct tac_accum couple[3], couple_start[3]; /* friction's angular impulse since t = 0, N m s */
    struct tac_book book, book_start;
    double kinetic_start; /* J, at t = 0 */
    bool has_start;
    struct tac_accum total_start;         /* total energy of the first row */
    int64_t deepest_layer, deepest_start; /* since the last row */
    int64_t ticks[TAC_KINDS], silent;     /* of the current pass */
    int64_t deepest_ever;

    struct tac_damped *damped; /* owned, (owned); NULL: no material damps */

    tac_time
        before_at; /* request: keep the velocities before the kicks of this instant (those of knots are always kept) */
    tac_time kept_at;                               /* the instant whose v_before was kept in the last pass; -1: none */
    double *v_before;                               /* owned, (V, 3) */
    struct tac_accum damping_ahead, friction_ahead; /* see the next two */
    struct tac_accum dissipated_ahead, work_ahead;  /* J: the part of the energies booked by the ticks at kept_at that
                                                       belongs to the time after kept_at */
    struct tac_handed handed;                       /* of tac_books_hand() */
    struct tac_counters counters;
    int untimed, timed; /* number of instants until the next timed one; number of timed instants in the means */
    double instant_s, contact_s; /* mean wall time of those, and of contact in them */
};

/* Local. Books work that is done between two instants of forces, by a script that catches or releases a vertex or by a
 * change of gravity, and that the next tick of gravity will need. The row of `now` leaves it out, whether this rank has
 * an instant of forces then or not. */
static inline void tac_books_hand(struct tac_books *books, tac_time now, double ahead)
{
    if (books->handed.at != now)
        books->handed = (struct tac_handed){.at = now};
    tac_accum_add(&books->work, ahead);
    tac_accum_add(&books->handed.ahead, ahead);
}

/* ---- damping.c: the energy that dampers take ---- */
enum tac_err tac_damping_create(struct tac_sim *sim);
/* Local. Call it at a window's start, because the instants of the window may be run again. */
void tac_damping_save(struct tac_books *books, const struct tac_vertex_state *state);
/* Local. Call it before the kicks of an instant. Returns whether some damper is due. */
bool tac_damping_begin(struct tac_sim *sim, tac_time t);
/* Local. Gives the kicks of the due dampers. */
void tac_damping_kick(struct tac_sim *sim, tac_time t);
/* Local. Call it after all kicks of an instant with dampers: books the energy that they took from the motion. */
void tac_damping_end(struct tac_sim *sim, tac_time t);

/* ---- energy.c ---- */
/* Collective. Fills the row of sim->state.now; v_before must have been kept at that time. Afterwards the books'
 * deepest_layer is that of all ranks, as in the row; a caller that writes the row sets it to 0. */
enum tac_err tac_sim_energy(struct tac_sim *sim, struct tac_energy_row *row);
/* Collective. Can the row of sim->state.now be computed? It can if v_before was kept, or if no kick was given now. */
bool tac_sim_knows_row(const struct tac_sim *sim);
/* Collective; for a state that was just restored. Counts the contacts of the row: pairs of all ranks that are within
 * their outermost layer now. */
enum tac_err tac_sim_contact_count(struct tac_sim *sim, int64_t *contacts);
/* Collective; for a state that was just restored. Subscribes to the ghosts of active pairs. Otherwise lists of
 * candidates do this. */
enum tac_err tac_sim_ask_ghosts(struct tac_sim *sim);
/* Collective. Gets the present positions of the ghosts to which this rank has subscribed. */
enum tac_err tac_sim_look_ghosts(struct tac_sim *sim);
/* Local. Computes the energy that this rank has dissipated so far, J: all of it, and the parts of friction, damping and
 * plasticity. */
void tac_books_dissipated(const struct tac_books *books, struct tac_accum *all, struct tac_accum part[3]);
/* Collective. Returns the residual of the book of works: |sum of works - change of kinetic energy| / sum |work|. */
double tac_sim_book_residual(const struct tac_sim *sim);
double tac_sim_kinetic(const struct tac_sim *sim); /* Collective. J */

#endif
