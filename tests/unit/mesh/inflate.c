/* inflate.c: parts of a compressed member of an archive are what was compressed, wherever and in whatever order
 * they are read; a changed byte, a wrong length and a wrong checksum are found. A failure means that a collider moves
 * along another path than its file says. */
#include "mesh/cache/inflate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "check.h"

enum { BYTES = 5000000, BEFORE = 77 };

static uint64_t state = 12345;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static void test_member(struct tac_ctx *ctx)
{
    unsigned char *plain = malloc(BYTES), *packed = malloc(BYTES + 100000), *part = malloc(BYTES);
    struct tac_inflater *f = NULL;
    z_stream z = {.next_in = plain, .avail_in = BYTES, .next_out = packed, .avail_out = BYTES + 100000};
    FILE *file = tmpfile();
    CHECK(plain && packed && part && file, "memory");
    for (size_t i = 0; i < BYTES; i++) /* some of it repeats, as positions do */
        plain[i] = i > 40000 && next() % 4 ? plain[i - 30000 - next() % 3] : (unsigned char)next();
    CHECK(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
    const int64_t size = (int64_t)z.total_out;
    deflateEnd(&z);
    CHECK(size > BYTES / 8 && size < BYTES);
    const uint32_t crc = (uint32_t)crc32(crc32(0, Z_NULL, 0), plain, BYTES);
    const int descriptor = fileno(file);
    CHECK(pwrite(descriptor, packed, (size_t)size, BEFORE) == size);

    CHECK(tac_inflater_create(ctx, descriptor, BEFORE, size, BYTES, crc, &f) == TAC_OK && f != NULL);
    CHECK(tac_inflater_read(f, 0, part, BYTES) && memcmp(part, plain, BYTES) == 0);
    for (int k = 0; k < 300; k++) {
        const int64_t at = next() % BYTES;
        const size_t most = (size_t)(BYTES - at), n = next() % (k % 10 ? 5000 : 300000);
        const size_t bytes = n < most ? n : most;
        CHECK(tac_inflater_read(f, at, part, bytes) && memcmp(part, plain + at, bytes) == 0);
        /* The next bytes, from where that read ended. */
        const size_t rest = most - bytes < 1000 ? most - bytes : 1000;
        CHECK(tac_inflater_read(f, at + (int64_t)bytes, part, rest) && memcmp(part, plain + at + bytes, rest) == 0);
    }
    CHECK(!tac_inflater_read(f, BYTES - 5, part, 6) && !tac_inflater_read(f, -1, part, 1));
    CHECK(tac_inflater_read(f, BYTES - 5, part, 5) && memcmp(part, plain + BYTES - 5, 5) == 0);
    tac_inflater_destroy(&f);
    CHECK(f == NULL);

    CHECK(tac_inflater_create(ctx, descriptor, BEFORE, size, BYTES, crc + 1, &f) == TAC_OK && f == NULL);
    CHECK(tac_inflater_create(ctx, descriptor, BEFORE, size, BYTES + 1, crc, &f) == TAC_OK && f == NULL);
    CHECK(tac_inflater_create(ctx, descriptor, BEFORE, size / 2, BYTES, crc, &f) == TAC_OK && f == NULL);
    packed[size / 3] ^= 4;
    CHECK(pwrite(descriptor, packed, (size_t)size, BEFORE) == size);
    CHECK(tac_inflater_create(ctx, descriptor, BEFORE, size, BYTES, crc, &f) == TAC_OK && f == NULL);
    fclose(file);
    free(plain);
    free(packed);
    free(part);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct tac_ctx ctx;
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    test_member(&ctx);
    MPI_Finalize();
    return check_result();
}
