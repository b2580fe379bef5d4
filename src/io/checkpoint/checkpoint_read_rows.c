/* checkpoint_read_rows.c: reads the tables of a checkpoint; each rank reads its own rows. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/checkpoint/checkpoint_room.h"

enum tac_err tac_checkpoint_wrong(const struct tac_checkpoint_reader *r, const char *what)
{
    return tac_fail(r->ctx, TAC_ERR_INPUT,
                    "'%.1000s' is no checkpoint that this version (%s) can use: %s; use another one", r->path,
                    tac_version(), what);
}

static enum tac_err wrong_table(const struct tac_checkpoint_reader *r, const char *name)
{
    char what[128];
    snprintf(what, sizeof what, "its table '%s' is missing or not as it should be", name);
    return tac_checkpoint_wrong(r, what);
}

static bool all_finite(const double *x, int n)
{
    for (int k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

static bool in_range(tac_gid v, tac_gid total)
{
    return v >= 0 && v < total;
}

/* Opens a table; -1 if there is none of that shape. */
static hid_t open_table(const struct tac_checkpoint_reader *r, const struct tac_checkpoint_column *column,
                        int64_t *rows)
{
    const char *name = r->format == 1 ? tac_checkpoint_name_1(column->name) : column->name;
    const struct tac_shape shape = {name, column->real ? H5T_FLOAT : H5T_INTEGER, 8, column->columns};
    if (H5Lexists(r->stored.file, name, H5P_DEFAULT) <= 0)
        return -1;
    return tac_stored_open(&r->stored, &shape, rows);
}

/* The rows that this rank takes of `total`. */
static void my_rows(const struct tac_checkpoint_reader *r, int64_t total, int64_t *begin, int64_t *end)
{
    tac_rows_of_rank(total, r->ctx->rank, r->ctx->size, begin, end);
}

/* One row more than ours, before them, where there is one: to see that the rows ascend across ranks too. */
static int64_t with_one_before(int64_t begin, int64_t end)
{
    return begin > 0 && end > begin ? begin - 1 : begin;
}

enum tac_err tac_checkpoint_count(const struct tac_checkpoint_reader *r, const struct tac_checkpoint_column *column,
                                  int64_t *rows)
{
    hid_t id = open_table(r, column, rows);
    if (id < 0)
        return wrong_table(r, column->name);
    H5Dclose(id);
    return TAC_OK;
}

enum tac_err tac_checkpoint_columns(const struct tac_checkpoint_reader *r, const struct tac_checkpoint_column *column,
                                    size_t columns, int64_t total, int64_t begin, int64_t end, size_t size,
                                    void *records)
{
    enum tac_err err = TAC_OK;
    const size_t n = (size_t)(end - begin);
    char **record = records, *data = NULL;
    hid_t id = -1;
    for (size_t c = 0; c < columns; c++) {
        const size_t bytes = 8 * (size_t)(column[c].columns > 0 ? column[c].columns : 1);
        int64_t rows = -1;
        id = open_table(r, &column[c], &rows);
        if (id < 0 || rows != total) {
            err = wrong_table(r, column[c].name);
            goto done;
        }
        if (c == 0) /* not before: the file is as large as it says */
            TAC_TRY(tac_alloc(r->ctx, n, size, record));
        TAC_TRY(tac_alloc(r->ctx, n, bytes, &data));
        if (!tac_h5_read_rows(id, column[c].real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, column[c].columns, begin,
                              end - begin, data)) {
            err = wrong_table(r, column[c].name);
            goto done;
        }
        for (size_t k = 0; k < n; k++)
            memcpy(*record + size * k + column[c].offset, data + bytes * k, bytes);
        free(data);
        data = NULL;
        H5Dclose(id);
        id = -1;
    }
done:
    free(data);
    if (id >= 0)
        H5Dclose(id);
    return err;
}

enum tac_err tac_checkpoint_read_follow(struct tac_checkpoint_reader *r)
{
    static const struct tac_checkpoint_column column = {"follow", NULL, false, 0, 0};
    enum tac_err err = TAC_OK;
    int64_t rows = 0;
    if (H5Lexists(r->stored.file, column.name, H5P_DEFAULT) <= 0)
        return TAC_OK;
    TAC_TRY(tac_checkpoint_count(r, &column, &rows));
    TAC_TRY(tac_checkpoint_columns(r, &column, 1, rows, 0, rows, 8, &r->c->follow));
    r->c->follow_count = rows;
done:
    return err;
}

/* Reads this rank's rows of a table, and the row before them if there is one, with which the order is checked. */
struct span {
    int64_t begin, end; /* rows of the file */
    int64_t first;      /* the row that the records begin with */
};

/* Reads them into records of `size` bytes, which the caller frees.  one_before: with the row before them. */
static enum tac_err read_span(const struct tac_checkpoint_reader *r, const struct tac_checkpoint_column *column,
                              size_t columns, bool one_before, size_t size, struct span *span, void *records)
{
    enum tac_err err;
    int64_t total = 0;
    TAC_TRY(tac_checkpoint_count(r, column, &total));
    my_rows(r, total, &span->begin, &span->end);
    if (span->end - span->begin > INT32_MAX)
        TAC_TRY(tac_checkpoint_wrong(r, "this rank would have more than 2^31 rows of a table"));
    span->first = one_before ? with_one_before(span->begin, span->end) : span->begin;
    err = tac_checkpoint_columns(r, column, columns, total, span->first, span->end, size, records);
done:
    return err;
}

static enum tac_err read_vertices(struct tac_checkpoint_reader *r)
{
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    struct tac_vertex_record *row = NULL;
    int64_t begin, end;
    my_rows(r, c->vertex_total, &begin, &end);
    const size_t n = (size_t)(end - begin);
    c->vertices.count = (tac_lid)n;
    /* The last column came later than others. */
    const size_t columns = H5Lexists(r->stored.file, TAC_VERTEX_COLUMNS[6].name, H5P_DEFAULT) > 0 ? 7 : 6;
    TAC_TRY(tac_checkpoint_columns(r, TAC_VERTEX_COLUMNS, columns, c->vertex_total, begin, end, sizeof *row, &row));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *c->vertices.id, &c->vertices.id));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->vertices.start, &c->vertices.start));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *c->vertices.mass, &c->vertices.mass));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->vertices.x, &c->vertices.x));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->vertices.v, &c->vertices.v));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->vertices.impulse, &c->vertices.impulse));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->vertices.rest, &c->vertices.rest));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *c->vertices.t, &c->vertices.t));
    for (size_t k = 0; k < n && !err; k++) {
        c->vertices.id[k] = begin + (tac_gid)k;
        c->vertices.mass[k] = row[k].mass;
        c->vertices.t[k] = row[k].t;
        memcpy(&c->vertices.start[3 * k], row[k].start, sizeof row[k].start);
        memcpy(&c->vertices.x[3 * k], row[k].x, sizeof row[k].x);
        memcpy(&c->vertices.v[3 * k], row[k].v, sizeof row[k].v);
        memcpy(&c->vertices.impulse[3 * k], row[k].impulse, sizeof row[k].impulse);
        memcpy(&c->vertices.rest[3 * k], row[k].rest, sizeof row[k].rest);
        if (!all_finite(row[k].start, 3) || !isfinite(row[k].mass) || row[k].mass < 0 || !all_finite(row[k].x, 3) ||
            !all_finite(row[k].v, 3) || !all_finite(row[k].impulse, 3) || !all_finite(row[k].rest, 3) || row[k].t < 0 ||
            row[k].t > c->now)
            err = tac_checkpoint_wrong(r, "the state of a vertex makes no sense");
    }
done:
    free(row);
    return err;
}

static enum tac_err read_past(struct tac_checkpoint_reader *r)
{
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    struct tac_past_record *row = NULL;
    int64_t begin, end;
    if (!c->has_past)
        return TAC_OK;
    my_rows(r, c->vertex_total, &begin, &end);
    const size_t n = (size_t)(end - begin);
    TAC_TRY(tac_checkpoint_columns(r, TAC_PAST_COLUMNS, 1, c->vertex_total, begin, end, sizeof *row, &row));
    TAC_TRY(tac_alloc(r->ctx, TAC_PAST_NUMBERS * n, sizeof *c->vertices.past, &c->vertices.past));
    for (size_t k = 0; k < n && !err; k++) {
        memcpy(&c->vertices.past[TAC_PAST_NUMBERS * k], row[k].value, sizeof row[k].value);
        if (!all_finite(row[k].value, TAC_PAST_NUMBERS))
            err = tac_checkpoint_wrong(r, "the past of a vertex makes no sense");
    }
done:
    free(row);
    return err;
}

static enum tac_err read_elements(const struct tac_checkpoint_reader *r, const struct tac_checkpoint_column *column,
                                  tac_gid total, tac_lid *count, tac_gid **id, tac_gid **v)
{
    enum tac_err err;
    struct tac_element_record *row = NULL;
    int64_t begin, end;
    my_rows(r, total, &begin, &end);
    const size_t n = (size_t)(end - begin), m = (size_t)column->columns;
    *count = (tac_lid)n;
    TAC_TRY(tac_checkpoint_columns(r, column, 1, total, begin, end, sizeof *row, &row));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof **id, id));
    TAC_TRY(tac_alloc(r->ctx, m * n, sizeof **v, v));
    for (size_t k = 0; k < n && !err; k++) {
        const tac_gid *w = row[k].v;
        bool ok = true;
        for (size_t i = 0; i < m; i++) {
            ok = ok && in_range(w[i], r->c->vertex_total);
            for (size_t j = 0; j < i; j++)
                ok = ok && w[i] != w[j];
        }
        (*id)[k] = begin + (tac_gid)k;
        memcpy(&(*v)[m * k], w, m * sizeof **v);
        if (!ok)
            err = tac_checkpoint_wrong(r, "an element has a vertex that is not there, or one twice");
    }
done:
    free(row);
    return err;
}

static bool script_sensible(const struct tac_checkpoint *c, const struct tac_script_record *row)
{
    return in_range(row->vertex, c->vertex_total) && row->next >= 0 && row->next <= INT32_MAX && row->t >= 0 &&
           row->t <= c->now && in_range(row->flags[0], 2) && in_range(row->flags[1], 2) && all_finite(row->origin, 3) &&
           all_finite(row->x, 3) && all_finite(row->v, 3) && all_finite(row->v_free, 3) && all_finite(row->force, 3);
}

static enum tac_err read_scripts(struct tac_checkpoint_reader *r)
{
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    struct tac_script_record *rows = NULL;
    struct span span;
    TAC_TRY(read_span(r, TAC_SCRIPT_COLUMNS, tac_checkpoint_script_columns(c), true, sizeof *rows, &span, &rows));
    TAC_TRY(tac_alloc(r->ctx, (size_t)(span.end - span.begin), sizeof *c->script, &c->script));
    c->script_count = (tac_lid)(span.end - span.begin);
    for (int64_t k = span.begin; k < span.end && !err; k++) {
        const struct tac_script_record *row = &rows[k - span.first];
        struct tac_script_state *s = &c->script[k - span.begin];
        if (!script_sensible(c, row) || (k > 0 && row->vertex <= row[-1].vertex))
            err = tac_checkpoint_wrong(r, "the state of a motion makes no sense");
        *s = (struct tac_script_state){.vertex = row->vertex,
                                       .next = row->next,
                                       .t = row->t,
                                       .on = (int32_t)row->flags[0],
                                       .caught = (int32_t)row->flags[1]};
        memcpy(s->origin, row->origin, sizeof s->origin);
        memcpy(s->x, row->x, sizeof s->x);
        memcpy(s->v, row->v, sizeof s->v);
        memcpy(s->v_free, row->v_free, sizeof s->v_free);
        memcpy(s->force, row->force, sizeof s->force);
    }
done:
    free(rows);
    return err;
}

static enum tac_err read_rigid(struct tac_checkpoint_reader *r)
{
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    struct tac_rigid_row *rows = NULL;
    struct span span;
    if (c->rigid.total == 0)
        return TAC_OK;
    TAC_TRY(read_span(r, TAC_RIGID_COLUMNS, tac_checkpoint_rigid_columns(c), true, sizeof *rows, &span, &rows));
    TAC_TRY(tac_alloc(r->ctx, (size_t)(span.end - span.begin), sizeof *c->rigid.row, &c->rigid.row));
    c->rigid.count = (tac_lid)(span.end - span.begin);
    for (int64_t k = span.begin; k < span.end && !err; k++) {
        const struct tac_rigid_row *row = &rows[k - span.first];
        if (!in_range(row->vertex, c->vertex_total) || row->t < 0 || row->t > c->now || row->t1 <= c->now ||
            row->t1 >= TAC_TIME_NEVER || !all_finite(row->value, TAC_RIGID_NUMBERS) ||
            (c->has_past && !all_finite(row->past, 4 * TAC_PAST_NUMBERS)) || (k > 0 && row->vertex <= row[-1].vertex))
            err = tac_checkpoint_wrong(r, "the state of a rigid body makes no sense");
        c->rigid.row[k - span.begin] = *row;
    }
done:
    free(rows);
    return err;
}

/* How many vertices a pair has, by its key (contact/model.h). */
static int corners_of(uint64_t key)
{
    const uint64_t type = key >> 62;
    if (key >> 60 == 1 || key >> 60 == 2) /* of a joint, of a slider */
        return (int)(key >> 60) + 1;
    return type <= 1 ? 4 : type == 2 || key >> 60 == 15 ? 3 : 2;
}

static bool pair_sensible(const struct tac_checkpoint *c, const struct tac_pair_record *row)
{
    enum { MOST_LAYERS = 1 << 30 };
    const int n = corners_of((uint64_t)row->key);
    if (row->groups < 1 || row->depth < row->groups || row->depth > MOST_LAYERS)
        return false;
    for (int i = 0; i < 4; i++) {
        if (i < n ? !in_range(row->vertex[i], c->vertex_total) : row->vertex[i] != -1)
            return false;
        for (int j = 0; j < i && i < n; j++)
            if (row->vertex[i] == row->vertex[j])
                return false;
    }
    return true;
}

/* In the file pairs ascend by their first vertex, then by key. */
static bool pair_after(const struct tac_pair_record *a, const struct tac_pair_record *b)
{
    return a->vertex[0] != b->vertex[0] ? a->vertex[0] < b->vertex[0] : (uint64_t)a->key < (uint64_t)b->key;
}

static int compare_keys(const void *a, const void *b)
{
    const struct tac_pair_state *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* The pairs; `last` counts from this rank's first one. */
static enum tac_err read_pairs(struct tac_checkpoint_reader *r)
{
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    struct tac_pair_record *rows = NULL;
    struct span span;
    int64_t lasts = 0;
    TAC_TRY(read_span(r, TAC_PAIR_COLUMNS, 4, true, sizeof *rows, &span, &rows));
    TAC_TRY(tac_alloc(r->ctx, (size_t)(span.end - span.begin), sizeof *c->pair, &c->pair));
    c->pair_count = (tac_lid)(span.end - span.begin);
    for (int64_t k = span.begin; k < span.end && !err; k++) {
        const struct tac_pair_record *row = &rows[k - span.first];
        struct tac_pair_state *p = &c->pair[k - span.begin];
        if (!pair_sensible(c, row) || (k > 0 && !pair_after(row - 1, row)))
            err = tac_checkpoint_wrong(r, "a contact makes no sense");
        *p = (struct tac_pair_state){(uint64_t)row->key, {0}, row->depth, lasts, row->groups};
        memcpy(p->vertex, row->vertex, sizeof p->vertex);
        lasts += err ? 0 : row->groups;
        if (lasts > INT32_MAX)
            err = tac_checkpoint_wrong(r, "this rank would have more than 2^31 layers to watch");
    }
    c->last_count = err ? 0 : (tac_lid)lasts;
done:
    free(rows);
    return err;
}

static bool friction_state_sensible(const struct tac_checkpoint *c, const struct tac_friction_row *row)
{
    const int n = corners_of(row->key);
    for (int i = 0; i < 4; i++)
        if (i < n ? !in_range(row->vertex[i], c->vertex_total) : row->vertex[i] != -1)
            return false;
    return in_range(row->layer + 1, INT32_MAX) && in_range(row->t[0], c->now + 1) && in_range(row->t[1], c->now + 1) &&
           all_finite(row->value, 13);
}

static enum tac_err read_friction_states(struct tac_checkpoint_reader *r)
{
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    struct span span;
    TAC_TRY(read_span(r, TAC_FRICTION_COLUMNS, 5, false, sizeof *c->friction_state, &span, &c->friction_state));
    c->friction_state_count = (tac_lid)(span.end - span.begin);
    for (tac_lid k = 0; k < c->friction_state_count && !err; k++)
        if (!friction_state_sensible(c, &c->friction_state[k]))
            err = tac_checkpoint_wrong(r, "the friction of a contact makes no sense");
done:
    return err;
}

enum tac_err tac_checkpoint_read_lasts(struct tac_checkpoint_reader *r, int64_t before, int64_t total)
{
    static const struct tac_checkpoint_column LAST = {"last", "m", true, 0, 0};
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    TAC_TRY(tac_checkpoint_columns(r, &LAST, 1, total, before, before + c->last_count, sizeof *c->last, &c->last));
    for (tac_lid k = 0; k < c->last_count && !err; k++)
        if (isnan(c->last[k]) || c->last[k] == -INFINITY)
            err = tac_checkpoint_wrong(r, "the last distance of a contact makes no sense");
    if (!err && c->pair_count > 0)
        qsort(c->pair, (size_t)c->pair_count, sizeof *c->pair, compare_keys);
done:
    return err;
}

/* ---- what elements remember ---- */

/* Checks ranges that hold for every kind. The conditions of a single kind are checked when the numbers are put into a
 * simulation. */
static bool element_sensible(const struct tac_checkpoint *c, const struct tac_element_states *s,
                             const struct tac_element_state *row)
{
    int n = 0; /* vertices */
    if (row->id < 0 || row->has < TAC_ELEMENT_RESTS || row->has > (TAC_ELEMENT_RESTS | TAC_ELEMENT_DAMPS) ||
        !all_finite(tac_element_rest(s, row), s->width) || !all_finite(tac_element_last(s, row), s->width))
        return false;
    while (n < s->nodes && row->vertex[n] != -1)
        n++;
    for (int i = 0; i < s->nodes; i++) {
        if (i < n ? !in_range(row->vertex[i], c->vertex_total) : row->vertex[i] != -1)
            return false;
        for (int j = 0; j < i && i < n; j++)
            if (row->vertex[i] == row->vertex[j])
                return false;
    }
    return n > 0;
}

static enum tac_err wrong_element(const struct tac_checkpoint_reader *r)
{
    return tac_checkpoint_wrong(r, "what an element remembers makes no sense");
}

/* This rank's rows of the kind that the file has `all` rows of. */
static enum tac_err read_element_kind(struct tac_checkpoint_reader *r, int kind, int64_t all)
{
    enum tac_err err;
    struct tac_element_states *s = &r->c->element[kind], rows = *s;
    struct tac_element_columns columns;
    struct span span;
    char *data = NULL;
    const size_t size = tac_element_row_size(s);
    int64_t total = 0;
    tac_element_columns(kind, s, &columns);
    TAC_TRY(tac_checkpoint_count(r, &columns.column[0], &total));
    if (total != all)
        TAC_TRY(wrong_table(r, columns.name[0]));
    TAC_TRY(read_span(r, columns.column, TAC_ELEMENT_COLUMNS, true, size, &span, &data));
    rows.row = data;
    for (int64_t k = 0; k < span.end - span.first && !err; k++) {
        const struct tac_element_state *row = tac_element_row(&rows, (tac_lid)k);
        if (!element_sensible(r->c, s, row) ||
            (k > 0 && tac_element_state_compare(tac_element_row(&rows, (tac_lid)k - 1), row) >= 0))
            err = wrong_element(r);
    }
    if (err)
        goto done;
    if (span.begin > span.first)
        memmove(data, data + size, (size_t)(span.end - span.begin) * size);
    s->count = (tac_lid)(span.end - span.begin);
    s->row = data;
    data = NULL;
done:
    free(data);
    return err;
}

/* A row must fit into what the writer sends at a time. */
static bool kind_sensible(const struct tac_element_kind_record *k)
{
    return k->kind >= 1 && k->kind < TAC_KINDS && k->rows >= 1 && k->nodes >= 1 && k->nodes <= TAC_RECORD_MOST / 8 &&
           k->width >= 1 && k->width <= TAC_RECORD_MOST / 8 &&
           tac_element_row_size(&(struct tac_element_states){.nodes = (int32_t)k->nodes, .width = (int32_t)k->width}) <=
               TAC_RECORD_MOST;
}

static enum tac_err read_element_states(struct tac_checkpoint_reader *r)
{
    enum tac_err err;
    struct tac_element_kind_record *kind = NULL;
    int64_t kinds = 0;
    TAC_TRY(tac_checkpoint_count(r, TAC_ELEMENT_KIND_COLUMNS, &kinds));
    if (kinds > TAC_KINDS)
        TAC_TRY(wrong_table(r, TAC_ELEMENT_KIND_COLUMNS[0].name));
    TAC_TRY(tac_checkpoint_columns(r, TAC_ELEMENT_KIND_COLUMNS, 1, kinds, 0, kinds, sizeof *kind, &kind));
    for (int64_t k = 0; k < kinds; k++) {
        if (!kind_sensible(&kind[k]) || (k > 0 && kind[k].kind <= kind[k - 1].kind))
            TAC_TRY(wrong_table(r, TAC_ELEMENT_KIND_COLUMNS[0].name));
        r->c->element[kind[k].kind] =
            (struct tac_element_states){.nodes = (int32_t)kind[k].nodes, .width = (int32_t)kind[k].width};
        TAC_TRY(read_element_kind(r, (int)kind[k].kind, kind[k].rows));
    }
done:
    free(kind);
    return err;
}

/* ---- the same from files of format 1 ---- */

/* How many numbers a strain has: six only of the program's own solids, which are damped but do not yield.  An element
 * that a host program adds has up to three there. */
static int32_t width_1(int kind)
{
    static const int32_t width[TAC_KINDS] = {[TAC_KIND_SPRING] = 1,   [TAC_KIND_CST] = 3,   [TAC_KIND_HINGE] = 1,
                                             [TAC_KIND_LOAD] = 3,     [TAC_KIND_ADDED] = 6, [TAC_KIND_ADDED + 1] = 6,
                                             [TAC_KIND_ADDED + 2] = 6};
    return width[kind] > 0 ? width[kind] : 3;
}

static void convert_element_1(const struct tac_element_record_1 *from, const struct tac_element_states *s,
                              struct tac_element_state *to)
{
    double *rest = tac_element_rest(s, to), *last = tac_element_last(s, to);
    to->id = from->id;
    to->has = from->has;
    memcpy(to->vertex, from->vertex, sizeof from->vertex);
    if (s->width > 3) { /* in both places */
        memcpy(last, from->rest, sizeof from->rest);
        memcpy(last + 3, from->last, sizeof from->last);
    } else {
        memcpy(rest, from->rest, (size_t)s->width * sizeof *rest);
        memcpy(last, from->last, (size_t)s->width * sizeof *last);
    }
}

/* In format 1 all kinds are in one table: by first vertex, then kind, then id. */
static int compare_elements_1(const struct tac_element_record_1 *a, const struct tac_element_record_1 *b)
{
    const int64_t p[3] = {a->vertex[0], a->kind, a->id}, q[3] = {b->vertex[0], b->kind, b->id};
    int k = 0;
    while (k < 2 && p[k] == q[k])
        k++;
    return (p[k] > q[k]) - (p[k] < q[k]);
}

/* Makes room for the rows of each kind. */
static enum tac_err divide_by_kind_1(struct tac_checkpoint_reader *r, const struct tac_element_record_1 *row,
                                     int64_t count)
{
    enum tac_err err = TAC_OK;
    size_t rows[TAC_KINDS] = {0};
    for (int64_t k = 0; k < count; k++)
        rows[row[k].kind]++;
    for (int kind = 1; kind < TAC_KINDS; kind++) {
        struct tac_element_states *s = &r->c->element[kind];
        *s = (struct tac_element_states){.nodes = 4, .width = width_1(kind)};
        TAC_TRY(tac_alloc(r->ctx, rows[kind], tac_element_row_size(s), &s->row));
    }
done:
    return err;
}

static enum tac_err read_element_states_1(struct tac_checkpoint_reader *r)
{
    enum tac_err err;
    struct tac_element_record_1 *rows = NULL;
    struct span span;
    TAC_TRY(read_span(r, TAC_ELEMENT_COLUMNS_1, 6, true, sizeof *rows, &span, &rows));
    for (int64_t k = 0; k < span.end - span.first; k++)
        if (rows[k].kind < 1 || rows[k].kind >= TAC_KINDS || (k > 0 && compare_elements_1(&rows[k - 1], &rows[k]) >= 0))
            TAC_TRY(wrong_element(r));
    const struct tac_element_record_1 *mine = rows + (span.begin - span.first);
    TAC_TRY(divide_by_kind_1(r, mine, span.end - span.begin));
    for (int64_t k = 0; k < span.end - span.begin; k++) {
        struct tac_element_states *s = &r->c->element[mine[k].kind];
        struct tac_element_state *to = tac_element_row(s, s->count++);
        convert_element_1(&mine[k], s, to);
        if (!element_sensible(r->c, s, to) || !all_finite(mine[k].rest, 3) || !all_finite(mine[k].last, 3))
            TAC_TRY(wrong_element(r));
    }
done:
    free(rows);
    return err;
}

enum tac_err tac_checkpoint_read_rows(struct tac_checkpoint_reader *r)
{
    enum tac_err err;
    struct tac_checkpoint *c = r->c;
    TAC_TRY(read_vertices(r));
    TAC_TRY(read_past(r));
    TAC_TRY(read_elements(r, TAC_TRIANGLE_COLUMNS, c->triangle_total, &c->mesh.triangle_count, &c->mesh.triangle_id,
                          &c->mesh.triangle));
    TAC_TRY(read_elements(r, TAC_SEGMENT_COLUMNS, c->segment_total, &c->mesh.segment_count, &c->mesh.segment_id,
                          &c->mesh.segment));
    if (c->tetrahedron_total > 0)
        TAC_TRY(read_elements(r, TAC_TETRAHEDRON_COLUMNS, c->tetrahedron_total, &c->mesh.tetrahedron_count,
                              &c->mesh.tetrahedron_id, &c->mesh.tetrahedron));
    TAC_TRY(read_scripts(r));
    TAC_TRY(read_pairs(r));
    TAC_TRY(r->format == 1 ? read_element_states_1(r) : read_element_states(r));
    TAC_TRY(read_friction_states(r));
    TAC_TRY(read_rigid(r));
done:
    return err;
}
