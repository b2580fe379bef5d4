/* closest_points.c: computes what is not inline in closest_points.h: the distance of a vertex and a triangle that is a
 * sliver. */
#include "geometry/closest_points.h"

#include <string.h>

/* Keeps the point of the triangle with weights v of vertex j and w of vertex k if it is nearer to p than the last. */
static void keep_nearest(const double x[4][3], int i, int j, int k, double v, double w, double r[3], double *rr,
                         struct tac_near *near)
{
    double u[3], e[3], f[3], q[3];
    tac_sub(u, x[0], x[i]);
    tac_sub(e, x[j], x[i]);
    tac_sub(f, x[k], x[i]);
    for (int c = 0; c < 3; c++)
        q[c] = u[c] - (v * e[c] + w * f[c]);
    double qq = tac_dot(q, q);
    if (qq >= *rr)
        return;
    *rr = qq;
    memcpy(r, q, 3 * sizeof *r);
    near->w[i] = -(1 - v - w);
    near->w[j] = -v;
    near->w[k] = -w;
}

void tac_near_sliver(const double x[4][3], struct tac_near *near)
{
    double r[3] = {NAN, NAN, NAN}, rr = INFINITY, longest = -1;
    int base = 1;
    near->w[0] = 1;
    near->w[1] = near->w[2] = near->w[3] = NAN;
    for (int i = 1; i <= 3; i++) { /* edges i -> j */
        int j = 1 + i % 3, k = 1 + j % 3;
        double e[3], u[3];
        tac_sub(e, x[j], x[i]);
        tac_sub(u, x[0], x[i]);
        double ee = tac_dot(e, e);
        keep_nearest(x, i, j, k, tac_clamp01(tac_dot(u, e) / ee), 0, r, &rr, near);
        if (ee > longest) {
            longest = ee;
            base = i;
        }
    }
    /* The interior, in coordinates along the longest edge and along the height on it: their angle is right whatever
     * the triangle's shape, so the foot moves by eps / (height / length) instead of its square. */
    int i = base, j = 1 + i % 3, k = 1 + j % 3;
    double e[3], h[3], u[3];
    tac_sub(e, x[j], x[i]);
    tac_sub(h, x[k], x[i]);
    tac_sub(u, x[0], x[i]);
    double shear = 0;
    for (int pass = 0; pass < 2; pass++) { /* once leaves eps x length along e, which is much of a small height */
        double part = tac_dot(h, e) / longest;
        for (int c = 0; c < 3; c++)
            h[c] -= part * e[c];
        shear += part;
    }
    double w = tac_dot(u, h) / tac_dot(h, h), v = tac_dot(u, e) / longest - shear * w;
    if (v > 0 && w > 0 && v + w < 1)
        keep_nearest(x, i, j, k, v, w, r, &rr, near);
    tac_near_finish(r, near);
}
