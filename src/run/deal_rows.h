/* deal_rows.h: rows of the graph that is cut, while they are collected.  Private to deal.c and deal_first.c. */
#ifndef TACTUS_RUN_DEAL_ROWS_H
#define TACTUS_RUN_DEAL_ROWS_H

#include <tactus/base.h>

/* One entry per edge, told by one end. */
struct tac_deal_link {
    tac_lid row;
    tac_gid neighbor;
    double weight;
};

struct tac_deal_rows {
    size_t count, capacity;
    struct tac_deal_link *link; /* owned */
    double *weight;             /* owned, (vertices) */
};

/* Local. */
enum tac_err tac_deal_link(struct tac_ctx *ctx, struct tac_deal_rows *rows, tac_lid row, tac_gid neighbor,
                           double weight);
void tac_deal_rows_free(struct tac_deal_rows *rows);

/* Collective. tac_cut() of these rows; id: (n) of the vertices, of `total`. */
enum tac_err tac_deal_cut(struct tac_ctx *ctx, tac_gid total, tac_lid n, const tac_gid *id, struct tac_deal_rows *rows,
                          const int32_t *present, int32_t *owner, double *balance);

#endif
