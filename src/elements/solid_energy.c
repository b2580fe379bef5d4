/* solid_energy.c: computes the energies of the three models of solids and their Hessians
 * (docs/reference/elements.md). */
#include "elements/solid_energy.h"
#include "elements/solid_convex.h"

/* d - ln(1 + d), whose two terms cancel where d is small. */
static double less_log(double d)
{
    double sum = 0, power = d;
    if (fabs(d) > .03)
        return d - tac_log(1 + d);
    for (int k = 2; k < 14; k++) {
        power *= -d;
        sum -= power / k;
    }
    return sum;
}

/* mu/2 (tr F^T F - 3) + U(J).  By the invariants of the Green strain, so that energies of small strains keep their
 * digits: ln J = ln(1 + d)/2 with d = det(F^T F) - 1, and tr E = d/2 - 2 I2 - 4 I3. */
static double neo_hookean_energy(double mu, double lambda, double small, const double f[9])
{
    double c[9], e[6];
    tac_one_cofactor(f, c);
    tac_one_solid_strain(f, e);
    const double volume = tac_dot(f, c), trace = e[0] + e[1] + e[2];
    if (volume > small) {
        const double i2 = e[0] * e[1] + e[1] * e[2] + e[2] * e[0] - e[3] * e[3] - e[4] * e[4] - e[5] * e[5];
        const double i3 = e[0] * (e[1] * e[2] - e[3] * e[3]) - e[5] * (e[5] * e[2] - e[3] * e[4]) +
                          e[4] * (e[5] * e[3] - e[1] * e[4]);
        const double d = 2 * trace + 4 * i2 + 8 * i3, less = less_log(d), log = .5 * (d - less);
        return mu * (.5 * less - 2 * i2 - 4 * i3) + .5 * lambda * log * log;
    }
    if (!(small > 0))
        return INFINITY;
    const double log = TAC_SOLID_LOG_SMALL, off = volume - TAC_SOLID_SMALL;
    const double slope = (lambda * log - mu) / TAC_SOLID_SMALL;
    const double bend = (mu + lambda * (1 - log)) / (TAC_SOLID_SMALL * TAC_SOLID_SMALL);
    return mu * trace - mu * log + .5 * lambda * log * log + off * (slope + .5 * bend * off);
}

static double stvk_energy(double mu, double lambda, const double f[9], const double *rest)
{
    double e[6];
    tac_solid_strain_from(f, rest, e);
    const double trace = e[0] + e[1] + e[2];
    return mu * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + 2 * (e[3] * e[3] + e[4] * e[4] + e[5] * e[5])) +
           .5 * lambda * trace * trace;
}

/* mu |F - R|^2 + lambda/2 tr(R^T F - 1)^2; where R is not known, |F - R|^2 = |F|^2 - 2 tr(R^T F) + 3. */
static double corotated_energy(double mu, double lambda, const double f[9])
{
    double r[9], trace, room, sum = 0, trace_off = 0;
    tac_one_rotation(f, r, &trace, &room);
    for (int k = 0; k < 9; k++) {
        sum += (f[k] - r[k]) * (f[k] - r[k]);
        trace_off += r[k] * (f[k] - r[k]);
    }
    if (!(room > 1e-3 * trace * trace * trace)) {
        sum = 3 - 2 * trace;
        for (int k = 0; k < 9; k++)
            sum += f[k] * f[k];
        trace_off = trace - 3;
    }
    return mu * sum + .5 * lambda * trace_off * trace_off;
}

double tac_solid_energy(enum tac_solid_model model, double small, const struct tac_solid *t, const double *rest,
                        const double (*x)[3])
{
    double f[9];
    tac_one_solid_gradient(t->b, x, f);
    return rest || model == TAC_SOLID_STVK  ? stvk_energy(t->mu, t->lambda, f, rest)
           : model == TAC_SOLID_NEO_HOOKEAN ? neo_hookean_energy(t->mu, t->lambda, small, f)
                                            : corotated_energy(t->mu, t->lambda, f);
}

/* ---- Hessians: a = dP/dF, (9, 9), of which the upper half is filled in ---- */

static void neo_hookean_tangent(double mu, double lambda, double small, const double f[9], double a[81])
{
    double c[9];
    tac_one_cofactor(f, c);
    const double volume = tac_dot(f, c), at = fmax(volume, small);
    const double log = volume > small ? tac_one_log(volume) : TAC_SOLID_LOG_SMALL;
    const double bend = (mu + lambda * (1 - log)) / (at * at);
    const double slope = (lambda * log - mu) / at + (volume > small ? 0 : bend * (volume - small));
    for (int i = 0; i < 9; i++)
        for (int k = i; k < 9; k++)
            a[9 * i + k] = bend * c[i] * c[k] + (i == k ? mu : 0);
    /* d cof(F) (i, j) / dF (k, l) is an entry of F, or minus it, where i != k and j != l. */
    for (int i = 0; i < 3; i++)
        for (int k = i + 1; k < 3; k++)
            for (int j = 0; j < 3; j++)
                for (int l = 0; l < 3; l++)
                    if (j != l) {
                        const bool minus = (k - i == 1) != ((l - j + 3) % 3 == 1);
                        a[9 * (3 * i + j) + 3 * k + l] += (minus ? -slope : slope) * f[3 * (3 - i - k) + 3 - j - l];
                    }
}

/* convex: without the compression of S, all else being the square of a strain. */
static void stvk_tangent(double mu, double lambda, const double f[9], const double *rest, bool convex, double a[81])
{
    double e[6], ff[3][3];
    tac_solid_strain_from(f, rest, e);
    const double trace = lambda * (e[0] + e[1] + e[2]);
    double s[3][3] = {{2 * mu * e[0] + trace, 2 * mu * e[5], 2 * mu * e[4]},
                      {2 * mu * e[5], 2 * mu * e[1] + trace, 2 * mu * e[3]},
                      {2 * mu * e[4], 2 * mu * e[3], 2 * mu * e[2] + trace}};
    if (convex)
        tac_solid_leave_tension(s);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            ff[i][k] = tac_dot(f + 3 * i, f + 3 * k);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    a[9 * (3 * i + j) + 3 * k + l] = mu * (f[3 * i + l] * f[3 * k + j] + (j == l ? ff[i][k] : 0)) +
                                                     lambda * f[3 * i + j] * f[3 * k + l] + (i == k ? s[j][l] : 0);
}

/* With S = R^T F, dR = R [w] where (tr S 1 - S) w is the axis of R^T dF - dF^T R. */
static void corotated_tangent(double mu, double lambda, const double f[9], double a[81])
{
    double r[9], trace, room, m[9], inverse[9];
    tac_one_rotation(f, r, &trace, &room);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double sum = 0;
            for (int n = 0; n < 3; n++)
                sum += .5 * (r[3 * n + i] * f[3 * n + k] + r[3 * n + k] * f[3 * n + i]);
            m[3 * i + k] = (i == k ? trace : 0) - sum;
        }
    tac_one_cofactor(m, inverse); /* symmetric, and det(m) is the room */
    const double det = tac_dot(m, inverse), pull = lambda * (trace - 3) - 2 * mu;
    const double over = room > 0 && det > 0 ? pull / det : 0;
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) {
            double axis[3], w[3], turned[9];
            /* the axis of M - M^T for M = R^T e_k e_l^T, that is M(n, l) = R(k, n) */
            const double column[3] = {r[3 * k], r[3 * k + 1], r[3 * k + 2]};
            const double unit[3] = {l == 0, l == 1, l == 2};
            tac_cross(axis, unit, column);
            for (int n = 0; n < 3; n++)
                w[n] = over * tac_dot(inverse + 3 * n, axis);
            for (int i = 0; i < 3; i++) { /* R [w]: each row of R times [w], that is -(row x w) x .. = row x w turned */
                const double row[3] = {r[3 * i], r[3 * i + 1], r[3 * i + 2]};
                tac_cross(turned + 3 * i, row, w);
            }
            for (int i = 0; i < 9; i++)
                a[9 * i + 3 * k + l] = turned[i] + lambda * r[i] * r[3 * k + l] + (i == 3 * k + l ? 2 * mu : 0);
        }
}

/* d2V/dxi dxj (k, l) = sum over m, n of g_i(m) a(km, ln) g_j(n). */
void tac_solid_hessian(enum tac_solid_model model, double small, const struct tac_solid *t, const double *rest,
                       bool convex, const double (*x)[3], double *h)
{
    double f[9], a[81], half[3][27]; /* half: g_i(m) a(km, .), (3, 9) for each i */
    tac_one_solid_gradient(t->b, x, f);
    if (rest || model == TAC_SOLID_STVK)
        stvk_tangent(t->mu, t->lambda, f, rest, convex, a);
    else if (model == TAC_SOLID_NEO_HOOKEAN)
        (convex ? tac_solid_convex_neo_hookean : neo_hookean_tangent)(t->mu, t->lambda, small, f, a);
    else
        corotated_tangent(t->mu, t->lambda, f, a);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < i; k++)
            a[9 * i + k] = a[9 * k + i];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int n = 0; n < 9; n++)
                half[i][9 * k + n] = t->b[3 * i] * a[9 * (3 * k) + n] + t->b[3 * i + 1] * a[9 * (3 * k + 1) + n] +
                                     t->b[3 * i + 2] * a[9 * (3 * k + 2) + n];
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    h[12 * (3 * (1 + i) + k) + 3 * (1 + j) + l] = half[i][9 * k + 3 * l] * t->b[3 * j] +
                                                                  half[i][9 * k + 3 * l + 1] * t->b[3 * j + 1] +
                                                                  half[i][9 * k + 3 * l + 2] * t->b[3 * j + 2];
    tac_element_complete(4, h);
}
