/* Dealing a scene out to the ranks, at the start and when they are out of balance. */
#include "events/ranks.h"
#include "io/record/record.h"
#include "run/deal.h"
#include "run/running.h"
#include <stdlib.h>

enum {
    PASSES_PER_LOOK = 32,
    CHATTER = 2048, /* so many messages, and some for each vertex of a rank, take about as long as a deal */
    CHATTER_PER_VERTEX = 2,
    CHATTER_MOST = 64 * CHATTER
};

static enum tac_err make_room(struct tac_running *run)
{
    enum tac_err err;
    const size_t n = 3 * (size_t)run->sim->state.owned;
    free(run->position);
    free(run->velocity);
    free(run->force);
    run->position = run->velocity = NULL;
    run->force = NULL;
    TAC_TRY(tac_alloc(run->ctx, n, sizeof *run->position, &run->position));
    TAC_TRY(tac_alloc(run->ctx, n, sizeof *run->velocity, &run->velocity));
    TAC_TRY(tac_alloc(run->ctx, n, sizeof *run->force, &run->force));
done:
    return tac_agree(run->ctx, err);
}

/* joined: only clusters in deep contact change hands. */
static enum tac_err deal_again(struct tac_running *run, bool joined)
{
    enum tac_err err;
    struct tac_pieces *pieces = NULL;
    const int64_t ticks = tac_run_ticks(&run->sim->books.counters) - run->ticks_before;
    int64_t moved = 0;
    double balance;
    TAC_TRY(tac_pieces_of(run->ctx, run->local, &pieces));
    if (joined)
        for (tac_lid i = 0; i < pieces->vertex_count; i++)
            pieces->owner[i] = run->ctx->rank;
    else
        TAC_TRY(tac_deal_again(run->sim, pieces, run->shuffle ? run->shuffle + (uint64_t)run->passes : 0, &balance));
    if (!run->shuffle)
        TAC_TRY(tac_deal_join(run->sim, pieces));
    if (run->record != NULL)
        TAC_TRY(tac_record_deal(run->record));
    TAC_TRY(tac_deal_move(run->ctx, run->whole, pieces, &run->local, &run->sim, &moved));
    run->ticks_before =
        tac_run_ticks(&run->sim->books.counters) - ticks; /* a move counts those of all ranks as one's */
    if (moved)
        TAC_TRY(make_room(run));
    TAC_TRY(tac_agree(run->ctx, tac_sim_record(run->sim, run->record ? &run->record->log : NULL)));
done:
    tac_pieces_destroy(&pieces);
    return err;
}

static bool ctx_first(const struct tac_running *run)
{
    return run->ctx->rank == 0;
}

/* Share of the watched pairs here that other ranks tick too. */
static double shared_share(const struct tac_sim *sim)
{
    size_t shared = 0;
    for (size_t k = 0; k < sim->active.pair_count; k++)
        shared += sim->active.pair[k].live && sim->active.pair[k].shared;
    return sim->active.live_pairs ? (double)shared / (double)sim->active.live_pairs : 0;
}

/* Seconds in which this rank worked rather than waited. */
static double busy(const struct tac_sim *sim)
{
    const struct tac_counters *c = &sim->books.counters;
    return c->seconds_forces + c->seconds_contact + c->seconds_discovery - c->seconds_waiting - c->seconds_exchange;
}

/* Have ranks sent each other so many messages for the sake of deep pairs that a deal would have been cheaper?  Where a
 * deal did not help, or not for long, the next one waits for more. */
static bool chatty(struct tac_running *run)
{
    const struct tac_part *part = run->local ? run->local->mesh->part : NULL;
    if (part == NULL || run->shuffle)
        return false;
    if (run->chatter == 0)
        run->chatter = CHATTER + CHATTER_PER_VERTEX * part->vertex_total / run->ctx->size;
    return run->sim->control.told_chatter > run->chatter;
}

static enum tac_err join_deep(struct tac_running *run)
{
    enum tac_err err;
    run->chatter = run->chatter < CHATTER_MOST ? 2 * run->chatter : run->chatter;
    TAC_TRY(deal_again(run, true));
    run->sim->ranks->chatter = run->sim->control.told_chatter = 0;
done:
    return err;
}

/* Looked at after 4, 8, 16, 32 passes, and then every 32: what touches what is known soon after the start, and the
 * first deal knew nothing of it. */
enum tac_err tac_run_balance(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    const int64_t pass = ++run->passes;
    const bool look = pass % PASSES_PER_LOOK == 0 || (pass < PASSES_PER_LOOK && pass >= 4 && (pass & (pass - 1)) == 0);
    const double now_s = tac_wall_s();
    if (chatty(run))
        return join_deep(run);
    if (!run->sim->ranks || (!look && !run->shuffle))
        return TAC_OK;
    /* By rank 0's clock, so that all decide alike: the span; whether the last move has paid by now. */
    const double mine = busy(run->sim) - run->busy_s, span_s = now_s - run->balance_wall_s;
    double most[2] = {mine, ctx_first(run) ? span_s : 0}, sum[2] = {mine, shared_share(run->sim)};
    int paid = now_s - run->moved_wall_s > 10 * run->move_took_s;
    if (MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, run->ctx->comm) != MPI_SUCCESS ||
        MPI_Reduce(ctx_first(run) ? MPI_IN_PLACE : sum, sum, 2, MPI_DOUBLE, MPI_SUM, 0, run->ctx->comm) !=
            MPI_SUCCESS ||
        MPI_Bcast(sum, 2, MPI_DOUBLE, 0, run->ctx->comm) != MPI_SUCCESS ||
        MPI_Bcast(&paid, 1, MPI_INT, 0, run->ctx->comm) != MPI_SUCCESS)
        return tac_fail(run->ctx, TAC_ERR_RUN, "MPI failed while comparing the ranks' work");
    const double mean = sum[0] / run->ctx->size, twice = sum[1] / run->ctx->size;
    const bool skewed = most[0] > 1.2 * mean, talkative = twice > .15 && !run->cut_known;
    if (!run->shuffle && (!paid || most[1] < .5 || !(skewed || talkative)))
        return TAC_OK;
    run->cut_known = true; /* a better cut for these contacts is not to be had */
    err = deal_again(run, false);
    run->busy_s = run->sim ? busy(run->sim) : 0;
    run->balance_wall_s = run->moved_wall_s = tac_wall_s();
    run->move_took_s = run->moved_wall_s - now_s;
    return err;
}

enum tac_err tac_run_pieces(struct tac_running *run, struct tac_pieces **pieces)
{
    enum tac_err err = TAC_OK;
    if (run->start->pieces != NULL) {
        *pieces = run->start->pieces;
        run->start->pieces = NULL;
    } else if (run->ctx->size > 1) {
        TAC_TRY(tac_pieces_from_scene(run->ctx, run->whole, pieces));
        tac_scene_shed(run->whole);
        TAC_TRY(tac_pieces_topology(run->ctx, *pieces));
    }
done:
    return err;
}

enum tac_err tac_run_deal(struct tac_running *run, struct tac_pieces **pieces)
{
    enum tac_err err = TAC_OK;
    struct tac_ctx *ctx = run->ctx;
    if (*pieces != NULL) {
        TAC_TRY(tac_deal_first(ctx, run->whole, *pieces));
        TAC_TRY(tac_localise(ctx, run->whole, *pieces, &run->local));
    }
    tac_pieces_destroy(pieces);
    TAC_TRY(tac_sim_create(ctx, run->local ? run->local : run->whole, run->whole->settings->discovery.mode, &run->sim));
    TAC_TRY(make_room(run));
done:
    return tac_agree(ctx, err);
}
