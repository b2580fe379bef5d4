/* vertex_state.h: declares the positions and velocities of the vertices of a rank. */
#ifndef TACTUS_STATE_VERTEX_STATE_H
#define TACTUS_STATE_VERTEX_STATE_H

#include "base/state.h"

struct tac_spin;
struct tac_spin_loss;

/* The state of the vertices.  Vertices 0 .. owned-1 are this rank's; the others, ghosts, are of other ranks: w = 0,
 * v = 0, and x is right at the instants at which a stencil that they share with an owned one ticks. */
struct tac_vertex_state {
    tac_time now;   /* committed time: nothing before it will be run again */
    double quantum; /* s */
    tac_lid owned, count, capacity;
    struct tac_pos *pos; /* owned, (V) */
    struct tac_vel *vel; /* owned, (V) */
    double *mass;        /* owned, (V), kg */
    double *impulse;     /* owned, (V, 3): contact impulse since the last frame, N s */
    /* of scenes with grains that roll (spin.h), else NULL */
    struct tac_spin *spin;           /* owned, (V) */
    struct tac_spin *spin_start;     /* owned, (owned): at the window's start */
    double *spin_before;             /* owned, (owned, 3): before the kicks of books.kept_at, rad/s */
    struct tac_spin_loss *spin_loss; /* owned, (owned): of this instant */
};

/* Seconds of t quanta. */
static inline double tac_state_seconds(const struct tac_vertex_state *state, tac_time t)
{
    return (double)t * state->quantum;
}

#endif
