/* vertex_position.h: computes where a vertex is at an instant, and moves it there (docs/explanation/method.md, Time and
 * order). The functions are inline because they are called for each kick. */
#ifndef TACTUS_EVENTS_FORCES_VERTEX_POSITION_H
#define TACTUS_EVENTS_FORCES_VERTEX_POSITION_H

#include "base/recorder.h"
#include "events/sim.h"
#include <string.h>

/* Keeps the path of vertex i, which was just brought to its position at t, and still has the velocity with which it
 * came there. */
static inline __attribute__((always_inline)) void tac_path_keep(struct tac_sim *sim, tac_lid i, tac_time t)
{
    const struct tac_pos *restrict pos = &sim->state.pos[i];
    const struct tac_vel *restrict vel = &sim->state.vel[i];
    struct tac_line *restrict line = &sim->paths.line[i];
    double s = tac_state_seconds(&sim->state, t - line->t), r[3];
    for (int k = 0; k < 3; k++)
        r[k] = pos->x[k] - (line->x[k] + s * line->v[k]);
    double r2 = tac_dot(r, r);
    line->deviation2 = r2 > line->deviation2 ? r2 : line->deviation2;
    if (sim->paths.near[i]) {
        tac_sub(r, vel->v, line->v);
        r2 = tac_dot(r, r);
        struct tac_near_motion *restrict motion = &sim->paths.motion[i];
        motion->speed2 = r2 > motion->speed2 ? r2 : motion->speed2;
        memcpy(motion->v, vel->v, sizeof motion->v);
        int32_t k = (int32_t)sim->paths.break_count++, head = sim->paths.break_head[i];
        sim->paths.breaks[k] = (struct tac_break){t, {pos->x[0], pos->x[1], pos->x[2]}, -1, 0};
        if (head >= 0)
            sim->paths.breaks[head].next = k;
        else
            sim->paths.break_first[i] = k;
        sim->paths.break_head[i] = k;
    }
}

/* Advances a free vertex to t: rewrites (x, t). With contact, its path is kept. record: sim->record is not NULL. */
static inline __attribute__((always_inline)) void tac_advance_to(struct tac_sim *sim, tac_lid i, tac_time t,
                                                                 bool contact, bool record)
{
    struct tac_pos *restrict pos = &sim->state.pos[i];
    const struct tac_vel *restrict vel = &sim->state.vel[i];
    double dt = tac_state_seconds(&sim->state, t - pos->t);
    pos->x[0] += dt * vel->v[0];
    pos->x[1] += dt * vel->v[1];
    pos->x[2] += dt * vel->v[2];
    pos->t = t;
    if (record)
        tac_recorder_keep(sim->record, i, t, pos->x);
    if (contact)
        tac_path_keep(sim, i, t);
}

#endif
