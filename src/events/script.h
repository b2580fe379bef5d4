/* script.h: scripted vertices. */
#ifndef TACTUS_EVENTS_SCRIPT_H
#define TACTUS_EVENTS_SCRIPT_H

#include "elements/elastic.h"

struct tac_sim;

/* A vertex that is scripted at some time. */
struct tac_script {
    tac_lid vertex;
    tac_lid motion;
    int32_t knot_begin, knot_count; /* its pieces in sim->knot */
    int32_t next;                   /* first knot not yet passed */
    bool on;                        /* scripted now */
    double origin[3];               /* where it was when it was caught, m */
    double x[3], v[3];              /* line of the piece under way, from t */
    tac_time t;
    bool caught;      /* was free before its first knot, and moved with v_free */
    double v_free[3]; /* m/s */
};

/* Knots of all motions, rotations cut to pieces of at most one degree; the same for all vertices of a motion. */
struct tac_knot {
    tac_time t;
    double shift[3]; /* path: displacement, m */
    double turn;     /* rotation, degrees */
};

/* The scripts of a rank's vertices. */
struct tac_scripts {
    int32_t *of; /* owned, (V): script or -1 */
    size_t count;
    struct tac_script *script; /* owned */
    size_t knot_count;
    struct tac_knot *knot; /* owned */
    tac_time next_knot;    /* first time at which some script of the scene changes */
    int32_t *motion_knot;  /* owned, (motions + 1): each motion's first knot in `knot` */
};

enum tac_err tac_scripts_create(struct tac_sim *sim);
/* Local. Sets sim->scripts.next_knot from sim->state.now. */
void tac_scripts_next(struct tac_sim *sim);
/* Local. Applies all knots at sim->state.now, after its kicks. */
void tac_scripts_apply(struct tac_sim *sim);
/* Local. After a state was put in: the scripts of the motions marked (motions) follow new knots from now on, each from
 * where it is; one that has not begun waits for its first knot. */
void tac_scripts_renew(struct tac_sim *sim, const uint8_t *motion);
/* Local. The period of gravity's ticks, quanta; 0: there is no gravity. */
tac_time tac_gravity_period(const struct tac_sim *sim);
/* Local. Velocity with which scripted vertex i takes part in the tick at t of a force of this period: its displacement
 * over (t - period/2, t + period/2), for which the tick stands, over the period.  So works stay of second order in the
 * period wherever the knots fall between the ticks.  ahead (or NULL): the part of it that lies after t. */
void tac_script_velocity(const struct tac_sim *sim, tac_lid i, tac_time t, tac_time period, double v[3],
                         double ahead[3]);
/* Local. Enters what a script puts in: minus the impulse j (3, N s) on scripted vertex i times its mean velocity around
 * the tick at t of a force of this period. */
void tac_script_work(struct tac_sim *sim, tac_lid i, const double j[3], tac_time t, tac_time period);
/* Local. What scripts put into the due elements of a class, of a kind that has just ticked or (damping) will. */
void tac_held_works(struct tac_sim *sim, const struct tac_rate_class *rate, enum tac_kind kind, tac_time t);

#endif
