/* barrier.c: computes the barrier and the second derivatives of squared distances (docs/reference/implicit.md, The
 * barrier).
 *
 * A squared distance is a function of up to three vectors between vertices, r from the second primitive to the first
 * and u, v along edges: |r|^2 of two points, |r - (r.u / u.u) u|^2 of a point and a line, (r . u x v)^2 / |u x v|^2 of
 * a plane or of two lines.  Hessians are made for (r, u, v) and brought to the vertices, on which r, u, v depend
 * linearly.
 */
#include "contact/barrier.h"
#include <string.h>

#define TAC_PARALLEL 1e-3    /* of |e1|^2 |e2|^2 at rest (Li et al. 2020, Section 4.2) */
#define TAC_NO_SHARE 0x1p-50 /* weights that are 0 but for rounding */
#define TAC_SAME_LINE 1e-20  /* under this sin^2 two edges have no common normal that could be computed */

void tac_barrier(double s, double s_hat, double b[3])
{
    const double log_s = tac_log(s / s_hat), gap = s_hat - s;
    b[0] = -gap * gap * log_s;
    b[1] = gap * (2 * log_s - gap / s);
    b[2] = -2 * log_s + gap * (s_hat + 3 * s) / (s * s);
}

void tac_barrier_rough(int rough, double s, double s_hat, double b[3])
{
    if (rough == 0) {
        tac_barrier(s, s_hat, b);
        return;
    }
    const double log_s = tac_log(s / s_hat), gap = s_hat - s;
    b[0] = -s_hat * (rough == 1 ? gap : s_hat) * log_s;
    b[1] = s_hat * (rough == 1 ? log_s - gap / s : -s_hat / s);
    b[2] = s_hat * ((rough == 1 ? 1 / s : 0) + s_hat / (s * s));
}

double tac_barrier_parallel(const double rest[4][3])
{
    double u[3], v[3];
    tac_sub(u, rest[1], rest[0]);
    tac_sub(v, rest[3], rest[2]);
    return TAC_PARALLEL * tac_dot(u, u) * tac_dot(v, v);
}

bool tac_barrier_near(const struct tac_barrier_pair *p, const double x[4][3], struct tac_barrier_near *near)
{
    tac_near_pair(p->type, x, &near->at);
    if (!(near->at.d < p->radius + p->thickness))
        return false;
    const double s = (near->at.d - p->radius) * (near->at.d + p->radius);
    const double s_hat = p->thickness * (2 * p->radius + p->thickness);
    if (s > 0 && s < s_hat)
        tac_barrier_rough(p->rough, s, s_hat, near->b);
    else
        near->b[0] = near->b[1] = near->b[2] = s > 0 ? 0 : INFINITY;
    return true;
}

/* ---- the factor m ---- */

/* Computes m, dm/dc and d2m/dc2 with c = |e1 x e2|^2. */
static void evaluate_factor(const struct tac_barrier_pair *p, const double x[4][3], double m[3])
{
    m[0] = 1;
    m[1] = m[2] = 0;
    if (p->type == TAC_PAIR_EDGE_EDGE) {
        double u[3], v[3], n[3];
        tac_sub(u, x[1], x[0]);
        tac_sub(v, x[3], x[2]);
        tac_cross(n, u, v);
        const double c = tac_dot(n, n), z = c / p->parallel;
        if (c < p->parallel) {
            m[0] = z * (2 - z);
            m[1] = (2 - 2 * z) / p->parallel;
            m[2] = -2 / (p->parallel * p->parallel);
        }
    }
}

bool tac_barrier_is_mollified(const struct tac_barrier_pair *p, const double x[4][3])
{
    double u[3], v[3], n[3];
    tac_sub(u, x[1], x[0]);
    tac_sub(v, x[3], x[2]);
    tac_cross(n, u, v);
    return tac_dot(n, n) < p->parallel;
}

double tac_barrier_energy(const struct tac_barrier_pair *p, const double x[4][3], const struct tac_barrier_near *near)
{
    double m[3];
    evaluate_factor(p, x, m);
    return near->b[0] < INFINITY ? m[0] * near->b[0] : INFINITY;
}

/* dc/dx of c = |u x v|^2 for the edges' vertices. */
static void parallel_gradient(const double x[4][3], double g[4][3])
{
    double u[3], v[3];
    tac_sub(u, x[1], x[0]);
    tac_sub(v, x[3], x[2]);
    const double uu = tac_dot(u, u), vv = tac_dot(v, v), uv = tac_dot(u, v);
    for (int k = 0; k < 3; k++) {
        g[1][k] = 2 * (vv * u[k] - uv * v[k]);
        g[3][k] = 2 * (uu * v[k] - uv * u[k]);
        g[0][k] = -g[1][k];
        g[2][k] = -g[3][k];
    }
}

double tac_barrier_gradient(const struct tac_barrier_pair *p, const double x[4][3], const struct tac_barrier_near *near,
                            double gradient[4][3])
{
    double m[3];
    const int n = tac_pair_vertices(p->type);
    if (!(near->b[0] < INFINITY)) {
        memset(gradient, 0, 12 * sizeof(double));
        return INFINITY;
    }
    evaluate_factor(p, x, m);
    /* The weights of the nearest points do not change d to first order, so ds/dx_i = 2 d w_i n. */
    const double slope = 2 * near->at.d * m[0] * near->b[1];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            gradient[i][k] = slope * near->at.w[i] * near->at.n[k];
    if (m[1] != 0) {
        double c[4][3];
        parallel_gradient(x, c);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++)
                gradient[i][k] += near->b[0] * m[1] * c[i][k];
    }
    return -slope;
}

/* ---- second derivatives ---- */

/* Hessians for (r, u, v), 9 x 9: block (a, b) at rows 3 a, columns 3 b. */
static void set_symmetric(double h[81], int a, int b, int k, int l, double value)
{
    h[9 * (3 * a + k) + 3 * b + l] = value;
    h[9 * (3 * b + l) + 3 * a + k] = value;
}

static void point_point(double h[81])
{
    for (int k = 0; k < 3; k++)
        h[9 * k + k] = 2;
}

static void point_line(const double r[3], const double u[3], double h[81])
{
    const double uu = tac_dot(u, u), t = tac_dot(r, u) / uu;
    double y[3];
    for (int k = 0; k < 3; k++)
        y[k] = r[k] - t * u[k];
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) {
            const double same = k == l;
            set_symmetric(h, 0, 0, k, l, 2 * (same - u[k] * u[l] / uu));
            set_symmetric(h, 0, 1, k, l, -2 * (t * same + u[k] * (y[l] - t * u[l]) / uu));
            set_symmetric(
                h, 1, 1, k, l,
                2 * (t * t * same - (y[k] * y[l] - t * (y[k] * u[l] + u[k] * y[l]) + t * t * u[k] * u[l]) / uu));
        }
}

/* d2c/d(u, v)2 of c = |u x v|^2, added `times`. */
static void add_parallel(const double u[3], const double v[3], double times, double h[81])
{
    const double uu = tac_dot(u, u), vv = tac_dot(v, v), uv = tac_dot(u, v);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) {
            const double same = k == l;
            const double cross = times * 2 * (2 * u[k] * v[l] - v[k] * u[l] - uv * same);
            h[9 * (3 + k) + 3 + l] += times * 2 * (vv * same - v[k] * v[l]);
            h[9 * (6 + k) + 6 + l] += times * 2 * (uu * same - u[k] * u[l]);
            h[9 * (3 + k) + 6 + l] += cross;
            h[9 * (6 + l) + 3 + k] += cross;
        }
}

/* Of w^2 / c with w = r . u x v and c = |u x v|^2. */
static void fill_across(const double r[3], const double u[3], const double v[3], double h[81])
{
    double gw[9], gc[9] = {0};
    tac_cross(&gw[0], u, v);
    tac_cross(&gw[3], v, r);
    tac_cross(&gw[6], r, u);
    const double w = tac_dot(r, gw), c = tac_dot(gw, gw);
    const double uu = tac_dot(u, u), vv = tac_dot(v, v), uv = tac_dot(u, v), ratio = w / c;
    for (int k = 0; k < 3; k++) {
        gc[3 + k] = 2 * (vv * u[k] - uv * v[k]);
        gc[6 + k] = 2 * (uu * v[k] - uv * u[k]);
    }
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) {
            const double a = gw[i] - ratio * gc[i], b = gw[j] - ratio * gc[j];
            h[9 * i + j] = 2 * a * b / c;
        }
    /* d2w: for the pair (p, q) of r, u, v in cyclic order with the third vector z, d2w/dp dq = [z]x up to sign. */
    const double *vector[3] = {r, u, v};
    for (int p = 0; p < 3; p++) {
        const int q = (p + 1) % 3;
        const double *z = vector[(p + 2) % 3];
        const double cross[3][3] = {{0, z[2], -z[1]}, {-z[2], 0, z[0]}, {z[1], -z[0], 0}};
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++) {
                h[9 * (3 * p + k) + 3 * q + l] += 2 * ratio * cross[k][l];
                h[9 * (3 * q + l) + 3 * p + k] += 2 * ratio * cross[k][l];
            }
    }
    add_parallel(u, v, -ratio * ratio, h);
}

/* Defines r, u, v by the pair's vertices: vector a leads from from[a] to to[a]; unused: -1. */
struct frame {
    int from[3], to[3];
};

/* Adds `times` the Hessian h of (r, u, v) to that of the vertices. */
static void add_frame(const struct frame *f, const double h[81], double times, int n, double *out)
{
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            if (f->from[a] < 0 || f->from[b] < 0)
                continue;
            const int i[2] = {f->from[a], f->to[a]}, j[2] = {f->from[b], f->to[b]};
            for (int e = 0; e < 4; e++) {
                const double sign = (e >> 1) == (e & 1) ? times : -times;
                for (int k = 0; k < 3; k++)
                    for (int l = 0; l < 3; l++)
                        out[3 * n * (3 * i[e >> 1] + k) + 3 * j[e & 1] + l] += sign * h[9 * (3 * a + k) + 3 * b + l];
            }
        }
}

/* Chooses the case from the vertices that take part in the nearest points. Sets the frame; returns how many of r, u, v
 * the distance depends on. */
static int choose_frame(const struct tac_barrier_pair *p, const double x[4][3], const struct tac_barrier_near *near,
                        struct frame *f)
{
    int first[2] = {0, 0}, second[3] = {0, 0, 0}, m = 0, n = 0;
    const int split = tac_pair_first(p->type), all = tac_pair_vertices(p->type);
    for (int i = 0; i < all; i++)
        if (!(fabs(near->at.w[i]) > TAC_NO_SHARE))
            continue;
        else if (i < split)
            first[m++] = i;
        else
            second[n++] = i;
    *f = (struct frame){{second[0], -1, -1}, {first[0], -1, -1}};
    if (m == 1 && n == 1)
        return 1;
    if (m == 2 && n == 2) {
        double u[3], v[3], c[3];
        tac_sub(u, x[first[1]], x[first[0]]);
        tac_sub(v, x[second[1]], x[second[0]]);
        tac_cross(c, u, v);
        if (tac_dot(c, c) > TAC_SAME_LINE * tac_dot(u, u) * tac_dot(v, v)) {
            *f = (struct frame){{second[0], first[0], second[0]}, {first[0], first[1], second[1]}};
            return 3;
        }
        m = 1; /* on one line: the first's end and the other edge */
    }
    if (m == 2) { /* the line is the first primitive's: r from it to the point */
        *f = (struct frame){{first[0], first[0], -1}, {second[0], first[1], -1}};
        return 2;
    }
    *f =
        (struct frame){{second[0], second[0], n == 3 ? second[0] : -1}, {first[0], second[1], n == 3 ? second[2] : -1}};
    return n;
}

void tac_barrier_hessian(const struct tac_barrier_pair *p, const double x[4][3], const struct tac_barrier_near *near,
                         double *hessian)
{
    struct frame f;
    const int n = tac_pair_vertices(p->type), size = 3 * n;
    double m[3], h[81] = {0}, relative[3][3] = {{0}};
    memset(hessian, 0, (size_t)(size * size) * sizeof *hessian);
    if (!(near->b[0] < INFINITY))
        return;
    evaluate_factor(p, x, m);
    const int vectors = choose_frame(p, x, near, &f);
    for (int a = 0; a < vectors; a++)
        tac_sub(relative[a], x[f.to[a]], x[f.from[a]]);
    if (vectors == 1)
        point_point(h);
    else if (vectors == 2)
        point_line(relative[0], relative[1], h);
    else
        fill_across(relative[0], relative[1], relative[2], h);
    add_frame(&f, h, m[0] * near->b[1], n, hessian);
    double s[12], c[12];
    for (int i = 0; i < size; i++)
        s[i] = 2 * near->at.d * near->at.w[i / 3] * near->at.n[i % 3];
    const double curve = m[0] * near->b[2];
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            hessian[size * i + j] += curve * s[i] * s[j];
    if (m[1] == 0)
        return;
    /* The product's other parts: b d2m + dm db^T + db dm^T. */
    double gradient[4][3], u[3], v[3];
    const struct frame edges = {{-1, 0, 2}, {-1, 1, 3}};
    parallel_gradient(x, gradient);
    memcpy(c, gradient, sizeof c);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            hessian[size * i + j] += near->b[0] * m[2] * c[i] * c[j] + m[1] * near->b[1] * (c[i] * s[j] + s[i] * c[j]);
    tac_sub(u, x[1], x[0]);
    tac_sub(v, x[3], x[2]);
    memset(h, 0, sizeof h);
    add_parallel(u, v, near->b[0] * m[1], h);
    add_frame(&edges, h, 1, n, hessian);
}
