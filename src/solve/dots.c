/* dots.c: computes exact dot products over the nodes of all ranks. */
#include "solve/dots.h"
#include <string.h>

enum { SUM_NUMBERS = TAC_ACCUM_LIMBS + 1 };

TAC_VERSIONS static void add_dot(tac_lid owned, const double *restrict a, const double *restrict b,
                                 struct tac_accum *sum)
{
    for (size_t i = 0; i < (size_t)owned; i++) {
        const tac_four t = tac_four_load(a + 4 * i) * tac_four_load(b + 4 * i);
        tac_accum_add(sum, t[0] + t[1] + t[2]);
    }
}

void tac_dot_add(const struct tac_local_system *local, const double *a, const double *b, struct tac_accum *sum)
{
    add_dot(local->owned, a, b, sum);
}

/* Carries limbs into the range from -2^31 to 2^31, so that the sign of a negative sum does not fill all limbs above it.
 * Returns the range of limbs in use. */
static struct tac_sum_window settle(struct tac_accum *sum)
{
    struct tac_sum_window used = {TAC_ACCUM_LIMBS, 0};
    for (int i = 0; i < TAC_ACCUM_LIMBS; i++) {
        const int64_t over = i < TAC_ACCUM_LIMBS - 1 ? (sum->limb[i] + (INT64_C(1) << 31)) >> 32 : 0;
        sum->limb[i] -= over * (INT64_C(1) << 32);
        if (over != 0)
            sum->limb[i + 1] += over;
        if (sum->limb[i] != 0) {
            used.begin = used.begin < i ? used.begin : i;
            used.end = i + 1;
        }
    }
    return used;
}

/* Sums the limbs within the window, which is the same on all ranks. Returns false if some rank uses limbs outside
 * it. */
static bool reduce_windows(const struct tac_ctx *ctx, int count, struct tac_accum *sum,
                           const struct tac_sum_window *window, const struct tac_sum_window *used)
{
    int64_t number[TAC_MOST_SUMS * SUM_NUMBERS + 1];
    int n = 1;
    number[0] = 0;
    for (int k = 0; k < count; k++) {
        const int width = window[k].end - window[k].begin;
        number[0] += used[k].begin < used[k].end && (used[k].begin < window[k].begin || used[k].end > window[k].end);
        memcpy(number + n, sum[k].limb + window[k].begin, (size_t)width * sizeof *number);
        number[n + width] = sum[k].bad;
        n += width + 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, number, n, MPI_INT64_T, MPI_SUM, ctx->comm);
    if (number[0] > 0)
        return false;
    n = 1;
    for (int k = 0; k < count; k++) {
        const int width = window[k].end - window[k].begin;
        memcpy(sum[k].limb + window[k].begin, number + n, (size_t)width * sizeof *number);
        sum[k].bad = number[n + width] > 0;
        n += width + 1;
    }
    return true;
}

/* Computes the window of the next sum of this sort. */
static struct tac_sum_window widen(const struct tac_accum *sum)
{
    struct tac_sum_window w = {0, TAC_ACCUM_LIMBS};
    while (w.begin < TAC_ACCUM_LIMBS && sum->limb[w.begin] == 0)
        w.begin++;
    while (w.end > w.begin && sum->limb[w.end - 1] == 0)
        w.end--;
    if (w.begin == w.end)
        return (struct tac_sum_window){0, 0};
    w.begin -= w.begin > 0;
    w.end += w.end < TAC_ACCUM_LIMBS;
    return w;
}

void tac_dot_reduce(const struct tac_ctx *ctx, int count, struct tac_accum *sum, struct tac_sum_window *window,
                    double *out)
{
    struct tac_sum_window used[TAC_MOST_SUMS] = {{0, 0}};
    static const struct tac_sum_window whole[TAC_MOST_SUMS] = {
        {0, TAC_ACCUM_LIMBS}, {0, TAC_ACCUM_LIMBS}, {0, TAC_ACCUM_LIMBS}, {0, TAC_ACCUM_LIMBS}};
    bool known = window != NULL && ctx->size > 1;
    for (int k = 0; k < count && ctx->size > 1; k++) {
        used[k] = settle(&sum[k]);
        known = known && window[k].begin < window[k].end;
    }
    if (ctx->size > 1 && !(known && reduce_windows(ctx, count, sum, window, used)))
        reduce_windows(ctx, count, sum, whole, used);
    for (int k = 0; k < count; k++) {
        sum[k].pending = 1;
        if (window && ctx->size > 1)
            window[k] = widen(&sum[k]);
        out[k] = tac_accum_value(&sum[k]);
    }
}
