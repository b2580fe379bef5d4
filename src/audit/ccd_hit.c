/* ccd_hit.c: proofs that two primitives do touch, for ccd.c (docs/explanation/ccd.md, Why hit is a proof). */
#include "audit/ccd_solid.h"

#include "geometry/exact/predicates.h"

#include <math.h>
#include <string.h>
#include <tactus/math.h>

enum { CORNERS = TAC_CCD_CORNERS, NEWTON = 12 };

/* A square system: F's coordinates, those that are zero everywhere replaced by "this parameter has that value". */
struct equations {
    double f[3][CORNERS];
    double reach[3];
};

/* The value at parameters x.  |a + w (b - a)| adds at most 5 u R to the errors of a and b, R their bound: a
 * difference up to 2 R, its product, their sum.  Three in a row and the rounding of the corners: 16 u R; twice that is
 * taken. */
static double value_at(const double f[CORNERS], const double x[3])
{
    double line[2];
    for (int t = 0; t < 2; t++) {
        const double *g = f + 4 * t;
        double v0 = g[0] + x[TAC_CCD_V] * (g[1] - g[0]), v1 = g[2] + x[TAC_CCD_V] * (g[3] - g[2]);
        line[t] = v0 + x[TAC_CCD_U] * (v1 - v0);
    }
    return line[0] + x[TAC_CCD_T] * (line[1] - line[0]);
}

static double value_error(double reach)
{
    return 32 * TAC_CCD_UNIT * reach + TAC_CCD_TINY;
}

/* d F / d x_i: F is affine in each parameter. */
static void slope_at(const struct equations *equations, const double x[3], int i, double slope[3])
{
    double low[3] = {x[0], x[1], x[2]}, high[3] = {x[0], x[1], x[2]};
    low[i] = 0;
    high[i] = 1;
    for (int k = 0; k < 3; k++)
        slope[k] = value_at(equations->f[k], high) - value_at(equations->f[k], low);
}

/* Rows of the inverse Jacobian at x times its determinant, which is returned. */
static double inverse_at(const struct equations *equations, const double x[3], double row[3][3])
{
    double slope[3][3];
    for (int i = 0; i < 3; i++)
        slope_at(equations, x, i, slope[i]);
    for (int i = 0; i < 3; i++)
        tac_cross(row[i], slope[(i + 1) % 3], slope[(i + 2) % 3]);
    return tac_dot(row[0], slope[0]);
}

/* Newton's method, kept in the domain; false if it does not settle. */
static bool approach(const struct equations *equations, double x[3], double row[3][3])
{
    double step = 1;
    for (int n = 0; n < NEWTON && step > 0x1p-45; n++) {
        double value[3], determinant = inverse_at(equations, x, row);
        if (determinant == 0)
            return false;
        for (int k = 0; k < 3; k++)
            value[k] = value_at(equations->f[k], x);
        step = 0;
        for (int i = 0; i < 3; i++) {
            double to = x[i] - tac_dot(row[i], value) / determinant;
            to = to > 0 ? (to < 1 ? to : 1) : 0; /* NaN: 0 */
            step = fmax(step, fabs(to - x[i]));
            x[i] = to;
        }
    }
    return step < 0x1p-10 && inverse_at(equations, x, row) != 0;
}

/* Miranda's theorem: if row . F is negative on one face of the box across parameter i and positive on the other, for
 * each i with a row of its own, all three vanish together somewhere in the box; rows that are independent leave F = 0
 * only.  On a face row . F is in the hull of its values at the corners. */
static bool parts_faces(const struct equations *equations, const double row[3][3], const double low[3],
                        const double high[3])
{
    double f[3][CORNERS];
    for (int c = 0; c < CORNERS; c++) {
        double x[3];
        for (int i = 0; i < 3; i++)
            x[i] = c & TAC_CCD_BIT(i) ? high[i] : low[i];
        for (int k = 0; k < 3; k++)
            f[k][c] = value_at(equations->f[k], x);
    }
    for (int i = 0; i < 3; i++) {
        double error = TAC_CCD_TINY, sign = 0;
        for (int k = 0; k < 3; k++) /* the dot product's own rounding: under 4 u R |row| */
            error += fabs(row[i][k]) * (value_error(equations->reach[k]) + 4 * TAC_CCD_UNIT * equations->reach[k]);
        error *= 1 + 0x1p-48;
        for (int c = 0; c < CORNERS; c++) {
            double g = row[i][0] * f[0][c] + row[i][1] * f[1][c] + row[i][2] * f[2][c];
            if (!(fabs(g) > error))
                return false;
            double outward = c & TAC_CCD_BIT(i) ? copysign(1, g) : -copysign(1, g);
            if (sign != 0 && outward != sign)
                return false;
            sign = outward;
        }
    }
    return true;
}

static bool prove(const struct equations *equations, const double guess[3], double t[2])
{
    static const double half[] = {0x1p-12, 0x1p-20, 0x1p-28, 0x1p-36, 0x1p-7, 0x1p-42, 0x1p-4, 0x1p-46};
    double x[3] = {guess[0], guess[1], guess[2]}, row[3][3];
    if (!approach(equations, x, row) || tac_orient3d((double[3]){0, 0, 0}, row[0], row[1], row[2]) == 0)
        return false;
    for (size_t n = 0; n < sizeof half / sizeof *half; n++) {
        double low[3], high[3];
        for (int i = 0; i < 3; i++) {
            low[i] = fmax(0, x[i] - half[n]);
            high[i] = fmin(1, x[i] + half[n]);
        }
        if (parts_faces(equations, (const double(*)[3])row, low, high)) {
            t[0] = low[TAC_CCD_T];
            t[1] = high[TAC_CCD_T];
            return true;
        }
    }
    return false;
}

/* With the parameters in `fixed` (bits as those of corners) held at the guess, one for each coordinate that is zero
 * everywhere. */
static bool prove_with(const struct tac_ccd_problem *problem, int fixed, const double guess[3], double t[2])
{
    struct equations equations;
    memcpy(equations.f, problem->f, sizeof equations.f);
    memcpy(equations.reach, problem->reach, sizeof equations.reach);
    int i = -1;
    for (int k = 0; k < 3; k++) {
        if (!problem->flat[k])
            continue;
        while (!(fixed & TAC_CCD_BIT(++i)))
            ;
        for (int c = 0; c < CORNERS; c++)
            equations.f[k][c] = c & TAC_CCD_BIT(i) ? 1 - guess[i] : -guess[i];
        equations.reach[k] = 1;
    }
    return prove(&equations, guess, t);
}

bool tac_ccd_prove_zero(const struct tac_ccd_problem *problem, const double guess[3], double t[2])
{
    static const int without[4] = {0, 3, 1, 0}; /* of which F is independent, by the number of parameters */
    int flat = 0, needed = without[problem->parameters];
    for (int k = 0; k < 3; k++)
        flat += problem->flat[k];
    for (int fixed = 0; fixed < 8; fixed++) {
        int count = (fixed & 1) + (fixed >> 1 & 1) + (fixed >> 2);
        if (count == flat && (fixed & needed) == needed && prove_with(problem, fixed, guess, t))
            return true;
    }
    return false;
}

bool tac_ccd_touch_at(const struct tac_ccd_query *query, int end)
{
    const double(*x)[3] = end ? query->x1 : query->x0;
    switch (query->type) {
    case TAC_CCD_VERTEX_TRIANGLE:
        return tac_on_triangle(x[0], x[1], x[2], x[3]);
    case TAC_CCD_EDGE_EDGE:
        return tac_segments_meet(x[0], x[1], x[2], x[3]);
    case TAC_CCD_VERTEX_EDGE:
        return tac_on_segment(x[0], x[1], x[2]);
    default:
        return x[0][0] == x[1][0] && x[0][1] == x[1][1] && x[0][2] == x[1][2];
    }
}
