/* ghosts.h: values of ghosts from their owners. */
#ifndef TACTUS_PARTITION_GHOSTS_H
#define TACTUS_PARTITION_GHOSTS_H

#include "partition/part.h"

/* Collective. value (n, width): those of the ghosts (part->owned .. n-1) are taken from their owners. */
enum tac_err tac_ghosts_refresh(struct tac_ctx *ctx, const struct tac_part *part, tac_lid n, int width, double *value);

/* Collective. Who owns the vertices `wanted` (count)?  Every rank tells which it owns: id (n).  *owner (count). */
enum tac_err tac_owners_find(struct tac_ctx *ctx, tac_gid total, tac_lid n, const tac_gid *id, const int32_t *owner_of,
                             size_t count, const tac_gid *wanted, int32_t *owner);

#endif
