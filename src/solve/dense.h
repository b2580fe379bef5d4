/* dense.h: declares the Cholesky factor of a small dense matrix that every rank has, with the same bits on all of them.
 * Where a pivot is not positive, or tiny against the original diagonal, its unknown is left out: it stays 0.
 *
 *     TAC_TRY(tac_dense_make(ctx, n, &dense));
 *     tac_dense_row(&dense, i)[j] = ...;           j <= i
 *     TAC_TRY(tac_dense_factor(ctx, &dense));
 *     tac_dense_solve(&dense, w);                  in place
 *     tac_dense_free(&dense);
 *
 * The factor is kept in single precision. An error of L changes a soft mode of L L^T only by its square, so the product
 * stays accurate enough for an ill-conditioned matrix.
 */
#ifndef TACTUS_SOLVE_DENSE_H
#define TACTUS_SOLVE_DENSE_H

#include <tactus/base.h>

struct tac_dense {
    int size, stride;
    double *matrix;  /* owned until the factor is made, (stride, stride): the lower half */
    float *factor;   /* owned: rows of L below the diagonal, one after the other, each padded to 8 */
    size_t *from;    /* owned, (size): where they begin */
    double *inverse; /* owned, (stride): 1 over L's diagonal; 0: left out */
    double *work;    /* owned, (stride) */
    int left_out;
};

enum tac_err tac_dense_make(struct tac_ctx *ctx, int size, struct tac_dense *out);
static inline double *tac_dense_row(struct tac_dense *dense, int i)
{
    return dense->matrix + (size_t)i * (size_t)dense->stride;
}
enum tac_err tac_dense_factor(struct tac_ctx *ctx, struct tac_dense *dense);
void tac_dense_solve(struct tac_dense *dense, double *w);
void tac_dense_free(struct tac_dense *dense);

#endif
