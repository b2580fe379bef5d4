/* kernel_body.h: gradient of each elastic potential times a step, written once and compiled twice: for one element
 * (REAL = double) and for four side by side (REAL = a vector of four).  Arithmetic is elementwise, so both give the
 * same bits.  No include guard: kernels.h includes it with REAL, NAME, SELECT and SQRT defined.
 *
 * NAME(x) stands for tac_one_x and tac_four_x, so a search for a name of a function does not find its definition. The
 * functions are:
 *
 * tac_one_dot, tac_four_dot, tac_one_cross, tac_four_cross, tac_one_length, tac_four_length, tac_one_pull,
 * tac_four_pull, tac_one_spring, tac_four_spring, tac_one_cst_strain, tac_four_cst_strain, tac_one_cst_push,
 * tac_four_cst_push, tac_one_cst, tac_four_cst, tac_one_half_across, tac_four_half_across, tac_one_half_tangent,
 * tac_four_half_tangent, tac_one_halved_across, tac_four_halved_across, tac_one_series_head, tac_four_series_head,
 * tac_one_series_middle, tac_four_series_middle, tac_one_series_tail, tac_four_series_tail, tac_one_whole_angle,
 * tac_four_whole_angle, tac_one_angle, tac_four_angle, tac_one_fold_triangles, tac_four_fold_triangles,
 * tac_one_fold_rise, tac_four_fold_rise, tac_one_fold_point, tac_four_fold_point, tac_one_fold, tac_four_fold,
 * tac_one_fold_angle, tac_four_fold_angle, tac_one_bend_triangles, tac_four_bend_triangles, tac_one_bend_shares,
 * tac_four_bend_shares, tac_one_bend, tac_four_bend, tac_one_bend_parts, tac_four_bend_parts, tac_one_bend_impulses,
 * tac_four_bend_impulses, tac_one_bend_push, tac_four_bend_push, tac_one_fold_push, tac_four_fold_push, tac_one_hinge,
 * tac_four_hinge, tac_one_turn, tac_four_turn, tac_one_spring_damper, tac_four_spring_damper, tac_one_cst_damper,
 * tac_four_cst_damper, tac_one_hinge_damper, tac_four_hinge_damper, tac_one_follow, tac_four_follow,
 * tac_one_plastic_spring, tac_four_plastic_spring, tac_one_plastic_cst, tac_four_plastic_cst, tac_one_plastic_hinge,
 * tac_four_plastic_hinge.
 *
 * The structures are: tac_one_fold, tac_four_fold, tac_one_bend, tac_four_bend.
 */

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

/* From vertex 0 to 1, and how far. */
static inline REAL NAME(length)(const REAL x[2][3], REAL d[3])
{
    for (int k = 0; k < 3; k++)
        d[k] = x[1][k] - x[0][k];
    return SQRT(NAME(dot)(d, d));
}

/* Impulse on vertex 0 of a spring that is l long along d; vertex 1 gets the opposite. hk: step times stiffness. */
static inline void NAME(pull)(REAL length, REAL hk, REAL l, const REAL d[3], REAL j[3])
{
    REAL zero = l * 0;
    REAL f = SELECT(l > zero, hk * (l - length) / l, zero); /* no direction at zero length */
    for (int k = 0; k < 3; k++)
        j[k] = f * d[k];
}

static inline void NAME(spring)(REAL length, REAL hk, const REAL x[2][3], REAL j[3])
{
    REAL d[3];
    REAL l = NAME(length)(x, d);
    NAME(pull)(length, hk, l, d, j);
}

/* Deformation gradient's columns f0, f1, and Green strain e00, e11, e01. */
static inline void NAME(cst_strain)(REAL b00, REAL b01, REAL b11, const REAL x[3][3], REAL f0[3], REAL f1[3], REAL e[3])
{
    for (int k = 0; k < 3; k++) {
        REAL e1 = x[1][k] - x[0][k], e2 = x[2][k] - x[0][k];
        f0[k] = e1 * b00;
        f1[k] = e1 * b01 + e2 * b11;
    }
    e[0] = .5 * (NAME(dot)(f0, f0) - 1);
    e[1] = .5 * (NAME(dot)(f1, f1) - 1);
    e[2] = .5 * NAME(dot)(f0, f1);
}

/* Impulses on all three vertices for strain e. h times the two moduli: ha, hb. */
static inline void NAME(cst_push)(REAL b00, REAL b01, REAL b11, REAL ha, REAL hb, const REAL f0[3], const REAL f1[3],
                                  const REAL e[3], REAL j[3][3])
{
    /* -h times the second Piola-Kirchhoff stress. */
    REAL trace = hb * (e[0] + e[1]);
    REAL s00 = -(ha * e[0] + trace), s11 = -(ha * e[1] + trace), s01 = -(ha * e[2]);
    for (int k = 0; k < 3; k++) {
        REAL p0 = f0[k] * s00 + f1[k] * s01, p1 = f0[k] * s01 + f1[k] * s11;
        j[1][k] = p0 * b00 + p1 * b01;
        j[2][k] = p1 * b11;
        j[0][k] = -(j[1][k] + j[2][k]);
    }
}

static inline void NAME(cst)(REAL b00, REAL b01, REAL b11, REAL ha, REAL hb, const REAL x[3][3], REAL j[3][3])
{
    REAL f0[3], f1[3], e[3];
    NAME(cst_strain)(b00, b01, b11, x, f0, f1, e);
    NAME(cst_push)(b00, b01, b11, ha, hb, f0, f1, e, j);
}

/* Angle of the point (x, y), -pi..pi, to a few ulp; 0 at the origin.  Halved twice it is at most pi/8, where a
 * polynomial in the square of its tangent serves (interpolated at Chebyshev points of 0 .. tan^2(pi/8); error 3e-18).
 * Without branches, so that four go side by side.  In steps of one root, one division or a part of the polynomial each,
 * because each waits for the one before; loops take them for different elements at a time (hinge.c).
 *
 * The tangent of half the angle, of |x| in the place of x, is y / (r + |x|); the denominator. */
static inline REAL NAME(half_across)(REAL y, REAL x)
{
    REAL zero = x * 0;
    return SELECT(x < zero, -x, x) + SQRT(x * x + y * y);
}

static inline REAL NAME(half_tangent)(REAL y, REAL half_across)
{
    REAL zero = y * 0;
    return SELECT(half_across > zero, y / half_across, zero);
}

/* The tangent of half of an angle whose tangent is t is t over this. */
static inline REAL NAME(halved_across)(REAL t)
{
    return 1 + SQRT(1 + t * t);
}

/* The polynomial in u = t^2 in three parts, and the angle from it; t is the tangent of its quarter. */
static inline REAL NAME(series_head)(REAL t)
{
    REAL u = t * t;
    REAL p = 0x1.36fe6ceac2341p-5 - 0x1.23af4c132d343p-6 * u;
    p = -0x1.9c78017ec5211p-5 + u * p;
    return 0x1.def98ad7a0823p-5 + u * p;
}

static inline REAL NAME(series_middle)(REAL t, REAL p)
{
    REAL u = t * t;
    p = -0x1.10ea166e4946dp-4 + u * p;
    p = 0x1.3b10f0618d2bap-4 + u * p;
    p = -0x1.745cf6458cd1ep-4 + u * p;
    return 0x1.c71c70cb2e539p-4 + u * p;
}

static inline REAL NAME(series_tail)(REAL t, REAL p)
{
    REAL u = t * t;
    p = -0x1.2492492258f80p-3 + u * p;
    p = 0x1.999999999464bp-3 + u * p;
    p = -0x1.555555555552fp-2 + u * p;
    return 4 * (t + t * (u * p));
}

/* a: the angle of (|x|, y). */
static inline REAL NAME(whole_angle)(REAL a, REAL y, REAL x)
{
    REAL zero = x * 0;
    REAL turned = SELECT(y < zero, -TAC_PI - a, TAC_PI - a);
    return SELECT(x < zero, turned, a);
}

static inline REAL NAME(angle)(REAL y, REAL x)
{
    REAL half = NAME(half_tangent)(y, NAME(half_across)(y, x));
    REAL t = half / NAME(halved_across)(half);
    REAL series = NAME(series_middle)(t, NAME(series_head)(t));
    return NAME(whole_angle)(NAME(series_tail)(t, series), y, x);
}

/* Two triangles at an edge: the edge e, the opposite vertices a and b from its start, the triangles' normals n1, n2
 * (twice the areas long), ee = |e|^2, and turn and across, from which fold_point() makes length = |e| and the point
 * (across, rise) whose angle is the dihedral one. */
struct NAME(fold) {
    REAL e[3], a[3], b[3], n1[3], n2[3], ee, turn, across, length, rise;
};

/* All but length and rise, which take a root and a division. */
static inline void NAME(fold_triangles)(const REAL x[4][3], struct NAME(fold) * f)
{
    REAL c[3];
    for (int k = 0; k < 3; k++) {
        f->e[k] = x[1][k] - x[0][k];
        f->a[k] = x[2][k] - x[0][k];
        f->b[k] = x[3][k] - x[0][k];
    }
    NAME(cross)(f->n1, f->e, f->a);
    NAME(cross)(f->n2, f->b, f->e);
    NAME(cross)(c, f->n1, f->n2);
    f->ee = NAME(dot)(f->e, f->e);
    f->turn = NAME(dot)(c, f->e);
    f->across = NAME(dot)(f->n1, f->n2);
}

static inline REAL NAME(fold_rise)(REAL turn, REAL length)
{
    REAL zero = length * 0;
    return SELECT(length > zero, turn / length, zero);
}

/* The rest. */
static inline void NAME(fold_point)(struct NAME(fold) * f)
{
    f->length = SQRT(f->ee);
    f->rise = NAME(fold_rise)(f->turn, f->length);
}

static inline void NAME(fold)(const REAL x[4][3], struct NAME(fold) * f)
{
    NAME(fold_triangles)(x, f);
    NAME(fold_point)(f);
}

/* Dihedral angle, 0 when flat, positive when the opposite vertices are behind the normals. */
static inline REAL NAME(fold_angle)(const struct NAME(fold) * f)
{
    return NAME(angle)(f->rise, f->across);
}

/* What the gradient of a fold's angle follows from: its normals, their squares, |e|, and where along the edge the
 * opposite vertices are, as shares of it.  `least`: the smaller |n|^2, 0 if a triangle has collapsed: it has no normal
 * to push along, and a NaN would spread. */
struct NAME(bend) {
    REAL n1[3], n2[3], nn1, nn2, least, length, share_a, share_b;
};

/* All but length; the shares have to be divided by |e|^2 afterwards. */
static inline void NAME(bend_triangles)(const struct NAME(fold) * f, struct NAME(bend) * b)
{
    for (int k = 0; k < 3; k++) {
        b->n1[k] = f->n1[k];
        b->n2[k] = f->n2[k];
    }
    b->nn1 = NAME(dot)(f->n1, f->n1);
    b->nn2 = NAME(dot)(f->n2, f->n2);
    b->least = SELECT(b->nn1 < b->nn2, b->nn1, b->nn2);
    b->share_a = NAME(dot)(f->a, f->e);
    b->share_b = NAME(dot)(f->b, f->e);
}

/* The shares. */
static inline void NAME(bend_shares)(REAL ee, struct NAME(bend) * b)
{
    REAL zero = ee * 0, ok_e = SELECT(b->least > zero, ee, zero + 1);
    b->share_a = b->share_a / ok_e;
    b->share_b = b->share_b / ok_e;
}

static inline void NAME(bend)(const struct NAME(fold) * f, struct NAME(bend) * b)
{
    NAME(bend_triangles)(f, b);
    NAME(bend_shares)(f->ee, b);
    b->length = f->length;
}

/* `size` times the gradient of the angle, on the two opposite vertices as parts of n1 and n2, and then on all four:
 * d theta/d x2 = -|e| n1/|n1|^2, likewise x3; the edge's vertices balance force and torque. */
static inline void NAME(bend_parts)(REAL size, const struct NAME(bend) * b, REAL part[2])
{
    REAL zero = b->least * 0, one = zero + 1;
    size = SELECT(b->least > zero, size * b->length, zero);
    part[0] = size / SELECT(b->least > zero, b->nn1, one);
    part[1] = size / SELECT(b->least > zero, b->nn2, one);
}

static inline void NAME(bend_impulses)(const REAL part[2], const struct NAME(bend) * b, REAL j[4][3])
{
    for (int k = 0; k < 3; k++) {
        j[2][k] = part[0] * b->n1[k];
        j[3][k] = part[1] * b->n2[k];
        j[1][k] = -(b->share_a * j[2][k] + b->share_b * j[3][k]);
        j[0][k] = -(j[1][k] + j[2][k] + j[3][k]);
    }
}

static inline void NAME(bend_push)(REAL size, const struct NAME(bend) * b, REAL j[4][3])
{
    REAL part[2];
    NAME(bend_parts)(size, b, part);
    NAME(bend_impulses)(part, b, j);
}

/* `size` times the gradient of the angle, on all four vertices. The smaller |n|^2, 0 if a triangle has collapsed. */
static inline REAL NAME(fold_push)(REAL size, const struct NAME(fold) * f, REAL j[4][3])
{
    struct NAME(bend) b;
    NAME(bend)(f, &b);
    NAME(bend_push)(size, &b, j);
    return b.least;
}

/* Impulses on all four vertices. hk: twice the step times the stiffness. */
static inline void NAME(hinge)(REAL rest, REAL hk, const REAL x[4][3], REAL j[4][3])
{
    struct NAME(fold) f;
    NAME(fold)(x, &f);
    NAME(fold_push)(hk * (NAME(fold_angle)(&f) - rest), &f, j);
}

/* A difference of two angles of -pi..pi, less a whole turn where that is shorter. */
static inline REAL NAME(turn)(REAL angle)
{
    REAL zero = angle * 0, pi = zero + TAC_PI;
    angle = SELECT(angle > pi, angle - 2 * TAC_PI, angle);
    return SELECT(angle < -pi, angle + 2 * TAC_PI, angle);
}

/* ---- damping: the same impulses from the change of strain since the last tick; *last becomes this tick's ---- */

/* rate: damping times stiffness. */
static inline void NAME(spring_damper)(REAL rate, const REAL x[2][3], REAL *last, REAL j[3])
{
    REAL d[3];
    REAL l = NAME(length)(x, d);
    NAME(pull)(*last, rate, l, d, j);
    *last = l;
}

/* a, b: damping times the moduli. The largest stretch squared beyond which the period would be too long is `most`: from
 * there on the force grows no more with the stretch. */
static inline void NAME(cst_damper)(REAL b00, REAL b01, REAL b11, REAL a, REAL b, REAL most, const REAL x[3][3],
                                    REAL last[3], REAL j[3][3])
{
    REAL f0[3], f1[3], e[3], change[3];
    NAME(cst_strain)(b00, b01, b11, x, f0, f1, e);
    for (int k = 0; k < 3; k++) {
        change[k] = e[k] - last[k];
        last[k] = e[k];
    }
    REAL skew = e[0] - e[1], one = skew * 0 + 1;
    REAL stretch2 = 1 + (e[0] + e[1]) + SQRT(skew * skew + 4 * e[2] * e[2]);
    REAL less = SELECT(stretch2 > most, most / stretch2, one);
    NAME(cst_push)(b00, b01, b11, less * a, less * b, f0, f1, change, j);
}

/* rate: twice damping times stiffness. most: likewise, of the angle's gradient squared, 1/m^2. */
static inline void NAME(hinge_damper)(REAL rate, REAL most, const struct NAME(bend) * b, REAL theta, REAL *last,
                                      REAL j[4][3])
{
    REAL zero = b->least * 0, one = zero + 1, size;
    NAME(bend_push)(one, b, j);
    REAL push = rate * NAME(turn)(theta - *last);
    *last = SELECT(b->least > zero, theta, *last); /* a collapsed hinge has no angle */
    size = (NAME(dot)(j[0], j[0]) + NAME(dot)(j[1], j[1])) + (NAME(dot)(j[2], j[2]) + NAME(dot)(j[3], j[3]));
    push = push * SELECT(size > most, most / size, one);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            j[i][k] = push * j[i][k];
}

/* ---- plasticity: where the strain is further from its rest than `yield`, the rest follows ---- */

/* A rest value for this strain; *flow: how far it moved. */
static inline REAL NAME(follow)(REAL strain, REAL rest, REAL yield, REAL *flow)
{
    REAL off = strain - rest, zero = off * 0;
    REAL over = SELECT(off > yield, off - yield, zero), under = SELECT(off < -yield, -yield - off, zero);
    REAL moved = SELECT(off > yield, strain - yield, SELECT(off < -yield, strain + yield, rest));
    *flow = over + under;
    return moved;
}

/* Flow of a length *rest, then the impulse on vertex 0. yield: m. *loss: the yield force times the flow, J.  Not the
 * drop of the potential: what the kicks take out of the motion is that to second order in the period. */
static inline void NAME(plastic_spring)(REAL stiffness, REAL yield, REAL h, const REAL x[2][3], REAL *rest, REAL j[3],
                                        REAL *loss)
{
    REAL d[3], flow;
    REAL l = NAME(length)(x, d);
    *rest = NAME(follow)(l, *rest, yield, &flow);
    *loss = stiffness * yield * flow;
    NAME(pull)(*rest, h * stiffness, l, d, j);
}

/* Flow of the strain at rest: principal values of e - rest beyond +-yield follow. */
static inline void NAME(plastic_cst)(REAL b00, REAL b01, REAL b11, REAL a, REAL b, REAL yield, REAL h,
                                     const REAL x[3][3], REAL rest[3], REAL j[3][3], REAL *loss)
{
    REAL f0[3], f1[3], e[3], d[3], kept[3];
    NAME(cst_strain)(b00, b01, b11, x, f0, f1, e);
    for (int k = 0; k < 3; k++)
        d[k] = e[k] - rest[k];
    REAL mean = .5 * (d[0] + d[1]), half = .5 * (d[0] - d[1]), zero = mean * 0;
    REAL radius = SQRT(half * half + d[2] * d[2]), high = mean + radius, low = mean - radius;
    REAL high_kept = SELECT(high > yield, yield, SELECT(high < -yield, -yield, high));
    REAL low_kept = SELECT(low > yield, yield, SELECT(low < -yield, -yield, low));
    REAL less = SELECT(radius > zero, .5 * (high_kept - low_kept) / radius, zero);
    REAL middle = .5 * (high_kept + low_kept);
    kept[0] = middle + less * half;
    kept[1] = middle - less * half;
    kept[2] = less * d[2];
    for (int k = 0; k < 3; k++) {
        kept[k] = SELECT(high > yield, kept[k], SELECT(low < -yield, kept[k], d[k]));
        rest[k] = SELECT(high > yield, e[k] - kept[k], SELECT(low < -yield, e[k] - kept[k], rest[k]));
    }
    REAL pressure = b * (high_kept + low_kept);
    *loss = (a * high_kept + pressure) * (high - high_kept) + (a * low_kept + pressure) * (low - low_kept);
    NAME(cst_push)(b00, b01, b11, h * a, h * b, f0, f1, kept, j);
}

/* Flow of an angle; of its turns the one nearest to the rest counts. */
static inline void NAME(plastic_hinge)(REAL stiffness, REAL yield, REAL h, const struct NAME(bend) * b, REAL theta,
                                       REAL *rest, REAL j[4][3], REAL *loss)
{
    REAL zero = b->least * 0, flow;
    REAL near = *rest + NAME(turn)(theta - *rest);
    REAL moved = NAME(follow)(near, *rest, yield, &flow);
    NAME(bend_push)(2 * h * stiffness * (near - moved), b, j);
    *rest = SELECT(b->least > zero, NAME(turn)(moved), *rest);
    *loss = SELECT(b->least > zero, 2 * stiffness * yield * flow, zero);
}
