/* flights.h: flight plans that ranks file with each other, and the certificates between what is of several ranks.
 *
 * A rank proves the pairs that it decides.  Those among primitives all of whose vertices are its own rest on its own
 * plans (kinetic.h).  The others rest on *trajectory bounds*: every vertex promises to stay within `radius` of a
 * straight line in space and time, and an update goes out only when it leaves its trajectory bound, or soon would. Such
 * certificates are renewed between two windows only; a window ends before the first of them may fail.  When it has been
 * run, each rank looks whether its vertices kept to their trajectory bounds; those that did not file others, from the
 * window's start on, and if a certificate would have failed in the past for that, all go back to the window's start.
 *
 *     tac_flights_create(view, &f);
 *     tac_flights_epoch(view, f, window);            who may meet whom for a while to come (collective)
 *     tac_flights_foresee(view, f, window);          new trajectory bounds where the old ones will not do
 *     tac_flights_exchange(view, f);
 *     tac_flights_prove(view, f, until, &first);     what must be active is; all holds up to `first`
 *     ... the window up to `first` or earlier is run ...
 *     tac_flights_check(view, f, end);               new trajectory bounds where the old ones did not hold
 *     tac_flights_destroy(&f);
 */
#ifndef TACTUS_KDS_FLIGHTS_H
#define TACTUS_KDS_FLIGHTS_H

#include "kds/kinetic.h"

/* A vertex may deviate that much more than it did in the last window. */
#define TAC_FARTHER 1.5

struct tac_flights {
    struct tac_kinetic *k; /* owned; NULL before the first epoch */
    uint8_t *news;         /* owned, (owned vertices): has a trajectory bound that was not told yet */
    int32_t *wanted;       /* owned, (owned vertices): how many other ranks have slabs on it */
    size_t member_count;
    tac_lid *member; /* owned, ascending: our vertices that have trajectory bounds in this epoch: others hear of them,
                      * or their primitives may come near what others have */
    uint8_t *shown;  /* owned, (vertices of the epoch): its owner knows that slabs here rest on it */
    bool changed;    /* some trajectory bound that is known here was new in the last talk */
    bool leaving;    /* some vertex of some rank will soon leave what the epoch allows */
    size_t due_count, due_capacity;
    int32_t *due;     /* owned: slabs to be renewed */
    double finest;    /* thickness of the finest layers, m: what trajectory bounds must resolve */
    double roughness; /* of the last pass: deviation of what has slabs over what is welcome */
    bool wild;        /* some vertex with slabs swerved too far for any trajectory bound that is of use */
    tac_time span;    /* length of the pass whose motion view->candidates has */
    tac_time first;   /* when the first certificate may fail */
};

/* Collective. view->candidates is there. */
enum tac_err tac_flights_create(struct tac_view *view, struct tac_flights **out);
void tac_flights_destroy(struct tac_flights **flights);
/* Collective. Gathers what may come near while the list's trajectory bounds hold, and files trajectory bounds for what
 * is of it, going by how it moved in the last f->span quanta, or in the beginning by their velocities.  `usual`: length
 * of windows. */
enum tac_err tac_flights_epoch(struct tac_view *view, struct tac_flights *f, tac_time window, tac_time usual);
/* Local. Files trajectory bounds for vertices that the old ones will not hold for `window` quanta from now, going by
 * the same. */
void tac_flights_foresee(struct tac_view *view, struct tac_flights *f, tac_time window);
/* Local. After a pass from view->state->now to `end`: will some vertex, going on like that for `window` quanta, leave
 * what the epoch allows? */
bool tac_flights_leaving(const struct tac_view *view, const struct tac_flights *f, tac_time end, tac_time window);
/* Local. When a pass was too rough, and all have gone back: what swerved in it goes straight on in a shorter one. */
void tac_flights_straight(struct tac_view *view, struct tac_flights *f);
/* Local. When a pass has been committed: motions of what was turned at its end, as it goes on. */
void tac_flights_turn(struct tac_view *view, struct tac_flights *f);
/* Local. After a pass from view->state->now to `end`: files new trajectory bounds from view->state->now on for those
 * that did not hold. able: the window can be made shorter. */
void tac_flights_check(struct tac_view *view, struct tac_flights *f, tac_time end, bool able);
/* Local. Radius (m) up to which a trajectory bound is as narrow as trajectory bounds get, rounding included. */
double tac_flights_narrow(const struct tac_flights *f);
/* Local. Radius (m) above which windows become shorter. */
double tac_flights_welcome(const struct tac_flights *f);
/* How far a vertex may deviate in a window so much longer than the last one than it did in that. */
static inline double tac_flights_scale(double longer)
{
    return TAC_FARTHER * fmax(longer, longer * longer); /* when shorter, the mean velocity is not that of now */
}

/* How far x is from the line x0 + s v, m. */
static inline double tac_flights_off_line(const double x[3], const double x0[3], const double v[3], double s)
{
    double off[3];
    for (int i = 0; i < 3; i++)
        off[i] = x[i] - (x0[i] + s * v[i]);
    return sqrt(tac_dot(off, off));
}
/* Neighbours. Tells new trajectory bounds, and on whose vertices slabs rest; times anew what rests on those that are
 * new here. */
void tac_flights_exchange(struct tac_view *view, struct tac_flights *f);
/* Local. Renews at view->state->now all certificates that may fail before `until`; watches what must be. f->first: all
 * that is not active is silent up to there, but for the pairs in f->k->doubt.  patient: what would have to be active
 * only because trajectory bounds are wide waits for narrower ones (f->k->coarse). */
enum tac_err tac_flights_prove(struct tac_view *view, struct tac_flights *f, tac_time until, bool patient);
/* Local. Until `next` nothing kicks anything, and the lines of all ghosts have been told: does a pair in doubt come
 * through the end of its layer stack? f->k->stuck_at. */
void tac_flights_validate(struct tac_view *view, struct tac_flights *f, tac_time next);
/* Local. Drops layer groups that have long been silent, of all pairs that this rank decides; own: proves those among
 * its own primitives. */
enum tac_err tac_flights_tidy(struct tac_view *view, struct tac_flights *f, struct tac_kinetic *own);

#endif
