/* coarse.h: the coarse space of the solver, up to six rigid modes of each subdomain, and its part of the
 * preconditioner.
 *
 * Node i moves by t_i a + w x d_i under a rigid motion (a, w) of its subdomain, where d_i is its position less t_i
 * times the subdomain's centre.  The columns of Z are such motions, orthonormal within each subdomain: modes that a
 * single node, or nodes on a line, cannot have are left out.  E = Z^T A Z is dense and factored on every rank, Q = Z
 * E^-1 Z^T.  The preconditioner is z = y + Q (r - A y), where y is the result of the subdomains alone for r: A-DEF2 of
 * Tang et al. 2009. Z^T A y is computed as (A Z)^T y, whose columns have few blocks besides those of their own
 * subdomain.
 *
 *     TAC_TRY(tac_coarse_make(ctx, &local, &cut, &coarse));
 *     tac_coarse_add(&coarse, &local, r, y, z);      z = y + Q (r - A y)
 *     tac_coarse_free(&coarse);
 *
 * Every sum is of one subdomain's nodes, in their order, on one rank.
 */
#ifndef TACTUS_SOLVE_COARSE_H
#define TACTUS_SOLVE_COARSE_H

#include "solve/dense.h"
#include "solve/local.h"

enum { TAC_MODES = 6 };

struct tac_coarse {
    struct tac_ctx *ctx;                   /* borrowed */
    int subdomains, size;                  /* of all ranks; size: TAC_MODES times as many */
    int dropped;                           /* modes that depend on others */
    double *centre;                        /* owned, (subdomains, 3) */
    double (*basis)[TAC_MODES][TAC_MODES]; /* owned, (subdomains): columns are (a, w) of each mode */
    double *arm;                           /* owned, (local count, 4): d_i, and t_i */
    size_t *outside_from;                  /* owned, (local subdomains + 1) */
    tac_lid *outside;                      /* owned: neighbours of each subdomain's nodes, by ascending id */
    double *inner_rows, *outer_rows;       /* owned, (local owned, 18), (outside, 18): rows of A Z before `basis` */
    struct tac_dense matrix;
    int *count, *start;         /* owned, (ranks): of each rank in the message that all ranks share */
    int *slot;                  /* owned, (subdomains): where each is in it */
    double *mine, *all, *value; /* owned, (size) each: of this rank, as it came, in order */
};

/* Collective. */
enum tac_err tac_coarse_make(struct tac_ctx *ctx, const struct tac_local_system *local, const struct tac_cut *cut,
                             struct tac_coarse *out);
/* Collective. z = y + Q (r - A y); y (count, 4), whose ghosts are brought up to date, may be z; y NULL: z = Q r. */
void tac_coarse_add(struct tac_coarse *coarse, const struct tac_local_system *local, const double *r, double *y,
                    double *z);
void tac_coarse_free(struct tac_coarse *coarse);

/* ---- the parts ---- */

/* Local. basis and dropped modes from the sum of Z^T Z of a subdomain, and of the squares of its positions. */
int tac_coarse_basis(const double gram[TAC_MODES][TAC_MODES], double far2, double basis[TAC_MODES][TAC_MODES]);
/* Collective. `err`: of the work before. outside, rows of A Z, and the dense matrix. */
enum tac_err tac_coarse_rows(struct tac_ctx *ctx, const struct tac_local_system *local, struct tac_coarse *out);

#endif
