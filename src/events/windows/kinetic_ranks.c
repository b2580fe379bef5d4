/* kinetic_ranks.c: kinetic data structures on several ranks (docs/reference/kinetic.md, Across ranks).
 *
 * Each rank proves the pairs of its own primitives, from instant to instant, while a window is run.  The other pairs,
 * which have vertices of several ranks, are candidates as in speculative windows: they are validated after the window
 * was run (speculate.c). */
#include "events/ranks/ranks.h"
#include "events/windows/kinetic_windows.h"
#include "events/windows/validation.h"
#include "events/windows/windows.h"
#include <string.h>

/* A layer group that is activated in mid-window may have this many times as many ticks until the window's end as a
 * layer group should have in a whole window, and one more; so the window in which it is run again is always shorter.
 */
enum { AFRESH = 2 };

enum tac_err tac_kinetic_together(struct tac_sim *sim)
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
