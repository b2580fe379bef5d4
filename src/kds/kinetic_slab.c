/* kinetic_slab.c: makes and renews separating slabs (ACM 2009, section 5.1), the certificates between two primitives
 * (docs/reference/kinetic.md, What is proven). */
#include "kds/kinetic_slab.h"
#include "geometry/sweep.h"
#include "kds/slab_lay.h"

#include <stdlib.h>

enum {
    LEAST_TICKS = 2, /* life of a slab, in ticks that activating the layer would cost, below which it is not worth it */
    SHED_TICKS = 32, /* a layer is dropped when its slab lives that long */
    BLAME = 4        /* a failure costs as much as timing that many slabs anew; .5 to 8 are as good */
};

static struct tac_slabs *slabs_of(const struct tac_kinetic *k)
{
    return k->self[TAC_KINETIC_NARROW];
}

/* ---- lists of the slabs that depend on a vertex ---- */

static enum tac_err stand_on(struct tac_kinetic *k, struct tac_slabs *all, int32_t id)
{
    enum tac_err err = TAC_OK;
    struct tac_slab *s = &all->slab[id];
    for (int i = 0; i < s->count; i++) {
        struct tac_stand *stand = &all->stand[s->v[i]];
        TAC_TRY(tac_grow(k->view->ctx, &stand->entry, &stand->capacity, stand->count + 1, sizeof *stand->entry));
        s->place[i] = (int32_t)stand->count;
        stand->entry[stand->count++] = 4 * (uint32_t)id + (uint32_t)i;
    }
done:
    return err;
}

static void stand_off(struct tac_slabs *all, const struct tac_slab *s)
{
    for (int i = 0; i < s->count; i++) {
        struct tac_stand *stand = &all->stand[s->v[i]];
        const uint32_t last = stand->entry[--stand->count];
        stand->entry[s->place[i]] = last;
        all->slab[last / 4].place[last % 4] = s->place[i];
    }
}

/* ---- activating ---- */

/* Sets the slab's data about the layers after the active ones: their reach, the period of their first layer group, and
 * the tolerance of the slab. */
static void look_deeper(struct tac_kinetic *k, struct tac_slab *s)
{
    const struct tac_model *m = k->view->model;
    const struct tac_pair *p = s->slot >= 0 ? &k->view->active->pair[s->slot] : NULL;
    struct tac_form form;
    int32_t last;
    if (p != NULL)
        form = p->form;
    else
        tac_model_form(m, (enum tac_pair_type)s->type, s->v, &form);
    const int32_t depth = p != NULL ? p->depth : 0;
    s->next = tac_model_reach(m, &form, depth + 1);
    s->period = depth < form.bottom ? tac_model_layer_group(m, &form, depth + 1, &last) : 0;
    s->tolerance = 1e-7 * form.thickness + 2e-14 * k->extent;
}

/* Notes that slab `id` belongs to the active pair `slot`. */
static enum tac_err bind_slab(struct tac_kinetic *k, struct tac_slabs *all, int32_t slot, int32_t id)
{
    enum tac_err err;
    const size_t before = all->of_slot_capacity;
    TAC_TRY(tac_grow(k->view->ctx, &all->of_slot, &all->of_slot_capacity, (size_t)slot + 1, sizeof *all->of_slot));
    for (size_t i = before; i < all->of_slot_capacity; i++)
        all->of_slot[i] = -1;
    all->of_slot[slot] = id;
    k->view->active->pair[slot].proven = 1;
done:
    return err;
}

/* Would the next layer group of the pair tick too often until the window ends? This rank cannot end the window now,
 * because other ranks run it too; so all ranks will run it again with a shorter length. */
static bool too_often(struct tac_kinetic *k, const struct tac_slab *s)
{
    if (k->most == 0 || (k->end - k->now) / s->period <= k->most)
        return false;
    k->cut_at = k->now < k->cut_at ? k->now : k->cut_at;
    k->cut_period = s->period < k->cut_period ? s->period : k->cut_period;
    return true;
}

static enum tac_err activate_behind(struct tac_kinetic *k, int32_t id)
{
    enum tac_err err;
    struct tac_slabs *all = slabs_of(k);
    struct tac_slab *s = &all->slab[id];
    struct tac_view *view = k->view;
    TAC_TRY(tac_view_activate(view, s->key, s->v, &s->slot));
    TAC_TRY(bind_slab(k, all, s->slot, id));
    TAC_TRY(tac_view_place(view, s->slot));
    const tac_time period = view->active->pair[s->slot].deep_period, tick = (k->now / period + 1) * period;
    if (tick < k->next)
        k->next = tick;
    if (k->next < k->until)
        k->until = k->next;
    look_deeper(k, s);
done:
    return err;
}

/* For a pair at the last of its layers: is it certain that it does not come under that layer until the next instant?
 * This is tested when the next instant is certain. The result holds only for the straight motion up to that instant, so
 * the slab stays in the list, and is tested again whenever certificates are renewed. */
static enum tac_err doubt_slab(struct tac_kinetic *k, int32_t id)
{
    enum tac_err err;
    TAC_TRY(tac_grow(k->view->ctx, &k->doubt, &k->doubt_capacity, k->doubt_count + 1, sizeof *k->doubt));
    k->doubt[k->doubt_count++] = id;
done:
    return err;
}

/* Gives a vertex whose wide plan made a slab fail a narrower plan next time. */
static void narrow_plan(struct tac_kinetic *k, const struct tac_slab *s, int which)
{
    if (k->eps >= 0 || which < 0 || tac_pair_grows((enum tac_pair_type)s->type))
        return;
    const tac_lid v = s->v[which];
    const struct tac_plan *plan = &k->plan[v];
    const double along = tac_dot(s->n, plan->v);
    const double closing = (which < s->first ? s->speed - along : along - s->speed) + plan->reach;
    const double share = closing > plan->reach ? plan->reach / closing : 1;
    const double stands = (double)slabs_of(k)->stand[v].count;
    k->next_eps[v] *= 1 - share * fmin(.5, BLAME / (stands + 1));
}

/* Makes a slab that holds until k->until, and activates the layer groups that this requires. */
static enum tac_err renew_slab(struct tac_kinetic *k, int32_t id)
{
    enum tac_err err = TAC_OK;
    struct tac_slabs *all = slabs_of(k);
    double x[4][3], d;
    int which;
    tac_slab_places(k, &all->slab[id], x);
    for (;;) {
        struct tac_slab *s = &all->slab[id];
        const double life = tac_slab_lay(k, s, x, s->next + s->tolerance, &d, &which);
        const tac_time t = life > 0 ? tac_kinetic_after(k, life) : k->now;
        if (life > 0 && t >= k->until && t - k->now >= LEAST_TICKS * s->period) {
            tac_queue_set(all->queue, id, t);
            break;
        }
        if (s->period == 0) {
            TAC_TRY(doubt_slab(k, id));
            break;
        }
        if (too_often(k, s))
            break;
        TAC_TRY(activate_behind(k, id));
    }
done:
    return err;
}

void tac_slabs_through(struct tac_kinetic *k, const struct tac_slab *s, double x[4][3], const double u[4][3],
                       tac_time end)
{
    const struct tac_view *view = k->view;
    tac_model_gather(view->model, (enum tac_pair_type)s->type, s->v, x);
    const double share = tac_sweep((enum tac_pair_type)s->type, x, u, s->next, s->tolerance);
    tac_time t = view->state->now + (tac_time)(share * (double)(end - view->state->now));
    t = t < end ? t : end - 1; /* before the tick at `end`, which comes too late */
    if (share <= 1 && t < k->stuck_at)
        k->stuck_at = t;
}

void tac_slabs_validate(struct tac_kinetic *k)
{
    const struct tac_view *view = k->view;
    const struct tac_slabs *all = slabs_of(k);
    for (size_t i = 0; i < k->doubt_count; i++) {
        const struct tac_slab *s = &all->slab[k->doubt[i]];
        double x[4][3], u[4][3], y[3];
        if (!s->live || s->period != 0)
            continue; /* the broad phase has proven the pair apart since, and may have reused the number */
        for (int j = 0; j < s->count; j++) {
            tac_state_position(view->state, view->scripts, s->v[j], view->state->now, x[j]);
            tac_state_position(view->state, view->scripts, s->v[j], k->next, y);
            tac_sub(u[j], y, x[j]);
        }
        tac_slabs_through(k, s, x, u, k->next);
    }
}

void tac_slabs_doubt_again(struct tac_kinetic *k)
{
    const struct tac_slabs *all = slabs_of(k);
    for (size_t i = 0; i < k->doubt_count; i++)
        if (all->slab[k->doubt[i]].live)
            tac_queue_set(all->queue, k->doubt[i], k->now);
    k->doubt_count = 0;
}

/* ---- making and forgetting ---- */

enum tac_err tac_slabs_add(struct tac_kinetic *k, enum tac_pair_type type, tac_lid a, tac_lid b, const tac_lid *va,
                           const tac_lid *vb, int32_t owner, int32_t *head)
{
    enum tac_err err = TAC_OK;
    struct tac_slabs *all = slabs_of(k);
    const int first = tac_pair_first(type), n = tac_pair_vertices(type);
    struct tac_slab s = {.key = tac_pair_key(type, a, b), .slot = -1, .owner = owner, .following = *head};
    int32_t id;
    for (int i = 0; i < 4; i++)
        s.v[i] = i < first ? va[i] : i < n ? vb[i - first] : -1;
    if (s.v[0] >= k->view->state->owned || !tac_model_is_pair(k->view->model, type, s.v))
        return TAC_OK; /* the owner of its first vertex decides a pair */
    s.type = (uint8_t)type;
    s.count = (uint8_t)n;
    s.first = (uint8_t)first;
    s.live = 1;
    s.slot = tac_active_find(k->view->active, s.key);
    look_deeper(k, &s);
    if (all->free_count) {
        id = all->free[--all->free_count];
    } else {
        TAC_TRY(tac_grow(k->view->ctx, &all->slab, &all->capacity, all->count + 1, sizeof *all->slab));
        TAC_TRY(tac_grow(k->view->ctx, &all->free, &all->free_capacity, all->capacity, sizeof *all->free));
        TAC_TRY(tac_queue_room(all->queue, all->capacity));
        id = (int32_t)all->count++;
    }
    all->slab[id] = s;
    *head = id;
    TAC_TRY(stand_on(k, all, id));
    if (s.slot >= 0)
        TAC_TRY(bind_slab(k, all, s.slot, id));
    k->view->counters->certificates_created++;
    TAC_TRY(renew_slab(k, id));
done:
    return err;
}

bool tac_slabs_active(const struct tac_kinetic *k, int32_t head)
{
    const struct tac_slabs *all = slabs_of(k);
    for (int32_t id = head; id >= 0; id = all->slab[id].following)
        if (all->slab[id].slot >= 0)
            return true;
    return false;
}

void tac_slabs_drop(struct tac_kinetic *k, int32_t *head)
{
    struct tac_slabs *all = slabs_of(k);
    for (int32_t id = *head, after; id >= 0; id = after) {
        struct tac_slab *s = &all->slab[id];
        after = s->following;
        tac_queue_set(all->queue, id, TAC_TIME_NEVER);
        stand_off(all, s);
        s->live = 0;
        all->free[all->free_count++] = id;
    }
    *head = -1;
}

/* ---- dropping layers ---- */

int32_t tac_slabs_of(const struct tac_kinetic *k, int32_t slot)
{
    const struct tac_slabs *all = slabs_of(k);
    return (size_t)slot < all->of_slot_capacity ? all->of_slot[slot] : -1;
}

/* Drops the deepest layer group of a pair if it is not needed for a while. */
static enum tac_err drop_one(struct tac_kinetic *k, int32_t slot)
{
    enum tac_err err = TAC_OK;
    struct tac_slabs *all = slabs_of(k);
    struct tac_view *view = k->view;
    struct tac_pair *p = &view->active->pair[slot];
    const int32_t id = tac_slabs_of(k, slot);
    double x[4][3], d;
    int which;
    if (id < 0) { /* proven apart by the broad phase */
        tac_view_drop(view, slot);
        goto done;
    }
    struct tac_slab *s = &all->slab[id], trial = *s;
    tac_slab_places(k, s, x);
    const double life = tac_slab_lay(k, &trial, x, p->deep_reach + s->tolerance, &d, &which);
    if (!(life > SHED_TICKS * tac_state_seconds(view->state, p->deep_period)))
        return TAC_OK;
    tac_view_drop(view, slot);
    if (!view->active->pair[slot].live) {
        all->of_slot[slot] = -1;
        s->slot = -1;
    }
    look_deeper(k, s);
    k->until = k->next = k->now;
    view->counters->certificates_created++;
    err = renew_slab(k, id);
done:
    return err;
}

enum tac_err tac_slabs_drop_of(struct tac_kinetic *k, int32_t slot)
{
    enum tac_err err = TAC_OK;
    int32_t depth = INT32_MAX;
    for (;;) {
        const struct tac_pair *p = &k->view->active->pair[slot];
        if (!p->live || p->depth >= depth || p->deep_last < INFINITY || tac_view_has_friction(k->view, slot))
            break;
        depth = p->depth;
        TAC_TRY(drop_one(k, slot));
    }
done:
    return err;
}

/* ---- the structure ---- */

static enum tac_err slabs_create(struct tac_kinetic *k, void **self)
{
    enum tac_err err;
    struct tac_slabs *all = NULL;
    TAC_TRY(tac_alloc(k->view->ctx, 1, sizeof *all, &all));
    *self = all;
    all->vertices = k->vertices;
    TAC_TRY(tac_alloc(k->view->ctx, all->vertices, sizeof *all->stand, &all->stand));
    TAC_TRY(tac_queue_create(k->view->ctx, k->view->scene->settings->discovery.queue, &all->queue));
done:
    return err;
}

static void slabs_destroy(void *self)
{
    struct tac_slabs *all = self;
    for (size_t i = 0; all->stand && i < all->vertices; i++)
        free(all->stand[i].entry);
    tac_queue_destroy(&all->queue);
    free(all->stand);
    free(all->slab);
    free(all->free);
    free(all->of_slot);
    free(all);
}

/* Removes all slabs; the broad phase makes new ones. */
static enum tac_err slabs_build(struct tac_kinetic *k, void *self)
{
    struct tac_slabs *all = self;
    for (size_t i = 0; i < all->vertices; i++)
        all->stand[i].count = 0;
    for (size_t i = 0; i < all->of_slot_capacity; i++)
        all->of_slot[i] = -1;
    tac_queue_clear(all->queue);
    all->count = all->free_count = k->doubt_count = 0;
    return TAC_OK;
}

static struct tac_queue *slabs_queue(void *self)
{
    return ((struct tac_slabs *)self)->queue;
}

static enum tac_err slabs_fail(struct tac_kinetic *k, void *self, int32_t id)
{
    enum tac_err err;
    struct tac_slabs *all = self;
    const struct tac_kinetic_structure *broad = k->structure[TAC_KINETIC_BROAD];
    struct tac_slab *s = &all->slab[id];
    double x[3], soonest = INFINITY;
    int which = -1;
    for (int i = 0; k->eps < 0 && i < s->count; i++) {
        tac_kinetic_place(k, s->v[i], x);
        const double t = tac_slab_entry_s(k, s, i, x);
        which = t < soonest ? i : which;
        soonest = t < soonest ? t : soonest;
    }
    narrow_plan(k, s, which);
    const int32_t slot = s->slot;
    TAC_TRY(renew_slab(k, id));
    if (all->slab[id].slot == slot)
        k->view->counters->certificates_reconfirmed++;
    if (all->slab[id].slot < 0 && broad->relieved)
        TAC_TRY(broad->relieved(k, k->self[TAC_KINETIC_BROAD], all->slab[id].owner));
done:
    return err;
}

/* Vertex i of a slab has a new plan: the slab fails sooner if that vertex now enters it before the vertex that was the
 * first so far. */
static void retime_slab(const struct tac_kinetic *k, struct tac_slabs *all, int32_t id, int i, const double x[3])
{
    const struct tac_slab *s = &all->slab[id];
    const tac_time t = tac_kinetic_after(k, tac_slab_entry_s(k, s, i, x));
    if (t < all->queue->time[id])
        tac_queue_set(all->queue, id, t);
}

static enum tac_err slabs_moved(struct tac_kinetic *k, void *self, const tac_lid *v, size_t count)
{
    enum { AHEAD = 4 };
    struct tac_slabs *all = self;
    for (size_t n = 0; n < count; n++) {
        const struct tac_stand *stand = &all->stand[v[n]];
        double x[3];
        tac_kinetic_place(k, v[n], x);
        for (size_t e = 0; e < stand->count; e++) {
            if (e + AHEAD < stand->count)
                __builtin_prefetch(&all->slab[stand->entry[e + AHEAD] / 4]);
            retime_slab(k, all, (int32_t)(stand->entry[e] / 4), (int)(stand->entry[e] % 4), x);
        }
        k->view->counters->certificates_rescheduled += (int64_t)stand->count;
    }
    return TAC_OK;
}

const struct tac_kinetic_structure tac_kinetic_slabs = {
    "slabs", slabs_create, slabs_destroy, slabs_build, slabs_queue, slabs_fail, slabs_moved, NULL, NULL};

/* ---- the pairs that the features of two primitives form ---- */

/* The vertices of edge i of a primitive, smaller global id first. */
static void edge_vertices(const struct tac_view *view, const struct tac_primitive *p, int i, tac_lid v[2])
{
    const tac_lid a = p->count == 3 ? p->v[(i + 1) % 3] : p->v[0], b = p->count == 3 ? p->v[(i + 2) % 3] : p->v[1];
    const bool swap = tac_scene_id(view->scene, a) > tac_scene_id(view->scene, b);
    v[0] = swap ? b : a;
    v[1] = swap ? a : b;
}

static enum tac_err vertices_against(struct tac_kinetic *k, const struct tac_primitive *a,
                                     const struct tac_primitive *b, int32_t owner, int32_t *head)
{
    enum tac_err err = TAC_OK;
    for (int i = 0; i < a->count; i++)
        if ((a->vertices >> i & 1) && b->count > 1)
            TAC_TRY(tac_slabs_add(k, b->count == 3 ? TAC_PAIR_VERTEX_TRIANGLE : TAC_PAIR_VERTEX_SEGMENT,
                                  (tac_lid)tac_scene_id(k->view->scene, a->v[i]), b->id, &a->v[i], b->v, owner, head));
done:
    return err;
}

enum tac_err tac_slabs_between(struct tac_kinetic *k, const struct tac_primitive *a, const struct tac_primitive *b,
                               int32_t owner, int32_t *head)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(vertices_against(k, a, b, owner, head));
    TAC_TRY(vertices_against(k, b, a, owner, head));
    if (a->count == 1 && b->count == 1) {
        const struct tac_primitive *low = a->id < b->id ? a : b, *high = a->id < b->id ? b : a;
        TAC_TRY(tac_slabs_add(k, TAC_PAIR_VERTEX_VERTEX, low->id, high->id, low->v, high->v, owner, head));
    }
    for (int i = 0; i < 3 && !k->view->scene->settings->two_d; i++)
        for (int j = 0; j < 3; j++)
            if ((a->edges >> i & 1) && (b->edges >> j & 1)) {
                const tac_lid e = a->edge[i], f = b->edge[j];
                tac_lid ve[2], vf[2];
                edge_vertices(k->view, a, i, ve);
                edge_vertices(k->view, b, j, vf);
                if (e < f)
                    TAC_TRY(tac_slabs_add(k, TAC_PAIR_EDGE_EDGE, e, f, ve, vf, owner, head));
                else if (f < e)
                    TAC_TRY(tac_slabs_add(k, TAC_PAIR_EDGE_EDGE, f, e, vf, ve, owner, head));
            }
done:
    return err;
}
