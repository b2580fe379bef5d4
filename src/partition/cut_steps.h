/* cut_steps.h: declares the steps of tac_partition_vertices(): contract, gather, cut on one rank, name the parts.
 *
 * Weights of nodes and edges are relative to the largest of the graph: 0 .. 1. */
#ifndef TACTUS_PARTITION_CUT_STEPS_H
#define TACTUS_PARTITION_CUT_STEPS_H

#include "partition/cut.h"

struct cut_node {
    tac_gid id; /* of a cluster: its lowest */
    double weight;
};

struct cut_edge {
    tac_gid a, b; /* ids of nodes */
    double weight;
};

/* Returns the weight between 0 and 1, for any scale. */
static inline double tac_cut_relative(double weight, double largest)
{
    if (!(weight > 0) || !(largest > 0))
        return 0;
    return weight < largest ? weight / largest : 1;
}

/* Collective. Does what tac_partition_vertices() does, into so many parts, by one graph on rank 0; present: only if
 * there are ctx->size parts. */
enum tac_err tac_cut_once(struct tac_ctx *ctx, const struct tac_graph *graph, const int32_t *present, tac_gid most,
                          int parts, int32_t *owner, double *cut, double *balance);
/* Collective. Does what tac_partition_vertices() does: for groups of about `ranks` ranks first; then the ranks of each
 * group cut its part. */
enum tac_err tac_cut_in_groups(struct tac_ctx *ctx, const struct tac_graph *graph, const int32_t *present, tac_gid most,
                               int ranks, int32_t *owner, double *cut, double *balance);
/* Collective, with the code of the work before. Gets out[k], the entry for vertex id[k] in `value` (graph->count; not
 * negative) of the rank that has its row, from a directory: the rank whose block contains an id stores its entry. */
enum tac_err tac_cut_ask(struct tac_ctx *ctx, enum tac_err err, const struct tac_graph *graph, const tac_gid *value,
                         size_t n, const tac_gid *id, tac_gid *out);

/* Local. Finds clusters of rows: cluster[i] is the first row of row i's cluster.  Joins neighbours along the heaviest
 * edges, in rounds, until no more than `target` (>= 1) clusters are left; edges to other ranks' vertices are ignored.
 * node[i]: rows' weights; no cluster is made heavier than `cap` unless the target cannot be met otherwise.
 */
enum tac_err tac_cut_contract(struct tac_ctx *ctx, const struct tac_graph *graph, const struct cut_node *node,
                              double edge_scale, tac_lid target, double cap, tac_lid *cluster);

/* Local. Joins edges between the same two nodes, drops those of a node with itself; a < b, ascending, afterwards. The
 * sums do not depend on the order in which the edges come. */
enum tac_err tac_cut_merge(struct tac_ctx *ctx, size_t *count, struct cut_edge *edge);

/* Local. Computes part[i], of `parts`, for node i; the same for the same nodes and edges in any order. The edges have
 * the form that tac_cut_merge() makes. *cut: weight of the cut edges; *balance: the heaviest part over the mean. */
enum tac_err tac_cut_serial(struct tac_ctx *ctx, size_t nodes, const struct cut_node *node, size_t edges,
                            const struct cut_edge *edge, int parts, int32_t *part, double *cut, double *balance);

/* Collective. Renames parts (0 .. ctx->size-1, in `owner`) so that much weight stays with `present`: as much as
 * possible up to 256 ranks, at least half of that beyond. */
enum tac_err tac_cut_label(struct tac_ctx *ctx, tac_lid count, const struct cut_node *node, const int32_t *present,
                           int32_t *owner);

#endif
