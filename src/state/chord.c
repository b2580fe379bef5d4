/* chord.c: plans a rigid body's turn on a chord. */
#include "state/chord.h"

#include <tactus/math.h>

enum { NEAREST_STEPS = 4, CORRECTIONS = 2 }; /* both converge quadratically from errors of 1e-4 and less */

/* |d| <= 2^-25 |f|: the next step would change f by less than its rounding. */
static const double CONVERGED = 0x1p-50;

void tac_chord_momentum(const double s[3], const double a[3][3], const double b[3][3], double l[3])
{
    l[0] = l[1] = l[2] = 0;
    for (int k = 0; k < 3; k++) {
        double turn[3];
        tac_cross(turn, a[k], b[k]);
        for (int i = 0; i < 3; i++)
            l[i] += s[k] * turn[i];
    }
}

/* The mean of a matrix and its inverse transposed, again and again (Higham 1986). */
void tac_chord_nearest(const double a[3][3], double r[3][3])
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            r[k][i] = a[k][i];
    for (int step = 0; step < NEAREST_STEPS; step++) {
        double c[3][3];
        for (int k = 0; k < 3; k++)
            tac_cross(c[k], r[(k + 1) % 3], r[(k + 2) % 3]);
        const double inverse = 1 / tac_dot(c[0], r[0]);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++)
                r[k][i] = .5 * (r[k][i] + inverse * c[k][i]);
    }
}

void tac_chord_spin(const double s[3], const double r[3][3], const double l[3], double w[3])
{
    const double sum = s[0] + s[1] + s[2];
    w[0] = w[1] = w[2] = 0;
    for (int k = 0; k < 3; k++) {
        const double rate = tac_dot(r[k], l) / (sum - s[k]);
        for (int i = 0; i < 3; i++)
            w[i] += rate * r[k][i];
    }
}

/* out = ([f] + [f]^2) in, for vectors; [f]^2 x = f (f.x) - (f.f) x */
static void turn(const double f[3], double square, const double in[3], double out[3])
{
    double cross[3];
    tac_cross(cross, f, in);
    const double along = tac_dot(f, in);
    for (int i = 0; i < 3; i++)
        out[i] = cross[i] + along * f[i] - square * in[i];
}

/* Solves K d = r by Cramer's rule. */
static void solve(const double k[3][3], const double r[3], double d[3])
{
    double c[3][3];
    for (int i = 0; i < 3; i++)
        tac_cross(c[i], k[(i + 1) % 3], k[(i + 2) % 3]);
    const double inverse = 1 / tac_dot(c[0], k[0]);
    for (int i = 0; i < 3; i++)
        d[i] = inverse * (c[0][i] * r[0] + c[1][i] * r[1] + c[2][i] * r[2]);
}

/* Computes the Rodrigues vector f of the turn from r to the rotation that is sought; m0 = r S A^T. */
static int find_turn(const double m0[3][3], const double l[3], double tau, double f[3])
{
    f[0] = f[1] = f[2] = 0;
    for (int n = 1; n <= TAC_CHORD_MOST; n++) {
        double m[3][3], k[3][3], rest[3], d[3], cross[3];
        const double square = tac_dot(f, f), factor = 2 / (1 + square);
        for (int j = 0; j < 3; j++) {
            const double column[3] = {m0[0][j], m0[1][j], m0[2][j]};
            double turned[3];
            turn(f, square, column, turned);
            for (int i = 0; i < 3; i++)
                m[i][j] = column[i] + factor * turned[i];
        }
        const double trace = m[0][0] + m[1][1] + m[2][2];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                k[i][j] = (i == j ? trace : 0) - m[i][j]; /* [d]M + M^T[d] = [(tr(M) I - M) d] */
        rest[0] = .5 * (tau * l[0] - (m[2][1] - m[1][2]));
        rest[1] = .5 * (tau * l[1] - (m[0][2] - m[2][0]));
        rest[2] = .5 * (tau * l[2] - (m[1][0] - m[0][1]));
        solve((const double(*)[3])k, rest, d);
        tac_cross(cross, d, f);
        const double scale = 1 / (1 - tac_dot(d, f));
        for (int i = 0; i < 3; i++)
            f[i] = scale * (f[i] + d[i] + cross[i]);
        if (tac_dot(d, d) <= CONVERGED * tac_dot(f, f))
            return n;
    }
    return TAC_CHORD_MOST + 1;
}

int tac_chord_plan(const double s[3], const double a[3][3], const double r[3][3], const double l[3], double tau,
                   double b[3][3])
{
    double m[3][3], f[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[i][j] = s[0] * (r[0][i] * a[0][j]) + s[1] * (r[1][i] * a[1][j]) + s[2] * (r[2][i] * a[2][j]);
    const int steps = find_turn((const double(*)[3])m, l, tau, f);
    const double square = tac_dot(f, f), factor = 2 / (tau * (1 + square));
    for (int k = 0; k < 3; k++) {
        double turned[3];
        turn(f, square, r[k], turned);
        for (int i = 0; i < 3; i++)
            b[k][i] = factor * turned[i] + (r[k][i] - a[k][i]) / tau;
    }
    /* Rounding was divided by tau; the angular momentum must not lose by that. */
    for (int n = 0; n < CORRECTIONS; n++) {
        double have[3], lack[3], w[3], change[3];
        tac_chord_momentum(s, a, (const double(*)[3])b, have);
        tac_sub(lack, l, have);
        tac_chord_spin(s, r, lack, w);
        for (int k = 0; k < 3; k++) {
            tac_cross(change, w, a[k]);
            for (int i = 0; i < 3; i++)
                b[k][i] += change[i];
        }
    }
    return steps;
}
