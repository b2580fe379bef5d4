/* incomplete.c: computes block incomplete Cholesky factors, and solves with them. */
#include "solve/incomplete.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

static const double FIRST_SHIFT = 1e-3, SHIFT_FACTOR = 4, LEAST_PIVOT = 0x1p-40;
enum { MOST_SHIFTS = 24 };

typedef float tac_four_floats __attribute__((vector_size(16)));

/* Inverts a symmetric 3x3 block by its Cholesky factor. Returns false if it is not positive. `against`: pivots have to
 * be larger than a tiny part of the diagonal of this block. */
static bool invert(const double *a, const double *against, double *out)
{
    const double p0 = a[0];
    if (!(p0 > LEAST_PIVOT * against[0]))
        return false;
    const double l10 = a[3] / p0, l20 = a[6] / p0, p1 = a[4] - l10 * a[3], r21 = a[7] - l20 * a[3];
    if (!(p1 > LEAST_PIVOT * against[4]))
        return false;
    const double l21 = r21 / p1, p2 = a[8] - l20 * a[6] - l21 * r21;
    if (!(p2 > LEAST_PIVOT * against[8]))
        return false;
    const double q0 = 1 / p0, q1 = 1 / p1, q2 = 1 / p2, m10 = -l10, m20 = l21 * l10 - l20, m21 = -l21;
    out[0] = q0 + m10 * q1 * m10 + m20 * q2 * m20;
    out[3] = out[1] = m10 * q1 + m20 * q2 * m21;
    out[6] = out[2] = m20 * q2;
    out[4] = q1 + m21 * q2 * m21;
    out[7] = out[5] = m21 * q2;
    out[8] = q2;
    return true;
}

/* out -= a b^T; blocks column by column. */
static inline void subtract_product(double *out, const double *a, const double *b)
{
    for (int d = 0; d < 3; d++)
        for (int c = 0; c < 3; c++)
            out[3 * d + c] -= a[c] * b[d] + a[3 + c] * b[3 + d] + a[6 + c] * b[6 + d];
}

struct work {
    double *upper, *lower; /* owned: of one subdomain: L D and L, as its blocks of local->lower */
    int64_t *place;        /* owned, (local owned): where the present row has a column, or -1 */
    size_t products;       /* of blocks; each is three products of a block and a vector */
};

/* Factors one subdomain. Returns false at a bad pivot. */
static bool factor_one(const struct tac_local_system *local, const struct tac_subdomain *s, double shift,
                       struct work *w, double *inverse)
{
    const struct tac_rows *rows = &local->lower;
    const size_t first = rows->from[s->begin];
    bool good = true;
    for (tac_lid i = s->begin; i < s->end && good; i++) {
        const double *a = local->diagonal + 9 * (size_t)i;
        double d[9];
        for (int c = 0; c < 9; c++)
            d[c] = a[c] * (1 + shift);
        for (size_t e = rows->from[i]; e < rows->from[i + 1]; e++)
            w->place[rows->column[e]] = (int64_t)(e - first);
        for (size_t e = rows->from[i]; e < rows->from[i + 1]; e++) {
            const tac_lid j = rows->column[e];
            double *u = w->upper + 9 * (e - first), *l = w->lower + 9 * (e - first);
            const double *q = inverse + 9 * (size_t)j;
            memcpy(u, rows->block + 9 * e, 9 * sizeof *u);
            for (size_t f = rows->from[j]; f < rows->from[j + 1]; f++)
                if (w->place[rows->column[f]] >= 0) {
                    subtract_product(u, w->upper + 9 * w->place[rows->column[f]], w->lower + 9 * (f - first));
                    w->products++;
                }
            for (int c = 0; c < 3; c++)
                for (int b = 0; b < 3; b++)
                    l[3 * b + c] = u[c] * q[3 * b] + u[3 + c] * q[3 * b + 1] + u[6 + c] * q[3 * b + 2];
            subtract_product(d, u, l);
        }
        w->products += 2 * (rows->from[i + 1] - rows->from[i]);
        for (size_t e = rows->from[i]; e < rows->from[i + 1]; e++)
            w->place[rows->column[e]] = -1;
        d[3] = d[1]; /* the two halves differ by rounding */
        d[6] = d[2];
        d[7] = d[5];
        good = invert(d, a, inverse + 9 * (size_t)i);
    }
    return good;
}

static float single(double x)
{
    return x > FLT_MAX ? FLT_MAX : x < -FLT_MAX ? -FLT_MAX : (float)x;
}

/* Returns the lowest id of a node whose diagonal block is not positive, or -1. */
static tac_gid find_bad(const struct tac_local_system *local)
{
    tac_gid bad = -1;
    double unused[9];
    for (tac_lid i = 0; i < local->owned; i++) {
        const double *a = local->diagonal + 9 * (size_t)i;
        if (!(a[0] > 0 && a[4] > 0 && a[8] > 0 && invert(a, a, unused)) && (bad < 0 || local->id[i] < bad))
            bad = local->id[i];
    }
    return bad;
}

enum tac_err tac_incomplete_make(struct tac_ctx *ctx, const struct tac_local_system *local, struct tac_incomplete *out)
{
    enum tac_err err;
    struct work w = {0};
    size_t most = 0, nodes = 0;
    tac_incomplete_free(out);
    const struct tac_rows *rows = &local->lower;
    for (int k = 0; k < local->subdomains; k++) {
        const struct tac_subdomain *s = &local->subdomain[k];
        const size_t n = (size_t)(s->end - s->begin), blocks = rows->from[s->end] - rows->from[s->begin];
        nodes = n > nodes ? n : nodes;
        most = blocks > most ? blocks : most;
    }
    TAC_TRY(tac_alloc_brief(ctx, 9 * rows->from[local->owned] + 1, sizeof *out->lower, &out->lower));
    TAC_TRY(tac_alloc_brief(ctx, 9 * (size_t)local->owned + 1, sizeof *out->inverse, &out->inverse));
    TAC_TRY(tac_alloc_brief(ctx, 4 * nodes, sizeof *out->half, &out->half));
    TAC_TRY(tac_alloc_brief(ctx, 9 * most, sizeof *w.upper, &w.upper));
    TAC_TRY(tac_alloc_brief(ctx, 9 * most, sizeof *w.lower, &w.lower));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)local->owned, sizeof *w.place, &w.place));
    memset(w.place, 0xff, (size_t)local->owned * sizeof *w.place);
    out->bad = find_bad(local);
    for (int k = 0; k < local->subdomains && out->bad < 0; k++) {
        const struct tac_subdomain *s = &local->subdomain[k];
        const size_t first = rows->from[s->begin], end = rows->from[s->end];
        bool good = factor_one(local, s, 0, &w, out->inverse);
        double shift = FIRST_SHIFT;
        out->shifted += !good;
        for (int t = 0; t < MOST_SHIFTS && !good; t++, shift *= SHIFT_FACTOR)
            good = factor_one(local, s, shift, &w, out->inverse);
        if (!good)
            out->bad = local->id[s->begin];
        for (size_t e = 9 * first; e < 9 * end; e++)
            out->lower[e] = single(w.lower[e - 9 * first]);
    }
    tac_local_count(local, 3 * w.products);
done:
    free(w.upper);
    free(w.lower);
    free(w.place);
    if (err)
        tac_incomplete_free(out);
    return err;
}

TAC_FOUR_INLINE tac_four load_single(const float *at)
{
    tac_four_floats v;
    __builtin_memcpy(&v, at, sizeof v);
    return __builtin_convertvector(v, tac_four);
}

/* (1 + L) u = r, and z = D^-1 u; u is of this subdomain alone. */
TAC_VERSIONS static void solve_down(const struct tac_incomplete *factor, const struct tac_local_system *local,
                                    const struct tac_subdomain *s, const double *restrict r, double *restrict u,
                                    double *restrict z)
{
    const struct tac_rows *rows = &local->lower;
    for (tac_lid i = s->begin; i < s->end; i++) {
        tac_four sum0 = {0, 0, 0, 0}, sum1 = sum0, sum2 = sum0;
        for (size_t k = rows->from[i]; k < rows->from[i + 1]; k++) {
            const float *b = factor->lower + 9 * k;
            const double *uj = u + 4 * (size_t)(rows->column[k] - s->begin);
            sum0 += load_single(b) * tac_all(uj);
            sum1 += load_single(b + 3) * tac_all(uj + 1);
            sum2 += load_single(b + 6) * tac_all(uj + 2);
        }
        const tac_four ui = tac_four_load(r + 4 * (size_t)i) - (sum0 + sum1 + sum2);
        tac_four_store(u + 4 * (size_t)(i - s->begin), ui);
        tac_four_store(z + 4 * (size_t)i, tac_three(tac_block_times(factor->inverse + 9 * (size_t)i, ui)));
    }
}

/* (1 + L)^T z = z: row by row from the last one, subtracted from the rows before. */
TAC_VERSIONS static void solve_up(const struct tac_incomplete *factor, const struct tac_local_system *local,
                                  const struct tac_subdomain *s, double *restrict z)
{
    const struct tac_rows *rows = &local->lower;
    for (tac_lid i = s->end - 1; i >= s->begin; i--) {
        const tac_four zi = tac_four_load(z + 4 * (size_t)i);
        for (size_t k = rows->from[i]; k < rows->from[i + 1]; k++) {
            const float *b = factor->lower + 9 * k;
            double *zj = z + 4 * (size_t)rows->column[k];
            tac_four_store(zj, tac_four_load(zj) -
                                   tac_columns_times(load_single(b), load_single(b + 3), load_single(b + 6), zi));
        }
    }
}

void tac_incomplete_apply(const struct tac_incomplete *factor, const struct tac_local_system *local, const double *r,
                          double *z)
{
    for (int k = 0; k < local->subdomains; k++) {
        solve_down(factor, local, &local->subdomain[k], r, factor->half, z);
        solve_up(factor, local, &local->subdomain[k], z);
    }
    tac_local_count(local, (size_t)local->owned + 2 * local->lower.from[local->owned]);
}

void tac_incomplete_free(struct tac_incomplete *factor)
{
    free(factor->lower);
    free(factor->inverse);
    free(factor->half);
    memset(factor, 0, sizeof *factor);
}
