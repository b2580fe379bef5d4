/* tree.h: declares bounding volume trees of k-DOPs over the primitives of one body, refitted in place.
 *
 * A tree is built once from a shape and refitted as the shape moves: its nodes lie in one array with children after
 * their parents, so a refit is one loop from the end.  Each body's tree lives in a frame that moves with the body, so a
 * body's common motion costs nothing (docs/explanation/method.md, Finding contacts); two bodies' frames drift apart
 * during the time the boxes stand for, and the test of two nodes sweeps one of them along that drift.
 */
#ifndef TACTUS_GEOMETRY_TREE_H
#define TACTUS_GEOMETRY_TREE_H

#include <tactus/base.h>

/* Half-spaces come in opposite pairs: k = 2 TAC_DOP_AXES. 3 axes: boxes; 9: 18-DOPs (edges of a cube cut off). */
#ifndef TAC_DOP_AXES
#define TAC_DOP_AXES 9
#endif

struct tac_dop {
    double lo[TAC_DOP_AXES], hi[TAC_DOP_AXES];
};

/* A box of a tree, from the tree's origin on, each bound rounded outwards: half the memory of a tac_dop, and a search
 * waits for memory. */
struct tac_slim_dop {
    float lo[TAC_DOP_AXES], hi[TAC_DOP_AXES];
};

struct tac_node {
    struct tac_slim_dop dop;
    int32_t left;      /* children are left and left + 1; -1: a leaf */
    int32_t primitive; /* leaf: index of its primitive */
};

struct tac_tree {
    int32_t count;               /* primitives */
    int32_t node_count;          /* 2 count - 1 */
    struct tac_node *node;       /* owned; [0] is the root */
    int32_t *leaf;               /* owned, (count): node of each primitive */
    float *centre;               /* owned, (count, 3): twice the centre of each primitive's box; scratch of a build */
    double origin[TAC_DOP_AXES]; /* where the boxes are measured from, along each axis, m: a point of the body */
    uint8_t *changed;            /* owned, (node_count): 1: holds a primitive that the last partial refit changed */
    int64_t tests_fresh;         /* node tests of the first traversal after it was built; 0: none yet */
    bool stale;                  /* build again at the next refit */
    const int32_t *of;           /* borrowed, (count): the group of each primitive, from 0; NULL: there are none */
    int32_t *group;              /* owned, (node_count): the group of all that a node holds; -1: of several */
};

/* Local. Makes an empty tree; the first refit builds it. */
enum tac_err tac_tree_create(struct tac_ctx *ctx, int32_t count, struct tac_tree **out);
void tac_tree_destroy(struct tac_tree **tree);

/* The box of a primitive, m. */
typedef void tac_tree_box(void *context, int32_t primitive, struct tac_dop *box);

/* Local. Builds (if stale) by median splits of the boxes' centres, and refits to the boxes of all primitives. `origin`
 * (m) is a point of or near the body, so that single precision is enough: a box grows by at most its distance from
 * there over 2^22.  scratch: (count).  box() is called once for each primitive, twice when the tree is built. */
void tac_tree_refit(struct tac_tree *tree, const double origin[3], tac_tree_box *box, void *context, int32_t *scratch);

/* Local. Assigns the primitives to groups, of[] (borrowed), for tac_tree_overlaps_grouped(). */
enum tac_err tac_tree_group(struct tac_ctx *ctx, struct tac_tree *tree, const int32_t *of);

/* Local. Refits the primitives marked (count; 1: its box has changed) and the nodes above them, and marks those nodes
 * for tac_tree_overlaps_changed(). The tree is built, and not stale.  False: none is marked. */
bool tac_tree_refit_changed(struct tac_tree *tree, tac_tree_box *box, void *context, const uint8_t *marked);

/* Local. Marks the nodes above them alone: as if that refit had left each box as it is. */
bool tac_tree_mark(struct tac_tree *tree, const uint8_t *marked);

/* Bounds of all boxes along an axis, m. */
static inline void tac_tree_extent(const struct tac_tree *tree, int axis, double *lo, double *hi)
{
    *lo = tree->origin[axis] + (double)tree->node[0].dop.lo[axis];
    *hi = tree->origin[axis] + (double)tree->node[0].dop.hi[axis];
}

/* Distances of a point along the axes. */
void tac_dop_project(const double x[3], double out[TAC_DOP_AXES]);
/* Length of each axis (they are not unit): a ball of radius r reaches r times this. */
extern const double tac_dop_length[TAC_DOP_AXES];

static inline void tac_dop_empty(struct tac_dop *dop)
{
    for (int k = 0; k < TAC_DOP_AXES; k++) {
        dop->lo[k] = 1e300;
        dop->hi[k] = -1e300;
    }
}

/* Pairs of leaves whose boxes overlap, of one tree (b == a; each pair once) or of two. For two, tree a drifts against
 * tree b by drift_lo..drift_hi along each axis. */
typedef enum tac_err tac_tree_visit(void *context, int32_t primitive_a, int32_t primitive_b);
enum tac_err tac_tree_overlaps(const struct tac_tree *a, const struct tac_tree *b, const double *drift_lo,
                               const double *drift_hi, tac_tree_visit *visit, void *context, int64_t *tests);
/* The same of one tree with itself, or (changed) of what tac_tree_overlaps_changed() looks for in it, without the
 * pairs of primitives of groups that leave_out() says yes to. */
typedef bool tac_tree_leave_out(void *context, int32_t group_a, int32_t group_b);
enum tac_err tac_tree_overlaps_grouped(const struct tac_tree *tree, bool changed, tac_tree_visit *visit,
                                       tac_tree_leave_out *leave_out, void *context, int64_t *tests);
/* The same of the pairs of which at least one leaf was changed by the last partial refit of its tree. */
enum tac_err tac_tree_overlaps_changed(const struct tac_tree *a, const struct tac_tree *b, const double *drift_lo,
                                       const double *drift_hi, tac_tree_visit *visit, void *context, int64_t *tests);

#endif
