/* validation.c: decides whether an inactive layer was reached, and thus missed, in a pass (docs/explanation/method.md,
 * Finding contacts; docs/reference/engine.md, Windows).
 */
#include "events/windows/validation.h"
#include "broadphase/candidates.h"
#include "events/ranks/ranks.h"
#include "events/windows/kinetic_windows.h"
#include "events/windows/path.h"
#include "events/windows/slack.h"
#include "events/windows/windows.h"
#include <string.h>

enum {
    PENDING = -1,
    AWAKE = 8 /* windows in which no tick is skipped of a pair that was nearer than its speed let expect */
};

static bool all_near(const struct tac_candidates *c, const struct tac_candidate *q, const tac_lid v[4])
{
    for (int i = 0; i < q->count; i++)
        if (!c->move[v[i]].near)
            return false;
    return true;
}

/* Are the paths of all its vertices on this rank? Requests those that are not. */
static bool paths_here(struct tac_sim *sim, const struct tac_candidate *q, const tac_lid v[4])
{
    bool here = true;
    for (int i = 0; i < q->count; i++) {
        if (sim->model->role[v[i]] != TAC_ROLE_GHOST)
            continue;
        here = tac_ranks_want_path(sim->ctx, sim->ranks, v[i]) && here;
    }
    return here;
}

void tac_validation_chords(const struct tac_model *model, const struct tac_view *view, const struct tac_candidate *q,
                           const tac_lid v[4], double x[4][3], double u[4][3])
{
    const struct tac_candidates *c = view->candidates;
    for (int i = 0; i < q->count; i++) {
        memcpy(x[i], &c->x[3 * (size_t)v[i]], sizeof x[i]);
        memcpy(u[i], c->move[v[i]].u, sizeof u[i]);
    }
    tac_model_gather(model, (enum tac_pair_type)q->type, v, x);
}

/* The ticks of a pair's deepest layer group have measured its distance at instants whose spacing, also from the
 * window's ends, is at most the period. Do they prove that the pair stayed above the first inactive layer? Its largest
 * speed bounds the change of distance between these instants. */
static bool ticks_prove(const struct tac_sim *sim, const struct tac_candidate *q, const struct tac_pair *p,
                        double speed, tac_time end)
{
    const double limit = p->next + q->tolerance;
    if (p->births > 0)
        for (int32_t k = p->first_birth; k >= 0; k = sim->active.birth[k].following) {
            const struct tac_birth *birth = &sim->active.birth[k];
            if (!(birth->least - tac_state_seconds(&sim->state, birth->period) * speed > birth->next + q->tolerance))
                return false;
        }
    /* While ticks were skipped, the pair was over the first layer of its deepest group. After the last skipped tick of
     * the window that holds no longer, so from the last tick that was not skipped on the speed must bound it. */
    if (p->sleep_speed < INFINITY && (p->births > 0 || !(p->deep_reach > limit)))
        return false;
    if (p->sleep_speed < INFINITY && end - p->t_tick > p->deep_period &&
        !(p->d_tick - p->guard - tac_state_seconds(&sim->state, end - p->t_tick) * speed > limit))
        return false;
    /* Without a tick the least distance is infinite, and says nothing. */
    return p->d_least < INFINITY && p->d_least - tac_state_seconds(&sim->state, p->deep_period) * speed > limit;
}

/* The motion of a candidate in the pass. */
struct motion {
    double deviation; /* most that the paths of its vertices change its distance beside their chords, m */
    double speed;     /* most that its distance changes by in a second, m/s */
};

/* Bounds the motions of the candidates due[0 .. count - 1] in the pass. This is a loop of its own, before the looks
 * whose branches depend on these numbers, because a mispredicted branch costs everything that its condition is computed
 * from. */
TAC_MORE_VERSIONS
static void bound_motions(const struct tac_sim *sim, const size_t *due, size_t count, tac_time end, struct motion *m)
{
    const struct tac_candidates *c = sim->view.candidates;
    const double window_s = tac_state_seconds(&sim->state, end - sim->paths.start);
    for (size_t k = 0; k < count; k++, m++) {
        struct tac_candidate *q = &c->list[due[k]];
        const enum tac_pair_type type = (enum tac_pair_type)q->type;
        double deviation[2] = {0, 0}, speed[2] = {0, 0};
        tac_lid v[4];
        tac_pair_fetch(&sim->active, q->slot);
        m->speed = INFINITY;
        if (!tac_pair_is_limit(type)) {
            q->change = tac_single_above(tac_slack_change(c->move, &c->slack.of[due[k]], &m->deviation));
            if (q->slot < 0)
                continue; /* the speed is asked for where layers are active */
            tac_slack_vertices(&c->slack.of[due[k]], q, v);
        } else {
            double u[4][3];
            tac_slack_vertices(&c->slack.of[due[k]], q, v);
            for (int i = 0; i < q->count; i++) {
                const int side = i >= q->first;
                memcpy(u[i], c->move[v[i]].u, sizeof u[i]);
                deviation[side] = fmax(deviation[side], c->move[v[i]].deviation);
            }
            q->change = tac_single_above(tac_relative(type, u));
            m->deviation = type == TAC_PAIR_WIDE ? 2 * fmax(deviation[0], deviation[1]) : deviation[0] + deviation[1];
        }
        if (q->slot < 0)
            continue;
        for (int i = 0; i < q->count; i++) {
            const double of = c->move[v[i]].speed;
            speed[i >= q->first] = of > speed[i >= q->first] ? of : speed[i >= q->first];
        }
        m->speed = type == TAC_PAIR_WIDE ? 2 * fmax(speed[0], speed[1]) : speed[0] + speed[1];
        m->speed += q->change / window_s;
    }
}

/* Returns the first time at which a skipped tick of q, with this speed (m/s), may not have been silent; TAC_TIME_NEVER:
 * all were silent; PENDING: the paths of some of its vertices are not here. */
static tac_time sweep_sleeps(struct tac_sim *sim, const struct tac_candidate *q, const tac_lid v[4],
                             const struct tac_pair *p, double speed, tac_time end)
{
    tac_time earliest = TAC_TIME_NEVER;
    if (speed < p->sleep_speed || p->last_sleep < 0)
        return TAC_TIME_NEVER;
    if (p->shared && !paths_here(sim, q, v))
        return PENDING;
    for (int32_t k = p->last_sleep; k >= 0; k = sim->active.sleep[k].following) {
        const struct tac_sleep *sleep = &sim->active.sleep[k];
        if (speed < sleep->speed || sleep->from >= end)
            continue;
        const tac_time t = tac_path_sweep(sim, (enum tac_pair_type)q->type, v, sleep->from,
                                          sleep->to < end ? sleep->to : end, sleep->clear, q->tolerance);
        earliest = t < earliest ? t : earliest;
    }
    return earliest;
}

/* Returns the first time at which q may come under its next layer in the pass, by the paths of its vertices; the
 * special values are those of sweep_sleeps(). */
static tac_time sweep_paths(struct tac_sim *sim, const struct tac_candidate *q, const tac_lid v[4],
                            const struct tac_pair *p, tac_time end)
{
    const enum tac_pair_type type = (enum tac_pair_type)q->type;
    tac_time from = sim->paths.start;
    if (!paths_here(sim, q, v))
        return PENDING;
    /* Each part of the window against the first layer not active in it. */
    for (int32_t k = p != NULL && p->births > 0 ? p->first_birth : -1; k >= 0; k = sim->active.birth[k].following) {
        const struct tac_birth *birth = &sim->active.birth[k];
        tac_time t = tac_path_sweep(sim, type, v, from, birth->t, birth->next, q->tolerance);
        if (t != TAC_TIME_NEVER)
            return t;
        from = birth->t;
    }
    return tac_path_sweep(sim, type, v, from, end, p != NULL && p->births > 0 ? p->next : q->next, q->tolerance);
}

/* Returns the first time at which candidate k may come under its next layer in the pass; TAC_TIME_NEVER: it certainly
 * does not. */
static tac_time find_contact_time(struct tac_sim *sim, size_t k, const struct motion *m, tac_time end)
{
    struct tac_candidates *c = sim->view.candidates;
    struct tac_candidate *q = &c->list[k];
    tac_lid v[4];
    const tac_time start = sim->paths.start;
    const enum tac_pair_type type = (enum tac_pair_type)q->type;
    struct tac_pair *p = q->slot >= 0 ? &sim->active.pair[q->slot] : NULL;
    double x[4][3], u[4][3];
    if (p != NULL && p->proven) {
        q->acted = false;
        q->d = -INFINITY;
        return TAC_TIME_NEVER;
    }
    q->acted = p != NULL && p->births == 0 && !tac_validation_silent(p);
    if (p != NULL) {
        *(p->shared ? &p->seen_speed : &p->speed) = m->speed;
        p->slept_too_long = 0;
        tac_slack_vertices(&c->slack.of[k], q, v);
        const tac_time slept_too_long = sweep_sleeps(sim, q, v, p, m->speed, end);
        if (slept_too_long == PENDING)
            return PENDING;
        if (slept_too_long != TAC_TIME_NEVER) {
            p->slept_too_long = 1;
            *(p->shared ? &p->seen_awake : &p->awake) = end + AWAKE * (end - start);
            return slept_too_long;
        }
    }
    if (p != NULL && ticks_prove(sim, q, p, m->speed, end)) {
        q->d = -INFINITY; /* where the ticks do not prove a later pass, it is looked at anew */
        return TAC_TIME_NEVER;
    }
    if (p != NULL && p->births > 0) {
        q->d = -INFINITY;
        return sweep_paths(sim, q, v, p, end);
    }
    const double limit = (double)q->next + q->tolerance + m->deviation, change = q->change;
    if (q->d - change > limit)
        return TAC_TIME_NEVER;
    struct tac_near near;
    tac_slack_vertices(&c->slack.of[k], q, v);
    tac_validation_chords(sim->model, &sim->view, q, v, x, u);
    tac_near_pair(type, x, &near);
    q->d = tac_single_below(near.d);
    if (near.d - change > limit)
        return TAC_TIME_NEVER;
    const double s = tac_sweep(type, x, u, q->next + m->deviation, q->tolerance);
    if (s > 1)
        return TAC_TIME_NEVER;
    if (all_near(c, q, v))
        return sweep_paths(sim, q, v, p, end);
    return start + (tac_time)(s * (double)(end - start));
}

/* Adds the miss of candidate k at t to the validation. */
static enum tac_err enter_miss(struct tac_sim *sim, struct tac_validation *validation, size_t k, tac_time t)
{
    enum tac_err err = TAC_OK;
    const struct tac_candidate *q = &sim->view.candidates->list[k];
    if (t == TAC_TIME_NEVER)
        return TAC_OK;
    if (t == PENDING) {
        TAC_TRY(tac_grow(sim->ctx, &validation->open, &validation->open_capacity, validation->open_count + 1,
                         sizeof *validation->open));
        validation->open[validation->open_count++] = k;
        return TAC_OK;
    }
    TAC_TRY(
        tac_grow(sim->ctx, &validation->miss, &validation->capacity, validation->count + 1, sizeof *validation->miss));
    validation->miss[validation->count++] = (struct tac_missed_contact){k, t};
    validation->earliest = t < validation->earliest ? t : validation->earliest;
    const struct tac_pair *p = q->slot >= 0 ? &sim->active.pair[q->slot] : NULL;
    if (p != NULL && p->slept_too_long)
        return TAC_OK; /* nothing is missing, but some of its ticks */
    if (p != NULL && p->depth == p->form.bottom && p->births == 0) {
        validation->bottom = t < validation->bottom ? t : validation->bottom;
    } else if (p != NULL && p->depth < p->form.bottom) {
        int32_t last;
        const tac_time period = tac_model_layer_group(sim->model, &p->form, p->depth + 1, &last);
        validation->period = period < validation->period ? period : validation->period;
    }
done:
    return err;
}

static enum tac_err validate_list(struct tac_sim *sim, tac_time end, struct tac_validation *validation)
{
    enum tac_err err = TAC_OK;
    struct tac_candidates *c = sim->view.candidates;
    const size_t active = tac_candidates_before(c, end);
    for (size_t k = c->known; k < active; k++) {
        if (sim->state.now > c->start)
            c->list[k].d = -INFINITY; /* the list's start is past: look anew */
        tac_slack_clear(c, k);        /* a longer pass, which was run again, may have used it */
    }
    c->known = active;
    c->cost.looks += (int64_t)active;
    sim->windows.looks += (int64_t)active;
    tac_slack_begin(sim, end);
    for (size_t begin = 0; begin < active; begin += TAC_SLACKS) {
        size_t due[TAC_SLACKS];
        struct motion motion[TAC_SLACKS];
        const size_t count = tac_slack_use(c, begin, active - begin < TAC_SLACKS ? active - begin : TAC_SLACKS, due);
        bound_motions(sim, due, count, end, motion);
        for (size_t k = 0; k < count; k++)
            TAC_TRY(enter_miss(sim, validation, due[k], find_contact_time(sim, due[k], &motion[k], end)));
    }
    c->slack.committed = false;
done:
    return err;
}

enum tac_err tac_validate(struct tac_sim *sim, tac_time end, struct tac_validation *validation,
                          enum tac_validation_part part)
{
    enum tac_err err = TAC_OK;
    validation->open_count = 0;
    if (part != TAC_VALIDATE_NO_MORE) {
        validation->count = 0;
        validation->earliest = validation->bottom = TAC_TIME_NEVER;
        validation->period = tac_windows_least(&sim->active, &sim->windows);
        if (sim->find.kinetic != NULL)
            tac_kinetic_validate(&sim->find, validation);
    }
    if (part == TAC_VALIDATE_LIST)
        TAC_TRY(validate_list(sim, end, validation));
done:
    if (!tac_ranks_halo(sim->ranks))
        return err;
    tac_ranks_failed(sim->ranks, err);
    tac_ranks_paths(sim);
    for (size_t k = 0; k < validation->open_count && !tac_ranks_down(sim->ranks); k++) {
        struct motion motion;
        bound_motions(sim, &validation->open[k], 1, end, &motion);
        tac_time t = find_contact_time(sim, validation->open[k], &motion, end);
        TAC_CHECK(t != PENDING);
        tac_ranks_failed(sim->ranks, enter_miss(sim, validation, validation->open[k], t));
    }
    return TAC_OK;
}

enum tac_err tac_validation_reduce(struct tac_sim *sim, struct tac_validation *validation)
{
    enum tac_err err;
    int64_t tell[TAC_TELLS] = {0}, wildest;
    memcpy(&wildest, &validation->wildest, sizeof wildest); /* not negative: its bits are in its order */
    tell[TAC_TELL_EARLIEST] = -validation->earliest;
    tell[TAC_TELL_BOTTOM] = -validation->bottom;
    tell[TAC_TELL_WILDEST] = wildest;
    tell[TAC_TELL_BROKEN] = validation->repair;
    tell[TAC_TELL_BAD] = validation->bad >= 0 ? INT64_MAX - validation->bad : -1;
    tell[TAC_TELL_PERIOD] = -validation->period;
    tell[TAC_TELL_COST] = tac_windows_cost(sim);
    TAC_TRY(tac_ranks_reduce(sim, tell));
    validation->earliest = -tell[TAC_TELL_EARLIEST];
    validation->bottom = -tell[TAC_TELL_BOTTOM];
    memcpy(&validation->wildest, &tell[TAC_TELL_WILDEST], sizeof validation->wildest);
    validation->repair = (enum tac_repair)tell[TAC_TELL_BROKEN];
    validation->bad = tell[TAC_TELL_BAD] >= 0 ? INT64_MAX - tell[TAC_TELL_BAD] : -1;
    validation->period = -tell[TAC_TELL_PERIOD];
    sim->windows.cost += (double)tell[TAC_TELL_COST];
done:
    return err;
}
