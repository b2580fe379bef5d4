#include "io/record_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/child.h"
#include "io/record.h"
#include "io/stored.h"

enum { START, TIME, POSITION };

enum tac_err tac_recorded_damaged(struct tac_ctx *ctx, const struct tac_recorded *r, const char *what)
{
    return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is no record of a run, or it is damaged: %s", r->path, what);
}

/* Opens a dataset of that type; -1 if there is none.  *together: rows of a chunk, else as they were. */
static hid_t open_dataset(const struct tac_recorded *r, const char *group, const char *name, bool real, int columns,
                          int64_t *rows, int64_t *together)
{
    char path[96];
    const struct tac_shape shape = {"", real ? H5T_FLOAT : H5T_INTEGER, 8, columns};
    hsize_t size[2] = {0, 0}, chunk[2] = {0, 0};
    snprintf(path, sizeof path, "%s/%s", group, name);
    hid_t id = H5Lexists(r->file, path, H5P_DEFAULT) > 0 ? H5Dopen2(r->file, path, H5P_DEFAULT) : -1;
    if (id < 0)
        return -1;
    hid_t space = H5Dget_space(id), list = H5Dget_create_plist(id);
    const int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    bool ok = list >= 0 && rank == (columns > 0 ? 2 : 1) && H5Sget_simple_extent_dims(space, size, NULL) == rank &&
              (columns == 0 || size[1] == (hsize_t)columns) && size[0] <= INT64_MAX / 64 && tac_stored_type(id, &shape);
    if (ok && size[0] > 0)
        ok = tac_stored_sound(id, size, rank, 8);
    if (ok && H5Pget_layout(list) == H5D_CHUNKED && H5Pget_chunk(list, 2, chunk) == rank)
        *together = (int64_t)chunk[0];
    if (list >= 0)
        H5Pclose(list);
    if (space >= 0)
        H5Sclose(space);
    if (!ok) {
        H5Dclose(id);
        return -1;
    }
    *rows = (int64_t)size[0];
    return id;
}

static void close_group(struct tac_recorded *r)
{
    for (int i = 0; i < 3 && r->opened >= 0; i++)
        H5Dclose(r->id[i]);
    r->opened = -1;
}

static enum tac_err open_group(struct tac_ctx *ctx, struct tac_recorded *r, int64_t g)
{
    static const char *const name[3] = {"start", "time", "position"};
    struct tac_recorded_group *group = &r->group[g];
    int64_t rows[3];
    char what[128];
    if (r->opened == g)
        return TAC_OK;
    close_group(r);
    group->together = 1 << 16;
    for (int i = 0; i < 3; i++) {
        r->id[i] =
            open_dataset(r, group->path, name[i], i == POSITION, i == POSITION ? 3 : 0, &rows[i], &group->together);
        if (r->id[i] < 0) {
            snprintf(what, sizeof what, "%s/%s is missing or not as it should be", group->path, name[i]);
            while (i-- > 0)
                H5Dclose(r->id[i]);
            return tac_recorded_damaged(ctx, r, what);
        }
    }
    r->opened = g;
    group->rows = rows[TIME];
    if (rows[START] != (int64_t)r->vertex_count + 1)
        snprintf(what, sizeof what, "%s/start has %" PRId64 " rows for %" TAC_PRILID " vertices, not one more",
                 group->path, rows[START], r->vertex_count);
    else if (rows[TIME] != rows[POSITION])
        snprintf(what, sizeof what, "time and position of %s differ in length", group->path);
    else
        return TAC_OK;
    return tac_recorded_damaged(ctx, r, what);
}

struct listing {
    struct tac_ctx *ctx;
    struct tac_recorded *r;
    size_t capacity;
    bool partial;
    enum tac_err err;
};

static herr_t add_group(hid_t parent, const char *name, const H5L_info_t *info, void *data)
{
    struct listing *l = data;
    struct tac_recorded *r = l->r;
    const bool self = l->partial && strcmp(name, "start") == 0; /* /partial is a group itself */
    const size_t n = strspn(name, "0123456789");
    if (info->type != H5L_TYPE_HARD || (!self && (n < 6 || n > 18 || name[n] != '\0')))
        return 0; /* not ours: a reader of today passes over what a writer of tomorrow adds */
    l->err = tac_grow(l->ctx, &r->group, &l->capacity, (size_t)r->group_count + 1, sizeof *r->group);
    if (l->err)
        return -1;
    struct tac_recorded_group *g = &r->group[r->group_count++];
    memset(g, 0, sizeof *g);
    snprintf(g->path, sizeof g->path, "%s%s%.20s", l->partial ? "/partial" : "/record", self ? "" : "/",
             self ? "" : name);
    g->index = self ? -1 : strtoll(name, NULL, 10);
    g->partial = l->partial;
    return 0;
}

static int by_index(const void *a, const void *b)
{
    const struct tac_recorded_group *p = a, *q = b;
    if (p->partial != q->partial)
        return p->partial ? 1 : -1;
    return (p->index > q->index) - (p->index < q->index);
}

static enum tac_err list_groups(struct tac_ctx *ctx, struct tac_recorded *r)
{
    struct listing l = {ctx, r, 0, false, TAC_OK};
    for (int i = 0; i < 2; i++) {
        l.partial = i == 1;
        const char *name = l.partial ? "partial" : "record";
        if (H5Lexists(r->file, name, H5P_DEFAULT) <= 0) {
            if (l.partial)
                break;
            return tac_recorded_damaged(ctx, r, "it has no group /record");
        }
        hid_t group = H5Gopen2(r->file, name, H5P_DEFAULT);
        herr_t walked = group >= 0 ? H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, add_group, &l) : -1;
        if (group >= 0)
            H5Gclose(group);
        if (l.err)
            return l.err;
        if (walked < 0)
            return tac_recorded_damaged(ctx, r, "its list of groups cannot be read");
    }
    if (r->group_count == 0)
        return tac_recorded_damaged(ctx, r, "nothing was recorded: /record has no group");
    qsort(r->group, (size_t)r->group_count, sizeof *r->group, by_index);
    for (int64_t g = 1; g < r->group_count; g++)
        if (by_index(&r->group[g - 1], &r->group[g]) == 0)
            return tac_recorded_damaged(ctx, r, "a group is listed twice");
    return TAC_OK;
}

/* The attribute quantum_s of /record, or of the whole file. */
static bool read_quantum(struct tac_recorded *r)
{
    static const char *const where[2] = {"/record", "/"};
    for (int i = 0; i < 2; i++) {
        if (H5Aexists_by_name(r->file, where[i], "quantum_s", H5P_DEFAULT) <= 0)
            continue;
        hid_t id = H5Aopen_by_name(r->file, where[i], "quantum_s", H5P_DEFAULT, H5P_DEFAULT);
        hid_t space = id >= 0 ? H5Aget_space(id) : -1, type = id >= 0 ? H5Aget_type(id) : -1;
        bool ok = space >= 0 && type >= 0 && H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == 8 &&
                  H5Sget_simple_extent_npoints(space) == 1 && H5Aread(id, H5T_NATIVE_DOUBLE, &r->quantum_s) >= 0;
        if (type >= 0)
            H5Tclose(type);
        if (space >= 0)
            H5Sclose(space);
        if (id >= 0)
            H5Aclose(id);
        return ok && isfinite(r->quantum_s) && r->quantum_s > 0;
    }
    return false;
}

/* The writer was stopped in the middle of a group that has no start yet: it can only be the last one. */
static enum tac_err drop_unfinished(struct tac_ctx *ctx, struct tac_recorded *r)
{
    for (int64_t g = r->group_count; g-- > 0;) {
        char path[64];
        snprintf(path, sizeof path, "%s/start", r->group[g].path);
        const htri_t there = H5Lexists(r->file, path, H5P_DEFAULT);
        if (there < 0)
            return tac_recorded_damaged(ctx, r, "a group of it cannot be read");
        if (there > 0)
            continue;
        const bool last = g + 1 == r->group_count || r->group[g + 1].partial;
        if (!r->group[g].partial && (!last || r->unfinished)) {
            char what[96];
            snprintf(what, sizeof what, "%s has no start, and is not the last group", r->group[g].path);
            return tac_recorded_damaged(ctx, r, what);
        }
        r->unfinished = r->unfinished || !r->group[g].partial;
        memmove(&r->group[g], &r->group[g + 1], (size_t)(r->group_count - g - 1) * sizeof *r->group);
        r->group_count--;
    }
    return r->group_count > 0 ? TAC_OK : tac_recorded_damaged(ctx, r, "nothing was recorded to its end");
}

/* look: opens every group too. */
static enum tac_err open_file(struct tac_ctx *ctx, struct tac_recorded *r, bool look)
{
    enum tac_err err = TAC_OK;
    char format[64];
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7)
    /* Locks fail on some network file systems, and keep no run from writing. */
    if (access >= 0)
        H5Pset_file_locking(access, false, true);
#endif
    r->file = H5Fopen(r->path, H5F_ACC_RDONLY, access >= 0 ? access : H5P_DEFAULT);
    if (access >= 0)
        H5Pclose(access);
    if (r->file < 0)
        return tac_recorded_damaged(ctx, r, "the HDF5 library cannot open it");
    if (tac_h5_get_text(r->file, "format", format, sizeof format) && strcmp(format, TAC_RECORD_FORMAT) != 0) {
        tac_tame(format);
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "'%s' has the format '%s', but this version (%s) reads '%s'", r->path,
                         format, tac_version(), TAC_RECORD_FORMAT));
    }
    TAC_TRY(list_groups(ctx, r));
    TAC_TRY(drop_unfinished(ctx, r));
    if (!read_quantum(r))
        TAC_TRY(tac_recorded_damaged(ctx, r, "it has no attribute quantum_s that is a time"));
    for (int64_t g = 0; look && g < r->group_count; g++)
        TAC_TRY(open_group(ctx, r, g));
done:
    return err;
}

static enum tac_err open_in_child(struct tac_ctx *ctx, void *data, int64_t *result)
{
    return open_file(ctx, data, true);
}

static enum tac_err find_file(struct tac_ctx *ctx, const char *dir, struct tac_recorded *r)
{
    struct stat s;
    size_t size = strlen(dir) + sizeof "/record.h5";
    enum tac_err err = tac_alloc(ctx, size, 1, &r->path);
    if (err)
        return err;
    snprintf(r->path, size, "%s/record.h5", dir);
    if (ctx->rank != 0)
        return TAC_OK;
    if (stat(r->path, &s) != 0)
        return tac_fail(
            ctx, TAC_ERR_INPUT,
            "'%.500s' holds no record of its run (record.h5: %s); run with --record, or look at the frames: "
            "tactus audit %.500s --frames",
            dir, strerror(errno), dir);
    if (!S_ISREG(s.st_mode))
        return tac_fail(ctx, TAC_ERR_INPUT, "'%.1000s' is no file", r->path);
    if (H5Fis_hdf5(r->path) <= 0)
        return tac_recorded_damaged(ctx, r, "it is not HDF5");
    return tac_child_try(ctx, r->path, s.st_size, open_in_child, r, NULL);
}

enum tac_err tac_recorded_open(struct tac_ctx *ctx, const char *dir, tac_lid vertex_count, struct tac_recorded **out)
{
    enum tac_err err = TAC_OK;
    struct tac_recorded *r = NULL;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    *out = NULL;
    err = tac_alloc(ctx, 1, sizeof *r, &r);
    if (!err) {
        *r = (struct tac_recorded){.file = -1, .vertex_count = vertex_count, .opened = -1};
        err = find_file(ctx, dir, r);
    }
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_agree(ctx, open_file(ctx, r, false)));
    if (r->unfinished)
        tac_warn(ctx, "'%s': the last interval was not finished and is left out", r->path);
    *out = r;
    r = NULL;
done:
    tac_recorded_close(&r);
    tac_h5_restore(&quiet);
    return err;
}

void tac_recorded_close(struct tac_recorded **p)
{
    struct tac_recorded *r = *p;
    struct tac_h5_quiet quiet;
    if (r == NULL)
        return;
    tac_h5_quiet(&quiet);
    close_group(r);
    if (r->file >= 0)
        H5Fclose(r->file);
    tac_h5_restore(&quiet);
    free(r->path);
    free(r->group);
    free(r);
    *p = NULL;
}

/* Rows begin .. begin + count of an open dataset. */
static bool read_rows(hid_t id, hid_t type, int columns, int64_t begin, int64_t count, void *data)
{
    hsize_t from[2] = {(hsize_t)begin, 0}, size[2] = {(hsize_t)count, (hsize_t)columns};
    hid_t space = H5Dget_space(id), memory = H5Screate_simple(columns > 0 ? 2 : 1, size, NULL);
    bool ok = space >= 0 && memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, size, NULL) >= 0 &&
              H5Dread(id, type, memory, space, H5P_DEFAULT, data) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return ok;
}

enum tac_err tac_recorded_starts(struct tac_ctx *ctx, struct tac_recorded *r, int64_t g, int64_t *start)
{
    enum tac_err err = TAC_OK;
    const struct tac_recorded_group *group = &r->group[g];
    char what[160];
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    TAC_TRY(open_group(ctx, r, g));
    if (!read_rows(r->id[START], H5T_NATIVE_INT64, 0, 0, (int64_t)r->vertex_count + 1, start)) {
        snprintf(what, sizeof what, "cannot read %s/start", group->path);
        TAC_TRY(tac_recorded_damaged(ctx, r, what));
    }
    bool sound = start[0] == 0 && start[r->vertex_count] == group->rows;
    for (tac_lid i = 0; i < r->vertex_count && sound; i++)
        sound = start[i + 1] >= 2 && start[i + 1] - 2 >= start[i];
    if (!sound) {
        snprintf(what, sizeof what,
                 "%s/start does not ascend from 0 to the number of rows with two or more for each vertex", group->path);
        err = tac_recorded_damaged(ctx, r, what);
    }
done:
    tac_h5_restore(&quiet);
    return err;
}

enum tac_err tac_recorded_interval(struct tac_ctx *ctx, struct tac_recorded *r, int64_t g, const int64_t *start,
                                   tac_time t[2])
{
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    enum tac_err err = open_group(ctx, r, g);
    if (!err && (!read_rows(r->id[TIME], H5T_NATIVE_INT64, 0, 0, 1, &t[0]) ||
                 !read_rows(r->id[TIME], H5T_NATIVE_INT64, 0, start[1] - 1, 1, &t[1]))) {
        char what[96];
        snprintf(what, sizeof what, "cannot read %s/time", r->group[g].path);
        err = tac_recorded_damaged(ctx, r, what);
    }
    tac_h5_restore(&quiet);
    return err;
}

enum tac_err tac_recorded_stream(struct tac_ctx *ctx, struct tac_recorded *r, int64_t g, const int64_t *start,
                                 enum tac_err (*row)(void *user, const struct tac_recorded_row *row), void *user)
{
    enum { PORTION = 1 << 18 };
    enum tac_err err = TAC_OK;
    const struct tac_recorded_group *group = &r->group[g];
    tac_time *time = NULL;
    double *position = NULL;
    tac_lid vertex = 0;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    TAC_TRY(open_group(ctx, r, g));
    /* Whole chunks, or one would be unpacked twice. */
    const int64_t portion = group->together >= PORTION ? PORTION : PORTION / group->together * group->together;
    TAC_TRY(tac_alloc(ctx, (size_t)portion, sizeof *time, &time));
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)portion, sizeof *position, &position));
    for (int64_t begin = 0; begin < group->rows; begin += portion) {
        const int64_t count = group->rows - begin < portion ? group->rows - begin : portion;
        if (!read_rows(r->id[TIME], H5T_NATIVE_INT64, 0, begin, count, time) ||
            !read_rows(r->id[POSITION], H5T_NATIVE_DOUBLE, 3, begin, count, position)) {
            char what[96];
            snprintf(what, sizeof what, "cannot read the rows of %s", group->path);
            TAC_TRY(tac_recorded_damaged(ctx, r, what));
        }
        for (int64_t k = 0; k < count; k++) {
            while (begin + k >= start[vertex + 1])
                vertex++;
            TAC_TRY(
                row(user, &(struct tac_recorded_row){vertex, begin + k == start[vertex],
                                                     begin + k + 1 == start[vertex + 1], time[k], position + 3 * k}));
        }
    }
done:
    free(time);
    free(position);
    tac_h5_restore(&quiet);
    return err;
}
