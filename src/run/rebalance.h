/* rebalance.h: distributes a scene over the ranks, and again while it moves (docs/reference/ranks.md).
 */
#ifndef TACTUS_RUN_REBALANCE_H
#define TACTUS_RUN_REBALANCE_H

#include "partition/part.h"

struct tac_graph_rows;
struct tac_simulation;

/* Collective. Fills the owner of every vertex of the pieces (with topology). common: the part of the scene that all
 * ranks know. */
enum tac_err tac_distribute_first(struct tac_ctx *ctx, const struct tac_scene *common, struct tac_pieces *pieces);

/* Collective. Chooses new owners for the vertices of a running simulation (pieces: of its local scenes), weighted by
 * the ticks of the elements and contacts around each vertex. shuffle > 0 (tests): weights are random, with this seed,
 * and the present owners do not count. *balance: largest load of a rank over the mean. */
enum tac_err tac_rebalance_again(struct tac_simulation *sim, struct tac_pieces *pieces, uint64_t shuffle,
                                 double *balance);

/* Collective. Gives all vertices of a rigid body to the owner of its first one. */
enum tac_err tac_rebalance_whole(struct tac_ctx *ctx, const struct tac_scene *common, struct tac_pieces *pieces);

/* Collective. Moves the state to the owners in `pieces`. *moved: how many vertices changed their rank. */
enum tac_err tac_rebalance_move(struct tac_simulation *sim, struct tac_pieces *pieces, int64_t *moved);

/* Collective. Adds links between vertices that lie over each other at x (of the pieces' vertices, 3), and between
 * particles and bodies that lie near each other. Their weights are multiples of the mean of the links so far. */
enum tac_err tac_rebalance_near(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *p,
                                const double *x, struct tac_graph_rows *rows);

#endif
