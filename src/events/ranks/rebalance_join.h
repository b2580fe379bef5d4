/* rebalance_join.h: what is in deep contact goes to one rank.  Of the asynchronous integrator alone. */
#ifndef TACTUS_EVENTS_RANKS_REBALANCE_JOIN_H
#define TACTUS_EVENTS_RANKS_REBALANCE_JOIN_H

#include "events/sim.h"

/* Collective. Owners as the pieces have them, but the vertices of a cluster in deep contact go to the rank that its
 * lowest one has.  windows.h says which pairs are deep; those that share a vertex that can move are of one cluster.
 * Nothing is changed where deep pairs are very many. */
enum tac_err tac_rebalance_join(struct tac_sim *sim, struct tac_pieces *pieces);

#endif
