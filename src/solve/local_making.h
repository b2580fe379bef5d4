/* local_making.h: declares the data with which local.c sorts the rows of whole subdomains. */
#ifndef TACTUS_SOLVE_LOCAL_MAKING_H
#define TACTUS_SOLVE_LOCAL_MAKING_H

#include "solve/local.h"

/* A node in a message. */
struct tac_moving_node {
    tac_gid id;
    tac_gid name; /* of its subdomain */
    int64_t home; /* rank that it comes from */
    double place[4];
};

/* A block in a message; the blocks of a row come by ascending column. */
struct tac_moving_block {
    tac_gid row, column;
    tac_gid name; /* the column's subdomain, and its rank */
    int64_t rank;
    double block[9];
};

/* The origin of an owned node of the new order. */
struct tac_origin {
    tac_lid home;    /* local node of the caller, or -1: it was received */
    size_t from, to; /* received blocks */
    size_t came;     /* number of the received node */
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

/* Local. Makes the parts of the matrix in *out, whose nodes and columns are known. */
enum tac_err tac_local_rows(struct tac_ctx *ctx, struct tac_making *m, struct tac_local_system *out);

#endif
