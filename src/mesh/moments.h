/* moments.h: mass, centre of mass and principal axes of a body, from exact sums over its elements.
 *
 * The sums are exact (tactus/accum.h), so that the properties do not depend on the order in which elements are added,
 * nor on which rank adds them. The elements are tetrahedra from the origin of the sums to the triangles of a closed
 * surface, or triangles, segments and points that have mass themselves.
 *
 *     tac_moments_begin(&sums, middle);
 *     for each triangle: tac_moments_add(&sums, density, TAC_MOMENTS_SOLID, corner);
 *     if (tac_moments_make(&sums, &moments)) ...
 */
#ifndef TACTUS_MESH_MOMENTS_H
#define TACTUS_MESH_MOMENTS_H

#include <stdbool.h>
#include <tactus/accum.h>

/* What an element is: the volume between the origin and a triangle, a triangle, a segment, or a point. */
enum tac_moments_kind { TAC_MOMENTS_SOLID, TAC_MOMENTS_TRIANGLE, TAC_MOMENTS_SEGMENT, TAC_MOMENTS_POINT };

enum { TAC_MOMENT_SUMS = 10 }; /* mass; its first moments; its second ones: xx, yy, zz, yz, zx, xy */

struct tac_moment_sums {
    double origin[3]; /* m */
    struct tac_accum sum[TAC_MOMENT_SUMS];
};

struct tac_moments {
    double mass;       /* kg */
    double center[3];  /* m */
    double axis[3][3]; /* axis[k]: the unit vector of principal axis k; right-handed */
    double second[3];  /* kg m^2, ascending: the integrals of the squared coordinate along each axis */
};

/* A second moment that is less than this part of the largest one is made equal to that: a flat or a straight body would
 * have no inertia about some axis, or a motion of no mass. */
#define TAC_LEAST_MOMENT 1e-4

/* Local. Begins empty sums about a point, which should be near the body. */
void tac_moments_begin(struct tac_moment_sums *sums, const double origin[3]);
/* Local. Adds an element of this density (kg/m^3, kg/m^2, kg/m; of a point its mass in kg). corner: its 3, 2 or 1
 * positions. */
void tac_moments_add(struct tac_moment_sums *sums, double density, enum tac_moments_kind kind,
                     const double (*corner)[3]);
/* Local. Computes the properties. Returns false if there is no mass, or no extent: all of it lies in one point. */
bool tac_moments_make(const struct tac_moment_sums *sums, struct tac_moments *out);
/* Local. Computes the principal axes and moments of a symmetric matrix, in the order and with the signs of struct
 * tac_moments. */
void tac_moments_axes(const double matrix[3][3], double axis[3][3], double moment[3]);

#endif
