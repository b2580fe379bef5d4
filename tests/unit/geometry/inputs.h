/* inputs.h: pairs of primitives to try the distance kernels on: random, like contacts, and degenerate in every way. */
#ifndef TACTUS_TESTS_CONTACT_INPUTS_H
#define TACTUS_TESTS_CONTACT_INPUTS_H

#include <geometry/closest_points.h>
#include <math.h>
#include <string.h>

enum input_family {
    INPUT_RANDOM,   /* vertices anywhere in a cube */
    INPUT_CONTACT,  /* primitives of size 1 whose interiors are 1e-1 .. 1e-8 apart */
    INPUT_LATTICE,  /* small whole coordinates: parallel, collinear, coplanar, touching, zero lengths, shared points */
    INPUT_NEEDLE,   /* slivers: a vertex almost on the opposite edge, or almost on another vertex */
    INPUT_PARALLEL, /* edges 1e0 .. 1e-17 rad from parallel, also collinear ones */
    INPUT_COPLANAR, /* all four in a plane, to rounding or some ulps beside it */
    INPUT_TOUCHING, /* distance zero but for rounding: a point of each primitive is the same */
    INPUT_MIXED,    /* lengths from 1e-6 to 1 in one pair */
    INPUT_FAMILIES
};

struct input {
    uint64_t seed, counter;
};

static inline double input_uniform(struct input *in, double low, double high)
{
    return low + (high - low) * tac_random(in->seed, in->counter++);
}

static inline int input_below(struct input *in, int n)
{
    return (int)(tac_random(in->seed, in->counter++) * n);
}

static inline void input_vector(struct input *in, double size, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = input_uniform(in, -size, size);
}

static inline double input_tiny(struct input *in, double from, double to)
{
    double e = input_uniform(in, from, to);
    return tac_pow(10, e);
}

/* A point of a primitive of `count` vertices (1 to 3), sometimes on its boundary. */
static inline void input_point_of(struct input *in, const double (*x)[3], int count, double out[3])
{
    double w[3] = {1, 0, 0}, sum = 0;
    for (int i = 0; i < count; i++) {
        w[i] = input_below(in, 6) == 0 ? 0 : input_uniform(in, 0, 1);
        sum += w[i];
    }
    if (sum == 0)
        w[0] = sum = 1;
    for (int k = 0; k < 3; k++) {
        out[k] = 0;
        for (int i = 0; i < count; i++)
            out[k] += w[i] / sum * x[i][k];
    }
}

/* Moves the first primitive so that a point of it lies `gap` from a point of the second. */
static inline void input_bring_together(struct input *in, enum tac_pair_type type, double gap, double x[4][3])
{
    int first = tac_pair_first(type), count = tac_pair_vertices(type);
    double p[3], q[3], direction[3];
    input_point_of(in, (const double(*)[3])x, first, p);
    input_point_of(in, (const double(*)[3])x + first, count - first, q);
    input_vector(in, 1, direction);
    double u[3], v[3];
    tac_sub(u, x[1], x[0]);
    tac_sub(v, x[3], x[2]);
    if (type != TAC_PAIR_VERTEX_VERTEX &&
        input_below(in, 4)) { /* usually along the normal: the interiors are nearest */
        if (type == TAC_PAIR_VERTEX_TRIANGLE)
            tac_sub(u, x[2], x[1]);
        if (type != TAC_PAIR_VERTEX_SEGMENT)
            tac_cross(direction, u, v);
    }
    double length = sqrt(tac_dot(direction, direction));
    for (int i = 0; i < first; i++)
        for (int k = 0; k < 3; k++)
            x[i][k] += q[k] - p[k] + (length > 0 ? gap * direction[k] / length : 0);
}

static inline void input_shape(struct input *in, enum input_family family, enum tac_pair_type type, double x[4][3])
{
    double d[3];
    int i, j;
    for (i = 0; i < 4; i++)
        input_vector(in, 1, x[i]);
    switch (family) {
    case INPUT_CONTACT:
        input_bring_together(in, type, input_tiny(in, -8, -1), x);
        break;
    case INPUT_LATTICE:
        j = 1 + input_below(in, 4);
        for (i = 0; i < 12; i++)
            x[i / 3][i % 3] = input_below(in, 2 * j + 1) - j;
        break;
    case INPUT_NEEDLE:
        i = 1 + input_below(in, 3);
        j = 1 + i % 3;
        if (input_below(in, 2)) { /* vertex i almost on j, */
            input_vector(in, input_tiny(in, -17, -1), d);
            for (int k = 0; k < 3; k++)
                x[i][k] = x[j][k] + d[k];
        } else { /* or on the line of the other two */
            double s = input_uniform(in, -.5, 1.5);
            int l = 1 + j % 3;
            input_vector(in, input_tiny(in, -17, -1), d);
            for (int k = 0; k < 3; k++)
                x[i][k] = x[j][k] + s * (x[l][k] - x[j][k]) + d[k];
        }
        if (input_below(in, 2))
            input_bring_together(in, type, input_tiny(in, -12, 0), x);
        break;
    case INPUT_PARALLEL:
        input_vector(in, input_tiny(in, -17, 0), d);
        double s = input_uniform(in, -2, 2), shift = input_below(in, 3) ? input_tiny(in, -12, 0) : 0;
        int along = input_below(in, 2);
        for (int k = 0; k < 3; k++) {
            double u = x[1][k] - x[0][k];
            x[2][k] = x[0][k] + shift * x[2][k] + (along ? 2 * s * u : 0);
            x[3][k] = x[2][k] + s * u + d[k];
        }
        break;
    case INPUT_COPLANAR:
        for (int k = 0; k < 3; k++)
            x[3][k] = x[0][k];
        for (i = 1; i < 3; i++) {
            double weight = input_uniform(in, -1, 1.5);
            for (int k = 0; k < 3; k++)
                x[3][k] += weight * (x[i][k] - x[0][k]);
        }
        break;
    case INPUT_TOUCHING:
        input_bring_together(in, type, 0, x);
        break;
    case INPUT_MIXED:
        i = input_below(in, 4);
        j = (i + 1 + input_below(in, 3)) % 4;
        input_vector(in, input_tiny(in, -6, 0), d);
        for (int k = 0; k < 3; k++)
            x[i][k] = x[j][k] + d[k];
        if (input_below(in, 2))
            input_bring_together(in, type, input_tiny(in, -9, 0), x);
        break;
    default:
        break;
    }
}

/* The n-th input of a family: its shape, at one of many sizes and offsets, sometimes some ulps off. */
static inline void input_make(enum input_family family, enum tac_pair_type type, uint64_t n, double x[4][3])
{
    struct input in = {tac_hash64((uint64_t)family * TAC_PAIR_TYPES + (uint64_t)type, n), 0};
    input_shape(&in, family, type, x);
    static const double sizes[] = {1, 1, 1e-3, 1e-9, 1e6, 1e-40, 1e30}, offsets[] = {0, 0, 1, 1e3, 1e6};
    double size = sizes[input_below(&in, 7)], offset = offsets[input_below(&in, 5)], shift[3];
    if (size > 1e6 || size < 1e-9)
        offset *= size;
    input_vector(&in, offset, shift);
    bool nudge = family != INPUT_RANDOM && input_below(&in, 3) == 0;
    for (int i = 0; i < 12; i++) {
        double value = x[i / 3][i % 3] * size + shift[i % 3];
        if (nudge)
            for (int k = input_below(&in, 3); k > 0; k--)
                value = nextafter(value, input_below(&in, 2) ? INFINITY : -INFINITY);
        x[i / 3][i % 3] = value;
    }
}

static inline const char *input_name(enum input_family family)
{
    static const char *const name[INPUT_FAMILIES] = {"random",   "contact",  "lattice",  "needle",
                                                     "parallel", "coplanar", "touching", "mixed"};
    return name[family];
}

#endif
