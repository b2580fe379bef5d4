/* petsc.c: solves linear systems by PETSc (Balay et al. 2022), where the build has it (docs/how-to/use-petsc.md). Its
 * bits depend on the number of ranks. The default is conjugate gradients, preconditioned by MUMPS' Cholesky factor of
 * the whole matrix, which takes one or two iterations for any stiffness. The options of a scene, in PETSc's syntax,
 * choose other methods. Prescribed nodes keep their rows, which are those of the identity.
 */
#include "solve/petsc.h"
#include <math.h>
#include <petscksp.h>
#include <stdlib.h>
#include <string.h>

#define TAC_PETSC_DEFAULTS "-ksp_type cg -pc_type cholesky -pc_factor_mat_solver_type mumps"

struct petsc {
    struct tac_ctx *ctx;
    PetscOptions options; /* owned */
    bool checked;         /* it has been checked that every option is used */
    KSP ksp;              /* owned */
    Mat matrix;           /* owned; NULL before the first factor */
    Vec x, b;             /* owned */
    struct tac_system system;
    struct tac_nodes_halo *halo; /* owned */
    tac_lid count;               /* nodes that halo, row and home are of */
    PetscInt *row;               /* owned, (count): of a node's block */
    double *home, *side;         /* owned, (count, 3), (owned, 3) */
};

static enum tac_err failed(struct petsc *p, PetscErrorCode code, const char *what)
{
    const char *text = NULL;
    if (code == 0)
        return TAC_OK;
    PetscErrorMessage(code, &text, NULL);
    return tac_fail(p->ctx, TAC_ERR_RUN, "PETSc failed while %s: %s (its error %d)", what,
                    text ? text : "no more is known", code);
}

/* Starts PETSc once for the process.  The options keep it from taking over signals and from printing errors, which the
 * caller reports in one sentence. */
static enum tac_err start_petsc(struct tac_ctx *ctx)
{
    PetscBool there = PETSC_FALSE;
    PetscInitialized(&there);
    if (there)
        return TAC_OK;
    PETSC_COMM_WORLD = ctx->comm;
    if (PetscOptionsSetValue(NULL, "-no_signal_handler", "1") || PetscInitializeNoArguments())
        return tac_fail(ctx, TAC_ERR_RUN, "PETSc could not be started");
    PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
    return TAC_OK;
}

static void clear_nodes(struct petsc *p)
{
    tac_nodes_halo_destroy(&p->halo);
    free(p->row);
    free(p->home);
    free(p->side);
    p->row = NULL;
    p->home = p->side = NULL;
}

static void destroy_petsc(void *self)
{
    struct petsc *p = self;
    clear_nodes(p);
    KSPDestroy(&p->ksp);
    MatDestroy(&p->matrix);
    VecDestroy(&p->x);
    VecDestroy(&p->b);
    PetscOptionsDestroy(&p->options);
    free(p);
}

static enum tac_err create_petsc(struct tac_ctx *ctx, const char *options, void **self)
{
    enum tac_err err;
    struct petsc *p = NULL;
    TAC_TRY(tac_agree(ctx, start_petsc(ctx)));
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 1, sizeof *p, &p)));
    p->ctx = ctx;
    PetscErrorCode code = PetscOptionsCreate(&p->options);
    if (!code)
        code = PetscOptionsInsertString(p->options, TAC_PETSC_DEFAULTS);
    if (!code && options[0] != '\0')
        code = PetscOptionsInsertString(p->options, options);
    TAC_TRY(tac_agree(ctx, failed(p, code, "reading integrator.solver.options")));
done:
    if (err && p != NULL) {
        destroy_petsc(p);
        p = NULL;
    }
    *self = p;
    return err;
}

/* ---- the matrix ---- */

/* Numbers the rows over all ranks; those of one rank are consecutive. */
static enum tac_err number_rows(struct petsc *p, const struct tac_system *system)
{
    enum tac_err err;
    const tac_lid count = system->nodes.count, owned = system->nodes.owned;
    PetscInt first = 0, mine = owned;
    clear_nodes(p);
    TAC_TRY(tac_nodes_halo_create(p->ctx, &system->nodes, &p->halo));
    err = tac_alloc(p->ctx, (size_t)count, sizeof *p->row, &p->row);
    if (!err)
        err = tac_alloc(p->ctx, 3 * (size_t)count, sizeof *p->home, &p->home);
    if (!err)
        err = tac_alloc(p->ctx, 3 * (size_t)owned, sizeof *p->side, &p->side);
    TAC_TRY(tac_agree(p->ctx, err));
    MPI_Exscan(&mine, &first, 1, MPIU_INT, MPI_SUM, p->ctx->comm);
    for (tac_lid i = 0; i < owned; i++)
        p->row[i] = (p->ctx->rank > 0 ? first : 0) + i;
    tac_nodes_halo_refresh(p->halo, p->row, sizeof *p->row);
    p->count = count;
done:
    return err;
}

static PetscErrorCode make_matrix(struct petsc *p)
{
    const tac_lid owned = p->system.nodes.owned;
    const struct tac_matrix *m = p->system.matrix;
    PetscInt *inside = malloc(((size_t)owned + 1) * sizeof *inside),
             *outside = malloc(((size_t)owned + 1) * sizeof *outside);
    PetscErrorCode code = inside && outside ? 0 : PETSC_ERR_MEM;
    for (tac_lid i = 0; i < owned && !code; i++) {
        inside[i] = outside[i] = 0;
        for (size_t k = m->row[i]; k < m->row[i + 1]; k++)
            (*(m->column[k] < owned ? &inside[i] : &outside[i]))++;
    }
    MatDestroy(&p->matrix);
    VecDestroy(&p->x);
    VecDestroy(&p->b);
    code = code ? code : MatCreate(p->ctx->comm, &p->matrix);
    code = code ? code : MatSetSizes(p->matrix, 3 * owned, 3 * owned, PETSC_DETERMINE, PETSC_DETERMINE);
    code = code ? code : MatSetBlockSize(p->matrix, 3);
    code = code ? code : MatSetType(p->matrix, MATAIJ);
    code = code ? code : MatXAIJSetPreallocation(p->matrix, 3, inside, outside, NULL, NULL);
    code = code ? code : MatSetOption(p->matrix, MAT_SPD, PETSC_TRUE);
    code = code ? code : MatCreateVecs(p->matrix, &p->x, &p->b);
    free(inside);
    free(outside);
    return code;
}

static bool is_fixed(const struct petsc *p, tac_lid node)
{
    return p->home[3 * (size_t)node] != 0;
}

static PetscErrorCode fill_matrix(struct petsc *p)
{
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, none[9];
    const struct tac_matrix *m = p->system.matrix;
    PetscErrorCode code = 0;
    for (tac_lid i = 0; i < p->system.nodes.owned && !code; i++)
        for (size_t k = m->row[i]; k < m->row[i + 1] && !code; k++) {
            const tac_lid j = m->column[k];
            const double *block = !is_fixed(p, i) && !is_fixed(p, j) ? &m->block[9 * k] : i == j ? one : none;
            code = MatSetValuesBlocked(p->matrix, 1, &p->row[i], 1, &p->row[j], block, INSERT_VALUES);
        }
    code = code ? code : MatAssemblyBegin(p->matrix, MAT_FINAL_ASSEMBLY);
    return code ? code : MatAssemblyEnd(p->matrix, MAT_FINAL_ASSEMBLY);
}

/* Sets the rigid motions, for preconditioners that use them (algebraic multigrid). */
static PetscErrorCode tell_motions(struct petsc *p)
{
    MatNullSpace space = NULL;
    Vec place = NULL;
    PetscErrorCode code = 0;
    if (p->system.translate != NULL || p->system.position == NULL)
        return 0;
    code = MatCreateVecs(p->matrix, &place, NULL);
    double *x = NULL;
    code = code ? code : VecSetBlockSize(place, 3);
    code = code ? code : VecGetArray(place, &x);
    if (!code)
        memcpy(x, p->system.position, 3 * (size_t)p->system.nodes.owned * sizeof *x);
    code = code ? code : VecRestoreArray(place, &x);
    code = code ? code : MatNullSpaceCreateRigidBody(place, &space);
    code = code ? code : MatSetNearNullSpace(p->matrix, space);
    MatNullSpaceDestroy(&space);
    VecDestroy(&place);
    return code;
}

/* PETSc makes the solvers of a preconditioner's blocks and levels late, and reads their options from those of the
 * process, not from those of our solver. So our options become those of the process while PETSc prepares or solves. */
static PetscErrorCode with_options(struct petsc *p, PetscErrorCode (*call)(struct petsc *))
{
    PetscErrorCode code = PetscOptionsPush(p->options);
    if (code)
        return code;
    code = call(p);
    const PetscErrorCode last = PetscOptionsPop();
    return code ? code : last;
}

static PetscErrorCode set_up(struct petsc *p)
{
    KSPDestroy(&p->ksp);
    PetscErrorCode code = KSPCreate(p->ctx->comm, &p->ksp);
    code = code ? code : KSPSetOperators(p->ksp, p->matrix, p->matrix);
    code = code ? code : KSPSetNormType(p->ksp, KSP_NORM_UNPRECONDITIONED);
    code = code ? code : KSPSetFromOptions(p->ksp);
    code = code ? code : KSPSetUp(p->ksp);
    return code ? code : KSPSetUpOnBlocks(p->ksp);
}

static PetscErrorCode iterate_petsc(struct petsc *p)
{
    return KSPSolve(p->ksp, p->b, p->x);
}

static enum tac_err cut_petsc(void *self, const struct tac_system *system, struct tac_solver_stats *stats)
{
    struct petsc *p = self;
    return number_rows(p, system);
}

static enum tac_err factor_petsc(void *self, const struct tac_system *system, struct tac_solver_stats *stats)
{
    enum tac_err err = TAC_OK;
    struct petsc *p = self;
    const double begin_s = tac_wall_s();
    const tac_lid owned = system->nodes.owned;
    int64_t sum[2] = {0, (int64_t)system->matrix->row[owned]};
    TAC_TRY(number_rows(p, system)); /* ghosts may have changed since the cut */
    p->system = *system;
    for (tac_lid i = 0; i < owned; i++) {
        p->home[3 * (size_t)i] = system->fixed != NULL && system->fixed[i];
        sum[0] += p->home[3 * (size_t)i] != 0 ? 0 : 3;
    }
    tac_nodes_halo_refresh(p->halo, p->home, 3 * sizeof *p->home);
    MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INT64_T, MPI_SUM, p->ctx->comm);
    PetscErrorCode code = make_matrix(p);
    code = code ? code : fill_matrix(p);
    code = code ? code : tell_motions(p);
    TAC_TRY(tac_agree(p->ctx, failed(p, code, "taking over a matrix")));
    TAC_TRY(tac_agree(p->ctx, failed(p, with_options(p, set_up), "preparing to solve")));
    stats->unknowns = sum[0];
    stats->blocks = sum[1];
    stats->factor_s = tac_wall_s() - begin_s;
done:
    return err;
}

/* ---- the solution ---- */

/* home: b at prescribed nodes, else 0; side: b less what they contribute. */
static void make_petsc_side(struct petsc *p, const double *b)
{
    const tac_lid owned = p->system.nodes.owned;
    const uint8_t *fixed = p->system.fixed;
    for (tac_lid i = 0; i < owned; i++)
        for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3; k++)
            p->home[k] = fixed != NULL && fixed[i] ? b[k] : 0;
    tac_nodes_halo_refresh(p->halo, p->home, 3 * sizeof *p->home);
    tac_matrix_multiply(p->system.matrix, p->home, p->side);
    for (tac_lid i = 0; i < owned; i++)
        for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3; k++)
            p->side[k] = fixed != NULL && fixed[i] ? b[k] : b[k] - p->side[k];
}

static PetscErrorCode run_petsc(struct petsc *p, double *x, const struct tac_solve_rule *rule,
                                KSPConvergedReason *reason, PetscInt *iterations)
{
    const size_t bytes = 3 * (size_t)p->system.nodes.owned * sizeof(double);
    double *array = NULL;
    PetscErrorCode code = VecGetArray(p->b, &array);
    if (!code)
        memcpy(array, p->side, bytes);
    code = code ? code : VecRestoreArray(p->b, &array);
    code = code ? code : KSPSetTolerances(p->ksp, .5 * rule->tolerance, 0, PETSC_DEFAULT, rule->limit);
    code = code ? code : KSPSetInitialGuessNonzero(p->ksp, rule->go_on ? PETSC_TRUE : PETSC_FALSE);
    code = code ? code : with_options(p, iterate_petsc);
    code = code ? code : KSPGetConvergedReason(p->ksp, reason);
    code = code ? code : KSPGetIterationNumber(p->ksp, iterations);
    code = code ? code : VecGetArray(p->x, &array);
    if (!code)
        memcpy(x, array, bytes);
    return code ? code : VecRestoreArray(p->x, &array);
}

/* Once a system has been solved, PETSc has read every option except unknown ones. */
static enum tac_err refuse_unknown(struct petsc *p)
{
    enum tac_err err = TAC_OK;
    PetscInt left = 0;
    char **name = NULL, **value = NULL;
    if (p->checked)
        return TAC_OK;
    err = failed(p, PetscOptionsLeftGet(p->options, &left, &name, &value), "looking at its options");
    for (PetscInt k = 0; k < left && !err; k++)
        if (strcmp(name[k], "pc_factor_mat_solver_type") != 0) /* our default */
            err = tac_fail(p->ctx, TAC_ERR_RUN,
                           "integrator.solver.options: PETSc has no use for \"-%s\" with the other options; see its "
                           "manual, or leave it out",
                           name[k]);
    if (name != NULL)
        PetscOptionsLeftRestore(p->options, &left, &name, &value);
    p->checked = true;
    return err;
}

/* |side - A x| / |side| over the nodes that are not fixed; x (count, 3) with ghosts, 0 at those that are. */
static double residual(struct petsc *p, const double *x)
{
    double square[2] = {0, 0};
    const tac_lid owned = p->system.nodes.owned;
    memcpy(p->home, x, 3 * (size_t)p->count * sizeof *x);
    for (tac_lid i = 0; i < owned; i++)
        for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3 && p->system.fixed != NULL && p->system.fixed[i]; k++)
            p->home[k] = 0;
    tac_nodes_halo_refresh(p->halo, p->home, 3 * sizeof *p->home);
    double *product = malloc(3 * (size_t)owned * sizeof *product + 1);
    if (product != NULL)
        tac_matrix_multiply(p->system.matrix, p->home, product);
    for (tac_lid i = 0; i < owned; i++)
        for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3 && !(p->system.fixed != NULL && p->system.fixed[i]); k++) {
            const double off = product != NULL ? p->side[k] - product[k] : NAN;
            square[0] += off * off;
            square[1] += p->side[k] * p->side[k];
        }
    free(product);
    MPI_Allreduce(MPI_IN_PLACE, square, 2, MPI_DOUBLE, MPI_SUM, p->ctx->comm);
    return square[1] > 0 ? sqrt(square[0] / square[1]) : 0;
}

static enum tac_solve_outcome classify_outcome(KSPConvergedReason reason, double off, double tolerance)
{
    if (reason == KSP_DIVERGED_NANORINF || !isfinite(off))
        return TAC_SOLVE_NOT_FINITE;
    if (off <= tolerance)
        return TAC_SOLVE_CONVERGED;
    if (reason == KSP_DIVERGED_INDEFINITE_MAT || reason == KSP_DIVERGED_INDEFINITE_PC ||
        reason == KSP_DIVERGED_PC_FAILED)
        return TAC_SOLVE_NOT_POSITIVE;
    return reason == KSP_DIVERGED_ITS ? TAC_SOLVE_LIMIT : TAC_SOLVE_STALLED;
}

static enum tac_err solve_petsc(void *self, const double *b, double *x, const struct tac_solve_rule *rule,
                                struct tac_solve_result *result)
{
    enum tac_err err;
    struct petsc *p = self;
    const double begin_s = tac_wall_s();
    const tac_lid owned = p->system.nodes.owned;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    PetscInt iterations = 0;
    *result = (struct tac_solve_result){.outcome = TAC_SOLVE_NOT_FINITE};
    memset(x, 0, 3 * (size_t)p->system.nodes.count * sizeof *x);
    make_petsc_side(p, b);
    TAC_TRY(tac_agree(p->ctx, failed(p, run_petsc(p, x, rule, &reason, &iterations), "solving")));
    TAC_TRY(tac_agree(p->ctx, refuse_unknown(p)));
    tac_nodes_halo_refresh(p->halo, x, 3 * sizeof *x);
    result->residual = residual(p, x);
    result->iterations = (int)iterations;
    result->outcome = classify_outcome(reason, result->residual, rule->tolerance);
    if (result->outcome == TAC_SOLVE_NOT_FINITE)
        memset(x, 0, 3 * (size_t)p->system.nodes.count * sizeof *x);
    for (tac_lid i = 0; i < owned && p->system.fixed != NULL; i++)
        if (p->system.fixed[i])
            memcpy(x + 3 * (size_t)i, b + 3 * (size_t)i, 3 * sizeof *x);
    tac_nodes_halo_refresh(p->halo, x, 3 * sizeof *x);
    result->wall_s = tac_wall_s() - begin_s;
    err = tac_solver_tell(p->ctx, result, rule->tolerance);
done:
    return err;
}

const struct tac_solver_kind tac_solver_petsc = {"petsc",   false,        create_petsc, destroy_petsc,
                                                 cut_petsc, factor_petsc, solve_petsc};
