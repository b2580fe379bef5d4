/* subdomains_place.c: which rank works on which subdomain: by the blocks of their rows, which is what an iteration
 * costs. */
#include "solve/subdomains.h"
#include <stdlib.h>

/* The rank that has most work in each subdomain; of equals the first. work: (ranks, subdomains). */
static void place_at_home(const struct tac_ctx *ctx, const int64_t *work, struct tac_cut *cut)
{
    for (int s = 0; s < cut->subdomains; s++) {
        cut->rank[s] = 0;
        for (int r = 1; r < ctx->size; r++)
            if (work[r * cut->subdomains + s] > work[cut->rank[s] * cut->subdomains + s])
                cut->rank[s] = r;
    }
}

/* The subdomain of rank `from` whose rows need travel least to rank `to`, of those that make the more loaded of both
 * lighter; -1: none. */
static int choose_moved(const int64_t *work, const int64_t *all, const int64_t *load, int from, int to,
                        const struct tac_cut *cut)
{
    int best = -1;
    int64_t best_cost = 0;
    for (int s = 0; s < cut->subdomains; s++) {
        const int64_t cost = work[from * cut->subdomains + s] - work[to * cut->subdomains + s];
        if (cut->rank[s] == from && load[to] + all[s] < load[from] && (best < 0 || cost < best_cost)) {
            best = s;
            best_cost = cost;
        }
    }
    return best;
}

/* Moves subdomains from the most to the least loaded rank as long as that makes the former lighter. */
static void balance(const struct tac_ctx *ctx, const int64_t *work, const int64_t *all, int64_t *load,
                    struct tac_cut *cut)
{
    for (int s = 0; s < cut->subdomains; s++)
        load[cut->rank[s]] += all[s];
    for (int moves = 0; moves < cut->subdomains; moves++) {
        int from = 0, to = 0;
        for (int r = 1; r < ctx->size; r++) {
            from = load[r] > load[from] ? r : from;
            to = load[r] < load[to] ? r : to;
        }
        const int s = choose_moved(work, all, load, from, to, cut);
        if (s < 0)
            return;
        load[from] -= all[s];
        load[to] += all[s];
        cut->rank[s] = to;
    }
}

enum tac_err tac_cut_place(struct tac_ctx *ctx, const struct tac_system *system, struct tac_cut *cut)
{
    enum tac_err err;
    const size_t n = (size_t)cut->subdomains;
    int64_t *work = NULL, *all = NULL, *load = NULL;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)ctx->size * n, sizeof *work, &work));
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *all, &all));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)ctx->size, sizeof *load, &load));
    for (tac_lid i = 0; i < system->nodes.owned; i++)
        if (cut->subdomain[i] >= 0)
            work[(size_t)ctx->rank * n + (size_t)cut->subdomain[i]] +=
                (int64_t)(system->matrix->row[i + 1] - system->matrix->row[i]);
done:
    err = tac_agree(ctx, err);
    if (!err) {
        MPI_Allreduce(MPI_IN_PLACE, work, (int)((size_t)ctx->size * n), MPI_INT64_T, MPI_SUM, ctx->comm);
        for (size_t k = 0; k < (size_t)ctx->size * n; k++)
            all[k % n] += work[k];
        place_at_home(ctx, work, cut);
        balance(ctx, work, all, load, cut);
    }
    free(work);
    free(all);
    free(load);
    return err;
}
