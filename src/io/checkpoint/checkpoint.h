/* checkpoint.h: writes and reads checkpoints: the whole state at a commit, in one HDF5 file
 * (docs/reference/file-formats.md).
 *
 * A checkpoint is self-contained: it has the scene, the geometry, the elements, and all state that the trajectory
 * depends on. Each rank packs rows of some tables, by global id, which rank 0 writes, and reads a block of rows. It
 * does not matter which rank owns which vertex.
 */
#ifndef TACTUS_IO_CHECKPOINT_CHECKPOINT_H
#define TACTUS_IO_CHECKPOINT_CHECKPOINT_H

#include "state/snapshot.h"
#include <tactus/stored.h>

/* Collective. Writes DIR/checkpoint-NNNNNN.h5 (NNNNNN one more than the newest there), points DIR/checkpoint.h5 to it,
 * and removes all but the newest `keep` whole ones. name (of `size` bytes): the new file's name. TAC_ERR_RUN: the disk
 * failed; the old checkpoints are kept. */
enum tac_err tac_checkpoint_write(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, int keep,
                                  const struct tac_checkpoint *checkpoint, char *name, size_t size);

/* Where a checkpoint comes from. */
struct tac_checkpoint_about {
    char name[256];                           /* of the scene */
    char version[64], commit[64], sha256[65]; /* version and commit of the program, hash of the scene */
    int64_t ranks;                            /* number of ranks that wrote it */
};

/* Collective. `path` is a checkpoint, or a run folder: then the newest whole one in it is taken, with a warning for
 * each newer one that is damaged.  Checks length and CRC before HDF5 opens the file; on one rank a child process reads
 * the file first. *file (owned by the caller): its path. Rows are distributed in blocks: vertices and elements by id,
 * the others by their place in the file. All values are checked to be in range, but for those that need the scene
 * (knots, bottoms). *json (owned by the caller): the scene's text; sha256 (65 bytes): its hash. TAC_ERR_INPUT: the file
 * is damaged or of another program, or there is none. */
enum tac_err tac_checkpoint_read(struct tac_ctx *ctx, const char *path, char **file, json_t **json, char *sha256,
                                 struct tac_checkpoint **out);
/* Collective. Does the same, and returns what the file says about its origin. */
enum tac_err tac_checkpoint_read_about(struct tac_ctx *ctx, const char *path, char **file, json_t **json,
                                       struct tac_checkpoint_about *about, struct tac_checkpoint **out);

/* Local to rank 0. Makes `file`, the checkpoint that the run in DIR continues from, the newest one there: if there are
 * later ones, it gets a further name (a hard link), and DIR/checkpoint.h5 points to it. Removes the temporary files of
 * a killed writer. name (of `size` bytes): the name that the checkpoint has now. */
void tac_checkpoint_lead(struct tac_ctx *ctx, const char *dir, const char *file, char *name, size_t size);

/* Collective. Checks length and CRC. why (of `size` bytes): why the file is no whole checkpoint; empty if it is one. */
enum tac_err tac_checkpoint_examine(struct tac_ctx *ctx, const char *path, char *why, size_t size);
/* Local. Returns NNNNNN of the name "checkpoint-NNNNNN.h5", or -1. */
int64_t tac_checkpoint_number(const char *name);
/* Local. Numbers of the checkpoints in a folder, whole or not, ascending, in *list (owned by the caller). */
enum tac_err tac_checkpoint_list(struct tac_ctx *ctx, const char *dir, int64_t **list, size_t *count);

#endif
