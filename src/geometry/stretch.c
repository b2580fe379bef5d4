/* stretch.c: computes the largest stretch of a triangle as a distance: minus the larger singular value of its
 * deformation, in metres (docs/reference/engine.md, Limits of stretch). */
#include "geometry/closest_points.h"

/* What the direction q of the rest plane has become: its stretch, where it points now, and the weights of it. */
static void along(const double x[4][3], const double e1[3], const double e2[3], const double q[2],
                  struct tac_near *near)
{
    const double w1 = q[0] * x[3][1] - q[1] * x[3][0], w2 = q[1];
    double r[3];
    for (int k = 0; k < 3; k++)
        r[k] = w1 * e1[k] + w2 * e2[k];
    near->w[0] = -(w1 + w2);
    near->w[1] = w1;
    near->w[2] = w2;
    near->w[3] = 0;
    tac_near_finish(r, near);
    near->d = -near->d;
    for (int k = 0; k < 3; k++)
        near->n[k] = -near->n[k];
}

void tac_stretch_columns(const double u[4][3], const double rest[3], double p[3], double q[3])
{
    double e1[3], e2[3];
    tac_sub(e1, u[1], u[0]);
    tac_sub(e2, u[2], u[0]);
    for (int k = 0; k < 3; k++) {
        p[k] = rest[1] * e1[k];
        q[k] = e2[k] - rest[0] * e1[k];
    }
}

void tac_near_stretch(const double x[4][3], struct tac_near near[2])
{
    double p[3], q[3], e1[3], e2[3];
    tac_stretch_columns(x, x[3], p, q);
    const double a = tac_dot(p, p), b = tac_dot(p, q), c = tac_dot(q, q);
    const double half = .5 * (a - c), root = sqrt(half * half + b * b);
    /* The eigenvector of [a b; b c], by that of its two rows in which nothing cancels. */
    double u = half >= 0 ? half + root : b, v = half >= 0 ? b : root - half;
    const double size = sqrt(u * u + v * v);
    u = size > 0 ? u / size : 1; /* both stretches are equal: any direction is that of the largest */
    v = size > 0 ? v / size : 0;
    const double first[2] = {u, v}, second[2] = {-v, u};
    tac_sub(e1, x[1], x[0]);
    tac_sub(e2, x[2], x[0]);
    along(x, e1, e2, first, &near[0]);
    along(x, e1, e2, second, &near[1]);
}
