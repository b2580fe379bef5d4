/* point_cache_raw.c: positions from files that hold one array after the other: NumPy's .npz, and .mdd. */
#include "mesh/cache/point_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mesh/cache/inflate.h"

static bool read_bytes(int descriptor, int64_t at, void *out, size_t bytes)
{
    for (size_t had = 0; had < bytes;) {
        const ssize_t n = pread(descriptor, (char *)out + had, bytes - had, (off_t)at + (off_t)had);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        had += (size_t)n;
    }
    return true;
}

/* Reads from the file, or from what is unpacked. */
static bool read_part(const struct tac_point_cache *cache, int64_t at, void *out, size_t bytes)
{
    return cache->inflater != NULL ? tac_inflater_read(cache->inflater, at, out, bytes)
                                   : read_bytes(cache->descriptor, at, out, bytes);
}

static uint64_t whole_number(const unsigned char *bytes, int width, bool big_endian)
{
    uint64_t n = 0;
    for (int k = 0; k < width; k++)
        n = n << 8 | bytes[big_endian ? k : width - 1 - k];
    return n;
}

bool tac_point_cache_read_raw(const struct tac_point_cache *cache, int64_t at, bool single, int64_t count, double *x)
{
    enum { BLOCK = 4096 };
    unsigned char raw[8 * BLOCK];
    const int width = single ? 4 : 8;
    for (int64_t done = 0; done < count; done += BLOCK) {
        const int64_t n = count - done < BLOCK ? count - done : BLOCK;
        if (!read_part(cache, at + width * done, raw, (size_t)(width * n)))
            return false;
        for (int64_t k = 0; k < n; k++) {
            const uint64_t bits = whole_number(raw + width * k, width, cache->big_endian);
            if (single) {
                const uint32_t half = (uint32_t)bits;
                float value;
                memcpy(&value, &half, sizeof value);
                x[done + k] = (double)value;
            } else {
                memcpy(&x[done + k], &bits, sizeof bits);
            }
        }
    }
    return true;
}

static enum tac_err open_file(struct tac_ctx *ctx, struct tac_point_cache *cache, const char *from, int64_t *size)
{
    struct stat s;
    cache->descriptor = open(cache->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (cache->descriptor < 0 || fstat(cache->descriptor, &s) != 0 || !S_ISREG(s.st_mode))
        return tac_fail(ctx, TAC_ERR_INPUT, "%s%s: is no file that can be read", from, cache->path);
    *size = (int64_t)s.st_size;
    return TAC_OK;
}

/* ---- .mdd: big-endian; counts of knots and vertices, times, positions in single precision ---- */

enum tac_err tac_point_cache_open_mdd(struct tac_ctx *ctx, struct tac_point_cache *cache, const char *from)
{
    unsigned char head[8];
    int64_t size = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(open_file(ctx, cache, from, &size));
    if (!read_bytes(cache->descriptor, 0, head, sizeof head))
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: is too short for an .mdd file", from, cache->path));
    cache->big_endian = cache->single = true;
    cache->knots = (int64_t)whole_number(head, 4, true);
    cache->vertices = (int64_t)whole_number(head + 4, 4, true);
    cache->begin = 8 + 4 * cache->knots;
    if (cache->knots < 1 || cache->vertices < 1 || cache->vertices > INT32_MAX || cache->knots > INT32_MAX ||
        (double)size != 8 + 4. * (double)cache->knots + 12. * (double)cache->knots * (double)cache->vertices)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: is no .mdd file, or is cut off", from, cache->path));
    TAC_TRY(tac_alloc(ctx, (size_t)cache->knots, sizeof *cache->t_s, &cache->t_s));
    if (!tac_point_cache_read_raw(cache, 8, true, cache->knots, cache->t_s))
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: cannot be read", from, cache->path));
done:
    return err;
}

/* ---- .npz: a zip archive of .npy files ---- */

static const char *const wanted[] = {"time.npy", "position.npy"};

/* An array in the archive. */
struct array {
    int64_t begin; /* of its numbers, bytes */
    int dimensions;
    int64_t dim[3];
    bool single, big_endian;
};

/* Reads the dictionary of a .npy file, which describes the array. Returns false if the array cannot hold positions. */
static bool parse_header(const char *text, struct array *a)
{
    const char *descr = strstr(text, "'descr':"), *order = strstr(text, "'fortran_order':"),
               *shape = strstr(text, "'shape':");
    char byte_order, kind;
    int width;
    if (descr == NULL || order == NULL || shape == NULL || strncmp(order + 16, " False", 6) != 0 ||
        sscanf(descr + 8, " '%c%c%d'", &byte_order, &kind, &width) != 3 || kind != 'f' || (width != 4 && width != 8) ||
        (byte_order != '<' && byte_order != '>') || (shape = strchr(shape, '(')) == NULL)
        return false;
    a->single = width == 4;
    a->big_endian = byte_order == '>';
    for (shape++; a->dimensions < 3;) {
        char *end;
        errno = 0;
        const long long n = strtoll(shape, &end, 10);
        if (end == shape)
            break;
        if (errno != 0 || n < 0 || n > INT32_MAX)
            return false;
        a->dim[a->dimensions++] = n;
        for (shape = end; *shape == ',' || *shape == ' '; shape++)
            ;
    }
    return *shape == ')';
}

static bool read_array(const struct tac_point_cache *cache, int64_t at, int64_t end, struct array *a)
{
    enum { MOST = 1 << 12 };
    unsigned char head[12];
    char text[MOST + 1];
    if (end - at < 12 || !read_part(cache, at, head, sizeof head) || memcmp(head, "\x93NUMPY", 6) != 0)
        return false;
    const int width = head[6] == 1 ? 2 : 4;
    const int64_t length = (int64_t)whole_number(head + 8, width, false), text_at = at + 8 + width;
    if (length > MOST || text_at + length > end || !read_part(cache, text_at, text, (size_t)length))
        return false;
    text[length] = '\0';
    a->begin = text_at + length;
    if (!parse_header(text, a))
        return false;
    double bytes = a->single ? 4 : 8;
    for (int k = 0; k < a->dimensions; k++)
        bytes *= (double)a->dim[k];
    return (double)(end - a->begin) == bytes;
}

/* A member of the archive, by its local header. */
struct member {
    char name[64];
    int method;          /* 0: stored; 8: compressed by deflate */
    int64_t begin, size; /* in the file */
    int64_t bytes;       /* unpacked */
    uint32_t crc;        /* of what is unpacked */
};

/* The sizes of a member in a large archive, unpacked and packed, are in a field of their own. */
static bool find_sizes(const unsigned char *extra, int length, uint64_t size[2])
{
    for (int k = 0; k + 4 <= length;) {
        const int id = (int)whole_number(extra + k, 2, false), n = (int)whole_number(extra + k + 2, 2, false);
        if (id == 1 && n >= 16 && k + 4 + 16 <= length) {
            size[0] = whole_number(extra + k + 4, 8, false);
            size[1] = whole_number(extra + k + 12, 8, false);
            return true;
        }
        k += 4 + n;
    }
    return false;
}

static bool read_member(const struct tac_point_cache *cache, int64_t at, int64_t size, struct member *m)
{
    enum { HEAD = 30, NAMES = 65535 };
    unsigned char head[HEAD], extra[1024];
    if (size - at < HEAD || !read_bytes(cache->descriptor, at, head, HEAD) || memcmp(head, "PK\003\004", 4) != 0)
        return false;
    const int name = (int)whole_number(head + 26, 2, false), more = (int)whole_number(head + 28, 2, false);
    const bool streamed = (head[6] & 8) != 0;
    uint64_t bytes[2] = {whole_number(head + 22, 4, false), whole_number(head + 18, 4, false)};
    m->method = (int)whole_number(head + 8, 2, false);
    memset(m->name, 0, sizeof m->name);
    if (streamed || name >= (int)sizeof m->name || more > (int)sizeof extra ||
        !read_bytes(cache->descriptor, at + HEAD, m->name, (size_t)name) ||
        !read_bytes(cache->descriptor, at + HEAD + name, extra, (size_t)more) ||
        ((bytes[0] == 0xffffffffu || bytes[1] == 0xffffffffu) && !find_sizes(extra, more, bytes)) ||
        bytes[0] > INT64_MAX / 2 || bytes[1] > INT64_MAX / 2)
        return false;
    m->begin = at + HEAD + name + more;
    m->size = (int64_t)bytes[1];
    m->bytes = (int64_t)bytes[0];
    m->crc = (uint32_t)whole_number(head + 14, 4, false);
    return m->begin + m->size <= size;
}

/* Finds the two arrays of the archive among its members. */
static bool find_members(const struct tac_point_cache *cache, int64_t size, struct member member[2], bool found[2])
{
    struct member m;
    for (int64_t at = 0; read_member(cache, at, size, &m); at = m.begin + m.size)
        for (int k = 0; k < 2; k++)
            if (strcmp(m.name, wanted[k]) == 0) {
                member[k] = m;
                found[k] = true;
            }
    return found[0] && found[1];
}

/* Opens array k: what is read from the cache from now on is of this member. */
static enum tac_err open_array(struct tac_ctx *ctx, struct tac_point_cache *cache, const char *from, int k,
                               const struct member *m, struct array *array)
{
    enum tac_err err = TAC_OK;
    tac_inflater_destroy(&cache->inflater);
    if (m->method != 0 && m->method != 8)
        return tac_fail(
            ctx, TAC_ERR_INPUT,
            "%s%s: `%.8s` is packed by method %d; write it with numpy.savez or savez_compressed, or as HDF5", from,
            cache->path, wanted[k], m->method);
    if (m->method == 8)
        TAC_TRY(tac_inflater_create(ctx, cache->descriptor, m->begin, m->size, m->bytes, m->crc, &cache->inflater));
    if (m->method == 8 && cache->inflater == NULL)
        return tac_fail(ctx, TAC_ERR_INPUT, "%s%s: `%.*s` is damaged: it cannot be unpacked, or its checksum differs",
                        from, cache->path, (int)strlen(wanted[k]) - 4, wanted[k]);
    const int64_t begin = m->method == 8 ? 0 : m->begin, end = begin + (m->method == 8 ? m->bytes : m->size);
    if (!read_array(cache, begin, end, array))
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "%s%s: `%.*s` is no array of floating-point numbers of 4 or 8 bytes in C order", from,
                        cache->path, (int)strlen(wanted[k]) - 4, wanted[k]);
done:
    return err;
}

enum tac_err tac_point_cache_open_npz(struct tac_ctx *ctx, struct tac_point_cache *cache, const char *from)
{
    struct array time = {.begin = 0}, position = {.begin = 0};
    struct member member[2];
    bool found[2] = {false, false};
    int64_t size = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(open_file(ctx, cache, from, &size));
    if (!find_members(cache, size, member, found))
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                         "%s%s: has no array `%s`; positions need `time` (K) and `position` (K, V, 3), written by "
                         "numpy.savez",
                         from, cache->path, found[0] ? "position" : "time"));
    TAC_TRY(open_array(ctx, cache, from, 0, &member[0], &time));
    if (time.dimensions == 1) {
        cache->knots = time.dim[0];
        cache->big_endian = time.big_endian;
        TAC_TRY(tac_alloc(ctx, (size_t)cache->knots, sizeof *cache->t_s, &cache->t_s));
        if (!tac_point_cache_read_raw(cache, time.begin, time.single, cache->knots, cache->t_s))
            TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: `time` cannot be read", from, cache->path));
    }
    TAC_TRY(open_array(ctx, cache, from, 1, &member[1], &position));
    if (time.dimensions != 1 || position.dimensions != 3 || position.dim[2] != 3 || time.dim[0] != position.dim[0])
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s%s: `time` must be of shape (K), and `position` of (K, V, 3)", from,
                         cache->path));
    cache->vertices = position.dim[1];
    cache->big_endian = position.big_endian;
    cache->single = position.single;
    cache->begin = position.begin;
done:
    return err;
}
