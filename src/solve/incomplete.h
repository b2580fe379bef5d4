/* incomplete.h: declares block incomplete Cholesky factors without fill, of each subdomain's part of the matrix.
 *
 * Approximately A = (1 + L) D (1 + L)^T, where L has the blocks of the lower half of A and no others, and D consists of
 * 3x3 blocks. L is kept in single precision, because reading it takes most of the time, and the product with a positive
 * D is symmetric and positive for any L. The arithmetic is in double precision.  Where a block of D is not positive,
 * the subdomain is factored again with its diagonal times 1 + shift, with a larger shift each time.
 *
 *     TAC_TRY(tac_incomplete_make(ctx, &local, &factor));
 *     tac_incomplete_apply(&factor, &local, r, z);
 *     tac_incomplete_free(&factor);
 *
 * Source: Meijerink and van der Vorst 1977; the shift: Manteuffel 1980.
 */
#ifndef TACTUS_SOLVE_INCOMPLETE_H
#define TACTUS_SOLVE_INCOMPLETE_H

#include "solve/local.h"

struct tac_incomplete {
    float *lower;    /* owned, as local->lower.block */
    double *inverse; /* owned, (owned, 9), and one more: D^-1 */
    double *half;    /* owned, (largest subdomain, 4): between the two solves */
    int shifted;     /* subdomains with a shift */
    tac_gid bad;     /* lowest id of a node whose diagonal block is not positive; -1: none */
};

/* Local. Computes the factors. If factor->bad is a node, they must not be used. */
enum tac_err tac_incomplete_make(struct tac_ctx *ctx, const struct tac_local_system *local, struct tac_incomplete *out);
/* Local. Computes z = M^-1 r, both (owned, 4). */
void tac_incomplete_apply(const struct tac_incomplete *factor, const struct tac_local_system *local, const double *r,
                          double *z);
void tac_incomplete_free(struct tac_incomplete *factor);

#endif
