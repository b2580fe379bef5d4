/* coarse_apply.c: applies the coarse part of the preconditioner: sums over subdomains, solution with E, rigid
 * motions. */
#include "solve/levels.h"
#include <string.h>

/* Sums the forces and moments of r (6): the transpose of the rigid motions. */
TAC_VERSIONS static void sum_forces(const struct tac_coarse *coarse, const struct tac_subdomain *s,
                                    const double *restrict r, double sum[TAC_MODES])
{
    tac_four force = {0, 0, 0, 0}, moment = force;
    for (tac_lid i = s->begin; i < s->end; i++) {
        const tac_four d = tac_four_load(coarse->arm + 4 * (size_t)i), f = tac_four_load(r + 4 * (size_t)i);
        const tac_four d1 = __builtin_shufflevector(d, d, 1, 2, 0, 3), d2 = __builtin_shufflevector(d, d, 2, 0, 1, 3),
                       f1 = __builtin_shufflevector(f, f, 1, 2, 0, 3), f2 = __builtin_shufflevector(f, f, 2, 0, 1, 3);
        force += __builtin_shufflevector(d, d, 3, 3, 3, 3) * f;
        moment += d1 * f2 - d2 * f1;
    }
    for (int c = 0; c < 3; c++) {
        sum[c] = force[c];
        sum[3 + c] = moment[c];
    }
}

/* Multiplies the transpose of three rows of six at a node by y: numbers 0 to 3 and 2 to 5. */
#define ADD_ROW(row, y)                                                                                                \
    do {                                                                                                               \
        const tac_four y0 = tac_all(y), y1 = tac_all(y + 1), y2 = tac_all(y + 2);                                      \
        low0 += tac_four_load(row) * y0;                                                                               \
        high0 += tac_four_load(row + 2) * y0;                                                                          \
        low1 += tac_four_load(row + 6) * y1;                                                                           \
        high1 += tac_four_load(row + 8) * y1;                                                                          \
        low2 += tac_four_load(row + 12) * y2;                                                                          \
        high2 += tac_four_load(row + 14) * y2;                                                                         \
    } while (0)

/* Returns the six numbers of which ADD_ROW has added up these. */
TAC_FOUR_INLINE void join_rows(tac_four low, tac_four high, double sum[TAC_MODES])
{
    for (int c = 0; c < 4; c++)
        sum[c] = low[c];
    sum[4] = high[2];
    sum[5] = high[3];
}

/* Does what sum_forces() does, where a node's motions are given. */
TAC_VERSIONS static void sum_motions(const struct tac_coarse *coarse, const struct tac_subdomain *s,
                                     const double *restrict r, double sum[TAC_MODES])
{
    tac_four low0 = {0, 0, 0, 0}, low1 = low0, low2 = low0, high0 = low0, high1 = low0, high2 = low0;
    for (tac_lid i = s->begin; i < s->end; i++) {
        const double *row = coarse->motion + 18 * (size_t)i;
        const double *ri = r + 4 * (size_t)i;
        ADD_ROW(row, ri);
    }
    join_rows(low0 + low1 + low2, high0 + high1 + high2, sum);
}

TAC_VERSIONS static void subtract_products(const struct tac_coarse *coarse, const struct tac_subdomain *s, int k,
                                           const double *restrict y, double sum[TAC_MODES])
{
    double part[TAC_MODES];
    tac_four low0 = {0, 0, 0, 0}, low1 = low0, low2 = low0, high0 = low0, high1 = low0, high2 = low0;
    for (tac_lid i = s->begin; i < s->end; i++) {
        const double *row = coarse->inner_rows + 18 * (size_t)i;
        const double *yi = y + 4 * (size_t)i;
        ADD_ROW(row, yi);
    }
    for (size_t e = coarse->outside_from[k]; e < coarse->outside_from[k + 1]; e++) {
        const double *row = coarse->outer_rows + 18 * e;
        const double *yi = y + 4 * (size_t)coarse->outside[e];
        ADD_ROW(row, yi);
    }
    join_rows(low0 + low1 + low2, high0 + high1 + high2, part);
    for (int c = 0; c < TAC_MODES; c++)
        sum[c] -= part[c];
}

/* Computes z = y + Z times the coarse values (6). */
TAC_VERSIONS static void add_motion(const struct tac_coarse *coarse, const struct tac_subdomain *s,
                                    const double motion[TAC_MODES], const double *y, double *z)
{
    const tac_four a = {motion[0], motion[1], motion[2], 0}, w = {motion[3], motion[4], motion[5], 0};
    const tac_four w1 = __builtin_shufflevector(w, w, 1, 2, 0, 3), w2 = __builtin_shufflevector(w, w, 2, 0, 1, 3);
    const tac_four zero = {0, 0, 0, 0};
    for (tac_lid i = s->begin; i < s->end; i++) {
        const tac_four d = tac_four_load(coarse->arm + 4 * (size_t)i);
        const tac_four d1 = __builtin_shufflevector(d, d, 1, 2, 0, 3), d2 = __builtin_shufflevector(d, d, 2, 0, 1, 3);
        const tac_four move = __builtin_shufflevector(d, d, 3, 3, 3, 3) * a + (w1 * d2 - w2 * d1);
        tac_four_store(z + 4 * (size_t)i, (y ? tac_four_load(y + 4 * (size_t)i) : zero) + tac_three(move));
    }
}

/* Does the same where a node's motions are given. */
static void add_given(const struct tac_coarse *coarse, const struct tac_subdomain *s, const double motion[TAC_MODES],
                      const double *y, double *z)
{
    for (tac_lid i = s->begin; i < s->end; i++) {
        const double *row = coarse->motion + 18 * (size_t)i;
        for (size_t c = 0; c < 3; c++, row += TAC_MODES) {
            const double move = row[0] * motion[0] + row[1] * motion[1] + row[2] * motion[2] +
                                (row[3] * motion[3] + row[4] * motion[4] + row[5] * motion[5]);
            z[4 * (size_t)i + c] = (y ? y[4 * (size_t)i + c] : 0) + move;
        }
        z[4 * (size_t)i + 3] = 0;
    }
}

/* Counts the products of a coarse step: rows of A Z with a vector, forces and motions. */
static void count_products(const struct tac_coarse *coarse, const struct tac_local_system *local, bool with_product)
{
    const size_t rows = (size_t)local->owned + coarse->outside_from[local->subdomains];
    tac_local_count(local, 2 * (size_t)local->owned + (with_product ? 2 * rows : 0));
}

/* Computes back = E^-1 mine, approximately where there are levels. */
static void solve(struct tac_coarse *coarse, const struct tac_local_system *local)
{
    if (coarse->count == NULL) {
        tac_level_solve(coarse->next, coarse->mine, coarse->back);
        return;
    }
    MPI_Allgatherv(coarse->mine, coarse->count[coarse->ctx->rank], MPI_DOUBLE, coarse->all, coarse->count,
                   coarse->start, MPI_DOUBLE, coarse->ctx->comm);
    for (size_t s = 0; s < (size_t)coarse->subdomains; s++)
        memcpy(coarse->value + TAC_MODES * s, coarse->all + TAC_MODES * (size_t)coarse->slot[s],
               TAC_MODES * sizeof(double));
    if (coarse->next) {
        tac_level_solve(coarse->next, coarse->value, coarse->all);
        memcpy(coarse->value, coarse->all, TAC_MODES * (size_t)coarse->subdomains * sizeof(double));
    } else {
        tac_dense_solve(&coarse->matrix, coarse->value);
        tac_local_count(local, (size_t)coarse->matrix.size * (size_t)coarse->matrix.size / 9);
    }
    for (int k = 0; k < local->subdomains; k++)
        memcpy(coarse->back + TAC_MODES * k, coarse->value + TAC_MODES * coarse->index[k], TAC_MODES * sizeof(double));
}

void tac_coarse_add(struct tac_coarse *coarse, const struct tac_local_system *local, const double *r, double *y,
                    double *z)
{
    if (y)
        tac_nodes_halo_refresh(local->halo, y, 4 * sizeof *y);
    for (int k = 0; k < local->subdomains; k++) {
        const struct tac_subdomain *s = &local->subdomain[k];
        double sum[TAC_MODES], *out = coarse->mine + TAC_MODES * k;
        if (coarse->arm)
            sum_forces(coarse, s, r, sum);
        else
            sum_motions(coarse, s, r, sum);
        if (y)
            subtract_products(coarse, s, k, y, sum);
        for (int m = 0; m < TAC_MODES; m++) {
            out[m] = 0;
            for (int c = 0; c <= m; c++)
                out[m] += coarse->basis[k][c][m] * sum[c];
        }
    }
    count_products(coarse, local, y != NULL);
    solve(coarse, local);
    for (int k = 0; k < local->subdomains; k++) {
        const struct tac_subdomain *s = &local->subdomain[k];
        const double *value = coarse->back + TAC_MODES * k;
        double motion[TAC_MODES] = {0};
        for (int c = 0; c < TAC_MODES; c++)
            for (int m = c; m < TAC_MODES; m++)
                motion[c] += coarse->basis[k][c][m] * value[m];
        if (coarse->arm)
            add_motion(coarse, s, motion, y, z);
        else
            add_given(coarse, s, motion, y, z);
    }
}
