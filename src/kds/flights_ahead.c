/* flights_ahead.c: how vertices are expected to go on, by the last window (flights.h). */
#include "kds/flights.h"
#include <string.h>

/* How vertex v goes on after a pass of w_s seconds: as in the pass (move), unless what kicked it at its very end has
 * turned it.  What swerves by and by is 4 deviations off when it goes straight on. */
static struct tac_move going_on(const struct tac_view *view, const struct tac_flights *f, tac_lid v, double w_s)
{
    struct tac_move move = view->candidates->move[v];
    double u[3], off[3];
    if (view->state->vel[v].w == 0)
        return move;
    for (int i = 0; i < 3; i++)
        u[i] = w_s * view->state->vel[v].v[i];
    tac_sub(off, u, move.u);
    if (!(sqrt(tac_dot(off, off)) > 8 * move.deviation + tac_flights_welcome(f)))
        return move;
    memcpy(move.u, u, sizeof u);
    move.deviation = 0;
    return move;
}

void tac_flights_turn(struct tac_view *view, struct tac_flights *f)
{
    for (tac_lid v = 0; v < view->state->owned; v++)
        view->candidates->move[v] = going_on(view, f, v, tac_state_seconds(view->state, f->span));
}

void tac_flights_straight(struct tac_view *view, struct tac_flights *f)
{
    const double span_s = tac_state_seconds(view->state, f->span);
    for (tac_lid v = 0; v < view->state->owned; v++) {
        struct tac_move *move = &view->candidates->move[v];
        if (view->state->vel[v].w == 0 || 2 * move->deviation <= tac_flights_welcome(f))
            continue;
        for (int i = 0; i < 3; i++)
            move->u[i] = span_s * view->state->vel[v].v[i];
        move->deviation = 0;
    }
}

bool tac_flights_leaving(const struct tac_view *view, const struct tac_flights *f, tac_time end, tac_time window)
{
    const struct tac_candidates *c = view->candidates;
    const double s = tac_state_seconds(view->state, end - c->start), w = tac_state_seconds(view->state, window);
    const double last = tac_state_seconds(view->state, end - view->state->now), times = w / last;
    const double farther = tac_flights_scale(times);
    if (end + window > c->end)
        return true;
    for (tac_lid v = 0; v < view->state->owned; v++) {
        const struct tac_path_bound *path_bound = &c->path_bound[v];
        double ahead[3];
        if (path_bound->radius == 0)
            continue;
        const struct tac_move move = going_on(view, f, v, last);
        for (int i = 0; i < 3; i++)
            ahead[i] = c->x[3 * (size_t)v + (size_t)i] + c->move[v].u[i] + times * move.u[i];
        const double deviation = farther * move.deviation;
        if (tac_flights_off_line(ahead, path_bound->x, path_bound->v, s + w) + deviation > path_bound->radius)
            return true;
    }
    return false;
}
