/* record_compare.c: compares two records value by value. */
#include "inspect/record_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PORTION = 1 << 16 };

/* Rows of one dataset, which are read in ascending order. */
struct stream {
    const struct tac_record_rows *rows; /* borrowed */
    int which;
    int64_t begin, count; /* what is in `data` */
    double *data;         /* owned: (PORTION, 1 or 3), doubles or whole numbers */
};

/* NULL: it cannot be read. */
static const void *read_row(struct stream *s, int64_t k)
{
    const int64_t all = s->rows->rows[s->which], width = s->which == TAC_RECORD_POSITION ? 3 : 1;
    if (k >= s->begin + s->count) {
        s->begin = k;
        s->count = all - k < PORTION ? all - k : PORTION;
        if (k < 0 || s->count <= 0 || !tac_record_rows_read(s->rows, s->which, s->begin, s->count, s->data))
            return NULL;
    }
    return s->data + (k - s->begin) * width;
}

/* One interval of one of the two. */
struct side {
    const struct tac_record_stored *file;
    struct tac_record_rows rows;
    bool open;
    struct stream stream[TAC_RECORD_DATASETS];
    int64_t begin, end; /* rows of the present vertex */
};

static enum tac_err open_side(struct tac_ctx *ctx, const struct tac_record_stored *f, const struct tac_record_group *g,
                              struct side *s)
{
    enum tac_err err = TAC_OK;
    *s = (struct side){.file = f, .rows = {{-1, -1, -1}, {0}, NULL}};
    s->open = tac_record_rows_open(f->file, g->path, f->vertex_count, &s->rows);
    if (!s->open)
        TAC_TRY(tac_record_damaged(ctx, f->path, "an interval cannot be read"));
    for (int k = 0; k < TAC_RECORD_DATASETS; k++) {
        s->stream[k] = (struct stream){.rows = &s->rows, .which = k};
        TAC_TRY(
            tac_alloc(ctx, (k == TAC_RECORD_POSITION ? 3 : 1) * (size_t)PORTION, sizeof(double), &s->stream[k].data));
    }
done:
    return err;
}

static void close_side(struct side *s)
{
    if (s->open)
        tac_record_rows_close(&s->rows);
    for (int k = 0; k < TAC_RECORD_DATASETS; k++)
        free(s->stream[k].data);
}

static enum tac_err next_vertex(struct tac_ctx *ctx, struct side *s, tac_gid vertex)
{
    const int64_t *end = read_row(&s->stream[TAC_RECORD_START], vertex + 1);
    s->begin = s->end;
    s->end = end != NULL ? *end : -1;
    if (s->end < s->begin || s->end > s->rows.rows[TAC_RECORD_TIME])
        return tac_record_damaged(ctx, s->file->path, "its rows are out of order, or cannot be read");
    return TAC_OK;
}

/* Whole numbers differ for any tolerance, even if their doubles are the same. */
static bool compare_whole_values(struct tac_tally *t, int64_t a, int64_t b)
{
    if (a == b || (double)a != (double)b)
        return tac_tally_count(t, (double)a, (double)b, NAN);
    t->compared++;
    if (t->differing++ > 0)
        return false;
    t->largest = fabs((double)(a - b));
    t->a = (double)a;
    t->b = (double)b;
    return true;
}

static enum tac_err compare_vertex(struct tac_ctx *ctx, struct tac_record_comparison *c, int64_t index, tac_gid vertex,
                                   struct side *a, struct side *b)
{
    const int64_t n = a->end - a->begin, m = b->end - b->begin;
    struct tac_tally *t = c->tally;
    if (compare_whole_values(&t[TAC_RECORD_COUNTS], n, m))
        snprintf(t[TAC_RECORD_COUNTS].column, sizeof t->column, "interval %" PRId64 ", vertex %" TAC_PRIGID, index,
                 vertex);
    for (int64_t k = 0; k < n && k < m; k++) {
        char where[96];
        const int64_t *ta = read_row(&a->stream[TAC_RECORD_TIME], a->begin + k);
        const int64_t *tb = read_row(&b->stream[TAC_RECORD_TIME], b->begin + k);
        const double *xa = read_row(&a->stream[TAC_RECORD_POSITION], a->begin + k);
        const double *xb = read_row(&b->stream[TAC_RECORD_POSITION], b->begin + k);
        if (ta == NULL || xa == NULL)
            return tac_record_damaged(ctx, a->file->path, "its rows cannot be read");
        if (tb == NULL || xb == NULL)
            return tac_record_damaged(ctx, b->file->path, "its rows cannot be read");
        bool largest = compare_whole_values(&t[TAC_RECORD_TIMES], *ta, *tb);
        int axis = -1;
        for (int j = 0; j < 3; j++)
            axis = tac_tally_count(&t[TAC_RECORD_POSITIONS], xa[j], xb[j], c->tolerance) ? j : axis;
        if (!largest && axis < 0)
            continue;
        snprintf(where, sizeof where, "interval %" PRId64 ", vertex %" TAC_PRIGID ", breakpoint %" PRId64, index,
                 vertex, k);
        if (largest)
            snprintf(t[TAC_RECORD_TIMES].column, sizeof t->column, "%.63s", where);
        if (axis >= 0) {
            snprintf(t[TAC_RECORD_POSITIONS].column, sizeof t->column, "%.63s", where);
            t[TAC_RECORD_POSITIONS].component = axis;
        }
    }
    return TAC_OK;
}

static enum tac_err compare_group(struct tac_ctx *ctx, struct tac_record_comparison *c,
                                  const struct tac_record_group *ga, const struct tac_record_group *gb)
{
    enum tac_err err;
    struct side a = {.open = false}, b = {.open = false};
    TAC_TRY(open_side(ctx, c->a, ga, &a));
    TAC_TRY(open_side(ctx, c->b, gb, &b));
    for (tac_gid i = 0; i < c->a->vertex_count; i++) {
        TAC_TRY(next_vertex(ctx, &a, i));
        TAC_TRY(next_vertex(ctx, &b, i));
        TAC_TRY(compare_vertex(ctx, c, ga->index, i, &a, &b));
    }
    c->intervals++;
done:
    close_side(&a);
    close_side(&b);
    return err;
}

enum tac_err tac_record_compare(struct tac_ctx *ctx, const char *a, const char *b, double tolerance,
                                struct tac_record_comparison *c)
{
    static const char *const names[TAC_RECORD_TALLIES] = {"breakpoints", "time", "position"};
    enum tac_err err;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    *c = (struct tac_record_comparison){.tolerance = tolerance};
    for (int k = 0; k < TAC_RECORD_TALLIES; k++) {
        c->tally[k].name = names[k];
        c->tally[k].frame = c->tally[k].vertex = -1;
    }
    TAC_TRY(tac_record_stored_open(ctx, a, &c->a));
    TAC_TRY(tac_record_stored_open(ctx, b, &c->b));
    if (c->a->group_count > 0 && c->b->group_count > 0 && c->a->vertex_count != c->b->vertex_count)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                         "cannot compare '%.500s' with '%.500s': they have %" TAC_PRIGID " and %" TAC_PRIGID
                         " vertices",
                         a, b, c->a->vertex_count, c->b->vertex_count));
    if (c->a->quantum_s != c->b->quantum_s)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                         "cannot compare '%.500s' with '%.500s': their quanta are %.17g and %.17g s", a, b,
                         c->a->quantum_s, c->b->quantum_s));
    for (int64_t i = 0, j = 0; i < c->a->group_count || j < c->b->group_count;) {
        const struct tac_record_group *ga = &c->a->group[i], *gb = &c->b->group[j];
        const int64_t ia = i < c->a->group_count ? ga->index : INT64_MAX;
        const int64_t ib = j < c->b->group_count ? gb->index : INT64_MAX;
        if (ia == ib)
            TAC_TRY(compare_group(ctx, c, ga, gb));
        c->only_a += ia < ib;
        c->only_b += ib < ia;
        i += ia <= ib;
        j += ib <= ia;
    }
    if (c->intervals == 0)
        err = tac_fail(ctx, TAC_ERR_INPUT, "cannot compare '%.500s' with '%.500s': they have no interval in common", a,
                       b);
done:
    if (err)
        tac_record_comparison_close(c);
    tac_h5_restore(&quiet);
    return err;
}

bool tac_record_equal(const struct tac_record_comparison *c, bool all)
{
    for (int k = 0; k < TAC_RECORD_TALLIES; k++)
        if (c->tally[k].differing > 0)
            return false;
    return !all || c->only_a + c->only_b == 0;
}

void tac_record_comparison_close(struct tac_record_comparison *c)
{
    tac_record_stored_close(&c->a);
    tac_record_stored_close(&c->b);
}
