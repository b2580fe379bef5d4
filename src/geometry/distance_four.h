/* distance_four.h: computes the distances of closest_points.h for four pairs of one type side by side, without
 * branches.
 *
 * Every case is computed and the right one is selected, with the operations of closest_points.h in their order: the
 * bits are those of closest_points.h (tests/unit/contact/test_evaluate_four.c).  Where closest_points.h would go on
 * with a more careful method (slivers), the lane is returned, and the caller computes it alone.
 */
#ifndef TACTUS_GEOMETRY_DISTANCE_FOUR_H
#define TACTUS_GEOMETRY_DISTANCE_FOUR_H

#include "base/four.h"
#include "geometry/closest_points.h"

/* As struct tac_near, lane by lane. */
struct tac_near_four {
    tac_four d, n[3], w[4];
};

TAC_FOUR_INLINE tac_four tac_four_absolute(tac_four a)
{
    const tac_four_mask magnitude = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    return (tac_four)((tac_four_mask)a & magnitude);
}
TAC_FOUR_INLINE tac_four tac_four_dot(const tac_four a[3], const tac_four b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
TAC_FOUR_INLINE void tac_four_sub(tac_four out[3], const tac_four a[3], const tac_four b[3])
{
    out[0] = a[0] - b[0];
    out[1] = a[1] - b[1];
    out[2] = a[2] - b[2];
}
TAC_FOUR_INLINE void tac_four_cross(tac_four out[3], const tac_four a[3], const tac_four b[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}
/* As tac_clamp01(): 0 of a NaN. */
TAC_FOUR_INLINE tac_four tac_four_clamp01(tac_four s)
{
    const tac_four zero = tac_four_all(0), one = tac_four_all(1);
    return tac_four_select(s > zero, tac_four_select(s < one, s, one), zero);
}
/* Bit l of the result: lane l of the mask. */
TAC_FOUR_INLINE int tac_four_lanes(tac_four_mask mask)
{
    return (int)((mask[0] & 1) | (mask[1] & 2) | (mask[2] & 4) | (mask[3] & 8));
}

TAC_FOUR_INLINE void tac_near_four_finish(const tac_four r[3], struct tac_near_four *near)
{
    const tac_four zero = tac_four_all(0), d = tac_four_sqrt(tac_four_dot(r, r));
    const tac_four inverse = tac_four_select(d > zero, tac_four_all(1) / d, zero);
    near->d = d;
    near->n[0] = r[0] * inverse;
    near->n[1] = r[1] * inverse;
    near->n[2] = r[2] * inverse;
}

/* x: coordinates of p, a, b, c.  Returns the lanes (bits) that closest_points.h would hand to tac_near_sliver() or
 * refine; the results of those lanes mean nothing. */
TAC_FOUR_INLINE int tac_near_four_vertex_triangle(const tac_four x[4][3], struct tac_near_four *near)
{
    const tac_four zero = tac_four_all(0), one = tac_four_all(1);
    tac_four ab[3], ac[3], ap[3], bp[3], cp[3], n[3], s[3], r[3];
    tac_four_sub(ab, x[2], x[1]);
    tac_four_sub(ac, x[3], x[1]);
    tac_four_sub(ap, x[0], x[1]);
    tac_four_sub(bp, x[0], x[2]);
    tac_four_sub(cp, x[0], x[3]);
    const tac_four d1 = tac_four_dot(ab, ap), d2 = tac_four_dot(ac, ap), d3 = tac_four_dot(ab, bp),
                   d4 = tac_four_dot(ac, bp), d5 = tac_four_dot(ab, cp), d6 = tac_four_dot(ac, cp);
    tac_four_cross(n, ab, ac);
    const tac_four nn = tac_four_dot(n, n), ll = tac_four_dot(ab, ab) + tac_four_dot(ac, ac),
                   shape = tac_four_all(1e-8) * ll * ll;
    tac_four_cross(s, ab, ap);
    const tac_four vc = tac_four_dot(n, s);
    tac_four_cross(s, ap, ac);
    const tac_four vb = tac_four_dot(n, s);
    tac_four_cross(s, bp, cp);
    const tac_four va = tac_four_dot(n, s), e1 = d4 - d3, e2 = d5 - d6;
    /* The regions of closest_points.h, the first that holds counts: corners a, b, c, then edges ab, ac, bc, then
     * inside. */
    const tac_four_mask at_a = (d1 <= zero) & (d2 <= zero), at_b = (d3 >= zero) & (d4 <= d3) & ~at_a,
                        at_c = (d6 >= zero) & (d5 <= d6) & ~at_a & ~at_b, corner = at_a | at_b | at_c;
    const tac_four_mask on_ab = (vc <= zero) & (d1 >= zero) & (d3 <= zero) & ~corner,
                        on_ac = (vb <= zero) & (d2 >= zero) & (d6 <= zero) & ~corner & ~on_ab,
                        on_bc = (va <= zero) & (e1 >= zero) & (e2 >= zero) & ~corner & ~on_ab & ~on_ac,
                        inside = ~(corner | on_ab | on_ac | on_bc);
    const tac_four_mask careful = (~corner & ~(nn > shape)) | (inside & (nn < tac_four_all(3e6) * shape));
    const tac_four inverse = one / (va + vb + vc), along = e1 / (e1 + e2);
    tac_four v = tac_four_select(inside, vb * inverse, zero), w = tac_four_select(inside, vc * inverse, zero);
    v = tac_four_select(at_b, one, v);
    w = tac_four_select(at_c, one, w);
    v = tac_four_select(on_ab, d1 / (d1 - d3), v);
    w = tac_four_select(on_ac, d2 / (d2 - d6), w);
    w = tac_four_select(on_bc, along, w);
    v = tac_four_select(on_bc, one - along, v);
    for (int k = 0; k < 3; k++)
        r[k] = ap[k] - (v * ab[k] + w * ac[k]);
    near->w[0] = one;
    near->w[1] = -(one - v - w);
    near->w[2] = -v;
    near->w[3] = -w;
    tac_near_four_finish(r, near);
    return tac_four_lanes(careful);
}

/* x: coordinates of a0, a1, b0, b1.  Returns the lanes (bits) whose edges are so near parallel that tac_mollifier() is
 * under 1. */
TAC_FOUR_INLINE int tac_near_four_edge_edge(const tac_four x[4][3], struct tac_near_four *near)
{
    const tac_four zero = tac_four_all(0), one = tac_four_all(1);
    tac_four d1[3], d2[3], r[3], n[3], m[3], q[3];
    tac_four_sub(d1, x[1], x[0]);
    tac_four_sub(d2, x[3], x[2]);
    tac_four_sub(r, x[0], x[2]);
    const tac_four a = tac_four_dot(d1, d1), e = tac_four_dot(d2, d2), b = tac_four_dot(d1, d2),
                   c = tac_four_dot(d1, r), f = tac_four_dot(d2, r);
    tac_four_cross(n, d1, d2);
    tac_four_cross(m, d2, r);
    const tac_four nn = tac_four_dot(n, n);
    tac_four s = tac_four_select(nn > zero, tac_four_clamp01(tac_four_dot(n, m) / nn), zero);
    tac_four t = (b * s + f) / e;
    const tac_four_mask before = ~(t >= zero), behind = t > one;
    s = tac_four_select(before, tac_four_clamp01(-c / a), tac_four_select(behind, tac_four_clamp01((b - c) / a), s));
    t = tac_four_select(before, zero, tac_four_select(behind, one, t));
    for (int k = 0; k < 3; k++)
        q[k] = r[k] + (s * d1[k] - t * d2[k]);
    near->w[0] = one - s;
    near->w[1] = s;
    near->w[2] = -(one - t);
    near->w[3] = -t;
    tac_near_four_finish(q, near);
    return tac_four_lanes(~(nn >= tac_four_all(TAC_MOLLIFIER_E) * (a * e)));
}

#endif
