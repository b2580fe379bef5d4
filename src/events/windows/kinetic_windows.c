/* kinetic_windows.c: contact discovery by kinetic data structures (docs/reference/kinetic.md; ACM 2009, section 5): the
 * simulation goes from instant to instant, and before each one all certificates that may fail before it are renewed or
 * replaced. So nothing is run twice. */
#include "events/windows/kinetic_windows.h"
#include "events/ranks/ranks.h"
#include "events/windows/validation.h"
#include "events/windows/windows.h"

#include <stdlib.h>
#include <string.h>

/* ---- several ranks (docs/reference/kinetic.md, Across ranks) ----
 *
 * Each rank proves the pairs of its own primitives, from instant to instant, while a window is run.  The other pairs,
 * which have vertices of several ranks, are candidates as in speculative windows: they are validated after the window
 * was run (speculate.c). */

/* A layer group that is activated in mid-window may have this many times as many ticks until the window's end as a
 * layer group should have in a whole window, and one more; so the window in which it is run again is always shorter.
 */
enum { AFRESH = 2 };

/* Collective. Creates what several ranks need; sim->view.candidates must exist. */
static enum tac_err create_crossing_lists(struct tac_sim *sim)
{
    enum tac_err err;
    struct tac_candidates *c = sim->view.candidates;
    TAC_TRY(tac_windows_choose(sim));
    c->horizon = 16 * sim->windows.length;
    c->crossing = true;
    for (tac_lid i = 0; i < sim->state.count; i++)
        memcpy(&c->x[3 * (size_t)i], sim->state.pos[i].x, 3 * sizeof(double));
    sim->paths.near_changed = true; /* all are near: activate.c */
done:
    return err;
}

/* Makes room for the breakpoints of an instant. In mid-pass it allocates more, because other ranks wait for this one.
 */
static enum tac_err room_for_instant(struct tac_sim *sim)
{
    const size_t most = sim->paths.break_count + sim->paths.near_count;
    if (most <= sim->paths.break_capacity)
        return TAC_OK;
    return tac_grow(sim->ctx, &sim->paths.breaks, &sim->paths.break_capacity, 2 * most, sizeof *sim->paths.breaks);
}

/* Runs the rest of a pass after a pair has passed through its layer stack, or while a necessary layer is inactive. The
 * result is wrong and will be discarded, but other ranks wait for the messages. */
static enum tac_err run_unproven(struct tac_sim *sim, tac_time end)
{
    enum tac_err err;
    tac_time t = sim->state.now;
    TAC_TRY(tac_clock_start(sim)); /* the instant that was not run has been asked for */
    while (!tac_ranks_down(sim->ranks) && (t = tac_clock_next(sim, t, end)) != TAC_TIME_NEVER) {
        sim->find.kicked_count = 0;
        TAC_TRY(room_for_instant(sim));
        tac_pass_step(sim, t);
    }
done:
    return err;
}

static enum tac_err run_instants(struct tac_sim *sim, tac_time end)
{
    enum tac_err err;
    struct tac_kinetic *k = sim->find.kinetic;
    sim->books.kept_at = -1;
    sim->paths.end = end;
    sim->windows.period_wanted = TAC_TIME_NEVER;
    k->end = end;
    k->most = AFRESH * sim->windows.ticks + 1;
    TAC_TRY(tac_kinetic_begin(k));
    TAC_TRY(tac_clock_start(sim));
    while (sim->state.now < end && k->bad < 0 && k->stuck_at == TAC_TIME_NEVER && k->cut_at == TAC_TIME_NEVER &&
           !tac_ranks_down(sim->ranks)) {
        TAC_TRY(room_for_instant(sim));
        TAC_TRY(tac_kinetic_step(sim, end));
    }
    if (sim->state.now < end && !tac_ranks_down(sim->ranks))
        TAC_TRY(run_unproven(sim, end));
done:
    return err;
}

enum tac_err tac_kinetic_run(struct tac_sim *sim, tac_time end)
{
    sim->paths.running = true;
    const enum tac_err err = run_instants(sim, end);
    sim->paths.running = false;
    for (int i = 0; i < TAC_KINDS; i++)
        sim->books.counters.executed[i] += sim->books.ticks[i];
    sim->state.now = sim->paths.start;
    return err;
}

void tac_kinetic_validate(const struct tac_find *find, struct tac_validation *validation)
{
    const struct tac_kinetic *k = find->kinetic;
    const tac_time first = k->stuck_at < k->cut_at ? k->stuck_at : k->cut_at;
    validation->earliest = first < validation->earliest ? first : validation->earliest;
    validation->bottom = k->stuck_at < validation->bottom ? k->stuck_at : validation->bottom;
    validation->period = k->cut_period < validation->period ? k->cut_period : validation->period;
}

void tac_kinetic_restored(struct tac_find *find)
{
    find->kinetic->built = false; /* its certificates were made for what has not happened */
}

/* Removes the slots of dropped pairs from the list: a pair on it may have been dropped after certificates proved it
 * silent. */
static void forget_dropped(struct tac_sim *sim)
{
    struct tac_candidates *c = sim->view.candidates;
    for (size_t i = 0; i < c->count; i++) {
        struct tac_candidate *q = &c->list[i];
        const struct tac_pair *p = q->slot >= 0 ? &sim->active.pair[q->slot] : NULL;
        struct tac_form form;
        if (p == NULL || (p->live && p->key == q->key))
            continue;
        tac_lid v[4];
        tac_slack_vertices(&c->slack.of[i], q, v);
        tac_model_form(sim->model, (enum tac_pair_type)q->type, v, &form);
        q->slot = -1;
        q->next = tac_single_above(tac_model_reach(sim->model, &form, 1));
        q->d = -INFINITY;
    }
}

enum tac_err tac_kinetic_committed(struct tac_sim *sim)
{
    const size_t live = sim->active.live_pairs;
    const enum tac_err err = tac_kinetic_tidy(sim->find.kinetic);
    if (sim->active.live_pairs < live)
        forget_dropped(sim);
    return err;
}

/* The end of a window visits all vertices and all active pairs, so a window has at least as many ticks as that costs.
 */
enum { INSTANTS_AT_LEAST = 64, TICKS_PER_VERTEX = 2, TICKS_PER_PAIR = 4, TICKS_AT_LEAST = 256 };

static enum tac_err create_kinetic(struct tac_sim *sim)
{
    enum tac_err err;
    struct tac_candidates *c = NULL;
    TAC_TRY(tac_candidates_create(&sim->view, &c));
    err = tac_kinetic_create(&sim->view, c, &sim->find.kinetic);
    if (!err)
        err = tac_alloc(sim->ctx, (size_t)sim->state.owned, sizeof *sim->find.kicked, &sim->find.kicked);
    TAC_TRY(tac_agree(sim->ctx, err)); /* no rank sends anything before all ranks are ready */
    if (tac_ranks_halo(sim->ranks)) {
        sim->view.candidates = c;
        c = NULL;
        TAC_TRY(create_crossing_lists(sim));
    }
done:
    tac_candidates_destroy(&c);
    return err;
}

static void destroy_kinetic(struct tac_sim *sim)
{
    tac_kinetic_destroy(&sim->find.kinetic);
    tac_candidates_destroy(&sim->view.candidates);
    free(sim->find.kicked);
    sim->find.kicked = NULL;
}

/* Checks whether the vertices that were kicked stay in their plans. Those kicked by elastic forces, gravity and loads
 * are listed by class; those moved by contacts are listed by the pass. */
static void check_plans(struct tac_sim *sim)
{
    struct tac_kinetic *k = sim->find.kinetic;
    for (size_t i = 0; i < sim->clocks.due_elastic_count; i++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[sim->clocks.due_elastic[i]];
        for (size_t j = 0; j < rate->vertex_count; j++)
            if (sim->state.vel[rate->vertex[j]].w != 0)
                tac_kinetic_check(k, rate->vertex[j]);
    }
    for (size_t i = 0; i < sim->find.kicked_count; i++)
        tac_kinetic_check(k, sim->find.kicked[i]);
}

/* Finds the next instant and proves that no inactive layer acts until then. *next: the instant, or `limit` if no force
 * is due before (then *due is false). */
static enum tac_err prove_next(struct tac_sim *sim, tac_time limit, tac_time *next, bool *due)
{
    enum tac_err err;
    struct tac_kinetic *k = sim->find.kinetic;
    tac_time t = tac_clock_next(sim, sim->state.now, limit), proven;
    const int64_t found = sim->books.counters.contacts_found;
    TAC_TRY(tac_kinetic_prove(k, t == TAC_TIME_NEVER ? limit : t, &proven));
    if (sim->books.counters.contacts_found != found) { /* else what is due stands; a heap of clocks is beyond it */
        TAC_TRY(tac_clock_start(sim));
        t = tac_clock_next(sim, sim->state.now, limit);
    }
    *due = t != TAC_TIME_NEVER;
    *next = *due ? t : limit;
done:
    return err;
}

static int64_t ticks_of(const struct tac_sim *sim)
{
    int64_t sum = 0;
    for (int k = 0; k < TAC_KINDS; k++)
        sum += sim->books.ticks[k];
    return sum;
}

enum tac_err tac_kinetic_step(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err;
    struct tac_kinetic *k = sim->find.kinetic;
    const double begin_s = tac_wall_s();
    tac_time t;
    bool due;
    TAC_TRY(prove_next(sim, limit, &t, &due));
    if (k->stuck_at < TAC_TIME_NEVER || k->cut_at < TAC_TIME_NEVER)
        goto done;
    const double proven_s = tac_wall_s(), waited_s = tac_pass_waited(&sim->books);
    sim->books.counters.seconds_discovery += proven_s - begin_s;
    sim->find.kicked_count = 0;
    if (!tac_ranks_halo(sim->ranks))
        sim->paths.break_count = 0;
    if (due)
        tac_pass_step(sim, t);
    const double run_s = tac_wall_s();
    tac_pass_took(&sim->books, run_s - proven_s, tac_pass_waited(&sim->books) - waited_s);
    sim->state.now = t;
    if (due)
        check_plans(sim);
    sim->books.counters.seconds_plans += tac_wall_s() - run_s;
    /* A silent tick moves no vertex. */
    TAC_TRY(tac_kinetic_replan(k, due && (sim->clocks.due_elastic_count > 0 || sim->find.kicked_count > 0)));
    sim->books.counters.seconds_discovery += tac_wall_s() - run_s;
done:
    return err;
}

static enum tac_err advance_kinetic(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err;
    struct tac_kinetic *k = sim->find.kinetic;
    if (tac_ranks_halo(sim->ranks))
        return tac_discovery_speculate.advance(sim, limit);
    int64_t tell[TAC_TELLS] = {0};
    double begin_s = tac_wall_s();
    TAC_TRY(tac_pass_begin(sim));
    sim->books.kept_at = -1;
    TAC_TRY(tac_kinetic_begin(k));
    TAC_TRY(tac_clock_start(sim));
    sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
    const int64_t most = TICKS_PER_VERTEX * (int64_t)sim->state.owned +
                         TICKS_PER_PAIR * (int64_t)sim->active.live_pairs + TICKS_AT_LEAST;
    for (int instants = 0; sim->state.now < limit && k->bad < 0 && k->stuck_at == TAC_TIME_NEVER; instants++) {
        if (instants >= INSTANTS_AT_LEAST && ticks_of(sim) >= most)
            break;
        TAC_TRY(tac_kinetic_step(sim, limit));
    }
    if (k->bad >= 0) {
        err = tac_sim_not_finite(sim, tac_scene_id(sim->scene, k->bad), sim->state.now);
        goto done;
    }
    for (int i = 0; i < TAC_KINDS; i++)
        sim->books.counters.executed[i] += sim->books.ticks[i];
    TAC_TRY(tac_ranks_reduce(sim, tell));
    /* Up to where a layer stack ends all is straight, and layer groups that tick before that are silent. */
    const bool stuck = k->stuck_at < TAC_TIME_NEVER;
    TAC_TRY(tac_pass_commit(sim, stuck ? k->stuck_at : sim->state.now));
    if (stuck) {
        err = tac_sim_stuck(sim);
        goto done;
    }
    begin_s = tac_wall_s();
    TAC_TRY(tac_kinetic_tidy(k));
    sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
done:
    return err;
}

const struct tac_discovery tac_discovery_kinetic = {"kds", create_kinetic, advance_kinetic, destroy_kinetic};
