/* checkpoint_write_tables.c: writes the tables of a checkpoint: fills the rows of each, and sends them to the ranks
 * that write them, in the file's order, which is the same for any number of ranks. */
#include "base/compare.h"
#include "base/exchange.h"
#include "io/checkpoint/checkpoint_room.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct tac_dataset dataset_of(const struct tac_checkpoint_writer *w, const struct tac_checkpoint_column *column,
                                     int64_t rows)
{
    return (struct tac_dataset){.group = w->file.file,
                                .name = column->name,
                                .units = column->units,
                                .type = column->real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64,
                                .columns = column->columns,
                                .rows = rows};
}

/* Collective. A column of `count` records of `size` bytes, in *data, owned by the caller. */
static enum tac_err take_column(struct tac_ctx *ctx, const struct tac_checkpoint_column *column, const char *record,
                                size_t size, size_t count, char **data)
{
    const size_t bytes = 8 * (size_t)(column->columns ? column->columns : 1);
    const enum tac_err err = tac_agree(ctx, tac_alloc(ctx, count, bytes, data));
    for (size_t k = 0; k < count && !err; k++)
        memcpy(*data + bytes * k, record + size * k + column->offset, bytes);
    return err;
}

enum tac_err tac_checkpoint_write_columns(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                          const struct tac_checkpoint_column *column, size_t columns,
                                          const char *record, size_t size, size_t count)
{
    enum tac_err err = TAC_OK;
    int64_t mine = (int64_t)count, before = 0, total = 0;
    MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    before = ctx->rank == 0 ? 0 : before;
    MPI_Allreduce(&mine, &total, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    for (size_t c = 0; c < columns && !err; c++) {
        char *data = NULL;
        struct tac_dataset d = dataset_of(w, &column[c], total);
        err = take_column(ctx, &column[c], record, size, count, &data);
        d.begin = before;
        d.end = before + mine;
        d.data = data;
        if (!err)
            err = tac_dataset_write(ctx, &w->file, &d);
        free(data);
    }
    return err;
}

/* Sorts records into the file's order. On one rank, and on several after a distribution by ids, they mostly have that
 * order already. */
static void sort_records(void *record, size_t count, const struct tac_records *r)
{
    for (size_t k = 1; k < count; k++)
        if (r->compare((char *)record + r->size * (k - 1), (char *)record + r->size * k) > 0) {
            qsort(record, count, r->size, r->compare);
            return;
        }
}

static tac_gid id_of(const struct tac_records *r, size_t k)
{
    _Alignas(max_align_t) char one[TAC_RECORD_MOST];
    tac_gid id;
    TAC_CHECK(r->size <= TAC_RECORD_MOST);
    r->fill(r->from, (tac_lid)k, one);
    memcpy(&id, one + r->owner, sizeof id);
    return id;
}

enum tac_err tac_checkpoint_write_table(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                        const struct tac_checkpoint_column *column, size_t columns, enum tac_err err,
                                        const struct tac_records *r)
{
    void *came = NULL;
    size_t total = 0;
    int32_t *to = NULL;
    if (!err)
        err = tac_alloc(ctx, r->count, sizeof *to, &to);
    for (size_t k = 0; k < r->count && !err; k++)
        to[k] = (int32_t)(id_of(r, k) * ctx->size / r->ids);
    err = tac_distribute_table(ctx, err, err ? 0 : r->count, NULL, to, r->fill, r->from, r->size, &came, &total);
    free(to);
    if (!err)
        sort_records(came, total, r);
    if (!err)
        err = tac_checkpoint_write_columns(ctx, w, column, columns, came, r->size, total);
    free(came);
    return err;
}

/* ---- tables with a row for each id: slice by slice, because there is no memory for all rows together ---- */

/* Rows that a rank sorts and writes at a time: whole chunks. */
enum { SLICE_ROWS = 4 * TAC_CHUNK_ROWS, COLUMNS_MOST = 8 };

struct slices {
    tac_gid begin, end; /* this rank's rows */
    size_t count;       /* of the rank that has most */
    size_t *first;      /* owned, (count + 2): a slice's records begin there in the next two; one more to sort them */
    tac_lid *which;     /* owned */
    int32_t *to;        /* owned: the ranks that write them */
    hid_t id[COLUMNS_MOST]; /* datasets; those that are not open: -1 */
};

static size_t slice_of(const struct tac_ctx *ctx, const struct tac_records *r, size_t k, int32_t *to)
{
    tac_gid begin, end;
    const tac_gid row = id_of(r, k);
    *to = tac_rank_of_row(ctx, r->ids, row);
    tac_rows_of_rank(r->ids, *to, ctx->size, &begin, &end);
    return (size_t)((row - begin) / SLICE_ROWS);
}

/* This rank's records by slices. */
static enum tac_err sort_slices(struct tac_ctx *ctx, const struct tac_records *r, struct slices *s)
{
    enum tac_err err;
    int32_t to;
    tac_gid most = 0;
    for (int rank = 0; rank < ctx->size; rank++) {
        tac_rows_of_rank(r->ids, rank, ctx->size, &s->begin, &s->end);
        most = s->end - s->begin > most ? s->end - s->begin : most;
    }
    tac_rows_of_rank(r->ids, ctx->rank, ctx->size, &s->begin, &s->end);
    s->count = (size_t)((most + SLICE_ROWS - 1) / SLICE_ROWS);
    TAC_TRY(tac_alloc(ctx, s->count + 2, sizeof *s->first, &s->first));
    TAC_TRY(tac_alloc(ctx, r->count, sizeof *s->which, &s->which));
    TAC_TRY(tac_alloc(ctx, r->count, sizeof *s->to, &s->to));
    for (size_t k = 0; k < r->count; k++)
        s->first[slice_of(ctx, r, k, &to) + 2]++;
    for (size_t i = 2; i < s->count + 2; i++)
        s->first[i] += s->first[i - 1];
    for (size_t k = 0; k < r->count; k++) {
        const size_t at = s->first[slice_of(ctx, r, k, &to) + 1]++;
        s->which[at] = (tac_lid)k;
        s->to[at] = to;
    }
done:
    return err;
}

/* Collective. Rows begin .. of the slice, which came in any order. */
static enum tac_err write_slice(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                const struct tac_checkpoint_column *column, size_t columns, const struct tac_records *r,
                                const struct slices *s, tac_gid begin, const char *record, size_t count)
{
    enum tac_err err = TAC_OK;
    const struct tac_row_range part[2] = {{begin, begin + (tac_gid)count}, {0, 0}};
    for (size_t c = 0; c < columns && !err; c++) {
        char *data = NULL;
        struct tac_dataset d = dataset_of(w, &column[c], r->ids);
        err = take_column(ctx, &column[c], record, r->size, count, &data);
        d.data = data;
        if (!err)
            err = tac_dataset_put(ctx, &w->file, &d, s->id[c], part);
        free(data);
    }
    return err;
}

/* Collective. */
static enum tac_err write_slices(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                 const struct tac_checkpoint_column *column, size_t columns,
                                 const struct tac_records *r, const struct slices *s)
{
    enum tac_err err = TAC_OK;
    void *came = NULL;
    size_t total;
    for (size_t i = 0; i < s->count; i++) {
        const tac_gid at = s->begin + (tac_gid)i * SLICE_ROWS, begin = at < s->end ? at : s->end;
        TAC_TRY(tac_distribute_table(ctx, TAC_OK, s->first[i + 1] - s->first[i], s->which + s->first[i],
                                     s->to + s->first[i], r->fill, r->from, r->size, &came, &total));
        TAC_CHECK((tac_gid)total == (s->end - begin < SLICE_ROWS ? s->end - begin : SLICE_ROWS));
        sort_records(came, total, r);
        TAC_TRY(write_slice(ctx, w, column, columns, r, s, begin, came, total));
        free(came);
        came = NULL;
    }
done:
    free(came);
    return err;
}

enum tac_err tac_checkpoint_write_by_id(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                        const struct tac_checkpoint_column *column, size_t columns,
                                        const struct tac_records *r)
{
    enum tac_err err;
    struct slices s = {0};
    TAC_CHECK(columns <= COLUMNS_MOST);
    for (size_t c = 0; c < columns; c++)
        s.id[c] = -1;
    TAC_TRY(tac_agree(ctx, sort_slices(ctx, r, &s)));
    for (size_t c = 0; c < columns; c++) {
        const struct tac_dataset d = dataset_of(w, &column[c], r->ids);
        TAC_TRY(tac_dataset_create(ctx, &w->file, &d, &s.id[c]));
    }
    TAC_TRY(write_slices(ctx, w, column, columns, r, &s));
done:
    for (size_t c = 0; c < columns; c++) {
        const bool closed = s.id[c] < 0 || H5Dclose(s.id[c]) >= 0;
        err = err ? err : tac_frames_step(ctx, &w->file, column[c].name, closed);
    }
    free(s.first);
    free(s.which);
    free(s.to);
    return err;
}

/* ---- what the tables hold, and in which order ---- */

/* The file's order of pairs: by their first vertex, then by key; the same for any number of ranks. */
static int compare_pairs(const void *a, const void *b)
{
    const struct tac_pair_record *x = a, *y = b;
    if (x->vertex[0] != y->vertex[0])
        return x->vertex[0] < y->vertex[0] ? -1 : 1;
    return ((uint64_t)x->key > (uint64_t)y->key) - ((uint64_t)x->key < (uint64_t)y->key);
}

/* Records that are there, for a tac_fill. */
struct array {
    const char *record;
    size_t size;
};

static void copy_record(const void *from, tac_lid index, void *record)
{
    const struct array *array = from;
    memcpy(record, array->record + array->size * (size_t)index, array->size);
}

static void fill_vertex(const void *from, tac_lid k, void *record)
{
    const struct tac_checkpoint *c = from;
    struct tac_vertex_record *row = record;
    const size_t at = 3 * (size_t)k;
    if (c->vertices.look != NULL) {
        c->vertices.look(c->vertices.from, k, row);
        return;
    }
    memset(row, 0, sizeof *row);
    row->id = c->vertices.id[k];
    row->mass = c->vertices.mass[k];
    row->t = c->vertices.t[k];
    memcpy(row->start, &c->vertices.start[at], sizeof row->start);
    memcpy(row->x, &c->vertices.x[at], sizeof row->x);
    memcpy(row->v, &c->vertices.v[at], sizeof row->v);
    memcpy(row->impulse, &c->vertices.impulse[at], sizeof row->impulse);
    if (c->vertices.rest != NULL)
        memcpy(row->rest, &c->vertices.rest[at], sizeof row->rest);
}

static enum tac_err write_vertices(struct tac_ctx *ctx, struct tac_checkpoint_writer *w, const struct tac_checkpoint *c)
{
    const struct tac_records r = {fill_vertex,
                                  c,
                                  (size_t)c->vertices.count,
                                  sizeof(struct tac_vertex_record),
                                  offsetof(struct tac_vertex_record, id),
                                  c->vertex_total,
                                  tac_compare_int64};
    return tac_checkpoint_write_by_id(ctx, w, TAC_VERTEX_COLUMNS, 7, &r);
}

static void fill_past(const void *from, tac_lid k, void *record)
{
    const struct tac_checkpoint *c = from;
    struct tac_past_record *row = record;
    row->id = c->vertices.id[k];
    memcpy(row->value, &c->vertices.past[TAC_PAST_NUMBERS * (size_t)k], sizeof row->value);
}

/* Writes further state of an integrator at vertices, if it has any. */
static enum tac_err write_past(struct tac_ctx *ctx, struct tac_checkpoint_writer *w, const struct tac_checkpoint *c)
{
    const struct tac_records r = {fill_past,
                                  c,
                                  (size_t)c->vertices.count,
                                  sizeof(struct tac_past_record),
                                  offsetof(struct tac_past_record, id),
                                  c->vertex_total,
                                  tac_compare_int64};
    return c->has_past ? tac_checkpoint_write_by_id(ctx, w, TAC_PAST_COLUMNS, 1, &r) : TAC_OK;
}

struct elements {
    const tac_gid *id, *v;
    size_t corners;
};

static void fill_element(const void *from, tac_lid k, void *record)
{
    const struct elements *e = from;
    struct tac_element_record *row = record;
    memset(row, 0, sizeof *row);
    row->id = e->id[k];
    memcpy(row->v, &e->v[e->corners * (size_t)k], e->corners * sizeof *e->v);
}

static enum tac_err write_elements(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                   const struct tac_checkpoint_column *column, tac_gid all, tac_lid count,
                                   const tac_gid *id, const tac_gid *v, int corners)
{
    const struct elements e = {id, v, (size_t)corners};
    const struct tac_records r = {fill_element,
                                  &e,
                                  (size_t)count,
                                  sizeof(struct tac_element_record),
                                  offsetof(struct tac_element_record, id),
                                  all,
                                  tac_compare_int64};
    return tac_checkpoint_write_by_id(ctx, w, column, 1, &r);
}

static enum tac_err write_scripts(struct tac_ctx *ctx, struct tac_checkpoint_writer *w, const struct tac_checkpoint *c)
{
    enum tac_err err;
    const size_t n = (size_t)c->script_count;
    struct tac_script_record *row = NULL;
    TAC_TRY(tac_alloc(ctx, n, sizeof *row, &row));
    for (size_t k = 0; k < n; k++) {
        const struct tac_script_state *s = &c->script[k];
        row[k] =
            (struct tac_script_record){.vertex = s->vertex, .next = s->next, .t = s->t, .flags = {s->on, s->caught}};
        memcpy(row[k].origin, s->origin, sizeof s->origin);
        memcpy(row[k].x, s->x, sizeof s->x);
        memcpy(row[k].v, s->v, sizeof s->v);
        memcpy(row[k].v_free, s->v_free, sizeof s->v_free);
        memcpy(row[k].force, s->force, sizeof s->force);
    }
done:
    err = tac_checkpoint_write_table(ctx, w, TAC_SCRIPT_COLUMNS, tac_checkpoint_script_columns(c), err,
                                     &(struct tac_records){copy_record, &(struct array){(char *)row, sizeof *row}, n,
                                                           sizeof *row, offsetof(struct tac_script_record, vertex),
                                                           c->vertex_total, tac_compare_int64});
    free(row);
    return err;
}

/* A last distance that is sent: it is sorted like its pair. */
struct last_record {
    struct tac_pair_record pair;
    int64_t group;
    double last;
};

static int compare_lasts(const void *a, const void *b)
{
    const struct last_record *x = a, *y = b;
    const int order = compare_pairs(&x->pair, &y->pair);
    return order ? order : (x->group > y->group) - (x->group < y->group);
}

static enum tac_err write_pairs(struct tac_ctx *ctx, struct tac_checkpoint_writer *w, const struct tac_checkpoint *c)
{
    static const struct tac_checkpoint_column LAST = {"last", "m", true, 0, offsetof(struct last_record, last)};
    enum tac_err err;
    const size_t n = (size_t)c->pair_count, m = (size_t)c->last_count;
    struct tac_pair_record *row = NULL;
    struct last_record *last = NULL;
    size_t k = 0;
    TAC_TRY(tac_alloc(ctx, n, sizeof *row, &row));
    TAC_TRY(tac_alloc(ctx, m, sizeof *last, &last));
    for (size_t i = 0; i < n; i++) {
        const struct tac_pair_state *p = &c->pair[i];
        row[i] = (struct tac_pair_record){(tac_gid)p->key, {0}, p->depth, p->groups};
        memcpy(row[i].vertex, p->vertex, sizeof row[i].vertex);
        for (int64_t r = 0; r < p->groups; r++, k++)
            last[k] = (struct last_record){row[i], r, c->last[p->last + r]};
    }
done:
    err = tac_checkpoint_write_table(ctx, w, TAC_PAIR_COLUMNS, 4, err,
                                     &(struct tac_records){copy_record, &(struct array){(char *)row, sizeof *row}, n,
                                                           sizeof *row, offsetof(struct tac_pair_record, vertex),
                                                           c->vertex_total, compare_pairs});
    err = tac_checkpoint_write_table(ctx, w, &LAST, 1, err,
                                     &(struct tac_records){copy_record, &(struct array){(char *)last, sizeof *last}, m,
                                                           sizeof *last, offsetof(struct last_record, pair.vertex),
                                                           c->vertex_total, compare_lasts});
    free(row);
    free(last);
    return err;
}

/* Collective. The rows of one kind of elements. */
static enum tac_err write_element_kind(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                       const struct tac_checkpoint *c, int kind)
{
    const struct tac_element_states *s = &c->element[kind];
    const struct array states = {s->row, tac_element_row_size(s)};
    struct tac_element_columns columns;
    const struct tac_records r = {copy_record,
                                  &states,
                                  (size_t)s->count,
                                  states.size,
                                  offsetof(struct tac_element_state, vertex),
                                  c->vertex_total,
                                  tac_element_state_compare};
    tac_element_columns(kind, s, &columns);
    return tac_checkpoint_write_table(ctx, w, columns.column, TAC_ELEMENT_COLUMNS, TAC_OK, &r);
}

/* What elements remember: how many rows each kind has and how wide they are, then a table for each kind. */
static enum tac_err write_element_states(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                         const struct tac_checkpoint *c)
{
    enum tac_err err;
    int64_t all[TAC_KINDS];
    struct tac_element_kind_record record[TAC_KINDS];
    size_t kinds = 0;
    for (int kind = 0; kind < TAC_KINDS; kind++)
        all[kind] = c->element[kind].count;
    MPI_Allreduce(MPI_IN_PLACE, all, TAC_KINDS, MPI_INT64_T, MPI_SUM, ctx->comm);
    for (int kind = 0; kind < TAC_KINDS; kind++)
        if (all[kind] > 0)
            record[kinds++] =
                (struct tac_element_kind_record){kind, all[kind], c->element[kind].nodes, c->element[kind].width};
    TAC_TRY(tac_checkpoint_write_columns(ctx, w, TAC_ELEMENT_KIND_COLUMNS, 1, (const char *)record, sizeof *record,
                                         ctx->rank == 0 ? kinds : 0));
    for (int kind = 0; kind < TAC_KINDS; kind++)
        if (all[kind] > 0)
            TAC_TRY(write_element_kind(ctx, w, c, kind));
done:
    return err;
}

enum tac_err tac_checkpoint_write_rows(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                       const struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct array states = {(const char *)c->friction_state, sizeof *c->friction_state};
    const struct tac_records friction = {copy_record,
                                         &states,
                                         (size_t)c->friction_state_count,
                                         sizeof *c->friction_state,
                                         offsetof(struct tac_friction_row, vertex),
                                         c->vertex_total,
                                         tac_friction_row_compare};
    const struct array rigid = {(const char *)c->rigid.row, sizeof *c->rigid.row};
    const struct tac_records bodies = {copy_record,
                                       &rigid,
                                       (size_t)c->rigid.count,
                                       sizeof *c->rigid.row,
                                       offsetof(struct tac_rigid_row, vertex),
                                       c->vertex_total,
                                       tac_compare_int64};
    TAC_TRY(write_vertices(ctx, w, c));
    TAC_TRY(write_past(ctx, w, c));
    TAC_TRY(write_elements(ctx, w, TAC_TRIANGLE_COLUMNS, c->triangle_total, c->mesh.triangle_count, c->mesh.triangle_id,
                           c->mesh.triangle, 3));
    TAC_TRY(write_elements(ctx, w, TAC_SEGMENT_COLUMNS, c->segment_total, c->mesh.segment_count, c->mesh.segment_id,
                           c->mesh.segment, 2));
    if (c->tetrahedron_total > 0) /* only then is there the table */
        TAC_TRY(write_elements(ctx, w, TAC_TETRAHEDRON_COLUMNS, c->tetrahedron_total, c->mesh.tetrahedron_count,
                               c->mesh.tetrahedron_id, c->mesh.tetrahedron, 4));
    TAC_TRY(write_scripts(ctx, w, c));
    TAC_TRY(write_pairs(ctx, w, c));
    TAC_TRY(write_element_states(ctx, w, c));
    TAC_TRY(tac_checkpoint_write_table(ctx, w, TAC_FRICTION_COLUMNS, 5, TAC_OK, &friction));
    if (c->rigid.total > 0) /* only then is there the table */
        TAC_TRY(
            tac_checkpoint_write_table(ctx, w, TAC_RIGID_COLUMNS, tac_checkpoint_rigid_columns(c), TAC_OK, &bodies));
done:
    return err;
}
