/* Reading a checkpoint: which file, whether it is whole, and its rows. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/checkpoint_table.h"
#include "partition/exchange.h"

/* ---- is it whole? ---- */

/* Collective. Why the file is no whole checkpoint, in `why`; empty if it is one. */
static enum tac_err examine(struct tac_ctx *ctx, const char *path, char *why, size_t size)
{
    struct {
        int64_t length;
        uint32_t crc, unused;
        char why[256];
    } told = {0};
    enum tac_err err = TAC_OK;
    if (ctx->rank == 0) {
        struct tac_checkpoint_head head;
        struct stat file;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        memset(&head, 0, sizeof head);
        if (fd < 0 || fstat(fd, &file) != 0)
            snprintf(told.why, sizeof told.why, "it cannot be opened (%s)", strerror(errno));
        else if (!S_ISREG(file.st_mode))
            snprintf(told.why, sizeof told.why, "it is no file");
        else if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
                 memcmp(head.magic, TAC_CHECKPOINT_MAGIC, sizeof head.magic) != 0)
            snprintf(told.why, sizeof told.why, "it is no checkpoint of Tactus");
        else if (head.version != 1)
            snprintf(told.why, sizeof told.why, "its format is %" PRIu32 ", and this version (%s) reads 1",
                     head.version, tac_version());
        else if (file.st_size - TAC_CHECKPOINT_BLOCK != head.length)
            snprintf(told.why, sizeof told.why,
                     "it is damaged: it has %" PRId64 " bytes where %" PRId64 " were written", (int64_t)file.st_size,
                     head.length + TAC_CHECKPOINT_BLOCK);
        told.length = head.length;
        told.crc = head.crc;
        if (fd >= 0)
            close(fd);
    }
    MPI_Bcast(&told, sizeof told, MPI_BYTE, 0, ctx->comm);
    if (told.why[0] == '\0') {
        uint32_t crc = 0;
        TAC_TRY(tac_checkpoint_crc_all(ctx, path, told.length + TAC_CHECKPOINT_BLOCK, &crc));
        if (crc != told.crc)
            snprintf(told.why, sizeof told.why, "it is damaged: its contents are not what was written");
    }
    snprintf(why, size, "%s", told.why);
done:
    return err;
}

/* Collective. The newest whole checkpoint of a folder. */
static enum tac_err newest(struct tac_ctx *ctx, const char *dir, char **file)
{
    enum tac_err err = TAC_OK;
    int64_t *list = NULL, count = 0;
    size_t found = 0, size = strlen(dir) + 64;
    char why[256];
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, size, 1, file)));
    TAC_TRY(tac_agree(ctx, ctx->rank == 0 ? tac_checkpoint_list(ctx, dir, &list, &found) : TAC_OK));
    count = (int64_t)found;
    MPI_Bcast(&count, 1, MPI_INT64_T, 0, ctx->comm);
    for (int64_t k = count; k-- > 0;) {
        int64_t number = ctx->rank == 0 ? list[k] : 0;
        MPI_Bcast(&number, 1, MPI_INT64_T, 0, ctx->comm);
        snprintf(*file, size, "%s/checkpoint-%06" PRId64 ".h5", dir, number);
        TAC_TRY(examine(ctx, *file, why, sizeof why));
        if (why[0] == '\0')
            goto done;
        tac_warn(ctx, "%s is not used: %s", *file, why);
    }
    err = count ? tac_fail(ctx, TAC_ERR_INPUT, "no checkpoint in %s is whole; run the scene from its beginning", dir)
                : tac_fail(ctx, TAC_ERR_INPUT, "there is no checkpoint in %s; run the scene from its beginning", dir);
done:
    free(list);
    return err;
}

static enum tac_err choose(struct tac_ctx *ctx, const char *path, char **file)
{
    enum tac_err err;
    struct stat what;
    char why[256];
    int folder = ctx->rank == 0 && stat(path, &what) == 0 && S_ISDIR(what.st_mode);
    MPI_Bcast(&folder, 1, MPI_INT, 0, ctx->comm);
    if (folder)
        return newest(ctx, path, file);
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, strlen(path) + 1, 1, file)));
    strcpy(*file, path);
    TAC_TRY(examine(ctx, path, why, sizeof why));
    if (why[0] != '\0')
        err = tac_fail(ctx, TAC_ERR_INPUT, "cannot go on from %s: %s", path, why);
done:
    return err;
}

/* ---- tables ---- */

struct reader {
    struct tac_ctx *ctx;
    const char *path;
    hid_t file;
};

static enum tac_err wrong(const struct reader *r, const char *what)
{
    return tac_fail(r->ctx, TAC_ERR_INPUT,
                    "cannot go on from %s: %s; it was not written by Tactus, or by another version", r->path, what);
}

/* Rows of a dataset of this name and shape, or -1. */
static int64_t rows_of(const struct reader *r, const char *name, bool real, size_t bytes, int columns, hid_t *id)
{
    hsize_t size[2] = {0, 0};
    int64_t rows = -1;
    *id = H5Lexists(r->file, name, H5P_DEFAULT) > 0 ? H5Dopen2(r->file, name, H5P_DEFAULT) : -1;
    if (*id < 0)
        return -1;
    hid_t space = H5Dget_space(*id), type = H5Dget_type(*id);
    if (space >= 0 && type >= 0 && H5Sget_simple_extent_ndims(space) == (columns ? 2 : 1) &&
        H5Sget_simple_extent_dims(space, size, NULL) >= 0 && (columns == 0 || size[1] == (hsize_t)columns) &&
        H5Tget_class(type) == (real ? H5T_FLOAT : H5T_INTEGER) && H5Tget_size(type) == bytes)
        rows = (int64_t)size[0];
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return rows;
}

/* Rows begin .. end of a dataset, into data. */
static bool slab(hid_t id, hid_t type, int columns, int64_t begin, int64_t end, void *data)
{
    hsize_t start[2] = {(hsize_t)begin, 0}, count[2] = {(hsize_t)(end - begin), (hsize_t)columns};
    if (end == begin)
        return true;
    hid_t space = H5Dget_space(id), memory = H5Screate_simple(columns ? 2 : 1, count, NULL);
    bool ok = space >= 0 && memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
              H5Dread(id, type, memory, space, H5P_DEFAULT, data) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return ok;
}

/* Fills records of `size` bytes from the columns of a table with `total` rows (-1: told by the file). */
static enum tac_err read_columns(const struct reader *r, const struct tac_checkpoint_column *column, size_t columns,
                                 int64_t *total, int64_t begin, int64_t end, size_t size, void *records)
{
    enum tac_err err = TAC_OK;
    char **record = records, *data = NULL, text[128];
    hid_t id = -1;
    for (size_t c = 0; c < columns; c++) {
        const size_t bytes = 8 * (size_t)(column[c].columns ? column[c].columns : 1);
        const int64_t rows = rows_of(r, column[c].name, column[c].real, 8, column[c].columns, &id);
        snprintf(text, sizeof text, "its table '%s' is not as it should be", column[c].name);
        if (rows < 0 || (*total >= 0 && rows != *total)) {
            err = wrong(r, text);
            goto done;
        }
        if (*total < 0) {
            *total = rows;
            tac_rows_of_rank(rows, r->ctx->rank, r->ctx->size, &begin, &end);
        }
        if (*record == NULL)
            TAC_TRY(tac_alloc(r->ctx, (size_t)(end - begin), size, record));
        TAC_TRY(tac_alloc(r->ctx, (size_t)(end - begin), bytes, &data));
        if (!slab(id, column[c].real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, column[c].columns, begin, end, data)) {
            err = wrong(r, text);
            goto done;
        }
        for (size_t k = 0; k < (size_t)(end - begin); k++)
            memcpy(*record + size * k + column[c].offset, data + bytes * k, bytes);
        free(data);
        data = NULL;
        H5Dclose(id);
        id = -1;
    }
done:
    free(data);
    if (id >= 0)
        H5Dclose(id);
    return err;
}

static bool all_finite(const double *x, int n)
{
    for (int k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

static enum tac_err read_common(const struct reader *r, struct tac_checkpoint *c, json_t **json, char *sha256)
{
    enum tac_err err = TAC_OK;
    int64_t integer[TAC_CHECKPOINT_INTEGERS], sums[TAC_CHECKPOINT_SUMS * (TAC_ACCUM_LIMBS + 1)];
    double real[TAC_CHECKPOINT_REALS];
    struct tac_accum *const sum[TAC_CHECKPOINT_SUMS] = {&c->dissipated, &c->work, &c->total_start};
    char *text = NULL, format[64];
    hid_t id = -1;
    int64_t length;
    if (!tac_h5_get_text(r->file, "format", format, sizeof format) || strcmp(format, TAC_CHECKPOINT_FORMAT) != 0 ||
        !tac_h5_get_text(r->file, "scene_sha256", sha256, 65)) {
        err = wrong(r, "it does not say what it is");
        goto done;
    }
    struct {
        const char *name;
        hid_t type;
        bool real;
        int64_t rows;
        void *data;
    } table[3] = {{"integers", H5T_NATIVE_INT64, false, TAC_CHECKPOINT_INTEGERS, integer},
                  {"reals", H5T_NATIVE_DOUBLE, true, TAC_CHECKPOINT_REALS, real},
                  {"sums", H5T_NATIVE_INT64, false, TAC_CHECKPOINT_SUMS * (TAC_ACCUM_LIMBS + 1), sums}};
    for (int k = 0; k < 3; k++) {
        bool ok = rows_of(r, table[k].name, table[k].real, 8, 0, &id) == table[k].rows &&
                  slab(id, table[k].type, 0, 0, table[k].rows, table[k].data);
        if (id >= 0)
            H5Dclose(id);
        id = -1;
        if (!ok) {
            err = wrong(r, "its numbers are not as they should be");
            goto done;
        }
    }
    tac_checkpoint_unpack(c, integer, real);
    for (int k = 0; k < TAC_CHECKPOINT_SUMS; k++) {
        memcpy(sum[k]->limb, &sums[k * (TAC_ACCUM_LIMBS + 1)], sizeof sum[k]->limb);
        sum[k]->bad = sums[k * (TAC_ACCUM_LIMBS + 1) + TAC_ACCUM_LIMBS] != 0;
        for (int i = 0; i < TAC_ACCUM_LIMBS; i++)
            if (sum[k]->limb[i] > (int64_t)1 << 33 || sum[k]->limb[i] < -((int64_t)1 << 33)) {
                err = wrong(r, "its sums are not as they should be");
                goto done;
            }
        sum[k]->pending = 1;
        tac_accum_carry(sum[k]);
    }
    length = rows_of(r, "scene", false, 1, 0, &id);
    if (length <= 0 || length > (int64_t)1 << 32) {
        err = wrong(r, "it has no scene");
        goto done;
    }
    TAC_TRY(tac_alloc(r->ctx, (size_t)length + 1, 1, &text));
    if (slab(id, H5T_NATIVE_UCHAR, 0, 0, length, text))
        *json = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, NULL);
    if (*json == NULL)
        err = wrong(r, "its scene cannot be read");
    if (!err &&
        (c->now <= 0 || c->frame < 1 || c->last_frame < 0 || c->last_frame > c->now || c->restarts < 0 ||
         c->vertex_total < 1 || c->vertex_total > INT32_MAX || c->triangle_total < 0 || c->triangle_total > INT32_MAX ||
         c->segment_total < 0 || c->segment_total > INT32_MAX || !all_finite(real, TAC_CHECKPOINT_REALS)))
        err = wrong(r, "its numbers make no sense");
done:
    if (id >= 0)
        H5Dclose(id);
    free(text);
    return err;
}

static enum tac_err read_vertices(const struct reader *r, struct tac_checkpoint *c)
{
    enum tac_err err;
    struct tac_vertex_record *row = NULL;
    tac_gid begin, end;
    tac_rows_of_rank(c->vertex_total, r->ctx->rank, r->ctx->size, &begin, &end);
    const size_t n = (size_t)(end - begin);
    c->vertex_count = (tac_lid)n;
    TAC_TRY(read_columns(r, TAC_VERTEX_COLUMNS, 6, &c->vertex_total, begin, end, sizeof *row, &row));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *c->vertex_id, &c->vertex_id));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->start, &c->start));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *c->mass, &c->mass));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->x, &c->x));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->v, &c->v));
    TAC_TRY(tac_alloc(r->ctx, 3 * n, sizeof *c->impulse, &c->impulse));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *c->t, &c->t));
    for (size_t k = 0; k < n; k++) {
        c->vertex_id[k] = begin + (tac_gid)k;
        c->mass[k] = row[k].mass;
        c->t[k] = row[k].t;
        memcpy(&c->start[3 * k], row[k].start, sizeof row[k].start);
        memcpy(&c->x[3 * k], row[k].x, sizeof row[k].x);
        memcpy(&c->v[3 * k], row[k].v, sizeof row[k].v);
        memcpy(&c->impulse[3 * k], row[k].impulse, sizeof row[k].impulse);
        if (!all_finite(row[k].start, 3) || !all_finite(&row[k].mass, 1) || !all_finite(row[k].x, 3) ||
            !all_finite(row[k].v, 3) || !all_finite(row[k].impulse, 3) || row[k].t < 0 || row[k].t > c->now) {
            err = wrong(r, "the state of a vertex makes no sense");
            break;
        }
    }
done:
    free(row);
    return err;
}

static enum tac_err read_elements(const struct reader *r, const struct tac_checkpoint *c,
                                  const struct tac_checkpoint_column *column, tac_gid total, int corners,
                                  tac_lid *count, tac_gid **id, tac_gid **v)
{
    enum tac_err err;
    struct tac_element_record *row = NULL;
    tac_gid begin, end;
    tac_rows_of_rank(total, r->ctx->rank, r->ctx->size, &begin, &end);
    const size_t n = (size_t)(end - begin), m = (size_t)corners;
    *count = (tac_lid)n;
    TAC_TRY(read_columns(r, column, 1, &total, begin, end, sizeof *row, &row));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof **id, id));
    TAC_TRY(tac_alloc(r->ctx, m * n, sizeof **v, v));
    for (size_t k = 0; k < n && !err; k++) {
        (*id)[k] = begin + (tac_gid)k;
        memcpy(&(*v)[m * k], row[k].v, m * sizeof **v);
        for (size_t i = 0; i < m; i++)
            if (row[k].v[i] < 0 || row[k].v[i] >= c->vertex_total)
                err = wrong(r, "an element has a vertex that is not there");
    }
done:
    free(row);
    return err;
}

static enum tac_err read_scripts(const struct reader *r, struct tac_checkpoint *c)
{
    enum tac_err err;
    struct tac_script_record *row = NULL;
    int64_t total = -1;
    tac_gid begin = 0, end = 0;
    TAC_TRY(read_columns(r, TAC_SCRIPT_COLUMNS, 8, &total, 0, 0, sizeof *row, &row));
    tac_rows_of_rank(total, r->ctx->rank, r->ctx->size, &begin, &end);
    c->script_count = (tac_lid)(end - begin);
    TAC_TRY(tac_alloc(r->ctx, (size_t)(end - begin), sizeof *c->script, &c->script));
    for (tac_gid k = 0; k < end - begin; k++) {
        struct tac_script_state *s = &c->script[k];
        *s = (struct tac_script_state){.vertex = row[k].vertex,
                                       .next = row[k].next,
                                       .t = row[k].t,
                                       .on = row[k].flags[0] != 0,
                                       .caught = row[k].flags[1] != 0};
        memcpy(s->origin, row[k].origin, sizeof s->origin);
        memcpy(s->x, row[k].x, sizeof s->x);
        memcpy(s->v, row[k].v, sizeof s->v);
        memcpy(s->v_free, row[k].v_free, sizeof s->v_free);
        if (s->vertex < 0 || s->vertex >= c->vertex_total || s->next < 0 || s->t < 0 || s->t > c->now ||
            !all_finite(s->origin, 3) || !all_finite(s->x, 3) || !all_finite(s->v, 3) || !all_finite(s->v_free, 3)) {
            err = wrong(r, "the state of a motion makes no sense");
            break;
        }
    }
done:
    free(row);
    return err;
}

static int compare_keys(const void *a, const void *b)
{
    const struct tac_pair_state *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static enum tac_err read_pairs(const struct reader *r, struct tac_checkpoint *c)
{
    static const struct tac_checkpoint_column LAST = {"last", "m", true, 0, 0};
    enum { MOST_RUNGS = 1 << 22 };
    enum tac_err err;
    struct tac_pair_record *row = NULL;
    int64_t total = -1, *rungs = NULL, first = 0, lasts = 0, mine = 0, all = -1;
    tac_gid begin = 0, end = 0;
    hid_t id = -1;
    TAC_TRY(read_columns(r, TAC_PAIR_COLUMNS, 4, &total, 0, 0, sizeof *row, &row));
    tac_rows_of_rank(total, r->ctx->rank, r->ctx->size, &begin, &end);
    TAC_TRY(tac_alloc(r->ctx, (size_t)total, sizeof *rungs, &rungs));
    if (rows_of(r, "pair_rungs", false, 8, 0, &id) != total || !slab(id, H5T_NATIVE_INT64, 0, 0, total, rungs)) {
        err = wrong(r, "its contacts are not as they should be");
        goto done;
    }
    for (int64_t k = 0; k < total; k++) {
        if (rungs[k] < 1 || rungs[k] > MOST_RUNGS) {
            err = wrong(r, "a contact makes no sense");
            goto done;
        }
        first += k < begin ? rungs[k] : 0;
        mine += k >= begin && k < end ? rungs[k] : 0;
        lasts += rungs[k];
    }
    c->pair_count = (tac_lid)(end - begin);
    c->last_count = (tac_lid)mine;
    TAC_TRY(tac_alloc(r->ctx, (size_t)(end - begin), sizeof *c->pair, &c->pair));
    all = lasts;
    TAC_TRY(read_columns(r, &LAST, 1, &all, first, first + mine, sizeof *c->last, &c->last));
    int64_t at = 0;
    for (tac_gid k = 0; k < end - begin; k++) {
        struct tac_pair_state *p = &c->pair[k];
        *p = (struct tac_pair_state){(uint64_t)row[k].key, {0}, row[k].depth, at, row[k].rungs};
        memcpy(p->vertex, row[k].vertex, sizeof p->vertex);
        at += p->rungs;
        const int n = p->key >> 62 <= 1 ? 4 : p->key >> 62 == 2 ? 3 : 2; /* as in contact/distance.h */
        bool ok = p->depth >= p->rungs;
        for (int i = 0; i < 4; i++)
            ok = ok && (i < n ? p->vertex[i] >= 0 && p->vertex[i] < c->vertex_total : p->vertex[i] == -1);
        for (int64_t i = 0; i < p->rungs; i++)
            ok = ok && !isnan(c->last[p->last + i]) && c->last[p->last + i] >= -1e300;
        if (!ok) {
            err = wrong(r, "a contact makes no sense");
            goto done;
        }
    }
    if (c->pair_count)
        qsort(c->pair, (size_t)c->pair_count, sizeof *c->pair, compare_keys);
done:
    if (id >= 0)
        H5Dclose(id);
    free(row);
    free(rungs);
    return err;
}

enum tac_err tac_checkpoint_read(struct tac_ctx *ctx, const char *path, char **file, json_t **json, char *sha256,
                                 struct tac_checkpoint **out)
{
    enum tac_err err;
    struct tac_checkpoint *c = NULL;
    struct reader r = {ctx, path, -1};
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    *file = NULL;
    *json = NULL;
    *out = NULL;
    TAC_TRY(choose(ctx, path, file));
    r.path = *file;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 1, sizeof *c, &c)));
    r.file = H5Fopen(*file, H5F_ACC_RDONLY, H5P_DEFAULT);
    err = r.file < 0 ? wrong(&r, "HDF5 cannot open it") : read_common(&r, c, json, sha256);
    if (!err)
        err = read_vertices(&r, c);
    if (!err)
        err = read_elements(&r, c, TAC_TRIANGLE_COLUMNS, c->triangle_total, 3, &c->triangle_count, &c->triangle_id,
                            &c->triangle);
    if (!err)
        err = read_elements(&r, c, TAC_SEGMENT_COLUMNS, c->segment_total, 2, &c->segment_count, &c->segment_id,
                            &c->segment);
    if (!err)
        err = read_scripts(&r, c);
    if (!err)
        err = read_pairs(&r, c);
    if (r.file >= 0)
        H5Fclose(r.file);
    TAC_TRY(tac_agree(ctx, err));
    *out = c;
    c = NULL;
done:
    if (err) {
        json_decref(*json);
        *json = NULL;
        free(*file);
        *file = NULL;
    }
    tac_checkpoint_destroy(&c);
    tac_h5_restore(&quiet);
    return err;
}
