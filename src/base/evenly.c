/* evenly.c: adds numbers without an order. A term is cut in two integers of 40 bits, so that a block of many terms is
 * added in 64 bits. */
#include "base/evenly.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef __int128 wide;

enum { HALF = 40, BLOCK = 512, LOWEST = -900 };

/* x + ROUND - ROUND is x rounded to a whole number, halves to even, for |x| < 2^51. */
#define TAC_ROUND 0x1.8p52

static double power_of_two(int exponent) /* -1022 .. 1023 */
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The least e for which most < 2^e, but at least LOWEST. */
static int exponent_above(double most)
{
    uint64_t bits;
    memcpy(&bits, &most, sizeof bits);
    const int e = (int)(bits >> 52 & 0x7ff) - 1022;
    return e > LOWEST ? e : LOWEST;
}

/* NAN if a term is not finite. */
static double largest(const double *term, size_t n, double most)
{
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        const double size = fabs(term[i]);
        most = size > most ? size : most;
        finite &= size <= 0x1p1023;
    }
    return finite ? most : NAN;
}

/* The sum of a block, high 2^40 + low, in units of 2^(e - 80). */
struct halves {
    int64_t high, low;
};

/* scale: 2^(40 - e) */
static struct halves add_block(const double *term, size_t n, double scale)
{
    struct halves sum = {0, 0};
    for (size_t i = 0; i < n; i++) {
        const double t = term[i] * scale, whole = t + TAC_ROUND - TAC_ROUND;
        const double rest = (t - whole) * 0x1p40;
        sum.high += (int64_t)whole;
        sum.low += (int64_t)(rest + TAC_ROUND - TAC_ROUND);
    }
    return sum;
}

/* Both halves of a block are exact in double precision, so their sum is rounded once. */
static double round_block(struct halves sum, int e)
{
    return ((double)sum.high * 0x1p40 + (double)sum.low) * power_of_two(e - 2 * HALF);
}

static wide widen(struct halves sum)
{
    return (wide)sum.high * ((int64_t)1 << HALF) + sum.low;
}

double tac_sum_evenly(const double *term, size_t n)
{
    wide sum = 0;
    if (n <= 2)
        return n == 0 ? 0 : n == 1 ? term[0] : term[0] + term[1];
    const double most = largest(term, n, 0);
    if (!(most >= 0))
        return NAN;
    const int e = exponent_above(most);
    const double scale = power_of_two(HALF - e);
    if (n <= BLOCK)
        return round_block(add_block(term, n, scale), e);
    for (size_t at = 0; at < n; at += BLOCK)
        sum += widen(add_block(term + at, n - at < BLOCK ? n - at : BLOCK, scale));
    return (double)sum * power_of_two(e - 2 * HALF);
}

/* Writes the products of a block; returns how many they are. */
static size_t multiply(const double *a, const double *b, size_t at, size_t n, double product[BLOCK])
{
    const size_t count = n - at < BLOCK ? n - at : BLOCK;
    for (size_t i = 0; i < count; i++)
        product[i] = a[at + i] * b[at + i];
    return count;
}

double tac_dot_evenly(const double *a, const double *b, size_t n)
{
    double product[BLOCK], most = 0;
    wide sum = 0;
    if (n <= BLOCK)
        return tac_sum_evenly(product, multiply(a, b, 0, n, product));
    for (size_t at = 0; at < n; at += BLOCK)
        most = largest(product, multiply(a, b, at, n, product), most);
    if (!(most >= 0))
        return NAN;
    const int e = exponent_above(most);
    for (size_t at = 0; at < n; at += BLOCK)
        sum += widen(add_block(product, multiply(a, b, at, n, product), power_of_two(HALF - e)));
    return (double)sum * power_of_two(e - 2 * HALF);
}
