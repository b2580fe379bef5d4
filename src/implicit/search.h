/* search.h: what search.c and implicit_candidates.c share: the primitives in which pairs are looked for, and what the
 * list of pairs was made for (docs/reference/implicit.md, Candidates). */
#ifndef TACTUS_IMPLICIT_SEARCH_H
#define TACTUS_IMPLICIT_SEARCH_H

#include "base/descent.h"
#include "geometry/tree.h"
#include "implicit/parts.h"

#define TAC_MARGIN 1.125 /* of the thickness: tac_advance_safely stops no pair at a distance over 1.1 of it */

/* Kinds of primitives; of each the own ones and those of other ranks, that ever move and that do not. */
enum { TAC_VERTICES, TAC_TRIANGLES, TAC_EDGES, TAC_SEGMENTS, TAC_PARTICLES, TAC_SHAPES };
enum { TAC_OTHER = 1, TAC_STILL = 2, TAC_SORTS = 4 };

struct tac_shape {
    int nodes;
    tac_lid count;
    tac_lid *id;           /* owned, (count): as of keys */
    tac_lid *vertex;       /* owned, (count, nodes) */
    struct tac_tree *tree; /* owned; NULL: none of them */
};

/* What lists have cost since their skin was last chosen, and how many directions they have served. */
struct tac_search_cost {
    double cost; /* ns, by counts */
    int uses;
};

struct tac_implicit_search {
    struct tac_shape shape[TAC_SHAPES][TAC_SORTS]; /* [.][0]: own ones that move */
    int rough;                                     /* of the barriers: of tests */
    double skin, skin_most, reach;                 /* reach: half of the largest thickness, with its margin */
    bool skin_fixed;                               /* by a test */
    struct tac_search_cost spent;
    struct tac_descent descent;
    double *from, *way; /* owned, (count, 3): what the list was made for */
    bool made, boxed;   /* boxed: so are what never moves */
    int32_t *scratch;   /* owned: as many as the largest shape */
};

/* implicit_candidates.c. Local. Makes sim->contact.pair for search->from, way and skin; *cost: what that has cost, ns,
 * by counts of what was done. */
enum tac_err tac_implicit_make_list(struct tac_implicit *sim, double *cost);

#endif
