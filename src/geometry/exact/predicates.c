/* predicates.c: computes the signs of determinants of coordinate differences: by a floating-point filter first, by long
 * integers where it cannot decide. */
#include "geometry/exact/predicates.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Long integers, for the calls the filter cannot settle.  A finite double is an integer times a power of two from
 * 2^-1074 to 2^971, so over a common power a coordinate has at most 2098 bits, a difference one more, a sum of six
 * products of three differences three times that and three more. Magnitude in 32-bit limbs, lowest first. */
enum { LIMBS = 208 };
struct integer {
    int sign; /* -1, 0, 1 */
    int count;
    uint32_t limb[LIMBS];
};

static void trim(struct integer *a)
{
    while (a->count > 0 && a->limb[a->count - 1] == 0)
        a->count--;
    if (a->count == 0)
        a->sign = 0;
}

/* The exponent of the lowest bit that can be set in x, so that x = integer * 2^exponent; INT32_MAX for 0. */
static int lowest_exponent(double x)
{
    int exponent;
    if (x == 0.0)
        return INT32_MAX;
    frexp(x, &exponent);
    return exponent - 53 < -1074 ? -1074 : exponent - 53;
}

static void from_double(struct integer *out, double x, int exponent)
{
    int own = lowest_exponent(x);
    out->sign = 0;
    out->count = 0;
    if (x == 0.0)
        return;
    uint64_t mantissa = (uint64_t)ldexp(fabs(x), -own);
    int shift = own - exponent, word = shift / 32, bit = shift % 32;
    memset(out->limb, 0, (size_t)(word + 3) * sizeof out->limb[0]);
    uint64_t low = (mantissa & 0xffffffffu) << bit, high = (mantissa >> 32) << bit;
    out->limb[word] = (uint32_t)low;
    high += low >> 32;
    out->limb[word + 1] = (uint32_t)high;
    out->limb[word + 2] = (uint32_t)(high >> 32);
    out->count = word + 3;
    out->sign = x < 0 ? -1 : 1;
    trim(out);
}

static int compare_magnitude(const struct integer *a, const struct integer *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* out = a + sign * b; out may be neither a nor b. */
static void add_integers(struct integer *out, const struct integer *a, const struct integer *b, int sign)
{
    int sign_b = b->sign * sign;
    if (a->sign == 0 || sign_b == 0) {
        *out = a->sign == 0 ? *b : *a;
        out->sign = a->sign == 0 ? sign_b : a->sign;
        return;
    }
    bool same = a->sign == sign_b;
    const struct integer *large = a, *small = b;
    out->sign = a->sign;
    if (compare_magnitude(a, b) < 0) {
        large = b;
        small = a;
        out->sign = sign_b;
    }
    int64_t carry = 0;
    for (int i = 0; i < large->count; i++) {
        int64_t term = i < small->count ? (int64_t)small->limb[i] : 0;
        carry += (int64_t)large->limb[i] + (same ? term : -term);
        out->limb[i] = (uint32_t)(carry & 0xffffffff);
        carry >>= 32;
    }
    out->count = large->count;
    if (carry)
        out->limb[out->count++] = (uint32_t)carry;
    trim(out);
}

static void multiply(struct integer *out, const struct integer *a, const struct integer *b)
{
    out->sign = a->sign * b->sign;
    out->count = 0;
    if (out->sign == 0)
        return;
    out->count = a->count + b->count;
    memset(out->limb, 0, (size_t)out->count * sizeof out->limb[0]);
    for (int i = 0; i < a->count; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < b->count; j++) {
            carry += (uint64_t)a->limb[i] * b->limb[j] + out->limb[i + j];
            out->limb[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        out->limb[i + b->count] = (uint32_t)carry;
    }
    trim(out);
}

/* out = p*s - q*r */
static void cross_term(struct integer *out, const struct integer *p, const struct integer *q, const struct integer *r,
                       const struct integer *s)
{
    struct integer ps, qr;
    multiply(&ps, p, s);
    multiply(&qr, q, r);
    add_integers(out, &ps, &qr, -1);
}

/* The n - 1 rows of coordinate differences to point 0, n x n - 1 of them, as integers over one power of two. */
static void exact_differences(struct integer *out, const double *const *point, const int *axis, int n)
{
    int exponent = INT32_MAX;
    for (int i = 0; i <= n; i++)
        for (int k = 0; k < n; k++) {
            int own = lowest_exponent(point[i][axis[k]]);
            exponent = own < exponent ? own : exponent;
        }
    for (int k = 0; k < n; k++) {
        struct integer base, other;
        from_double(&base, point[0][axis[k]], exponent);
        for (int i = 0; i < n; i++) {
            from_double(&other, point[i + 1][axis[k]], exponent);
            add_integers(&out[i * n + k], &other, &base, -1);
        }
    }
}

static int exact_orient3d(const double *a, const double *b, const double *c, const double *d)
{
    struct integer m[9], minor, product, sum[2];
    exact_differences(m, (const double *const[]){a, b, c, d}, (const int[]){0, 1, 2}, 3);
    sum[0].sign = sum[0].count = 0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        cross_term(&minor, &m[i], &m[j], &m[3 + i], &m[3 + j]);
        multiply(&product, &minor, &m[6 + k]);
        add_integers(&sum[(k + 1) % 2], &sum[k % 2], &product, 1);
    }
    return sum[1].sign;
}

static int exact_orient2d(const double *a, const double *b, const double *c, int i, int j)
{
    struct integer m[4], det;
    exact_differences(m, (const double *const[]){a, b, c}, (const int[]){i, j}, 2);
    cross_term(&det, &m[0], &m[1], &m[2], &m[3]);
    return det.sign;
}

/* Filters.  A product of three rounded differences, its two multiplications and three additions carry at most eight
 * roundings (five for two differences), so 16 u times the sum of the terms' magnitudes bounds the error, its own
 * roundings included.  Underflow adds less than the second term as long as differences stay under 2^300; where they do
 * not, or anything is infinite or NaN, the comparison is false and the exact arithmetic decides. */
#define UNIT 0x1p-53
#define LARGEST 0x1p300

int tac_orient3d(const double a[3], const double b[3], const double c[3], const double d[3])
{
    double u[3], v[3], w[3], det = 0, permanent = 0, largest = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
        w[k] = d[k] - a[k];
        if (u[k] == 0.0 && v[k] == 0.0 && w[k] == 0.0)
            return 0; /* differences are zero only when they are: a plane along two axes */
        largest = fabs(u[k]) > largest ? fabs(u[k]) : largest;
        largest = fabs(v[k]) > largest ? fabs(v[k]) : largest;
        largest = fabs(w[k]) > largest ? fabs(w[k]) : largest;
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double p = u[i] * v[j], q = u[j] * v[i];
        det += (p - q) * w[k];
        permanent += (fabs(p) + fabs(q)) * fabs(w[k]);
    }
    double bound = 16 * UNIT * permanent + (1 + largest) * 0x1p-1060;
    if (largest < LARGEST && det > bound)
        return 1;
    if (largest < LARGEST && det < -bound)
        return -1;
    return exact_orient3d(a, b, c, d);
}

int tac_orient2d(const double a[3], const double b[3], const double c[3], int i, int j)
{
    double ui = b[i] - a[i], uj = b[j] - a[j], vi = c[i] - a[i], vj = c[j] - a[j];
    if ((ui == 0.0 && vi == 0.0) || (uj == 0.0 && vj == 0.0))
        return 0;
    double p = ui * vj, q = uj * vi, det = p - q;
    double bound = 16 * UNIT * (fabs(p) + fabs(q)) + 0x1p-1060;
    bool trusted = fabs(p) < LARGEST && fabs(q) < LARGEST;
    if (trusted && det > bound)
        return 1;
    if (trusted && det < -bound)
        return -1;
    return exact_orient2d(a, b, c, i, j);
}

static bool between(double x, double a, double b)
{
    return (a <= x && x <= b) || (b <= x && x <= a);
}

int tac_on_segment(const double x[3], const double p[3], const double q[3])
{
    for (int k = 0; k < 3; k++)
        if (!between(x[k], p[k], q[k]))
            return 0;
    return tac_orient2d(p, q, x, 0, 1) == 0 && tac_orient2d(p, q, x, 1, 2) == 0 && tac_orient2d(p, q, x, 2, 0) == 0;
}

/* A coordinate plane in which triangle abc has area, as the coordinate to drop; -1 if it has none. */
static int projection(const double *a, const double *b, const double *c)
{
    for (int k = 0; k < 3; k++)
        if (tac_orient2d(a, b, c, (k + 1) % 3, (k + 2) % 3) != 0)
            return k;
    return -1;
}

int tac_on_triangle(const double x[3], const double a[3], const double b[3], const double c[3])
{
    if (tac_orient3d(a, b, c, x) != 0)
        return 0;
    int drop = projection(a, b, c);
    if (drop < 0)
        return tac_on_segment(x, a, b) || tac_on_segment(x, b, c) || tac_on_segment(x, c, a);
    int i = (drop + 1) % 3, j = (drop + 2) % 3;
    int side[3] = {tac_orient2d(a, b, x, i, j), tac_orient2d(b, c, x, i, j), tac_orient2d(c, a, x, i, j)};
    bool left = side[0] < 0 || side[1] < 0 || side[2]<0, right = side[0]> 0 || side[1] > 0 || side[2] > 0;
    return !(left && right);
}

int tac_segments_meet(const double p[3], const double q[3], const double r[3], const double s[3])
{
    for (int k = 0; k < 3; k++)
        if (fmax(p[k], q[k]) < fmin(r[k], s[k]) || fmax(r[k], s[k]) < fmin(p[k], q[k]))
            return 0;
    if (tac_orient3d(p, q, r, s) != 0)
        return 0;
    if (tac_on_segment(r, p, q) || tac_on_segment(s, p, q) || tac_on_segment(p, r, s) || tac_on_segment(q, r, s))
        return 1;
    /* Coplanar, no end on the other: either apart, or crossing in a plane where they have area. */
    int drop = projection(p, q, r);
    if (drop < 0)
        return 0; /* r on the line pq but not on the segment, nor s, p, q: then s off the line cannot cross either */
    int i = (drop + 1) % 3, j = (drop + 2) % 3;
    return tac_orient2d(p, q, r, i, j) * tac_orient2d(p, q, s, i, j) < 0 &&
           tac_orient2d(r, s, p, i, j) * tac_orient2d(r, s, q, i, j) < 0;
}

int tac_segment_pierces(const double p[3], const double q[3], const double a[3], const double b[3], const double c[3])
{
    int side = tac_orient3d(a, b, c, p);
    if (side == 0 || tac_orient3d(a, b, c, q) != -side)
        return 0;
    int turn = tac_orient3d(p, q, a, b);
    return turn != 0 && tac_orient3d(p, q, b, c) == turn && tac_orient3d(p, q, c, a) == turn;
}

int tac_segments_cross_2d(const double p[3], const double q[3], const double r[3], const double s[3])
{
    return tac_orient2d(p, q, r, 0, 1) * tac_orient2d(p, q, s, 0, 1) < 0 &&
           tac_orient2d(r, s, p, 0, 1) * tac_orient2d(r, s, q, 0, 1) < 0;
}
