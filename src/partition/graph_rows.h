/* graph_rows.h: collects the rows of the graph that is cut: the cost of each vertex, and the edges between vertices,
 * each from one of its ends. */
#ifndef TACTUS_PARTITION_GRAPH_ROWS_H
#define TACTUS_PARTITION_GRAPH_ROWS_H

#include "partition/part.h"

/* One entry per edge, from one of its ends. */
struct tac_graph_link {
    tac_lid row;
    tac_gid neighbor;
    double weight;
};

struct tac_graph_rows {
    size_t count, capacity;
    struct tac_graph_link *link; /* owned */
    double *weight;              /* owned, (vertices) */
    /* When vertices are distributed again: owned, (vertices); else NULL. */
    double *contact; /* as `weight`, which has the other forces then */
    double *found;   /* how the time in which a rank finds contacts is shared among its vertices */
};

/* Local. */
enum tac_err tac_graph_link(struct tac_ctx *ctx, struct tac_graph_rows *rows, tac_lid row, tac_gid neighbor,
                            double weight);
void tac_graph_rows_free(struct tac_graph_rows *rows);

/* Collective. Calls tac_partition_vertices() for these rows; id: (n) of the vertices, of `total`. */
enum tac_err tac_graph_cut_rows(struct tac_ctx *ctx, tac_gid total, tac_lid n, const tac_gid *id,
                                struct tac_graph_rows *rows, const int32_t *present, int32_t *owner, double *balance);

#endif
