/* remote_boxes.c: computes the boxes that ranks publish around their primitives, enlarges them in repairs, and finds
 * the ranks that are alone in their own (docs/reference/ranks.md, Discovery). */
#include "base/exchange.h"
#include "broadphase/candidates_search.h"
#include "broadphase/remote.h"
#include <stdlib.h>
#include <string.h>

enum {
    REGROUP = 32,
    FAN = 8,             /* boxes within the one that is around them */
    FEWEST = FAN * FAN,  /* boxes of a rank */
    IN_ALL = 65536,      /* boxes of all ranks at most, where a rank has more than the fewest */
    VERTICES_PER_BOX = 4 /* at least, there */
};

/* Not for values that are not numbers; fmin() and fmax(), which handle these, would be function calls. */
static double smaller_of(double a, double b)
{
    return a < b ? a : b;
}

static double larger_of(double a, double b)
{
    return a > b ? a : b;
}

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
        box->lo[k] = smaller_of(box->lo[k], other->lo[k]);
        box->hi[k] = larger_of(box->hi[k], other->hi[k]);
    }
}

void tac_remote_box(const struct tac_view *view, const struct tac_candidates *c, const struct tac_primitive *p,
                    struct tac_box *box)
{
    const double margin = .5 * view->margin * view->scene->settings->contact.thickness +
                          view->scene->settings->body[p->body].radius + 1e-12 * c->extent;
    tac_box_empty(box);
    for (int i = 0; i < p->count; i++) {
        const struct tac_path_bound *path_bound = &c->path_bound[p->v[i]];
        const double reach = path_bound->radius + margin;
        for (int k = 0; k < 3; k++) {
            const double end = path_bound->x[k] + c->span_s * path_bound->v[k];
            box->lo[k] = smaller_of(box->lo[k], smaller_of(path_bound->x[k], end) - reach);
            box->hi[k] = larger_of(box->hi[k], larger_of(path_bound->x[k], end) + reach);
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

static void widen_box(struct tac_box *box, double by)
{
    for (int k = 0; k < 3; k++) {
        box->lo[k] -= by;
        box->hi[k] += by;
    }
}

/* ---- the boxes around boxes ---- */

/* The boxes of a rank, and those around them. */
struct hierarchy {
    int boxes;
    struct tac_box *published, *around;
};

static struct hierarchy hierarchy_of_mine(const struct tac_candidates *c)
{
    return (struct hierarchy){c->remote.boxes, c->remote.mine, c->remote.around_mine};
}

static struct hierarchy hierarchy_of_near(const struct tac_candidates *c, size_t near)
{
    return (struct hierarchy){c->remote.boxes, &c->remote.published[near * (size_t)c->remote.boxes],
                              &c->remote.around[near * (size_t)c->remote.above]};
}

/* The boxes of a rank are in order of place, so 8 that follow each other are near each other; and so on. */
static void lay_around(struct hierarchy hierarchy)
{
    const struct tac_box *below = hierarchy.published;
    for (int count = hierarchy.boxes / FAN; count > 0; count /= FAN) {
        struct tac_box *level = &hierarchy.around[(count - 1) / (FAN - 1)]; /* behind 1 + 8 + 64 + ... */
        for (int k = 0; k < count; k++) {
            level[k] = below[FAN * k];
            for (int i = 1; i < FAN; i++)
                tac_box_merge(&level[k], &below[FAN * k + i]);
        }
        below = level;
    }
}

/* Is there a published box of the rank with holds(box, it)? holds() must be true for a box around that one, too. Looks
 * at box k of the `count` boxes of its level, and at those in it. */
static bool any_box(const struct hierarchy *hierarchy, const struct tac_box *box, int count, int k,
                    bool (*holds)(const struct tac_box *, const struct tac_box *), int64_t *tests)
{
    (*tests)++;
    const bool leaf = count == hierarchy->boxes;
    const struct tac_box *other = leaf ? &hierarchy->published[k] : &hierarchy->around[(count - 1) / (FAN - 1) + k];
    const bool held = holds(box, other);
    if (!held || leaf)
        return held;
    for (int i = 0; i < FAN; i++)
        if (any_box(hierarchy, box, FAN * count, FAN * k + i, holds, tests))
            return true;
    return false;
}

bool tac_remote_meets(struct tac_candidates *c, size_t near, const struct tac_box *box)
{
    const struct hierarchy hierarchy = hierarchy_of_near(c, near);
    return any_box(&hierarchy, box, 1, 0, tac_boxes_meet, &c->remote.tests);
}

/* ---- publishing ---- */

/* Smaller boxes exclude more primitives of other ranks, so a rank has as many boxes as the memory of all ranks allows.
 */
static enum tac_err make_room(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err;
    const tac_gid vertices = view->scene->mesh->part->vertex_total / view->ctx->size;
    int boxes = FEWEST;
    while (FAN * boxes <= IN_ALL / view->ctx->size && FAN * boxes <= vertices / VERTICES_PER_BOX)
        boxes *= FAN;
    c->remote.boxes = boxes;
    c->remote.above = (boxes - 1) / (FAN - 1);
    TAC_TRY(tac_alloc(view->ctx, (size_t)c->remote.above, sizeof *c->remote.around_mine, &c->remote.around_mine));
    TAC_TRY(tac_alloc(view->ctx, 2 * (size_t)view->ctx->size, sizeof *c->remote.whole, &c->remote.whole));
    TAC_TRY(tac_alloc(view->ctx, (size_t)view->ctx->size, tac_remote_growth_bytes(view->ctx), &c->remote.growth));
    TAC_TRY(tac_alloc(view->ctx, (size_t)boxes, sizeof *c->remote.mine, &c->remote.mine));
done:
    return err;
}

enum tac_err tac_remote_lay(struct tac_view *view, struct tac_candidates *c, struct tac_box *own)
{
    enum tac_err err = TAC_OK;
    const int32_t n = c->primitive_begin[c->body_count];
    const double room = c->skin; /* for repairs of lists */
    if (c->remote.mine == NULL)
        TAC_TRY(make_room(view, c));
    struct tac_box *mine = c->remote.mine;
    if (c->builds % REGROUP == 0)
        TAC_TRY(tac_remote_group(view, c));
    for (int k = 0; k < c->remote.boxes; k++)
        tac_box_empty(&mine[k]);
    tac_box_empty(&c->remote.immovable);
    c->remote.looked += n;
    for (int32_t p = 0; p < n; p++) {
        tac_remote_box(view, c, &c->primitive[p], &own[p]);
        tac_box_merge(c->remote.group[p] >= 0 ? &mine[c->remote.group[p]] : &c->remote.immovable, &own[p]);
    }
    for (int k = 0; k < c->remote.boxes; k++)
        widen_box(&mine[k], room);
    lay_around(hierarchy_of_mine(c));
done:
    return err;
}

/* Do the whole boxes of this rank and another one meet? Both ranks get the same result. No rank decides about pairs
 * because of primitives without a published box, so two boxes of such primitives need not be compared. */
static bool is_near(const struct tac_view *view, const struct tac_candidates *c, int rank)
{
    const struct tac_box *mine = &c->remote.whole[2 * view->ctx->rank], *theirs = &c->remote.whole[2 * rank];
    return tac_boxes_meet(&mine[0], &theirs[0]) || tac_boxes_meet(&mine[0], &theirs[1]) ||
           tac_boxes_meet(&mine[1], &theirs[0]);
}

static enum tac_err grow_near(struct tac_view *view, struct tac_candidates *c, size_t count)
{
    enum tac_err err = TAC_OK;
    struct tac_remote_primitives *r = &c->remote;
    TAC_TRY(tac_grow(view->ctx, &r->near, &r->near_capacity, count, sizeof *r->near));
    TAC_TRY(tac_grow(view->ctx, &r->sent, &r->sent_capacity, count, sizeof *r->sent));
    TAC_TRY(tac_grow(view->ctx, &r->published, &r->published_capacity, (size_t)r->boxes * count, sizeof *r->published));
    TAC_TRY(tac_grow(view->ctx, &r->around, &r->around_capacity, (size_t)r->above * count, sizeof *r->around));
done:
    return err;
}

/* Sends to all ranks the box around this rank's boxes, and the box around its primitives that do not move. */
static enum tac_err publish_whole(struct tac_view *view, struct tac_candidates *c, enum tac_err err)
{
    struct tac_ctx *ctx = view->ctx;
    TAC_TRY(tac_agree(ctx, err)); /* before any of them sends */
    struct tac_box *whole = &c->remote.whole[2 * ctx->rank];
    whole[0] = c->remote.around_mine[0];
    whole[1] = c->remote.immovable;
    widen_box(&whole[0], c->skin); /* so that boxes that grow in repairs overlap only boxes that this rank has */
    if (MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, c->remote.whole, 2 * (int)sizeof *whole, MPI_BYTE, ctx->comm) !=
        MPI_SUCCESS)
        err = tac_fail(ctx, TAC_ERR_RUN, "MPI failed while publishing boxes");
    c->remote.alone = true;
    for (int r = 0; r < 2 * ctx->size; r++)
        if (r / 2 != ctx->rank)
            c->remote.alone = c->remote.alone && c->remote.whole[r].lo[0] == INFINITY; /* an empty one */
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
    TAC_TRY(tac_swap(view->ctx, r->near_count, r->near, r->mine, (size_t)r->boxes * sizeof *r->mine, r->published));
    for (size_t k = 0; k < r->near_count; k++)
        lay_around(hierarchy_of_near(c, k));
done:
    return err;
}

/* ---- growing ---- */

/* Enlarges those boxes of this rank that do not contain their primitives any more; grows (boxes): all false. */
static int grow_mine(struct tac_view *view, struct tac_candidates *c, size_t count, const int32_t *changed,
                     const struct tac_box *box, bool *grows, struct tac_grown_box *mine)
{
    int n = 0;
    for (size_t i = 0; i < count; i++) {
        const int group = c->remote.group[changed[i]];
        if (group < 0 || box_within(&box[i], &c->remote.mine[group]))
            continue;
        struct tac_box wide = box[i];
        widen_box(&wide, c->skin); /* not to grow at each repair */
        tac_box_merge(&c->remote.mine[group], &wide);
        grows[group] = true;
    }
    for (int k = 0; k < c->remote.boxes; k++)
        if (grows[k])
            mine[n++] = (struct tac_grown_box){view->ctx->rank, k, c->remote.mine[k]};
    if (n > 0)
        lay_around(hierarchy_of_mine(c));
    return n;
}

/* Finds the ranks that have become near; of these only the whole boxes are known here. */
static enum tac_err find_new_near(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err = TAC_OK;
    struct tac_remote_primitives *r = &c->remote;
    const size_t boxes = (size_t)r->boxes, above = (size_t)r->above;
    size_t at = 0;
    for (int k = 0; k < view->ctx->size; k++) {
        while (at < r->near_count && r->near[at] < k)
            at++;
        if (k == view->ctx->rank || (at < r->near_count && r->near[at] == k) || !is_near(view, c, k))
            continue;
        TAC_TRY(grow_near(view, c, r->near_count + 1));
        const size_t behind = r->near_count - at;
        memmove(&r->near[at + 1], &r->near[at], behind * sizeof *r->near);
        memmove(&r->published[boxes * (at + 1)], &r->published[boxes * at], behind * boxes * sizeof *r->published);
        memmove(&r->around[above * (at + 1)], &r->around[above * at], behind * above * sizeof *r->around);
        r->near_count++;
        r->near[at] = k;
        for (size_t i = 0; i < boxes; i++)
            tac_box_empty(&r->published[boxes * at + i]);
        r->published[boxes * at] = r->whole[2 * k];
        lay_around(hierarchy_of_near(c, at));
    }
done:
    return err;
}

/* Enters the boxes that have grown on any rank. */
static void take_grown(struct tac_view *view, struct tac_candidates *c, size_t count, const struct tac_grown_box *grown)
{
    struct tac_remote_primitives *r = &c->remote;
    size_t at = 0;
    for (size_t k = 0; k < count; k++) { /* by ascending ranks */
        tac_box_merge(&r->whole[2 * grown[k].rank], &grown[k].box);
        while (at < r->near_count && r->near[at] < grown[k].rank)
            at++;
        if (at == r->near_count || r->near[at] != grown[k].rank) /* of one that becomes near now all is in the whole */
            continue;
        tac_box_merge(&r->published[(size_t)r->boxes * at + (size_t)grown[k].group], &grown[k].box);
        if (k + 1 == count || grown[k + 1].rank != grown[k].rank)
            lay_around(hierarchy_of_near(c, at));
    }
    if (find_new_near(view, c) != TAC_OK)
        tac_give_up(view->ctx); /* a rank that is near now would wait for a message that cannot be */
}

enum tac_err tac_remote_grow(struct tac_view *view, struct tac_candidates *c, enum tac_err err, size_t count,
                             const int32_t *changed, const struct tac_box *box, struct tac_grown_box **grown,
                             size_t *grown_count)
{
    struct tac_grown_box *mine = NULL;
    bool *grows = NULL;
    int own = 0;
    if (!err)
        err = tac_alloc(view->ctx, (size_t)c->remote.boxes, sizeof *grows, &grows);
    if (!err)
        err = tac_alloc(view->ctx, count, sizeof *mine, &mine);
    if (!err)
        own = grow_mine(view, c, count, changed, box, grows, mine);
    TAC_TRY(tac_remote_tell_grown(view->ctx, err, c->remote.growth, own, mine, grown, grown_count));
    if (*grown_count > 0) /* alike on all ranks */
        take_grown(view, c, *grown_count, *grown);
done:
    free(mine);
    free(grows);
    return err;
}

/* ---- ranks that are alone in their boxes ---- */

/* Does the box lie within a box that this rank has published, and meet none of another rank? */
static bool is_private(struct tac_candidates *c, const struct tac_box *box)
{
    const struct hierarchy mine = hierarchy_of_mine(c);
    bool private = any_box(&mine, box, 1, 0, box_within, &c->remote.tests);
    for (size_t k = 0; k < c->remote.near_count && private; k++)
    private = !tac_remote_meets(c, k, box);
    return private;
}

bool tac_remote_unconcerned(const struct tac_view *view, struct tac_candidates *c)
{
    if (c->remote.mine == NULL || !view->model->omit_immovable)
        return false;
    for (int32_t p = 0; p < c->primitive_begin[c->body_count] && !c->remote.alone; p++) {
        struct tac_box box;
        if (!tac_has_leaver(c, c->primitive[p].v, c->primitive[p].count))
            continue;
        tac_remote_box(view, c, &c->primitive[p], &box);
        c->remote.looked++;
        if (!is_private(c, &box))
            return false;
    }
    return true;
}
