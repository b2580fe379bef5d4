/* evenly_four.h: four sums of base/evenly.h side by side, as parts of other loops.
 *
 *     struct tac_even_most most = TAC_EVEN_NONE;
 *     for (each term) tac_even_meet(&most, term);
 *     const tac_four e = exponents ...
 *
 * A term is cut in two whole numbers of 40 bits, so up to 2^12 of them are added in double precision without a rounding
 * error.
 */
#ifndef TACTUS_BASE_EVENLY_FOUR_H
#define TACTUS_BASE_EVENLY_FOUR_H

#include "base/four.h"

enum { TAC_EVEN_HALF = 40, TAC_EVEN_LOWEST = -900, TAC_EVEN_MOST = 1024 };

/* x + ROUND - ROUND is x rounded to a whole number, halves to even, for |x| < 2^51. */
#define TAC_EVEN_ROUND 0x1.8p52

/* 2 to the power of each, -1022 .. 1023. */
TAC_FOUR_INLINE tac_four tac_even_power(tac_four_mask exponent)
{
    return (tac_four)((exponent + 1023) << 52);
}

/* For each the least e for which most < 2^e, but at least TAC_EVEN_LOWEST. */
TAC_FOUR_INLINE tac_four_mask tac_even_exponent(tac_four most)
{
    const tac_four_mask lowest = {TAC_EVEN_LOWEST, TAC_EVEN_LOWEST, TAC_EVEN_LOWEST, TAC_EVEN_LOWEST};
    const tac_four_mask e = ((tac_four_mask)most >> 52 & 0x7ff) - 1022;
    const tac_four_mask high = e > lowest;
    return (e & high) | (lowest & ~high);
}

TAC_FOUR_INLINE tac_four tac_even_size(tac_four x)
{
    return (tac_four)((tac_four_mask)x & 0x7fffffffffffffff);
}
TAC_FOUR_INLINE tac_four tac_even_larger(tac_four a, tac_four b)
{
    return tac_four_select(a > b, a, b);
}

/* Numbers that are not finite make `most` larger than TAC_EVEN_FINITE, or no number. */
#define TAC_EVEN_FINITE 0x1p1023
struct tac_even_most {
    tac_four most;
    tac_four_mask finite;
};
#define TAC_EVEN_NONE ((struct tac_even_most){{0, 0, 0, 0}, {-1, -1, -1, -1}})

TAC_FOUR_INLINE void tac_even_meet(struct tac_even_most *m, tac_four term)
{
    const tac_four size = tac_even_size(term);
    m->most = tac_even_larger(size, m->most);
    m->finite &= size <= tac_four_all(TAC_EVEN_FINITE);
}

/* Sums high 2^40 + low, in units of 2^(e - 80). */
struct tac_even_sum {
    tac_four high, low;
};

/* scale: 2^(40 - e) */
TAC_FOUR_INLINE void tac_even_add(struct tac_even_sum *sum, tac_four term, tac_four scale)
{
    const tac_four round = tac_four_all(TAC_EVEN_ROUND);
    const tac_four t = term * scale, whole = t + round - round;
    sum->high += whole;
    sum->low += (t - whole) * tac_four_all(0x1p40) + round - round;
}

/* Rounds the sums, once: both halves are exact. */
TAC_FOUR_INLINE tac_four tac_even_round(const struct tac_even_sum *sum, tac_four_mask e)
{
    return (sum->high * tac_four_all(0x1p40) + sum->low) * tac_even_power(e - 2 * TAC_EVEN_HALF);
}

#endif
