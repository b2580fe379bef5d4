/* accum.c: makes exact sums in fixed point over the whole range of double: adds, merges, and rounds once to double. */
#include <tactus/accum.h>

#include <math.h>
#include <string.h>

/* A limb holds 32 bits of the sum and 31 bits of carries, so 2^30 additions may wait before they are carried on. */
#define PENDING_MAX (1 << 30)
#define LIMB_BITS 32
#define LIMB_MASK INT64_C(0xffffffff)
/* Bit 0 of limb 0 is 2^-LOWEST; every double is a multiple of 2^-1074. */
#define LOWEST 1088

/* Leaves limbs 0 .. n-2 in [0, 2^32) and the sign in the last one. */
static void carry(struct tac_accum *a)
{
    int64_t over = 0;
    for (int i = 0; i < TAC_ACCUM_LIMBS - 1; i++) {
        int64_t limb = a->limb[i] + over;
        a->limb[i] = limb & LIMB_MASK;
        over = (limb - a->limb[i]) / (LIMB_MASK + 1); /* exact: floor, also for a negative limb */
    }
    a->limb[TAC_ACCUM_LIMBS - 1] += over;
    a->pending = 0;
}

void tac_accum_add(struct tac_accum *a, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned exponent = (unsigned)(bits >> 52) & 0x7ff;
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 0x7ff) {
        a->bad = 1;
        return;
    }
    if (exponent == 0)
        exponent = 1; /* subnormal: no hidden bit */
    else
        mantissa |= UINT64_C(1) << 52;
    /* value = mantissa 2^(exponent - 1075): its lowest bit is bit `place` of the accumulator. */
    unsigned place = exponent - 1075 + LOWEST;
    unsigned shift = place % LIMB_BITS;
    uint64_t low = mantissa << shift, high = mantissa >> 1 >> (63 - shift);
    int64_t sign = -(int64_t)(bits >> 63); /* 0 or -1: (p ^ sign) - sign is p or -p without a branch */
    int64_t *limb = a->limb + place / LIMB_BITS;
    limb[0] += ((int64_t)(low & LIMB_MASK) ^ sign) - sign;
    limb[1] += ((int64_t)(low >> LIMB_BITS) ^ sign) - sign;
    limb[2] += ((int64_t)high ^ sign) - sign;
    if (++a->pending >= PENDING_MAX)
        carry(a);
}

void tac_accum_carry(struct tac_accum *a)
{
    carry(a);
}

void tac_accum_merge(struct tac_accum *a, const struct tac_accum *b)
{
    /* A limb is below (pending + 1) 2^32 in size. */
    if (a->pending >= PENDING_MAX / 2)
        carry(a);
    if (b->pending < PENDING_MAX / 2) {
        for (int i = 0; i < TAC_ACCUM_LIMBS; i++)
            a->limb[i] += b->limb[i];
        a->pending += b->pending + 1;
    } else {
        struct tac_accum copy = *b;
        carry(&copy);
        for (int i = 0; i < TAC_ACCUM_LIMBS; i++)
            a->limb[i] += copy.limb[i];
        a->pending += 1;
    }
    a->bad |= b->bad;
}

/* Bits [place, place + count) of carried limbs, count <= 64. */
static uint64_t bits_at(const struct tac_accum *a, int place, int count)
{
    uint64_t out = 0;
    for (int done = 0; done < count;) {
        int limb = (place + done) / LIMB_BITS, offset = (place + done) % LIMB_BITS;
        if (limb >= TAC_ACCUM_LIMBS)
            break;
        out |= (uint64_t)a->limb[limb] >> offset << done;
        done += limb == TAC_ACCUM_LIMBS - 1 ? 64 : LIMB_BITS - offset;
    }
    return count < 64 ? out & ((UINT64_C(1) << count) - 1) : out;
}

double tac_accum_value(const struct tac_accum *a)
{
    if (a->bad)
        return NAN;
    struct tac_accum sum = *a;
    carry(&sum);
    double sign = 1;
    if (sum.limb[TAC_ACCUM_LIMBS - 1] < 0) {
        sign = -1;
        for (int i = 0; i < TAC_ACCUM_LIMBS; i++)
            sum.limb[i] = -sum.limb[i];
        carry(&sum);
    }
    int top = TAC_ACCUM_LIMBS - 1;
    while (top >= 0 && sum.limb[top] == 0)
        top--;
    if (top < 0)
        return 0;
    int highest = top * LIMB_BITS + 63 - __builtin_clzll((unsigned long long)sum.limb[top]);
    int lowest = highest - 52; /* of the 53 bits that are kept; fewer for a subnormal, which loses nothing */
    if (lowest < LOWEST - 1074)
        lowest = LOWEST - 1074;
    uint64_t mantissa = bits_at(&sum, lowest, 53);
    if (bits_at(&sum, lowest - 1, 1)) {
        int sticky = 0;
        for (int i = 0; i < lowest - 1 && !sticky; i += LIMB_BITS) {
            int count = lowest - 1 - i < LIMB_BITS ? lowest - 1 - i : LIMB_BITS;
            sticky = bits_at(&sum, i, count) != 0;
        }
        mantissa += sticky || (mantissa & 1);
    }
    return sign * ldexp((double)mantissa, lowest - LOWEST);
}

void tac_accum_subtract(struct tac_accum *a, const struct tac_accum *b)
{
    struct tac_accum minus = *b;
    for (int i = 0; i < TAC_ACCUM_LIMBS; i++)
        minus.limb[i] = -minus.limb[i];
    tac_accum_merge(a, &minus);
}
