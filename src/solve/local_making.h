/* local_making.h: what is known while the rows of whole subdomains are put in order (local.c). */
#ifndef TACTUS_SOLVE_LOCAL_MAKING_H
#define TACTUS_SOLVE_LOCAL_MAKING_H

#include "solve/local.h"

/* A node on its way. */
struct tac_moving_node {
    tac_gid id;
    tac_gid name; /* of its subdomain */
    int64_t home; /* rank that it comes from */
    double place[4];
};

/* A block on its way; those of a row come by ascending column. */
struct tac_moving_block {
    tac_gid row, column;
    tac_gid name; /* the column's subdomain, and its rank */
    int64_t rank;
    double block[9];
};

/* Where an owned node of the new order comes from. */
struct tac_origin {
    tac_lid home;    /* local node of the caller, or -1: it came */
    size_t from, to; /* blocks that came */
    size_t came;     /* number of the node that came */
};

struct tac_making {
    const struct tac_system *system;
    tac_gid *name;       /* owned, (caller's nodes): subdomain; -1: fixed */
    const int32_t *rank; /* (caller's nodes): of the subdomain */
    struct tac_moving_node *came;
    struct tac_moving_block *block;
    size_t came_count, block_count;
    struct tac_origin *origin; /* owned, (owned of the new order) */
    tac_lid *new_node;         /* owned, (caller's nodes): in the new order; -1: not there */
    tac_lid *block_column;     /* owned, (block_count): in the new order */
};

/* Local. The parts of the matrix in *out, whose nodes and columns are known. */
enum tac_err tac_local_rows(struct tac_ctx *ctx, struct tac_making *m, struct tac_local_system *out);

#endif
