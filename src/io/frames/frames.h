/* io/frames/frames.h: frames.h5 from the inside: dataset.c writes datasets, frames_mesh.c the mesh, frames.c files and
 * frames.
 */
#ifndef TACTUS_IO_FRAMES_FRAMES_H
#define TACTUS_IO_FRAMES_FRAMES_H

#include "base/exchange.h"
#include "io/folder/output.h"
#include <tactus/reader.h>

enum { TAC_DATASET_DEFLATE = 1 }; /* level */

/* One dataset to be: rows x columns, this rank's part of it. */
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
/* A run of rows, and where they are. */
struct tac_row_range {
    tac_gid begin, end;
};
/* Collective. Creates a dataset without writing it; *id, to be closed by the caller, may be one after a failure too,
 * and is -1 on ranks that do not write the file. */
enum tac_err tac_dataset_create(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_dataset *d, hid_t *id);
/* Local. How many rows a chunk of it has. */
hsize_t tac_dataset_chunk_rows(const struct tac_dataset *d);
/* Collective. Writes this rank's rows of two runs, that lie one behind the other in d->data; runs may be empty.  id: as
 * tac_dataset_create() gave it. */
enum tac_err tac_dataset_put(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_dataset *d, hid_t id,
                             const struct tac_row_range part[2]);
/* Collective. The same on several ranks, into a file that rank 0 alone writes; id: used by rank 0. */
enum tac_err tac_dataset_gather(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_dataset *d, hid_t id,
                                const struct tac_row_range part[2]);
/* Local. A creation list for datasets whose headers have checksums; negative on failure. */
hid_t tac_dataset_list(void);
/* Collective. Writes a field of a frame into its group. */
enum tac_err tac_field_write(struct tac_ctx *ctx, struct tac_frames *w, hid_t group,
                             const struct tac_frame_field *field);
/* At most what the fields of a frame take on disk. */
int64_t tac_fields_space(const struct tac_frame *frame);
/* Local. Has a frame all it should have, in the right shapes?  Reads its time, and which fields it has; f->name says
 * which frame. */
bool tac_reader_frame_whole(const struct tac_reader *r, struct tac_reader_frame *f);
/* Local. Are the fields that a frame has on request of the right shape? */
bool tac_reader_fields_whole(const struct tac_reader *r, const struct tac_reader_frame *frame);
/* Local. Which datasets of the table a frame's group has: 1 << enum tac_dataset_name. */
unsigned tac_fields_found(hid_t group);
/* At most what a dataset takes on disk. */
int64_t tac_dataset_space(tac_gid rows, int64_t row_bytes);

/* Local. Keeps HDF5's reason before another call of it clears that; gives `ok` back. */
bool tac_frames_note(struct tac_frames *w, bool ok);
/* Collective. Agrees on how a step of writing `what` went.  A file on which one failed is never written again. */
enum tac_err tac_frames_step(struct tac_ctx *ctx, struct tac_frames *w, const char *what, bool ok);
/* Collective. The same, after HDF5 made or gave up something in the file that every rank keeps its own account of: see
 * tac_agree_step(). */
enum tac_err tac_frames_change(struct tac_ctx *ctx, struct tac_frames *w, const char *what, bool ok);
/* Collective. Agrees on `err`; the same of a failure that is not HDF5's. */
enum tac_err tac_frames_agree(struct tac_ctx *ctx, struct tac_frames *w, enum tac_err err);
/* Local. Does this rank write the file? */
bool tac_frames_writes(const struct tac_ctx *ctx, const struct tac_frames *w);
/* Collective. Creates a group; *group, to be closed by the caller, is -1 on ranks that do not write the file. */
enum tac_err tac_frames_group(struct tac_ctx *ctx, struct tac_frames *w, hid_t parent, const char *name,
                              const char *what, hid_t *group);
/* Collective. Sees to it that there is disk space for datasets of `bytes` in all, and what describes them. */
enum tac_err tac_frames_reserve(struct tac_ctx *ctx, struct tac_frames *w, int64_t bytes);
/* Collective. A writer of DIR/frames.h5 with its buffers, and rank 0's descriptor of the file; still without the file.
 */
enum tac_err tac_frames_blank(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, bool create,
                              struct tac_frames **out);
/* Collective. The same of any file NAME in DIR, without buffers. */
enum tac_err tac_frames_handle(struct tac_ctx *ctx, const char *dir, const char *name, bool create,
                               struct tac_frames **out);
/* Collective. Makes its file, with what it is (format, version, scene) and one empty group, w->frames. */
enum tac_err tac_frames_new_file(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_scene *scene,
                                 const char *format, const char *group);
/* Collective. Opens its file, and `group` as w->frames. */
enum tac_err tac_frames_open_file(struct tac_ctx *ctx, struct tac_frames *w, const char *group);
/* Local to rank 0. Renames a damaged file; *aside, owned by the caller: its new name. */
enum tac_err tac_frames_put_aside(struct tac_ctx *ctx, const char *path, char **aside);
/* Collective. */
enum tac_err tac_frames_flush(struct tac_ctx *ctx, struct tac_frames *w, const char *what);
/* Local. How the file is accessed; negative on failure. */
hid_t tac_frames_access(struct tac_ctx *ctx, struct tac_frames *w);
/* Collective. How frames are transferred. */
enum tac_err tac_frames_transfer(struct tac_ctx *ctx, struct tac_frames *w);
/* Local. Counts points, and finds out whether there is more than one kind of elements. */
void tac_frames_count(struct tac_frames *w, const struct tac_scene *scene);
/* Collective. Writes /mesh; sets point_count and mixed.  pieces: where the elements are; NULL: in the scene, whole. */
enum tac_err tac_frames_mesh(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_scene *scene,
                             const struct tac_pieces *pieces);
/* Collective. Writes parent/body_names: strings of fixed length, for parallel HDF5 cannot write others; rank 0 has
 * them. */
enum tac_err tac_frames_body_names(struct tac_ctx *ctx, struct tac_frames *w, hid_t parent,
                                   const struct tac_scene *scene);

#endif
