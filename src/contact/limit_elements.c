/* limit_elements.c: computes limits of stretch as elastic energies. */
#include "contact/limit_elements.h"
#include "contact/principal.h"
#include "partition/part.h"
#include <math.h>

struct limit {
    tac_lid v[2];
    double length, stiffness; /* at rest, m; N/m */
    double longer, shorter;   /* limits; shorter 0: none */
};

struct wide {
    tac_lid v[3];
    double rest[3];      /* tac_principal_rest() */
    double limit, scale; /* s; k A s^2 / 2, J */
};

/* beta, beta' and beta''; y < 1. */
static void strain_limit(double y, double b[3])
{
    b[0] = b[1] = b[2] = 0;
    if (!(y > 0))
        return;
    if (!(y < 1)) {
        b[0] = b[1] = b[2] = INFINITY;
        return;
    }
    const double log_left = tac_log(1 - y), left = 1 - y;
    b[0] = -y * y * log_left;
    b[1] = y * (y / left - 2 * log_left);
    b[2] = y * (4 * left + y) / (left * left) - 2 * log_left;
}

/* ---- edges ---- */

static bool make_edge(const struct tac_scene *s, const struct tac_material *m, const tac_lid *v, void *record,
                      struct tac_element_bound *bound)
{
    struct limit *limit = record;
    double d[3];
    if (!(m->stretch_limit > 0))
        return false;
    const bool segment =
        s->mesh->topology->edge_segment[(v - s->mesh->topology->edge) / 2] >= 0; /* v lies in the list of edges */
    tac_sub(d, tac_scene_rest(s, v[1]), tac_scene_rest(s, v[0]));
    const double length = sqrt(tac_dot(d, d));
    *limit = (struct limit){{v[0], v[1]},
                            length,
                            tac_limit_stiffness(s, v[0], length),
                            m->stretch_limit,
                            segment && m->stretch_limit < 1 ? m->stretch_limit : 0};
    bound->row[0] = bound->row[1] = 0; /* at rest */
    return true;
}

void tac_limit_over(double over, double slack, double stiffness, double w[3])
{
    const double size = .5 * stiffness * slack * slack;
    double b[3];
    strain_limit(over / slack, b);
    w[0] = size * b[0];
    w[1] = size * b[1] / slack;
    w[2] = size * b[2] / (slack * slack);
}

/* The energy at length l, and its first two derivatives. */
static void of_length(const struct limit *s, double l, double w[3])
{
    const double slack = (l > s->length ? s->longer : s->shorter) * s->length;
    w[0] = w[1] = w[2] = 0;
    if (!(slack > 0))
        return;
    tac_limit_over(fabs(l - s->length), slack, s->stiffness, w);
    w[1] = l > s->length ? w[1] : -w[1];
}

static double length_of(const double (*x)[3], double d[3])
{
    tac_sub(d, x[1], x[0]);
    return sqrt(tac_dot(d, d));
}

static double edge_energy(const void *record, const double *rest, const double (*x)[3])
{
    double d[3], w[3];
    of_length(record, length_of(x, d), w);
    return w[0];
}

static void edge_push(const void *record, const double *rest, double step, const double (*x)[3], double (*j)[3])
{
    double d[3], w[3];
    const double l = length_of(x, d);
    of_length(record, l, w);
    for (int k = 0; k < 3; k++) {
        j[0][k] = l > 0 ? step * w[1] * (d[k] / l) : 0;
        j[1][k] = -j[0][k];
    }
}

bool tac_limit_block(const double d[3], double l, const double w[3], bool convex, const double f[3], double block[3][3])
{
    if (!(l > 0) || w[2] == 0)
        return false;
    const double across = convex ? fmax(0, w[1] / l) : w[1] / l;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            block[i][k] = (w[2] - across) * ((d[i] / l) * (d[k] / l)) + across * ((i == k ? 1 : 0) - f[i] * f[k]);
    return true;
}

static void fill_edge_hessian(const void *record, const double (*x)[3], bool convex, double *h)
{
    static const double nothing[3];
    double d[3], w[3], block[3][3];
    const double l = length_of(x, d);
    of_length(record, l, w);
    memset(h, 0, 36 * sizeof *h);
    if (!tac_limit_block(d, l, w, convex, nothing, block))
        return;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            h[6 * i + k] = h[6 * (3 + i) + 3 + k] = block[i][k];
            h[6 * i + 3 + k] = h[6 * (3 + i) + k] = -block[i][k];
        }
}

static void edge_hessian(const void *record, const double *rest, const double (*x)[3], double *h)
{
    fill_edge_hessian(record, x, false, h);
}

static void edge_convex(const void *record, const double *rest, const double (*x)[3], double *h)
{
    fill_edge_hessian(record, x, true, h);
}

/* ---- principal stretches ---- */

static bool make_wide(const struct tac_scene *s, const struct tac_material *m, const tac_lid *v, void *record,
                      struct tac_element_bound *bound)
{
    struct wide *wide = record;
    if (!(m->stretch_limit_principal > 0))
        return false;
    tac_principal_order(s, v, wide->v);
    tac_principal_rest(s, wide->v, wide->rest);
    const double height = wide->rest[2], edge = height / wide->rest[1];
    wide->limit = m->stretch_limit_principal;
    wide->scale = .25 * tac_limit_stiffness(s, v[0], edge) * edge * height * wide->limit * wide->limit;
    bound->row[0] = bound->row[1] = bound->row[2] = 0; /* at rest */
    return true;
}

struct stretches {
    struct tac_near near[2]; /* of both, the larger one first */
    double w[2][3];          /* energies and their derivatives by the stretch */
    double size[2];          /* the stretches */
};

static void find_stretches(const struct wide *wide, const double (*x)[3], struct stretches *s)
{
    double at[4][3];
    memcpy(at, x, 9 * sizeof(double));
    memcpy(at[3], wide->rest, sizeof at[3]);
    tac_near_stretch((const double(*)[3])at, s->near);
    for (int a = 0; a < 2; a++) {
        s->size[a] = -s->near[a].d / wide->rest[2];
        strain_limit((s->size[a] - 1) / wide->limit, s->w[a]);
        s->w[a][0] *= wide->scale;
        s->w[a][1] *= wide->scale / wide->limit;
        s->w[a][2] *= wide->scale / (wide->limit * wide->limit);
    }
}

static double wide_energy(const void *record, const double *rest, const double (*x)[3])
{
    struct stretches s;
    find_stretches(record, x, &s);
    return s.w[0][0] + s.w[1][0];
}

/* A stretch changes by -w_k n / height with the place of node k. */
static void wide_push(const void *record, const double *rest, double step, const double (*x)[3], double (*j)[3])
{
    const struct wide *wide = record;
    struct stretches s;
    find_stretches(wide, x, &s);
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            j[k][c] = step / wide->rest[2] *
                      (s.w[0][1] * s.near[0].w[k] * s.near[0].n[c] + s.w[1][1] * s.near[1].w[k] * s.near[1].n[c]);
}

/* Adds lambda z z^T, z = f u_a v_b^T + g u_b v_a^T brought to the nodes; along: weights of v_0, v_1. */
static void add_mode(double lambda, double f, const double *ua, const double *wb, double g, const double *ub,
                     const double *wa, double *h)
{
    double z[9];
    if (!(lambda > 0))
        return;
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            z[3 * k + c] = f * ua[c] * wb[k] + (g != 0 ? g * ub[c] * wa[k] : 0);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 9; k++)
            h[9 * i + k] += lambda * (z[i] * z[k]);
}

/* Unit vectors: of both stretches, and the normal; the second is any where the triangle has collapsed. */
static void find_frame(const struct stretches *s, double u[3][3])
{
    double square = tac_dot(s->near[1].n, s->near[1].n);
    for (int c = 0; c < 3; c++) {
        u[0][c] = -s->near[0].n[c];
        u[1][c] = -s->near[1].n[c];
    }
    if (!(square > .5)) {
        const int least = fabs(u[0][0]) < fabs(u[0][1])   ? fabs(u[0][0]) < fabs(u[0][2]) ? 0 : 2
                          : fabs(u[0][1]) < fabs(u[0][2]) ? 1
                                                          : 2;
        const double axis[3] = {least == 0, least == 1, least == 2};
        tac_cross(u[1], u[0], axis);
        square = sqrt(tac_dot(u[1], u[1]));
        for (int c = 0; c < 3; c++)
            u[1][c] /= square;
    }
    tac_cross(u[2], u[0], u[1]);
}

/* The energy is convex in the triangle's shape, so no eigenvalue is negative (Smith et al. 2019 has them). */
static void wide_hessian(const void *record, const double *rest, const double (*x)[3], double *h)
{
    const struct wide *wide = record;
    const double half = .70710678118654752;
    struct stretches s;
    double u[3][3], v[2][3];
    find_stretches(wide, x, &s);
    memset(h, 0, 81 * sizeof *h);
    if (!(s.w[0][2] > 0))
        return;
    find_frame(&s, u);
    for (int a = 0; a < 2; a++)
        for (int k = 0; k < 3; k++)
            v[a][k] = s.near[a].w[k] / wide->rest[2];
    const double apart = s.size[0] - s.size[1], both = s.size[0] + s.size[1];
    const double flip = apart > 1e-6 * both ? (s.w[0][1] - s.w[1][1]) / apart : .5 * (s.w[0][2] + s.w[1][2]);
    for (int a = 0; a < 2; a++) {
        add_mode(s.w[a][2], 1, u[a], v[a], 0, NULL, NULL, h);
        add_mode(s.w[a][1] / s.size[a], 1, u[2], v[a], 0, NULL, NULL, h);
    }
    add_mode(flip, half, u[0], v[1], half, u[1], v[0], h);
    add_mode((s.w[0][1] + s.w[1][1]) / both, half, u[0], v[1], -half, u[1], v[0], h);
}

const struct tac_element tac_element_limit = {
    .keys = {.name = "limit"},
    .noun = "limit of edge",
    .stencils = TAC_STENCILS_EDGES,
    .column = TAC_ENERGY_STRETCH,
    .nodes = 2,
    .width = 1,
    .size = sizeof(struct limit),
    .make = make_edge,
    .energy = edge_energy,
    .push = edge_push,
    .hessian = edge_hessian,
    .convex = edge_convex,
};

const struct tac_element tac_element_limit_principal = {
    .keys = {.name = "limit_principal"},
    .noun = "limit of triangle",
    .stencils = TAC_STENCILS_TRIANGLES,
    .column = TAC_ENERGY_STRETCH,
    .nodes = 3,
    .width = 3,
    .size = sizeof(struct wide),
    .make = make_wide,
    .energy = wide_energy,
    .push = wide_push,
    .hessian = wide_hessian,
    .convex = wide_hessian,
};

/* ---- the largest admissible share of a motion ---- */

#define TAC_BELOW (1 - 0x1p-40) /* of a share, for its rounding */
enum { HALVINGS = 40 };

/* The longest edge, or the largest stretch, at x + share p. */
static double size_at(const struct tac_element *element, const void *record, const double (*x)[3], const double (*p)[3],
                      double share)
{
    double at[4][3], d[3];
    for (int i = 0; i < element->nodes; i++)
        for (int k = 0; k < 3; k++)
            at[i][k] = x[i][k] + share * p[i][k];
    if (element == &tac_element_limit)
        return length_of((const double(*)[3])at, d);
    struct tac_near near[2];
    const struct wide *wide = record;
    memcpy(at[3], wide->rest, sizeof at[3]);
    tac_near_stretch((const double(*)[3])at, near);
    return -near[0].d / wide->rest[2];
}

/* Returns the first share at which |d + share change| has fallen to `least`, or 1 if there is none. */
static double share_to_length(const double d[3], const double change[3], double least)
{
    const double a = tac_dot(change, change), b = tac_dot(d, change), c = tac_dot(d, d) - least * least;
    const double root = b * b - a * c;
    return b >= 0 || !(root > 0) ? 1 : fmin(1, TAC_BELOW * c / (sqrt(root) - b));
}

double tac_limit_advance(const struct tac_element *element, const void *record, const double (*x)[3],
                         const double (*p)[3], double keep)
{
    const struct limit *s = record;
    const double now = size_at(element, record, x, p, 0), to = size_at(element, record, x, p, 1);
    const double rest = element == &tac_element_limit ? s->length : 1;
    const double most = rest * (1 + (element == &tac_element_limit ? s->longer : ((const struct wide *)record)->limit));
    const double reach = most - keep * fmin(most - now, most - rest);
    double low = 0, high = 1;
    if (!(now < most))
        return 0;
    /* Lengths and stretches are convex along the path: shares that are short enough are all before others. */
    for (int k = 0; k < HALVINGS && !(to <= reach); k++) {
        const double middle = .5 * (low + high);
        if (size_at(element, record, x, p, middle) <= reach)
            low = middle;
        else
            high = middle;
    }
    const double share = to <= reach ? 1 : low;
    if (element == &tac_element_limit && s->shorter > 0) {
        const double least = s->length * (1 - s->shorter);
        double d[3], change[3];
        length_of(x, d);
        length_of(p, change);
        if (!(now > least))
            return 0;
        return fmin(share, share_to_length(d, change, least + keep * fmin(now - least, s->length - least)));
    }
    return share;
}
