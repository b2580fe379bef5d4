/* slots.c: lays active pairs in memory in the order in which their layer groups tick, which is that of their keys
 * (docs/reference/engine.md, Layer groups): a class then goes through memory from front to back. */
#include "contact/friction.h"
#include <stdlib.h>
#include <string.h>

enum { NEW_AT_LEAST = 256, NEW_SHARE = 8 };

struct keyed {
    uint64_t key;
    int32_t slot;
};

static int compare_keys(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Moves entry from[k] of an array to place k, for k < count.  `from` has each of 0 .. count - 1 once; it is used up
 * (afterwards from[k] == k). */
static void permute_array(void *array, size_t size, size_t count, int32_t *from, char *spare)
{
    char *a = array;
    for (size_t k = 0; k < count; k++) {
        if (from[k] == (int32_t)k)
            continue;
        memcpy(spare, a + k * size, size);
        size_t to = k;
        while (from[to] != (int32_t)k) {
            const size_t next = (size_t)from[to];
            memcpy(a + to * size, a + next * size, size);
            from[to] = (int32_t)to;
            to = next;
        }
        memcpy(a + to * size, spare, size);
        from[to] = (int32_t)to;
    }
}

/* Layer groups know their pair by its slot. */
static void rename_slots(struct tac_active *active, const int32_t *to)
{
    for (size_t k = 0; k < active->rate_group_count; k++) {
        struct tac_rate_group *r = &active->rate_group[k];
        for (size_t i = 0; i < r->count; i++)
            r->group[i].pair = r->group[i].pair >= 0 ? to[r->group[i].pair] : -1;
        for (size_t i = 0; i < r->extra_count; i++)
            r->extra[i].pair = to[r->extra[i].pair];
    }
}

/* Orders the slots: live ones first, by key, then the free ones. from[k]: the slot that moves to place k; to[]: the
 * inverse. */
static enum tac_err order_slots(struct tac_ctx *ctx, const struct tac_active *active, int32_t *from, int32_t *to)
{
    enum tac_err err;
    struct keyed *sorted = NULL;
    size_t live = 0, free_one = 0;
    TAC_TRY(tac_alloc(ctx, active->pair_count, sizeof *sorted, &sorted));
    for (size_t k = 0; k < active->pair_count; k++)
        if (active->pair[k].live)
            sorted[live++] = (struct keyed){active->pair[k].key, (int32_t)k};
    qsort(sorted, live, sizeof *sorted, compare_keys);
    for (size_t k = 0; k < live; k++)
        from[k] = sorted[k].slot;
    for (size_t k = 0; k < active->pair_count; k++)
        if (!active->pair[k].live)
            from[live + free_one++] = (int32_t)k;
    for (size_t k = 0; k < active->pair_count; k++)
        to[from[k]] = (int32_t)k;
done:
    free(sorted);
    return err;
}

/* Sorts the anchors into the order in which classes use them. */
static enum tac_err order_anchors(struct tac_ctx *ctx, struct tac_active *active)
{
    enum tac_err err = TAC_OK;
    struct tac_friction *f = active->friction;
    int32_t *from = NULL, count = 0;
    struct tac_anchor spare;
    if (f == NULL || f->anchor_count == 0)
        return TAC_OK;
    TAC_TRY(tac_alloc(ctx, f->anchor_count, sizeof *from, &from));
    for (size_t k = 0; k < active->rate_group_count; k++) {
        struct tac_rate_group *r = &active->rate_group[k];
        for (size_t i = 0; i < r->count + r->extra_count; i++) {
            struct tac_layer_group *e = i < r->count ? &r->group[i] : &r->extra[i - r->count];
            if (e->pair < 0 || e->anchor < 0)
                continue;
            from[count] = e->anchor;
            e->anchor = count++;
        }
    }
    TAC_CHECK((size_t)count == f->anchor_count - f->free_count);
    for (size_t k = 0; k < f->free_count; k++) {
        from[(size_t)count + k] = f->free_anchor[k];
        f->free_anchor[k] = (int32_t)((size_t)count + k);
    }
    permute_array(f->anchor, sizeof *f->anchor, f->anchor_count, from, (char *)&spare);
    f->anchor_count = (size_t)count;
    f->free_count = 0;
done:
    free(from);
    return err;
}

enum tac_err tac_active_sort(struct tac_ctx *ctx, struct tac_active *active, int32_t **slot)
{
    enum tac_err err = TAC_OK;
    int32_t *from = NULL, *to = NULL;
    struct tac_pair spare;
    struct tac_friction_state friction_spare;
    struct tac_rolling_values rolling_spare;
    *slot = NULL;
    if (active->unsorted < NEW_AT_LEAST + active->live_pairs / NEW_SHARE)
        return TAC_OK;
    TAC_TRY(tac_alloc(ctx, active->pair_count, sizeof *from, &from));
    TAC_TRY(tac_alloc(ctx, active->pair_count, sizeof *to, &to));
    TAC_TRY(order_slots(ctx, active, from, to));
    tac_friction_begin(active); /* what it kept is known by slots */
    rename_slots(active, to);
    permute_array(active->pair, sizeof *active->pair, active->pair_count, from, (char *)&spare);
    if (active->friction != NULL) {
        for (size_t k = 0; k < active->pair_count; k++)
            from[to[k]] = (int32_t)k;
        permute_array(active->friction->friction_state, sizeof *active->friction->friction_state, active->pair_count,
                      from, (char *)&friction_spare);
        if (active->friction->rolls) {
            for (size_t k = 0; k < active->pair_count; k++)
                from[to[k]] = (int32_t)k;
            permute_array(active->friction->rolling, sizeof *active->friction->rolling, active->pair_count, from,
                          (char *)&rolling_spare);
        }
    }
    TAC_TRY(order_anchors(ctx, active));
    for (size_t i = 0; i < active->hash_size; i++)
        if (active->hash[i].slot >= 0)
            active->hash[i].slot = to[active->hash[i].slot];
    active->pair_count = active->live_pairs;
    active->free_count = 0;
    active->unsorted = 0;
    *slot = to;
    to = NULL;
done:
    free(from);
    free(to);
    return err;
}
