/* fronts.h: solves (1 + F D F^T) x = r, where F has the columns of a problem and D is diagonal, by a sparse Cholesky
 * factor: the matrix is as large as the bodies, not as the columns (docs/reference/impact.md, Solver).
 *
 * The method is multifrontal (Duff and Reid 1983) on a nested dissection: each part of it has a dense matrix, its
 * front, of its own bodies and of those behind them that touch it. The front gets the columns that meet its bodies
 * first, and what the fronts before it have left; its own bodies are eliminated, and the rest is left to the next one.
 * The order of all operations follows from the problem, so the result is the same on every rank and machine.
 *
 *     TAC_TRY(tac_fronts_plan(ctx, &f, &problem));                      the problem's columns have been listed
 *     if (tac_fronts_factor(&f, &problem, weight)) tac_fronts_solve(&f, x);
 *     tac_fronts_free(&f);
 */
#ifndef TACTUS_IMPACT_BOUNDED_FRONTS_H
#define TACTUS_IMPACT_BOUNDED_FRONTS_H

#include "impact/bounded/dissect.h"

struct tac_front {
    size_t own, rest;    /* bodies */
    size_t list;         /* in `rest` of the plan */
    size_t panel;        /* in `panel`: columns of the factor */
    size_t column;       /* in `column` */
    int32_t child, next; /* the last front that leaves something to this one; the one before it that has the same
                           parent; -1: none */
};

struct tac_fronts {
    struct tac_dissection cut;
    bool too_large; /* the factor would have more than 2^27 numbers (1 GiB), which no problem in a plane of a million
                       bodies needs; there is none */
    size_t bodies;
    size_t dim, axis[3]; /* the axes along which some column acts */
    struct tac_front *front;
    int32_t *rest;    /* owned: places of bodies, front by front, in increasing order */
    uint32_t *column; /* owned: columns, front by front */
    int32_t *part_of; /* owned, (bodies): the part at each place */
    int32_t *row;     /* owned, (bodies): by places: number in the present front */
    double *panel;    /* owned: the factor, front by front, columns of padded length */
    double *inverse;  /* owned, (dim bodies): 1 over its diagonal */
    double *stack;    /* owned: what fronts have left, until it is taken */
    double *square;   /* owned: what the present one leaves */
    double *space;    /* owned: one column of a front */
    size_t front_capacity, rest_capacity, column_capacity, body_capacity, place_capacity, panel_capacity,
        inverse_capacity, stack_capacity, square_capacity, space_capacity;
};

/* Local. Plans the factor, and sets f->too_large. It follows from the problem alone, so that all ranks do the same. */
enum tac_err tac_fronts_plan(struct tac_ctx *ctx, struct tac_fronts *f, const struct tac_bounded *p);
/* Local. Makes the factor; weight: D, (columns), not negative. Returns false if rounding has made it no factor. */
bool tac_fronts_factor(struct tac_fronts *f, const struct tac_bounded *p, const double *weight);
/* Local. Solves in place. x: (bodies, 4). */
void tac_fronts_solve(const struct tac_fronts *f, double *x);
void tac_fronts_free(struct tac_fronts *f);

#endif
