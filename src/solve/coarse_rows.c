/* coarse_rows.c: the rows of A Z that a rank's subdomains need, and the coarse matrix E = Z^T A Z. */
#include "base/exchange.h"
#include "solve/coarse.h"
#include <stdlib.h>
#include <string.h>

enum { ROW = 3 * TAC_MODES };

/* A block of E before the bases: rows of subdomain `row`, columns of `column`, row >= column. */
struct coarse_block {
    int64_t row, column;
    double value[TAC_MODES][TAC_MODES];
};

struct making {
    const struct tac_local_system *local;
    struct tac_coarse *coarse;
    tac_lid *place;          /* owned, (local count): where a node is among the outside ones of the present subdomain */
    struct tac_keyed *found; /* owned: outside nodes of it */
    size_t found_capacity, outside_capacity;
    tac_lid *outer_row;         /* owned, (local owned): its row in local->outer, or -1 */
    struct coarse_block *block; /* owned */
    size_t block_count, block_capacity;
};

/* out += block Z at a node: 3 rows of 6. The block lies column by column; transposed: it is read row by row. */
static void add_times_motions(double *out, const double *block, bool transposed, const double *arm)
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

/* The nodes outside subdomain k that its rows reach, by ascending id. */
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

/* Rows of A Z for subdomain k: each is a sum over its nodes in their order. */
static void sum_rows(struct making *m, int k)
{
    const struct tac_local_system *local = m->local;
    const struct tac_subdomain *s = &local->subdomain[k];
    double *outer = m->coarse->outer_rows + ROW * m->coarse->outside_from[k];
    for (tac_lid i = s->begin; i < s->end; i++) {
        const double *arm = m->coarse->arm + 4 * (size_t)i;
        double *row = m->coarse->inner_rows + ROW * (size_t)i;
        for (size_t e = local->lower.from[i]; e < local->lower.from[i + 1]; e++) {
            const tac_lid j = local->lower.column[e];
            add_times_motions(row, local->lower.block + 9 * e, false, m->coarse->arm + 4 * (size_t)j);
            add_times_motions(m->coarse->inner_rows + ROW * (size_t)j, local->lower.block + 9 * e, true, arm);
        }
        add_times_motions(row, local->diagonal + 9 * (size_t)i, false, arm);
        if (m->outer_row[i] < 0)
            continue;
        const tac_lid at = m->outer_row[i];
        for (size_t e = local->outer.from[at]; e < local->outer.from[at + 1]; e++)
            add_times_motions(outer + ROW * (size_t)m->place[local->outer.column[e]], local->outer.block + 9 * e, true,
                              arm);
    }
    for (size_t e = m->coarse->outside_from[k]; e < m->coarse->outside_from[k + 1]; e++)
        m->place[m->coarse->outside[e]] = -1;
}

/* out += (rigid motions at the node)^T row. */
static void add_transposed(double out[TAC_MODES][TAC_MODES], const double *arm, const double *row)
{
    for (int b = 0; b < TAC_MODES; b++) {
        const double f[3] = {row[b], row[6 + b], row[12 + b]};
        for (int c = 0; c < 3; c++)
            out[c][b] += arm[3] * f[c];
        out[3][b] += arm[1] * f[2] - arm[2] * f[1];
        out[4][b] += arm[2] * f[0] - arm[0] * f[2];
        out[5][b] += arm[0] * f[1] - arm[1] * f[0];
    }
}

static enum tac_err new_block(struct tac_ctx *ctx, struct making *m, int row, int column, size_t *at)
{
    enum tac_err err;
    TAC_TRY(tac_grow(ctx, &m->block, &m->block_capacity, m->block_count + 1, sizeof *m->block));
    *at = m->block_count++;
    memset(&m->block[*at], 0, sizeof *m->block);
    m->block[*at].row = row;
    m->block[*at].column = column;
done:
    return err;
}

/* Column k of E: its own block, and those of subdomains with a larger number. */
static enum tac_err sum_blocks(struct tac_ctx *ctx, struct making *m, int k, int64_t *block_of)
{
    enum tac_err err;
    const struct tac_local_system *local = m->local;
    const struct tac_subdomain *s = &local->subdomain[k];
    const struct tac_coarse *coarse = m->coarse;
    const size_t first = m->block_count;
    size_t at;
    TAC_TRY(new_block(ctx, m, s->number, s->number, &at));
    for (tac_lid i = s->begin; i < s->end; i++)
        add_transposed(m->block[at].value, coarse->arm + 4 * (size_t)i, m->coarse->inner_rows + ROW * (size_t)i);
    for (size_t e = coarse->outside_from[k]; e < coarse->outside_from[k + 1]; e++) {
        const tac_lid j = coarse->outside[e];
        const int other = local->number[j];
        if (other < s->number)
            continue;
        if (block_of[other] < 0) {
            TAC_TRY(new_block(ctx, m, other, s->number, &at));
            block_of[other] = (int64_t)at;
        }
        add_transposed(m->block[block_of[other]].value, coarse->arm + 4 * (size_t)j, m->coarse->outer_rows + ROW * e);
    }
    for (size_t b = first; b < m->block_count; b++)
        block_of[m->block[b].row] = -1;
done:
    return err;
}

/* E from the blocks of all ranks. */
static void assemble(const struct coarse_block *block, size_t count, struct tac_coarse *out)
{
    for (size_t k = 0; k < count; k++) {
        const struct coarse_block *b = &block[k];
        double half[TAC_MODES][TAC_MODES] = {{0}};
        for (int a = 0; a < TAC_MODES; a++)
            for (int m = 0; m < TAC_MODES; m++)
                for (int c = 0; c < TAC_MODES; c++)
                    half[a][m] += b->value[a][c] * out->basis[b->column][c][m];
        for (int a = 0; a < TAC_MODES; a++)
            for (int m = 0; m < TAC_MODES; m++) {
                double sum = 0;
                for (int c = 0; c < TAC_MODES; c++)
                    sum += out->basis[b->row][c][a] * half[c][m];
                tac_dense_row(&out->matrix, (int)b->row * TAC_MODES + a)[b->column * TAC_MODES + m] = sum;
            }
    }
}

/* Blocks of all ranks, on all ranks, in *all (owned by the caller). */
static enum tac_err share(struct tac_ctx *ctx, const struct making *m, struct coarse_block **all, size_t *total)
{
    enum tac_err err;
    const int bytes = (int)(m->block_count * sizeof **all);
    int *count = NULL, *start = NULL;
    err = tac_alloc_brief(ctx, (size_t)ctx->size, sizeof *count, &count);
    err = err ? err : tac_alloc_brief(ctx, (size_t)ctx->size + 1, sizeof *start, &start);
    TAC_TRY(tac_agree(ctx, err));
    MPI_Allgather(&bytes, 1, MPI_INT, count, 1, MPI_INT, ctx->comm);
    for (int r = 0; r < ctx->size; r++)
        start[r + 1] = start[r] + count[r];
    *total = (size_t)start[ctx->size] / sizeof **all;
    TAC_TRY(tac_agree(ctx, tac_alloc_brief(ctx, *total, sizeof **all, all)));
    MPI_Allgatherv(m->block, bytes, MPI_BYTE, *all, count, start, MPI_BYTE, ctx->comm);
done:
    free(count);
    free(start);
    return err;
}

static enum tac_err make_rows(struct tac_ctx *ctx, struct making *m)
{
    enum tac_err err;
    const struct tac_local_system *local = m->local;
    struct tac_coarse *out = m->coarse;
    int64_t *block_of = NULL;
    TAC_TRY(tac_alloc_brief(ctx, (size_t)out->subdomains, sizeof *block_of, &block_of));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)local->subdomains + 1, sizeof *out->outside_from, &out->outside_from));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)local->count, sizeof *m->place, &m->place));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)local->owned, sizeof *m->outer_row, &m->outer_row));
    TAC_TRY(tac_alloc_brief(ctx, ROW * (size_t)local->owned, sizeof *m->coarse->inner_rows, &m->coarse->inner_rows));
    memset(block_of, 0xff, (size_t)out->subdomains * sizeof *block_of);
    memset(m->place, 0xff, (size_t)local->count * sizeof *m->place);
    memset(m->outer_row, 0xff, (size_t)local->owned * sizeof *m->outer_row);
    for (tac_lid row = 0; row < local->outer_count; row++)
        m->outer_row[local->outer_node[row]] = row;
    size_t capacity = 0;
    for (int k = 0; k < local->subdomains; k++) {
        TAC_TRY(find_outside(ctx, m, k));
        const size_t before = ROW * out->outside_from[k], after = ROW * out->outside_from[k + 1];
        TAC_TRY(tac_grow(ctx, &out->outer_rows, &capacity, after, sizeof *out->outer_rows));
        for (size_t e = before; e < after; e++)
            m->coarse->outer_rows[e] = 0;
        sum_rows(m, k);
        TAC_TRY(sum_blocks(ctx, m, k, block_of));
    }
done:
    free(block_of);
    return err;
}

enum tac_err tac_coarse_rows(struct tac_ctx *ctx, const struct tac_local_system *local, struct tac_coarse *out)
{
    enum tac_err err;
    struct making m = {.local = local, .coarse = out};
    struct coarse_block *all = NULL;
    size_t total = 0;
    err = make_rows(ctx, &m);
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(share(ctx, &m, &all, &total));
    err = tac_dense_make(ctx, out->size, &out->matrix);
    if (!err)
        assemble(all, total, out);
    err = err ? err : tac_dense_factor(ctx, &out->matrix);
    TAC_TRY(tac_agree(ctx, err));
done:
    free(m.place);
    free(m.found);
    free(m.outer_row);
    free(m.block);
    free(all);
    return err;
}
