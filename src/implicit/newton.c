/* newton.c: minimises the incremental potential by Newton's method; in no iterate do surfaces touch
 * (docs/reference/implicit.md, One step). */
#include "base/exchange.h"
#include "implicit/parts.h"
#include "implicit/ranks/implicit_plates.h"
#include "partition/part.h"
#include <math.h>

#define TAC_HELD                                                                                                       \
    .25 /* times the slip under which friction is smoothed: what friction holds moves by less in the last iterate */
#define TAC_ROUGH .002 /* accuracy of linear systems before the last iterates (struct tac_solve_rule) */
#define TAC_ASTRAY 10. /* times the predicted distance: a vertex that goes farther within a step has gone astray */
#define TAC_ASTRAY_LEAST 1e-2 /* times the scene's diagonal: a vertex that goes less far has not gone astray */
#define TAC_AT_REST                                                                                                    \
    1e-4 /* times velocity_tol: a step ends there, because with rounding forces come no nearer to balance */
/* Times the thickness: all nearer pairs are on any list (MARGIN in implicit_candidates.c). */
#define TAC_SURELY_LISTED 1.1
/* Times the scene's size. No gap may shrink below it, because the audit could not prove such a gap. */
#define TAC_NEAREST 0x1p-46

/* ---- iterates ---- */

/* Collective. The largest speed in sim->newton.p. */
static enum tac_err largest_speed(struct tac_implicit *sim, double *speed)
{
    enum tac_err err;
    double most = 0;
    for (size_t c = 0; c < 3 * (size_t)sim->owned; c++)
        most = fmax(most, fabs(sim->newton.p[c]));
    for (size_t n = 0; n < sim->rigid.own_count; n++)
        for (size_t c = 0; c < TAC_RIGID_SIZE; c++)
            most = fmax(most, fabs(sim->rigid.straight[TAC_RIGID_SIZE * (size_t)sim->rigid.own[n] + c]));
    TAC_TRY(tac_over_ranks(sim->ctx, &most, 1, MPI_DOUBLE, MPI_MAX));
    *speed = most / sim->scale.h;
done:
    return err;
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
        memcpy(&sim->kept.iterate[sim->kept.iterates * size + 3 * i], &sim->x[3 * i], 3 * sizeof *sim->x);
    sim->kept.iterates++;
done:
    return err;
}

/* Returns whether a free vertex is much farther from its place at the start of the part than inertia, loads and scripts
 * would take it, and by a length that matters in the scene. Then the iterates have passed a maximum of the potential,
 * and shorter parts are needed. */
static bool goes_astray(const struct tac_implicit *sim)
{
    const double most = fmax(TAC_ASTRAY * sim->part.ahead, TAC_ASTRAY_LEAST * sim->scale.diagonal_m);
    for (tac_lid v = 0; v < sim->owned; v++)
        for (size_t c = 3 * (size_t)v; c < 3 * (size_t)v + 3; c++)
            if (!(fabs(sim->x[c] - sim->newton.x0[c]) <= most) && sim->scene->mesh->ever_free[v] &&
                !tac_implicit_script_on(sim, v))
                return true;
    return false;
}

/* Makes sim->newton.trial the next iterate. */
enum tac_err tac_implicit_accept(struct tac_implicit *sim)
{
    double *x = sim->x;
    sim->x = sim->newton.trial;
    sim->newton.trial = x;
    tac_rigid_swap(&sim->rigid);
    /* Where a direction with turns was shortened, the list is for another way. */
    enum tac_err err = sim->rigid.count > 0 ? tac_implicit_find(sim, sim->x, sim->newton.p, 0) : TAC_OK;
    err = err ? err : tac_implicit_touch(sim, sim->x);
    int astray = sim->part.astray || goes_astray(sim);
    TAC_TRY(tac_agree(sim->ctx, err ? err : keep_iterate(sim)));
    TAC_TRY(tac_over_ranks(sim->ctx, &astray, 1, MPI_INT, MPI_MAX));
    sim->part.astray = astray;
done:
    return err;
}

void tac_implicit_go(struct tac_implicit *sim, double share)
{
    if (sim->contact.touch_of == sim->newton.trial)
        sim->contact.touch_of = NULL;
    for (size_t c = 0; c < 3 * (size_t)sim->count; c++)
        sim->newton.trial[c] = sim->x[c] + share * sim->newton.p[c];
    for (size_t c = 0; c < TAC_RIGID_SIZE * sim->rigid.count; c++)
        sim->rigid.trial[c] = sim->rigid.x[c] + share * sim->rigid.p[c];
    tac_rigid_spread(sim, sim->rigid.trial, sim->newton.trial);
}

/* ---- Newton ---- */

const char *tac_implicit_what_helps(const struct tac_implicit *sim)
{
    if (sim->newton.pull > 0)
        return "give what is scripted more room (contact.thickness counts on both sides) or a slower path";
    if (sim->scene->settings->implicit.scheme != TAC_IMPLICIT_EULER)
        return "make integrator.scheme \"euler\", which damps what does not come to rest, or integrator.step_s smaller "
               "by a factor that is no power of two, as 1/5";
    return "make integrator.step_s smaller by a factor that is no power of two, as 1/5, or contact.thickness larger";
}

/* Says why a step failed, and which pair is nearest. */
enum tac_err tac_implicit_fail_step(struct tac_implicit *sim, const char *why)
{
    double least = INFINITY, all;
    uint64_t key = 0;
    tac_gid v[4] = {-1, -1, -1, -1};
    int which, first = 0;
    char pair[300] = "";
    sim->part.unsolved = true;
    for (size_t e = 0; e < sim->contact.pair_count; e++) {
        const struct tac_implicit_pair *c = &sim->contact.pair[e];
        double at[4][3];
        struct tac_near near;
        tac_implicit_gather(sim->x, c->v, tac_pair_vertices(c->form.type), at);
        tac_near_pair(c->form.type, at, &near);
        const double gap = near.d - c->form.radius;
        if (!(gap < TAC_SURELY_LISTED * c->form.thickness)) /* which farther ones are listed depends on the ranks */
            continue;
        if (gap < least ||
            (gap == least && c->key < key)) { /* of equal gaps the same pair is chosen on any number of ranks */
            least = gap;
            key = c->key;
            for (int i = 0; i < 4; i++)
                v[i] = i < tac_pair_vertices(c->form.type) ? tac_implicit_id(sim, c->v[i]) : -1;
        }
    }
    all = least;
    if (sim->ctx->size > 1) {
        MPI_Allreduce(&least, &all, 1, MPI_DOUBLE, MPI_MIN, sim->ctx->comm);
        const uint64_t mine = least == all ? key : UINT64_MAX;
        MPI_Allreduce(&mine, &key, 1, MPI_UINT64_T, MPI_MIN, sim->ctx->comm);
        which = mine == key ? sim->ctx->rank : sim->ctx->size;
        MPI_Allreduce(&which, &first, 1, MPI_INT, MPI_MIN, sim->ctx->comm);
        MPI_Bcast(v, 4, MPI_INT64_T, first, sim->ctx->comm);
    }
    if (all < INFINITY) {
        char named[220];
        tac_key_describe(sim->scene, key, v, named, sizeof named);
        snprintf(pair, sizeof pair, "; the smallest gap is %.3g m, of %s", all, named);
    }
    return tac_fail(sim->ctx, TAC_ERR_RUN,
                    "the step from t = %.9g s %s: after %lld Newton iterations the next one would go at %.3g m/s "
                    "(integrator.newton.velocity_tol %.3g), with kappa %.3g%s; %s, or see docs/reference/implicit.md, "
                    "When a step fails",
                    (double)sim->now * sim->scene->settings->quantum_s, why, (long long)sim->part.newton,
                    sim->last_step.residual_speed, sim->scale.velocity_tol, sim->newton.kappa, pair,
                    tac_implicit_what_helps(sim));
}

/* Computes Newton's direction at sim->x, and the largest speed in it. Foreseen pairs are no part of the potential. So a
 * direction that was computed with them may lead uphill, and its length says nothing about the distance to the minimum.
 * In these cases this function computes the direction again without them. */
static enum tac_err direct(struct tac_implicit *sim, bool there, double *speed)
{
    enum tac_err err;
    const double close = fmax(sim->scale.velocity_tol, there ? 0 : tac_implicit_learning_speed(sim));
    bool again = true;
    tac_plates_gradients(sim, sim->x);
    tac_implicit_gradient(sim, sim->x);
    while (again) {
        struct tac_accum sum[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
        TAC_TRY(tac_implicit_direction(sim, sim->x, TAC_ROUGH));
        TAC_TRY(largest_speed(sim, speed));
        for (tac_lid i = 0; i < sim->owned; i++) {
            const size_t v = (size_t)i;
            if (sim->newton.held[v])
                continue;
            tac_accum_add(&sum[0], tac_dot(&sim->newton.gradient[3 * v], &sim->newton.p[3 * v]));
            tac_accum_add(&sum[1], tac_implicit_rounding_at(sim, sim->x, (tac_lid)v));
        }
        for (size_t n = 0; n < TAC_RIGID_NODES * sim->rigid.own_count; n++) {
            const int32_t k = sim->rigid.own[n / TAC_RIGID_NODES];
            const size_t node = TAC_RIGID_SIZE * (size_t)k + 3 * (n % TAC_RIGID_NODES);
            tac_accum_add(&sum[0], tac_dot(&sim->rigid.gradient[node], &sim->rigid.straight[node]));
            tac_accum_add(&sum[1], tac_rigid_rounding(sim, k, (int)(n % TAC_RIGID_NODES)));
        }
        TAC_TRY(tac_implicit_sum(sim->ctx, sum, 2));
        sim->newton.slope = tac_accum_value(&sum[0]);
        sim->newton.rounding = tac_accum_value(&sum[1]);
        if (sim->newton.slope < 0 && *speed > close)
            break;
        TAC_TRY(tac_implicit_drop_foreseen(sim, &again));
        if (!again && sim->newton.slope >= 0 && *speed > close)
            again = tac_implicit_note_direction(sim, false);
    }
    if (*speed <= close) { /* unless it is only not accurate enough */
        TAC_TRY(tac_implicit_sharpen(sim));
        TAC_TRY(largest_speed(sim, speed));
    }
    tac_rigid_turn(sim, 1);
done:
    return err;
}

/* Returns whether friction holds a pair that p would move by more than a small part of the slip under which friction is
 * smoothed. Where a pair is about to slide, the first p is at least half of that slip, because it is computed with the
 * stiffness of a pair that sticks. With a coarser tolerance this p would count as the last one, and no pair would ever
 * slide. */
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

/* Fails because `most` iterations were not enough. */
static const char *why_not(const struct tac_implicit *sim, bool there)
{
    if (!there)
        return "cannot bring what is scripted to its place";
    if (sim->last_step.residual_speed <= sim->scale.velocity_tol && !tac_implicit_is_exact(sim))
        return "does not converge, because rounding leaves its linear system without stiffness in some direction";
    return "does not converge";
}

/* Minimises the potential with the present normal forces of friction. */
enum tac_err tac_implicit_minimise(struct tac_implicit *sim, bool *there)
{
    enum tac_err err;
    double value, size;
    tac_implicit_note_fall(sim, 0); /* the fall before was of another potential */
    for (bool ready = false, known = false, first = true; !ready; first = false) {
        double speed;
        if (sim->part.newton == sim->scene->settings->implicit.most)
            TAC_TRY(tac_implicit_fail_step(sim, why_not(sim, *there)));
        sim->part.newton++;
        sim->last_step.newton++;
        TAC_TRY(direct(sim, *there, &speed));
        sim->last_step.residual_speed = speed;
        if (!(speed < INFINITY))
            TAC_TRY(tac_implicit_fail_step(sim, "leaves the range of numbers"));
        if (!known)
            TAC_TRY(tac_implicit_potential(sim, sim->x, &value, &size));
        bool loose = false;
        if (speed <= sim->scale.velocity_tol)
            TAC_TRY(any_breaks_loose(sim, &loose));
        TAC_TRY(tac_implicit_search_line(sim, &value, &size));
        TAC_TRY(tac_implicit_accept(sim));
        double gap;
        TAC_TRY(tac_implicit_least_gap(sim, &gap));
        if (gap < fmin(TAC_NEAREST * sim->scale.size_m, sim->newton.start_gap))
            TAC_TRY(tac_implicit_fail_step(sim, "brings surfaces nearer to each other than rounding can resolve"));
        const bool stiffer = tac_implicit_stiffen(sim, gap);
        known = *there && !stiffer; /* the potential has not changed */
        ready = speed <= sim->scale.velocity_tol && !loose && known && tac_implicit_is_exact(sim);
        if (first)
            sim->newton.rests = ready;
        if (ready) {
            TAC_TRY(tac_implicit_residual(sim, speed, &sim->last_step.residual));
            ready = sim->last_step.residual <= sim->scale.force_tol || !(sim->scale.force_tol > 0) ||
                    speed <= TAC_AT_REST * sim->scale.velocity_tol;
        }
        if (sim->part.astray && sim->part.level < TAC_LEVELS)
            break;
        if (!*there)
            TAC_TRY(tac_implicit_pull_scripted(sim, speed, there));
    }
done:
    return err;
}
