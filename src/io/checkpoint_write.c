/* Writing a checkpoint: rows to the ranks that write them, one collective HDF5 file, its CRC, and its name. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/checkpoint_table.h"
#include "partition/exchange.h"

#define TEMPORARY "checkpoint.writing"

struct writer {
    struct tac_frames file; /* the machinery of frames.h5 */
    char *dir_path;         /* owned: DIR/checkpoint.writing */
};

static int rank_of_row(struct tac_ctx *ctx, tac_gid total, tac_gid row)
{
    int lo = 0, hi = ctx->size;
    while (hi - lo > 1) {
        tac_gid begin, end;
        const int mid = lo + (hi - lo) / 2;
        tac_rows_of_rank(total, mid, ctx->size, &begin, &end);
        if (begin <= row)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

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

/* Writes some columns of `count` records; this rank's rows come after those of the ranks before it. */
static enum tac_err write_columns(struct tac_ctx *ctx, struct writer *w, const struct tac_checkpoint_column *column,
                                  size_t columns, const char *record, size_t size, size_t count)
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

static enum tac_err write_vertices(struct tac_ctx *ctx, struct writer *w, const struct tac_checkpoint *c)
{
    enum tac_err err;
    const size_t n = (size_t)c->vertex_count;
    struct tac_vertex_record *row = NULL, *rows = NULL;
    int32_t *to = NULL;
    size_t total = 0;
    TAC_TRY(tac_alloc(ctx, n, sizeof *row, &row));
    TAC_TRY(tac_alloc(ctx, n, sizeof *to, &to));
    for (size_t k = 0; k < n; k++) {
        row[k].id = c->vertex_id[k];
        row[k].mass = c->mass[k];
        row[k].t = c->t[k];
        memcpy(row[k].start, &c->start[3 * k], sizeof row[k].start);
        memcpy(row[k].x, &c->x[3 * k], sizeof row[k].x);
        memcpy(row[k].v, &c->v[3 * k], sizeof row[k].v);
        memcpy(row[k].impulse, &c->impulse[3 * k], sizeof row[k].impulse);
        to[k] = rank_of_row(ctx, c->vertex_total, row[k].id);
    }
done:
    err = tac_deal(ctx, err, n, to, row, sizeof *row, &rows, &total);
    if (!err && total)
        qsort(rows, total, sizeof *rows, compare_first);
    if (!err)
        err = write_columns(ctx, w, TAC_VERTEX_COLUMNS, 6, (const char *)rows, sizeof *rows, total);
    free(row);
    free(rows);
    free(to);
    return err;
}

static enum tac_err write_elements(struct tac_ctx *ctx, struct writer *w, const struct tac_checkpoint_column *column,
                                   tac_gid all, tac_lid count, const tac_gid *id, const tac_gid *v, int corners)
{
    enum tac_err err;
    const size_t n = (size_t)count;
    struct tac_element_record *row = NULL, *rows = NULL;
    int32_t *to = NULL;
    size_t total = 0;
    TAC_TRY(tac_alloc(ctx, n, sizeof *row, &row));
    TAC_TRY(tac_alloc(ctx, n, sizeof *to, &to));
    for (size_t k = 0; k < n; k++) {
        row[k].id = id[k];
        memcpy(row[k].v, &v[(size_t)corners * k], (size_t)corners * sizeof *v);
        to[k] = rank_of_row(ctx, all, row[k].id);
    }
done:
    err = tac_deal(ctx, err, n, to, row, sizeof *row, &rows, &total);
    if (!err && total)
        qsort(rows, total, sizeof *rows, compare_first);
    if (!err)
        err = write_columns(ctx, w, column, 1, (const char *)rows, sizeof *rows, total);
    free(row);
    free(rows);
    free(to);
    return err;
}

static enum tac_err write_scripts(struct tac_ctx *ctx, struct writer *w, const struct tac_checkpoint *c)
{
    enum tac_err err;
    const size_t n = (size_t)c->script_count;
    struct tac_script_record *row = NULL, *rows = NULL;
    int32_t *to = NULL;
    size_t total = 0;
    TAC_TRY(tac_alloc(ctx, n, sizeof *row, &row));
    TAC_TRY(tac_alloc(ctx, n, sizeof *to, &to));
    for (size_t k = 0; k < n; k++) {
        const struct tac_script_state *s = &c->script[k];
        row[k] =
            (struct tac_script_record){.vertex = s->vertex, .next = s->next, .t = s->t, .flags = {s->on, s->caught}};
        memcpy(row[k].origin, s->origin, sizeof s->origin);
        memcpy(row[k].x, s->x, sizeof s->x);
        memcpy(row[k].v, s->v, sizeof s->v);
        memcpy(row[k].v_free, s->v_free, sizeof s->v_free);
        to[k] = rank_of_row(ctx, c->vertex_total, s->vertex);
    }
done:
    err = tac_deal(ctx, err, n, to, row, sizeof *row, &rows, &total);
    if (!err && total)
        qsort(rows, total, sizeof *rows, compare_first);
    if (!err)
        err = write_columns(ctx, w, TAC_SCRIPT_COLUMNS, 8, (const char *)rows, sizeof *rows, total);
    free(row);
    free(rows);
    free(to);
    return err;
}

/* A last distance on its way: sorted like its pair. */
struct last_record {
    struct tac_pair_record pair;
    int64_t rung;
    double last;
};

static int compare_lasts(const void *a, const void *b)
{
    const struct last_record *x = a, *y = b;
    const int order = compare_pairs(&x->pair, &y->pair);
    return order ? order : (x->rung > y->rung) - (x->rung < y->rung);
}

static enum tac_err write_pairs(struct tac_ctx *ctx, struct writer *w, const struct tac_checkpoint *c)
{
    static const struct tac_checkpoint_column LAST = {"last", "m", true, 0, offsetof(struct last_record, last)};
    enum tac_err err;
    const size_t n = (size_t)c->pair_count, m = (size_t)c->last_count;
    struct tac_pair_record *row = NULL, *rows = NULL;
    struct last_record *last = NULL, *lasts = NULL;
    int32_t *to = NULL, *last_to = NULL;
    size_t total = 0, last_total = 0, k = 0;
    TAC_TRY(tac_alloc(ctx, n, sizeof *row, &row));
    TAC_TRY(tac_alloc(ctx, n, sizeof *to, &to));
    TAC_TRY(tac_alloc(ctx, m, sizeof *last, &last));
    TAC_TRY(tac_alloc(ctx, m, sizeof *last_to, &last_to));
    for (size_t i = 0; i < n; i++) {
        const struct tac_pair_state *p = &c->pair[i];
        row[i] = (struct tac_pair_record){(tac_gid)p->key, {0}, p->depth, p->rungs};
        memcpy(row[i].vertex, p->vertex, sizeof row[i].vertex);
        to[i] = rank_of_row(ctx, c->vertex_total, p->vertex[0]);
        for (int64_t r = 0; r < p->rungs; r++, k++) {
            last[k] = (struct last_record){row[i], r, c->last[p->last + r]};
            last_to[k] = to[i];
        }
    }
done:
    err = tac_deal(ctx, err, n, to, row, sizeof *row, &rows, &total);
    err = tac_deal(ctx, err, err ? 0 : m, last_to, last, sizeof *last, &lasts, &last_total);
    if (!err && total)
        qsort(rows, total, sizeof *rows, compare_pairs);
    if (!err && last_total)
        qsort(lasts, last_total, sizeof *lasts, compare_lasts);
    if (!err)
        err = write_columns(ctx, w, TAC_PAIR_COLUMNS, 4, (const char *)rows, sizeof *rows, total);
    if (!err)
        err = write_columns(ctx, w, &LAST, 1, (const char *)lasts, sizeof *lasts, last_total);
    free(row);
    free(rows);
    free(last);
    free(lasts);
    free(to);
    free(last_to);
    return err;
}

/* What all ranks have alike, written by rank 0. */
static enum tac_err write_common(struct tac_ctx *ctx, struct writer *w, const struct tac_scene *scene,
                                 const struct tac_checkpoint *c)
{
    enum tac_err err = TAC_OK;
    int64_t integer[TAC_CHECKPOINT_INTEGERS], sums[TAC_CHECKPOINT_SUMS * (TAC_ACCUM_LIMBS + 1)];
    double real[TAC_CHECKPOINT_REALS];
    const struct tac_accum *const sum[TAC_CHECKPOINT_SUMS] = {&c->dissipated, &c->work, &c->total_start};
    json_t *json = tac_scene_stored_json(scene);
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    const tac_gid length = text ? (tac_gid)strlen(text) : 0;
    const bool first = ctx->rank == 0;
    tac_checkpoint_pack(c, integer, real);
    for (int k = 0; k < TAC_CHECKPOINT_SUMS; k++) {
        memcpy(&sums[k * (TAC_ACCUM_LIMBS + 1)], sum[k]->limb, sizeof sum[k]->limb);
        sums[k * (TAC_ACCUM_LIMBS + 1) + TAC_ACCUM_LIMBS] = sum[k]->bad;
    }
    json_decref(json);
    if (text == NULL)
        err = tac_fail(ctx, TAC_ERR_RUN, "out of memory while writing a checkpoint");
    TAC_TRY(tac_agree(ctx, err));
    const hid_t file = w->file.file;
    const tac_gid rows[4] = {TAC_CHECKPOINT_INTEGERS, TAC_CHECKPOINT_REALS, TAC_CHECKPOINT_SUMS * (TAC_ACCUM_LIMBS + 1),
                             length};
    const struct tac_dataset d[4] = {
        {file, "integers", NULL, H5T_NATIVE_INT64, 0, rows[0], 0, first ? rows[0] : 0, integer},
        {file, "reals", NULL, H5T_NATIVE_DOUBLE, 0, rows[1], 0, first ? rows[1] : 0, real},
        {file, "sums", NULL, H5T_NATIVE_INT64, 0, rows[2], 0, first ? rows[2] : 0, sums},
        {file, "scene", NULL, H5T_NATIVE_UCHAR, 0, rows[3], 0, first ? rows[3] : 0, text},
    };
    for (int k = 0; k < 4; k++)
        TAC_TRY(tac_dataset_write(ctx, &w->file, &d[k]));
done:
    free(text);
    return err;
}

static enum tac_err create(struct tac_ctx *ctx, struct writer *w, const struct tac_scene *scene, const char *dir,
                           const struct tac_checkpoint *c)
{
    enum tac_err err;
    const size_t size = strlen(dir) + sizeof "/" TEMPORARY;
    hid_t access = -1, creation = -1;
    /* 144 bytes a vertex, at most a dozen pairs' columns beside them. */
    int64_t bytes = 160 * (int64_t)c->vertex_count + 40 * (int64_t)(c->triangle_count + c->segment_count) +
                    160 * (int64_t)c->script_count + 64 * (int64_t)c->pair_count + 8 * (int64_t)c->last_count;
    w->file.file = w->file.frames = w->file.collective = -1;
    w->file.space_fd = -1;
    w->file.disk = -1;
    TAC_TRY(tac_alloc(ctx, size, 1, &w->file.path));
    snprintf(w->file.path, size, "%s/" TEMPORARY, dir);
    if (ctx->rank == 0) {
        w->file.space_fd = open(w->file.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (w->file.space_fd < 0)
            err = tac_fail(ctx, TAC_ERR_RUN, "cannot create %s: %s; free some space or write elsewhere with -o",
                           w->file.path, strerror(errno));
    }
done:
    if ((err = tac_agree(ctx, err)) != TAC_OK)
        return err;
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    access = tac_frames_access(ctx, &w->file);
    creation = H5Pcreate(H5P_FILE_CREATE);
    err = tac_frames_step(ctx, &w->file, "a checkpoint",
                          access >= 0 && creation >= 0 && H5Pset_userblock(creation, TAC_CHECKPOINT_BLOCK) >= 0);
    if (!err) {
        w->file.file = H5Fcreate(w->file.path, H5F_ACC_TRUNC, creation, access);
        err = tac_frames_step(ctx, &w->file, "a checkpoint", w->file.file >= 0);
    }
    if (!err)
        err = tac_frames_transfer(ctx, &w->file);
    if (!err)
        err = tac_frames_reserve(ctx, &w->file, bytes + 65536 + (int64_t)strlen(scene->name));
    if (!err)
        err = tac_frames_step(ctx, &w->file, "a checkpoint",
                              tac_h5_put_text(w->file.file, "format", TAC_CHECKPOINT_FORMAT) &&
                                  tac_h5_put_text(w->file.file, "version", tac_version()) &&
                                  tac_h5_put_text(w->file.file, "commit", tac_commit()) &&
                                  tac_h5_put_text(w->file.file, "name", scene->name) &&
                                  tac_h5_put_text(w->file.file, "scene_sha256", scene->sha256));
    if (access >= 0)
        H5Pclose(access);
    if (creation >= 0)
        H5Pclose(creation);
    return err;
}

static enum tac_err close_file(struct tac_ctx *ctx, struct writer *w)
{
    bool ok = true;
    if (w->file.collective >= 0)
        H5Pclose(w->file.collective);
    if (w->file.broken && ctx->size > 1)
        tac_space_abandon(w->file.path, w->file.space_fd);
    if (w->file.file >= 0)
        ok = H5Fclose(w->file.file) >= 0;
    w->file.file = w->file.collective = -1;
    return w->file.broken ? TAC_ERR_RUN : tac_frames_step(ctx, &w->file, "a checkpoint", ok);
}

/* Rank 0: head, disk, name, link, and what is too old. */
static enum tac_err publish(struct tac_ctx *ctx, struct writer *w, const char *dir, int keep, uint32_t crc,
                            int64_t length, char *name, size_t size)
{
    enum tac_err err = TAC_OK;
    int64_t *list = NULL;
    size_t count = 0;
    char old[64];
    unsigned char block[TAC_CHECKPOINT_BLOCK] = {0};
    struct tac_checkpoint_head head = {TAC_CHECKPOINT_MAGIC, 1, crc, length};
    memcpy(block, &head, sizeof head);
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || pwrite(w->file.space_fd, block, sizeof block, 0) != (ssize_t)sizeof block ||
        fsync(w->file.space_fd) != 0) {
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s: %s; free some space or write elsewhere with -o",
                       w->file.path, strerror(errno));
        goto done;
    }
    TAC_TRY(tac_checkpoint_list(ctx, dir, &list, &count));
    snprintf(name, size, "checkpoint-%06" PRId64 ".h5", count ? list[count - 1] + 1 : 1);
    unlinkat(folder, "checkpoint.link", 0);
    if (renameat(folder, TEMPORARY, folder, name) != 0 || symlinkat(name, folder, "checkpoint.link") != 0 ||
        renameat(folder, "checkpoint.link", folder, "checkpoint.h5") != 0 || fsync(folder) != 0) {
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot name %s/%s: %s", dir, name, strerror(errno));
        goto done;
    }
    for (size_t k = 0; k + (size_t)keep <= count && keep > 0; k++) {
        snprintf(old, sizeof old, "checkpoint-%06" PRId64 ".h5", list[k]);
        unlinkat(folder, old, 0);
    }
done:
    if (folder >= 0)
        close(folder);
    free(list);
    return err;
}

enum tac_err tac_checkpoint_write(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, int keep,
                                  const struct tac_checkpoint *c, char *name, size_t size)
{
    enum tac_err err;
    struct writer w = {0};
    struct tac_h5_quiet quiet;
    struct stat file;
    uint32_t crc = 0;
    int64_t length = 0;
    tac_h5_quiet(&quiet);
    TAC_TRY(create(ctx, &w, scene, dir, c));
    TAC_TRY(write_common(ctx, &w, scene, c));
    TAC_TRY(write_vertices(ctx, &w, c));
    TAC_TRY(write_elements(ctx, &w, TAC_TRIANGLE_COLUMNS, c->triangle_total, c->triangle_count, c->triangle_id,
                           c->triangle, 3));
    TAC_TRY(
        write_elements(ctx, &w, TAC_SEGMENT_COLUMNS, c->segment_total, c->segment_count, c->segment_id, c->segment, 2));
    TAC_TRY(write_scripts(ctx, &w, c));
    TAC_TRY(write_pairs(ctx, &w, c));
done:
    if (err)
        w.file.broken = true;
    if (w.file.file >= 0 || err) {
        const enum tac_err closed = close_file(ctx, &w);
        err = err ? err : closed;
    }
    if (!err && ctx->rank == 0) {
        /* What was reserved and not used must not count as length. */
        tac_space_release(w.file.space_fd);
        if (fstat(w.file.space_fd, &file) == 0)
            length = file.st_size;
    }
    if (!err) {
        MPI_Bcast(&length, 1, MPI_INT64_T, 0, ctx->comm);
        err = tac_checkpoint_crc_all(ctx, w.file.path, length, &crc);
    }
    if (!err)
        err = tac_agree(
            ctx, ctx->rank == 0 ? publish(ctx, &w, dir, keep, crc, length - TAC_CHECKPOINT_BLOCK, name, size) : TAC_OK);
    if (err && ctx->rank == 0 && w.file.path)
        unlink(w.file.path);
    if (!err)
        MPI_Bcast(name, (int)size, MPI_CHAR, 0, ctx->comm);
    if (w.file.space_fd >= 0)
        close(w.file.space_fd);
    free(w.file.path);
    tac_h5_restore(&quiet);
    return err;
}
