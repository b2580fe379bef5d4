/* records.h: declares the records of the program's elements and their dampers. Each begins with its nodes. */
#ifndef TACTUS_ELEMENTS_RECORDS_H
#define TACTUS_ELEMENTS_RECORDS_H

#include <tactus/base.h>

/* V = (k/2L)(l - L)^2; k in N (ACM section 3). */
struct tac_spring {
    tac_lid v[2];
    double length;    /* L, m */
    double stiffness; /* k/L, N/m */
};

/* St Venant-Kirchhoff membrane on a constant-strain triangle: V = A Y/(2(1-nu^2)) [(1-nu) tr(E^2) + nu (tr E)^2]. */
struct tac_cst {
    tac_lid v[3], body;
    double b00, b01, b11; /* inverse of the rest shape's edge matrix (upper triangular), 1/m */
    double a, b;          /* A Y/(1+nu) and A Y nu/(1-nu^2), N m */
};

/* V = k 3|e|^2/(A1+A2) (theta - theta0)^2 (Grinspun et al. 2003). */
struct tac_hinge {
    tac_lid v[4];     /* edge's two, then the two opposite vertices */
    double stiffness; /* k 3|e|^2/(A1+A2), N m */
    double angle;     /* theta0, rad */
};

/* A solid's tetrahedron: F = [x1 - x0, x2 - x0, x3 - x0] B is constant in it.  The energy is a function of F, times the
 * volume (solid.h). */
struct tac_solid {
    tac_lid v[4];
    double b[9];       /* B, row by row: inverse of the rest shape's edge matrix, 1/m; row i - 1 is grad N_i */
    double mu, lambda; /* Lame's moduli times the volume, J */
};

/* Dampers: rate is damping times stiffness. `most` (kernel_body.h): where an element shrinks or stretches so far that
 * its damping would exceed what its period allows, the damping does not grow further. */
struct tac_spring_damper {
    tac_lid v[2];
    double rate; /* N s/m */
};
struct tac_cst_damper {
    tac_lid v[3], body;
    double b00, b01, b11; /* as the membrane's */
    double a, b;          /* damping times its moduli, N m s */
    double most;          /* stretch squared */
};
struct tac_solid_damper {
    tac_lid v[4];
    double b[9];       /* as the tetrahedron's */
    double mu, lambda; /* damping times its moduli, J s */
    double most;       /* stretch squared */
};
struct tac_hinge_damper {
    tac_lid v[4];
    double rate; /* 2 x damping x stiffness, N m s */
    double most; /* of the angle's gradient squared, summed over the vertices, 1/m^2 */
};

#endif
