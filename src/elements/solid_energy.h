/* solid_energy.h: declares the energies of the three models of solids and their Hessians, for their entries in the
 * table. small: the share of the volume at rest under which the energy of a neo-Hookean tetrahedron is a parabola
 * (TAC_SOLID_SMALL), or 0: then the energy is unbounded as the volume goes to 0.
 *
 *     e = tac_solid_energy(TAC_SOLID_STVK, TAC_SOLID_SMALL, record, NULL, x);
 */
#ifndef TACTUS_ELEMENTS_SOLID_ENERGY_H
#define TACTUS_ELEMENTS_SOLID_ENERGY_H

#include "elements/element.h"
#include "elements/solid_kernels.h"

/* Computes the Green strain, less the rest strain, if there is one: only damping in implicit steps has it. */
static inline void tac_solid_strain_from(const double f[9], const double *rest, double e[6])
{
    tac_one_solid_strain(f, e);
    for (int k = 0; k < 6 && rest; k++)
        e[k] -= rest[k];
}

/* Local. Returns the energy, J. */
double tac_solid_energy(enum tac_solid_model model, double small, const struct tac_solid *t, const double *rest,
                        const double (*x)[3]);
/* Local. Computes the Hessian (12, 12), row by row, N/m. */
void tac_solid_hessian(enum tac_solid_model model, double small, const struct tac_solid *t, const double *rest,
                       bool convex, const double (*x)[3], double *h);

#endif
