/* solid.h: declares what the three models of solids have in common, and the strain and stress of a tetrahedron
 * (docs/reference/elements.md).
 *
 *     double strain[3], stress[6];
 *     if (tac_solid_state(element, record, x, strain, stress)) ... Pa
 */
#ifndef TACTUS_ELEMENTS_SOLID_H
#define TACTUS_ELEMENTS_SOLID_H

#include "elements/element.h"

/* Local. Returns whether the element is a tetrahedron of a solid, for which tac_solid_state() can be called. */
bool tac_element_is_solid(const struct tac_element *element);

/* Local. Computes, at x (4, 3), m, the principal values of the Green strain, descending, and the Cauchy stress xx, yy,
 * zz, yz, xz, xy, Pa. Returns false if the tetrahedron has no volume now; then the stress is 0. */
bool tac_solid_state(const struct tac_element *element, const void *record, const double (*x)[3], double strain[3],
                     double stress[6]);
/* Local. Does the same with the principal values of the stress, descending, Pa. */
bool tac_solid_principal(const struct tac_element *element, const void *record, const double (*x)[3], double strain[3],
                         double stress[3]);

#endif
