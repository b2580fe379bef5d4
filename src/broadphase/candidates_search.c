/* candidates_search.c: finds the pairs that may touch while the trajectory bounds hold, with trees of boxes, and adds
 * limits and active pairs.
 */
#include "broadphase/candidates_search.h"
#include "broadphase/patches.h"
#include "contact/limits.h"
#include <stdlib.h>
#include <string.h>

/* The cost of a primitive and its nodes, in tests of boxes: of a new box, and of the test whether it needs one. */
enum { BOX_COST = 8, MARK_COST = 1 };
/* A look at a primitive that another rank may need, and a test against a published box, are cheaper: so many of them
 * cost as much as a test of boxes. */
enum { LOOKED_PER_TEST = 3, HELD_PER_TEST = 8 };

/* Is it certain that no pair of these two blocks of one body (search->patches) can touch? */
static bool cannot_touch(void *context, int32_t block_a, int32_t block_b)
{
    struct tac_search *search = context;
    return tac_patches_hold(search->c, search->view->scene->mesh->x, search->patches, block_a, block_b, &search->cost);
}

static enum tac_err search_bodies(struct tac_search *search, tac_lid a, tac_lid b, bool remote)
{
    struct tac_candidates *c = search->c;
    const struct tac_scene *s = search->view->scene;
    if (c->immovable[a] && c->immovable[b])
        return TAC_OK;
    if (search->view->movers_only && !c->remote.mover[a] && (remote || !c->remote.mover[b]))
        return TAC_OK;
    if (a == b ? !s->settings->body[a].self_contact
               : search->view->model->ignored &&
                     search->view->model->ignored[(size_t)a * (size_t)s->settings->body_count + (size_t)b])
        return TAC_OK;
    search->a = &c->primitive[c->primitive_begin[a]];
    search->b = remote ? &c->remote.primitive[c->remote.begin[b]] : &c->primitive[c->primitive_begin[b]];
    struct tac_tree *other = remote ? c->remote.tree[b] : c->tree[b];
    const bool ours = c->crossing && !remote, part = search->changed || ours;
    if (ours && !c->bordered[a] && !c->bordered[b])
        return TAC_OK;
    if (part && !c->tree[a]->changed[0] && !other->changed[0])
        return TAC_OK;
    search->reach = search->view->margin * s->settings->contact.thickness + s->settings->body[a].radius +
                    s->settings->body[b].radius;
    /* In coarser meshes hardly any pair has less than the whole thickness: not worth asking. */
    search->fine = a == b && s->settings->body[a].has_elements && s->settings->body[a].radius == 0 && c->fine &&
                   s->settings->body[a].piece_count <= 1;
    double lo[TAC_DOP_AXES], hi[TAC_DOP_AXES];
    int64_t tests = 0;
    tac_candidates_drift(c, a, b, lo, hi);
    const bool within = a == b && !remote;
    enum tac_err err;
    search->patches = within ? c->patches[a] : NULL;
    if (search->patches) {
        tac_patches_ask(search->patches);
        err = tac_tree_overlaps_grouped(c->tree[a], part, tac_search_visit, cannot_touch, search, &tests);
    } else {
        err = (part ? tac_tree_overlaps_changed : tac_tree_overlaps)(
            c->tree[a], other, within ? NULL : lo, within ? NULL : hi, tac_search_visit, search, &tests);
    }
    search->cost += tests;
    if (within && !search->changed) {
        /* A tree whose order no longer suits the shape costs more tests, so it is built again. */
        struct tac_tree *tree = c->tree[a];
        if (tree->tests_fresh == 0)
            tree->tests_fresh = tests + 1;
        else if (tests > 2 * tree->tests_fresh + 1000)
            tree->stale = true;
    }
    return err;
}

/* Do this rank's part of body a and the remote part of body b overlap along x? */
static bool sweeps_overlap(const struct tac_candidates *c, tac_lid a, tac_lid b)
{
    double lo, hi;
    tac_candidates_sweep(c, b, c->remote.tree[b], &lo, &hi);
    return lo <= c->sorted.sweep[2 * a + 1] && c->sorted.sweep[2 * a] <= hi;
}

/* Pairs of bodies by sweeping along x; each body's sweep holds its root box moving with its frame. */
static enum tac_err search_all(struct tac_search *search)
{
    enum tac_err err = TAC_OK;
    struct tac_candidates *c = search->c;
    int32_t n = 0;
    for (tac_lid b = 0; b < c->body_count; b++) {
        if (c->tree[b]->count == 0)
            continue;
        tac_candidates_sweep(c, b, c->tree[b], &c->sorted.sweep[2 * b], &c->sorted.sweep[2 * b + 1]);
        int32_t k = n++;
        for (; k > 0 && c->sorted.sweep[2 * c->sorted.order[k - 1]] > c->sorted.sweep[2 * b]; k--)
            c->sorted.order[k] = c->sorted.order[k - 1];
        c->sorted.order[k] = b;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i;
             j < n && c->sorted.sweep[2 * c->sorted.order[j]] <= c->sorted.sweep[2 * c->sorted.order[i] + 1]; j++)
            TAC_TRY(search_bodies(search, c->sorted.order[i], c->sorted.order[j], false));
    /* Searches this rank's primitives against the remote ones, body by body, because there are few remote ones. */
    for (int32_t i = 0; i < n && c->remote.count; i++)
        for (tac_lid b = 0; b < c->body_count; b++)
            if (c->remote.begin[b + 1] > c->remote.begin[b] && sweeps_overlap(c, c->sorted.order[i], b))
                TAC_TRY(search_bodies(search, c->sorted.order[i], b, true));
done:
    return err;
}

/* Does body b have leavers? Marks its primitives that have leavers. */
static bool mark_body(struct tac_candidates *c, tac_lid b)
{
    const int32_t begin = c->primitive_begin[b], end = c->primitive_begin[b + 1];
    bool any = false;
    if (c->immovable[b])
        return false;
    for (int32_t p = begin; p < end; p++) {
        c->repair.marked[p] = tac_has_leaver(c, c->primitive[p].v, c->primitive[p].count);
        any |= c->repair.marked[p];
    }
    return any;
}

/* Does the same for the remote primitives of body b, and refits their tree. */
static bool refit_remote(struct tac_view *view, struct tac_candidates *c, tac_lid b)
{
    const int32_t begin = c->remote.begin[b], end = c->remote.begin[b + 1];
    struct tac_tree *tree = c->remote.tree[b];
    bool any = false;
    if (end == begin)
        return false;
    for (int32_t p = begin; p < end; p++) {
        const struct tac_primitive *q = &c->remote.primitive[p];
        c->remote.marked[p] = tac_has_leaver(c, q->v, q->count);
        any |= c->remote.marked[p];
    }
    struct tac_boxes boxes = {view, c, &c->remote.primitive[begin]};
    if (c->remote.fresh)
        tac_candidates_boxes(view, c, b, boxes.primitive, tree);
    if (any)
        tac_tree_refit_changed(tree, tac_candidates_box, &boxes, &c->remote.marked[begin]);
    else
        memset(tree->changed, 0, (size_t)tree->node_count);
    return any;
}

/* Searches pairs of unchanged primitives of this rank and changed remote ones. */
static enum tac_err search_remote_changed(struct tac_search *search)
{
    enum tac_err err = TAC_OK;
    struct tac_candidates *c = search->c;
    for (tac_lid b = 0; b < c->body_count; b++)
        for (tac_lid a = 0; a < c->body_count && c->remote.begin[b + 1] > c->remote.begin[b]; a++)
            if (c->remote.tree[b]->changed[0] && c->tree[a]->count > 0 && !c->immovable[a] && !c->tree[a]->changed[0] &&
                sweeps_overlap(c, a, b))
                TAC_TRY(search_bodies(search, a, b, true));
done:
    return err;
}

static enum tac_err search_changed(struct tac_search *search)
{
    enum tac_err err = TAC_OK;
    struct tac_candidates *c = search->c;
    int32_t changed = 0;
    bool remote = false;
    for (tac_lid b = 0; b < c->body_count && c->remote.count; b++)
        remote |= refit_remote(search->view, c, b);
    c->remote.fresh = false;
    /* Those with leavers first in c->sorted.order, so that the trees of all are refitted before any is searched. */
    for (tac_lid b = 0; b < c->body_count; b++) {
        struct tac_tree *tree = c->tree[b];
        const bool any = mark_body(c, b);
        if (any) {
            struct tac_boxes boxes = {search->view, c, &c->primitive[c->primitive_begin[b]]};
            tac_tree_refit_changed(tree, tac_candidates_box, &boxes, &c->repair.marked[c->primitive_begin[b]]);
            tac_candidates_sweep(c, b, tree, &c->sorted.sweep[2 * b], &c->sorted.sweep[2 * b + 1]);
            c->sorted.order[changed++] = b;
        } else {
            memset(tree->changed, 0, (size_t)tree->node_count);
        }
    }
    for (int32_t i = 0; i < changed; i++)
        for (tac_lid b = 0; b < c->body_count; b++) {
            const tac_lid a = c->sorted.order[i];
            const bool both =
                c->tree[b]->count > 0 && c->tree[b]->changed[0]; /* then once, by the smaller of the two */
            if (c->tree[b]->count > 0 && !(both && b < a) && c->sorted.sweep[2 * a] <= c->sorted.sweep[2 * b + 1] &&
                c->sorted.sweep[2 * b] <= c->sorted.sweep[2 * a + 1])
                TAC_TRY(search_bodies(search, a, b, false));
            if (c->remote.count && c->remote.begin[b + 1] > c->remote.begin[b] && sweeps_overlap(c, a, b))
                TAC_TRY(search_bodies(search, a, b, true));
        }
    if (remote)
        TAC_TRY(search_remote_changed(search));
done:
    return err;
}

/* Entries of a list in the making, c->found. */
struct listing {
    struct tac_view *view;
    struct tac_candidates *c;
    size_t count;
    bool changed; /* a repair */
};

/* context: a struct listing; a tac_take_pair.  Which pairs are active is found later, for all together. */
static enum tac_err add_candidate(void *context, const struct tac_found_pair *pair)
{
    enum tac_err err;
    struct listing *listing = context;
    struct tac_candidates *c = listing->c;
    const struct tac_candidate q = {
        .key = tac_pair_key(pair->type, pair->id[0], pair->id[1]),
        .slot = -1,
        .type = (uint8_t)pair->type,
        /* centres of trajectory bounds are places only when these are new */
        .d = listing->changed ? -INFINITY : tac_single_below(pair->d),
        .next = tac_single_above(pair->radius + pair->thickness),
        .change = tac_single_below((c->from_s + pair->wait * (c->span_s - c->from_s)) / c->span_s),
        .tolerance = tac_candidates_tolerance(c, pair->thickness)};
    TAC_TRY(tac_candidates_append(listing->view, c, listing->count, q, pair->v));
    listing->count++;
done:
    return err;
}

/* Finds which of the found pairs are active, because these may be needed soon.  In a repair, active pairs that stayed
 * on the list are not entered again.  The table's entries of many pairs are fetched into the cache before they are
 * read.
 */
static void find_slots(struct listing *listing)
{
    enum { TOGETHER = 32 };
    const struct tac_active *active = listing->view->active;
    struct tac_candidates *c = listing->c;
    size_t count = 0;
    for (size_t begin = 0; begin < listing->count; begin += TOGETHER) {
        const size_t end = begin + TOGETHER < listing->count ? begin + TOGETHER : listing->count;
        uint32_t tag[TOGETHER];
        for (size_t k = begin; k < end; k++) {
            tag[k - begin] = tac_active_tag(c->found.of[k].key);
            tac_active_fetch(active, tag[k - begin]);
        }
        for (size_t k = begin; k < end; k++)
            tac_active_fetch_pair(active, tag[k - begin]);
        for (size_t k = begin; k < end; k++) {
            struct tac_candidate *q = &c->found.of[k];
            q->slot = tac_active_find_tagged(active, q->key, tag[k - begin]);
            if (q->slot >= 0) {
                if (active->pair[q->slot].listed)
                    continue;
                q->next = tac_single_above(active->pair[q->slot].next);
                q->change = tac_single_below(c->from_s / c->span_s);
            }
            if (count < k) {
                c->found.of[count] = *q;
                c->found.slack[count] = c->found.slack[k];
            }
            count++;
        }
    }
    listing->count = count;
}

/* Limits are always on the list. */
static enum tac_err add_limits(struct listing *listing)
{
    enum tac_err err = TAC_OK;
    struct tac_view *view = listing->view;
    struct tac_candidates *c = listing->c;
    struct tac_limit limit = {0};
    while (tac_limits_next(view->model, &limit)) {
        struct tac_form form;
        if (c->crossing && limit.v[1] < view->state->owned && limit.v[2] < view->state->owned)
            continue;
        tac_model_form(view->model, limit.type, limit.v, &form);
        const int32_t slot = tac_active_find(view->active, limit.key);
        const struct tac_candidate q = {.key = limit.key,
                                        .slot = slot,
                                        .type = (uint8_t)limit.type,
                                        .d = -INFINITY,
                                        .next = tac_single_above(slot >= 0 ? view->active->pair[slot].next
                                                                           : tac_model_reach(view->model, &form, 1)),
                                        .tolerance = tac_candidates_tolerance(c, form.thickness)};
        TAC_TRY(tac_candidates_append(view, c, listing->count, q, limit.v));
        listing->count++;
    }
done:
    return err;
}

/* Adds active pairs that cannot touch any more; they stay on the list until they are dropped. */
static enum tac_err keep_active(struct listing *listing)
{
    enum tac_err err = TAC_OK;
    struct tac_view *view = listing->view;
    struct tac_candidates *c = listing->c;
    for (size_t k = 0; k < listing->count; k++)
        if (c->found.of[k].slot >= 0)
            view->active->pair[c->found.of[k].slot].listed = 1;
    for (size_t k = 0; k < view->active->pair_count; k++) {
        struct tac_pair *p = &view->active->pair[k];
        if (p->live && !p->listed && !(c->crossing && p->proven) &&
            tac_model_decider(view->model, (enum tac_pair_type)p->type, p->v) < view->state->owned) {
            const struct tac_candidate q = {.key = p->key,
                                            .slot = (int32_t)k,
                                            .type = p->type,
                                            .next = tac_single_above(p->next),
                                            .tolerance = tac_candidates_tolerance(c, p->form.thickness)};
            TAC_TRY(tac_candidates_append(view, c, listing->count, q, p->v));
            listing->count++;
        }
        p->listed = 0;
    }
done:
    return err;
}

/* Marks the primitives of which other ranks own vertices, in trees that have just been refitted; no pairs are searched
 * among the others. */
static void mark_bordering(struct tac_candidates *c)
{
    for (int32_t p = 0; p < c->primitive_begin[c->body_count]; p++)
        c->repair.marked[p] = !c->primitive[p].inner;
    for (tac_lid b = 0; b < c->body_count; b++)
        tac_tree_mark(c->tree[b], &c->repair.marked[c->primitive_begin[b]]);
}

/* Returns the cost of the work for other ranks since the last list or repair, in tests of boxes. */
static int64_t cost_for_others(struct tac_candidates *c)
{
    const int64_t cost = c->remote.looked / LOOKED_PER_TEST + c->remote.tests / HELD_PER_TEST;
    c->remote.looked = c->remote.tests = 0;
    return cost;
}

enum tac_err tac_candidates_show_found(struct tac_view *view, struct tac_candidates *c, bool straight,
                                       tac_take_pair *take, void *context)
{
    struct tac_search search = {.view = view, .c = c, .straight = straight, .take = take, .context = context};
    if (c->crossing)
        mark_bordering(c);
    enum tac_err err = view->scene->settings->contact.thickness > 0 ? search_all(&search) : TAC_OK;
    if (!err)
        err = tac_search_flush(&search);
    c->cost.build = search.cost + BOX_COST * (int64_t)c->primitive_begin[c->body_count] + cost_for_others(c);
    c->cost.repair = c->cost.looks = 0;
    c->cost.spent += c->cost.build;
    return err;
}

enum tac_err tac_candidates_show_found_changed(struct tac_view *view, struct tac_candidates *c, tac_take_pair *take,
                                               void *context)
{
    struct tac_search search = {
        .view = view, .c = c, .changed = true, .straight = true, .take = take, .context = context};
    enum tac_err err = view->scene->settings->contact.thickness > 0 ? search_changed(&search) : TAC_OK;
    if (!err)
        err = tac_search_flush(&search);
    c->cost.build = search.cost + MARK_COST * (int64_t)c->primitive_begin[c->body_count];
    c->cost.spent += c->cost.build;
    return err;
}

enum tac_err tac_candidates_find(struct tac_view *view, struct tac_candidates *c, size_t *count)
{
    struct listing listing = {.view = view, .c = c};
    enum tac_err err = tac_candidates_show_found(view, c, false, add_candidate, &listing);
    find_slots(&listing);
    if (!err)
        err = add_limits(&listing);
    if (!err)
        err = keep_active(&listing);
    *count = listing.count;
    return err;
}

enum tac_err tac_candidates_find_changed(struct tac_view *view, struct tac_candidates *c, size_t *count)
{
    struct listing listing = {.view = view, .c = c, .changed = true};
    struct tac_search search = {.view = view, .c = c, .changed = true, .take = add_candidate, .context = &listing};
    enum tac_err err = view->scene->settings->contact.thickness > 0 ? search_changed(&search) : TAC_OK;
    if (!err)
        err = tac_search_flush(&search);
    find_slots(&listing);
    const int64_t cost = search.cost + MARK_COST * (int64_t)c->primitive_begin[c->body_count] + cost_for_others(c);
    *count = listing.count;
    c->cost.repair += cost;
    c->cost.spent += cost;
    return err;
}
