/* candidates_search.h: declares the state of a search for candidates, and the functions that examine two primitives,
 * for the files of this room.
 */
#ifndef TACTUS_BROADPHASE_CANDIDATES_SEARCH_H
#define TACTUS_BROADPHASE_CANDIDATES_SEARCH_H

#include "broadphase/candidates.h"

/* A pair that waits until there are four of its type, because four are computed side by side. */
struct tac_waiting_pair {
    tac_lid id[2], v[4];
    double reach; /* upper bound of the reach of its first layer, m */
};

struct tac_search {
    struct tac_view *view;
    struct tac_candidates *c;
    const struct tac_primitive *a, *b; /* first primitive of the two bodies */
    struct tac_patches *patches;       /* of the body, if they are one and the same; NULL: it has none */
    double reach;                      /* upper bound of the reach of their first layers, m */
    bool changed;                      /* a repair: only pairs with a leaver */
    bool straight;       /* vertices go straight on all together: what moves past each other may be left out */
    bool fine;           /* within one body that has no radius: pairs may have less than the whole thickness */
    int64_t cost;        /* in tests of boxes */
    tac_take_pair *take; /* what takes the pairs that are found */
    void *context;
    int waiting_count[2]; /* pairs of a vertex and a triangle; pairs of two edges */
    struct tac_waiting_pair waiting[2][4];
};

/* The cost of a look at two primitives, and of a look at a pair, in tests of boxes (25 ns). */
enum { TAC_VISIT_COST = 10, TAC_PAIR_COST = 20 };

/* Local. Is one of n vertices a leaver? */
static inline bool tac_has_leaver(const struct tac_candidates *c, const tac_lid *v, int n)
{
    for (int i = 0; i < n; i++)
        if (c->repair.left[v[i]])
            return true;
    return false;
}

/* Local. Looks at the primitives search->a[ia] and search->b[ib], whose boxes overlap, and passes their pairs of
 * features that may touch while the trajectory bounds hold to search->take; some of them wait. Callback of
 * tac_tree_overlaps(). TAC_ERR_RUN: no memory. */
enum tac_err tac_search_visit(void *search, int32_t ia, int32_t ib);
/* Local. Looks at the pairs that wait. It must be called at the end of a search. */
enum tac_err tac_search_flush(struct tac_search *search);

#endif
