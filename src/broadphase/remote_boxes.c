/* remote_boxes.c: the boxes that ranks publish around their primitives: laid for a new list, grown in repairs, and who
 * is alone in its own (docs/distribution.md, Discovery). */
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
    if (c->remote.published == NULL)
        TAC_TRY(tac_alloc(view->ctx, TAC_REMOTE_BOXES * (size_t)view->ctx->size, sizeof *c->remote.published,
                          &c->remote.published));
    struct tac_box *mine = &c->remote.published[TAC_REMOTE_BOXES * view->ctx->rank];
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

enum tac_err tac_remote_publish(struct tac_view *view, struct tac_candidates *c, enum tac_err err)
{
    /* All ranks agree that they can send before any of them sends. */
    err = tac_agree(view->ctx, err);
    if (!err &&
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, c->remote.published,
                      TAC_REMOTE_BOXES * (int)sizeof *c->remote.published, MPI_BYTE, view->ctx->comm) != MPI_SUCCESS)
        err = tac_fail(view->ctx, TAC_ERR_RUN, "MPI failed while publishing boxes");
    return err;
}

/* ---- growing ---- */

/* This rank's boxes that do not hold their primitives any more, grown. */
static int grow_mine(struct tac_view *view, struct tac_candidates *c, size_t count, const int32_t *changed,
                     const struct tac_box *box, struct tac_grown_box mine[TAC_REMOTE_MOVING])
{
    struct tac_box *published = &c->remote.published[TAC_REMOTE_BOXES * view->ctx->rank];
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
    for (size_t k = 0; k < *grown_count; k++)
        c->remote.published[TAC_REMOTE_BOXES * (*grown)[k].rank + (*grown)[k].group] = (*grown)[k].box;
done:
    free(many);
    free(at);
    return err;
}

/* ---- who is alone ---- */

/* Within a box that this rank has published, and in none of another one's. */
static bool is_private(const struct tac_view *view, const struct tac_candidates *c, const struct tac_box *box)
{
    const int me = view->ctx->rank;
    bool within = false;
    for (int k = 0; k < TAC_REMOTE_MOVING && !within; k++)
        within = box_within(box, &c->remote.published[TAC_REMOTE_BOXES * me + k]);
    for (int r = 0; r < view->ctx->size && within; r++)
        for (int k = 0; k < TAC_REMOTE_MOVING && r != me && within; k++)
            within = !tac_boxes_meet(box, &c->remote.published[TAC_REMOTE_BOXES * r + k]);
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
        tac_remote_box(view, c, &c->primitive[p], &box);
        if (!is_private(view, c, &box))
            return false;
    }
    return true;
}
