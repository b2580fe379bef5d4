/* reference.h: distances in double-double arithmetic (106 bits), by trying every feature: slow, obvious, and never
 * under the true distance, because each candidate is a pair of points of the primitives.  Shares nothing with
 * geometry/distance.h; test_distance_exact.c holds it against rational arithmetic. */
#ifndef TACTUS_TESTS_CONTACT_REFERENCE_H
#define TACTUS_TESTS_CONTACT_REFERENCE_H

#include <geometry/closest_points.h>
#include <math.h>
#include <stdbool.h>

typedef struct {
    double hi, lo;
} dd;

static inline dd dd_of(double a)
{
    return (dd){a, 0};
}

/* hi + lo with |lo| <= ulp(hi) / 2. */
static inline dd dd_fast(double a, double b)
{
    double s = a + b;
    return (dd){s, b - (s - a)};
}

static inline dd dd_sum(double a, double b)
{
    double s = a + b, t = s - a;
    return (dd){s, (a - (s - t)) + (b - t)};
}

static inline dd dd_add(dd a, dd b)
{
    dd s = dd_sum(a.hi, b.hi), t = dd_sum(a.lo, b.lo);
    s = dd_fast(s.hi, s.lo + t.hi);
    return dd_fast(s.hi, s.lo + t.lo);
}

static inline dd dd_neg(dd a)
{
    return (dd){-a.hi, -a.lo};
}

static inline dd dd_sub(dd a, dd b)
{
    return dd_add(a, dd_neg(b));
}

static inline dd dd_mul(dd a, dd b)
{
    double ca = 134217729. * a.hi, cb = 134217729. * b.hi;
    double ah = ca - (ca - a.hi), bh = cb - (cb - b.hi), al = a.hi - ah, bl = b.hi - bh, p = a.hi * b.hi;
    double e = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
    return dd_fast(p, e + (a.hi * b.lo + a.lo * b.hi));
}

static inline dd dd_div(dd a, dd b)
{
    double q = a.hi / b.hi;
    dd r = dd_sub(a, dd_mul(dd_of(q), b));
    double q2 = r.hi / b.hi;
    r = dd_sub(r, dd_mul(dd_of(q2), b));
    return dd_add(dd_fast(q, q2), dd_of(r.hi / b.hi));
}

static inline dd dd_sqrt(dd a)
{
    if (!(a.hi > 0))
        return dd_of(0);
    double x = sqrt(a.hi);
    dd r = dd_sub(a, dd_mul(dd_of(x), dd_of(x)));
    return dd_fast(x, r.hi / (2 * x));
}

static inline bool dd_less(dd a, dd b)
{
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

static inline dd dd_clamp01(dd a)
{
    return dd_less(a, dd_of(0)) ? dd_of(0) : dd_less(dd_of(1), a) ? dd_of(1) : a;
}

static inline dd dd_dot(const dd a[3], const dd b[3])
{
    return dd_add(dd_add(dd_mul(a[0], b[0]), dd_mul(a[1], b[1])), dd_mul(a[2], b[2]));
}

static inline void dd_cross(dd out[3], const dd a[3], const dd b[3])
{
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = dd_sub(dd_mul(a[i], b[j]), dd_mul(a[j], b[i]));
    }
}

/* a - b of vertices; exact. */
static inline void dd_vector(dd out[3], const double a[3], const double b[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = dd_sum(a[k], -b[k]);
}

/* |r + s u + t v|^2 */
static inline dd dd_reach(const dd r[3], dd s, const dd u[3], dd t, const dd v[3])
{
    dd q[3];
    for (int k = 0; k < 3; k++)
        q[k] = dd_add(r[k], dd_add(dd_mul(s, u[k]), dd_mul(t, v[k])));
    return dd_dot(q, q);
}

static inline void dd_keep_least(dd *least, dd candidate)
{
    if (dd_less(candidate, *least))
        *least = candidate;
}

static inline dd reference_point_segment2(const double p[3], const double a[3], const double b[3])
{
    dd ab[3], pa[3];
    dd_vector(ab, b, a);
    dd_vector(pa, a, p);
    dd length2 = dd_dot(ab, ab);
    dd s = length2.hi > 0 ? dd_clamp01(dd_neg(dd_div(dd_dot(pa, ab), length2))) : dd_of(0);
    dd least = dd_reach(pa, s, ab, dd_of(0), ab);
    dd_keep_least(&least, dd_reach(pa, dd_of(1), ab, dd_of(0), ab));
    return least;
}

static inline dd reference_point_triangle2(const double x[4][3])
{
    dd least = reference_point_segment2(x[0], x[1], x[2]);
    dd_keep_least(&least, reference_point_segment2(x[0], x[2], x[3]));
    dd_keep_least(&least, reference_point_segment2(x[0], x[3], x[1]));
    dd ab[3], ac[3], pa[3], n[3], m[3];
    dd_vector(ab, x[2], x[1]);
    dd_vector(ac, x[3], x[1]);
    dd_vector(pa, x[1], x[0]);
    dd_cross(n, ab, ac);
    dd nn = dd_dot(n, n);
    if (nn.hi > 0) {
        dd v = dd_of(0), w = dd_of(0);
        for (int pass = 0; pass < 2; pass++) { /* again from the residual: slivers 1e-16 high */
            dd r[3];
            for (int k = 0; k < 3; k++)
                r[k] = dd_add(pa[k], dd_add(dd_mul(v, ab[k]), dd_mul(w, ac[k])));
            dd_cross(m, ac, r);
            v = dd_add(v, dd_div(dd_dot(m, n), nn));
            dd_cross(m, r, ab);
            w = dd_add(w, dd_div(dd_dot(m, n), nn));
        }
        if (v.hi > 0 && w.hi > 0 && dd_less(dd_add(v, w), dd_of(1))) /* on the edge the edges' own candidates serve */
            dd_keep_least(&least, dd_reach(pa, v, ab, w, ac));
    }
    return least;
}

static inline dd reference_edge_edge2(const double x[4][3])
{
    dd least = reference_point_segment2(x[0], x[2], x[3]);
    dd_keep_least(&least, reference_point_segment2(x[1], x[2], x[3]));
    dd_keep_least(&least, reference_point_segment2(x[2], x[0], x[1]));
    dd_keep_least(&least, reference_point_segment2(x[3], x[0], x[1]));
    dd u[3], v[3], r[3], n[3], m[3];
    dd_vector(u, x[1], x[0]);
    dd_vector(v, x[3], x[2]);
    dd_vector(r, x[0], x[2]);
    dd_cross(n, u, v);
    dd nn = dd_dot(n, n);
    if (nn.hi > 0) {
        dd s = dd_of(0), t = dd_of(0);
        for (int pass = 0; pass < 2; pass++) {
            dd q[3];
            for (int k = 0; k < 3; k++)
                q[k] = dd_add(r[k], dd_sub(dd_mul(s, u[k]), dd_mul(t, v[k])));
            dd_cross(m, v, q);
            s = dd_add(s, dd_div(dd_dot(m, n), nn));
            dd_cross(m, u, q);
            t = dd_add(t, dd_div(dd_dot(m, n), nn));
        }
        s = dd_clamp01(s);
        t = dd_clamp01(t);
        dd_keep_least(&least, dd_reach(r, s, u, dd_neg(t), v));
    }
    return least;
}

/* The squared distance of a pair. */
static inline dd reference_distance2(enum tac_pair_type type, const double x[4][3])
{
    switch (type) {
    case TAC_PAIR_VERTEX_TRIANGLE:
        return reference_point_triangle2(x);
    case TAC_PAIR_EDGE_EDGE:
        return reference_edge_edge2(x);
    case TAC_PAIR_VERTEX_SEGMENT:
        return reference_point_segment2(x[0], x[1], x[2]);
    default:
        return reference_point_segment2(x[0], x[1], x[1]);
    }
}

#endif
