/* solid_energy.h: energies of the three models of solids and their Hessians, for their entries in the table.
 *
 * small: the part of its volume at rest under which a neo-Hookean tetrahedron's energy goes on as a parabola
 * (TAC_SOLID_SMALL), or 0: then it is without bound as the volume goes to 0.
 *
 *     e = tac_solid_energy(TAC_SOLID_STVK, TAC_SOLID_SMALL, record, NULL, x);
 */
#ifndef TACTUS_ELEMENTS_SOLID_ENERGY_H
#define TACTUS_ELEMENTS_SOLID_ENERGY_H

#include "elements/element.h"
#include "elements/solid_kernels.h"

/* The Green strain, less that at rest, where there is one: only damping has it, in implicit steps. */
static inline void tac_solid_strain_from(const double f[9], const double *rest, double e[6])
{
    tac_one_solid_strain(f, e);
    for (int k = 0; k < 6 && rest; k++)
        e[k] -= rest[k];
}

/* Local. J. */
double tac_solid_energy(enum tac_solid_model model, double small, const struct tac_solid *t, const double *rest,
                        const double (*x)[3]);
/* Local. (12, 12), row by row, N/m. */
void tac_solid_hessian(enum tac_solid_model model, double small, const struct tac_solid *t, const double *rest,
                       bool convex, const double (*x)[3], double *h);

#endif
