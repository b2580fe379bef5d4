/* solid_convex.c: computes second derivatives of the energies of solids without negative curvature, in closed form
 * (docs/reference/elements.md).
 *
 * An isotropic energy of F = U diag(s) V^T has in the space of F the eigenvectors (Smith et al. 2019)
 *
 *     (u_a v_b^T - u_b v_a^T) / sqrt 2   of (p_a + p_b) / (s_a + s_b)
 *     (u_a v_b^T + u_b v_a^T) / sqrt 2   of (p_a - p_b) / (s_a - s_b)     p = dW/ds
 *
 * and three in the span of u_a v_a^T, of the matrix d2W/ds2.
 */
#include "elements/solid_convex.h"
#include "elements/solid_kernels.h"

enum { SWEEPS = 12 };

/* Eigenvalues on the diagonal of a (3, 3), eigenvectors in the rows of v; sweeps in a fixed order. */
static void eigen(double a[3][3], double v[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            v[i][k] = i == k;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        const double scale = fabs(a[0][0]) + fabs(a[1][1]) + fabs(a[2][2]);
        if (!(fabs(a[0][1]) + fabs(a[0][2]) + fabs(a[1][2]) > 0x1p-54 * scale))
            return;
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                const double off = a[p][q], half = .5 * (a[q][q] - a[p][p]);
                if (off == 0)
                    continue;
                const double t = (half >= 0 ? off : -off) / (fabs(half) + sqrt(half * half + off * off));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                const int r = 3 - p - q;
                const double x = a[r][p], y = a[r][q];
                a[r][p] = a[p][r] = c * x - s * y;
                a[r][q] = a[q][r] = s * x + c * y;
                a[p][p] -= t * off;
                a[q][q] += t * off;
                a[p][q] = a[q][p] = 0;
                for (int k = 0; k < 3; k++) {
                    const double e = v[p][k], f = v[q][k];
                    v[p][k] = c * e - s * f;
                    v[q][k] = s * e + c * f;
                }
            }
    }
}

void tac_solid_leave_tension(double s[3][3])
{
    double v[3][3];
    eigen(s, v);
    const double high[3] = {fmax(0, s[0][0]), fmax(0, s[1][1]), fmax(0, s[2][2])};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            s[i][k] = high[0] * (v[0][i] * v[0][k]) + high[1] * (v[1][i] * v[1][k]) + high[2] * (v[2][i] * v[2][k]);
}

/* Computes a unit vector along x without its part along the unit vector n; any perpendicular to n if nothing is
 * left. */
static void across(const double x[3], const double n[3], double out[3])
{
    const double along = tac_dot(x, n);
    double size, other[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        out[k] = x[k] - along * n[k];
    size = sqrt(tac_dot(out, out));
    if (!(size > 0x1p-40 * fabs(along)) || !(size > 0)) {
        const int least = fabs(n[0]) <= fabs(n[1]) && fabs(n[0]) <= fabs(n[2]) ? 0 : fabs(n[1]) <= fabs(n[2]) ? 1 : 2;
        other[least] = 1;
        tac_cross(out, n, other);
        size = sqrt(tac_dot(out, out));
    }
    for (int k = 0; k < 3; k++)
        out[k] /= size;
}

/* F = sum s_a u_a v_a^T with rotations U, V (rows u_a, v_a): the last s is negative where the determinant is. */
static void singular(const double f[9], double u[3][3], double v[3][3], double s[3])
{
    double c[3][3], raw[3][3], g[2][3];
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            c[i][k] = f[i] * f[k] + f[3 + i] * f[3 + k] + f[6 + i] * f[6 + k];
    eigen(c, raw);
    for (int i = 0; i < 2; i++) /* descending */
        for (int k = 0; k < 2 - i; k++)
            if (c[order[k]][order[k]] < c[order[k + 1]][order[k + 1]]) {
                const int swap = order[k];
                order[k] = order[k + 1];
                order[k + 1] = swap;
            }
    memcpy(v[0], raw[order[0]], sizeof v[0]);
    memcpy(v[1], raw[order[1]], sizeof v[1]);
    tac_cross(v[2], v[0], v[1]);
    for (int a = 0; a < 2; a++)
        for (int k = 0; k < 3; k++)
            g[a][k] = tac_dot(f + 3 * k, v[a]);
    const double size = sqrt(tac_dot(g[0], g[0]));
    for (int k = 0; k < 3; k++)
        u[0][k] = size > 0 ? g[0][k] / size : k == 0;
    across(g[1], u[0], u[1]);
    tac_cross(u[2], u[0], u[1]);
    for (int a = 0; a < 3; a++) {
        s[a] = 0;
        for (int k = 0; k < 3; k++)
            s[a] += u[a][k] * tac_dot(f + 3 * k, v[a]);
    }
}

/* Adds `times` q q^T to the upper half of a (9, 9). */
static void add_square(double times, const double q[9], double a[81])
{
    for (int i = 0; i < 9; i++)
        for (int k = i; k < 9; k++)
            a[9 * i + k] += times * (q[i] * q[k]);
}

void tac_solid_convex_neo_hookean(double mu, double lambda, double small, const double f[9], double a[81])
{
    double u[3][3], v[3][3], s[3], d[3][3], e[3][3], q[9];
    singular(f, u, v, s);
    const double volume = s[0] * s[1] * s[2], at = fmax(volume, small);
    const double log = volume > small ? tac_one_log(volume) : TAC_SOLID_LOG_SMALL;
    const double bend = (mu + lambda * (1 - log)) / (at * at);
    const double slope = (lambda * log - mu) / at + (volume > small ? 0 : bend * (volume - small));
    const double c[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};
    memset(a, 0, 81 * sizeof *a);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            d[i][k] = bend * (c[i] * c[k]) + (i == k ? mu : slope * s[3 - i - k]);
    eigen(d, e);
    for (int m = 0; m < 3; m++) {
        for (int i = 0; i < 9; i++)
            q[i] = e[m][0] * (u[0][i / 3] * v[0][i % 3]) + e[m][1] * (u[1][i / 3] * v[1][i % 3]) +
                   e[m][2] * (u[2][i / 3] * v[2][i % 3]);
        if (d[m][m] > 0)
            add_square(d[m][m], q, a);
    }
    for (int n = 0; n < 6; n++) {
        const int k = n % 3, x = (k + 1) % 3, y = (k + 2) % 3;
        const double sign = n < 3 ? 1 : -1, value = mu - sign * slope * s[k];
        for (int i = 0; i < 9; i++)
            q[i] = u[x][i / 3] * v[y][i % 3] + sign * (u[y][i / 3] * v[x][i % 3]);
        if (value > 0)
            add_square(.5 * value, q, a);
    }
}
