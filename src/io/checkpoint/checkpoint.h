/* checkpoint.h: the whole state at a commit, in one HDF5 file written by all ranks (docs/reference/file-formats.md).
 *
 * A checkpoint is self-contained: scene, geometry, topology's elements, and all state that the trajectory depends on.
 * Each rank gives rows of some tables, by global id, and gets back a block of rows; who holds what is no matter.
 */
#ifndef TACTUS_IO_CHECKPOINT_CHECKPOINT_H
#define TACTUS_IO_CHECKPOINT_CHECKPOINT_H

#include "state/snapshot.h"
#include <tactus/stored.h>

/* Collective. Writes DIR/checkpoint-NNNNNN.h5 (NNNNNN one more than the newest there), points DIR/checkpoint.h5 to it,
 * and removes all but the newest `keep` whole ones.  name: told (of size `size`).  TAC_ERR_RUN: the disk failed; the
 * old ones stand. */
enum tac_err tac_checkpoint_write(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, int keep,
                                  const struct tac_checkpoint *checkpoint, char *name, size_t size);

/* What a checkpoint tells of itself. */
struct tac_checkpoint_about {
    char name[256];                           /* of the scene */
    char version[64], commit[64], sha256[65]; /* of the program; of the scene */
    int64_t ranks;                            /* that wrote it */
};

/* Collective. `path` is a checkpoint, or a run folder: then the newest whole one in it is taken, with a warning for
 * each newer one that is damaged.  Checks length and CRC before HDF5 sees the file; one rank, which has no others to
 * wait for it, lets a child process look first.  *file (owned by the caller): which it was.  Rows are distributed in
 * blocks: vertices and elements by id, the others by their place in the file.  All values are in range; what only a
 * scene can tell (knots, bottoms) is not looked at.  *json (owned by the caller): the scene's text; sha256 (65 bytes):
 * its hash. TAC_ERR_INPUT: damaged, foreign, or none there. */
enum tac_err tac_checkpoint_read(struct tac_ctx *ctx, const char *path, char **file, json_t **json, char *sha256,
                                 struct tac_checkpoint **out);
/* Collective. The same, with all that the file tells of itself. */
enum tac_err tac_checkpoint_read_about(struct tac_ctx *ctx, const char *path, char **file, json_t **json,
                                       struct tac_checkpoint_about *about, struct tac_checkpoint **out);

/* Local to rank 0. The checkpoint `file` in DIR is what the run there goes on from, so it has to be the newest: if
 * there are later ones it gets one more name (a hard link), and DIR/checkpoint.h5 points to it.  What a killed writer
 * of checkpoints left is removed.  name: what it is called now (of size `size`). */
void tac_checkpoint_lead(struct tac_ctx *ctx, const char *dir, const char *file, char *name, size_t size);

/* Collective. Why the file is no whole checkpoint (by length and CRC), in `why`; empty if it is one. */
enum tac_err tac_checkpoint_examine(struct tac_ctx *ctx, const char *path, char *why, size_t size);
/* Local. NNNNNN of the name "checkpoint-NNNNNN.h5", or -1. */
int64_t tac_checkpoint_number(const char *name);
/* Local. Numbers of the checkpoints in a folder, whole or not, ascending, in *list (owned by the caller). */
enum tac_err tac_checkpoint_list(struct tac_ctx *ctx, const char *dir, int64_t **list, size_t *count);

#endif
