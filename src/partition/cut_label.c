/* cut_label.c: numbers METIS's parts by the ranks that hold most of them, because METIS does not use which rank holds
 * which vertex. */
#include "partition/cut_steps.h"

#include "base/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT = 256 }; /* ranks up to which the best naming is looked for, in O(ranks^3) */

/* How much of a part lies on a rank. In whole numbers: sums are the same in any order. */
struct overlap {
    int64_t pair; /* part * ranks + rank */
    int64_t weight;
};

static enum tac_err sum_pairs(struct tac_ctx *ctx, size_t *count, struct overlap *list)
{
    struct tac_keyed *key = NULL;
    struct overlap *sorted = NULL;
    size_t n = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, *count, sizeof *key, &key));
    TAC_TRY(tac_alloc(ctx, *count, sizeof *sorted, &sorted));
    for (size_t i = 0; i < *count; i++)
        key[i] = (struct tac_keyed){list[i].pair, (int64_t)i};
    TAC_TRY(tac_sort_keyed(ctx, *count, key));
    for (size_t i = 0; i < *count; i++) {
        const struct overlap *one = &list[key[i].index];
        if (n > 0 && sorted[n - 1].pair == one->pair)
            sorted[n - 1].weight += one->weight;
        else
            sorted[n++] = *one;
    }
    memcpy(list, sorted, n * sizeof *list);
    *count = n;
done:
    free(key);
    free(sorted);
    return err;
}

static int heavier(const void *a, const void *b)
{
    const struct overlap *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->pair < y->pair ? -1 : 1;
}

/* The heaviest overlap first. label (size) of each part; taken (size) is scratch. */
static void name_greedily(int size, size_t count, struct overlap *list, int32_t *label, int32_t *taken)
{
    qsort(list, count, sizeof *list, heavier);
    for (size_t i = 0; i < count; i++) {
        const int64_t p = list[i].pair / size, r = list[i].pair % size;
        if (label[p] < 0 && !taken[r]) {
            label[p] = (int32_t)r;
            taken[r] = 1;
        }
    }
    for (int p = 0, r = 0; p < size; p++)
        if (label[p] < 0) {
            while (taken[r])
                r++;
            label[p] = r++;
        }
}

/* The Hungarian method in its form with potentials, row by row along shortest paths (Kuhn 1955, Tomizawa 1971).  Rows
 * are parts, columns ranks, both from 1; cost (size + 1, size + 1).  Scratch: u, v, least (size + 1 each) and row,
 * previous, used (size + 1 each). */
static void name_best(int size, const int64_t *cost, int32_t *label, int64_t *number, int32_t *place)
{
    const size_t n = (size_t)size + 1;
    int64_t *u = number, *v = number + n, *least = number + 2 * n;
    int32_t *row = place, *previous = place + n, *used = place + 2 * n;
    for (int32_t i = 1; i <= size; i++) {
        int32_t column = 0;
        row[0] = i;
        for (size_t j = 0; j < n; j++) {
            least[j] = INT64_MAX;
            used[j] = 0;
        }
        do {
            const int32_t from = row[column];
            int32_t next = 0;
            int64_t step = INT64_MAX;
            used[column] = 1;
            for (int32_t j = 1; j <= size; j++) {
                if (used[j])
                    continue;
                const int64_t reduced = cost[(size_t)from * n + (size_t)j] - u[from] - v[j];
                if (reduced < least[j]) {
                    least[j] = reduced;
                    previous[j] = column;
                }
                if (least[j] < step) {
                    step = least[j];
                    next = j;
                }
            }
            for (int32_t j = 0; j <= size; j++) {
                if (used[j]) {
                    u[row[j]] += step;
                    v[j] -= step;
                } else if (least[j] != INT64_MAX) {
                    least[j] -= step;
                }
            }
            column = next;
        } while (row[column] != 0);
        for (; column != 0; column = previous[column])
            row[column] = row[previous[column]];
    }
    for (int32_t j = 1; j <= size; j++)
        label[row[j] - 1] = j - 1;
}

static enum tac_err name_parts(struct tac_ctx *ctx, size_t count, struct overlap *list, int32_t *label)
{
    const size_t n = (size_t)ctx->size + 1;
    int64_t *cost = NULL, *number = NULL, most = 0;
    int32_t *place = NULL;
    int shift = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *place, &place));
    for (int p = 0; p < ctx->size; p++)
        label[p] = -1;
    if (ctx->size > EXACT) {
        name_greedily(ctx->size, count, list, label, place);
        goto done;
    }
    TAC_TRY(tac_alloc(ctx, n * n, sizeof *cost, &cost));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *number, &number));
    for (size_t i = 0; i < count; i++)
        most = list[i].weight > most ? list[i].weight : most;
    while (most >> shift > (INT64_C(1) << 45)) /* potentials are sums of up to `size` costs */
        shift++;
    for (size_t i = 0; i < count; i++) {
        const size_t p = (size_t)(list[i].pair / ctx->size), r = (size_t)(list[i].pair % ctx->size);
        cost[(p + 1) * n + r + 1] = -(list[i].weight >> shift);
    }
    name_best(ctx->size, cost, label, number, place);
done:
    free(cost);
    free(number);
    free(place);
    return err;
}

enum tac_err tac_cut_label(struct tac_ctx *ctx, tac_lid count, const struct cut_node *node, const int32_t *present,
                           int32_t *owner)
{
    struct overlap *mine = NULL, *all = NULL;
    int32_t *label = NULL, *to = NULL;
    size_t pairs = (size_t)count, total = 0;
    enum tac_err err = tac_alloc(ctx, (size_t)count, sizeof *mine, &mine);
    if (err == TAC_OK)
        err = tac_alloc(ctx, (size_t)ctx->size, sizeof *label, &label);
    if (err == TAC_OK)
        err = tac_alloc(ctx, (size_t)count, sizeof *to, &to);
    for (size_t i = 0; err == TAC_OK && i < pairs; i++) {
        /* Vertices that cost nothing are moved no more than others: each counts a little. */
        const int64_t weight = 1 + (int64_t)ldexp(node[i].weight, 30);
        mine[i] = (struct overlap){(int64_t)owner[i] * ctx->size + present[i], weight};
    }
    if (err == TAC_OK)
        err = sum_pairs(ctx, &pairs, mine);
    TAC_TRY(tac_distribute(ctx, err, pairs, to, mine, sizeof *mine, &all, &total));
    if (ctx->rank == 0) {
        err = sum_pairs(ctx, &total, all);
        if (err == TAC_OK)
            err = name_parts(ctx, total, all, label);
    }
    TAC_TRY(tac_agree(ctx, err));
    MPI_Bcast(label, ctx->size, MPI_INT32_T, 0, ctx->comm);
    for (tac_lid i = 0; i < count; i++)
        owner[i] = label[owner[i]];
done:
    free(mine);
    free(all);
    free(label);
    free(to);
    return err;
}
