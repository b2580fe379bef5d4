/* checkpoint_write_rows.c: what the tables of a checkpoint hold, and in which order. */
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
                                  compare_first};
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
                                  compare_first};
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
                                  compare_first};
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
                                                           c->vertex_total, compare_first});
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
done:
    return err;
}
