/* read_pieces.h: reads a scene whose meshes are spread over the ranks; tac_scene_read_pieces() is in part.h. */
#ifndef TACTUS_PARTITION_READ_PIECES_H
#define TACTUS_PARTITION_READ_PIECES_H

#include "partition/part.h"

/* Collective. Does what tac_scene_read_pieces() does, and spreads every HDF5 mesh of at least `smallest` rows over the
 * ranks. */
enum tac_err tac_scene_read_spread(struct tac_ctx *ctx, const char *path, const char *const *set, int set_count,
                                   int64_t smallest, struct tac_scene **common, struct tac_pieces **pieces);

#endif
