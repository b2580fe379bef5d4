/* ccd_solid.c: writes a query of two primitives as eight corner values of F(t, u, v), scaled so that nothing overflows,
 * and makes the first test along the axes (docs/explanation/ccd.md, One problem for all types). */
#include "audit/ccd_solid.h"

#include <float.h>
#include <math.h>

enum { CORNERS = TAC_CCD_CORNERS };

/* f = corner differences of the query's vertices, each times `scale` first. */
static inline void differences(const struct tac_ccd_query *query, double scale, double f[3][CORNERS])
{
    /* the rows whose difference is the corner (u, v) */
    static const uint8_t plus[TAC_CCD_TYPES][4] = {{0, 0, 0, 0}, {0, 0, 1, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}},
                         minus[TAC_CCD_TYPES][4] = {{1, 1, 2, 3}, {2, 3, 2, 3}, {1, 1, 2, 2}, {1, 1, 1, 1}};
    for (int c = 0; c < 4; c++) {
        int i = plus[query->type][c], j = minus[query->type][c];
        for (int k = 0; k < 3; k++) {
            f[k][c] = scale * query->x0[i][k] - scale * query->x0[j][k];
            f[k][c + 4] = scale * query->x1[i][k] - scale * query->x1[j][k];
        }
    }
}

static void rescale(struct tac_ccd_problem *problem, double largest)
{
    int shift = 0, exponent;
    if (largest > DBL_MAX) {
        differences(problem->query, 0.25, problem->f); /* off by 2^-1074 more */
        shift = 2;
        largest = 0;
        for (int k = 0; k < 3; k++)
            largest = tac_ccd_largest_of(largest, -tac_ccd_least(problem->f[k]), tac_ccd_greatest(problem->f[k]));
    }
    frexp(largest, &exponent);
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < CORNERS; c++)
            problem->f[k][c] = ldexp(problem->f[k][c], -exponent);
        problem->reach[k] = tac_ccd_largest_of(0, -tac_ccd_least(problem->f[k]), tac_ccd_greatest(problem->f[k]));
    }
    shift += exponent;
    double separation = problem->separation[0], scaled = ldexp(separation, -shift);
    problem->separation[0] = problem->separation[1] = scaled;
    if (ldexp(scaled, shift) != separation) { /* it went subnormal, or infinite */
        problem->separation[0] = nextafter(scaled, 0);
        problem->separation[1] = nextafter(scaled, INFINITY);
    }
    problem->tolerance = ldexp(problem->tolerance, -shift);
}

static bool all_finite(const struct tac_ccd_query *query)
{
    static const int vertices[TAC_CCD_TYPES] = {4, 4, 3, 2};
    for (int i = 0; i < vertices[query->type]; i++)
        for (int k = 0; k < 3; k++)
            if (!isfinite(query->x0[i][k]) || !isfinite(query->x1[i][k]))
                return false;
    return true;
}

enum tac_ccd_look tac_ccd_look(const struct tac_ccd_query *query, struct tac_ccd_problem *problem)
{
    static const int parameters[TAC_CCD_TYPES] = {3, 3, 2, 1};
    double zero[CORNERS] = {0}, separation = query->separation;
    bool far = false;
    problem->query = query;
    differences(query, 1, problem->f);
    for (int k = 0; k < 3; k++) {
        double lo = tac_ccd_least(problem->f[k]), hi = tac_ccd_greatest(problem->f[k]);
        for (int c = 0; c < CORNERS; c++)
            zero[c] += problem->f[k][c] * 0;
        /* Rounding is monotone and the separation is a double: a difference that does not exceed it does not when
         * rounded either, so no bound is needed here. */
        far = far || lo > separation || -hi > separation;
        problem->reach[k] = -lo > hi ? -lo : hi;
        problem->flat[k] = problem->reach[k] == 0;
    }
    double sum = ((zero[0] + zero[1]) + (zero[2] + zero[3])) + ((zero[4] + zero[5]) + (zero[6] + zero[7]));
    if (!(separation >= 0) || (sum != 0 && !all_finite(query))) /* else a difference overflowed */
        return TAC_CCD_NO_NUMBERS;
    if (far)
        return TAC_CCD_FAR;
    problem->separation[0] = problem->separation[1] = separation;
    problem->tolerance = query->tolerance;
    problem->parameters = parameters[query->type];
    double largest = tac_ccd_largest_of(problem->reach[0], problem->reach[1], problem->reach[2]);
    if (largest == 0)
        return TAC_CCD_SAME;
    if (!(largest >= 0x1p-100 && largest <= 0x1p100))
        rescale(problem, largest);
    return TAC_CCD_NEAR;
}
