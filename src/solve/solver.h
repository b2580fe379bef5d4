/* solver.h: solves A x = b for a symmetric positive matrix of 3x3 blocks (solve/matrix.h), on several ranks.
 *
 * The kind "invariant" gives the same bits of x, and the same number of iterations, on any number of ranks and for any
 * distribution of the nodes. It uses conjugate gradients with exact dot products, and a preconditioner from a cut that
 * does not depend on the ranks (docs/reference/linear-solver.md). Other kinds may have the same interface.
 *
 *     struct tac_system system = {.nodes = nodes, .matrix = matrix, .position = x, .fixed = fixed};
 *     TAC_TRY(tac_solver_create(ctx, "invariant", "", &solver));
 *     TAC_TRY(tac_solver_cut(solver, &system));                once per time step
 *     for (each Newton iteration) {
 *         TAC_TRY(tac_solver_factor(solver, &system));         the matrix has other values, or another structure
 *         TAC_TRY(tac_solver_solve(solver, b, p, 1e-4, 1000, &result));
 *     }
 *     tac_solver_destroy(&solver);
 *
 * Between cut and factor the matrix, the structure, the positions, the fixed nodes and the ghosts may change, but not
 * the owned nodes. Arguments are borrowed during the call; only the nodes, matrix, fixed and products of
 * tac_solver_factor() are borrowed until the last solve.
 */
#ifndef TACTUS_SOLVE_SOLVER_H
#define TACTUS_SOLVE_SOLVER_H

#include "solve/matrix.h"

struct tac_system {
    struct tac_nodes nodes;
    const struct tac_matrix *matrix; /* of these nodes */
    /* For rigid motions: a motion (a, w) moves node i by translate[i] a + w x position[i].  Vertices of a mesh: their
     * positions, and translate NULL (all 1).  An affine body: its centre with 1, the columns of its matrix with 0. */
    const double *position;  /* (owned, 3), m */
    const double *translate; /* (owned), or NULL */
    const uint8_t *fixed;    /* (owned) 1: the node's x is prescribed, b has its value; NULL: none is */
    int64_t *products; /* work of this rank is added here, in products of a 3x3 block and a vector; NULL: not counted */
};

enum tac_solve_outcome {
    TAC_SOLVE_CONVERGED,
    TAC_SOLVE_ROUGH,        /* stopped early, as `rough` of the rule allows; this is no failure */
    TAC_SOLVE_LIMIT,        /* not converged in `limit` iterations */
    TAC_SOLVE_STALLED,      /* not converged: because of rounding the residual falls no further */
    TAC_SOLVE_NOT_POSITIVE, /* the matrix is not positive, as its factor or an iteration shows */
    TAC_SOLVE_NOT_FINITE    /* an infinity or NaN in the matrix or in b */
};

/* When to stop. */
struct tac_solve_rule {
    double tolerance; /* |b - A x| <= tolerance |b| (2-norms over nodes that are not fixed, in b the prescribed nodes'
                         part brought to the right side) */
    int limit;        /* of iterations; the outcome is TAC_SOLVE_LIMIT then */
    double rough;     /* 0, or: also as soon as the k-th iteration lowers x.Ax/2 - b.x by no more than rough / k of what
                         all have (Nash and Sofer 1990), k >= 5; the outcome is TAC_SOLVE_ROUGH then */
    bool go_on;       /* starts from x of the last solve, for the same matrix and b; else from 0 */
};

struct tac_solve_result {
    enum tac_solve_outcome outcome;
    int iterations;
    double residual; /* |b - A x| / |b| over the nodes that are not fixed, computed from x; 0 where b is 0 */
    double wall_s;
};

/* Numbers about the last cut and factor. Except for wall times they are the same on all ranks. */
struct tac_solver_stats {
    int64_t unknowns;       /* of nodes that are not fixed */
    int64_t blocks;         /* of the matrix among them */
    int64_t moved;          /* nodes whose rows are on another rank */
    int subdomains, coarse; /* coarse: size of the dense matrix */
    int shifted;            /* subdomains whose incomplete factor needed a larger diagonal */
    int dropped;            /* coarse modes left out, as they depend on others */
    tac_gid bad;            /* lowest id of a node that the factor failed at; INT64_MAX: at none */
    double cut_s, factor_s; /* wall */
};

struct tac_solver;

/* Collective. `kind`: "invariant" (or "petsc" where the build has it); `options`: for that kind, "" for none.
 * TAC_ERR_INPUT, naming the kinds of this build, if there is no such kind. */
enum tac_err tac_solver_create(struct tac_ctx *ctx, const char *kind, const char *options, struct tac_solver **out);
void tac_solver_destroy(struct tac_solver **solver);

/* Collective. Decides which nodes form a subdomain, by the sizes of the blocks of the matrix.  TAC_ERR_RUN: memory. */
enum tac_err tac_solver_cut(struct tac_solver *solver, const struct tac_system *system);

/* Collective. Makes the preconditioner; cuts first if no cut has been made.  TAC_ERR_RUN: memory; the matrix is not
 * finite, or a diagonal block is not positive, with the lowest such node's id in the sentence and in
 * tac_solver_stats. */
enum tac_err tac_solver_factor(struct tac_solver *solver, const struct tac_system *system);

/* Collective. Solves for b (owned, 3), and writes x (count, 3), also ghosts. result: the same on all ranks except
 * wall_s. Every outcome except TAC_SOLVE_CONVERGED and TAC_SOLVE_ROUGH is TAC_ERR_RUN with a sentence; x then holds the
 * last iterate, or 0 if no iterate was finite. A caller that can go on with such an x clears ctx->error. */
enum tac_err tac_solver_solve_by(struct tac_solver *solver, const double *b, double *x,
                                 const struct tac_solve_rule *rule, struct tac_solve_result *result);
/* Collective. Solves from 0 to a tolerance. */
enum tac_err tac_solver_solve(struct tac_solver *solver, const double *b, double *x, double tolerance, int limit,
                              struct tac_solve_result *result);

/* Returns whether x is the same to the last bit on any number of ranks. */
bool tac_solver_is_invariant(const struct tac_solver *solver);
const struct tac_solver_stats *tac_solver_stats(const struct tac_solver *solver);

/* Returns the data of the kind, for tests and benches that inspect it. */
void *tac_solver_self(struct tac_solver *solver);

/* Local; for a kind's solve(): returns the error code of an outcome, with its sentence. */
enum tac_err tac_solver_tell(struct tac_ctx *ctx, const struct tac_solve_result *result, double tolerance);

/* A kind of solver: the functions that those above call. `self` is its data. */
struct tac_solver_kind {
    const char *name;
    bool invariant;
    enum tac_err (*create)(struct tac_ctx *ctx, const char *options, void **self);
    void (*destroy)(void *self);
    enum tac_err (*cut)(void *self, const struct tac_system *system, struct tac_solver_stats *stats);
    enum tac_err (*factor)(void *self, const struct tac_system *system, struct tac_solver_stats *stats);
    enum tac_err (*solve)(void *self, const double *b, double *x, const struct tac_solve_rule *rule,
                          struct tac_solve_result *result);
};

#endif
