/* barrier.h: the barrier of incremental potential contact (Li et al. 2020), its gradient and its Hessian
 * (docs/reference/implicit.md, The barrier).
 *
 * A pair of distance d, whose surfaces stand off by `radius` in all, has the potential
 *
 *     m(x) b(s, s^)        s = d^2 - radius^2, s^ = (radius + thickness)^2 - radius^2
 *     b(s, s^) = -(s - s^)^2 ln(s / s^) for 0 < s < s^, else 0
 *
 * which grows over all bounds as the surfaces come together.  m is 1, but falls to 0 as two edges become parallel, so
 * that the sum over all pairs has no kink where the nearest points of parallel edges jump.  Everything is computed from
 * differences of coordinates, and is exactly 0 at a distance of radius + thickness and beyond.
 *
 *     struct tac_barrier_pair pair = {type, radius, thickness, tac_barrier_parallel(rest), 0};
 *     if (tac_barrier_near(&pair, x, &near)) { e += kappa * tac_barrier_energy(&pair, x, &near); ... }
 */
#ifndef TACTUS_CONTACT_BARRIER_H
#define TACTUS_CONTACT_BARRIER_H

#include "geometry/closest_points.h"

struct tac_barrier_pair {
    enum tac_pair_type type; /* of contact */
    double radius;           /* of both together, m */
    double thickness;        /* m */
    double parallel;         /* of two edges: tac_barrier_parallel(); else 0 */
    int rough;               /* 0; for tests that show why, how many derivatives fewer are continuous at s^: 1 or 2 */
};

/* b, b' and b'' of s, for 0 < s < s^. */
void tac_barrier(double s, double s_hat, double b[3]);
/* The same with fewer continuous derivatives at s^: 1 has -s^ (s^ - s) ln(s / s^), 2 has -s^^2 ln(s / s^). */
void tac_barrier_rough(int rough, double s, double s_hat, double b[3]);

/* Of two edges with these places at rest (4, 3): where |e1 x e2|^2 is under this, m is under 1. */
double tac_barrier_parallel(const double rest[4][3]);

/* Local. Of two edges: is m under 1 at x? */
bool tac_barrier_is_mollified(const struct tac_barrier_pair *pair, const double x[4][3]);

/* Local. The distance of the pair at x (4, 3); is it under radius + thickness? */
static inline bool tac_barrier_near(const struct tac_barrier_pair *pair, const double x[4][3], struct tac_near *near)
{
    tac_near_pair(pair->type, x, near);
    return near->d < pair->radius + pair->thickness;
}

/* Local; near: of a pair for which tac_barrier_near() holds.  m b; INFINITY where the surfaces touch. */
double tac_barrier_energy(const struct tac_barrier_pair *pair, const double x[4][3], const struct tac_near *near);
/* Local. Its gradient (vertices, 3). Returns the force over kappa h^-2 with which the surfaces push each other, for
 * friction: -m b' 2 d. */
double tac_barrier_gradient(const struct tac_barrier_pair *pair, const double x[4][3], const struct tac_near *near,
                            double gradient[4][3]);
/* Local. Its Hessian (3 n, 3 n) for the n vertices of the pair, row by row; not projected. */
void tac_barrier_hessian(const struct tac_barrier_pair *pair, const double x[4][3], const struct tac_near *near,
                         double *hessian);
/* Local. Instead of the Hessian a matrix for Newton's method: positive semi-definite, and among the vertices that are
 * not held (vertices) no less stiff than the Hessian in any direction; 0 at those that are.  False where m is under 1:
 * there is none. */
bool tac_barrier_convex(const struct tac_barrier_pair *pair, const double x[4][3], const struct tac_near *near,
                        const bool *held, double *matrix);

#endif
