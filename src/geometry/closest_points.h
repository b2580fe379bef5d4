/* closest_points.h: computes the distance of two primitives, the weights of their closest points, and the direction
 * between them.
 *
 * These run at every tick of every contact, so they are inline.  Which feature is nearest is decided with triple
 * products instead of the usual differences of products (by Lagrange's identity d1 d4 - d3 d2 = (ab x ac).(ab x ap),
 * and so on): near-parallel edges and sliver triangles then lose eps / sin(angle) instead of eps / sin^2, and the
 * distance stays accurate to a few eps times the size of the primitives.  Coordinates enter only as differences.
 *
 *     struct tac_near near;
 *     tac_near_pair(TAC_PAIR_EDGE_EDGE, x, &near);     x: the four vertices in the pair's order (or tac_model_gather)
 *     gradient of near.d with respect to vertex k is near.w[k] * near.n
 */
#ifndef TACTUS_GEOMETRY_CLOSEST_POINTS_H
#define TACTUS_GEOMETRY_CLOSEST_POINTS_H

#include <math.h>
#include <stdbool.h>
#include <tactus/math.h>

/* The types of pairs; their order is part of the force key. */
enum tac_pair_type {
    TAC_PAIR_VERTEX_TRIANGLE, /* vertices: p, a, b, c */
    TAC_PAIR_EDGE_EDGE,       /* a0, a1, b0, b1 */
    TAC_PAIR_VERTEX_SEGMENT,  /* p, a, b */
    TAC_PAIR_VERTEX_VERTEX,   /* p, q */
    TAC_PAIR_TYPES,           /* of contact */

    TAC_PAIR_LONG = TAC_PAIR_TYPES, /* ends of an edge that may not grow longer: their "distance" is minus its length */
    TAC_PAIR_SHORT,                 /* ends of an edge that may not grow shorter */
    TAC_PAIR_WIDE,  /* a triangle that may not stretch in any direction, its longest edge at rest a - b first: a, b, c;
                       their "distance" is minus the largest principal stretch times the height on that edge at rest */
    TAC_PAIR_JOINT, /* two points that may not come farther apart: as the ends of an edge */
    TAC_PAIR_SLIDE  /* a point that may not come farther from a segment: p, a, b; their "distance" is minus its own */
};

/* Returns whether the type is a limit of stretch (docs/explanation/method.md, Limits of stretch) or of a joint, and no
 * contact. */
static inline bool tac_pair_is_limit(enum tac_pair_type type)
{
    return type >= TAC_PAIR_LONG;
}

/* Returns whether the type is a pair of a joint. */
static inline bool tac_pair_is_joint(enum tac_pair_type type)
{
    return type == TAC_PAIR_JOINT || type == TAC_PAIR_SLIDE;
}

/* Returns whether the type limits a growing length, so that its distance is not positive. */
static inline bool tac_pair_grows(enum tac_pair_type type)
{
    return (1u << TAC_PAIR_LONG | 1u << TAC_PAIR_WIDE | 1u << TAC_PAIR_JOINT | 1u << TAC_PAIR_SLIDE) >> type & 1;
}

/* Returns a lower bound of all distances of this type. */
static inline double tac_pair_least(enum tac_pair_type type)
{
    return tac_pair_grows(type) ? -INFINITY : 0;
}

/* |d - true distance| <= this x the longest distance between two of the pair's vertices; the worst of 1e8 random and
 * degenerate pairs was 6.6 x 2^-53 (tests/unit/geometry/test_distance.c). */
#define TAC_NEAR_ERROR 0x1p-50

struct tac_near {
    double d;    /* distance, m */
    double n[3]; /* unit, from the second primitive's closest point to the first's; 0 if d is 0 */
    double w[4]; /* signed weights: first primitive's sum to 1, second's to -1; unused ones 0.  Of a triangle's stretch:
                    they sum to 0, and neither the positive nor the negative ones to more than 1 */
};

/* How many of a pair's four vertices belong to its first primitive, and how many it has in all. */
static inline int tac_pair_first(enum tac_pair_type type)
{
    return type == TAC_PAIR_EDGE_EDGE ? 2 : 1;
}
static inline int tac_pair_vertices(enum tac_pair_type type)
{
    static const int count[TAC_PAIR_SLIDE + 1] = {4, 4, 3, 2, 2, 2, 3, 2, 3};
    return count[type];
}

/* Returns 0 also for a NaN, which is 0/0 of an edge that has collapsed to a point. */
static inline double tac_clamp01(double s)
{
    return s > 0 ? s < 1 ? s : 1 : 0;
}

static inline void tac_near_finish(const double r[3], struct tac_near *near)
{
    double d = sqrt(tac_dot(r, r)), inverse = d > 0 ? 1 / d : 0;
    near->d = d;
    near->n[0] = r[0] * inverse;
    near->n[1] = r[1] * inverse;
    near->n[2] = r[2] * inverse;
}

/* Triangles less than 1e-4 high for their length, down to collapsed ones: there the tests below decide by rounding
 * errors. Slower: tries each edge and the interior. */
void tac_near_sliver(const double x[4][3], struct tac_near *near);

/* x (4,3): p, a, b, c.  Regions as in any text on collision detection, tests by triple products. */
static inline void tac_near_vertex_triangle(const double x[4][3], struct tac_near *near)
{
    double ab[3], ac[3], ap[3], n[3], s[3], r[3], v = 0, w = 0;
    tac_sub(ab, x[2], x[1]);
    tac_sub(ac, x[3], x[1]);
    tac_sub(ap, x[0], x[1]);
    double d1 = tac_dot(ab, ap), d2 = tac_dot(ac, ap);
    if (d1 <= 0 && d2 <= 0)
        goto done;
    double bp[3], cp[3];
    tac_sub(bp, x[0], x[2]);
    tac_sub(cp, x[0], x[3]);
    double d3 = tac_dot(ab, bp), d4 = tac_dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) {
        v = 1;
        goto done;
    }
    double d5 = tac_dot(ab, cp), d6 = tac_dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) {
        w = 1;
        goto done;
    }
    tac_cross(n, ab, ac);
    double nn = tac_dot(n, n), ll = tac_dot(ab, ab) + tac_dot(ac, ac), shape = 1e-8 * ll * ll;
    if (!(nn > shape)) {
        tac_near_sliver(x, near);
        return;
    }
    tac_cross(s, ab, ap);
    double vc = tac_dot(n, s);
    if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        v = d1 / (d1 - d3);
        goto done;
    }
    tac_cross(s, ap, ac);
    double vb = tac_dot(n, s);
    if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        w = d2 / (d2 - d6);
        goto done;
    }
    tac_cross(s, bp, cp);
    double va = tac_dot(n, s), e1 = d4 - d3, e2 = d5 - d6;
    if (va <= 0 && e1 >= 0 && e2 >= 0) {
        w = e1 / (e1 + e2);
        v = 1 - w;
        goto done;
    }
    double inverse = 1 / (va + vb + vc);
    v = vb * inverse;
    w = vc * inverse;
    if (nn < 3e6 * shape) { /* a height under a tenth: the foot is off by eps times the inverse; once more from there */
        for (int k = 0; k < 3; k++)
            r[k] = ap[k] - (v * ab[k] + w * ac[k]);
        tac_cross(s, r, ac);
        v += tac_dot(n, s) / nn;
        tac_cross(s, ab, r);
        w += tac_dot(n, s) / nn;
        if (!(v >= 0 && w >= 0 && v + w <= 1)) {
            tac_near_sliver(x, near);
            return;
        }
    }
done:
    for (int k = 0; k < 3; k++)
        r[k] = ap[k] - (v * ab[k] + w * ac[k]);
    near->w[0] = 1;
    near->w[1] = -(1 - v - w);
    near->w[2] = -v;
    near->w[3] = -w;
    tac_near_finish(r, near);
}

/* x (4,3): a0, a1, b0, b1. */
static inline void tac_near_edge_edge(const double x[4][3], struct tac_near *near)
{
    double d1[3], d2[3], r[3], n[3], m[3], q[3];
    tac_sub(d1, x[1], x[0]);
    tac_sub(d2, x[3], x[2]);
    tac_sub(r, x[0], x[2]);
    double a = tac_dot(d1, d1), e = tac_dot(d2, d2), b = tac_dot(d1, d2), c = tac_dot(d1, r), f = tac_dot(d2, r);
    tac_cross(n, d1, d2);
    tac_cross(m, d2, r);
    double nn = tac_dot(n, n);
    double s = nn > 0 ? tac_clamp01(tac_dot(n, m) / nn) : 0;
    double t = (b * s + f) / e;
    if (!(t >= 0)) {
        t = 0;
        s = tac_clamp01(-c / a);
    } else if (t > 1) {
        t = 1;
        s = tac_clamp01((b - c) / a);
    }
    for (int k = 0; k < 3; k++)
        q[k] = r[k] + (s * d1[k] - t * d2[k]);
    near->w[0] = 1 - s;
    near->w[1] = s;
    near->w[2] = -(1 - t);
    near->w[3] = -t;
    tac_near_finish(q, near);
}

/* x (3,3): p, a, b. */
static inline void tac_near_vertex_segment(const double x[4][3], struct tac_near *near)
{
    double ab[3], ap[3], r[3];
    tac_sub(ab, x[2], x[1]);
    tac_sub(ap, x[0], x[1]);
    double s = tac_clamp01(tac_dot(ab, ap) / tac_dot(ab, ab));
    for (int k = 0; k < 3; k++)
        r[k] = ap[k] - s * ab[k];
    near->w[0] = 1;
    near->w[1] = -(1 - s);
    near->w[2] = -s;
    near->w[3] = 0;
    tac_near_finish(r, near);
}

/* x (2,3): p, q. */
static inline void tac_near_vertex_vertex(const double x[4][3], struct tac_near *near)
{
    double r[3];
    tac_sub(r, x[0], x[1]);
    near->w[0] = 1;
    near->w[1] = -1;
    near->w[2] = near->w[3] = 0;
    tac_near_finish(r, near);
}

/* The larger eigenvalue of [a b; b c]. */
static inline double tac_larger_eigenvalue(double a, double b, double c)
{
    const double half = .5 * (a - c);
    return .5 * (a + c) + sqrt(half * half + b * b);
}

/* Principal stretches of a triangle.  x (4,3): a, b, c, and in the fourth place its shape at rest, as
 * tac_model_rest() makes it: a-b is its longest edge, c stands over the share x[3][0] of it, at x[3][1] of its length,
 * which is the height.  So F of the triangle times this height is [p q], p = x[3][1] (b - a), q = c - a - x[3][0] (b -
 * a), and no coefficient is over 1: what cancels in slender triangles is what cancels in their shape.
 *
 * near[0] is of the larger singular value: d minus it, n minus the unit vector F g/|F g| of its direction g in the rest
 * plane, w the gradients of the three hat functions along g, times the height.  near[1] is the same of the other one;
 * a potential that is a sum over both has no kink where they are equal, whichever directions stand for them then. */
void tac_near_stretch(const double x[4][3], struct tac_near near[2]);

/* The p and q above of any vectors u (4,3; three count) at the vertices; rest: as x[3]. */
void tac_stretch_columns(const double u[4][3], const double rest[3], double p[3], double q[3]);

/* Makes a distance that of what grows: minus its own. */
static inline void tac_near_turn(struct tac_near *near)
{
    near->d = -near->d;
    for (int k = 0; k < 3; k++)
        near->n[k] = -near->n[k];
}

static inline void tac_near_pair(enum tac_pair_type type, const double x[4][3], struct tac_near *near)
{
    struct tac_near both[2];
    switch (type) {
    case TAC_PAIR_VERTEX_TRIANGLE:
        tac_near_vertex_triangle(x, near);
        break;
    case TAC_PAIR_EDGE_EDGE:
        tac_near_edge_edge(x, near);
        break;
    case TAC_PAIR_VERTEX_SEGMENT:
        tac_near_vertex_segment(x, near);
        break;
    case TAC_PAIR_WIDE:
        tac_near_stretch(x, both);
        *near = both[0];
        break;
    case TAC_PAIR_SLIDE:
        tac_near_vertex_segment(x, near);
        tac_near_turn(near);
        break;
    default:
        tac_near_vertex_vertex(x, near);
        if (tac_pair_grows(type))
            tac_near_turn(near);
    }
}

/* sin^2(0.1): edges closer to parallel than 0.1 rad are mollified. */
#define TAC_MOLLIFIER_E 0.009966711079379185

/* The mollifier m(c) of an edge-edge layer, c = sin^2 of the angle between the edges (docs/explanation/method.md,
 * Penalty layers): 1 unless the edges are near parallel.  Where it is under 1, returns true and fills gradient (4,3)
 * with dm/dx. */
static inline bool tac_mollifier(const double x[4][3], double *m, double gradient[4][3])
{
    double u[3], v[3], n[3];
    tac_sub(u, x[1], x[0]);
    tac_sub(v, x[3], x[2]);
    tac_cross(n, u, v);
    double a = tac_dot(u, u), b = tac_dot(v, v), uv = tac_dot(u, v), ab = a * b, nn = tac_dot(n, n);
    if (nn >= TAC_MOLLIFIER_E * ab) {
        *m = 1;
        return false;
    }
    double c = nn / ab, z = c / TAC_MOLLIFIER_E;
    *m = z * (2 - z);
    double slope = (2 - 2 * z) / TAC_MOLLIFIER_E;
    for (int k = 0; k < 3; k++) {
        double gu = slope * (2 / a) * ((u[k] - (uv / b) * v[k]) - c * u[k]);
        double gv = slope * (2 / b) * ((v[k] - (uv / a) * u[k]) - c * v[k]);
        gradient[0][k] = -gu;
        gradient[1][k] = gu;
        gradient[2][k] = -gv;
        gradient[3][k] = gv;
    }
    return true;
}

#endif
