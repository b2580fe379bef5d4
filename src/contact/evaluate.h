/* evaluate.h: computes what an active pair does at an instant from the positions of its vertices alone: distance,
 * normal and weights, and the force of its layers. Nothing is moved here; the caller gives the impulses to the
 * vertices.
 *
 * For penalty layers see ACM 2009, section 4, and docs/explanation/method.md, Penalty layers.
 */
#ifndef TACTUS_CONTACT_EVALUATE_H
#define TACTUS_CONTACT_EVALUATE_H

#include "contact/flat.h"
#include "contact/pairs/active.h"

/* Is the pair certainly silent, in the arithmetic of its tick?  The two primitives' extents along the last normal
 * bound their distance from below, for a quarter of the price of the distance.  x (count, 3): positions, m.  The pair
 * is silent at a distance over `clear`. *bound: the lower bound of the distance. */
static inline bool tac_pair_beyond(const struct tac_pair *p, const double x[4][3], double clear, double *bound)
{
    const double n[3] = {p->normal[0], p->normal[1], p->normal[2]};
    const int first = tac_pair_first((enum tac_pair_type)p->type);
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < p->count; k++) {
        /* From vertex 0, so that coordinates far from the origin cost no accuracy. */
        double along = n[0] * (x[k][0] - x[0][0]) + n[1] * (x[k][1] - x[0][1]) + n[2] * (x[k][2] - x[0][2]);
        if (k < first)
            least = along < least ? along : least;
        else
            most = along > most ? along : most;
    }
    *bound = least - most;
    return *bound > clear &&
           *bound < INFINITY; /* infinity comes from coordinates that are not numbers, in a pass that diverged */
}

/* Stores the part of an evaluation that the pair keeps: the normal in single precision, shortened by more than its
 * rounding, so that no extent is overestimated along it. */
static inline void tac_pair_evaluated(struct tac_pair *p, const struct tac_pair_geometry *g, double guard)
{
    for (int k = 0; k < 3; k++)
        p->normal[k] = (float)((1 - 0x1p-22) * g->near.n[k]);
    p->guard = (float)guard;
}

/* Computes the distance, normal, weights and mollifier of the pair from x (count, 3), m. */
static inline void tac_pair_evaluate(struct tac_pair *p, const double x[4][3], struct tac_pair_geometry *g)
{
    double gradient[4][3];
    tac_near_pair((enum tac_pair_type)p->type, x, &g->near);
    g->mollifier = 1;
    if (p->type == TAC_PAIR_EDGE_EDGE)
        tac_mollifier(x, &g->mollifier, gradient);
    /* The rounding of the distance and of the bound is about 2^-50 of the longest distance between vertices; 2^-44
     * leaves room for growth. */
    double size = 0;
    for (int k = 1; k < p->count; k++)
        for (int c = 0; c < 3; c++)
            size += fabs(x[k][c] - x[0][c]);
    tac_pair_evaluated(p, g, 0x1p-44 * size);
    if (p->flat && tac_flat_beyond(p->flat, x, &g->near))
        g->mollifier = 0;
    (void)gradient;
}

/* Adds up the layers first..last at distance d [m]; eta1: thickness of the first layer, m. Both results are divided by
 * the stiffness: *f = -sum rate gap, the force [m]; *g2 = sum rate gap^2, twice the energy [m^2]. Returns the deepest
 * layer that acts, or first - 1 if none acts. */
static inline int32_t tac_layers_force(const struct tac_model *model, double eta1, double d, int32_t first,
                                       int32_t last, double *f, double *g2)
{
    int32_t l = first;
    *f = *g2 = 0;
    for (; l <= last; l++) {
        const double g = d - eta1 * model->reach[l];
        if (g >= 0)
            break;
        const double rg = model->rate[l] * g;
        *f -= rg;
        *g2 += rg * g;
    }
    return l - 1;
}

#endif
