/* cut_serial.c: cuts a graph on one rank, by METIS where METIS can be used. As observed, METIS 5.1 does not accept: one
 * part; weights whose sums pass 2^31; more parts than vertices, or vertices heavier than a part (it prints to stdout
 * that it cannot bisect). So weights are scaled, vertices that fill a part are given one first, and a handful of
 * vertices is distributed by weight. */
#include "partition/cut_steps.h"

#include "base/exchange.h"
#include "partition/part.h"

#include <limits.h>
#include <math.h>
#include <metis.h>
#include <signal.h>
#include <stdlib.h>

_Static_assert(sizeof(idx_t) >= sizeof(int32_t), "METIS counts in 32 bits or more");

/* Sums of scaled weights stay under twice this, and that under what an idx_t can hold with METIS' sums of two. */
#define SUM ((double)(1 << 29))
enum { HANDFUL = 4, IMBALANCE_PER_MILLE = 10, TRIALS = 3, SEED = 1, MOVES = 32 };
#define ENOUGH 1.05

static int by_weight(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum tac_err tac_cut_merge(struct tac_ctx *ctx, size_t *count, struct cut_edge *edge)
{
    const size_t n = *count;
    tac_gid *ends = NULL, *unique = NULL;
    tac_lid *place = NULL;
    struct tac_keyed *list = NULL;
    double *weight = NULL;
    size_t ids = 0, m = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 2 * n, sizeof *ends, &ends));
    TAC_TRY(tac_alloc(ctx, 2 * n, sizeof *place, &place));
    TAC_TRY(tac_alloc(ctx, n, sizeof *list, &list));
    TAC_TRY(tac_alloc(ctx, n, sizeof *weight, &weight));
    for (size_t k = 0; k < n; k++) {
        ends[2 * k] = edge[k].a < edge[k].b ? edge[k].a : edge[k].b;
        ends[2 * k + 1] = edge[k].a < edge[k].b ? edge[k].b : edge[k].a;
    }
    TAC_TRY(tac_compress(ctx, 2 * n, ends, &unique, &ids, place));
    for (size_t k = 0; k < n; k++)
        list[k] = (struct tac_keyed){place[2 * k] * (int64_t)ids + place[2 * k + 1], (int64_t)k};
    TAC_TRY(tac_sort_keyed(ctx, n, list));
    for (size_t k = 0; k < n; k++)
        weight[k] = edge[list[k].index].weight;
    for (size_t k = 0, end; k < n; k = end) {
        const tac_gid a = unique[list[k].key / (int64_t)ids], b = unique[list[k].key % (int64_t)ids];
        double sum = 0;
        for (end = k + 1; end < n && list[end].key == list[k].key;)
            end++;
        if (a == b)
            continue;
        if (end - k > 2)
            qsort(weight + k, end - k, sizeof *weight, by_weight);
        for (size_t j = k; j < end; j++)
            sum += weight[j];
        edge[m++] = (struct cut_edge){a, b, sum};
    }
    *count = m;
done:
    free(ends);
    free(unique);
    free(place);
    free(list);
    free(weight);
    return err;
}

/* Makes the graph in METIS's form, of those nodes that have no part yet. */
struct metis {
    idx_t count, parts;
    tac_lid *node; /* owned, (count): which one of the graph */
    idx_t *weight, *row, *neighbor, *edge, *part;
};

static void destroy_metis_graph(struct metis *m)
{
    free(m->node);
    free(m->weight);
    free(m->row);
    free(m->neighbor);
    free(m->edge);
    free(m->part);
}

/* Edge k joins nodes end[2 k] and end[2 k + 1], ascending ranks of their ids. */
static enum tac_err fill(struct tac_ctx *ctx, size_t nodes, const double *weight, size_t edges,
                         const struct cut_edge *edge, const tac_lid *end, const int32_t *part, struct metis *m)
{
    tac_lid *of = NULL; /* node of the graph -> of METIS, or -1 */
    double sum = 0, links = 0;
    int64_t count = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, nodes, sizeof *of, &of));
    TAC_TRY(tac_alloc(ctx, nodes, sizeof *m->node, &m->node));
    for (size_t i = 0; i < nodes; i++) {
        of[i] = part[i] < 0 ? (tac_lid)m->count : -1;
        if (part[i] < 0) {
            m->node[m->count++] = (tac_lid)i;
            sum += weight[i];
        }
    }
    for (size_t k = 0; k < edges; k++)
        if (of[end[2 * k]] >= 0 && of[end[2 * k + 1]] >= 0) {
            count += 2;
            links += 2 * edge[k].weight;
        }
    if (count > (1 << 29) || m->count > (1 << 29))
        TAC_TRY(
            tac_fail(ctx, TAC_ERR_RUN,
                     "the graph that is cut for the ranks has %" PRId64
                     " entries, more than METIS takes; use contact.thickness below the mesh's spacing, or fewer ranks",
                     count));
    TAC_TRY(tac_alloc(ctx, (size_t)m->count, sizeof *m->weight, &m->weight));
    TAC_TRY(tac_alloc(ctx, (size_t)m->count, sizeof *m->part, &m->part));
    TAC_TRY(tac_alloc(ctx, (size_t)m->count + 1, sizeof *m->row, &m->row));
    TAC_TRY(tac_alloc(ctx, (size_t)count, sizeof *m->neighbor, &m->neighbor));
    TAC_TRY(tac_alloc(ctx, (size_t)count, sizeof *m->edge, &m->edge));
    for (idx_t i = 0; i < m->count; i++)
        m->weight[i] = 1 + (sum > 0 ? (idx_t)(SUM * (weight[m->node[i]] / sum)) : 0);
    for (size_t k = 0; k < edges; k++) {
        const tac_lid a = of[end[2 * k]], b = of[end[2 * k + 1]];
        if (a >= 0 && b >= 0) {
            m->row[a]++;
            m->row[b]++;
        }
    }
    for (idx_t i = 0, total = 0; i <= m->count; i++) {
        total += m->row[i];
        m->row[i] = total;
    }
    for (size_t k = edges; k-- > 0;) {
        const tac_lid a = of[end[2 * k]], b = of[end[2 * k + 1]];
        if (a < 0 || b < 0)
            continue;
        const idx_t scaled = 1 + (links > 0 ? (idx_t)(SUM * (edge[k].weight / links)) : 0);
        m->neighbor[--m->row[a]] = b;
        m->edge[m->row[a]] = scaled;
        m->neighbor[--m->row[b]] = a;
        m->edge[m->row[b]] = scaled;
    }
done:
    free(of);
    return err;
}

static enum tac_err call_metis(struct tac_ctx *ctx, struct metis *m)
{
    idx_t constraints = 1, cut = 0, options[METIS_NOPTIONS];
    sigset_t term, before;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = SEED;
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_NCUTS] = TRIALS;
    options[METIS_OPTION_UFACTOR] = IMBALANCE_PER_MILLE;
    /* METIS puts its own handler for SIGTERM in place of the one that ends a run with a checkpoint: it comes after. */
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, &before);
    const int code = METIS_PartGraphKway(&m->count, &constraints, m->row, m->neighbor, m->weight, NULL, m->edge,
                                         &m->parts, NULL, NULL, options, &cut, m->part);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == METIS_ERROR_MEMORY)
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory: METIS cuts %d vertices; use a machine with more memory",
                        (int)m->count);
    if (code != METIS_OK)
        return tac_fail(ctx, TAC_ERR_RUN, "METIS fails with code %d on %d vertices; please report it with the scene",
                        code, (int)m->count);
    return TAC_OK;
}

/* Heaviest first to the lightest part, but the first `taken`, which have theirs. */
static void distribute_by_weight(size_t nodes, const tac_lid *heavy, const double *weight, int taken, int parts,
                                 double *load, int32_t *part)
{
    for (size_t i = (size_t)taken; i < nodes; i++) {
        int lightest = taken;
        for (int p = taken + 1; p < parts; p++)
            if (load[p] < load[lightest])
                lightest = p;
        part[heavy[i]] = lightest;
        load[lightest] += weight[heavy[i]];
    }
}

/* Nodes that would fill a part alone get one each: parts 0 .. returned-1. heavy: nodes by descending weight. */
static int take_heavy(size_t nodes, const tac_lid *heavy, const double *weight, int parts, double *rest, int32_t *part)
{
    int taken = 0;
    rest[nodes] = 0;
    for (size_t i = nodes; i-- > 0;)
        rest[i] = rest[i + 1] + weight[heavy[i]];
    while (taken < parts - 1 && (size_t)taken < nodes && weight[heavy[taken]] * (parts - taken) >= rest[taken]) {
        part[heavy[taken]] = taken;
        taken++;
    }
    return taken;
}

/* METIS gives up on the balance of small graphs, stars and the like: vertices go from the heaviest part to the lightest
 * until no part is far above the mean. load (parts): set. */
static void even_out(size_t nodes, const double *weight, int parts, double *load, int32_t *part)
{
    double sum = 0;
    for (int p = 0; p < parts; p++)
        load[p] = 0;
    for (size_t i = 0; i < nodes; i++) {
        load[part[i]] += weight[i];
        sum += weight[i];
    }
    for (int move = 0; move < MOVES * parts; move++) {
        int high = 0, low = 0;
        size_t best = nodes;
        for (int p = 1; p < parts; p++) {
            high = load[p] > load[high] ? p : high;
            low = load[p] < load[low] ? p : low;
        }
        if (load[high] * parts <= ENOUGH * sum)
            return;
        for (size_t i = 0; i < nodes; i++) /* the one that comes nearest to closing the gap */
            if (part[i] == high && 2 * weight[i] <= load[high] - load[low] &&
                (best == nodes || weight[i] > weight[best]))
                best = i;
        if (best == nodes || !(weight[best] > 0))
            return;
        part[best] = low;
        load[high] -= weight[best];
        load[low] += weight[best];
    }
}

struct weighed {
    double weight;
    tac_lid node;
};

static int heavier_node(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : x->node - y->node;
}

/* part (nodes), of nodes in ascending order of their ids. */
static enum tac_err cut_sorted(struct tac_ctx *ctx, size_t nodes, const double *weight, size_t edges,
                               const struct cut_edge *edge, const tac_lid *end, int parts, int32_t *part)
{
    struct weighed *order = NULL;
    tac_lid *heavy = NULL;
    double *rest = NULL, *load = NULL;
    struct metis m = {0};
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, nodes, sizeof *order, &order));
    TAC_TRY(tac_alloc(ctx, nodes, sizeof *heavy, &heavy));
    TAC_TRY(tac_alloc(ctx, nodes + 1, sizeof *rest, &rest));
    TAC_TRY(tac_alloc(ctx, (size_t)parts, sizeof *load, &load));
    for (size_t i = 0; i < nodes; i++) {
        order[i] = (struct weighed){weight[i], (tac_lid)i};
        part[i] = -1;
    }
    qsort(order, nodes, sizeof *order, heavier_node);
    for (size_t i = 0; i < nodes; i++)
        heavy[i] = order[i].node;
    const int taken = take_heavy(nodes, heavy, weight, parts, rest, part);
    const size_t left = nodes - (size_t)taken;
    m.parts = parts - taken;
    if (m.parts == 1 || left <= HANDFUL * (size_t)m.parts) {
        distribute_by_weight(nodes, heavy, weight, taken, parts, load, part);
        goto done;
    }
    TAC_TRY(fill(ctx, nodes, weight, edges, edge, end, part, &m));
    TAC_TRY(call_metis(ctx, &m));
    for (idx_t i = 0; i < m.count; i++)
        part[m.node[i]] = taken + m.part[i];
    even_out(nodes, weight, parts, load, part);
done:
    destroy_metis_graph(&m);
    free(order);
    free(heavy);
    free(rest);
    free(load);
    return err;
}

static enum tac_err measure_parts(struct tac_ctx *ctx, size_t nodes, const double *weight, size_t edges,
                                  const struct cut_edge *edge, const tac_lid *end, int parts, const int32_t *part,
                                  double *cut, double *balance)
{
    double *load = NULL, most = 0, sum = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, (size_t)parts, sizeof *load, &load));
    for (size_t i = 0; i < nodes; i++) {
        load[part[i]] += weight[i];
        sum += weight[i];
    }
    for (int p = 0; p < parts; p++)
        most = fmax(most, load[p]);
    *cut = 0;
    for (size_t k = 0; k < edges; k++)
        if (part[end[2 * k]] != part[end[2 * k + 1]])
            *cut += edge[k].weight;
    *balance = sum > 0 ? most * parts / sum : 1;
done:
    free(load);
    return err;
}

enum tac_err tac_cut_serial(struct tac_ctx *ctx, size_t nodes, const struct cut_node *node, size_t edges,
                            const struct cut_edge *edge, int parts, int32_t *part, double *cut, double *balance)
{
    struct tac_keyed *list = NULL;
    tac_gid *id = NULL;
    tac_lid *end = NULL;
    double *weight = NULL;
    int32_t *sorted = NULL;
    enum tac_err err = TAC_OK;
    TAC_CHECK(nodes <= INT32_MAX);
    TAC_TRY(tac_alloc(ctx, nodes, sizeof *list, &list));
    TAC_TRY(tac_alloc(ctx, nodes, sizeof *id, &id));
    TAC_TRY(tac_alloc(ctx, nodes, sizeof *weight, &weight));
    TAC_TRY(tac_alloc(ctx, nodes, sizeof *sorted, &sorted));
    TAC_TRY(tac_alloc(ctx, 2 * edges, sizeof *end, &end));
    for (size_t i = 0; i < nodes; i++)
        list[i] = (struct tac_keyed){node[i].id, (int64_t)i};
    TAC_TRY(tac_sort_keyed(ctx, nodes, list));
    for (size_t i = 0; i < nodes; i++) {
        id[i] = list[i].key;
        weight[i] = node[list[i].index].weight;
    }
    for (size_t k = 0; k < edges; k++) {
        end[2 * k] = tac_id_find(id, (tac_lid)nodes, edge[k].a);
        end[2 * k + 1] = tac_id_find(id, (tac_lid)nodes, edge[k].b);
        TAC_CHECK(end[2 * k] >= 0 && end[2 * k + 1] >= 0); /* an edge to a vertex that no rank has */
    }
    TAC_TRY(cut_sorted(ctx, nodes, weight, edges, edge, end, parts, sorted));
    TAC_TRY(measure_parts(ctx, nodes, weight, edges, edge, end, parts, sorted, cut, balance));
    for (size_t i = 0; i < nodes; i++)
        part[list[i].index] = sorted[i];
done:
    free(list);
    free(id);
    free(end);
    free(weight);
    free(sorted);
    return err;
}
