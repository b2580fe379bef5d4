/* remote_boxes.c: the boxes that ranks publish around their primitives: laid for a new list, grown in repairs, and who
 * is alone in its own (docs/distribution.md, Discovery). */
#include "base/exchange.h"
#include "broadphase/remote.h"
#include "broadphase/search.h"
#include <stdlib.h>
#include <string.h>

enum { REGROUP = 32 };

void tac_box_empty(struct tac_box *box)
{
    for (int k = 0; k < 3; k++) {
        box->lo[k] = INFINITY;
        box->hi[k] = -INFINITY;
    }
}

void tac_box_merge(struct tac_box *box, const struct tac_box *other)
{
    for (int k = 0; k < 3; k++) {
        box->lo[k] = fmin(box->lo[k], other->lo[k]);
        box->hi[k] = fmax(box->hi[k], other->hi[k]);
    }
}

void tac_remote_box(const struct tac_view *view, const struct tac_candidates *c, const struct tac_primitive *p,
                    struct tac_box *box)
{
    const double margin =
        .5 * view->scene->settings->contact.thickness + view->scene->settings->body[p->body].radius + 1e-12 * c->extent;
    tac_box_empty(box);
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

static bool box_within(const struct tac_box *a, const struct tac_box *b)
{
    for (int k = 0; k < 3; k++)
        if (!(a->lo[k] >= b->lo[k] && a->hi[k] <= b->hi[k]))
            return false;
    return true;
}

static void widen(struct tac_box *box, double by)
{
    for (int k = 0; k < 3; k++) {
        box->lo[k] -= by;
        box->hi[k] += by;
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
    if (c->remote.group == NULL)
        TAC_TRY(tac_alloc(view->ctx, (size_t)n, sizeof *c->remote.group, &c->remote.group));
    TAC_TRY(tac_alloc(view->ctx, (size_t)n, sizeof *place, &place));
    int32_t moving = 0, still = n;
    for (int32_t p = 0; p < n; p++) {
        struct tac_box box;
        struct place *at = &place[moves(view, &c->primitive[p]) ? moving++ : --still];
        tac_remote_box(view, c, &c->primitive[p], &box);
        for (int k = 0; k < 3; k++)
            at->x[k] = box.lo[k] + box.hi[k];
        at->primitive = p;
    }
    split(c, place, moving, 0, TAC_REMOTE_MOVING);
    split(c, place + moving, n - moving, TAC_REMOTE_MOVING, TAC_REMOTE_BOXES - TAC_REMOTE_MOVING);
done:
    free(place);
    return err;
}

/* ---- publishing ---- */

enum tac_err tac_remote_lay(struct tac_view *view, struct tac_candidates *c, struct tac_box *own)
{
    enum tac_err err = TAC_OK;
    const int32_t n = c->primitive_begin[c->body_count];
    const double room = c->skin; /* for repairs of lists */
    if (c->remote.mine == NULL)
        TAC_TRY(tac_alloc(view->ctx, TAC_REMOTE_BOXES, sizeof *c->remote.mine, &c->remote.mine));
    struct tac_box *mine = c->remote.mine;
    if (c->builds % REGROUP == 0)
        TAC_TRY(make_groups(view, c));
    for (int k = 0; k < TAC_REMOTE_BOXES; k++)
        tac_box_empty(&mine[k]);
    for (int32_t p = 0; p < n; p++) {
        tac_remote_box(view, c, &c->primitive[p], &own[p]);
        tac_box_merge(&mine[c->remote.group[p]], &own[p]);
    }
    for (int k = 0; k < TAC_REMOTE_MOVING; k++)
        widen(&mine[k], room);
done:
    return err;
}

/* Do the whole boxes of this rank and another one meet?  The other one finds the same.  Where none decides for the sake
 * of what never moves, those around it need not meet. */
static bool is_near(const struct tac_view *view, const struct tac_candidates *c, int rank)
{
    const struct tac_box *mine = &c->remote.whole[2 * view->ctx->rank], *theirs = &c->remote.whole[2 * rank];
    return tac_boxes_meet(&mine[0], &theirs[0]) || tac_boxes_meet(&mine[0], &theirs[1]) ||
           tac_boxes_meet(&mine[1], &theirs[0]) || (!view->model->apart && tac_boxes_meet(&mine[1], &theirs[1]));
}

static enum tac_err grow_near(struct tac_view *view, struct tac_candidates *c, size_t count)
{
    enum tac_err err = TAC_OK;
    struct tac_remote_primitives *r = &c->remote;
    TAC_TRY(tac_grow(view->ctx, &r->near, &r->near_capacity, count, sizeof *r->near));
    TAC_TRY(tac_grow(view->ctx, &r->published, &r->published_capacity, TAC_REMOTE_BOXES * count, sizeof *r->published));
done:
    return err;
}

/* The boxes around this rank's boxes of what moves and of what does not, to all ranks. */
static enum tac_err publish_whole(struct tac_view *view, struct tac_candidates *c, enum tac_err err)
{
    struct tac_ctx *ctx = view->ctx;
    if (!err && c->remote.whole == NULL)
        err = tac_alloc(ctx, 2 * (size_t)ctx->size, sizeof *c->remote.whole, &c->remote.whole);
    TAC_TRY(tac_agree(ctx, err)); /* before any of them sends */
    struct tac_box *whole = &c->remote.whole[2 * ctx->rank];
    tac_box_empty(&whole[0]);
    tac_box_empty(&whole[1]);
    for (int k = 0; k < TAC_REMOTE_BOXES; k++)
        tac_box_merge(&whole[k >= TAC_REMOTE_MOVING], &c->remote.mine[k]);
    widen(&whole[0], c->skin); /* so that boxes may grow in repairs and meet none but those that are known here */
    if (MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, c->remote.whole, 2 * (int)sizeof *whole, MPI_BYTE, ctx->comm) !=
        MPI_SUCCESS)
        err = tac_fail(ctx, TAC_ERR_RUN, "MPI failed while publishing boxes");
done:
    return err;
}

enum tac_err tac_remote_publish(struct tac_view *view, struct tac_candidates *c, enum tac_err err)
{
    struct tac_remote_primitives *r = &c->remote;
    size_t n = 0;
    TAC_TRY(publish_whole(view, c, err));
    for (int k = 0; k < view->ctx->size; k++)
        n += k != view->ctx->rank && is_near(view, c, k);
    TAC_TRY(tac_agree(view->ctx, grow_near(view, c, n)));
    r->near_count = 0;
    for (int k = 0; k < view->ctx->size; k++)
        if (k != view->ctx->rank && is_near(view, c, k))
            r->near[r->near_count++] = k;
    err = tac_swap(view->ctx, r->near_count, r->near, r->mine, TAC_REMOTE_BOXES * sizeof *r->mine, r->published);
done:
    return err;
}

/* ---- growing ---- */

/* This rank's boxes that do not hold their primitives any more, grown. */
static int grow_mine(struct tac_view *view, struct tac_candidates *c, size_t count, const int32_t *changed,
                     const struct tac_box *box, struct tac_grown_box mine[TAC_REMOTE_MOVING])
{
    struct tac_box *published = c->remote.mine;
    bool grows[TAC_REMOTE_BOXES] = {false};
    int n = 0;
    for (size_t i = 0; i < count; i++) {
        const int group = c->remote.group[changed[i]];
        if (box_within(&box[i], &published[group]))
            continue;
        struct tac_box wide = box[i];
        widen(&wide, c->skin); /* not to grow at each repair */
        tac_box_merge(&published[group], &wide);
        grows[group] = true;
    }
    for (int k = 0; k < TAC_REMOTE_MOVING; k++)
        if (grows[k])
            mine[n++] = (struct tac_grown_box){view->ctx->rank, k, published[k]};
    return n;
}

/* Ranks whose boxes had been far are near now: of those only the whole boxes are known. */
static enum tac_err find_new_near(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err = TAC_OK;
    struct tac_remote_primitives *r = &c->remote;
    size_t at = 0;
    for (int k = 0; k < view->ctx->size; k++) {
        while (at < r->near_count && r->near[at] < k)
            at++;
        if (k == view->ctx->rank || (at < r->near_count && r->near[at] == k) || !is_near(view, c, k))
            continue;
        TAC_TRY(grow_near(view, c, r->near_count + 1));
        struct tac_box *boxes = &r->published[TAC_REMOTE_BOXES * at];
        memmove(&r->near[at + 1], &r->near[at], (r->near_count - at) * sizeof *r->near);
        memmove(boxes + TAC_REMOTE_BOXES, boxes, (r->near_count - at) * TAC_REMOTE_BOXES * sizeof *boxes);
        r->near_count++;
        r->near[at] = k;
        for (int i = 0; i < TAC_REMOTE_BOXES; i++)
            tac_box_empty(&boxes[i]);
        boxes[0] = r->whole[2 * k];
        boxes[TAC_REMOTE_MOVING] = r->whole[2 * k + 1];
    }
done:
    return err;
}

/* What grew on any rank is entered here. */
static enum tac_err take_grown(struct tac_view *view, struct tac_candidates *c, size_t count,
                               const struct tac_grown_box *grown)
{
    struct tac_remote_primitives *r = &c->remote;
    size_t at = 0;
    for (size_t k = 0; k < count; k++) { /* by ascending ranks */
        tac_box_merge(&r->whole[2 * grown[k].rank], &grown[k].box);
        while (at < r->near_count && r->near[at] < grown[k].rank)
            at++;
        if (at < r->near_count && r->near[at] == grown[k].rank) /* of a rank that became near all is in the first box */
            tac_box_merge(&r->published[TAC_REMOTE_BOXES * at + (size_t)grown[k].group], &grown[k].box);
    }
    return find_new_near(view, c);
}

enum tac_err tac_remote_grow(struct tac_view *view, struct tac_candidates *c, size_t count, const int32_t *changed,
                             const struct tac_box *box, struct tac_grown_box **grown, size_t *grown_count)
{
    enum tac_err err = TAC_OK;
    struct tac_ctx *ctx = view->ctx;
    struct tac_grown_box mine[TAC_REMOTE_MOVING];
    const int bytes = (int)sizeof *mine * grow_mine(view, c, count, changed, box, mine);
    int *many = NULL, *at = NULL, total = 0;
    *grown_count = 0;
    err = tac_alloc(ctx, (size_t)ctx->size, sizeof *many, &many);
    if (!err)
        err = tac_alloc(ctx, (size_t)ctx->size, sizeof *at, &at);
    TAC_TRY(tac_agree(ctx, err));
    if (MPI_Allgather(&bytes, 1, MPI_INT, many, 1, MPI_INT, ctx->comm) != MPI_SUCCESS)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "MPI failed while boxes grew"));
    for (int r = 0; r < ctx->size; r++) {
        at[r] = total;
        total += many[r];
    }
    if (total == 0)
        goto done; /* alike on all ranks */
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)total / sizeof **grown, sizeof **grown, grown)));
    if (MPI_Allgatherv(mine, bytes, MPI_BYTE, *grown, many, at, MPI_BYTE, ctx->comm) != MPI_SUCCESS)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "MPI failed while boxes grew"));
    *grown_count = (size_t)total / sizeof **grown;
    err = take_grown(view, c, *grown_count, *grown); /* a code that the next exchange agrees on */
done:
    free(many);
    free(at);
    return err;
}

/* ---- who is alone ---- */

/* Within a box that this rank has published, and in none of another one's. */
static bool is_private(const struct tac_candidates *c, const struct tac_box *box)
{
    bool within = false;
    for (int k = 0; k < TAC_REMOTE_MOVING && !within; k++)
        within = box_within(box, &c->remote.mine[k]);
    for (size_t r = 0; r < c->remote.near_count && within; r++)
        for (int k = 0; k < TAC_REMOTE_MOVING && within; k++)
            within = !tac_boxes_meet(box, &c->remote.published[TAC_REMOTE_BOXES * r + (size_t)k]);
    return within;
}

bool tac_remote_unconcerned(const struct tac_view *view, const struct tac_candidates *c)
{
    if (c->remote.mine == NULL || !view->model->apart)
        return false;
    for (int32_t p = 0; p < c->primitive_begin[c->body_count]; p++) {
        struct tac_box box;
        if (!tac_has_leaver(c, c->primitive[p].v, c->primitive[p].count))
            continue;
        tac_remote_box(view, c, &c->primitive[p], &box);
        if (!is_private(c, &box))
            return false;
    }
    return true;
}
