/* chunk.c: makes chunks as HDF5's filters make them, and looks at their checksums. */
#include "io/h5/chunk.h"

#include <zlib.h>

/* Fletcher's checksum of 32 bits over words of 16, as HDF5 computes it. */
static uint32_t fletcher32(const unsigned char *data, size_t bytes)
{
    enum { BLOCK = 360 }; /* words after which sums of 32 bits may overflow */
    uint32_t a = 0, b = 0;
    for (size_t words = bytes / 2; words > 0;) {
        const size_t n = words < BLOCK ? words : BLOCK;
        for (size_t k = 0; k < n; k++, data += 2) {
            a += (uint32_t)data[0] << 8 | data[1];
            b += a;
        }
        words -= n;
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    if (bytes % 2) {
        a += (uint32_t)*data << 8;
        b += a;
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    a = (a & 0xffff) + (a >> 16);
    b = (b & 0xffff) + (b >> 16);
    return b << 16 | a;
}

/* The k-th bytes of all values lie together; the bytes after the last whole value keep their places. */
static void shuffle_bytes(const unsigned char *raw, size_t bytes, size_t value_bytes, unsigned char *out)
{
    const size_t count = value_bytes > 0 ? bytes / value_bytes : 0;
    for (size_t k = 0; k < value_bytes && count > 0; k++)
        for (size_t i = 0; i < count; i++)
            out[k * count + i] = raw[i * value_bytes + k];
    for (size_t i = count * value_bytes; i < bytes; i++)
        out[i] = raw[i];
}

size_t tac_chunk_bound(size_t bytes)
{
    return compressBound((uLong)bytes) + TAC_CHUNK_SUM;
}

bool tac_chunk_pack(const void *raw, size_t bytes, size_t value_bytes, int level, unsigned char *scratch,
                    unsigned char *out, size_t *size)
{
    uLongf length = compressBound((uLong)bytes);
    shuffle_bytes(raw, bytes, value_bytes, scratch);
    if (compress2(out, &length, scratch, (uLong)bytes, level) != Z_OK)
        return false;
    const uint32_t sum = fletcher32(out, length);
    for (int k = 0; k < TAC_CHUNK_SUM; k++)
        out[length + (size_t)k] = (unsigned char)(sum >> 8 * k);
    *size = length + TAC_CHUNK_SUM;
    return true;
}

bool tac_chunk_sound(const unsigned char *chunk, size_t size)
{
    if (size <= TAC_CHUNK_SUM)
        return false;
    const unsigned char *sum = chunk + size - TAC_CHUNK_SUM;
    return fletcher32(chunk, size - TAC_CHUNK_SUM) ==
           ((uint32_t)sum[0] | (uint32_t)sum[1] << 8 | (uint32_t)sum[2] << 16 | (uint32_t)sum[3] << 24);
}
