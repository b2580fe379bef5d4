/* subdomains.c: subdomains from a matrix: its graph, levels of merged clusters, and numbers for those that are left. */
#include "solve/subdomains.h"
#include "base/exchange.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_MOST = 256,      /* a subdomain has at most so many nodes, or a 128th of all */
    SHARE = 128,           /* so that there are some 200 subdomains */
    MOST_SUBDOMAINS = 256, /* more than these are packed together, coupled or not */
    MOST_LEVELS = 40,
    WEIGHT = 400 /* of a coupling as stiff as its nodes are in their softest directions */
};

/* A node counts as at least so stiff, against the largest entry of its block, and no coupling is stronger than this. */
static const double LEAST_SOFT = 0x1p-40, MOST_RATIO = 0x1p60, LN_2 = 0x1.62e42fefa39efp-1;

static double largest(const double *block)
{
    double most = 0;
    for (int c = 0; c < 9; c++)
        most = fabs(block[c]) > most ? fabs(block[c]) : most;
    return most;
}

/* How stiff a node is in its softest direction, about: 3 over the trace of its block's inverse. */
static double soft(const double *a)
{
    const double least = LEAST_SOFT * largest(a);
    const double l10 = a[3] / a[0], l20 = a[6] / a[0], p1 = a[4] - l10 * a[3], r21 = a[7] - l20 * a[3];
    const double l21 = r21 / p1, p2 = a[8] - l20 * a[6] - l21 * r21, m20 = l21 * l10 - l20;
    if (!(a[0] > 0 && p1 > 0 && p2 > 0)) /* what is not positive is told later, where it is factored */
        return least;
    const double trace = 1 / a[0] + (1 + l10 * l10) / p1 + (1 + m20 * m20 + l21 * l21) / p2;
    return 3 / trace > least ? 3 / trace : least;
}

/* The number of an edge's weight: how large the block is against what is soft at its two nodes.  A stiff contact next
 * to a stiffer one is as strong as that one, to a logarithm, or else it would be cut, and subdomains would resist the
 * motion that it allows. */
static int64_t weigh(const double *block, double root_i, double root_j)
{
    const double size = largest(block), ratio = size / (root_i * root_j);
    int exponent;
    if (!(size > 0))
        return 0;
    if (ratio < 1)
        return 1 + (int64_t)(WEIGHT * ratio);
    const double part = frexp(ratio < MOST_RATIO ? ratio : MOST_RATIO, &exponent); /* .5 to 1 */
    /* The logarithm, a straight line between powers of two: libm's would make bits depend on its version. */
    return 1 + WEIGHT + (int64_t)(2 * WEIGHT * LN_2 * (exponent - 1 + (2 * part - 1)));
}

struct start {
    tac_lid *vertex; /* owned, (count): of a local node; -1: none */
    double *root;    /* owned, (count): of the stiffness in its softest direction */
    tac_lid *node;   /* owned: of a vertex */
};

/* Vertices of the first level: nodes that are not fixed, owned ones by ascending id. */
static enum tac_err start_vertices(struct tac_ctx *ctx, const struct tac_system *system, const uint8_t *fixed,
                                   struct start *s, struct tac_graph *g)
{
    enum tac_err err;
    const struct tac_nodes *nodes = &system->nodes;
    struct tac_keyed *ours = NULL;
    tac_lid owned = 0, n;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->owned, sizeof *ours, &ours));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *s->vertex, &s->vertex));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *s->node, &s->node));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *g->id, &g->id));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *g->owner, &g->owner));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *g->size, &g->size));
    for (tac_lid i = 0; i < nodes->owned; i++)
        if (!fixed[i])
            ours[owned++] = (struct tac_keyed){nodes->id[i], i};
    TAC_TRY(tac_sort_keyed(ctx, (size_t)owned, ours));
    for (n = 0; n < owned; n++)
        s->node[n] = (tac_lid)ours[n].index;
    for (tac_lid i = nodes->owned; i < nodes->count; i++)
        if (!fixed[i])
            s->node[n++] = i;
    memset(s->vertex, 0xff, (size_t)nodes->count * sizeof *s->vertex);
    for (tac_lid v = 0; v < n; v++) {
        const tac_lid i = s->node[v];
        s->vertex[i] = v;
        g->id[v] = nodes->id[i];
        g->owner[v] = v < owned ? ctx->rank : nodes->owner[i];
        g->size[v] = 1;
    }
    g->nodes = (struct tac_nodes){n, owned, g->id, g->owner};
done:
    free(ours);
    return err;
}

static enum tac_err start_roots(struct tac_ctx *ctx, const struct tac_system *system, struct start *s)
{
    enum tac_err err;
    const struct tac_matrix *m = system->matrix;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)m->count, sizeof *s->root, &s->root));
    for (tac_lid i = 0; i < m->owned; i++)
        for (size_t k = m->row[i]; k < m->row[i + 1]; k++)
            if (m->column[k] == i)
                s->root[i] = sqrt(soft(m->block + 9 * k));
done:
    return err;
}

static enum tac_err start_edges(struct tac_ctx *ctx, const struct tac_system *system, const struct start *s,
                                struct tac_graph *g)
{
    enum tac_err err;
    const struct tac_matrix *m = system->matrix;
    size_t end = 0;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)g->nodes.owned + 1, sizeof *g->row, &g->row));
    TAC_TRY(tac_alloc_brief(ctx, m->row[m->owned], sizeof *g->column, &g->column));
    TAC_TRY(tac_alloc_brief(ctx, m->row[m->owned], sizeof *g->weight, &g->weight));
    for (tac_lid v = 0; v < g->nodes.owned; v++) {
        const tac_lid i = s->node[v];
        g->row[v] = end;
        for (size_t k = m->row[i]; k < m->row[i + 1]; k++) {
            const tac_lid j = m->column[k], w = s->vertex[j];
            const int64_t weight = w < 0 || j == i ? 0 : weigh(m->block + 9 * k, s->root[i], s->root[j]);
            if (weight > 0) {
                g->column[end] = w;
                g->weight[end++] = weight;
            }
        }
    }
    g->row[g->nodes.owned] = end;
done:
    return err;
}

/* A cluster that is left at the end; from all ranks, by ascending id. */
struct cluster {
    tac_gid id;
    int64_t size, subdomain;
};

struct clusters {
    struct cluster *list; /* owned */
    tac_gid *id;          /* owned */
    size_t count;
};

/* All clusters on all ranks. */
static enum tac_err gather_clusters(struct tac_ctx *ctx, const struct tac_graph *last, struct clusters *all)
{
    enum tac_err err;
    const size_t mine = (size_t)last->nodes.owned;
    struct cluster *out = NULL;
    int32_t *to = NULL;
    TAC_TRY(tac_alloc_brief(ctx, mine * (size_t)ctx->size, sizeof *out, &out));
    TAC_TRY(tac_alloc_brief(ctx, mine * (size_t)ctx->size, sizeof *to, &to));
    for (int r = 0; r < ctx->size; r++)
        for (size_t k = 0; k < mine; k++) {
            out[(size_t)r * mine + k] = (struct cluster){last->id[k], last->size[k], 0};
            to[(size_t)r * mine + k] = r;
        }
done:
    err = tac_distribute(ctx, err, mine * (size_t)ctx->size, to, out, sizeof *out, &all->list, &all->count);
    if (!err) {
        err = tac_sort_records(ctx, all->count, sizeof *all->list, all->list);
        err = err ? err : tac_alloc_brief(ctx, all->count, sizeof *all->id, &all->id);
        err = tac_agree(ctx, err);
    }
    for (size_t k = 0; k < all->count && !err; k++)
        all->id[k] = all->list[k].id;
    free(out);
    free(to);
    return err;
}

/* Numbers of subdomains; where there are too many clusters, each takes the next ones in as long as they fit. */
static enum tac_err number_subdomains(struct tac_ctx *ctx, struct clusters *all, int64_t most, struct tac_cut *cut)
{
    enum tac_err err;
    const bool packed = all->count > MOST_SUBDOMAINS;
    int64_t n = 0;
    TAC_TRY(tac_alloc_brief(ctx, all->count, sizeof *cut->size, &cut->size));
    TAC_TRY(tac_alloc_brief(ctx, all->count, sizeof *cut->rank, &cut->rank));
    for (size_t k = 0; k < all->count; k++) {
        if (n == 0 || !packed || cut->size[n - 1] + all->list[k].size > most)
            n++;
        cut->size[n - 1] += all->list[k].size;
        all->list[k].subdomain = n - 1;
    }
    cut->subdomains = (int)n;
done:
    return err;
}

struct level_answer {
    const struct tac_graph_step *step; /* of the level that is asked about */
    const tac_gid *id;                 /* its ids */
    const tac_gid *end;                /* its clusters at the end */
};

static void answer_end(const void *known, tac_gid id, void *record)
{
    const struct level_answer *a = known;
    const tac_lid u = tac_id_find(a->id, a->step->owned, id);
    TAC_CHECK(u >= 0);
    memcpy(record, &a->end[u], sizeof *a->end);
}

struct levels {
    int count;
    struct tac_graph_step step[MOST_LEVELS];
    tac_gid *id[MOST_LEVELS + 1]; /* owned: of each level's owned clusters */
    tac_lid owned[MOST_LEVELS + 1];
};

/* For the owned clusters of level 0 the cluster at the end, in *end (owned by the caller). */
static enum tac_err unroll(struct tac_ctx *ctx, const struct levels *levels, tac_gid **end)
{
    enum tac_err err = TAC_OK;
    tac_gid *now = NULL, *below = NULL;
    const int top = levels->count;
    err = tac_alloc_brief(ctx, (size_t)levels->owned[top], sizeof *now, &now);
    for (tac_lid u = 0; u < levels->owned[top] && !err; u++)
        now[u] = levels->id[top][u];
    for (int l = top - 1; l >= 0; l--) {
        const struct tac_graph_step *step = &levels->step[l], above = {.owned = levels->owned[l + 1]};
        const struct level_answer known = {&above, levels->id[l + 1], now};
        err = err ? err : tac_alloc_brief(ctx, (size_t)step->owned, sizeof *below, &below);
        err = tac_ask(ctx, err, (size_t)step->owned, step->owner, step->id, answer_end, &known, sizeof *below, below);
        free(now);
        now = below;
        below = NULL;
        if (err)
            break;
    }
    if (err) {
        free(now);
        now = NULL;
    }
    *end = now;
    return err;
}

/* Merges until nothing fits.  `graph` is the first level, and becomes the last one. */
static enum tac_err merge_clusters(struct tac_ctx *ctx, struct tac_graph *graph, int64_t most, struct levels *levels)
{
    enum tac_err err = TAC_OK;
    for (;;) {
        tac_lid *mate = NULL;
        int64_t pairs = 0;
        struct tac_graph coarse = {0};
        const int l = levels->count;
        levels->owned[l] = graph->nodes.owned;
        err = tac_alloc_brief(ctx, (size_t)graph->nodes.owned, sizeof **levels->id, &levels->id[l]);
        for (tac_lid u = 0; u < graph->nodes.owned && !err; u++)
            levels->id[l][u] = graph->id[u];
        err = err ? err : tac_alloc_brief(ctx, (size_t)graph->nodes.owned, sizeof *mate, &mate);
        err = tac_agree(ctx, err);
        err = err ? err : tac_graph_match(ctx, graph, most, mate, &pairs);
        if (!err && pairs > 0 && l < MOST_LEVELS) {
            err = tac_graph_contract(ctx, graph, mate, &levels->step[l], &coarse);
            tac_graph_free(graph);
            *graph = coarse;
            graph->nodes.id = graph->id;
            graph->nodes.owner = graph->owner;
            levels->count++;
        }
        free(mate);
        if (err || levels->count == l)
            return err;
    }
}

static void levels_free(struct levels *levels)
{
    for (int l = 0; l < MOST_LEVELS; l++) {
        free(levels->step[l].id);
        free(levels->step[l].owner);
    }
    for (int l = 0; l <= MOST_LEVELS; l++)
        free(levels->id[l]);
}

enum tac_err tac_cut_make(struct tac_ctx *ctx, const struct tac_system *system, const uint8_t *fixed,
                          struct tac_nodes_halo *halo, struct tac_cut *cut)
{
    enum tac_err err;
    const struct tac_nodes *nodes = &system->nodes;
    struct start start = {0};
    struct tac_graph graph = {0};
    struct levels *levels = NULL;
    struct clusters all = {0};
    tac_gid *end = NULL;
    int64_t total = 0, most;
    tac_cut_free(cut);
    TAC_TRY(tac_alloc_brief(ctx, 1, sizeof *levels, &levels));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *cut->subdomain, &cut->subdomain));
    TAC_TRY(start_vertices(ctx, system, fixed, &start, &graph));
    TAC_TRY(start_roots(ctx, system, &start));
done:
    if ((err = tac_agree(ctx, err)) != TAC_OK)
        goto out;
    tac_nodes_halo_refresh(halo, start.root, sizeof *start.root);
    err = start_edges(ctx, system, &start, &graph);
    if ((err = tac_agree(ctx, err)) != TAC_OK ||
        (err = tac_nodes_halo_create(ctx, &graph.nodes, &graph.halo)) != TAC_OK)
        goto out;
    total = graph.nodes.owned;
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    most = total / SHARE > LEAST_MOST ? total / SHARE : LEAST_MOST;
    const tac_lid owned = graph.nodes.owned;
    if ((err = merge_clusters(ctx, &graph, most, levels)) != TAC_OK ||
        (err = gather_clusters(ctx, &graph, &all)) != TAC_OK)
        goto out;
    err = number_subdomains(ctx, &all, most, cut);
    if ((err = tac_agree(ctx, err)) != TAC_OK || (err = unroll(ctx, levels, &end)) != TAC_OK)
        goto out;
    cut->count = nodes->count;
    memset(cut->subdomain, 0xff, (size_t)nodes->count * sizeof *cut->subdomain);
    for (tac_lid v = 0; v < owned; v++)
        cut->subdomain[start.node[v]] = (int32_t)all.list[tac_id_find(all.id, (tac_lid)all.count, end[v])].subdomain;
    tac_nodes_halo_refresh(halo, cut->subdomain, sizeof *cut->subdomain);
    err = tac_cut_place(ctx, system, cut);
out:
    free(start.vertex);
    free(start.root);
    free(start.node);
    free(all.list);
    free(all.id);
    free(end);
    tac_graph_free(&graph);
    if (levels)
        levels_free(levels);
    free(levels);
    if (err)
        tac_cut_free(cut);
    return err;
}

void tac_cut_free(struct tac_cut *cut)
{
    free(cut->subdomain);
    free(cut->rank);
    free(cut->size);
    memset(cut, 0, sizeof *cut);
}
