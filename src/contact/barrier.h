/* barrier.h: the barrier of incremental potential contact (Li et al. 2020), its gradient and its Hessian
 * (docs/reference/implicit.md, The barrier).
 *
 * A pair at distance d, whose surfaces have the distance d - radius, has the potential
 *
 *     m(x) b(s, s^)        s = d^2 - radius^2, s^ = (radius + thickness)^2 - radius^2
 *     b(s, s^) = -(s - s^)^2 ln(s / s^) for 0 < s < s^, else 0
 *
 * which grows over all bounds as the surfaces come together.  m is 1, but falls to 0 as two edges become parallel, so
 * that the sum over all pairs has no kink where the nearest points of parallel edges jump.  Everything is computed from
 * differences of coordinates, and is exactly 0 at a distance of radius + thickness or more.
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
    int rough;               /* 0. Tests set it to 1 or 2: so many derivatives fewer are continuous at s^ */
};

/* A pair at some positions. The logarithm takes most of the time, so b is computed once for all of the functions
 * below. */
struct tac_barrier_near {
    struct tac_near at;
    double b[3]; /* b, b' and b'', which do not depend on m; infinite if the surfaces touch */
};

/* Computes b, b' and b'' at s, for 0 < s < s^. */
void tac_barrier(double s, double s_hat, double b[3]);
/* Computes the same with fewer continuous derivatives at s^: 1 has -s^ (s^ - s) ln(s / s^), 2 has -s^^2 ln(s / s^). */
void tac_barrier_rough(int rough, double s, double s_hat, double b[3]);

/* Returns the threshold of |e1 x e2|^2 under which m is less than 1, for two edges with these positions at rest (4, 3).
 */
double tac_barrier_parallel(const double rest[4][3]);

/* Local. Is m less than 1 at x? (Only two edges have m under 1.) */
bool tac_barrier_is_mollified(const struct tac_barrier_pair *pair, const double x[4][3]);

/* Local. Computes the distance of the pair at x (4, 3). Returns whether it is less than radius + thickness; only
 * then is near->b set. */
bool tac_barrier_near(const struct tac_barrier_pair *pair, const double x[4][3], struct tac_barrier_near *near);

/* Local. Returns m b, or INFINITY if the surfaces touch. near: of a pair for which tac_barrier_near() returned true. */
double tac_barrier_energy(const struct tac_barrier_pair *pair, const double x[4][3],
                          const struct tac_barrier_near *near);
/* Local. Computes the gradient of m b (vertices, 3). Returns -m b' 2 d, which friction needs: the force with which the
 * surfaces push each other, divided by kappa h^-2. */
double tac_barrier_gradient(const struct tac_barrier_pair *pair, const double x[4][3],
                            const struct tac_barrier_near *near, double gradient[4][3]);
/* Local. Computes the Hessian of m b (3 n, 3 n) for the n vertices of the pair, row by row; it is not projected. */
void tac_barrier_hessian(const struct tac_barrier_pair *pair, const double x[4][3], const struct tac_barrier_near *near,
                         double *hessian);
/* Local. Computes a matrix that replaces the Hessian in Newton's method: it is positive semi-definite, and for the
 * vertices that are not held (held: (vertices)) it is at least as stiff as the Hessian in every direction; it is 0 at
 * held ones. Returns false if m is less than 1, where there is no such matrix. */
bool tac_barrier_convex(const struct tac_barrier_pair *pair, const double x[4][3], const struct tac_barrier_near *near,
                        const bool *held, double *matrix);

#endif
