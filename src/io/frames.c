/* frames.c: frames.h5 by parallel HDF5. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/disk.h"
#include "io/output.h"

/* One dataset to be: rows x columns, this rank's part of it. */
struct dataset {
    hid_t group;
    const char *name, *units; /* units NULL: none */
    hid_t type;
    int columns; /* 0: one-dimensional */
    tac_gid rows, begin, end;
    const void *data; /* rows begin .. end */
};

/* Keeps HDF5's reason before another call of it clears that. */
static bool note(struct tac_frames *w, bool ok)
{
    if (!ok && w->reason[0] == '\0')
        tac_h5_reason(w->reason, sizeof w->reason);
    return ok;
}

/* Agrees on how an HDF5 step went.  A file on which one failed is never written again. */
static enum tac_err step(struct tac_ctx *ctx, struct tac_frames *w, const char *what, bool ok)
{
    enum tac_err err = TAC_OK;
    if (w->disk_error != 0) {
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s to %s: %s; is the disk in order?", what, w->path,
                       strerror(w->disk_error));
    } else if (!ok) {
        note(w, false);
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s to %s: %s; is the disk in order?", what, w->path, w->reason);
    }
    err = tac_agree(ctx, err);
    w->broken = w->broken || err;
    return err;
}

/* Tracking the order of attributes makes HDF5 write object headers of version 2, which have checksums.  (Groups of the
 * newer kind have them too, but a run that is killed while it writes one leaves a file that takes readers down.) */
static hid_t checked_list(void)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (list >= 0 && H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED) < 0) {
        H5Pclose(list);
        return -1;
    }
    return list;
}

static hid_t creation_list(const struct dataset *d)
{
    hid_t list = checked_list();
    hsize_t chunk[2] = {(hsize_t)(d->rows < TAC_CHUNK_ROWS ? d->rows : TAC_CHUNK_ROWS), (hsize_t)d->columns};
    if (list < 0 || d->rows == 0)
        return list; /* a chunk may not be empty */
    if (H5Pset_chunk(list, d->columns > 0 ? 2 : 1, chunk) < 0 || H5Pset_shuffle(list) < 0 ||
        H5Pset_deflate(list, 1) < 0 || H5Pset_fletcher32(list) < 0 || H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) < 0) {
        H5Pclose(list);
        return -1;
    }
    return list;
}

static hid_t create_dataset(struct tac_frames *w, const struct dataset *d, hid_t space)
{
    hid_t list = creation_list(d), id = -1;
    if (list < 0)
        return -1;
    id = H5Dcreate2(d->group, d->name, d->type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    note(w, id >= 0);
    H5Pclose(list);
    if (id >= 0 && d->units != NULL && !tac_h5_put_text(id, "units", d->units)) {
        H5Dclose(id);
        return -1;
    }
    return id;
}

/* Collective: every rank transfers, also the ones without rows, for filters need it. */
static bool transfer(struct tac_frames *w, const struct dataset *d, hid_t id, hid_t space)
{
    int rank = d->columns > 0 ? 2 : 1;
    hsize_t start[2] = {(hsize_t)d->begin, 0}, count[2] = {(hsize_t)(d->end - d->begin), (hsize_t)d->columns};
    hid_t memory = H5Screate_simple(rank, count, NULL);
    herr_t selected;
    if (memory < 0)
        return false;
    if (d->end > d->begin) {
        selected = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    } else {
        selected = H5Sselect_none(space);
        H5Sselect_none(memory);
    }
    static const double nothing[3];
    const void *data = d->end > d->begin ? d->data : nothing;
    bool ok = note(w, selected >= 0 && H5Dwrite(id, d->type, memory, space, w->collective, data) >= 0);
    H5Sclose(memory);
    return ok;
}

static enum tac_err write_dataset(struct tac_ctx *ctx, struct tac_frames *w, const struct dataset *d)
{
    enum tac_err err = TAC_OK;
    hsize_t size[2] = {(hsize_t)d->rows, (hsize_t)d->columns};
    hid_t space = H5Screate_simple(d->columns > 0 ? 2 : 1, size, NULL), id = -1;
    if (space >= 0)
        id = create_dataset(w, d, space);
    TAC_TRY(step(ctx, w, d->name, space >= 0 && id >= 0));
    if (d->rows > 0)
        TAC_TRY(step(ctx, w, d->name, transfer(w, d, id, space)));
done:
    if (id >= 0 && H5Dclose(id) < 0)
        w->broken = true;
    if (space >= 0)
        H5Sclose(space);
    return err;
}

/* At most what `rows` of `bytes` in all take on disk: deflate may grow a chunk, and chunks are listed. */
static int64_t space_for(tac_gid rows, int64_t row_bytes)
{
    int64_t raw = rows * row_bytes;
    return raw + raw / 512 + (rows / TAC_CHUNK_ROWS + 1) * 256;
}

static enum tac_err reserve(struct tac_ctx *ctx, struct tac_frames *w, int64_t bytes)
{
    enum { METADATA_BYTES = 128 * 1024 };
    enum tac_err err = TAC_OK;
    if (w->space_fd >= 0)
        err = tac_space_reserve(ctx, w->space_fd, w->path, bytes + METADATA_BYTES, &w->reserved);
    return tac_agree(ctx, err);
}

/* ---- /mesh ---- */

/* A list of vertex ids of the scene as 64-bit values: the i-th value, so that each rank makes its own part only. */
typedef int64_t (*value_at)(const struct tac_scene *scene, const tac_lid *points, int64_t i);

static int64_t triangle_value(const struct tac_scene *scene, const tac_lid *points, int64_t i)
{
    return scene->triangle[i];
}

static int64_t segment_value(const struct tac_scene *scene, const tac_lid *points, int64_t i)
{
    return scene->segment[i];
}

static int64_t point_value(const struct tac_scene *scene, const tac_lid *points, int64_t i)
{
    return points[i];
}

/* XDMF's mixed topology: 4 a b c (triangle), 2 2 a b (polyline of two), 1 1 a (polyvertex of one). */
static int64_t cell_value(const struct tac_scene *scene, const tac_lid *points, int64_t i)
{
    int64_t triangles = 4 * (int64_t)scene->triangle_count, segments = 4 * (int64_t)scene->segment_count;
    if (i < triangles)
        return i % 4 == 0 ? 4 : scene->triangle[i / 4 * 3 + i % 4 - 1];
    i -= triangles;
    if (i < segments)
        return i % 4 < 2 ? 2 : scene->segment[i / 4 * 2 + i % 4 - 2];
    i -= segments;
    return i % 3 < 2 ? 1 : points[i / 3];
}

static enum tac_err write_ids(struct tac_ctx *ctx, struct tac_frames *w, hid_t mesh, const char *name, tac_gid rows,
                              int columns, const struct tac_scene *scene, const tac_lid *points, value_at value)
{
    enum tac_err err = TAC_OK;
    struct dataset d = {mesh, name, NULL, TAC_GID_HDF5, columns, rows, 0, 0, NULL};
    int64_t width = columns > 0 ? columns : 1, *part = NULL;
    tac_rows_of_rank(rows, ctx->rank, ctx->size, &d.begin, &d.end);
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)((d.end - d.begin) * width), sizeof *part, &part)));
    for (int64_t i = 0, n = (d.end - d.begin) * width; i < n; i++)
        part[i] = value(scene, points, d.begin * width + i);
    d.data = part;
    TAC_TRY(write_dataset(ctx, w, &d));
done:
    free(part);
    return err;
}

static enum tac_err write_radius(struct tac_ctx *ctx, struct tac_frames *w, hid_t mesh, const struct tac_scene *scene)
{
    enum tac_err err = TAC_OK;
    double *radius = NULL;
    struct dataset d = {mesh, "radius", "m", H5T_NATIVE_DOUBLE, 0, scene->vertex_count, w->row_begin, w->row_end, NULL};
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)(d.end - d.begin), sizeof *radius, &radius)));
    for (tac_gid i = d.begin; i < d.end; i++)
        radius[i - d.begin] = scene->body[scene->vertex_body[i]].radius;
    d.data = radius;
    TAC_TRY(write_dataset(ctx, w, &d));
done:
    free(radius);
    return err;
}

/* Fixed-length strings, for parallel HDF5 cannot write those of variable length; rank 0 writes. */
static enum tac_err write_body_names(struct tac_ctx *ctx, struct tac_frames *w, hid_t mesh,
                                     const struct tac_scene *scene)
{
    enum tac_err err = TAC_OK;
    size_t longest = 1;
    char *text = NULL;
    hid_t type = -1;
    for (tac_lid b = 0; b < scene->body_count; b++)
        if (strlen(scene->body[b].name) > longest)
            longest = strlen(scene->body[b].name);
    TAC_TRY(reserve(ctx, w, (int64_t)longest * scene->body_count));
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)scene->body_count, longest, &text)));
    for (tac_lid b = 0; b < scene->body_count; b++)
        memcpy(text + (size_t)b * longest, scene->body[b].name, strlen(scene->body[b].name));
    type = H5Tcopy(H5T_C_S1);
    TAC_TRY(step(ctx, w, "body_names",
                 type >= 0 && H5Tset_size(type, longest) >= 0 && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                     H5Tset_cset(type, H5T_CSET_UTF8) >= 0));
    struct dataset d = {mesh, "body_names", NULL, type, 0, scene->body_count, 0, ctx->rank == 0 ? scene->body_count : 0,
                        text};
    TAC_TRY(write_dataset(ctx, w, &d));
done:
    if (type >= 0)
        H5Tclose(type);
    free(text);
    return err;
}

static enum tac_err list_points(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_scene *scene,
                                tac_lid **points)
{
    enum tac_err err = tac_alloc(ctx, (size_t)scene->vertex_count, sizeof **points, points);
    for (tac_lid i = 0; !err && i < scene->vertex_count; i++)
        if (!scene->body[scene->vertex_body[i]].has_elements)
            (*points)[w->point_count++] = i;
    return tac_agree(ctx, err);
}

static enum tac_err write_mesh(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_scene *scene)
{
    enum tac_err err = TAC_OK;
    tac_lid *points = NULL;
    hid_t mesh = -1;
    TAC_TRY(list_points(ctx, w, scene, &points));
    tac_gid triangles = scene->triangle_count, segments = scene->segment_count;
    w->mixed = (triangles > 0) + (segments > 0) + (w->point_count > 0) > 1;
    tac_gid cells = w->mixed ? 4 * triangles + 4 * segments + 3 * w->point_count : 0;
    TAC_TRY(reserve(ctx, w,
                    space_for(triangles, 24) + space_for(segments, 16) + space_for(w->point_count, 8) +
                        space_for(cells, 8) + space_for(w->vertex_count, 12)));
    mesh = H5Gcreate2(w->file, "mesh", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    TAC_TRY(step(ctx, w, "/mesh", mesh >= 0));
    TAC_TRY(write_ids(ctx, w, mesh, "triangles", triangles, 3, scene, points, triangle_value));
    TAC_TRY(write_ids(ctx, w, mesh, "segments", segments, 2, scene, points, segment_value));
    TAC_TRY(write_ids(ctx, w, mesh, "points", w->point_count, 0, scene, points, point_value));
    if (w->mixed)
        TAC_TRY(write_ids(ctx, w, mesh, "cells", cells, 0, scene, points, cell_value));
    struct dataset body = {mesh,         "body",     NULL,
                           TAC_LID_HDF5, 0,          w->vertex_count,
                           w->row_begin, w->row_end, scene->vertex_body + w->row_begin};
    TAC_TRY(write_dataset(ctx, w, &body));
    TAC_TRY(write_radius(ctx, w, mesh, scene));
    TAC_TRY(write_body_names(ctx, w, mesh, scene));
done:
    if (mesh >= 0 && H5Gclose(mesh) < 0)
        w->broken = true;
    free(points);
    return err;
}

/* ---- the file ---- */

static enum tac_err flush(struct tac_ctx *ctx, struct tac_frames *w, const char *what)
{
    return step(ctx, w, what, H5Fflush(w->file, H5F_SCOPE_GLOBAL) >= 0);
}

/* Several ranks write through MPI-IO.  One rank needs none of it: MPI-IO's flush waits for the disk, which would cost
 * milliseconds a frame.  No locks in either case: who looks at a run shall not be refused. */
static hid_t access_list(struct tac_ctx *ctx, struct tac_frames *w)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0)
        return -1;
    bool ok = H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
              (ctx->size > 1 ? H5Pset_fapl_mpio(access, ctx->comm, MPI_INFO_NULL) >= 0
                             : tac_disk_use(access, &w->disk_error, &w->disk));
#if H5_VERSION_GE(1, 10, 7)
    ok = ok && H5Pset_file_locking(access, false, true) >= 0;
#endif
    if (ok)
        return access;
    H5Pclose(access);
    return -1;
}

static enum tac_err create_file(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_scene *scene)
{
    enum tac_err err = TAC_OK;
    hid_t access = access_list(ctx, w);
    bool ok = access >= 0;
    /* Whatever one rank lacks, all stay away from the collective create. */
    TAC_TRY(step(ctx, w, "a new file", ok));
    w->file = H5Fcreate(w->path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    TAC_TRY(step(ctx, w, "a new file", w->file >= 0));
    w->collective = H5Pcreate(H5P_DATASET_XFER);
    TAC_TRY(step(ctx, w, "a new file",
                 w->collective >= 0 && (ctx->size == 1 || H5Pset_dxpl_mpio(w->collective, H5FD_MPIO_COLLECTIVE) >= 0)));
    TAC_TRY(reserve(ctx, w, 0));
    ok = tac_h5_put_text(w->file, "format", TAC_FRAMES_FORMAT) && tac_h5_put_text(w->file, "version", tac_version()) &&
         tac_h5_put_text(w->file, "commit", tac_commit()) && tac_h5_put_text(w->file, "name", scene->name) &&
         tac_h5_put_text(w->file, "scene_sha256", scene->sha256);
    w->frames = ok ? H5Gcreate2(w->file, "frames", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    TAC_TRY(step(ctx, w, "a new file", w->frames >= 0));
done:
    if (access >= 0)
        H5Pclose(access);
    return err;
}

/* Rank 0 makes the file, so that the reason why it cannot be made is the system's own. */
static enum tac_err make_path(struct tac_ctx *ctx, struct tac_frames *w, const char *dir)
{
    enum tac_err err = TAC_OK;
    size_t size = strlen(dir) + sizeof "/frames.h5";
    TAC_TRY(tac_alloc(ctx, size, 1, &w->path));
    snprintf(w->path, size, "%s/frames.h5", dir);
    if (ctx->rank == 0) {
        w->space_fd = open(w->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->space_fd < 0)
            err = tac_fail(ctx, TAC_ERR_RUN, "cannot create %s: %s", w->path, strerror(errno));
    }
done:
    return err;
}

static enum tac_err alloc_rows(struct tac_ctx *ctx, struct tac_frames *w)
{
    enum tac_err err = TAC_OK;
    size_t rows = (size_t)(w->row_end - w->row_begin);
    if (ctx->size == 1)
        return TAC_OK;
    TAC_TRY(tac_alloc(ctx, 3 * rows, sizeof *w->position, &w->position));
    TAC_TRY(tac_alloc(ctx, 3 * rows, sizeof *w->velocity, &w->velocity));
    TAC_TRY(tac_alloc(ctx, 3 * rows, sizeof *w->contact_force, &w->contact_force));
    TAC_TRY(tac_alloc(ctx, rows, sizeof *w->seen, &w->seen));
done:
    return err;
}

enum tac_err tac_frames_create(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                               struct tac_frames **out)
{
    enum tac_err err = TAC_OK;
    struct tac_frames *w = NULL;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    *out = NULL;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 1, sizeof *w, &w)));
    w->file = w->frames = w->collective = -1;
    w->space_fd = -1;
    w->disk = -1;
    w->vertex_count = scene->vertex_count;
    tac_rows_of_rank(w->vertex_count, ctx->rank, ctx->size, &w->row_begin, &w->row_end);
    TAC_TRY(tac_agree(ctx, make_path(ctx, w, dir)));
    TAC_TRY(tac_agree(ctx, alloc_rows(ctx, w)));
    TAC_TRY(create_file(ctx, w, scene));
    TAC_TRY(write_mesh(ctx, w, scene));
    TAC_TRY(flush(ctx, w, "/mesh"));
    *out = w;
    w = NULL;
done:
    if (w != NULL)
        w->broken = true; /* what is not whole is not worth waiting for */
    tac_frames_destroy(ctx, &w);
    tac_h5_restore(&quiet);
    return err;
}

/* ---- frames ---- */

/* Kept in the object header, under its checksum; all ranks write the same there. */
static bool write_time(struct tac_frames *w, hid_t group, double time_s)
{
    hid_t space = H5Screate(H5S_SCALAR), list = checked_list(), id = -1;
    if (space >= 0 && list >= 0 && H5Pset_layout(list, H5D_COMPACT) >= 0)
        id = H5Dcreate2(group, "time", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    bool ok = note(w, id >= 0 && tac_h5_put_text(id, "units", "s") &&
                          H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, w->collective, &time_s) >= 0);
    if (id >= 0)
        ok = H5Dclose(id) >= 0 && ok;
    if (list >= 0)
        H5Pclose(list);
    if (space >= 0)
        H5Sclose(space);
    return ok;
}

static enum tac_err write_frame(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_frame *frame,
                                const double *position, const double *velocity, const float *contact_force)
{
    enum tac_err err = TAC_OK;
    char name[32], what[64];
    snprintf(name, sizeof name, "%06" PRId64, frame->index);
    snprintf(what, sizeof what, "frame %" PRId64, frame->index);
    hid_t group = H5Gcreate2(w->frames, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    TAC_TRY(step(ctx, w, what, group >= 0));
    struct dataset d = {group,           "position",   "m",        H5T_NATIVE_DOUBLE, 3,
                        w->vertex_count, w->row_begin, w->row_end, position};
    TAC_TRY(write_dataset(ctx, w, &d));
    d.name = "velocity";
    d.units = "m/s";
    d.data = velocity;
    TAC_TRY(write_dataset(ctx, w, &d));
    d.name = "contact_force";
    d.units = "N";
    d.type = H5T_NATIVE_FLOAT;
    d.data = contact_force;
    TAC_TRY(write_dataset(ctx, w, &d));
    /* Last: a reader takes a frame without a time for one that was not finished. */
    TAC_TRY(step(ctx, w, what, write_time(w, group, frame->time_s)));
done:
    if (group >= 0 && H5Gclose(group) < 0)
        w->broken = true;
    if (!err)
        err = flush(ctx, w, what);
    return err;
}

enum tac_err tac_frames_write(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_frame *frame)
{
    enum tac_err err = TAC_OK;
    struct tac_h5_quiet quiet;
    TAC_CHECK(w->file >= 0 && frame->index >= 0 && (ctx->size > 1 || frame->count == w->vertex_count));
    if (w->broken)
        return tac_fail(ctx, TAC_ERR_RUN, "%s could not be written before; no frame is added", w->path);
    tac_h5_quiet(&quiet);
    TAC_TRY(reserve(ctx, w, space_for(w->vertex_count, 2 * 24 + 12)));
    if (ctx->size == 1) {
        TAC_TRY(write_frame(ctx, w, frame, frame->position, frame->velocity, frame->contact_force));
    } else {
        TAC_TRY(tac_rows_gather(ctx, w, frame));
        TAC_TRY(write_frame(ctx, w, frame, w->position, w->velocity, w->contact_force));
    }
done:
    tac_h5_restore(&quiet);
    return err;
}

enum tac_err tac_frames_close(struct tac_ctx *ctx, struct tac_frames *w)
{
    enum tac_err err = TAC_OK;
    struct tac_h5_quiet quiet;
    if (w == NULL || w->file < 0)
        return TAC_OK;
    tac_h5_quiet(&quiet);
    if (w->broken && ctx->size > 1)
        tac_space_abandon(w->path, w->space_fd);
    bool ok = (w->frames < 0 || H5Gclose(w->frames) >= 0) && (w->collective < 0 || H5Pclose(w->collective) >= 0);
    ok = H5Fclose(w->file) >= 0 && ok;
    w->file = w->frames = w->collective = -1;
    tac_disk_release(&w->disk);
    if (!w->broken)
        err = step(ctx, w, "the end", ok);
    tac_space_release(w->space_fd);
    tac_h5_restore(&quiet);
    return err;
}

void tac_frames_destroy(struct tac_ctx *ctx, struct tac_frames **w)
{
    if (*w == NULL)
        return;
    tac_frames_close(ctx, *w);
    tac_disk_release(&(*w)->disk);
    if ((*w)->space_fd >= 0)
        close((*w)->space_fd);
    free((*w)->path);
    free((*w)->position);
    free((*w)->velocity);
    free((*w)->contact_force);
    free((*w)->seen);
    free(*w);
    *w = NULL;
}
