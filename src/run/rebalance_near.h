/* rebalance_near.h: edges of the graph that is cut, before they are sent to the ranks that have their rows.  Private to
 * distribute.c and distribute_near.c. */
#ifndef TACTUS_RUN_REBALANCE_NEAR_H
#define TACTUS_RUN_REBALANCE_NEAR_H

#include "partition/corners.h"

struct tac_edge_report {
    tac_gid row, neighbor;
    double weight;
};

struct tac_edge_reports {
    size_t count, report_capacity, to_capacity;
    struct tac_edge_report *report; /* owned */
    int32_t *to;                    /* owned */
};

/* Local. Adds an edge that will be sent to rank `to`, which has its row. */
enum tac_err tac_report_edge(struct tac_ctx *ctx, struct tac_edge_reports *t, int32_t to, tac_gid row, tac_gid neighbor,
                             double weight);

/* Collective; the result is this rank's own. Adds edges between vertices of different bodies that lie over each other.
 * corners: of the pieces; x (of their vertices, 3): positions, m; weight: of an edge of an element. */
enum tac_err tac_distribute_near(struct tac_ctx *ctx, const struct tac_settings *settings, const struct tac_pieces *p,
                                 const struct tac_corners *corners, const double *x, double weight,
                                 struct tac_edge_reports *t);

#endif
