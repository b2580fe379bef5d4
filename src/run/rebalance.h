/* rebalance.h: who runs what: a scene distributed to ranks, and distributed again as it moves
 * (docs/reference/ranks.md).
 */
#ifndef TACTUS_RUN_REBALANCE_H
#define TACTUS_RUN_REBALANCE_H

#include "partition/part.h"

struct tac_graph_rows;
struct tac_simulation;

/* Collective. owner of every vertex of the pieces (with topology) of a scene, of which `common` is what all know. */
enum tac_err tac_distribute_first(struct tac_ctx *ctx, const struct tac_scene *common, struct tac_pieces *pieces);

/* Collective. New owners for the vertices of running local scenes (pieces: of them), by the ticks around them.
 * shuffle > 0 (tests): weights at random by this seed, and no regard to where vertices are. */
enum tac_err tac_rebalance_again(struct tac_simulation *sim, struct tac_pieces *pieces, uint64_t shuffle,
                                 double *balance);

/* Collective. The same simulation by other owners.  *moved: vertices that went. */
enum tac_err tac_rebalance_move(struct tac_simulation *sim, struct tac_pieces *pieces, int64_t *moved);

/* Collective. Links of what lies over each other at x (of the pieces' vertices, 3), and of particles and bodies that
 * lie near each other, by the mean of the links so far. */
enum tac_err tac_rebalance_near(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *p,
                                const double *x, struct tac_graph_rows *rows);

#endif
