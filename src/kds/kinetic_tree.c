/* kinetic_tree.c: keeps the hierarchy of k-DOPs whose extents are bounded by lines in time (ACM 2009, sections 5.5 and
 * 5.6; docs/reference/kinetic.md, What is proven). */
#include "kds/kinetic_tree.h"
#include <stdlib.h>
#include <string.h>

/* Axes in the order in which k = 6, 14, 26 takes them; 18 takes the edges instead of the corners. */
static const signed char faces[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                         corners[4][3] = {{1, 1, 1}, {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}},
                         edges[6][3] = {{1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}};

static void take_axes(struct tac_kinetic_tree *tree, const signed char (*from)[3], int count, int *n)
{
    for (int i = 0; i < count; i++, (*n)++) {
        for (int c = 0; c < 3; c++)
            tree->axis[*n][c] = from[i][c];
        tree->length[*n] = sqrt(tac_dot(tree->axis[*n], tree->axis[*n]));
    }
}

/* ---- building ---- */

struct builder {
    struct tac_kinetic *k;
    struct tac_kinetic_tree *tree;
    double *centre; /* (primitives, 3), m */
    int32_t *order; /* primitives */
    int32_t *root;  /* (bodies): order of bodies while the top is built */
    double *body_centre;
    int32_t next;
};

static void split_at_middle(const double *centre, int32_t *p, int32_t n, int axis)
{
    const int32_t half = n / 2;
    int32_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const double pivot = centre[3 * (size_t)p[lo + (hi - lo) / 2] + (size_t)axis];
        int32_t i = lo, j = hi;
        while (i <= j) {
            while (centre[3 * (size_t)p[i] + (size_t)axis] < pivot)
                i++;
            while (centre[3 * (size_t)p[j] + (size_t)axis] > pivot)
                j--;
            if (i <= j) {
                const int32_t swap = p[i];
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

static void halve_longest(const double *centre, int32_t *p, int32_t n)
{
    int best = 0;
    double width = -1;
    for (int c = 0; c < 3; c++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int32_t i = 0; i < n; i++) {
            lo = fmin(lo, centre[3 * (size_t)p[i] + (size_t)c]);
            hi = fmax(hi, centre[3 * (size_t)p[i] + (size_t)c]);
        }
        if (hi - lo > width) {
            width = hi - lo;
            best = c;
        }
    }
    split_at_middle(centre, p, n, best);
}

/* Depth is the logarithm of the count: recursion is safe.  `bodies`: p are bodies, each then a tree of its own. */
static void grow_node(struct builder *b, int32_t *p, int32_t n, int32_t at, int32_t up, bool bodies)
{
    struct tac_branch *node = &b->tree->node[at];
    struct tac_kinetic *k = b->k;
    node->up = up;
    node->first = -1;
    node->left = -1;
    if (n == 1 && bodies) {
        grow_node(b, &b->order[k->primitive_begin[*p]], k->primitive_begin[*p + 1] - k->primitive_begin[*p], at, up,
                  false);
        return;
    }
    if (n == 1) {
        node->primitive = *p;
        node->body = k->primitive[*p].body;
        node->immovable = k->immovable[node->body];
        b->tree->leaf[*p] = at;
        return;
    }
    halve_longest(bodies ? b->body_centre : b->centre, p, n);
    const int32_t left = b->next;
    b->next += 2;
    node->left = left;
    grow_node(b, p, n / 2, left, at, bodies);
    grow_node(b, p + n / 2, n - n / 2, left + 1, at, bodies);
    const struct tac_branch *l = &b->tree->node[left];
    node->body = l[0].body == l[1].body ? l[0].body : -1;
    node->immovable = l[0].immovable && l[1].immovable;
}

static enum tac_err build_tree(struct tac_kinetic *k, struct tac_kinetic_tree *tree)
{
    enum tac_err err;
    struct builder b = {.k = k, .tree = tree, .next = 1};
    const size_t n = (size_t)k->primitive_count, bodies = (size_t)k->body_count;
    int32_t full = 0;
    TAC_TRY(tac_alloc(k->view->ctx, 3 * n, sizeof *b.centre, &b.centre));
    TAC_TRY(tac_alloc(k->view->ctx, n, sizeof *b.order, &b.order));
    TAC_TRY(tac_alloc(k->view->ctx, bodies, sizeof *b.root, &b.root));
    TAC_TRY(tac_alloc(k->view->ctx, 3 * bodies, sizeof *b.body_centre, &b.body_centre));
    for (tac_lid body = 0; body < k->body_count; body++) {
        const int32_t begin = k->primitive_begin[body], end = k->primitive_begin[body + 1];
        for (int32_t p = begin; p < end; p++) {
            const struct tac_primitive *q = &k->primitive[p];
            b.order[p] = p;
            for (int i = 0; i < q->count; i++) {
                double x[3];
                tac_kinetic_place(k, q->v[i], x);
                for (int c = 0; c < 3; c++) {
                    b.centre[3 * (size_t)p + (size_t)c] += x[c] / q->count;
                    b.body_centre[3 * body + c] += x[c] / q->count / (end - begin);
                }
            }
        }
        if (end > begin)
            b.root[full++] = body;
    }
    if (full)
        grow_node(&b, b.root, full, 0, -1, true);
done:
    free(b.centre);
    free(b.order);
    free(b.root);
    free(b.body_centre);
    return err;
}

/* Leaves by vertex: counted, then filled. */
static enum tac_err index_leaves(struct tac_kinetic *k, struct tac_kinetic_tree *tree)
{
    enum tac_err err;
    const size_t n = k->vertices;
    size_t total = 0;
    TAC_TRY(tac_alloc(k->view->ctx, n + 2, sizeof *tree->leaves_begin, &tree->leaves_begin));
    for (int32_t p = 0; p < k->primitive_count; p++)
        for (int i = 0; i < k->primitive[p].count; i++, total++)
            tree->leaves_begin[k->primitive[p].v[i] + 2]++;
    TAC_TRY(tac_alloc(k->view->ctx, total, sizeof *tree->leaves, &tree->leaves));
    for (size_t i = 0; i < n; i++)
        tree->leaves_begin[i + 2] += tree->leaves_begin[i + 1];
    for (int32_t p = 0; p < k->primitive_count; p++)
        for (int i = 0; i < k->primitive[p].count; i++)
            tree->leaves[tree->leaves_begin[k->primitive[p].v[i] + 1]++] = tree->leaf[p];
done:
    return err;
}

enum tac_err tac_kinetic_tree_create(struct tac_kinetic *k, int axes, struct tac_kinetic_tree **out)
{
    enum tac_err err;
    struct tac_kinetic_tree *tree = NULL;
    const size_t n = (size_t)k->primitive_count, nodes = n ? 2 * n - 1 : 0;
    TAC_TRY(tac_alloc(k->view->ctx, 1, sizeof *tree, &tree));
    take_axes(tree, faces, 3, &tree->axes);
    if (axes == 7 || axes == 13)
        take_axes(tree, corners, 4, &tree->axes);
    if (axes == 9 || axes == 13)
        take_axes(tree, edges, 6, &tree->axes);
    TAC_CHECK(tree->axes == axes);
    tree->count = (int32_t)nodes;
    TAC_TRY(tac_alloc(k->view->ctx, nodes, sizeof *tree->node, &tree->node));
    TAC_TRY(tac_alloc(k->view->ctx, nodes * 4 * (size_t)axes, sizeof *tree->envelope, &tree->envelope));
    TAC_TRY(tac_alloc(k->view->ctx, n, sizeof *tree->leaf, &tree->leaf));
    TAC_TRY(tac_alloc(k->view->ctx, nodes, sizeof *tree->dirty, &tree->dirty));
    TAC_TRY(build_tree(k, tree));
    TAC_TRY(index_leaves(k, tree));
    for (int32_t i = 0; i < tree->count; i++)
        tree->node[i].t0 = -1;
    if (tree->count)
        tac_kinetic_tree_refresh(k, tree, 0, k->now);
done:
    if (err)
        tac_kinetic_tree_destroy(&tree);
    *out = tree;
    return err;
}

void tac_kinetic_tree_destroy(struct tac_kinetic_tree **out)
{
    struct tac_kinetic_tree *tree = *out;
    if (tree == NULL)
        return;
    free(tree->node);
    free(tree->envelope);
    free(tree->leaf);
    free(tree->leaves_begin);
    free(tree->leaves);
    free(tree->dirty);
    free(tree);
    *out = NULL;
}

/* ---- envelopes ---- */

static double *envelope_of(const struct tac_kinetic_tree *tree, int32_t node)
{
    return &tree->envelope[4 * (size_t)tree->axes * (size_t)node];
}

/* Returns half of the reach of a contact, m, by which a vertex' extent is enlarged. */
static double margin_of(const struct tac_kinetic *k, tac_lid body)
{
    return .5 * k->view->scene->settings->contact.thickness + k->view->scene->settings->body[body].radius +
           1e-12 * k->extent;
}

/* Computes a leaf's envelope from its vertices' positions and plans. */
static void measure_leaf(const struct tac_kinetic *k, struct tac_kinetic_tree *tree, int32_t leaf)
{
    const int n = tree->axes;
    const struct tac_primitive *q = &k->primitive[tree->node[leaf].primitive];
    const double margin = margin_of(k, q->body);
    double *lo = envelope_of(tree, leaf), *hi = lo + n, *vlo = hi + n, *vhi = vlo + n;
    for (int a = 0; a < n; a++) {
        lo[a] = vlo[a] = INFINITY;
        hi[a] = vhi[a] = -INFINITY;
    }
    for (int i = 0; i < q->count; i++) {
        const struct tac_plan *plan = &k->plan[q->v[i]];
        double x[3];
        tac_kinetic_place(k, q->v[i], x);
        for (int a = 0; a < n; a++) {
            const double at = tac_dot(tree->axis[a], x), v = tac_dot(tree->axis[a], plan->v);
            const double off = margin * tree->length[a], dv = plan->reach * tree->length[a];
            lo[a] = at - off < lo[a] ? at - off : lo[a];
            hi[a] = at + off > hi[a] ? at + off : hi[a];
            vlo[a] = v - dv < vlo[a] ? v - dv : vlo[a];
            vhi[a] = v + dv > vhi[a] ? v + dv : vhi[a];
        }
    }
    tree->node[leaf].t0 = k->now;
}

/* Computes an inner node's envelope from those of its children. */
static void merge_children(const struct tac_kinetic *k, struct tac_kinetic_tree *tree, int32_t node)
{
    const int n = tree->axes;
    const struct tac_branch *child = &tree->node[tree->node[node].left];
    const double *l = envelope_of(tree, tree->node[node].left), *r = l + 4 * n;
    double *out = envelope_of(tree, node);
    const double dl = tac_state_seconds(k->view->state, k->now - child[0].t0),
                 dr = tac_state_seconds(k->view->state, k->now - child[1].t0);
    for (int a = 0; a < n; a++) {
        const double lo0 = l[a] + dl * l[2 * n + a], lo1 = r[a] + dr * r[2 * n + a];
        const double hi0 = l[n + a] + dl * l[3 * n + a], hi1 = r[n + a] + dr * r[3 * n + a];
        out[a] = lo0 < lo1 ? lo0 : lo1;
        out[n + a] = hi0 > hi1 ? hi0 : hi1;
        out[2 * n + a] = l[2 * n + a] < r[2 * n + a] ? l[2 * n + a] : r[2 * n + a];
        out[3 * n + a] = l[3 * n + a] > r[3 * n + a] ? l[3 * n + a] : r[3 * n + a];
    }
    tree->node[node].t0 = k->now;
}

void tac_kinetic_tree_refresh(struct tac_kinetic *k, struct tac_kinetic_tree *tree, int32_t node, tac_time oldest)
{
    const struct tac_branch *b = &tree->node[node];
    if (b->t0 >= oldest || (b->immovable && b->t0 >= 0))
        return;
    if (b->left < 0) {
        measure_leaf(k, tree, node);
        return;
    }
    tac_kinetic_tree_refresh(k, tree, b->left, oldest);
    tac_kinetic_tree_refresh(k, tree, b->left + 1, oldest);
    merge_children(k, tree, node);
}

static void mark_dirty(struct tac_kinetic_tree *tree, int32_t node)
{
    if (!tree->node[node].dirty) {
        tree->node[node].dirty = 1;
        tree->dirty[tree->dirty_count++] = node;
    }
}

/* Bounds of the speeds along each axis inside a node. */
struct speeds {
    double lo[TAC_MOST_AXES], hi[TAC_MOST_AXES];
};

/* Computes these bounds for vertex v from its plan. */
static void speeds_of_vertex(const struct tac_kinetic *k, const struct tac_kinetic_tree *tree, tac_lid v,
                             struct speeds *e)
{
    const struct tac_plan *plan = &k->plan[v];
    for (int a = 0; a < tree->axes; a++) {
        const double at = tac_dot(tree->axis[a], plan->v), dv = plan->reach * tree->length[a];
        e->lo[a] = at - dv;
        e->hi[a] = at + dv;
    }
}

static void speeds_of_node(const struct tac_kinetic_tree *tree, int32_t node, struct speeds *e)
{
    const double *from = envelope_of(tree, node) + 2 * tree->axes;
    memcpy(e->lo, from, (size_t)tree->axes * sizeof *e->lo);
    memcpy(e->hi, from + tree->axes, (size_t)tree->axes * sizeof *e->hi);
}

/* Does the node's envelope cover these speeds from now on? It covers the present positions, because plans begin there.
 */
static bool covers_speeds(const struct tac_kinetic_tree *tree, int32_t node, const struct speeds *inside)
{
    const int n = tree->axes;
    const double *e = envelope_of(tree, node);
    for (int a = 0; a < n; a++)
        if (inside->lo[a] < e[2 * n + a] || inside->hi[a] > e[3 * n + a])
            return false;
    return true;
}

static void widen_leaf(struct tac_kinetic *k, struct tac_kinetic_tree *tree, int32_t leaf, const struct speeds *inside,
                       double slack)
{
    const int n = tree->axes;
    double *e = envelope_of(tree, leaf);
    bool low[TAC_MOST_AXES], high[TAC_MOST_AXES];
    for (int a = 0; a < n; a++) {
        low[a] = inside->lo[a] < e[2 * n + a];
        high[a] = inside->hi[a] > e[3 * n + a];
    }
    measure_leaf(k, tree, leaf);
    /* Adds some room on the sides where the bound was too narrow, because vertices that accelerate often continue to do
     * so. */
    for (int a = 0; a < n; a++) {
        e[2 * n + a] -= low[a] ? slack * tree->length[a] : 0;
        e[3 * n + a] += high[a] ? slack * tree->length[a] : 0;
    }
    mark_dirty(tree, leaf);
    int32_t below = leaf;
    for (int32_t up = tree->node[leaf].up; up >= 0; below = up, up = tree->node[up].up) {
        struct speeds child;
        speeds_of_node(tree, below, &child);
        if (covers_speeds(tree, up, &child))
            break;
        merge_children(k, tree, up);
        mark_dirty(tree, up);
    }
}

void tac_kinetic_tree_widen(struct tac_kinetic *k, struct tac_kinetic_tree *tree, tac_lid v)
{
    struct speeds inside;
    speeds_of_vertex(k, tree, v, &inside);
    for (int32_t i = tree->leaves_begin[v]; i < tree->leaves_begin[v + 1]; i++) {
        const int32_t leaf = tree->leaves[i];
        if (!covers_speeds(tree, leaf, &inside))
            widen_leaf(k, tree, leaf, &inside, 2 * k->plan[v].reach);
    }
}

double tac_kinetic_separated_s(const struct tac_kinetic *k, const struct tac_kinetic_tree *tree, int32_t a, int32_t b,
                               int axis)
{
    const int n = tree->axes;
    const double *ea = envelope_of(tree, a) + axis, *eb = envelope_of(tree, b) + axis;
    const double ta = tac_state_seconds(k->view->state, k->now - tree->node[a].t0),
                 tb = tac_state_seconds(k->view->state, k->now - tree->node[b].t0);
    /* a above b, or below it */
    const double above = ea[0] + ta * ea[2 * n] - (eb[n] + tb * eb[3 * n]);
    if (above > 0) {
        const double closing = eb[3 * n] - ea[2 * n];
        return closing > 0 ? above / closing : INFINITY;
    }
    const double below = eb[0] + tb * eb[2 * n] - (ea[n] + ta * ea[3 * n]);
    if (below > 0) {
        const double closing = ea[3 * n] - eb[2 * n];
        return closing > 0 ? below / closing : INFINITY;
    }
    return 0;
}
