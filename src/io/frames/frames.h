/* io/frames/frames.h: declares what the files that write frames.h5 share: dataset.c writes datasets, frames_mesh.c the
 * mesh, frames.c files and frames.
 */
#ifndef TACTUS_IO_FRAMES_FRAMES_H
#define TACTUS_IO_FRAMES_FRAMES_H

#include "base/exchange.h"
#include "io/folder/output.h"
#include <tactus/reader.h>

enum { TAC_DATASET_DEFLATE = 1 }; /* level */

/* A dataset to be written: rows x columns, with this rank's part. */
struct tac_dataset {
    hid_t group;
    const char *name, *units; /* units NULL: none */
    hid_t type;
    int columns; /* 0: one-dimensional */
    tac_gid rows, begin, end;
    const void *data; /* rows begin .. end */
};

/* Collective. Creates and writes a dataset: chunks, shuffle, deflate, checksums; and its unit. */
enum tac_err tac_dataset_write(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_dataset *d);
/* A range of rows: begin .. end - 1. */
struct tac_row_range {
    tac_gid begin, end;
};
/* Collective. Creates a dataset without writing it; The caller closes *id, which can be open after a failure too, and
 * is -1 on ranks that do not write the file. */
enum tac_err tac_dataset_create(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_dataset *d, hid_t *id);
/* Local. Returns the number of rows of a chunk. */
hsize_t tac_dataset_chunk_rows(const struct tac_dataset *d);
/* Collective. Writes two ranges of this rank's rows, which follow each other in d->data; ranges may be empty. id: from
 * tac_dataset_create(). */
enum tac_err tac_dataset_put(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_dataset *d, hid_t id,
                             const struct tac_row_range part[2]);
/* Collective. Does the same for a file that only rank 0 writes, from several ranks; id: used by rank 0. */
enum tac_err tac_dataset_gather(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_dataset *d, hid_t id,
                                const struct tac_row_range part[2]);
/* Local. Returns a creation list for datasets whose headers have checksums; negative on failure. */
hid_t tac_dataset_list(void);
/* Collective. Writes a field of a frame into its group. */
enum tac_err tac_field_write(struct tac_ctx *ctx, struct tac_frames *w, hid_t group,
                             const struct tac_frame_field *field);
/* Local. Returns an upper bound for the size of a frame's fields on disk, bytes. */
int64_t tac_fields_space(const struct tac_frame *frame);
/* Local. Has the frame f->name all datasets, in the right shapes? Reads its time, and which fields it has. */
bool tac_reader_frame_whole(const struct tac_reader *r, struct tac_reader_frame *f);
/* Local. Checks the shape of the fields that a frame has on request. */
bool tac_reader_fields_whole(const struct tac_reader *r, const struct tac_reader_frame *frame);
/* Local. Finds which datasets of the table a frame's group has: 1 << enum tac_dataset_name. */
unsigned tac_fields_found(hid_t group);
/* Local. Returns an upper bound for the size of a dataset on disk, bytes. */
int64_t tac_dataset_space(tac_gid rows, int64_t row_bytes);

/* Local. If `ok` is false, keeps HDF5's reason before another call of HDF5 clears it; returns `ok`. */
bool tac_frames_note(struct tac_frames *w, bool ok);
/* Collective. Agrees on whether a step of writing `what` succeeded. A file on which a step failed is never written
 * again. */
enum tac_err tac_frames_step(struct tac_ctx *ctx, struct tac_frames *w, const char *what, bool ok);
/* Collective. Does the same for a failure `err` outside HDF5. */
enum tac_err tac_frames_agree(struct tac_ctx *ctx, struct tac_frames *w, enum tac_err err);
/* Local. Does this rank write the file? Rank 0 does. */
bool tac_frames_writes(const struct tac_ctx *ctx);
/* Collective. Creates a group; *group, to be closed by the caller, is -1 on ranks that do not write the file. */
enum tac_err tac_frames_group(struct tac_ctx *ctx, struct tac_frames *w, hid_t parent, const char *name,
                              const char *what, hid_t *group);
/* Collective. Reserves disk space for datasets of `bytes` in all, and for their headers. */
enum tac_err tac_frames_reserve(struct tac_ctx *ctx, struct tac_frames *w, int64_t bytes);
/* Collective. Makes a writer of DIR/frames.h5 with its buffers and rank 0's descriptor of the file; HDF5 has not opened
 * the file yet.
 */
enum tac_err tac_frames_blank(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, bool create,
                              struct tac_frames **out);
/* Collective. Does the same for any file NAME in DIR, without buffers. */
enum tac_err tac_frames_handle(struct tac_ctx *ctx, const char *dir, const char *name, bool create,
                               struct tac_frames **out);
/* Collective. Makes the writer's file, with format, version and scene as attributes, and one empty group, w->frames. */
enum tac_err tac_frames_new_file(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_scene *scene,
                                 const char *format, const char *group);
/* Collective. Opens the writer's file, and `group` as w->frames. */
enum tac_err tac_frames_open_file(struct tac_ctx *ctx, struct tac_frames *w, const char *group);
/* Local to rank 0. Renames a damaged file; *aside, owned by the caller: its new name. */
enum tac_err tac_frames_put_aside(struct tac_ctx *ctx, const char *path, char **aside);
/* Collective. */
enum tac_err tac_frames_flush(struct tac_ctx *ctx, struct tac_frames *w, const char *what);
/* Local. Returns the property list for access to the file; negative on failure. */
hid_t tac_frames_access(struct tac_frames *w);
/* Local. Counts points, and finds out whether there is more than one kind of elements. */
void tac_frames_count(struct tac_frames *w, const struct tac_scene *scene);
/* Collective. Writes /mesh; sets point_count and mixed.  pieces: where the elements are; NULL: in the scene, whole. */
enum tac_err tac_frames_mesh(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_scene *scene,
                             const struct tac_pieces *pieces);
/* Collective. Writes parent/body_names as strings of fixed length; rank 0 has the names. */
enum tac_err tac_frames_body_names(struct tac_ctx *ctx, struct tac_frames *w, hid_t parent,
                                   const struct tac_scene *scene);

#endif
