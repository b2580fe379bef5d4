/* speculate.c: contact discovery by speculative windows (docs/explanation/method.md, Finding contacts; after Ainsley et
 * al. 2012): a window is run, then searched for a missed layer, and run again with that layer if there is one. */
#include "broadphase/candidates.h"
#include "contact/friction.h"
#include "events/ranks/ranks.h"
#include "events/windows/kinetic_windows.h"
#include "events/windows/slack.h"
#include "events/windows/validation.h"
#include "events/windows/windows.h"
#include "geometry/sweep.h"
#include <stdlib.h>
#include <string.h>

enum { SWINGS = 32 }; /* of a vertex about its chord in a window, times 2 pi */
enum { QUIET_MARGIN = 4, COSTLY_MISSES = 4 };
enum { FETCHED = 16 }; /* how many candidates ahead a candidate, and then its pair, is fetched into the cache */

static enum tac_err create_candidates(struct tac_sim *sim)
{
    enum tac_err err;
    TAC_TRY(tac_candidates_create(&sim->view, &sim->view.candidates));
    TAC_TRY(tac_windows_choose(sim));
    sim->view.candidates->horizon = 16 * sim->windows.length;
    for (tac_lid i = 0; i < sim->state.count; i++)
        memcpy(&sim->view.candidates->x[3 * (size_t)i], sim->state.pos[i].x, 3 * sizeof(double));
done:
    return err;
}

static void destroy_candidates(struct tac_sim *sim)
{
    tac_candidates_destroy(&sim->view.candidates);
}

static double distance_now(const struct tac_sim *sim, const struct tac_candidate *q, const tac_lid v[4])
{
    double x[4][3], u[4][3];
    struct tac_near near;
    tac_validation_chords(sim->model, &sim->view, q, v, x, u);
    tac_near_pair((enum tac_pair_type)q->type, x, &near);
    return near.d;
}

/* Activates one more layer group of q, with vertices v and distance d now. With free clocks each layer is a layer
 * group, and those of similar depth tick about equally often, so some more are activated at once. */
static enum tac_err activate_more(struct tac_sim *sim, struct tac_candidate *q, const tac_lid v[4], double d)
{
    enum tac_err err;
    const bool nested = sim->scene->settings->clocks.mode == TAC_CLOCKS_NESTED;
    int32_t more = nested || q->slot < 0 ? 1 : 1 + sim->active.pair[q->slot].depth / 4;
    do {
        TAC_TRY(tac_activate(sim, q->key, v, &q->slot));
        tac_prime(&sim->active, &sim->state, q->slot, d);
        TAC_TRY(tac_order(sim->ctx, sim->ranks, &sim->active, q->slot, false));
    } while (--more > 0 && sim->active.pair[q->slot].depth < sim->active.pair[q->slot].form.bottom);
    q->next = tac_single_above(sim->active.pair[q->slot].next);
done:
    return err;
}

/* Returns to the window's start. With kinetic structures all that the pass activated stays active, and is silent there,
 * because a rank may have moved it to its class already. */
static enum tac_err restore_window_start(struct tac_sim *sim, tac_time committed)
{
    if (sim->find.kinetic == NULL)
        return tac_pass_rollback(sim, committed);
    tac_kinetic_restored(&sim->find);
    return tac_pass_rollback(sim, TAC_TIME_NEVER);
}

/* After a miss: returns to the window's start and activates what was missed, unless it would tick too often until the
 * time of the miss. */
static enum tac_err activate_missed(struct tac_sim *sim, const struct tac_validation *validation, bool costly)
{
    enum tac_err err;
    struct tac_candidates *c = sim->view.candidates;
    TAC_TRY(restore_window_start(sim, validation->earliest));
    for (size_t k = 0; k < validation->count && !costly; k++) {
        struct tac_candidate *q = &c->list[validation->miss[k].candidate];
        if (q->slot >= 0 && sim->active.pair[q->slot].slept_too_long) {
            TAC_TRY(tac_order_awake(sim, q->slot));
            continue;
        }
        if (q->slot >= 0 && sim->active.pair[q->slot].depth == sim->active.pair[q->slot].form.bottom)
            continue;
        tac_lid v[4];
        tac_slack_vertices(&c->slack.of[validation->miss[k].candidate], q, v);
        TAC_TRY(activate_more(sim, q, v, distance_now(sim, q, v)));
    }
    for (size_t k = 0; k < validation->count; k++)
        if (c->list[validation->miss[k].candidate].slot >= 0)
            sim->active.pair[c->list[validation->miss[k].candidate].slot].slept_too_long = 0;
    for (size_t k = 0; k < c->count; k++)
        if (c->list[k].slot >= 0)
            c->list[k].next = tac_single_above(sim->active.pair[c->list[k].slot].next);
    err = tac_order_sleep_speeds(
        sim); /* the pass that is thrown away has shown how fast pairs are, also those of several ranks */
done:
    return err;
}

/* Did the deepest layer group of a pair do nothing in the pass, and may it be dropped? */
static bool was_silent(const struct tac_sim *sim, int32_t slot)
{
    const struct tac_pair *p = slot >= 0 ? &sim->active.pair[slot] : NULL;
    return p != NULL && tac_validation_silent(p) && !tac_friction_has_state(&sim->active, slot);
}

/* After a pass without misses: activates pairs that will be near, and drops layer groups that have been silent for
 * long. */
static enum tac_err look_ahead(struct tac_sim *sim, double next_over_this)
{
    enum tac_err err = TAC_OK;
    struct tac_candidates *c = sim->view.candidates;
    const bool deepens = sim->scene->settings->clocks.mode == TAC_CLOCKS_NESTED;
    const double ahead = 2 * fmax(1, next_over_this); /* windows of the next length to look ahead */
    tac_slack_commit(c, ahead);
    for (size_t k = 0; k < c->known; k++) {
        if (k + 2 * FETCHED < c->known && !tac_slack_left(c, k + 2 * FETCHED))
            tac_candidate_fetch(&c->list[k + 2 * FETCHED]);
        if (tac_slack_left(c, k))
            continue;
        struct tac_candidate *q = &c->list[k];
        if (q->slot >= 0 && q->acted && deepens) { /* most pairs, where much touches: the record is not asked for */
            q->d = tac_single_below(tac_candidate_end(q));
            continue;
        }
        struct tac_pair *p = q->slot >= 0 ? &sim->active.pair[q->slot] : NULL;
        const enum tac_pair_type type = (enum tac_pair_type)q->type;
        if (k + FETCHED < c->known && !tac_slack_left(c, k + FETCHED) && !(q[FETCHED].acted && deepens))
            tac_pair_fetch(&sim->active, q[FETCHED].slot);
        q->d = tac_single_below(tac_candidate_end(q));
        const bool silent = was_silent(sim, q->slot);
        /* In the next window its vertices will leave their chords about as far as in this one. */
        double deviation = 0;
        if (p != NULL && p->proven)
            continue;
        tac_lid v[4];
        tac_slack_vertices(&c->slack.of[k], q, v);
        for (int i = 0; i < q->count; i++)
            deviation = c->move[v[i]].deviation > deviation ? c->move[v[i]].deviation : deviation;
        const double aside = TAC_EXPECTED_DEVIATIONS * deviation, soon = q->next + tac_slack_margin(q) + aside;
        bool approaching =
            (p == NULL || (!deepens && p->depth < p->form.bottom)) && q->d - 2 * ahead * q->change < soon;
        if (!silent && !approaching) {
            if (p != NULL)
                q->next = tac_single_above(p->next);
            tac_slack_lay(c, k);
            continue;
        }
        double x[4][3], u[4][3];
        struct tac_near near;
        tac_validation_chords(sim->model, &sim->view, q, v, x, u);
        for (int i = 0; i < q->count; i++)
            for (int j = 0; j < 3; j++) {
                x[i][j] += u[i][j];
                u[i][j] *= ahead;
            }
        tac_near_pair(type, x, &near);
        q->d = tac_single_below(near.d - q->tolerance);
        if (approaching && q->d - 2 * ahead * q->change < soon &&
            tac_sweep(type, x, u, q->next + aside, q->tolerance) <= 1) {
            TAC_TRY(activate_more(sim, q, v, near.d));
            /* The speeds of its vertices are not known, which kept no breakpoints; a guess serves. */
            if (p == NULL) {
                struct tac_pair *fresh = &sim->active.pair[q->slot];
                *(fresh->shared ? &fresh->seen_speed : &fresh->speed) =
                    (q->change + SWINGS * deviation) / sim->windows.last_s;
            }
        } else if (silent) {
            const double first = tac_model_reach(sim->model, &p->form, 1);
            const double margin = QUIET_MARGIN * (q->change + deviation);
            while (p->live && was_silent(sim, q->slot) && near.d > p->deep_reach + margin) {
                TAC_TRY(tac_order(sim->ctx, sim->ranks, &sim->active, q->slot, true));
                tac_active_drop(sim, q->slot);
            }
            q->next = tac_single_above(p->live ? p->next : first);
            q->slot = p->live ? q->slot : -1;
        }
        tac_slack_lay(c, k);
    }
done:
    return err;
}

static enum tac_err new_list(struct tac_sim *sim, tac_time reached)
{
    enum tac_err err;
    struct tac_candidates *c = sim->view.candidates;
    TAC_TRY(tac_candidates_horizon(&sim->view, c, sim->paths.start, reached, tac_windows_ask(&sim->windows)));
    c->known = 0;
    TAC_TRY(tac_candidates_build(&sim->view, c, reached - sim->paths.start, c->horizon));
done:
    return err;
}

/* Collective. To be called if some rank needs a new list, or a repair together with others, because vertices left their
 * bounds. If the list of this rank does not change, its last validation remains valid. */
static enum tac_err repair_together(struct tac_sim *sim, tac_time reached, const struct tac_validation *own,
                                    struct tac_validation *validation)
{
    enum tac_err err = TAC_OK;
    enum tac_repair what = validation->repair;
    bool touched = true;
    if (what == TAC_REPAIR_TOGETHER)
        TAC_TRY(tac_candidates_repair_together(&sim->view, sim->view.candidates, reached - sim->paths.start, &what,
                                               &touched));
    if (what == TAC_REPAIR_NOT) {
        touched = true;
        TAC_TRY(new_list(sim, reached));
    }
    const bool anew = touched || own->repair != TAC_REPAIR_DONE;
    validation->earliest = own->earliest;
    validation->bottom = own->bottom;
    validation->period = own->period;
    TAC_TRY(tac_validate(sim, reached, validation, anew ? TAC_VALIDATE_LIST : TAC_VALIDATE_NO_MORE));
    TAC_TRY(tac_validation_reduce(sim, validation));
done:
    return err;
}

/* Runs the pass, with kinetic structures if there are any. Returns the time that it reached. */
static tac_time run_pass(struct tac_sim *sim, tac_time end)
{
    if (sim->find.kinetic == NULL)
        return tac_pass_run(sim, end);
    tac_ranks_failed(sim->ranks, tac_kinetic_run(sim, end));
    return end;
}

/* Runs a pass to `end`, unless the last run is still valid (`again` is false), and validates it. *reached: the time
 * that it reached. */
static enum tac_err try_pass(struct tac_sim *sim, tac_time end, bool again, struct tac_validation *validation,
                             tac_time *reached)
{
    enum tac_err err;
    struct tac_candidates *c = sim->view.candidates;
    tac_lid bad = -1;
    double begin_s;
    *reached = end;
    if (again)
        TAC_TRY(tac_ranks_hold(sim->ranks, tac_pass_begin(sim)));
    else
        tac_ranks_again(sim->ranks);
    if (again && (!tac_ranks_halo(sim->ranks) || !tac_ranks_down(sim->ranks)))
        *reached = run_pass(sim, end);
    TAC_TRY(sim->control.failed);
    begin_s = tac_wall_s();
    validation->bad = -1;
    if (!tac_windows_measure(sim, *reached, &bad, &validation->wildest))
        validation->bad = tac_scene_id(sim->scene, bad);
    if (tac_ranks_halo(sim->ranks))
        tac_ranks_close(sim);
    const bool calm = bad < 0 && validation->wildest <= 256 * c->skin;
    validation->repair = TAC_REPAIR_DONE;
    if (calm && !tac_windows_hold(sim, *reached, false))
        TAC_TRY(tac_ranks_hold(sim->ranks,
                               tac_candidates_repair(&sim->view, c, *reached - sim->paths.start, &validation->repair)));
    const bool able =
        calm && validation->repair == TAC_REPAIR_DONE && !(tac_ranks_halo(sim->ranks) && tac_ranks_down(sim->ranks));
    TAC_TRY(tac_validate(sim, *reached, validation, able ? TAC_VALIDATE_LIST : TAC_VALIDATE_NOTHING));
    const struct tac_validation own = *validation;
    TAC_TRY(tac_validation_reduce(sim, validation));
    validation->wild = validation->bad >= 0 || validation->wildest > 256 * c->skin;
    if (!validation->wild && validation->repair != TAC_REPAIR_DONE)
        TAC_TRY(repair_together(sim, *reached, &own, validation));
    sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
done:
    return err;
}

/* After a miss, must this rank run the pass again? A rank must if it owns a vertex of a newly activated pair, or
 * exchanges positions with such a rank; the pass of the other ranks remains valid. */
static bool must_repeat(struct tac_sim *sim, const struct tac_validation *validation)
{
    if (!tac_ranks_halo(sim->ranks) || (validation->bottom <= sim->state.now && validation->earliest <= sim->state.now))
        return true;
    uint8_t *mark = tac_ranks_marks(sim->ctx, sim->ranks);
    for (size_t k = 0; k < validation->count; k++) {
        const size_t at = validation->miss[k].candidate;
        const struct tac_candidate *q = &sim->view.candidates->list[at];
        tac_lid v[4];
        tac_slack_vertices(&sim->view.candidates->slack.of[at], q, v);
        for (int i = 0; i < q->count; i++)
            mark[tac_scene_owner(sim->ctx, sim->scene, v[i])] |= tac_model_takes_part(sim->model, v[i]);
    }
    return tac_ranks_concerned(sim, mark);
}

/* Sorts the active pairs in memory. Between passes only the list of candidates refers to pairs by their slots. */
static enum tac_err sort_pairs(struct tac_sim *sim)
{
    int32_t *slot;
    const enum tac_err err = tac_active_sort(sim->ctx, &sim->active, &slot);
    if (slot != NULL)
        tac_candidates_rename(sim->view.candidates, slot);
    free(slot);
    return err;
}

static enum tac_err advance_window(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err = TAC_OK;
    struct tac_validation validation = {0};
    tac_time wanted = TAC_TIME_NEVER; /* a period that was missed, and is not active yet */
    double begin_s;
    int attempts = 0;
    bool again = true;
    if (sim->windows.least_period == 0)
        TAC_TRY(tac_windows_agree(sim));
    const tac_time window = tac_windows_ask(&sim->windows);
    tac_time end = limit - sim->state.now > window + window / 4 ? sim->state.now + window : limit, reached;
    const tac_time asked = end - sim->state.now;
    for (;; attempts++) {
        TAC_TRY(try_pass(sim, end, again, &validation, &reached));
        again = true;
        begin_s = tac_wall_s();
        if (validation.wild) {
            /* Nonsense, or motion too wild for one window: a shorter one.  One instant alone is straight. */
            const tac_time shorter = (reached - sim->state.now) / 4;
            if (shorter > 0) {
                TAC_TRY(tac_ranks_hold(sim->ranks, restore_window_start(sim, sim->state.now)));
                end = sim->state.now + shorter;
                continue;
            }
            if (validation.bad >= 0) {
                err = tac_sim_not_finite(sim, validation.bad, reached);
                goto done;
            }
        }
        if (validation.earliest == TAC_TIME_NEVER)
            break;
        /* A second miss: only what is certainly right. Where that is nothing, the pair there has become deeper. */
        sim->windows.least_period = validation.period;
        const tac_time most = tac_windows_ask(&sim->windows);
        /* What would tick too often until it is needed is active from there on: in the next window. */
        const bool costly = attempts < COSTLY_MISSES && (validation.earliest - sim->state.now) / 2 > most &&
                            validation.earliest < reached;
        const bool shorter = (attempts > 0 || costly) && validation.earliest > sim->state.now;
        const bool cut = !shorter && (reached - sim->state.now) / 2 > most;
        wanted = costly && validation.period < wanted ? validation.period : wanted;
        again = shorter || cut || must_repeat(sim, &validation);
        if (again)
            TAC_TRY(tac_ranks_hold(sim->ranks, activate_missed(sim, &validation, costly)));
        if (validation.bottom <= sim->state.now && validation.earliest <= sim->state.now) {
            err = tac_sim_stuck(sim);
            goto done;
        }
        tac_orders_exchange(sim);
        if (shorter)
            end = validation.earliest;
        else if (cut)
            end = sim->state.now + most;
        else
            end = reached > sim->state.now ? reached : end;
        sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
    }
    tac_windows_hold(sim, reached, true);
    TAC_TRY(tac_ranks_hold(sim->ranks, tac_pass_commit(sim, reached)));
    tac_windows_adapt(sim, attempts, asked);
    sim->windows.least_period = wanted < validation.period ? wanted : validation.period;
    if (sim->find.kinetic == NULL)
        TAC_TRY(tac_ranks_hold(sim->ranks, sort_pairs(sim)));
    else if (!tac_ranks_down(sim->ranks))
        TAC_TRY(tac_ranks_hold(sim->ranks, tac_kinetic_committed(sim)));
    TAC_TRY(tac_ranks_hold(
        sim->ranks, look_ahead(sim, (double)tac_windows_ask(&sim->windows) / (double)(reached - sim->paths.start))));
    TAC_TRY(tac_ranks_hold(sim->ranks, tac_order_sleep_speeds(sim)));
    tac_orders_exchange(sim);
    if (!tac_ranks_halo(sim->ranks) && wanted == TAC_TIME_NEVER)
        sim->windows.least_period = tac_windows_least(&sim->active, &sim->windows); /* less what was dropped */
    sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
done:
    free(validation.miss);
    free(validation.open);
    return err;
}

const struct tac_discovery tac_discovery_speculate = {"speculate", create_candidates, advance_window,
                                                      destroy_candidates};
