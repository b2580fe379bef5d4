/* io/h5/chunk.h: makes chunks of a dataset as they are stored in the file: shuffled, deflated, and with a checksum at
 * the end.
 *
 * HDF5 makes the chunks itself if the rank that has the rows writes the file. On several ranks each rank makes its own
 * chunks here, and rank 0 writes them without change (dataset_gather.c). */
#ifndef TACTUS_IO_H5_CHUNK_H
#define TACTUS_IO_H5_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAC_CHUNK_SUM = 4 }; /* bytes of the checksum at a chunk's end */

/* Local. Returns an upper bound for the size in the file of a chunk of `bytes` bytes. */
size_t tac_chunk_bound(size_t bytes);
/* Local. Applies to `raw`, a chunk of `bytes` bytes in values of `value_bytes` each, the filters of HDF5: shuffle,
 * deflate of level `level` and fletcher32, in this order. scratch: (bytes); out: (tac_chunk_bound(bytes)); *size: bytes
 * in `out`. False: zlib is out of memory. */
bool tac_chunk_pack(const void *raw, size_t bytes, size_t value_bytes, int level, unsigned char *scratch,
                    unsigned char *out, size_t *size);
/* Local. Does a chunk, as it is stored in the file, end with its checksum? */
bool tac_chunk_sound(const unsigned char *chunk, size_t size);

#endif
