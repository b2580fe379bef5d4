/* inflate.c: reads parts of a compressed member of a zip archive. */
#include "mesh/cache/inflate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { PLACES = 256, BUFFER = 1 << 16 };

/* A place in the stream, and zlib's state there, which has the last 32 KiB. */
struct place {
    z_stream z;
    int64_t packed, unpacked; /* bytes before it */
};

struct tac_inflater {
    int descriptor; /* borrowed */
    int64_t begin, packed, bytes;
    struct place now, place[PLACES];
    int count;  /* of places that are kept */
    bool valid; /* `now` has a state */
    unsigned char in[BUFFER], skipped[BUFFER];
};

static bool begin_stream(struct place *p)
{
    *p = (struct place){.packed = 0};
    return inflateInit2(&p->z, -MAX_WBITS) == Z_OK;
}

/* Unpacks `bytes` bytes from `now` on. */
static bool unpack(struct tac_inflater *f, unsigned char *out, size_t bytes)
{
    z_stream *z = &f->now.z;
    z->next_out = out;
    z->avail_out = (uInt)bytes;
    z->avail_in = 0;
    while (z->avail_out > 0) {
        const int64_t left = f->packed - f->now.packed;
        const size_t most = left < BUFFER ? (size_t)left : BUFFER;
        ssize_t n;
        do
            n = most > 0 ? pread(f->descriptor, f->in, most, (off_t)(f->begin + f->now.packed)) : 0;
        while (n < 0 && errno == EINTR);
        if (n <= 0)
            return false;
        z->next_in = f->in;
        z->avail_in = (uInt)n;
        const uInt before = z->avail_out;
        const int code = inflate(z, Z_NO_FLUSH);
        f->now.packed += n - (int64_t)z->avail_in;
        f->now.unpacked += (int64_t)(before - z->avail_out);
        z->avail_in = 0;
        if ((code != Z_OK && code != Z_STREAM_END) || (code == Z_STREAM_END && z->avail_out > 0))
            return false;
    }
    return true;
}

static void end_stream(struct tac_inflater *f)
{
    if (f->valid)
        inflateEnd(&f->now.z);
    f->valid = false;
}

/* Goes to the last kept place that is not behind `at`, unless `now` lies between the two. */
static bool go_near(struct tac_inflater *f, int64_t at)
{
    int k = f->count - 1;
    while (k > 0 && f->place[k].unpacked > at)
        k--;
    if (f->valid && f->now.unpacked <= at && f->now.unpacked >= f->place[k].unpacked)
        return true;
    end_stream(f);
    f->now = f->place[k];
    f->valid = inflateCopy(&f->now.z, &f->place[k].z) == Z_OK;
    return f->valid;
}

bool tac_inflater_read(struct tac_inflater *f, int64_t at, void *out, size_t bytes)
{
    if (at < 0 || at + (int64_t)bytes > f->bytes || !go_near(f, at))
        return false;
    while (f->now.unpacked < at) {
        const int64_t left = at - f->now.unpacked;
        if (!unpack(f, f->skipped, left < BUFFER ? (size_t)left : BUFFER)) {
            end_stream(f);
            return false;
        }
    }
    for (size_t had = 0; had < bytes;) {
        const size_t n = bytes - had < (1u << 30) ? bytes - had : 1u << 30;
        if (!unpack(f, (unsigned char *)out + had, n)) {
            end_stream(f);
            return false;
        }
        had += n;
    }
    return true;
}

/* Unpacks all of it; keeps places; false: it is damaged. *memory: zlib had none left. */
static bool look_through(struct tac_inflater *f, uint32_t crc, bool *memory)
{
    uLong sum = crc32(0, Z_NULL, 0);
    const int64_t apart = f->bytes / PLACES + 1;
    while (f->now.unpacked < f->bytes) {
        if (f->count < PLACES && f->now.unpacked >= f->count * apart) {
            f->place[f->count] = f->now;
            if (inflateCopy(&f->place[f->count].z, &f->now.z) != Z_OK) {
                *memory = true;
                return false;
            }
            f->count++;
        }
        const int64_t left = f->bytes - f->now.unpacked;
        const size_t n = left < BUFFER ? (size_t)left : BUFFER;
        if (!unpack(f, f->skipped, n))
            return false;
        sum = crc32(sum, f->skipped, (uInt)n);
    }
    return f->count > 0 && sum == crc;
}

enum tac_err tac_inflater_create(struct tac_ctx *ctx, int descriptor, int64_t begin, int64_t packed, int64_t bytes,
                                 uint32_t crc, struct tac_inflater **out)
{
    struct tac_inflater *f = NULL;
    bool memory = false;
    enum tac_err err = TAC_OK;
    *out = NULL;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *f, &f));
    f->descriptor = descriptor;
    f->begin = begin;
    f->packed = packed;
    f->bytes = bytes;
    f->valid = begin_stream(&f->now);
    if (f->valid && look_through(f, crc, &memory)) {
        *out = f;
        f = NULL;
    } else if (!f->valid || memory) {
        err = tac_fail(ctx, TAC_ERR_RUN, "out of memory while unpacking a file of positions");
    }
done:
    tac_inflater_destroy(&f);
    return err;
}

void tac_inflater_destroy(struct tac_inflater **p)
{
    struct tac_inflater *f = *p;
    *p = NULL;
    if (f == NULL)
        return;
    end_stream(f);
    for (int k = 0; k < f->count; k++)
        inflateEnd(&f->place[k].z);
    free(f);
}
