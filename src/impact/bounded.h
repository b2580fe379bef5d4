/* bounded.h: solves the quadratic problems of impact, with bounds (docs/reference/impact.md, Solver):
 *
 *     y = argmin over lower <= y <= upper of 1/2 |F y|^2 - b.y
 *
 * A column of F acts on up to four bodies, with three numbers on each. The method is MPRGP (Dostal and Schoeberl 2005):
 * conjugate gradients among the numbers that are between their bounds, with steps that let numbers reach a bound or
 * leave it. All sums are free of order (base/evenly.h), so the result depends neither on the order of columns and
 * bodies nor on mirroring.
 *
 *     struct tac_bounded p = {0};
 *     TAC_TRY(tac_bounded_begin(ctx, &p, columns, bodies));       then fill column, b, lower, upper, y
 *     if (tac_bounded_solve(&p)) ... p.y, p.w
 *     tac_bounded_free(&p);
 */
#ifndef TACTUS_IMPACT_BOUNDED_H
#define TACTUS_IMPACT_BOUNDED_H

#include <tactus/base.h>

enum { TAC_COLUMN_BODIES = 4 };

struct tac_column {
    int32_t body[TAC_COLUMN_BODIES]; /* different ones; -1: none */
    double g[TAC_COLUMN_BODIES][3];
};

struct tac_bounded {
    size_t columns, bodies, column_capacity, body_capacity;
    struct tac_column *column;     /* owned, (columns) */
    double *b, *lower, *upper, *y; /* owned, (columns): upper may be INFINITY; y: start and result */
    double *w;                     /* owned, (bodies, 3): F y of the result */
    double enough;                 /* likewise, after `patience` iterations */
    int64_t patience;
    double tolerance;   /* of the projected gradient, largest component */
    int64_t iterations; /* of all solves so far */

    /* work: owned, (columns), but for those of bodies */
    double *gradient, *direction, *product, *free, *chopped, *reduced;
    double *term;          /* (2 columns): at a body, where no column acts twice */
    size_t *start;         /* (bodies + 1) */
    uint32_t *entry;       /* (4 columns): 4 column + place, body by body */
    double step;           /* of an expansion */
    double square_of_move; /* |F direction|^2 */
};

/* Local. Makes room. */
enum tac_err tac_bounded_begin(struct tac_ctx *ctx, struct tac_bounded *p, size_t columns, size_t bodies);
void tac_bounded_free(struct tac_bounded *p);
/* Local. Returns false if the method does not come to an end. */
bool tac_bounded_solve(struct tac_bounded *p);
/* Local. After a solve: sets w to F y of another y. */
void tac_bounded_apply(struct tac_bounded *p);
/* Local. Sets w to F y without a solve. */
void tac_bounded_give(struct tac_bounded *p);

#endif
