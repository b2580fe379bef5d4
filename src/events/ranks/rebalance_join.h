/* rebalance_join.h: moves vertices that are in deep contact to one rank. Only the asynchronous integrator needs it. */
#ifndef TACTUS_EVENTS_RANKS_REBALANCE_JOIN_H
#define TACTUS_EVENTS_RANKS_REBALANCE_JOIN_H

#include "events/sim.h"

/* Collective. Changes the owners in the pieces: all vertices of a cluster in deep contact get the owner of the
 * cluster's lowest vertex. windows.h defines which pairs are deep; pairs with a common vertex that can move are in one
 * cluster. If there are very many deep pairs, nothing is changed. */
enum tac_err tac_rebalance_join(struct tac_sim *sim, struct tac_pieces *pieces);

#endif
