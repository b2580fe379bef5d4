/* record.c: writes record.h5: makes the file, and writes its groups (docs/reference/file-formats.md, record.h5). */
#include "io/record/record.h"
#include "base/exchange.h"
#include "io/frames/frames.h"
#include "io/h5/h5.h"

#include <stdlib.h>
#include <string.h>

/* ---- the log of breakpoints: its runs, and its points, which go to the ranks of their vertices' blocks ---- */

enum { TAG_POINTS = 21, TAG_HEAD = 22 };

/* What a point takes until it has been measured, s: of 5e7 and 1.5e8 points of 16,000 vertices each took .75e-7 and
 * 1.3e-7 s to be sent, and 1.2e-7 and 1.5e-7 s to be written. */
static const double SEND_S = 1e-7, WRITE_S = 2e-7;
enum { ENOUGH = 100000 }; /* points, to be measured */

/* Seconds for each of `points`, since begin_s; `known` if these are too few. */
static double seconds_each(double begin_s, int64_t points, double known)
{
    return points < ENOUGH ? known : (tac_wall_s() - begin_s) / (double)points;
}

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

/* ---- sending the points to the ranks of their blocks ---- */

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
    const double begin_s = tac_wall_s();
    if (r->log.count > 0 && !r->log.err)
        r->log.err = write_run(r, r->log.count);
    r->log.count = r->committed = r->kept_runs = 0;
    const int64_t points = r->own.end;
    err = tac_agree(r->ctx, r->log.err);
    /* In every step each rank sends to one rank and receives from one. */
    for (int step = 0; step < size && !err; step++)
        failed = pass_on(r, failed, (rank + step) % size, (rank - step + size) % size);
    err = err ? err : tac_agree(r->ctx, failed);
    tac_spill_cut(&r->own, 0);
    r->send_s = seconds_each(begin_s, points, r->send_s);
    r->log.err = err;
    return err;
}

double tac_record_backlog_s(const struct tac_record *r)
{
    const double own = (double)r->own.end + (double)r->log.count, block = (double)r->block.end;
    return own * r->send_s + (own + block) * r->write_s;
}

/* ---- making a record ---- */

/* How many bytes of points may be in memory; the same on all ranks. */
static int64_t memory_budget(struct tac_ctx *ctx)
{
    enum { USUAL = 64 << 20, LEAST = 16 * sizeof(struct tac_point) };
    int64_t bytes = ctx->hooks.spill_bytes > 0 ? ctx->hooks.spill_bytes : USUAL;
    bytes = bytes < LEAST ? LEAST : bytes < USUAL ? bytes : USUAL;
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MIN, ctx->comm);
    return bytes;
}

static size_t most_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Divides the shared memory: it is used in turn for a run, a distribution, and a group. */
static enum tac_err share_room(struct tac_record *r)
{
    enum tac_err err;
    const size_t point = sizeof *r->log.point, rows = 2 * TAC_CHUNK_ROWS + r->stage_rows;
    const size_t spill = TAC_RECORD_BUFFER * point + r->log.capacity * sizeof *r->spill.order,
                 distribute = 2 * r->portion * point, group = r->portion * point + rows * 4 * sizeof(double);
    TAC_TRY(tac_alloc(r->ctx, most_of(spill, most_of(distribute, group)), 1, &r->room));
    struct tac_point *const first = r->room;
    r->spill.buffer = r->distribute.out = r->group.point = first;
    r->spill.order = (uint32_t *)(first + TAC_RECORD_BUFFER);
    r->distribute.in = first + r->portion;
    r->group.position = (double *)(first + r->portion);
    r->group.time = (int64_t *)(r->group.position + 3 * rows);
done:
    return err;
}

/* Allocates the memory. Half of it is the log; the rest is used in turn for runs that are read, points that are sent,
 * and rows. */
static enum tac_err alloc_memory(struct tac_record *r, int64_t bytes)
{
    enum tac_err err;
    const size_t points = (size_t)bytes / sizeof *r->log.point, n = (size_t)(r->end - r->begin);
    r->log.capacity = points / 2;
    r->merge_points = points / 4;
    r->portion = points / 16;
    r->stage_rows = (size_t)bytes / 8 / 32 / TAC_CHUNK_ROWS * TAC_CHUNK_ROWS;
    if (r->stage_rows == 0)
        r->stage_rows = TAC_CHUNK_ROWS;
    TAC_TRY(tac_alloc(r->ctx, r->log.capacity, sizeof *r->log.point, &r->log.point));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *r->rows, &r->rows));
    TAC_TRY(tac_alloc(r->ctx, n + 1, sizeof *r->start, &r->start));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *r->before, &r->before));
    TAC_TRY(share_room(r));
    TAC_TRY(tac_spill_create(r->ctx, r->dir, &r->own));
    TAC_TRY(tac_spill_create(r->ctx, r->dir, &r->block));
done:
    return err;
}

enum tac_err tac_record_blank(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                              struct tac_record **out)
{
    enum tac_err err;
    struct tac_record *r = NULL;
    *out = NULL;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 1, sizeof *r, &r)));
    r->log.call = &tac_record_calls;
    r->ctx = ctx;
    r->partial = -1;
    r->send_s = SEND_S;
    r->write_s = WRITE_S;
    r->vertex_total = scene->mesh->vertex_count;
    r->quantum_s = scene->settings->quantum_s;
    r->begin = tac_block_begin(r->vertex_total, ctx->size, ctx->rank);
    r->end = tac_block_begin(r->vertex_total, ctx->size, ctx->rank + 1);
    const int64_t bytes = memory_budget(ctx);
    err = tac_alloc(ctx, strlen(dir) + 1, 1, &r->dir);
    if (!err) {
        strcpy(r->dir, dir);
        err = alloc_memory(r, bytes);
    }
    TAC_TRY(tac_agree(ctx, err));
    *out = r;
    r = NULL;
done:
    tac_record_destroy(&r);
    return err;
}

enum tac_err tac_record_create(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                               struct tac_record **out)
{
    enum tac_err err = TAC_OK;
    struct tac_record *r = NULL;
    hid_t partial;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    *out = NULL;
    TAC_TRY(tac_record_blank(ctx, scene, dir, &r));
    TAC_TRY(tac_frames_handle(ctx, dir, "record.h5", true, &r->file));
    TAC_TRY(tac_frames_new_file(ctx, r->file, scene, TAC_RECORD_FORMAT, "record"));
    TAC_TRY(tac_frames_group(ctx, r->file, r->file->file, "partial", "a new file", &partial));
    bool ok = partial < 0 || tac_h5_put_attribute(r->file->frames, "quantum_s", H5T_NATIVE_DOUBLE,
                                                  H5Screate(H5S_SCALAR), &r->quantum_s);
    if (partial >= 0)
        ok = H5Gclose(partial) >= 0 && ok;
    TAC_TRY(tac_frames_step(ctx, r->file, "a new file", ok));
    TAC_TRY(tac_frames_flush(ctx, r->file, "a new file"));
    *out = r;
    r = NULL;
done:
    if (r != NULL && r->file != NULL)
        r->file->broken = true; /* the file is not whole, so no rank needs to wait for it */
    tac_record_destroy(&r);
    tac_h5_restore(&quiet);
    return err;
}

/* ---- groups ---- */

/* A buffer of rows before they are written: those of this rank, from the merged runs of its block. */
struct stage {
    struct tac_record *r;
    struct tac_point *point; /* view, (portion) */
    size_t at, have;         /* in point */
    int64_t *time;           /* view, (rows) */
    double *position;        /* view, (rows, 3) */
    hid_t time_id, position_id;
    struct tac_dataset times, positions;
};

/* Puts the next `count` rows into the stage, from row `to` on. */
static enum tac_err fill_stage(struct stage *s, size_t to, size_t count)
{
    enum tac_err err = TAC_OK;
    for (size_t k = to; k < to + count; k++) {
        if (s->at == s->have) {
            s->at = 0;
            TAC_TRY(tac_merge_next(&s->r->merge, s->point, s->r->portion, &s->have));
            TAC_CHECK(s->have > 0);
        }
        const struct tac_point *p = &s->point[s->at++];
        s->time[k] = p->t;
        memcpy(&s->position[3 * k], p->x, sizeof p->x);
    }
done:
    return err;
}

/* Collective. Writes both datasets' rows of two runs, from the stage. */
static enum tac_err write_stage(struct stage *s, const struct tac_row_range part[2])
{
    enum tac_err err;
    struct tac_frames *w = s->r->file;
    TAC_TRY(tac_dataset_put(s->r->ctx, w, &s->times, s->time_id, part));
    TAC_TRY(tac_dataset_put(s->r->ctx, w, &s->positions, s->position_id, part));
done:
    return err;
}

/* Collective. Reserves disk space for that many rows of this rank, and for those of the others. */
static enum tac_err reserve_rows(struct tac_record *r, tac_gid rows)
{
    int64_t all = rows;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, r->ctx->comm);
    return tac_frames_reserve(r->ctx, r->file, tac_dataset_space(all, 32));
}

/* Collective. Rows begin .. end - 1 are this rank's. Chunks of this rank alone are written round by round; chunks that
 * it shares with other ranks are all written in one last round, because a chunk that is written twice is compressed
 * twice, and leaves a hole (on several ranks it cannot even be made of a part of its rows). */
static enum tac_err put_rows(struct stage *s, tac_gid begin, tac_gid end)
{
    enum tac_err err = TAC_OK;
    struct tac_ctx *ctx = s->r->ctx;
    const tac_gid chunk = TAC_CHUNK_ROWS, up = (begin + chunk - 1) / chunk * chunk, stage = (tac_gid)s->r->stage_rows;
    const tac_gid first = up < end ? up : end, last = end / chunk * chunk > first ? end / chunk * chunk : first;
    /* The first rows of this rank, if they are in a chunk that began with another rank. They are kept beside the stage,
     * whose rows 2 chunk .. are for the rounds. */
    const size_t head = (size_t)(first - begin), room = 2 * (size_t)chunk;
    int64_t rounds = (last - first + stage - 1) / stage;
    err = fill_stage(s, 0, head);
    TAC_TRY(tac_agree(ctx, err));
    MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_INT64_T, MPI_MAX, ctx->comm);
    const void *const time = s->time, *const position = s->position;
    s->times.data = s->time + room;
    s->positions.data = s->position + 3 * room;
    for (tac_gid k = 0, at = first; k < rounds; k++) {
        const tac_gid n = last - at < stage ? last - at : stage;
        const struct tac_row_range part[2] = {{at, at + n}, {0, 0}};
        TAC_TRY(tac_agree(ctx, fill_stage(s, room, (size_t)n)));
        TAC_TRY(reserve_rows(s->r, n));
        TAC_TRY(write_stage(s, part));
        at += n;
    }
    s->times.data = time;
    s->positions.data = position;
    const struct tac_row_range part[2] = {{begin, first}, {last, end}};
    TAC_TRY(tac_agree(ctx, fill_stage(s, head, (size_t)(end - last))));
    TAC_TRY(reserve_rows(s->r, first - begin + end - last));
    TAC_TRY(write_stage(s, part));
done:
    return err;
}

/* Collective. Writes where each vertex' rows begin. This dataset marks the group as whole, so it is written last. */
static enum tac_err put_start(struct tac_record *r, hid_t group, tac_gid begin, tac_gid end)
{
    enum tac_err err = TAC_OK;
    const bool closes = r->ctx->rank == r->ctx->size - 1;
    const size_t n = (size_t)(r->end - r->begin);
    int64_t *const start = r->start;
    struct tac_dataset d = {group,    "start",           NULL, TAC_GID_HDF5, 0, r->vertex_total + 1,
                            r->begin, r->end + (closes), NULL};
    start[0] = begin;
    for (size_t i = 0; i < n; i++)
        start[i + 1] = start[i] + r->rows[i];
    TAC_CHECK(start[n] == end);
    d.data = start;
    TAC_TRY(tac_frames_reserve(r->ctx, r->file, tac_dataset_space(d.rows, 8)));
    TAC_TRY(tac_dataset_write(r->ctx, r->file, &d));
done:
    return err;
}

/* Local. Opens the runs of the block, and the stage. */
static enum tac_err open_stage(struct tac_record *r, struct stage *s)
{
    *s = (struct stage){.r = r,
                        .point = r->group.point,
                        .time = r->group.time,
                        .position = r->group.position,
                        .time_id = -1,
                        .position_id = -1};
    return tac_merge_open(&r->block, -1, r->merge_points, &r->merge);
}

/* Collective. Writes the rows of all blocks as one group. */
static enum tac_err write_group(struct tac_record *r, hid_t parent, const char *name, const char *what)
{
    enum tac_err err = TAC_OK;
    struct tac_ctx *ctx = r->ctx;
    struct stage s = {.time_id = -1, .position_id = -1};
    hid_t group = -1;
    int64_t mine = 0, begin = 0, all;
    const double begin_s = tac_wall_s();
    for (tac_gid i = 0; i < r->end - r->begin; i++)
        mine += r->rows[i];
    MPI_Exscan(&mine, &begin, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    begin = ctx->rank > 0 ? begin : 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    TAC_TRY(tac_agree(ctx, open_stage(r, &s)));
    TAC_TRY(tac_frames_reserve(ctx, r->file, all / TAC_CHUNK_ROWS * 4096));
    TAC_TRY(tac_frames_group(ctx, r->file, parent, name, what, &group));
    s.times = (struct tac_dataset){group, "time", NULL, TAC_TIME_HDF5, 0, all, 0, 0, NULL};
    s.positions = (struct tac_dataset){group, "position", "m", H5T_NATIVE_DOUBLE, 3, all, 0, 0, NULL};
    TAC_TRY(tac_dataset_create(ctx, r->file, &s.times, &s.time_id));
    TAC_TRY(tac_dataset_create(ctx, r->file, &s.positions, &s.position_id));
    s.times.data = s.time;
    s.positions.data = s.position;
    TAC_TRY(put_rows(&s, begin, begin + mine));
    TAC_TRY(put_start(r, group, begin, begin + mine));
    r->write_s = seconds_each(begin_s, mine, r->write_s);
done:;
    bool closed = s.time_id < 0 || H5Dclose(s.time_id) >= 0;
    closed = (s.position_id < 0 || H5Dclose(s.position_id) >= 0) && closed;
    closed = (group < 0 || H5Gclose(group) >= 0) && closed;
    /* If there is no room for the rest of the group, what was written of it is removed. */
    if (err && group >= 0 && !r->file->broken && (!closed || H5Ldelete(parent, name, H5P_DEFAULT) < 0))
        r->file->broken = true;
    if (!err)
        return tac_frames_step(ctx, r->file, what, closed);
    MPI_Bcast(&r->file->broken, 1, MPI_C_BOOL, 0, ctx->comm);
    return err;
}

static enum tac_err refuse_broken(const struct tac_record *r)
{
    if (!r->file->broken)
        return TAC_OK;
    return tac_fail(r->ctx, TAC_ERR_RUN, "%s could not be written before; nothing is added", r->file->path);
}

/* Collective. Removes the group from /partial, and flushes at once, because its room may be used again. next: another
 * group takes its name. */
static enum tac_err drop_partial(struct tac_record *r, hid_t partial, int64_t next)
{
    enum tac_err err = TAC_OK;
    char name[32];
    const bool writes = tac_frames_writes(r->ctx);
    bool ok = true;
    if (writes && r->partial >= 0) {
        snprintf(name, sizeof name, "%06" PRId64, r->partial);
        ok = H5Ldelete(partial, name, H5P_DEFAULT) >= 0;
    }
    if (writes && next >= 0) {
        snprintf(name, sizeof name, "%06" PRId64, next);
        ok = ok && H5Lmove(partial, TAC_RECORD_NEXT, partial, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    }
    TAC_TRY(tac_frames_step(r->ctx, r->file, "/partial", ok));
    TAC_TRY(tac_frames_flush(r->ctx, r->file, "/partial"));
    r->partial = next;
done:
    return err;
}

/* Collective. *partial: -1 on ranks that do not write the file. */
static enum tac_err open_partial(struct tac_record *r, hid_t *partial)
{
    const bool writes = tac_frames_writes(r->ctx);
    *partial = writes ? H5Gopen2(r->file->file, "partial", H5P_DEFAULT) : -1;
    return tac_frames_step(r->ctx, r->file, "/partial", !writes || *partial >= 0);
}

enum tac_err tac_record_group(struct tac_record *r, int64_t index)
{
    enum tac_err err;
    char name[32], what[64];
    hid_t partial = -1;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    snprintf(name, sizeof name, "%06" PRId64, index);
    snprintf(what, sizeof what, "interval %" PRId64, index);
    TAC_TRY(tac_agree(r->ctx, refuse_broken(r)));
    TAC_TRY(tac_record_distribute(r));
    TAC_TRY(write_group(r, r->file->frames, name, what));
    TAC_TRY(tac_frames_flush(r->ctx, r->file, what));
    tac_spill_cut(&r->block, 0);
    memset(r->rows, 0, (size_t)(r->end - r->begin) * sizeof *r->rows);
    if (r->partial < 0)
        goto done;
    TAC_TRY(open_partial(r, &partial));
    TAC_TRY(drop_partial(r, partial, -1));
done:
    if (partial >= 0)
        H5Gclose(partial);
    tac_h5_restore(&quiet);
    return err;
}

/* The new group is whole on the disk before the old one is removed. */
enum tac_err tac_record_partial(struct tac_record *r, int64_t index)
{
    enum tac_err err;
    const size_t rows_bytes = (size_t)(r->end - r->begin) * sizeof *r->rows, runs = r->block.run_count;
    char what[64];
    hid_t partial = -1;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    snprintf(what, sizeof what, "interval %" PRId64 " so far", index);
    TAC_TRY(tac_agree(r->ctx, refuse_broken(r)));
    memcpy(r->before, r->rows, rows_bytes);
    TAC_TRY(tac_record_distribute(r));
    TAC_TRY(open_partial(r, &partial));
    TAC_TRY(write_group(r, partial, TAC_RECORD_NEXT, what));
    TAC_TRY(tac_frames_flush(r->ctx, r->file, what));
    TAC_TRY(drop_partial(r, partial, index));
    TAC_TRY(tac_frames_sync(r->ctx, r->file));
    tac_spill_cut(&r->block, runs);
    memcpy(r->rows, r->before, rows_bytes);
done:
    if (partial >= 0)
        H5Gclose(partial);
    tac_h5_restore(&quiet);
    return err;
}

enum tac_err tac_record_sync(struct tac_record *r)
{
    return tac_frames_sync(r->ctx, r->file);
}

enum tac_err tac_record_close(struct tac_record *r)
{
    return r != NULL ? tac_frames_close(r->ctx, r->file) : TAC_OK;
}

void tac_record_destroy(struct tac_record **p)
{
    struct tac_record *r = *p;
    if (r == NULL)
        return;
    if (r->file != NULL)
        tac_frames_destroy(r->ctx, &r->file);
    tac_spill_destroy(&r->own);
    tac_spill_destroy(&r->block);
    free(r->dir);
    free(r->id);
    tac_merge_destroy(&r->merge);
    free(r->log.point);
    free(r->place);
    free(r->rows);
    free(r->start);
    free(r->before);
    free(r->room);
    free(r);
    *p = NULL;
}
