/* path.c: conservative advancement of a pair along the piecewise straight paths that a pass has recorded. */
#include "events/windows/path.h"
#include "events/ranks/ranks.h"
#include <string.h>

/* Walks one vertex' path forward, piece by piece. */
struct walker {
    const struct tac_break *end; /* breakpoint that ends the current piece; NULL: the last piece */
    tac_lid vertex;
    double x[3], v[3]; /* at the time reached, and until `end` */
};

/* The piece that begins at x at t, and ends with breakpoint `next`. */
static void enter_piece(const struct tac_sim *sim, struct walker *w, const double x[3], tac_time t, int32_t next)
{
    w->end = next >= 0 ? &sim->paths.breaks[next] : NULL;
    if (w->end == NULL) {
        memcpy(w->v, sim->state.vel[w->vertex].v, sizeof w->v);
        return;
    }
    const double rate = 1 / tac_state_seconds(&sim->state, w->end->t - t);
    for (int k = 0; k < 3; k++)
        w->v[k] = rate * (w->end->x[k] - x[k]);
}

static void start_walk(const struct tac_sim *sim, struct walker *w, tac_lid vertex, tac_time t0)
{
    w->vertex = vertex;
    const bool ghost = vertex >= sim->state.owned;
    if (ghost ? !tac_ranks_has_path(sim->ranks, vertex) : sim->state.vel[vertex].w == 0) {
        w->end = NULL;
        memset(w->v, 0, sizeof w->v);
        if (!ghost && sim->scripts.of[vertex] >= 0)
            memcpy(w->v, sim->scripts.script[sim->scripts.of[vertex]].v, sizeof w->v);
        tac_position(&sim->state, &sim->scripts, vertex, t0, w->x);
        return;
    }
    const struct tac_line *line = &sim->paths.line[vertex];
    tac_time t = line->t;
    const double *from = line->x;
    int32_t next = sim->paths.break_head[vertex] >= 0 ? sim->paths.break_first[vertex] : -1;
    for (; next >= 0 && sim->paths.breaks[next].t <= t0; next = sim->paths.breaks[next].next) {
        t = sim->paths.breaks[next].t;
        from = sim->paths.breaks[next].x;
    }
    enter_piece(sim, w, from, t, next);
    const double dt = tac_state_seconds(&sim->state, t0 - t);
    for (int k = 0; k < 3; k++)
        w->x[k] = from[k] + dt * w->v[k];
}

tac_time tac_path_sweep(const struct tac_sim *sim, enum tac_pair_type type, const tac_lid v[4], tac_time t0,
                        tac_time t1, double threshold, double tolerance)
{
    const int n = tac_pair_vertices(type);
    const double limit = threshold + tolerance;
    struct walker walker[4];
    struct tac_near near;
    double x[4][3], u[4][3], bound = -INFINITY; /* a lower bound of the distance now */
    bool known = false;                         /* is near.n a direction by which the pair is bounded? */
    for (int i = 0; i < n; i++)
        start_walk(sim, &walker[i], v[i], t0);
    tac_model_gather(sim->model, type, v, x);
    for (tac_time t = t0, next;; t = next) {
        next = t1;
        for (int i = 0; i < n; i++)
            if (walker[i].end != NULL && walker[i].end->t < next)
                next = walker[i].end->t;
        double dt = tac_state_seconds(&sim->state, next - t);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                x[i][k] = walker[i].x[k];
                u[i][k] = dt * walker[i].v[k];
            }
        double change = tac_relative(type, u);
        bool over = bound - change > limit || (known && tac_separation(type, x, u, near.n) > limit);
        if (!over) {
            tac_near_pair(type, x, &near);
            bound = near.d;
            known = !tac_pair_grows(type);
            over = bound - change > limit || (known && tac_separation(type, x, u, near.n) > limit);
        }
        if (over) {
            bound -= change;
        } else {
            double s = tac_sweep(type, x, u, threshold, tolerance);
            if (s <= 1)
                return t + (tac_time)(s * (double)(next - t));
            bound = -INFINITY;
        }
        if (next >= t1)
            return TAC_TIME_NEVER;
        for (int i = 0; i < n; i++) {
            if (walker[i].end != NULL && walker[i].end->t == next) {
                memcpy(walker[i].x, walker[i].end->x, sizeof walker[i].x);
                enter_piece(sim, &walker[i], walker[i].x, next, walker[i].end->next);
            } else {
                for (int k = 0; k < 3; k++)
                    walker[i].x[k] += u[i][k];
            }
        }
    }
}
