/* distance.h: distances of primitives, and how deep two that cross stand in each other.
 *
 * These use floating point, and serve to measure overlaps at the start and to name their places: the result is the
 * distance of two actual points of the primitives, so never too small by more than rounding; for slivers it can be too
 * large by 1e-7 of their size (a caller that needs more uses predicates.h).
 */
#ifndef TACTUS_OVERLAP_DISTANCE_H
#define TACTUS_OVERLAP_DISTANCE_H

/* Local. Return the distance in m; `place` is midway between the closest points. */
double tac_distance_vertex_vertex(const double x[3], const double a[3], double place[3]);
double tac_distance_vertex_edge(const double x[3], const double a[3], const double b[3], double place[3]);
double tac_distance_vertex_triangle(const double x[3], const double a[3], const double b[3], const double c[3],
                                    double place[3]);
double tac_distance_edge_edge(const double p[3], const double q[3], const double r[3], const double s[3],
                              double place[3]);

/* Local. Returns the length of the shortest translation that takes segment pq off triangle abc, which it pierces, m;
 * `place` is where it does. */
double tac_depth_edge_triangle(const double p[3], const double q[3], const double a[3], const double b[3],
                               const double c[3], double place[3]);
/* Local. Does the same for two segments that cross in the x-y plane. */
double tac_depth_edges_2d(const double p[3], const double q[3], const double r[3], const double s[3], double place[3]);

#endif
