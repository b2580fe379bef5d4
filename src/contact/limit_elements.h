/* limit_elements.h: limits of stretch as elastic energies, for integrators without layers (docs/reference/implicit.md,
 * Limits of stretch).
 *
 * An edge of length L at rest that may not be longer than (1 + s) L has, over L, the energy k/2 (s L)^2 beta(y) with
 * y = (l - L)/(s L) and
 *
 *     beta(y) = -y^2 ln(1 - y) for y > 0, else 0
 *
 * which is smooth at rest, convex, and grows over all bounds towards the limit.  k is the stiffness of the stretch
 * model that acts below the limit.  A segment that may not be shorter than (1 - s) L has the same for (L - l)/(s L), a
 * triangle the sum over both principal stretches with its area in the place of L^2.
 *
 * They are elements like those of the element table, but they use the scene's shape at the start, and have no damping
 * or plasticity. They keep their limits only if nothing moves farther in one step than tac_limit_advance() allows.
 */
#ifndef TACTUS_CONTACT_LIMIT_ELEMENTS_H
#define TACTUS_CONTACT_LIMIT_ELEMENTS_H

#include "elements/element.h"

extern const struct tac_element tac_element_limit, tac_element_limit_principal;

/* Local. Returns the largest share, at most 1, of the motion p (nodes, 3) from x along which no limit loses more than
 * the part 1 - keep of what is left until it is reached. element: one of the two above. */
double tac_limit_advance(const struct tac_element *element, const void *record, const double (*x)[3],
                         const double (*p)[3], double keep);

/* Local. Computes the energy of a length that is longer than it may be without force, and its first two derivatives by
 * the length. over: by how much it is longer, m; slack: how much that can be, m; stiffness: N/m. */
void tac_limit_over(double over, double slack, double stiffness, double w[3]);
/* Local. Fills the Hessian by x1 of an energy of the length l of d = x1 - x0; w: the energy and its derivatives by the
 * length. It is along n n^T + across (1 - n n^T - f f^T) with the direction n of d; f: a unit vector across d along
 * which the length does not change, or 0. convex: without negative eigenvalues. Returns false, and fills nothing, where
 * it is 0. */
bool tac_limit_block(const double d[3], double l, const double w[3], bool convex, const double f[3],
                     double block[3][3]);

#endif
