/* kernel_body.h: gradient of each elastic potential times a step, written once and compiled twice: for one element
 * (REAL = double) and for four side by side (REAL = a vector of four).  Arithmetic is elementwise, so both give the
 * same bits.  No include guard: kernels.h includes it with REAL, NAME, SELECT and SQRT defined. */

static inline REAL NAME(dot)(const REAL a[3], const REAL b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void NAME(cross)(REAL out[3], const REAL a[3], const REAL b[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Impulse on vertex 0; vertex 1 gets the opposite. hk: step times stiffness. */
static inline void NAME(spring)(REAL length, REAL hk, const REAL x[2][3], REAL j[3])
{
    REAL d[3];
    for (int k = 0; k < 3; k++)
        d[k] = x[1][k] - x[0][k];
    REAL l = SQRT(NAME(dot)(d, d)), zero = l * 0;
    REAL f = SELECT(l > zero, hk * (l - length) / l, zero); /* no direction at zero length */
    for (int k = 0; k < 3; k++)
        j[k] = f * d[k];
}

/* Impulses on all three vertices. h times the two moduli: ha, hb. */
static inline void NAME(cst)(REAL b00, REAL b01, REAL b11, REAL ha, REAL hb, const REAL x[3][3], REAL j[3][3])
{
    REAL f0[3], f1[3];
    for (int k = 0; k < 3; k++) {
        REAL e1 = x[1][k] - x[0][k], e2 = x[2][k] - x[0][k];
        f0[k] = e1 * b00;
        f1[k] = e1 * b01 + e2 * b11;
    }
    /* Green strain E, then -h times the second Piola-Kirchhoff stress. */
    REAL e00 = .5 * (NAME(dot)(f0, f0) - 1), e11 = .5 * (NAME(dot)(f1, f1) - 1), e01 = .5 * NAME(dot)(f0, f1);
    REAL trace = hb * (e00 + e11);
    REAL s00 = -(ha * e00 + trace), s11 = -(ha * e11 + trace), s01 = -(ha * e01);
    for (int k = 0; k < 3; k++) {
        REAL p0 = f0[k] * s00 + f1[k] * s01, p1 = f0[k] * s01 + f1[k] * s11;
        j[1][k] = p0 * b00 + p1 * b01;
        j[2][k] = p1 * b11;
        j[0][k] = -(j[1][k] + j[2][k]);
    }
}

/* Angle of the point (x, y), -pi..pi, to a few ulp; 0 at the origin.  Halved twice, tan(a/2) = y / (r + |x|), it is at
 * most pi/8, where a polynomial in the square serves (interpolated at Chebyshev points of 0 .. tan^2(pi/8); error
 * 3e-18). Without branches, so that four go side by side. */
static inline REAL NAME(angle)(REAL y, REAL x)
{
    REAL zero = x * 0, size = SELECT(x < zero, -x, x) + SQRT(x * x + y * y);
    REAL t = SELECT(size > zero, y / size, zero);
    t = t / (1 + SQRT(1 + t * t));
    REAL u = t * t;
    REAL p = 0x1.36fe6ceac2341p-5 - 0x1.23af4c132d343p-6 * u;
    p = -0x1.9c78017ec5211p-5 + u * p;
    p = 0x1.def98ad7a0823p-5 + u * p;
    p = -0x1.10ea166e4946dp-4 + u * p;
    p = 0x1.3b10f0618d2bap-4 + u * p;
    p = -0x1.745cf6458cd1ep-4 + u * p;
    p = 0x1.c71c70cb2e539p-4 + u * p;
    p = -0x1.2492492258f80p-3 + u * p;
    p = 0x1.999999999464bp-3 + u * p;
    p = -0x1.555555555552fp-2 + u * p;
    REAL a = 4 * (t + t * (u * p));
    REAL turned = SELECT(y < zero, -TAC_PI - a, TAC_PI - a);
    return SELECT(x < zero, turned, a);
}

/* Dihedral angle, 0 when flat, positive when the opposite vertices are behind the normals; n1, n2 the triangles'
 * normals (twice the areas long), e the edge, a and b the opposite vertices from the edge's start, *ee = |e|^2. */
static inline REAL NAME(hinge_angle)(const REAL x[4][3], REAL e[3], REAL a[3], REAL b[3], REAL n1[3], REAL n2[3],
                                     REAL *ee)
{
    REAL c[3];
    for (int k = 0; k < 3; k++) {
        e[k] = x[1][k] - x[0][k];
        a[k] = x[2][k] - x[0][k];
        b[k] = x[3][k] - x[0][k];
    }
    NAME(cross)(n1, e, a);
    NAME(cross)(n2, b, e);
    NAME(cross)(c, n1, n2);
    *ee = NAME(dot)(e, e);
    REAL length = SQRT(*ee), zero = length * 0;
    return NAME(angle)(SELECT(length > zero, NAME(dot)(c, e) / length, zero), NAME(dot)(n1, n2));
}

/* Impulses on all four vertices. hk: twice the step times the stiffness. */
static inline void NAME(hinge)(REAL rest, REAL hk, const REAL x[4][3], REAL j[4][3])
{
    REAL e[3], a[3], b[3], n1[3], n2[3], ee;
    REAL theta = NAME(hinge_angle)(x, e, a, b, n1, n2, &ee);
    REAL nn1 = NAME(dot)(n1, n1), nn2 = NAME(dot)(n2, n2), zero = ee * 0;
    /* d theta/d x2 = -|e| n1/|n1|^2, likewise x3; the edge's vertices balance force and torque.  A collapsed triangle
     * has no normal to push along; a NaN would spread. */
    REAL f = hk * (theta - rest) * SQRT(ee), least = SELECT(nn1 < nn2, nn1, nn2);
    REAL one = zero + 1, ok1 = SELECT(least > zero, nn1, one), ok2 = SELECT(least > zero, nn2, one);
    REAL ok_e = SELECT(least > zero, ee, one);
    f = SELECT(least > zero, f, zero);
    REAL f2 = f / ok1, f3 = f / ok2, s = NAME(dot)(a, e) / ok_e, t = NAME(dot)(b, e) / ok_e;
    for (int k = 0; k < 3; k++) {
        j[2][k] = f2 * n1[k];
        j[3][k] = f3 * n2[k];
        j[1][k] = -(s * j[2][k] + t * j[3][k]);
        j[0][k] = -(j[1][k] + j[2][k] + j[3][k]);
    }
}
