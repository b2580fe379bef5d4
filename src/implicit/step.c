/* step.c: one step of time: Newton's method on the incremental potential, from one state without contact to the next
 * (docs/implicit.md, One step). */
#include "implicit/implicit.h"
#include "partition/part.h"
#include <math.h>
#include <stdlib.h>

#define TAC_SLACK 0x1p-48  /* of the sizes of all terms: what rounding may add to the potential */
#define TAC_PULL_FIRST 1e6 /* of a scripted vertex to its place, per mass */
#define TAC_PULL_MOST 1e8  /* likewise */
#define TAC_ARRIVED .999   /* of the way of scripted vertices: then the rest is gone at once */
#define TAC_NEARLY .99     /* likewise: then multipliers do better than a stronger pull */
#define TAC_HELD .25       /* of what friction is smoothed under: what it holds moves by less at the last iterate */
#define TAC_ROUGH .002     /* how exact linear systems need be before the end (struct tac_solve_rule) */
#define TAC_STRAIGHT                                                                                                   \
    .9 /* of its slope the potential falls by along a direction that is too short: half is the model's */
enum { HALVINGS = 60 };

tac_time tac_implicit_step_time(const struct tac_implicit *sim, int64_t k)
{
    return tac_scene_grid(sim->scene, sim->scale.h, k);
}

/* ---- the step's start ---- */

static void begin_held(struct tac_implicit *sim)
{
    for (tac_lid v = 0; v < sim->count; v++)
        sim->newton.held[v] = !sim->scene->mesh->ever_free[v] && sim->scripts.script_of[v] < 0;
}

static enum tac_err begin(struct tac_implicit *sim)
{
    enum tac_err err;
    memset(&sim->told, 0, sizeof sim->told);
    sim->told.least_share = 1;
    sim->kept.iterates = 0;
    sim->contact.sliding_count = 0;
    sim->contact.foreseen_count = 0;
    sim->newton.pull = 0;
    memcpy(sim->newton.x0, sim->x, 3 * (size_t)sim->count * sizeof *sim->x);
    tac_implicit_scripts_begin(sim, tac_implicit_step_time(sim, sim->step), tac_implicit_step_time(sim, sim->step + 1));
    begin_held(sim);
    tac_implicit_begin_scheme(sim);
    TAC_TRY(tac_implicit_start_scheme(sim));
    tac_implicit_predict(sim, true);
    tac_implicit_begin_wind(sim);
    tac_implicit_begin_dampers(sim);
    memset(sim->newton.p, 0, 3 * (size_t)sim->count * sizeof *sim->newton.p);
    TAC_TRY(tac_implicit_find(sim, sim->x, sim->newton.p, 1));
    sim->contact.close_count = 0;
    TAC_TRY(tac_agree(sim->ctx, tac_implicit_touch(sim, sim->x)));
    TAC_TRY(tac_implicit_begin_stiffness(sim, sim->x, &sim->newton.kappa));
    TAC_TRY(tac_agree(sim->ctx, tac_implicit_lag(sim, sim->x)));
    TAC_TRY(tac_implicit_begin_system(sim));
done:
    return err;
}

/* ---- iterates ---- */

static double largest(const struct tac_implicit *sim, const double *p)
{
    double most = 0;
    for (size_t c = 0; c < 3 * (size_t)sim->count; c++)
        most = fmax(most, fabs(p[c]));
    return most;
}

static enum tac_err keep_iterate(struct tac_implicit *sim)
{
    enum tac_err err = TAC_OK;
    const size_t size = 3 * (size_t)sim->owned;
    if (sim->kept.record == NULL)
        return TAC_OK;
    TAC_TRY(tac_grow(sim->ctx, &sim->kept.iterate, &sim->kept.iterate_capacity, (sim->kept.iterates + 1) * size + 1,
                     sizeof *sim->kept.iterate));
    for (size_t i = 0; i < (size_t)sim->owned; i++)
        memcpy(&sim->kept.iterate[sim->kept.iterates * size + 3 * i],
               &sim->x[3 * (size_t)tac_implicit_vertex(sim, (tac_lid)i)], 3 * sizeof *sim->x);
    sim->kept.iterates++;
done:
    return err;
}

/* The next iterate: sim->newton.trial. */
static enum tac_err accept(struct tac_implicit *sim, bool *stiffer)
{
    enum tac_err err;
    double *x = sim->x;
    sim->x = sim->newton.trial;
    sim->newton.trial = x;
    err = tac_implicit_touch(sim, sim->x);
    TAC_TRY(tac_agree(sim->ctx, err ? err : keep_iterate(sim)));
    TAC_TRY(tac_implicit_adapt_stiffness(sim, stiffer));
done:
    return err;
}

static void go(struct tac_implicit *sim, double share)
{
    if (sim->contact.touch_of == sim->newton.trial)
        sim->contact.touch_of = NULL;
    for (size_t c = 0; c < 3 * (size_t)sim->count; c++)
        sim->newton.trial[c] = sim->x[c] + share * sim->newton.p[c];
}

/* Scripted vertices' distances from their targets: square sums now and at the step's start; 1: all are there. */
static enum tac_err way_gone(struct tac_implicit *sim, double *gone)
{
    struct tac_accum sum[2] = {{{0}, 0, 0}};
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        const struct tac_implicit_script *s = &sim->scripts.script[k];
        double now[3], first[3];
        if (!s->on || !tac_implicit_mine(sim, s->vertex))
            continue;
        tac_sub(now, s->target, &sim->x[3 * (size_t)s->vertex]);
        tac_sub(first, s->target, &sim->newton.x0[3 * (size_t)s->vertex]);
        tac_accum_add(&sum[0], tac_dot(now, now));
        tac_accum_add(&sum[1], tac_dot(first, first));
    }
    const enum tac_err err = tac_implicit_sum(sim->ctx, sum, 2);
    const double left = tac_accum_value(&sum[0]), all = tac_accum_value(&sum[1]);
    *gone = left == 0 ? 1 : 1 - sqrt(left / all);
    return err;
}

/* Moves scripted vertices straight to their targets, as far as others let them; there, they are held. */
static enum tac_err move_scripted(struct tac_implicit *sim, bool *there)
{
    enum tac_err err = TAC_OK;
    double share;
    bool any = false, stiffer;
    memset(sim->newton.p, 0, 3 * (size_t)sim->count * sizeof *sim->newton.p);
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        const struct tac_implicit_script *s = &sim->scripts.script[k];
        for (size_t c = 0; s->on && c < 3; c++) {
            double *p = &sim->newton.p[3 * (size_t)s->vertex + c];
            *p = s->target[c] - sim->x[3 * (size_t)s->vertex + c];
            any |= *p != 0;
        }
    }
    *there = true;
    if (any) {
        TAC_TRY(tac_implicit_reach(sim, &share));
        *there = share == 1;
        go(sim, share);
    }
    for (size_t k = 0; k < sim->scripts.script_count && *there; k++) {
        const struct tac_implicit_script *s = &sim->scripts.script[k];
        if (any && s->on)
            memcpy(&sim->newton.trial[3 * (size_t)s->vertex], s->target, sizeof s->target);
        sim->newton.held[s->vertex] = s->on;
    }
    if (any)
        TAC_TRY(accept(sim, &stiffer));
    if (*there)
        sim->newton.pull = 0;
done:
    return err;
}

/* Under it the rest has followed what is scripted well enough to pull harder, m/s. */
static double learning_speed(const struct tac_implicit *sim)
{
    return fmax(1e-2 * sim->scale.diagonal_m, sim->scale.velocity_tol);
}

/* The scripted vertices are not there: pulls them harder, or lets multipliers learn. */
static enum tac_err pull_scripted(struct tac_implicit *sim, double speed, bool *there)
{
    enum tac_err err;
    double gone;
    TAC_TRY(way_gone(sim, &gone));
    if (gone >= TAC_ARRIVED) {
        TAC_TRY(move_scripted(sim, there));
        if (*there)
            goto done;
    }
    if (!(speed < learning_speed(sim)))
        goto done;
    if (gone < TAC_NEARLY && sim->newton.pull < TAC_PULL_MOST) {
        sim->newton.pull *= 2;
        goto done;
    }
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        struct tac_implicit_script *s = &sim->scripts.script[k];
        for (size_t c = 0; s->on && c < 3; c++)
            s->lambda[c] -= sim->newton.pull * (sim->x[3 * (size_t)s->vertex + c] - s->target[c]);
    }
done:
    return err;
}

/* ---- Newton ---- */

/* Why a step failed, with the pair that is nearest. */
static enum tac_err fail_step(struct tac_implicit *sim, const char *why)
{
    double least = INFINITY, all;
    uint64_t key = 0;
    tac_gid v[4] = {-1, -1, -1, -1};
    int which[2] = {0, sim->ctx->rank}, first = 0;
    char pair[300] = "";
    for (size_t e = 0; e < sim->contact.pair_count; e++) {
        const struct tac_implicit_pair *c = &sim->contact.pair[e];
        double at[4][3];
        struct tac_near near;
        tac_implicit_gather(sim->x, c->v, tac_pair_vertices(c->form.type), at);
        tac_near_pair(c->form.type, at, &near);
        if (near.d - c->form.radius < least) {
            least = near.d - c->form.radius;
            key = c->key;
            for (int i = 0; i < 4; i++)
                v[i] = c->v[i];
        }
    }
    all = least;
    if (sim->ctx->size > 1) {
        MPI_Allreduce(&least, &all, 1, MPI_DOUBLE, MPI_MIN, sim->ctx->comm);
        which[0] = least == all ? sim->ctx->rank : sim->ctx->size;
        MPI_Allreduce(&which[0], &first, 1, MPI_INT, MPI_MIN, sim->ctx->comm);
        MPI_Bcast(&key, 1, MPI_UINT64_T, first, sim->ctx->comm);
        MPI_Bcast(v, 4, MPI_INT64_T, first, sim->ctx->comm);
    }
    if (all < INFINITY) {
        char told[220];
        tac_key_describe(sim->scene, key, v, told, sizeof told);
        snprintf(pair, sizeof pair, "; the smallest gap is %.3g m, of %s", all, told);
    }
    return tac_fail(sim->ctx, TAC_ERR_RUN,
                    "the step from t = %.9g s %s: after %lld Newton iterations the next one would go at %.3g m/s "
                    "(integrator.newton.velocity_tol %.3g), with kappa %.3g%s; make integrator.step_s smaller, or see "
                    "docs/implicit.md, When a step fails",
                    (double)sim->now * sim->scene->settings->quantum_s, why, (long long)sim->told.newton,
                    sim->told.residual_speed, sim->scale.velocity_tol, sim->newton.kappa, pair);
}

static enum tac_err gradient_at(struct tac_implicit *sim, const double *x)
{
    const double begin_s = tac_wall_s();
    memset(sim->newton.gradient, 0, 3 * (size_t)sim->count * sizeof *sim->newton.gradient);
    tac_implicit_add_inertia(sim, x);
    tac_implicit_add_elements(sim, x, false);
    tac_implicit_add_elements(sim, x, true);
    tac_implicit_add_friction(sim, x);
    tac_implicit_add_wind(sim, x);
    tac_implicit_add_contact(sim, x);
    sim->books.counters.seconds_forces += tac_wall_s() - begin_s;
    return TAC_OK;
}

static void stretch(struct tac_implicit *sim, double times)
{
    for (size_t c = 0; c < 3 * (size_t)sim->count; c++)
        sim->newton.p[c] *= times;
}

/* All of sim->newton.p is allowed, and lowers the potential from `before` to *value. Where it does so by its slope, for
 * the quadratic model, whose curvature is never negative, foretells half of that, the direction is too short: twice as
 * far, if that is allowed and lower. */
static enum tac_err go_farther(struct tac_implicit *sim, double before, double *value, double *size)
{
    enum tac_err err = TAC_OK;
    double share, far = INFINITY, far_size = 0;
    if (!(before - *value > -TAC_STRAIGHT * sim->newton.slope))
        goto done;
    stretch(sim, 2);
    TAC_TRY(tac_implicit_reach(sim, &share));
    if (share == 1) {
        go(sim, 1);
        TAC_TRY(tac_implicit_potential(sim, sim->newton.trial, &far, &far_size));
    }
    if (far < *value) {
        *value = far;
        *size = far_size;
    } else {
        stretch(sim, .5);
        go(sim, 1);
    }
done:
    return err;
}

/* Along sim->newton.p from sim->x to sim->newton.trial: as far as no pair loses too much of its gap, and the potential
 * falls; it and the sum of its terms' sizes before and after. */
static enum tac_err search_line(struct tac_implicit *sim, double *value, double *size)
{
    enum tac_err err;
    double share, bound;
    const double before = *value, most = *value + TAC_SLACK * *size;
    TAC_TRY(tac_implicit_reach(sim, &share));
    bound = share;
    for (int halving = 0;; halving++) {
        go(sim, share);
        const double begin_s = tac_wall_s();
        TAC_TRY(tac_implicit_potential(sim, sim->newton.trial, value, size));
        sim->books.counters.seconds_forces += tac_wall_s() - begin_s;
        if (*value <= most)
            break;
        if (halving == HALVINGS || !(share > 0))
            TAC_TRY(fail_step(sim, "finds no way down"));
        share *= .5;
    }
    if (share == 1)
        TAC_TRY(go_farther(sim, before, value, size));
    TAC_TRY(tac_implicit_foresee(sim, bound));
done:
    return err;
}

/* Newton's direction at sim->x, and the largest speed in it. What is foreseen is no part of the potential, so with it
 * the direction may lead uphill, and does not tell how near the minimum is: then it is found anew without. */
static enum tac_err direct(struct tac_implicit *sim, bool there, double *speed)
{
    enum tac_err err;
    const double close = fmax(sim->scale.velocity_tol, there ? 0 : learning_speed(sim));
    bool foreseen = true;
    TAC_TRY(gradient_at(sim, sim->x));
    while (foreseen) {
        struct tac_accum along = {{0}, 0, 0};
        TAC_TRY(tac_implicit_direction(sim, sim->x, TAC_ROUGH));
        *speed = largest(sim, sim->newton.p) / sim->scale.h;
        for (tac_lid i = 0; i < sim->owned; i++) {
            const size_t v = (size_t)tac_implicit_vertex(sim, i);
            if (!sim->newton.held[v])
                tac_accum_add(&along, tac_dot(&sim->newton.gradient[3 * v], &sim->newton.p[3 * v]));
        }
        TAC_TRY(tac_implicit_sum(sim->ctx, &along, 1));
        sim->newton.slope = tac_accum_value(&along);
        if (sim->newton.slope < 0 && *speed > close)
            break;
        TAC_TRY(tac_implicit_drop_foreseen(sim, &foreseen));
    }
    if (*speed <= close) { /* if it is not only too rough */
        TAC_TRY(tac_implicit_sharpen(sim));
        *speed = largest(sim, sim->newton.p) / sim->scale.h;
    }
done:
    return err;
}

/* Does friction hold a pair now that p would move by more than a small part of what friction is smoothed under?  The
 * first p of what is about to slide is at least half of that, for it is made with the stiffness of what is held: a
 * coarser tolerance would take it for the last one, and nothing would ever slide. */
static enum tac_err any_breaks_loose(struct tac_implicit *sim, bool *any)
{
    const double w = sim->scale.h * sim->scale.friction_velocity;
    int loose = 0;
    for (size_t e = 0; e < sim->contact.sliding_count && !loose; e++) {
        const struct tac_sliding *s = &sim->contact.sliding[e];
        double u[3], along[3];
        loose = tac_implicit_slide(sim, s, sim->x, u) < w &&
                tac_implicit_slide_along(s, sim->newton.p, along) > TAC_HELD * w;
    }
    if (sim->ctx->size > 1 && MPI_Allreduce(MPI_IN_PLACE, &loose, 1, MPI_INT, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed in Newton's method");
    *any = loose;
    return TAC_OK;
}

/* To the minimum for the forces that friction goes by now. */
static enum tac_err minimise(struct tac_implicit *sim, bool *there)
{
    enum tac_err err;
    double value, size;
    for (bool ready = false, known = false; !ready;) {
        bool stiffer;
        double speed;
        if (sim->told.newton == sim->scene->settings->implicit.most)
            TAC_TRY(fail_step(sim, *there ? "does not converge" : "cannot bring what is scripted to its place"));
        sim->told.newton++;
        TAC_TRY(direct(sim, *there, &speed));
        sim->told.residual_speed = speed;
        if (!(speed < INFINITY))
            TAC_TRY(fail_step(sim, "leaves the range of numbers"));
        if (!known)
            TAC_TRY(tac_implicit_potential(sim, sim->x, &value, &size));
        bool loose = false;
        if (speed <= sim->scale.velocity_tol)
            TAC_TRY(any_breaks_loose(sim, &loose));
        TAC_TRY(search_line(sim, &value, &size));
        TAC_TRY(accept(sim, &stiffer));
        known = *there && !stiffer; /* the potential is still the same one */
        ready = speed <= sim->scale.velocity_tol && !loose && *there && !stiffer && tac_implicit_is_exact(sim);
        if (!*there)
            TAC_TRY(pull_scripted(sim, speed, there));
    }
done:
    return err;
}

/* ---- the step's end ---- */

/* Every accepted iterate at an instant of its own, evenly spaced. */
static void tell_record(struct tac_implicit *sim, tac_time to)
{
    for (size_t n = 0; n < sim->kept.iterates; n++) {
        const tac_time t =
            sim->now + (tac_time)((double)(to - sim->now) * ((double)(n + 1) / (double)sim->kept.iterates));
        for (tac_lid i = 0; i < sim->owned; i++) {
            const tac_lid v = tac_implicit_vertex(sim, i);
            if (sim->scene->mesh->ever_free[v] || sim->scripts.script_of[v] >= 0)
                tac_recorder_keep(sim->kept.record, i, n + 1 == sim->kept.iterates ? to : t,
                                  &sim->kept.iterate[3 * (n * (size_t)sim->owned + (size_t)i)]);
        }
    }
}

/* The state as it was when the step began. */
static void take_back(struct tac_implicit *sim)
{
    memcpy(sim->x, sim->newton.x0, 3 * (size_t)sim->count * sizeof *sim->x);
    sim->contact.touch_of = NULL;
}

/* Of any rank alike: without it friction's forces need not be taken anew. */
static bool any_friction(const struct tac_implicit *sim)
{
    const struct tac_contact_settings *c = &sim->scene->settings->contact;
    bool any = false;
    for (tac_lid i = 0; i < c->law_count; i++)
        any = any || c->law[i].friction > 0;
    return any;
}

enum tac_err tac_implicit_step(struct tac_implicit *sim, tac_time limit)
{
    enum tac_err err;
    bool there;
    const double begin_s = tac_wall_s();
    tac_time to = tac_implicit_step_time(sim, sim->step + 1);
    if (to > limit - TAC_FRAME_GRAIN) /* an end beside the grid */
        to = limit;
    TAC_TRY(begin(sim));
    TAC_TRY(move_scripted(sim, &there));
    if (!there)
        sim->newton.pull = TAC_PULL_FIRST;
    const int64_t lags = sim->scene->settings->implicit.lags;
    bool settled = false;
    for (int64_t lag = 0; lags > 0 ? lag < lags : !settled; lag++) {
        const int64_t before = sim->told.newton;
        if (lag > 0)
            TAC_TRY(tac_agree(sim->ctx, tac_implicit_lag(sim, sim->x)));
        TAC_TRY(minimise(sim, &there));
        settled = !any_friction(sim) || (lag > 0 && sim->told.newton == before + 1);
    }
    TAC_TRY(tac_implicit_enter_step(sim));
    tac_implicit_flow(sim);
    tac_implicit_end_scheme(sim);
    if (sim->kept.record != NULL)
        tell_record(sim, to);
    sim->step++;
    sim->now = to;
    sim->books.counters.windows++;
    sim->told.wall_s = tac_wall_s() - begin_s;
done:
    if (err)
        take_back(sim);
    return err;
}
