/* volume.c: an element that the program does not have, for the tests: a tetrahedron that keeps its volume,
 *
 *     E = k/2 (V/V0 - 1)^2 |V0|,   V = (x1 - x0) . (x2 - x0) x (x3 - x0) / 6,   k in Pa
 *
 * on the four vertices of two triangles that share an edge.  A material asks for it by "volume": {"stiffness": k}.
 * This file is all there is to it, besides one line in a table (with_volume.c). */
#include "elements/element.h"
#include <math.h>
#include <tactus/math.h>

extern const struct tac_element tac_element_volume;

struct volume {
    tac_lid v[4];
    double rest, stiffness; /* V0, m^3; k |V0|, J */
};

/* Volume at x, and its gradient. */
static double volume_of(const double (*x)[3], double g[4][3])
{
    double e[3], a[3], b[3];
    tac_sub(e, x[1], x[0]);
    tac_sub(a, x[2], x[0]);
    tac_sub(b, x[3], x[0]);
    tac_cross(g[1], a, b);
    tac_cross(g[2], b, e);
    tac_cross(g[3], e, a);
    for (int k = 0; k < 3; k++) {
        for (int i = 1; i < 4; i++)
            g[i][k] /= 6;
        g[0][k] = -(g[1][k] + g[2][k] + g[3][k]);
    }
    return tac_dot(e, g[1]);
}

static bool make(const struct tac_scene *s, const struct tac_material *m, const tac_lid *v, void *record,
                 struct tac_element_bound *bound)
{
    const double *number = tac_material_section(m, &tac_element_volume.keys);
    double x[4][3], g[4][3], length[4], sum = 0, size = 0;
    if (number == NULL)
        return false;
    for (int i = 0; i < 4; i++)
        memcpy(x[i], &s->mesh->x[3 * (size_t)v[i]], sizeof x[i]);
    const double rest = volume_of((const double(*)[3])x, g);
    for (int i = 0; i < 4; i++) {
        length[i] = sqrt(tac_dot(g[i], g[i]));
        sum += length[i];
        size = fmax(size, length[i]);
    }
    if (!(fabs(rest) > 1e-3 * size * sqrt(size))) /* flat: no volume to keep */
        return false;
    *(struct volume *)record = (struct volume){{v[0], v[1], v[2], v[3]}, rest, number[0] * fabs(rest)};
    for (int i = 0; i < 4; i++) /* K = k/|V0| grad grad^T at rest */
        bound->row[i] = number[0] / fabs(rest) * length[i] * sum;
    return true;
}

static double energy(const void *record, const double *rest, const double (*x)[3])
{
    const struct volume *t = record;
    double g[4][3];
    const double off = volume_of(x, g) / t->rest - 1;
    return .5 * t->stiffness * off * off;
}

static void push(const void *record, const double *rest, double step, const double (*x)[3], double (*j)[3])
{
    const struct volume *t = record;
    double g[4][3];
    const double f = -step * t->stiffness * (volume_of(x, g) / t->rest - 1) / t->rest;
    for (int k = 0; k < 3; k++) {
        for (int i = 1; i < 4; i++)
            j[i][k] = f * g[i][k];
        j[0][k] = -(j[1][k] + j[2][k] + j[3][k]);
    }
}

/* k |V0|/V0^2 grad V grad V^T + k |V0|/V0 (V/V0 - 1) d2V/dx2; V is linear in each vertex. */
static void hessian(const void *record, const double *rest, const double (*x)[3], double *h)
{
    static const int other[4][4] = {{0}, {0, 0, 3, 2}, {0, 3, 0, 1}, {0, 2, 1, 0}};
    const struct volume *t = record;
    double g[4][3];
    const double volume = volume_of(x, g), f = t->stiffness / t->rest * (volume / t->rest - 1) / 6;
    const double f2 = t->stiffness / (t->rest * t->rest);
    for (int i = 1; i < 4; i++)
        for (int k = i; k < 4; k++) {
            double o[3] = {0, 0, 0}; /* d2V of i and k: 6 [o]x, the edge from 0 to the third vertex, signed */
            for (int c = 0; c < 3 && i != k; c++)
                o[c] = (k - i == 1 ? -1 : 1) * (x[other[i][k]][c] - x[0][c]);
            const double cross[3][3] = {{0, -o[2], o[1]}, {o[2], 0, -o[0]}, {-o[1], o[0], 0}};
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    h[12 * (3 * i + r) + 3 * k + c] = f2 * g[i][r] * g[k][c] + f * cross[r][c];
        }
    tac_element_complete(4, h);
}

const struct tac_element tac_element_volume = {
    .keys = {.name = "volume",
             .section = "volume",
             .count = 1,
             .number = {{.key = "stiffness", .fallback = NAN, .max = INFINITY, .min_open = true}}},
    .noun = "tetrahedron at edge",
    .stencils = TAC_STENCILS_HINGES,
    .column = TAC_ENERGY_STRETCH,
    .nodes = 4,
    .size = sizeof(struct volume),
    .cost = 3,
    .window_weight = 2,
    .make = make,
    .energy = energy,
    .push = push,
    .hessian = hessian,
};
