/* rate_groups.c: classes of layer groups: all layer groups of one period, in the order of their keys
 * (docs/reference/engine.md, Layer groups). */
#include "events/clock/rate_groups.h"
#include "contact/friction.h"
#include <stdlib.h>
#include <string.h>

bool tac_groups_before(const struct tac_layer_group *a, const struct tac_layer_group *b)
{
    return a->key != b->key ? a->key < b->key : a->first < b->first;
}

static int compare_groups(const void *a, const void *b)
{
    const struct tac_layer_group *x = a, *y = b;
    return tac_groups_before(x, y) ? -1 : tac_groups_before(y, x);
}

struct tac_layer_group *tac_groups_find(struct tac_rate_group *c, uint64_t key, int32_t first)
{
    const struct tac_layer_group wanted = {.key = key, .first = first};
    size_t lo = 0, hi = c->count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (tac_groups_before(&c->group[mid], &wanted))
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < c->count && c->group[lo].key == key && c->group[lo].first == first)
        return &c->group[lo];
    for (size_t i = 0; i < c->extra_count; i++)
        if (c->extra[i].key == key && c->extra[i].first == first)
            return &c->extra[i];
    return NULL;
}

enum tac_err tac_rate_group_of(struct tac_sim *sim, tac_time period, size_t *index)
{
    enum tac_err err = TAC_OK;
    if (sim->scene->settings->clocks.mode == TAC_CLOCKS_NESTED) {
        *index = (size_t)__builtin_ctzll((unsigned long long)period);
        return TAC_OK;
    }
    size_t lo = 0, hi = sim->active.rate_group_count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (sim->active.rate_group[mid].period < period)
            lo = mid + 1;
        else
            hi = mid;
    }
    *index = lo;
    if (lo < sim->active.rate_group_count && sim->active.rate_group[lo].period == period)
        return TAC_OK;
    TAC_TRY(tac_grow(sim->ctx, &sim->active.rate_group, &sim->active.rate_group_capacity,
                     sim->active.rate_group_count + 1, sizeof *sim->active.rate_group));
    memmove(&sim->active.rate_group[lo + 1], &sim->active.rate_group[lo],
            (sim->active.rate_group_count - lo) * sizeof *sim->active.rate_group);
    sim->active.rate_group_count++;
    sim->active.rate_group[lo] =
        (struct tac_rate_group){.period = period, .h_s = tac_state_seconds(&sim->state, period)};
done:
    return err;
}

enum tac_err tac_active_create(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    if (sim->scene->settings->clocks.mode == TAC_CLOCKS_NESTED) {
        TAC_TRY(tac_grow(sim->ctx, &sim->active.rate_group, &sim->active.rate_group_capacity, 63,
                         sizeof *sim->active.rate_group));
        for (size_t k = 0; k < 63; k++)
            sim->active.rate_group[k] = (struct tac_rate_group){
                .period = (tac_time)1 << k, .h_s = tac_state_seconds(&sim->state, (tac_time)1 << k)};
        sim->active.rate_group_count = 63;
    }
done:
    return err;
}

struct tac_layer_group tac_groups_new(struct tac_active *active, const struct tac_model *model, int32_t slot,
                                      int32_t first, int32_t last, tac_time t)
{
    const struct tac_pair *p = &active->pair[slot];
    const int32_t anchor = tac_friction_anchor(active, slot);
    const double clear = tac_model_reach(model, &p->form, first);
    return (struct tac_layer_group){.key = p->key,
                                    .pair = slot,
                                    .first = first,
                                    .last = last,
                                    .shared = p->shared,
                                    .anchor = anchor,
                                    .born = t,
                                    .last_d = INFINITY,
                                    .saved_d = INFINITY,
                                    .clear = clear};
}

void tac_groups_append(struct tac_active *active, const struct tac_model *model, struct tac_rate_group *c, int32_t slot,
                       int32_t first, int32_t last, tac_time t)
{
    const struct tac_layer_group group = tac_groups_new(active, model, slot, first, last, t);
    size_t k = c->extra_count++;
    /* In key order: births come in that order, so this seldom moves anything. */
    while (k > 0 && tac_groups_before(&group, &c->extra[k - 1])) {
        c->extra[k] = c->extra[k - 1];
        k--;
    }
    c->extra[k] = group;
}

/* Merges from the back, so that no copy is needed. */
enum tac_err tac_groups_settle(struct tac_ctx *ctx, struct tac_rate_group *c)
{
    enum tac_err err = TAC_OK;
    if (c->dropped) {
        size_t n = 0;
        for (size_t i = 0; i < c->count; i++)
            if (c->group[i].pair >= 0) {
                c->wake[n] = c->wake[i];
                c->group[n++] = c->group[i];
            }
        c->count = n;
        c->dropped = 0;
    }
    if (c->extra_count) {
        TAC_TRY(tac_grow(ctx, &c->group, &c->capacity, c->count + c->extra_count, sizeof *c->group));
        TAC_TRY(tac_grow(ctx, &c->wake, &c->wake_capacity, c->count + c->extra_count, sizeof *c->wake));
        qsort(c->extra, c->extra_count, sizeof *c->extra, compare_groups);
        size_t i = c->count, j = c->extra_count;
        for (size_t k = i + j; j > 0;) {
            bool take_extra = i == 0 || tac_groups_before(&c->group[i - 1], &c->extra[j - 1]);
            --k;
            c->wake[k] = take_extra ? c->extra[j - 1].wake : c->wake[i - 1];
            c->group[k] = take_extra ? c->extra[--j] : c->group[--i];
        }
        c->count += c->extra_count;
        c->extra_count = 0;
    }
done:
    return err;
}

static const struct tac_layer_group *find_group_of(struct tac_sim *sim, uint64_t key, tac_time period, int32_t first)
{
    size_t index;
    return tac_rate_group_of(sim, period, &index) ? NULL : tac_groups_find(&sim->active.rate_group[index], key, first);
}

double tac_active_last(struct tac_sim *sim, uint64_t key, tac_time period, int32_t first)
{
    const struct tac_layer_group *group = find_group_of(sim, key, period, first);
    return group ? group->last_d : INFINITY;
}

int32_t tac_active_anchor(struct tac_sim *sim, uint64_t key, tac_time period, int32_t first)
{
    const struct tac_layer_group *group = find_group_of(sim, key, period, first);
    return group ? group->anchor : -1;
}
