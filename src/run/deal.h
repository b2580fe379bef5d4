/* deal.h: who runs what: dealing a scene out to ranks, and dealing it again as it moves (docs/distribution.md). */
#ifndef TACTUS_RUN_DEAL_H
#define TACTUS_RUN_DEAL_H

#include "events/sim.h"

/* Collective. owner of every vertex of the pieces (with topology) of a scene, of which `common` is what all know. */
enum tac_err tac_deal_first(struct tac_ctx *ctx, const struct tac_scene *common, struct tac_pieces *pieces);

/* Collective. New owners for the vertices of running local scenes, by the ticks around them.  shuffle > 0 (tests):
 * weights at random by this seed, and no regard to where vertices are. */
enum tac_err tac_deal_again(struct tac_sim *sim, struct tac_pieces *pieces, uint64_t shuffle, double *balance);

/* Collective. Owners as the pieces have them, but the vertices of a cluster in deep contact go to the rank that its
 * lowest one has.  windows.h says which pairs are deep; those that share a vertex that can move are of one cluster.
 * Nothing is changed where deep pairs are very many. */
enum tac_err tac_deal_join(struct tac_sim *sim, struct tac_pieces *pieces);

/* Collective. The same simulation by other owners: *sim and *local are replaced.  *moved: vertices that went. */
enum tac_err tac_deal_move(struct tac_ctx *ctx, const struct tac_scene *common, struct tac_pieces *pieces,
                           struct tac_scene **local, struct tac_sim **sim, int64_t *moved);

#endif
