/* distance.c: distances of primitives, and how deep two primitives that cross stand in each other, in floating point.
 */
#include "overlap/distance.h"

#include <math.h>
#include <tactus/math.h>

static double clamp(double t)
{
    return t > 0 ? (t < 1 ? t : 1) : 0; /* NaN: 0 */
}

static void along(double out[3], const double a[3], const double b[3], double t)
{
    for (int k = 0; k < 3; k++)
        out[k] = t <= 0.5 ? a[k] + t * (b[k] - a[k]) : b[k] - (1 - t) * (b[k] - a[k]);
}

double tac_distance_vertex_vertex(const double x[3], const double a[3], double place[3])
{
    double d[3];
    tac_sub(d, x, a);
    for (int k = 0; k < 3; k++)
        place[k] = 0.5 * x[k] + 0.5 * a[k];
    return hypot(hypot(d[0], d[1]), d[2]);
}

double tac_distance_vertex_edge(const double x[3], const double a[3], const double b[3], double place[3])
{
    double e[3], d[3], closest[3];
    tac_sub(e, b, a);
    tac_sub(d, x, a);
    along(closest, a, b, clamp(tac_dot(d, e) / tac_dot(e, e)));
    return tac_distance_vertex_vertex(x, closest, place);
}

static void keep_nearer(double *best, double place[3], double distance, const double other[3])
{
    if (!(distance < *best))
        return;
    *best = distance;
    for (int k = 0; k < 3; k++)
        place[k] = other[k];
}

double tac_distance_vertex_triangle(const double x[3], const double a[3], const double b[3], const double c[3],
                                    double place[3])
{
    double other[3], best = tac_distance_vertex_edge(x, a, b, place);
    keep_nearer(&best, place, tac_distance_vertex_edge(x, b, c, other), other);
    keep_nearer(&best, place, tac_distance_vertex_edge(x, c, a, other), other);
    double u[3], v[3], d[3], n[3], nu[3], nv[3];
    tac_sub(u, b, a);
    tac_sub(v, c, a);
    tac_sub(d, x, a);
    tac_cross(n, u, v);
    tac_cross(nu, u, d);
    tac_cross(nv, d, v);
    double area = tac_dot(n, n), wb = tac_dot(nv, n) / area, wc = tac_dot(nu, n) / area;
    if (wb >= 0 && wc >= 0 && wb + wc <= 1) {
        double closest[3];
        for (int k = 0; k < 3; k++)
            closest[k] = a[k] + wb * u[k] + wc * v[k];
        keep_nearer(&best, place, tac_distance_vertex_vertex(x, closest, other), other);
    }
    return best;
}

double tac_distance_edge_edge(const double p[3], const double q[3], const double r[3], const double s[3],
                              double place[3])
{
    double other[3], best = tac_distance_vertex_edge(p, r, s, place);
    keep_nearer(&best, place, tac_distance_vertex_edge(q, r, s, other), other);
    keep_nearer(&best, place, tac_distance_vertex_edge(r, p, q, other), other);
    keep_nearer(&best, place, tac_distance_vertex_edge(s, p, q, other), other);
    double u[3], v[3], d[3], n[3], dv[3];
    tac_sub(u, q, p);
    tac_sub(v, s, r);
    tac_sub(d, r, p);
    tac_cross(n, u, v);
    tac_cross(dv, d, v);
    double t = tac_dot(dv, n) / tac_dot(n, n);
    if (t > 0 && t < 1) {
        double on_pq[3];
        along(on_pq, p, q, t);
        keep_nearer(&best, place, tac_distance_vertex_edge(on_pq, r, s, other), other);
    }
    return best;
}

/* Returns how far the points `a` (na) must move along `axis`, in the better direction, to clear the points `b` (nb);
 * infinite if the axis is no direction. */
static double clearance(const double axis[3], const double *const *a, int na, const double *const *b, int nb)
{
    double length = hypot(hypot(axis[0], axis[1]), axis[2]), lo[2] = {INFINITY, INFINITY},
           hi[2] = {-INFINITY, -INFINITY};
    if (!(length > 0))
        return INFINITY;
    double unit[3] = {axis[0] / length, axis[1] / length, axis[2] / length};
    for (int side = 0; side < 2; side++) {
        const double *const *point = side == 0 ? a : b;
        for (int i = 0; i < (side == 0 ? na : nb); i++) {
            double d[3];
            tac_sub(d, point[i], a[0]);
            double at = tac_dot(unit, d);
            lo[side] = fmin(lo[side], at);
            hi[side] = fmax(hi[side], at);
        }
    }
    return fmax(0, fmin(hi[0] - lo[1], hi[1] - lo[0]));
}

double tac_depth_edge_triangle(const double p[3], const double q[3], const double a[3], const double b[3],
                               const double c[3], double place[3])
{
    /* The shortest separating displacement is along a face normal of the Minkowski difference, a prism. */
    const double *edge[2] = {p, q}, *corner[3] = {a, b, c};
    double u[3], v[3], e[3], n[3], axis[3], d[3];
    tac_sub(u, b, a);
    tac_sub(v, c, a);
    tac_sub(e, q, p);
    tac_cross(n, u, v);
    double depth = clearance(n, edge, 2, corner, 3);
    for (int k = 0; k < 3; k++) {
        double side[3];
        tac_sub(side, corner[(k + 1) % 3], corner[k]);
        tac_cross(axis, side, e);
        depth = fmin(depth, clearance(axis, edge, 2, corner, 3));
    }
    tac_sub(d, a, p);
    along(place, p, q, clamp(tac_dot(d, n) / tac_dot(e, n)));
    return isfinite(depth) ? depth : 0;
}

double tac_depth_edges_2d(const double p[3], const double q[3], const double r[3], const double s[3], double place[3])
{
    const double *first[2] = {p, q}, *second[2] = {r, s};
    double n1[3] = {p[1] - q[1], q[0] - p[0], 0}, n2[3] = {r[1] - s[1], s[0] - r[0], 0}, e[3], d[3];
    double depth = fmin(clearance(n1, first, 2, second, 2), clearance(n2, first, 2, second, 2));
    tac_sub(e, q, p);
    tac_sub(d, r, p);
    along(place, p, q, clamp(tac_dot(d, n2) / tac_dot(e, n2)));
    return isfinite(depth) ? depth : 0;
}
