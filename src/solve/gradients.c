/* gradients.c: iterates by conjugate gradients with exact dot products, deflated by the coarse space (A-DEF2), and with
 * one reduction over all ranks in each iteration.
 *
 * The iteration is that of Hestenes and Stiefel 1952 with the preconditioner of coarse.h.  This preconditioner is not
 * symmetric, but it is equal to a symmetric one for residuals without a coarse part, Z^T r = 0, and residuals have none
 * after x has been changed by Q r (Tang et al. 2009).  Rounding errors bring some of that part back. Therefore each new
 * direction is made orthogonal to the last one by a separate product, as in Notay 2000 for variable preconditioners,
 * and not by the quotient of two r.z. Without this, tiny systems needed hundreds of iterations for the last digits.
 * Dot products are exact sums of one rounded number for each node, so they do not depend on how nodes are distributed,
 * and neither does any branch.
 *
 * For one reduction, the product w = A z of the preconditioned residual z takes the place of the product with the new
 * direction p' = z + beta p: A p' = w + beta A p, and p'.Ap' = z.w + beta z.Ap, as beta = -z.Ap / p.Ap (as in
 * Chronopoulos and Gear 1989, whose beta is the quotient of two r.z). */
#include "solve/dots.h"
#include "solve/invariant.h"
#include <math.h>
#include <string.h>

enum { LEAST_ROUGH = 5, MOST_SOFTENED = 4 };
/* The residual of the recurrence has to be smaller than the tolerance by this factor, so that the true residual meets
 * the tolerance. */
static const double MARGIN = .95;
/* Where p.Ap is so much smaller than the two terms whose difference it is, it is computed from p and A p. */
static const double LEAST_CURVATURE = 1. / 64;
/* The true residual is computed at the latest when the residual of the recurrence has fallen by this factor. */
static const double MOST_FALL = 1e-10;

static double dot(const struct tac_invariant *s, const double *a, const double *b, struct tac_sum_window *window)
{
    struct tac_accum sum = {{0}, 0, 0};
    double value;
    tac_dot_add(&s->local, a, b, &sum);
    tac_dot_reduce(s->ctx, 1, &sum, window, &value);
    return value;
}

/* a += by b */
TAC_VERSIONS static void add_times(tac_lid n, double *restrict a, double by, const double *restrict b)
{
    const tac_four four = {by, by, by, by};
    for (size_t i = 0; i < (size_t)n; i++)
        tac_four_store(a + 4 * i, tac_four_load(a + 4 * i) + four * tac_four_load(b + 4 * i));
}

/* x += by p, r -= by q, and the sum of r.r */
TAC_VERSIONS static void step(struct tac_invariant *s, double by, struct tac_accum *sum)
{
    const tac_four four = {by, by, by, by};
    double *restrict x = s->x, *restrict r = s->r;
    const double *restrict p = s->p, *restrict q = s->q;
    for (size_t i = 0; i < (size_t)s->local.owned; i++) {
        tac_four_store(x + 4 * i, tac_four_load(x + 4 * i) + four * tac_four_load(p + 4 * i));
        const tac_four left = tac_four_load(r + 4 * i) - four * tac_four_load(q + 4 * i), t = left * left;
        tac_four_store(r + 4 * i, left);
        tac_accum_add(sum, t[0] + t[1] + t[2]);
    }
}

/* p = z + by p, q = w + by q */
TAC_VERSIONS static void turn(struct tac_invariant *s, double by)
{
    const tac_four four = {by, by, by, by};
    double *restrict p = s->p, *restrict q = s->q;
    const double *restrict z = s->z, *restrict w = s->w;
    for (size_t i = 0; i < (size_t)s->local.owned; i++) {
        tac_four_store(p + 4 * i, tac_four_load(z + 4 * i) + four * tac_four_load(p + 4 * i));
        tac_four_store(q + 4 * i, tac_four_load(w + 4 * i) + four * tac_four_load(q + 4 * i));
    }
}

/* z = P r */
static void precondition(struct tac_invariant *s)
{
    if (s->levels) {
        tac_cycle(&s->local, &s->factor, &s->coarse, s->r, s->z, s->t, s->u);
        return;
    }
    tac_incomplete_apply(&s->factor, &s->local, s->r, s->z);
    tac_coarse_add(&s->coarse, &s->local, s->r, s->z, s->z);
}

/* r = b - A x; p is used. */
static void find_residual(struct tac_invariant *s)
{
    const size_t n = 4 * (size_t)s->local.owned;
    memcpy(s->p, s->x, n * sizeof *s->x);
    tac_local_multiply(&s->local, s->p, s->q);
    for (size_t i = 0; i < n; i++)
        s->r[i] = s->b[i] - s->q[i];
}

enum { SUM_RR, SUM_RZ, SUM_QZ, SUM_ZW, SUMS };

/* z = P r and w = A z, and the sums with them. sum[SUM_RR] is given. */
static void precondition_and_sum(struct tac_invariant *s, struct tac_accum sum[SUMS],
                                 struct tac_sum_window window[SUMS], double value[SUMS])
{
    precondition(s);
    tac_local_multiply(&s->local, s->z, s->w);
    tac_dot_add(&s->local, s->r, s->z, &sum[SUM_RZ]);
    tac_dot_add(&s->local, s->q, s->z, &sum[SUM_QZ]);
    tac_dot_add(&s->local, s->z, s->w, &sum[SUM_ZW]);
    tac_dot_reduce(s->ctx, SUMS, sum, window, value);
}

/* Computes the next direction, its product, and p.Ap. */
static double find_direction(struct tac_invariant *s, const double value[SUMS], double pq)
{
    const double beta = -value[SUM_QZ] / pq, next = value[SUM_ZW] + beta * value[SUM_QZ];
    turn(s, beta);
    if (!(next < LEAST_CURVATURE * value[SUM_ZW]))
        return next;
    tac_local_multiply(&s->local, s->p, s->q);
    return dot(s, s->p, s->q, NULL);
}

/* Iterates until the square of the residual is `target`. Returns false if the preconditioner is not positive, which
 * ends the iterations early. */
static bool iterate(struct tac_invariant *s, double target, const struct tac_solve_rule *rule,
                    struct tac_solve_result *result)
{
    double value[SUMS], fall = 0;
    int count = 0;
    struct tac_sum_window window[SUMS] = {{0, 0}};
    struct tac_accum first[SUMS] = {{{0}, 0, 0}};
    memset(s->q, 0, 4 * (size_t)s->local.owned * sizeof *s->q);
    precondition_and_sum(s, first, NULL, value);
    memcpy(s->p, s->z, 4 * (size_t)s->local.owned * sizeof *s->p);
    memcpy(s->q, s->w, 4 * (size_t)s->local.owned * sizeof *s->q);
    double pq = value[SUM_ZW];
    while (result->iterations < rule->limit && value[SUM_RZ] > 0) {
        if (!(pq > 0)) {
            result->outcome = isnan(pq) ? TAC_SOLVE_NOT_FINITE : TAC_SOLVE_NOT_POSITIVE;
            return true;
        }
        const double rz = value[SUM_RZ], alpha = rz / pq;
        if (!isfinite(alpha))
            break;
        struct tac_accum sum[SUMS] = {{{0}, 0, 0}};
        step(s, alpha, &sum[SUM_RR]);
        result->iterations++;
        precondition_and_sum(s, sum, window, value);
        if (!(value[SUM_RR] > target))
            break;
        fall += alpha * rz;
        if (++count >= LEAST_ROUGH && count * (alpha * rz) <= rule->rough * fall) {
            result->outcome = TAC_SOLVE_ROUGH;
            break;
        }
        pq = find_direction(s, value, pq);
    }
    return !(value[SUM_RZ] < 0);
}

void tac_invariant_iterate(struct tac_invariant *s, const struct tac_solve_rule *rule, struct tac_solve_result *result)
{
    const size_t n = 4 * (size_t)s->local.owned;
    double before = INFINITY;
    int softened = 0;
    if (rule->go_on) {
        find_residual(s);
    } else {
        memset(s->x, 0, n * sizeof *s->x);
        memcpy(s->r, s->b, n * sizeof *s->r);
    }
    const double all = dot(s, s->b, s->b, NULL);
    for (;;) { /* again from the true residual, as long as it falls */
        const double now = dot(s, s->r, s->r, NULL);
        result->residual = all > 0 ? sqrt(now / all) : 0;
        if (result->residual <= rule->tolerance) {
            result->outcome = TAC_SOLVE_CONVERGED;
            return;
        }
        if (!isfinite(now)) {
            result->outcome = TAC_SOLVE_NOT_FINITE;
            return;
        }
        if (result->outcome != TAC_SOLVE_CONVERGED)
            return;
        if (result->iterations >= rule->limit || !(now < before / 4)) {
            result->outcome = result->iterations >= rule->limit ? TAC_SOLVE_LIMIT : TAC_SOLVE_STALLED;
            return;
        }
        before = now;
        if (!s->levels) {
            tac_coarse_add(&s->coarse, &s->local, s->r, NULL, s->z);
            add_times(s->local.owned, s->x, 1, s->z);
            find_residual(s);
        }
        const double wanted = MARGIN * MARGIN * rule->tolerance * rule->tolerance * all,
                     least = MOST_FALL * MOST_FALL * now;
        /* Power steps underestimate the largest eigenvalue, so a smoother may, in rare cases, not converge. */
        if (!iterate(s, wanted > least ? wanted : least, rule, result) && s->levels && softened++ < MOST_SOFTENED) {
            tac_soften(&s->local, &s->factor, &s->coarse);
            before = INFINITY;
        }
        find_residual(s);
    }
}
