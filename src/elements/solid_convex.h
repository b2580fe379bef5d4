/* solid_convex.h: declares second derivatives of the energies of solids in the space of F (9, row by row) without
 * negative curvature, for Newton's method.
 *
 *     tac_solid_convex_neo_hookean(mu, lambda, small, f, a);      the upper half of a (9, 9)
 */
#ifndef TACTUS_ELEMENTS_SOLID_CONVEX_H
#define TACTUS_ELEMENTS_SOLID_CONVEX_H

/* Local. mu, lambda: as the stress has them; small: solid_energy.h. */
void tac_solid_convex_neo_hookean(double mu, double lambda, double small, const double f[9], double a[81]);
/* Local. Removes the negative principal values of a symmetric matrix. */
void tac_solid_leave_tension(double s[3][3]);

#endif
