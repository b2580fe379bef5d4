/* balance.c: ranks that are out of balance: the scene is distributed anew while it runs. */
#include "io/record/record.h"
#include "partition/cut.h"
#include "run/rebalance.h"
#include "run/simulation.h"
#include <math.h>

enum {
    PASSES_PER_LOOK = 32,
    DEEP_MESSAGES =
        2048, /* so many messages, and some for each vertex of a rank, take about as long as a rebalancing */
    DEEP_MESSAGES_PER_VERTEX = 2,
    MOST_DEEP_MESSAGES = 64 * DEEP_MESSAGES,
    SOON = 8,       /* passes */
    ON_ONE = 1024,  /* balls: such a scene begins on one rank */
    OF_ELEMENTS = 4 /* a vertex with elements takes as long as so many balls */
};

static const double SKEWED = 1.08, TWICE = .15;
/* What a deal takes: by itself, for each vertex of a rank, and for each vertex of the graph that rank 0 cuts, s. */
static const double DEAL_S = .01, DEAL_VERTEX_S = 12e-6, CUT_VERTEX_S = 3e-6;
/* What a window takes several ranks beside the work: meeting at its instants and at its end, and waiting there, s. */
static const double MEET_S = 350e-6;
/* What a vertex takes in each window whatever it does, s: without elements, where it is least. */
static const double VERTEX_S = 50e-9;

/* All to the first rank. */
static void gather(struct tac_pieces *pieces)
{
    for (tac_lid i = 0; i < pieces->vertex_count; i++)
        pieces->owner[i] = 0;
}

/* May one rank have all?  With kinetic structures ranks meet less, and gain by their parts (docs/reference/ranks.md).
 */
static bool may_gather(const struct tac_simulation *sim)
{
    return sim->way->balance != NULL && !sim->balance.deals && !sim->balance.shuffle &&
           sim->whole->settings->discovery.mode != TAC_DISCOVER_KDS;
}

enum tac_err tac_simulation_deal(struct tac_simulation *sim, struct tac_pieces *pieces)
{
    struct tac_balance *b = &sim->balance;
    int64_t work = 0;
    for (tac_lid i = 0; i < pieces->vertex_count; i++)
        if (pieces->ever_free[i])
            work += sim->whole->settings->body[pieces->body[i]].has_elements ? OF_ELEMENTS : 1;
    if (MPI_Allreduce(MPI_IN_PLACE, &work, 1, MPI_INT64_T, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while counting vertices");
    b->gathered = work < ON_ONE && may_gather(sim);
    if (!b->gathered)
        return tac_distribute_first(sim->ctx, sim->whole, pieces);
    gather(pieces);
    return TAC_OK;
}

/* joined: only clusters in deep contact change hands. */
static enum tac_err distribute_again(struct tac_simulation *sim, bool joined)
{
    enum tac_err err;
    struct tac_balance *b = &sim->balance;
    struct tac_pieces *pieces = NULL;
    int64_t moved = 0;
    double balance;
    TAC_TRY(tac_pieces_of(sim->ctx, sim->local, &pieces));
    if (b->gathered)
        gather(pieces);
    else if (joined)
        for (tac_lid i = 0; i < pieces->vertex_count; i++)
            pieces->owner[i] = sim->ctx->rank;
    else
        TAC_TRY(tac_rebalance_again(sim, pieces, b->shuffle ? b->shuffle + (uint64_t)b->passes : 0, &balance));
    if (!b->shuffle && !b->gathered && sim->way->balance != NULL)
        TAC_TRY(sim->way->balance->join(sim->state, pieces));
    if (sim->record != NULL)
        TAC_TRY(tac_record_distribute(sim->record));
    TAC_TRY(tac_rebalance_move(sim, pieces, &moved));
    TAC_TRY(tac_agree(sim->ctx, sim->way->record->begin(sim->state, sim->record ? &sim->record->log : NULL)));
done:
    tac_pieces_destroy(&pieces);
    return err;
}

/* An integrator that does not tell its work is never dealt anew for its sake. */
static struct tac_workload look_at_load(const struct tac_simulation *sim)
{
    struct tac_workload load = {0};
    if (sim->way->balance != NULL)
        sim->way->balance->load(sim->state, &load);
    return load;
}

/* deal_s: of the workload. */
static int64_t least_deep_messages(const struct tac_simulation *sim, double deal_s)
{
    return (int64_t)(DEEP_MESSAGES * (1 + deal_s / DEAL_S)) +
           DEEP_MESSAGES_PER_VERTEX * sim->local->mesh->part->vertex_total / sim->ctx->size;
}

/* Have ranks sent each other so many messages for the sake of deep pairs that a rebalancing would have been cheaper?
 * Where a deal has not helped, so that there is as much to tell soon after it, the next one waits for more. */
static bool has_too_many_deep_messages(struct tac_simulation *sim)
{
    struct tac_balance *b = &sim->balance;
    if (sim->local == NULL || b->shuffle || sim->way->balance == NULL)
        return false;
    if (b->deep_messages == 0)
        b->deep_messages = least_deep_messages(sim, look_at_load(sim).deal_s);
    return sim->way->balance->deep_messages(sim->state) > b->deep_messages;
}

/* `from` moves halfway to `load`: what was worked in between counts half as much as what will be worked until the next
 * look.  Contacts come and go: what was worked since one look alone says too little about what will come. */
static void forget_half(struct tac_workload *from, const struct tac_workload *load)
{
    from->ticks_s += .5 * (load->ticks_s - from->ticks_s);
    from->contact_s += .5 * (load->contact_s - from->contact_s);
    from->discovery_s += .5 * (load->discovery_s - from->discovery_s);
    from->counted_s += .5 * (load->counted_s - from->counted_s);
}

static void move_load(struct tac_workload *load, const struct tac_workload *from, const struct tac_workload *to)
{
    load->ticks_s += to->ticks_s - from->ticks_s;
    load->contact_s += to->contact_s - from->contact_s;
    load->discovery_s += to->discovery_s - from->discovery_s;
    load->counted_s += to->counted_s - from->counted_s;
}

/* What ranks have worked since the last deal by balance stands: a new simulation begins with other counts, those of all
 * ranks on the first one. */
static enum tac_err join_deep(struct tac_simulation *sim)
{
    enum tac_err err;
    struct tac_balance *b = &sim->balance;
    const struct tac_workload before = look_at_load(sim);
    const bool soon = b->joined_at > 0 && b->passes - b->joined_at < SOON;
    b->deep_messages = !soon                                   ? least_deep_messages(sim, before.deal_s)
                       : b->deep_messages < MOST_DEEP_MESSAGES ? 2 * b->deep_messages
                                                               : b->deep_messages;
    b->joined_at = b->passes;
    TAC_TRY(distribute_again(sim, true));
    sim->way->balance->clear_deep_messages(sim->state);
    const struct tac_workload after = look_at_load(sim);
    move_load(&b->load, &before, &after);
    move_load(&b->recent, &before, &after);
done:
    return err;
}

/* About how long a deal takes. */
static double whole_deal_s(const struct tac_simulation *sim, const struct tac_workload *load)
{
    const double total = (double)sim->local->mesh->part->vertex_total;
    return DEAL_S + load->deal_s + DEAL_VERTEX_S * total / sim->ctx->size + CUT_VERTEX_S * fmin(total, TAC_CUT_MOST);
}

/* Has what was lost since the last deal, because ranks had unequal work or evaluated contacts twice, or because they
 * had so little work that one of them would have been done sooner, or one had so much, become more than a deal costs?
 * So no run loses more than twice what it would lose if all were known beforehand. */
static enum tac_err worth_it(struct tac_simulation *sim, const struct tac_workload *load, bool *yes)
{
    struct tac_balance *b = &sim->balance;
    const double ticks_s = load->ticks_s - b->load.ticks_s, contact_s = load->contact_s - b->load.contact_s;
    double most = ticks_s + load->discovery_s - b->load.discovery_s,
           sum[4] = {most, load->shared, contact_s, load->counted_s - b->load.counted_s};
    if (MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS ||
        MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPI_DOUBLE, MPI_SUM, sim->ctx->comm) != MPI_SUCCESS ||
        MPI_Bcast(sum, 4, MPI_DOUBLE, 0, sim->ctx->comm) != MPI_SUCCESS) /* to the last bit */
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while comparing the ranks' work");
    const double mean = sum[0] / sim->ctx->size, twice = sum[1] / sim->ctx->size, cost = whole_deal_s(sim, load);
    const bool skewed = most > SKEWED * mean && most - mean > cost;
    const bool talkative = twice > TWICE && !b->cut_known && twice * (sum[2] / sim->ctx->size) > cost;
    /* What all ranks gain over one, or lose: by counts, because the clock of a busy machine would share out anything.
     */
    const double windows = (double)(b->passes - b->dealt_at), size = sim->ctx->size,
                 all = sum[3] + windows * VERTEX_S * (double)sim->local->mesh->part->vertex_total,
                 gain = all * (1 - 1 / size) - windows * MEET_S;
    const bool other = b->gathered ? gain > cost : -gain > cost && may_gather(sim);
    b->gathered = b->gathered != other;
    *yes = other || (!b->gathered && (skewed || talkative));
    return TAC_OK;
}

/* Looked at after 4, 8, 16, 32 passes, and then every 32: what touches what is known soon after the start, and the
 * first deal knew nothing of it. */
enum tac_err tac_simulation_balance(struct tac_simulation *sim)
{
    enum tac_err err = TAC_OK;
    struct tac_balance *b = &sim->balance;
    const int64_t pass = ++b->passes;
    const bool look = pass % PASSES_PER_LOOK == 0 || (pass < PASSES_PER_LOOK && pass >= 4 && (pass & (pass - 1)) == 0);
    struct tac_workload load;
    bool deal = b->shuffle != 0;
    if (has_too_many_deep_messages(sim))
        return join_deep(sim);
    if (sim->local == NULL || (!look && !deal && pass > 1))
        return TAC_OK;
    load = look_at_load(sim);
    if (pass == 1)
        b->load = b->recent = load; /* of a run that goes on: what was done before */
    if (!deal)
        TAC_TRY(worth_it(sim, &load, &deal));
    if (!deal) {
        forget_half(&b->recent, &load);
        return TAC_OK;
    }
    b->cut_known = !b->gathered; /* a better cut for these contacts is not to be had */
    b->dealt_at = pass;
    err = distribute_again(sim, false);
    b->load = b->recent = sim->state ? look_at_load(sim) : (struct tac_workload){0};
done:
    return err;
}
