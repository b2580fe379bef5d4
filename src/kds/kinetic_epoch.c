/* kinetic_epoch.c: the broad phase of the pairs that several ranks prove together (docs/kds.md, Across ranks, Epochs).
 *
 * It has no certificates of its own. An epoch's wide trajectory bounds (flights.h) hold until it ends, so primitives
 * whose boxes stay apart while the trajectory bounds hold need no slab, and one search at the beginning of the epoch
 * finds all others. Lists that are searched again as plans change would prove nothing that holds for longer. */
#include "kds/kinetic.h"
#include <stdlib.h>

/* Where along x the boxes of a body may be. */
struct sweep {
    double lo, hi;
    tac_lid body;
};

struct epoch {
    tac_lid body_count;
    struct tac_tree **tree; /* owned, (bodies); NULL: nothing of it is here */
    struct sweep *sweep;    /* owned, (bodies) */
};

/* Two bodies, or one, under search. */
struct search {
    struct tac_kinetic *k;
    const struct tac_primitive *a, *b; /* the first of each body */
};

static void destroy(void *self)
{
    struct epoch *e = self;
    for (tac_lid b = 0; e->tree && b < e->body_count; b++)
        tac_tree_destroy(&e->tree[b]);
    free(e->tree);
    free(e->sweep);
    free(e);
}

static enum tac_err create(struct tac_kinetic *k, void **self)
{
    enum tac_err err;
    struct epoch *e = NULL;
    const size_t bodies = (size_t)k->body_count;
    TAC_TRY(tac_alloc(k->view->ctx, 1, sizeof *e, &e));
    *self = e;
    e->body_count = k->body_count;
    TAC_TRY(tac_alloc(k->view->ctx, bodies, sizeof *e->tree, &e->tree));
    TAC_TRY(tac_alloc(k->view->ctx, bodies, sizeof *e->sweep, &e->sweep));
    for (tac_lid b = 0; b < k->body_count; b++)
        if (k->primitive_begin[b + 1] > k->primitive_begin[b])
            TAC_TRY(tac_tree_create(k->view->ctx, k->primitive_begin[b + 1] - k->primitive_begin[b], &e->tree[b]));
done:
    return err;
}

static enum tac_err visit(void *context, int32_t ia, int32_t ib)
{
    const struct search *search = context;
    struct tac_kinetic *k = search->k;
    const struct tac_primitive *a = &search->a[ia], *b = &search->b[ib];
    int32_t head = -1;
    if (!tac_kinetic_sides(k, k->side[a - k->primitive], k->side[b - k->primitive]))
        return TAC_OK;
    return tac_slabs_between(k, a, b, -1, &head);
}

static enum tac_err search_bodies(struct tac_kinetic *k, const struct epoch *e, tac_lid a, tac_lid b)
{
    const struct tac_candidates *c = k->view->candidates;
    struct search search = {k, &k->primitive[k->primitive_begin[a]], &k->primitive[k->primitive_begin[b]]};
    double lo[TAC_DOP_AXES], hi[TAC_DOP_AXES];
    int64_t tests = 0;
    tac_candidates_drift(c, a, b, lo, hi);
    return tac_tree_overlaps(e->tree[a], e->tree[b], a == b ? NULL : lo, hi, visit, &search, &tests);
}

static int compare_sweeps(const void *a, const void *b)
{
    const struct sweep *p = a, *q = b;
    return p->lo != q->lo ? (p->lo > q->lo) - (p->lo < q->lo) : (p->body > q->body) - (p->body < q->body);
}

/* Once in an epoch: its trajectory bounds and frames are those of k->view->candidates. */
static enum tac_err build(struct tac_kinetic *k, void *self)
{
    enum tac_err err;
    struct epoch *e = self;
    struct tac_candidates *c = k->view->candidates;
    size_t n = 0;
    TAC_TRY(tac_grow(k->view->ctx, &c->scratch, &c->scratch_capacity, (size_t)k->primitive_count, sizeof *c->scratch));
    tac_candidates_frames(k->view, c);
    for (tac_lid b = 0; b < e->body_count; b++) {
        if (e->tree[b] == NULL)
            continue;
        tac_candidates_boxes(k->view, c, b, &k->primitive[k->primitive_begin[b]], e->tree[b]);
        struct sweep *sweep = &e->sweep[n++];
        sweep->body = b;
        tac_candidates_sweep(c, b, e->tree[b], &sweep->lo, &sweep->hi);
    }
    qsort(e->sweep, n, sizeof *e->sweep, compare_sweeps);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n && e->sweep[j].lo <= e->sweep[i].hi; j++)
            if (tac_kinetic_may_touch(k, e->sweep[i].body, e->sweep[j].body))
                TAC_TRY(search_bodies(k, e, e->sweep[i].body, e->sweep[j].body));
done:
    return err;
}

const struct tac_kinetic_structure tac_kinetic_epoch = {
    .name = "epoch", .create = create, .destroy = destroy, .build = build};
