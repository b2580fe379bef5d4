/* levels.c: makes the matrix of a level from blocks of 6x6, and its solver, and does its cycles. */
#include "solve/levels.h"
#include "base/exchange.h"
#include "solve/dots.h"
#include <stdlib.h>
#include <string.h>

enum { POWER_STEPS = 15, CYCLES = 2, HALVES = 2, ROW = 3 * TAC_MODES };
static const double MOST_LAMBDA = 1.6; /* less than 2, because power steps underestimate the largest eigenvalue */

/* ---- the matrix ---- */

/* A block in one of our rows. */
struct entry {
    tac_lid row, column; /* subdomains: own ones first, then others */
    size_t block;
    bool transposed;
};

struct making {
    size_t own, count; /* subdomains: own ones; with those of other ranks that blocks name */
    const struct tac_coarse_node *node;
    const struct tac_coarse_block *block;
    tac_gid *name;       /* owned, (count) */
    struct entry *entry; /* owned, by row, and within a row by ascending name of the column */
    size_t entries;
};

/* Makes the nodes of subdomains, two of each. */
static enum tac_err name_nodes(struct tac_ctx *ctx, struct making *m, size_t blocks, struct tac_level *l)
{
    enum tac_err err;
    struct tac_keyed *other = NULL;
    size_t n = 0;
    TAC_TRY(tac_alloc_brief(ctx, 2 * blocks, sizeof *other, &other));
    for (size_t k = 0; k < blocks; k++) {
        const struct tac_coarse_block *b = &m->block[k];
        if (b->row_rank != ctx->rank)
            other[n++] = (struct tac_keyed){b->row, b->row_rank};
        if (b->column_rank != ctx->rank)
            other[n++] = (struct tac_keyed){b->column, b->column_rank};
    }
    TAC_TRY(tac_sort_keyed(ctx, n, other));
    TAC_TRY(tac_alloc_brief(ctx, m->own + n, sizeof *m->name, &m->name));
    TAC_TRY(tac_alloc_brief(ctx, HALVES * (m->own + n), sizeof *l->id, &l->id));
    TAC_TRY(tac_alloc_brief(ctx, HALVES * (m->own + n), sizeof *l->owner, &l->owner));
    for (m->count = 0; m->count < m->own; m->count++)
        m->name[m->count] = m->node[m->count].name;
    for (size_t k = 0; k < n; k++)
        if (k == 0 || other[k].key != other[k - 1].key) {
            l->owner[HALVES * m->count] = (int32_t)other[k].index;
            m->name[m->count++] = other[k].key;
        }
    for (size_t k = 0; k < m->count; k++)
        for (size_t half = 0; half < HALVES; half++) {
            l->id[HALVES * k + half] = HALVES * m->name[k] + (tac_gid)half;
            l->owner[HALVES * k + half] = k < m->own ? ctx->rank : l->owner[HALVES * k];
        }
    l->nodes = (struct tac_nodes){(tac_lid)(HALVES * m->count), (tac_lid)(HALVES * m->own), l->id, l->owner};
done:
    free(other);
    return err;
}

static tac_lid find_name(const struct making *m, tac_gid name, bool ours)
{
    const size_t begin = ours ? 0 : m->own, end = ours ? m->own : m->count;
    return (tac_lid)begin + tac_id_find(m->name + begin, (tac_lid)(end - begin), name);
}

/* Sorts the blocks of our rows. */
static enum tac_err order_entries(struct tac_ctx *ctx, struct making *m, size_t blocks)
{
    enum tac_err err;
    struct entry *found = NULL;
    struct tac_keyed *key = NULL;
    size_t n = 0;
    TAC_TRY(tac_alloc_brief(ctx, 2 * blocks, sizeof *found, &found));
    TAC_TRY(tac_alloc_brief(ctx, 2 * blocks, sizeof *m->entry, &m->entry));
    TAC_TRY(tac_alloc_brief(ctx, 2 * blocks, sizeof *key, &key));
    for (size_t k = 0; k < blocks; k++) {
        const struct tac_coarse_block *b = &m->block[k];
        const bool row = b->row_rank == ctx->rank, column = b->column_rank == ctx->rank;
        const tac_lid i = find_name(m, b->row, row), j = find_name(m, b->column, column);
        if (row)
            found[n++] = (struct entry){i, j, k, false};
        if (column && b->row != b->column)
            found[n++] = (struct entry){j, i, k, true};
    }
    for (size_t k = 0; k < n; k++)
        key[k] = (struct tac_keyed){m->name[found[k].column], (int64_t)k};
    TAC_TRY(tac_sort_keyed(ctx, n, key));
    for (size_t k = 0; k < n; k++)
        key[k].key = found[key[k].index].row;
    TAC_TRY(tac_sort_keyed(ctx, n, key));
    for (size_t k = 0; k < n; k++)
        m->entry[k] = found[key[k].index];
    m->entries = n;
done:
    free(found);
    free(key);
    return err;
}

/* Returns a quarter of a block of 6x6: the rows of one half, the columns of another. The two halves of a diagonal block
 * are equal, and modes that are left out have 1 on the diagonal. */
static void copy_quarter(const struct tac_coarse_block *b, const struct entry *e, int half, int other, double *out)
{
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++) {
            const int i = 3 * half + c, j = 3 * other + d;
            const bool turned = e->transposed || (e->row == e->column && j > i);
            out[3 * c + d] = turned ? b->value[j][i] : b->value[i][j];
            if (e->row == e->column && i == j && !(b->value[i][i] > 0))
                out[3 * c + d] = 1;
        }
}

static enum tac_err fill_matrix(struct tac_ctx *ctx, const struct making *m, struct tac_level *l)
{
    enum tac_err err;
    struct tac_matrix *a = NULL;
    size_t at = 0, end;
    TAC_TRY(tac_alloc_brief(ctx, 1, sizeof *a, &a));
    l->matrix = a;
    a->count = l->nodes.count;
    a->owned = l->nodes.owned;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)a->owned + 1, sizeof *a->row, &a->row));
    TAC_TRY(tac_alloc_brief(ctx, HALVES * HALVES * m->entries, sizeof *a->column, &a->column));
    TAC_TRY(tac_alloc_brief(ctx, HALVES * HALVES * 9 * m->entries, sizeof *a->block, &a->block));
    for (size_t k = 0, next = 0; k < m->own; k++, next = end) {
        for (end = next; end < m->entries && m->entry[end].row == (tac_lid)k; end++)
            continue;
        for (int half = 0; half < HALVES; half++) {
            for (size_t e = next; e < end; e++)
                for (int other = 0; other < HALVES; other++, at++) {
                    a->column[at] = HALVES * m->entry[e].column + other;
                    copy_quarter(&m->block[m->entry[e].block], &m->entry[e], half, other, a->block + 9 * at);
                }
            a->row[HALVES * k + (size_t)half + 1] = at;
        }
    }
done:
    return err;
}

static enum tac_err make_matrix(struct tac_ctx *ctx, size_t count, const struct tac_coarse_node *node, size_t blocks,
                                const struct tac_coarse_block *block, struct tac_level *l)
{
    enum tac_err err;
    struct making m = {.own = count, .node = node, .block = block};
    TAC_TRY(name_nodes(ctx, &m, blocks, l));
    TAC_TRY(order_entries(ctx, &m, blocks));
    TAC_TRY(fill_matrix(ctx, &m, l));
    TAC_TRY(tac_alloc_brief(ctx, 3 * HALVES * count, sizeof *l->position, &l->position));
    TAC_TRY(tac_alloc_brief(ctx, HALVES * count, sizeof *l->weight, &l->weight));
    for (size_t k = 0; k < HALVES * count; k++) {
        memcpy(l->position + 3 * k, node[k / HALVES].place, 3 * sizeof *l->position);
        l->weight[k] = node[k / HALVES].place[3];
    }
done:
    free(m.name);
    free(m.entry);
    return err;
}

/* ---- the solver of a level ---- */

static enum tac_err make_cut(struct tac_ctx *ctx, const struct tac_level_rule *rule, const struct tac_system *system,
                             struct tac_level *l)
{
    enum tac_err err;
    const struct tac_cut_rule cut = {.most = rule->pairs, .few = -1, .pairs = true, .alone = rule->alone};
    uint8_t *fixed = NULL; /* no node is fixed */
    TAC_TRY(tac_agree(ctx, tac_alloc_brief(ctx, (size_t)l->nodes.count, 1, &fixed)));
    TAC_TRY(tac_cut_make(ctx, system, fixed, NULL, &cut, &l->cut));
    TAC_TRY(tac_local_system_make(ctx, system, fixed, &l->cut, &l->local));
done:
    free(fixed);
    return err;
}

static enum tac_err make_vectors(struct tac_ctx *ctx, struct tac_level *l)
{
    enum tac_err err;
    double **const vector[] = {&l->r, &l->t, &l->u, &l->x};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        TAC_TRY(tac_alloc_brief(ctx, 4 * (size_t)l->local.owned, sizeof(double), vector[k]));
    TAC_TRY(tac_alloc_brief(ctx, 4 * (size_t)l->local.count, sizeof *l->z, &l->z));
done:
    return err;
}

/* Sends the rows of `turn` of each node, column by column, to the rank that works on the node. */
static void bring_turns(struct tac_level *l, const struct tac_coarse_node *node, double *side, double *turn)
{
    for (size_t m = 0; m < TAC_MODES; m++) {
        for (size_t i = 0; i < (size_t)l->nodes.owned; i++)
            for (size_t c = 0; c < 3; c++)
                side[3 * i + c] = node[i / HALVES].turn[3 * (i % HALVES) + c][m];
        tac_local_bring(&l->local, side, l->r);
        for (size_t i = 0; i < (size_t)l->local.owned; i++)
            for (size_t c = 0; c < 3; c++)
                turn[ROW * i + TAC_MODES * c + m] = l->r[4 * i + c];
    }
}

static enum tac_err make_coarse(struct tac_ctx *ctx, const struct tac_level_rule *rule,
                                const struct tac_coarse_node *node, struct tac_level *l)
{
    enum tac_err err;
    double *side = NULL, *turn = NULL;
    err = tac_alloc_brief(ctx, 3 * (size_t)l->nodes.owned, sizeof *side, &side);
    err = err ? err : tac_alloc_brief(ctx, ROW * (size_t)l->local.owned, sizeof *turn, &turn);
    TAC_TRY(tac_agree(ctx, err));
    bring_turns(l, node, side, turn);
    const struct tac_coarse_plan plan = {.rule = rule, .whole = true, .turn = turn};
    TAC_TRY(tac_coarse_make(ctx, &l->local, &plan, &l->coarse));
done:
    free(side);
    free(turn);
    return err;
}

static enum tac_err make_parts(struct tac_ctx *ctx, const struct tac_level_rule *rule,
                               const struct tac_coarse_node *node, int64_t *products, struct tac_level *l)
{
    enum tac_err err;
    const struct tac_system system = {
        .nodes = l->nodes, .matrix = l->matrix, .position = l->position, .translate = l->weight, .products = products};
    TAC_TRY(make_cut(ctx, rule, &system, l));
    tac_matrix_destroy(&l->matrix);
    err = tac_incomplete_make(ctx, &l->local, &l->factor);
    if (!err && l->factor.bad >= 0)
        err = tac_fail(ctx, TAC_ERR_RUN, "a coarse matrix of the linear solver is not positive; this is a bug");
    err = err ? err : make_vectors(ctx, l);
    TAC_TRY(tac_agree(ctx, err));
    tac_damp(ctx, &l->local, &l->factor, l->z, l->t, l->u);
    TAC_TRY(make_coarse(ctx, rule, node, l));
done:
    return err;
}

enum tac_err tac_level_make(struct tac_ctx *ctx, const struct tac_level_rule *rule, bool whole, size_t count,
                            const struct tac_coarse_node *node, size_t blocks, const struct tac_coarse_block *block,
                            int64_t *products, struct tac_level **out)
{
    enum tac_err err;
    struct tac_level *l = NULL;
    struct tac_ctx *mine = ctx;
    *out = NULL;
    err = tac_alloc_brief(ctx, 1, sizeof *l, &l);
    if (!err) {
        tac_ctx_init(&l->alone, MPI_COMM_SELF);
        l->ctx = mine = whole ? &l->alone : ctx;
        l->cycles = whole ? 1 : CYCLES;
        err = make_matrix(mine, count, node, blocks, block, l);
    }
    err = whole ? err : tac_agree(ctx, err);
    err = err ? err : make_parts(mine, rule, node, products, l);
    if (err && l && whole)
        tac_fail(ctx, err, "%s", l->alone.error);
    if (err)
        tac_level_destroy(&l);
    *out = l;
    return err;
}

void tac_level_destroy(struct tac_level **level)
{
    struct tac_level *l = *level;
    if (l == NULL)
        return;
    void *const owned[] = {l->id, l->owner, l->position, l->weight, l->r, l->t, l->u, l->x, l->z};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    tac_matrix_destroy(&l->matrix);
    tac_cut_free(&l->cut);
    tac_local_system_free(&l->local);
    tac_incomplete_free(&l->factor);
    tac_coarse_free(&l->coarse);
    free(l);
    *level = NULL;
}

/* ---- cycles ---- */

double tac_damp(const struct tac_ctx *ctx, const struct tac_local_system *local, struct tac_incomplete *factor,
                double *z, double *t, double *u)
{
    struct tac_accum sum[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
    double value[2];
    for (size_t i = 0; i < (size_t)local->owned; i++)
        for (size_t c = 0; c < 4; c++) /* numbers from -1 to 1 that are functions of ids */
            z[4 * i + c] =
                c == 3
                    ? 0
                    : (double)(int64_t)((uint64_t)(3 * local->id[i] + (tac_gid)c + 1) * UINT64_C(0x9e3779b97f4a7c15)) *
                          0x1p-63;
    for (int step = 0; step < POWER_STEPS; step++) {
        tac_local_multiply(local, z, t);
        tac_incomplete_apply(factor, local, t, u);
        if (step == POWER_STEPS - 1)
            break;
        memcpy(z, u, 4 * (size_t)local->owned * sizeof *z);
    }
    tac_dot_add(local, z, t, &sum[0]);
    tac_dot_add(local, t, u, &sum[1]);
    tac_dot_reduce(ctx, 2, sum, NULL, value);
    const double omega = MOST_LAMBDA * value[0] / value[1];
    if (!(omega > 0 && omega < 1))
        return 1;
    for (size_t k = 0; k < 9 * (size_t)local->owned; k++)
        factor->inverse[k] *= omega;
    return omega;
}

void tac_soften(const struct tac_local_system *local, struct tac_incomplete *factor, struct tac_coarse *coarse)
{
    for (;;) {
        for (size_t k = 0; k < 9 * (size_t)local->owned; k++)
            factor->inverse[k] /= 2;
        if (coarse->next == NULL)
            return;
        local = &coarse->next->local;
        factor = &coarse->next->factor;
        coarse = &coarse->next->coarse;
    }
}

void tac_cycle(const struct tac_local_system *local, const struct tac_incomplete *factor, struct tac_coarse *coarse,
               const double *r, double *z, double *t, double *u)
{
    const size_t n = 4 * (size_t)local->owned;
    tac_incomplete_apply(factor, local, r, z);
    tac_coarse_add(coarse, local, r, z, z);
    tac_local_multiply(local, z, t);
    for (size_t k = 0; k < n; k++)
        t[k] = r[k] - t[k];
    tac_incomplete_apply(factor, local, t, u);
    for (size_t k = 0; k < n; k++)
        z[k] += u[k];
}

void tac_level_solve(struct tac_level *l, const double *b, double *x)
{
    const size_t n = 4 * (size_t)l->local.owned;
    tac_local_bring(&l->local, b, l->r);
    for (int cycle = 0; cycle < l->cycles; cycle++) {
        tac_cycle(&l->local, &l->factor, &l->coarse, l->r, l->z, l->t, l->u);
        if (cycle == 0)
            memcpy(l->x, l->z, n * sizeof *l->x);
        for (size_t k = 0; k < n && cycle > 0; k++)
            l->x[k] += l->z[k];
        if (cycle == l->cycles - 1)
            break;
        tac_local_multiply(&l->local, l->z, l->t);
        for (size_t k = 0; k < n; k++)
            l->r[k] -= l->t[k];
    }
    tac_local_return(&l->local, l->x, x);
}
