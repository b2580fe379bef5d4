/* evenly.c: adds numbers without an order. */
#include "base/evenly.h"
#include "base/evenly_four.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef __int128 wide;

enum { BLOCK = 512, LIMB = 32 };

static double power_of_two(int exponent) /* -1022 .. 1023 */
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The least e for which most < 2^e, but at least TAC_EVEN_LOWEST. */
static int exponent_above(double most)
{
    uint64_t bits;
    memcpy(&bits, &most, sizeof bits);
    const int e = (int)(bits >> 52 & 0x7ff) - 1022;
    return e > TAC_EVEN_LOWEST ? e : TAC_EVEN_LOWEST;
}

/* ---- blocks ---- */

/* Terms, and zeros up to a multiple of four. */
struct block {
    size_t n;
    double term[BLOCK];
};

/* The products from `at` on; b NULL: those of a and 1. */
TAC_FOUR_INLINE void multiply(const double *a, const double *b, size_t at, size_t n, struct block *out)
{
    const size_t count = n - at < BLOCK ? n - at : BLOCK, whole = count / 4 * 4;
    a += at;
    if (b != NULL)
        b += at;
    for (size_t i = 0; i < whole; i += 4)
        tac_four_store(out->term + i, b != NULL ? tac_four_load(a + i) * tac_four_load(b + i) : tac_four_load(a + i));
    out->n = whole;
    if (whole == count)
        return;
    out->n += 4;
    tac_four_store(out->term + whole, tac_four_all(0));
    for (size_t i = whole; i < count; i++)
        out->term[i] = b != NULL ? a[i] * b[i] : a[i];
}

/* INFINITY if a term is not finite. */
TAC_FOUR_INLINE double largest(const struct block *b, double most)
{
    struct tac_even_most m = TAC_EVEN_NONE;
    for (size_t i = 0; i < b->n; i += 4)
        tac_even_meet(&m, tac_four_load(b->term + i));
    for (int k = 0; k < 4; k++) {
        most = m.most[k] > most ? m.most[k] : most;
        most = m.finite[k] != 0 ? most : INFINITY;
    }
    return most;
}

/* high 2^40 + low, in units of 2^(e - 80); both are whole numbers under 2^53. */
struct halves {
    double high, low;
};

/* scale: 2^(40 - e) */
TAC_FOUR_INLINE struct halves add_block(const struct block *b, double scale)
{
    struct tac_even_sum sum = {tac_four_all(0), tac_four_all(0)};
    for (size_t i = 0; i < b->n; i += 4)
        tac_even_add(&sum, tac_four_load(b->term + i), tac_four_all(scale));
    return (struct halves){sum.high[0] + sum.high[1] + (sum.high[2] + sum.high[3]),
                           sum.low[0] + sum.low[1] + (sum.low[2] + sum.low[3])};
}

static wide widen(struct halves sum)
{
    return (wide)(int64_t)sum.high * ((int64_t)1 << TAC_EVEN_HALF) + (int64_t)sum.low;
}

/* ---- sums ---- */

TAC_VERSIONS static double largest_of(const double *a, const double *b, size_t n)
{
    struct block block;
    double most = 0;
    for (size_t at = 0; at < n; at += BLOCK) {
        multiply(a, b, at, n, &block);
        most = largest(&block, most);
    }
    return most;
}

TAC_VERSIONS static wide add_all(const double *a, const double *b, size_t n, double most)
{
    struct block block;
    wide sum = 0;
    const double scale = power_of_two(TAC_EVEN_HALF - exponent_above(most));
    for (size_t at = 0; at < n; at += BLOCK) {
        multiply(a, b, at, n, &block);
        sum += widen(add_block(&block, scale));
    }
    return sum;
}

/* Both halves of a block are exact in double precision, so their sum is rounded once. */
TAC_VERSIONS static double sum_block(const double *a, const double *b, size_t n)
{
    struct block block;
    multiply(a, b, 0, n, &block);
    const double most = largest(&block, 0);
    if (!(most < INFINITY))
        return NAN;
    const int e = exponent_above(most);
    const struct halves sum = add_block(&block, power_of_two(TAC_EVEN_HALF - e));
    return (sum.high * 0x1p40 + sum.low) * power_of_two(e - 2 * TAC_EVEN_HALF);
}

static double value_of(double most, wide sum)
{
    return (double)sum * power_of_two(exponent_above(most) - 2 * TAC_EVEN_HALF);
}

static double sum(const double *a, const double *b, size_t n)
{
    if (n <= BLOCK)
        return sum_block(a, b, n);
    const double most = largest_of(a, b, n);
    return most < INFINITY ? value_of(most, add_all(a, b, n, most)) : NAN;
}

double tac_sum_evenly(const double *term, size_t n)
{
    if (n <= 2)
        return n == 0 ? 0 : n == 1 ? term[0] : term[0] + term[1];
    return sum(term, NULL, n);
}

double tac_dot_evenly(const double *a, const double *b, size_t n)
{
    if (n <= 2)
        return n == 0 ? 0 : n == 1 ? a[0] * b[0] : a[0] * b[0] + a[1] * b[1];
    return sum(a, b, n);
}

/* ---- over ranks ---- */

double tac_even_largest(const double *a, const double *b, size_t n)
{
    return largest_of(a, b, n);
}

/* The lower limbs are not negative. */
void tac_even_limbs(const double *a, const double *b, size_t n, double most, int64_t limb[TAC_EVEN_LIMBS])
{
    wide rest = add_all(a, b, n, most);
    for (int k = 0; k < TAC_EVEN_LIMBS - 1; k++) {
        limb[k] = (int64_t)(rest & (((wide)1 << LIMB) - 1));
        rest >>= LIMB;
    }
    limb[TAC_EVEN_LIMBS - 1] = (int64_t)rest;
}

double tac_even_value(double most, const int64_t limb[TAC_EVEN_LIMBS])
{
    wide sum = limb[TAC_EVEN_LIMBS - 1];
    for (int k = TAC_EVEN_LIMBS - 2; k >= 0; k--)
        sum = sum * ((wide)1 << LIMB) + limb[k];
    return value_of(most, sum);
}
