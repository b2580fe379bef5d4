/* moments.c: mass, centre of mass and principal axes of a body (docs/explanation/rigid.md). */
#include "mesh/moments.h"

#include <math.h>
#include <string.h>
#include <tactus/math.h>

enum { MASS, FIRST, SECOND = 4 };
enum { SWEEPS = 10 }; /* of Jacobi's method; 6 are enough for every matrix of three rows */

static const int row_of[6] = {0, 1, 2, 1, 2, 0}, column_of[6] = {0, 1, 2, 2, 0, 1};

void tac_moments_begin(struct tac_moment_sums *sums, const double origin[3])
{
    memset(sums, 0, sizeof *sums);
    memcpy(sums->origin, origin, sizeof sums->origin);
}

/* The content of an element: volume, area, length, or 1. */
static double measure(enum tac_moments_kind kind, const double (*p)[3])
{
    double u[3], v[3], n[3];
    if (kind == TAC_MOMENTS_POINT)
        return 1;
    if (kind == TAC_MOMENTS_SOLID) {
        tac_cross(n, p[1], p[2]);
        return tac_dot(p[0], n) / 6;
    }
    tac_sub(u, p[1], p[0]);
    if (kind == TAC_MOMENTS_SEGMENT)
        return sqrt(tac_dot(u, u));
    tac_sub(v, p[2], p[0]);
    tac_cross(n, u, v);
    return sqrt(tac_dot(n, n)) / 2;
}

void tac_moments_add(struct tac_moment_sums *sums, double density, enum tac_moments_kind kind,
                     const double (*corner)[3])
{
    /* Of a simplex with n corners (of a solid one with the origin as one more, which adds nothing) the first moment is
     * m/n times the sum q of the corners, and the second one m/(n (n + 1)) times the sum of aa^T over the corners and
     * qq^T. */
    static const int corners[4] = {3, 3, 2, 1}, simplex[4] = {4, 3, 2, 1};
    const int n = corners[kind];
    double p[3][3], q[3] = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        tac_sub(p[i], corner[i], sums->origin);
        for (int k = 0; k < 3; k++)
            q[k] += p[i][k];
    }
    const double mass = density * measure(kind, (const double(*)[3])p), of = simplex[kind];
    tac_accum_add(&sums->sum[MASS], mass);
    for (int k = 0; k < 3; k++)
        tac_accum_add(&sums->sum[FIRST + k], mass / of * q[k]);
    for (int k = 0; k < 6; k++) {
        double s = q[row_of[k]] * q[column_of[k]];
        for (int i = 0; i < n; i++)
            s += p[i][row_of[k]] * p[i][column_of[k]];
        tac_accum_add(&sums->sum[SECOND + k], mass / (of * (of + 1)) * s);
    }
}

/* Turns rows and columns i and j of the symmetric m so that m[i][j] is 0, and the axes with them. */
static void rotate(double m[3][3], double axis[3][3], int i, int j)
{
    if (m[i][j] == 0)
        return;
    const int k = 3 - i - j;
    const double theta = (m[j][j] - m[i][i]) / (2 * m[i][j]), size = fabs(theta) + sqrt(theta * theta + 1),
                 t = theta < 0 ? -1 / size : 1 / size, c = 1 / sqrt(t * t + 1), s = t * c;
    const double mik = m[i][k], mjk = m[j][k];
    m[i][i] -= t * m[i][j];
    m[j][j] += t * m[i][j];
    m[i][j] = m[j][i] = 0;
    m[i][k] = m[k][i] = c * mik - s * mjk;
    m[j][k] = m[k][j] = s * mik + c * mjk;
    for (int n = 0; n < 3; n++) {
        const double a = axis[i][n], b = axis[j][n];
        axis[i][n] = c * a - s * b;
        axis[j][n] = s * a + c * b;
    }
}

void tac_moments_axes(const double matrix[3][3], double axis[3][3], double moment[3])
{
    double m[3][3], e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    memcpy(m, matrix, sizeof m);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        rotate(m, e, 0, 1);
        rotate(m, e, 0, 2);
        rotate(m, e, 1, 2);
    }
    int order[3] = {0, 1, 2};
    for (int i = 1; i < 3; i++)
        for (int j = i; j > 0 && m[order[j]][order[j]] < m[order[j - 1]][order[j - 1]]; j--) {
            const int swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    for (int k = 0; k < 3; k++) {
        const double *from = e[order[k]];
        int largest = 0;
        for (int n = 1; n < 3; n++)
            if (fabs(from[n]) > fabs(from[largest]))
                largest = n;
        for (int n = 0; n < 3; n++)
            axis[k][n] = from[largest] < 0 ? -from[n] : from[n];
        moment[k] = m[order[k]][order[k]];
    }
    double cross[3];
    tac_cross(cross, axis[0], axis[1]);
    for (int n = 0; n < 3; n++)
        axis[2][n] = cross[n];
}

bool tac_moments_make(const struct tac_moment_sums *sums, struct tac_moments *out)
{
    double arm[3], s[3][3];
    out->mass = tac_accum_value(&sums->sum[MASS]);
    if (!(out->mass > 0 && out->mass < INFINITY))
        return false;
    for (int k = 0; k < 3; k++) {
        arm[k] = tac_accum_value(&sums->sum[FIRST + k]) / out->mass;
        out->center[k] = sums->origin[k] + arm[k];
    }
    for (int k = 0; k < 6; k++) {
        const int i = row_of[k], j = column_of[k];
        s[i][j] = s[j][i] = tac_accum_value(&sums->sum[SECOND + k]) - out->mass * arm[i] * arm[j];
    }
    tac_moments_axes((const double(*)[3])s, out->axis, out->second);
    if (!(out->second[2] > 0 && out->second[2] < INFINITY))
        return false;
    for (int k = 0; k < 2; k++)
        out->second[k] = fmax(out->second[k], TAC_LEAST_MOMENT * out->second[2]);
    return true;
}
