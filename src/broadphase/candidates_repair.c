/* candidates_repair.c: repairs the list of candidates where some vertices left their trajectory bounds (docs/engine.md,
 * Candidates): these get new ones, and the list becomes what it would be with these.
 *
 * A trajectory bound that is laid in mid-life counts from the start of the window under way: only windows that end
 * later will ask for it. So the list holds every pair that may touch from then on, if every pair with a leaver is
 * looked for anew (its primitives' boxes have changed, so the search of the changed parts of the trees comes by it),
 * and every other pair stays as it was found.
 */
#include "broadphase/candidates.h"
#include "geometry/distance.h"
#include <stdlib.h>
#include <string.h>

enum {
    SLICES = sizeof((struct tac_candidates *)0)->slice_end / sizeof(size_t) - 1,
    ENTRY_COST = 2 /* of an entry that a repair goes past, in tests of boxes */
};

/* Takes the entries with leavers off the list. Active pairs and limits stay: they are always on it. */
static void take_out(struct tac_view *view, struct tac_candidates *c)
{
    size_t n = 0, k = 0, known = 0;
    for (int slice = 0; slice < SLICES; slice++) {
        for (; k < c->slice_end[slice]; k++) {
            const struct tac_candidate *q = &c->list[k];
            bool left = false;
            for (int i = 0; i < q->count; i++)
                left |= c->repair.left[q->v[i]];
            if (left && q->slot >= 0)
                view->active->pair[q->slot].listed = 1;
            if (left && q->slot < 0 && !tac_pair_is_limit((enum tac_pair_type)q->type))
                continue;
            known += k < c->known;
            if (n < k)
                c->list[n] = *q;
            n++;
        }
        c->slice_end[slice] = n;
    }
    c->count = n;
    c->known = known;
}

/* Which slice of time a pair found anew goes into: its own, or the last one that is known if its own is past. */
static int slice_from(const struct tac_candidate *q, int last)
{
    const int slice = tac_candidates_slice(q);
    return slice > last ? slice : last;
}

/* Enters what was found into its slices of time; there is room. */
static void enter(struct tac_candidates *c, size_t count)
{
    size_t more[SLICES] = {0}, before = count;
    int last = 0;
    while (c->slice_end[last] < c->known)
        last++;
    for (size_t k = 0; k < count; k++)
        more[slice_from(&c->repair.fresh[k], last)]++;
    /* From the back, each slice makes room for what comes before it: as many of its first go behind its last. */
    for (int k = SLICES - 1; k >= 0; k--) {
        const size_t begin = k > 0 ? c->slice_end[k - 1] : 0, end = c->slice_end[k];
        before -= more[k];
        const size_t moved = before < end - begin ? before : end - begin;
        if (moved > 0)
            memcpy(&c->list[end + before - moved], &c->list[begin], moved * sizeof *c->list);
        c->slice_end[k] = end + before;
    }
    for (size_t k = 0; k < count; k++)
        c->list[c->slice_end[slice_from(&c->repair.fresh[k], last)]++] = c->repair.fresh[k];
    c->known += more[last];
    c->count += count;
}

static void mark(struct tac_candidates *c, uint8_t left)
{
    for (size_t k = 0; k < c->repair.leaver_count; k++)
        c->repair.left[c->repair.leaver[k]] = left;
}

enum tac_err tac_candidates_repair(struct tac_view *view, struct tac_candidates *c, tac_time window, bool *done)
{
    enum tac_err err = TAC_OK;
    const double window_s = tac_state_seconds(view->state, window), extent = c->extent;
    size_t count = 0;
    *done = false;
    if (c->repair.leaver_count > c->repair.leaver_most)
        return TAC_OK;
    c->from_s = tac_state_seconds(view->state, view->state->now - c->start);
    for (size_t k = 0; k < c->repair.leaver_count; k++)
        tac_candidates_bound(view, c, c->repair.leaver[k], window_s, c->from_s);
    if (c->extent > 2 * extent)
        return TAC_OK; /* the margins for rounding of all other boxes and pairs were made for a smaller one */
    mark(c, 1);
    if (view->halo && !tac_remote_unconcerned(view, c)) {
        mark(c, 0);
        return TAC_OK;
    }
    *done = true;
    c->cost.repair += ENTRY_COST * (int64_t)c->count;
    take_out(view, c);
    c->found = c->repair.fresh;
    c->capacity_found = c->repair.fresh_capacity;
    err = tac_candidates_find_changed(view, c, &count);
    c->repair.fresh = c->found;
    c->repair.fresh_capacity = c->capacity_found;
    c->found = NULL;
    mark(c, 0);
    for (size_t k = 0; k < c->count; k++)
        if (c->list[k].slot >= 0)
            view->active->pair[c->list[k].slot].listed = 0;
    TAC_TRY(err);
    TAC_TRY(tac_grow(view->ctx, &c->list, &c->capacity, c->count + count, sizeof *c->list));
    enter(c, count);
    view->counters->candidate_repairs++;
    view->counters->candidates = (int64_t)c->count;
done:
    return err;
}
