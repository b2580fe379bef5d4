/* cst.c: computes St Venant-Kirchhoff membranes on constant-strain triangles, with damping and plasticity.  Formulas of
 * the Hessian: docs/reference/elements.md. */
#include "elements/fours.h"
#include "partition/part.h"

/* Row sums of the rest stiffness A B^T C B, whose 2x2 blocks are bounded by their Frobenius norms. */
static void bound_cst_rows(const struct tac_cst *c, double area_y, double nu, double row[4])
{
    const double g[3][2] = {{-c->b00 - c->b01, -c->b11}, {c->b00, 0}, {c->b01, c->b11}};
    const double c00 = area_y / (1 - nu * nu), c01 = nu * c00, c22 = area_y / (2 * (1 + nu));
    /* dE/dx of vertex i in the triangle's own frame is built from g[i] = (d/dX, d/dY) of its hat function. The rest
     * frame's first axis is along the first edge, so b01, b11 act on the second: F = I at rest. */
    for (int i = 0; i < 3; i++) {
        row[i] = 0;
        for (int j = 0; j < 3; j++) {
            double xx = c00 * g[i][0] * g[j][0] + c22 * g[i][1] * g[j][1];
            double yy = c00 * g[i][1] * g[j][1] + c22 * g[i][0] * g[j][0];
            double xy = c01 * g[i][0] * g[j][1] + c22 * g[i][1] * g[j][0];
            double yx = c01 * g[i][1] * g[j][0] + c22 * g[i][0] * g[j][1];
            row[i] += sqrt(xx * xx + yy * yy + xy * xy + yx * yx);
        }
    }
    row[3] = 0;
}

static bool make_cst(const struct tac_scene *s, const struct tac_material *m, const tac_lid *v, void *record,
                     struct tac_element_bound *bound)
{
    struct tac_cst *c = record;
    double e1[3], e2[3], n[3];
    if (m->stretch_model != TAC_STRETCH_CST)
        return false;
    tac_sub(e1, tac_scene_rest(s, v[1]), tac_scene_rest(s, v[0]));
    tac_sub(e2, tac_scene_rest(s, v[2]), tac_scene_rest(s, v[0]));
    tac_cross(n, e1, e2);
    double l = sqrt(tac_dot(e1, e1)), nn = sqrt(tac_dot(n, n)), p = tac_dot(e1, e2) / l, q = nn / l;
    double area_y = .5 * nn * m->stretch_stiffness, nu = m->poisson;
    *c = (struct tac_cst){{v[0], v[1], v[2]}, s->mesh->vertex_body[v[0]], 1 / l, -p / (l * q), 1 / q,
                          area_y / (1 + nu),  area_y * nu / (1 - nu * nu)};
    bound_cst_rows(c, area_y, nu, bound->row);
    return true;
}

static double find_cst_energy(const void *record, const double *rest, const double (*x)[3])
{
    static const double none[3] = {0, 0, 0};
    return tac_cst_potential(record, rest ? rest : none, x);
}

static void push_cst(const void *record, const double *rest, double step, const double (*x)[3], double (*j)[3])
{
    const struct tac_cst *c = record;
    double f0[3], f1[3], e[3];
    tac_one_cst_strain(c->b00, c->b01, c->b11, x, f0, f1, e);
    if (rest)
        tac_sub(e, e, rest);
    tac_one_cst_push(c->b00, c->b01, c->b11, step * c->a, step * c->b, f0, f1, e, j);
}

/* Removes the negative principal values of s00, s11, s01. */
static void leave_tension(double s[3])
{
    const double mean = .5 * (s[0] + s[1]), half = .5 * (s[0] - s[1]), radius = sqrt(half * half + s[2] * s[2]);
    const double high = mean + radius;
    if (mean - radius >= 0)
        return;
    if (!(high > 0)) {
        s[0] = s[1] = s[2] = 0;
        return;
    }
    s[0] = .5 * high * (1 + half / radius);
    s[1] = .5 * high * (1 - half / radius);
    s[2] = .5 * high * s[2] / radius;
}

/* With S = a E + b tr E the second Piola-Kirchhoff stress times the area, and g_i = grad N_i:
 *
 *     H_ij = (g_i . S g_j) 1 + a/2 [(g_i . g_j) F F^T + (F g_j)(F g_i)^T] + b (F g_i)(F g_j)^T
 *
 * for the nodes 1 and 2; those of node 0 make the sums of rows and columns zero. */
static void hessian_of(const struct tac_cst *c, const double *rest, bool convex, const double (*x)[3], double *h)
{
    double f0[3], f1[3], e[3], fg[3][3];
    const double g[3][2] = {{-c->b00, -c->b01 - c->b11}, {c->b00, c->b01}, {0, c->b11}};
    tac_one_cst_strain(c->b00, c->b01, c->b11, x, f0, f1, e);
    if (rest)
        tac_sub(e, e, rest);
    const double trace = c->b * (e[0] + e[1]);
    double s[3] = {c->a * e[0] + trace, c->a * e[1] + trace, c->a * e[2]};
    if (convex)
        leave_tension(s);
    for (int i = 1; i < 3; i++)
        for (int k = 0; k < 3; k++)
            fg[i][k] = f0[k] * g[i][0] + f1[k] * g[i][1];
    for (int i = 1; i < 3; i++)
        for (int j = i; j < 3; j++) {
            const double gg = g[i][0] * g[j][0] + g[i][1] * g[j][1];
            const double gsg =
                g[i][0] * (s[0] * g[j][0] + s[2] * g[j][1]) + g[i][1] * (s[2] * g[j][0] + s[1] * g[j][1]);
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    h[9 * (3 * i + k) + 3 * j + l] =
                        .5 * c->a * (gg * (f0[k] * f0[l] + f1[k] * f1[l]) + fg[j][k] * fg[i][l]) +
                        c->b * (fg[i][k] * fg[j][l]) + (k == l ? gsg : 0);
        }
    tac_element_complete(3, h);
}

static void find_cst_hessian(const void *record, const double *rest, const double (*x)[3], double *h)
{
    hessian_of(record, rest, false, x, h);
}

/* All but the first term is the square of a strain. */
static void find_cst_convex(const void *record, const double *rest, const double (*x)[3], double *h)
{
    hessian_of(record, rest, true, x, h);
}

/* ---- ticks ---- */

/* n elements from c on, 1 to 4. */
static inline __attribute__((always_inline)) void four(const struct tac_cst *c, int n, double h,
                                                       const struct tac_pos *restrict pos, tac_four j[3][3])
{
    tac_four x[3][3], b[2], more[2];
    const struct tac_cst *q[FOUR] = {c, c + (n > 1 ? 1 : 0), c + (n > 2 ? 2 : 0), c + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 3);
    const double *const first[FOUR] = {&q[0]->b00, &q[1]->b00, &q[2]->b00, &q[3]->b00};
    const double *const third[FOUR] = {&q[0]->b11, &q[1]->b11, &q[2]->b11, &q[3]->b11};
    lanes_of_two(b, first);
    lanes_of_two(more, third); /* b11 and a */
    tac_four_cst(b[0], b[1], more[0], h * more[1], h * LANES(b), x, j);
}

TAC_MORE_VERSIONS
static void tick_cst(const void *record, size_t count, double h, const struct tac_pos *restrict pos,
                     struct tac_vel *restrict vel, struct tac_book *book)
{
    const struct tac_cst *c = record;
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_TURNS(c, count, 3, i, n, four(&c[i], n, h, pos, j));
    close_book(book, &sum);
}

/* n dampers from c on, 1 to 4, and what they remember. */
static inline __attribute__((always_inline)) void four_dampers(const struct tac_cst_damper *c, double *last, int n,
                                                               const struct tac_pos *restrict pos, tac_four j[3][3])
{
    tac_four x[3][3], strains[3];
    const struct tac_cst_damper *q[FOUR] = {c, c + (n > 1 ? 1 : 0), c + (n > 2 ? 2 : 0), c + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 3);
    for (int k = 0; k < 3; k++)
        strains[k] = recall(last + k, 3, n);
    tac_four_cst_damper(LANES(b00), LANES(b01), LANES(b11), LANES(a), LANES(b), LANES(most), x, strains, j);
    for (int k = 0; k < 3; k++)
        keep(last + k, 3, n, strains[k]);
}

TAC_MORE_VERSIONS
static void tick_cst_dampers(const void *damper, double *last, size_t count, const struct tac_pos *restrict pos,
                             struct tac_vel *restrict vel, struct tac_book *book)
{
    const struct tac_cst_damper *c = damper;
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_TURNS(c, count, 3, i, n, four_dampers(&c[i], &last[3 * i], n, pos, j));
    close_book(book, &sum);
}

/* n elements from c on, the i-th plastic ones. */
static inline __attribute__((always_inline)) void four_plastic(const struct tac_cst *c, size_t i, int n,
                                                               const struct tac_flowing *f,
                                                               const struct tac_pos *restrict pos, tac_four j[3][3])
{
    const tac_four none = {0, 0, 0, 0};
    tac_four x[3][3], rest[3], loss;
    const struct tac_cst *q[FOUR] = {c, c + (n > 1 ? 1 : 0), c + (n > 2 ? 2 : 0), c + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 3);
    for (int k = 0; k < 3; k++)
        rest[k] = recall(&f->rest[3 * i + (size_t)k], 3, n);
    tac_four_plastic_cst(LANES(b00), LANES(b01), LANES(b11), LANES(a), LANES(b), recall(&f->yield[i], 1, n),
                         none + f->h, x, rest, j, &loss);
    for (int k = 0; k < 3; k++)
        keep(&f->rest[3 * i + (size_t)k], 3, n, rest[k]);
    enter_flow(f->lost, &f->mine[i], n, loss);
}

TAC_MORE_VERSIONS
static void tick_plastic_cst(const void *record, size_t count, const struct tac_flowing *f,
                             const struct tac_pos *restrict pos, struct tac_vel *restrict vel, struct tac_book *book)
{
    const struct tac_cst *c = record;
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_TURNS(c, count, 3, i, n, four_plastic(&c[i], i, n, f, pos, j));
    close_book(book, &sum);
}

/* ---- damping and plasticity ---- */

static double find_cst_damping(const struct tac_material *m)
{
    return m->stretch_damping;
}

static double find_cst_yield(const struct tac_material *m)
{
    return m->stretch_yield;
}

static void find_cst_strain(const void *record, const double (*x)[3], double *e)
{
    const struct tac_cst *c = record;
    double f0[3], f1[3];
    tac_one_cst_strain(c->b00, c->b01, c->b11, x, f0, f1, e);
}

static double bound_cst_rate(const void *record, const struct tac_element_bound *bound, const double *w)
{
    double largest = 0;
    for (int i = 0; i < 3; i++)
        largest = fmax(largest, w[i] * bound->row[i]);
    return largest;
}

static void make_cst_damper(const void *record, double seconds, double slack, const struct tac_element_bound *bound,
                            void *damper)
{
    const struct tac_cst *c = record;
    *(struct tac_cst_damper *)damper = (struct tac_cst_damper){
        {c->v[0], c->v[1], c->v[2]}, c->body, c->b00, c->b01, c->b11, seconds * c->a, seconds * c->b, slack};
}

static void damp_cst(const void *damper, double *last, const double (*x)[3], double (*j)[3])
{
    const struct tac_cst_damper *c = damper;
    tac_one_cst_damper(c->b00, c->b01, c->b11, c->a, c->b, c->most, x, last, j);
}

/* The plastic strain at the start is 0. */
static double start_cst_rest(const void *record, double limit, const double *strain_there, double *rest)
{
    rest[0] = rest[1] = rest[2] = 0;
    return limit;
}

static bool is_cst_memory_sensible(const double *e)
{
    return true; /* any strain */
}

static const struct tac_element_memory memory = {
    .damping = find_cst_damping,
    .yield = find_cst_yield,
    .strain = find_cst_strain,
    .rate = bound_cst_rate,
    .damper_size = sizeof(struct tac_cst_damper),
    .make_damper = make_cst_damper,
    .damp = damp_cst,
    .tick_dampers = tick_cst_dampers,
    .start = start_cst_rest,
    .tick_plastic = tick_plastic_cst,
    .sensible = is_cst_memory_sensible,
};

const struct tac_element tac_element_cst = {
    .keys = {.name = "cst"},
    .noun = "triangle",
    .stencils = TAC_STENCILS_TRIANGLES,
    .column = TAC_ENERGY_STRETCH,
    .nodes = 3,
    .width = 3,
    .size = sizeof(struct tac_cst),
    .cost = 2,
    .window_weight = 1,
    .make = make_cst,
    .energy = find_cst_energy,
    .push = push_cst,
    .hessian = find_cst_hessian,
    .convex = find_cst_convex,
    .tick = tick_cst,
    .memory = &memory,
};
