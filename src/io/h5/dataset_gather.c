/* dataset_gather.c: writes rows of a dataset from several ranks into a file that only rank 0 writes.
 *
 * Only one process can keep a file whole at every moment (disk.c): HDF5's parallel driver changes the structures of a
 * file in place, from several processes, and a rank that is killed there leaves a file that cannot be opened.  What
 * costs time is shared all the same: every rank makes its own chunks as they are in the file (chunk.c), and rank 0
 * writes them, one after the other, with room for one.
 *
 * A chunk of which a rank has only some rows is made by one rank: chunk k by rank k modulo their number. */
#include <stdlib.h>
#include <string.h>

#include "base/exchange.h"
#include "io/frames/frames.h"
#include "io/h5/chunk.h"

enum { TAG_CHUNK = 43 };

/* The chunks that this rank makes. */
struct making {
    const struct tac_dataset *d;
    size_t row_bytes, value_bytes;
    tac_gid chunk_rows;
    size_t chunk_bytes;           /* of a whole one, unpacked */
    size_t rows;                  /* of fragments that this rank sends */
    unsigned char *scratch, *raw; /* owned, (chunk_bytes) */
    /* Chunks that are ready: the first row, as 8 bytes, and then the chunk. */
    unsigned char *message; /* owned, (capacity) */
    size_t length, capacity, count, size_capacity;
    size_t *size; /* owned, (count): of each message, bytes */
};

static tac_gid lesser_of(tac_gid a, tac_gid b)
{
    return a < b ? a : b;
}

/* Makes a chunk of the rows from `first` on. */
static enum tac_err make_chunk(struct tac_ctx *ctx, struct making *m, tac_gid first, const unsigned char *row)
{
    enum tac_err err;
    const size_t bytes = (size_t)lesser_of(m->chunk_rows, m->d->rows - first) * m->row_bytes;
    size_t size = 0;
    TAC_TRY(tac_grow(ctx, &m->message, &m->capacity, m->length + sizeof first + tac_chunk_bound(m->chunk_bytes), 1));
    TAC_TRY(tac_grow(ctx, &m->size, &m->size_capacity, m->count + 1, sizeof *m->size));
    if (bytes < m->chunk_bytes) { /* the last one is stored whole */
        memcpy(m->raw, row, bytes);
        memset(m->raw + bytes, 0, m->chunk_bytes - bytes);
        row = m->raw;
    }
    memcpy(m->message + m->length, &first, sizeof first);
    if (!tac_chunk_pack(row, m->chunk_bytes, m->value_bytes, TAC_DATASET_DEFLATE, m->scratch,
                        m->message + m->length + sizeof first, &size))
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "out of memory while '%s' is compressed", m->d->name));
    m->size[m->count++] = sizeof first + size;
    m->length += sizeof first + size;
done:
    return err;
}

/* Calls for each piece of the parts that lies in one chunk: whole, or a fragment. */
static enum tac_err each_piece(struct tac_ctx *ctx, struct making *m, const struct tac_row_range part[2],
                               enum tac_err (*call)(struct tac_ctx *, struct making *, tac_gid begin, tac_gid end,
                                                    bool whole, const unsigned char *row, void *data),
                               void *data)
{
    enum tac_err err = TAC_OK;
    const unsigned char *row = m->d->data;
    for (int k = 0; k < 2; k++)
        for (tac_gid at = part[k].begin; at < part[k].end;) {
            const tac_gid first = at / m->chunk_rows * m->chunk_rows,
                          next = lesser_of(first + m->chunk_rows, m->d->rows), end = lesser_of(next, part[k].end);
            TAC_TRY(call(ctx, m, at, end, at == first && end == next, row, data));
            row += (size_t)(end - at) * m->row_bytes;
            at = end;
        }
done:
    return err;
}

static enum tac_err make_or_count(struct tac_ctx *ctx, struct making *m, tac_gid begin, tac_gid end, bool whole,
                                  const unsigned char *row, void *data)
{
    if (whole)
        return make_chunk(ctx, m, begin, row);
    m->rows += (size_t)(end - begin);
    return TAC_OK;
}

/* Rows that are sent to the ranks that make their chunks: the row's number, and its bytes. */
struct fragments {
    unsigned char *record; /* owned, (rows) */
    int32_t *to;           /* owned, (rows) */
    size_t count;
};

static enum tac_err add_fragment(struct tac_ctx *ctx, struct making *m, tac_gid begin, tac_gid end, bool whole,
                                 const unsigned char *row, void *data)
{
    struct fragments *f = data;
    const size_t size = sizeof begin + m->row_bytes;
    for (tac_gid r = begin; r < end && !whole; r++, row += m->row_bytes) {
        memcpy(f->record + f->count * size, &r, sizeof r);
        memcpy(f->record + f->count * size + sizeof r, row, m->row_bytes);
        f->to[f->count++] = (int32_t)(r / m->chunk_rows % ctx->size);
    }
    return TAC_OK;
}

static int by_row(const void *a, const void *b)
{
    tac_gid x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Makes chunks of the rows that came, which are all of those chunks' rows. */
static enum tac_err make_of_rows(struct tac_ctx *ctx, struct making *m, unsigned char *came, size_t total)
{
    enum tac_err err = TAC_OK;
    const size_t size = sizeof(tac_gid) + m->row_bytes;
    unsigned char *whole = NULL;
    TAC_TRY(tac_alloc(ctx, total > 0 ? m->chunk_bytes : 0, 1, &whole));
    if (total > 0)
        qsort(came, total, size, by_row);
    for (size_t k = 0; k < total;) {
        tac_gid first;
        memcpy(&first, came + k * size, sizeof first);
        const tac_gid count = lesser_of(m->chunk_rows, m->d->rows - first);
        TAC_CHECK(first % m->chunk_rows == 0 && (size_t)count <= total - k);
        for (tac_gid i = 0; i < count; i++, k++) {
            TAC_CHECK(memcmp(came + k * size, &(tac_gid){first + i}, sizeof first) == 0);
            memcpy(whole + (size_t)i * m->row_bytes, came + k * size + sizeof first, m->row_bytes);
        }
        TAC_TRY(make_chunk(ctx, m, first, whole));
    }
done:
    free(whole);
    return err;
}

/* Collective. Sends fragments of chunks to the ranks that make those chunks. */
static enum tac_err join_fragments(struct tac_ctx *ctx, struct making *m, const struct tac_row_range part[2])
{
    enum tac_err err;
    const size_t size = sizeof(tac_gid) + m->row_bytes;
    struct fragments f = {.record = NULL};
    unsigned char *came = NULL;
    size_t total = 0;
    TAC_TRY(tac_alloc(ctx, m->rows, size, &f.record));
    TAC_TRY(tac_alloc(ctx, m->rows, sizeof *f.to, &f.to));
    TAC_TRY(each_piece(ctx, m, part, add_fragment, &f));
done:
    err = tac_distribute(ctx, err, f.count, f.to, f.record, size, &came, &total);
    if (!err)
        err = make_of_rows(ctx, m, came, total);
    free(f.record);
    free(f.to);
    free(came);
    return err;
}

/* Local. Makes the chunks that this rank has whole. */
static enum tac_err begin_making(struct tac_ctx *ctx, struct making *m, const struct tac_row_range part[2])
{
    enum tac_err err;
    TAC_TRY(tac_alloc(ctx, m->chunk_bytes, 1, &m->scratch));
    TAC_TRY(tac_alloc(ctx, m->chunk_bytes, 1, &m->raw));
    TAC_TRY(each_piece(ctx, m, part, make_or_count, NULL));
done:
    return err;
}

/* Rank 0: writes a finished chunk into the file. */
static bool write_chunk(hid_t id, const unsigned char *message, size_t size)
{
    tac_gid first;
    memcpy(&first, message, sizeof first);
    const hsize_t offset[2] = {(hsize_t)first, 0};
    return H5Dwrite_chunk(id, H5P_DEFAULT, 0, offset, size - sizeof first, message + sizeof first) >= 0;
}

/* Rank 0: writes its own chunks, and then those of the others, rank by rank. */
static bool write_chunks(struct tac_ctx *ctx, const struct making *m, hid_t id, const int *count, unsigned char *room)
{
    const int most = (int)(sizeof(tac_gid) + tac_chunk_bound(m->chunk_bytes));
    bool ok = true;
    size_t at = 0;
    for (size_t k = 0; k < m->count; at += m->size[k++])
        ok = ok && write_chunk(id, m->message + at, m->size[k]);
    for (int r = 1; r < ctx->size; r++)
        for (int k = 0; k < count[r]; k++) {
            MPI_Status status;
            int size;
            MPI_Recv(room, most, MPI_BYTE, r, TAG_CHUNK, ctx->comm, &status);
            MPI_Get_count(&status, MPI_BYTE, &size);
            ok = ok && write_chunk(id, room, (size_t)size);
        }
    return ok;
}

static void send_all(struct tac_ctx *ctx, const struct making *m)
{
    size_t at = 0;
    for (size_t k = 0; k < m->count; at += m->size[k++])
        MPI_Send(m->message + at, (int)m->size[k], MPI_BYTE, 0, TAG_CHUNK, ctx->comm);
}

/* Collective. Writes the finished chunks into the file. */
static enum tac_err hand_over(struct tac_ctx *ctx, struct tac_frames *w, const struct making *m, hid_t id)
{
    enum tac_err err = TAC_OK;
    const bool first = ctx->rank == 0;
    const int mine = (int)m->count;
    int *count = NULL;
    unsigned char *room = NULL;
    if (first)
        err = tac_alloc(ctx, (size_t)ctx->size, sizeof *count, &count);
    if (first && !err)
        err = tac_alloc(ctx, sizeof(tac_gid) + tac_chunk_bound(m->chunk_bytes), 1, &room);
    TAC_TRY(tac_agree(ctx, err));
    MPI_Gather(&mine, 1, MPI_INT, count, 1, MPI_INT, 0, ctx->comm);
    bool ok = true;
    if (first)
        ok = write_chunks(ctx, m, id, count, room);
    else
        send_all(ctx, m);
    TAC_TRY(tac_frames_step(ctx, w, m->d->name, ok));
done:
    free(count);
    free(room);
    return err;
}

enum tac_err tac_dataset_gather(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_dataset *d, hid_t id,
                                const struct tac_row_range part[2])
{
    enum tac_err err;
    const size_t value_bytes = H5Tget_size(d->type),
                 row_bytes = value_bytes * (size_t)(d->columns > 0 ? d->columns : 1);
    const tac_gid chunk_rows = (tac_gid)tac_dataset_chunk_rows(d);
    struct making m = {.d = d,
                       .row_bytes = row_bytes,
                       .value_bytes = value_bytes,
                       .chunk_rows = chunk_rows,
                       .chunk_bytes = (size_t)chunk_rows * row_bytes};
    TAC_TRY(tac_frames_agree(ctx, w, begin_making(ctx, &m, part)));
    int64_t rows = (int64_t)m.rows;
    MPI_Allreduce(MPI_IN_PLACE, &rows, 1, MPI_INT64_T, MPI_MAX, ctx->comm);
    if (rows > 0)
        TAC_TRY(tac_frames_agree(ctx, w, join_fragments(ctx, &m, part)));
    TAC_TRY(hand_over(ctx, w, &m, id));
done:
    free(m.scratch);
    free(m.raw);
    free(m.message);
    free(m.size);
    return err;
}
