/* position.h: computes the position of a vertex at a time, for every cause of motion: forces, a script, another rank,
 * or none (docs/reference/engine.md).
 *
 * The functions are inline because they are called for each vertex of each pair that ticks.
 */
#ifndef TACTUS_STATE_POSITION_H
#define TACTUS_STATE_POSITION_H

#include "base/four.h"
#include "state/scripts.h"
#include "state/vertex_state.h"
#include <string.h>

/* Local. Returns the script that moves vertex i now; NULL: none does, because it is free, is held or belongs to another
 * rank. */
static inline __attribute__((always_inline)) const struct tac_script *
tac_state_script(const struct tac_vertex_state *state, const struct tac_scripts *scripts, tac_lid i)
{
    return state->vel[i].w == 0 && scripts->of[i] >= 0 ? &scripts->script[scripts->of[i]] : NULL;
}

/* Local. Computes x (3) [m] of vertex i at t. It changes nothing. */
static inline __attribute__((always_inline)) void tac_state_position(const struct tac_vertex_state *state,
                                                                     const struct tac_scripts *scripts, tac_lid i,
                                                                     tac_time t, double x[3])
{
    const struct tac_pos *pos = &state->pos[i];
    if (pos->t == t) {
        memcpy(x, pos->x, sizeof pos->x);
        return;
    }
    const struct tac_script *s = tac_state_script(state, scripts, i);
    if (s != NULL) {
        const double dt = tac_state_seconds(state, t - s->t);
        for (int k = 0; k < 3; k++)
            x[k] = s->x[k] + dt * s->v[k];
    } else {
        const double dt = tac_state_seconds(state, t - pos->t);
        for (int k = 0; k < 3; k++)
            x[k] = pos->x[k] + dt * state->vel[i].v[k];
    }
}

/* Local. Does the same as one row of four numbers; the fourth is meaningless. */
TAC_FOUR_INLINE void tac_state_position_row(tac_four *row, const struct tac_vertex_state *state,
                                            const struct tac_scripts *scripts, tac_lid i, tac_time t)
{
    const tac_four_mask three = {-1, -1, -1, 0}; /* the fourth number of a position is a time */
    const struct tac_pos *pos = &state->pos[i];
    tac_four_mask at;
    memcpy(&at, pos, sizeof at);
    *row = (tac_four)(at & three);
    if (pos->t == t)
        return;
    const struct tac_script *s = tac_state_script(state, scripts, i);
    if (s != NULL) {
        const double dt = tac_state_seconds(state, t - s->t);
        *row = (tac_four){s->x[0] + dt * s->v[0], s->x[1] + dt * s->v[1], s->x[2] + dt * s->v[2], 0};
        return;
    }
    tac_four v;
    memcpy(&v, &state->vel[i], sizeof v);
    const double dt = tac_state_seconds(state, t - pos->t);
    *row = *row + (tac_four){dt, dt, dt, dt} * v;
}

#endif
