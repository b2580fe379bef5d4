/* interior.h: solves the quadratic problems of impact by a primal-dual interior-point method (Mehrotra 1992), for
 * problems with so many columns that conjugate gradients take thousands of iterations (docs/reference/impact.md,
 * Solver).
 *
 * Each iteration factors a matrix of the size of the bodies (fronts.h), and their number hardly grows with the problem.
 * The result is not free of the order of columns, but all ranks have the same order, so they get the same bits.
 *
 *     bool solved;
 *     TAC_TRY(tac_interior_solve(ctx, &work, &problem, 1e-5, &solved)); ... problem.y
 *     tac_interior_free(&work);
 */
#ifndef TACTUS_IMPACT_BOUNDED_INTERIOR_H
#define TACTUS_IMPACT_BOUNDED_INTERIOR_H

#include "impact/bounded/fronts.h"

/* A direction of all unknowns: impulses, and the multipliers of their bounds. */
struct tac_interior_step {
    double *y, *low, *high; /* owned, (columns) */
};

struct tac_interior {
    struct tac_fronts fronts;
    size_t capacity;
    int64_t factors; /* since the caller set it to 0 */

    /* owned, (columns) */
    uint8_t *bounds;        /* how many it has; 0: it is left as it is */
    double *low, *high;     /* distances from the bounds */
    double *z_low, *z_high; /* their multipliers */
    double *residual;       /* gradient - z_low + z_high */
    double *weight;         /* of each column in the matrix of bodies */
    double *c_low, *c_high; /* by how much the products of distances and multipliers are to change */
    double *right, *seen;   /* work */
    double *kept;           /* the impulses of the start */
    struct tac_interior_step step, more;
    double mean; /* of the products */
};

/* Local. Sets p->y, from where it starts if it is not 0; accuracy: of the largest b. solved: neither rounding errors,
 * nor too many iterations, nor a factor that would be too large (fronts.h) have stopped it; else p->y keeps the bounds,
 * and is what it was unless it has become better than 1e-3 of the largest b. */
enum tac_err tac_interior_solve(struct tac_ctx *ctx, struct tac_interior *in, struct tac_bounded *p, double accuracy,
                                bool *solved);
void tac_interior_free(struct tac_interior *in);

#endif
