/* kinetic_tree.h: a hierarchy of k-DOPs whose extents are bounded by lines in time (ACM 2009, sections
 * 5.5 and 5.6).
 *
 * One tree over the primitives of all bodies.  A node bounds where its vertices are along each axis by the *linear
 * envelope*: lo + vlo (t - t0) .. hi + vhi (t - t0), which holds for as long as all its vertices keep to their plans.
 * A node's speeds cover those of its children; a vertex' new plan that still fits into those of its leaf changes
 * nothing.
 */
#ifndef TACTUS_KDS_KINETIC_TREE_H
#define TACTUS_KDS_KINETIC_TREE_H

#include "kds/kinetic.h"

enum { TAC_MOST_AXES = 13 };

struct tac_branch {
    int32_t left;      /* children are left and left + 1; -1: a leaf */
    int32_t up;        /* parent, -1: the root */
    int32_t primitive; /* of a leaf */
    int32_t body;      /* of all below it; -1: several */
    int32_t first;     /* tests that rest on it: 2 x test + side; -1: none */
    uint8_t immovable, dirty;
    tac_time t0;
};

struct tac_kinetic_tree {
    int axes; /* k/2 */
    int32_t count;
    struct tac_branch *node;        /* owned; [0] is the root; children lie behind their parents */
    double *envelope;               /* owned, (nodes, 4, axes): lo, hi in m at t0; vlo, vhi in m/s */
    int32_t *leaf;                  /* owned, (primitives) */
    int32_t *leaves_begin, *leaves; /* owned: leaves of each vertex */
    double axis[TAC_MOST_AXES][3];  /* not unit */
    double length[TAC_MOST_AXES];   /* of each axis */
    size_t dirty_count;
    int32_t *dirty; /* owned, (nodes): those with new envelopes */
};

/* Local. The tree for the state of k->now; its envelopes are those of k->now. */
enum tac_err tac_kinetic_tree_create(struct tac_kinetic *k, int axes, struct tac_kinetic_tree **out);
void tac_kinetic_tree_destroy(struct tac_kinetic_tree **tree);
/* Local. Envelopes of a node and all below it are made anew if they are older than `oldest`. They only become tighter.
 */
void tac_kinetic_tree_refresh(struct tac_kinetic *k, struct tac_kinetic_tree *tree, int32_t node, tac_time oldest);
/* Local. Vertex v has a new plan: widens what does not cover it, and lists it in tree->dirty. */
void tac_kinetic_tree_widen(struct tac_kinetic *k, struct tac_kinetic_tree *tree, tac_lid v);

/* Seconds from k->now for which two nodes stay apart along an axis; not positive if they are not. */
double tac_kinetic_separated_s(const struct tac_kinetic *k, const struct tac_kinetic_tree *tree, int32_t a, int32_t b,
                               int axis);

#endif
