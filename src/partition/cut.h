/* cut.h: decides which rank shall own which vertex (docs/reference/ranks.md), by METIS on the graph of vertices. */
#ifndef TACTUS_PARTITION_CUT_H
#define TACTUS_PARTITION_CUT_H

#include <tactus/base.h>

/* One rank cuts a graph of at most this many vertices, or clusters of them: METIS takes up to two kilobytes for each
 * where a mesh has contacts, 64 megabytes in all. */
enum { TAC_CUT_MOST = 1 << 15 };

/* This rank's rows of the graph, in compressed form.  Every vertex of the graph is on exactly one rank. An edge may be
 * in the row of one of its ends or of both (then its weights add up); no vertex is its own neighbour. */
struct tac_graph {
    tac_gid total; /* vertices of the whole graph; ids are 0 .. total-1 */
    tac_lid count;
    const tac_gid *id;       /* (count) ascending */
    const double *weight;    /* (count) cost of the vertex, >= 0; any scale */
    const int64_t *row;      /* (count + 1) */
    const tac_gid *neighbor; /* (row[count]) */
    const double *edge;      /* (row[count]) cost of cutting the edge, >= 0; any scale */
};

/* Collective. Computes owner[i], the rank that shall own vertex id[i], of ctx->size ranks. With `present` (count; else
 * NULL) parts are numbered so that as much weight as possible stays on its rank. The result is deterministic: the same
 * graph, in any distribution, gives the same parts.  Where the graph is larger than `most` vertices (0: a default that
 * one rank can hold), ranks contract their rows first.  One rank, no vertices, fewer vertices than ranks, zero weights,
 * unconnected graphs are fine. *cut and *balance (may be NULL): the share of edge weight cut, and the largest part over
 * the mean. */
enum tac_err tac_partition_vertices(struct tac_ctx *ctx, const struct tac_graph *graph, const int32_t *present,
                                    tac_gid most, int32_t *owner, double *cut, double *balance);

#endif
