/* sweep.h: finds whether a pair may come nearer than a distance while its vertices move on straight lines. Answers are
 * conservative.
 *
 * The method is conservative advancement.  From a time at which the distance is d, the pair cannot come under
 * `threshold` before (d - threshold) / speed has passed, where speed is the largest relative speed of its vertices.  It
 * also cannot do so before its extents along some fixed direction come that near.  Along the direction between its
 * nearest points this is often much later, because two primitives that slide along each other do not approach along it.
 */
#ifndef TACTUS_GEOMETRY_SWEEP_H
#define TACTUS_GEOMETRY_SWEEP_H

#include "geometry/closest_points.h"

/* "Nothing within the piece." */
#define TAC_SWEEP_CLEAR 2.0

/* Largest relative displacement between the two primitives' vertices; u (4,3). Bounds the change of their distance.  Of
 * a triangle's limit, between any two: the weights of its distance have either sign, each adding up to 1 at most. */
static inline double tac_relative(enum tac_pair_type type, const double u[4][3])
{
    const int n = tac_pair_vertices(type), first = type == TAC_PAIR_WIDE ? n - 1 : tac_pair_first(type);
    double most = 0;
    for (int i = 0; i < first; i++)
        for (int j = type == TAC_PAIR_WIDE ? i + 1 : first; j < n; j++) {
            double d[3];
            tac_sub(d, u[i], u[j]);
            const double squared = tac_dot(d, d);
            most = squared > most ? squared : most;
        }
    return sqrt(most);
}

/* A lower bound of the distance of a pair, m, while it moves from x by u on straight lines (4,3): by its primitives'
 * extents along n, a vector no longer than 1 + 2^-50.  Not for limits of what grows.  Its rounding is that of the
 * distance. */
static inline double tac_separation(enum tac_pair_type type, const double x[4][3], const double u[4][3],
                                    const double n[3])
{
    const int count = tac_pair_vertices(type), first = tac_pair_first(type);
    double least = INFINITY;
    for (int i = 0; i < first; i++)
        for (int j = first; j < count; j++) {
            double r[3], moved[3];
            tac_sub(r, x[i], x[j]);
            tac_sub(moved, u[i], u[j]);
            const double begin = tac_dot(n, r), end = begin + tac_dot(n, moved);
            least = begin < least ? begin : least;
            least = end < least ? end : least;
        }
    return least;
}

/* Local. The pair moves from x (4,3; tac_model_gather) by u (4,3) at constant velocities. Returns a fraction s in 0..1
 * before which its distance does not come under threshold, or TAC_SWEEP_CLEAR. Near s the distance comes within
 * `tolerance` of the threshold, or the search ended there. tolerance > 0 must cover the kernels' rounding. */
double tac_sweep(enum tac_pair_type type, const double x[4][3], const double u[4][3], double threshold,
                 double tolerance);

#endif
