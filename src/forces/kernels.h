/* kernels.h: gradient of each elastic potential times a step; inline, used by the loops and by the tests alike. */
#ifndef TACTUS_FORCES_KERNELS_H
#define TACTUS_FORCES_KERNELS_H

#include "forces/elastic.h"
#include <math.h>
#include <string.h>
#include <tactus/math.h>

/* Impulse on vertex 0; vertex 1 gets the opposite. */
static inline void tac_spring_impulse(const struct tac_spring *s, double h, const double *restrict x0,
                                      const double *restrict x1, double *restrict j)
{
    double d[3] = {x1[0] - x0[0], x1[1] - x0[1], x1[2] - x0[2]};
    double l = sqrt(tac_dot(d, d));
    double f = l > 0 ? h * s->stiffness * (l - s->length) / l : 0;
    j[0] = f * d[0];
    j[1] = f * d[1];
    j[2] = f * d[2];
}

static inline double tac_spring_potential(const struct tac_spring *s, const double *x0, const double *x1)
{
    double d[3];
    tac_sub(d, x1, x0);
    double stretch = sqrt(tac_dot(d, d)) - s->length;
    return .5 * s->stiffness * stretch * stretch;
}

/* Deformation gradient's columns f0, f1 and twice the Green strain. */
static inline void tac_cst_strain(const struct tac_cst *c, const double *restrict x0, const double *restrict x1,
                                  const double *restrict x2, double f0[3], double f1[3], double e[3])
{
    for (int k = 0; k < 3; k++) {
        double e1 = x1[k] - x0[k], e2 = x2[k] - x0[k];
        f0[k] = e1 * c->b00;
        f1[k] = e1 * c->b01 + e2 * c->b11;
    }
    e[0] = .5 * (tac_dot(f0, f0) - 1);
    e[1] = .5 * (tac_dot(f1, f1) - 1);
    e[2] = .5 * tac_dot(f0, f1);
}

/* Impulses on vertices 1 and 2; vertex 0 gets minus their sum. */
static inline void tac_cst_impulse(const struct tac_cst *c, double h, const double *restrict x0,
                                   const double *restrict x1, const double *restrict x2, double *restrict j1,
                                   double *restrict j2)
{
    double f0[3], f1[3], e[3];
    tac_cst_strain(c, x0, x1, x2, f0, f1, e);
    double trace = c->b * (e[0] + e[1]);
    double s00 = -h * (c->a * e[0] + trace), s11 = -h * (c->a * e[1] + trace), s01 = -h * (c->a * e[2]);
    for (int k = 0; k < 3; k++) {
        double p0 = f0[k] * s00 + f1[k] * s01, p1 = f0[k] * s01 + f1[k] * s11;
        j1[k] = p0 * c->b00 + p1 * c->b01;
        j2[k] = p1 * c->b11;
    }
}

static inline double tac_cst_potential(const struct tac_cst *c, const double *x0, const double *x1, const double *x2)
{
    double f0[3], f1[3], e[3];
    tac_cst_strain(c, x0, x1, x2, f0, f1, e);
    double trace = e[0] + e[1];
    return .5 * (c->a * (e[0] * e[0] + e[1] * e[1] + 2 * e[2] * e[2]) + c->b * trace * trace);
}

/* Dihedral angle, 0 when flat, positive when the opposite vertices are behind the normals; n1, n2 the triangles'
 * normals (twice the areas long), e the edge, *ee its squared length. */
static inline double tac_hinge_angle(const double *restrict x0, const double *restrict x1, const double *restrict x2,
                                     const double *restrict x3, double e[3], double n1[3], double n2[3], double *ee)
{
    double a[3], b[3], c[3];
    tac_sub(e, x1, x0);
    tac_sub(a, x2, x0);
    tac_sub(b, x3, x0);
    tac_cross(n1, e, a);
    tac_cross(n2, b, e);
    tac_cross(c, n1, n2);
    *ee = tac_dot(e, e);
    return tac_atan2(*ee > 0 ? tac_dot(c, e) / sqrt(*ee) : 0, tac_dot(n1, n2));
}

/* Impulses on all four vertices. */
static inline void tac_hinge_impulse(const struct tac_hinge *g, double h, const double *restrict x0,
                                     const double *restrict x1, const double *restrict x2, const double *restrict x3,
                                     double j[4][3])
{
    double e[3], n1[3], n2[3], a[3], b[3], ee;
    double theta = tac_hinge_angle(x0, x1, x2, x3, e, n1, n2, &ee);
    tac_sub(a, x2, x0);
    tac_sub(b, x3, x0);
    /* d theta/d x2 = -|e| n1/|n1|^2, likewise x3; the edge's vertices balance force and torque. */
    double f = 2 * h * g->stiffness * (theta - g->angle) * sqrt(ee);
    double nn1 = tac_dot(n1, n1), nn2 = tac_dot(n2, n2);
    if (!(nn1 > 0 && nn2 > 0)) { /* a collapsed triangle has no normal to push along; a NaN would spread */
        memset(j, 0, 4 * sizeof *j);
        return;
    }
    double f2 = f / nn1, f3 = f / nn2;
    double s = tac_dot(a, e) / ee, t = tac_dot(b, e) / ee;
    for (int k = 0; k < 3; k++) {
        j[2][k] = f2 * n1[k];
        j[3][k] = f3 * n2[k];
        j[1][k] = -(s * j[2][k] + t * j[3][k]);
        j[0][k] = -(j[1][k] + j[2][k] + j[3][k]);
    }
}

static inline double tac_hinge_potential(const struct tac_hinge *g, const double *x0, const double *x1,
                                         const double *x2, const double *x3)
{
    double e[3], n1[3], n2[3], ee;
    double bend = tac_hinge_angle(x0, x1, x2, x3, e, n1, n2, &ee) - g->angle;
    return g->stiffness * bend * bend;
}

#endif
