/* frames_check.c: checks that the frames of a frames.h5 are as they were written.
 *
 * Each chunk ends with a checksum of its bytes as they are in the file, the last of its filters (dataset.c).  Reading
 * those bytes and adding them up finds every change of some of them; nothing has to be unpacked, which would cost ten
 * times as much. */
#include <stdlib.h>
#include <string.h>

#include "io/folder/output.h"
#include "io/h5/chunk.h"

struct check {
    struct tac_ctx *ctx;
    hid_t file;
    unsigned char *chunk; /* owned */
    size_t capacity;
    enum tac_err err; /* out of memory */
};

#if H5_VERSION_GE(1, 10, 3)
static bool is_chunk_sound(struct check *c, hid_t dataset, const hsize_t *offset)
{
    enum { MOST = 1 << 29 };
    hsize_t size = 0;
    uint32_t mask = 0;
    if (H5Dget_chunk_storage_size(dataset, offset, &size) < 0 || size > MOST)
        return false;
    c->err = tac_grow(c->ctx, &c->chunk, &c->capacity, (size_t)size, 1);
    if (c->err || H5Dread_chunk(dataset, H5P_DEFAULT, offset, &mask, c->chunk) < 0 || mask != 0)
        return false;
    return tac_chunk_sound(c->chunk, (size_t)size);
}
#else
static bool is_chunk_sound(struct check *c, hid_t dataset, const hsize_t *offset)
{
    return true; /* this HDF5 gives out no chunk as it is */
}
#endif

/* Checks every chunk of a dataset. A dataset without chunks is empty, or its values are under the checksum of its
 * header. */
static bool dataset_sound(struct check *c, const char *path)
{
    hid_t id = H5Dopen2(c->file, path, H5P_DEFAULT), list = -1, space = -1;
    hsize_t size[2] = {0, 0}, chunk[2] = {0, 0}, offset[2] = {0, 0};
    if (id < 0)
        return false;
    list = H5Dget_create_plist(id);
    space = H5Dget_space(id);
    bool ok = list >= 0 && space >= 0;
    if (ok && H5Pget_layout(list) == H5D_CHUNKED) {
        const int rank = H5Sget_simple_extent_ndims(space);
        ok = (rank == 1 || rank == 2) && H5Sget_simple_extent_dims(space, size, NULL) == rank &&
             H5Pget_chunk(list, 2, chunk) == rank && chunk[0] > 0 && (rank == 1 || chunk[1] == size[1]);
        for (; ok && offset[0] < size[0]; offset[0] += chunk[0])
            ok = is_chunk_sound(c, id, offset);
    }
    if (space >= 0)
        H5Sclose(space);
    if (list >= 0)
        H5Pclose(list);
    H5Dclose(id);
    return ok;
}

static enum tac_err check_mesh(struct check *c, const char *path, int64_t next)
{
    static const char *const name[] = {"triangles", "segments", "points", "body",      "body_names",
                                       "radius",    "free",     "cells",  "tetrahedra"};
    char dataset[64];
    for (size_t k = 0; k < sizeof name / sizeof name[0]; k++) {
        snprintf(dataset, sizeof dataset, "/mesh/%s", name[k]);
        if (H5Lexists(c->file, dataset, H5P_DEFAULT) <= 0 || dataset_sound(c, dataset))
            continue;
        if (c->err)
            return c->err;
        return tac_fail(c->ctx, TAC_ERR_INPUT,
                        "'%s' is damaged: %s is not what was written; move the file away (a new one begins with frame "
                        "%" PRId64 "), or go on in another folder with -o",
                        path, dataset, next);
    }
    return TAC_OK;
}

static enum tac_err check_frame(struct check *c, const char *path, const struct tac_kept_frame *frame, int64_t next)
{
    static const char *const name[] = {"position", "velocity", "contact_force"};
    enum { ALWAYS = sizeof name / sizeof name[0] };
    char dataset[64];
    for (int k = 0; k < ALWAYS + TAC_DATASETS; k++) {
        const char *which = k < ALWAYS ? name[k] : tac_field_table()[k - ALWAYS].name;
        snprintf(dataset, sizeof dataset, "/frames/%06" PRId64 "/%s", frame->index, which);
        if (k >= ALWAYS && H5Lexists(c->file, dataset, H5P_DEFAULT) <= 0)
            continue;
        if (dataset_sound(c, dataset))
            continue;
        if (c->err)
            return c->err;
        return tac_fail(c->ctx, TAC_ERR_INPUT,
                        "'%s' is damaged: %s of frame %" PRId64
                        " (t = %.9g s) is not what was written; go on from a checkpoint before it, move the file away "
                        "(a new one begins with frame %" PRId64 "), or go on in another folder with -o",
                        path, which, frame->index, frame->time_s, next);
    }
    return TAC_OK;
}

bool tac_frames_frame_sound(struct tac_ctx *ctx, int64_t file, const char *path, int64_t index)
{
    struct check c = {.ctx = ctx, .file = (hid_t)file};
    const struct tac_kept_frame frame = {.index = index};
    const bool sound = check_frame(&c, path, &frame, index) == TAC_OK;
    free(c.chunk);
    return sound;
}

enum tac_err tac_frames_check(struct tac_ctx *ctx, const char *path, const struct tac_kept_frame *kept, int64_t count,
                              int64_t next)
{
    enum tac_err err = TAC_OK;
    struct check c = {.ctx = ctx, .file = tac_h5_open_read(path)};
    if (c.file < 0)
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot read '%s'; is the disk in order?", path);
    if (!err && ctx->rank == 0)
        err = check_mesh(&c, path, next);
    for (int64_t k = ctx->rank; k < count && !err; k += ctx->size)
        err = check_frame(&c, path, &kept[k], next);
    if (c.file >= 0)
        H5Fclose(c.file);
    free(c.chunk);
    return tac_agree(ctx, err);
}
