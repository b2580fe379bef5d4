/* simulated.c SCENE SECONDS AFTER FORCES CONTACT DISCOVERY BOUNDS SOLVE [OVERHEAD BYTE] : advances a scene on simulated
 * ranks and tells where the time went.
 *
 * From AFTER to SECONDS (simulated physics, s) the ranks' work is declared, at FORCES, CONTACT, DISCOVERY, BOUNDS and
 * SOLVE seconds a unit (work.c). With OVERHEAD and BYTE messages do not share links (quiet.h): either end spends
 * OVERHEAD seconds and BYTE seconds a byte on one. Prints one JSON object; its "result" is a hash of all positions,
 * velocities and impulses of contact at the end, which is the same for any number of ranks. Started by ./simulate
 * through smpirun.
 */
#include "simulated.h"

#include <tactus/math.h>
#include <tactus/process.h>
#include <tactus/simulation.h>

#include "run/simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 6, SUMS = WORK_KINDS + TIMES, COUNTS = 8 };

static const char *const name[] = {"forces",     "contact", "discovery",       "bounds",  "solve",
                                   "neighbours", "all",     "neighbours_wait", "all_wait"};
/* Of implicit steps: nanoseconds of elements and of contacts in the place of ticks. */
static const char *const counted[COUNTS] = {"force_ticks", "contact_ticks",  "tests_of_boxes", "bounds",
                                            "products",    "repeated_ticks", "messages",       "bytes"};

/* Counters of this rank that only the asynchronous engine has; 0 for implicit steps. */
static struct tac_counters counters_of(const struct tac_simulation *sim)
{
    struct tac_status status = {0};
    sim->integrator->status(sim->state, &status);
    return status.counters;
}

/* Collective. A sum over vertices, so it does not depend on who owns which. */
static enum tac_err hash_result(const struct tac_simulation *sim, uint64_t *result)
{
    struct tac_state_view view;
    double *x = NULL;
    sim->integrator->view(sim->state, &view);
    enum tac_err err = tac_agree(sim->ctx, tac_alloc(sim->ctx, 3 * (size_t)view.owned, sizeof *x, &x));
    *result = 0;
    if (err)
        return err;
    sim->integrator->positions(sim->state, x);
    for (tac_lid v = 0; v < view.owned; v++) {
        const double *const from[] = {
            &x[3 * v], (const double *)((const char *)view.velocity + (size_t)v * view.stride), &view.impulse[3 * v]};
        uint64_t hash = tac_hash64(0, (uint64_t)(view.id != NULL ? view.id[v] : v));
        for (int k = 0; k < 9; k++) {
            const double value = from[k / 3][k % 3] + 0.; /* -0 is 0 */
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            hash = tac_hash64(hash, bits);
        }
        *result += hash;
    }
    free(x);
    MPI_Allreduce(MPI_IN_PLACE, result, 1, MPI_UINT64_T, MPI_SUM, sim->ctx->comm);
    return TAC_OK;
}

static enum tac_err advance(struct tac_ctx *ctx, char **argv)
{
    enum tac_err err;
    const struct tac_scene_source source = {.path = argv[1]};
    struct tac_simulation *sim = NULL;
    const double end = strtod(argv[2], NULL), after = strtod(argv[3], NULL);
    double mine[SUMS], sum[SUMS], most[SUMS];
    TAC_TRY(tac_simulation_create(ctx, &source, &sim));
    TAC_TRY(tac_simulation_advance(sim, after));
    struct tac_counters c = counters_of(sim);
    const int64_t repeated = c.repeated_ticks, moved = c.migrations;
    MPI_Barrier(ctx->comm);
    const double begin_s = MPI_Wtime();
    work_watch(sim);
    const struct work none = work_told();
    TAC_TRY(tac_simulation_advance(sim, end));
    const struct work told = work_told();
    work_watch(NULL);
    const double wall_s = MPI_Wtime() - begin_s;
    for (int k = 0; k < WORK_KINDS; k++)
        mine[k] = told.seconds[k];
    c = counters_of(sim);
    for (int k = 0; k < WORK_WITH; k++) {
        mine[WORK_KINDS + k] = told.spent_s[k];
        mine[WORK_KINDS + WORK_WITH + k] = told.waited_s[k];
    }
    uint64_t result;
    TAC_TRY(hash_result(sim, &result));
    mine[SUMS - 2] = 0;
    for (int k = 0; k < WORK_KINDS; k++)
        mine[SUMS - 2] += mine[k];
    mine[SUMS - 1] = wall_s;
    int64_t counts[COUNTS] = {
        [WORK_KINDS] = c.repeated_ticks - repeated, told.messages - none.messages, told.bytes - none.bytes};
    for (int k = 0; k < WORK_KINDS; k++)
        counts[k] = told.count[k];
    MPI_Reduce(mine, sum, SUMS, MPI_DOUBLE, MPI_SUM, 0, ctx->comm);
    MPI_Reduce(mine, most, SUMS, MPI_DOUBLE, MPI_MAX, 0, ctx->comm);
    MPI_Allreduce(MPI_IN_PLACE, counts, COUNTS, MPI_INT64_T, MPI_SUM, ctx->comm);
    if (ctx->rank == 0) {
        printf("{\"ranks\": %d, \"from_s\": %.9g, \"to_s\": %.9g, \"wall_s\": %.9g", ctx->size, after, end,
               most[SUMS - 1]);
        printf(", \"most_loaded_s\": %.9g", most[SUMS - 2]);
        for (int k = 0; k < SUMS - 2; k++)
            printf(", \"%s_s\": {\"mean\": %.9g, \"most\": %.9g}", name[k], sum[k] / ctx->size, most[k]);
        for (int k = 0; k < COUNTS; k++)
            printf(", \"%s\": %lld", counted[k], (long long)counts[k]);
        printf(", \"meetings\": %lld", (long long)(told.meetings - none.meetings));
        printf(", \"result\": \"%016llx\"", (unsigned long long)result);
        printf(", \"migrations\": %lld}\n", (long long)(c.migrations - moved));
        fflush(stdout);
    }
done:
    tac_simulation_destroy(&sim);
    return err;
}

int main(int argc, char **argv)
{
    struct tac_ctx ctx;
    bool started;
    enum tac_err err = tac_mpi_begin(&ctx, &started);
    if (!err && argc != 4 + WORK_KINDS && argc != 6 + WORK_KINDS)
        err = tac_fail(&ctx, TAC_ERR_INPUT,
                       "usage: simulated SCENE SECONDS AFTER FORCES CONTACT DISCOVERY BOUNDS SOLVE [OVERHEAD BYTE]");
    if (!err) {
        double cost[WORK_KINDS];
        for (int k = 0; k < WORK_KINDS; k++)
            cost[k] = strtod(argv[4 + k], NULL);
        const bool delays = argc == 6 + WORK_KINDS;
        work_begin(ctx.size, cost, delays);
        if (delays)
            quiet_begin(strtod(argv[4 + WORK_KINDS], NULL), strtod(argv[5 + WORK_KINDS], NULL));
        err = advance(&ctx, argv);
    }
    if (err && ctx.rank == 0)
        fprintf(stderr, "simulated: %s\n", ctx.error);
    tac_mpi_end(started);
    return (int)err;
}
