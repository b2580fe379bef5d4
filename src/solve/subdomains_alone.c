/* subdomains_alone.c: cuts a small graph on every rank, where it costs less to gather it once than to exchange messages
 * in each round of matching. The graph of all ranks is the same graph, so the cut has the same bits. */
#include "base/exchange.h"
#include "solve/subdomains.h"
#include <stdlib.h>
#include <string.h>

/* A vertex in the message of numbers, before its edges: those to vertices with larger ids, each in two numbers. */
enum { ID, OWNER, WORK, ROOT, EDGES, HEAD, EDGE = 2 };

struct gathered {
    int64_t *number; /* owned: of all ranks */
    int64_t numbers;
    size_t count;         /* vertices */
    const int64_t **head; /* owned, (count): of each vertex, by ascending id */
    int32_t *owner;       /* owned, (count) */
    int64_t *work;        /* owned, (count): blocks of its rows */
};

static int64_t bits_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double value_of(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Writes the message of this rank: *number, owned by the caller; where it has more than `room` numbers, which are not
 * sent, *count is only more than that. */
static enum tac_err pack(struct tac_ctx *ctx, const struct tac_system *system, const struct tac_graph_start *start,
                         const struct tac_graph *first, size_t room, int64_t **number, size_t *count)
{
    enum tac_err err;
    const struct tac_matrix *m = system->matrix;
    const size_t most = HEAD * (size_t)first->nodes.owned + EDGE * m->row[m->owned];
    size_t n = 0;
    room = most < room ? most : room;
    TAC_TRY(tac_alloc_brief(ctx, room, sizeof **number, number));
    *count = room + 1;
    for (tac_lid v = 0; v < first->nodes.owned; v++) {
        const tac_lid i = start->node[v];
        int64_t *head = *number + n;
        if (n + HEAD > room)
            goto done;
        head[ID] = first->id[v];
        head[OWNER] = ctx->rank;
        head[WORK] = (int64_t)(m->row[i + 1 + start->pairs] - m->row[i]);
        head[ROOT] = bits_of(start->root[i]);
        n += HEAD;
        for (size_t k = m->row[i]; k < m->row[i + 1]; k++) {
            const tac_lid w = start->vertex[m->column[k]];
            if (w < 0 || first->id[w] <= first->id[v])
                continue;
            if (n + EDGE > room)
                goto done;
            (*number)[n] = first->id[w];
            (*number)[n + 1] = bits_of(tac_graph_size(start, m, i, k));
            n += EDGE;
            head[EDGES]++;
        }
    }
    *count = n;
done:
    return err;
}

/* Lists the vertices of the gathered message by ascending id. */
static enum tac_err list_vertices(struct tac_ctx *ctx, struct gathered *g)
{
    enum tac_err err;
    struct tac_keyed *key = NULL;
    for (int64_t at = 0; at < g->numbers; at += HEAD + EDGE * g->number[at + EDGES])
        g->count++;
    TAC_TRY(tac_alloc_brief(ctx, g->count, sizeof *key, &key));
    TAC_TRY(tac_alloc_brief(ctx, g->count, sizeof *g->head, &g->head));
    TAC_TRY(tac_alloc_brief(ctx, g->count, sizeof *g->owner, &g->owner));
    TAC_TRY(tac_alloc_brief(ctx, g->count, sizeof *g->work, &g->work));
    g->count = 0;
    for (int64_t at = 0; at < g->numbers; at += HEAD + EDGE * g->number[at + EDGES])
        key[g->count++] = (struct tac_keyed){g->number[at + ID], at};
    TAC_TRY(tac_sort_keyed(ctx, g->count, key));
    for (size_t v = 0; v < g->count; v++) {
        g->head[v] = g->number + key[v].index;
        g->owner[v] = (int32_t)g->head[v][OWNER];
        g->work[v] = g->head[v][WORK];
    }
done:
    free(key);
    return err;
}

/* Adds an edge at one of its ends; columns NULL: it is only counted. */
static void add_edge(struct tac_graph *graph, size_t *next, tac_lid from, tac_lid to, int64_t weight)
{
    if (graph->column) {
        graph->column[next[from]] = to;
        graph->weight[next[from]] = weight;
    }
    next[from]++;
}

/* Counts or fills in the edges of all vertices, each at both ends. */
static void add_edges(const struct gathered *g, bool pairs, struct tac_graph *graph, size_t *next)
{
    for (tac_lid v = 0; v < (tac_lid)g->count; v++) {
        const int64_t *edge = g->head[v] + HEAD;
        for (int64_t k = 0; k < g->head[v][EDGES]; k++, edge += EDGE) {
            const tac_lid w = tac_id_find(graph->id, (tac_lid)g->count, edge[0]);
            TAC_CHECK(w >= 0);
            const int64_t weight =
                tac_graph_weigh(pairs, value_of(edge[1]), value_of(g->head[v][ROOT]), value_of(g->head[w][ROOT]));
            if (weight > 0) {
                add_edge(graph, next, v, w, weight);
                add_edge(graph, next, w, v, weight);
            }
        }
    }
}

/* Makes the graph of all vertices, as of one rank that owns them. */
static enum tac_err make_graph(struct tac_ctx *alone, const struct gathered *g, bool pairs, struct tac_graph *graph)
{
    enum tac_err err;
    size_t *next = NULL;
    TAC_TRY(tac_alloc_brief(alone, g->count, sizeof *graph->id, &graph->id));
    TAC_TRY(tac_alloc_brief(alone, g->count, sizeof *graph->owner, &graph->owner));
    TAC_TRY(tac_alloc_brief(alone, g->count, sizeof *graph->size, &graph->size));
    TAC_TRY(tac_alloc_brief(alone, g->count + 1, sizeof *graph->row, &graph->row));
    TAC_TRY(tac_alloc_brief(alone, g->count, sizeof *next, &next));
    for (size_t v = 0; v < g->count; v++) {
        graph->id[v] = g->head[v][ID];
        graph->size[v] = 1;
    }
    graph->nodes = (struct tac_nodes){(tac_lid)g->count, (tac_lid)g->count, graph->id, graph->owner};
    add_edges(g, pairs, graph, next);
    for (size_t v = 0; v < g->count; v++) {
        graph->row[v + 1] = graph->row[v] + next[v];
        next[v] = graph->row[v];
    }
    TAC_TRY(tac_alloc_brief(alone, graph->row[g->count], sizeof *graph->column, &graph->column));
    TAC_TRY(tac_alloc_brief(alone, graph->row[g->count], sizeof *graph->weight, &graph->weight));
    add_edges(g, pairs, graph, next);
    TAC_TRY(tac_nodes_halo_create(alone, &graph->nodes, &graph->halo));
done:
    free(next);
    return err;
}

/* Local. Cuts the gathered graph, and sets the names and ranks of local nodes. */
static enum tac_err cut_gathered(struct tac_ctx *ctx, const struct tac_system *system,
                                 const struct tac_graph_start *start, const struct tac_graph *first,
                                 const struct tac_cut_rule *rule, struct gathered *g, struct tac_cut *cut)
{
    enum tac_err err;
    struct tac_ctx alone;
    struct tac_graph graph = {0};
    tac_gid *name = NULL, *id = NULL;
    int32_t *rank = NULL;
    tac_ctx_init(&alone, MPI_COMM_SELF);
    TAC_TRY(list_vertices(&alone, g));
    TAC_TRY(make_graph(&alone, g, rule->pairs, &graph));
    if (system->products)
        *system->products += (int64_t)(TAC_CUT_PRODUCTS * graph.row[g->count]);
    TAC_TRY(tac_alloc_brief(&alone, g->count, sizeof *id, &id));
    TAC_TRY(tac_alloc_brief(&alone, g->count, sizeof *rank, &rank));
    for (size_t v = 0; v < g->count; v++)
        id[v] = graph.id[v];
    TAC_TRY(tac_graph_cut(&alone, &graph, (int64_t)g->count, rule, &name, cut));
    const struct tac_graph_place place = {g->count, name, g->owner, g->work};
    alone.size = ctx->size; /* of the ranks that the places are on; no call of them is made there */
    TAC_TRY(tac_cut_place_all(&alone, &place, rank));
    for (tac_lid v = 0; v < first->nodes.count; v++) {
        const tac_lid at = tac_id_find(id, (tac_lid)g->count, first->id[v]);
        TAC_CHECK(at >= 0);
        for (tac_lid half = 0; half <= rule->pairs; half++) {
            cut->name[start->node[v] + half] = name[at];
            cut->rank[start->node[v] + half] = rank[at];
        }
    }
done:
    if (err)
        tac_fail(ctx, err, "%s", alone.error);
    tac_graph_free(&graph);
    free(name);
    free(id);
    free(rank);
    return err;
}

enum tac_err tac_cut_alone(struct tac_ctx *ctx, enum tac_err err, const struct tac_system *system,
                           const struct tac_graph_start *start, const struct tac_graph *first,
                           const struct tac_cut_rule *rule, struct tac_cut *cut, bool *done)
{
    struct gathered g = {0};
    int64_t *number = NULL;
    size_t count = 0;
    err = err ? err : pack(ctx, system, start, first, (size_t)rule->alone, &number, &count);
    TAC_TRY(tac_share_all(ctx, err, count, number, sizeof *number, rule->alone, &g.number, &g.numbers));
    *done = g.numbers <= rule->alone;
    if (*done)
        TAC_TRY(tac_agree(ctx, cut_gathered(ctx, system, start, first, rule, &g, cut)));
done:
    free(number);
    free(g.number);
    free(g.head);
    free(g.owner);
    free(g.work);
    return err;
}
