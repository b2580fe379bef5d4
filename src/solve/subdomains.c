/* subdomains.c: makes subdomains from a matrix: its graph, levels of merged clusters, and names of the clusters at the
 * end. */
#include "solve/subdomains.h"
#include "base/exchange.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_LEVELS = 40,
    WEIGHT = 400 /* weight of a coupling that is as stiff as its nodes in their softest directions */
};

/* The least stiffness of a node, relative to the largest entry of its block; and the largest ratio of a coupling. */
static const double LEAST_SOFT = 0x1p-40, MOST_RATIO = 0x1p60, LN_2 = 0x1.62e42fefa39efp-1;

static double largest(const double *block)
{
    double most = 0;
    for (int c = 0; c < 9; c++)
        most = fabs(block[c]) > most ? fabs(block[c]) : most;
    return most;
}

/* Estimates the stiffness of a node in its softest direction: 3 over the trace of the inverse of its block. */
static double soft(const double *a)
{
    const double least = LEAST_SOFT * largest(a);
    const double l10 = a[3] / a[0], l20 = a[6] / a[0], p1 = a[4] - l10 * a[3], r21 = a[7] - l20 * a[3];
    const double l21 = r21 / p1, p2 = a[8] - l20 * a[6] - l21 * r21, m20 = l21 * l10 - l20;
    if (!(a[0] > 0 && p1 > 0 && p2 > 0)) /* blocks that are not positive are reported later, when they are factored */
        return least;
    const double trace = 1 / a[0] + (1 + l10 * l10) / p1 + (1 + m20 * m20 + l21 * l21) / p2;
    return 3 / trace > least ? 3 / trace : least;
}

/* Computes the weight of an edge: the size of its block relative to the softest stiffness of its two nodes. Weights
 * grow only by the logarithm of this ratio. So a stiff contact next to a stiffer one is nearly as strong, and is not
 * cut; otherwise subdomains would resist the motion that the stiffer contact allows.  Between pairs the ratio is to the
 * largest entries: coarse matrices have no such contrasts. */
int64_t tac_graph_weigh(bool pairs, double size, double root_i, double root_j)
{
    const double ratio = size / (root_i * root_j);
    int exponent;
    if (!(size > 0))
        return 0;
    if (ratio < 1)
        return 1 + (int64_t)(WEIGHT * ratio);
    if (pairs)
        return 1 + WEIGHT;
    const double part = frexp(ratio < MOST_RATIO ? ratio : MOST_RATIO, &exponent); /* .5 to 1 */
    /* This logarithm is a straight line between powers of two, because the bits of log() depend on the version of
     * libm. */
    return 1 + WEIGHT + (int64_t)(2 * WEIGHT * LN_2 * (exponent - 1 + (2 * part - 1)));
}

/* Makes the vertices of the first level: nodes that are not fixed; owned ones are sorted by id. */
static enum tac_err start_vertices(struct tac_ctx *ctx, const struct tac_system *system, const uint8_t *fixed,
                                   struct tac_graph_start *s, struct tac_graph *g)
{
    enum tac_err err;
    const struct tac_nodes *nodes = &system->nodes;
    const tac_lid stride = s->pairs ? 2 : 1;
    struct tac_keyed *ours = NULL;
    tac_lid owned = 0, n;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->owned, sizeof *ours, &ours));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *s->vertex, &s->vertex));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *s->node, &s->node));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *g->id, &g->id));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *g->owner, &g->owner));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)nodes->count, sizeof *g->size, &g->size));
    for (tac_lid i = 0; i < nodes->owned; i += stride)
        if (!fixed[i])
            ours[owned++] = (struct tac_keyed){nodes->id[i], i};
    TAC_TRY(tac_sort_keyed(ctx, (size_t)owned, ours));
    for (n = 0; n < owned; n++)
        s->node[n] = (tac_lid)ours[n].index;
    for (tac_lid i = nodes->owned; i < nodes->count; i += stride)
        if (!fixed[i])
            s->node[n++] = i;
    memset(s->vertex, 0xff, (size_t)nodes->count * sizeof *s->vertex);
    for (tac_lid v = 0; v < n; v++) {
        const tac_lid i = s->node[v];
        s->vertex[i] = v;
        g->id[v] = nodes->id[i] / stride;
        g->owner[v] = v < owned ? ctx->rank : nodes->owner[i];
        g->size[v] = 1;
    }
    g->nodes = (struct tac_nodes){n, owned, g->id, g->owner};
done:
    free(ours);
    return err;
}

double tac_graph_size(const struct tac_graph_start *start, const struct tac_matrix *m, tac_lid i, size_t k)
{
    const size_t under = k - m->row[i] + m->row[i + 1];
    double most = largest(m->block + 9 * k);
    for (int b = 1; b < 4 && start->pairs; b++) {
        const double size = largest(m->block + 9 * ((b < 2 ? k : under) + (size_t)(b % 2)));
        most = size > most ? size : most;
    }
    return most;
}

static enum tac_err start_roots(struct tac_ctx *ctx, const struct tac_system *system, struct tac_graph_start *s)
{
    enum tac_err err;
    const struct tac_matrix *m = system->matrix;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)m->count, sizeof *s->root, &s->root));
    for (tac_lid i = 0; i < m->owned; i += s->pairs ? 2 : 1)
        for (size_t k = m->row[i]; k < m->row[i + 1]; k++)
            if (m->column[k] == i)
                s->root[i] = sqrt(s->pairs ? tac_graph_size(s, m, i, k) : soft(m->block + 9 * k));
done:
    return err;
}

static enum tac_err start_edges(struct tac_ctx *ctx, const struct tac_system *system, const struct tac_graph_start *s,
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
            if (w < 0 || j == i)
                continue;
            const int64_t weight = tac_graph_weigh(s->pairs, tac_graph_size(s, m, i, k), s->root[i], s->root[j]);
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

struct level_answer {
    const struct tac_graph_step *step; /* of the level of the requests */
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

/* Replaces the names of the owned clusters of the last level, in *name, by those of level 0: the names of the clusters
 * at the end.
 */
static enum tac_err unroll(struct tac_ctx *ctx, const struct levels *levels, tac_gid **name)
{
    enum tac_err err = TAC_OK;
    tac_gid *below = NULL;
    for (int l = levels->count - 1; l >= 0 && !err; l--) {
        const struct tac_graph_step *step = &levels->step[l], above = {.owned = levels->owned[l + 1]};
        const struct level_answer known = {&above, levels->id[l + 1], *name};
        err = tac_alloc_brief(ctx, (size_t)step->owned, sizeof *below, &below);
        err = tac_ask(ctx, err, (size_t)step->owned, step->owner, step->id, answer_end, &known, sizeof *below, below);
        free(*name);
        *name = below;
        below = NULL;
    }
    return err;
}

/* Local. Makes room for a level, of which it keeps the ids. */
static enum tac_err start_level(struct tac_ctx *ctx, const struct tac_graph *graph, struct levels *levels,
                                struct tac_matching *m, struct tac_graph_part **part)
{
    enum tac_err err;
    const int l = levels->count;
    levels->owned[l] = graph->nodes.owned;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)graph->nodes.owned, sizeof **levels->id, &levels->id[l]));
    for (tac_lid u = 0; u < graph->nodes.owned; u++)
        levels->id[l][u] = graph->id[u];
    TAC_TRY(tac_graph_match_start(ctx, graph, m));
    if (l < MOST_LEVELS)
        TAC_TRY(tac_graph_contract_start(ctx, graph, &levels->step[l], part));
done:
    return err;
}

/* Merges clusters until no pair fits. `graph` is the first level, and becomes the last one. */
static enum tac_err merge_clusters(struct tac_ctx *ctx, struct tac_graph *graph, int64_t most, struct levels *levels)
{
    enum tac_err err = TAC_OK;
    for (;;) {
        struct tac_matching m = {0};
        struct tac_graph_part *part = NULL;
        struct tac_graph coarse = {0};
        const int l = levels->count;
        err = tac_agree(ctx, start_level(ctx, graph, levels, &m, &part));
        if (!err && tac_graph_match(ctx, graph, most, &m) > 0 && l < MOST_LEVELS) {
            err = tac_graph_contract(ctx, graph, m.mate, &levels->step[l], part, &coarse);
            tac_graph_free(graph);
            *graph = coarse;
            graph->nodes.id = graph->id;
            graph->nodes.owner = graph->owner;
            levels->count++;
        }
        tac_graph_match_end(&m);
        free(part);
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

enum tac_err tac_graph_cut(struct tac_ctx *ctx, struct tac_graph *graph, int64_t total, const struct tac_cut_rule *rule,
                           tac_gid **name, struct tac_cut *cut)
{
    enum tac_err err;
    struct levels *levels = NULL;
    TAC_TRY(tac_agree(ctx, tac_alloc_brief(ctx, 1, sizeof *levels, &levels)));
    TAC_TRY(merge_clusters(ctx, graph, rule->most, levels));
    TAC_TRY(tac_agree(ctx, tac_alloc_brief(ctx, (size_t)graph->nodes.owned, sizeof **name, name)));
    TAC_TRY(tac_cut_names(ctx, graph, total, rule, *name, cut));
    TAC_TRY(unroll(ctx, levels, name));
done:
    if (levels)
        levels_free(levels);
    free(levels);
    return err;
}

/* Collective. Cuts the graph as it is distributed. first: has its vertices. */
static enum tac_err cut_together(struct tac_ctx *ctx, const struct tac_system *system, struct tac_nodes_halo *halo,
                                 const struct tac_cut_rule *rule, struct tac_graph_start *start,
                                 struct tac_graph *first, struct tac_cut *cut)
{
    enum tac_err err;
    const tac_lid owned = first->nodes.owned;
    int64_t total = owned;
    tac_gid *name = NULL;
    struct tac_nodes_halo *made = NULL;
    if (halo == NULL)
        TAC_TRY(tac_nodes_halo_create(ctx, &system->nodes, &made));
    halo = halo ? halo : made;
    tac_nodes_halo_refresh(halo, start->root, sizeof *start->root);
    err = start_edges(ctx, system, start, first);
    TAC_TRY(tac_nodes_halo_create_after(ctx, err, &first->nodes, &first->halo));
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    TAC_TRY(tac_graph_cut(ctx, first, total, rule, &name, cut));
    for (tac_lid v = 0; v < owned; v++)
        for (tac_lid half = 0; half <= rule->pairs; half++)
            cut->name[start->node[v] + half] = name[v];
    tac_nodes_halo_refresh(halo, cut->name, sizeof *cut->name);
    TAC_TRY(tac_cut_place(ctx, system, halo, cut));
done:
    tac_nodes_halo_destroy(&made);
    free(name);
    return err;
}

enum tac_err tac_cut_make(struct tac_ctx *ctx, const struct tac_system *system, const uint8_t *fixed,
                          struct tac_nodes_halo *halo, const struct tac_cut_rule *rule, struct tac_cut *cut)
{
    enum tac_err err;
    const size_t count = (size_t)system->nodes.count;
    struct tac_graph_start start = {.pairs = rule->pairs};
    struct tac_graph first = {0};
    bool alone = false;
    tac_cut_free(cut);
    cut->count = system->nodes.count;
    TAC_TRY(tac_alloc_brief(ctx, count, sizeof *cut->name, &cut->name));
    TAC_TRY(tac_alloc_brief(ctx, count, sizeof *cut->rank, &cut->rank));
    memset(cut->name, 0xff, count * sizeof *cut->name); /* 0xff..: -1 */
    memset(cut->rank, 0xff, count * sizeof *cut->rank);
    TAC_TRY(start_vertices(ctx, system, fixed, &start, &first));
    TAC_TRY(start_roots(ctx, system, &start));
done:
    if (rule->alone > 0 && ctx->size > 1)
        err = tac_cut_alone(ctx, err, system, &start, &first, rule, cut, &alone);
    else
        err = tac_agree(ctx, err);
    if (!err && !alone)
        err = cut_together(ctx, system, halo, rule, &start, &first, cut);
    free(start.vertex);
    free(start.root);
    free(start.node);
    tac_graph_free(&first);
    if (err)
        tac_cut_free(cut);
    return err;
}

void tac_cut_free(struct tac_cut *cut)
{
    free(cut->name);
    free(cut->rank);
    memset(cut, 0, sizeof *cut);
}
