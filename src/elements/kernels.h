/* kernels.h: declares the elastic kernels, for one element and for four side by side. They are inline; the loops, the
 * energies and the tests use them. */
#ifndef TACTUS_ELEMENTS_KERNELS_H
#define TACTUS_ELEMENTS_KERNELS_H

#include "base/four.h"
#include "elements/records.h"
#include <math.h>
#include <tactus/math.h>

#define KERNELS "elements/kernel_body.h"
#include "elements/kernel_twice.h"

/* Returns the potential. length: the rest length, which plasticity changes; likewise `rest` of the others. */
static inline double tac_spring_potential(const struct tac_spring *s, double length, const double x[2][3])
{
    double d[3];
    tac_sub(d, x[1], x[0]);
    double stretch = sqrt(tac_dot(d, d)) - length;
    return .5 * s->stiffness * stretch * stretch;
}

static inline double tac_cst_potential(const struct tac_cst *c, const double rest[3], const double x[3][3])
{
    double f0[3], f1[3], e[3];
    tac_one_cst_strain(c->b00, c->b01, c->b11, x, f0, f1, e);
    tac_sub(e, e, rest);
    double trace = e[0] + e[1];
    return .5 * (c->a * (e[0] * e[0] + e[1] * e[1] + 2 * e[2] * e[2]) + c->b * trace * trace);
}

/* rest: NULL for the angle that it was made with. */
static inline double tac_hinge_potential(const struct tac_hinge *g, const double *rest, const double x[4][3])
{
    struct tac_one_fold f;
    tac_one_fold(x, &f);
    const double theta = tac_one_fold_angle(&f);
    double bend = rest ? tac_one_turn(theta - *rest) : theta - g->angle;
    return g->stiffness * bend * bend;
}

#endif
