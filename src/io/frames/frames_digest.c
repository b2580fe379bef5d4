/* frames_digest.c: computes one number for all results of a run: SHA-256 over the positions and velocities of its
 * frames. */
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include <tactus/reader.h>

enum { ROWS = 4096, SHA256_BYTES = 32 };

/* Enters doubles as eight bytes each, the lowest byte first, on machines of any byte order. */
static bool enter_doubles(EVP_MD_CTX *md, const double *x, size_t count)
{
    unsigned char bytes[8 * ROWS];
    for (size_t begin = 0; begin < count; begin += ROWS) {
        const size_t end = count - begin < ROWS ? count : begin + ROWS;
        unsigned char *to = bytes;
        for (size_t i = begin; i < end; i++) {
            uint64_t bits;
            memcpy(&bits, &x[i], sizeof bits);
            for (int k = 0; k < 8; k++)
                *to++ = (unsigned char)(bits >> (8 * k));
        }
        if (EVP_DigestUpdate(md, bytes, (size_t)(to - bytes)) != 1)
            return false;
    }
    return true;
}

enum tac_err tac_reader_digest(struct tac_ctx *ctx, const struct tac_reader *r, char sha256[65])
{
    enum tac_err err = TAC_OK;
    const size_t count = 3 * (size_t)r->vertex_count;
    double *x = NULL, *v = NULL;
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    TAC_TRY(tac_alloc(ctx, count, sizeof *x, &x));
    TAC_TRY(tac_alloc(ctx, count, sizeof *v, &v));
    bool ok = md != NULL && EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1;
    for (int64_t k = 0; ok && k < r->frame_count; k++) {
        TAC_TRY(tac_reader_frame(ctx, r, k, x, v, NULL));
        ok = enter_doubles(md, x, count) && enter_doubles(md, v, count);
    }
    if (!ok || EVP_DigestFinal_ex(md, sum, &size) != 1 || size != SHA256_BYTES)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "libcrypto failed to compute a SHA-256; check its installation"));
    for (unsigned int i = 0; i < size; i++)
        snprintf(sha256 + 2 * i, 3, "%02x", sum[i]);
done:
    EVP_MD_CTX_free(md);
    free(x);
    free(v);
    return err;
}
