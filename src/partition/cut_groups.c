/* cut_groups.c: cuts a graph for more ranks than one rank should cut it for. It is cut for groups of ranks first; each
 * part goes to the ranks of its group, and they cut it among themselves. */
#include "partition/cut_steps.h"

#include "base/exchange.h"
#include "partition/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is sent: a row, and an edge of one. */
struct row {
    tac_gid id;
    double weight;
};
struct link {
    tac_gid id, neighbor;
    double weight;
};

/* What a rank has of its group's part. */
struct part {
    struct tac_graph graph; /* views into what follows */
    size_t rows;
    struct row *row;         /* owned: as they came */
    struct tac_keyed *order; /* owned, (rows): ascending ids, and where each came */
    tac_gid *id, *neighbor;  /* owned */
    double *weight, *edge;   /* owned */
    int64_t *begin;          /* owned, (rows + 1) */
    int32_t *owner;          /* owned, (rows): rank of the group, in the order of ids */
};

static void destroy_group_part(struct part *p)
{
    free(p->row);
    free(p->order);
    free(p->id);
    free(p->neighbor);
    free(p->weight);
    free(p->edge);
    free(p->begin);
    free(p->owner);
}

/* The first rank of a group. */
static int first_of(const struct tac_ctx *ctx, int groups, int group)
{
    return (int)tac_block_begin(ctx->size, groups, group);
}

/* Edges within a group, for the ranks that their rows go to. */
static enum tac_err send_links(struct tac_ctx *ctx, enum tac_err err, const struct tac_graph *graph,
                               const int32_t *group, const tac_gid *there, const int32_t *to, struct link **came,
                               size_t *count)
{
    const size_t links = graph->count > 0 ? (size_t)graph->row[graph->count] : 0;
    struct link *link = NULL;
    int32_t *target = NULL;
    size_t n = 0;
    if (err == TAC_OK)
        err = tac_alloc(ctx, links, sizeof *link, &link);
    if (err == TAC_OK)
        err = tac_alloc(ctx, links, sizeof *target, &target);
    for (tac_lid i = 0; i < graph->count && err == TAC_OK; i++)
        for (int64_t k = graph->row[i]; k < graph->row[i + 1]; k++)
            if (there[k] == group[i]) {
                link[n] = (struct link){graph->id[i], graph->neighbor[k], graph->edge[k]};
                target[n++] = to[i];
            }
    err = tac_distribute(ctx, err, n, target, link, sizeof *link, came, count);
    free(link);
    free(target);
    return err;
}

/* Compressed rows of what came. */
static enum tac_err make_rows(struct tac_ctx *ctx, tac_gid total, const struct link *link, size_t links, struct part *p)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(ctx, p->rows, sizeof *p->order, &p->order));
    TAC_TRY(tac_alloc(ctx, p->rows, sizeof *p->id, &p->id));
    TAC_TRY(tac_alloc(ctx, p->rows, sizeof *p->weight, &p->weight));
    TAC_TRY(tac_alloc(ctx, p->rows, sizeof *p->owner, &p->owner));
    TAC_TRY(tac_alloc(ctx, p->rows + 1, sizeof *p->begin, &p->begin));
    TAC_TRY(tac_alloc(ctx, links, sizeof *p->neighbor, &p->neighbor));
    TAC_TRY(tac_alloc(ctx, links, sizeof *p->edge, &p->edge));
    for (size_t i = 0; i < p->rows; i++)
        p->order[i] = (struct tac_keyed){p->row[i].id, (int64_t)i};
    TAC_TRY(tac_sort_keyed(ctx, p->rows, p->order));
    for (size_t i = 0; i < p->rows; i++) {
        p->id[i] = p->order[i].key;
        p->weight[i] = p->row[p->order[i].index].weight;
    }
    for (size_t k = 0; k < links; k++)
        p->begin[tac_id_find(p->id, (tac_lid)p->rows, link[k].id) + 1]++;
    for (size_t i = 0; i < p->rows; i++)
        p->begin[i + 1] += p->begin[i];
    for (size_t k = links; k-- > 0;) { /* filled from the back: begin[i + 1] goes down to where row i begins */
        const int64_t at = --p->begin[tac_id_find(p->id, (tac_lid)p->rows, link[k].id) + 1];
        p->neighbor[at] = link[k].neighbor;
        p->edge[at] = link[k].weight;
    }
    memmove(p->begin, p->begin + 1, p->rows * sizeof *p->begin);
    p->begin[p->rows] = (int64_t)links;
    p->graph = (struct tac_graph){total, (tac_lid)p->rows, p->id, p->weight, p->begin, p->neighbor, p->edge};
done:
    return err;
}

/* Collective in the group: its ranks cut its part. */
static enum tac_err cut_part(struct tac_ctx *ctx, int group, tac_gid most, struct part *p)
{
    struct tac_ctx sub;
    MPI_Comm comm;
    if (MPI_Comm_split(ctx->comm, group, ctx->rank, &comm) != MPI_SUCCESS)
        return tac_fail(ctx, TAC_ERR_RUN, "MPI failed while ranks made groups");
    tac_ctx_init(&sub, comm);
    const enum tac_err err = tac_cut_once(&sub, &p->graph, NULL, most, sub.size, p->owner, NULL, NULL);
    if (err)
        memcpy(ctx->error, sub.error, sizeof ctx->error);
    MPI_Comm_free(&comm);
    return err;
}

/* The share of edge weight cut, and the largest part over the mean. */
static enum tac_err measure_cut(struct tac_ctx *ctx, const struct tac_graph *graph, const int32_t *owner, double *cut,
                                double *balance)
{
    enum tac_err err = TAC_OK;
    const size_t links = graph->count > 0 ? (size_t)graph->row[graph->count] : 0;
    tac_gid *mine = NULL, *there = NULL;
    double *load = NULL, scale[2] = {0, 0}, sum[2] = {0, 0}, most = 0, all = 0;
    for (tac_lid i = 0; i < graph->count; i++)
        scale[0] = fmax(scale[0], graph->weight[i]);
    for (size_t k = 0; k < links; k++)
        scale[1] = fmax(scale[1], graph->edge[k]);
    MPI_Allreduce(MPI_IN_PLACE, scale, 2, MPI_DOUBLE, MPI_MAX, ctx->comm);
    err = tac_alloc(ctx, (size_t)graph->count, sizeof *mine, &mine);
    if (err == TAC_OK)
        err = tac_alloc(ctx, links, sizeof *there, &there);
    if (err == TAC_OK)
        err = tac_alloc(ctx, (size_t)ctx->size, sizeof *load, &load);
    for (tac_lid i = 0; i < graph->count && err == TAC_OK; i++) {
        mine[i] = owner[i];
        load[owner[i]] += scale[0] > 0 ? tac_cut_relative(graph->weight[i], scale[0]) : 1;
    }
    TAC_TRY(tac_cut_ask(ctx, err, graph, mine, links, graph->neighbor, there));
    for (tac_lid i = 0; i < graph->count; i++)
        for (int64_t k = graph->row[i]; k < graph->row[i + 1]; k++) {
            const double weight = tac_cut_relative(graph->edge[k], scale[1]);
            sum[0] += there[k] != owner[i] ? weight : 0;
            sum[1] += weight;
        }
    MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, ctx->comm);
    MPI_Allreduce(MPI_IN_PLACE, load, ctx->size, MPI_DOUBLE, MPI_SUM, ctx->comm);
    for (int r = 0; r < ctx->size; r++) {
        most = fmax(most, load[r]);
        all += load[r];
    }
    *cut = sum[1] > 0 ? sum[0] / sum[1] : 0;
    *balance = all > 0 ? most * ctx->size / all : 1;
done:
    free(mine);
    free(there);
    free(load);
    return err;
}

/* Parts keep the names of the ranks that have most of them. */
static enum tac_err name_parts_of_groups(struct tac_ctx *ctx, const struct tac_graph *graph, const int32_t *present,
                                         int32_t *owner)
{
    struct cut_node *node = NULL;
    double most = 0;
    enum tac_err err = tac_alloc(ctx, (size_t)graph->count, sizeof *node, &node);
    for (tac_lid i = 0; i < graph->count; i++)
        most = fmax(most, graph->weight[i]);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, ctx->comm);
    for (tac_lid i = 0; i < graph->count && err == TAC_OK; i++)
        node[i] = (struct cut_node){graph->id[i], most > 0 ? tac_cut_relative(graph->weight[i], most) : 1};
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_cut_label(ctx, graph->count, node, present, owner));
done:
    free(node);
    return err;
}

/* Sends the rows of each group to its ranks, which cut its part and return the owners. group (count): of the rows;
 * there: of the neighbours. */
static enum tac_err cut_groups(struct tac_ctx *ctx, const struct tac_graph *graph, const int32_t *group,
                               const tac_gid *there, int groups, tac_gid most, int32_t *owner)
{
    enum tac_err err;
    const size_t n = (size_t)graph->count;
    struct part p = {.rows = 0};
    struct tac_questions q = {0};
    struct row *row = NULL;
    struct link *link = NULL;
    int32_t *to = NULL, *answer = NULL;
    size_t links = 0;
    int mine = 0;
    err = tac_alloc(ctx, n, sizeof *row, &row);
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *to, &to);
    for (size_t i = 0; i < n && err == TAC_OK; i++) {
        const int first = first_of(ctx, groups, group[i]), past = first_of(ctx, groups, group[i] + 1);
        row[i] = (struct row){graph->id[i], graph->weight[i]};
        to[i] = first + ctx->rank % (past - first);
    }
    TAC_TRY(tac_questions_send(ctx, err, &q, n, to, row, sizeof *row, &p.row));
    p.rows = q.total;
    TAC_TRY(send_links(ctx, TAC_OK, graph, group, there, to, &link, &links));
    TAC_TRY(tac_agree(ctx, make_rows(ctx, graph->total, link, links, &p)));
    while (first_of(ctx, groups, mine + 1) <= ctx->rank)
        mine++;
    err = cut_part(ctx, mine, most, &p);
    if (err == TAC_OK)
        err = tac_alloc(ctx, p.rows, sizeof *answer, &answer);
    for (size_t i = 0; i < p.rows && err == TAC_OK; i++)
        answer[p.order[i].index] = first_of(ctx, groups, mine) + p.owner[i];
    TAC_TRY(tac_questions_answer(ctx, err, &q, answer, sizeof *answer, owner));
done:
    tac_questions_end(&q);
    destroy_group_part(&p);
    free(row);
    free(link);
    free(to);
    free(answer);
    return err;
}

enum tac_err tac_cut_in_groups(struct tac_ctx *ctx, const struct tac_graph *graph, const int32_t *present, tac_gid most,
                               int ranks, int32_t *owner, double *cut, double *balance)
{
    enum tac_err err;
    const int groups = (ctx->size + ranks - 1) / ranks;
    const size_t links = graph->count > 0 ? (size_t)graph->row[graph->count] : 0;
    int32_t *group = NULL;
    tac_gid *mine = NULL, *there = NULL;
    double figures[2];
    err = tac_alloc(ctx, (size_t)graph->count, sizeof *group, &group);
    if (err == TAC_OK)
        err = tac_alloc(ctx, (size_t)graph->count, sizeof *mine, &mine);
    if (err == TAC_OK)
        err = tac_alloc(ctx, links, sizeof *there, &there);
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_cut_once(ctx, graph, NULL, most, groups, group, NULL, NULL));
    for (tac_lid i = 0; i < graph->count; i++)
        mine[i] = group[i];
    TAC_TRY(tac_cut_ask(ctx, TAC_OK, graph, mine, links, graph->neighbor, there));
    TAC_TRY(cut_groups(ctx, graph, group, there, groups, most, owner));
    if (present != NULL)
        TAC_TRY(name_parts_of_groups(ctx, graph, present, owner));
    TAC_TRY(measure_cut(ctx, graph, owner, &figures[0], &figures[1]));
    if (cut != NULL)
        *cut = figures[0];
    if (balance != NULL)
        *balance = figures[1];
done:
    free(group);
    free(mine);
    free(there);
    return err;
}
