/* nodes.h: the nodes that a rank knows, and the exchange of their values between neighbours.
 *
 * A rank owns some nodes (three unknowns each) and knows others of other ranks, its ghosts.  A halo has the lists of
 * who sends which values to whom; it is made once, collectively, from ids and owners, and has its messages' memory, so
 * that an exchange allocates nothing.
 *
 *     struct tac_nodes nodes = {.count = 5, .owned = 3, .id = id, .owner = owner};
 *     TAC_TRY(tac_nodes_halo_create(ctx, &nodes, &halo));
 *     tac_nodes_halo_refresh(halo, x, 3 * sizeof *x);      the ghosts' x become those of their owners
 *     tac_nodes_halo_destroy(&halo);
 */
#ifndef TACTUS_SOLVE_NODES_H
#define TACTUS_SOLVE_NODES_H

#include <tactus/base.h>

/* Of one rank; a view: the arrays are the caller's. */
struct tac_nodes {
    tac_lid count;        /* owned nodes, and behind them ghosts */
    tac_lid owned;        /* nodes 0 .. owned - 1 are ours */
    const tac_gid *id;    /* (count), distinct, not negative; every node of all ranks is owned by exactly one */
    const int32_t *owner; /* (count) rank; NULL on one rank alone */
};

struct tac_nodes_halo;

/* Collective. TAC_ERR_RUN on all ranks where memory is short on one, or where a ghost's owner does not own it. */
enum tac_err tac_nodes_halo_create(struct tac_ctx *ctx, const struct tac_nodes *nodes, struct tac_nodes_halo **out);
void tac_nodes_halo_destroy(struct tac_nodes_halo **halo);

/* Neighbours. value (count, bytes): the owners' values go to the ghosts.  `bytes` of a node: at most 144. */
void tac_nodes_halo_refresh(struct tac_nodes_halo *halo, void *value, size_t bytes);
/* Neighbours. The same in two halves, with work in between that needs no ghost. */
void tac_nodes_halo_begin(struct tac_nodes_halo *halo, const void *value, size_t bytes);
void tac_nodes_halo_end(struct tac_nodes_halo *halo, void *value);

#endif
