/* rungs.c: classes of rungs: all rungs of one period, in the order of their keys (docs/engine.md, Rungs). */
#include "events/rungs.h"
#include "contact/friction.h"
#include <stdlib.h>
#include <string.h>

bool tac_rungs_before(const struct tac_rung *a, const struct tac_rung *b)
{
    return a->key != b->key ? a->key < b->key : a->first < b->first;
}

static int compare_rungs(const void *a, const void *b)
{
    const struct tac_rung *x = a, *y = b;
    return tac_rungs_before(x, y) ? -1 : tac_rungs_before(y, x);
}

struct tac_rung *tac_rungs_find(struct tac_rung_class *c, uint64_t key, int32_t first)
{
    const struct tac_rung wanted = {.key = key, .first = first};
    size_t lo = 0, hi = c->count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (tac_rungs_before(&c->rung[mid], &wanted))
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < c->count && c->rung[lo].key == key && c->rung[lo].first == first)
        return &c->rung[lo];
    for (size_t i = 0; i < c->extra_count; i++)
        if (c->extra[i].key == key && c->extra[i].first == first)
            return &c->extra[i];
    return NULL;
}

enum tac_err tac_rungs_class(struct tac_sim *sim, tac_time period, size_t *index)
{
    enum tac_err err = TAC_OK;
    if (sim->scene->settings->clocks.mode == TAC_CLOCKS_NESTED) {
        *index = (size_t)__builtin_ctzll((unsigned long long)period);
        return TAC_OK;
    }
    size_t lo = 0, hi = sim->active.rung_class_count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (sim->active.rung_class[mid].period < period)
            lo = mid + 1;
        else
            hi = mid;
    }
    *index = lo;
    if (lo < sim->active.rung_class_count && sim->active.rung_class[lo].period == period)
        return TAC_OK;
    TAC_TRY(tac_grow(sim->ctx, &sim->active.rung_class, &sim->active.rung_class_capacity,
                     sim->active.rung_class_count + 1, sizeof *sim->active.rung_class));
    memmove(&sim->active.rung_class[lo + 1], &sim->active.rung_class[lo],
            (sim->active.rung_class_count - lo) * sizeof *sim->active.rung_class);
    sim->active.rung_class_count++;
    sim->active.rung_class[lo] = (struct tac_rung_class){.period = period, .h_s = tac_seconds(sim, period)};
done:
    return err;
}

enum tac_err tac_watch_create(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    if (sim->scene->settings->clocks.mode == TAC_CLOCKS_NESTED) {
        TAC_TRY(tac_grow(sim->ctx, &sim->active.rung_class, &sim->active.rung_class_capacity, 63,
                         sizeof *sim->active.rung_class));
        for (size_t k = 0; k < 63; k++)
            sim->active.rung_class[k] =
                (struct tac_rung_class){.period = (tac_time)1 << k, .h_s = tac_seconds(sim, (tac_time)1 << k)};
        sim->active.rung_class_count = 63;
    }
done:
    return err;
}

void tac_rungs_append(struct tac_sim *sim, struct tac_rung_class *c, int32_t slot, int32_t first, int32_t last,
                      tac_time t)
{
    const struct tac_rung rung = {
        sim->active.pair[slot].key, slot, first, last, tac_friction_anchor(&sim->active, slot), t, INFINITY, INFINITY};
    size_t k = c->extra_count++;
    /* In key order: births come in that order, so this seldom moves anything. */
    while (k > 0 && tac_rungs_before(&rung, &c->extra[k - 1])) {
        c->extra[k] = c->extra[k - 1];
        k--;
    }
    c->extra[k] = rung;
}

/* From the back. */
enum tac_err tac_rungs_settle(struct tac_sim *sim, struct tac_rung_class *c)
{
    enum tac_err err = TAC_OK;
    if (c->dropped) {
        size_t n = 0;
        for (size_t i = 0; i < c->count; i++)
            if (c->rung[i].pair >= 0)
                c->rung[n++] = c->rung[i];
        c->count = n;
        c->dropped = 0;
    }
    if (c->extra_count) {
        TAC_TRY(tac_grow(sim->ctx, &c->rung, &c->capacity, c->count + c->extra_count, sizeof *c->rung));
        qsort(c->extra, c->extra_count, sizeof *c->extra, compare_rungs);
        size_t i = c->count, j = c->extra_count;
        for (size_t k = i + j; j > 0;) {
            bool take_extra = i == 0 || tac_rungs_before(&c->rung[i - 1], &c->extra[j - 1]);
            c->rung[--k] = take_extra ? c->extra[--j] : c->rung[--i];
        }
        c->count += c->extra_count;
        c->extra_count = 0;
    }
done:
    return err;
}

double tac_watch_last(struct tac_sim *sim, uint64_t key, tac_time period, int32_t first)
{
    size_t index;
    if (tac_rungs_class(sim, period, &index) != TAC_OK)
        return INFINITY;
    const struct tac_rung *rung = tac_rungs_find(&sim->active.rung_class[index], key, first);
    return rung ? rung->last_d : INFINITY;
}

int32_t tac_watch_anchor(struct tac_sim *sim, uint64_t key, tac_time period, int32_t first)
{
    size_t index;
    if (tac_rungs_class(sim, period, &index) != TAC_OK)
        return -1;
    const struct tac_rung *rung = tac_rungs_find(&sim->active.rung_class[index], key, first);
    return rung ? rung->anchor : -1;
}
