/* sums.c: exact dot products over the nodes of all ranks. */
#include "solve/sums.h"
#include <string.h>

enum { SUM_NUMBERS = TAC_ACCUM_LIMBS + 1 };

TAC_VERSIONS static void add_dot(tac_lid owned, const double *restrict a, const double *restrict b,
                                 struct tac_accum *sum)
{
    for (size_t i = 0; i < (size_t)owned; i++) {
        const tac_four t = tac_load(a + 4 * i) * tac_load(b + 4 * i);
        tac_accum_add(sum, t[0] + t[1] + t[2]);
    }
}

void tac_dot_add(const struct tac_local_system *local, const double *a, const double *b, struct tac_accum *sum)
{
    add_dot(local->owned, a, b, sum);
}

void tac_dot_reduce(const struct tac_ctx *ctx, int count, struct tac_accum *sum, double *out)
{
    int64_t number[TAC_MOST_SUMS * SUM_NUMBERS];
    for (int k = 0; k < count && ctx->size > 1; k++) {
        tac_accum_carry(&sum[k]);
        memcpy(number + k * SUM_NUMBERS, sum[k].limb, sizeof sum[k].limb);
        number[k * SUM_NUMBERS + TAC_ACCUM_LIMBS] = sum[k].bad;
    }
    if (ctx->size > 1)
        MPI_Allreduce(MPI_IN_PLACE, number, count * SUM_NUMBERS, MPI_INT64_T, MPI_SUM, ctx->comm);
    for (int k = 0; k < count && ctx->size > 1; k++) {
        memcpy(sum[k].limb, number + k * SUM_NUMBERS, sizeof sum[k].limb);
        sum[k].bad = number[k * SUM_NUMBERS + TAC_ACCUM_LIMBS] > 0;
    }
    for (int k = 0; k < count; k++)
        out[k] = tac_accum_value(&sum[k]);
}
