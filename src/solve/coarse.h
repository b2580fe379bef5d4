/* coarse.h: declares the coarse space of the solver, up to six rigid modes of each subdomain, and its part of the
 * preconditioner.
 *
 * Node i moves by t_i a + w x d_i under a rigid motion (a, w) of its subdomain, where d_i is its position less t_i
 * times the subdomain's centre.  The columns of Z are such motions, orthonormal within each subdomain: modes that a
 * single node, or nodes on a line, cannot have are left out.  E = Z^T A Z has blocks of 6x6, one row of them for each
 * subdomain. Either it is dense and factored on every rank, or it is the matrix of a next level (solve/levels.h). The
 * nodes of that level have the six motions of a subdomain, so their rows of Z are 3x6 matrices. With Q = Z E^-1 Z^T,
 * where E^-1 is exact or an approximation by the next level, a coarse step is z = y + Q (r - A y).  Z^T A y is computed
 * as (A Z)^T y, whose columns have few blocks besides those of their own subdomain.
 *
 *     TAC_TRY(tac_coarse_make(ctx, &local, &plan, &coarse));
 *     tac_coarse_add(&coarse, &local, r, y, z);      z = y + Q (r - A y)
 *     tac_coarse_free(&coarse);
 *
 * Every sum is over the nodes of one subdomain, in their order, on one rank.
 */
#ifndef TACTUS_SOLVE_COARSE_H
#define TACTUS_SOLVE_COARSE_H

#include "solve/dense.h"
#include "solve/local.h"

enum { TAC_MODES = 6 };

struct tac_level;

/* Decides when there are levels, and how large their subdomains are. */
struct tac_level_rule {
    int64_t flat;  /* up to so many nodes E is dense */
    int64_t most;  /* nodes of a subdomain, where there are levels */
    int64_t pairs; /* the same on coarse levels */
    int64_t dense; /* E of at most so many rows is dense */
    int64_t alone; /* of the cut of coarse levels (struct tac_cut_rule) */
};

struct tac_coarse_plan {
    const struct tac_level_rule *rule;
    bool dense;         /* E is dense, however large it is */
    bool whole;         /* every rank solves a next level as a whole, by itself */
    const double *turn; /* (owned, 18) on coarse levels: 3 rows of 6: a node's values for a motion (a, w) about its own
                           centre; NULL: nodes are points */
};

/* A subdomain as a node of the next level. */
struct tac_coarse_node {
    tac_gid name;
    int64_t rank;
    double place[4];                   /* centre, and the root of the number of its points */
    double turn[TAC_MODES][TAC_MODES]; /* from motions (a, w) about the centre to its orthonormal modes */
};

/* A block of E, row >= column. */
struct tac_coarse_block {
    tac_gid row, column;
    int64_t row_rank, column_rank;
    double value[TAC_MODES][TAC_MODES];
};

struct tac_coarse {
    struct tac_ctx *ctx; /* borrowed */
    int64_t subdomains;  /* of all ranks */
    int64_t dropped;     /* modes of this rank that depend on others, or whose stiffness is below rounding errors */
    struct tac_coarse_node *node;          /* owned, (local subdomains), until the next level is made */
    double (*basis)[TAC_MODES][TAC_MODES]; /* owned, (local subdomains): columns are (a, w) of each mode */
    double *arm;                           /* owned, (local count, 4): d_i, and t_i; or NULL: */
    double *motion;                        /* owned, (local count, 18): rows of Z before `basis` */
    size_t *outside_from;                  /* owned, (local subdomains + 1) */
    tac_lid *outside;                      /* owned: neighbours of each subdomain's nodes, by ascending id */
    double *inner_rows, *outer_rows;       /* owned, (local owned, 18), (outside, 18): rows of A Z before `basis` */
    double *mine, *back;                   /* owned, (local subdomains, 6) */
    struct tac_dense matrix;               /* where E is dense */
    struct tac_level *next;                /* owned; NULL: E is dense */
    /* Where every rank has all of E: */
    int *count, *start;  /* owned, (ranks): numbers of each rank in the message that all ranks share; or NULL */
    int *slot;           /* owned, (subdomains): place of each in the message */
    double *all, *value; /* owned, (subdomains, 6) each: as received; by ascending name */
    int *index;          /* owned, (local subdomains): places in `value` */
};

/* Collective. */
enum tac_err tac_coarse_make(struct tac_ctx *ctx, const struct tac_local_system *local,
                             const struct tac_coarse_plan *plan, struct tac_coarse *out);
/* Collective. z = y + Q (r - A y); y (count, 4), whose ghosts are brought up to date, may be z; y NULL: z = Q r. */
void tac_coarse_add(struct tac_coarse *coarse, const struct tac_local_system *local, const double *r, double *y,
                    double *z);
void tac_coarse_free(struct tac_coarse *coarse);
/* Returns the number of rows of the dense matrix of this or the last level. */
int tac_coarse_size(const struct tac_coarse *coarse);

/* ---- the parts ---- */

/* Local. Computes the basis of a subdomain's modes and its inverse, from the sum of Z^T Z and that of the squares of
 * its positions. Returns the number of dropped modes. */
int tac_coarse_basis(const double gram[TAC_MODES][TAC_MODES], double far2, double basis[TAC_MODES][TAC_MODES],
                     double turn[TAC_MODES][TAC_MODES]);
/* Collective. `err`: the caller's error code so far. Computes outside and the rows of A Z, and the blocks of E, in
 * *block (owned by the caller), each on the rank that made it. weak: modes whose stiffness is below rounding errors are
 * left out. */
enum tac_err tac_coarse_rows(struct tac_ctx *ctx, const struct tac_local_system *local, bool weak,
                             struct tac_coarse *out, struct tac_coarse_block **block, size_t *count);

#endif
