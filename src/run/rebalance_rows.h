/* rebalance_rows.h: rows of the graph that is cut, while they are collected.  Private to rebalance.c and distribute.c.
 */
#ifndef TACTUS_RUN_REBALANCE_ROWS_H
#define TACTUS_RUN_REBALANCE_ROWS_H

#include "partition/part.h"

/* One entry per edge, told by one end. */
struct tac_rebalance_link {
    tac_lid row;
    tac_gid neighbor;
    double weight;
};

struct tac_rebalance_rows {
    size_t count, capacity;
    struct tac_rebalance_link *link; /* owned */
    double *weight;                  /* owned, (vertices) */
    /* Of vertices that are dealt anew, owned, (vertices); else NULL. */
    double *contact; /* as `weight`, which has the other forces then */
    double *found;   /* by which the time that a rank finds contacts in is shared out */
};

/* Local. */
enum tac_err tac_rebalance_link(struct tac_ctx *ctx, struct tac_rebalance_rows *rows, tac_lid row, tac_gid neighbor,
                                double weight);
void tac_rebalance_rows_free(struct tac_rebalance_rows *rows);

/* Collective. Links of what lies over each other at x (of the pieces' vertices, 3), and of particles and bodies that
 * lie near each other, by the mean of the links so far. */
enum tac_err tac_rebalance_near(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *p,
                                const double *x, struct tac_rebalance_rows *rows);

/* Collective. tac_cut() of these rows; id: (n) of the vertices, of `total`. */
enum tac_err tac_rebalance_cut(struct tac_ctx *ctx, tac_gid total, tac_lid n, const tac_gid *id,
                               struct tac_rebalance_rows *rows, const int32_t *present, int32_t *owner,
                               double *balance);

#endif
