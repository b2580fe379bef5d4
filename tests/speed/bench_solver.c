/* bench_solver: iterations, seconds and bits of the linear solver on a folded bar of tetrahedra
 * (tests/unit/solve/bar.h).
 *
 *     bench_solver [nx ny nz [decades [tolerance [distribution [repeats [step_s [kind [options [flat]]]]]]]]]
 *
 * decades: contacts are up to 10^decades times as stiff as the bar; -1: none.  flat: up to so many nodes the coarse
 * matrix is dense (kind invariant; -1: as usual).
 *
 * One line of JSON.  tests/speed/solver runs it on 1 to 4 ranks and makes a table. */
#include "solve/invariant.h"
#include "unit/solve/bar.h"
#include <time.h>

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    struct tac_ctx ctx;
    struct bar bar;
    struct tac_solver *solver = NULL;
    struct tac_solve_result result = {0};
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    const struct bar_options options = {.nx = argc > 3 ? atoi(argv[1]) : 60,
                                        .ny = argc > 3 ? atoi(argv[2]) : 12,
                                        .nz = argc > 3 ? atoi(argv[3]) : 12,
                                        .decades = argc > 4 ? atof(argv[4]) : 3,
                                        .distribution = argc > 6 ? (enum bar_distribution)atoi(argv[6]) : BAR_SLABS,
                                        .step_s = argc > 8 ? atof(argv[8]) : .04,
                                        .held = true};
    const double tolerance = argc > 5 ? atof(argv[5]) : 1e-8;
    const int repeats = argc > 7 ? atoi(argv[7]) : 1;
    const double make_s = cpu_s();
    enum tac_err err = bar_make(&ctx, &options, &bar);
    struct tac_system system = bar_system(&bar);
    int64_t products = 0, done[2] = {0, 0}; /* of rank 0; of the factor, of the solution */
    system.products = &products;
    double *x = calloc(3 * (size_t)bar.nodes.count + 1, sizeof *x), used[4] = {0, 0, 0, 0};
    used[3] = cpu_s() - make_s;
    err = err ? err : tac_solver_create(&ctx, argc > 9 ? argv[9] : "invariant", argc > 10 ? argv[10] : "", &solver);
    if (!err && argc > 11 && atoi(argv[11]) >= 0)
        ((struct tac_invariant *)tac_solver_self(solver))->rule.flat = atoi(argv[11]);
    for (int k = 0; k < repeats && !err; k++) {
        const double begin_s = cpu_s();
        products = 0;
        err = tac_solver_cut(solver, &system);
        const double cut_s = cpu_s();
        err = err ? err : tac_solver_factor(solver, &system);
        const double factor_s = cpu_s();
        done[0] = products;
        err = err ? err : tac_solver_solve(solver, bar.side, x, tolerance, 20000, &result);
        done[1] = products - done[0];
        const double part[3] = {cut_s - begin_s, factor_s - cut_s, cpu_s() - factor_s};
        for (int c = 0; c < 3; c++)
            used[c] = k == 0 || part[c] < used[c] ? part[c] : used[c];
    }
    MPI_Allreduce(MPI_IN_PLACE, used, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (err && ctx.rank == 0)
        fprintf(stderr, "bench_solver: %s\n", ctx.error);
    const uint64_t digest = bar_digest(&ctx, &bar, x);
    if (ctx.rank == 0 && solver) {
        const struct tac_solver_stats *s = tac_solver_stats(solver);
        printf("{\"ranks\": %d, \"deal\": %d, \"unknowns\": %" PRId64 ", \"blocks\": %" PRId64 ", \"moved\": %" PRId64
               ", \"subdomains\": %d, \"coarse\": %d, \"dropped\": %d, \"shifted\": %d, \"iterations\": %d, "
               "\"residual\": %.3g, \"make_s\": %.4f, \"cut_s\": %.4f, \"factor_s\": %.4f, \"solve_s\": %.4f, "
               "\"ms_per_iteration\": %.4f, \"products\": [%" PRId64 ", %" PRId64 "], \"bits\": \"%016" PRIx64
               "\", \"levels\": [",
               ctx.size, (int)options.distribution, s->unknowns, s->blocks, s->moved, s->subdomains, s->coarse,
               s->dropped, s->shifted, result.iterations, result.residual, used[3], used[0], used[1], used[2],
               result.iterations ? 1e3 * used[2] / result.iterations : 0, done[0], done[1], digest);
        const bool known = argc <= 9 || strcmp(argv[9], "invariant") == 0;
        for (const struct tac_coarse *c = known ? &((struct tac_invariant *)tac_solver_self(solver))->coarse : NULL; c;
             c = c->next ? &c->next->coarse : NULL)
            printf("%" PRId64 "%s", c->subdomains, c->next ? ", " : "");
        printf("]}\n");
    }
    free(x);
    tac_solver_destroy(&solver);
    bar_free(&bar);
    MPI_Finalize();
    return err;
}
