/* local_multiply.c: multiplies the matrix of a rank's subdomains by a vector, and copies vectors from and to the
 * caller's nodes. */
#include "solve/local.h"
#include <string.h>

/* Multiplies within each subdomain, row by row. Each block below the diagonal is used for its own row and, transposed,
 * for the row of its column, which comes earlier. */
TAC_VERSIONS static void multiply_inner(const struct tac_local_system *local, const double *restrict x,
                                        double *restrict y)
{
    const struct tac_rows *lower = &local->lower;
    for (tac_lid i = 0; i < local->owned; i++) {
        const tac_four xi = tac_four_load(x + 4 * (size_t)i);
        const double *xi_at = x + 4 * (size_t)i;
        const tac_four x0 = tac_all(xi_at), x1 = tac_all(xi_at + 1), x2 = tac_all(xi_at + 2);
        const double *d = local->diagonal + 9 * (size_t)i;
        tac_four sum0 = tac_four_load(d) * x0, sum1 = tac_four_load(d + 3) * x1, sum2 = tac_four_load(d + 6) * x2;
        for (size_t k = lower->from[i]; k < lower->from[i + 1]; k++) {
            const size_t j = (size_t)lower->column[k];
            const double *b = lower->block + 9 * k;
            const tac_four c0 = tac_four_load(b), c1 = tac_four_load(b + 3), c2 = tac_four_load(b + 6);
            const double *xj = x + 4 * j;
            sum0 += c0 * tac_all(xj);
            sum1 += c1 * tac_all(xj + 1);
            sum2 += c2 * tac_all(xj + 2);
            tac_four_store(y + 4 * j, tac_four_load(y + 4 * j) + tac_columns_times(c0, c1, c2, xi));
        }
        tac_four_store(y + 4 * (size_t)i, tac_three(sum0 + sum1 + sum2));
    }
}

/* Adds the blocks between subdomains. */
TAC_VERSIONS static void multiply_outer(const struct tac_local_system *local, const double *restrict x,
                                        double *restrict y)
{
    const struct tac_rows *outer = &local->outer;
    for (tac_lid row = 0; row < local->outer_count; row++) {
        tac_four sum0 = {0, 0, 0, 0}, sum1 = sum0, sum2 = sum0;
        double *at = y + 4 * (size_t)local->outer_node[row];
        for (size_t k = outer->from[row]; k < outer->from[row + 1]; k++) {
            const double *b = outer->block + 9 * k;
            const double *xj = x + 4 * (size_t)outer->column[k];
            sum0 += tac_four_load(b) * tac_all(xj);
            sum1 += tac_four_load(b + 3) * tac_all(xj + 1);
            sum2 += tac_four_load(b + 6) * tac_all(xj + 2);
        }
        tac_four_store(at, tac_four_load(at) + tac_three(sum0 + sum1 + sum2));
    }
}

void tac_local_multiply(const struct tac_local_system *local, double *x, double *y)
{
    tac_nodes_halo_begin(local->halo, x, 4 * sizeof *x);
    multiply_inner(local, x, y);
    tac_nodes_halo_end(local->halo, x);
    multiply_outer(local, x, y);
    tac_local_count(local,
                    (size_t)local->owned + 2 * local->lower.from[local->owned] + local->outer.from[local->outer_count]);
}

void tac_local_bring(struct tac_local_system *local, const double *b, double *r)
{
    memcpy(local->bring_value, b, 3 * (size_t)local->home_count * sizeof *b);
    tac_nodes_halo_refresh(local->bring, local->bring_value, 3 * sizeof *b);
    for (size_t k = 0; k < (size_t)local->owned; k++) {
        memcpy(r + 4 * k, local->bring_value + 3 * (size_t)local->from[k], 3 * sizeof *r);
        r[4 * k + 3] = 0;
    }
}

void tac_local_return(struct tac_local_system *local, const double *r, double *x)
{
    for (size_t k = 0; k < (size_t)local->owned; k++)
        memcpy(local->back_value + 3 * k, r + 4 * k, 3 * sizeof *r);
    tac_nodes_halo_refresh(local->give_back, local->back_value, 3 * sizeof *r);
    for (tac_lid k = 0; k < local->owned; k++)
        if (local->from[k] < local->home_count)
            memcpy(x + 3 * (size_t)local->from[k], local->back_value + 3 * (size_t)k, 3 * sizeof *x);
    for (tac_lid k = 0; k < local->gone; k++)
        memcpy(x + 3 * (size_t)local->gone_node[k], local->back_value + 3 * (size_t)(local->owned + k), 3 * sizeof *x);
}
