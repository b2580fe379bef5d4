/* coarse.c: computes the rigid modes of subdomains, and makes E a dense matrix or the next level. */
#include "base/exchange.h"
#include "solve/levels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A mode depends on others if only this part of its squared length is independent of them. Likewise a subdomain is a
 * point if it is that small against its distance from the origin. */
static const double DEPENDENT = 1e-8, POINT = 1e-24;

int tac_coarse_basis(const double gram[TAC_MODES][TAC_MODES], double far2, double basis[TAC_MODES][TAC_MODES],
                     double turn[TAC_MODES][TAC_MODES])
{
    double factor[TAC_MODES][TAC_MODES] = {{0}}, spread = 0, weight = 0;
    int dropped = 0;
    bool kept[TAC_MODES];
    for (int k = 0; k < 3; k++) {
        weight = gram[k][k] > weight ? gram[k][k] : weight;
        spread = gram[k + 3][k + 3] > spread ? gram[k + 3][k + 3] : spread;
    }
    memset(basis, 0, sizeof(double) * TAC_MODES * TAC_MODES);
    memset(turn, 0, sizeof(double) * TAC_MODES * TAC_MODES);
    /* Cholesky of the Gram matrix, mode by mode: gram = factor factor^T, and the basis is its inverse transposed.  The
     * inverse map, also for modes that depend on others, is the factor transposed. */
    for (int j = 0; j < TAC_MODES; j++) {
        double pivot = gram[j][j];
        for (int k = 0; k < j; k++)
            pivot -= factor[j][k] * factor[j][k];
        const double scale = j < 3 ? weight : spread;
        kept[j] = pivot > DEPENDENT * scale && (j < 3 || spread > POINT * far2);
        dropped += !kept[j];
        factor[j][j] = kept[j] ? sqrt(pivot) : 1;
        for (int i = j + 1; i < TAC_MODES; i++) {
            double sum = gram[i][j];
            for (int k = 0; k < j; k++)
                sum -= factor[i][k] * factor[j][k];
            factor[i][j] = kept[j] ? sum / factor[j][j] : 0;
        }
        for (int k = 0; k < j; k++)
            turn[k][j] = factor[j][k];
        turn[j][j] = kept[j] ? factor[j][j] : 0;
        for (int k = 0; k < j && !kept[j]; k++)
            factor[j][k] = 0;
    }
    for (int m = 0; m < TAC_MODES; m++) /* basis column m: factor^T basis = e_m, from the last row on */
        for (int i = m; i >= 0 && kept[m]; i--) {
            double sum = i == m;
            for (int k = i + 1; k <= m; k++)
                sum -= factor[k][i] * basis[k][m];
            basis[i][m] = kept[i] ? sum / factor[i][i] : 0;
        }
    return dropped;
}

/* Computes the centre and the sums of one subdomain. */
struct shape {
    double centre[3], far2, gram[TAC_MODES][TAC_MODES];
};

/* Writes the motions of a node with arm d and translation t: 3 rows of 6. */
static void motions(const double *arm, double out[3][TAC_MODES])
{
    const double t = arm[3];
    memset(out, 0, sizeof(double) * 3 * TAC_MODES);
    for (int c = 0; c < 3; c++)
        out[c][c] = t;
    out[0][4] = arm[2]; /* w x d */
    out[0][5] = -arm[1];
    out[1][3] = -arm[2];
    out[1][5] = arm[0];
    out[2][3] = arm[1];
    out[2][4] = -arm[0];
}

/* Does the same for a node that is a half of a subdomain; `turn`: its values for a motion about its own centre. */
static void turned_motions(const double *turn, const double *arm, double *out)
{
    for (int c = 0; c < 3; c++, turn += TAC_MODES, out += TAC_MODES) {
        memcpy(out, turn, 3 * sizeof *out);
        out[3] = turn[3] + (arm[1] * turn[2] - arm[2] * turn[1]);
        out[4] = turn[4] + (arm[2] * turn[0] - arm[0] * turn[2]);
        out[5] = turn[5] + (arm[0] * turn[1] - arm[1] * turn[0]);
    }
}

static void find_centre(const struct tac_local_system *local, const struct tac_subdomain *s, bool turned,
                        struct shape *shape)
{
    double sum[3] = {0, 0, 0}, weight = 0;
    shape->far2 = 0;
    for (tac_lid i = s->begin; i < s->end; i++) {
        const double *p = local->place + 4 * (size_t)i, more = turned ? p[3] : 1;
        weight += p[3] * p[3];
        for (int c = 0; c < 3; c++) {
            sum[c] += more * p[3] * p[c];
            shape->far2 += more * more * (p[c] * p[c]);
        }
    }
    for (int c = 0; c < 3; c++)
        shape->centre[c] = weight > 0 ? sum[c] / weight : 0;
}

/* Computes the arms or motions of a subdomain's nodes, and the sum of Z^T Z. */
static void find_gram(const struct tac_local_system *local, const struct tac_subdomain *s, const double *turn,
                      struct tac_coarse *out, struct shape *shape)
{
    memset(shape->gram, 0, sizeof shape->gram);
    for (tac_lid i = s->begin; i < s->end; i++) {
        const double *p = local->place + 4 * (size_t)i;
        double arm[4] = {0, 0, 0, p[3]}, z[3][TAC_MODES];
        for (int c = 0; c < 3; c++)
            arm[c] = p[c] - (turn ? 1 : p[3]) * shape->centre[c];
        if (turn) {
            turned_motions(turn + 18 * (size_t)i, arm, z[0]);
            memcpy(out->motion + 18 * (size_t)i, z, sizeof z);
        } else {
            motions(arm, z);
            memcpy(out->arm + 4 * (size_t)i, arm, sizeof arm);
        }
        for (int a = 0; a < TAC_MODES; a++)
            for (int b = 0; b < TAC_MODES; b++)
                for (int c = 0; c < 3; c++)
                    shape->gram[a][b] += z[c][a] * z[c][b];
    }
}

static enum tac_err prepare(struct tac_ctx *ctx, const struct tac_local_system *local, bool turned,
                            struct tac_coarse *out)
{
    enum tac_err err;
    const size_t own = (size_t)local->subdomains;
    out->ctx = ctx;
    TAC_TRY(tac_alloc_brief(ctx, own, sizeof *out->node, &out->node));
    TAC_TRY(tac_alloc_brief(ctx, own, sizeof *out->basis, &out->basis));
    TAC_TRY(tac_alloc_brief(ctx, TAC_MODES * own, sizeof *out->mine, &out->mine));
    TAC_TRY(tac_alloc_brief(ctx, TAC_MODES * own, sizeof *out->back, &out->back));
    if (turned)
        TAC_TRY(tac_alloc_brief(ctx, 18 * (size_t)local->count, sizeof *out->motion, &out->motion));
    else
        TAC_TRY(tac_alloc_brief(ctx, 4 * (size_t)local->count, sizeof *out->arm, &out->arm));
done:
    return err;
}

/* Computes the modes of this rank's subdomains. */
static void make_modes(struct tac_ctx *ctx, const struct tac_local_system *local, const double *turn,
                       struct tac_coarse *out)
{
    for (int k = 0; k < local->subdomains; k++) {
        struct shape shape;
        struct tac_coarse_node *node = &out->node[k];
        find_centre(local, &local->subdomain[k], turn != NULL, &shape);
        find_gram(local, &local->subdomain[k], turn, out, &shape);
        out->dropped += tac_coarse_basis((const double(*)[TAC_MODES])shape.gram, shape.far2, out->basis[k], node->turn);
        node->name = local->subdomain[k].name;
        node->rank = ctx->rank;
        memcpy(node->place, shape.centre, sizeof shape.centre);
        node->place[3] = sqrt(shape.gram[0][0]);
    }
    if (turn == NULL)
        tac_nodes_halo_refresh(local->halo, out->arm, 4 * sizeof *out->arm);
    else
        tac_nodes_halo_refresh(local->halo, out->motion, 18 * sizeof *out->motion);
}

/* Sets where the values of all subdomains are in messages that all ranks share. */
static enum tac_err make_message(struct tac_ctx *ctx, const struct tac_local_system *local, size_t total,
                                 const struct tac_coarse_node *node, struct tac_coarse *out)
{
    enum tac_err err;
    struct tac_keyed *order = NULL;
    TAC_TRY(tac_alloc_brief(ctx, total, sizeof *order, &order));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)ctx->size, sizeof *out->count, &out->count));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)ctx->size, sizeof *out->start, &out->start));
    TAC_TRY(tac_alloc_brief(ctx, total, sizeof *out->slot, &out->slot));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)local->subdomains, sizeof *out->index, &out->index));
    TAC_TRY(tac_alloc_brief(ctx, TAC_MODES * total, sizeof *out->all, &out->all));
    TAC_TRY(tac_alloc_brief(ctx, TAC_MODES * total, sizeof *out->value, &out->value));
    for (size_t k = 0; k < total; k++) {
        order[k] = (struct tac_keyed){node[k].name, (int64_t)k};
        out->count[node[k].rank] += TAC_MODES;
    }
    for (int r = 1; r < ctx->size; r++)
        out->start[r] = out->start[r - 1] + out->count[r - 1];
    TAC_TRY(tac_sort_keyed(ctx, total, order));
    for (size_t k = 0; k < total; k++) {
        const size_t at = (size_t)order[k].index;
        out->slot[k] = (int)at;
        if (node[at].rank == ctx->rank)
            out->index[at - (size_t)(out->start[ctx->rank] / TAC_MODES)] = (int)k;
    }
done:
    free(order);
    return err;
}

static int find_name(const struct tac_coarse *c, const struct tac_coarse_node *node, tac_gid name)
{
    int low = 0, high = (int)c->subdomains;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (node[c->slot[middle]].name <= name)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Every rank factors E. */
static enum tac_err make_dense(struct tac_ctx *ctx, const struct tac_coarse_node *node, size_t count,
                               const struct tac_coarse_block *block, struct tac_coarse *out)
{
    enum tac_err err;
    TAC_TRY(tac_dense_make(ctx, TAC_MODES * (int)out->subdomains, &out->matrix));
    for (size_t k = 0; k < count; k++) {
        const int row = TAC_MODES * find_name(out, node, block[k].row),
                  column = TAC_MODES * find_name(out, node, block[k].column);
        for (int a = 0; a < TAC_MODES; a++)
            memcpy(tac_dense_row(&out->matrix, row + a) + column, block[k].value[a], sizeof block[k].value[a]);
    }
    TAC_TRY(tac_dense_factor(ctx, &out->matrix));
done:
    return err;
}

/* Counts the work of a dense Cholesky factor, n^3/6 multiplications and additions. */
static void count_factor(const struct tac_local_system *local, size_t n)
{
    tac_local_count(local, n * n * n / 54);
}

/* Makes E on every rank: dense, or a level that every rank solves by itself. */
static enum tac_err make_everywhere(struct tac_ctx *ctx, const struct tac_local_system *local,
                                    const struct tac_coarse_plan *plan, bool dense, size_t mine,
                                    const struct tac_coarse_block *block, struct tac_coarse *out)
{
    enum tac_err err;
    struct tac_coarse_block *all = NULL;
    struct tac_coarse_node *node = NULL, *sorted = NULL;
    int64_t blocks = 0, nodes = 0;
    TAC_TRY(tac_share_all(ctx, TAC_OK, (size_t)local->subdomains, out->node, sizeof *node, 0, &node, &nodes));
    TAC_TRY(tac_share_all(ctx, TAC_OK, mine, block, sizeof *all, 0, &all, &blocks));
    err = make_message(ctx, local, (size_t)nodes, node, out);
    if (!err && dense) {
        err = make_dense(ctx, node, (size_t)blocks, all, out);
        count_factor(local, (size_t)out->matrix.size);
    } else if (!err) {
        err = tac_alloc_brief(ctx, (size_t)nodes, sizeof *sorted, &sorted);
        for (int64_t k = 0; k < nodes && !err; k++) {
            sorted[k] = node[out->slot[k]];
            sorted[k].rank = 0;
        }
        for (int64_t k = 0; k < blocks; k++)
            all[k].row_rank = all[k].column_rank = 0;
        err = err ? err
                  : tac_level_make(ctx, plan->rule, true, (size_t)nodes, sorted, (size_t)blocks, all, local->products,
                                   &out->next);
    }
    TAC_TRY(tac_agree(ctx, err));
done:
    free(all);
    free(node);
    free(sorted);
    return err;
}

/* Makes E a level whose rows lie on the ranks of their subdomains. Blocks that another rank has made are sent to the
 * rank of their row.
 */
static enum tac_err make_next(struct tac_ctx *ctx, const struct tac_local_system *local,
                              const struct tac_coarse_plan *plan, size_t *mine, struct tac_coarse_block **block,
                              struct tac_coarse *out)
{
    enum tac_err err;
    struct tac_coarse_block *away = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t n = 0, total = 0, capacity = *mine;
    TAC_TRY(tac_alloc_brief(ctx, *mine, sizeof *away, &away));
    TAC_TRY(tac_alloc_brief(ctx, *mine, sizeof *to, &to));
    for (size_t k = 0; k < *mine; k++)
        if ((*block)[k].row_rank != ctx->rank) {
            to[n] = (int32_t)(*block)[k].row_rank;
            away[n++] = (*block)[k];
        }
done:
    err = tac_distribute(ctx, err, n, to, away, sizeof *away, &came, &total);
    if (!err) {
        err = tac_grow(ctx, block, &capacity, *mine + total + 1, sizeof **block);
        if (!err && total > 0)
            memcpy(*block + *mine, came, total * sizeof *came);
        *mine += total;
        err = tac_agree(ctx, err);
    }
    if (!err)
        err = tac_level_make(ctx, plan->rule, false, (size_t)local->subdomains, out->node, *mine, *block,
                             local->products, &out->next);
    free(away);
    free(came);
    free(to);
    return err;
}

/* Counts the products of A and Z: a block times 3 rows of six numbers. */
static void count_products(const struct tac_local_system *local)
{
    tac_local_count(local, TAC_MODES * ((size_t)local->owned + 2 * local->lower.from[local->owned] +
                                        local->outer.from[local->outer_count]));
}

enum tac_err tac_coarse_make(struct tac_ctx *ctx, const struct tac_local_system *local,
                             const struct tac_coarse_plan *plan, struct tac_coarse *out)
{
    enum tac_err err;
    struct tac_coarse_block *block = NULL;
    size_t count = 0;
    int64_t sum = local->subdomains;
    tac_coarse_free(out);
    TAC_TRY(tac_agree(ctx, prepare(ctx, local, plan->turn != NULL, out)));
    MPI_Allreduce(&sum, &out->subdomains, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    const bool dense = plan->dense || TAC_MODES * out->subdomains <= plan->rule->dense;
    make_modes(ctx, local, plan->turn, out);
    TAC_TRY(tac_coarse_rows(ctx, local, !dense, out, &block, &count));
    count_products(local);
    if (dense || plan->whole)
        TAC_TRY(make_everywhere(ctx, local, plan, dense, count, block, out));
    else
        TAC_TRY(make_next(ctx, local, plan, &count, &block, out));
    free(out->node);
    out->node = NULL;
done:
    free(block);
    if (err)
        tac_coarse_free(out);
    return err;
}

int tac_coarse_size(const struct tac_coarse *coarse)
{
    while (coarse->next)
        coarse = &coarse->next->coarse;
    return coarse->matrix.size;
}

void tac_coarse_free(struct tac_coarse *coarse)
{
    void *const owned[] = {coarse->node,         coarse->basis,   coarse->arm,   coarse->motion,
                           coarse->outside_from, coarse->outside, coarse->mine,  coarse->inner_rows,
                           coarse->outer_rows,   coarse->back,    coarse->count, coarse->start,
                           coarse->slot,         coarse->index,   coarse->all,   coarse->value};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    tac_dense_free(&coarse->matrix);
    tac_level_destroy(&coarse->next);
    memset(coarse, 0, sizeof *coarse);
}
