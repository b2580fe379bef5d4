/* ghosts.h: brings values of ghosts from their owners. */
#ifndef TACTUS_PARTITION_GHOSTS_H
#define TACTUS_PARTITION_GHOSTS_H

#include "partition/part.h"

/* Collective. Replaces the values of the ghosts (part->owned .. n-1) in value (n, width) by those of their owners. */
enum tac_err tac_ghosts_refresh(struct tac_ctx *ctx, const struct tac_part *part, tac_lid n, int width, double *value);

/* Collective. Finds the owners of the vertices `wanted` (count).  id (n): vertices whose owners owner_of (n) this rank
 * has.  owner: (count). */
enum tac_err tac_owners_find(struct tac_ctx *ctx, tac_gid total, tac_lid n, const tac_gid *id, const int32_t *owner_of,
                             size_t count, const tac_gid *wanted, int32_t *owner);

#endif
