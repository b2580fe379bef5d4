/* scripts.h: vertices that move as the scene prescribes. */
#ifndef TACTUS_STATE_SCRIPTS_H
#define TACTUS_STATE_SCRIPTS_H

#include "state/vertex_state.h"
#include <string.h>

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

/* Local. x of vertex i at t (docs/reference/engine.md): looks, and changes nothing. */
static inline __attribute__((always_inline)) void tac_state_position(const struct tac_vertex_state *state,
                                                                     const struct tac_scripts *scripts, tac_lid i,
                                                                     tac_time t, double x[3])
{
    const struct tac_pos *pos = &state->pos[i];
    const struct tac_vel *vel = &state->vel[i];
    if (pos->t == t) {
        memcpy(x, pos->x, sizeof pos->x);
    } else if (vel->w == 0 && scripts->of[i] >= 0) {
        const struct tac_script *s = &scripts->script[scripts->of[i]];
        const double dt = tac_state_seconds(state, t - s->t);
        for (int k = 0; k < 3; k++)
            x[k] = s->x[k] + dt * s->v[k];
    } else {
        const double dt = tac_state_seconds(state, t - pos->t);
        for (int k = 0; k < 3; k++)
            x[k] = pos->x[k] + dt * vel->v[k];
    }
}

#endif
