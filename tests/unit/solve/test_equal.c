/* test_equal.c: the solver gives the same bits and takes the same iterations on 1, 2, 3, 5 and 7 ranks, however the
 * nodes are distributed, with one coarse matrix and with levels.  If it failed, a run's bits would depend on the number
 * of ranks.
 *
 * To be run on 7 ranks: they form groups of each size.  A fault made on purpose must be seen. */
#include "check.h"
#include "solve/invariant.h"
#include "unit/solve/bar.h"

struct answer {
    enum tac_err err;
    uint64_t bits;
    int iterations, subdomains, levels;
    double residual;
};

/* Levels even for a small bar; NULL: as usual. */
static const struct tac_level_rule *rule;
static const struct tac_level_rule small = {.flat = 0, .most = 32, .pairs = 4, .dense = 36};
static const struct tac_level_rule small_alone = {.flat = 0, .most = 32, .pairs = 4, .dense = 36, .alone = 99999};

/* On the first `ranks` ranks; the others have nothing to do. */
static struct answer solve_on(int ranks, const struct bar_options *options, double tolerance)
{
    int rank;
    struct answer answer = {0};
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm != MPI_COMM_NULL) {
        struct tac_ctx ctx;
        struct bar bar;
        struct tac_solver *solver = NULL;
        struct tac_solve_result result = {0};
        tac_ctx_init(&ctx, comm);
        answer.err = bar_make(&ctx, options, &bar);
        const struct tac_system system = bar_system(&bar);
        double *x = calloc(3 * (size_t)bar.nodes.count + 1, sizeof *x);
        answer.err = answer.err ? answer.err : tac_solver_create(&ctx, "invariant", "", &solver);
        if (!answer.err && rule)
            ((struct tac_invariant *)tac_solver_self(solver))->rule = *rule;
        answer.err = answer.err ? answer.err : tac_solver_factor(solver, &system);
        answer.err = answer.err ? answer.err : tac_solver_solve(solver, bar.side, x, tolerance, 2000, &result);
        answer.bits = bar_digest(&ctx, &bar, x);
        answer.iterations = result.iterations;
        answer.residual = result.residual;
        if (solver) {
            answer.subdomains = tac_solver_stats(solver)->subdomains;
            const struct tac_coarse *c = &((struct tac_invariant *)tac_solver_self(solver))->coarse;
            for (answer.levels = 1; c->next; c = &c->next->coarse)
                answer.levels++;
        }
        if (answer.err)
            printf("%s\n", ctx.error);
        free(x);
        tac_solver_destroy(&solver);
        bar_free(&bar);
        MPI_Comm_free(&comm);
    }
    MPI_Bcast(&answer, sizeof answer, MPI_BYTE, 0, MPI_COMM_WORLD);
    return answer;
}

static void check_scene(const char *name, struct bar_options options, double tolerance, int least_subdomains,
                        int levels, int most_iterations)
{
    static const int groups[] = {2, 3, 5, 7};
    options.distribution = BAR_SLABS;
    const struct answer one = solve_on(1, &options, tolerance);
    CHECK(one.err == TAC_OK && one.residual <= tolerance, "%s: residual %g", name, one.residual);
    CHECK(one.subdomains >= least_subdomains, "%s: only %d subdomains", name, one.subdomains);
    CHECK(one.levels == levels, "%s: %d levels, not %d", name, one.levels, levels);
    CHECK(one.iterations > 0 && one.iterations <= most_iterations, "%s: %d iterations", name, one.iterations);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (int distribution = 0; distribution < BAR_DISTRIBUTIONS; distribution++) {
            const int ranks = groups[g];
            options.distribution = (enum bar_distribution)distribution;
            options.seed = (uint64_t)(1000 * ranks);
            const struct answer other = solve_on(ranks, &options, tolerance);
            CHECK(other.err == TAC_OK && other.iterations == one.iterations && other.bits == one.bits &&
                      memcmp(&other.residual, &one.residual, sizeof one.residual) == 0,
                  "%s on %d ranks, distribution %d: %d iterations and bits %016" PRIx64 ", on one %d and %016" PRIx64,
                  name, ranks, distribution, other.iterations, other.bits, one.iterations, one.bits);
        }
}

int main(int argc, char **argv)
{
    int ranks, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(ranks == 7, "this test wants 7 ranks, not %d", ranks);
    const struct bar_options folded = {.nx = 24, .ny = 6, .nz = 6, .decades = 3, .step_s = .04, .held = true};
    struct bar_options other = folded, stiff = folded;
    stiff.held = false;
    stiff.decades = 8;
    stiff.step_s = .01;
    check_scene("a folded bar", folded, 1e-8, 5, 1, 82);
    check_scene("free, contacts of eight decades", stiff, 1e-6, 5, 1, 80);
    other.held = false;
    other.decades = -1; /* no contacts */
    other.nx = 9;
    other.ny = other.nz = 2;
    check_scene("one subdomain", other, 1e-10, 1, 1, 36);
    rule = &small;
    check_scene("a folded bar, by levels", folded, 1e-8, 40, 3, 48);
    check_scene("free, contacts of eight decades, by levels", stiff, 1e-6, 40, 3, 92);
    rule = &small_alone;
    check_scene("a folded bar, by levels that ranks cut alone", folded, 1e-8, 40, 3, 48);
    check_scene("contacts of eight decades, by such levels", stiff, 1e-6, 40, 3, 92);
    rule = NULL;

    /* What this test is for is seen: rows summed in another order on one rank only. */
    struct bar_options broken = folded;
    broken.broken = true;
    const struct answer right = solve_on(2, &folded, 1e-8), wrong = solve_on(2, &broken, 1e-8);
    CHECK(wrong.err == TAC_OK && wrong.bits != right.bits, "a broken order of sums has not changed the bits");
    int failed = rank == 0 ? check_result() : 0;
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
