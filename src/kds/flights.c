/* flights.c: trajectory bounds: the flight plans that ranks exchange, when they are renewed, and how they are checked
 * after a window (docs/kds.md, Across ranks; flight plans: ACM 2009, section 5.3). */
#include "kds/flights.h"
#include "contact/limits.h"
#include "kds/kinetic_slab.h"
#include <stdlib.h>
#include <string.h>

enum { TAG_TUBES = 17 };

static const double FINE =
    .01; /* least radius of a trajectory bound that slabs rest on, in thicknesses of the finest layers */
static const double WELCOME = .1; /* radius above which windows become shorter, likewise */
static const double COARSE =
    .5; /* radius of a trajectory bound that no slab rests on, in skins of the epoch's trajectory bounds */
static const double FAR = 16;     /* deviation, in such skins, for which windows become shorter whoever it is */
static const double TIGHTEN = 16; /* a trajectory bound is filed anew if it is so much wider than need be */

/* A message: a trajectory bound, or that slabs rest on a vertex of the neighbour's, or no longer do. */
struct flight {
    double x[3], v[3], radius;
    int32_t place;  /* in the list of those whom the neighbour hears of; whom we hear of */
    int32_t wanted; /* 0: a trajectory bound; 1, -1: one rank more, less wants it */
};

/* ---- making and destroying ---- */

/* The least thickness of a pair of this rank, m. */
static double finest_here(const struct tac_view *view)
{
    double least = view->scene->settings->contact.thickness > 0 ? view->scene->settings->contact.thickness : INFINITY;
    struct tac_limit limit = {0};
    while (tac_limits_next(view->model, &limit)) {
        struct tac_form form;
        tac_model_form(view->model, limit.type, limit.v, &form);
        least = fmin(least, form.thickness);
    }
    return least < INFINITY ? least : 1e-3 * view->candidates->skin;
}

/* The same over all ranks, because other ranks decide pairs of this rank's vertices. */
static enum tac_err find_finest(const struct tac_view *view, double *finest)
{
    const double here = finest_here(view);
    if (MPI_Allreduce(&here, finest, 1, MPI_DOUBLE, MPI_MIN, view->ctx->comm) != MPI_SUCCESS)
        return tac_fail(view->ctx, TAC_ERR_RUN, "MPI failed while looking for the finest layers");
    return TAC_OK;
}

enum tac_err tac_flights_create(struct tac_view *view, struct tac_flights **out)
{
    enum tac_err err;
    struct tac_flights *f = NULL;
    TAC_TRY(tac_alloc(view->ctx, 1, sizeof *f, &f));
    TAC_TRY(tac_alloc(view->ctx, (size_t)view->state->owned, 1, &f->news));
    TAC_TRY(tac_alloc(view->ctx, (size_t)view->state->owned, sizeof *f->wanted, &f->wanted));
    TAC_TRY(tac_alloc(view->ctx, (size_t)view->state->owned, sizeof *f->member, &f->member));
done:
    err = tac_agree(view->ctx, err);
    if (!err)
        err = find_finest(view, &f->finest);
    if (err)
        tac_flights_destroy(&f);
    *out = f;
    return err;
}

void tac_flights_destroy(struct tac_flights **flights)
{
    struct tac_flights *f = *flights;
    if (f == NULL)
        return;
    tac_kinetic_destroy(&f->k);
    free(f->news);
    free(f->wanted);
    free(f->member);
    free(f->shown);
    free(f->due);
    free(f);
    *flights = NULL;
}

/* ---- trajectory bounds ---- */

static bool has_slabs(const struct tac_kinetic *k, tac_lid v)
{
    return ((const struct tac_slabs *)k->self[TAC_KINETIC_NARROW])->stand[v].count > 0;
}

/* Do slabs of any rank rest on this vertex? */
static bool matters(const struct tac_flights *f, tac_lid v)
{
    return f->wanted[v] > 0 || has_slabs(f->k, v);
}

double tac_flights_welcome(const struct tac_flights *f)
{
    return WELCOME * f->finest;
}

double tac_flights_narrow(const struct tac_flights *f)
{
    return 1.01 * FINE * f->finest;
}

/* Radius of the trajectory bound of a vertex that deviates by that much from its line, m. */
static double radius_for(const struct tac_view *view, const struct tac_flights *f, tac_lid v, double deviation)
{
    const double least = matters(f, v) ? FINE * f->finest : COARSE * view->candidates->skin;
    return fmax(least, 2 * deviation);
}

/* Files a trajectory bound for vertex v from view->state->now on. */
static void file(struct tac_view *view, struct tac_flights *f, tac_lid v, const double x[3], const double u[3],
                 double radius)
{
    struct tac_kinetic *k = f->k;
    struct tac_plan *plan = &k->plan[v];
    memcpy(plan->x, x, sizeof plan->x);
    memcpy(plan->v, u, sizeof plan->v);
    plan->t = view->state->now;
    plan->radius = radius;
    plan->eps2 = plan->reach = 0;
    if (!plan->left) {
        plan->left = true;
        k->moved[k->moved_count++] = v;
    }
    f->news[v] = 1;
}

/* A vertex that does not move freely follows its line exactly, until its script says otherwise. */
static void foresee_held(struct tac_view *view, struct tac_flights *f, tac_lid v)
{
    double x[3], u[3];
    const struct tac_plan *plan = &f->k->plan[v];
    tac_kinetic_velocity(view, v, u);
    if (plan->radius == 0 && memcmp(u, plan->v, sizeof u) == 0)
        return;
    tac_state_position(view->state, view->scripts, v, view->state->now, x);
    file(view, f, v, x, u, 0);
}

void tac_flights_foresee(struct tac_view *view, struct tac_flights *f, tac_time window)
{
    struct tac_kinetic *k = f->k;
    const struct tac_candidates *c = view->candidates;
    const double w = tac_state_seconds(view->state, window), last = tac_state_seconds(view->state, f->span),
                 farther = tac_flights_scale(w / last);
    for (size_t m = 0; m < f->member_count; m++) {
        const tac_lid v = f->member[m];
        const struct tac_plan *plan = &k->plan[v];
        double x[3], u[3], ahead[3];
        if (view->state->vel[v].w == 0) {
            foresee_held(view, f, v);
            continue;
        }
        tac_state_position(view->state, view->scripts, v, view->state->now, x);
        for (int i = 0; i < 3; i++) {
            u[i] = c->move[v].u[i] / last;
            ahead[i] = x[i] + w * u[i];
        }
        const double deviation = farther * c->move[v].deviation;
        const double age = tac_state_seconds(view->state, view->state->now - plan->t),
                     fit = radius_for(view, f, v, deviation);
        const double worst = fmax(tac_flights_off_line(x, plan->x, plan->v, age),
                                  tac_flights_off_line(ahead, plan->x, plan->v, age + w)) +
                             deviation;
        const bool wide = matters(f, v) && plan->radius > 2 * fit;
        if (worst > plan->radius || wide || plan->radius > TIGHTEN * fit)
            file(view, f, v, x, u, fit);
    }
}

void tac_flights_check(struct tac_view *view, struct tac_flights *f, tac_time end, bool able)
{
    const struct tac_candidates *c = view->candidates;
    const double w = tac_state_seconds(view->state, end - view->state->now);
    f->roughness = 0;
    f->wild = false;
    for (size_t m = 0; m < f->member_count; m++) {
        const tac_lid v = f->member[m];
        const struct tac_plan *plan = &f->k->plan[v];
        const struct tac_move *move = &c->move[v];
        const double *x = &c->x[3 * (size_t)v], age = tac_state_seconds(view->state, view->state->now - plan->t);
        double to[3], u[3];
        if (view->state->vel[v].w == 0)
            continue;
        for (int i = 0; i < 3; i++) {
            to[i] = x[i] + move->u[i];
            u[i] = move->u[i] / w;
        }
        const double worst =
            fmax(tac_flights_off_line(x, plan->x, plan->v, age), tac_flights_off_line(to, plan->x, plan->v, age + w));
        const double rough = matters(f, v) ? 2 * move->deviation / tac_flights_welcome(f) : 0;
        f->roughness = fmax(f->roughness, rough);
        if (worst + move->deviation <= plan->radius)
            continue;
        if ((rough > 1 || move->deviation > FAR * c->skin) && able) {
            f->wild = true; /* a shorter window is better than a trajectory bound so wide that no slab fits */
            file(view, f, v, x, view->paths->line[v].v, tac_flights_welcome(f));
        } else {
            file(view, f, v, x, u, radius_for(view, f, v, move->deviation));
        }
    }
}

/* ---- telling ---- */

static size_t tell(void *self, struct tac_neighbor *n)
{
    struct tac_flights *f = self;
    struct tac_view *view = f->k->view;
    size_t count = 0;
    for (size_t i = 0; i < n->give_count; i++)
        count += f->news[n->give[i]];
    view->counters->plans_told += (int64_t)count;
    for (size_t i = 0; i < n->need_count; i++)
        count += f->shown[n->need[i]] != has_slabs(f->k, n->need[i]);
    if (!tac_halo_room(view->halo, n, count * sizeof(struct flight) + 1))
        return 0;
    struct flight *flight = (struct flight *)n->told;
    memset(flight, 0, count * sizeof *flight);
    for (size_t i = 0; i < n->give_count; i++) {
        const struct tac_plan *plan = &f->k->plan[n->give[i]];
        if (!f->news[n->give[i]])
            continue;
        memcpy(flight->x, plan->x, sizeof plan->x);
        memcpy(flight->v, plan->v, sizeof plan->v);
        flight->radius = plan->radius;
        flight->place = (int32_t)i;
        flight++;
    }
    for (size_t i = 0; i < n->need_count; i++) {
        const tac_lid v = n->need[i];
        if (f->shown[v] == has_slabs(f->k, v))
            continue;
        flight->place = (int32_t)i;
        flight->wanted = f->shown[v] ? -1 : 1;
        f->shown[v] = !f->shown[v];
        flight++;
    }
    return count * sizeof *flight;
}

static void hear(void *self, struct tac_neighbor *n)
{
    struct tac_flights *f = self;
    struct tac_view *view = f->k->view;
    struct tac_kinetic *k = f->k;
    const struct flight *flight = (const struct flight *)n->heard;
    for (size_t i = 0; i < n->heard_count / sizeof *flight; i++) {
        const size_t place = (size_t)flight[i].place;
        if (flight[i].wanted != 0) {
            TAC_CHECK(place < n->give_count);
            f->wanted[n->give[place]] += flight[i].wanted;
            continue;
        }
        TAC_CHECK(place < n->need_count);
        const tac_lid v = n->need[place];
        struct tac_plan *plan = &k->plan[v];
        memcpy(plan->x, flight[i].x, sizeof plan->x);
        memcpy(plan->v, flight[i].v, sizeof plan->v);
        plan->t = view->state->now;
        plan->radius = flight[i].radius;
        if (!plan->left) {
            plan->left = true;
            k->moved[k->moved_count++] = v;
        }
    }
}

void tac_flights_exchange(struct tac_view *view, struct tac_flights *f)
{
    struct tac_kinetic *k = f->k;
    tac_halo_exchange(view->halo, TAG_TUBES, tell, hear, f);
    memset(f->news, 0, (size_t)view->state->owned);
    k->now = view->state->now;
    f->changed = k->moved_count > 0;
    if (k->built && view->halo->down == TAC_OK)
        tac_halo_failed(view->halo, tac_kinetic_moved(k, k->moved, k->moved_count));
    for (size_t i = 0; i < k->moved_count; i++)
        k->plan[k->moved[i]].left = false;
    k->moved_count = 0;
}

/* ---- epochs ---- */

/* Estimates the motions from now on: as in the last pass; for vertices that are held, and at the beginning, from
 * velocities. */
static void expect_motions(struct tac_view *view, struct tac_flights *f, tac_time window)
{
    struct tac_candidates *c = view->candidates;
    const bool first = f->k == NULL;
    f->span = first ? window : f->span;
    const double span = tac_state_seconds(view->state, f->span);
    for (tac_lid v = 0; v < view->state->owned; v++) {
        double u[3];
        tac_kinetic_velocity(view, v, u);
        tac_state_position(view->state, view->scripts, v, view->state->now, &c->x[3 * (size_t)v]);
        if (!first && view->state->vel[v].w != 0)
            continue;
        for (int i = 0; i < 3; i++)
            c->move[v].u[i] = span * u[i];
        c->move[v].deviation = 0;
    }
}

/* Marks these vertices with f->news. */
static void find_members(struct tac_view *view, struct tac_flights *f)
{
    const struct tac_kinetic *k = f->k;
    memset(f->news, 0, (size_t)view->state->owned);
    for (int32_t p = 0; p < k->primitive_count; p++)
        for (int i = 0; i < k->primitive[p].count; i++)
            if (k->primitive[p].v[i] < view->state->owned)
                f->news[k->primitive[p].v[i]] = 1;
    for (size_t r = 0; r < view->halo->count; r++)
        for (size_t i = 0; i < view->halo->neighbor[r].give_count; i++)
            f->news[view->halo->neighbor[r].give[i]] = 1;
    f->member_count = 0;
    for (tac_lid v = 0; v < view->state->owned; v++)
        if (f->news[v])
            f->member[f->member_count++] = v;
    memset(f->news, 0, (size_t)view->state->owned);
}

static void file_all(struct tac_view *view, struct tac_flights *f, tac_time window)
{
    const struct tac_candidates *c = view->candidates;
    const double span = tac_state_seconds(view->state, f->span),
                 farther = tac_flights_scale(tac_state_seconds(view->state, window) / span);
    for (size_t m = 0; m < f->member_count; m++) {
        const tac_lid v = f->member[m];
        const struct tac_move *move = &c->move[v];
        const double deviation = farther * move->deviation, least = FINE * f->finest;
        double u[3];
        for (int i = 0; i < 3; i++)
            u[i] = move->u[i] / span;
        if (view->state->vel[v].w == 0)
            tac_kinetic_velocity(view, v, u);
        file(view, f, v, &c->x[3 * (size_t)v], u, view->state->vel[v].w == 0 ? 0 : fmax(least, 2 * deviation));
    }
}

enum tac_err tac_flights_epoch(struct tac_view *view, struct tac_flights *f, tac_time window, tac_time usual)
{
    enum tac_err err;
    struct tac_candidates *c = view->candidates;
    struct tac_kinetic *k;
    expect_motions(view, f, window);
    tac_kinetic_destroy(&f->k);
    tac_moves_exchange(view);
    TAC_TRY(tac_agree(view->ctx, view->halo->down));
    if (c->end > c->start)
        TAC_TRY(tac_candidates_horizon(view, c, view->paths->start, view->state->now, usual));
    TAC_TRY(tac_candidates_gather(view, c, f->span, c->horizon));
    TAC_TRY(tac_agree(view->ctx, tac_kinetic_create_path_bounds(view, c, &f->k)));
    k = f->k;
    free(f->shown);
    f->shown = NULL;
    TAC_TRY(tac_agree(view->ctx, tac_alloc(view->ctx, k->vertices, 1, &f->shown)));
    memset(f->wanted, 0, (size_t)view->state->owned * sizeof *f->wanted);
    k->narrow = tac_flights_narrow(f);
    k->until = view->state->now + window;
    k->tau = window;
    k->tau_s = tac_state_seconds(view->state, window);
    find_members(view, f);
    file_all(view, f, window);
    tac_flights_exchange(view, f);
    k->extent = 3 * fmax(c->extent, f->finest);
    for (size_t v = 0; v < k->vertices; v++)
        for (int i = 0; i < 3; i++)
            k->extent = fmax(k->extent, 3 * (fabs(k->plan[v].x[i]) + c->span_s * fabs(c->path_bound[v].v[i])));
    if (view->halo->down == TAC_OK)
        tac_halo_failed(view->halo, tac_kinetic_build(k));
    tac_flights_exchange(view, f); /* whose vertices slabs rest on */
done:
    return err;
}
