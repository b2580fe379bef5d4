/* spin.h: how rolling grains turn (docs/reference/engine.md, Grains that roll).
 *
 * Of a ball only the turn counts, not the orientation.  Between two kicks the turn is a linear function of time:
 * base + t w, where t counts from the run's start.  So it needs no clock, and looking at it changes nothing.
 */
#ifndef TACTUS_STATE_SPIN_H
#define TACTUS_STATE_SPIN_H

#include "state/vertex_state.h"
#include <stdbool.h>

/* Of a vertex; owned ones first, ghosts behind them. */
struct tac_spin {
    double base[3]; /* rad; of a ghost its turn at the instant at which its owner has sent it last */
    double w[3];    /* rad/s; of a ghost 0 */
    double radius;  /* m; 0: it does not roll */
    double moment;  /* of inertia, kg m^2: 2/5 m r^2 */
};

/* What friction has given to a vertex in the current instant. */
struct tac_spin_loss {
    bool listed;
    double turn[3];   /* rad: at this instant, so that what is rounded does not depend on the kicks so far */
    double before[3]; /* w before, rad/s */
    double torque[3]; /* N m s */
};

/* The turn of vertex i at t, the present instant or a later one, rad. */
static inline void tac_spin_turn(const struct tac_vertex_state *state, tac_lid i, tac_time t, double turn[3])
{
    const struct tac_spin *s = &state->spin[i];
    const bool kicked = i < state->owned && state->spin_loss[i].listed;
    const double seconds = tac_state_seconds(state, t);
    for (int k = 0; k < 3; k++)
        turn[k] = kicked ? state->spin_loss[i].turn[k] : s->base[k] + seconds * s->w[k];
}

#endif
