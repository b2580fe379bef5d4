/* roots.h: continuous collision detection as it is usually done, in plain floating point, to compare times with: the
 * cubic "volume of the four vertices" of time is zero in [0, 1], and there the point is inside, within a tolerance.
 * Provot 1997; Bridson et al. 2002.  Not safe: it misses contacts. */
#ifndef TACTUS_TESTS_ROOTS_H
#define TACTUS_TESTS_ROOTS_H

#include "audit/ccd.h"

#include <math.h>
#include <tactus/math.h>

#define ROOTS_TOLERANCE 1e-9

static inline double cubic(const double c[4], double t)
{
    return ((c[3] * t + c[2]) * t + c[1]) * t + c[0];
}

/* Coefficients of det[a(t), b(t), c(t)], each a[0] + t a[1]. */
static inline void volume_cubic(double a[2][3], double b[2][3], double c[2][3], double out[4])
{
    double n[3][3], part[3];
    tac_cross(n[0], a[0], b[0]);
    tac_cross(n[1], a[0], b[1]);
    tac_cross(part, a[1], b[0]);
    for (int k = 0; k < 3; k++)
        n[1][k] += part[k];
    tac_cross(n[2], a[1], b[1]);
    out[0] = tac_dot(n[0], c[0]);
    out[1] = tac_dot(n[0], c[1]) + tac_dot(n[1], c[0]);
    out[2] = tac_dot(n[1], c[1]) + tac_dot(n[2], c[0]);
    out[3] = tac_dot(n[2], c[1]);
}

/* The zero between lo and hi, where the cubic is monotone and changes sign: Newton, kept inside by bisection. */
static inline double cubic_zero(const double c[4], double lo, double hi)
{
    double at_lo = cubic(c, lo), t = 0.5 * (lo + hi);
    for (int i = 0; i < 60; i++) {
        double value = cubic(c, t), slope = (3 * c[3] * t + 2 * c[2]) * t + c[1];
        if ((value < 0) == (at_lo < 0))
            lo = t;
        else
            hi = t;
        double next = t - value / slope;
        if (!(next > lo && next < hi))
            next = 0.5 * (lo + hi);
        if (fabs(next - t) < 1e-14)
            return next;
        t = next;
    }
    return t;
}

/* Zeros in [0, 1], ascending; how many. */
static inline int cubic_zeros(const double c[4], double zero[3])
{
    double cut[4] = {0}, discriminant = c[2] * c[2] - 3 * c[3] * c[1];
    int cuts = 1, count = 0;
    if (discriminant > 0) {
        double q = -(c[2] + copysign(sqrt(discriminant), c[2])), first = q / (3 * c[3]), second = c[1] / q;
        double low = first < second ? first : second, high = first < second ? second : first;
        if (low > 0 && low < 1)
            cut[cuts++] = low;
        if (high > 0 && high < 1)
            cut[cuts++] = high;
    }
    cut[cuts] = 1;
    for (int i = 0; i < cuts; i++) {
        double a = cubic(c, cut[i]), b = cubic(c, cut[i + 1]);
        if (a == 0)
            zero[count++] = cut[i];
        else if ((a < 0) != (b < 0) && count < 3)
            zero[count++] = cubic_zero(c, cut[i], cut[i + 1]);
    }
    return count;
}

static inline void at_time(const struct tac_ccd_query *query, int i, double t, double x[3])
{
    for (int k = 0; k < 3; k++)
        x[k] = query->x0[i][k] + t * (query->x1[i][k] - query->x0[i][k]);
}

static inline bool roots_inside(const struct tac_ccd_query *query, double t)
{
    double x[4][3], u[3], v[3], d[3], n[3], m[3];
    for (int i = 0; i < 4; i++)
        at_time(query, i, t, x[i]);
    bool edges = query->type == TAC_CCD_EDGE_EDGE;
    tac_sub(u, x[edges ? 1 : 2], x[edges ? 0 : 1]);
    tac_sub(v, x[3], x[edges ? 2 : 1]);
    tac_sub(d, edges ? x[2] : x[0], edges ? x[0] : x[1]);
    tac_cross(n, u, v);
    double area2 = tac_dot(n, n);
    tac_cross(m, d, v);
    double a = tac_dot(m, n) / area2;
    tac_cross(m, d, u);
    double b = (edges ? 1 : -1) * tac_dot(m, n) / area2, e = ROOTS_TOLERANCE;
    return a >= -e && b >= -e && (edges ? a <= 1 + e && b <= 1 + e : a + b <= 1 + e);
}

/* Time of the first contact, 2 if none is found. */
static inline double roots_ccd(const struct tac_ccd_query *query)
{
    double difference[3][2][3], c[4], zero[3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            difference[i][0][k] = query->x0[i + 1][k] - query->x0[0][k];
            difference[i][1][k] = query->x1[i + 1][k] - query->x1[0][k] - difference[i][0][k];
        }
    volume_cubic(difference[0], difference[1], difference[2], c);
    int count = cubic_zeros(c, zero);
    for (int i = 0; i < count; i++)
        if (roots_inside(query, zero[i]))
            return zero[i];
    return 2;
}

#endif
