/* solid.c: computes solids of tetrahedra: neo-Hookean, St Venant-Kirchhoff and corotated (Bonet and Wood 2008; Sifakis
 * and Barbic 2012).  Formulas: docs/reference/elements.md. */
#include "elements/solid.h"
#include "elements/fours.h"
#include "elements/solid_energy.h"
#include "partition/part.h"

/* ---- making ---- */

/* Rows of the stiffness at rest, which is that of linear elasticity for all three models:
 *
 *     K_ij = V [lambda g_i g_j^T + mu g_j g_i^T + mu (g_i . g_j) 1]
 *
 * with the blocks bounded by their Frobenius norms. */
static void bound_solid_rows(const struct tac_solid *t, double row[4])
{
    double g[4][3];
    for (int k = 0; k < 3; k++) {
        for (int i = 1; i < 4; i++)
            g[i][k] = t->b[3 * (i - 1) + k];
        g[0][k] = -(g[1][k] + g[2][k] + g[3][k]);
    }
    for (int i = 0; i < 4; i++) {
        row[i] = 0;
        for (int j = 0; j < 4; j++) {
            double sum = 0;
            const double gg = tac_dot(g[i], g[j]);
            for (int a = 0; a < 3; a++)
                for (int c = 0; c < 3; c++) {
                    const double k = t->lambda * g[i][a] * g[j][c] + t->mu * (g[j][a] * g[i][c] + (a == c ? gg : 0));
                    sum += k * k;
                }
            row[i] += sqrt(sum);
        }
    }
}

static bool make_solid(enum tac_solid_model model, const struct tac_scene *s, const struct tac_material *m,
                       const tac_lid *v, struct tac_solid *t, struct tac_element_bound *bound)
{
    double d[9], c[9];
    if (m->solid_model != model)
        return false;
    for (int i = 0; i < 3; i++)
        tac_sub(d + 3 * i, tac_scene_rest(s, v[1 + i]), tac_scene_rest(s, v[0]));
    tac_one_cofactor(d, c); /* d has the edges as rows: B is its cofactor matrix over the determinant */
    const double six = tac_dot(d, c), volume = six / 6, nu = m->solid_poisson;
    *t = (struct tac_solid){.v = {v[0], v[1], v[2], v[3]}};
    for (int k = 0; k < 9; k++)
        t->b[k] = c[k] / six;
    t->mu = volume * m->solid_youngs / (2 * (1 + nu));
    t->lambda = volume * m->solid_youngs * nu / ((1 + nu) * (1 - 2 * nu));
    bound_solid_rows(t, bound->row);
    return true;
}

/* ---- ticks ---- */

static inline void push_of(enum tac_solid_model model, const struct tac_solid *t, const double *rest, double step,
                           const double (*x)[3], double (*j)[3])
{
    double f[9], e[6], p[9];
    if (rest) {
        tac_one_solid_gradient(t->b, x, f);
        tac_solid_strain_from(f, rest, e);
        tac_one_stvk_stress(t->mu, t->lambda, f, e, p);
        for (int k = 0; k < 9; k++)
            p[k] *= -step;
        tac_one_solid_push(t->b, p, j);
        return;
    }
    tac_one_solid(model, t->b, t->mu, t->lambda, step, x, j);
}

static inline __attribute__((always_inline)) tac_four lanes(double a, double b, double c, double d)
{
    const tac_four both = {a, b, c, d};
    return both;
}

/* n elements from t on, 1 to 4. */
static inline __attribute__((always_inline)) void four(enum tac_solid_model model, const struct tac_solid *t, int n,
                                                       double h, const struct tac_pos *restrict pos,
                                                       struct tac_vel *restrict vel, struct four_book *sum)
{
    tac_four x[4][3], inverse[9], j[4][3];
    const struct tac_solid *q[FOUR] = {t, t + (n > 1 ? 1 : 0), t + (n > 2 ? 2 : 0), t + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 4);
    for (int k = 0; k < 9; k++)
        inverse[k] = lanes(q[0]->b[k], q[1]->b[k], q[2]->b[k], q[3]->b[k]);
    tac_four_solid(model, inverse, LANES(mu), LANES(lambda), lanes(h, h, h, h), x, j);
    scatter(vel, stencil, n, 4, j, sum);
}

/* ---- damping: the same for all three models ---- */

static double find_solid_damping(const struct tac_material *m)
{
    return m->solid_damping;
}

static double find_solid_yield(const struct tac_material *m)
{
    return 0;
}

static void find_solid_strain(const void *record, const double (*x)[3], double *e)
{
    const struct tac_solid *t = record;
    double f[9];
    tac_one_solid_gradient(t->b, x, f);
    tac_one_solid_strain(f, e);
}

static double bound_solid_rate(const void *record, const struct tac_element_bound *bound, const double *w)
{
    double most = 0;
    for (int i = 0; i < 4; i++)
        most = fmax(most, w[i] * bound->row[i]);
    return most;
}

static void make_solid_damper(const void *record, double seconds, double slack, const struct tac_element_bound *bound,
                              void *damper)
{
    const struct tac_solid *t = record;
    struct tac_solid_damper *d = damper;
    *d = (struct tac_solid_damper){
        .v = {t->v[0], t->v[1], t->v[2], t->v[3]}, .mu = seconds * t->mu, .lambda = seconds * t->lambda, .most = slack};
    memcpy(d->b, t->b, sizeof d->b);
}

static void damp_solid(const void *damper, double *last, const double (*x)[3], double (*j)[3])
{
    const struct tac_solid_damper *d = damper;
    tac_one_solid_damper(d->b, d->mu, d->lambda, d->most, x, last, j);
}

/* n dampers from d on, 1 to 4, and what they remember. */
static inline __attribute__((always_inline)) void four_dampers(const struct tac_solid_damper *d, double *last, int n,
                                                               const struct tac_pos *restrict pos,
                                                               struct tac_vel *restrict vel, struct four_book *sum)
{
    tac_four x[4][3], inverse[9], strains[6], j[4][3];
    const struct tac_solid_damper *q[FOUR] = {d, d + (n > 1 ? 1 : 0), d + (n > 2 ? 2 : 0), d + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 4);
    for (int k = 0; k < 9; k++)
        inverse[k] = lanes(q[0]->b[k], q[1]->b[k], q[2]->b[k], q[3]->b[k]);
    for (int k = 0; k < 6; k++)
        strains[k] = recall(last + k, 6, n);
    tac_four_solid_damper(inverse, LANES(mu), LANES(lambda), LANES(most), x, strains, j);
    for (int k = 0; k < 6; k++)
        keep(last + k, 6, n, strains[k]);
    scatter(vel, stencil, n, 4, j, sum);
}

TAC_VERSIONS
static void tick_solid_dampers(const void *damper, double *last, size_t count, const struct tac_pos *restrict pos,
                               struct tac_vel *restrict vel, struct tac_book *book)
{
    const struct tac_solid_damper *d = damper;
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_FOURS(count, i, e, four_dampers(&d[i], &last[6 * i], e, pos, vel, &sum));
    close_book(book, &sum);
}

static bool is_solid_memory_sensible(const double *e)
{
    return true; /* any strain */
}

static const struct tac_element_memory memory = {
    .damping = find_solid_damping,
    .yield = find_solid_yield,
    .strain = find_solid_strain,
    .rate = bound_solid_rate,
    .damper_size = sizeof(struct tac_solid_damper),
    .make_damper = make_solid_damper,
    .damp = damp_solid,
    .tick_dampers = tick_solid_dampers,
    .sensible = is_solid_memory_sensible,
};

/* ---- strain and stress ---- */

/* P of a neo-Hookean solid without the parabola: mu F + U'(J) cof F. */
static void whole_stress(double mu, double lambda, const double f[9], double p[9])
{
    double c[9];
    tac_one_cofactor(f, c);
    const double volume = tac_dot(f, c), bulk = (lambda * tac_one_log(volume) - mu) / volume;
    for (int k = 0; k < 9; k++)
        p[k] = mu * f[k] + bulk * c[k];
}

/* Eigenvalues of a symmetric matrix, descending, by Jacobi rotations in a fixed order. */
static void eigenvalues(double a[3][3], double out[3])
{
    for (int sweep = 0; sweep < 8; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                const int r = 3 - p - q;
                if (a[p][q] == 0)
                    continue;
                const double theta = .5 * (a[q][q] - a[p][p]) / a[p][q];
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(1 + theta * theta));
                const double c = 1 / sqrt(1 + t * t), s = t * c, pr = a[p][r], qr = a[q][r], pq = a[p][q];
                a[p][p] -= t * pq;
                a[q][q] += t * pq;
                a[p][q] = a[q][p] = 0;
                a[p][r] = a[r][p] = c * pr - s * qr;
                a[q][r] = a[r][q] = s * pr + c * qr;
            }
    for (int k = 0; k < 3; k++)
        out[k] = a[k][k];
    for (int k = 0; k < 3; k++) { /* three exchanges sort three numbers */
        const int i = k % 2;
        const double low = fmin(out[i], out[i + 1]);
        out[i] = fmax(out[i], out[i + 1]);
        out[i + 1] = low;
    }
}

bool tac_solid_state(const struct tac_element *element, const void *record, const double (*x)[3], double strain[3],
                     double stress[6])
{
    static const int place[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
    const struct tac_solid *t = record;
    const enum tac_solid_model model = element == &tac_element_stvk        ? TAC_SOLID_STVK
                                       : element == &tac_element_corotated ? TAC_SOLID_COROTATED
                                                                           : TAC_SOLID_NEO_HOOKEAN;
    double f[9], c[9], e[6], p[9];
    tac_one_solid_gradient(t->b, x, f);
    tac_one_cofactor(f, c);
    tac_one_solid_strain(f, e);
    double green[3][3] = {{e[0], e[5], e[4]}, {e[5], e[1], e[3]}, {e[4], e[3], e[2]}};
    eigenvalues(green, strain);
    /* det(B) is one over six volumes at rest. */
    double cb[9];
    tac_one_cofactor(t->b, cb);
    const double volume = 1 / (6 * tac_dot(t->b, cb)), ratio = tac_dot(f, c);
    memset(stress, 0, 6 * sizeof *stress);
    if (!(fabs(ratio) > 1e-12))
        return false;
    if (element == &tac_element_neo_hookean_whole)
        whole_stress(t->mu / volume, t->lambda / volume, f, p);
    else
        tac_one_solid_stress(model, t->mu / volume, t->lambda / volume, f, p);
    for (int k = 0; k < 6; k++) /* P F^T / J */
        stress[k] = tac_dot(p + 3 * place[k][0], f + 3 * place[k][1]) / ratio;
    return true;
}

bool tac_solid_principal(const struct tac_element *element, const void *record, const double (*x)[3], double strain[3],
                         double stress[3])
{
    double s[6];
    const bool known = tac_solid_state(element, record, x, strain, s);
    double cauchy[3][3] = {{s[0], s[5], s[4]}, {s[5], s[1], s[3]}, {s[4], s[3], s[2]}};
    eigenvalues(cauchy, stress);
    return known;
}

bool tac_element_is_solid(const struct tac_element *element)
{
    return element == &tac_element_neo_hookean || element == &tac_element_neo_hookean_whole ||
           element == &tac_element_stvk || element == &tac_element_corotated;
}

/* ---- the three entries ---- */

#define MODEL(id, word, MODEL_OF, COST)                                                                                \
    static bool make_##id(const struct tac_scene *s, const struct tac_material *m, const tac_lid *v, void *record,     \
                          struct tac_element_bound *bound)                                                             \
    {                                                                                                                  \
        return make_solid(MODEL_OF, s, m, v, record, bound);                                                           \
    }                                                                                                                  \
    static double energy_##id(const void *record, const double *rest, const double(*x)[3])                             \
    {                                                                                                                  \
        return tac_solid_energy(MODEL_OF, TAC_SOLID_SMALL, record, rest, x);                                           \
    }                                                                                                                  \
    static void push_##id(const void *record, const double *rest, double step, const double(*x)[3], double(*j)[3])     \
    {                                                                                                                  \
        push_of(MODEL_OF, record, rest, step, x, j);                                                                   \
    }                                                                                                                  \
    static void hessian_##id(const void *record, const double *rest, const double(*x)[3], double *h)                   \
    {                                                                                                                  \
        tac_solid_hessian(MODEL_OF, TAC_SOLID_SMALL, record, rest, false, x, h);                                       \
    }                                                                                                                  \
    static void convex_##id(const void *record, const double *rest, const double(*x)[3], double *h)                    \
    {                                                                                                                  \
        tac_solid_hessian(MODEL_OF, TAC_SOLID_SMALL, record, rest, true, x, h);                                        \
    }                                                                                                                  \
    TAC_VERSIONS                                                                                                       \
    static void tick_##id(const void *record, size_t count, double h, const struct tac_pos *restrict pos,              \
                          struct tac_vel *restrict vel, struct tac_book *book)                                         \
    {                                                                                                                  \
        const struct tac_solid *t = record;                                                                            \
        struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};                                                           \
        IN_FOURS(count, i, e, four(MODEL_OF, &t[i], e, h, pos, vel, &sum));                                            \
        close_book(book, &sum);                                                                                        \
    }                                                                                                                  \
    const struct tac_element tac_element_##id = {                                                                      \
        .keys = {.name = word},                                                                                        \
        .noun = "tetrahedron",                                                                                         \
        .stencils = TAC_STENCILS_TETRAHEDRA,                                                                           \
        .column = TAC_ENERGY_STRETCH,                                                                                  \
        .nodes = 4,                                                                                                    \
        .width = 6,                                                                                                    \
        .size = sizeof(struct tac_solid),                                                                              \
        .cost = COST,                                                                                                  \
        .window_weight = COST,                                                                                         \
        .make = make_##id,                                                                                             \
        .energy = energy_##id,                                                                                         \
        .push = push_##id,                                                                                             \
        .hessian = hessian_##id,                                                                                       \
        .convex = MODEL_OF == TAC_SOLID_COROTATED ? NULL : convex_##id,                                                \
        .tick = tick_##id,                                                                                             \
        .memory = &memory,                                                                                             \
    }

MODEL(neo_hookean, "neo-hookean", TAC_SOLID_NEO_HOOKEAN, 4);
MODEL(stvk, "stvk", TAC_SOLID_STVK, 3);
MODEL(corotated, "corotated", TAC_SOLID_COROTATED, 8);

/* ---- the neo-Hookean solid of implicit steps ---- */

static double energy_whole(const void *record, const double *rest, const double (*x)[3])
{
    return tac_solid_energy(TAC_SOLID_NEO_HOOKEAN, 0, record, rest, x);
}

static void push_whole(const void *record, const double *rest, double step, const double (*x)[3], double (*j)[3])
{
    const struct tac_solid *t = record;
    double f[9], p[9];
    if (rest) {
        push_of(TAC_SOLID_NEO_HOOKEAN, t, rest, step, x, j);
        return;
    }
    tac_one_solid_gradient(t->b, x, f);
    whole_stress(t->mu, t->lambda, f, p);
    for (int k = 0; k < 9; k++)
        p[k] *= -step;
    tac_one_solid_push(t->b, p, j);
}

static void hessian_whole(const void *record, const double *rest, const double (*x)[3], double *h)
{
    tac_solid_hessian(TAC_SOLID_NEO_HOOKEAN, 0, record, rest, false, x, h);
}

static void convex_whole(const void *record, const double *rest, const double (*x)[3], double *h)
{
    tac_solid_hessian(TAC_SOLID_NEO_HOOKEAN, 0, record, rest, true, x, h);
}

const struct tac_element tac_element_neo_hookean_whole = {
    .keys = {.name = "neo-hookean"},
    .noun = "tetrahedron",
    .stencils = TAC_STENCILS_TETRAHEDRA,
    .column = TAC_ENERGY_STRETCH,
    .nodes = 4,
    .width = 6,
    .size = sizeof(struct tac_solid),
    .make = make_neo_hookean,
    .energy = energy_whole,
    .push = push_whole,
    .hessian = hessian_whole,
    .convex = convex_whole,
    .memory = &memory,
};
