/* subdomains_contract.c: makes the graph of the clusters into which pairs of clusters are merged. */
#include "base/exchange.h"
#include "solve/subdomains.h"
#include <stdlib.h>
#include <string.h>

void tac_graph_free(struct tac_graph *graph)
{
    free(graph->id);
    free(graph->owner);
    free(graph->size);
    free(graph->row);
    free(graph->column);
    free(graph->weight);
    tac_nodes_halo_destroy(&graph->halo);
    memset(graph, 0, sizeof *graph);
}

/* An edge of the new graph, as it is sent to the rank that owns its row. */
struct edge {
    tac_gid row, column;
    int64_t owner, weight; /* owner: of the column */
};

struct contraction {
    const struct tac_graph *fine;
    const tac_lid *mate;
    struct tac_graph_part *part; /* (fine count) */
    struct edge *out, *in;
    int32_t *to;
    size_t out_count, out_capacity, to_capacity, in_count;
    tac_lid *place;  /* owned, (fine count): local id in the new graph */
    size_t *arrived; /* owned, (new owned + 1): edges in `in` by rows, after sorting */
};

/* Sends the edges of clusters that other ranks own from now on. */
static enum tac_err pack_edges(struct tac_ctx *ctx, struct contraction *c)
{
    enum tac_err err = TAC_OK;
    const struct tac_graph *g = c->fine;
    for (tac_lid u = 0; u < g->nodes.owned; u++) {
        if (c->part[u].owner == ctx->rank)
            continue;
        const size_t most = c->out_count + g->row[u + 1] - g->row[u];
        TAC_TRY(tac_grow(ctx, &c->out, &c->out_capacity, most, sizeof *c->out));
        TAC_TRY(tac_grow(ctx, &c->to, &c->to_capacity, most, sizeof *c->to));
        for (size_t k = g->row[u]; k < g->row[u + 1]; k++) {
            const struct tac_graph_part *v = &c->part[g->column[k]];
            if (v->id == c->part[u].id)
                continue;
            c->to[c->out_count] = (int32_t)c->part[u].owner;
            c->out[c->out_count++] = (struct edge){c->part[u].id, v->id, v->owner, g->weight[k]};
        }
    }
done:
    return err;
}

/* Sets ids, owners and sizes of the new graph's vertices, and `place`. */
static enum tac_err name_vertices(struct tac_ctx *ctx, struct contraction *c, struct tac_graph *coarse)
{
    enum tac_err err;
    const struct tac_graph *g = c->fine;
    struct tac_keyed *ghost = NULL;
    size_t ghosts = 0;
    tac_lid owned = 0;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)g->nodes.count + c->in_count, sizeof *ghost, &ghost));
    for (tac_lid v = 0; v < g->nodes.count; v++)
        if (c->part[v].owner == ctx->rank)
            owned += v < g->nodes.owned && c->part[v].id == g->id[v];
        else
            ghost[ghosts++] = (struct tac_keyed){c->part[v].id, c->part[v].owner};
    for (size_t k = 0; k < c->in_count; k++)
        if (c->in[k].owner != ctx->rank)
            ghost[ghosts++] = (struct tac_keyed){c->in[k].column, c->in[k].owner};
    TAC_TRY(tac_sort_keyed(ctx, ghosts, ghost));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)owned + ghosts, sizeof *coarse->id, &coarse->id));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)owned + ghosts, sizeof *coarse->owner, &coarse->owner));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)owned + ghosts, sizeof *coarse->size, &coarse->size));
    tac_lid n = 0;
    for (tac_lid u = 0; u < g->nodes.owned; u++)
        if (c->part[u].owner == ctx->rank && c->part[u].id == g->id[u]) {
            coarse->id[n] = g->id[u];
            coarse->owner[n] = ctx->rank;
            coarse->size[n++] = g->size[u] + (c->mate[u] >= 0 ? g->size[c->mate[u]] : 0);
        }
    for (size_t k = 0; k < ghosts; k++)
        if (k == 0 || ghost[k].key != ghost[k - 1].key) {
            coarse->id[n] = ghost[k].key;
            coarse->owner[n++] = (int32_t)ghost[k].index;
        }
    coarse->nodes = (struct tac_nodes){n, owned, coarse->id, coarse->owner};
done:
    free(ghost);
    return err;
}

static tac_lid find_vertex(const struct tac_graph *g, tac_gid id, bool ours)
{
    const tac_lid owned = g->nodes.owned;
    return ours ? tac_id_find(g->id, owned, id) : owned + tac_id_find(g->id + owned, g->nodes.count - owned, id);
}

/* Sorts the received edges by row. */
static enum tac_err sort_arrived(struct tac_ctx *ctx, struct contraction *c, const struct tac_graph *coarse)
{
    enum tac_err err;
    const tac_lid owned = coarse->nodes.owned;
    TAC_TRY(tac_sort_records(ctx, c->in_count, sizeof *c->in, c->in));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)owned + 1, sizeof *c->arrived, &c->arrived));
    size_t k = 0;
    for (tac_lid u = 0; u < owned; u++) {
        c->arrived[u] = k;
        while (k < c->in_count && c->in[k].row == coarse->id[u])
            k++;
    }
    c->arrived[owned] = k;
    TAC_CHECK(k == c->in_count);
done:
    return err;
}

struct row_maker {
    struct tac_graph *graph;
    size_t capacity[2], end;
    size_t *slot; /* owned, (count): where the present row has the column, plus 1; smaller than the start of the row: it
                     has not */
    tac_lid row;
};

static enum tac_err add_edge(struct tac_ctx *ctx, struct row_maker *m, tac_lid column, int64_t weight)
{
    enum tac_err err = TAC_OK;
    struct tac_graph *g = m->graph;
    if (column == m->row)
        return TAC_OK;
    if (m->slot[column] > g->row[m->row]) {
        g->weight[m->slot[column] - 1] += weight;
        return TAC_OK;
    }
    TAC_TRY(tac_grow(ctx, &g->column, &m->capacity[0], m->end + 1, sizeof *g->column));
    TAC_TRY(tac_grow(ctx, &g->weight, &m->capacity[1], m->end + 1, sizeof *g->weight));
    g->column[m->end] = column;
    g->weight[m->end++] = weight;
    m->slot[column] = m->end;
done:
    return err;
}

/* Adds the edges of a vertex of the fine graph. */
static enum tac_err add_edges(struct tac_ctx *ctx, struct row_maker *m, const struct contraction *c, tac_lid u)
{
    enum tac_err err = TAC_OK;
    for (size_t k = c->fine->row[u]; k < c->fine->row[u + 1]; k++)
        TAC_TRY(add_edge(ctx, m, c->place[c->fine->column[k]], c->fine->weight[k]));
done:
    return err;
}

static enum tac_err make_graph_rows(struct tac_ctx *ctx, struct contraction *c, struct tac_graph *coarse)
{
    enum tac_err err;
    struct row_maker m = {.graph = coarse};
    const tac_lid owned = coarse->nodes.owned;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)owned + 1, sizeof *coarse->row, &coarse->row));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)coarse->nodes.count, sizeof *m.slot, &m.slot));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)c->fine->nodes.count, sizeof *c->place, &c->place));
    for (tac_lid v = 0; v < c->fine->nodes.count; v++)
        c->place[v] = find_vertex(coarse, c->part[v].id, c->part[v].owner == ctx->rank);
    for (tac_lid u = 0; u < c->fine->nodes.owned; u++) {
        if (c->part[u].owner != ctx->rank || c->part[u].id != c->fine->id[u])
            continue;
        m.row = c->place[u];
        coarse->row[m.row] = m.end;
        TAC_TRY(add_edges(ctx, &m, c, u));
        if (c->mate[u] >= 0 && c->mate[u] < c->fine->nodes.owned)
            TAC_TRY(add_edges(ctx, &m, c, c->mate[u]));
        for (size_t k = c->arrived[m.row]; k < c->arrived[m.row + 1]; k++)
            TAC_TRY(
                add_edge(ctx, &m, find_vertex(coarse, c->in[k].column, c->in[k].owner == ctx->rank), c->in[k].weight));
    }
    coarse->row[owned] = m.end;
done:
    free(m.slot);
    return err;
}

enum tac_err tac_graph_contract_start(struct tac_ctx *ctx, const struct tac_graph *fine, struct tac_graph_step *step,
                                      struct tac_graph_part **part)
{
    enum tac_err err;
    step->owned = fine->nodes.owned;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)fine->nodes.count, sizeof **part, part));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)fine->nodes.owned, sizeof *step->id, &step->id));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)fine->nodes.owned, sizeof *step->owner, &step->owner));
done:
    return err;
}

enum tac_err tac_graph_contract(struct tac_ctx *ctx, const struct tac_graph *fine, const tac_lid *mate,
                                struct tac_graph_step *step, struct tac_graph_part *part, struct tac_graph *coarse)
{
    enum tac_err err;
    struct contraction c = {.fine = fine, .mate = mate, .part = part};
    for (tac_lid u = 0; u < fine->nodes.owned; u++) {
        const tac_lid first = mate[u] >= 0 && fine->id[mate[u]] < fine->id[u] ? mate[u] : u;
        part[u] = (struct tac_graph_part){fine->id[first], fine->owner[first]};
        step->id[u] = fine->id[first];
        step->owner[u] = fine->owner[first];
    }
    tac_nodes_halo_refresh(fine->halo, part, sizeof *part);
    err = pack_edges(ctx, &c);
    TAC_TRY(tac_distribute(ctx, err, c.out_count, c.to, c.out, sizeof *c.out, &c.in, &c.in_count));
    err = name_vertices(ctx, &c, coarse);
    err = err ? err : sort_arrived(ctx, &c, coarse);
    err = err ? err : make_graph_rows(ctx, &c, coarse);
    TAC_TRY(tac_nodes_halo_create_after(ctx, err, &coarse->nodes, &coarse->halo));
    tac_nodes_halo_refresh(coarse->halo, coarse->size, sizeof *coarse->size);
done:
    free(c.out);
    free(c.in);
    free(c.to);
    free(c.place);
    free(c.arrived);
    return err;
}
