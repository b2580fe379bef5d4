/* foresee.c: finds pairs that are not in contact yet but stop a step early (docs/reference/implicit.md, Contacts that
 * are foreseen). Newton's direction is computed without the pairs that are farther apart than their thickness. Where
 * many surfaces come together, such pairs therefore stop one iterate after the other.
 *
 * This file puts the pairs that stop an iterate first into the next linear system. Each is represented by the parabola
 * of its barrier at half of its gap, with a distance that is linearized where the pair stops the direction. Which pairs
 * these are must not depend on the list of candidates, which may be longer than necessary. So this file takes all pairs
 * that stop the direction before a share up to which every list is complete.
 */
#include "contact/advance.h"
#include "implicit/parts.h"
#include <math.h>
#include <stdlib.h>

#define TAC_FORESEE_UNDER .5 /* share of a direction: if a step takes more of it, no pair is foreseen */
#define TAC_FORESEE_TIMES                                                                                              \
    8.                     /* times the share that bounds a step: pairs that stop the direction earlier are foreseen */
#define TAC_FORESEE_GAP .5 /* of a pair's gap, or of its thickness if that is less: where its parabola touches */

/* The linearized gap of a pair with its vertices at x. */
static double linear_gap(const struct tac_foreseen *f, const double *x)
{
    double gap = f->gap;
    for (int i = 0; i < tac_pair_vertices(f->type); i++) {
        double r[3];
        tac_sub(r, &x[3 * (size_t)f->v[i]], f->at[i]);
        gap += f->w[i] * tac_dot(f->n, r);
    }
    return gap;
}

double tac_implicit_foreseen_force(const struct tac_foreseen *f, const double *x)
{
    return f->slope + f->curve * (linear_gap(f, x) - f->middle);
}

/* Returns whether a pair stops the displacement p from x before the share `part`. If so, fills in *f. */
static bool stops(const struct tac_implicit *sim, const struct tac_implicit_pair *c, double part,
                  struct tac_foreseen *f)
{
    const int n = tac_pair_vertices(c->form.type);
    double x[4][3], p[4][3], b[3];
    struct tac_near near;
    tac_implicit_gather(sim->x, c->v, n, x);
    tac_implicit_gather(sim->newton.p, c->v, n, p);
    const double share = tac_advance_safely(c->form.type, x, p, c->form.radius, TAC_GAP_KEPT, c->form.thickness, part);
    if (!(share < part))
        return false;
    tac_near_pair(c->form.type, x, &near);
    const double radius = c->form.radius, now = near.d - radius;
    *f = (struct tac_foreseen){.key = c->key, .type = c->form.type, .share = c->share};
    memcpy(f->v, c->v, sizeof f->v);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            f->at[i][k] = x[i][k] + share * p[i][k];
    tac_near_pair(f->type, f->at, &near);
    memcpy(f->w, near.w, sizeof f->w);
    memcpy(f->n, near.n, sizeof f->n);
    f->gap = near.d - radius;
    f->middle = TAC_FORESEE_GAP * fmin(now, c->form.thickness);
    f->thickness = c->form.thickness;
    f->radius = radius;
    const double d = radius + f->middle;
    tac_barrier_rough(c->form.rough, f->middle * (d + radius), f->thickness * (2 * radius + f->thickness), b);
    f->slope = 2 * d * b[1];
    f->curve = 2 * b[1] + 4 * d * d * b[2];
    return f->curve > 0;
}

/* A pair that was foreseen before remains foreseen if it is not in contact now, and if its parabola pushes at the end
 * of the direction. */
static bool remains(const struct tac_implicit *sim, const struct tac_foreseen *f)
{
    double x[4][3], end = f->gap;
    struct tac_near near;
    const int n = tac_pair_vertices(f->type);
    for (int i = 0; i < n; i++) {
        double r[3];
        const size_t v = 3 * (size_t)f->v[i];
        for (int k = 0; k < 3; k++)
            r[k] = sim->x[v + (size_t)k] + sim->newton.p[v + (size_t)k] - f->at[i][k];
        end += f->w[i] * tac_dot(f->n, r);
    }
    if (!(f->slope + f->curve * (end - f->middle) < 0))
        return false;
    tac_implicit_gather(sim->newton.trial, f->v, n, x);
    tac_near_pair(f->type, x, &near);
    return near.d > f->radius + f->thickness;
}

enum tac_err tac_implicit_foresee(struct tac_implicit *sim, double share)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_contact *c = &sim->contact;
    struct tac_foreseen *old = NULL;
    size_t before, capacity = 0, at = 0;
    const double part = fmin(1, TAC_FORESEE_TIMES * share);
    const bool any = share < TAC_FORESEE_UNDER && sim->search != NULL;
    if (any) /* before the old list is freed, because its pairs need their ghosts */
        TAC_TRY(tac_implicit_find(sim, sim->x, sim->newton.p, part));
    old = c->foreseen;
    before = c->foreseen_count;
    c->foreseen = NULL;
    c->foreseen_count = 0;
    if (!any)
        goto done;
    for (size_t e = 0; e <= c->pair_count && !err; e++) { /* both lists ascend by key */
        struct tac_foreseen found;
        const bool here = e < c->pair_count && stops(sim, &c->pair[e], part, &found);
        const uint64_t key = e < c->pair_count ? c->pair[e].key : UINT64_MAX;
        for (; at < before && old[at].key <= key && !err; at++)
            if ((old[at].key < key || !here) && remains(sim, &old[at])) {
                err = tac_grow(sim->ctx, &c->foreseen, &capacity, c->foreseen_count + 1, sizeof *c->foreseen);
                if (!err)
                    c->foreseen[c->foreseen_count++] = old[at];
            }
        if (here && !err)
            err = tac_grow(sim->ctx, &c->foreseen, &capacity, c->foreseen_count + 1, sizeof *c->foreseen);
        if (here && !err)
            c->foreseen[c->foreseen_count++] = found;
    }
done:
    free(old);
    return tac_agree(sim->ctx, err);
}

enum tac_err tac_implicit_drop_foreseen(struct tac_implicit *sim, bool *any)
{
    int count = sim->contact.foreseen_count > 0;
    if (sim->ctx->size > 1 && MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed in Newton's method");
    sim->contact.foreseen_count = 0;
    *any = count > 0;
    return TAC_OK;
}
