/* record_log.c: keeps the log of breakpoints, writes its runs, and sends the points to the ranks of their vertices'
 * blocks. */
#include <stdlib.h>
#include <string.h>

#include "base/exchange.h"
#include "io/record/record.h"

enum { TAG_POINTS = 21, TAG_HEAD = 22 };

static enum tac_err keep_vertices(struct tac_recorder *log, tac_lid owned, const tac_gid *id)
{
    struct tac_record *r = (struct tac_record *)log; /* its first member */
    enum tac_err err = TAC_OK;
    TAC_CHECK(r->log.count == 0 && r->own.run_count == 0);
    r->owned = (size_t)owned;
    free(r->id);
    free(r->place);
    r->id = NULL;
    r->place = NULL;
    TAC_TRY(tac_alloc(r->ctx, r->owned + 1, sizeof *r->place, &r->place));
    if (id == NULL)
        return TAC_OK;
    TAC_TRY(tac_alloc(r->ctx, r->owned, sizeof *r->id, &r->id));
    memcpy(r->id, id, r->owned * sizeof *r->id);
done:
    return err;
}

static void mark_committed(struct tac_recorder *log)
{
    struct tac_record *r = (struct tac_record *)log;
    r->committed = r->log.count;
    r->kept_runs = r->own.run_count;
}

static void roll_back_log(struct tac_recorder *log)
{
    struct tac_record *r = (struct tac_record *)log;
    r->log.count = r->committed;
    tac_spill_cut(&r->own, r->kept_runs);
}

/* Finds the place of each point when the log is sorted by vertex; points of one vertex keep their order. */
static void order_points(struct tac_record *r, size_t count)
{
    size_t *const place = r->place;
    memset(place, 0, (r->owned + 1) * sizeof *place);
    for (size_t k = 0; k < count; k++)
        place[r->log.point[k].vertex + 1]++;
    for (size_t i = 0; i < r->owned; i++)
        place[i + 1] += place[i];
    for (size_t k = 0; k < count; k++)
        r->spill.order[place[r->log.point[k].vertex]++] = (uint32_t)k;
}

/* The first `count` points of the log become a run. */
static enum tac_err write_run(struct tac_record *r, size_t count)
{
    enum tac_err err;
    const int size = r->ctx->size;
    struct tac_point *const buffer = r->spill.buffer;
    int block = 0;
    order_points(r, count);
    TAC_TRY(tac_spill_begin(&r->own, size));
    struct tac_run_of_points *run = &r->own.run[r->own.run_count - 1];
    run->cut[0] = run->begin;
    for (size_t k = 0; k < count;) {
        size_t n = 0;
        for (; n < TAC_RECORD_BUFFER && k < count; n++, k++) {
            buffer[n] = r->log.point[r->spill.order[k]];
            buffer[n].vertex = r->id != NULL ? r->id[buffer[n].vertex] : buffer[n].vertex;
            while (buffer[n].vertex >= tac_block_begin(r->vertex_total, size, block + 1))
                run->cut[++block] = run->begin + (int64_t)k;
        }
        TAC_TRY(tac_spill_append(&r->own, buffer, n));
    }
    while (block < size)
        run->cut[++block] = run->end;
done:
    return err;
}

/* Writes the committed points and moves the points of the present pass to the front. A pass that is longer than the log
 * is written in runs of its own, so that it can be rolled back. */
static void make_room_in_log(struct tac_recorder *log)
{
    struct tac_record *r = (struct tac_record *)log;
    const size_t first = r->committed > 0 ? r->committed : r->log.count;
    if (!r->log.err)
        r->log.err = write_run(r, first);
    if (r->log.err) { /* reported after the pass; until then no more points are kept */
        r->log.count = r->committed = 0;
        return;
    }
    memmove(r->log.point, r->log.point + first, (r->log.count - first) * sizeof *r->log.point);
    r->log.count -= first;
    if (r->committed > 0)
        r->kept_runs = r->own.run_count;
    r->committed = 0;
}

const struct tac_recorder_calls tac_record_calls = {keep_vertices, mark_committed, roll_back_log, make_room_in_log};

/* ---- to the blocks ---- */

enum tac_err tac_record_take(struct tac_record *r, const struct tac_point *point, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        TAC_CHECK(point[k].vertex >= r->begin && point[k].vertex < r->end);
        r->rows[point[k].vertex - r->begin]++;
    }
    return tac_spill_append(&r->block, point, count);
}

/* Sends this rank's points in the block of rank `to`, and receives the points that rank `from` has in this rank's
 * block. A rank that has failed sends nothing more and drops what it receives. */
static enum tac_err pass_on(struct tac_record *r, enum tac_err err, int to, int from)
{
    struct tac_point *const out = r->distribute.out, *const in = r->distribute.in;
    size_t count = 0;
    int64_t head[2] = {0, 1}, reported[2] = {0, 1}; /* points in the next message; whether more messages follow */
    if (!err)
        err = tac_spill_begin(&r->block, 0);
    if (!err)
        err = tac_merge_open(&r->own, to, r->merge_points, &r->merge);
    while (head[1] || reported[1]) {
        const int partner = reported[1] ? from : MPI_PROC_NULL;
        const int target = head[1] ? to : MPI_PROC_NULL;
        count = 0;
        if (!err && head[1])
            err = tac_merge_next(&r->merge, out, r->portion, &count);
        head[0] = err ? 0 : (int64_t)count;
        head[1] = head[1] && !err && count == r->portion;
        if (to == r->ctx->rank) {
            reported[1] = head[1];
            if (!err)
                err = tac_record_take(r, out, count);
            continue;
        }
        MPI_Sendrecv(head, 2, MPI_INT64_T, target, TAG_HEAD, reported, 2, MPI_INT64_T, partner, TAG_HEAD, r->ctx->comm,
                     MPI_STATUS_IGNORE);
        if (partner == MPI_PROC_NULL)
            reported[0] = 0;
        MPI_Sendrecv(out, (int)(head[0] * (int64_t)sizeof *out), MPI_BYTE, target, TAG_POINTS, in,
                     (int)(reported[0] * (int64_t)sizeof *in), MPI_BYTE, partner, TAG_POINTS, r->ctx->comm,
                     MPI_STATUS_IGNORE);
        if (!err)
            err = tac_record_take(r, in, (size_t)reported[0]);
    }
    return err;
}

enum tac_err tac_record_distribute(struct tac_record *r)
{
    enum tac_err err = TAC_OK, failed = TAC_OK;
    const int size = r->ctx->size, rank = r->ctx->rank;
    if (r->log.count > 0 && !r->log.err)
        r->log.err = write_run(r, r->log.count);
    r->log.count = r->committed = r->kept_runs = 0;
    err = tac_agree(r->ctx, r->log.err);
    /* In every step each rank sends to one rank and receives from one. */
    for (int step = 0; step < size && !err; step++)
        failed = pass_on(r, failed, (rank + step) % size, (rank - step + size) % size);
    err = err ? err : tac_agree(r->ctx, failed);
    tac_spill_cut(&r->own, 0);
    r->log.err = err;
    return err;
}
