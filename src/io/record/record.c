/* record.c: writes record.h5: makes the file, and writes its groups (docs/reference/file-formats.md, record.h5). */
#include <stdlib.h>
#include <string.h>

#include "base/exchange.h"
#include "io/frames/frames.h"
#include "io/record/record.h"

/* ---- making one ---- */

/* How many bytes of points may be in memory; the same on all ranks. */
static int64_t budget(struct tac_ctx *ctx)
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

/* The memory that is used in turns: for a run that is written, a deal, a group. */
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

/* Half of it is the log; the rest is used in turns with it: runs that are read, points on their way, rows. */
static enum tac_err make_room(struct tac_record *r, int64_t bytes)
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
    r->vertex_total = scene->mesh->vertex_count;
    r->quantum_s = scene->settings->quantum_s;
    r->begin = tac_block_begin(r->vertex_total, ctx->size, ctx->rank);
    r->end = tac_block_begin(r->vertex_total, ctx->size, ctx->rank + 1);
    const int64_t bytes = budget(ctx);
    err = tac_alloc(ctx, strlen(dir) + 1, 1, &r->dir);
    if (!err) {
        strcpy(r->dir, dir);
        err = make_room(r, bytes);
    }
    TAC_TRY(tac_agree(ctx, err));
    *out = r;
    r = NULL;
done:
    tac_record_destroy(&r);
    return err;
}

static bool put_number(hid_t object, const char *name, hid_t type, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR), id = -1;
    if (space >= 0)
        id = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = id >= 0 && H5Awrite(id, type, value) >= 0;
    if (id >= 0)
        ok = H5Aclose(id) >= 0 && ok;
    if (space >= 0)
        H5Sclose(space);
    return ok;
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
    bool ok = partial < 0 || put_number(r->file->frames, "quantum_s", H5T_NATIVE_DOUBLE, &r->quantum_s);
    if (partial >= 0)
        ok = H5Gclose(partial) >= 0 && ok;
    TAC_TRY(tac_frames_change(ctx, r->file, "a new file", ok));
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

/* Rows on their way to the file: of this rank, from the merged runs of its block. */
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
static enum tac_err fill(struct stage *s, size_t to, size_t count)
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
static enum tac_err put(struct stage *s, const struct tac_row_range part[2])
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
    err = fill(s, 0, head);
    TAC_TRY(tac_agree(ctx, err));
    MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_INT64_T, MPI_MAX, ctx->comm);
    const void *const time = s->time, *const position = s->position;
    s->times.data = s->time + room;
    s->positions.data = s->position + 3 * room;
    for (tac_gid k = 0, at = first; k < rounds; k++) {
        const tac_gid n = last - at < stage ? last - at : stage;
        const struct tac_row_range part[2] = {{at, at + n}, {0, 0}};
        TAC_TRY(tac_agree(ctx, fill(s, room, (size_t)n)));
        TAC_TRY(reserve_rows(s->r, n));
        TAC_TRY(put(s, part));
        at += n;
    }
    s->times.data = time;
    s->positions.data = position;
    const struct tac_row_range part[2] = {{begin, first}, {last, end}};
    TAC_TRY(tac_agree(ctx, fill(s, head, (size_t)(end - last))));
    TAC_TRY(reserve_rows(s->r, first - begin + end - last));
    TAC_TRY(put(s, part));
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
done:;
    bool closed = s.time_id < 0 || H5Dclose(s.time_id) >= 0;
    closed = (s.position_id < 0 || H5Dclose(s.position_id) >= 0) && closed;
    closed = (group < 0 || H5Gclose(group) >= 0) && closed;
    /* There is no room for the rest of the group: nothing half-written stays. */
    if (err && group >= 0 && !r->file->broken && (!closed || H5Ldelete(parent, name, H5P_DEFAULT) < 0))
        r->file->broken = true;
    if (!err)
        return tac_frames_change(ctx, r->file, what, closed);
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
    const bool writes = tac_frames_writes(r->ctx, r->file);
    bool ok = true;
    if (writes && r->partial >= 0) {
        snprintf(name, sizeof name, "%06" PRId64, r->partial);
        ok = H5Ldelete(partial, name, H5P_DEFAULT) >= 0;
    }
    if (writes && next >= 0) {
        snprintf(name, sizeof name, "%06" PRId64, next);
        ok = ok && H5Lmove(partial, TAC_RECORD_NEXT, partial, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    }
    TAC_TRY(tac_frames_change(r->ctx, r->file, "/partial", ok));
    TAC_TRY(tac_frames_flush(r->ctx, r->file, "/partial"));
    r->partial = next;
done:
    return err;
}

/* Collective. *partial: -1 on ranks that do not write the file. */
static enum tac_err open_partial(struct tac_record *r, hid_t *partial)
{
    const bool writes = tac_frames_writes(r->ctx, r->file);
    *partial = writes ? H5Gopen2(r->file->file, "partial", H5P_DEFAULT) : -1;
    return tac_frames_change(r->ctx, r->file, "/partial", !writes || *partial >= 0);
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

/* The new one is whole on the disk before the old one goes. */
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
