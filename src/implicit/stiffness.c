/* stiffness.c: kappa, the stiffness of the barrier (docs/implicit.md, The barrier; Li et al. 2020, supplement, but for
 * the part of it that follows from forces). */
#include "implicit/parts.h"
#include <math.h>

#define TAC_KAPPA_LEAST 1e11 /* times the mean mass over the curvature of the barrier at a tiny gap */
#define TAC_KAPPA_RANGE 100  /* most over least */
#define TAC_KAPPA_GAP 1e-8   /* of the scene's diagonal: where that curvature is taken */
#define TAC_KAPPA_PUSH 3.    /* times a vertex' force a pair carries at half of the thickness */
#define TAC_KAPPA_CLOSE 1e-9 /* of the scene's diagonal: under it a gap that shrinks asks for more */

double tac_implicit_least_stiffness(const struct tac_implicit *sim)
{
    const double d_hat = sim->scene->settings->contact.thickness, l = sim->scale.diagonal_m;
    double b[3];
    if (!(d_hat > 0))
        return 1;
    const double s_hat = d_hat * d_hat, s = fmin(TAC_KAPPA_GAP * l * (TAC_KAPPA_GAP * l), .25 * s_hat);
    tac_barrier(s, s_hat, b);
    return TAC_KAPPA_LEAST * sim->scale.mean_mass / (4e-16 * l * l * b[2]);
}

/* The least kappa with which a pair at half of the thickness pushes TAC_KAPPA_PUSH times as much as what a vertex has
 * to be pushed with now: a vertex' force is the mean square of what inertia and elasticity ask of those that move, in
 * the units of the potential (N s^2), so it is what stops them in one step.  Where kappa is much less, gaps must shrink
 * to a thousandth of the thickness until they carry it, by a fifth in an iterate. */
static enum tac_err stiffness_of_forces(struct tac_implicit *sim, double *kappa)
{
    struct tac_accum sum[2] = {{{0}, 0, 0}};
    double b[3];
    for (tac_lid i = 0; i < sim->owned; i++) {
        const size_t v = (size_t)tac_implicit_vertex(sim, i);
        const double *g = &sim->newton.gradient[3 * v], *speed = &sim->v[3 * v];
        const double push = sim->scale.mean_mass * sim->scale.h;
        if (sim->newton.held[v])
            continue;
        const bool scripted = sim->scripts.script_of[v] >= 0 && sim->scripts.script[sim->scripts.script_of[v]].on;
        tac_accum_add(&sum[0], scripted ? push * push * tac_dot(speed, speed) : tac_dot(g, g));
        tac_accum_add(&sum[1], 1);
    }
    const enum tac_err err = tac_implicit_sum(sim->ctx, sum, 2);
    const double count = tac_accum_value(&sum[1]), t = sim->scene->settings->contact.thickness, r = sim->scale.radius;
    const double d = r + .5 * t;
    *kappa = 0;
    if (err || !(count > 0) || !(t > 0))
        return err;
    tac_barrier(.5 * t * (2 * r + .5 * t), t * (2 * r + t), b);
    *kappa = TAC_KAPPA_PUSH * sqrt(tac_accum_value(&sum[0]) / count) / (-b[1] * 2 * d);
    return TAC_OK;
}

enum tac_err tac_implicit_begin_stiffness(struct tac_implicit *sim, const double *x, double *kappa)
{
    double least = sim->scale.stiffness_least, pushed;
    enum tac_err err;
    const struct tac_implicit_settings *settings = &sim->scene->settings->implicit;
    const size_t size = 3 * (size_t)sim->count * sizeof *sim->newton.gradient;
    struct tac_accum sum[2] = {{{0}, 0, 0}};
    if (settings->stiffness > 0) {
        *kappa = settings->stiffness;
        return TAC_OK;
    }
    /* The force on the surfaces that stand against each other now is balanced best by -g_c . g_E / |g_c|^2. */
    memset(sim->newton.gradient, 0, size);
    tac_implicit_add_inertia(sim, x);
    tac_implicit_add_elements(sim, x, false);
    TAC_TRY(stiffness_of_forces(sim, &pushed));
    least = fmax(least, pushed);
    sim->newton.kappa_most = TAC_KAPPA_RANGE * least;
    memcpy(sim->newton.trial, sim->newton.gradient, size);
    memset(sim->newton.gradient, 0, size);
    sim->newton.kappa = 1;
    tac_implicit_add_contact(sim, x);
    for (tac_lid i = 0; i < sim->owned; i++) {
        const size_t v = (size_t)tac_implicit_vertex(sim, i);
        const double *g = &sim->newton.gradient[3 * v];
        if (sim->newton.held[v] ||
            (sim->scripts.script_of[v] >= 0 && sim->scripts.script[sim->scripts.script_of[v]].on))
            continue;
        tac_accum_add(&sum[0], tac_dot(g, &sim->newton.trial[3 * v]));
        tac_accum_add(&sum[1], tac_dot(g, g));
    }
    TAC_TRY(tac_implicit_sum(sim->ctx, sum, 2));
    const double along = -tac_accum_value(&sum[0]), square = tac_accum_value(&sum[1]);
    *kappa = square > 0 ? fmin(sim->newton.kappa_most, fmax(least, along / square)) : least;
done:
    return err;
}

/* Of a pair that acts, m. */
static double gap_of(const struct tac_implicit *sim, size_t touch)
{
    const struct tac_implicit_touch *t = &sim->contact.touch[touch];
    return t->near.d - sim->contact.pair[t->pair].form.radius;
}

enum tac_err tac_implicit_adapt_stiffness(struct tac_implicit *sim, bool *changed)
{
    const double close = TAC_KAPPA_CLOSE * sim->scale.diagonal_m, most = sim->newton.kappa_most;
    enum tac_err err = TAC_OK;
    struct tac_implicit_contact *c = &sim->contact;
    struct tac_implicit_close *now = NULL;
    size_t count = 0, at = 0;
    int pressed = 0;
    *changed = false;
    if (sim->scene->settings->implicit.stiffness > 0)
        return TAC_OK;
    /* Both lists ascend by key.  They are not the candidates', which may be made anew at any iterate, and at another
     * one after a restart. */
    for (size_t e = 0; e < c->touch_count; e++)
        count += gap_of(sim, e) < close;
    if (count > 0)
        err = tac_alloc(sim->ctx, count, sizeof *now, &now);
    count = 0;
    for (size_t e = 0; e < c->touch_count && !err; e++) {
        const uint64_t key = c->pair[c->touch[e].pair].key;
        const double gap = gap_of(sim, e);
        if (!(gap < close))
            continue;
        while (at < c->close_count && c->close[at].key < key)
            at++;
        pressed |= at < c->close_count && c->close[at].key == key && gap < c->close[at].gap;
        now[count++] = (struct tac_implicit_close){key, gap};
    }
    free(c->close);
    c->close = now;
    c->close_count = count;
    TAC_TRY(tac_agree(sim->ctx, err));
    if (sim->ctx->size > 1 && MPI_Allreduce(MPI_IN_PLACE, &pressed, 1, MPI_INT, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while adapting the barrier's stiffness");
    if (pressed && sim->newton.kappa < most) {
        sim->newton.kappa = fmin(most, 2 * sim->newton.kappa);
        *changed = true;
    }
done:
    return err;
}
