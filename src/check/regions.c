/* regions.c: cuts space into one box for each rank, with about as many points in each. */
#include "check/regions.h"

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

enum tac_err tac_regions_make(struct tac_ctx *ctx, int count, size_t n, const double *x, struct tac_regions *out)
{
    enum { SAMPLES = 256 };
    double *mine = NULL, *all = NULL;
    struct sample *sample = NULL;
    size_t most = SAMPLES * (size_t)ctx->size, known = 0;
    enum tac_err err = tac_alloc(ctx, (size_t)count, sizeof *out->split, &out->split);
    out->count = count;
    if (err == TAC_OK)
        err = tac_alloc(ctx, 3 * SAMPLES, sizeof *mine, &mine);
    if (err == TAC_OK)
        err = tac_alloc(ctx, 3 * most, sizeof *all, &all);
    if (err == TAC_OK)
        err = tac_alloc(ctx, most, sizeof *sample, &sample);
    TAC_TRY(tac_agree(ctx, err));
    if (count == 1)
        goto done;
    for (size_t k = 0; k < SAMPLES; k++) {
        const size_t from = n >= SAMPLES ? n / SAMPLES * k : k;
        for (size_t c = 0; c < 3; c++)
            mine[3 * k + c] = from < n ? x[3 * from + c] : NAN;
    }
    MPI_Allgather(mine, 3 * SAMPLES, MPI_DOUBLE, all, 3 * SAMPLES, MPI_DOUBLE, ctx->comm);
    for (size_t i = 0; i < most; i++)
        if (!isnan(all[3 * i]))
            memcpy(sample[known++].x, all + 3 * i, sizeof sample->x);
    cut(out->split, 0, count, sample, known);
done:
    free(mine);
    free(all);
    free(sample);
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

static int list(const struct tac_regions *regions, int first, int end, const double lo[3], const double hi[3],
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
        n += list(regions, first, middle, lo, hi, region);
    if (hi[split->axis] >= split->value)
        n += list(regions, middle, end, lo, hi, region + n);
    return n;
}

int tac_regions_of_box(const struct tac_regions *regions, const double lo[3], const double hi[3], int32_t *region)
{
    return list(regions, 0, regions->count, lo, hi, region);
}
