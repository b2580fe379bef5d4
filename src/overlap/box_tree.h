/* box_tree.h: declares a tree of boxes over a scene's elements, and a walk over all pairs of elements that may overlap.
 *
 * Elements are triangles, segments and particles.  The upper part of the tree is over bodies, the lower over the
 * elements of one, so that a pair of nodes within one body can have another margin than a pair between bodies.
 */
#ifndef TACTUS_OVERLAP_BOX_TREE_H
#define TACTUS_OVERLAP_BOX_TREE_H

#include <tactus/base.h>

struct tac_box_item {
    double lo[3], hi[3];
    tac_lid body;
    tac_lid index;  /* the caller's */
    uint8_t kind;   /* the caller's */
    uint8_t active; /* two items that are both inactive make no pair */
};

struct tac_box_node {
    double lo[3], hi[3];
    double radius;     /* largest of its bodies, m */
    size_t begin, end; /* items */
    size_t right;      /* right child; the left one is the next node; 0: a leaf */
    tac_lid body;      /* the one body it belongs to, or -1 */
    bool active;
};

struct tac_box_tree {
    struct tac_box_item *item; /* borrowed from the caller, reordered; grouped by body on entry */
    struct tac_box_node *node; /* owned */
    size_t node_count;
};

/* The functions that the walk calls: for the margin between bodies, and for each pair of elements. */
struct tac_box_walk {
    void *user;
    /* Margin between two nodes' boxes that keeps them apart, m; NaN: no pairs at all. a and b: one body's (perhaps
     * the same one's), else -1. */
    double (*margin)(void *user, const struct tac_box_node *a, const struct tac_box_node *b);
    /* An unordered pair of distinct items whose boxes are within the margin. An error ends the walk. */
    enum tac_err (*pair)(void *user, const struct tac_box_item *a, const struct tac_box_item *b, double margin);
};

/* Local. Makes the tree by median splits, O(n log n). `item` (item_count) is grouped by body, bodies ascending;
 * `radius` (by body). */
enum tac_err tac_box_tree_create(struct tac_ctx *ctx, struct tac_box_item *item, size_t item_count,
                                 const double *radius, struct tac_box_tree **out);
void tac_box_tree_destroy(struct tac_box_tree **tree);
/* Local. */
enum tac_err tac_box_tree_walk(struct tac_ctx *ctx, const struct tac_box_tree *tree, const struct tac_box_walk *walk);

/* Local. Returns whether two boxes are farther apart than `margin` along some axis. */
static inline bool tac_boxes_separated(const double lo_a[3], const double hi_a[3], const double lo_b[3],
                                       const double hi_b[3], double margin)
{
    return lo_a[0] - hi_b[0] > margin || lo_b[0] - hi_a[0] > margin || lo_a[1] - hi_b[1] > margin ||
           lo_b[1] - hi_a[1] > margin || lo_a[2] - hi_b[2] > margin || lo_b[2] - hi_a[2] > margin;
}

#endif
