/* inflate.h: reads any part of a compressed member of a zip archive, without a copy of the whole on disk or in memory.
 *
 * The member is unpacked once when it is opened: for its checksum, and to keep the state of zlib at some places that
 * are evenly spaced. A read goes on where the last one ended, or from the nearest such place before it. */
#ifndef TACTUS_MESH_CACHE_INFLATE_H
#define TACTUS_MESH_CACHE_INFLATE_H

#include <tactus/base.h>

struct tac_inflater; /* opaque */

/* Local. begin, packed: where the member's bytes are in the file (a descriptor, borrowed). bytes, crc: of what is
 * unpacked. *out NULL: the member is damaged. TAC_ERR_RUN: out of memory. */
enum tac_err tac_inflater_create(struct tac_ctx *ctx, int descriptor, int64_t begin, int64_t packed, int64_t bytes,
                                 uint32_t crc, struct tac_inflater **out);
/* Local. Reads `bytes` bytes from place `at` of what is unpacked; false: it is damaged, or ends before. */
bool tac_inflater_read(struct tac_inflater *inflater, int64_t at, void *out, size_t bytes);
/* Local. NULL is allowed; leaves NULL. */
void tac_inflater_destroy(struct tac_inflater **inflater);

#endif
