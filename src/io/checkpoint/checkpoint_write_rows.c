/* checkpoint_write_rows.c: the tables of a checkpoint: rows to the ranks that write them, in the file's order, which is
 * the same for any number of ranks. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/exchange.h"
#include "io/checkpoint/checkpoint_room.h"

static int compare_first(const void *a, const void *b)
{
    tac_gid x = *(const tac_gid *)a, y = *(const tac_gid *)b;
    return (x > y) - (x < y);
}

/* The file's order of pairs: by their first vertex, then by key; the same for any number of ranks. */
static int compare_pairs(const void *a, const void *b)
{
    const struct tac_pair_record *x = a, *y = b;
    if (x->vertex[0] != y->vertex[0])
        return x->vertex[0] < y->vertex[0] ? -1 : 1;
    return ((uint64_t)x->key > (uint64_t)y->key) - ((uint64_t)x->key < (uint64_t)y->key);
}

enum tac_err tac_checkpoint_write_columns(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                          const struct tac_checkpoint_column *column, size_t columns,
                                          const char *record, size_t size, size_t count)
{
    enum tac_err err = TAC_OK;
    char *data = NULL;
    int64_t mine = (int64_t)count, before = 0, total = 0;
    MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    before = ctx->rank == 0 ? 0 : before;
    MPI_Allreduce(&mine, &total, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    for (size_t c = 0; c < columns && !err; c++) {
        const size_t bytes = 8 * (size_t)(column[c].columns ? column[c].columns : 1);
        err = tac_agree(ctx, tac_alloc(ctx, count, bytes, &data));
        for (size_t k = 0; k < count && !err; k++)
            memcpy(data + bytes * k, record + size * k + column[c].offset, bytes);
        const struct tac_dataset d = {w->file.file,
                                      column[c].name,
                                      column[c].units,
                                      column[c].real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64,
                                      column[c].columns,
                                      total,
                                      before,
                                      before + mine,
                                      data};
        if (!err)
            err = tac_dataset_write(ctx, &w->file, &d);
        free(data);
        data = NULL;
    }
    return err;
}

/* The records of this rank for a table.  They are made as they are sent: a large scene has no room for all of them. */
struct records {
    tac_fill *fill;
    const void *from;
    size_t count, size;                           /* size of one, at most LARGEST bytes */
    size_t owner;                                 /* offset of the id (tac_gid) by which its writer is found */
    tac_gid ids;                                  /* how many of those ids there are */
    int (*compare)(const void *a, const void *b); /* the file's order */
    bool many; /* an id has as many records as it likes: they are compressed by all ranks, so all get some of the ids */
};

/* Records that are there, for a tac_fill. */
struct array {
    const char *record;
    size_t size;
};

static void copy(const void *from, tac_lid index, void *record)
{
    const struct array *array = from;
    memcpy(record, array->record + array->size * (size_t)index, array->size);
}

/* Into the file's order.  On one rank, and on several after a deal by ids, they mostly are. */
static void sort(void *record, size_t count, const struct records *r)
{
    for (size_t k = 1; k < count; k++)
        if (r->compare((char *)record + r->size * (k - 1), (char *)record + r->size * k) > 0) {
            qsort(record, count, r->size, r->compare);
            return;
        }
}

/* Collective. Each record goes to the rank that writes the rows of its id; that rank sorts what comes, and writes it.
 * err: an error that this rank had before; then it is the error of all ranks. */
static enum tac_err write_table(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                const struct tac_checkpoint_column *column, size_t columns, enum tac_err err,
                                const struct records *r)
{
    enum { LARGEST = 512 };
    void *came = NULL;
    size_t total = 0;
    int32_t *to = NULL;
    _Alignas(max_align_t) char one[LARGEST];
    TAC_CHECK(r->size <= LARGEST);
    if (!err)
        err = tac_alloc(ctx, r->count, sizeof *to, &to);
    for (size_t k = 0; k < r->count && !err; k++) {
        tac_gid id;
        r->fill(r->from, (tac_lid)k, one);
        memcpy(&id, one + r->owner, sizeof id);
        to[k] = r->many ? (int32_t)(id * ctx->size / r->ids) : tac_rank_of_row(ctx, r->ids, id);
    }
    err = tac_distribute_table(ctx, err, err ? 0 : r->count, NULL, to, r->fill, r->from, r->size, &came, &total);
    free(to);
    if (!err)
        sort(came, total, r);
    if (!err)
        err = tac_checkpoint_write_columns(ctx, w, column, columns, came, r->size, total);
    free(came);
    return err;
}

static void fill_vertex(const void *from, tac_lid k, void *record)
{
    const struct tac_checkpoint *c = from;
    struct tac_vertex_record *row = record;
    const size_t at = 3 * (size_t)k;
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
    const struct records r = {fill_vertex,
                              c,
                              (size_t)c->vertices.count,
                              sizeof(struct tac_vertex_record),
                              offsetof(struct tac_vertex_record, id),
                              c->vertex_total,
                              compare_first,
                              false};
    return write_table(ctx, w, TAC_VERTEX_COLUMNS, 7, TAC_OK, &r);
}

static void fill_past(const void *from, tac_lid k, void *record)
{
    const struct tac_checkpoint *c = from;
    struct tac_past_record *row = record;
    row->id = c->vertices.id[k];
    memcpy(row->value, &c->vertices.past[TAC_PAST_NUMBERS * (size_t)k], sizeof row->value);
}

/* What an integrator remembers besides, where it does. */
static enum tac_err write_past(struct tac_ctx *ctx, struct tac_checkpoint_writer *w, const struct tac_checkpoint *c)
{
    const struct records r = {fill_past,
                              c,
                              (size_t)c->vertices.count,
                              sizeof(struct tac_past_record),
                              offsetof(struct tac_past_record, id),
                              c->vertex_total,
                              compare_first,
                              false};
    return c->has_past ? write_table(ctx, w, TAC_PAST_COLUMNS, 1, TAC_OK, &r) : TAC_OK;
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
    const struct records r = {fill_element,
                              &e,
                              (size_t)count,
                              sizeof(struct tac_element_record),
                              offsetof(struct tac_element_record, id),
                              all,
                              compare_first,
                              false};
    return write_table(ctx, w, column, 1, TAC_OK, &r);
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
    }
done:
    err = write_table(ctx, w, TAC_SCRIPT_COLUMNS, 8, err,
                      &(struct records){copy, &(struct array){(char *)row, sizeof *row}, n, sizeof *row,
                                        offsetof(struct tac_script_record, vertex), c->vertex_total, compare_first,
                                        true});
    free(row);
    return err;
}

/* A last distance on its way: sorted like its pair. */
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
    err =
        write_table(ctx, w, TAC_PAIR_COLUMNS, 4, err,
                    &(struct records){copy, &(struct array){(char *)row, sizeof *row}, n, sizeof *row,
                                      offsetof(struct tac_pair_record, vertex), c->vertex_total, compare_pairs, true});
    err =
        write_table(ctx, w, &LAST, 1, err,
                    &(struct records){copy, &(struct array){(char *)last, sizeof *last}, m, sizeof *last,
                                      offsetof(struct last_record, pair.vertex), c->vertex_total, compare_lasts, true});
    free(row);
    free(last);
    return err;
}

enum tac_err tac_checkpoint_write_rows(struct tac_ctx *ctx, struct tac_checkpoint_writer *w,
                                       const struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct array states = {(const char *)c->element, sizeof *c->element},
                       grips = {(const char *)c->friction_state, sizeof *c->friction_state};
    const struct records element = {copy,
                                    &states,
                                    (size_t)c->element_count,
                                    sizeof *c->element,
                                    offsetof(struct tac_element_state, vertex),
                                    c->vertex_total,
                                    tac_element_state_compare,
                                    true};
    const struct records friction = {copy,
                                     &grips,
                                     (size_t)c->friction_state_count,
                                     sizeof *c->friction_state,
                                     offsetof(struct tac_friction_row, vertex),
                                     c->vertex_total,
                                     tac_friction_row_compare,
                                     true};
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
    TAC_TRY(write_table(ctx, w, TAC_ELEMENT_STATE_COLUMNS, 6, TAC_OK, &element));
    TAC_TRY(write_table(ctx, w, TAC_GRIP_COLUMNS, 5, TAC_OK, &friction));
done:
    return err;
}
