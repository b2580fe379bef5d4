/* hinge.c: computes the bending of discrete shells, V = k 3|e|^2/(A1+A2) (theta - theta0)^2 (Grinspun et al. 2003,
 * section 4.1), with damping and plasticity.  Derivatives of the angle: docs/reference/elements.md. */
#include "elements/hinge.h"
#include "elements/kernels.h"
#include "partition/part.h"
#include <string.h>

static bool make_hinge(const struct tac_scene *s, const struct tac_material *m, const tac_lid *v, void *record,
                       struct tac_element_bound *bound)
{
    struct tac_hinge *hinge = record;
    double x[4][3], j[4][3], length[4], sum = 0;
    struct tac_one_fold f;
    if (!m->bend)
        return false;
    tac_scene_gather_rest(s, v, 4, x);
    tac_one_fold(x, &f);
    const double angle = tac_one_fold_angle(&f);
    const double area = .5 * (sqrt(tac_dot(f.n1, f.n1)) + sqrt(tac_dot(f.n2, f.n2)));
    const double stiffness = m->bend_stiffness * 3 * f.ee / area;
    *hinge = (struct tac_hinge){{v[0], v[1], v[2], v[3]}, stiffness, m->rest_flat ? 0 : angle};
    /* K = 2 k grad grad^T; the gradient is the impulse of a unit bend, over 2 k. */
    tac_one_hinge(angle - 1, 2 * stiffness, x, j);
    for (int k = 0; k < 4; k++)
        sum += length[k] = sqrt(tac_dot(j[k], j[k]));
    for (int k = 0; k < 4; k++)
        bound->row[k] = stiffness > 0 ? length[k] * sum / (2 * stiffness) : 0;
    tac_one_hinge(angle - 1, 1, x, j);
    for (int k = 0; k < 4; k++)
        bound->gradient2 += tac_dot(j[k], j[k]);
    return true;
}

static double find_hinge_energy(const void *record, const double *rest, const double (*x)[3])
{
    return tac_hinge_potential(record, rest, x);
}

/* Returns theta less its rest value, rad. */
static double bend_of(const struct tac_hinge *g, const double *rest, const struct tac_one_fold *f)
{
    const double theta = tac_one_fold_angle(f);
    return rest ? tac_one_turn(theta - *rest) : theta - g->angle;
}

static void push_hinge(const void *record, const double *rest, double step, const double (*x)[3], double (*j)[3])
{
    const struct tac_hinge *g = record;
    struct tac_one_fold f;
    tac_one_fold(x, &f);
    tac_one_fold_push(2 * step * g->stiffness * bend_of(g, rest, &f), &f, j);
}

/* Second derivatives of the angle by an opposite vertex, at o from the edge's start, twice, and by o and the edge's
 * end: oo and oe (rows o).  n = e x o, and with sign = -1 for n = o x e.  With (1 - 2 nn^T/|n|^2) = R:
 *
 *     d theta/do = -|e| n/|n|^2,  oo = -sign |e|/|n|^2 R [e]x,  oe = sign |e|/|n|^2 R [o]x - n e^T/(|n|^2 |e|) */
static void bend_side(const double e[3], double ee, const double o[3], const double n[3], double sign, double oo[3][3],
                      double oe[3][3])
{
    const double nn = tac_dot(n, n), l = sqrt(ee), f = l / nn;
    const double ex[3][3] = {{0, -e[2], e[1]}, {e[2], 0, -e[0]}, {-e[1], e[0], 0}};
    const double ox[3][3] = {{0, -o[2], o[1]}, {o[2], 0, -o[0]}, {-o[1], o[0], 0}};
    double ne[3], no[3]; /* n^T [e]x and n^T [o]x */
    for (int c = 0; c < 3; c++) {
        ne[c] = n[0] * ex[0][c] + n[1] * ex[1][c] + n[2] * ex[2][c];
        no[c] = n[0] * ox[0][c] + n[1] * ox[1][c] + n[2] * ox[2][c];
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            oo[r][c] = -sign * f * (ex[r][c] - 2 * n[r] * ne[c] / nn);
            oe[r][c] = sign * f * (ox[r][c] - 2 * n[r] * no[c] / nn) - n[r] * e[c] / (nn * l);
        }
}

/* The same by the edge's end twice: with s = o.e/|e|^2 and g = d theta/do its part of d theta/de is -s g. */
static void add_edge(const double e[3], double ee, const double o[3], const double g[3], const double (*oe)[3],
                     double edge[3][3])
{
    const double s = tac_dot(o, e) / ee;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            edge[r][c] -= g[r] * ((o[c] - 2 * s * e[c]) / ee) + s * oe[r][c];
}

/* H = 2 k [grad grad^T + (theta - theta0) second derivatives of theta]. */
static void find_hinge_hessian(const void *record, const double *rest, const double (*x)[3], double *h)
{
    const struct tac_hinge *g = record;
    struct tac_one_fold f;
    tac_one_fold(x, &f);
    const double bend = bend_of(g, rest, &f);
    double grad[4][3], aa[3][3], ae[3][3], bb[3][3], be[3][3], edge[3][3] = {{0}};
    memset(h, 0, 144 * sizeof *h);
    /* The angle's gradient is the impulse of -1. */
    if (!(tac_one_fold_push(-1, &f, grad) > 0))
        return; /* a triangle has collapsed: no angle, and no force */
    bend_side(f.e, f.ee, f.a, f.n1, 1, aa, ae);
    bend_side(f.e, f.ee, f.b, f.n2, -1, bb, be);
    add_edge(f.e, f.ee, f.a, grad[2], ae, edge);
    add_edge(f.e, f.ee, f.b, grad[3], be, edge);
    const double k2 = 2 * g->stiffness;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double *at = &h[12 * r + c]; /* the upper triangle of blocks */
            at[12 * 3 + 3] = k2 * (grad[1][r] * grad[1][c] + bend * edge[r][c]);
            at[12 * 3 + 6] = k2 * (grad[1][r] * grad[2][c] + bend * ae[c][r]);
            at[12 * 3 + 9] = k2 * (grad[1][r] * grad[3][c] + bend * be[c][r]);
            at[12 * 6 + 6] = k2 * (grad[2][r] * grad[2][c] + bend * aa[r][c]);
            at[12 * 6 + 9] = k2 * (grad[2][r] * grad[3][c]); /* theta's is 0 */
            at[12 * 9 + 9] = k2 * (grad[3][r] * grad[3][c] + bend * bb[r][c]);
        }
    tac_element_complete(4, h);
}

/* ---- without negative curvature ---- */

/* What the angle's second derivatives are to one triangle: the quadratic form
 *
 *     dx . H dx = alpha A + beta B,  A = 2/h W.t + rho,  B = 2/h W.m
 *
 * t is along the edge, m across it in the triangle's plane, n its normal, h its height.  alpha and beta are how n turns
 * about m and t: slopes of the displacements along n.  W is how the opposite vertex moves against its foot on the edge,
 * rho how the edge turns in the plane.  So alpha and beta feel displacements along n only, A and B those in the plane
 * only, and of the four eigenvalues that the form has two are the others' negatives.  With the matrices U of
 * (alpha, beta) and V of (A, B) as columns its positive part is
 *
 *     1/4 [U; V X^-1] X [U; V X^-1]^T,  X (U^T U) X = V^T V
 *
 * and X is the geometric mean of (U^T U)^-1 and V^T V. */
struct side {
    double row[2][3][3]; /* two vectors over the edge's ends and the opposite vertex: the form's part is sum v v^T */
};

/* X R with R R^T = X is not needed as such: rows of (U R, V X^-1 R) = (U R, V R^-T). */
static void make_side(const double e[3], double ee, const double o[3], const double n[3], double times,
                      struct side *out)
{
    const double nn = tac_dot(n, n), l = sqrt(ee), size = sqrt(nn), h = size / l, s = tac_dot(o, e) / ee;
    const double c[3] = {s - 1, -s, 1}, d[3] = {-1 / l, 1 / l, 0}, skew = 1 - 2 * s, square = 1.5 + .5 * skew * skew;
    /* Grams of (alpha, beta) and of (A, B), and the roots of their determinants. */
    const double u[3] = {2 / ee, square / (h * h), skew / (l * h)}, root_u = sqrt(3) / (l * h);
    const double vb = 4 * square / (h * h), v[3] = {vb + 2 / ee, vb, 2 * skew / (h * l)};
    const double root_v = sqrt(16 * square * square / (h * h) + 12 / ee) / h;
    /* (U^T U)^-1 over the root of its determinant, and V^T V over its own, have a sum Y; X = Y times the root of both
     * roots over that of det Y. */
    const double y[3] = {u[1] / root_u + v[0] / root_v, u[0] / root_u + v[1] / root_v, v[2] / root_v - u[2] / root_u};
    const double scale = sqrt(root_v / root_u / (y[0] * y[1] - y[2] * y[2]));
    const double r00 = sqrt(scale * y[0]), r10 = scale * y[2] / r00, r11 = sqrt(scale * y[1] - r10 * r10);
    const double factor = .5 * sqrt(fabs(times)), flip = times < 0 ? -1 : 1;
    double t[3], m[3], normal[3];
    for (int k = 0; k < 3; k++) {
        t[k] = e[k] / l;
        normal[k] = n[k] / size;
        m[k] = (o[k] - s * e[k]) / h;
    }
    for (int i = 0; i < 3; i++) {
        const double alpha = d[i], beta = c[i] / h, w = 2 * c[i] / h;
        /* Rows of U R and V R^-T at this node: V has (w t + d m) for A and w m for B. */
        const double u0 = alpha * r00 + beta * r10, u1 = beta * r11;
        const double a0 = 1 / r00, b0 = -r10 / (r00 * r11), b1 = 1 / r11;
        for (int k = 0; k < 3; k++) {
            const double va = w * t[k] + d[i] * m[k], vb_k = w * m[k];
            out->row[0][i][k] = factor * (u0 * normal[k] + flip * (a0 * va));
            out->row[1][i][k] = factor * (u1 * normal[k] + flip * (b0 * va + b1 * vb_k));
        }
    }
}

/* 2 k grad grad^T, and of the rest each triangle's positive part. */
static void find_hinge_convex(const void *record, const double *rest, const double (*x)[3], double *h)
{
    const struct tac_hinge *g = record;
    struct tac_one_fold f;
    struct side side[2];
    double grad[4][3];
    tac_one_fold(x, &f);
    memset(h, 0, 144 * sizeof *h);
    if (!(tac_one_fold_push(-1, &f, grad) > 0))
        return; /* a triangle has collapsed: no angle, and no force */
    const double k2 = 2 * g->stiffness, bend = k2 * bend_of(g, rest, &f);
    make_side(f.e, f.ee, f.a, f.n1, bend, &side[0]);
    make_side(f.e, f.ee, f.b, f.n2, bend, &side[1]);
    for (int i = 1; i < 4; i++)
        for (int j = i; j < 4; j++)
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
                    double sum = k2 * (grad[i][r] * grad[j][c]);
                    for (int t = 0; t < 2; t++) { /* node 1 is the edge's end, node 2 + t opposite */
                        const int p = i == 1 ? 1 : i == 2 + t ? 2 : -1, q = j == 1 ? 1 : j == 2 + t ? 2 : -1;
                        if (p > 0 && q > 0)
                            sum += side[t].row[0][p][r] * side[t].row[0][q][c] +
                                   side[t].row[1][p][r] * side[t].row[1][q][c];
                    }
                    h[12 * (3 * i + r) + 3 * j + c] = sum;
                }
    tac_element_complete(4, h);
}

/* ---- damping and plasticity ---- */

static double find_hinge_damping(const struct tac_material *m)
{
    return m->bend_damping;
}

static double find_hinge_yield(const struct tac_material *m)
{
    return m->bend_yield;
}

static void find_hinge_strain(const void *record, const double (*x)[3], double *angle)
{
    struct tac_one_fold f;
    tac_one_fold(x, &f);
    *angle = tac_one_fold_angle(&f);
}

static double bound_hinge_rate(const void *record, const struct tac_element_bound *bound, const double *w)
{
    const struct tac_hinge *g = record;
    double most = 0;
    for (int i = 0; i < 4; i++)
        most = fmax(most, w[i]);
    return 2 * g->stiffness * most * bound->gradient2;
}

static void make_hinge_damper(const void *record, double seconds, double slack, const struct tac_element_bound *bound,
                              void *damper)
{
    const struct tac_hinge *g = record;
    *(struct tac_hinge_damper *)damper = (struct tac_hinge_damper){
        {g->v[0], g->v[1], g->v[2], g->v[3]}, 2 * seconds * g->stiffness, slack * bound->gradient2};
}

static void damp_hinge(const void *damper, double *last, const double (*x)[3], double (*j)[3])
{
    const struct tac_hinge_damper *g = damper;
    struct tac_one_fold f;
    struct tac_one_bend b;
    tac_one_fold(x, &f);
    tac_one_bend(&f, &b);
    tac_one_hinge_damper(g->rate, g->most, &b, tac_one_fold_angle(&f), last, j);
}

/* A hinge that is bent beyond its limit at t = 0 has yielded before that. */
static double start_hinge_rest(const void *record, double limit, const double *there, double *rest)
{
    const struct tac_hinge *g = record;
    const double angle = g->angle;
    double flow;
    *rest = tac_one_turn(tac_one_follow(angle + tac_one_turn(*there - angle), angle, limit, &flow));
    return limit;
}

static bool is_hinge_memory_sensible(const double *angle)
{
    return fabs(*angle) < 4; /* pi, rounded */
}

static const struct tac_element_memory memory = {
    .angle = true,
    .damping = find_hinge_damping,
    .yield = find_hinge_yield,
    .strain = find_hinge_strain,
    .rate = bound_hinge_rate,
    .damper_size = sizeof(struct tac_hinge_damper),
    .make_damper = make_hinge_damper,
    .damp = damp_hinge,
    .tick_dampers = tac_hinge_tick_dampers,
    .start = start_hinge_rest,
    .tick_plastic = tac_hinge_tick_plastic,
    .sensible = is_hinge_memory_sensible,
};

const struct tac_element tac_element_hinge = {
    .keys = {.name = "hinge"},
    .noun = "hinge of edge",
    .stencils = TAC_STENCILS_HINGES,
    .column = TAC_ENERGY_BEND,
    .nodes = 4,
    .width = 1,
    .size = sizeof(struct tac_hinge),
    .cost = 4,
    .window_weight = 4,
    .make = make_hinge,
    .energy = find_hinge_energy,
    .push = push_hinge,
    .hessian = find_hinge_hessian,
    .convex = find_hinge_convex,
    .tick = tac_hinge_tick,
    .memory = &memory,
};
