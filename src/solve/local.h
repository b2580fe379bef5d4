/* local.h: declares the rows of whole subdomains, on the rank that works on them.
 *
 * The solver has a distribution of its own: each subdomain lies on one rank, with all its rows, and its nodes follow
 * each other by ascending id.  So all work within a subdomain is done on one rank, in one order, for every distribution
 * of the caller. A matrix is kept in three parts: the blocks of the diagonal; the blocks below it between nodes of one
 * subdomain (half of a symmetric matrix); and the blocks between subdomains, which both rows have.
 *
 *     TAC_TRY(tac_local_system_make(ctx, &system, fixed, &cut, &local));
 *     tac_local_multiply(&local, p, q);            q = A p
 *     tac_local_bring(&local, b, r);               from the caller's nodes
 *     tac_local_return(&local, r, x);              and back
 *     tac_local_system_free(&local);
 *
 * Vectors of the solver have four numbers for each node; the last one is 0.
 */
#ifndef TACTUS_SOLVE_LOCAL_H
#define TACTUS_SOLVE_LOCAL_H

#include "base/four.h"
#include "solve/subdomains.h"

/* A subdomain of this rank: nodes [begin, end). The subdomains of a rank are sorted by name. */
struct tac_subdomain {
    tac_lid begin, end;
    tac_gid name;
};

/* Blocks by rows. */
struct tac_rows {
    size_t *from;    /* owned, (rows + 1) */
    tac_lid *column; /* owned */
    double
        *block; /* owned, (blocks, 9) 3x3, column by column, and one number more, for code that reads four at the end */
};

struct tac_local_system {
    tac_lid owned, count; /* nodes; ghosts come last */
    tac_gid *id;          /* owned, (count) */
    int32_t *owner;       /* owned, (count) */
    tac_gid *name;        /* owned, (count) its subdomain */
    double *place;        /* owned, (count, 4): position, and the factor with which a translation moves the node */
    int subdomains;
    struct tac_subdomain *subdomain; /* owned, (subdomains) */
    double *diagonal;                /* owned, (owned, 9), and one more; symmetric */
    struct tac_rows lower;           /* of each owned node */
    tac_lid outer_count;
    tac_lid *outer_node;         /* owned, (outer_count): nodes with blocks of other subdomains */
    struct tac_rows outer;       /* of each of them, by ascending id of the column */
    struct tac_nodes_halo *halo; /* owned */

    /* To and from the caller's nodes. */
    tac_lid home_count, came, gone;
    struct tac_nodes_halo *bring, *give_back; /* owned */
    double *bring_value;                      /* owned, (home_count + came, 3) */
    tac_lid *from;                            /* owned, (owned): place of each node in bring_value */
    double *back_value;                       /* owned, (owned + gone, 3) */
    tac_lid *gone_node;                       /* owned, (gone): the caller's nodes that other ranks work on */
    int64_t nonzero;                          /* blocks of the own rows */
    int64_t *products;                        /* borrowed, of struct tac_system; or NULL */
};

/* Local. Counts work, in products of a 3x3 block and a vector. */
static inline void tac_local_count(const struct tac_local_system *local, size_t products)
{
    if (local->products)
        *local->products += (int64_t)products;
}

/* Collective. Makes the rows. fixed: of all local nodes, also ghosts. */
enum tac_err tac_local_system_make(struct tac_ctx *ctx, const struct tac_system *system, const uint8_t *fixed,
                                   const struct tac_cut *cut, struct tac_local_system *out);
void tac_local_system_free(struct tac_local_system *local);

/* Neighbours. Computes y = A x; x (count, 4), whose ghosts are updated; y (owned, 4). */
void tac_local_multiply(const struct tac_local_system *local, double *x, double *y);
/* Neighbours. Copy b (home_count, 3) to r (owned, 4); and r (owned, 4) to x, which is written where a node is not
 * fixed. */
void tac_local_bring(struct tac_local_system *local, const double *b, double *r);
void tac_local_return(struct tac_local_system *local, const double *r, double *x);

/* ---- the kernels of blocks ---- */

/* Returns one number four times. It is read from memory, because a load can repeat it, and a shuffle would be one more
 * operation. */
TAC_FOUR_INLINE tac_four tac_all(const double *at)
{
    return (tac_four){*at, *at, *at, *at};
}

/* Returns numbers 0 to 2, and 0. */
TAC_FOUR_INLINE tac_four tac_three(tac_four v)
{
    const tac_four zero = {0, 0, 0, 0};
    return __builtin_shufflevector(v, zero, 0, 1, 2, 7);
}

/* Returns a block times x; the last number is meaningless. */
TAC_FOUR_INLINE tac_four tac_block_times(const double *block, tac_four x)
{
    return tac_four_load(block) * __builtin_shufflevector(x, x, 0, 0, 0, 0) +
           tac_four_load(block + 3) * __builtin_shufflevector(x, x, 1, 1, 1, 1) +
           tac_four_load(block + 6) * __builtin_shufflevector(x, x, 2, 2, 2, 2);
}

/* Returns the transpose of a block times x. The last number of x is 0, and so is that of the result. */
TAC_FOUR_INLINE tac_four tac_columns_times(tac_four c0, tac_four c1, tac_four c2, tac_four x)
{
    const tac_four zero = {0, 0, 0, 0};
    tac_four sum[3];
    tac_four_columns(sum, c0 * x, c1 * x, c2 * x, zero);
    return sum[0] + sum[1] + sum[2];
}

#endif
