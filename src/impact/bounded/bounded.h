/* bounded.h: solves the quadratic problems of impact, with bounds (docs/reference/impact.md, Solver):
 *
 *     y = argmin over lower <= y <= upper of 1/2 |F y|^2 - b.y
 *
 * A column of F acts on up to four bodies, with three numbers on each. The method is MPRGP (Dostal and Schoeberl 2005):
 * conjugate gradients among the numbers that are between their bounds, with steps that let numbers reach a bound or
 * leave it. All sums are free of order (base/evenly.h), so the result depends neither on the order of columns and
 * bodies nor on mirroring, nor on the number of ranks that solve a problem together (together.c).
 *
 *     struct tac_bounded p = {0};
 *     TAC_TRY(tac_bounded_begin(ctx, &p, columns, bodies));       then fill column, b, lower, upper, y
 *     if (tac_bounded_solve(&p)) ... p.y, p.w
 *     tac_bounded_free(&p);
 */
#ifndef TACTUS_IMPACT_BOUNDED_H
#define TACTUS_IMPACT_BOUNDED_H

#include "solve/nodes.h"

enum { TAC_COLUMN_BODIES = 4 };

struct tac_column {
    int32_t body[TAC_COLUMN_BODIES]; /* different ones; -1: none; one of the first two is there */
    double g[TAC_COLUMN_BODIES][4];  /* the fourth number is 0 */
};

/* The part of a problem that one rank has. It holds the columns at its bodies. */
struct tac_bounded_team {
    struct tac_ctx *ctx;         /* borrowed */
    struct tac_nodes_halo *halo; /* of the bodies */
    size_t own, mine;            /* the first bodies and the first columns, which no other rank has as its own */
    size_t columns;              /* of all ranks */
    enum tac_err err;            /* MPI failed */
};

struct tac_bounded {
    size_t columns, bodies, column_capacity, body_capacity;
    struct tac_column *column;     /* owned, (columns) */
    double *b, *lower, *upper, *y; /* owned, (columns): upper may be INFINITY; y: start and result */
    double *w;                     /* owned, (bodies, 4): F y of the result; the fourth number is 0 */
    double tolerance;              /* of the projected gradient, largest component */
    double enough;                 /* likewise, after `patience` iterations */
    int64_t patience;
    int64_t most;       /* after so many iterations it ends, and leaves the rest to another method; 0: never */
    bool left;          /* the last one has done so */
    int64_t iterations; /* of all solves so far */
    bool coarse;        /* gradients need no more accuracy than directions */
    bool rough;         /* the last one ended at `enough` */
    double step;        /* of an expansion */
    struct tac_bounded_team *team; /* borrowed; NULL: one rank has the whole problem, and finds step and deep */
    bool deep;                     /* a column acts on more than its first two bodies */

    /* work: owned, (columns), but for those of bodies; numbers of columns are followed by zeros up to a multiple of
     * four */
    double *gradient, *direction, *product, *free, *chopped, *reduced;
    uint32_t *place;       /* (4 columns): bodies; none: `bodies`, where w is 0 */
    size_t *start;         /* (bodies + 1): of the entries of each */
    uint32_t *entry;       /* (4 columns): column, body by body */
    double *pack;          /* (4 columns, 4): g of each entry */
    double *term;          /* (columns): at a body, where no column acts twice */
    double square_of_move; /* |F direction|^2 */
    double longest;        /* step along the direction that keeps the bounds */
    double square_of_chopped, reduced_free;
};

/* Local. Makes room. */
enum tac_err tac_bounded_begin(struct tac_ctx *ctx, struct tac_bounded *p, size_t columns, size_t bodies);
void tac_bounded_free(struct tac_bounded *p);
/* Local; collective in a team. Returns false if the method does not come to an end. */
bool tac_bounded_solve(struct tac_bounded *p);
/* Local. After a solve: sets w to F y of another y. */
void tac_bounded_apply(struct tac_bounded *p);
/* Local. Sets w to F y without a solve. */
void tac_bounded_give(struct tac_bounded *p);
/* Local. Returns the step of expansions, of a whole problem. */
double tac_bounded_step(struct tac_bounded *p);

/* Collective. Solves a problem that all ranks have, each a part of it, with the same bits as on one rank. All ranks get
 * the result. share: keeps memory for the next time. It has more than two columns. */
enum tac_err tac_bounded_solve_together(struct tac_ctx *ctx, struct tac_bounded *p, struct tac_bounded *share,
                                        bool *solved);

/* ---- bounded_loops.c: loops over columns and bodies. Local ---- */

/* Lists the columns of each body, and fills up with zeros. */
void tac_bounded_list(struct tac_bounded *p);
/* w = F y, of own bodies; coarsely: terms are rounded to about 2^-47 of the largest at the body, which is enough for
 * directions of steps, and takes half the time. */
void tac_bounded_go(struct tac_bounded *p, const double *y);
void tac_bounded_go_coarsely(struct tac_bounded *p, const double *y);
/* out = F^T w */
void tac_bounded_look(const struct tac_bounded *p, double *out);
/* Splits the gradient into its free part, and the part that leads away from bounds. Returns the largest component of
 * their sum. reduced: the free part, as far as an expansion could follow it. */
double tac_bounded_split(struct tac_bounded *p);
/* y -= length direction, to the bounds. */
void tac_bounded_move(struct tac_bounded *p, double length, const double *direction);
/* y -= length direction, and the gradient follows. */
void tac_bounded_follow(struct tac_bounded *p, double length);
/* direction = free - turn direction */
void tac_bounded_turn(struct tac_bounded *p, double turn);
/* The largest length of a step along -direction that keeps the bounds. leaving: numbers at a bound do not count. */
double tac_bounded_longest(const struct tac_bounded *p, bool leaving);

#endif
