/* slab_lay.c: places slabs (ACM 2009, section 5.1), and computes how long they hold. */
#include "kds/slab_lay.h"
#include <string.h>

void tac_slab_places(const struct tac_kinetic *k, const struct tac_slab *s, double x[4][3])
{
    for (int i = 0; i < s->count; i++)
        tac_kinetic_place(k, s->v[i], x[i]);
    tac_model_gather(k->view->model, (enum tac_pair_type)s->type, s->v, x);
}

/* The first positive root of c + 2 b t + a t^2, c < 0; infinity if there is none. */
static double root_s(double a, double b, double c)
{
    const double root = sqrt(fmax(0, b * b - a * c)), t = b > 0 ? -c / (b + root) : a > 0 ? (root - b) / a : INFINITY;
    return t * (1 - 1e-9);
}

/* Let [p q] be formed from the positions and [r s] from the velocities (closest_points.h). Then the change of the
 * matrix of squares is t times one matrix plus t^2 times another one, and its largest eigenvalue changes by no more
 * than theirs. So a rotation costs nothing to first order. The uncertainty of the plans adds twice its largest value.
 */
double tac_slab_widening_s(const struct tac_kinetic *k, const struct tac_slab *slab, double longest)
{
    double x[4][3], v[4][3], p[3], q[3], r[3], s[3], reach = 0;
    tac_slab_places(k, slab, x);
    for (int i = 0; i < 3; i++) {
        const struct tac_plan *plan = &k->plan[slab->v[i]];
        memcpy(v[i], plan->v, sizeof v[i]);
        reach = fmax(reach, plan->reach);
    }
    tac_stretch_columns(x, x[3], p, q);
    tac_stretch_columns(v, x[3], r, s);
    const double now = tac_larger_eigenvalue(tac_dot(p, p), tac_dot(p, q), tac_dot(q, q));
    const double slope = tac_larger_eigenvalue(2 * tac_dot(p, r), tac_dot(p, s) + tac_dot(q, r), 2 * tac_dot(q, s));
    const double bend = tac_larger_eigenvalue(tac_dot(r, r), tac_dot(r, s), tac_dot(s, s));
    const double e = 2 * reach;
    const double c = now - longest * longest;
    return c < 0 && longest > 0 ? root_s(bend - e * e, .5 * slope + longest * e, c) : 0;
}

/* Solves |r + u t| = longest - e t for its positive root, where r and u are the relative position and velocity of the
 * two ends, and e the uncertainty of both plans. */
double tac_slab_stretch_s(const struct tac_kinetic *k, const struct tac_slab *s, double longest)
{
    const struct tac_plan *p = &k->plan[s->v[0]], *q = &k->plan[s->v[1]];
    const double e = p->reach + q->reach;
    double x[3], y[3], r[3], u[3];
    tac_kinetic_place(k, s->v[0], x);
    tac_kinetic_place(k, s->v[1], y);
    tac_sub(r, y, x);
    tac_sub(u, q->v, p->v);
    const double a = tac_dot(u, u) - e * e, b = tac_dot(r, u) + longest * e, c = tac_dot(r, r) - longest * longest;
    if (!(c < 0) || !(longest > 0))
        return 0;
    return root_s(a, b, c);
}

double tac_slab_lay(struct tac_kinetic *k, struct tac_slab *s, const double x[4][3], double reach, double *d,
                    int *which)
{
    struct tac_near near;
    reach += k->rounding.slack;
    double along[4], a = INFINITY, b = -INFINITY, speed = 0, life = INFINITY;
    tac_near_pair((enum tac_pair_type)s->type, x, &near);
    *d = near.d;
    *which = -1;
    for (int i = 0; i < s->count; i++) {
        const struct tac_plan *plan = &k->plan[s->v[i]];
        along[i] = tac_dot(near.n, x[i]);
        speed += fabs(near.w[i]) * (tac_dot(near.n, plan->v) + (i < s->first ? -plan->reach : plan->reach));
        if (i < s->first)
            a = along[i] < a ? along[i] : a;
        else
            b = along[i] > b ? along[i] : b;
    }
    if (tac_pair_grows((enum tac_pair_type)s->type)) {
        memcpy(s->n, near.n, sizeof s->n);
        s->upper = -reach;
        return s->type == TAC_PAIR_LONG ? tac_slab_stretch_s(k, s, s->upper) : tac_slab_widening_s(k, s, s->upper);
    }
    if (!(a - b > reach))
        return 0;
    memcpy(s->n, near.n, sizeof s->n);
    s->upper = .5 * (a + b + reach);
    s->lower = .5 * (a + b - reach);
    s->speed = .5 * speed;
    s->laid = k->now;
    for (int i = 0; i < s->count; i++) {
        const double t = tac_slab_entry_s(k, s, i, x[i]);
        if (t < life) {
            life = t;
            *which = i;
        }
    }
    return life;
}
