/* test_degenerate.c: systems that are empty, singular, indefinite, not finite, of nodes without a body, or badly
 * scaled.
 *
 * If it failed, the solver would hang, return numbers that are no solution, or not say what is wrong.  Run on one rank
 * and on several. */
#include "hand.h"

static struct tac_ctx ctx;

/* Solves; the outcome must be this one; returns the largest distance from the direct solution, 0 if none is wanted. */
static double check_outcome(const char *name, const struct hand *h, enum tac_solve_outcome outcome, const char *says,
                            int limit, double tolerance, bool direct)
{
    struct hand_system s;
    struct tac_solve_result result;
    double apart = 0;
    CHECK(distribute_by_hand(&ctx, h, 1, &s) == TAC_OK, "%s", ctx.error);
    const enum tac_err err = hand_solve(&ctx, &s, tolerance, limit, &result, NULL);
    CHECK(err == (says ? TAC_ERR_RUN : TAC_OK), "%s: code %d: %s", name, (int)err, ctx.error);
    CHECK(result.outcome == outcome, "%s: outcome %d, residual %g after %d", name, (int)result.outcome, result.residual,
          result.iterations);
    CHECK(says ? strstr(ctx.error, says) != NULL : ctx.error[0] == '\0', "%s says: %s", name, ctx.error);
    for (tac_lid i = 0; i < 3 * s.nodes.count; i++)
        CHECK(isfinite(s.x[i]), "%s: x is not finite", name);
    if (direct) {
        double *x = hand_gather(&ctx, h, &s), *right = hand_direct(h);
        apart = hand_apart(h, x, right);
        free(x);
        free(right);
    }
    hand_free(&s);
    return apart;
}

static void check_solved(const char *name, const struct hand *h, double tolerance, double most)
{
    const double apart = check_outcome(name, h, TAC_SOLVE_CONVERGED, NULL, 1000, tolerance, true);
    CHECK(apart <= most, "%s: %g apart", name, apart);
}

static void few_nodes(void)
{
    struct hand *h = hand_make(0);
    check_solved("nothing", h, 1e-10, 0);
    free(h);
    h = hand_make(1);
    hand_mass(h, 0, 3);
    check_solved("one node", h, 1e-12, 1e-14);
    memset(h->side, 0, sizeof h->side);
    check_solved("one node, no force", h, 1e-12, 0);
    h->fixed[0] = 1;
    h->side[0][1] = 7;
    check_solved("one node, which is held", h, 1e-12, 0);
    free(h);
    h = hand_make(40); /* a particle each */
    for (int i = 0; i < 40; i++)
        hand_mass(h, i, pow(10, i % 12));
    check_solved("particles without a body", h, 1e-13, 1e-12);
    for (int i = 0; i < 40; i++)
        h->fixed[i] = 1;
    check_solved("all are held", h, 1e-12, 0);
    free(h);
    h = hand_make(700); /* more particles than there may be subdomains */
    for (int i = 0; i < 700; i++)
        hand_mass(h, i, 1 + i % 3);
    check_solved("700 particles", h, 1e-12, 1e-12);
    free(h);
}

static void bodies(void)
{
    struct hand *h = hand_make(60);
    for (int i = 0; i < 60; i++) { /* three chains along a line, ten nodes that lie on one point, the rest alone */
        hand_mass(h, i, .01);
        for (int c = 0; c < 3; c++)
            h->x[i][c] = i < 45 ? (i % 15) * .1 * (c + 1) : 3;
        if (i < 45 && i % 15)
            hand_spring(h, i - 1, i, 1e3, NULL);
        if (i > 45 && i < 55)
            hand_spring(h, i - 1, i, 1e3, NULL);
    }
    check_solved("chains on a line, and a heap on a point", h, 1e-10, 1e-8);
    for (int i = 0; i < 60; i++)
        for (int c = 0; c < 3; c++)
            h->x[i][c] = 1e9;
    check_solved("all on one point far away", h, 1e-10, 1e-8);
    free(h);
    h = hand_tower(200, 1); /* an affine body's way of moving: some nodes take no part in translations */
    h->with_translate = true;
    for (int i = 0; i < 200; i++)
        h->translate[i] = i % 4 == 0;
    check_solved("nodes that translations do not move", h, 1e-9, 1e-6);
    memset(h->translate, 0, sizeof h->translate);
    check_solved("no node translates", h, 1e-9, 1e-6);
    free(h);
}

static void scales(void)
{
    struct hand *h = hand_tower(300, 1);
    static const double n[3] = {.36, .48, .8};
    for (int i = 0; i < 140; i += 3)
        hand_spring(h, i, 299 - i, 1e12, n);
    const double apart = check_outcome("stiffness of 8 more decades", h, TAC_SOLVE_CONVERGED, NULL, 3000, 1e-3, true);
    CHECK(apart <= 1e-2, "%g apart", apart);
    /* b - A x itself has no more digits: 1e12 x and b are 1e12 apart. */
    check_outcome("that, too exactly", h, TAC_SOLVE_STALLED, "scale down the largest stiffness", 3000, 1e-9, false);
    free(h);
    h = hand_tower(300, 10);
    for (int i = 0; i < 300; i++)
        for (int c = 0; c < 3; c++)
            h->side[i][c] *= 1e-250;
    check_solved("a tiny right side", h, 1e-10, 1e-8);
    for (int i = 0; i < 300; i++)
        for (int c = 0; c < 3; c++)
            h->side[i][c] *= 1e250, h->side[i][c] *= 1e250;
    check_solved("a huge right side", h, 1e-10, 1e-8);
    check_outcome("one iteration", h, TAC_SOLVE_LIMIT, "not converged: after 1 iterations", 1, 1e-10, false);
    check_outcome("no iteration", h, TAC_SOLVE_LIMIT, "allow more iterations", 0, 1e-10, false);
    check_outcome("no residual at all", h, TAC_SOLVE_STALLED, "rounding keeps the residual", 5000, 0, false);
    free(h);
}

static void not_positive(void)
{
    struct hand *h = hand_tower(300, 10);
    hand_mass(h, 137, -1e7);
    check_outcome("a negative mass", h, TAC_SOLVE_CONVERGED, "node 137: the linear system's matrix is not positive",
                  100, 1e-8, false);
    free(h);
    h = hand_tower(300, 10);
    const double block[9] = {0, 6e5, 0, 6e5, 0, 0, 0, 0, 6e5};
    hand_block(h, 20, 220, block);
    hand_block(h, 30, 230, block);
    check_outcome("positive blocks of an indefinite matrix", h, TAC_SOLVE_NOT_POSITIVE, "matrix is not positive", 2000,
                  1e-10, false);
    free(h);
    h = hand_make(2);
    hand_mass(h, 0, 1);
    check_outcome("a node with nothing", h, TAC_SOLVE_CONVERGED, "node 1: ", 100, 1e-8, false);
    free(h);
    h = hand_tower(300, 0); /* singular: it floats; forces that sum up to something cannot be met */
    check_outcome("a floating tower that is pushed", h, TAC_SOLVE_LIMIT, "not converged", 60, 1e-8, false);
    memset(h->side, 0, sizeof h->side);
    for (int c = 0; c < 3; c++) { /* stretched along the line between two nodes: in balance */
        h->side[7][c] = h->x[7][c] - h->x[251][c];
        h->side[251][c] = -h->side[7][c];
    }
    check_outcome("a floating tower that is stretched", h, TAC_SOLVE_CONVERGED, NULL, 500, 1e-8, false);
    free(h);
}

static void not_finite(void)
{
    struct hand *h = hand_tower(300, 10);
    h->side[250][2] = NAN;
    check_outcome("a force that is no number", h, TAC_SOLVE_NOT_FINITE, "not finite", 100, 1e-8, false);
    h->side[250][2] = INFINITY;
    check_outcome("an infinite force", h, TAC_SOLVE_NOT_FINITE, "not finite", 100, 1e-8, false);
    h->side[250][2] = 0;
    hand_mass(h, 111, INFINITY);
    check_outcome("an infinite mass", h, TAC_SOLVE_CONVERGED, "node 111: ", 100, 1e-8, false);
    h->fixed[111] = 1;
    check_outcome("an infinite mass, which is held", h, TAC_SOLVE_CONVERGED, NULL, 500, 1e-8, false);
    free(h);
}

/* A solver is used again: other fixed nodes, other values, another structure. */
static void again(void)
{
    struct hand *h = hand_tower(400, 10);
    struct hand_system s, other;
    struct tac_solver *solver = NULL;
    struct tac_solve_result result;
    for (int i = 0; i < 100; i++)
        h->fixed[i] = 1, h->side[i][0] = h->side[i][1] = h->side[i][2] = 0;
    ctx.error[0] = '\0';
    CHECK(distribute_by_hand(&ctx, h, 2, &s) == TAC_OK, "%s", ctx.error);
    CHECK(hand_create(&ctx, &solver) == TAC_OK, "%s", ctx.error);
    CHECK(tac_solver_is_invariant(solver), "it is not");
    CHECK(tac_solver_cut(solver, &s.system) == TAC_OK, "%s", ctx.error);
    for (int round = 0; round < 3; round++) {
        if (round == 1)
            hand_spring(h, 120, 380, 1e5, NULL);
        for (int i = 0; i < 100; i++)
            h->fixed[i] = round == 2 ? i < 50 : 1;
        CHECK(distribute_by_hand(&ctx, h, 2, &other) == TAC_OK, "%s", ctx.error);
        CHECK(tac_solver_factor(solver, &other.system) == TAC_OK, "%s", ctx.error);
        for (int twice = 0; twice < 2; twice++) {
            CHECK(tac_solver_solve(solver, other.side, other.x, 1e-10, 500, &result) == TAC_OK, "%s", ctx.error);
            double *x = hand_gather(&ctx, h, &other), *right = hand_direct(h);
            CHECK(hand_apart(h, x, right) < 1e-7, "round %d: %g apart", round, hand_apart(h, x, right));
            free(x);
            free(right);
        }
        hand_free(&other);
    }
    tac_solver_destroy(&solver);
    CHECK(solver == NULL, "it is still there");
    tac_solver_destroy(&solver);
    hand_free(&s);
    free(h);
}

static void refusals(void)
{
    struct tac_solver *solver = NULL;
    ctx.error[0] = '\0';
    CHECK(tac_solver_create(&ctx, "magic", "", &solver) == TAC_ERR_INPUT && solver == NULL, "it was made");
    CHECK(strstr(ctx.error, "\"magic\"") && strstr(ctx.error, "invariant"), "%s", ctx.error);
    ctx.error[0] = '\0';
    CHECK(tac_solver_create(&ctx, "invariant", "-fast", &solver) == TAC_ERR_INPUT && solver == NULL, "it was made");
    CHECK(strstr(ctx.error, "-fast") != NULL, "%s", ctx.error);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    for (int levels = 0; levels < 3; levels++) {
        hand_levels = levels;
        few_nodes();
        bodies();
        scales();
        not_positive();
        not_finite();
        again();
    }
    refusals();
    int failed = check_result();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
