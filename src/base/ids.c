/* ids.c: lists of ids and of records: sorts them, keeps each id once, and finds ids in them. */
#include "base/exchange.h"
#include <stdlib.h>
#include <string.h>

tac_lid tac_id_find(const tac_gid *ascending, tac_lid n, tac_gid id)
{
    tac_lid low = 0, high = n;
    while (low < high) {
        const tac_lid middle = low + (high - low) / 2;
        if (ascending[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && ascending[low] == id ? low : -1;
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

enum tac_err tac_sort_keyed(struct tac_ctx *ctx, size_t n, struct tac_keyed *list)
{
    struct tac_keyed *spare = NULL, *from = list, *to;
    size_t *start = NULL;
    tac_gid used = 0;
    enum tac_err err = TAC_OK;
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        used |= list[i].key;
        sorted = sorted && (i == 0 || list[i - 1].key <= list[i].key);
    }
    if (sorted)
        return TAC_OK;
    TAC_TRY(tac_alloc(ctx, n, sizeof *spare, &spare));
    TAC_TRY(tac_alloc(ctx, DIGITS, sizeof *start, &start));
    to = spare;
    for (int shift = 0; shift < 63 && used >> shift != 0; shift += DIGIT_BITS) {
        memset(start, 0, DIGITS * sizeof *start);
        for (size_t i = 0; i < n; i++)
            start[(from[i].key >> shift) & (DIGITS - 1)]++;
        size_t sum = 0;
        for (size_t d = 0; d < DIGITS; d++) {
            const size_t count = start[d];
            start[d] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            to[start[(from[i].key >> shift) & (DIGITS - 1)]++] = from[i];
        struct tac_keyed *swap = from;
        from = to;
        to = swap;
    }
    if (from != list)
        memcpy(list, from, n * sizeof *list);
done:
    free(start);
    free(spare);
    return err;
}

/* Follows the cycles of the permutation: order[i].index is where record i is now. */
static void permute(size_t n, size_t size, char *record, struct tac_keyed *order, char *spare)
{
    for (size_t i = 0; i < n; i++) {
        size_t to = i;
        if (order[i].index < 0 || (size_t)order[i].index == i)
            continue;
        memcpy(spare, record + i * size, size);
        while ((size_t)order[to].index != i) {
            const size_t from = (size_t)order[to].index;
            memcpy(record + to * size, record + from * size, size);
            order[to].index = -1;
            to = from;
        }
        memcpy(record + to * size, spare, size);
        order[to].index = -1;
    }
}

enum tac_err tac_sort_records(struct tac_ctx *ctx, size_t n, size_t size, void *records)
{
    struct tac_keyed *order = NULL;
    char *record = records, *spare = NULL;
    bool sorted = true;
    tac_gid before = -1;
    enum tac_err err = TAC_OK;
    for (size_t i = 0; i < n && sorted; i++) {
        tac_gid id;
        memcpy(&id, record + i * size, sizeof id);
        sorted = before <= id;
        before = id;
    }
    if (sorted)
        return TAC_OK;
    TAC_TRY(tac_alloc(ctx, n, sizeof *order, &order));
    TAC_TRY(tac_alloc(ctx, 1, size, &spare));
    for (size_t i = 0; i < n; i++) {
        memcpy(&order[i].key, record + i * size, sizeof order[i].key);
        order[i].index = (int64_t)i;
    }
    TAC_TRY(tac_sort_keyed(ctx, n, order));
    permute(n, size, record, order, spare);
done:
    free(order);
    free(spare);
    return err;
}

static enum tac_err tidy(struct tac_ctx *ctx, struct tac_ids *ids)
{
    size_t kept = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_sort_keyed(ctx, ids->count, ids->list));
    for (size_t i = 0; i < ids->count; i++)
        if (kept == 0 || ids->list[kept - 1].key != ids->list[i].key)
            ids->list[kept++].key = ids->list[i].key;
    ids->count = ids->distinct = kept;
done:
    return err;
}

enum tac_err tac_ids_add(struct tac_ctx *ctx, struct tac_ids *ids, size_t n, const tac_gid *id)
{
    enum { FEW = 1 << 16, RECENT = sizeof ids->recent / sizeof *ids->recent };
    enum tac_err err = TAC_OK;
    for (size_t i = 0; i < n; i++) {
        tac_gid *seen = &ids->recent[id[i] % RECENT];
        if (*seen == id[i] + 1)
            continue;
        *seen = id[i] + 1;
        if (ids->count == ids->capacity) {
            if (ids->count > 0)
                TAC_TRY(tidy(ctx, ids));
            const size_t room = 2 * ids->distinct > FEW ? 2 * ids->distinct : FEW;
            if (ids->capacity < room)
                TAC_TRY(tac_grow(ctx, &ids->list, &ids->capacity, room, sizeof *ids->list));
        }
        ids->list[ids->count++] = (struct tac_keyed){id[i], 0};
    }
done:
    return err;
}

enum tac_err tac_ids_finish(struct tac_ctx *ctx, struct tac_ids *ids, tac_gid **unique, size_t *count)
{
    enum tac_err err = TAC_OK;
    *unique = NULL;
    TAC_TRY(tidy(ctx, ids));
    if (ids->count > INT32_MAX)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "rank %d would hold %zu ids of one kind; use more ranks", ctx->rank,
                         ids->count));
    TAC_TRY(tac_alloc(ctx, ids->count, sizeof **unique, unique));
    for (size_t i = 0; i < ids->count; i++)
        (*unique)[i] = ids->list[i].key;
    *count = ids->count;
done:
    free(ids->list);
    memset(ids, 0, sizeof *ids);
    return err;
}

enum tac_err tac_finder_make(struct tac_ctx *ctx, const tac_gid *id, size_t count, struct tac_finder *out)
{
    size_t buckets = 0, b = 0;
    enum tac_err err = TAC_OK;
    *out = (struct tac_finder){id, count, 0, NULL};
    if (count == 0)
        return TAC_OK;
    const tac_gid range = id[count - 1] - id[0];
    while ((size_t)(range >> out->shift) > 2 * count)
        out->shift++;
    buckets = (size_t)(range >> out->shift) + 1;
    TAC_TRY(tac_alloc(ctx, buckets + 1, sizeof *out->start, &out->start));
    for (size_t i = 0; i < count; i++)
        while (b <= (size_t)((id[i] - id[0]) >> out->shift))
            out->start[b++] = (tac_lid)i;
    out->start[buckets] = (tac_lid)count;
done:
    return err;
}

void tac_finder_free(struct tac_finder *finder)
{
    free(finder->start);
    finder->start = NULL;
}

tac_lid tac_finder_find(const struct tac_finder *finder, tac_gid id)
{
    if (finder->count == 0 || id < finder->id[0] || id > finder->id[finder->count - 1])
        return -1;
    const size_t b = (size_t)((id - finder->id[0]) >> finder->shift);
    const tac_lid first = finder->start[b], found = tac_id_find(finder->id + first, finder->start[b + 1] - first, id);
    return found < 0 ? -1 : first + found;
}

enum tac_err tac_compress(struct tac_ctx *ctx, size_t n, const tac_gid *id, tac_gid **unique, size_t *unique_count,
                          tac_lid *place)
{
    struct tac_ids ids = {0};
    struct tac_finder finder = {0};
    enum tac_err err = tac_ids_add(ctx, &ids, n, id);
    *unique = NULL;
    if (err == TAC_OK)
        err = tac_ids_finish(ctx, &ids, unique, unique_count);
    free(ids.list);
    TAC_TRY(err);
    TAC_TRY(tac_finder_make(ctx, *unique, *unique_count, &finder));
    for (size_t i = 0; i < n; i++)
        place[i] = tac_finder_find(&finder, id[i]);
done:
    tac_finder_free(&finder);
    return err;
}
