/* remote.c: finds the primitives of other ranks that are near those of this rank (docs/distribution.md, Discovery).
 *
 * Every rank publishes a few boxes that hold its primitives while the trajectory bounds hold. The owner of a primitive
 * (by its lowest vertex) sends it to all ranks whose boxes it meets and which do not hold it themselves. The boxes go
 * to all ranks; everything else is sent between neighbours. */
#include "broadphase/search.h"
#include <stdlib.h>
#include <string.h>

enum {
    BOXES = 64,  /* of a rank */
    MOVING = 48, /* of those: of primitives that can move */
    REGROUP = 32
};

/* A vertex of a remote primitive on its way. */
struct parcel_vertex {
    struct tac_ghost ghost;
    struct tac_path_bound path_bound;
    struct tac_move move;
    double x[3];
};

/* A remote primitive on its way: vertices are places in the message's list. */
struct parcel {
    tac_lid id, edge[3];
    int32_t v[3];
    int32_t count;
};

static void box_empty(struct tac_box *box)
{
    for (int k = 0; k < 3; k++) {
        box->lo[k] = INFINITY;
        box->hi[k] = -INFINITY;
    }
}

static void box_merge(struct tac_box *box, const struct tac_box *other)
{
    for (int k = 0; k < 3; k++) {
        box->lo[k] = fmin(box->lo[k], other->lo[k]);
        box->hi[k] = fmax(box->hi[k], other->hi[k]);
    }
}

static bool boxes_meet(const struct tac_box *a, const struct tac_box *b)
{
    for (int k = 0; k < 3; k++)
        if (!(a->lo[k] <= b->hi[k] && b->lo[k] <= a->hi[k]))
            return false;
    return true;
}

/* The box in which the primitive stays while the trajectory bounds hold, with half of a contact's reach around it. */
static void box_of(const struct tac_view *view, const struct tac_candidates *c, const struct tac_primitive *p,
                   struct tac_box *box)
{
    const double margin =
        .5 * view->scene->settings->contact.thickness + view->scene->settings->body[p->body].radius + 1e-12 * c->extent;
    box_empty(box);
    for (int i = 0; i < p->count; i++) {
        const struct tac_path_bound *path_bound = &c->path_bound[p->v[i]];
        const double reach = path_bound->radius + margin;
        for (int k = 0; k < 3; k++) {
            const double end = path_bound->x[k] + c->span_s * path_bound->v[k];
            box->lo[k] = fmin(box->lo[k], fmin(path_bound->x[k], end) - reach);
            box->hi[k] = fmax(box->hi[k], fmax(path_bound->x[k], end) + reach);
        }
    }
}

/* Can the primitive move? */
static bool moves(const struct tac_view *view, const struct tac_primitive *p)
{
    for (int i = 0; i < p->count; i++)
        if (!view->model->still[p->v[i]])
            return true;
    return false;
}

/* ---- groups: near primitives share a published box ---- */

struct place {
    double x[3];
    double along; /* of x, the coordinate that they are sorted by */
    int32_t primitive;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    if (p->along != q->along)
        return p->along < q->along ? -1 : 1;
    return (p->primitive > q->primitive) - (p->primitive < q->primitive);
}

/* Halves the longer axis until each box has its share. */
static void split(struct tac_candidates *c, struct place *place, int32_t n, int first, int boxes)
{
    if (boxes == 1 || n <= 1) {
        for (int32_t k = 0; k < n; k++)
            c->remote.group[place[k].primitive] = first;
        return;
    }
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            lo[k] = fmin(lo[k], place[i].x[k]);
            hi[k] = fmax(hi[k], place[i].x[k]);
        }
    int axis = hi[1] - lo[1] > hi[0] - lo[0] ? 1 : 0;
    axis = hi[2] - lo[2] > hi[axis] - lo[axis] ? 2 : axis;
    for (int32_t i = 0; i < n; i++)
        place[i].along = place[i].x[axis];
    qsort(place, (size_t)n, sizeof *place, compare_places);
    split(c, place, n / 2, first, boxes / 2);
    split(c, place + n / 2, n - n / 2, first + boxes / 2, boxes - boxes / 2);
}

static enum tac_err make_groups(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err = TAC_OK;
    struct place *place = NULL;
    const int32_t n = c->primitive_begin[c->body_count];
    if (c->remote.group == NULL) {
        TAC_TRY(tac_alloc(view->ctx, (size_t)n, 1, &c->remote.outer));
        TAC_TRY(tac_alloc(view->ctx, (size_t)n, sizeof *c->remote.group, &c->remote.group));
    }
    TAC_TRY(tac_alloc(view->ctx, (size_t)n, sizeof *place, &place));
    int32_t moving = 0, still = n;
    for (int32_t p = 0; p < n; p++) {
        struct tac_box box;
        struct place *at = &place[moves(view, &c->primitive[p]) ? moving++ : --still];
        box_of(view, c, &c->primitive[p], &box);
        for (int k = 0; k < 3; k++)
            at->x[k] = box.lo[k] + box.hi[k];
        at->primitive = p;
    }
    split(c, place, moving, 0, MOVING);
    split(c, place + moving, n - moving, MOVING, BOXES - MOVING);
done:
    free(place);
    return err;
}

/* ---- sending ---- */

struct outbox {
    size_t vertex_count, vertex_capacity, count, capacity;
    struct parcel_vertex *vertex; /* owned; of all targets, one behind the other */
    struct parcel *parcel;        /* owned; likewise */
    int64_t *vertices, *parcels;  /* owned, (size) */
    int32_t *place, *stamp;       /* owned, (V): place of a vertex in the message of the rank stamped */
};

static enum tac_err put_vertex(struct tac_view *view, struct tac_candidates *c, struct outbox *out, tac_lid v,
                               int target, size_t begin)
{
    enum tac_err err = TAC_OK;
    if (out->stamp[v] == target + 1)
        return TAC_OK;
    TAC_TRY(tac_grow(view->ctx, &out->vertex, &out->vertex_capacity, out->vertex_count + 1, sizeof *out->vertex));
    struct parcel_vertex *p = &out->vertex[out->vertex_count];
    memset(p, 0, sizeof *p);
    tac_ghost_describe(view->scene, v, &p->ghost);
    p->path_bound = c->path_bound[v];
    p->move = c->move[v];
    memcpy(p->x, &c->x[3 * (size_t)v], sizeof p->x);
    out->stamp[v] = target + 1;
    out->place[v] = (int32_t)(out->vertex_count++ - begin);
done:
    return err;
}

/* Does this rank send the primitive, and is it new to the target? */
static bool concerns(const struct tac_view *view, const struct tac_primitive *p, int target)
{
    tac_lid lowest = p->v[0];
    for (int i = 0; i < p->count; i++) {
        if (tac_scene_owner(view->ctx, view->scene, p->v[i]) == target)
            return false;
        if (tac_scene_id(view->scene, p->v[i]) < tac_scene_id(view->scene, lowest))
            lowest = p->v[i];
    }
    return lowest < view->state->owned;
}

static enum tac_err pack_for(struct tac_view *view, struct tac_candidates *c, struct outbox *out, int target,
                             const struct tac_box *published, const struct tac_box *own)
{
    enum tac_err err = TAC_OK;
    struct tac_box whole;
    const int32_t n = c->primitive_begin[c->body_count];
    const size_t begin = out->vertex_count, parcels = out->count;
    box_empty(&whole);
    for (int k = 0; k < BOXES; k++)
        box_merge(&whole, &published[k]);
    for (int32_t i = 0; i < n; i++) {
        const struct tac_primitive *p = &c->primitive[i];
        bool meets = false;
        if (!boxes_meet(&own[i], &whole))
            continue;
        for (int k = 0; k < BOXES && !meets; k++)
            meets = boxes_meet(&own[i], &published[k]);
        c->remote.outer[i] |= meets;
        if (!meets || !concerns(view, p, target))
            continue;
        TAC_TRY(tac_grow(view->ctx, &out->parcel, &out->capacity, out->count + 1, sizeof *out->parcel));
        struct parcel *parcel = &out->parcel[out->count];
        memset(parcel, 0, sizeof *parcel);
        parcel->id = p->id;
        parcel->count = p->count;
        memcpy(parcel->edge, p->edge, sizeof parcel->edge);
        for (int k = 0; k < p->count; k++) {
            TAC_TRY(put_vertex(view, c, out, p->v[k], target, begin));
            parcel->v[k] = out->place[p->v[k]];
        }
        out->count++;
    }
    out->vertices[target] = (int64_t)(out->vertex_count - begin);
    out->parcels[target] = (int64_t)(out->count - parcels);
done:
    return err;
}

static enum tac_err pack(struct tac_view *view, struct tac_candidates *c, struct outbox *out,
                         const struct tac_box *published, const struct tac_box *own)
{
    enum tac_err err = TAC_OK;
    const size_t size = (size_t)view->ctx->size;
    struct tac_box mine, theirs;
    TAC_TRY(tac_alloc(view->ctx, size, sizeof *out->vertices, &out->vertices));
    TAC_TRY(tac_alloc(view->ctx, size, sizeof *out->parcels, &out->parcels));
    TAC_TRY(tac_alloc(view->ctx, (size_t)view->state->count, sizeof *out->place, &out->place));
    TAC_TRY(tac_alloc(view->ctx, (size_t)view->state->count, sizeof *out->stamp, &out->stamp));
    memset(c->remote.outer, 0, (size_t)c->primitive_begin[c->body_count]);
    box_empty(&mine);
    for (int k = 0; k < BOXES; k++)
        box_merge(&mine, &published[BOXES * view->ctx->rank + k]);
    for (int r = 0; r < view->ctx->size; r++) {
        box_empty(&theirs);
        for (int k = 0; k < BOXES; k++)
            box_merge(&theirs, &published[BOXES * r + k]);
        if (r != view->ctx->rank && boxes_meet(&mine, &theirs))
            TAC_TRY(pack_for(view, c, out, r, &published[BOXES * r], own));
    }
done:
    return err;
}

/* ---- receiving ---- */

static enum tac_err unpack(struct tac_view *view, struct tac_candidates *c, const struct parcel_vertex *vertex,
                           const int64_t *vertices, const struct parcel *parcel, const int64_t *parcels)
{
    enum tac_err err = TAC_OK;
    size_t first_vertex = 0, k = 0;
    c->remote.count = 0;
    for (int r = 0; r < view->ctx->size; r++) {
        for (size_t i = first_vertex; i < first_vertex + (size_t)vertices[r]; i++) {
            tac_lid v;
            TAC_TRY(tac_ghost_add(view->halo, &vertex[i].ghost, &v));
            c->path_bound[v] = vertex[i].path_bound;
            c->move[v] = vertex[i].move;
            memcpy(&c->x[3 * (size_t)v], vertex[i].x, sizeof vertex[i].x);
            view->halo->mark[v] = 2; /* its motion is known in this pass */
        }
        for (int64_t i = 0; i < parcels[r]; i++, k++) {
            TAC_TRY(tac_grow(view->ctx, &c->remote.primitive, &c->remote.capacity, c->remote.count + 1,
                             sizeof *c->remote.primitive));
            struct tac_primitive *p = &c->remote.primitive[c->remote.count++];
            memset(p, 0, sizeof *p);
            p->id = parcel[k].id;
            p->count = (uint8_t)parcel[k].count;
            memcpy(p->edge, parcel[k].edge, sizeof p->edge);
            for (int j = 0; j < p->count; j++)
                p->v[j] = tac_ghost_find(view->halo, vertex[first_vertex + (size_t)parcel[k].v[j]].ghost.id);
            p->body = view->scene->mesh->vertex_body[p->v[0]];
        }
        first_vertex += (size_t)vertices[r];
    }
done:
    return err;
}

static int compare_primitives(const void *a, const void *b)
{
    const struct tac_primitive *p = a, *q = b;
    if (p->body != q->body)
        return p->body < q->body ? -1 : 1;
    if (p->count != q->count)
        return p->count > q->count ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

/* An edge or a vertex of a remote primitive. */
struct feature {
    tac_lid id;
    int32_t primitive, k;
};

static int compare_features(const void *a, const void *b)
{
    const struct feature *p = a, *q = b;
    if (p->id != q->id)
        return p->id < q->id ? -1 : 1;
    if (p->primitive != q->primitive)
        return p->primitive < q->primitive ? -1 : 1;
    return (p->k > q->k) - (p->k < q->k);
}

/* The first remote primitive with a feature stands for it. */
static void place(struct tac_candidates *c, struct feature *list, size_t n, bool edges)
{
    if (n)
        qsort(list, n, sizeof *list, compare_features);
    for (size_t i = 0; i < n; i++) {
        struct tac_primitive *p = &c->remote.primitive[list[i].primitive];
        if (i == 0 || list[i].id != list[i - 1].id)
            *(edges ? &p->edges : &p->vertices) |= (uint8_t)(1 << list[i].k);
    }
}

/* Assigns to one remote primitive each every edge that belongs to no primitive of this rank, and every such vertex that
 * never moves, because its owner leaves it to others to decide about it. */
static enum tac_err place_features(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err;
    struct feature *list = NULL;
    size_t n = 0;
    const struct tac_part *part = view->scene->mesh->part;
    TAC_TRY(tac_alloc(view->ctx, 3 * c->remote.count, sizeof *list, &list));
    for (size_t i = 0; i < c->remote.count; i++) {
        const int edges = c->remote.primitive[i].count == 3 ? 3 : c->remote.primitive[i].count == 2 ? 1 : 0;
        for (int k = 0; k < edges; k++)
            if (tac_id_find(part->edge_id, view->scene->mesh->topology->edge_count, c->remote.primitive[i].edge[k]) < 0)
                list[n++] = (struct feature){c->remote.primitive[i].edge[k], (int32_t)i, k};
    }
    place(c, list, n, true);
    n = 0;
    for (size_t i = 0; i < c->remote.count && view->model->apart; i++)
        for (int k = 0; k < c->remote.primitive[i].count; k++) {
            const tac_lid v = c->remote.primitive[i].v[k];
            /* Of the local mesh' vertices those of hinges alone have no leaf among our primitives. */
            const bool ours = v < view->scene->mesh->vertex_count && c->taken[v];
            if (!ours && !tac_model_takes_part(view->model, v))
                list[n++] = (struct feature){v, (int32_t)i, k};
        }
    place(c, list, n, false);
done:
    free(list);
    return err;
}

/* Sorts the remote primitives by body, and makes a tree for each body. */
static enum tac_err arrange(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err = TAC_OK;
    const size_t bodies = (size_t)c->body_count;
    if (c->remote.begin == NULL) {
        TAC_TRY(tac_alloc(view->ctx, bodies + 1, sizeof *c->remote.begin, &c->remote.begin));
        TAC_TRY(tac_alloc(view->ctx, bodies, sizeof *c->remote.tree, &c->remote.tree));
    }
    if (c->remote.count)
        qsort(c->remote.primitive, c->remote.count, sizeof *c->remote.primitive, compare_primitives);
    memset(c->remote.begin, 0, (bodies + 1) * sizeof *c->remote.begin);
    for (size_t i = 0; i < c->remote.count; i++)
        c->remote.begin[c->remote.primitive[i].body + 1]++;
    for (size_t b = 0; b < bodies; b++) {
        tac_tree_destroy(&c->remote.tree[b]);
        if (c->remote.begin[b + 1])
            TAC_TRY(tac_tree_create(view->ctx, c->remote.begin[b + 1], &c->remote.tree[b]));
        c->remote.begin[b + 1] += c->remote.begin[b];
    }
    TAC_TRY(tac_grow(view->ctx, &c->remote.box, &c->remote.box_capacity, c->remote.count, sizeof *c->remote.box));
    TAC_TRY(tac_grow(view->ctx, &c->scratch, &c->scratch_capacity, c->remote.count, sizeof *c->scratch));
    TAC_TRY(place_features(view, c));
done:
    return err;
}

enum tac_err tac_remote_fetch(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err;
    struct tac_ctx *ctx = view->ctx;
    const size_t size = (size_t)ctx->size;
    const int32_t n = c->primitive_begin[c->body_count];
    struct tac_box *own = NULL, *published = NULL;
    const double room = c->skin; /* for repairs of lists */
    struct outbox out = {0};
    struct parcel_vertex *vertex = NULL;
    struct parcel *parcel = NULL;
    int64_t *vertices = NULL, *parcels = NULL;
    TAC_TRY(tac_alloc(ctx, (size_t)n, sizeof *own, &own));
    if (c->remote.published == NULL)
        TAC_TRY(tac_alloc(ctx, BOXES * size, sizeof *c->remote.published, &c->remote.published));
    published = c->remote.published;
    TAC_TRY(tac_alloc(ctx, size, sizeof *vertices, &vertices));
    TAC_TRY(tac_alloc(ctx, size, sizeof *parcels, &parcels));
    if (c->builds % REGROUP == 0)
        TAC_TRY(make_groups(view, c));
    for (int k = 0; k < BOXES; k++)
        box_empty(&published[BOXES * ctx->rank + k]);
    for (int32_t p = 0; p < n; p++) {
        box_of(view, c, &c->primitive[p], &own[p]);
        box_merge(&published[BOXES * ctx->rank + c->remote.group[p]], &own[p]);
    }
    for (int k = 0; k < MOVING; k++)
        for (int i = 0; i < 3; i++) {
            published[BOXES * ctx->rank + k].lo[i] -= room;
            published[BOXES * ctx->rank + k].hi[i] += room;
        }
done:
    /* All ranks agree that they can send before any of them sends. */
    err = tac_agree(ctx, err);
    if (!err && MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, published, BOXES * (int)sizeof *published, MPI_BYTE,
                              ctx->comm) != MPI_SUCCESS)
        err = tac_fail(ctx, TAC_ERR_RUN, "MPI failed while publishing boxes");
    if (!err)
        err = pack(view, c, &out, published, own);
    err = tac_agree(ctx, err);
    if (!err) {
        enum tac_err first = tac_exchange(ctx, out.vertex, out.vertices, sizeof *out.vertex, &vertex, vertices);
        err = tac_exchange(ctx, out.parcel, out.parcels, sizeof *out.parcel, &parcel, parcels);
        err = first ? first : err;
        if (!err)
            err = unpack(view, c, vertex, vertices, parcel, parcels);
        if (!err)
            err = arrange(view, c);
    }
    free(own);
    free(out.vertex);
    free(out.parcel);
    free(out.vertices);
    free(out.parcels);
    free(out.place);
    free(out.stamp);
    free(vertex);
    free(parcel);
    free(vertices);
    free(parcels);
    return err;
}

static bool box_within(const struct tac_box *a, const struct tac_box *b)
{
    for (int k = 0; k < 3; k++)
        if (!(a->lo[k] >= b->lo[k] && a->hi[k] <= b->hi[k]))
            return false;
    return true;
}

/* Within a box that this rank has published, and in none of another one's. */
static bool is_private(const struct tac_view *view, const struct tac_candidates *c, const struct tac_box *box)
{
    const int me = view->ctx->rank;
    bool within = false;
    for (int k = 0; k < MOVING && !within; k++)
        within = box_within(box, &c->remote.published[BOXES * me + k]);
    for (int r = 0; r < view->ctx->size && within; r++)
        for (int k = 0; k < MOVING && r != me && within; k++)
            within = !boxes_meet(box, &c->remote.published[BOXES * r + k]);
    return within;
}

bool tac_remote_unconcerned(const struct tac_view *view, const struct tac_candidates *c)
{
    if (c->remote.published == NULL || !view->model->apart)
        return false;
    for (int32_t p = 0; p < c->primitive_begin[c->body_count]; p++) {
        struct tac_box box;
        if (!tac_has_leaver(c, c->primitive[p].v, c->primitive[p].count))
            continue;
        box_of(view, c, &c->primitive[p], &box);
        if (!is_private(view, c, &box))
            return false;
    }
    return true;
}

void tac_remote_destroy(struct tac_candidates *c)
{
    for (int32_t b = 0; c->remote.tree && b < c->body_count; b++)
        tac_tree_destroy(&c->remote.tree[b]);
    free(c->remote.tree);
    free(c->remote.begin);
    free(c->remote.box);
    free(c->remote.primitive);
    free(c->remote.group);
    free(c->remote.outer);
    free(c->remote.published);
}
