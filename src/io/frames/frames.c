/* frames.c: creates frames.h5 and writes its frames.
 *
 * Only rank 0 opens the file, which is whole at every moment (io/h5/disk.h); the other ranks send it their chunks
 * (io/h5/dataset_gather.c). So if any rank is killed at any write, the file has all frames that were flushed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/frames/frames.h"
#include "io/h5/disk.h"

enum tac_err tac_frames_flush(struct tac_ctx *ctx, struct tac_frames *w, const char *what)
{
    return tac_frames_step(ctx, w, what, !tac_frames_writes(ctx) || H5Fflush(w->file, H5F_SCOPE_GLOBAL) >= 0);
}

/* HDF5's locks are off, so that readers of a running run are not refused. */
hid_t tac_frames_access(struct tac_frames *w)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0)
        return -1;
    bool ok = H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 && tac_disk_use(access, &w->disk_error, &w->disk);
#if H5_VERSION_GE(1, 10, 7)
    ok = ok && H5Pset_file_locking(access, false, true) >= 0;
#endif
    if (ok)
        return access;
    H5Pclose(access);
    return -1;
}

enum tac_err tac_frames_new_file(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_scene *scene,
                                 const char *format, const char *group)
{
    enum tac_err err = TAC_OK;
    const bool writes = tac_frames_writes(ctx);
    hid_t access = writes ? tac_frames_access(w) : -1;
    w->file = access >= 0 ? H5Fcreate(w->path, H5F_ACC_TRUNC, H5P_DEFAULT, access) : -1;
    TAC_TRY(tac_frames_step(ctx, w, "a new file", !writes || w->file >= 0));
    w->open = true;
    TAC_TRY(tac_frames_reserve(ctx, w, 0));
    if (writes && tac_h5_put_text(w->file, "format", format) && tac_h5_put_text(w->file, "version", tac_version()) &&
        tac_h5_put_text(w->file, "commit", tac_commit()) && tac_h5_put_text(w->file, "name", scene->settings->name) &&
        tac_h5_put_text(w->file, "scene_sha256", scene->settings->sha256))
        w->frames = H5Gcreate2(w->file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    TAC_TRY(tac_frames_step(ctx, w, "a new file", !writes || w->frames >= 0));
done:
    if (access >= 0)
        H5Pclose(access);
    return err;
}

/* Rank 0 makes or opens the file first, so that the sentence for a failure has the system's own reason. */
static enum tac_err make_path(struct tac_ctx *ctx, struct tac_frames *w, const char *dir, const char *name, bool create)
{
    enum tac_err err = TAC_OK;
    size_t size = strlen(dir) + strlen(name) + 2;
    TAC_TRY(tac_alloc(ctx, size, 1, &w->path));
    snprintf(w->path, size, "%s/%s", dir, name);
    if (ctx->rank == 0) {
        w->space_fd = open(w->path, O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0666);
        if (w->space_fd < 0)
            err = tac_fail(ctx, TAC_ERR_RUN, "cannot %s %s: %s", create ? "create" : "write", w->path, strerror(errno));
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

enum tac_err tac_frames_handle(struct tac_ctx *ctx, const char *dir, const char *name, bool create,
                               struct tac_frames **out)
{
    enum tac_err err = TAC_OK;
    struct tac_frames *w = NULL;
    *out = NULL;
    err = tac_alloc(ctx, 1, sizeof *w, &w);
    if (w != NULL) { /* before the ranks agree: a rank that has one destroys it, even if another has none */
        w->file = w->frames = -1;
        w->space_fd = -1;
        w->disk = -1;
    }
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_agree(ctx, make_path(ctx, w, dir, name, create)));
    *out = w;
    w = NULL;
done:
    tac_frames_destroy(ctx, &w);
    return err;
}

enum tac_err tac_frames_blank(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, bool create,
                              struct tac_frames **out)
{
    enum tac_err err = TAC_OK;
    struct tac_frames *w = NULL;
    *out = NULL;
    TAC_TRY(tac_frames_handle(ctx, dir, "frames.h5", create, &w));
    w->vertex_count = scene->mesh->vertex_count;
    tac_rows_of_rank(w->vertex_count, ctx->rank, ctx->size, &w->row_begin, &w->row_end);
    TAC_TRY(tac_agree(ctx, alloc_rows(ctx, w)));
    *out = w;
    w = NULL;
done:
    tac_frames_destroy(ctx, &w);
    return err;
}

enum tac_err tac_frames_create(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, struct tac_frames **out)
{
    enum tac_err err = TAC_OK;
    struct tac_frames *w = NULL;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    *out = NULL;
    TAC_TRY(tac_frames_blank(ctx, scene, dir, true, &w));
    TAC_TRY(tac_frames_new_file(ctx, w, scene, TAC_FRAMES_FORMAT, "frames"));
    TAC_TRY(tac_frames_mesh(ctx, w, scene, pieces));
    TAC_TRY(tac_frames_flush(ctx, w, "/mesh"));
    *out = w;
    w = NULL;
done:
    if (w != NULL)
        w->broken = true; /* the file is not whole, so no rank needs to wait for it */
    tac_frames_destroy(ctx, &w);
    tac_h5_restore(&quiet);
    return err;
}

enum tac_err tac_frames_sync(struct tac_ctx *ctx, struct tac_frames *w)
{
    enum tac_err err = TAC_OK;
    struct tac_h5_quiet quiet;
    if (w->broken || !w->open)
        return TAC_OK;
    tac_h5_quiet(&quiet);
    TAC_TRY(tac_frames_flush(ctx, w, "frames"));
    if (ctx->rank == 0 && fsync(w->space_fd) != 0)
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s: %s; is the disk in order?", w->path, strerror(errno));
done:
    tac_h5_restore(&quiet);
    return tac_agree(ctx, err);
}

/* ---- frames ---- */

/* Kept in the object header, under its checksum. */
static bool write_time(struct tac_frames *w, hid_t group, double time_s)
{
    hid_t space = H5Screate(H5S_SCALAR), list = tac_dataset_list(), id = -1;
    if (space >= 0 && list >= 0 && H5Pset_layout(list, H5D_COMPACT) >= 0)
        id = H5Dcreate2(group, "time", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    bool ok = tac_frames_note(w, id >= 0 && tac_h5_put_text(id, "units", "s") &&
                                     H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &time_s) >= 0);
    if (id >= 0) {
        ok = H5Dclose(id) >= 0 && ok;
        if (!ok)
            H5Ldelete(group, "time", H5P_DEFAULT); /* a frame with a time would count as whole */
    }
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
    bool closed;
    hid_t group = -1;
    snprintf(name, sizeof name, "%06" PRId64, frame->index);
    snprintf(what, sizeof what, "frame %" PRId64, frame->index);
    TAC_TRY(tac_frames_group(ctx, w, w->frames, name, what, &group));
    struct tac_dataset d = {group,           "position",   "m",        H5T_NATIVE_DOUBLE, 3,
                            w->vertex_count, w->row_begin, w->row_end, position};
    TAC_TRY(tac_dataset_write(ctx, w, &d));
    d.name = "velocity";
    d.units = "m/s";
    d.data = velocity;
    TAC_TRY(tac_dataset_write(ctx, w, &d));
    d.name = "contact_force";
    d.units = "N";
    d.type = H5T_NATIVE_FLOAT;
    d.data = contact_force;
    TAC_TRY(tac_dataset_write(ctx, w, &d));
    for (int k = 0; k < frame->field_count; k++)
        TAC_TRY(tac_field_write(ctx, w, group, &frame->field[k]));
    /* The time is written last, because a reader takes a frame without a time as unfinished. */
    TAC_TRY(tac_frames_step(ctx, w, what, !tac_frames_writes(ctx) || write_time(w, group, frame->time_s)));
done:
    closed = group < 0 || H5Gclose(group) >= 0;
    if (!err)
        err = tac_frames_step(ctx, w, what, closed);
    if (!err)
        err = tac_frames_flush(ctx, w, what);
    return err;
}

enum tac_err tac_frames_write(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_frame *frame)
{
    enum tac_err err = TAC_OK;
    struct tac_h5_quiet quiet;
    TAC_CHECK(w->open && frame->index >= 0 && (ctx->size > 1 || frame->count == w->vertex_count));
    if (w->broken)
        return tac_fail(ctx, TAC_ERR_RUN, "%s could not be written before; no frame is added", w->path);
    tac_h5_quiet(&quiet);
    TAC_TRY(tac_frames_reserve(ctx, w, tac_dataset_space(w->vertex_count, 2 * 24 + 12) + tac_fields_space(frame)));
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
    if (w == NULL || !w->open)
        return TAC_OK;
    tac_h5_quiet(&quiet);
    w->open = false;
    bool ok = w->frames < 0 || H5Gclose(w->frames) >= 0;
    w->stuck = w->file >= 0 && H5Fclose(w->file) < 0;
    ok = !w->stuck && ok;
    w->file = w->frames = -1;
    if (!w->stuck)
        tac_disk_release(&w->disk);
    if (!w->broken)
        err = tac_frames_step(ctx, w, "the end", ok);
    tac_space_release(w->space_fd);
    tac_h5_restore(&quiet);
    return err;
}

void tac_frames_destroy(struct tac_ctx *ctx, struct tac_frames **w)
{
    if (*w == NULL)
        return;
    tac_frames_close(ctx, *w);
    if (!(*w)->stuck)
        tac_disk_release(&(*w)->disk);
    if ((*w)->space_fd >= 0)
        close((*w)->space_fd);
    free((*w)->path);
    free((*w)->position);
    free((*w)->velocity);
    free((*w)->contact_force);
    free((*w)->seen);
    if (!(*w)->stuck) /* else HDF5 calls the driver once more as MPI ends, and that notes its failures here */
        free(*w);
    *w = NULL;
}
