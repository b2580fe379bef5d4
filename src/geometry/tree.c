/* tree.c: builds and refits trees of k-DOPs, and finds the pairs of boxes of two trees that overlap. */
#include "geometry/tree.h"
#include "base/single.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const double tac_dop_length[TAC_DOP_AXES] = {1,
                                             1,
                                             1,
#if TAC_DOP_AXES == 9
                                             1.4142135623730952,
                                             1.4142135623730952,
                                             1.4142135623730952,
                                             1.4142135623730952,
                                             1.4142135623730952,
                                             1.4142135623730952
#endif
};

void tac_dop_project(const double x[3], double out[TAC_DOP_AXES])
{
    out[0] = x[0];
    out[1] = x[1];
    out[2] = x[2];
#if TAC_DOP_AXES == 9
    out[3] = x[0] + x[1];
    out[4] = x[0] - x[1];
    out[5] = x[0] + x[2];
    out[6] = x[0] - x[2];
    out[7] = x[1] + x[2];
    out[8] = x[1] - x[2];
#endif
}

/* How much a sum of two bounds and a distance of origins can be off, over the distance. */
#define ROUNDED 0x1p-50

enum tac_err tac_tree_create(struct tac_ctx *ctx, int32_t count, struct tac_tree **out)
{
    enum tac_err err;
    struct tac_tree *tree = NULL;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *tree, &tree));
    tree->count = count;
    tree->node_count = count > 0 ? 2 * count - 1 : 0;
    tree->stale = true;
    TAC_TRY(tac_alloc(ctx, (size_t)tree->node_count, sizeof *tree->node, &tree->node));
    TAC_TRY(tac_alloc(ctx, (size_t)count, sizeof *tree->leaf, &tree->leaf));
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)count, sizeof *tree->centre, &tree->centre));
    TAC_TRY(tac_alloc(ctx, (size_t)tree->node_count, 1, &tree->changed));
done:
    if (err)
        tac_tree_destroy(&tree);
    *out = tree;
    return err;
}

void tac_tree_destroy(struct tac_tree **tree)
{
    if (*tree == NULL)
        return;
    free((*tree)->node);
    free((*tree)->leaf);
    free((*tree)->centre);
    free((*tree)->changed);
    free((*tree)->group);
    free(*tree);
    *tree = NULL;
}

static void set_leaf(struct tac_tree *tree, struct tac_node *node, tac_tree_box *make, void *context)
{
    struct tac_dop box;
    make(context, node->primitive, &box);
    for (int k = 0; k < TAC_DOP_AXES; k++) {
        node->dop.lo[k] = tac_single_below(box.lo[k] - tree->origin[k]);
        node->dop.hi[k] = tac_single_above(box.hi[k] - tree->origin[k]);
    }
}

/* Moves the `half` primitives with the least centres to the front (quickselect with a middle pivot). */
static void split(const float *centre, int32_t *p, int32_t n, int32_t half, int axis)
{
    int32_t lo = 0, hi = n - 1;
    while (lo < hi) {
        float pivot = centre[3 * (size_t)p[lo + (hi - lo) / 2] + (size_t)axis];
        int32_t i = lo, j = hi;
        while (i <= j) {
            while (centre[3 * (size_t)p[i] + (size_t)axis] < pivot)
                i++;
            while (centre[3 * (size_t)p[j] + (size_t)axis] > pivot)
                j--;
            if (i <= j) {
                int32_t swap = p[i];
                p[i++] = p[j];
                p[j--] = swap;
            }
        }
        if (half <= j)
            hi = j;
        else if (half >= i)
            lo = i;
        else
            break;
    }
}

static int widest(const float *centre, const int32_t *p, int32_t n)
{
    int best = 0;
    float lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            const float c = centre[3 * (size_t)p[i] + (size_t)k];
            lo[k] = c < lo[k] ? c : lo[k];
            hi[k] = c > hi[k] ? c : hi[k];
        }
    for (int k = 1; k < 3; k++)
        best = hi[k] - lo[k] > hi[best] - lo[best] ? k : best;
    return best;
}

/* Depth is log2 of the count: recursion is safe. */
static void build(struct tac_tree *tree, int32_t *p, int32_t n, int32_t at, int32_t *next)
{
    struct tac_node *node = &tree->node[at];
    if (n == 1) {
        node->left = -1;
        node->primitive = p[0];
        tree->leaf[p[0]] = at;
        return;
    }
    int32_t half = n / 2, left = *next;
    split(tree->centre, p, n, half, widest(tree->centre, p, n));
    node->left = left;
    node->primitive = -1;
    *next += 2;
    build(tree, p, half, left, next);
    build(tree, p + half, n - half, left + 1, next);
}

static void merge_children(struct tac_tree *tree, struct tac_node *node)
{
    const struct tac_slim_dop *l = &tree->node[node->left].dop, *r = &tree->node[node->left + 1].dop;
    for (int k = 0; k < TAC_DOP_AXES; k++) {
        node->dop.lo[k] = l->lo[k] < r->lo[k] ? l->lo[k] : r->lo[k];
        node->dop.hi[k] = l->hi[k] > r->hi[k] ? l->hi[k] : r->hi[k];
    }
}

/* Finds the group of all primitives under each node. */
static void group_nodes(struct tac_tree *tree)
{
    for (int32_t i = tree->node_count; i-- > 0;) {
        const struct tac_node *node = &tree->node[i];
        const int32_t *child = &tree->group[node->left < 0 ? 0 : node->left];
        tree->group[i] = node->left < 0 ? tree->of[node->primitive] : child[0] == child[1] ? child[0] : -1;
    }
}

enum tac_err tac_tree_group(struct tac_ctx *ctx, struct tac_tree *tree, const int32_t *of)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(ctx, (size_t)tree->node_count, sizeof *tree->group, &tree->group));
    tree->of = of;
    if (!tree->stale)
        group_nodes(tree);
done:
    return err;
}

static void build_anew(struct tac_tree *tree, tac_tree_box *make, void *context, int32_t *scratch)
{
    int32_t next = 1;
    for (int32_t i = 0; i < tree->count; i++) {
        struct tac_dop box;
        make(context, i, &box);
        for (int k = 0; k < 3; k++)
            tree->centre[3 * (size_t)i + (size_t)k] = (float)(box.lo[k] + box.hi[k] - 2 * tree->origin[k]);
        scratch[i] = i;
    }
    build(tree, scratch, tree->count, 0, &next);
    tree->stale = false;
    tree->tests_fresh = 0;
    if (tree->of)
        group_nodes(tree);
}

void tac_tree_refit(struct tac_tree *tree, const double origin[3], tac_tree_box *box, void *context, int32_t *scratch)
{
    if (tree->count == 0)
        return;
    tac_dop_project(origin, tree->origin);
    if (tree->stale)
        build_anew(tree, box, context, scratch);
    for (int32_t i = tree->node_count; i-- > 0;) {
        struct tac_node *node = &tree->node[i];
        if (node->left < 0)
            set_leaf(tree, node, box, context);
        else
            merge_children(tree, node);
    }
}

bool tac_tree_refit_changed(struct tac_tree *tree, tac_tree_box *box, void *context, const uint8_t *marked)
{
    for (int32_t i = tree->node_count; i-- > 0;) {
        struct tac_node *node = &tree->node[i];
        if (node->left < 0) {
            tree->changed[i] = marked[node->primitive];
            if (tree->changed[i])
                set_leaf(tree, node, box, context);
        } else {
            tree->changed[i] = tree->changed[node->left] | tree->changed[node->left + 1];
            if (tree->changed[i])
                merge_children(tree, node);
        }
    }
    return tree->count > 0 && tree->changed[0];
}

bool tac_tree_mark(struct tac_tree *tree, const uint8_t *marked)
{
    for (int32_t i = tree->node_count; i-- > 0;) {
        const struct tac_node *node = &tree->node[i];
        tree->changed[i] =
            node->left < 0 ? marked[node->primitive] : tree->changed[node->left] | tree->changed[node->left + 1];
    }
    return tree->count > 0 && tree->changed[0];
}

/* Four axes side by side, without a branch: a branch that is predicted wrongly costs more than all four. */
static inline bool overlap(const struct tac_slim_dop *a, const struct tac_slim_dop *b)
{
    typedef float four __attribute__((vector_size(16)));
    typedef int four_mask __attribute__((vector_size(16)));
    typedef long long two_mask __attribute__((vector_size(16)));
    four_mask apart = {0};
    int alone = 0, k = 0;
    for (; k + 4 <= TAC_DOP_AXES; k += 4) {
        four lo_a, hi_a, lo_b, hi_b;
        memcpy(&lo_a, &a->lo[k], sizeof lo_a);
        memcpy(&hi_a, &a->hi[k], sizeof hi_a);
        memcpy(&lo_b, &b->lo[k], sizeof lo_b);
        memcpy(&hi_b, &b->hi[k], sizeof hi_b);
        apart |= (lo_a > hi_b) | (lo_b > hi_a);
    }
    for (; k < TAC_DOP_AXES; k++)
        alone |= (a->lo[k] > b->hi[k]) | (b->lo[k] > a->hi[k]);
    const two_mask any = (two_mask)apart;
    return !((any[0] | any[1]) | alone);
}

static bool overlap_drifting(const struct tac_slim_dop *a, const struct tac_slim_dop *b, const double *lo,
                             const double *hi)
{
    for (int k = 0; k < TAC_DOP_AXES; k++)
        if ((double)a->lo[k] + lo[k] > (double)b->hi[k] || (double)b->lo[k] > (double)a->hi[k] + hi[k])
            return false;
    return true;
}

/* Computes how far tree a moves relative to tree b along an axis, with respect to their origins, rounded outwards. */
static inline void drift(const struct tac_tree *a, const struct tac_tree *b, const double *drift_lo,
                         const double *drift_hi, int axis, double *lo, double *hi)
{
    const double apart = a->origin[axis] - b->origin[axis];
    *lo = drift_lo[axis] + apart - ROUNDED * fabs(apart);
    *hi = drift_hi[axis] + apart + ROUNDED * fabs(apart);
}

static inline __attribute__((always_inline)) enum tac_err search(const struct tac_tree *a, const struct tac_tree *b,
                                                                 const double *drift_lo, const double *drift_hi,
                                                                 tac_tree_visit *visit, tac_tree_leave_out *leave_out,
                                                                 void *context, int64_t *tests, bool changed)
{
    enum { DEEPEST = 512 }; /* a pair descends at most twice the depth of a tree, three pushes each */
    struct {
        int32_t a, b;
        bool stays; /* leave_out() has said no of their groups */
    } stack[DEEPEST];
    int top = 0;
    enum tac_err err = TAC_OK;
    double lo[TAC_DOP_AXES], hi[TAC_DOP_AXES];
    if (a->count == 0 || b->count == 0)
        return TAC_OK;
    for (int k = 0; drift_lo && k < TAC_DOP_AXES; k++)
        drift(a, b, drift_lo, drift_hi, k, &lo[k], &hi[k]);
    stack[top].a = stack[top].b = 0;
    stack[top++].stays = leave_out == NULL;
    while (top > 0) {
        int32_t ia = stack[--top].a, ib = stack[top].b;
        bool stays = stack[top].stays;
        const struct tac_node *na = &a->node[ia], *nb = &b->node[ib];
        TAC_CHECK(top + 4 < DEEPEST);
        if (changed && !(a->changed[ia] | b->changed[ib]))
            continue;
        if (a == b && ia == ib) {
            if (na->left < 0)
                continue;
            if (!stays && a->group[ia] >= 0) {
                if (leave_out(context, a->group[ia], a->group[ia]))
                    continue;
                stays = true;
            }
            for (int32_t pair = 0; pair < 3; pair++) {
                stack[top].a = na->left + (pair == 1);
                stack[top].b = na->left + (pair > 0);
                stack[top++].stays = stays;
            }
            continue;
        }
        ++*tests;
        if (!(drift_lo ? overlap_drifting(&na->dop, &nb->dop, lo, hi) : overlap(&na->dop, &nb->dop)))
            continue;
        if (!stays && a->group[ia] >= 0 && a->group[ib] >= 0) {
            if (leave_out(context, a->group[ia], a->group[ib]))
                continue;
            stays = true;
        }
        if (na->left < 0 && nb->left < 0) {
            TAC_TRY(visit(context, na->primitive, nb->primitive));
            continue;
        }
        /* Open the node that is no leaf; of two, the wider one. */
        bool open_a = nb->left < 0 || (na->left >= 0 && na->dop.hi[0] - na->dop.lo[0] + na->dop.hi[1] - na->dop.lo[1] +
                                                                na->dop.hi[2] - na->dop.lo[2] >=
                                                            nb->dop.hi[0] - nb->dop.lo[0] + nb->dop.hi[1] -
                                                                nb->dop.lo[1] + nb->dop.hi[2] - nb->dop.lo[2]);
        for (int32_t side = 0; side < 2; side++) {
            stack[top].a = open_a ? na->left + side : ia;
            stack[top].b = open_a ? ib : nb->left + side;
            stack[top++].stays = stays;
        }
    }
done:
    return err;
}

enum tac_err tac_tree_overlaps(const struct tac_tree *a, const struct tac_tree *b, const double *drift_lo,
                               const double *drift_hi, tac_tree_visit *visit, void *context, int64_t *tests)
{
    return search(a, b, drift_lo, drift_hi, visit, NULL, context, tests, false);
}

/* What a search for the boxes that overlap those of changed leaves has in common. */
struct query {
    const struct tac_tree *of, *in; /* whose leaves are looked at, and where what overlaps them is looked for */
    const double *lo, *hi;          /* how `of` drifts against `in`; NULL: not */
    bool swapped; /* the second search, with the trees exchanged: visit() gets the primitive of `in` first, whose
                     changed leaves have been searched */
    tac_tree_visit *visit;
    tac_tree_leave_out *leave_out; /* NULL: none; else `of` and `in` are one tree */
    void *context;
    int64_t tests;
};

/* The leaves of q->in whose boxes overlap that of leaf `node` of q->of. */
static enum tac_err find_overlaps(struct query *q, int32_t node)
{
    enum { DEEPEST = 128 };
    struct {
        int32_t node;
        bool stays; /* leave_out() has said no */
    } stack[DEEPEST];
    int top = 0;
    enum tac_err err = TAC_OK;
    const struct tac_node *leaf = &q->of->node[node];
    stack[top].node = 0;
    stack[top++].stays = q->leave_out == NULL;
    while (top > 0) {
        const int32_t k = stack[--top].node;
        bool stays = stack[top].stays;
        const struct tac_node *n = &q->in->node[k];
        TAC_CHECK(top + 2 < DEEPEST);
        q->tests++;
        if (!(q->lo ? overlap_drifting(&leaf->dop, &n->dop, q->lo, q->hi) : overlap(&leaf->dop, &n->dop)))
            continue;
        if (!stays && q->in->group[k] >= 0) {
            if (q->leave_out(q->context, q->of->group[node], q->in->group[k]))
                continue;
            stays = true;
        }
        if (n->left >= 0) {
            for (int32_t side = 0; side < 2; side++) {
                stack[top].node = n->left + side;
                stack[top++].stays = stays;
            }
            continue;
        }
        /* Each pair once: of one tree, two that have changed are found from both. */
        if ((q->swapped && q->in->changed[k]) || (q->of == q->in && (k == node || (q->in->changed[k] && k < node))))
            continue;
        TAC_TRY(q->visit(q->context, q->swapped ? n->primitive : leaf->primitive,
                         q->swapped ? leaf->primitive : n->primitive));
    }
done:
    return err;
}

/* The same of all leaves of q->of that have changed. */
static enum tac_err find_all_overlaps(struct query *q)
{
    enum tac_err err = TAC_OK;
    for (int32_t p = 0; p < q->of->count; p++)
        if (q->of->changed[q->of->leaf[p]])
            TAC_TRY(find_overlaps(q, q->of->leaf[p]));
done:
    return err;
}

/* Have so few leaves changed that each is looked for by itself? */
static bool few_changed(const struct tac_tree *tree)
{
    enum { FEW = 16 }; /* one of so many */
    int32_t count = 0;
    for (int32_t p = 0; p < tree->count; p++)
        count += tree->changed[tree->leaf[p]];
    return FEW * count <= tree->count;
}

enum tac_err tac_tree_overlaps_changed(const struct tac_tree *a, const struct tac_tree *b, const double *drift_lo,
                                       const double *drift_hi, tac_tree_visit *visit, void *context, int64_t *tests)
{
    if (a->count == 0 || b->count == 0)
        return TAC_OK;
    if (!few_changed(a) || !(a == b || few_changed(b)))
        return search(a, b, drift_lo, drift_hi, visit, NULL, context, tests, true);
    double lo[TAC_DOP_AXES], hi[TAC_DOP_AXES], back_lo[TAC_DOP_AXES], back_hi[TAC_DOP_AXES];
    for (int k = 0; drift_lo && k < TAC_DOP_AXES; k++) {
        drift(a, b, drift_lo, drift_hi, k, &lo[k], &hi[k]);
        back_lo[k] = -hi[k];
        back_hi[k] = -lo[k];
    }
    struct query q = {a, b, drift_lo ? lo : NULL, hi, false, visit, NULL, context, 0};
    enum tac_err err = find_all_overlaps(&q);
    if (a != b && !err) {
        q.of = b;
        q.in = a;
        q.lo = drift_lo ? back_lo : NULL;
        q.hi = back_hi;
        q.swapped = true;
        err = find_all_overlaps(&q);
    }
    *tests += q.tests;
    return err;
}

enum tac_err tac_tree_overlaps_grouped(const struct tac_tree *tree, bool changed, tac_tree_visit *visit,
                                       tac_tree_leave_out *leave_out, void *context, int64_t *tests)
{
    if (!changed)
        return search(tree, tree, NULL, NULL, visit, leave_out, context, tests, false);
    if (!few_changed(tree))
        return search(tree, tree, NULL, NULL, visit, leave_out, context, tests, true);
    struct query q = {tree, tree, NULL, NULL, false, visit, leave_out, context, 0};
    const enum tac_err err = find_all_overlaps(&q);
    *tests += q.tests;
    return err;
}
