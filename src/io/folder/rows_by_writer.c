/* rows_by_writer.c: sends the values of vertices from their owners to the ranks that write their rows. Files need the
 * scene's order, which is not that of the partition. Each rank writes a range of whole chunks, so every vertex is sent
 * once. */
#include <stdlib.h>
#include <string.h>

#include "io/folder/output.h"

struct tac_frame_row {
    tac_gid id;
    double position[3], velocity[3];
    float contact_force[3];
    int32_t unused; /* padding with a name, so that no uninitialised byte is sent */
};

void tac_rows_of_rank(tac_gid count, int rank, int size, tac_gid *begin, tac_gid *end)
{
    tac_gid chunks = (count + TAC_CHUNK_ROWS - 1) / TAC_CHUNK_ROWS;
    *begin = chunks * rank / size * TAC_CHUNK_ROWS;
    *end = chunks * (rank + 1) / size * TAC_CHUNK_ROWS;
    if (*begin > count)
        *begin = count;
    if (*end > count)
        *end = count;
}

int tac_rank_of_row(const struct tac_ctx *ctx, tac_gid count, tac_gid row)
{
    int lo = 0, hi = ctx->size;
    while (hi - lo > 1) {
        tac_gid begin, end;
        const int mid = lo + (hi - lo) / 2;
        tac_rows_of_rank(count, mid, ctx->size, &begin, &end);
        if (begin <= row)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

struct exchange {
    int *send_count, *send_at, *receive_count, *receive_at; /* views into one block */
    int *block;                                             /* owned */
    struct tac_frame_row *send, *receive;                   /* owned */
};

static void fill_row(struct tac_frame_row *row, const struct tac_frame *f, tac_lid i)
{
    memset(row, 0, sizeof *row);
    row->id = f->id != NULL ? f->id[i] : i;
    memcpy(row->position, f->position + 3 * (size_t)i, sizeof row->position);
    memcpy(row->velocity, f->velocity + 3 * (size_t)i, sizeof row->velocity);
    memcpy(row->contact_force, f->contact_force + 3 * (size_t)i, sizeof row->contact_force);
}

static enum tac_err exchange_alloc(struct tac_ctx *ctx, const struct tac_frames *w, const struct tac_frame *f,
                                   struct exchange *x)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 4 * (size_t)ctx->size, sizeof(int), &x->block));
    x->send_count = x->block;
    x->send_at = x->block + ctx->size;
    x->receive_count = x->block + 2 * (size_t)ctx->size;
    x->receive_at = x->block + 3 * (size_t)ctx->size;
    TAC_TRY(tac_alloc(ctx, (size_t)f->count, sizeof *x->send, &x->send));
    TAC_TRY(tac_alloc(ctx, (size_t)(w->row_end - w->row_begin), sizeof *x->receive, &x->receive));
done:
    return err;
}

/* Ids ascend, so the rows for one rank are consecutive. */
static void pack_rows(struct tac_ctx *ctx, const struct tac_frames *w, const struct tac_frame *f, struct exchange *x)
{
    int to = 0;
    tac_gid begin, end;
    tac_rows_of_rank(w->vertex_count, to, ctx->size, &begin, &end);
    for (tac_lid i = 0; i < f->count; i++) {
        fill_row(&x->send[i], f, i);
        TAC_CHECK(x->send[i].id >= 0 && x->send[i].id < w->vertex_count);
        TAC_CHECK(i == 0 || x->send[i].id > x->send[i - 1].id);
        while (x->send[i].id >= end)
            tac_rows_of_rank(w->vertex_count, ++to, ctx->size, &begin, &end);
        x->send_count[to]++;
    }
}

static void place_rows(struct tac_frames *w, const struct tac_frame_row *row, tac_gid count)
{
    /* As many rows as places and every place once: every vertex has exactly one owner. */
    TAC_CHECK(count == w->row_end - w->row_begin);
    for (tac_gid i = 0; i < count; i++)
        w->seen[i] = false;
    for (tac_gid i = 0; i < count; i++) {
        size_t at = (size_t)(row[i].id - w->row_begin);
        TAC_CHECK(!w->seen[at]);
        w->seen[at] = true;
        memcpy(w->position + 3 * at, row[i].position, sizeof row[i].position);
        memcpy(w->velocity + 3 * at, row[i].velocity, sizeof row[i].velocity);
        memcpy(w->contact_force + 3 * at, row[i].contact_force, sizeof row[i].contact_force);
    }
}

enum tac_err tac_rows_gather(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_frame *frame)
{
    enum tac_err err = TAC_OK;
    struct exchange x = {0};
    TAC_TRY(tac_agree(ctx, exchange_alloc(ctx, w, frame, &x)));
    pack_rows(ctx, w, frame, &x);
    MPI_Alltoall(x.send_count, 1, MPI_INT, x.receive_count, 1, MPI_INT, ctx->comm);
    int64_t total = 0;
    for (int r = 0, at = 0; r < ctx->size; r++) {
        x.send_at[r] = at;
        at += x.send_count[r];
        x.receive_at[r] = (int)total;
        total += x.receive_count[r];
    }
    TAC_CHECK(total == w->row_end - w->row_begin);
    MPI_Datatype type;
    MPI_Type_contiguous((int)sizeof(struct tac_frame_row), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Alltoallv(x.send, x.send_count, x.send_at, type, x.receive, x.receive_count, x.receive_at, type, ctx->comm);
    MPI_Type_free(&type);
    place_rows(w, x.receive, total);
done:
    free(x.block);
    free(x.send);
    free(x.receive);
    return err;
}
