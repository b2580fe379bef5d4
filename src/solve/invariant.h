/* invariant.h: declares the parts of the solver whose bits do not depend on the ranks. invariant.c is its entry in the
 * table of solvers: it makes and holds the cut, the rows of subdomains, the factors, the coarse matrix and the vectors.
 * gradients.c iterates with them.
 */
#ifndef TACTUS_SOLVE_INVARIANT_H
#define TACTUS_SOLVE_INVARIANT_H

#include "solve/levels.h"

struct tac_invariant {
    struct tac_ctx *ctx;         /* borrowed */
    struct tac_system system;    /* views, as of the last call of factor */
    struct tac_nodes_halo *halo; /* owned: of the caller's nodes */
    uint8_t *fixed;              /* owned, (nodes), ghosts too */
    tac_gid *ghost;              /* owned: ids of the ghosts for which halo, fixed and cut were made */
    struct tac_cut cut;
    struct tac_local_system local;
    struct tac_incomplete factor;
    struct tac_coarse coarse;
    struct tac_level_rule rule; /* tests use another rule than the usual one */
    bool levels;                /* the coarse system is solved by levels, in cycles; else exactly, as A-DEF2 */
    bool ready;
    double *x, *r, *b, *q, *w; /* owned, (local owned, 4) */
    double *p, *z;             /* owned, (local count, 4) */
    double *t, *u;             /* owned, (local owned, 4), where there are levels */
    double *home, *side;       /* owned, (nodes, 3): prescribed values; the right side */
};

/* Collective. Solves A x = b for the vector b of the solver's own distribution; fills in the result except wall_s. */
void tac_invariant_iterate(struct tac_invariant *s, const struct tac_solve_rule *rule, struct tac_solve_result *result);

extern const struct tac_solver_kind tac_solver_invariant;

#endif
