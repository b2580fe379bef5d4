/* io/h5/chunk.h: chunks of a dataset as they are in the file: shuffled, deflated, and with a checksum at the end.
 *
 * HDF5 makes them itself where the rank that has the rows writes the file.  On several ranks each one makes its own
 * chunks here, and rank 0 writes them as they are (dataset_gather.c). */
#ifndef TACTUS_IO_H5_CHUNK_H
#define TACTUS_IO_H5_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAC_CHUNK_SUM = 4 }; /* bytes of the checksum at a chunk's end */

/* Local. At most how many bytes a chunk of so many takes in the file. */
size_t tac_chunk_bound(size_t bytes);
/* Local. Makes of `raw`, a chunk of `bytes` bytes in values of `value_bytes` each, what HDF5's filters shuffle, deflate
 * of level `level` and fletcher32 make of it, in this order.  scratch: (bytes); out: (tac_chunk_bound(bytes)); *size:
 * how many bytes of it.  False: zlib has no memory. */
bool tac_chunk_pack(const void *raw, size_t bytes, size_t value_bytes, int level, unsigned char *scratch,
                    unsigned char *out, size_t *size);
/* Local. Does a chunk, as it is in the file, end with its checksum? */
bool tac_chunk_sound(const unsigned char *chunk, size_t size);

#endif
