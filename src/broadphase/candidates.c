/* candidates.c: builds the lists of candidate pairs: trajectory bounds, boxes, and the list itself
 * (docs/reference/engine.md, Candidates). */
#include "broadphase/candidates.h"
#include "broadphase/patches.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLICES = 16,
    LEAVERS = 16, /* of so many vertices one may leave; with more leavers a whole build costs less */
};

static void ghost_added(void *self, tac_lid v, const struct tac_ghost *ghost)
{
    struct tac_candidates *c = self;
    memcpy(&c->x[3 * (size_t)v], ghost->start, sizeof ghost->start);
}

static void enter_arrays(struct tac_candidates *c, struct tac_halo *halo)
{
    c->halo = halo;
    tac_halo_grows(halo, &c->move, sizeof *c->move);
    tac_halo_grows(halo, &c->x, 3 * sizeof *c->x);
    tac_halo_grows(halo, &c->path_bound, sizeof *c->path_bound);
    tac_halo_grows(halo, &c->repair.left, sizeof *c->repair.left);
    tac_halo_tell(halo, (struct tac_halo_user){c, ghost_added, NULL});
}

static void leave_arrays(struct tac_candidates *c)
{
    if (c->halo == NULL)
        return;
    tac_halo_forget(c->halo, &c->move);
    tac_halo_forget(c->halo, &c->x);
    tac_halo_forget(c->halo, &c->path_bound);
    tac_halo_forget(c->halo, &c->repair.left);
    tac_halo_tell_no_more(c->halo, c);
}

static enum tac_err allocate_arrays(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err;
    const size_t n = (size_t)view->state->capacity, bodies = (size_t)c->body_count;
    TAC_TRY(tac_alloc(view->ctx, n, sizeof *c->move, &c->move));
    TAC_TRY(tac_alloc(view->ctx, 3 * n, sizeof *c->x, &c->x));
    TAC_TRY(tac_alloc(view->ctx, n, sizeof *c->path_bound, &c->path_bound));
    TAC_TRY(tac_alloc(view->ctx, n, 1, &c->repair.left));
    TAC_TRY(tac_alloc(view->ctx, bodies, sizeof *c->tree, &c->tree));
    TAC_TRY(tac_alloc(view->ctx, bodies, sizeof *c->patches, &c->patches));
    TAC_TRY(tac_alloc(view->ctx, 3 * bodies, sizeof *c->frame, &c->frame));
    TAC_TRY(tac_alloc(view->ctx, bodies, 1, &c->immovable));
    TAC_TRY(tac_alloc(view->ctx, bodies, 1, &c->bordered));
    TAC_TRY(tac_alloc(view->ctx, bodies, 1, &c->remote.mover));
    TAC_TRY(tac_alloc(view->ctx, bodies, sizeof *c->sorted.order, &c->sorted.order));
    TAC_TRY(tac_alloc(view->ctx, 2 * bodies, sizeof *c->sorted.sweep, &c->sorted.sweep));
    if (view->halo)
        enter_arrays(c, view->halo);
    TAC_TRY(tac_candidates_primitives(view, c));
    c->repair.leaver_most = (size_t)view->state->owned / LEAVERS + 1;
    TAC_TRY(tac_alloc(view->ctx, c->repair.leaver_most, sizeof *c->repair.leaver, &c->repair.leaver));
    TAC_TRY(tac_alloc(view->ctx, (size_t)c->primitive_begin[c->body_count], 1, &c->repair.marked));
done:
    return err;
}

static enum tac_err make_tree(struct tac_view *view, struct tac_candidates *c, tac_lid b)
{
    const enum tac_err err = tac_tree_create(view->ctx, c->primitive_begin[b + 1] - c->primitive_begin[b], &c->tree[b]);
    return !err && c->patches[b] ? tac_tree_group(view->ctx, c->tree[b], c->patches[b]->of) : err;
}

enum tac_err tac_candidates_create(struct tac_view *view, struct tac_candidates **out)
{
    enum tac_err err;
    struct tac_candidates *c = NULL;
    TAC_TRY(tac_agree(view->ctx, tac_alloc(view->ctx, 1, sizeof *c, &c)));
    c->body_count = view->scene->settings->body_count;
    TAC_TRY(tac_agree(view->ctx, allocate_arrays(view, c)));
    TAC_TRY(tac_candidates_measure(view, c));
    /* Patches before the tree of a body: the tree that sorts primitives into patches is gone by then. */
    for (tac_lid b = 0; b < c->body_count && err == TAC_OK; b++)
        err = tac_patches_create(view, c, b);
    for (tac_lid b = 0; b < c->body_count && err == TAC_OK; b++)
        err = make_tree(view, c, b);
    TAC_TRY(tac_agree(view->ctx, err));
done:
    if (err)
        tac_candidates_destroy(&c);
    *out = c;
    return err;
}

void tac_candidates_destroy(struct tac_candidates **candidates)
{
    struct tac_candidates *c = *candidates;
    if (c == NULL)
        return;
    leave_arrays(c);
    for (int32_t b = 0; c->tree && b < c->body_count; b++)
        tac_tree_destroy(&c->tree[b]);
    for (int32_t b = 0; c->patches && b < c->body_count; b++)
        tac_patches_destroy(&c->patches[b]);
    free(c->tree);
    free(c->patches);
    free(c->move);
    free(c->x);
    free(c->path_bound);
    free(c->list);
    free(c->found.of);
    free(c->found.slack);
    free(c->slack.of);
    free(c->repair.leaver);
    free(c->repair.left);
    free(c->repair.heard);
    free(c->repair.marked);
    free(c->repair.fresh.of);
    free(c->repair.fresh.slack);
    free(c->primitive);
    free(c->primitive_begin);
    free(c->taken);
    free(c->scratch);
    free(c->frame);
    free(c->immovable);
    free(c->bordered);
    free(c->sorted.order);
    free(c->sorted.sweep);
    tac_remote_destroy(c);
    free(c);
    *candidates = NULL;
}

void tac_candidates_bound(struct tac_view *view, struct tac_candidates *c, tac_lid v, double window_s, double from_s)
{
    struct tac_path_bound *path_bound = &c->path_bound[v];
    const struct tac_move *move = &c->move[v];
    for (int k = 0; k < 3; k++) {
        const double x = c->x[3 * (size_t)v + (size_t)k];
        path_bound->v[k] = move->u[k] / window_s;
        path_bound->x[k] = x - from_s * path_bound->v[k];
        c->extent = fmax(c->extent, fmax(fabs(x), fabs(path_bound->x[k])) + fabs(move->u[k]));
    }
    path_bound->radius = c->immovable[view->scene->mesh->vertex_body[v]] ? 0 : fmax(c->skin, 2 * move->deviation);
    path_bound->offset = 0;
}

/* Sets the trajectory bounds along the chords of the pass. */
static void lay_path_bounds(struct tac_view *view, struct tac_candidates *c, double window_s)
{
    c->extent = 0;
    c->from_s = 0;
    for (tac_lid i = 0; i < view->scene->mesh->vertex_count; i++)
        tac_candidates_bound(view, c, i, window_s, 0);
}

void tac_candidates_frames(struct tac_view *view, struct tac_candidates *c)
{
    const struct tac_scene *s = view->scene;
    memset(c->frame, 0, 3 * (size_t)c->body_count * sizeof *c->frame);
    memset(c->sorted.sweep, 0, 2 * (size_t)c->body_count * sizeof *c->sorted.sweep);
    for (tac_lid i = 0; i < view->state->count; i++) {
        if (s->mesh->part && s->mesh->part->vertex_id[i] < 0)
            continue;
        for (int k = 0; k < 3; k++)
            c->frame[3 * s->mesh->vertex_body[i] + k] += c->path_bound[i].v[k];
        c->sorted.sweep[s->mesh->vertex_body[i]]++;
    }
    for (tac_lid b = 0; b < c->body_count; b++)
        for (int k = 0; k < 3; k++)
            c->frame[3 * b + k] /= fmax(1, c->sorted.sweep[b]);
}

void tac_candidates_box(void *context, int32_t i, struct tac_dop *box)
{
    const struct tac_boxes *boxes = context;
    const struct tac_candidates *c = boxes->c;
    const struct tac_primitive *q = &boxes->primitive[i];
    const struct tac_settings *s = boxes->view->scene->settings;
    const double margin = .5 * boxes->view->margin * s->contact.thickness + s->body[q->body].radius + 1e-12 * c->extent,
                 *frame = &c->frame[3 * q->body];
    tac_dop_empty(box);
    for (int n = 0; n < q->count; n++) {
        const struct tac_path_bound *path_bound = &c->path_bound[q->v[n]];
        double begin[3], end[3], at[TAC_DOP_AXES], later[TAC_DOP_AXES];
        for (int k = 0; k < 3; k++) {
            begin[k] = path_bound->x[k] + c->from_s * (path_bound->v[k] - frame[k]);
            end[k] = path_bound->x[k] + c->span_s * (path_bound->v[k] - frame[k]);
        }
        tac_dop_project(begin, at);
        tac_dop_project(end, later);
        for (int k = 0; k < TAC_DOP_AXES; k++) {
            const double reach = (path_bound->radius + margin) * tac_dop_length[k];
            const double lo = (at[k] < later[k] ? at[k] : later[k]) - reach,
                         hi = (at[k] > later[k] ? at[k] : later[k]) + reach;
            box->lo[k] = lo < box->lo[k] ? lo : box->lo[k];
            box->hi[k] = hi > box->hi[k] ? hi : box->hi[k];
        }
    }
}

void tac_candidates_boxes(struct tac_view *view, struct tac_candidates *c, tac_lid b,
                          const struct tac_primitive *primitive, struct tac_tree *tree)
{
    struct tac_boxes boxes = {view, c, primitive};
    if (!view->scene->settings->body[b].has_elements)
        tree->stale = true; /* particles mix */
    if (tree->count > 0)
        tac_tree_refit(tree, c->path_bound[primitive[0].v[0]].x, tac_candidates_box, &boxes, c->scratch);
}

void tac_candidates_drift(const struct tac_candidates *c, tac_lid a, tac_lid b, double lo[TAC_DOP_AXES],
                          double hi[TAC_DOP_AXES])
{
    double drift[3], along[TAC_DOP_AXES];
    for (int k = 0; k < 3; k++)
        drift[k] = c->span_s * (c->frame[3 * a + k] - c->frame[3 * b + k]);
    tac_dop_project(drift, along);
    for (int k = 0; k < TAC_DOP_AXES; k++) {
        lo[k] = fmin(0, along[k]);
        hi[k] = fmax(0, along[k]);
    }
}

void tac_candidates_sweep(const struct tac_candidates *c, tac_lid b, const struct tac_tree *tree, double *lo,
                          double *hi)
{
    const double drift = c->span_s * c->frame[3 * b];
    tac_tree_extent(tree, 0, lo, hi);
    *lo += fmin(0, drift);
    *hi += fmax(0, drift);
}

enum tac_err tac_candidates_append(struct tac_view *view, struct tac_candidates *c, size_t count,
                                   struct tac_candidate q, const tac_lid v[4])
{
    enum tac_err err;
    struct tac_found *found = &c->found;
    TAC_TRY(tac_grow(view->ctx, &found->of, &found->capacity, count + 1, sizeof *found->of));
    TAC_TRY(tac_grow(view->ctx, &found->slack, &found->slack_capacity, count + 1, sizeof *found->slack));
    const enum tac_pair_type type = (enum tac_pair_type)q.type;
    struct tac_slack slack = {{v[0], v[1], v[2], v[3]}, -INFINITY, -INFINITY};
    q.count = (uint8_t)tac_pair_vertices(type);
    q.first = (uint8_t)tac_pair_first(type);
    if (type == TAC_PAIR_EDGE_EDGE)
        slack.v[0] = ~slack.v[0];
    for (int i = q.count; i < 4; i++)
        slack.v[i] = slack.v[i - 1];
    found->of[count] = q;
    found->slack[count] = slack;
done:
    return err;
}

int tac_candidates_slice(const struct tac_candidate *q)
{
    const int slice = (int)(q->change * SLICES);
    return slice < SLICES ? slice : SLICES - 1;
}

/* Sorts the pairs by slices of time, in place, because lists take most of the memory of large scenes. */
static void sort_by_slice(struct tac_candidates *c, size_t count)
{
    size_t at[SLICES + 1] = {0};
    for (size_t k = 0; k < count; k++)
        at[tac_candidates_slice(&c->found.of[k]) + 1]++;
    for (int k = 0; k < SLICES; k++) {
        at[k + 1] += at[k];
        c->slice_end[k] = at[k + 1];
    }
    for (int k = 0; k < SLICES; k++)
        while (at[k] < c->slice_end[k]) {
            struct tac_candidate *q = &c->found.of[at[k]];
            struct tac_slack *s = &c->found.slack[at[k]];
            const int slice = tac_candidates_slice(q);
            if (slice == k) {
                at[k]++;
                continue;
            }
            const struct tac_candidate other = c->found.of[at[slice]];
            const struct tac_slack other_slack = c->found.slack[at[slice]];
            c->found.of[at[slice]] = *q;
            c->found.slack[at[slice]++] = *s;
            *q = other;
            *s = other_slack;
        }
    c->count = count;
}

/* Subscribes to the motions of the marked ghosts, and of no others. */
static enum tac_err take_part(struct tac_view *view)
{
    const enum tac_err err = tac_halo_prune(view->halo), reported = tac_halo_subscribe(view->halo);
    return tac_agree(view->ctx, err ? err : reported);
}

/* Marks the ghosts that candidates have, and those that they may have after a repair. */
static enum tac_err subscribe_to_ghosts(struct tac_view *view, const struct tac_candidates *c)
{
    memset(view->halo->mark, 0, (size_t)view->state->count);
    for (size_t k = 0; k < c->remote.count; k++) /* repairs may find pairs with them */
        for (int i = 0; i < c->remote.primitive[k].count; i++)
            view->halo->mark[c->remote.primitive[k].v[i]] = 2;
    for (size_t k = 0; k < c->count; k++) {
        tac_lid v[4];
        tac_slack_vertices(&c->slack.of[k], &c->list[k], v);
        for (int i = 0; i < c->list[k].count; i++)
            view->halo->mark[v[i]] = tac_model_takes_part(view->model, v[i]) ? 1 : 2;
    }
    return take_part(view);
}

/* Local. Frames and boxes, from the trajectory bounds of this rank and of its ghosts. */
static void lay_boxes(struct tac_view *view, struct tac_candidates *c)
{
    tac_candidates_frames(view, c);
    for (tac_lid b = 0; b < c->body_count; b++) {
        if (!c->immovable[b] || c->tree[b]->stale)
            tac_candidates_boxes(view, c, b, &c->primitive[c->primitive_begin[b]], c->tree[b]);
        if (c->remote.count && c->remote.begin[b + 1] > c->remote.begin[b])
            tac_candidates_boxes(view, c, b, &c->remote.primitive[c->remote.begin[b]], c->remote.tree[b]);
    }
    c->remote.fresh = false;
}

/* Local. Makes the list. */
static enum tac_err make_list(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err;
    size_t count = 0;
    lay_boxes(view, c);
    /* The old list is not needed any more; its memory takes what the search finds. */
    c->found = (struct tac_found){c->capacity, c->slack.capacity, c->list, c->slack.of};
    c->list = NULL;
    c->slack.of = NULL;
    c->count = 0;
    err = tac_candidates_find(view, c, &count);
    if (!err)
        sort_by_slice(c, count);
    c->list = c->found.of;
    c->capacity = c->found.capacity;
    c->slack.of = c->found.slack;
    c->slack.capacity = c->found.slack_capacity;
    c->found = (struct tac_found){0};
    return err;
}

enum tac_err tac_candidates_build(struct tac_view *view, struct tac_candidates *c, tac_time window, tac_time lifetime)
{
    enum tac_err err = TAC_OK;
    c->span = lifetime > window ? lifetime : window;
    c->span_s = tac_state_seconds(view->state, c->span);
    lay_path_bounds(view, c, tac_state_seconds(view->state, window));
    if (view->halo)
        err = tac_remote_fetch(view, c);
    if (!err)
        err = make_list(view, c);
    TAC_TRY(tac_agree(view->ctx, err));
    c->start = view->state->now;
    c->end = view->state->now + c->span;
    if (view->halo)
        TAC_TRY(subscribe_to_ghosts(view, c));
    c->builds++;
    view->counters->candidate_builds++;
    view->counters->candidates = (int64_t)c->count;
done:
    return err;
}

enum tac_err tac_candidates_show(struct tac_view *view, struct tac_candidates *c, tac_take_pair *take, void *context)
{
    enum tac_err err = TAC_OK;
    c->span_s = 1; /* the ends of the paths */
    lay_path_bounds(view, c, c->span_s);
    if (view->halo)
        err = tac_remote_fetch(view, c);
    if (!err) {
        lay_boxes(view, c);
        err = tac_candidates_show_found(view, c, true, take, context);
    }
    c->builds++;
    return tac_agree(view->ctx, err);
}

enum tac_err tac_candidates_show_changed(struct tac_view *view, struct tac_candidates *c, const uint8_t *left,
                                         tac_take_pair *take, void *context, bool *done)
{
    enum tac_err err = TAC_OK;
    const double extent = c->extent;
    for (tac_lid v = 0; v < view->state->owned; v++)
        if (left[v])
            tac_candidates_bound(view, c, v, c->span_s, 0);
    *done = !(c->extent > 2 * extent);
    if (!*done)
        return TAC_OK;
    memcpy(c->repair.left, left, (size_t)view->state->owned);
    err = tac_candidates_show_found_changed(view, c, take, context);
    memset(c->repair.left, 0, (size_t)view->state->owned);
    return err;
}

void tac_candidates_rename(struct tac_candidates *c, const int32_t *slot)
{
    for (size_t k = 0; k < c->count; k++)
        if (c->list[k].slot >= 0)
            c->list[k].slot = slot[c->list[k].slot];
}

size_t tac_candidates_before(const struct tac_candidates *c, tac_time t)
{
    double share = (double)(t - c->start) / (double)c->span;
    int slice = (int)(share * SLICES) + 1; /* one more: the share was rounded */
    return c->slice_end[slice < SLICES ? slice : SLICES - 1];
}

/* ---- the lifetime of a list ---- */

static const double STEP = 1.5; /* of lifetimes */

/* Computes the largest cost of the list on any rank; each rank makes its own part of the list. */
static enum tac_err cost_of(struct tac_view *view, const struct tac_candidates *c, double *cost)
{
    *cost = (double)c->cost.build + (double)c->cost.repair + TAC_LOOK_COST * (double)c->cost.looks;
    if (view->halo && MPI_Allreduce(MPI_IN_PLACE, cost, 1, MPI_DOUBLE, MPI_MAX, view->ctx->comm) != MPI_SUCCESS)
        return tac_fail(view->ctx, TAC_ERR_RUN, "MPI failed while choosing the lifetime of a list");
    return TAC_OK;
}

enum tac_err tac_candidates_horizon(struct tac_view *view, struct tac_candidates *c, tac_time start, tac_time reached,
                                    tac_time length)
{
    enum tac_err err = TAC_OK;
    const tac_time age = start - c->start, least = length, most = 1024 * length;
    double cost, horizon = (double)c->horizon;
    if (c->end <= c->start)
        return TAC_OK;
    TAC_TRY(cost_of(view, c, &cost));
    if (reached <= c->end && age < c->horizon / 2) {
        /* The lifetime was far too long, so a part of the cost was useless. */
        horizon /= 2;
        c->descent = (struct tac_descent){.shorter = true};
    } else if (cost > 0) {
        horizon = tac_descent_next(&c->descent, cost / (double)(age > 0 ? age : 1), STEP, horizon, (double)least,
                                   (double)most);
    }
    c->horizon = (tac_time)tac_descent_within(horizon, (double)least, (double)most);
done:
    return err;
}
