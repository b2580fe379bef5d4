/* checkpoint_write_tables.c: writes a table of a checkpoint: sends rows to the ranks that write them, in the file's
 * order, which is the same for any number of ranks. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/exchange.h"
#include "io/checkpoint/checkpoint_room.h"

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

/* ---- tables of which each row is an id: slice by slice, for there is no room for all rows at once ---- */

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
        err = err ? err : tac_frames_change(ctx, &w->file, column[c].name, closed);
    }
    free(s.first);
    free(s.which);
    free(s.to);
    return err;
}
