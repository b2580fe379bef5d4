/* cut_contract.c: rounds of heavy-edge matching on one rank's rows (Karypis and Kumar 1998), until their share of the
 * graph fits rank 0. */
#include "partition/cut_steps.h"

#include "partition/part.h"

#include <math.h>
#include <stdlib.h>

/* One level: vertices, and between them edges as both ends see them. */
struct level {
    tac_lid count;
    double *weight;    /* owned, (count) */
    int64_t *row;      /* owned, (count + 1) */
    tac_lid *neighbor; /* owned, (row[count]) */
    double *edge;      /* owned, (row[count]) */
};

static void destroy_level(struct level *level)
{
    free(level->weight);
    free(level->row);
    free(level->neighbor);
    free(level->edge);
    *level = (struct level){0};
}

static enum tac_err make_level(struct tac_ctx *ctx, tac_lid count, int64_t links, struct level *level)
{
    enum tac_err err = TAC_OK;
    level->count = count;
    TAC_TRY(tac_alloc(ctx, (size_t)count, sizeof *level->weight, &level->weight));
    TAC_TRY(tac_alloc(ctx, (size_t)count + 1, sizeof *level->row, &level->row));
    TAC_TRY(tac_alloc(ctx, (size_t)links, sizeof *level->neighbor, &level->neighbor));
    TAC_TRY(tac_alloc(ctx, (size_t)links, sizeof *level->edge, &level->edge));
done:
    return err;
}

/* Makes the graph of the rows alone. An edge that both ends have given appears twice in both rows. */
static enum tac_err first_level(struct tac_ctx *ctx, const struct tac_graph *graph, const struct cut_node *node,
                                double edge_scale, struct level *level)
{
    const int64_t links = graph->row[graph->count];
    tac_lid *place = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, (size_t)links, sizeof *place, &place));
    TAC_TRY(make_level(ctx, graph->count, 2 * links, level));
    for (tac_lid i = 0; i < graph->count; i++) {
        level->weight[i] = node[i].weight;
        for (int64_t k = graph->row[i]; k < graph->row[i + 1]; k++) {
            place[k] = tac_id_find(graph->id, graph->count, graph->neighbor[k]);
            if (place[k] >= 0) {
                level->row[i]++;
                level->row[place[k]]++;
            }
        }
    }
    int64_t sum = 0;
    for (tac_lid i = 0; i < graph->count; i++) {
        sum += level->row[i];
        level->row[i] = sum; /* its end; filling goes down to its start */
    }
    level->row[graph->count] = sum;
    for (tac_lid i = 0; i < graph->count; i++)
        for (int64_t k = graph->row[i]; k < graph->row[i + 1]; k++) {
            const tac_lid j = place[k];
            if (j < 0)
                continue;
            const double weight = tac_cut_relative(graph->edge[k], edge_scale);
            level->neighbor[--level->row[i]] = j;
            level->edge[level->row[i]] = weight;
            level->neighbor[--level->row[j]] = i;
            level->edge[level->row[j]] = weight;
        }
done:
    free(place);
    return err;
}

/* The next level: vertex i becomes to[i] of `count`; edges between the same two are joined. */
static enum tac_err join(struct tac_ctx *ctx, const struct level *from, const tac_lid *to, tac_lid count,
                         struct level *next)
{
    tac_lid *start = NULL, *member = NULL;
    int64_t *seen = NULL; /* where the edge to a vertex is in the row being made; -1: none yet */
    int64_t n = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, (size_t)count + 1, sizeof *start, &start));
    TAC_TRY(tac_alloc(ctx, (size_t)from->count, sizeof *member, &member));
    TAC_TRY(tac_alloc(ctx, (size_t)count, sizeof *seen, &seen));
    TAC_TRY(make_level(ctx, count, from->row[from->count], next));
    for (tac_lid i = 0; i < from->count; i++)
        start[to[i]]++;
    for (tac_lid c = 1; c <= count; c++)
        start[c] += start[c - 1];
    for (tac_lid i = from->count; i-- > 0;)
        member[--start[to[i]]] = i;
    for (tac_lid c = 0; c < count; c++)
        seen[c] = -1;
    for (tac_lid c = 0; c < count; c++) {
        next->row[c] = n;
        for (tac_lid m = start[c]; m < start[c + 1]; m++) {
            const tac_lid i = member[m];
            next->weight[c] += from->weight[i];
            for (int64_t k = from->row[i]; k < from->row[i + 1]; k++) {
                const tac_lid d = to[from->neighbor[k]];
                if (d == c)
                    continue;
                if (seen[d] < next->row[c]) {
                    seen[d] = n;
                    next->neighbor[n] = d;
                    next->edge[n++] = 0;
                }
                next->edge[seen[d]] += from->edge[k];
            }
        }
    }
    next->row[count] = n;
done:
    free(start);
    free(member);
    free(seen);
    return err;
}

static tac_lid heaviest_free(const struct level *level, const tac_lid *mate, tac_lid i, double cap)
{
    tac_lid best = -1;
    double most = -1;
    for (int64_t k = level->row[i]; k < level->row[i + 1]; k++) {
        const tac_lid j = level->neighbor[k];
        if (mate[j] < 0 && level->edge[k] > most && level->weight[i] + level->weight[j] <= cap) {
            most = level->edge[k];
            best = j;
        }
    }
    return best;
}

/* Forms up to `wanted` pairs of vertices; if there are few (stars, single vertices), also of vertices with consecutive
 * numbers that are no neighbours. mate[i]: the other one, or -1. */
static void match(const struct level *level, tac_lid wanted, double cap, tac_lid *mate)
{
    tac_lid pairs = 0, waiting = -1;
    for (tac_lid i = 0; i < level->count; i++)
        mate[i] = -1;
    for (tac_lid i = 0; i < level->count && pairs < wanted; i++) {
        const tac_lid j = mate[i] < 0 ? heaviest_free(level, mate, i, cap) : -1;
        if (j >= 0) {
            mate[i] = j;
            mate[j] = i;
            pairs++;
        }
    }
    if (pairs > level->count / 8)
        return;
    for (tac_lid i = 0; i < level->count && pairs < wanted; i++) {
        if (mate[i] >= 0)
            continue;
        if (waiting >= 0 && level->weight[waiting] + level->weight[i] <= cap) {
            mate[i] = waiting;
            mate[waiting] = i;
            waiting = -1;
            pairs++;
        } else {
            waiting = i;
        }
    }
}

enum tac_err tac_cut_contract(struct tac_ctx *ctx, const struct tac_graph *graph, const struct cut_node *node,
                              double edge_scale, tac_lid target, double cap, tac_lid *cluster)
{
    struct level level = {0}, next = {0};
    tac_lid *first = NULL, *mate = NULL,
            *to = NULL; /* of a vertex of the level: its first row, its pair, what it becomes */
    enum tac_err err = TAC_OK;
    for (tac_lid i = 0; i < graph->count; i++)
        cluster[i] = i; /* the vertex of the level, until the end */
    if (graph->count <= target)
        return TAC_OK;
    TAC_TRY(tac_alloc(ctx, (size_t)graph->count, sizeof *first, &first));
    TAC_TRY(tac_alloc(ctx, (size_t)graph->count, sizeof *mate, &mate));
    TAC_TRY(tac_alloc(ctx, (size_t)graph->count, sizeof *to, &to));
    TAC_TRY(first_level(ctx, graph, node, edge_scale, &level));
    TAC_TRY(join(ctx, &level, cluster, graph->count, &next));
    while (next.count > target) {
        destroy_level(&level);
        level = next;
        next = (struct level){0};
        match(&level, level.count - target, cap, mate);
        tac_lid count = 0;
        for (tac_lid i = 0; i < level.count; i++)
            to[i] = mate[i] >= 0 && mate[i] < i ? to[mate[i]] : count++;
        TAC_TRY(join(ctx, &level, to, count, &next));
        for (tac_lid i = 0; i < graph->count; i++)
            cluster[i] = to[cluster[i]];
        cap *= 2;
    }
    for (tac_lid i = graph->count; i-- > 0;)
        first[cluster[i]] = i;
    for (tac_lid i = 0; i < graph->count; i++)
        cluster[i] = first[cluster[i]];
done:
    destroy_level(&level);
    destroy_level(&next);
    free(first);
    free(mate);
    free(to);
    return err;
}
