/* pair_table.c: the table of active pairs: a slot for each, found by its key (open addressing, linear probing; active.h
 * has the look-up). */
#include "contact/friction.h"
#include <stdlib.h>
#include <string.h>

static void hash_put(struct tac_active *active, int32_t slot)
{
    const uint32_t tag = tac_active_tag(active->pair[slot].key);
    size_t i = tac_active_home(active, tag);
    while (active->hash[i].slot >= 0)
        i = (i + 1) & (active->hash_size - 1);
    active->hash[i] = (struct tac_slot_place){slot, tag};
}

static void hash_remove(struct tac_active *active, int32_t slot)
{
    struct tac_slot_place *hash = active->hash;
    const size_t mask = active->hash_size - 1;
    size_t i = tac_active_home(active, tac_active_tag(active->pair[slot].key));
    while (hash[i].slot != slot)
        i = (i + 1) & mask;
    /* Close the gap: move back whatever may not stay behind it. */
    for (size_t j = (i + 1) & mask; hash[j].slot >= 0; j = (j + 1) & mask) {
        size_t k = tac_active_home(active, hash[j].tag);
        if (((j - k) & mask) >= ((j - i) & mask)) {
            hash[i] = hash[j];
            i = j;
        }
    }
    hash[i].slot = -1;
}

static enum tac_err hash_room(struct tac_ctx *ctx, struct tac_active *active)
{
    enum tac_err err = TAC_OK;
    struct tac_slot_place *table = NULL;
    if (2 * (active->live_pairs + 1) <= active->hash_size)
        return TAC_OK;
    size_t size = active->hash_size ? 2 * active->hash_size : 256;
    TAC_TRY(tac_alloc(ctx, size, sizeof *table, &table));
    memset(table, 0xff, size * sizeof *table);
    free(active->hash);
    active->hash = table;
    active->hash_size = size;
    for (size_t k = 0; k < active->pair_count; k++)
        if (active->pair[k].live)
            hash_put(active, (int32_t)k);
done:
    return err;
}

enum tac_err tac_pairs_add(struct tac_ctx *ctx, struct tac_active *active, uint64_t key, const tac_lid v[4],
                           int32_t *slot)
{
    enum tac_err err;
    TAC_TRY(hash_room(ctx, active));
    if (active->free_count) {
        *slot = active->free_slot[--active->free_count];
    } else {
        TAC_TRY(tac_grow_lines(ctx, &active->pair, &active->pair_capacity, active->pair_count, active->pair_count + 1,
                               sizeof *active->pair));
        /* Every slot may come free: dropping a pair must not fail. */
        TAC_TRY(tac_grow(ctx, &active->free_slot, &active->free_capacity, active->pair_capacity,
                         sizeof *active->free_slot));
        *slot = (int32_t)active->pair_count++;
    }
    TAC_TRY(tac_friction_pair(ctx, active, *slot));
    struct tac_pair *p = &active->pair[*slot];
    memset(p, 0, sizeof *p);
    p->key = key;
    p->type = (uint8_t)tac_key_type(key);
    p->count = (uint8_t)tac_pair_vertices(tac_key_type(key));
    p->live = 1;
    p->d_tick = INFINITY;
    p->deep_last = INFINITY;
    memcpy(p->v, v, sizeof p->v);
    hash_put(active, *slot);
    active->live_pairs++;
    active->unsorted++;
done:
    return err;
}

void tac_pairs_remove(struct tac_active *active, int32_t slot)
{
    hash_remove(active, slot);
    active->pair[slot].live = 0;
    active->live_pairs--;
    active->free_slot[active->free_count++] = slot;
}
