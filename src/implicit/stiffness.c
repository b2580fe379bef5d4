/* stiffness.c: computes kappa, the stiffness of the barrier (docs/reference/implicit.md, The barrier).
 *
 * At half of its thickness a pair is TAC_KAPPA_TIMES times as stiff as the softer of its two sides, by mass and by
 * elements at rest. But every pair is at least as stiff as the present forces require. Neither value depends on the
 * past. So under the same force surfaces have the same gap when they come together and when they separate.
 */
#include "implicit/parts.h"
#include "partition/part.h"
#include <math.h>
#include <stdlib.h>

#define TAC_KAPPA_TIMES 100.      /* a pair's stiffness at half of the thickness, over that of its softer side */
#define TAC_KAPPA_FREE 1.         /* the same where both sides are free and no motion presses them */
#define TAC_KAPPA_CLOSE 1e-9      /* times the scene's diagonal: no gap that shrinks should be below it */
#define TAC_KAPPA_NEAREST 0x1p-40 /* times the scene's size, likewise: 64 times the least gap that can be proven */
#define TAC_KAPPA_MOST 128.       /* largest factor of kappa within a step */
#define TAC_KAPPA_PUSH 3.         /* times a vertex' force: a pair carries it at half of the thickness */
enum { SWEEPS = 30 };

/* ---- by the materials ---- */

/* The least eigenvalue of a symmetric (3, 3) matrix, by Jacobi's method in a fixed order. */
static double least_eigenvalue(double a[3][3])
{
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                const int r = 3 - p - q;
                if (a[p][q] == 0)
                    continue;
                const double half = .5 * (a[q][q] - a[p][p]), off = a[p][q];
                const double t = (half >= 0 ? off : -off) / (fabs(half) + sqrt(half * half + off * off));
                const double c = 1 / sqrt(t * t + 1), s = t * c, x = a[p][r], y = a[q][r];
                a[p][p] -= t * off;
                a[q][q] += t * off;
                a[p][q] = a[q][p] = 0;
                a[p][r] = a[r][p] = c * x - s * y;
                a[q][r] = a[r][q] = s * x + c * y;
            }
    return fmin(a[0][0], fmin(a[1][1], a[2][2]));
}

enum tac_err tac_implicit_vertex_stiffness(struct tac_implicit *sim, double **least, double **mean)
{
    enum tac_err err;
    const size_t n = (size_t)sim->meshed, own = (size_t)sim->owned;
    double *block = NULL, *both = NULL;
    err = tac_alloc(sim->ctx, n, sizeof **least, least);
    err = err ? err : tac_alloc(sim->ctx, n, sizeof **mean, mean);
    err = err ? err : tac_alloc(sim->ctx, 9 * own, sizeof *block, &block);
    err = err ? err : tac_alloc(sim->ctx, 2 * n, sizeof *both, &both);
    TAC_TRY(tac_agree(sim->ctx, err));
    for (struct tac_implicit_walk w = {0}; tac_implicit_next(sim, &w);) {
        const int size = 3 * w.nodes;
        double at[TAC_ELEMENT_NODES][3], dense[TAC_ELEMENT_HESSIAN];
        tac_scene_gather_rest(sim->scene, w.v, w.nodes, at);
        tac_element_hessian(w.list->element, w.record, NULL, at, dense);
        for (int i = 0; i < w.nodes; i++)
            for (int k = 0; k < 3 && w.v[i] < sim->owned; k++)
                for (int l = 0; l < 3; l++)
                    block[9 * (size_t)w.v[i] + (size_t)(3 * k + l)] += dense[size * (3 * i + k) + 3 * i + l];
    }
    for (size_t v = 0; v < own; v++) {
        double a[3][3];
        memcpy(a, &block[9 * v], sizeof a);
        both[2 * v + 1] = fmax(0, (a[0][0] + a[1][1] + a[2][2]) / 3);
        both[2 * v] = fmax(0, least_eigenvalue(a));
    }
    TAC_TRY(tac_implicit_share(sim, both, 2, true));
    for (size_t v = 0; v < n; v++) {
        (*least)[v] = both[2 * v] + 0.;
        (*mean)[v] = both[2 * v + 1] + 0.;
    }
done:
    free(block);
    free(both);
    return err;
}

enum tac_err tac_implicit_stiffness_create(struct tac_implicit *sim)
{
    if (!(sim->scene->settings->contact.thickness > 0))
        return TAC_OK;
    double *mean = NULL;
    const enum tac_err err = tac_implicit_vertex_stiffness(sim, &sim->contact.stiff, &mean);
    free(mean);
    if (sim->halo != NULL)
        tac_halo_grows(sim->halo, &sim->contact.stiff, sizeof *sim->contact.stiff);
    return err;
}

/* Returns whether a vertex can move under a force. */
static bool can_move(const struct tac_implicit *sim, tac_lid v)
{
    return sim->scene->mesh->ever_free[v] && !tac_implicit_script_on(sim, v);
}

/* The mean stiffness of some vertices, in the units of the potential (kg); INFINITY if one of them cannot move. */
static double stiffness_of(const struct tac_implicit *sim, const tac_lid *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += can_move(sim, v[i]) && !(sim->is_static && tac_implicit_rigid_of(sim, v[i]) >= 0)
                   ? (sim->is_static ? 0 : sim->scene->mesh->mass[v[i]]) + sim->weight * sim->contact.stiff[v[i]]
                   : INFINITY;
    return sum / n;
}

/* Computes *half for a pair, unless it is that already. */
static double curvature(const struct tac_barrier_pair *p, struct tac_half_barrier *half)
{
    const double d = p->radius + .5 * p->thickness;
    double b[3];
    if (half->curvature > 0 && half->radius == p->radius && half->thickness == p->thickness)
        return half->curvature;
    tac_barrier(.5 * p->thickness * (2 * p->radius + .5 * p->thickness), p->thickness * (2 * p->radius + p->thickness),
                b);
    *half = (struct tac_half_barrier){p->radius, p->thickness, 2 * b[1] + 4 * d * d * b[2]};
    return half->curvature;
}

double tac_implicit_least_kappa(struct tac_implicit *sim, const struct tac_implicit_pair *p)
{
    const int n = tac_pair_vertices(p->form.type), first = tac_pair_first(p->form.type);
    const double side[2] = {stiffness_of(sim, p->v, first), stiffness_of(sim, &p->v[first], n - first)};
    /* The result of a press is a curve of force over displacement, so its contacts have to be stiff. Where bodies only
     * fall on each other, softer contacts need fewer Newton iterations. */
    const bool pressed = sim->is_static || sim->newton.any_driven || !(side[0] < INFINITY && side[1] < INFINITY);
    double soft = fmin(side[0], side[1]);
    for (int i = 0; i < n && !(soft < INFINITY); i++) /* each side has a vertex that cannot move */
        soft = stiffness_of(sim, &p->v[i], 1);
    if (!(soft < INFINITY))
        soft = sim->scale.mean_mass;
    return (pressed ? TAC_KAPPA_TIMES : TAC_KAPPA_FREE) * soft / curvature(&p->form, &sim->contact.half);
}

/* ---- by the forces ---- */

/* The least kappa with which a pair at half of the thickness pushes with TAC_KAPPA_PUSH times the force of a vertex.
 * That force is the root mean square of inertia and elasticity over the moving vertices, in the units of the potential
 * (N s^2), so it stops them in one step. With a much smaller kappa gaps would have to shrink to a thousandth of the
 * thickness until they carry this force, and they shrink by a fifth in an iterate. */
static enum tac_err stiffness_of_forces(struct tac_implicit *sim, double *kappa)
{
    struct tac_accum sum[2] = {{{0}, 0, 0}};
    double b[3];
    for (tac_lid i = 0; i < sim->owned; i++) {
        const size_t v = (size_t)i;
        const double *g = &sim->newton.gradient[3 * v], *speed = &sim->v[3 * v];
        const double push = sim->scale.mean_mass * sim->scale.h;
        if (sim->newton.held[v] || tac_implicit_rigid_of(sim, i) >= 0)
            continue;
        const bool scripted = tac_implicit_script_on(sim, i);
        tac_accum_add(&sum[0], scripted ? push * push * tac_dot(speed, speed) : tac_dot(g, g));
        tac_accum_add(&sum[1], 1);
    }
    for (size_t n = 0; n < TAC_RIGID_NODES * sim->rigid.own_count; n++) {
        const size_t node = TAC_RIGID_NODES * (size_t)sim->rigid.own[n / TAC_RIGID_NODES] + n % TAC_RIGID_NODES;
        const double *g = &sim->rigid.gradient[3 * node];
        tac_accum_add(&sum[0], tac_dot(g, g));
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

enum tac_err tac_implicit_least_gap(struct tac_implicit *sim, double *gap)
{
    *gap = INFINITY;
    for (size_t e = 0; e < sim->contact.touch_count; e++)
        *gap = fmin(*gap, sim->contact.touch[e].near.at.d - tac_implicit_touching(sim, e)->form.radius);
    if (sim->ctx->size > 1 && MPI_Allreduce(MPI_IN_PLACE, gap, 1, MPI_DOUBLE, MPI_MIN, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while looking for the smallest gap");
    return TAC_OK;
}

/* An iterate may take .8 of a gap. Where forces are much larger than those that kappa was computed for, gaps would
 * shrink until only rounding errors are left of them. */
bool tac_implicit_stiffen(struct tac_implicit *sim, double least)
{
    const double close = fmax(TAC_KAPPA_CLOSE * sim->scale.diagonal_m, TAC_KAPPA_NEAREST * sim->scale.size_m);
    const bool stiffer = tac_implicit_adapts(sim) && least < close && least < sim->newton.least_gap &&
                         sim->newton.stiffer < TAC_KAPPA_MOST;
    if (stiffer)
        sim->newton.stiffer *= 2;
    sim->newton.least_gap = least;
    return stiffer;
}

enum tac_err tac_implicit_begin_stiffness(struct tac_implicit *sim, const double *x, double *kappa)
{
    sim->newton.stiffer = 1;
    sim->newton.least_gap = INFINITY;
    if (!tac_implicit_adapts(sim)) {
        *kappa = sim->scene->settings->implicit.stiffness;
        return TAC_OK;
    }
    memset(sim->newton.gradient, 0, 3 * (size_t)sim->owned * sizeof *sim->newton.gradient);
    tac_rigid_clear(&sim->rigid);
    tac_implicit_add_inertia(sim, x);
    tac_implicit_add_elements(sim, x, false);
    return stiffness_of_forces(sim, kappa);
}
