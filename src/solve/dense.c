/* dense.c: computes the Cholesky factor of a dense matrix by panels, and solves with it. */
#include "solve/dense.h"
#include "base/four.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = 32, PAD = 8 };
static const double LEAST_PIVOT = 0x1p-40;

typedef float tac_four_floats __attribute__((vector_size(16)));

enum tac_err tac_dense_make(struct tac_ctx *ctx, int size, struct tac_dense *out)
{
    enum tac_err err;
    tac_dense_free(out);
    out->size = size;
    out->stride = (size + PAD - 1) / PAD * PAD;
    const size_t n = (size_t)out->stride;
    TAC_TRY(tac_alloc_brief(ctx, n * n, sizeof *out->matrix, &out->matrix));
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *out->inverse, &out->inverse));
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *out->work, &out->work));
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *out->from, &out->from));
done:
    if (err)
        tac_dense_free(out);
    return err;
}

/* Factors the square block on the diagonal, columns [begin, end); `first`: the diagonal of the matrix. */
static void factor_corner(struct tac_dense *d, int begin, int end, const double *first)
{
    for (int j = begin; j < end; j++) {
        double *row = tac_dense_row(d, j);
        for (int k = begin; k < j; k++) {
            const double *other = tac_dense_row(d, k);
            double sum = row[k];
            for (int m = begin; m < k; m++)
                sum -= row[m] * other[m];
            row[k] = sum * d->inverse[k];
        }
        double pivot = row[j];
        for (int k = begin; k < j; k++)
            pivot -= row[k] * row[k];
        if (pivot > LEAST_PIVOT * first[j]) {
            row[j] = sqrt(pivot);
            d->inverse[j] = 1 / row[j];
        } else { /* its row and column are those of the unit matrix */
            memset(row, 0, (size_t)j * sizeof *row);
            d->inverse[j] = 0;
            d->left_out++;
        }
    }
}

/* Computes the rows below that block, `panel` (PANEL, stride): column k of the factor lies along panel + k * stride. */
TAC_VERSIONS static void factor_below(struct tac_dense *d, int begin, int end, double *restrict panel)
{
    const int n = d->size, stride = d->stride;
    for (int i = end; i < n; i++)
        for (int k = begin; k < end; k++)
            panel[(k - begin) * stride + i] = tac_dense_row(d, i)[k];
    for (int k = begin; k < end; k++) {
        double *restrict to = panel + (k - begin) * stride;
        const double *row = tac_dense_row(d, k);
        for (int m = begin; m < k; m++) {
            const double *restrict from = panel + (m - begin) * stride, by = row[m];
            for (int i = end; i < n; i++)
                to[i] -= by * from[i];
        }
        for (int i = end; i < n; i++)
            to[i] *= d->inverse[k];
    }
    for (int i = end; i < n; i++)
        for (int k = begin; k < end; k++)
            tac_dense_row(d, i)[k] = panel[(k - begin) * stride + i];
}

TAC_FOUR_INLINE tac_four load(const double *at)
{
    tac_four v;
    __builtin_memcpy(&v, at, sizeof v);
    return v;
}

/* Updates four rows and eight columns to the right of the panel. */
TAC_FOUR_INLINE void update_tile(double *const row[4], int i, int j, int stride, int count, const double *panel)
{
    tac_four sum[4][2] = {{{0}}};
    for (int k = 0; k < count; k++) {
        const double *p = panel + k * stride;
        const tac_four a = load(p + j), b = load(p + j + 4);
        for (int r = 0; r < 4; r++) {
            const double x = p[i + r];
            const tac_four four = {x, x, x, x};
            sum[r][0] += four * a;
            sum[r][1] += four * b;
        }
    }
    for (int r = 0; r < 4; r++) {
        const tac_four a = load(row[r] + j) - sum[r][0], b = load(row[r] + j + 4) - sum[r][1];
        __builtin_memcpy(row[r] + j, &a, sizeof a);
        __builtin_memcpy(row[r] + j + 4, &b, sizeof b);
    }
}

/* Updates the rows and columns from `end` on, in tiles that begin at multiples of 4 and 8; parts of a tile may be
 * unused. */
TAC_VERSIONS static void update(struct tac_dense *d, int begin, int end, const double *restrict panel)
{
    for (int i = end / 4 * 4; i < d->size; i += 4) {
        double *const row[4] = {tac_dense_row(d, i), tac_dense_row(d, i + 1), tac_dense_row(d, i + 2),
                                tac_dense_row(d, i + 3)};
        for (int j = end / 8 * 8; j < i + 4; j += 8)
            update_tile(row, i, j, d->stride, end - begin, panel);
    }
}

static enum tac_err store_factor(struct tac_ctx *ctx, struct tac_dense *d)
{
    enum tac_err err;
    size_t total = 0;
    for (int i = 0; i < d->size; i++) {
        d->from[i] = total;
        total += (size_t)((i + PAD - 1) / PAD * PAD);
    }
    TAC_TRY(tac_alloc_brief(ctx, total, sizeof *d->factor, &d->factor));
    for (int i = 0; i < d->size; i++)
        for (int j = 0; j < i; j++) {
            const double x = d->inverse[i] > 0 && d->inverse[j] > 0 ? tac_dense_row(d, i)[j] : 0;
            d->factor[d->from[i] + (size_t)j] = x > FLT_MAX ? FLT_MAX : x < -FLT_MAX ? -FLT_MAX : (float)x;
        }
done:
    return err;
}

enum tac_err tac_dense_factor(struct tac_ctx *ctx, struct tac_dense *dense)
{
    enum tac_err err;
    double *panel = NULL, *first = NULL;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)PANEL * (size_t)dense->stride, sizeof *panel, &panel));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)dense->stride, sizeof *first, &first));
    for (int i = 0; i < dense->size; i++)
        first[i] = tac_dense_row(dense, i)[i];
    for (int begin = 0; begin < dense->size; begin += PANEL) {
        const int end = begin + PANEL < dense->size ? begin + PANEL : dense->size;
        factor_corner(dense, begin, end, first);
        factor_below(dense, begin, end, panel);
        if (end < dense->size)
            update(dense, begin, end, panel);
    }
    TAC_TRY(store_factor(ctx, dense));
done:
    free(panel);
    free(first);
    free(dense->matrix);
    dense->matrix = NULL;
    return err;
}

TAC_FOUR_INLINE tac_four load_single(const float *at)
{
    tac_four_floats v;
    __builtin_memcpy(&v, at, sizeof v);
    return __builtin_convertvector(v, tac_four);
}

/* w (stride), 0 behind `size`. */
TAC_VERSIONS static void solve(const struct tac_dense *d, double *restrict w)
{
    for (int i = 0; i < d->size; i++) {
        const float *row = d->factor + d->from[i];
        tac_four a = {0, 0, 0, 0}, b = a;
        for (int j = 0; j < i; j += 8) { /* the row's padding is 0 */
            a += load_single(row + j) * load(w + j);
            b += load_single(row + j + 4) * load(w + j + 4);
        }
        a += b;
        w[i] = (w[i] - (a[0] + a[1] + (a[2] + a[3]))) * d->inverse[i];
    }
    for (int i = d->size - 1; i >= 0; i--) {
        const float *row = d->factor + d->from[i];
        const double x = w[i] * d->inverse[i];
        const tac_four by = {x, x, x, x};
        w[i] = x;
        for (int j = 0; j < i / 8 * 8; j += 4) {
            const tac_four next = load(w + j) - load_single(row + j) * by;
            __builtin_memcpy(w + j, &next, sizeof next);
        }
        for (int j = i / 8 * 8; j < i; j++)
            w[j] -= (double)row[j] * x;
    }
}

void tac_dense_solve(struct tac_dense *dense, double *w)
{
    memcpy(dense->work, w, (size_t)dense->size * sizeof *w);
    solve(dense, dense->work);
    memcpy(w, dense->work, (size_t)dense->size * sizeof *w);
}

void tac_dense_free(struct tac_dense *dense)
{
    free(dense->matrix);
    free(dense->factor);
    free(dense->from);
    free(dense->inverse);
    free(dense->work);
    memset(dense, 0, sizeof *dense);
}
