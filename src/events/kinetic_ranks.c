/* kinetic_ranks.c: windows of several ranks with kinetic data structures (docs/kds.md, Across ranks).
 *
 * Before a window the certificates that rest on other ranks' plans (kds/flights.h) are renewed, and they limit the
 * length of the window. Within it each rank goes from instant to instant as on one rank, and exchanges positions with
 * its neighbours where stencils are shared. After it all ranks check whether plans were kept. If new plans make a
 * certificate fail in the past, all ranks go back to the window's start and run it again. */
#include "events/kinetic.h"
#include "events/ranks.h"
#include "events/speculation/windows.h"
#include "kds/flights.h"
#include <string.h>

/* A layer group found in mid-window may tick so often as one that was active when it began; twice that until the window
 * ends.
 */
enum { AFRESH = 2 };

/* What must be done about a window that was run; told by all, the greatest counts. */
enum repair { STANDS, EPOCH_SOON, AGAIN, AGAIN_WITH_EPOCH, SHORTER };

struct window {
    tac_time end;
    enum repair repair;
    bool doubt;        /* some pair of some rank may come through its layer stack in it */
    tac_time stuck_at; /* when some pair does, TAC_TIME_NEVER: none */
    tac_time cut; /* a window so long would be better: some layer group would tick too often; TAC_TIME_NEVER: none */
    tac_gid bad;  /* a vertex that is not finite, or -1 */
    double roughness; /* flights.h, of all */
};

enum tac_err tac_kinetic_together(struct tac_sim *sim)
{
    enum tac_err err;
    struct tac_candidates *c = sim->view.candidates;
    TAC_TRY(tac_flights_create(&sim->view, &sim->find.flights));
    TAC_TRY(tac_windows_choose(sim));
    c->horizon = 16 * sim->windows.length;
    for (tac_lid i = 0; i < sim->state.count; i++)
        memcpy(&c->x[3 * (size_t)i], sim->state.pos[i].x, 3 * sizeof(double));
    sim->paths.near_changed = true; /* all are near: activate.c */
done:
    return err;
}

/* ---- before ---- */

/* The next instant of any rank. */
static enum tac_err next_of_all(struct tac_sim *sim, tac_time limit, tac_time *next)
{
    tac_time t = limit;
    TAC_CHECK(tac_sim_halo(sim) != NULL);
    enum tac_err err = tac_active_settle(sim);
    if (!err)
        err = tac_clock_start(sim);
    if (!err)
        t = tac_clock_next(sim, sim->state.now, limit);
    tac_ranks_failed(sim, err);
    t = t == TAC_TIME_NEVER ? limit : t;
    if (MPI_Allreduce(&t, next, 1, TAC_TIME_MPI, MPI_MIN, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while looking for the next instant");
    return TAC_OK;
}

/* Some pair is at the end of its layer stack: one instant only, and who comes through it before is found exactly. */
static enum tac_err validate(struct tac_sim *sim, tac_time limit, struct window *w)
{
    enum tac_err err;
    struct tac_kinetic *k = sim->find.flights->k;
    int64_t tell[TAC_TELLS] = {0};
    TAC_TRY(next_of_all(sim, limit, &w->end));
    tac_halo_link(tac_sim_halo(sim));
    tac_ranks_lines(sim);
    k->stuck_at = TAC_TIME_NEVER;
    if (!tac_ranks_down(sim))
        tac_flights_validate(&sim->view, sim->find.flights, w->end);
    tell[TAC_TELL_BOTTOM] = -k->stuck_at;
    TAC_TRY(tac_ranks_reduce(sim, tell));
    w->stuck_at = -tell[TAC_TELL_BOTTOM];
    if (w->stuck_at <= sim->state.now)
        err = tac_sim_stuck(sim);
    else if (w->stuck_at < w->end)
        w->end = w->stuck_at;
done:
    return err;
}

/* Renews what rests on other ranks; w->end: how far the window may go, at most to sim->state.now + most. */
static enum tac_err prove(struct tac_sim *sim, tac_time limit, tac_time most, struct window *w)
{
    enum tac_err err = TAC_OK;
    struct tac_flights *f = sim->find.flights;
    enum { CLEAR, DOUBT, COARSE };
    for (;; most = most > 4 ? most / 4 : 1) {
        int64_t tell[TAC_TELLS] = {0};
        const bool patient = most > 1;
        if (!tac_ranks_down(sim))
            tac_ranks_failed(sim, tac_flights_prove(&sim->view, f, sim->state.now + most, patient));
        tac_orders_exchange(sim);
        /* No layer group is to tick more often than a window is worth: what has come deep is there for some ten ticks.
         */
        const tac_time least = tac_windows_least(sim), start = sim->state.now;
        const tac_time longest = least < most / sim->windows.ticks ? sim->windows.ticks * least : most;
        tell[TAC_TELL_EARLIEST] = -(f->first < start + longest ? f->first : start + longest);
        tell[TAC_TELL_BROKEN] = f->k->coarse ? COARSE : f->k->doubt_count > 0 ? DOUBT : CLEAR;
        TAC_TRY(tac_ranks_reduce(sim, tell));
        w->end = -tell[TAC_TELL_EARLIEST] < sim->state.now + most ? -tell[TAC_TELL_EARLIEST] : sim->state.now + most;
        w->doubt = tell[TAC_TELL_BROKEN] == DOUBT;
        if (tell[TAC_TELL_BROKEN] != COARSE)
            break;
        /* Narrower trajectory bounds, for a shorter window. Who files them must hear first of whom they are wanted. */
        tac_flights_exchange(&sim->view, f);
        tac_flights_foresee(&sim->view, f, most > 4 ? most / 4 : 1);
        tac_flights_exchange(&sim->view, f);
    }
    w->stuck_at = TAC_TIME_NEVER;
    TAC_CHECK(w->end > sim->state.now);
    if (w->doubt)
        TAC_TRY(validate(sim, limit < w->end ? limit : w->end, w));
done:
    return err;
}

/* ---- the window ---- */

/* What comes after a layer stack has ended, or while something is not active, is nonsense, but others wait for it. */
static void run_on(struct tac_sim *sim, tac_time end)
{
    tac_time t = sim->state.now;
    tac_ranks_failed(sim, tac_clock_start(sim)); /* the instant that was not run has been asked for */
    while (!tac_ranks_down(sim) && (t = tac_clock_next(sim, t, end)) != TAC_TIME_NEVER) {
        sim->paths.break_count = sim->find.kicked_count = 0;
        tac_pass_step(sim, t);
    }
    sim->state.now = end;
}

static enum tac_err run(struct tac_sim *sim, tac_time end)
{
    enum tac_err err;
    struct tac_kinetic *k = sim->find.kinetic;
    TAC_TRY(tac_pass_begin(sim));
    sim->books.kept_at = -1;
    k->end = end;
    k->most = AFRESH * sim->windows.ticks;
    TAC_TRY(tac_kinetic_begin(k));
    TAC_TRY(tac_clock_start(sim));
    while (sim->state.now < end && k->bad < 0 && k->stuck_at == TAC_TIME_NEVER && k->cut_at == TAC_TIME_NEVER &&
           !tac_ranks_down(sim))
        TAC_TRY(tac_kinetic_step(sim, end));
    if (sim->state.now < end)
        run_on(sim, end);
done:
    return err;
}

/* ---- after ---- */

/* How long a window after one of `span` quanta may be so that trajectory bounds stay narrow, going by how rough that
 * one was; and it may have been short for other reasons too. */
static tac_time advisable(const struct tac_sim *sim, tac_time span, double roughness)
{
    enum { GROWTH = 4 };
    const double room = TAC_FARTHER * roughness;
    const double most = fmin(GROWTH, room >= 1 ? 1 / room : 1 / sqrt(room)) * (double)span;
    if (most >= (double)sim->windows.length)
        return sim->windows.length;
    return most > 1 ? (tac_time)most : 1;
}

/* The first window of all is as long as may be; the first after a new partition goes by the last before it. */
static tac_time next_window(const struct tac_sim *sim, const struct tac_flights *f)
{
    if (f->k != NULL)
        return advisable(sim, f->span, f->roughness);
    return f->span > 0 && 2 * f->span < sim->windows.length ? 2 * f->span : sim->windows.length;
}

/* Whether the window stands, by what this rank knows. The pass has been closed, and sim->state.now is its start. */
static void look_back(struct tac_sim *sim, struct window *w)
{
    struct tac_flights *f = sim->find.flights;
    const struct tac_kinetic *own = sim->find.kinetic;
    const int64_t found = sim->books.counters.contacts_found;
    tac_lid bad = own->bad;
    double wildest;
    w->repair = STANDS;
    w->bad = -1;
    w->stuck_at = own->stuck_at;
    w->cut = TAC_TIME_NEVER;
    if (own->cut_at < TAC_TIME_NEVER) {
        const tac_time before = own->cut_at - sim->state.now, some = sim->windows.ticks * own->cut_period;
        w->cut = before > some ? before : some;
        tac_flights_exchange(&sim->view, f);
        return;
    }
    if ((!tac_windows_measure(sim, w->end, &bad, &wildest) || bad >= 0) && !tac_ranks_down(sim))
        w->bad = tac_sim_id(sim, bad);
    const bool calm = w->bad < 0 && !tac_ranks_down(sim), able = w->end - sim->state.now > 1;
    if (calm)
        tac_flights_check(&sim->view, f, w->end, able);
    tac_flights_exchange(&sim->view, f);
    if (calm && f->wild) {
        w->repair = SHORTER;
    } else if (calm && !tac_ranks_down(sim)) {
        tac_ranks_failed(sim, tac_flights_prove(&sim->view, f, w->end, able));
        /* A pair in doubt was judged by its exact motion, if others have not changed their plans. */
        const bool doubt = w->doubt ? f->changed : f->k->doubt_count > 0;
        if (f->k->coarse)
            w->repair = SHORTER;
        else if (f->first < w->end || doubt || sim->books.counters.contacts_found > found)
            w->repair = AGAIN;
        else if (tac_flights_leaving(&sim->view, f, w->end, advisable(sim, w->end - sim->state.now, f->roughness)))
            w->repair = EPOCH_SOON;
    }
    if (calm && w->repair != SHORTER && !tac_windows_hold(sim, w->end, false))
        w->repair = AGAIN_WITH_EPOCH;
}

static enum tac_err reduce(struct tac_sim *sim, struct window *w)
{
    enum tac_err err;
    int64_t tell[TAC_TELLS] = {0};
    tell[TAC_TELL_BROKEN] = w->repair;
    tell[TAC_TELL_BOTTOM] = -w->stuck_at;
    tell[TAC_TELL_EARLIEST] = -w->cut;
    memcpy(&tell[TAC_TELL_WILDEST], &sim->find.flights->roughness,
           sizeof tell[0]); /* not negative: in the order of bits */
    tell[TAC_TELL_BAD] = w->bad >= 0 ? INT64_MAX - w->bad : -1;
    TAC_TRY(tac_ranks_reduce(sim, tell));
    w->repair = (enum repair)tell[TAC_TELL_BROKEN];
    w->stuck_at = -tell[TAC_TELL_BOTTOM];
    w->cut = -tell[TAC_TELL_EARLIEST];
    memcpy(&w->roughness, &tell[TAC_TELL_WILDEST], sizeof w->roughness);
    w->bad = tell[TAC_TELL_BAD] >= 0 ? INT64_MAX - tell[TAC_TELL_BAD] : -1;
done:
    return err;
}

/* Back to the window's start; what was active in it stays active, which is only silent. */
static void go_back(struct tac_sim *sim)
{
    tac_ranks_failed(sim, tac_pass_restore(sim, TAC_TIME_NEVER));
    sim->find.kinetic->built = false; /* its certificates were made for what has not happened */
}

static enum tac_err commit(struct tac_sim *sim, const struct window *w)
{
    enum tac_err err;
    struct tac_flights *f = sim->find.flights;
    f->span = w->end - sim->paths.start;
    f->leaving = w->repair == EPOCH_SOON;
    f->roughness = w->roughness;
    tac_windows_hold(sim, w->end, true);
    tac_flights_turn(&sim->view, f);
    TAC_TRY(tac_ranks_hold(sim, tac_pass_commit(sim, w->end)));
    TAC_TRY(tac_ranks_hold(sim, tac_flights_tidy(&sim->view, f, sim->find.kinetic)));
    tac_orders_exchange(sim);
done:
    return err;
}

/* Runs the window once and hears of all what must be done about it. */
static enum tac_err attempt(struct tac_sim *sim, struct window *w)
{
    double begin_s;
    tac_ranks_failed(sim, run(sim, w->end));
    for (int i = 0; i < TAC_KINDS; i++)
        sim->books.counters.executed[i] += sim->books.ticks[i];
    begin_s = tac_wall_s();
    tac_ranks_close(sim);
    sim->state.now = sim->paths.start;
    look_back(sim, w);
    const enum tac_err err = reduce(sim, w);
    sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
    return err;
}

/* Of a span, a quarter at most and a sixteenth at least: up to the roundest time.  With nested clocks that is when the
 * slowest ones tick, whose kicks are the greatest; what kicks at its end does not make a window rough. */
static tac_time a_quarter(tac_time start, tac_time span)
{
    const tac_time least = start + span / 16, most = start + span / 4;
    tac_time round = most;
    while ((round & (round - 1)) > least)
        round &= round - 1;
    return round - start;
}

enum tac_err tac_kinetic_advance_together(struct tac_sim *sim, tac_time limit)
{
    enum tac_err err;
    struct tac_flights *f = sim->find.flights;
    struct window w = {0};
    const tac_time start = sim->state.now;
    const tac_time window = next_window(sim, f);
    tac_time most = limit - start > window + window / 4 ? window : limit - start;
    bool epoch = f->k == NULL || f->leaving;
    for (int tries = 0;; tries++) {
        const double begin_s = tac_wall_s();
        if (epoch)
            TAC_TRY(tac_flights_epoch(&sim->view, f, most, sim->windows.length));
        else if (tries == 0) {
            tac_flights_foresee(&sim->view, f, most);
            tac_flights_exchange(&sim->view, f);
        }
        TAC_TRY(prove(sim, limit, most, &w));
        sim->books.counters.seconds_discovery += tac_wall_s() - begin_s;
        TAC_TRY(attempt(sim, &w));
        epoch = w.repair == AGAIN_WITH_EPOCH && w.cut == TAC_TIME_NEVER;
        if (w.stuck_at <= start) {
            go_back(sim);
            err = tac_sim_stuck(sim);
            goto done;
        }
        if (w.cut < TAC_TIME_NEVER) { /* what came after is nonsense, whatever it was */
            f->span = w.end - start;
            most = w.stuck_at - start < w.cut ? w.stuck_at - start : w.cut;
        } else if (w.bad >= 0 && (w.end - start) / 4 > 0) {
            most = (w.end - start) / 4;
        } else if (w.bad >= 0) {
            err = tac_sim_not_finite(sim, w.bad, w.end);
            goto done;
        } else if (w.stuck_at < TAC_TIME_NEVER) {
            most = w.stuck_at - start;
        } else if (w.repair >= AGAIN) {
            f->span = w.end - start; /* the motion that is known now */
            most = w.repair == SHORTER ? a_quarter(start, w.end - start)
                   : tries == 0        ? w.end - start
                                       : (w.end - start) / 2;
            most = most > 0 ? most : 1;
        } else {
            break;
        }
        go_back(sim);
        if (w.repair == SHORTER || w.cut < TAC_TIME_NEVER)
            tac_flights_straight(&sim->view, f);
    }
    err = commit(sim, &w);
done:
    return err;
}
