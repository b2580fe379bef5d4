/* spring.c: computes springs along edges, V = (k/2L)(l - L)^2 (ACM section 3), with damping and plasticity (ACM section
 * 6.1, AVCM 8.7).  Formulas of the Hessian: docs/reference/elements.md. */
#include "elements/fours.h"
#include "partition/part.h"

static bool make_spring(const struct tac_scene *s, const struct tac_material *m, const tac_lid *v, void *record,
                        struct tac_element_bound *bound)
{
    struct tac_spring *spring = record;
    double d[3];
    if (m->stretch_model != TAC_STRETCH_SPRING)
        return false;
    tac_sub(d, tac_scene_rest(s, v[1]), tac_scene_rest(s, v[0]));
    const double length = sqrt(tac_dot(d, d));
    *spring = (struct tac_spring){{v[0], v[1]}, length, m->stretch_stiffness / length};
    bound->row[0] = bound->row[1] = 2 * spring->stiffness;
    return true;
}

static double find_spring_energy(const void *record, const double *rest, const double (*x)[3])
{
    const struct tac_spring *s = record;
    return tac_spring_potential(s, rest ? *rest : s->length, x);
}

static void push_spring(const void *record, const double *rest, double step, const double (*x)[3], double (*j)[3])
{
    const struct tac_spring *s = record;
    tac_one_spring(rest ? *rest : s->length, step * s->stiffness, x, j[0]);
    for (int k = 0; k < 3; k++)
        j[1][k] = -j[0][k];
}

/* With n along the spring: s [(1 - L/l)(1 - n n^T) + n n^T] on both of the diagonal, minus that beside it. */
static void fill_hessian(const double d[3], double l, double along, double across, double *h)
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const double block = along * ((d[i] / l) * (d[k] / l)) + (i == k ? across : 0);
            h[6 * i + k] = h[6 * (3 + i) + 3 + k] = block;
            h[6 * i + 3 + k] = h[6 * (3 + i) + k] = -block;
        }
}

static void find_spring_hessian(const void *record, const double *rest, const double (*x)[3], double *h)
{
    const struct tac_spring *s = record;
    double d[3];
    const double l = tac_one_length(x, d), length = rest ? *rest : s->length;
    memset(h, 0, 36 * sizeof *h);
    if (!(l > 0)) /* no direction, no force: push() */
        return;
    const double across = s->stiffness * (l - length) / l;
    fill_hessian(d, l, s->stiffness - across, across, h);
}

/* A compressed spring has negative stiffness perpendicular to itself. */
static void find_spring_convex(const void *record, const double *rest, const double (*x)[3], double *h)
{
    const struct tac_spring *s = record;
    double d[3];
    const double l = tac_one_length(x, d), length = rest ? *rest : s->length;
    memset(h, 0, 36 * sizeof *h);
    if (!(l > 0))
        return;
    const double across = fmax(0, s->stiffness * (l - length) / l);
    fill_hessian(d, l, s->stiffness - across, across, h);
}

/* ---- ticks ---- */

/* n elements from s on, 1 to 4. */
static inline __attribute__((always_inline)) void four(const struct tac_spring *s, int n, double h,
                                                       const struct tac_pos *restrict pos, struct tac_vel *restrict vel,
                                                       struct four_book *sum)
{
    tac_four x[2][3], length, hk, j[3];
    const struct tac_spring *q[FOUR] = {s, s + (n > 1 ? 1 : 0), s + (n > 2 ? 2 : 0), s + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 2);
    length = LANES(length);
    hk = h * LANES(stiffness);
    tac_four_spring(length, hk, x, j);
    scatter_pairs(vel, stencil, n, j, sum);
}

TAC_MORE_VERSIONS
static void tick_spring(const void *record, size_t count, double h, const struct tac_pos *restrict pos,
                        struct tac_vel *restrict vel, struct tac_book *book)
{
    const struct tac_spring *spring = record;
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_FOURS(count, i, e, four(&spring[i], e, h, pos, vel, &sum));
    close_book(book, &sum);
}

/* n dampers from s on, 1 to 4, and what they remember. */
static inline __attribute__((always_inline)) void four_dampers(const struct tac_spring_damper *s, double *last, int n,
                                                               const struct tac_pos *restrict pos,
                                                               struct tac_vel *restrict vel, struct four_book *sum)
{
    tac_four x[2][3], j[3], l = recall(last, 1, n);
    const struct tac_spring_damper *q[FOUR] = {s, s + (n > 1 ? 1 : 0), s + (n > 2 ? 2 : 0), s + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 2);
    tac_four_spring_damper(LANES(rate), x, &l, j);
    keep(last, 1, n, l);
    scatter_pairs(vel, stencil, n, j, sum);
}

TAC_MORE_VERSIONS
static void tick_spring_dampers(const void *damper, double *last, size_t count, const struct tac_pos *restrict pos,
                                struct tac_vel *restrict vel, struct tac_book *book)
{
    const struct tac_spring_damper *s = damper;
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_FOURS(count, i, e, four_dampers(&s[i], &last[i], e, pos, vel, &sum));
    close_book(book, &sum);
}

/* n elements from s on, the i-th plastic ones. */
static inline __attribute__((always_inline)) void four_plastic(const struct tac_spring *s, size_t i, int n,
                                                               const struct tac_flowing *f,
                                                               const struct tac_pos *restrict pos,
                                                               struct tac_vel *restrict vel, struct four_book *sum)
{
    const tac_four none = {0, 0, 0, 0};
    tac_four x[2][3], j[3], rest = recall(&f->rest[i], 1, n), loss;
    const struct tac_spring *q[FOUR] = {s, s + (n > 1 ? 1 : 0), s + (n > 2 ? 2 : 0), s + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 2);
    tac_four_plastic_spring(LANES(stiffness), recall(&f->yield[i], 1, n), none + f->h, x, &rest, j, &loss);
    keep(&f->rest[i], 1, n, rest);
    enter_flow(f->lost, &f->mine[i], n, loss);
    scatter_pairs(vel, stencil, n, j, sum);
}

TAC_MORE_VERSIONS
static void tick_plastic_spring(const void *record, size_t count, const struct tac_flowing *f,
                                const struct tac_pos *restrict pos, struct tac_vel *restrict vel, struct tac_book *book)
{
    const struct tac_spring *s = record;
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_FOURS(count, i, e, four_plastic(&s[i], i, e, f, pos, vel, &sum));
    close_book(book, &sum);
}

/* ---- damping and plasticity ---- */

static double find_spring_damping(const struct tac_material *m)
{
    return m->stretch_damping;
}

static double find_spring_yield(const struct tac_material *m)
{
    return m->stretch_yield;
}

static void find_spring_strain(const void *record, const double (*x)[3], double *length)
{
    double d[3];
    *length = tac_one_length(x, d);
}

static double bound_spring_rate(const void *record, const struct tac_element_bound *bound, const double *w)
{
    const struct tac_spring *s = record;
    return s->stiffness * (w[0] + w[1]);
}

static void make_spring_damper(const void *record, double seconds, double slack, const struct tac_element_bound *bound,
                               void *damper)
{
    const struct tac_spring *s = record;
    *(struct tac_spring_damper *)damper = (struct tac_spring_damper){{s->v[0], s->v[1]}, seconds * s->stiffness};
}

static void damp_spring(const void *damper, double *last, const double (*x)[3], double (*j)[3])
{
    const struct tac_spring_damper *s = damper;
    tac_one_spring_damper(s->rate, x, last, j[0]);
    for (int k = 0; k < 3; k++)
        j[1][k] = -j[0][k];
}

static double start_spring_rest(const void *record, double limit, const double *length, double *rest)
{
    const struct tac_spring *s = record;
    *rest = s->length;
    return limit * s->length;
}

static bool is_spring_memory_sensible(const double *length)
{
    return *length >= 0;
}

static const struct tac_element_memory memory = {
    .damping = find_spring_damping,
    .yield = find_spring_yield,
    .strain = find_spring_strain,
    .rate = bound_spring_rate,
    .damper_size = sizeof(struct tac_spring_damper),
    .make_damper = make_spring_damper,
    .damp = damp_spring,
    .tick_dampers = tick_spring_dampers,
    .start = start_spring_rest,
    .tick_plastic = tick_plastic_spring,
    .sensible = is_spring_memory_sensible,
};

const struct tac_element tac_element_spring = {
    .keys = {.name = "spring"},
    .noun = "spring of edge",
    .stencils = TAC_STENCILS_EDGES,
    .column = TAC_ENERGY_STRETCH,
    .nodes = 2,
    .width = 1,
    .size = sizeof(struct tac_spring),
    .cost = 1,
    .window_weight = 1,
    .make = make_spring,
    .energy = find_spring_energy,
    .push = push_spring,
    .hessian = find_spring_hessian,
    .convex = find_spring_convex,
    .tick = tick_spring,
    .memory = &memory,
};
