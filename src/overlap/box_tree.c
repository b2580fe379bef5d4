/* box_tree.c: builds the tree of boxes over a scene's elements, and walks over all pairs of elements whose boxes come
 * near each other. */
#include "overlap/box_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 4 };

/* Upper part: one entry per body with its range of items. */
struct group {
    double lo[3], hi[3];
    size_t begin, end;
};

static void empty_box(double lo[3], double hi[3])
{
    for (int k = 0; k < 3; k++) {
        lo[k] = INFINITY;
        hi[k] = -INFINITY;
    }
}

static void join_box(double lo[3], double hi[3], const double other_lo[3], const double other_hi[3])
{
    for (int k = 0; k < 3; k++) {
        lo[k] = other_lo[k] < lo[k] ? other_lo[k] : lo[k];
        hi[k] = other_hi[k] > hi[k] ? other_hi[k] : hi[k];
    }
}

/* Both items and groups begin with a box (lo, hi); the functions below take arrays of either, with their `size`. */
static double middle(const void *array, size_t size, size_t i, int axis)
{
    const double *box = (const double *)((const char *)array + i * size);
    return 0.5 * box[axis] + 0.5 * box[3 + axis];
}

static void swap(char *array, size_t size, size_t i, size_t j)
{
    char keep[sizeof(struct tac_box_item) > sizeof(struct group) ? sizeof(struct tac_box_item) : sizeof(struct group)];
    memcpy(keep, array + i * size, size);
    memmove(array + i * size, array + j * size, size);
    memcpy(array + j * size, keep, size);
}

/* Puts the lower half, by the boxes' middles along `axis`, first: quickselect with pivots at scattered positions, so
 * that no order of a mesh is its bad case. */
static void halve(void *array, size_t size, size_t count, int axis)
{
    size_t lo = 0, hi = count, target = count / 2;
    uint64_t scatter = 0x9e3779b97f4a7c15u;
    while (hi - lo > 1) {
        scatter = scatter * 6364136223846793005u + 1442695040888963407u;
        double pivot = middle(array, size, lo + (size_t)((scatter >> 33) % (hi - lo)), axis);
        /* Divides into three parts, so that many equal middles are no bad case. */
        size_t below = lo, i = lo, above = hi;
        while (i < above) {
            double m = middle(array, size, i, axis);
            if (m < pivot)
                swap(array, size, i++, below++);
            else if (m > pivot)
                swap(array, size, i, --above);
            else
                i++;
        }
        if (target < below)
            hi = below;
        else if (target >= above)
            lo = above;
        else
            return;
    }
}

static int widest(const void *array, size_t size, size_t count)
{
    double lo[3], hi[3];
    empty_box(lo, hi);
    for (size_t i = 0; i < count; i++) {
        double at[3] = {middle(array, size, i, 0), middle(array, size, i, 1), middle(array, size, i, 2)};
        join_box(lo, hi, at, at);
    }
    int axis = hi[1] - lo[1] > hi[0] - lo[0] ? 1 : 0;
    return hi[2] - lo[2] > hi[axis] - lo[axis] ? 2 : axis;
}

static size_t build_body(struct tac_box_tree *tree, size_t begin, size_t end, double radius)
{
    size_t self = tree->node_count++;
    struct tac_box_node *node = &tree->node[self];
    struct tac_box_item *item = tree->item + begin;
    node->begin = begin;
    node->end = end;
    node->body = item->body;
    node->radius = radius;
    if (end - begin <= LEAF) {
        empty_box(node->lo, node->hi);
        for (size_t i = 0; i < end - begin; i++) {
            join_box(node->lo, node->hi, item[i].lo, item[i].hi);
            node->active = node->active || item[i].active;
        }
        return self;
    }
    halve(item, sizeof *item, end - begin, widest(item, sizeof *item, end - begin));
    size_t half = begin + (end - begin) / 2;
    build_body(tree, begin, half, radius);
    node->right = build_body(tree, half, end, radius);
    return self;
}

static size_t build_groups(struct tac_box_tree *tree, struct group *group, size_t count, const double *radius)
{
    if (count == 1)
        return build_body(tree, group->begin, group->end, radius[tree->item[group->begin].body]);
    size_t self = tree->node_count++;
    tree->node[self].body = -1;
    halve(group, sizeof *group, count, widest(group, sizeof *group, count));
    build_groups(tree, group, count / 2, radius);
    tree->node[self].right = build_groups(tree, group + count / 2, count - count / 2, radius);
    return self;
}

/* Children come after their parents: one pass backwards. */
static void fill_upwards(struct tac_box_tree *tree)
{
    for (size_t i = tree->node_count; i-- > 0;) {
        struct tac_box_node *node = &tree->node[i];
        if (node->right == 0)
            continue;
        const struct tac_box_node *left = node + 1, *right = &tree->node[node->right];
        empty_box(node->lo, node->hi);
        join_box(node->lo, node->hi, left->lo, left->hi);
        join_box(node->lo, node->hi, right->lo, right->hi);
        node->radius = fmax(left->radius, right->radius);
        node->active = left->active || right->active;
    }
}

enum tac_err tac_box_tree_create(struct tac_ctx *ctx, struct tac_box_item *item, size_t item_count,
                                 const double *radius, struct tac_box_tree **out)
{
    enum tac_err err = TAC_OK;
    struct tac_box_tree *tree = NULL;
    struct group *group = NULL;
    size_t group_count = 0;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *tree, &tree));
    tree->item = item;
    for (size_t i = 0; i < item_count; i++)
        group_count += i == 0 || item[i].body != item[i - 1].body;
    /* Over LEAF items split into leaves of two or more, so a body has no more nodes than items; fewer nodes than bodies
     * join them. */
    TAC_TRY(tac_alloc(ctx, item_count + group_count, sizeof *tree->node, &tree->node));
    TAC_TRY(tac_alloc(ctx, group_count, sizeof *group, &group));
    group_count = 0;
    for (size_t i = 0; i < item_count; i++) {
        if (i == 0 || item[i].body != item[i - 1].body) {
            empty_box(group[group_count].lo, group[group_count].hi);
            group[group_count++].begin = i;
        }
        struct group *last = &group[group_count - 1];
        join_box(last->lo, last->hi, item[i].lo, item[i].hi);
        last->end = i + 1;
    }
    if (group_count > 0)
        build_groups(tree, group, group_count, radius);
    fill_upwards(tree);
    *out = tree;
    tree = NULL;
done:
    free(group);
    tac_box_tree_destroy(&tree);
    return err;
}

void tac_box_tree_destroy(struct tac_box_tree **tree)
{
    if (*tree == NULL)
        return;
    free((*tree)->node);
    free(*tree);
    *tree = NULL;
}

struct task {
    size_t a, b;
};

static enum tac_err leaves(const struct tac_box_tree *tree, const struct tac_box_node *a, const struct tac_box_node *b,
                           double margin, const struct tac_box_walk *walk)
{
    for (size_t i = a->begin; i < a->end; i++)
        for (size_t j = a == b ? i + 1 : b->begin; j < b->end; j++) {
            const struct tac_box_item *p = &tree->item[i], *q = &tree->item[j];
            if ((!p->active && !q->active) || tac_boxes_separated(p->lo, p->hi, q->lo, q->hi, margin))
                continue;
            enum tac_err err = walk->pair(walk->user, p, q, margin);
            if (err)
                return err;
        }
    return TAC_OK;
}

/* Splits a pair of nodes into up to four tasks; returns how many. Not both are leaves. */
static int split(const struct tac_box_tree *tree, struct task pair, struct task out[3])
{
    const struct tac_box_node *a = &tree->node[pair.a], *b = &tree->node[pair.b];
    if (pair.a == pair.b) {
        out[0] = (struct task){pair.a + 1, pair.a + 1};
        out[1] = (struct task){a->right, a->right};
        out[2] = (struct task){pair.a + 1, a->right};
        return 3;
    }
    double size_a = 0, size_b = 0;
    for (int k = 0; k < 3; k++) {
        size_a = fmax(size_a, a->hi[k] - a->lo[k]);
        size_b = fmax(size_b, b->hi[k] - b->lo[k]);
    }
    if (b->right == 0 || (a->right != 0 && size_a >= size_b)) {
        out[0] = (struct task){pair.a + 1, pair.b};
        out[1] = (struct task){a->right, pair.b};
    } else {
        out[0] = (struct task){pair.a, pair.b + 1};
        out[1] = (struct task){pair.a, b->right};
    }
    return 2;
}

enum tac_err tac_box_tree_walk(struct tac_ctx *ctx, const struct tac_box_tree *tree, const struct tac_box_walk *walk)
{
    enum tac_err err = TAC_OK;
    struct task *stack = NULL;
    size_t count = 0, capacity = 0;
    if (tree->node_count == 0)
        return TAC_OK;
    TAC_TRY(tac_grow(ctx, &stack, &capacity, 64, sizeof *stack));
    stack[count++] = (struct task){0, 0};
    while (count > 0) {
        struct task pair = stack[--count];
        const struct tac_box_node *a = &tree->node[pair.a], *b = &tree->node[pair.b];
        if (!a->active && !b->active)
            continue;
        double margin = walk->margin(walk->user, a, b);
        if (isnan(margin) || tac_boxes_separated(a->lo, a->hi, b->lo, b->hi, margin))
            continue;
        if (a->right == 0 && b->right == 0) {
            TAC_TRY(leaves(tree, a, b, margin, walk));
            continue;
        }
        TAC_TRY(tac_grow(ctx, &stack, &capacity, count + 3, sizeof *stack));
        count += (size_t)split(tree, pair, stack + count);
    }
done:
    free(stack);
    return err;
}
