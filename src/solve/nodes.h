/* nodes.h: declares the nodes that a rank holds, and the exchange of their values between neighbours. A rank owns some
 * nodes (three unknowns each) and holds others of other ranks, its ghosts. A halo has the lists of values to send and
 * to receive. It is made once, collectively, from ids and owners, and has the memory of its messages, so that an
 * exchange allocates nothing.
 *
 *     struct tac_nodes nodes = {.count = 5, .owned = 3, .id = id, .owner = owner};
 *     TAC_TRY(tac_nodes_halo_create(ctx, &nodes, &halo));
 *     tac_nodes_halo_refresh(halo, x, 3 * sizeof *x);      the ghosts' x become those of their owners
 *     tac_nodes_halo_destroy(&halo);
 */
#ifndef TACTUS_SOLVE_NODES_H
#define TACTUS_SOLVE_NODES_H

#include <tactus/base.h>

/* The nodes of one rank; a view: the arrays belong to the caller. */
struct tac_nodes {
    tac_lid count;        /* owned nodes, then ghosts */
    tac_lid owned;        /* nodes 0 .. owned - 1 are ours */
    const tac_gid *id;    /* (count), distinct, not negative; every node of all ranks is owned by exactly one */
    const int32_t *owner; /* (count) rank; NULL on one rank alone */
};

struct tac_nodes_halo;

/* Collective. Makes a halo. TAC_ERR_RUN on all ranks if one lacks memory, or if the owner of a ghost does not own
 * it. */
enum tac_err tac_nodes_halo_create(struct tac_ctx *ctx, const struct tac_nodes *nodes, struct tac_nodes_halo **out);
/* Collective. Does the same after local work whose error code is `err`: the ranks agree on it first. */
enum tac_err tac_nodes_halo_create_after(struct tac_ctx *ctx, enum tac_err err, const struct tac_nodes *nodes,
                                         struct tac_nodes_halo **out);
void tac_nodes_halo_destroy(struct tac_nodes_halo **halo);

/* Neighbours. Copies the owners' values to the ghosts, value (count, bytes). `bytes` of a node: at most 144. */
void tac_nodes_halo_refresh(struct tac_nodes_halo *halo, void *value, size_t bytes);
/* Neighbours. Do the same in two halves; work that needs no ghost can be done in between. */
void tac_nodes_halo_begin(struct tac_nodes_halo *halo, const void *value, size_t bytes);
void tac_nodes_halo_end(struct tac_nodes_halo *halo, void *value);

#endif
