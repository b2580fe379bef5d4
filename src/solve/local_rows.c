/* local_rows.c: makes the three parts of a matrix of whole subdomains, from the caller's rows and from received
 * rows. */
#include "solve/local_making.h"
#include <string.h>

/* Goes over the blocks of an owned node's row, by ascending id of the column. */
struct walk {
    size_t at, end;
    bool home;
};

static struct walk walk_row(const struct tac_making *m, tac_lid k)
{
    const struct tac_origin *o = &m->origin[k];
    const struct tac_matrix *a = m->system->matrix;
    return o->home >= 0 ? (struct walk){a->row[o->home], a->row[o->home + 1], true}
                        : (struct walk){o->from, o->to, false};
}

static bool next_block(const struct tac_making *m, struct walk *w, tac_lid *column, const double **block)
{
    for (; w->at < w->end; w->at++) {
        *column = w->home ? m->new_node[m->system->matrix->column[w->at]] : m->block_column[w->at];
        *block = w->home ? m->system->matrix->block + 9 * w->at : m->block[w->at].block;
        if (*column >= 0) {
            w->at++;
            return true;
        }
    }
    return false;
}

static void store_block(struct tac_rows *rows, size_t at, tac_lid column, const double *block)
{
    rows->column[at] = column;
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++)
            rows->block[9 * at + (size_t)(3 * d + c)] = block[3 * c + d];
}

static enum tac_err rows_make(struct tac_ctx *ctx, size_t rows, size_t blocks, struct tac_rows *out)
{
    enum tac_err err;
    TAC_TRY(tac_alloc_brief(ctx, rows + 1, sizeof *out->from, &out->from));
    TAC_TRY(tac_alloc_brief(ctx, blocks, sizeof *out->column, &out->column));
    TAC_TRY(tac_alloc_brief(ctx, 9 * blocks + 1, sizeof *out->block, &out->block));
done:
    return err;
}

enum tac_err tac_local_rows(struct tac_ctx *ctx, struct tac_making *m, struct tac_local_system *out)
{
    enum tac_err err;
    size_t lower = 0, outer = 0;
    tac_lid rows = 0, j;
    const double *block;
    for (tac_lid i = 0; i < out->owned; i++) {
        const size_t before = outer;
        for (struct walk w = walk_row(m, i); next_block(m, &w, &j, &block);) {
            lower += out->name[j] == out->name[i] && j < i;
            outer += out->name[j] != out->name[i];
            out->nonzero++;
        }
        rows += outer > before;
    }
    TAC_TRY(rows_make(ctx, (size_t)out->owned, lower, &out->lower));
    TAC_TRY(rows_make(ctx, (size_t)rows, outer, &out->outer));
    TAC_TRY(tac_alloc_brief(ctx, (size_t)rows, sizeof *out->outer_node, &out->outer_node));
    TAC_TRY(tac_alloc_brief(ctx, 9 * (size_t)out->owned + 1, sizeof *out->diagonal, &out->diagonal));
    lower = outer = 0;
    for (tac_lid i = 0; i < out->owned; i++) {
        const size_t before = outer;
        for (struct walk w = walk_row(m, i); next_block(m, &w, &j, &block);)
            if (j == i)
                memcpy(out->diagonal + 9 * (size_t)i, block, 9 * sizeof *block);
            else if (out->name[j] != out->name[i])
                store_block(&out->outer, outer++, j, block);
            else if (j < i)
                store_block(&out->lower, lower++, j, block);
        out->lower.from[i + 1] = lower;
        if (outer > before) {
            out->outer_node[out->outer_count++] = i;
            out->outer.from[out->outer_count] = outer;
        }
    }
done:
    return err;
}
