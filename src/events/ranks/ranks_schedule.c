/* ranks_schedule.c: the schedule of messages between ranks: which ranks exchange positions at which instants, from the
 * elements and the active layer groups (docs/reference/ranks.md, A pass). */
#include "events/ranks/ranks.h"
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* ---- schedule ---- */

static enum tac_err lane_add(struct tac_sim *sim, struct tac_lane *lane, tac_time period, tac_lid v)
{
    enum tac_err err;
    size_t k;
    if (sim->ranks->halo.nested) {
        k = (size_t)__builtin_ctzll((unsigned long long)period);
        lane->mask |= (uint64_t)1 << k;
    } else {
        for (k = 0; k < lane->group_count && lane->group[k].period < period; k++) {
        }
        if (k == lane->group_count || lane->group[k].period != period) {
            const size_t before = lane->group_capacity;
            TAC_TRY(
                tac_grow(sim->ctx, &lane->group, &lane->group_capacity, lane->group_count + 1, sizeof *lane->group));
            if (lane->group_capacity > before)
                memset(&lane->group[before], 0, (lane->group_capacity - before) * sizeof *lane->group);
            struct tac_group spare = lane->group[lane->group_count]; /* may hold memory of an earlier schedule */
            memmove(&lane->group[k + 1], &lane->group[k], (lane->group_count - k) * sizeof *lane->group);
            lane->group[k] = spare;
            lane->group[k].period = period;
            lane->group[k].count = 0;
            lane->group_count++;
        }
    }
    struct tac_group *g = &lane->group[k];
    TAC_TRY(tac_grow(sim->ctx, &g->v, &g->capacity, g->count + 1, sizeof *g->v));
    g->v[g->count++] = v;
done:
    return err;
}

static void lane_clear(const struct tac_sim *sim, struct tac_lane *lane)
{
    for (size_t k = 0; k < lane->group_count; k++)
        lane->group[k].count = 0;
    lane->mask = 0;
    if (!sim->ranks->halo.nested)
        lane->group_count = 0;
}

static int compare_shared(const void *a, const void *b)
{
    const struct tac_shared *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->receive != y->receive)
        return x->receive < y->receive ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->period > y->period) - (x->period < y->period);
}

/* What the owners of these n vertices send each other at the ticks of a period. */
static enum tac_err share_stencil(struct tac_sim *sim, struct tac_shared **list, size_t *count, size_t *capacity,
                                  const tac_lid *v, int n, tac_time period)
{
    enum tac_err err = TAC_OK;
    const int me = sim->ctx->rank;
    for (int i = 0; i < n; i++) {
        const int other = tac_scene_owner(sim->ctx, sim->scene, v[i]);
        if (other == me)
            continue;
        if (tac_halo_neighbor(&sim->ranks->halo, other) == NULL)
            return sim->ranks->halo.down;
        sim->ranks->halo.neighbor[sim->ranks->halo.index[other]].met = true;
        bool again = false;
        for (int j = 0; j < i; j++)
            again |= tac_scene_owner(sim->ctx, sim->scene, v[j]) == other;
        TAC_TRY(tac_grow(sim->ctx, list, capacity, *count + 8, sizeof **list));
        if (!tac_model_is_immovable(sim->model, v[i]))
            (*list)[(*count)++] = (struct tac_shared){other, 1, v[i], tac_scene_id(sim->scene, v[i]), period};
        for (int j = 0; j < n && !again; j++)
            if (tac_scene_owner(sim->ctx, sim->scene, v[j]) == me && !tac_model_is_immovable(sim->model, v[j]))
                (*list)[(*count)++] = (struct tac_shared){other, 0, v[j], tac_scene_id(sim->scene, v[j]), period};
    }
done:
    return err;
}

/* Does the same for those vertices of a pair that take part in it. */
static enum tac_err share_pair(struct tac_sim *sim, const struct tac_pair *p, tac_time period)
{
    struct tac_ranks *r = sim->ranks;
    tac_lid v[4];
    int n = 0;
    for (int i = 0; i < p->count; i++)
        if (tac_model_takes_part(sim->model, p->v[i]))
            v[n++] = p->v[i];
    return share_stencil(sim, &r->shared, &r->shared_count, &r->shared_capacity, v, n, period);
}

/* Removes repeated entries. With nested clocks only the shortest period of each vertex and direction remains; with free
 * clocks each period remains once. */
static size_t drop_repeated(const struct tac_sim *sim, struct tac_shared *list, size_t count)
{
    size_t n = 0;
    if (count)
        qsort(list, count, sizeof *list, compare_shared);
    for (size_t k = 0; k < count; k++) {
        const struct tac_shared *last = n ? &list[n - 1] : NULL;
        if (last && last->rank == list[k].rank && last->receive == list[k].receive && last->id == list[k].id &&
            (sim->ranks->halo.nested || last->period == list[k].period))
            continue;
        list[n++] = list[k];
    }
    return n;
}

/* ---- many pairs give equal entries: each entry is kept once, before the entries are sorted ---- */

/* Returns the place of an entry in the table, or the place where it may be inserted. With nested clocks a vertex and
 * direction have only one period. */
static int32_t *place_of(const struct tac_sim *sim, const struct tac_shared *e)
{
    const struct tac_ranks *r = sim->ranks;
    const uint64_t who = (uint64_t)e->v << 32 | (uint64_t)(uint32_t)(2 * e->rank + e->receive);
    const bool nested = r->halo.nested;
    size_t i = (size_t)tac_hash64(who, nested ? 0 : (uint64_t)e->period) & (r->place_size - 1);
    for (; r->place[i] >= 0; i = (i + 1) & (r->place_size - 1)) {
        const struct tac_shared *other = &r->shared[r->place[i]];
        if (other->v == e->v && other->rank == e->rank && other->receive == e->receive &&
            (nested || other->period == e->period))
            break;
    }
    return &r->place[i];
}

/* Fills the table with the first `count` shared entries, which are all different; it has room for twice as many. */
static enum tac_err fill_places(struct tac_sim *sim, size_t count)
{
    enum tac_err err = TAC_OK;
    struct tac_ranks *r = sim->ranks;
    size_t size = 64;
    while (size < 4 * count)
        size *= 2;
    if (size > r->place_size) {
        free(r->place);
        r->place = NULL;
        r->place_size = 0;
        TAC_TRY(tac_alloc(sim->ctx, size, sizeof *r->place, &r->place));
        r->place_size = size;
    }
    memset(r->place, 0xff, r->place_size * sizeof *r->place);
    for (size_t k = 0; k < count; k++)
        *place_of(sim, &r->shared[k]) = (int32_t)k;
done:
    return err;
}

/* Keeps those entries after the first `known` that are new; an entry that exists already gets the shorter period. */
static enum tac_err keep_new(struct tac_sim *sim, size_t known)
{
    enum tac_err err = TAC_OK;
    struct tac_ranks *r = sim->ranks;
    const size_t count = r->shared_count;
    for (size_t k = r->shared_count = known; k < count; k++) {
        const struct tac_shared e = r->shared[k];
        int32_t *place = place_of(sim, &e);
        if (*place >= 0) {
            tac_time *period = &r->shared[*place].period;
            *period = e.period < *period ? e.period : *period;
        } else {
            *place = (int32_t)r->shared_count;
            r->shared[r->shared_count++] = e;
        }
    }
    if (2 * r->shared_count > r->place_size)
        err = fill_places(sim, r->shared_count);
    return err;
}

static enum tac_err share_pairs(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_ranks *r = sim->ranks;
    r->shortest = TAC_TIME_NEVER;
    TAC_TRY(fill_places(sim, r->shared_count));
    for (size_t k = 0; k < sim->active.pair_count; k++) {
        const struct tac_pair *p = &sim->active.pair[k];
        if (!p->live || !p->shared)
            continue;
        r->shortest = p->deep_period < r->shortest ? p->deep_period : r->shortest;
        for (int32_t first = 1, last; first <= p->depth; first = last + 1) {
            tac_time period = tac_model_layer_group(sim->model, &p->form, first, &last);
            const size_t known = r->shared_count;
            if (sim->ranks->halo.nested && last < p->depth)
                continue; /* a deeper layer group ticks at all of its instants */
            TAC_TRY(share_pair(sim, p, period));
            TAC_TRY(keep_new(sim, known));
        }
    }
done:
    return err;
}

enum tac_err tac_ranks_schedule(struct tac_sim *sim)
{
    enum tac_err err;
    struct tac_ranks *r = sim->ranks;
    for (size_t k = 0; k < r->halo.count; k++) {
        lane_clear(sim, &r->halo.neighbor[k].send);
        lane_clear(sim, &r->halo.neighbor[k].receive);
        r->halo.neighbor[k].met = false;
        r->halo.neighbor[k].fixed = 0;
    }
    for (size_t k = 0; k < r->fixed_count; k++) {
        struct tac_neighbor *n = &r->halo.neighbor[r->halo.index[r->fixed[k].rank]];
        n->met = true;
        n->fixed |= (uint64_t)r->fixed[k].period;
    }
    TAC_TRY(tac_grow(sim->ctx, &r->shared, &r->shared_capacity, r->fixed_count + 1, sizeof *r->shared));
    if (r->fixed_count)
        memcpy(r->shared, r->fixed, r->fixed_count * sizeof *r->shared);
    r->shared_count = r->fixed_count;
    if (sim->contact)
        TAC_TRY(share_pairs(sim));
    r->shared_count = drop_repeated(sim, r->shared, r->shared_count);
    r->mask = 0;
    for (size_t k = 0; k < r->shared_count; k++) {
        const struct tac_shared *e = &r->shared[k];
        struct tac_neighbor *n = &r->halo.neighbor[r->halo.index[e->rank]];
        TAC_TRY(lane_add(sim, e->receive ? &n->receive : &n->send, e->period, e->v));
        r->mask |= sim->ranks->halo.nested ? (uint64_t)e->period : 0;
    }
    tac_halo_link(&sim->ranks->halo);
    r->halo.changed = false;
done:
    return err;
}

enum tac_err tac_ranks_share_elements(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_ranks *r = sim->ranks;
    size_t capacity = 0;
    for (size_t c = 0; c < sim->elastic->class_count; c++) {
        const struct tac_rate_class *rate = &sim->elastic->rate[c];
        for (int kind = TAC_KIND_SPRING; kind < TAC_KINDS; kind++)
            for (size_t e = 0; e < tac_class_count(rate, kind); e++) {
                int n;
                const tac_lid *v = tac_elastic_stencil(rate, kind, e, &n);
                TAC_TRY(share_stencil(sim, &r->fixed, &r->fixed_count, &capacity, v, n, rate->period));
            }
    }
    for (size_t k = 0; k < sim->motors.count; k++)
        TAC_TRY(share_stencil(sim, &r->fixed, &r->fixed_count, &capacity, sim->motors.motor[k].point, TAC_MOTOR_POINTS,
                              sim->motors.period));
    r->fixed_count = drop_repeated(sim, r->fixed, r->fixed_count);
done:
    return err;
}

void tac_ranks_deepen(struct tac_sim *sim, const struct tac_pair *p, tac_time period)
{
    struct tac_ranks *r = sim->ranks;
    const size_t fixed = r->shared_count;
    enum tac_err err = share_pair(sim, p, period);
    for (size_t k = fixed; k < r->shared_count && !err; k++) {
        const struct tac_shared *e = &r->shared[k];
        struct tac_neighbor *n = &r->halo.neighbor[r->halo.index[e->rank]];
        err = lane_add(sim, e->receive ? &n->receive : &n->send, period, e->v);
    }
    r->shared_count = fixed;
    r->mask |= (uint64_t)period;
    r->shortest = period < r->shortest ? period : r->shortest;
    r->halo.changed = true;
    tac_ranks_failed(sim->ranks, err);
}

/* ---- which neighbours are awake: if all layer groups that two ranks share sleep through an instant (contact_tick.c),
 * and no element that they share ticks, they send each other nothing. Both ranks know this, because the shared layer
 * groups sleep alike on both ---- */

/* Lists the neighbours that share a pair, each once. */
static int list_sharers(const struct tac_sim *sim, const struct tac_pair *p, int32_t neighbor[4])
{
    int n = 0;
    for (int i = 0; i < p->count; i++) {
        const int owner = tac_scene_owner(sim->ctx, sim->scene, p->v[i]);
        if (owner == sim->ctx->rank || !tac_model_takes_part(sim->model, p->v[i]))
            continue;
        const int32_t k = sim->ranks->halo.index[owner];
        bool again = false;
        for (int j = 0; j < n; j++)
            again |= neighbor[j] == k;
        if (!again)
            neighbor[n++] = k;
    }
    return n;
}

enum tac_err tac_ranks_list_meetings(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_ranks *r = sim->ranks;
    size_t count = 0;
    r->skips = r->halo.nested && sim->contact && sim->find.kinetic == NULL;
    for (size_t c = 0; c < TAC_GROUPS; c++) {
        r->meeting_begin[c] = count;
        const struct tac_rate_group *groups =
            r->skips && c < sim->active.rate_group_count ? &sim->active.rate_group[c] : NULL;
        for (size_t k = 0; groups != NULL && k < groups->count; k++) {
            int32_t neighbor[4];
            if (!groups->group[k].shared)
                continue;
            const int n = list_sharers(sim, &sim->active.pair[groups->group[k].pair], neighbor);
            TAC_TRY(tac_grow(sim->ctx, &r->meeting, &r->meeting_capacity, count + 4, sizeof *r->meeting));
            for (int i = 0; i < n; i++)
                r->meeting[count++] = (struct tac_meeting){(uint32_t)k, neighbor[i]};
        }
    }
    r->meeting_begin[TAC_GROUPS] = count;
done:
    return err;
}

void tac_ranks_wake(struct tac_sim *sim, tac_time t)
{
    struct tac_ranks *r = sim->ranks;
    const uint64_t due = ((uint64_t)t & -(uint64_t)t) * 2 - 1;
    for (size_t k = 0; k < r->halo.count; k++)
        r->halo.neighbor[k].awake = !r->skips || (r->halo.neighbor[k].fixed & due) != 0;
    for (size_t i = 0; i < sim->clocks.due_group_count && r->skips; i++) {
        const size_t class = (size_t)sim->clocks.due_group[i];
        const struct tac_rate_group *c = &sim->active.rate_group[class];
        for (size_t k = r->meeting_begin[class]; k < r->meeting_begin[class + 1]; k++)
            r->halo.neighbor[r->meeting[k].neighbor].awake |= c->wake[r->meeting[k].group] <= t;
        for (size_t k = 0; k < c->extra_count; k++) {
            int32_t neighbor[4];
            if (!c->extra[k].shared || c->extra[k].wake > t)
                continue;
            const int n = list_sharers(sim, &sim->active.pair[c->extra[k].pair], neighbor);
            for (int j = 0; j < n; j++)
                r->halo.neighbor[neighbor[j]].awake = true;
        }
    }
}
