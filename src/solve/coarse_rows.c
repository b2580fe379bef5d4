/* coarse_rows.c: computes the rows of A Z that a rank's subdomains need, and the coarse matrix E = Z^T A Z. */
#include "base/exchange.h"
#include "solve/coarse.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 3 * TAC_MODES };
static const double LEAST_PIVOT = 0x1p-40; /* as in a dense E */

struct making {
    const struct tac_local_system *local;
    struct tac_coarse *coarse;
    tac_lid *place;          /* owned, (local count): where a node is among the outside ones of the present subdomain */
    struct tac_keyed *found; /* owned: outside nodes of the present subdomain */
    size_t found_capacity, outside_capacity;
    tac_lid *outer_row;             /* owned, (local owned): its row in local->outer, or -1 */
    struct tac_coarse_block *block; /* owned */
    size_t block_count, block_capacity;
    tac_gid *ghost_name;                         /* owned, (ghosts): subdomains of other ranks, ascending */
    int32_t *ghost_rank;                         /* owned, (ghosts) */
    double (*ghost_basis)[TAC_MODES][TAC_MODES]; /* owned, (ghosts) */
    size_t ghosts;
};

/* out += block Z at a node that is a point: 3 rows of 6. The block lies column by column; transposed: it is read row by
 * row. */
static void add_times_arm(double *out, const double *block, bool transposed, const double *arm)
{
    const double t = arm[3];
    for (int c = 0; c < 3; c++) {
        const double *b = block;
        const double b0 = transposed ? b[3 * c] : b[c], b1 = transposed ? b[3 * c + 1] : b[3 + c],
                     b2 = transposed ? b[3 * c + 2] : b[6 + c];
        out[6 * c] += b0 * t;
        out[6 * c + 1] += b1 * t;
        out[6 * c + 2] += b2 * t;
        out[6 * c + 3] += b2 * arm[1] - b1 * arm[2];
        out[6 * c + 4] += b0 * arm[2] - b2 * arm[0];
        out[6 * c + 5] += b1 * arm[0] - b0 * arm[1];
    }
}

/* Does the same at a node whose motions are given. */
static void add_times_motion(double *out, const double *block, bool transposed, const double *motion)
{
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++) {
            const double by = transposed ? block[3 * c + d] : block[3 * d + c];
            for (int m = 0; m < TAC_MODES; m++)
                out[6 * c + m] += by * motion[6 * d + m];
        }
}

static void add_times_motions(double *out, const double *block, bool transposed, const struct tac_coarse *coarse,
                              tac_lid node)
{
    if (coarse->arm)
        add_times_arm(out, block, transposed, coarse->arm + 4 * (size_t)node);
    else
        add_times_motion(out, block, transposed, coarse->motion + ROW * (size_t)node);
}

/* Lists the nodes outside subdomain k that its rows reach, by ascending id. */
static enum tac_err find_outside(struct tac_ctx *ctx, struct making *m, int k)
{
    enum tac_err err = TAC_OK;
    const struct tac_local_system *local = m->local;
    const struct tac_subdomain *s = &local->subdomain[k];
    size_t n = 0, begin = m->coarse->outside_from[k];
    for (tac_lid i = s->begin; i < s->end; i++) {
        const tac_lid row = m->outer_row[i];
        if (row < 0)
            continue;
        TAC_TRY(tac_grow(ctx, &m->found, &m->found_capacity, n + local->outer.from[row + 1] - local->outer.from[row],
                         sizeof *m->found));
        for (size_t e = local->outer.from[row]; e < local->outer.from[row + 1]; e++) {
            const tac_lid j = local->outer.column[e];
            if (m->place[j] < 0) {
                m->place[j] = 0;
                m->found[n++] = (struct tac_keyed){local->id[j], j};
            }
        }
    }
    TAC_TRY(tac_sort_keyed(ctx, n, m->found));
    TAC_TRY(tac_grow(ctx, &m->coarse->outside, &m->outside_capacity, begin + n, sizeof *m->coarse->outside));
    for (size_t e = 0; e < n; e++) {
        m->coarse->outside[begin + e] = (tac_lid)m->found[e].index;
        m->place[m->found[e].index] = (tac_lid)e;
    }
    m->coarse->outside_from[k + 1] = begin + n;
done:
    return err;
}

/* Computes the rows of A Z of subdomain k. Each is a sum over its nodes in their order. */
static void sum_rows(struct making *m, int k)
{
    const struct tac_local_system *local = m->local;
    const struct tac_subdomain *s = &local->subdomain[k];
    double *outer = m->coarse->outer_rows + ROW * m->coarse->outside_from[k];
    for (tac_lid i = s->begin; i < s->end; i++) {
        double *row = m->coarse->inner_rows + ROW * (size_t)i;
        for (size_t e = local->lower.from[i]; e < local->lower.from[i + 1]; e++) {
            const tac_lid j = local->lower.column[e];
            add_times_motions(row, local->lower.block + 9 * e, false, m->coarse, j);
            add_times_motions(m->coarse->inner_rows + ROW * (size_t)j, local->lower.block + 9 * e, true, m->coarse, i);
        }
        add_times_motions(row, local->diagonal + 9 * (size_t)i, false, m->coarse, i);
        if (m->outer_row[i] < 0)
            continue;
        const tac_lid at = m->outer_row[i];
        for (size_t e = local->outer.from[at]; e < local->outer.from[at + 1]; e++)
            add_times_motions(outer + ROW * (size_t)m->place[local->outer.column[e]], local->outer.block + 9 * e, true,
                              m->coarse, i);
    }
    for (size_t e = m->coarse->outside_from[k]; e < m->coarse->outside_from[k + 1]; e++)
        m->place[m->coarse->outside[e]] = -1;
}

/* out += (motions at the node)^T row. */
static void add_transposed(double out[TAC_MODES][TAC_MODES], const struct tac_coarse *coarse, tac_lid node,
                           const double *row)
{
    const double *arm = coarse->arm + 4 * (size_t)node, *motion = coarse->motion + ROW * (size_t)node;
    for (int b = 0; b < TAC_MODES && coarse->arm == NULL; b++)
        for (int a = 0; a < TAC_MODES; a++)
            for (int c = 0; c < 3; c++)
                out[a][b] += motion[6 * c + a] * row[6 * c + b];
    for (int b = 0; b < TAC_MODES && coarse->arm; b++) {
        const double f[3] = {row[b], row[6 + b], row[12 + b]};
        for (int c = 0; c < 3; c++)
            out[c][b] += arm[3] * f[c];
        out[3][b] += arm[1] * f[2] - arm[2] * f[1];
        out[4][b] += arm[2] * f[0] - arm[0] * f[2];
        out[5][b] += arm[0] * f[1] - arm[1] * f[0];
    }
}

/* value = left^T value right */
static void to_bases(double value[TAC_MODES][TAC_MODES], const double left[TAC_MODES][TAC_MODES],
                     const double right[TAC_MODES][TAC_MODES])
{
    double half[TAC_MODES][TAC_MODES] = {{0}};
    for (int a = 0; a < TAC_MODES; a++)
        for (int m = 0; m < TAC_MODES; m++)
            for (int c = 0; c < TAC_MODES; c++)
                half[a][m] += value[a][c] * right[c][m];
    for (int a = 0; a < TAC_MODES; a++)
        for (int m = 0; m < TAC_MODES; m++) {
            double sum = 0;
            for (int c = 0; c < TAC_MODES; c++)
                sum += left[c][a] * half[c][m];
            value[a][m] = sum;
        }
}

/* Drops the modes of a subdomain whose stiffness is below the rounding errors of the others, because the incomplete
 * factors of the next level need positive diagonal blocks. value: the subdomain's own block of E. */
static void leave_weak(const double value[TAC_MODES][TAC_MODES], struct tac_coarse *coarse, int k)
{
    double factor[TAC_MODES][TAC_MODES] = {{0}};
    for (int j = 0; j < TAC_MODES; j++) {
        double pivot = value[j][j];
        for (int m = 0; m < j; m++)
            pivot -= factor[j][m] * factor[j][m];
        const bool kept = pivot > LEAST_PIVOT * value[j][j], was = coarse->basis[k][j][j] != 0;
        factor[j][j] = kept ? sqrt(pivot) : 0;
        for (int i = j + 1; i < TAC_MODES && kept; i++) {
            double sum = value[i][j];
            for (int m = 0; m < j; m++)
                sum -= factor[i][m] * factor[j][m];
            factor[i][j] = sum / factor[j][j];
        }
        for (int i = 0; i < TAC_MODES && !kept; i++) {
            factor[j][i] = 0;
            coarse->basis[k][i][j] = coarse->node[k].turn[j][i] = 0;
        }
        coarse->dropped += was && !kept;
    }
}

/* Computes the rows of A Z of all subdomains, and drops modes that are too weak. */
static enum tac_err make_rows(struct tac_ctx *ctx, struct making *m, bool weak)
{
    enum tac_err err;
    const struct tac_local_system *local = m->local;
    struct tac_coarse *out = m->coarse;
    size_t capacity = 0;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)local->subdomains + 1, sizeof *out->outside_from, &out->outside_from));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)local->count, sizeof *m->place, &m->place));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)local->owned, sizeof *m->outer_row, &m->outer_row));
    TAC_TRY(tac_alloc_brief(ctx, ROW * (size_t)local->owned, sizeof *out->inner_rows, &out->inner_rows));
    memset(m->place, 0xff, (size_t)local->count * sizeof *m->place);
    memset(m->outer_row, 0xff, (size_t)local->owned * sizeof *m->outer_row);
    for (tac_lid row = 0; row < local->outer_count; row++)
        m->outer_row[local->outer_node[row]] = row;
    for (int k = 0; k < local->subdomains; k++) {
        TAC_TRY(find_outside(ctx, m, k));
        const size_t before = ROW * out->outside_from[k], after = ROW * out->outside_from[k + 1];
        TAC_TRY(tac_grow(ctx, &out->outer_rows, &capacity, after, sizeof *out->outer_rows));
        for (size_t e = before; e < after; e++)
            out->outer_rows[e] = 0;
        sum_rows(m, k);
        double own[TAC_MODES][TAC_MODES] = {{0}};
        for (tac_lid i = local->subdomain[k].begin; i < local->subdomain[k].end && weak; i++)
            add_transposed(own, out, i, out->inner_rows + ROW * (size_t)i);
        to_bases(own, (const double(*)[TAC_MODES])out->basis[k], (const double(*)[TAC_MODES])out->basis[k]);
        if (weak)
            leave_weak((const double(*)[TAC_MODES])own, out, k);
    }
done:
    return err;
}

static void answer_basis(const void *known, tac_gid name, void *record)
{
    const struct making *m = known;
    int low = 0, high = m->local->subdomains;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (m->local->subdomain[middle].name <= name)
            low = middle;
        else
            high = middle;
    }
    TAC_CHECK(high > low && m->local->subdomain[low].name == name);
    memcpy(record, m->coarse->basis[low], sizeof m->coarse->basis[low]);
}

/* Gets the bases of those subdomains of other ranks that are next to ours. `err`: the caller's error code so far. */
static enum tac_err ask_bases(struct tac_ctx *ctx, enum tac_err err, struct making *m)
{
    const struct tac_local_system *local = m->local;
    const size_t n = (size_t)(local->count - local->owned);
    struct tac_keyed *key = NULL;
    TAC_TRY(err);
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *key, &key));
    for (size_t k = 0; k < n; k++)
        key[k] = (struct tac_keyed){local->name[(size_t)local->owned + k], local->owner[(size_t)local->owned + k]};
    TAC_TRY(tac_sort_keyed(ctx, n, key));
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *m->ghost_name, &m->ghost_name));
    TAC_TRY(tac_alloc_brief(ctx, n, sizeof *m->ghost_rank, &m->ghost_rank));
    for (size_t k = 0; k < n; k++)
        if (k == 0 || key[k].key != key[k - 1].key) {
            m->ghost_name[m->ghosts] = key[k].key;
            m->ghost_rank[m->ghosts++] = (int32_t)key[k].index;
        }
    TAC_TRY(tac_alloc_brief(ctx, m->ghosts, sizeof *m->ghost_basis, &m->ghost_basis));
done:
    err = tac_ask(ctx, err, m->ghosts, m->ghost_rank, m->ghost_name, answer_basis, m, sizeof *m->ghost_basis,
                  m->ghost_basis);
    free(key);
    return err;
}

static enum tac_err new_block(struct tac_ctx *ctx, struct making *m, tac_gid row, int64_t rank, tac_gid column,
                              size_t *at)
{
    enum tac_err err;
    TAC_TRY(tac_grow(ctx, &m->block, &m->block_capacity, m->block_count + 1, sizeof *m->block));
    *at = m->block_count++;
    memset(&m->block[*at], 0, sizeof *m->block);
    m->block[*at].row = row;
    m->block[*at].row_rank = rank;
    m->block[*at].column = column;
    m->block[*at].column_rank = ctx->rank;
done:
    return err;
}

/* Computes column k of E: its own block, and those of subdomains with a larger name.  block_of: (own and other
 * subdomains), -1.
 */
static enum tac_err sum_blocks(struct tac_ctx *ctx, struct making *m, int k, const int32_t *number, int64_t *block_of)
{
    enum tac_err err;
    const struct tac_local_system *local = m->local;
    const struct tac_subdomain *s = &local->subdomain[k];
    const struct tac_coarse *coarse = m->coarse;
    const size_t first = m->block_count;
    size_t at;
    TAC_TRY(new_block(ctx, m, s->name, ctx->rank, s->name, &at));
    block_of[k] = (int64_t)at;
    for (tac_lid i = s->begin; i < s->end; i++)
        add_transposed(m->block[at].value, coarse, i, coarse->inner_rows + ROW * (size_t)i);
    for (size_t e = coarse->outside_from[k]; e < coarse->outside_from[k + 1]; e++) {
        const tac_lid j = coarse->outside[e];
        if (local->name[j] < s->name)
            continue;
        if (block_of[number[j]] < 0) {
            TAC_TRY(new_block(ctx, m, local->name[j], local->owner[j], s->name, &at));
            block_of[number[j]] = (int64_t)at;
        }
        add_transposed(m->block[block_of[number[j]]].value, coarse, j, coarse->outer_rows + ROW * e);
    }
    block_of[k] = -1;
    to_bases(m->block[first].value, (const double(*)[TAC_MODES])coarse->basis[k],
             (const double(*)[TAC_MODES])coarse->basis[k]);
    for (size_t e = coarse->outside_from[k]; e < coarse->outside_from[k + 1]; e++) {
        const int32_t other = number[coarse->outside[e]];
        if (block_of[other] < 0)
            continue;
        to_bases(m->block[block_of[other]].value,
                 (const double(*)[TAC_MODES])(other < local->subdomains ? coarse->basis[other]
                                                                        : m->ghost_basis[other - local->subdomains]),
                 (const double(*)[TAC_MODES])coarse->basis[k]);
        block_of[other] = -1;
    }
done:
    return err;
}

/* Computes the blocks of E in the columns of this rank's subdomains. */
static enum tac_err make_blocks(struct tac_ctx *ctx, struct making *m)
{
    enum tac_err err;
    const struct tac_local_system *local = m->local;
    const size_t near = (size_t)local->subdomains + m->ghosts;
    int32_t *number = NULL; /* of each node's subdomain: our own first, then those of other ranks */
    int64_t *block_of = NULL;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)local->count, sizeof *number, &number));
    TAC_TRY(tac_alloc_brief(ctx, near, sizeof *block_of, &block_of));
    memset(block_of, 0xff, near * sizeof *block_of);
    for (int k = 0; k < local->subdomains; k++)
        for (tac_lid i = local->subdomain[k].begin; i < local->subdomain[k].end; i++)
            number[i] = k;
    for (tac_lid i = local->owned; i < local->count; i++)
        number[i] = local->subdomains + (int32_t)tac_id_find(m->ghost_name, (tac_lid)m->ghosts, local->name[i]);
    for (int k = 0; k < local->subdomains; k++)
        TAC_TRY(sum_blocks(ctx, m, k, number, block_of));
done:
    free(number);
    free(block_of);
    return err;
}

enum tac_err tac_coarse_rows(struct tac_ctx *ctx, const struct tac_local_system *local, bool weak,
                             struct tac_coarse *out, struct tac_coarse_block **block, size_t *count)
{
    enum tac_err err;
    struct making m = {.local = local, .coarse = out};
    TAC_TRY(ask_bases(ctx, make_rows(ctx, &m, weak), &m));
    TAC_TRY(tac_agree(ctx, make_blocks(ctx, &m)));
done:
    *block = m.block;
    *count = m.block_count;
    free(m.place);
    free(m.found);
    free(m.outer_row);
    free(m.ghost_name);
    free(m.ghost_rank);
    free(m.ghost_basis);
    return err;
}
