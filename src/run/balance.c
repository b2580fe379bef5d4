/* balance.c: ranks that are out of balance: the scene is distributed anew while it runs. */
#include "io/record/record.h"
#include "run/rebalance.h"
#include "run/simulation.h"

enum {
    PASSES_PER_LOOK = 32,
    CHATTER = 2048, /* so many messages, and some for each vertex of a rank, take about as long as a rebalancing */
    CHATTER_PER_VERTEX = 2,
    CHATTER_MOST = 64 * CHATTER
};

/* joined: only clusters in deep contact change hands. */
static enum tac_err distribute_again(struct tac_simulation *sim, bool joined)
{
    enum tac_err err;
    struct tac_balance *b = &sim->balance;
    struct tac_pieces *pieces = NULL;
    int64_t moved = 0;
    double balance;
    TAC_TRY(tac_pieces_of(sim->ctx, sim->local, &pieces));
    if (joined)
        for (tac_lid i = 0; i < pieces->vertex_count; i++)
            pieces->owner[i] = sim->ctx->rank;
    else
        TAC_TRY(tac_rebalance_again(sim, pieces, b->shuffle ? b->shuffle + (uint64_t)b->passes : 0, &balance));
    if (!b->shuffle && sim->way->join != NULL)
        TAC_TRY(sim->way->join(sim->state, pieces));
    if (sim->record != NULL)
        TAC_TRY(tac_record_distribute(sim->record));
    TAC_TRY(tac_rebalance_move(sim, pieces, &moved));
    TAC_TRY(tac_agree(sim->ctx, sim->way->record(sim->state, sim->record ? &sim->record->log : NULL)));
done:
    tac_pieces_destroy(&pieces);
    return err;
}

/* Have ranks sent each other so many messages for the sake of deep pairs that a rebalancing would have been cheaper?
 * Where a deal did not help, or not for long, the next one waits for more. */
static bool chatty(struct tac_simulation *sim)
{
    struct tac_balance *b = &sim->balance;
    if (sim->local == NULL || b->shuffle || sim->way->chatter == NULL)
        return false;
    if (b->chatter == 0)
        b->chatter = CHATTER + CHATTER_PER_VERTEX * sim->local->mesh->part->vertex_total / sim->ctx->size;
    return sim->way->chatter(sim->state) > b->chatter;
}

static enum tac_err join_deep(struct tac_simulation *sim)
{
    enum tac_err err;
    struct tac_balance *b = &sim->balance;
    b->chatter = b->chatter < CHATTER_MOST ? 2 * b->chatter : b->chatter;
    TAC_TRY(distribute_again(sim, true));
    sim->way->clear_chatter(sim->state);
done:
    return err;
}

/* An integrator that does not tell its work is never dealt anew for its sake. */
static void look_at_load(const struct tac_simulation *sim, double *busy_s, double *shared)
{
    *busy_s = *shared = 0;
    if (sim->way->load != NULL)
        sim->way->load(sim->state, busy_s, shared);
}

static bool ctx_first(const struct tac_simulation *sim)
{
    return sim->ctx->rank == 0;
}

/* Looked at after 4, 8, 16, 32 passes, and then every 32: what touches what is known soon after the start, and the
 * first deal knew nothing of it. */
enum tac_err tac_simulation_balance(struct tac_simulation *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_balance *b = &sim->balance;
    const int64_t pass = ++b->passes;
    const bool look = pass % PASSES_PER_LOOK == 0 || (pass < PASSES_PER_LOOK && pass >= 4 && (pass & (pass - 1)) == 0);
    const double now_s = tac_wall_s();
    double busy_s, shared;
    if (chatty(sim))
        return join_deep(sim);
    if (sim->local == NULL || (!look && !b->shuffle))
        return TAC_OK;
    look_at_load(sim, &busy_s, &shared);
    /* By rank 0's clock, so that all decide alike: the span; whether the last move has paid by now. */
    const double mine = busy_s - b->busy_s, span_s = now_s - b->wall_s;
    double most[2] = {mine, ctx_first(sim) ? span_s : 0}, sum[2] = {mine, shared};
    int paid = now_s - b->moved_wall_s > 10 * b->move_took_s;
    if (MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS ||
        MPI_Reduce(ctx_first(sim) ? MPI_IN_PLACE : sum, sum, 2, MPI_DOUBLE, MPI_SUM, 0, sim->ctx->comm) !=
            MPI_SUCCESS ||
        MPI_Bcast(sum, 2, MPI_DOUBLE, 0, sim->ctx->comm) != MPI_SUCCESS ||
        MPI_Bcast(&paid, 1, MPI_INT, 0, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while comparing the ranks' work");
    const double mean = sum[0] / sim->ctx->size, twice = sum[1] / sim->ctx->size;
    const bool skewed = most[0] > 1.2 * mean, talkative = twice > .15 && !b->cut_known;
    if (!b->shuffle && (!paid || most[1] < .5 || !(skewed || talkative)))
        return TAC_OK;
    b->cut_known = true; /* a better cut for these contacts is not to be had */
    err = distribute_again(sim, false);
    b->busy_s = 0;
    if (sim->state)
        look_at_load(sim, &b->busy_s, &shared);
    b->wall_s = b->moved_wall_s = tac_wall_s();
    b->move_took_s = b->moved_wall_s - now_s;
    return err;
}
