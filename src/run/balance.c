/* balance.c: decides when the ranks are out of balance, and then distributes the scene anew while it runs. */
#include "io/record/record.h"
#include "partition/cut.h"
#include "run/rebalance.h"
#include "run/simulation.h"
#include <math.h>

enum {
    DEEP_MESSAGES = 2048, /* this many messages, and DEEP_MESSAGES_PER_VERTEX for each vertex of a rank, take about as
                       long as a rebalancing */
    DEEP_MESSAGES_PER_VERTEX = 2,
    MOST_DEEP_MESSAGES = 64 * DEEP_MESSAGES,
    SOON = 8,       /* passes */
    ON_ONE = 1024,  /* a scene of fewer balls begins on one rank */
    OF_ELEMENTS = 4 /* a vertex with elements takes as long as this many balls */
};

static const double SKEWED = 1.08, TWICE = .15;
/* Cost of a distribution: by itself, for each vertex of a rank, and for each vertex of the graph that rank 0 cuts, s.
 */
static const double DISTRIBUTION_S = .01, DISTRIBUTION_VERTEX_S = 12e-6, CUT_VERTEX_S = 3e-6;
/* Extra cost of a window on several ranks: they exchange messages at its instants and at its end, and wait there, s. */
static const double MEET_S = 350e-6;
/* Least cost of a vertex in each window, s: that of a vertex without elements. */
static const double VERTEX_S = 50e-9;

/* Gives all vertices to rank 0. */
static void give_all_to_first(struct tac_pieces *pieces)
{
    for (tac_lid i = 0; i < pieces->vertex_count; i++)
        pieces->owner[i] = 0;
}

/* May one rank have the whole scene? With kinetic structures ranks exchange fewer messages, and each rank has only its
 * part of them (docs/reference/ranks.md).
 */
static bool may_gather(const struct tac_simulation *sim)
{
    return sim->integrator->balance != NULL && sim->integrator->balance->gathers && !sim->balance.distributes_small &&
           !sim->balance.shuffle && sim->whole->settings->discovery.mode != TAC_DISCOVER_KDS;
}

enum tac_err tac_simulation_distribute(struct tac_simulation *sim, struct tac_pieces *pieces)
{
    struct tac_balance *b = &sim->balance;
    int64_t work = 0;
    for (tac_lid i = 0; i < pieces->vertex_count; i++)
        if (pieces->ever_free[i])
            work += sim->whole->settings->body[pieces->body[i]].has_elements ? OF_ELEMENTS : 1;
    if (MPI_Allreduce(MPI_IN_PLACE, &work, 1, MPI_INT64_T, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while counting vertices");
    b->gathered = work < ON_ONE && may_gather(sim);
    if (b->gathered) {
        give_all_to_first(pieces);
        return TAC_OK;
    }
    const enum tac_err err = tac_distribute_first(sim->ctx, sim->whole, pieces);
    return err ? err : tac_rebalance_whole(sim->ctx, sim->whole, pieces);
}

/* joined: only clusters of vertices in deep contact change their rank. */
static enum tac_err distribute_again(struct tac_simulation *sim, bool joined)
{
    enum tac_err err;
    struct tac_balance *b = &sim->balance;
    struct tac_pieces *pieces = NULL;
    int64_t moved = 0;
    double balance;
    TAC_TRY(tac_pieces_of(sim->ctx, sim->local, &pieces));
    if (b->gathered)
        give_all_to_first(pieces);
    else if (joined)
        for (tac_lid i = 0; i < pieces->vertex_count; i++)
            pieces->owner[i] = sim->ctx->rank;
    else
        TAC_TRY(tac_rebalance_again(sim, pieces, b->shuffle ? b->shuffle + (uint64_t)b->passes : 0, &balance));
    if (!b->shuffle && !b->gathered && sim->integrator->balance != NULL)
        TAC_TRY(sim->integrator->balance->join(sim->state, pieces));
    TAC_TRY(tac_rebalance_whole(sim->ctx, sim->whole, pieces));
    if (sim->record != NULL)
        TAC_TRY(tac_record_distribute(sim->record));
    TAC_TRY(tac_rebalance_move(sim, pieces, &moved));
    TAC_TRY(tac_agree(sim->ctx, sim->integrator->record->begin(sim->state, sim->record ? &sim->record->log : NULL)));
done:
    tac_pieces_destroy(&pieces);
    return err;
}

/* The work so far. It stays 0 for an integrator that does not count its work, so such a simulation is not distributed
 * anew because of its work. */
static struct tac_workload read_load(const struct tac_simulation *sim)
{
    struct tac_workload load = {0};
    if (sim->integrator->balance != NULL)
        sim->integrator->balance->load(sim->state, &load);
    return load;
}

/* distribution_s: of the workload. */
static int64_t least_deep_messages(const struct tac_simulation *sim, double distribution_s)
{
    return (int64_t)(DEEP_MESSAGES * (1 + distribution_s / DISTRIBUTION_S)) +
           DEEP_MESSAGES_PER_VERTEX * sim->local->mesh->part->vertex_total / sim->ctx->size;
}

/* Have ranks exchanged so many messages for deep pairs that a rebalancing would have been cheaper? If a distribution
 * has not helped, so that as many messages follow soon, the next one waits for more messages. */
static bool sends_too_much(struct tac_simulation *sim)
{
    struct tac_balance *b = &sim->balance;
    if (sim->local == NULL || b->shuffle || sim->integrator->balance == NULL)
        return false;
    if (b->deep_messages == 0)
        b->deep_messages = least_deep_messages(sim, read_load(sim).distribution_s);
    return sim->integrator->balance->deep_messages(sim->state) > b->deep_messages;
}

/* Moves `from` halfway to `load`, so that older work counts half as much as the work until the next look. The work
 * since one look alone says too little about the future, because contacts come and go. */
static void halve_old_load(struct tac_workload *from, const struct tac_workload *load)
{
    from->ticks_s += .5 * (load->ticks_s - from->ticks_s);
    from->contact_s += .5 * (load->contact_s - from->contact_s);
    from->discovery_s += .5 * (load->discovery_s - from->discovery_s);
    from->counted_s += .5 * (load->counted_s - from->counted_s);
}

static void shift_load(struct tac_workload *load, const struct tac_workload *from, const struct tac_workload *to)
{
    load->ticks_s += to->ticks_s - from->ticks_s;
    load->contact_s += to->contact_s - from->contact_s;
    load->discovery_s += to->discovery_s - from->discovery_s;
    load->counted_s += to->counted_s - from->counted_s;
}

/* Moves clusters in deep contact to one rank each. The work since the last distribution by balance still counts, so it
 * is corrected: the new state begins with other counts (rank 0 gets those of all ranks). */
static enum tac_err join_deep(struct tac_simulation *sim)
{
    enum tac_err err;
    struct tac_balance *b = &sim->balance;
    const struct tac_workload before = read_load(sim);
    const bool soon = b->joined_at > 0 && b->passes - b->joined_at < SOON;
    b->deep_messages = !soon                                   ? least_deep_messages(sim, before.distribution_s)
                       : b->deep_messages < MOST_DEEP_MESSAGES ? 2 * b->deep_messages
                                                               : b->deep_messages;
    b->joined_at = b->passes;
    TAC_TRY(distribute_again(sim, true));
    sim->integrator->balance->clear_deep_messages(sim->state);
    const struct tac_workload after = read_load(sim);
    shift_load(&b->load, &before, &after);
    shift_load(&b->recent, &before, &after);
done:
    return err;
}

/* About how long a distribution takes, s. */
static double distribution_cost_s(const struct tac_simulation *sim, const struct tac_workload *load)
{
    const double total = (double)sim->local->mesh->part->vertex_total;
    return DISTRIBUTION_S + load->distribution_s + DISTRIBUTION_VERTEX_S * total / sim->ctx->size +
           CUT_VERTEX_S * fmin(total, TAC_CUT_MOST);
}

/* Is the time lost since the last distribution more than a distribution costs? Time is lost if ranks have unequal work,
 * if they evaluate contacts twice, if several ranks have so little work that one would be faster, or if one rank has so
 * much that several would be faster. With this rule no run loses more than twice the time that it would lose with
 * perfect foresight. */
static enum tac_err is_worth_moving(struct tac_simulation *sim, const struct tac_workload *load, bool *yes)
{
    struct tac_balance *b = &sim->balance;
    const double ticks_s = load->ticks_s - b->load.ticks_s, contact_s = load->contact_s - b->load.contact_s;
    double most = ticks_s + load->discovery_s - b->load.discovery_s,
           sum[4] = {most, load->shared, contact_s, load->counted_s - b->load.counted_s};
    if (MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS ||
        MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPI_DOUBLE, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS ||
        MPI_Bcast(sum, 4, MPI_DOUBLE, 0, sim->ctx->comm) != MPI_SUCCESS) /* to the last bit */
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while comparing the ranks' work");
    const double mean = sum[0] / sim->ctx->size, twice = sum[1] / sim->ctx->size, cost = distribution_cost_s(sim, load);
    const bool skewed = most > SKEWED * mean && most - mean > cost;
    const bool talkative = twice > TWICE && !b->cut_known && twice * (sum[2] / sim->ctx->size) > cost;
    /* Gain of all ranks over one rank (negative: loss), s. It is computed from counts, because clocks of a busy machine
     * would always call for more ranks.
     */
    const double windows = (double)(b->passes - b->distributed_at), size = sim->ctx->size,
                 all = sum[3] + windows * VERTEX_S * (double)sim->local->mesh->part->vertex_total,
                 gain = all * (1 - 1 / size) - windows * MEET_S;
    const bool other = b->gathered ? gain > cost : -gain > cost && may_gather(sim);
    b->gathered = b->gathered != other;
    *yes = other || (!b->gathered && (skewed || talkative));
    return TAC_OK;
}

/* Is the balance to be looked at after this pass? After 4, 8, 16 and 32 passes, and then every 32, as the integrator
 * says. The early looks are needed because the first distribution does not know the contacts, which are known soon
 * after the start. */
static bool is_look(const struct tac_simulation *sim, int64_t pass)
{
    const struct tac_integrator_balance *balance = sim->integrator->balance;
    const int64_t each = balance != NULL ? balance->passes_per_look : INT64_MAX;
    return pass % each == 0 || (pass < each && pass >= 4 && (pass & (pass - 1)) == 0);
}

enum tac_err tac_simulation_balance(struct tac_simulation *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_balance *b = &sim->balance;
    const int64_t pass = ++b->passes;
    const bool look = is_look(sim, pass);
    struct tac_workload load;
    bool distribute = b->shuffle != 0;
    if (sends_too_much(sim))
        return join_deep(sim);
    if (sim->local == NULL || (!look && !distribute && pass > 1))
        return TAC_OK;
    load = read_load(sim);
    if (pass == 1)
        b->load = b->recent = load; /* in a run that continues: work before this process */
    if (!distribute)
        TAC_TRY(is_worth_moving(sim, &load, &distribute));
    if (!distribute) {
        halve_old_load(&b->recent, &load);
        return TAC_OK;
    }
    b->cut_known = !b->gathered; /* the cut takes the present contacts into account */
    b->distributed_at = pass;
    err = distribute_again(sim, false);
    b->load = b->recent = sim->state ? read_load(sim) : (struct tac_workload){0};
done:
    return err;
}
