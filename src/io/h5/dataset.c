/* dataset.c: makes datasets of frames.h5, record.h5 and checkpoints, and writes their rows; those of several ranks are
 * sent to rank 0, which alone has the file open (dataset_gather.c). */
#include <string.h>

#include "io/frames/frames.h"

bool tac_frames_note(struct tac_frames *w, bool ok)
{
    if (!ok && w->reason[0] == '\0')
        w->no_memory = tac_h5_reason(w->reason, sizeof w->reason);
    return ok;
}

enum tac_err tac_frames_step(struct tac_ctx *ctx, struct tac_frames *w, const char *what, bool ok)
{
    enum tac_err err = TAC_OK;
    if (w->disk_error != 0) {
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s to %s: %s; is the disk in order?", what, w->path,
                       strerror(w->disk_error));
    } else if (!ok) {
        tac_frames_note(w, false);
        if (w->no_memory)
            err = tac_fail(ctx, TAC_ERR_RUN,
                           "out of memory while %s is written to %s; use a smaller scene or a machine with more memory",
                           what, w->path);
        else
            err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s to %s: %s; is the disk in order?", what, w->path,
                           w->reason);
    }
    return tac_frames_agree(ctx, w, err);
}

enum tac_err tac_frames_agree(struct tac_ctx *ctx, struct tac_frames *w, enum tac_err err)
{
    err = tac_agree(ctx, err);
    w->broken = w->broken || err;
    return err;
}

bool tac_frames_writes(const struct tac_ctx *ctx)
{
    return ctx->rank == 0;
}

enum tac_err tac_frames_group(struct tac_ctx *ctx, struct tac_frames *w, hid_t parent, const char *name,
                              const char *what, hid_t *group)
{
    const bool writes = tac_frames_writes(ctx);
    *group = writes ? H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    return tac_frames_step(ctx, w, what, !writes || *group >= 0);
}

/* Tracking the order of attributes makes HDF5 write object headers of version 2, which have checksums.  (Groups of the
 * newer kind have them too, but a run that is killed while it writes one leaves a file that takes readers down.)
 * Without the time of its making, the same run leaves the same bytes. */
hid_t tac_dataset_list(void)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (list >= 0 &&
        (H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED) < 0 || H5Pset_obj_track_times(list, false) < 0)) {
        H5Pclose(list);
        return -1;
    }
    return list;
}

hsize_t tac_dataset_chunk_rows(const struct tac_dataset *d)
{
    enum { CHUNK_BYTES = 1 << 22 }; /* at most: names may be long */
    const hsize_t rows = (hsize_t)(d->rows < TAC_CHUNK_ROWS ? d->rows : TAC_CHUNK_ROWS);
    const size_t bytes = H5Tget_size(d->type);
    if (bytes == 0 || rows * bytes <= CHUNK_BYTES || d->columns > 0)
        return rows;
    return bytes < CHUNK_BYTES ? CHUNK_BYTES / bytes : 1;
}

static hid_t creation_list(const struct tac_dataset *d)
{
    hid_t list = tac_dataset_list();
    const hsize_t chunk[2] = {tac_dataset_chunk_rows(d), (hsize_t)d->columns};
    if (list < 0 || d->rows == 0)
        return list; /* a chunk may not be empty */
    if (H5Pset_chunk(list, d->columns > 0 ? 2 : 1, chunk) < 0 || H5Pset_shuffle(list) < 0 ||
        H5Pset_deflate(list, TAC_DATASET_DEFLATE) < 0 || H5Pset_fletcher32(list) < 0 ||
        H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) < 0) {
        H5Pclose(list);
        return -1;
    }
    return list;
}

enum tac_err tac_dataset_create(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_dataset *d, hid_t *out)
{
    bool ok = true;
    *out = -1;
    if (tac_frames_writes(ctx)) {
        const hsize_t size[2] = {(hsize_t)d->rows, (hsize_t)d->columns};
        const hid_t list = creation_list(d), space = H5Screate_simple(d->columns > 0 ? 2 : 1, size, NULL);
        if (list >= 0 && space >= 0)
            *out = H5Dcreate2(d->group, d->name, d->type, space, H5P_DEFAULT, list, H5P_DEFAULT);
        ok = tac_frames_note(w, *out >= 0) && (d->units == NULL || tac_h5_put_text(*out, "units", d->units));
        if (list >= 0)
            H5Pclose(list);
        if (space >= 0)
            H5Sclose(space);
    }
    return tac_frames_step(ctx, w, d->name, ok);
}

static enum tac_err put_alone(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_dataset *d, hid_t id,
                              const struct tac_row_range part[2])
{
    enum tac_err err;
    const int rank = d->columns > 0 ? 2 : 1;
    hsize_t all[2] = {0, (hsize_t)d->columns};
    for (int k = 0; k < 2; k++)
        all[0] += (hsize_t)(part[k].end - part[k].begin);
    hid_t space = H5Dget_space(id), memory = H5Screate_simple(rank, all, NULL);
    bool ok = space >= 0 && memory >= 0 && H5Sselect_none(space) >= 0;
    for (int k = 0; k < 2 && ok; k++) {
        const hsize_t start[2] = {(hsize_t)part[k].begin, 0},
                      count[2] = {(hsize_t)(part[k].end - part[k].begin), (hsize_t)d->columns};
        if (count[0] > 0)
            ok = H5Sselect_hyperslab(space, H5S_SELECT_OR, start, NULL, count, NULL) >= 0;
    }
    if (all[0] > 0 && ok)
        ok = H5Dwrite(id, d->type, memory, space, H5P_DEFAULT, d->data) >= 0;
    err = tac_frames_step(ctx, w, d->name, ok);
    if (memory >= 0)
        H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    return err;
}

enum tac_err tac_dataset_put(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_dataset *d, hid_t id,
                             const struct tac_row_range part[2])
{
    return ctx->size > 1 ? tac_dataset_gather(ctx, w, d, id, part) : put_alone(ctx, w, d, id, part);
}

enum tac_err tac_dataset_write(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_dataset *d)
{
    enum tac_err err = TAC_OK;
    const struct tac_row_range part[2] = {{d->begin, d->end}, {0, 0}};
    hid_t id;
    TAC_TRY(tac_dataset_create(ctx, w, d, &id));
    if (d->rows > 0)
        TAC_TRY(tac_dataset_put(ctx, w, d, id, part));
done:;
    const bool closed = id < 0 || H5Dclose(id) >= 0;
    return err ? err : tac_frames_step(ctx, w, d->name, closed);
}

/* Deflate may grow a chunk, and chunks are listed. */
int64_t tac_dataset_space(tac_gid rows, int64_t row_bytes)
{
    int64_t raw = rows * row_bytes;
    return raw + raw / 512 + (rows / TAC_CHUNK_ROWS + 1) * 256;
}

enum tac_err tac_frames_reserve(struct tac_ctx *ctx, struct tac_frames *w, int64_t bytes)
{
    enum { METADATA_BYTES = 128 * 1024 };
    enum tac_err err = TAC_OK;
    if (w->space_fd >= 0)
        err = tac_space_reserve(ctx, w->space_fd, w->path, bytes + METADATA_BYTES, &w->reserved);
    return tac_agree(ctx, err);
}
