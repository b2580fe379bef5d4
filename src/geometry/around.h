/* around.h: points beside an axis. */
#ifndef TACTUS_GEOMETRY_AROUND_H
#define TACTUS_GEOMETRY_AROUND_H

/* Local. Computes the point that is `along` the axis (unit) and at `radius` from it, turned by `angle` [rad] about it.
 * Of one axis, equal angles are equal directions. */
void tac_around(const double axis[3], double along, double radius, double angle, double out[3]);

#endif
