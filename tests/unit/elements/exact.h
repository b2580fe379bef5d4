/* exact.h: potentials and strains in long double, straight from their definitions (docs/explanation/method.md, Forces).
 */
#ifndef TACTUS_TESTS_FORCES_EXACT_H
#define TACTUS_TESTS_FORCES_EXACT_H

#include "support.h"

static inline const struct tac_material *material_of(const struct tac_scene *scene, tac_lid vertex)
{
    return &scene->settings->material[scene->settings->body[scene->mesh->vertex_body[vertex]].material];
}

typedef long double real;

static inline real dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void side(real out[3], const real (*x)[3], int i, int j)
{
    for (int k = 0; k < 3; k++)
        out[k] = x[j][k] - x[i][k];
}

static inline void cross(real out[3], const real a[3], const real b[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static inline real spring_potential(const struct tac_material *m, const real (*rest)[3], const real (*x)[3])
{
    real d[3], d0[3];
    side(d0, rest, 0, 1);
    side(d, x, 0, 1);
    real length = sqrtl(dot(d0, d0)), stretch = sqrtl(dot(d, d)) - length;
    return m->stretch_stiffness / (2 * length) * stretch * stretch;
}

/* The edges' Gram matrix less that of the shape `than`: what Green strain is made of, without a frame. */
static inline void gram_change(const real (*x)[3], const real (*than)[3], real g[3])
{
    real a[3], b[3], c[3], d[3];
    side(a, x, 0, 1), side(b, x, 0, 2), side(c, than, 0, 1), side(d, than, 0, 2);
    g[0] = dot(a, a) - dot(c, c), g[1] = dot(a, b) - dot(c, d), g[2] = dot(b, b) - dot(d, d);
}

/* The membrane's potential of a strain E = G0^-1 g / 2 of its rest shape. */
static inline real cst_form(const struct tac_material *m, const real (*rest)[3], const real g[3])
{
    real a[3], b[3], n[3], g0[3];
    side(a, rest, 0, 1), side(b, rest, 0, 2);
    g0[0] = dot(a, a), g0[1] = dot(a, b), g0[2] = dot(b, b);
    cross(n, a, b);
    real area = sqrtl(dot(n, n)) / 2, det = g0[0] * g0[2] - g0[1] * g0[1];
    real e00 = (g0[2] * g[0] - g0[1] * g[1]) / (2 * det), e01 = (g0[2] * g[1] - g0[1] * g[2]) / (2 * det);
    real e10 = (g0[0] * g[1] - g0[1] * g[0]) / (2 * det), e11 = (g0[0] * g[2] - g0[1] * g[1]) / (2 * det);
    real trace = e00 + e11, square = e00 * e00 + 2 * e01 * e10 + e11 * e11, nu = m->poisson;
    return area * m->stretch_stiffness / (2 * (1 - nu * nu)) * ((1 - nu) * square + nu * trace * trace);
}

static inline real cst_potential(const struct tac_material *m, const real (*rest)[3], const real (*x)[3])
{
    real g[3];
    gram_change(x, rest, g);
    return cst_form(m, rest, g);
}

/* Signed angle between the triangles 0 1 2 and 1 0 3. */
static inline real hinge_angle(const real (*x)[3], real *ee, real *areas)
{
    real e[3], a[3], b[3], n[3], m[3], c[3];
    side(e, x, 0, 1), side(a, x, 0, 2), side(b, x, 0, 3);
    cross(n, e, a), cross(m, b, e), cross(c, n, m);
    *ee = dot(e, e);
    *areas = (sqrtl(dot(n, n)) + sqrtl(dot(m, m))) / 2;
    return atan2l(dot(c, e) / sqrtl(*ee), dot(n, m));
}

static inline real hinge_potential(const struct tac_material *m, const real (*rest)[3], const real (*x)[3])
{
    real ee, areas, unused, other, angle0 = hinge_angle(rest, &ee, &areas);
    real bend = hinge_angle(x, &unused, &other) - (m->rest_flat ? 0 : angle0);
    return m->bend_stiffness * 3 * ee / areas * bend * bend;
}

static inline void raise_to(double *worst, double value)
{
    if (!(value <= *worst))
        *worst = isnan(value) ? INFINITY : value;
}

#endif
