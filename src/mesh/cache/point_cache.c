/* point_cache.c: opens files of moving surfaces, of any format, and keeps some of their knots. */
#include "mesh/cache/point_cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "mesh/cache/inflate.h"
#include "mesh/read.h"

static bool ends_in(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);
    return n >= m && strcasecmp(path + n - m, ending) == 0;
}

enum tac_err tac_point_cache_open(struct tac_ctx *ctx, const char *path, const char *from, struct tac_point_cache **out)
{
    struct tac_point_cache *cache = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *cache, &cache));
    cache->users = 1;
    cache->file = cache->set = -1;
    cache->descriptor = -1;
    TAC_TRY(tac_alloc(ctx, strlen(path) + 1, 1, &cache->path));
    memcpy(cache->path, path, strlen(path));
    if (access(path, R_OK) != 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: cannot be opened; check the path", from, path));
    if (ends_in(path, ".mdd"))
        TAC_TRY(tac_point_cache_open_mdd(ctx, cache, from));
    else if (ends_in(path, ".npz"))
        TAC_TRY(tac_point_cache_open_npz(ctx, cache, from));
    else if (tac_is_hdf5(path))
        TAC_TRY(tac_point_cache_open_hdf5(ctx, cache, from));
    else
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                         "%s%s: is no file of positions; give HDF5 with `time` and `position`, .npz or .mdd", from,
                         path));
    if (cache->knots < 1 || cache->vertices < 1)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: has no knots or no vertices", from, path));
    *out = cache;
    cache = NULL;
done:
    tac_point_cache_release(&cache);
    return err;
}

void tac_point_cache_release(struct tac_point_cache **p)
{
    struct tac_point_cache *cache = *p;
    *p = NULL;
    if (cache == NULL || --cache->users > 0)
        return;
    tac_point_cache_close_hdf5(cache);
    tac_inflater_destroy(&cache->inflater);
    if (cache->descriptor >= 0)
        close(cache->descriptor);
    free(cache->path);
    free(cache->t_s);
    free(cache);
}

enum tac_err tac_point_cache_read(struct tac_ctx *ctx, const struct tac_point_cache *cache, int64_t knot, int64_t first,
                                  int64_t count, double *x)
{
    const int64_t bytes = 3 * (cache->single ? 4 : 8);
    const bool ok = cache->set >= 0
                        ? tac_point_cache_read_hdf5(cache, knot, first, count, x)
                        : tac_point_cache_read_raw(cache, cache->begin + bytes * (knot * cache->vertices + first),
                                                   cache->single, 3 * count, x);
    if (!ok)
        return tac_fail(ctx, TAC_ERR_INPUT, "%s: cannot be read at knot %lld; the file is damaged or was cut off",
                        cache->path, (long long)knot);
    for (int64_t i = 0; i < 3 * count; i++) {
        if (!isfinite(x[i]))
            return tac_fail(ctx, TAC_ERR_INPUT, "%s: vertex %lld at knot %lld (t = %.9g s) is not finite", cache->path,
                            (long long)(first + i / 3), (long long)knot, cache->t_s[knot]);
        x[i] += 0.; /* no sign of zero */
    }
    return TAC_OK;
}

/* ---- some rows, some knots ---- */

enum tac_err tac_knot_rows_create(struct tac_ctx *ctx, const struct tac_point_cache *cache, size_t count,
                                  const int64_t *number, size_t slots, struct tac_knot_rows **out)
{
    struct tac_knot_rows *rows = NULL;
    int64_t last = -1;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *rows, &rows));
    rows->ctx = ctx;
    rows->cache = cache;
    rows->count = count;
    rows->slots = slots;
    rows->first = cache->vertices;
    for (size_t i = 0; i < count; i++) {
        rows->first = number[i] < rows->first ? number[i] : rows->first;
        last = number[i] > last ? number[i] : last;
    }
    rows->span = last >= rows->first ? last - rows->first + 1 : 0;
    bool dense = rows->span == (int64_t)count;
    for (size_t i = 0; i < count; i++)
        dense = dense && number[i] == rows->first + (int64_t)i;
    TAC_TRY(tac_alloc(ctx, count, sizeof *rows->number, &rows->number));
    if (count > 0)
        memcpy(rows->number, number, count * sizeof *number);
    TAC_TRY(tac_alloc(ctx, slots, sizeof *rows->knot, &rows->knot));
    for (size_t k = 0; k < slots; k++)
        rows->knot[k] = -1;
    TAC_TRY(tac_alloc(ctx, slots, 3 * count * sizeof *rows->x, &rows->x));
    if (!dense)
        TAC_TRY(tac_alloc(ctx, (size_t)rows->span, 3 * sizeof *rows->all, &rows->all));
    *out = rows;
    rows = NULL;
done:
    tac_knot_rows_destroy(&rows);
    return err;
}

void tac_knot_rows_destroy(struct tac_knot_rows **rows)
{
    if (*rows == NULL)
        return;
    free((*rows)->number);
    free((*rows)->knot);
    free((*rows)->x);
    free((*rows)->all);
    free(*rows);
    *rows = NULL;
}

const double *tac_knot_rows_at(struct tac_knot_rows *rows, int64_t knot)
{
    const size_t slot = (size_t)knot % rows->slots;
    double *x = rows->x + 3 * rows->count * slot;
    if (rows->knot[slot] == knot)
        return x;
    if (rows->err != TAC_OK || rows->count == 0)
        return rows->err != TAC_OK ? NULL : x;
    rows->knot[slot] = -1;
    rows->err = tac_point_cache_read(rows->ctx, rows->cache, knot, rows->first, rows->span, rows->all ? rows->all : x);
    if (rows->err != TAC_OK)
        return NULL;
    for (size_t i = 0; rows->all && i < rows->count; i++)
        memcpy(x + 3 * i, rows->all + 3 * (rows->number[i] - rows->first), 3 * sizeof *x);
    rows->knot[slot] = knot;
    return x;
}
