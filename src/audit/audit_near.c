/* audit_near.c: computes the distance of two primitives and the direction between their closest points, for one instant
 * and along a fixed direction. The audit has its own version, so that it shares no code with contact discovery. */
#include "audit/audit_room.h"

#include <math.h>
#include <string.h>
#include <tactus/math.h>

static double clamp(double t)
{
    return t > 0 ? (t < 1 ? t : 1) : 0; /* NaN: 0 */
}

/* n: from the closest point of ab to x; returns the distance squared. */
static double from_segment(const double x[3], const double a[3], const double b[3], double n[3])
{
    double e[3], d[3];
    tac_sub(e, b, a);
    tac_sub(d, x, a);
    const double t = clamp(tac_dot(d, e) / tac_dot(e, e));
    for (int k = 0; k < 3; k++)
        n[k] = d[k] - t * e[k];
    if (t > 0 && t < 1) {
        /* Where they nearly touch n is made of rounding: at least it is to be square to the edge, to its last bits, or
         * it would bound the edge's ends badly. */
        const double again = tac_dot(n, e) / tac_dot(e, e);
        for (int k = 0; k < 3; k++)
            n[k] -= again * e[k];
    }
    return tac_dot(n, n);
}

/* Keeps the nearer one. sign -1: x belongs to the second primitive. */
static void try_segment(const double x[3], const double a[3], const double b[3], double sign, double *best, double n[3])
{
    double other[3];
    const double d2 = from_segment(x, a, b, other);
    if (!(d2 < *best))
        return;
    *best = d2;
    for (int k = 0; k < 3; k++)
        n[k] = sign * other[k];
}

/* The direction `normal`, towards d; its length is that of d along it. */
static double along_normal(const double normal[3], const double d[3], double n[3])
{
    const double g = tac_dot(normal, d), length2 = tac_dot(normal, normal);
    for (int k = 0; k < 3; k++)
        n[k] = g < 0 ? -normal[k] : normal[k];
    return fabs(g) / sqrt(length2);
}

static double near_triangle(const double x[4][3], double n[3])
{
    double u[3], v[3], d[3], normal[3], nu[3], nv[3], best = INFINITY;
    tac_sub(u, x[2], x[1]);
    tac_sub(v, x[3], x[1]);
    tac_sub(d, x[0], x[1]);
    tac_cross(normal, u, v);
    tac_cross(nu, u, d);
    tac_cross(nv, d, v);
    const double area = tac_dot(normal, normal), b = tac_dot(nv, normal), c = tac_dot(nu, normal);
    if (b > 0 && c > 0 && b + c < area)
        return along_normal(normal, d, n);
    try_segment(x[0], x[1], x[2], 1, &best, n);
    try_segment(x[0], x[2], x[3], 1, &best, n);
    try_segment(x[0], x[3], x[1], 1, &best, n);
    return sqrt(best);
}

static double near_edges(const double x[4][3], double n[3])
{
    double u[3], v[3], d[3], normal[3], best = INFINITY;
    tac_sub(u, x[1], x[0]);
    tac_sub(v, x[3], x[2]);
    tac_sub(d, x[0], x[2]);
    const double uu = tac_dot(u, u), vv = tac_dot(v, v), uv = tac_dot(u, v), du = tac_dot(d, u), dv = tac_dot(d, v);
    const double det = uu * vv - uv * uv, s = uv * dv - vv * du, t = uu * dv - uv * du;
    /* Where the two lines are nearest lies on both edges, and they are not near parallel. */
    if (det > 1e-12 * uu * vv && s > 0 && s < det && t > 0 && t < det) {
        tac_cross(normal, u, v);
        return along_normal(normal, d, n);
    }
    try_segment(x[0], x[2], x[3], 1, &best, n);
    try_segment(x[1], x[2], x[3], 1, &best, n);
    try_segment(x[2], x[0], x[1], -1, &best, n);
    try_segment(x[3], x[0], x[1], -1, &best, n);
    return sqrt(best);
}

double tac_audit_near(int kind, const double x[4][3], double n[3])
{
    memset(n, 0, 3 * sizeof *n);
    switch (kind) {
    case TAC_AUDIT_VERTEX_TRIANGLE:
        return near_triangle(x, n);
    case TAC_AUDIT_EDGE_EDGE:
        return near_edges(x, n);
    case TAC_AUDIT_VERTEX_EDGE:
        return sqrt(from_segment(x[0], x[1], x[2], n));
    default:
        tac_sub(n, x[0], x[1]);
        return sqrt(tac_dot(n, n));
    }
}

/* Differences are off by 2 sqrt(3) u M in length beside the 46 u M of the two positions, products and sums by 10.4 u M,
 * the division by 14 u M, all times the length of n. */
double tac_audit_along(int kind, const double n[3], const double x0[4][3], const double x1[4][3])
{
    const int first = tac_audit_first(kind), count = tac_audit_count(kind);
    const double length2 = tac_dot(n, n);
    double least = INFINITY, d[3];
    for (int end = 0; end < 2; end++) {
        const double(*x)[3] = end == 0 ? x0 : x1;
        for (int i = 0; i < first; i++)
            for (int j = first; j < count; j++) {
                tac_sub(d, x[i], x[j]);
                const double g = tac_dot(n, d);
                least = g < least ? g : least;
            }
    }
    return length2 > 0x1p-900 && length2 < 0x1p900 ? least / sqrt(length2) : NAN;
}

/* The largest component of v, at the two ends. */
static double largest(const double v[2][3], double so_far)
{
    for (int end = 0; end < 2; end++)
        for (int k = 0; k < 3; k++)
            so_far = fmax(so_far, fabs(v[end][k]));
    return so_far;
}

static double triple(const double a[3], const double b[3], const double c[3])
{
    double n[3];
    tac_cross(n, b, c);
    return tac_dot(a, n);
}

/* The Bernstein coefficients of b x c, which is quadratic in time. */
static void product(const double b[2][3], const double c[2][3], double n[3][3])
{
    double m[3];
    tac_cross(n[0], b[0], c[0]);
    tac_cross(n[1], b[0], c[1]);
    tac_cross(m, b[1], c[0]);
    for (int k = 0; k < 3; k++)
        n[1][k] = .5 * n[1][k] + .5 * m[k];
    tac_cross(n[2], b[1], c[1]);
}

static double longest(int count, const double n[][3])
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, tac_dot(n[i], n[i]));
    return sqrt(most) * (1 + 0x1p-40);
}

/* a . (b x c) over |b x c|.  Each coefficient is a mean of determinants of six products, all under D^3, which
 * differences, products and sums make wrong by less than 12 u D^3 each: in all less than the 256 u D^3 that are taken
 * off. */
static double from_plane(const double a[2][3], const double b[2][3], const double c[2][3])
{
    const double v[4] = {
        triple(a[0], b[0], c[0]),
        (triple(a[1], b[0], c[0]) + triple(a[0], b[1], c[0]) + triple(a[0], b[0], c[1])) / 3,
        (triple(a[1], b[1], c[0]) + triple(a[1], b[0], c[1]) + triple(a[0], b[1], c[1])) / 3,
        triple(a[1], b[1], c[1]),
    };
    const double d = largest(a, largest(b, largest(c, 0))), lost = 0x1p-45 * d * d * d;
    const double low = fmin(fmin(v[0], v[1]), fmin(v[2], v[3])), high = fmax(fmax(v[0], v[1]), fmax(v[2], v[3]));
    double n[3][3];
    product(b, c, n);
    const double length = longest(3, n), least = fmax(low, -high) - lost;
    return least > 0 && length > 0x1p-450 && length < 0x1p450 ? least / length * (1 - 0x1p-40) : 0;
}

/* |d x e| over |e|: d x e stays at least as far from 0 as its part along its own direction in the middle, whose
 * rounding is less than 64 u D^2, of which twice as much is taken off. */
static double from_line(const double d[2][3], const double e[2][3])
{
    double n[3][3], middle[3], least = INFINITY;
    product(d, e, n);
    for (int k = 0; k < 3; k++)
        middle[k] = .25 * n[0][k] + .5 * n[1][k] + .25 * n[2][k];
    const double length = sqrt(tac_dot(middle, middle)), most = longest(2, e), size = largest(d, largest(e, 0));
    if (!(length > 0x1p-450 && length < 0x1p450 && most > 0x1p-450))
        return 0;
    for (int i = 0; i < 3; i++)
        least = fmin(least, tac_dot(n[i], middle) / length);
    least -= 0x1p-46 * size * size;
    return least > 0 ? least / most * (1 - 0x1p-40) : 0;
}

double tac_audit_turning(int kind, const double x0[4][3], const double x1[4][3])
{
    double a[2][3], b[2][3], c[2][3];
    for (int end = 0; end < 2; end++) {
        const double(*x)[3] = end == 0 ? x0 : x1;
        if (kind == TAC_AUDIT_EDGE_EDGE) {
            tac_sub(a[end], x[0], x[2]);
            tac_sub(b[end], x[1], x[0]);
            tac_sub(c[end], x[3], x[2]);
        } else {
            tac_sub(a[end], x[0], x[1]);
            if (kind == TAC_AUDIT_VERTEX_TRIANGLE || kind == TAC_AUDIT_VERTEX_EDGE)
                tac_sub(b[end], x[2], x[1]);
            if (kind == TAC_AUDIT_VERTEX_TRIANGLE)
                tac_sub(c[end], x[3], x[1]);
        }
    }
    return kind == TAC_AUDIT_VERTEX_TRIANGLE || kind == TAC_AUDIT_EDGE_EDGE ? from_plane(a, b, c)
           : kind == TAC_AUDIT_VERTEX_EDGE                                  ? from_line(a, b)
                                                                            : 0;
}
