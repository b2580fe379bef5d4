/* rebalance.c: weighs the graph of a simulation, has it cut, and moves the state between ranks accordingly
 * (docs/reference/ranks.md, Rebalancing). */
#include "run/rebalance.h"
#include "io/checkpoint/checkpoint.h"
#include "partition/graph_rows.h"
#include "run/simulation.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* The recent work of this rank. */
static struct tac_workload worked_lately(const struct tac_simulation *sim)
{
    const struct tac_workload *before = &sim->balance.recent;
    struct tac_workload now = {0};
    if (sim->integrator->balance != NULL)
        sim->integrator->balance->load(sim->state, &now);
    now.ticks_s = fmax(0, now.ticks_s - before->ticks_s);
    now.contact_s = fmax(0, now.contact_s - before->contact_s);
    now.discovery_s = fmax(0, now.discovery_s - before->discovery_s);
    return now;
}

/* Collective. Turns the weights into recent seconds of forces, contacts and discovery. The time of forces is divided
 * among all vertices by the rates of their ticks, the time of discovery by the number of candidates. Contacts skip many
 * of their ticks, on one rank more than on another, so the contact time of a rank is divided among its own vertices.
 */
static enum tac_err weigh_by_seconds(struct tac_simulation *sim, tac_lid n, struct tac_graph_rows *rows)
{
    enum { FORCES, FOUND, FORCES_S, FINDING_S, CONTACT_S, SUMS };
    const struct tac_workload lately = worked_lately(sim);
    double sum[SUMS] = {0, 0, lately.ticks_s - lately.contact_s, lately.discovery_s, lately.contact_s}, contacts = 0;
    for (tac_lid i = 0; i < n; i++) {
        sum[FORCES] += rows->weight[i];
        sum[FOUND] += rows->found[i];
        contacts += rows->contact[i];
    }
    if (MPI_Allreduce(MPI_IN_PLACE, sum, SUMS, MPI_DOUBLE, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS ||
        MPI_Bcast(sum, SUMS, MPI_DOUBLE, 0, sim->ctx->comm) != MPI_SUCCESS) /* to the last bit */
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while weighing the ranks' work");
    if (!(sum[FORCES_S] + sum[FINDING_S] + sum[CONTACT_S] > 0))
        return TAC_OK; /* no work was done or counted yet: weights stay rates */
    const double force_s = sum[FORCES] > 0 ? sum[FORCES_S] / sum[FORCES] : 0;
    const double find_s = sum[FOUND] > 0 ? sum[FINDING_S] / sum[FOUND] : 0;
    const double contact_s = contacts > 0 ? lately.contact_s / contacts : 0;
    for (tac_lid i = 0; i < n; i++)
        rows->weight[i] = force_s * rows->weight[i] + contact_s * rows->contact[i] + find_s * rows->found[i];
    return TAC_OK;
}

/* Adds a small weight to each vertex, because every vertex has some cost. */
static void finish_weights(const struct tac_pieces *pieces, uint64_t shuffle, double *weight)
{
    const tac_lid n = pieces->vertex_count;
    double unit = 0;
    for (tac_lid i = 0; i < n; i++)
        unit += weight[i] / n;
    for (tac_lid i = 0; i < n; i++) {
        weight[i] += .02 * unit;
        if (shuffle)
            weight[i] *= 1 + (double)(tac_hash64(shuffle, (uint64_t)pieces->vertex_id[i] / 5) % 8);
    }
}

enum tac_err tac_rebalance_again(struct tac_simulation *sim, struct tac_pieces *pieces, uint64_t shuffle,
                                 double *balance)
{
    enum tac_err err;
    struct tac_graph_rows rows = {0};
    const tac_lid n = pieces->vertex_count;
    int32_t *present = NULL;
    double *x = NULL;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)n, sizeof *rows.weight, &rows.weight));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)n, sizeof *rows.contact, &rows.contact));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)n, sizeof *rows.found, &rows.found));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)n, sizeof *x, &x));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)n, sizeof *present, &present));
    TAC_TRY(sim->integrator->weigh(sim->state, &rows));
    for (tac_lid i = 0; i < n; i++)
        present[i] = sim->ctx->rank;
    sim->integrator->positions(sim->state, x);
done:
    err = tac_agree(sim->ctx, err);
    if (!err)
        err = tac_agree(sim->ctx, weigh_by_seconds(sim, n, &rows));
    if (!err) {
        finish_weights(pieces, shuffle, rows.weight);
        err = tac_rebalance_near(sim->ctx, sim->whole, pieces, x, &rows);
    }
    if (!err)
        err = tac_graph_cut_rows(sim->ctx, pieces->vertex_total, n, pieces->vertex_id, &rows, shuffle ? NULL : present,
                                 pieces->owner, balance);
    tac_graph_rows_free(&rows);
    free(present);
    free(x);
    return err;
}

enum tac_err tac_rebalance_whole(struct tac_ctx *ctx, const struct tac_scene *common, struct tac_pieces *pieces)
{
    const struct tac_settings *s = common->settings;
    const size_t n = (size_t)s->rigid_count;
    int32_t *owner = NULL;
    enum tac_err err = TAC_OK;
    if (n == 0)
        return TAC_OK;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, n, sizeof *owner, &owner)));
    for (size_t k = 0; k < n; k++) {
        const tac_lid v = tac_id_find(pieces->vertex_id, pieces->vertex_count, s->rigid[k].vertex_begin);
        owner[k] = v >= 0 ? pieces->owner[v] : -1;
    }
    if (MPI_Allreduce(MPI_IN_PLACE, owner, (int)n, MPI_INT32_T, MPI_MAX, ctx->comm) != MPI_SUCCESS)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "MPI failed while keeping rigid bodies whole"));
    for (tac_lid i = 0; i < pieces->vertex_count; i++) {
        const tac_lid rigid = tac_rigid_of(s, pieces->body[i], pieces->vertex_id[i]);
        if (rigid >= 0)
            pieces->owner[i] = owner[rigid];
    }
done:
    free(owner);
    return err;
}

enum tac_err tac_rebalance_move(struct tac_simulation *sim, struct tac_pieces *pieces, int64_t *moved)
{
    enum tac_err err;
    struct tac_checkpoint *state = NULL;
    *moved = 0;
    for (tac_lid i = 0; i < pieces->vertex_count; i++)
        *moved += pieces->owner[i] != sim->ctx->rank;
    MPI_Allreduce(MPI_IN_PLACE, moved, 1, MPI_INT64_T, MPI_SUM, sim->ctx->comm);
    if (*moved == 0)
        return TAC_OK;
    if ((err = sim->integrator->state_out(sim->state, false, &state)) != TAC_OK)
        return err; /* all is as it was */
    state->counters.migrations += *moved;
    err = tac_simulation_rebuild(sim, pieces, state);
    tac_checkpoint_destroy(&state);
    return err;
}
