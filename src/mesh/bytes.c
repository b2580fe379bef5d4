/* bytes.c: reads numbers of either byte order from a binary mesh file in memory, and never reads beyond its end. */
#include "mesh/file.h"

#include <stdarg.h>
#include <string.h>

struct tac_bytes tac_bytes_begin(const struct tac_file *file, size_t at, bool big_endian)
{
    return (struct tac_bytes){.ctx = file->ctx,
                              .path = file->path,
                              .data = (const unsigned char *)file->data,
                              .size = file->size,
                              .at = at,
                              .big_endian = big_endian};
}

size_t tac_bytes_left(const struct tac_bytes *b)
{
    return b->size - b->at;
}

enum tac_err tac_bytes_fail(const struct tac_bytes *b, const char *format, ...)
{
    char sentence[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return tac_fail(b->ctx, TAC_ERR_INPUT, "%s, byte %zu: %s", b->path, b->at, sentence);
}

static enum tac_err too_short(const struct tac_bytes *b, const char *what)
{
    return tac_bytes_fail(
        b, "the file ends in the middle of %s (it has %zu bytes); it is cut off or its header is wrong", what, b->size);
}

enum tac_err tac_bytes_unsigned(struct tac_bytes *b, int width, const char *what, uint64_t *out)
{
    if (tac_bytes_left(b) < (size_t)width)
        return too_short(b, what);
    uint64_t value = 0;
    for (int k = 0; k < width; k++) {
        const int shift = 8 * (b->big_endian ? width - 1 - k : k);
        value |= (uint64_t)b->data[b->at + (size_t)k] << shift;
    }
    b->at += (size_t)width;
    *out = value;
    return TAC_OK;
}

enum tac_err tac_bytes_signed(struct tac_bytes *b, int width, const char *what, int64_t *out)
{
    uint64_t value = 0;
    enum tac_err err = tac_bytes_unsigned(b, width, what, &value);
    if (err == TAC_OK) {
        const uint64_t sign = (uint64_t)1 << (8 * width - 1);
        value = (value ^ sign) - sign; /* extends the sign */
        memcpy(out, &value, sizeof value);
    }
    return err;
}

enum tac_err tac_bytes_float(struct tac_bytes *b, int width, const char *what, double *out)
{
    uint64_t bits = 0;
    enum tac_err err = tac_bytes_unsigned(b, width, what, &bits);
    if (err == TAC_OK && width == 4) {
        const uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        *out = value;
    } else if (err == TAC_OK) {
        memcpy(out, &bits, sizeof bits);
    }
    return err;
}

enum tac_err tac_bytes_skip(struct tac_bytes *b, uint64_t count, const char *what)
{
    if (tac_bytes_left(b) < count)
        return too_short(b, what);
    b->at += (size_t)count;
    return TAC_OK;
}
