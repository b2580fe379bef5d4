/* system.h: declares the linear system of a Newton step, for system.c and assemble.c. */
#ifndef TACTUS_IMPLICIT_SYSTEM_H
#define TACTUS_IMPLICIT_SYSTEM_H

#include "implicit/parts.h"
#include "solve/solver.h"

/* The lists of stencils: masses, elements, friction by type of pair, contacts likewise, wind, foreseen pairs. */
enum {
    TAC_FRICTION_STENCILS = 1 + TAC_ELEMENT_LISTS,
    TAC_CONTACT_STENCILS = TAC_FRICTION_STENCILS + TAC_PAIR_TYPES,
    TAC_WIND_STENCILS = TAC_CONTACT_STENCILS + TAC_PAIR_TYPES,
    TAC_FORESEEN_STENCILS,
    TAC_STENCIL_LISTS = TAC_FORESEEN_STENCILS + TAC_PAIR_TYPES
};

/* Which terms keep their negative curvature in a matrix. Without it directions are too short. */
enum tac_curvature { TAC_CURVATURE_NONE, TAC_CURVATURE_SOLIDS, TAC_CURVATURE_ALL /* of solids and barriers */ };

struct tac_implicit_system {
    struct tac_solver *solver; /* owned */
    struct tac_nodes nodes;
    /* Of the nodes: own vertices, ghosts of elements, then those of contacts. */
    size_t id_capacity, owner_capacity, vertex_capacity, solution_capacity;
    tac_gid *id;     /* owned, (nodes) */
    int32_t *owner;  /* owned, (nodes) */
    tac_lid *vertex; /* owned, (nodes) */
    size_t local_capacity;
    tac_lid *local;                           /* owned, (count): index of a vertex among the nodes */
    tac_lid *diagonal;                        /* owned, (owned): 0, 1, ... */
    tac_lid *element_node[TAC_ELEMENT_LISTS]; /* owned */
    size_t node_capacity;
    tac_lid *node;                   /* owned: of friction's stencils and contacts */
    double *b, *position, *solution; /* owned, (owned, 3), (owned, 3), (nodes, 3) */
    uint8_t *fixed;                  /* owned, (owned) */
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
/* Local. Adds the Hessians of all terms at x. */
void tac_implicit_assemble(struct tac_implicit *sim, const double *x, enum tac_curvature curvature,
                           struct tac_matrix *matrix);

#endif
