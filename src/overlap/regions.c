/* regions.c: cuts space into one box for each rank, with about as many points in each. */
#include "overlap/regions.h"

#include "base/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A point whose first coordinate is the one to sort by. */
struct sample {
    double key, x[3];
};

static int compare_samples(const void *a, const void *b)
{
    const struct sample *p = a, *q = b;
    return (p->key > q->key) - (p->key < q->key);
}

static int longest_axis(const struct sample *sample, size_t n)
{
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    int axis = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            lo[k] = fmin(lo[k], sample[i].x[k]);
            hi[k] = fmax(hi[k], sample[i].x[k]);
        }
    for (int k = 1; k < 3; k++)
        if (hi[k] - lo[k] > hi[axis] - lo[axis])
            axis = k;
    return axis;
}

/* Regions first .. end-1 share the n samples. */
static void cut(struct tac_split *split, int first, int end, struct sample *sample, size_t n)
{
    if (end - first < 2)
        return;
    const int middle = first + (end - first) / 2;
    const size_t below = n * (size_t)(middle - first) / (size_t)(end - first);
    split[middle].axis = longest_axis(sample, n);
    for (size_t i = 0; i < n; i++)
        sample[i].key = sample[i].x[split[middle].axis];
    if (n > 0) {
        qsort(sample, n, sizeof *sample, compare_samples);
        split[middle].value = sample[below < n ? below : n - 1].key;
    }
    cut(split, first, middle, sample, below);
    cut(split, middle, end, sample + below, n - below);
}

/* Rank 0 cuts by the samples that came to it. */
static enum tac_err cut_samples(struct tac_ctx *ctx, size_t n, const double *x, struct tac_regions *out)
{
    struct sample *sample = NULL;
    enum tac_err err = tac_alloc(ctx, n, sizeof *sample, &sample);
    for (size_t i = 0; i < n && !err; i++)
        memcpy(sample[i].x, x + 3 * i, sizeof sample[i].x);
    if (!err)
        cut(out->split, 0, out->count, sample, n);
    free(sample);
    return err;
}

enum tac_err tac_regions_make(struct tac_ctx *ctx, int count, size_t n, const double *x, struct tac_regions *out)
{
    /* Of a rank; and so many of all ranks together that rank 0 cuts them in no time, but always some of each. */
    enum { SAMPLES = 256, TOGETHER = 1 << 16, LEAST = 16 };
    const size_t share = TOGETHER / (size_t)ctx->size,
                 wanted = share > SAMPLES ? SAMPLES
                          : share < LEAST ? LEAST
                                          : share,
                 known = n < wanted ? n : wanted;
    double *mine = NULL, *all = NULL;
    int32_t *to = NULL;
    size_t total = 0;
    enum tac_err err = tac_alloc(ctx, (size_t)count, sizeof *out->split, &out->split);
    out->count = count;
    if (err == TAC_OK)
        err = tac_alloc(ctx, 3 * known, sizeof *mine, &mine);
    if (err == TAC_OK)
        err = tac_alloc(ctx, known, sizeof *to, &to); /* all to rank 0 */
    TAC_TRY(tac_agree(ctx, err));
    if (count == 1)
        goto done;
    for (size_t k = 0; k < known; k++)
        memcpy(mine + 3 * k, x + 3 * (n / known * k), 3 * sizeof *x);
    TAC_TRY(tac_distribute(ctx, TAC_OK, known, to, mine, 3 * sizeof *mine, &all, &total));
    TAC_TRY(tac_agree(ctx, ctx->rank == 0 ? cut_samples(ctx, total, all, out) : TAC_OK));
    MPI_Bcast(out->split, count * (int)sizeof *out->split, MPI_BYTE, 0, ctx->comm);
done:
    free(mine);
    free(all);
    free(to);
    return err;
}

void tac_regions_free(struct tac_regions *regions)
{
    free(regions->split);
    *regions = (struct tac_regions){0};
}

int tac_region_of(const struct tac_regions *regions, const double x[3])
{
    int first = 0, end = regions->count;
    while (end - first > 1) {
        const int middle = first + (end - first) / 2;
        const struct tac_split *split = &regions->split[middle];
        if (x[split->axis] < split->value)
            end = middle;
        else
            first = middle;
    }
    return first;
}

static int list_regions(const struct tac_regions *regions, int first, int end, const double lo[3], const double hi[3],
                        int32_t *region)
{
    if (end - first < 2) {
        *region = first;
        return 1;
    }
    const int middle = first + (end - first) / 2;
    const struct tac_split *split = &regions->split[middle];
    int n = 0;
    if (lo[split->axis] < split->value)
        n += list_regions(regions, first, middle, lo, hi, region);
    if (hi[split->axis] >= split->value)
        n += list_regions(regions, middle, end, lo, hi, region + n);
    return n;
}

int tac_regions_of_box(const struct tac_regions *regions, const double lo[3], const double hi[3], int32_t *region)
{
    return list_regions(regions, 0, regions->count, lo, hi, region);
}
