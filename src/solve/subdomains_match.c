/* subdomains_match.c: finds which clusters of a graph to merge, by rounds of handshakes. */
#include "solve/subdomains.h"
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4, RATING_SHIFT = 20 };

/* Breaks ties of equal ratings by hashes of ids. With the ids themselves a row of equal elements would be matched one
 * pair a round. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = a * UINT64_C(0x9e3779b97f4a7c15) ^ (b + UINT64_C(0x632be59bd9b4e019)) * UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 29;
}

/* Returns the neighbour with which cluster u would be merged, or -1. The order of edges is total, and the same from
 * both ends.
 */
static tac_lid choose(const struct tac_graph *g, int64_t most, const uint8_t *taken, tac_lid u)
{
    uint64_t best = 0, best_tie = 0;
    tac_lid chosen = -1;
    for (size_t k = g->row[u]; k < g->row[u + 1]; k++) {
        const tac_lid v = g->column[k];
        if (taken[v] || g->size[u] + g->size[v] > most)
            continue;
        const uint64_t rating = ((uint64_t)g->weight[k] << RATING_SHIFT) / (uint64_t)(g->size[u] * g->size[v]);
        const tac_gid a = g->id[u], b = g->id[v];
        const uint64_t tie = a < b ? mix((uint64_t)a, (uint64_t)b) : mix((uint64_t)b, (uint64_t)a);
        if (chosen < 0 || rating > best ||
            (rating == best && (tie > best_tie || (tie == best_tie && b < g->id[chosen])))) {
            chosen = v;
            best = rating;
            best_tie = tie;
        }
    }
    return chosen;
}

enum tac_err tac_graph_match_start(struct tac_ctx *ctx, const struct tac_graph *graph, struct tac_matching *m)
{
    enum tac_err err;
    const size_t owned = (size_t)graph->nodes.owned, count = (size_t)graph->nodes.count;
    TAC_TRY(tac_alloc_brief(ctx, owned, sizeof *m->mate, &m->mate));
    TAC_TRY(tac_alloc_brief(ctx, owned, sizeof *m->chosen, &m->chosen));
    TAC_TRY(tac_alloc_brief(ctx, count, sizeof *m->taken, &m->taken));
    TAC_TRY(tac_alloc_brief(ctx, count, sizeof *m->request, &m->request));
done:
    return err;
}

void tac_graph_match_end(struct tac_matching *m)
{
    free(m->mate);
    free(m->chosen);
    free(m->taken);
    free(m->request);
    *m = (struct tac_matching){0};
}

int64_t tac_graph_match(struct tac_ctx *ctx, const struct tac_graph *graph, int64_t most, struct tac_matching *m)
{
    const tac_lid owned = graph->nodes.owned;
    int64_t found = 0;
    for (tac_lid u = 0; u < owned; u++)
        m->mate[u] = -1;
    for (int round = 0; round < ROUNDS; round++) {
        for (tac_lid u = 0; u < owned; u++) {
            m->chosen[u] = m->taken[u] ? -1 : choose(graph, most, m->taken, u);
            m->request[u] = m->chosen[u] < 0 ? -1 : graph->id[m->chosen[u]];
        }
        tac_nodes_halo_refresh(graph->halo, m->request, sizeof *m->request);
        for (tac_lid u = 0; u < owned; u++)
            if (m->chosen[u] >= 0 && m->request[m->chosen[u]] == graph->id[u]) {
                m->mate[u] = m->chosen[u];
                m->taken[u] = 1;
                found++;
            }
        if (round < ROUNDS - 1) /* the last round's is not read */
            tac_nodes_halo_refresh(graph->halo, m->taken, sizeof *m->taken);
    }
    MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    return found;
}
