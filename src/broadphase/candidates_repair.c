/* candidates_repair.c: repairs the list of candidates where some vertices left their trajectory bounds
 * (docs/reference/engine.md, Candidates): these get new ones, and the list becomes what it would be with these.
 *
 * A trajectory bound that is set during the life of a list begins at the start of the current window, because only
 * windows that end later use it. The list contains every pair that may touch from then on if every pair with a leaver
 * is searched again, and every other pair stays as it was found. (The boxes of a leaver's primitives have changed, so a
 * search of the changed parts of the trees finds these pairs.)
 */
#include "broadphase/candidates_search.h"
#include "broadphase/remote.h"
#include "geometry/closest_points.h"
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
            tac_lid v[4];
            bool left = false;
            tac_slack_vertices(&c->slack.of[k], q, v);
            for (int i = 0; i < q->count; i++)
                left |= c->repair.left[v[i]];
            if (left && q->slot >= 0)
                view->active->pair[q->slot].listed = 1;
            if (left && q->slot < 0 && !tac_pair_is_limit((enum tac_pair_type)q->type))
                continue;
            known += k < c->known;
            if (n < k) {
                c->list[n] = *q;
                c->slack.of[n] = c->slack.of[k];
            }
            n++;
        }
        c->slice_end[slice] = n;
    }
    c->count = n;
    c->known = known;
}

/* Inserts the found pairs into their slices of time; there is room. Each goes into its own slice even if the pass has
 * used later ones already, because the pass may be run again and then end sooner. */
static void enter_found(struct tac_candidates *c, size_t count)
{
    size_t more[SLICES] = {0}, before = count;
    int last = 0;
    while (c->slice_end[last] < c->known)
        last++;
    for (size_t k = 0; k < count; k++)
        more[tac_candidates_slice(&c->repair.fresh.of[k])]++;
    /* From the back, each slice makes room for what comes before it: as many of its first go behind its last. */
    for (int k = SLICES - 1; k >= 0; k--) {
        const size_t begin = k > 0 ? c->slice_end[k - 1] : 0, end = c->slice_end[k];
        before -= more[k];
        const size_t moved = before < end - begin ? before : end - begin;
        if (moved > 0) {
            memcpy(&c->list[end + before - moved], &c->list[begin], moved * sizeof *c->list);
            memcpy(&c->slack.of[end + before - moved], &c->slack.of[begin], moved * sizeof *c->slack.of);
        }
        c->slice_end[k] = end + before;
    }
    for (size_t k = 0; k < count; k++) {
        const size_t at = c->slice_end[tac_candidates_slice(&c->repair.fresh.of[k])]++;
        c->list[at] = c->repair.fresh.of[k];
        c->slack.of[at] = c->repair.fresh.slack[k];
    }
    for (int k = 0; k <= last; k++)
        c->known += more[k];
    c->count += count;
}

static void mark_leavers(struct tac_candidates *c, uint8_t left)
{
    for (size_t k = 0; k < c->repair.leaver_count; k++)
        c->repair.left[c->repair.leaver[k]] = left;
}

/* Searches again for every pair with a leaver. */
static enum tac_err find_anew(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err;
    size_t count = 0;
    c->cost.repair += ENTRY_COST * (int64_t)c->count;
    c->cost.spent += ENTRY_COST * (int64_t)c->count;
    take_out(view, c);
    c->found = c->repair.fresh;
    err = tac_candidates_find_changed(view, c, &count);
    c->repair.fresh = c->found;
    c->found = (struct tac_found){0};
    for (size_t k = 0; k < c->count; k++)
        if (c->list[k].slot >= 0)
            view->active->pair[c->list[k].slot].listed = 0;
    TAC_TRY(err);
    TAC_TRY(tac_grow(view->ctx, &c->list, &c->capacity, c->count + count, sizeof *c->list));
    TAC_TRY(tac_grow(view->ctx, &c->slack.of, &c->slack.capacity, c->count + count, sizeof *c->slack.of));
    enter_found(c, count);
    c->repair.fresh_count = count;
    view->counters->candidate_repairs++;
    view->counters->candidates = (int64_t)c->count;
done:
    return err;
}

enum tac_err tac_candidates_repair(struct tac_view *view, struct tac_candidates *c, tac_time window,
                                   enum tac_repair *what)
{
    enum tac_err err;
    const double window_s = tac_state_seconds(view->state, window), extent = c->extent;
    *what = TAC_REPAIR_NOT;
    if (c->repair.leaver_count > c->repair.leaver_most)
        return TAC_OK;
    c->from_s = tac_state_seconds(view->state, view->state->now - c->start);
    for (size_t k = 0; k < c->repair.leaver_count; k++)
        tac_candidates_bound(view, c, c->repair.leaver[k], window_s, c->from_s);
    if (c->extent > 2 * extent)
        return TAC_OK; /* the margins for rounding of all other boxes and pairs were made for a smaller one */
    mark_leavers(c, 1);
    if (view->halo && !tac_remote_unconcerned(view, c)) {
        *what = TAC_REPAIR_TOGETHER;
        mark_leavers(c, 0);
        return TAC_OK;
    }
    *what = TAC_REPAIR_DONE;
    err = find_anew(view, c);
    mark_leavers(c, 0);
    c->repair.leaver_count = 0;
    return err;
}

/* ---- several ranks together ---- */

enum { TAG_LEAVERS = 18 };

struct telling {
    struct tac_view *view;
    struct tac_candidates *c;
    double window_s;
    enum tac_err err;
};

/* Tells the ranks that have subscribed to a vertex' motions that it has left its bound; the message has its place in
 * the subscription. */
static size_t send_leavers(void *self, struct tac_neighbor *n)
{
    const struct telling *t = self;
    size_t count = 0;
    if (!tac_halo_room(t->view->halo, n, n->give_count * sizeof(int32_t) + 1))
        return 0;
    for (size_t i = 0; i < n->give_count; i++)
        if (t->c->repair.left[n->give[i]])
            ((int32_t *)n->report)[count++] = (int32_t)i;
    return count * sizeof(int32_t);
}

static void receive_leavers(void *self, struct tac_neighbor *n)
{
    struct telling *t = self;
    for (size_t i = 0; i < n->heard_count / sizeof(int32_t) && !t->err; i++) {
        const tac_lid v = n->need[((const int32_t *)n->heard)[i]];
        t->err = tac_candidates_leave(t->view, t->c, v);
        tac_candidates_bound(t->view, t->c, v, t->window_s, t->c->from_s); /* as its owner did */
    }
}

enum tac_err tac_candidates_leave(struct tac_view *view, struct tac_candidates *c, tac_lid v)
{
    enum tac_err err = TAC_OK;
    if (c->repair.left[v])
        return TAC_OK;
    TAC_TRY(
        tac_grow(view->ctx, &c->repair.heard, &c->repair.heard_capacity, c->repair.heard_count + 1, sizeof(tac_lid)));
    c->repair.heard[c->repair.heard_count++] = v;
    c->repair.left[v] = 1;
done:
    return err;
}

/* Lists the primitives of this rank that have leavers, and their boxes (both owned by the caller). */
static enum tac_err list_changed(struct tac_view *view, struct tac_candidates *c, int32_t **changed,
                                 struct tac_box **box, size_t *count)
{
    enum tac_err err = TAC_OK;
    const int32_t n = c->primitive_begin[c->body_count];
    size_t total = 0;
    *count = 0;
    for (int32_t p = 0; p < n; p++)
        total += tac_has_leaver(c, c->primitive[p].v, c->primitive[p].count);
    TAC_TRY(tac_alloc(view->ctx, total, sizeof **changed, changed));
    TAC_TRY(tac_alloc(view->ctx, total, sizeof **box, box));
    for (int32_t p = 0; p < n; p++)
        if (tac_has_leaver(c, c->primitive[p].v, c->primitive[p].count)) {
            tac_remote_box(view, c, &c->primitive[p], &(*box)[*count]);
            c->remote.looked++;
            (*changed)[(*count)++] = p;
        }
done:
    return err;
}

/* Collective. Sends the leavers to all affected ranks, and the primitives that they changed to the ranks that are near.
 * The returned code may be that of this rank only. */
static enum tac_err spread_leavers(struct tac_view *view, struct tac_candidates *c, double window_s, size_t *added)
{
    enum tac_err err;
    struct telling t = {view, c, window_s, TAC_OK};
    int32_t *changed = NULL;
    struct tac_box *box = NULL;
    struct tac_grown_box *grown = NULL;
    size_t count = 0, grown_count = 0;
    *added = 0;
    tac_halo_exchange(view->halo, TAG_LEAVERS, send_leavers, receive_leavers, &t);
    err = t.err ? t.err : view->halo->down;
    if (!err)
        err = list_changed(view, c, &changed, &box, &count);
    TAC_TRY(tac_remote_grow(view, c, err, count, changed, box, &grown, &grown_count));
    TAC_TRY(tac_remote_send_changed(view, c, TAC_OK, count, changed, box, grown, grown_count, added));
    if (*added)
        TAC_TRY(tac_remote_arrange(view, c));
done:
    free(changed);
    free(box);
    free(grown);
    return err;
}

/* Does the repaired list contain ghosts to whose motions this rank has not subscribed? Marks them. */
static bool wants_motions(struct tac_view *view, const struct tac_candidates *c)
{
    bool any = false;
    for (size_t k = 0; k < c->repair.fresh_count; k++) {
        const struct tac_candidate *q = &c->repair.fresh.of[k];
        tac_lid v[4];
        tac_slack_vertices(&c->repair.fresh.slack[k], q, v);
        for (int i = 0; i < q->count; i++) {
            if (v[i] < view->scene->mesh->vertex_count || view->halo->mark[v[i]] == 1 ||
                !tac_model_takes_part(view->model, v[i]))
                continue;
            view->halo->mark[v[i]] = 1;
            any = true;
        }
    }
    return any;
}

enum tac_err tac_candidates_repair_together(struct tac_view *view, struct tac_candidates *c, tac_time window,
                                            enum tac_repair *what, bool *touched)
{
    const double window_s = tac_state_seconds(view->state, window), extent = c->extent;
    enum { MOTIONS, NOT, FAILED, REQUESTS };
    size_t added;
    int requests[REQUESTS] = {0};
    c->from_s = tac_state_seconds(view->state, view->state->now - c->start);
    c->repair.heard_count = c->repair.fresh_count = 0;
    mark_leavers(c, 1);
    enum tac_err err = spread_leavers(view, c, window_s, &added);
    *touched = c->repair.leaver_count + c->repair.heard_count + added > 0;
    if (!err && *touched)
        err = find_anew(view, c);
    mark_leavers(c, 0);
    for (size_t k = 0; k < c->repair.heard_count; k++)
        c->repair.left[c->repair.heard[k]] = 0;
    c->repair.leaver_count = 0;
    requests[MOTIONS] = !err && wants_motions(view, c);
    requests[NOT] = c->extent > 2 * extent; /* the margins for rounding were made for a smaller one */
    requests[FAILED] = err != TAC_OK;
    if (MPI_Allreduce(MPI_IN_PLACE, requests, REQUESTS, MPI_INT, MPI_MAX, view->ctx->comm) != MPI_SUCCESS)
        TAC_TRY(tac_fail(view->ctx, TAC_ERR_RUN, "MPI failed while repairing a list of candidates"));
    if (requests[FAILED])
        TAC_TRY(tac_agree(view->ctx, err));
    *what = requests[NOT] ? TAC_REPAIR_NOT : TAC_REPAIR_DONE;
    if (requests[MOTIONS] && !requests[NOT]) {
        TAC_TRY(tac_agree(view->ctx, tac_halo_subscribe(view->halo)));
        tac_moves_exchange(view);
    }
done:
    return err;
}
