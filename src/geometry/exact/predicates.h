/* predicates.h: decides exactly on which side of a plane or a line a point lies. It computes the sign of a determinant
 * of coordinate differences, correct for every finite input. A floating-point filter with a forward error bound decides
 * nearly all calls, and long integer arithmetic the rest. The functions have no state and cannot fail.
 */
#ifndef TACTUS_GEOMETRY_EXACT_PREDICATES_H
#define TACTUS_GEOMETRY_EXACT_PREDICATES_H

/* Local. Returns the sign (-1, 0, 1) of det[b - a; c - a; d - a]: positive where d lies on the side of the plane abc
 * that (b - a) x (c - a) points to; 0 exactly if the four points are coplanar. Coordinates are finite. */
int tac_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

/* Local. Returns the sign of det[b - a; c - a] in the plane of coordinates `i` and `j` (0..2): positive where a, b, c
 * turn counter-clockwise in (i, j). */
int tac_orient2d(const double a[3], const double b[3], const double c[3], int i, int j);

/* Local. Returns whether the point lies on the closed segment pq (3D, exact). */
int tac_on_segment(const double x[3], const double p[3], const double q[3]);
/* Local. Returns whether the point lies on the closed triangle abc (3D, exact). A triangle of no area counts as its
 * edges. */
int tac_on_triangle(const double x[3], const double a[3], const double b[3], const double c[3]);
/* Local. Returns whether the closed segments pq and rs have a point in common (3D, exact). */
int tac_segments_meet(const double p[3], const double q[3], const double r[3], const double s[3]);
/* Local. Returns whether segment pq passes through the inside of triangle abc, with its ends strictly on either side
 * (3D, exact).  tac_on_triangle() of an end and tac_segments_meet() of an edge find all other points that the two have
 * in common. */
int tac_segment_pierces(const double p[3], const double q[3], const double a[3], const double b[3], const double c[3]);
/* Local. Returns whether segments pq and rs of the x-y plane cross, with all four ends strictly on either side
 * (exact). */
int tac_segments_cross_2d(const double p[3], const double q[3], const double r[3], const double s[3]);

#endif
