/* solver.c: has the table of solvers, and calls through it. */
#include "solve/solver.h"
#include "solve/invariant.h"
#include "solve/petsc.h"
#include <stdlib.h>
#include <string.h>

static const struct tac_solver_kind *const kinds[] = {
    &tac_solver_invariant,
#ifdef TACTUS_PETSC
    &tac_solver_petsc,
#endif
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct tac_solver {
    const struct tac_solver_kind *kind;
    void *self; /* owned */
    struct tac_solver_stats stats;
};

static const char tac_petsc_name[] = "petsc";

static enum tac_err unknown(struct tac_ctx *ctx, const char *kind)
{
    char known[256] = "";
    for (size_t k = 0; k < KINDS; k++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", k ? ", " : "", kinds[k]->name);
    return tac_fail(ctx, TAC_ERR_INPUT, "there is no linear solver \"%s\" in this build; it has: %s%s", kind, known,
                    strcmp(kind, tac_petsc_name) == 0
                        ? "; build it with PETSc (docs/reference/linear-solver.md), or leave integrator.solver.kind out"
                        : "");
}

enum tac_err tac_solver_create(struct tac_ctx *ctx, const char *kind, const char *options, struct tac_solver **out)
{
    enum tac_err err;
    struct tac_solver *solver = NULL;
    size_t k = 0;
    *out = NULL;
    while (k < KINDS && strcmp(kinds[k]->name, kind) != 0)
        k++;
    if (k == KINDS)
        return unknown(ctx, kind);
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 1, sizeof *solver, &solver)));
    solver->kind = kinds[k];
    TAC_TRY(solver->kind->create(ctx, options, &solver->self));
done:
    if (err) {
        free(solver);
        solver = NULL;
    }
    *out = solver;
    return err;
}

void tac_solver_destroy(struct tac_solver **solver)
{
    if (*solver == NULL)
        return;
    (*solver)->kind->destroy((*solver)->self);
    free(*solver);
    *solver = NULL;
}

enum tac_err tac_solver_cut(struct tac_solver *solver, const struct tac_system *system)
{
    memset(&solver->stats, 0, sizeof solver->stats);
    return solver->kind->cut(solver->self, system, &solver->stats);
}

enum tac_err tac_solver_factor(struct tac_solver *solver, const struct tac_system *system)
{
    solver->stats.bad = INT64_MAX;
    return solver->kind->factor(solver->self, system, &solver->stats);
}

enum tac_err tac_solver_solve_by(struct tac_solver *solver, const double *b, double *x,
                                 const struct tac_solve_rule *rule, struct tac_solve_result *result)
{
    return solver->kind->solve(solver->self, b, x, rule, result);
}

enum tac_err tac_solver_solve(struct tac_solver *solver, const double *b, double *x, double tolerance, int limit,
                              struct tac_solve_result *result)
{
    const struct tac_solve_rule rule = {.tolerance = tolerance, .limit = limit};
    return tac_solver_solve_by(solver, b, x, &rule, result);
}

enum tac_err tac_solver_tell(struct tac_ctx *ctx, const struct tac_solve_result *r, double tolerance)
{
    switch (r->outcome) {
    case TAC_SOLVE_CONVERGED:
    case TAC_SOLVE_ROUGH:
        return TAC_OK;
    case TAC_SOLVE_LIMIT:
        return tac_fail(
            ctx, TAC_ERR_RUN,
            "the linear solver has not converged: after %d iterations the residual is %.3g of the right side, "
            "and the tolerance is %.3g; allow more iterations",
            r->iterations, r->residual, tolerance);
    case TAC_SOLVE_STALLED:
        return tac_fail(
            ctx, TAC_ERR_RUN,
            "the linear solver has not converged: after %d iterations rounding keeps the residual at %.3g of "
            "the right side, and the tolerance is %.3g; choose a larger one, or scale down the largest stiffness",
            r->iterations, r->residual, tolerance);
    case TAC_SOLVE_NOT_POSITIVE:
        return tac_fail(
            ctx, TAC_ERR_RUN,
            "the linear system's matrix is not positive: iteration %d of the linear solver found a direction "
            "without stiffness",
            r->iterations + 1);
    case TAC_SOLVE_NOT_FINITE:
        break;
    }
    return tac_fail(ctx, TAC_ERR_RUN,
                    "the linear system has numbers that are not finite, or came to some in iteration %d",
                    r->iterations + 1);
}

bool tac_solver_is_invariant(const struct tac_solver *solver)
{
    return solver->kind->invariant;
}

const struct tac_solver_stats *tac_solver_stats(const struct tac_solver *solver)
{
    return &solver->stats;
}

void *tac_solver_self(struct tac_solver *solver)
{
    return solver->self;
}
