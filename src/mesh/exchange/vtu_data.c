/* vtu_data.c: decodes the numbers of VTK's XML files: ascii, base64 or raw bytes, and each of the latter two also
 * compressed in blocks by zlib. Nothing is read past the end, for any contents of the file. */
#include "mesh/exchange/vtu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Bytes that come one after the other, out of base64 or raw. */
struct stream {
    struct tac_ctx *ctx;
    const char *path;
    const struct tac_vtu_array *array;
    const char *at, *end;
    bool base64;
    unsigned char left[3]; /* bytes of the last four characters that have not been read yet */
    int left_count, left_at;
};

static enum tac_err fail_data(const struct stream *s, const char *what)
{
    return tac_fail(s->ctx, TAC_ERR_INPUT, "%s, line %" PRId64 ": the array \"%s\" %s", s->path, s->array->line,
                    s->array->name, what);
}

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The next four characters, which are up to three bytes.  '=' ends a piece of base64; another one may follow. */
static enum tac_err next_four(struct stream *s)
{
    uint32_t bits = 0;
    int digits = 0, filled = 0;
    while (digits + filled < 4) {
        while (s->at < s->end && strchr(" \t\r\n", *s->at) != NULL && *s->at != '\0')
            s->at++;
        if (s->at == s->end)
            return fail_data(s, "ends too early; the file is cut off");
        const char c = *s->at++;
        if (c == '=' && digits >= 2) {
            filled++;
            bits <<= 6;
        } else if (digit(c) >= 0 && filled == 0) {
            bits = bits << 6 | (uint32_t)digit(c);
            digits++;
        } else {
            return fail_data(s, "is no base64, though the file says so");
        }
    }
    s->left_at = 0;
    s->left_count = digits - 1;
    for (int k = 0; k < 3; k++)
        s->left[k] = (unsigned char)(bits >> (16 - 8 * k));
    return TAC_OK;
}

static enum tac_err get(struct stream *s, size_t count, unsigned char *out)
{
    enum tac_err err = TAC_OK;
    if (!s->base64) {
        if ((size_t)(s->end - s->at) < count)
            return fail_data(s, "ends too early; the file is cut off");
        memcpy(out, s->at, count);
        s->at += count;
        return TAC_OK;
    }
    for (size_t k = 0; k < count; k++) {
        if (s->left_at == s->left_count)
            TAC_TRY(next_four(s));
        out[k] = s->left[s->left_at++];
    }
done:
    return err;
}

static uint64_t number_of(const unsigned char *bytes, int width, bool big_endian)
{
    uint64_t value = 0;
    for (int k = 0; k < width; k++)
        value = value << 8 | bytes[big_endian ? k : width - 1 - k];
    return value;
}

static enum tac_err get_header(struct stream *s, const struct tac_vtu_format *f, uint64_t *out)
{
    unsigned char bytes[8] = {0};
    const enum tac_err err = get(s, (size_t)f->header, bytes);
    *out = number_of(bytes, f->header, f->big_endian);
    return err;
}

/* Behind the header of compressed data another piece of base64 begins. */
static void end_piece(struct stream *s)
{
    s->left_at = s->left_count = 0;
}

/* One block, of `size` bytes when it is unpacked. */
static enum tac_err inflate_block(struct stream *s, uint64_t packed, uint64_t size, unsigned char *out)
{
    enum tac_err err = TAC_OK;
    unsigned char *block = NULL;
    uLongf got = (uLongf)size;
    if (packed > (uint64_t)(s->end - s->at))
        return fail_data(s, "ends too early; the file is cut off");
    TAC_TRY(tac_alloc(s->ctx, (size_t)packed, 1, &block));
    TAC_TRY(get(s, (size_t)packed, block));
    if (uncompress(out, &got, block, (uLong)packed) != Z_OK || got != size)
        err = fail_data(s, "cannot be unpacked; the file is damaged");
done:
    free(block);
    return err;
}

/* [blocks, bytes of a block, bytes of the last one if it is shorter, packed bytes of each], then the blocks. */
static enum tac_err read_compressed(struct stream *s, const struct tac_vtu_format *f, size_t most_bytes,
                                    struct tac_vtu_array *a)
{
    enum tac_err err = TAC_OK;
    uint64_t blocks = 0, size = 0, last = 0, *packed = NULL;
    unsigned char *out = NULL;
    TAC_TRY(get_header(s, f, &blocks));
    TAC_TRY(get_header(s, f, &size));
    TAC_TRY(get_header(s, f, &last));
    if (blocks > (uint64_t)(s->end - s->at) || last > size ||
        (blocks > 1 && (size > most_bytes || (size > 0 && blocks - 1 > most_bytes / size))) ||
        (blocks > 0 && (blocks - 1) * size + (last ? last : size) > most_bytes)) {
        err = fail_data(s, "says that it is larger than it can be; the file is damaged or cut off");
        goto done;
    }
    const size_t total = blocks > 0 ? (size_t)((blocks - 1) * size + (last ? last : size)) : 0;
    TAC_TRY(tac_alloc(s->ctx, (size_t)blocks, sizeof *packed, &packed));
    for (uint64_t k = 0; k < blocks; k++)
        TAC_TRY(get_header(s, f, &packed[k]));
    end_piece(s);
    for (uint64_t k = 0, sum = 0; k < blocks; k++) {
        sum += packed[k] < UINT32_MAX ? packed[k] : UINT32_MAX;
        /* zlib packs by 1032 at most, and the text of base64 is longer than its bytes. */
        if (sum > (uint64_t)(s->end - s->at) || (k + 1 == blocks && last ? last : size) > 1032 * packed[k] + 64) {
            err = fail_data(s, "says that it is larger than it can be; the file is damaged or cut off");
            goto done;
        }
    }
    TAC_TRY(tac_alloc(s->ctx, total, 1, &out));
    for (uint64_t k = 0; k < blocks; k++)
        TAC_TRY(inflate_block(s, packed[k], k + 1 == blocks && last ? last : size, out + k * size));
    a->number = (char *)out;
    a->count = total / (size_t)a->width;
    out = NULL;
done:
    free(packed);
    free(out);
    return err;
}

static enum tac_err read_plain(struct stream *s, const struct tac_vtu_format *f, size_t most_bytes,
                               struct tac_vtu_array *a)
{
    enum tac_err err = TAC_OK;
    uint64_t bytes = 0;
    TAC_TRY(get_header(s, f, &bytes));
    if (bytes > most_bytes || bytes > (uint64_t)(s->end - s->at) + 3) {
        err = fail_data(s, "says that it is larger than it can be; the file is damaged or cut off");
        goto done;
    }
    TAC_TRY(tac_alloc(s->ctx, (size_t)bytes, 1, &a->number));
    TAC_TRY(get(s, (size_t)bytes, (unsigned char *)a->number));
    a->count = (size_t)bytes / (size_t)a->width;
done:
    return err;
}

/* Reads numbers as text: doubles or int64_t, for any type of the array. */
static enum tac_err read_ascii(struct tac_ctx *ctx, const char *path, struct tac_vtu_array *a, size_t most)
{
    enum tac_err err = TAC_OK;
    struct tac_text t = {.ctx = ctx, .path = path, .at = a->text, .end = a->text + a->text_size, .line = a->line};
    size_t capacity = 0;
    a->width = 8;
    for (struct tac_word word = tac_text_any_word(&t); word.size > 0; word = tac_text_any_word(&t)) {
        if (a->count == most) {
            err = tac_text_fail(&t, "the array \"%s\" has more numbers than it can have (%zu)", a->name, most);
            goto done;
        }
        TAC_TRY(tac_grow(ctx, &a->number, &capacity, a->count + 1, 8));
        if (a->kind == TAC_VTU_FLOAT)
            TAC_TRY(tac_text_number(&t, word, "a number of an array", (double *)a->number + a->count));
        else
            TAC_TRY(tac_text_integer(&t, word, "a number of an array", (int64_t *)a->number + a->count));
        a->count++;
    }
done:
    return err;
}

/* To this machine's order of bytes. */
static void reorder(const struct tac_vtu_format *f, struct tac_vtu_array *a)
{
    for (size_t k = 0; k < a->count; k++) {
        unsigned char *at = (unsigned char *)a->number + (size_t)a->width * k;
        const uint64_t value = number_of(at, a->width, f->big_endian);
        const uint32_t four = (uint32_t)value;
        const uint16_t two = (uint16_t)value;
        if (a->width == 8)
            memcpy(at, &value, 8);
        else if (a->width == 4)
            memcpy(at, &four, 4);
        else if (a->width == 2)
            memcpy(at, &two, 2);
    }
}

enum tac_err tac_vtu_decode(struct tac_ctx *ctx, const char *path, const struct tac_vtu_format *f,
                            struct tac_vtu_array *a, size_t most)
{
    enum tac_err err = TAC_OK;
    struct stream s = {.ctx = ctx, .path = path, .array = a, .base64 = true};
    if (a->format == TAC_VTU_ASCII)
        return read_ascii(ctx, path, a, most);
    s.at = a->text;
    s.end = a->text + a->text_size;
    if (a->format == TAC_VTU_APPENDED) {
        if (f->data == NULL)
            return fail_data(&s, "lies in appended data, which the file has not; it is cut off");
        if (a->offset > (uint64_t)(f->data_end - f->data))
            return fail_data(&s, "begins after the end of the appended data; the file is cut off");
        s.at = f->data + a->offset;
        s.end = f->data_end;
        s.base64 = !f->raw;
    }
    TAC_TRY((f->compressed ? read_compressed : read_plain)(&s, f, most * (size_t)a->width, a));
    reorder(f, a);
done:
    return err;
}

double tac_vtu_double(const struct tac_vtu_array *a, size_t k)
{
    double wide;
    float narrow;
    if (a->kind != TAC_VTU_FLOAT)
        return (double)tac_vtu_integer(a, k);
    if (a->width == 8) {
        memcpy(&wide, a->number + 8 * k, 8);
        return wide;
    }
    memcpy(&narrow, a->number + 4 * k, 4);
    return narrow;
}

int64_t tac_vtu_integer(const struct tac_vtu_array *a, size_t k)
{
    uint64_t value = 0;
    for (int i = a->width - 1; i >= 0; i--) {
        const union {
            uint16_t two;
            unsigned char low;
        } order = {1};
        const unsigned char *at = (const unsigned char *)a->number + (size_t)a->width * k;
        value = value << 8 | at[order.low ? i : a->width - 1 - i];
    }
    if (a->kind == TAC_VTU_SIGNED && a->width < 8 && (value >> (8 * a->width - 1)) != 0)
        value |= ~(uint64_t)0 << (8 * a->width);
    return (int64_t)value;
}
