/* system.h: declares the linear system of a Newton step, for system.c and assemble.c. */
#ifndef TACTUS_IMPLICIT_SYSTEM_H
#define TACTUS_IMPLICIT_SYSTEM_H

#include "implicit/parts.h"
#include "solve/solver.h"

/* Of the two sides of a pair none, the first, the second, or both are of a rigid body: its nodes stand for them. */
enum { TAC_SIDE_FIRST = 1, TAC_SIDE_SECOND = 2, TAC_SIDES = 4 };
/* The sorts of pairs; those before TAC_PAIR_SORTS may be pairs of plates (implicit_plates.h). */
enum tac_pair_sort {
    TAC_SORT_SLIDING,
    TAC_SORT_TOUCHING,
    TAC_SORT_FORESEEN,
    TAC_PAIR_SORTS,
    TAC_SORT_TIED = TAC_PAIR_SORTS,
    TAC_SORT_MOTORS,
    TAC_SORTS
};
/* The lists of stencils: masses, elements, friction by type of pair and by its sides, contacts likewise, wind, foreseen
 * pairs likewise, rigid bodies, pairs of joints and motors likewise. */
enum {
    TAC_PAIR_LISTS = TAC_SIDES * TAC_PAIR_TYPES,
    TAC_FRICTION_STENCILS = 1 + TAC_ELEMENT_LISTS,
    TAC_CONTACT_STENCILS = TAC_FRICTION_STENCILS + TAC_PAIR_LISTS,
    TAC_WIND_STENCILS = TAC_CONTACT_STENCILS + TAC_PAIR_LISTS,
    TAC_FORESEEN_STENCILS,
    TAC_RIGID_STENCILS = TAC_FORESEEN_STENCILS + TAC_PAIR_LISTS,
    TAC_TIE_STENCILS,
    TAC_MOTOR_STENCILS = TAC_TIE_STENCILS + TAC_PAIR_LISTS,
    TAC_STENCIL_LISTS = TAC_MOTOR_STENCILS + TAC_PAIR_LISTS
};

/* Which terms keep their negative curvature in a matrix. Without it directions are too short. */
enum tac_curvature { TAC_CURVATURE_NONE, TAC_CURVATURE_SOLIDS, TAC_CURVATURE_ALL /* of solids and barriers */ };

struct tac_implicit_system {
    struct tac_solver *solver; /* owned */
    struct tac_nodes nodes;
    /* Of the solver's nodes: own vertices, but for those of rigid bodies; the four nodes of each own rigid body; ghosts
     * of elements, then those of contacts, where the four nodes of a body stand for its vertices. */
    size_t id_capacity, owner_capacity, vertex_capacity, solution_capacity;
    tac_gid *id;     /* owned, (nodes) */
    int32_t *owner;  /* owned, (nodes) */
    tac_lid *vertex; /* owned, (nodes): -1 - n: node n, counted over all rigid bodies */
    size_t local_capacity;
    tac_lid *local;                           /* owned, (count): index of a vertex among the nodes; -1: it has none */
    tac_lid *rigid;                           /* owned, (rigid bodies): index of the first of its nodes, or -1 */
    tac_lid *diagonal;                        /* owned, (nodes.owned): 0, 1, ... */
    tac_lid *rigid_node;                      /* owned, (own rigid bodies, 4) */
    tac_lid *element_node[TAC_ELEMENT_LISTS]; /* owned */
    size_t node_capacity;
    tac_lid *node;                   /* owned: of friction's stencils and contacts */
    double *b, *position, *solution; /* owned, (nodes.owned, 3), (nodes.owned, 3), (nodes, 3) */
    uint8_t *fixed;                  /* owned, (nodes.owned) */
    bool cut;                        /* subdomains were made in this step */
    bool rough;                      /* the last solution: tac_implicit_sharpen() would make it more accurate */
    bool cut_short;                  /* the last solution: the matrix, with its rounding errors, is indefinite */
    bool numbers;            /* the last error is of the numbers of the matrix, not of memory or of the machine */
    bool solids;             /* the scene has some */
    enum tac_curvature last; /* of the last matrix */
    int failed, waits; /* matrices with the curvature of solids that were indefinite since the last good one; number of
                          next directions without a trial */
    int all_failed, all_waits; /* the same of matrices with all curvature */
    double fall;               /* of tac_implicit_note_fall(), if solids had their curvature; else 0 */
    bool crawls;               /* the next matrix is tried with all curvature */
};

/* assemble.c. Local. Makes the stencils of all terms at sim->x. */
enum tac_err tac_implicit_list_stencils(struct tac_implicit *sim, struct tac_stencil_list list[TAC_STENCIL_LISTS]);
/* Local. Fills the matrix of own pair e of a sort, over its nodes (3 n, 3 n), and returns n, which is at most 8. */
int tac_implicit_pair_matrix(const struct tac_implicit *sim, enum tac_pair_sort sort, size_t e, const double *x,
                             enum tac_curvature curvature, double *out);
/* Local. Adds the Hessians of all terms at x. */
void tac_implicit_assemble(struct tac_implicit *sim, const double *x, enum tac_curvature curvature,
                           struct tac_matrix *matrix);

#endif
