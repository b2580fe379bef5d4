/* cut.c: cuts the graph of vertices for all ranks: contracts it where it is too large for one rank, gathers it on rank
 * 0, and sends the parts back. */
#include "partition/cut_steps.h"

#include "base/exchange.h"
#include "partition/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PER_PART = 64,
    CLUSTERS_OF_MEAN = 4,
    TOGETHER = TAC_CUT_MOST / MOST_PER_PART, /* ranks; more are cut in groups */
    GROUP = TOGETHER / 2
};

struct cut {
    const struct tac_graph *graph;
    double scale[2];       /* largest weight of a vertex, of an edge */
    double inside;         /* weight of this rank's edges within clusters, relative */
    struct cut_node *node; /* owned, (graph->count): rows, relative weights */
    tac_lid *cluster;      /* owned, (graph->count): first row of each row's cluster */
    size_t clusters, edges;
    struct cut_node *out;  /* owned, (clusters) */
    struct cut_edge *edge; /* owned, (edges) */
};

static void destroy_contraction(struct cut *c)
{
    free(c->node);
    free(c->cluster);
    free(c->out);
    free(c->edge);
}

static enum tac_err prepare_graph(struct tac_ctx *ctx, struct cut *c)
{
    const struct tac_graph *graph = c->graph;
    enum tac_err err = TAC_OK;
    for (tac_lid i = 0; i < graph->count; i++)
        if (graph->weight[i] > c->scale[0])
            c->scale[0] = fmin(graph->weight[i], 1e308);
    for (int64_t k = 0; graph->count > 0 && k < graph->row[graph->count]; k++)
        if (graph->edge[k] > c->scale[1])
            c->scale[1] = fmin(graph->edge[k], 1e308);
    MPI_Allreduce(MPI_IN_PLACE, c->scale, 2, MPI_DOUBLE, MPI_MAX, ctx->comm);
    TAC_TRY(tac_alloc(ctx, (size_t)graph->count, sizeof *c->node, &c->node));
    TAC_TRY(tac_alloc(ctx, (size_t)graph->count, sizeof *c->cluster, &c->cluster));
    for (tac_lid i = 0; i < graph->count; i++) {
        /* Where no vertex costs anything, all cost the same. */
        const double weight = c->scale[0] > 0 ? tac_cut_relative(graph->weight[i], c->scale[0]) : 1;
        c->node[i] = (struct cut_node){graph->id[i], weight};
        c->cluster[i] = i;
    }
done:
    return err;
}

static enum tac_err contract(struct tac_ctx *ctx, enum tac_err err, struct cut *c, tac_gid most)
{
    const struct tac_graph *graph = c->graph;
    double weight = 0;
    for (tac_lid i = 0; err == TAC_OK && i < graph->count; i++)
        weight += c->node[i].weight;
    MPI_Allreduce(MPI_IN_PLACE, &weight, 1, MPI_DOUBLE, MPI_SUM, ctx->comm);
    if (err == TAC_OK && graph->count > 0) {
        const double share = floor((double)most * ((double)graph->count / (double)graph->total));
        err = tac_cut_contract(ctx, graph, c->node, c->scale[1], share >= 1 ? (tac_lid)share : 1,
                               CLUSTERS_OF_MEAN * weight / (double)most, c->cluster);
    }
    return err;
}

struct known {
    tac_gid begin;
    const tac_gid *first;
};

static void answer_first(const void *known, tac_gid id, void *record)
{
    const struct known *k = known;
    memcpy(record, &k->first[id - k->begin], sizeof *k->first);
}

enum tac_err tac_cut_ask(struct tac_ctx *ctx, enum tac_err err, const struct tac_graph *graph, const tac_gid *value,
                         size_t n, const tac_gid *id, tac_gid *out)
{
    struct reported {
        tac_gid id, value;
    } *tell = NULL, *reported = NULL;
    int32_t *to = NULL;
    tac_gid *table = NULL;
    size_t total = 0;
    const size_t room = n > (size_t)graph->count ? n : (size_t)graph->count;
    const tac_gid begin = tac_block_begin(graph->total, ctx->size, ctx->rank);
    const tac_gid end = tac_block_begin(graph->total, ctx->size, ctx->rank + 1);
    if (err == TAC_OK)
        err = tac_alloc(ctx, (size_t)graph->count, sizeof *tell, &tell);
    if (err == TAC_OK)
        err = tac_alloc(ctx, room, sizeof *to, &to);
    if (err == TAC_OK)
        err = tac_alloc(ctx, (size_t)(end - begin), sizeof *table, &table);
    for (tac_lid i = 0; err == TAC_OK && i < graph->count; i++) {
        tell[i] = (struct reported){graph->id[i], value[i]};
        to[i] = tac_block_rank(graph->total, ctx->size, graph->id[i]);
    }
    TAC_TRY(tac_distribute(ctx, err, (size_t)graph->count, to, tell, sizeof *tell, &reported, &total));
    for (size_t k = 0; k < (size_t)(end - begin); k++)
        table[k] = -1;
    for (size_t k = 0; k < total; k++)
        table[reported[k].id - begin] = reported[k].value;
    for (size_t k = 0; k < n; k++)
        to[k] = tac_block_rank(graph->total, ctx->size, id[k]);
    const struct known known = {begin, table};
    TAC_TRY(tac_ask(ctx, TAC_OK, n, to, id, answer_first, &known, sizeof *out, out));
    for (size_t k = 0; k < n; k++)
        TAC_CHECK(out[k] >= 0); /* an edge to a vertex that no rank has */
done:
    free(tell);
    free(reported);
    free(to);
    free(table);
    return err;
}

/* first[i]: id of the cluster of vertex id[i]. */
static enum tac_err ask_clusters(struct tac_ctx *ctx, enum tac_err err, const struct cut *c, size_t n,
                                 const tac_gid *id, tac_gid *first)
{
    const struct tac_graph *graph = c->graph;
    tac_gid *mine = NULL;
    if (err == TAC_OK)
        err = tac_alloc(ctx, (size_t)graph->count, sizeof *mine, &mine);
    for (tac_lid i = 0; err == TAC_OK && i < graph->count; i++)
        mine[i] = graph->id[c->cluster[i]];
    err = tac_cut_ask(ctx, err, graph, mine, n, id, first);
    free(mine);
    return err;
}

/* The clusters and the edges between them; neighbor_cluster[k]: id of the cluster that neighbor[k] is in. */
static enum tac_err collect(struct tac_ctx *ctx, struct cut *c, const tac_gid *neighbor_cluster)
{
    const struct tac_graph *graph = c->graph;
    const int64_t links = graph->count > 0 ? graph->row[graph->count] : 0;
    size_t *place = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, (size_t)graph->count, sizeof *place, &place));
    for (tac_lid i = 0; i < graph->count; i++)
        c->clusters += c->cluster[i] == i;
    TAC_TRY(tac_alloc(ctx, c->clusters, sizeof *c->out, &c->out));
    TAC_TRY(tac_alloc(ctx, (size_t)links, sizeof *c->edge, &c->edge));
    size_t n = 0;
    for (tac_lid i = 0; i < graph->count; i++) {
        if (c->cluster[i] == i) {
            place[i] = n;
            c->out[n++].id = graph->id[i];
        }
        c->out[place[c->cluster[i]]].weight += c->node[i].weight;
        for (int64_t k = graph->row[i]; k < graph->row[i + 1]; k++) {
            const tac_gid a = graph->id[c->cluster[i]], b = neighbor_cluster[k];
            const double weight = tac_cut_relative(graph->edge[k], c->scale[1]);
            if (a == b)
                c->inside += weight;
            else
                c->edge[c->edges++] = (struct cut_edge){a < b ? a : b, a < b ? b : a, weight};
        }
    }
done:
    free(place);
    return err;
}

static enum tac_err collect_contracted(struct tac_ctx *ctx, struct cut *c, tac_gid most)
{
    const struct tac_graph *graph = c->graph;
    const size_t links = graph->count > 0 ? (size_t)graph->row[graph->count] : 0;
    tac_gid *unique = NULL, *first = NULL, *neighbor = NULL;
    tac_lid *place = NULL;
    size_t n = 0;
    enum tac_err err = contract(ctx, TAC_OK, c, most);
    if (err == TAC_OK)
        err = tac_alloc(ctx, links, sizeof *place, &place);
    if (err == TAC_OK)
        err = tac_alloc(ctx, links, sizeof *neighbor, &neighbor);
    if (err == TAC_OK)
        err = tac_compress(ctx, links, graph->neighbor, &unique, &n, place);
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *first, &first);
    TAC_TRY(ask_clusters(ctx, err, c, n, unique, first));
    for (size_t k = 0; k < links; k++)
        neighbor[k] = first[place[k]];
    err = collect(ctx, c, neighbor);
    if (err == TAC_OK)
        err = tac_cut_merge(ctx, &c->edges, c->edge);
done:
    free(unique);
    free(first);
    free(neighbor);
    free(place);
    return err;
}

/* Rank 0 cuts; part (clusters): of this rank's clusters. */
static enum tac_err cut_on_first(struct tac_ctx *ctx, enum tac_err err, struct cut *c, int parts_wanted, int32_t *part,
                                 double *figures)
{
    struct cut_node *node = NULL;
    struct cut_edge *edge = NULL;
    int32_t *to = NULL, *parts = NULL;
    struct tac_questions q = {0};
    size_t edges = 0;
    const size_t most = err != TAC_OK ? 0 : c->clusters > c->edges ? c->clusters : c->edges;
    if (err == TAC_OK)
        err = tac_alloc(ctx, most, sizeof *to, &to); /* all to rank 0 */
    TAC_TRY(tac_questions_send(ctx, err, &q, c->clusters, to, c->out, sizeof *c->out, &node));
    TAC_TRY(tac_distribute(ctx, TAC_OK, c->edges, to, c->edge, sizeof *c->edge, &edge, &edges));
    err = tac_alloc(ctx, q.total, sizeof *parts, &parts);
    if (err == TAC_OK && ctx->rank == 0) {
        err = tac_cut_merge(ctx, &edges, edge);
        for (size_t k = 0; k < edges; k++)
            figures[1] += edge[k].weight;
        if (err == TAC_OK)
            err = tac_cut_serial(ctx, q.total, node, edges, edge, parts_wanted, parts, &figures[0], &figures[2]);
    }
    TAC_TRY(tac_questions_answer(ctx, err, &q, parts, sizeof *parts, part));
done:
    tac_questions_end(&q);
    free(node);
    free(edge);
    free(to);
    free(parts);
    return err;
}

enum tac_err tac_cut_once(struct tac_ctx *ctx, const struct tac_graph *graph, const int32_t *present, tac_gid most,
                          int parts, int32_t *owner, double *cut, double *balance)
{
    struct cut c = {.graph = graph};
    double figures[3] = {0, 0, 1}; /* weight of cut edges, of all between clusters, balance */
    int32_t *part = NULL;
    enum tac_err err = TAC_OK;
    if (most <= 0)
        most = (tac_gid)MOST_PER_PART * parts > TAC_CUT_MOST ? (tac_gid)MOST_PER_PART * parts : TAC_CUT_MOST;
    TAC_TRY(tac_agree(ctx, prepare_graph(ctx, &c)));
    if (parts > 1) {
        err = graph->total > most ? collect_contracted(ctx, &c, most) : collect(ctx, &c, graph->neighbor);
        if (err == TAC_OK)
            err = tac_alloc(ctx, c.clusters, sizeof *part, &part);
        TAC_TRY(cut_on_first(ctx, err, &c, parts, part, figures));
        size_t n = 0;
        for (tac_lid i = 0; i < graph->count; i++)
            owner[i] = c.cluster[i] == i ? part[n++] : owner[c.cluster[i]];
        if (present != NULL)
            TAC_TRY(tac_cut_label(ctx, graph->count, c.node, present, owner));
    } else if (graph->count > 0) {
        memset(owner, 0, (size_t)graph->count * sizeof *owner);
    }
    MPI_Bcast(figures, 3, MPI_DOUBLE, 0, ctx->comm);
    MPI_Allreduce(MPI_IN_PLACE, &c.inside, 1, MPI_DOUBLE, MPI_SUM, ctx->comm);
    if (cut != NULL)
        *cut = figures[0] > 0 ? figures[0] / (figures[1] + c.inside) : 0;
    if (balance != NULL)
        *balance = figures[2];
done:
    free(part);
    destroy_contraction(&c);
    return err;
}

enum tac_err tac_partition_vertices(struct tac_ctx *ctx, const struct tac_graph *graph, const int32_t *present,
                                    tac_gid most, int32_t *owner, double *cut, double *balance)
{
    if (ctx->size > TOGETHER)
        return tac_cut_in_groups(ctx, graph, present, most, GROUP, owner, cut, balance);
    return tac_cut_once(ctx, graph, present, most, ctx->size, owner, cut, balance);
}
