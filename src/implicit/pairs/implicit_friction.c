/* implicit_friction.c: computes lagged friction (docs/reference/implicit.md, Friction; Li et al. 2020, Section 5).
 *
 * The friction of a contact has a potential: mu times the normal force, times a function of the distance by which the
 * closest points have slid along each other since the start of the step. The normal force and the closest points are
 * those of the start of the lag. The tangent plane needs no basis, because only the component of the sliding that is
 * perpendicular to the normal is used.
 */
#include "implicit/parts.h"
#include <math.h>

double tac_implicit_slide_energy(double y, double w)
{
    return y < w ? y * y * (1 - y / (3 * w)) / w + w / 3 : y;
}

double tac_implicit_slide_force(double y, double w)
{
    return y < w ? (2 - y / w) / w : 1 / y;
}

double tac_implicit_slide_along(const struct tac_sliding *s, const double *displacement, double u[3])
{
    u[0] = u[1] = u[2] = 0;
    for (int i = 0; i < tac_pair_vertices(s->type); i++)
        for (int k = 0; k < 3; k++)
            u[k] += s->w[i] * displacement[3 * (size_t)s->v[i] + (size_t)k];
    const double along = tac_dot(u, s->n);
    for (int k = 0; k < 3; k++)
        u[k] -= along * s->n[k];
    return sqrt(tac_dot(u, u));
}

double tac_implicit_slide(const struct tac_implicit *sim, const struct tac_sliding *s, const double *x, double u[3])
{
    u[0] = u[1] = u[2] = 0;
    for (int i = 0; i < tac_pair_vertices(s->type); i++)
        for (int k = 0; k < 3; k++) {
            const size_t c = 3 * (size_t)s->v[i] + (size_t)k;
            u[k] += s->w[i] * (x[c] - sim->newton.x0[c]);
        }
    const double along = tac_dot(u, s->n);
    for (int k = 0; k < 3; k++)
        u[k] -= along * s->n[k];
    return sqrt(tac_dot(u, u));
}

/* mu of a contact in this step: the kinetic one if its nearest points slid along each other at the step's start faster
 * than what friction is smoothed under, which is as fast as friction lets creep what it holds. */
static double mu_of(const struct tac_implicit *sim, const struct tac_implicit_pair *p, const struct tac_sliding *s)
{
    double u[3];
    if (!(p->kinetic < p->friction))
        return p->friction;
    return tac_implicit_slide_along(s, sim->v, u) > sim->scale.friction_velocity ? p->kinetic : p->friction;
}

enum tac_err tac_implicit_lag(struct tac_implicit *sim, const double *x)
{
    enum tac_err err = TAC_OK;
    sim->contact.sliding_count = 0;
    for (size_t e = 0; e < sim->contact.touch_count; e++) {
        const struct tac_implicit_pair *p = tac_implicit_touching(sim, e);
        const struct tac_barrier_near *near = &sim->contact.touch[e].near;
        double at[4][3], gradient[4][3];
        if (!(p->friction > 0))
            continue;
        tac_implicit_gather(x, p->v, tac_pair_vertices(p->form.type), at);
        const double push = tac_barrier_gradient(&p->form, at, near, gradient);
        TAC_TRY(tac_grow(sim->ctx, &sim->contact.sliding, &sim->contact.sliding_capacity,
                         sim->contact.sliding_count + 1, sizeof *sim->contact.sliding));
        struct tac_sliding *s = &sim->contact.sliding[sim->contact.sliding_count++];
        s->key = p->key;
        s->type = p->form.type;
        memcpy(s->v, p->v, sizeof s->v);
        memcpy(s->w, near->at.w, sizeof s->w);
        memcpy(s->n, near->at.n, sizeof s->n);
        s->limit = mu_of(sim, p, s) * tac_implicit_kappa(sim, p, sim->newton.kappa) * push;
        s->counted = p->counted;
    }
done:
    return err;
}

enum tac_err tac_implicit_lag_residual(struct tac_implicit *sim, double *residual)
{
    enum tac_err err;
    const size_t size = 3 * (size_t)sim->owned * sizeof *sim->newton.gradient;
    double *before = sim->newton.trial;
    struct tac_accum sum[3] = {{{0}, 0, 0}, {{0}, 0, 0}, {{0}, 0, 0}};
    if (sim->contact.touch_of == before)
        sim->contact.touch_of = NULL;
    TAC_TRY(tac_implicit_contact_forces(sim, false));
    memcpy(before, sim->newton.gradient, size);
    err = tac_implicit_touch(sim, sim->x);
    TAC_TRY(tac_agree(sim->ctx, err ? err : tac_implicit_lag(sim, sim->x)));
    TAC_TRY(tac_implicit_contact_forces(sim, false));
    for (tac_lid i = 0; i < sim->owned; i++) {
        const size_t v = 3 * (size_t)i;
        double off[3];
        tac_sub(off, &sim->newton.gradient[v], &before[v]);
        tac_accum_add(&sum[0], tac_dot(off, off));
        tac_accum_add(&sum[1], tac_dot(&sim->newton.gradient[v], &sim->newton.gradient[v]));
        tac_accum_add(&sum[2], tac_dot(&before[v], &before[v]));
    }
    TAC_TRY(tac_implicit_sum(sim->ctx, sum, 3));
    const double most = fmax(tac_accum_value(&sum[1]), tac_accum_value(&sum[2]));
    *residual = most > 0 ? sqrt(tac_accum_value(&sum[0]) / most) : 0;
done:
    return err;
}
