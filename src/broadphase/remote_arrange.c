/* remote_arrange.c: sorts the near primitives of other ranks by body, and selects for each feature the primitive that
 * stands for it. */
#include "base/exchange.h"
#include "broadphase/remote.h"
#include <stdlib.h>
#include <string.h>

static int compare_primitives(const void *a, const void *b)
{
    const struct tac_primitive *p = a, *q = b;
    if (p->body != q->body)
        return p->body < q->body ? -1 : 1;
    if (p->count != q->count)
        return p->count > q->count ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

/* Those of a single rank come in this order. */
static bool is_sorted(const struct tac_candidates *c)
{
    bool sorted = true;
    for (size_t i = 1; i < c->remote.count && sorted; i++)
        sorted = compare_primitives(&c->remote.primitive[i - 1], &c->remote.primitive[i]) <= 0;
    return sorted;
}

int64_t tac_remote_find(const struct tac_candidates *c, size_t count, const struct tac_primitive *p)
{
    const struct tac_primitive *at =
        count > 0 ? bsearch(p, c->remote.primitive, count, sizeof *p, compare_primitives) : NULL;
    return at != NULL ? at - c->remote.primitive : -1;
}

/* An edge or a vertex of a remote primitive, by its id; index: FEATURES times the primitive, plus its place there. */
enum { FEATURES = 3 };

/* The first remote primitive with a feature stands for it: equal ids keep their order. */
static enum tac_err place_feature(struct tac_ctx *ctx, struct tac_candidates *c, struct tac_keyed *list, size_t n,
                                  bool edges)
{
    enum tac_err err;
    TAC_TRY(tac_sort_keyed(ctx, n, list));
    for (size_t i = 0; i < n; i++) {
        struct tac_primitive *p = &c->remote.primitive[list[i].index / FEATURES];
        if (i == 0 || list[i].key != list[i - 1].key)
            *(edges ? &p->edges : &p->vertices) |= (uint8_t)(1 << list[i].index % FEATURES);
    }
done:
    return err;
}

/* Assigns to one remote primitive each every edge that belongs to no primitive of this rank, and every such vertex that
 * never moves, because other ranks, not its owner, decide about its pairs; where every owner finds its pairs, every
 * such vertex. */
static enum tac_err place_features(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err;
    struct tac_keyed *list = NULL;
    size_t n = 0;
    const struct tac_part *part = view->scene->mesh->part;
    TAC_TRY(tac_alloc(view->ctx, FEATURES * c->remote.count, sizeof *list, &list));
    for (size_t i = 0; i < c->remote.count; i++)
        c->remote.primitive[i].edges = c->remote.primitive[i].vertices = 0;
    for (size_t i = 0; i < c->remote.count; i++) {
        const int edges = c->remote.primitive[i].count == 3 ? 3 : c->remote.primitive[i].count == 2 ? 1 : 0;
        for (int k = 0; k < edges; k++)
            if (tac_id_find(part->edge_id, view->scene->mesh->topology->edge_count, c->remote.primitive[i].edge[k]) < 0)
                list[n++] = (struct tac_keyed){c->remote.primitive[i].edge[k], FEATURES * (int64_t)i + k};
    }
    TAC_TRY(place_feature(view->ctx, c, list, n, true));
    n = 0;
    for (size_t i = 0; i < c->remote.count && (view->model->omit_immovable || view->every_owner); i++)
        for (int k = 0; k < c->remote.primitive[i].count; k++) {
            const tac_lid v = c->remote.primitive[i].v[k];
            /* Of the local mesh' vertices those of hinges alone have no leaf among our primitives. */
            const bool ours = v < view->scene->mesh->vertex_count && c->taken[v];
            if (!ours && (view->every_owner || !tac_model_takes_part(view->model, v)))
                list[n++] = (struct tac_keyed){v, FEATURES * (int64_t)i + k};
        }
    TAC_TRY(place_feature(view->ctx, c, list, n, false));
done:
    free(list);
    return err;
}

enum tac_err tac_remote_arrange(struct tac_view *view, struct tac_candidates *c)
{
    enum tac_err err = TAC_OK;
    const size_t bodies = (size_t)c->body_count;
    if (c->remote.begin == NULL) {
        TAC_TRY(tac_alloc(view->ctx, bodies + 1, sizeof *c->remote.begin, &c->remote.begin));
        TAC_TRY(tac_alloc(view->ctx, bodies, sizeof *c->remote.tree, &c->remote.tree));
    }
    if (!is_sorted(c))
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
    TAC_TRY(tac_grow(view->ctx, &c->scratch, &c->scratch_capacity, c->remote.count, sizeof *c->scratch));
    TAC_TRY(tac_grow(view->ctx, &c->remote.marked, &c->remote.marked_capacity, c->remote.count, 1));
    TAC_TRY(place_features(view, c));
    c->remote.fresh = true;
done:
    return err;
}

void tac_remote_destroy(struct tac_candidates *c)
{
    for (int32_t b = 0; c->remote.tree && b < c->body_count; b++)
        tac_tree_destroy(&c->remote.tree[b]);
    free(c->remote.tree);
    free(c->remote.begin);
    free(c->remote.primitive);
    free(c->remote.group);
    free(c->remote.mover);
    free(c->remote.mine);
    free(c->remote.whole);
    free(c->remote.growth);
    free(c->remote.near);
    free(c->remote.sent);
    free(c->remote.published);
    free(c->remote.around);
    free(c->remote.marked);
}
