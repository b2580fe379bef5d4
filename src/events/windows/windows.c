/* windows.c: chooses the lengths of windows, and computes the chords and deviations after a window was run
 * (docs/reference/engine.md, Windows).
 */
#include "events/windows/windows.h"
#include "broadphase/candidates.h"
#include "events/ranks/ranks.h"
#include "scene/period.h"
#include <string.h>

static const double STEP = 2; /* of lengths: with nested clocks a window then ends where slow forces tick */
/* Costs in tests of boxes (.025 us), like those of lists and of looks (TAC_LOOK_COST): of a vertex and of an active
 * pair in a window, of a tick that was silent or is computed again, of the activation of a pair, and, on several ranks,
 * of a window's messages and collective calls. */
enum { VERTEX_COST = 10, WATCHED_COST = 2, TICK_COST = 4, FOUND_COST = 60, MEET_COST = 4000 };
/* Without elastic forces all ticks belong to contacts, whose ticks cost more than the mean, and vertices move on lines.
 */
enum { FREE_VERTEX_COST = 2, FREE_TICK_COST = 10 };
enum {
    TICKS_PER_WINDOW = 16, /* at first */
    FREE_AT_FIRST = 2,     /* units, where nothing but contact has a period */
    TICKS_AT_LEAST = 4,
    TICKS_AT_MOST = 16,
    TRIED = 4,       /* windows of one length, then another is tried */
    MOST_HALVED = 2, /* the ticks of a layer group, after misses in windows that were cut for it */
    DAMPER = 2,      /* what a damper's tick counts in those of a spring, where windows are measured in the period that
                      * most of the work has */
    RUNG_TICKS = 32  /* most ticks of one layer group in a window, and some more for the scene's vertices: they are to
                      * cost no more than what a window costs by itself */
};

/* Quanta. No scene is longer (scene.h), so longer periods can be replaced by this one; sums of them would overflow. */
static const tac_time LONGEST = (tac_time)1 << 53;

static tac_time clamp_period(tac_time period)
{
    return period < LONGEST ? period : LONGEST;
}

/* Returns the period with most of the elastic work; 0: there is none. */
static tac_time elastic_period(const struct tac_sim *sim, double *work)
{
    return clamp_period(tac_elastic_main_period(sim->elastic, DAMPER, work));
}

static tac_time first_period(const struct tac_sim *sim)
{
    return clamp_period(tac_clock_period(sim->scene, sim->model->h1_min_s));
}

tac_time tac_windows_main_period(const struct tac_sim *sim)
{
    double work;
    const tac_time period = elastic_period(sim, &work);
    return period ? period : first_period(sim);
}

/* Agrees on the period with the most work on any rank. */
static enum tac_err agree_period(const struct tac_sim *sim, double work, tac_time *period)
{
    double most = work;
    tac_time mine = *period;
    if (!tac_ranks_halo(sim->ranks))
        return TAC_OK;
    bool ok = MPI_Allreduce(&work, &most, 1, MPI_DOUBLE, MPI_MAX, sim->ctx->comm) == MPI_SUCCESS;
    mine = work == most ? mine : TAC_TIME_NEVER;
    ok = ok && MPI_Allreduce(&mine, period, 1, TAC_TIME_MPI, MPI_MIN, sim->ctx->comm) == MPI_SUCCESS;
    return ok ? TAC_OK : tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while choosing a window");
}

static tac_time to_quanta(const struct tac_sim *sim, double s)
{
    return s > 0 ? (tac_time)fmin(0x1p60, fmax(1, s / sim->state.quantum)) : 0;
}

enum tac_err tac_windows_choose(struct tac_sim *sim)
{
    enum tac_err err;
    double work;
    tac_time period = elastic_period(sim, &work), first = first_period(sim);
    TAC_TRY(agree_period(sim, work, &period));
    int64_t vertices = sim->state.owned;
    if (tac_ranks_halo(sim->ranks) &&
        MPI_Allreduce(MPI_IN_PLACE, &vertices, 1, MPI_INT64_T, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS)
        TAC_TRY(tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while choosing a window"));
    sim->windows.ticks = RUNG_TICKS + vertices / 16;
    sim->windows.least_period = 0; /* not known yet */
    sim->windows.period_wanted = TAC_TIME_NEVER;
    sim->windows.descent.shorter = true; /* to try first */
    sim->windows.unit = period ? period : 2 * first;
    sim->windows.is_free = period == 0;
    sim->windows.most = period ? TICKS_AT_MOST * period : (tac_time)1 << 60;
    sim->windows.least = period ? period : first;
    sim->windows.brief = period ? TICKS_AT_LEAST * period : first;
    sim->windows.length = (period ? TICKS_PER_WINDOW : FREE_AT_FIRST) * sim->windows.unit;
    tac_time lo = to_quanta(sim, sim->scene->settings->discovery.window_s[0]),
             hi = to_quanta(sim, sim->scene->settings->discovery.window_s[1]);
    if (hi > 0) {
        sim->windows.least = lo > 0 ? lo : 1;
        sim->windows.brief = sim->windows.least;
        sim->windows.most = hi;
    }
    sim->windows.length = sim->windows.length < sim->windows.most ? sim->windows.length : sim->windows.most;
    sim->windows.length = sim->windows.length > sim->windows.least ? sim->windows.length : sim->windows.least;
done:
    return err;
}

tac_time tac_windows_least(const struct tac_active *active, const struct tac_windows *windows)
{
    for (size_t k = 0; k < active->rate_group_count && active->rate_group[k].period < windows->period_wanted; k++)
        if (active->rate_group[k].count + active->rate_group[k].extra_count > 0)
            return active->rate_group[k].period;
    return windows->period_wanted;
}

enum tac_err tac_windows_agree(struct tac_sim *sim)
{
    sim->windows.least_period = tac_windows_least(&sim->active, &sim->windows);
    if (tac_ranks_halo(sim->ranks) && MPI_Allreduce(MPI_IN_PLACE, &sim->windows.least_period, 1, TAC_TIME_MPI, MPI_MIN,
                                                    sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while choosing a window");
    return TAC_OK;
}

tac_time tac_windows_ask(const struct tac_windows *windows)
{
    const tac_time ticks = windows->ticks >> windows->halved;
    return windows->least_period > windows->length / ticks ? windows->length : ticks * windows->least_period;
}

/* The cost contains everything that depends on the length of windows. */
int64_t tac_windows_cost(struct tac_sim *sim)
{
    const struct tac_counters *k = &sim->books.counters;
    const bool is_free = sim->windows.is_free;
    const int64_t vertex = is_free ? FREE_VERTEX_COST : VERTEX_COST, tick = is_free ? FREE_TICK_COST : TICK_COST,
                  passes = k->windows + k->rollbacks + 1,
                  all = passes * (vertex * (int64_t)sim->state.owned + (tac_ranks_halo(sim->ranks) ? MEET_COST : 0)) +
                        TAC_LOOK_COST * sim->windows.looks + FOUND_COST * k->contacts_found +
                        tick * (k->silent + sim->books.silent + k->repeated_ticks),
                  since = all - sim->windows.cost_reported;
    sim->windows.cost_reported = all;
    return since + WATCHED_COST * (int64_t)sim->active.pair_count;
}

/* Forgets the costs, because the length has changed. */
static void forget_costs(struct tac_windows *w)
{
    w->cost = w->cost_counted = w->cost_s = w->count = w->cut = 0;
}

/* A frame or a knot has cut a window, so its cost is not typical of this length and is left out. If all windows are
 * cut, the length cannot be reached; then a shorter one is chosen, whose cost can be measured. */
static void leave_out_cut(struct tac_windows *w)
{
    w->cost = w->cost_counted;
    if (++w->cut < TRIED || w->length <= w->brief)
        return;
    w->length = (tac_time)tac_descent_within((double)w->length / STEP, (double)w->brief, (double)w->most);
    w->descent.kept = 0;
    w->descent.shorter = true;
    forget_costs(w);
}

void tac_windows_adapt(struct tac_sim *sim, int attempts, tac_time asked)
{
    struct tac_windows *w = &sim->windows;
    if (asked < w->length) {
        /* Cut: by a deep layer group, or by a frame or a knot. */
        const bool deep = tac_windows_ask(&sim->windows) < w->length;
        if (deep) {
            if (attempts > 0)
                w->halved += w->halved < MOST_HALVED;
            else if (w->halved > 0)
                w->halved--;
        }
        if (asked < w->length - w->length / 4) {
            if (deep)
                forget_costs(w); /* those of a shorter length are not its own */
            else
                leave_out_cut(w);
            return;
        }
    }
    w->cut = 0;
    if (!w->known) {
        w->known = true; /* what the first window found is what any would find */
        w->cost = 0;
        return;
    }
    w->cost_s += w->last_s;
    w->cost_counted = w->cost;
    if (++w->count < TRIED)
        return;
    w->length = (tac_time)tac_descent_next(&w->descent, w->cost / w->cost_s, STEP, (double)w->length, (double)w->brief,
                                           (double)w->most);
    forget_costs(w);
}

/* Is every coordinate a number, of at most this magnitude? */
static inline bool is_within(const double x[3], double most)
{
    return fabs(x[0]) <= most && fabs(x[1]) <= most && fabs(x[2]) <= most;
}

bool tac_windows_measure(struct tac_sim *sim, tac_time end, tac_lid *bad, double *wildest)
{
    struct tac_candidates *c = sim->view.candidates;
    const tac_time start = sim->paths.start;
    const double length_s = tac_state_seconds(&sim->state, end - start);
    *wildest = 0;
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        struct tac_move *move = &c->move[i];
        double *x = &c->x[3 * (size_t)i], to[3];
        move->near = sim->state.vel[i].w == 0 || sim->paths.near[i] == 1;
        if (sim->state.vel[i].w == 0) {
            move->speed = 0;
            if (sim->scripts.of[i] < 0)
                continue;
            tac_position(&sim->state, &sim->scripts, i, start, x);
            tac_position(&sim->state, &sim->scripts, i, end, to);
            tac_sub(move->u, to, x);
            move->deviation = 0;
            continue;
        }
        const struct tac_line *line = &sim->paths.line[i];
        double s0 = tac_state_seconds(&sim->state, start - line->t), s1 = tac_state_seconds(&sim->state, end - line->t),
               off[3];
        double dt = tac_state_seconds(&sim->state, end - sim->state.pos[i].t), turn[3], fastest;
        for (int k = 0; k < 3; k++) {
            x[k] = line->x[k] + s0 * line->v[k];
            to[k] = sim->state.pos[i].x[k] + dt * sim->state.vel[i].v[k];
            off[k] = to[k] - (line->x[k] + s1 * line->v[k]);
        }
        tac_sub(move->u, to, x);
        move->deviation = sqrt(line->deviation2) + sqrt(tac_dot(off, off));
        move->speed = INFINITY;
        if (sim->paths.near[i] == 1) { /* the velocities of its pieces, and the last one */
            tac_sub(turn, sim->state.vel[i].v, line->v);
            fastest = tac_dot(turn, turn);
            fastest = fastest > sim->paths.motion[i].speed2 ? fastest : sim->paths.motion[i].speed2;
            for (int k = 0; k < 3; k++)
                turn[k] = move->u[k] / length_s - line->v[k];
            move->speed = sqrt(fastest) + sqrt(tac_dot(turn, turn));
        }
        const double *p = sim->state.pos[i].x;
        if (!(move->deviation < 1e150) || !is_within(p, c->farthest) || !is_within(to, c->farthest)) {
            *bad = i;
            return false;
        }
        *wildest = move->deviation > *wildest ? move->deviation : *wildest;
    }
    return true;
}

/* Does the vertex stay in its trajectory bound from the start of the pass to its end, which is s after the list's
 * start? */
static bool keeps_to_bound(const struct tac_candidates *c, tac_lid i, double s, double *offset)
{
    const struct tac_path_bound *path_bound = &c->path_bound[i];
    const struct tac_move *move = &c->move[i];
    const double *x = &c->x[3 * (size_t)i];
    double off[3];
    for (int k = 0; k < 3; k++)
        off[k] = x[k] + move->u[k] - (path_bound->x[k] + s * path_bound->v[k]);
    *offset = sqrt(tac_dot(off, off));
    const double worst = *offset > path_bound->offset ? *offset : path_bound->offset;
    return worst + move->deviation <= path_bound->radius;
}

bool tac_windows_hold(struct tac_sim *sim, tac_time end, bool keep)
{
    struct tac_candidates *c = sim->view.candidates;
    double offset;
    c->repair.leaver_count = 0;
    if (end > c->end) {
        c->repair.leaver_count = c->repair.leaver_most + 1;
        return false;
    }
    const double s = tac_state_seconds(&sim->state, end - c->start);
    for (tac_lid i = 0; i < sim->state.owned && c->repair.leaver_count <= c->repair.leaver_most; i++) {
        if (c->path_bound[i].radius == 0)
            continue;
        const bool held = keeps_to_bound(c, i, s, &offset);
        if (keep) {
            c->path_bound[i].offset = offset;
        } else if (!held) {
            if (c->repair.leaver_count < c->repair.leaver_most)
                c->repair.leaver[c->repair.leaver_count] = i;
            c->repair.leaver_count++;
        }
    }
    return c->repair.leaver_count == 0;
}
