/* remote_groups.c: groups the primitives of a rank that are near each other; each group has one published box
 * (docs/reference/ranks.md, Discovery). */
#include "broadphase/remote.h"
#include <stdlib.h>
#include <string.h>

/* Can the primitive move, so that this rank may have to decide about its pairs? */
static bool can_move(const struct tac_view *view, const struct tac_primitive *p)
{
    if (view->movers_only)
        return p->mover;
    for (int i = 0; i < p->count; i++)
        if (tac_model_takes_part(view->model, p->v[i]))
            return true;
    return false;
}

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

/* Puts the first `count` of n places in front. */
static void select_first(struct place *place, int32_t n, int32_t count)
{
    int32_t begin = 0, end = n;
    while (end - begin > 1) {
        const struct place pivot = place[begin + (end - begin) / 2];
        int32_t i = begin, j = end - 1;
        while (i <= j) {
            while (compare_places(&place[i], &pivot) < 0)
                i++;
            while (compare_places(&pivot, &place[j]) < 0)
                j--;
            if (i <= j) {
                const struct place other = place[i];
                place[i++] = place[j];
                place[j--] = other;
            }
        }
        if (count <= j)
            end = j + 1;
        else if (count >= i)
            begin = i;
        else
            return;
    }
}

/* Halves the longest axis until each box has its share. */
static void split_groups(struct tac_candidates *c, struct place *place, int32_t n, int first, int boxes)
{
    if (boxes == 1 || n <= 1) {
        for (int32_t k = 0; k < n; k++)
            c->remote.group[place[k].primitive] = first;
        return;
    }
    struct tac_box around;
    tac_box_empty(&around);
    for (int32_t i = 0; i < n; i++) {
        struct tac_box point;
        memcpy(point.lo, place[i].x, sizeof point.lo);
        memcpy(point.hi, place[i].x, sizeof point.hi);
        tac_box_merge(&around, &point);
    }
    const double *lo = around.lo, *hi = around.hi;
    int axis = hi[1] - lo[1] > hi[0] - lo[0] ? 1 : 0;
    axis = hi[2] - lo[2] > hi[axis] - lo[axis] ? 2 : axis;
    for (int32_t i = 0; i < n; i++)
        place[i].along = place[i].x[axis];
    select_first(place, n, n / 2);
    split_groups(c, place, n / 2, first, boxes / 2);
    split_groups(c, place + n / 2, n - n / 2, first + boxes / 2, boxes / 2);
}

enum tac_err tac_remote_group(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err = TAC_OK;
    struct place *place = NULL;
    const int32_t n = c->primitive_begin[c->body_count];
    int32_t moving = 0;
    if (c->remote.group == NULL)
        TAC_TRY(tac_alloc(view->ctx, (size_t)n, sizeof *c->remote.group, &c->remote.group));
    TAC_TRY(tac_alloc(view->ctx, (size_t)n, sizeof *place, &place));
    for (int32_t p = 0; p < n; p++) {
        struct tac_box box;
        c->remote.group[p] = -1;
        if (!can_move(view, &c->primitive[p]))
            continue;
        tac_remote_box(view, c, &c->primitive[p], &box);
        for (int k = 0; k < 3; k++)
            place[moving].x[k] = box.lo[k] + box.hi[k];
        place[moving++].primitive = p;
    }
    split_groups(c, place, moving, 0, c->remote.boxes);
done:
    free(place);
    return err;
}
