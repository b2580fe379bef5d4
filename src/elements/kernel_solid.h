/* kernel_solid.h: stresses of the solid models, written once and compiled twice, like kernel_body.h: for one
 * tetrahedron and for four side by side.  No include guard: solid_kernels.h includes it.  Formulas:
 * docs/reference/elements.md. Matrices are row by row.
 *
 * NAME(x) stands for tac_one_x and tac_four_x, so a search for a name of a function does not find its definition. The
 * functions are:
 *
 * tac_one_solid_gradient, tac_four_solid_gradient, tac_one_cofactor, tac_four_cofactor, tac_one_solid_push,
 * tac_four_solid_push, tac_one_solid_strain, tac_four_solid_strain, tac_one_stvk_stress, tac_four_stvk_stress,
 * tac_one_log, tac_four_log, tac_one_neo_hookean_stress, tac_four_neo_hookean_stress, tac_one_rotation,
 * tac_four_rotation, tac_one_corotated_stress, tac_four_corotated_stress, tac_one_solid_stress, tac_four_solid_stress,
 * tac_one_solid, tac_four_solid, tac_one_solid_damper, tac_four_solid_damper.
 */

/* F of x; b: inverse of the edge matrix at rest. */
static inline void NAME(solid_gradient)(const REAL b[9], const REAL x[4][3], REAL f[9])
{
    for (int k = 0; k < 3; k++) {
        REAL d0 = x[1][k] - x[0][k], d1 = x[2][k] - x[0][k], d2 = x[3][k] - x[0][k];
        for (int c = 0; c < 3; c++)
            f[3 * k + c] = d0 * b[c] + d1 * b[3 + c] + d2 * b[6 + c];
    }
}

/* det(F) F^-T; its rows are products of F's rows. */
static inline void NAME(cofactor)(const REAL f[9], REAL c[9])
{
    NAME(cross)(c, f + 3, f + 6);
    NAME(cross)(c + 3, f + 6, f);
    NAME(cross)(c + 6, f, f + 3);
}

/* Impulses on all four vertices, of p: -step times volume times the first Piola-Kirchhoff stress. */
static inline void NAME(solid_push)(const REAL b[9], const REAL p[9], REAL j[4][3])
{
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++)
            j[1 + i][k] = p[3 * k] * b[3 * i] + p[3 * k + 1] * b[3 * i + 1] + p[3 * k + 2] * b[3 * i + 2];
        j[0][k] = -(j[1][k] + j[2][k] + j[3][k]);
    }
}

/* Green strain (F^T F - 1)/2: e00, e11, e22, e12, e02, e01. */
static inline void NAME(solid_strain)(const REAL f[9], REAL e[6])
{
    e[0] = .5 * (f[0] * f[0] + f[3] * f[3] + f[6] * f[6] - 1);
    e[1] = .5 * (f[1] * f[1] + f[4] * f[4] + f[7] * f[7] - 1);
    e[2] = .5 * (f[2] * f[2] + f[5] * f[5] + f[8] * f[8] - 1);
    e[3] = .5 * (f[1] * f[2] + f[4] * f[5] + f[7] * f[8]);
    e[4] = .5 * (f[0] * f[2] + f[3] * f[5] + f[6] * f[8]);
    e[5] = .5 * (f[0] * f[1] + f[3] * f[4] + f[6] * f[7]);
}

/* P = F S, S = 2 mu E + lambda (tr E) 1. */
static inline void NAME(stvk_stress)(REAL mu, REAL lambda, const REAL f[9], const REAL e[6], REAL p[9])
{
    REAL trace = lambda * (e[0] + e[1] + e[2]), two = 2 * mu;
    REAL s00 = two * e[0] + trace, s11 = two * e[1] + trace, s22 = two * e[2] + trace;
    REAL s12 = two * e[3], s02 = two * e[4], s01 = two * e[5];
    for (int k = 0; k < 9; k += 3) {
        p[k] = f[k] * s00 + f[k + 1] * s01 + f[k + 2] * s02;
        p[k + 1] = f[k] * s01 + f[k + 1] * s11 + f[k + 2] * s12;
        p[k + 2] = f[k] * s02 + f[k + 1] * s12 + f[k + 2] * s22;
    }
}

/* Natural logarithm of a normal number, to a few ulp, without branches: x = 2^n t, t in .72 .. 1.44, and the series of
 * atanh. */
static inline REAL NAME(log)(REAL x)
{
    REAL n, zero;
    x = NAME(mantissa)(x, &n);
    zero = x * 0;
    n = SELECT(x > zero + 1.4375, n + 1, n);
    x = SELECT(x > zero + 1.4375, .5 * x, x);
    REAL z = (x - 1) / (x + 1), u = z * z, s = zero + 1. / 23;
    for (int k = 21; k > 1; k -= 2)
        s = 1. / k + u * s;
    /* ln 2 in two parts, the first so short that n times it is exact. */
    return n * 0x1.62e42fefa3p-1 + (n * 0x1.3de6af278ece6p-42 + (2 * z + 2 * z * (u * s)));
}

/* Where the volume is under this part of that at rest, the neo-Hookean energy goes on as a parabola in it. */
#define TAC_SOLID_SMALL .3
#define TAC_SOLID_LOG_SMALL -1.2039728043259361

/* P = mu F + U'(J) cof F; U(J) = -mu ln J + lambda/2 ln^2 J, and under SMALL its parabola there. */
static inline void NAME(neo_hookean_stress)(REAL mu, REAL lambda, const REAL f[9], REAL p[9])
{
    REAL c[9];
    NAME(cofactor)(f, c);
    REAL volume = f[0] * c[0] + f[1] * c[1] + f[2] * c[2], small = volume * 0 + TAC_SOLID_SMALL;
    REAL at = SELECT(volume > small, volume, small);
    REAL bulk = (lambda * NAME(log)(at) - mu) / at;
    REAL bend = (mu + lambda * (1 - TAC_SOLID_LOG_SMALL)) / (TAC_SOLID_SMALL * TAC_SOLID_SMALL);
    bulk = SELECT(volume > small, bulk, bulk + bend * (volume - small));
    for (int k = 0; k < 9; k++)
        p[k] = mu * f[k] + bulk * c[k];
}

/* The rotation R nearest to F, and *trace = tr(R^T F), the largest root of the quartic
 *
 *     t^4 - 2 |F|^2 t^2 - 8 det(F) t + |F|^4 - 4 |cof F|^2 = 0
 *
 * by Newton's method from above (Horn 1987; Markley 1993 for R from it).  It exists for inverted tetrahedra too, and
 * the square root of three times |F|, where the iteration begins, is the root itself at rest.  *room: (s1 + s2) (s2 +
 * s3) (s3 + s1) of the signed singular values; near 0 two of them cancel and R jumps: there it is shortened, not NaN.
 */
static inline void NAME(rotation)(const REAL f[9], REAL r[9], REAL *trace, REAL *room)
{
    REAL c[9], g[9];
    NAME(cofactor)(f, c);
    REAL det = f[0] * c[0] + f[1] * c[1] + f[2] * c[2];
    REAL ff = NAME(dot)(f, f) + NAME(dot)(f + 3, f + 3) + NAME(dot)(f + 6, f + 6), zero = ff * 0;
    REAL cc = NAME(dot)(c, c) + NAME(dot)(c + 3, c + 3) + NAME(dot)(c + 6, c + 6);
    REAL c0 = ff * ff - 4 * cc, t = SQRT(3 * ff);
    for (int k = 0; k < 12; k++) {
        REAL tt = t * t, value = (tt - 2 * ff) * tt + (c0 - 8 * det * t), slope = 4 * t * (tt - ff) - 8 * det;
        REAL step = value / SELECT(slope > zero, slope, zero + 1);
        t = SELECT(slope > zero, t - step, t);
    }
    REAL half = .5 * (t * t - ff), full = .5 * (t * t + ff), gap = half * t - det;
    /* F F^T F */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            g[3 * i + k] = NAME(dot)(f + 3 * i, f + 3 * k);
    REAL least = 1e-12 * t * t * t, over = SELECT(gap > least, 1 / SELECT(gap > least, gap, zero + 1), zero);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            REAL cubic = g[3 * i] * f[k] + g[3 * i + 1] * f[3 + k] + g[3 * i + 2] * f[6 + k];
            r[3 * i + k] = (full * f[3 * i + k] + t * c[3 * i + k] - cubic) * over;
        }
    *trace = t;
    *room = SELECT(gap > least, gap, zero);
}

/* P = 2 mu (F - R) + lambda tr(R^T F - 1) R. */
static inline void NAME(corotated_stress)(REAL mu, REAL lambda, const REAL f[9], REAL p[9])
{
    REAL r[9], trace, room;
    NAME(rotation)(f, r, &trace, &room);
    REAL pull = lambda * (trace - 3), two = 2 * mu;
    for (int k = 0; k < 9; k++)
        p[k] = two * (f[k] - r[k]) + pull * r[k];
}

/* P of a model, which is a constant where this is called; mu, lambda: times the volume, which P is multiplied by too.
 */
static inline void NAME(solid_stress)(enum tac_solid_model model, REAL mu, REAL lambda, const REAL f[9], REAL p[9])
{
    if (model == TAC_SOLID_NEO_HOOKEAN) {
        NAME(neo_hookean_stress)(mu, lambda, f, p);
    } else if (model == TAC_SOLID_STVK) {
        REAL e[6];
        NAME(solid_strain)(f, e);
        NAME(stvk_stress)(mu, lambda, f, e, p);
    } else {
        NAME(corotated_stress)(mu, lambda, f, p);
    }
}

/* Impulses.  The stress comes first and then the step, so that what cancels in it does so the same for any step. */
static inline void NAME(solid)(enum tac_solid_model model, const REAL b[9], REAL mu, REAL lambda, REAL step,
                               const REAL x[4][3], REAL j[4][3])
{
    REAL f[9], p[9];
    NAME(solid_gradient)(b, x, f);
    NAME(solid_stress)(model, mu, lambda, f, p);
    for (int k = 0; k < 9; k++)
        p[k] = -step * p[k];
    NAME(solid_push)(b, p, j);
}

/* Impulses of damping: the stress that the change of the Green strain since the last tick has with damping times the
 * moduli, mu and lambda.  Beyond the stretch squared `most` it grows no more with the stretch, of which the largest row
 * of F^T F is a bound. */
static inline void NAME(solid_damper)(const REAL b[9], REAL mu, REAL lambda, REAL most, const REAL x[4][3],
                                      REAL last[6], REAL j[4][3])
{
    REAL f[9], e[6], change[6], size[6], p[9];
    NAME(solid_gradient)(b, x, f);
    NAME(solid_strain)(f, e);
    REAL zero = e[0] * 0, one = zero + 1;
    for (int k = 0; k < 6; k++) {
        change[k] = e[k] - last[k];
        last[k] = e[k];
        size[k] = SELECT(e[k] < zero, -e[k], e[k]);
    }
    REAL r0 = e[0] + size[4] + size[5], r1 = e[1] + size[3] + size[5], r2 = e[2] + size[3] + size[4];
    r0 = SELECT(r0 > r1, r0, r1);
    r0 = 1 + 2 * SELECT(r0 > r2, r0, r2);
    REAL less = SELECT(r0 > most, most / SELECT(r0 > most, r0, one), one);
    NAME(stvk_stress)(less * mu, less * lambda, f, change, p);
    for (int k = 0; k < 9; k++)
        p[k] = -p[k];
    NAME(solid_push)(b, p, j);
}
