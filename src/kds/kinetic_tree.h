/* kinetic_tree.h: declares a hierarchy of k-DOPs whose extents are bounded by lines in time (ACM 2009, sections 5.5 and
 * 5.6).
 *
 * One tree over the primitives of all bodies.  A node bounds the positions of its vertices along each axis by the
 * *linear envelope* lo + vlo (t - t0) .. hi + vhi (t - t0), which holds while all its vertices keep to their plans. A
 * node's speeds cover those of its children. If a new plan of a vertex fits into the speeds of its leaf, nothing
 * changes.
 */
#ifndef TACTUS_KDS_KINETIC_TREE_H
#define TACTUS_KDS_KINETIC_TREE_H

#include "kds/kinetic.h"

enum { TAC_MOST_AXES = 13 };

struct tac_branch {
    int32_t left;      /* children are left and left + 1; -1: a leaf */
    int32_t up;        /* parent, -1: the root */
    int32_t primitive; /* of a leaf */
    int32_t body;      /* of all primitives below it; -1: several bodies */
    int32_t first;     /* first test that depends on it: 2 x test + side; -1: none */
    uint8_t immovable, dirty;
    tac_time t0;
};

struct tac_kinetic_tree {
    int axes; /* k/2 */
    int32_t count;
    struct tac_branch *node;        /* owned; [0] is the root; children come after their parents */
    double *envelope;               /* owned, (nodes, 4, axes): lo, hi in m at t0; vlo, vhi in m/s */
    int32_t *leaf;                  /* owned, (primitives) */
    int32_t *leaves_begin, *leaves; /* owned: leaves of each vertex */
    double axis[TAC_MOST_AXES][3];  /* not unit */
    double length[TAC_MOST_AXES];   /* of each axis */
    size_t dirty_count;
    int32_t *dirty; /* owned, (nodes): the nodes with new envelopes */
};

/* Local. Builds the tree for the state of k->now, with envelopes that begin at k->now. */
enum tac_err tac_kinetic_tree_create(struct tac_kinetic *k, int axes, struct tac_kinetic_tree **out);
void tac_kinetic_tree_destroy(struct tac_kinetic_tree **tree);
/* Local. Computes the envelopes of a node and of all nodes below it again if they are older than `oldest`. They only
 * become tighter.
 */
void tac_kinetic_tree_refresh(struct tac_kinetic *k, struct tac_kinetic_tree *tree, int32_t node, tac_time oldest);
/* Local. Call it when vertex v has a new plan: widens the nodes that do not cover it, and lists them in tree->dirty. */
void tac_kinetic_tree_widen(struct tac_kinetic *k, struct tac_kinetic_tree *tree, tac_lid v);

/* Returns for how many seconds from k->now two nodes stay separated along an axis; not positive if they are not
 * separated now. */
double tac_kinetic_separated_s(const struct tac_kinetic *k, const struct tac_kinetic_tree *tree, int32_t a, int32_t b,
                               int axis);

#endif
