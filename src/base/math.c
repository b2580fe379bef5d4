/* math.c: the functions of tactus/math.h (sine, cosine and others), with the same bits for every compiler and processor
 * (CONTRIBUTING.md, The invariance law): only + - * / sqrt, exact scalings, and integers are used.
 *
 * A "pair" is an unevaluated sum hi + lo of two doubles, |lo| <= ulp(hi)/2: about 106 bits. The constants are derived
 * by tests/unit/base/math_coefficients.py; the polynomials are minimax, named after what they complete. */
#include <tactus/math.h>

#include <math.h>
#include <string.h>

static const double half_pi_part[4] = {
    0x1.921fb54400000p+0,
    0x1.0b4611a600000p-34,
    0x1.3198a2e000000p-69,
    0x1.b839a252049c1p-104,
};
static const double sin_rest[6] = {
    -0x1.5555555555548p-3, 0x1.111111110f7cfp-7,   -0x1.a01a019bfddb6p-13,
    0x1.71de3567c4531p-19, -0x1.ae5e5a86e68cdp-26, 0x1.5d8fced3d71f5p-33,
};
static const double cos_rest[6] = {
    0x1.555555555554bp-5,   -0x1.6c16c16c14f91p-10, 0x1.a01a019c84521p-16,
    -0x1.27e4f7eac62c5p-22, 0x1.1ee9d7b5912a2p-29,  -0x1.8fa49a40aa735p-37,
};
static const double atan_rest[5] = {
    -0x1.5555555555531p-2, 0x1.999999995bbabp-3, -0x1.2492481078dfep-3, 0x1.c7183dee53688p-4, -0x1.70a4969c829e8p-4,
};
static const double atan_eighth_hi[9] = {
    0x0.0p+0,
    0x1.fd5ba9aac2f6ep-4,
    0x1.f5b75f92c80ddp-3,
    0x1.6f61941e4def1p-2,
    0x1.dac670561bb4fp-2,
    0x1.1e00babdefeb4p-1,
    0x1.4978fa3269ee1p-1,
    0x1.700a7c5784634p-1,
    0x1.921fb54442d18p-1,
};
static const double atan_eighth_lo[9] = {
    0x0.0p+0,
    -0x1.cd37686760c17p-59,
    0x1.8ab6e3cf7afbdp-57,
    -0x1.c63aae6f6e918p-56,
    0x1.a2b7f222f65e2p-56,
    -0x1.928df287a668fp-58,
    0x1.2419a87f2a458p-56,
    -0x1.8c34d25aadef6p-56,
    0x1.1a62633145c07p-55,
};
static const double log_rest[8] = {
    0x1.9999999999996p-2, 0x1.2492492493034p-2, 0x1.c71c71c5808ebp-3, 0x1.745d183240e6ep-3,
    0x1.3b1362bab4106p-3, 0x1.1120b4f0b50bcp-3, 0x1.de338c6f0304bp-4, 0x1.eb103bff97e21p-4,
};
static const double exp_rest[10] = {
    0x1.5555555555558p-5,  0x1.1111111111104p-7,  0x1.6c16c16c15353p-10, 0x1.a01a01a02451ap-13, 0x1.a01a01ac786d3p-16,
    0x1.71de3a2711253p-19, 0x1.27e4ce31a45abp-22, 0x1.ae64fc12a11cfp-26, 0x1.1f88af3b647b7p-29, 0x1.60918907f3666p-33,
};
static const double ln2_part[2] = {
    0x1.62e42fefa3800p-1,
    0x1.ef35793c76800p-45,
};
static const double two_thirds[2] = {
    0x1.5555555555555p-1,
    0x1.5555555555555p-55,
};
static const double sixth[2] = {
    0x1.5555555555555p-3,
    0x1.5555555555555p-57,
};
static const double half_pi[2] = {
    0x1.921fb54442d18p+0,
    0x1.1a62633145c07p-54,
};
static const double pi[2] = {
    0x1.921fb54442d18p+1,
    0x1.1a62633145c07p-53,
};
static const uint64_t two_over_pi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

struct pair {
    double hi, lo;
};

/* a + b for |a| >= |b| or a = 0; exact. */
static inline struct pair fast_sum(double a, double b)
{
    double hi = a + b;
    return (struct pair){hi, b - (hi - a)};
}

/* a + b, exact. */
static inline struct pair sum(double a, double b)
{
    double hi = a + b, b_part = hi - a;
    return (struct pair){hi, (a - (hi - b_part)) + (b - b_part)};
}

/* a b, exact while nothing over- or underflows (Dekker's splitting: fma() would be a slow library call where the
 * processor has none). */
static inline struct pair product(double a, double b)
{
    double big_a = 0x1.0000002p+27 * a, big_b = 0x1.0000002p+27 * b;
    double a_hi = big_a - (big_a - a), b_hi = big_b - (big_b - b);
    double a_lo = a - a_hi, b_lo = b - b_hi;
    double hi = a * b;
    return (struct pair){hi, a_lo * b_lo - (((hi - a_hi * b_hi) - a_lo * b_hi) - a_hi * b_lo)};
}

static inline struct pair pair_sum(struct pair a, struct pair b)
{
    struct pair s = sum(a.hi, b.hi), t = sum(a.lo, b.lo);
    s = fast_sum(s.hi, s.lo + t.hi);
    return fast_sum(s.hi, s.lo + t.lo);
}

static inline struct pair pair_product(struct pair a, struct pair b)
{
    struct pair p = product(a.hi, b.hi);
    return fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline double polynomial(const double *coefficient, int count, double x)
{
    double value = coefficient[count - 1];
    for (int i = count - 2; i >= 0; i--)
        value = value * x + coefficient[i];
    return value;
}
#define POLYNOMIAL(table, x) polynomial(table, (int)(sizeof table / sizeof *table), x)

/* 2^e for -1022 <= e <= 1023. */
static inline double power_of_two(int e)
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- sine and cosine ---- */

/* x 2/pi mod 4 for a large x = mantissa 2^exponent, with all the bits of 2/pi that matter: its bits above weight
 * 4 / 2^exponent only add whole turns. Returns the nearest quadrant; *rest is what is left, in radians. */
static int reduce_large(double x, struct pair *rest)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t bits, window[3];
    memcpy(&bits, &x, sizeof bits);
    uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int exponent = (int)(bits >> 52) - 1075;
    for (int i = 0; i < 3; i++) { /* 192 bits of 2/pi, the first of weight 2 / 2^exponent */
        int place = exponent - 2 + 64 * i + 64;
        int word = place / 64 - 1, shift = place % 64;
        window[i] = word >= 0 ? two_over_pi[word] << shift : 0;
        if (shift > 0)
            window[i] |= two_over_pi[word + 1] >> (64 - shift);
    }
    wide low = (wide)mantissa * window[2], mid = (wide)mantissa * window[1] + (uint64_t)(low >> 64);
    uint64_t turn[3] = {mantissa * window[0] + (uint64_t)(mid >> 64), (uint64_t)mid, (uint64_t)low};
    int quadrant = (int)(turn[0] >> 62);
    turn[0] = turn[0] << 2 | turn[1] >> 62; /* the fraction of a quadrant */
    turn[1] = turn[1] << 2 | turn[2] >> 62;
    turn[2] <<= 2;
    double sign = 1;
    if (turn[0] >> 63) { /* nearer to the next one */
        quadrant++;
        sign = -1;
        for (int i = 0; i < 3; i++)
            turn[i] = ~turn[i]; /* less one unit in 2^-192 */
    }
    double scale = 1;
    if (turn[0] == 0) { /* no double comes nearer than about 2^-62 to a multiple of pi/2, so this happens once */
        turn[0] = turn[1];
        turn[1] = turn[2];
        scale = 0x1p-64;
    }
    int zeros = turn[0] ? __builtin_clzll((unsigned long long)turn[0]) : 0;
    if (zeros > 0) {
        turn[0] = turn[0] << zeros | turn[1] >> (64 - zeros);
        turn[1] <<= zeros;
    }
    scale *= sign * power_of_two(-64 - zeros);
    /* The top 53 bits, then the 53 below them. */
    struct pair fraction =
        fast_sum((double)(turn[0] >> 11) * 0x1p+11, (double)((turn[0] & 0x7ff) << 42 | turn[1] >> 22) * 0x1p-42);
    *rest =
        pair_product((struct pair){fraction.hi * scale, fraction.lo * scale}, (struct pair){half_pi[0], half_pi[1]});
    return quadrant & 3;
}

/* x >= 0 less the nearest multiple of pi/2; returns which one, mod 4. */
static int reduce(double x, struct pair *rest)
{
    if (x >= 0x1p+20)
        return reduce_large(x, rest);
    double k = floor(x * (2 / TAC_PI) + .5);
    /* k < 2^20, so its products with the 33-bit parts are exact. */
    struct pair r = sum(x - k * half_pi_part[0], -(k * half_pi_part[1]));
    struct pair s = sum(r.hi, -(k * half_pi_part[2]));
    *rest = sum(s.hi, s.lo + (r.lo - k * half_pi_part[3]));
    return (int)((int64_t)k & 3);
}

static double sin_kernel(struct pair x)
{
    double u = x.hi * x.hi;
    return x.hi + (x.hi * u * POLYNOMIAL(sin_rest, u) + x.lo * (1 - u / 2));
}

static double cos_kernel(struct pair x)
{
    double u = x.hi * x.hi;
    struct pair head = fast_sum(1, -u / 2);
    return head.hi + (head.lo + (u * u * POLYNOMIAL(cos_rest, u) - x.hi * x.lo));
}

double tac_sin(double radians)
{
    double x = fabs(radians);
    if (!(x < INFINITY))
        return NAN;
    if (x < 0x1p-27)
        return radians;
    struct pair r;
    int quadrant = reduce(x, &r);
    double value = quadrant & 1 ? cos_kernel(r) : sin_kernel(r);
    return (quadrant >= 2) != (radians < 0) ? -value : value;
}

double tac_cos(double radians)
{
    double x = fabs(radians);
    if (!(x < INFINITY))
        return NAN;
    struct pair r;
    int quadrant = reduce(x, &r);
    double value = quadrant & 1 ? sin_kernel(r) : cos_kernel(r);
    return quadrant == 1 || quadrant == 2 ? -value : value;
}

/* ---- inverse tangent ---- */

/* atan(y / x) for 0 <= y <= x, x > 0: atan(c) + atan((y - c x) / (x + c y)) with c the nearest eighth to y / x. */
static struct pair atan_octant(double y, double x)
{
    int k = (int)(8 * (y / x) + .5);
    double c = k * .125;
    double t = (y - c * x) / (x + c * y), u = t * t;
    double rest = t * u * POLYNOMIAL(atan_rest, u);
    struct pair head = fast_sum(atan_eighth_hi[k], t);
    if (k == 0)
        return (struct pair){t, rest};
    return fast_sum(head.hi, head.lo + (rest + atan_eighth_lo[k]));
}

double tac_atan2(double y, double x)
{
    if (isnan(x) || isnan(y))
        return NAN;
    if (x == 0 && y == 0)
        return y;
    double big = fmax(fabs(x), fabs(y)), small = fmin(fabs(x), fabs(y));
    if (big == INFINITY) {
        small = small == INFINITY;
        big = 1;
    } else if (big > 0x1p+1000) { /* keep x + c y finite, */
        big *= 0x1p-100;
        small *= 0x1p-100;
    } else if (big < 0x1p-900) { /* and y - c x out of the subnormals */
        big *= 0x1p+100;
        small *= 0x1p+100;
    }
    struct pair a = atan_octant(small, big);
    if (fabs(y) > fabs(x)) {
        struct pair s = fast_sum(half_pi[0], -a.hi);
        a = fast_sum(s.hi, s.lo + (half_pi[1] - a.lo));
    }
    if (x < 0) {
        struct pair s = fast_sum(pi[0], -a.hi);
        a = fast_sum(s.hi, s.lo + (pi[1] - a.lo));
    }
    return copysign(a.hi + a.lo, y);
}

double tac_acos(double c)
{
    if (c >= 1)
        return 0;
    if (c <= -1)
        return TAC_PI;
    return tac_atan2(sqrt((1 - c) * (1 + c)), c); /* the factor that matters near +-1 is exact */
}

/* ---- exponential and logarithm ---- */

/* log x for finite x > 0, to about 2^-68 of it: x = 2^k m, 1/sqrt 2 < m < sqrt 2, log m = 2 atanh((m - 1) / (m + 1)).
 */
static struct pair log_pair(double x)
{
    int k = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p+54;
        k = -54;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    k += (int)(bits >> 52) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > M_SQRT2) {
        m /= 2;
        k++;
    }
    double f = m - 1; /* exact */
    struct pair g = fast_sum(2, f), s;
    s.hi = f / g.hi;
    struct pair back = product(s.hi, g.hi);
    s.lo = ((f - back.hi) - back.lo - s.hi * g.lo) / g.hi;
    s = fast_sum(s.hi, s.lo);
    struct pair u = pair_product(s, s);
    struct pair rest = pair_product(u, (struct pair){two_thirds[0], two_thirds[1]});
    rest = pair_sum(rest, (struct pair){u.hi * u.hi * POLYNOMIAL(log_rest, u.hi), 0});
    struct pair value = pair_product(s, pair_sum((struct pair){2, 0}, rest));
    value = pair_sum((struct pair){k * ln2_part[1], 0}, value);
    return pair_sum((struct pair){k * ln2_part[0], 0}, value); /* both products are exact */
}

/* exp of a pair; the sum of the series is rounded once. */
static double exp_pair(struct pair x)
{
    if (x.hi > 710)
        return INFINITY;
    if (x.hi < -746)
        return 0;
    int k = (int)floor(x.hi * M_LOG2E + .5);
    struct pair r = sum(x.hi - k * ln2_part[0], -(k * ln2_part[1])); /* exact */
    r = sum(r.hi, r.lo + x.lo);
    struct pair r2 = pair_product(r, r);
    struct pair cubic = pair_product(pair_product(r2, r), (struct pair){sixth[0], sixth[1]});
    struct pair e = pair_sum(cubic, (struct pair){r2.hi * r2.hi * POLYNOMIAL(exp_rest, r.hi), 0});
    e = pair_sum((struct pair){r2.hi / 2, r2.lo / 2}, e);
    e = pair_sum((struct pair){1, 0}, pair_sum(r, e));
    return ldexp(e.hi + e.lo, k);
}

double tac_exp(double x)
{
    return isnan(x) ? x : exp_pair((struct pair){x, 0});
}

double tac_log(double x)
{
    if (!(x > 0))
        return x == 0 ? -INFINITY : NAN;
    if (x == INFINITY)
        return x;
    struct pair value = log_pair(x);
    return value.hi + value.lo;
}

double tac_pow(double base, double exponent)
{
    if (exponent == 0 || base == 1)
        return 1;
    if (isnan(exponent) || !(base >= 0))
        return NAN;
    if (base == 0 || base == INFINITY)
        return (base == 0) == (exponent < 0) ? INFINITY : 0;
    struct pair log_base = log_pair(base);
    double size = exponent * log_base.hi;
    if (!(fabs(size) < 800))
        return size > 0 ? INFINITY : 0;
    if (fabs(size) < 0x1p-60)
        return 1;
    return exp_pair(pair_product((struct pair){exponent, 0}, log_base));
}

/* ---- rotations and random numbers ---- */

void tac_rotation(const double vector[3], double matrix[9])
{
    double largest = fmax(fabs(vector[0]), fmax(fabs(vector[1]), fabs(vector[2])));
    for (int i = 0; i < 9; i++)
        matrix[i] = i % 4 == 0;
    if (largest == 0)
        return;
    double axis[3];
    for (int i = 0; i < 3; i++)
        axis[i] = vector[i] / largest; /* so that squares neither over- nor underflow */
    double length = sqrt(tac_dot(axis, axis)), angle = length * largest;
    for (int i = 0; i < 3; i++)
        axis[i] /= length;
    double s = tac_sin(angle), half = tac_sin(angle / 2), versine = 2 * half * half;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        matrix[4 * i] = 1 - versine * (axis[j] * axis[j] + axis[k] * axis[k]);
        matrix[3 * j + i] = versine * axis[i] * axis[j] + s * axis[k];
        matrix[3 * i + j] = versine * axis[i] * axis[j] - s * axis[k];
    }
}

static uint64_t finalise(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The stream of SplitMix64 (Steele, Lea and Flood 2014) that starts from the mixed seed. */
uint64_t tac_hash64(uint64_t seed, uint64_t counter)
{
    return finalise(finalise(seed) + (counter + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

double tac_random(uint64_t seed, uint64_t counter)
{
    return (double)(tac_hash64(seed, counter) >> 11) * 0x1p-53;
}
