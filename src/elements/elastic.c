#include "elements/fours.h"
#include "partition/part.h"
#include <stdlib.h>

/* n elements from s on, 1 to 4. */
static inline __attribute__((always_inline)) void four_springs(const struct tac_spring *s, int n, double h,
                                                               const struct tac_pos *restrict pos,
                                                               struct tac_vel *restrict vel, struct four_book *sum)
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

TAC_VERSIONS
static void tick_springs(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                         struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const size_t count = rate->count[TAC_KIND_SPRING] - rate->rest[TAC_KIND_SPRING].count;
    IN_FOURS(count, i, e, four_springs(&rate->spring[i], e, rate->h_s, pos, vel, &sum));
    close_book(book, &sum);
}

/* n elements from c on, 1 to 4. */
static inline __attribute__((always_inline)) void four_csts(const struct tac_cst *c, int n, double h,
                                                            const struct tac_pos *restrict pos,
                                                            struct tac_vel *restrict vel, struct four_book *sum)
{
    tac_four x[3][3], b00, b01, b11, ha, hb, j[3][3];
    const struct tac_cst *q[FOUR] = {c, c + (n > 1 ? 1 : 0), c + (n > 2 ? 2 : 0), c + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 3);
    b00 = LANES(b00);
    b01 = LANES(b01);
    b11 = LANES(b11);
    ha = h * LANES(a);
    hb = h * LANES(b);
    tac_four_cst(b00, b01, b11, ha, hb, x, j);
    scatter(vel, stencil, n, 3, j, sum);
}

TAC_VERSIONS
static void tick_csts(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                      struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const size_t count = rate->count[TAC_KIND_CST] - rate->rest[TAC_KIND_CST].count;
    IN_FOURS(count, i, e, four_csts(&rate->cst[i], e, rate->h_s, pos, vel, &sum));
    close_book(book, &sum);
}

/* n elements from g on, 1 to 4. */
static inline __attribute__((always_inline)) void four_hinges(const struct tac_hinge *g, int n, double h,
                                                              const struct tac_pos *restrict pos,
                                                              struct tac_vel *restrict vel, struct four_book *sum)
{
    tac_four x[4][3], rest, hk, j[4][3];
    const struct tac_hinge *q[FOUR] = {g, g + (n > 1 ? 1 : 0), g + (n > 2 ? 2 : 0), g + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 4);
    rest = LANES(angle);
    hk = 2 * h * LANES(stiffness);
    tac_four_hinge(rest, hk, x, j);
    scatter(vel, stencil, n, 4, j, sum);
}

TAC_VERSIONS
static void tick_hinges(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                        struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const size_t count = rate->count[TAC_KIND_HINGE] - rate->rest[TAC_KIND_HINGE].count;
    IN_FOURS(count, i, e, four_hinges(&rate->hinge[i], e, rate->h_s, pos, vel, &sum));
    close_book(book, &sum);
}

void tac_elastic_tick(const struct tac_rate_class *rate, enum tac_kind kind, const struct tac_pos *pos,
                      struct tac_vel *vel, struct tac_book *book)
{
    struct tac_book unread = {0, 0};
    book = book ? book : &unread;
    if (kind == TAC_KIND_SPRING)
        tick_springs(rate, pos, vel, book);
    else if (kind == TAC_KIND_CST)
        tick_csts(rate, pos, vel, book);
    else if (kind == TAC_KIND_HINGE)
        tick_hinges(rate, pos, vel, book);
}

/* Of the dampers' list, which element e is: its kind and number among those. */
static enum tac_kind damper(const struct tac_rate_class *rate, size_t *e)
{
    for (int kind = TAC_KIND_SPRING; kind < TAC_KIND_HINGE; kind++) {
        if (*e < rate->last[kind].count)
            return (enum tac_kind)kind;
        *e -= rate->last[kind].count;
    }
    return TAC_KIND_HINGE;
}

const tac_lid *tac_elastic_stencil(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, int *count)
{
    const bool damping = kind == TAC_KIND_DAMPING;
    switch (damping ? damper(rate, &e) : kind) {
    case TAC_KIND_SPRING:
        *count = 2;
        return damping ? rate->spring_damper[e].v : rate->spring[e].v;
    case TAC_KIND_CST:
        *count = 3;
        return damping ? rate->cst_damper[e].v : rate->cst[e].v;
    case TAC_KIND_HINGE:
        *count = 4;
        return damping ? rate->hinge_damper[e].v : rate->hinge[e].v;
    case TAC_KIND_LOAD:
        *count = rate->load[e].count;
        return rate->load[e].v;
    default:
        *count = 0;
        return NULL;
    }
}

bool tac_elastic_mine(const struct tac_scene *scene, const struct tac_rate_class *rate, enum tac_kind kind, size_t e)
{
    if (scene->part == NULL)
        return true;
    int n;
    const tac_lid *v = tac_elastic_stencil(rate, kind, e, &n);
    tac_lid lowest = v[0];
    for (int i = 1; i < n; i++)
        if (scene->part->vertex_id[v[i]] < scene->part->vertex_id[lowest])
            lowest = v[i];
    return lowest < scene->part->owned;
}

static void damper_impulse(const struct tac_rate_class *rate, size_t e, const double x[4][3], double impulse[4][3])
{
    const enum tac_kind element = damper(rate, &e);
    const int width = tac_memory_width(element);
    double last[3] = {0, 0, 0};
    memcpy(last, &rate->last[element].value[(size_t)width * e], (size_t)width * sizeof *last);
    if (element == TAC_KIND_SPRING) {
        tac_one_spring_damper(rate->spring_damper[e].rate, x, last, impulse[0]);
        for (int k = 0; k < 3; k++)
            impulse[1][k] = -impulse[0][k];
    } else if (element == TAC_KIND_CST) {
        const struct tac_cst_damper *c = &rate->cst_damper[e];
        tac_one_cst_damper(c->b00, c->b01, c->b11, c->a, c->b, c->most, x, last, impulse);
    } else {
        tac_one_hinge_damper(rate->hinge_damper[e].rate, rate->hinge_damper[e].most, x, last, impulse);
    }
}

/* What element e of a kind is measured against: (1) or (3). False: nothing but what it was made with. */
static bool rest_of(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, double rest[3])
{
    const struct tac_memory *m = &rate->rest[kind];
    const size_t first = rate->count[kind] - m->count, width = (size_t)tac_memory_width(kind);
    if (e < first)
        return false;
    memcpy(rest, &m->value[width * (e - first)], width * sizeof *rest);
    return true;
}

void tac_elastic_impulse(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, const double x[4][3],
                         double impulse[4][3])
{
    const double h = rate->h_s;
    double rest[3], n1[3], n2[3], ee;
    memset(impulse, 0, 12 * sizeof(double));
    if (kind == TAC_KIND_SPRING) {
        const struct tac_spring *s = &rate->spring[e];
        tac_one_spring(rest_of(rate, kind, e, rest) ? rest[0] : s->length, h * s->stiffness, x, impulse[0]);
        for (int k = 0; k < 3; k++)
            impulse[1][k] = -impulse[0][k];
    } else if (kind == TAC_KIND_CST) {
        const struct tac_cst *c = &rate->cst[e];
        double f0[3], f1[3], strain[3];
        tac_one_cst_strain(c->b00, c->b01, c->b11, x, f0, f1, strain);
        if (rest_of(rate, kind, e, rest))
            tac_sub(strain, strain, rest);
        tac_one_cst_push(c->b00, c->b01, c->b11, h * c->a, h * c->b, f0, f1, strain, impulse);
    } else if (kind == TAC_KIND_HINGE) {
        const struct tac_hinge *g = &rate->hinge[e];
        double edge[3], a[3], b[3];
        const double theta = tac_one_hinge_angle(x, edge, a, b, n1, n2, &ee);
        const double bend = rest_of(rate, kind, e, rest) ? tac_one_turn(theta - rest[0]) : theta - g->angle;
        tac_one_hinge_push(2 * h * g->stiffness * bend, edge, a, b, n1, n2, ee, impulse);
    } else if (kind == TAC_KIND_DAMPING) {
        damper_impulse(rate, e, x, impulse);
    }
}

double tac_elastic_potential(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, const double x[4][3])
{
    double rest[3] = {0, 0, 0};
    const bool plastic = kind >= TAC_KIND_SPRING && kind <= TAC_KIND_HINGE && rest_of(rate, kind, e, rest);
    switch (kind) {
    case TAC_KIND_SPRING:
        return tac_spring_potential(&rate->spring[e], plastic ? rest[0] : rate->spring[e].length, x);
    case TAC_KIND_CST:
        return tac_cst_potential(&rate->cst[e], rest, x);
    case TAC_KIND_HINGE:
        return tac_hinge_potential(&rate->hinge[e], plastic ? rest : NULL, x);
    default:
        return 0;
    }
}

static void destroy_memory(struct tac_memory *m)
{
    free(m->value);
    free(m->saved);
    free(m->id);
}

void tac_elastic_destroy(struct tac_elastic **elastic)
{
    if (*elastic == NULL)
        return;
    for (size_t i = 0; i < (*elastic)->class_count; i++) {
        struct tac_rate_class *rate = &(*elastic)->rate[i];
        free(rate->spring);
        free(rate->cst);
        free(rate->hinge);
        free(rate->load);
        free(rate->pushed);
        free(rate->push);
        free(rate->spring_damper);
        free(rate->cst_damper);
        free(rate->hinge_damper);
        free(rate->damped);
        free(rate->vertex);
        for (int k = 0; k < TAC_KINDS; k++) {
            free(rate->held[k]);
            free(rate->yield[k]);
            free(rate->flow_mine[k]);
            destroy_memory(&rate->rest[k]);
            destroy_memory(&rate->last[k]);
        }
    }
    free((*elastic)->rate);
    free((*elastic)->omega);
    tac_load_times_free(&(*elastic)->times);
    free(*elastic);
    *elastic = NULL;
}
