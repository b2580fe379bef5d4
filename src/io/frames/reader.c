/* reader.c: opens a frames.h5, lists its frames, and reads positions, velocities and contact forces of a frame. */
#include <tactus/reader.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "io/frames/frames.h"
#include "io/h5/h5.h"
#include "io/h5/stored.h"

static enum tac_err count_mesh(struct tac_ctx *ctx, struct tac_reader *r)
{
    const struct tac_shape *const shapes[] = {&TAC_STORED_TRIANGLES, &TAC_STORED_SEGMENTS,   &TAC_STORED_POINTS,
                                              &TAC_STORED_BODY,      &TAC_STORED_BODY_NAMES, &TAC_STORED_RADIUS};
    int64_t rows[6];
    if (H5Lexists(r->file, "mesh", H5P_DEFAULT) <= 0 || H5Lexists(r->file, "frames", H5P_DEFAULT) <= 0)
        return tac_reader_damaged(ctx, r, "it has no /mesh or no /frames");
    for (int i = 0; i < 6; i++) {
        rows[i] = tac_stored_rows(r, shapes[i]);
        if (rows[i] < 0)
            return tac_fail(ctx, TAC_ERR_INPUT,
                            "'%s' is no frames file of a run, or it is damaged: %s is missing or not as it should be",
                            r->path, shapes[i]->path);
    }
    if (rows[3] != rows[5])
        return tac_reader_damaged(ctx, r, "/mesh/body and /mesh/radius differ in length");
    if (tac_stored_tells_free(r) && tac_stored_rows(r, &TAC_STORED_FREE) != rows[3])
        return tac_reader_damaged(ctx, r, "/mesh/free is not as it should be");
    if (H5Lexists(r->file, TAC_STORED_TETRAHEDRA.path, H5P_DEFAULT) > 0) { /* of scenes with solids */
        const int64_t tetrahedra = tac_stored_rows(r, &TAC_STORED_TETRAHEDRA);
        if (tetrahedra < 0)
            return tac_reader_damaged(ctx, r, "/mesh/tetrahedra is not as it should be");
        r->tetrahedron_count = (tac_lid)tetrahedra;
    }
    r->triangle_count = (tac_lid)rows[0];
    r->segment_count = (tac_lid)rows[1];
    r->point_count = (tac_lid)rows[2];
    r->vertex_count = (tac_lid)rows[3];
    r->body_count = (tac_lid)rows[4];
    return TAC_OK;
}

static bool read_time(const struct tac_reader *r, struct tac_reader_frame *f)
{
    char path[64];
    snprintf(path, sizeof path, "/frames/%s", f->name);
    hid_t group = H5Gopen2(r->file, path, H5P_DEFAULT);
    if (group < 0)
        return false;
    hid_t id = H5Lexists(group, "time", H5P_DEFAULT) > 0 ? H5Dopen2(group, "time", H5P_DEFAULT) : -1;
    hid_t space = id >= 0 ? H5Dget_space(id) : -1;
    const struct tac_shape time = {"", H5T_FLOAT, 8, 0};
    bool ok = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 && tac_stored_type(id, &time) &&
              tac_stored_sound(id, NULL, 0, 8) &&
              H5Dread(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &f->time_s) >= 0 && isfinite(f->time_s);
    if (space >= 0)
        H5Sclose(space);
    if (id >= 0)
        H5Dclose(id);
    H5G_info_t info;
    f->fields = H5Gget_info(group, &info) >= 0 && info.nlinks > 4 ? tac_fields_found(group) : 0;
    H5Gclose(group);
    return ok;
}

bool tac_reader_frame_whole(const struct tac_reader *r, struct tac_reader_frame *f)
{
    static const struct {
        const char *name;
        size_t bytes;
    } fields[3] = {{"position", 8}, {"velocity", 8}, {"contact_force", 4}};
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "/frames/%s/%s", f->name, fields[i].name);
        struct tac_shape s = {path, H5T_FLOAT, fields[i].bytes, 3};
        if (tac_stored_rows(r, &s) != r->vertex_count)
            return false;
    }
    return read_time(r, f) && tac_reader_fields_whole(r, f);
}

struct listing {
    struct tac_ctx *ctx;
    struct tac_reader *r;
    size_t capacity;
    enum tac_err err;
};

static herr_t add_frame(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    struct listing *l = data;
    struct tac_reader *r = l->r;
    size_t n = strspn(name, "0123456789");
    if (n < 6 || n > 18 || name[n] != '\0' || info->type != H5L_TYPE_HARD)
        return 0; /* another name: later versions may add groups, which this reader skips */
    l->err = tac_grow(l->ctx, &r->frame, &l->capacity, (size_t)r->frame_count + 1, sizeof *r->frame);
    if (l->err)
        return -1;
    struct tac_reader_frame *f = &r->frame[r->frame_count++];
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    f->index = strtoll(name, NULL, 10);
    return 0;
}

static int compare_frame_indices(const void *a, const void *b)
{
    int64_t x = ((const struct tac_reader_frame *)a)->index, y = ((const struct tac_reader_frame *)b)->index;
    return (x > y) - (x < y);
}

static enum tac_err list_names(struct tac_ctx *ctx, struct tac_reader *r)
{
    struct listing l = {ctx, r, 0, TAC_OK};
    hid_t group = H5Gopen2(r->file, "frames", H5P_DEFAULT);
    herr_t walked = group >= 0 ? H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, add_frame, &l) : -1;
    if (group >= 0)
        H5Gclose(group);
    if (l.err)
        return l.err;
    if (walked < 0)
        return tac_reader_damaged(ctx, r, "its list of frames cannot be read");
    if (r->frame_count > 0)
        qsort(r->frame, (size_t)r->frame_count, sizeof *r->frame, compare_frame_indices);
    /* A run that was killed while a node of the list was split leaves some frames in it twice. */
    int64_t kept = 0;
    for (int64_t k = 0; k < r->frame_count; k++)
        if (kept == 0 || strcmp(r->frame[k].name, r->frame[kept - 1].name) != 0)
            r->frame[kept++] = r->frame[k];
    r->frame_count = kept;
    return TAC_OK;
}

/* Finds which frames are whole, unless that is known; the last one may be half-written.  Reads their times. */
static enum tac_err list_frames(struct tac_ctx *ctx, struct tac_reader *r, int64_t whole)
{
    enum tac_err err = list_names(ctx, r);
    if (err)
        return err;
    if (r->frame_count > whole) {
        r->incomplete = r->frame_count - whole;
        r->frame_count = whole;
    }
    for (int64_t k = 0; k < r->frame_count; k++) {
        struct tac_reader_frame *f = &r->frame[k];
        if (whole == INT64_MAX ? !tac_reader_frame_whole(r, f) : !read_time(r, f)) {
            if (whole != INT64_MAX || k < r->frame_count - 1)
                return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is damaged: /frames/%s is not whole", r->path, f->name);
            r->frame_count--; /* the writer was stopped in the middle of it */
            r->incomplete++;
        } else if (k > 0 && !(f->time_s > f[-1].time_s)) {
            return tac_fail(ctx, TAC_ERR_INPUT,
                            "'%s' is damaged: the time of /frames/%s is not after the one before it", r->path, f->name);
        }
    }
    return TAC_OK;
}

/* `whole`: how many frames are known to be whole; INT64_MAX: find out. */
static enum tac_err open_frames_file(struct tac_ctx *ctx, struct tac_reader *r, int64_t whole)
{
    char format[64];
    r->file = tac_h5_open_read(r->path);
    if (r->file < 0)
        return tac_reader_damaged(ctx, r, "the HDF5 library cannot open it");
    if (!tac_h5_get_text(r->file, "format", format, sizeof format))
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "'%s' is an HDF5 file, but no frames file of a run (it has no attribute 'format')", r->path);
    tac_tame(format);
    if (strcmp(format, TAC_FRAMES_FORMAT) != 0)
        return tac_fail(ctx, TAC_ERR_INPUT, "'%s' has the format '%s', but this version (%s) reads '%s'", r->path,
                        format, tac_version(), TAC_FRAMES_FORMAT);
    if (!tac_h5_get_text_if_any(r->file, "name", r->name, sizeof r->name) ||
        !tac_h5_get_text_if_any(r->file, "version", r->version, sizeof r->version) ||
        !tac_h5_get_text_if_any(r->file, "commit", r->commit, sizeof r->commit) ||
        !tac_h5_get_text_if_any(r->file, "scene_sha256", r->sha256, sizeof r->sha256))
        return tac_reader_damaged(ctx, r, "an attribute of it cannot be read");
    tac_tame(r->name);
    tac_tame(r->version);
    tac_tame(r->commit);
    tac_tame(r->sha256);
    enum tac_err err = count_mesh(ctx, r);
    return err ? err : list_frames(ctx, r, whole);
}

/* Leaves how many frames are whole. */
static enum tac_err open_in_child(struct tac_ctx *ctx, void *data, int64_t *whole)
{
    struct tac_reader *r = data;
    enum tac_err err = open_frames_file(ctx, r, INT64_MAX);
    *whole = r->frame_count;
    return err;
}

static char *join_texts(const char *a, const char *b)
{
    size_t size = strlen(a) + strlen(b) + 1;
    char *text = malloc(size);
    if (text != NULL)
        snprintf(text, size, "%s%s", a, b);
    return text;
}

static enum tac_err find_file(struct tac_ctx *ctx, const char *path, struct tac_reader *r, off_t *bytes)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%.1000s': %s", path, strerror(errno));
    if (S_ISDIR(s.st_mode)) {
        r->folder = join_texts(path, "");
        r->path = join_texts(path, "/frames.h5");
        if (r->folder == NULL)
            return tac_fail(ctx, TAC_ERR_RUN, "out of memory while opening '%s'", path);
        if (r->path != NULL && stat(r->path, &s) != 0)
            return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is no run folder: cannot read its frames.h5: %s", path,
                            strerror(errno));
    } else {
        r->path = join_texts(path, "");
    }
    if (r->path == NULL)
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory while opening '%s'", path);
    if (!S_ISREG(s.st_mode))
        return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is no file", r->path);
    if (access(r->path, R_OK) != 0)
        return tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%s': %s", r->path, strerror(errno));
    if (!tac_h5_is(r->path))
        return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is no frames file of a run: it is not HDF5", r->path);
    *bytes = s.st_size;
    return TAC_OK;
}

static enum tac_err has_frames_format(struct tac_ctx *ctx, void *path, int64_t *has)
{
    char format[64] = "";
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    hid_t file = tac_h5_open_read(path);
    *has = file >= 0 && tac_h5_get_text(file, "format", format, sizeof format) && strncmp(format, "tactus-", 7) == 0;
    if (file >= 0)
        H5Fclose(file);
    tac_h5_restore(&quiet);
    return TAC_OK;
}

enum tac_err tac_reader_is_frames(struct tac_ctx *ctx, const char *path, bool *is)
{
    int64_t has = 0;
    enum tac_err err =
        tac_h5_is(path) ? tac_child_try(ctx, path, 0, has_frames_format, (void *)(uintptr_t)path, &has) : TAC_OK;
    *is = has != 0;
    return err;
}

/* The local part of opening: each rank finds the file, and rank 0 finds how many of its frames are whole. */
static enum tac_err find_frames(struct tac_ctx *ctx, const char *path, struct tac_reader **out, int64_t *whole)
{
    enum tac_err err = TAC_OK;
    off_t bytes = 0;
    TAC_TRY(tac_alloc(ctx, 1, sizeof **out, out));
    (*out)->file = -1;
    TAC_TRY(find_file(ctx, path, *out, &bytes));
    if (ctx->rank == 0)
        TAC_TRY(tac_child_try(ctx, (*out)->path, bytes, open_in_child, *out, whole));
done:
    return err;
}

enum tac_err tac_reader_open_all(struct tac_ctx *ctx, const char *path, struct tac_reader **out)
{
    enum tac_err err = TAC_OK;
    int64_t whole = 0;
    struct tac_reader *r = NULL;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    *out = NULL;
    TAC_TRY(tac_agree(ctx, find_frames(ctx, path, &r, &whole)));
    if (ctx->size > 1)
        MPI_Bcast(&whole, 1, MPI_INT64_T, 0, ctx->comm);
    TAC_TRY(tac_agree(ctx, open_frames_file(ctx, r, whole)));
    if (r->incomplete > 0)
        tac_warn(ctx, "'%s': the last frame was not finished and is left out", r->path);
    *out = r;
    r = NULL;
done:
    tac_reader_close(&r);
    tac_h5_restore(&quiet);
    return err;
}

enum tac_err tac_reader_open(struct tac_ctx *ctx, const char *path, struct tac_reader **out)
{
    struct tac_ctx alone = *ctx; /* the caller opens the file itself */
    alone.rank = 0;
    alone.size = 1;
    alone.quiet = ctx->quiet || ctx->rank != 0;
    enum tac_err err = tac_reader_open_all(&alone, path, out);
    memcpy(ctx->error, alone.error, sizeof ctx->error);
    ctx->warnings = alone.warnings;
    return err;
}

static enum tac_err read_field(struct tac_ctx *ctx, const struct tac_reader *r, int64_t k, const char *name,
                               size_t bytes, hid_t type, void *data)
{
    char path[64];
    snprintf(path, sizeof path, "/frames/%s/%s", r->frame[k].name, name);
    struct tac_shape s = {path, H5T_FLOAT, bytes, 3};
    if (data == NULL || tac_stored_read(r, &s, r->vertex_count, type, data))
        return TAC_OK;
    return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is damaged: cannot read %s", r->path, path);
}

enum tac_err tac_reader_frame(struct tac_ctx *ctx, const struct tac_reader *r, int64_t k, double *position,
                              double *velocity, float *contact_force)
{
    enum tac_err err = TAC_OK;
    struct tac_h5_quiet quiet;
    TAC_CHECK(k >= 0 && k < r->frame_count);
    tac_h5_quiet(&quiet);
    TAC_TRY(read_field(ctx, r, k, "position", 8, H5T_NATIVE_DOUBLE, position));
    TAC_TRY(read_field(ctx, r, k, "velocity", 8, H5T_NATIVE_DOUBLE, velocity));
    TAC_TRY(read_field(ctx, r, k, "contact_force", 4, H5T_NATIVE_FLOAT, contact_force));
done:
    tac_h5_restore(&quiet);
    return err;
}

enum tac_err tac_reader_positions(struct tac_ctx *ctx, const struct tac_reader *r, int64_t k, tac_lid begin,
                                  tac_lid count, double *x)
{
    char path[64];
    int64_t rows = 0;
    struct tac_h5_quiet quiet;
    TAC_CHECK(k >= 0 && k < r->frame_count);
    snprintf(path, sizeof path, "/frames/%s/position", r->frame[k].name);
    const struct tac_shape shape = {path, H5T_FLOAT, 8, 3};
    tac_h5_quiet(&quiet);
    hid_t id = tac_stored_open(r, &shape, &rows);
    const bool ok = id >= 0 && rows == r->vertex_count && tac_h5_read_rows(id, H5T_NATIVE_DOUBLE, 3, begin, count, x);
    if (id >= 0)
        H5Dclose(id);
    tac_h5_restore(&quiet);
    return ok ? TAC_OK : tac_fail(ctx, TAC_ERR_INPUT, "'%s' is damaged: cannot read %s", r->path, path);
}

void tac_reader_close(struct tac_reader **p)
{
    struct tac_reader *r = *p;
    if (r == NULL)
        return;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    if (r->file >= 0)
        H5Fclose(r->file);
    tac_h5_restore(&quiet);
    for (tac_lid b = 0; r->body_name != NULL && b < r->body_count; b++)
        free(r->body_name[b]);
    free(r->body_name);
    free(r->path);
    free(r->folder);
    free(r->frame);
    free(r->triangle);
    free(r->segment);
    free(r->tetrahedron);
    free(r->point);
    free(r->body);
    free(r->radius);
    free(r->free);
    free(r);
    *p = NULL;
}
