/* record_stored.c: finds out which groups a record.h5 holds and which of them are whole, and reads rows of them. */
#include "io/record/record_stored.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/child.h"
#include "io/folder/output.h"
#include "io/h5/stored.h"
#include "io/record/record.h"

void tac_record_rows_close(struct tac_record_rows *s)
{
    for (int k = 0; k < TAC_RECORD_DATASETS; k++) {
        if (s->id[k] >= 0)
            H5Dclose(s->id[k]);
        s->id[k] = -1;
    }
}

bool tac_record_rows_open(hid_t file, const char *group, tac_gid vertices, struct tac_record_rows *s)
{
    static const char *const name[TAC_RECORD_DATASETS] = {"start", "time", "position"};
    bool ok = true;
    s->wrong = NULL;
    for (int k = 0; k < TAC_RECORD_DATASETS; k++) {
        const bool real = k == TAC_RECORD_POSITION;
        const struct tac_shape shape = {"", real ? H5T_FLOAT : H5T_INTEGER, 8, real ? 3 : 0};
        const int rank = real ? 2 : 1;
        hsize_t size[2] = {0, 0};
        char path[96];
        snprintf(path, sizeof path, "%s/%s", group, name[k]);
        s->id[k] = ok && H5Lexists(file, path, H5P_DEFAULT) > 0 ? H5Dopen2(file, path, H5P_DEFAULT) : -1;
        hid_t space = s->id[k] >= 0 ? H5Dget_space(s->id[k]) : -1;
        ok = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
             H5Sget_simple_extent_dims(space, size, NULL) == rank && size[0] > 0 && size[0] < INT64_MAX / 64 &&
             (!real || size[1] == 3) && tac_stored_type(s->id[k], &shape) && tac_stored_sound(s->id[k], size, rank, 8);
        if (space >= 0)
            H5Sclose(space);
        s->rows[k] = (int64_t)size[0];
        if (k == TAC_RECORD_START)
            ok = ok && (vertices > 0 ? s->rows[k] == vertices + 1 : s->rows[k] > 1);
        else if (k == TAC_RECORD_POSITION)
            ok = ok && s->rows[k] == s->rows[TAC_RECORD_TIME];
        if (!ok && s->wrong == NULL)
            s->wrong = name[k];
    }
    if (!ok)
        tac_record_rows_close(s);
    return ok;
}

bool tac_record_rows_read(const struct tac_record_rows *s, int which, int64_t begin, int64_t count, void *data)
{
    const bool real = which == TAC_RECORD_POSITION;
    return tac_h5_read_rows(s->id[which], real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, real ? 3 : 0, begin, count,
                            data);
}

/* Finds the span and the size of a group, and its number of vertices. *wrong: the first wrong dataset if the group is
 * not whole. */
static bool measure_group(hid_t file, tac_gid vertices, struct tac_record_group *g, tac_gid *found, const char **wrong)
{
    struct tac_record_rows s;
    int64_t start[2];
    const bool opened = tac_record_rows_open(file, g->path, vertices, &s);
    *wrong = s.wrong;
    if (!opened)
        return false;
    *found = s.rows[TAC_RECORD_START] - 1;
    g->rows = s.rows[TAC_RECORD_TIME];
    bool ok = tac_record_rows_read(&s, TAC_RECORD_START, 0, 2, start) && start[0] == 0 && start[1] >= 1 &&
              start[1] <= g->rows;
    *wrong = ok ? "time" : "start";
    ok = ok && tac_record_rows_read(&s, TAC_RECORD_TIME, 0, 1, &g->begin) &&
         tac_record_rows_read(&s, TAC_RECORD_TIME, start[1] - 1, 1, &g->end);
    tac_record_rows_close(&s);
    return ok;
}

bool tac_record_span(hid_t file, const char *group, tac_gid vertices, tac_time span[2])
{
    struct tac_record_group g;
    tac_gid found;
    const char *wrong;
    snprintf(g.path, sizeof g.path, "%s", group);
    if (!measure_group(file, vertices, &g, &found, &wrong))
        return false;
    span[0] = g.begin;
    span[1] = g.end;
    return true;
}

bool tac_record_reads_through(hid_t file, const char *group, tac_gid vertices)
{
    enum { PORTION = TAC_CHUNK_ROWS };
    struct tac_record_rows s;
    int64_t before = 0;
    double *data = malloc(3 * PORTION * sizeof *data);
    const bool opened = data != NULL && tac_record_rows_open(file, group, vertices, &s);
    bool ok = opened;
    for (int k = 0; k < TAC_RECORD_DATASETS && ok; k++)
        for (int64_t begin = 0; begin < s.rows[k] && ok; begin += PORTION) {
            const int64_t n = s.rows[k] - begin < PORTION ? s.rows[k] - begin : PORTION;
            ok = tac_record_rows_read(&s, k, begin, n, data);
            for (int64_t i = 0; i < n && ok && k == TAC_RECORD_START; i++) {
                const int64_t start = ((const int64_t *)data)[i];
                ok = start >= before && (begin + i > 0 || start == 0);
                before = start;
            }
        }
    ok = ok && before == s.rows[TAC_RECORD_TIME];
    if (opened)
        tac_record_rows_close(&s);
    free(data);
    return ok;
}

bool tac_record_serves(hid_t file, const char *group, tac_gid vertices, tac_time now)
{
    tac_time span[2];
    return tac_record_span(file, group, vertices, span) && span[0] < now && span[1] >= now;
}

bool tac_record_quantum(hid_t file, double *quantum_s)
{
    *quantum_s = 0;
    if (H5Lexists(file, "record", H5P_DEFAULT) <= 0 || H5Aexists_by_name(file, "record", "quantum_s", H5P_DEFAULT) <= 0)
        return false;
    hid_t id = H5Aopen_by_name(file, "record", "quantum_s", H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = id >= 0 ? H5Aget_space(id) : -1, type = id >= 0 ? H5Aget_type(id) : -1;
    const bool ok = space >= 0 && type >= 0 && H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == 8 &&
                    H5Sget_simple_extent_npoints(space) == 1 && H5Aread(id, H5T_NATIVE_DOUBLE, quantum_s) >= 0;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (id >= 0)
        H5Aclose(id);
    return ok && isfinite(*quantum_s) && *quantum_s > 0;
}

enum tac_err tac_record_damaged(struct tac_ctx *ctx, const char *path, const char *what)
{
    return tac_fail(ctx, TAC_ERR_INPUT, "'%.1000s' is no record of a run, or it is damaged: %s", path, what);
}

/* ---- the whole file ---- */

struct listing {
    struct tac_ctx *ctx;
    const char *where;
    struct tac_record_group *group; /* owned */
    size_t count, capacity;
};

static herr_t add_group(hid_t parent, const char *name, const H5L_info_t *info, void *data)
{
    struct listing *l = data;
    const size_t n = strspn(name, "0123456789");
    if (n < 6 || n > 18 || name[n] != '\0' || info->type != H5L_TYPE_HARD)
        return 0; /* another name: later versions may add groups, which this reader skips */
    if (tac_grow(l->ctx, &l->group, &l->capacity, l->count + 1, sizeof *l->group))
        return -1;
    struct tac_record_group *g = &l->group[l->count++];
    *g = (struct tac_record_group){.index = strtoll(name, NULL, 10)};
    snprintf(g->path, sizeof g->path, "%s/%s", l->where, name);
    return 0;
}

static int compare_group_indices(const void *a, const void *b)
{
    const int64_t x = ((const struct tac_record_group *)a)->index, y = ((const struct tac_record_group *)b)->index;
    return (x > y) - (x < y);
}

/* Keeps only the whole groups, in ascending order. */
static enum tac_err keep_whole(struct tac_ctx *ctx, struct tac_record_stored *r, bool partial, struct listing *l)
{
    size_t kept = 0;
    tac_gid found;
    for (size_t k = 0; k < l->count; k++) {
        struct tac_record_group *g = &l->group[k];
        const char *wrong;
        if (measure_group(r->file, r->vertex_count, g, &found, &wrong)) {
            r->vertex_count = found;
            l->group[kept++] = *g;
        } else if (partial || k + 1 == l->count) {
            r->unfinished++;
        } else {
            char what[128];
            snprintf(what, sizeof what, "%s/%s is missing or not as it should be, and later intervals are there",
                     g->path, wrong);
            return tac_record_damaged(ctx, r->path, what);
        }
    }
    l->count = kept;
    return TAC_OK;
}

/* Lists the whole groups of /record or /partial in ascending order. */
static enum tac_err list_groups(struct tac_ctx *ctx, struct tac_record_stored *r, bool partial, struct listing *l)
{
    l->where = partial ? "/partial" : "/record";
    const bool there = H5Lexists(r->file, l->where, H5P_DEFAULT) > 0;
    hid_t group = there ? H5Gopen2(r->file, l->where, H5P_DEFAULT) : -1;
    const bool ok = !there || H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, add_group, l) >= 0;
    size_t count = 0;
    if (group >= 0)
        H5Gclose(group);
    if (!ok)
        return tac_record_damaged(ctx, r->path, "its list of intervals cannot be read");
    if (l->count > 0)
        qsort(l->group, l->count, sizeof *l->group, compare_group_indices);
    for (size_t k = 0; k < l->count; k++) /* a kill while a node of the list was split leaves some twice */
        if (count == 0 || l->group[count - 1].index != l->group[k].index)
            l->group[count++] = l->group[k];
    l->count = count;
    return keep_whole(ctx, r, partial, l);
}

static void get_text(hid_t file, const char *name, char *value, size_t size)
{
    tac_h5_get_text(file, name, value, size);
    tac_tame(value);
}

static enum tac_err read_record(struct tac_ctx *ctx, struct tac_record_stored *r)
{
    enum tac_err err = TAC_OK;
    char format[64];
    struct listing record = {.ctx = ctx}, partial = {.ctx = ctx};
    r->file = tac_h5_open_read(r->path);
    if (r->file < 0)
        TAC_TRY(tac_record_damaged(ctx, r->path, "the HDF5 library cannot open it"));
    get_text(r->file, "format", format, sizeof format);
    if (strcmp(format, TAC_RECORD_FORMAT) != 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "'%.1000s' has the format '%s', but this version (%s) reads '%s'", r->path,
                         format, tac_version(), TAC_RECORD_FORMAT));
    if (!tac_record_quantum(r->file, &r->quantum_s))
        TAC_TRY(tac_record_damaged(ctx, r->path, "its /record has no attribute quantum_s that is a time"));
    get_text(r->file, "name", r->name, sizeof r->name);
    get_text(r->file, "version", r->version, sizeof r->version);
    get_text(r->file, "commit", r->commit, sizeof r->commit);
    get_text(r->file, "scene_sha256", r->sha256, sizeof r->sha256);
    TAC_TRY(list_groups(ctx, r, false, &record));
    TAC_TRY(list_groups(ctx, r, true, &partial));
    r->group_count = (int64_t)record.count;
    r->group = record.group;
    record.group = NULL;
    r->has_partial = partial.count > 0;
    if (r->has_partial)
        r->partial = partial.group[partial.count - 1];
done:
    free(record.group);
    free(partial.group);
    return err;
}

static enum tac_err read_record_in_child(struct tac_ctx *ctx, void *data, int64_t *result)
{
    struct tac_record_stored *r = data;
    return read_record(ctx, r);
}

/* Rank 0: is the file there, and can HDF5 read it without crashing? */
static enum tac_err try_file(struct tac_ctx *ctx, const struct tac_record_stored *r)
{
    struct stat s;
    if (ctx->rank != 0)
        return TAC_OK;
    if (stat(r->path, &s) != 0)
        return tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%.1000s': %s", r->path, strerror(errno));
    if (!S_ISREG(s.st_mode) || !tac_h5_is(r->path))
        return tac_record_damaged(ctx, r->path, "it is not HDF5");
    struct tac_record_stored tried = *r;
    return tac_child_try(ctx, r->path, s.st_size, read_record_in_child, &tried, NULL);
}

enum tac_err tac_record_stored_open_all(struct tac_ctx *ctx, const char *path, struct tac_record_stored **out)
{
    enum tac_err err;
    struct tac_record_stored *r = NULL;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    *out = NULL;
    err = tac_alloc(ctx, 1, sizeof *r, &r);
    if (!err) {
        r->file = -1;
        err = tac_alloc(ctx, strlen(path) + 1, 1, &r->path);
    }
    if (!err) {
        strcpy(r->path, path);
        err = try_file(ctx, r);
    }
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_agree(ctx, read_record(ctx, r)));
    *out = r;
    r = NULL;
done:
    tac_record_stored_close(&r);
    tac_h5_restore(&quiet);
    return err;
}

enum tac_err tac_record_stored_open(struct tac_ctx *ctx, const char *path, struct tac_record_stored **out)
{
    struct tac_ctx alone = *ctx; /* the caller opens the file itself */
    alone.rank = 0;
    alone.size = 1;
    enum tac_err err = tac_record_stored_open_all(&alone, path, out);
    memcpy(ctx->error, alone.error, sizeof ctx->error);
    return err;
}

void tac_record_stored_close(struct tac_record_stored **p)
{
    struct tac_record_stored *r = *p;
    struct tac_h5_quiet quiet;
    if (r == NULL)
        return;
    tac_h5_quiet(&quiet);
    if (r->file >= 0)
        H5Fclose(r->file);
    tac_h5_restore(&quiet);
    free(r->group);
    free(r->path);
    free(r);
    *p = NULL;
}

static enum tac_err has_record_format(struct tac_ctx *ctx, void *path, int64_t *has)
{
    char format[64] = "";
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    hid_t file = tac_h5_open_read(path);
    *has = file >= 0 && tac_h5_get_text(file, "format", format, sizeof format) &&
           strncmp(format, "tactus-record/", strlen("tactus-record/")) == 0;
    if (file >= 0)
        H5Fclose(file);
    tac_h5_restore(&quiet);
    return TAC_OK;
}

enum tac_err tac_record_stored_is(struct tac_ctx *ctx, const char *path, bool *is)
{
    int64_t has = 0;
    struct stat s;
    enum tac_err err = TAC_OK;
    if (stat(path, &s) == 0 && S_ISREG(s.st_mode) && tac_h5_is(path))
        err = tac_child_try(ctx, path, 0, has_record_format, (void *)(uintptr_t)path, &has);
    *is = err == TAC_OK && has != 0;
    return err;
}
