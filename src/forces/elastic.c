#include "forces/kernels.h"
#include "partition/part.h"
#include <stdlib.h>
#include <string.h>

/* The loops go in blocks of four: impulses side by side, from positions that kicks of this instant do not change, then
 * the kicks one after the other in key order.  The compilers make one version for machines with 256-bit vectors; it
 * gives the same bits. (clang refuses vector arguments in such versions, even inlined; it makes one.) */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__AVX2__) &&                           \
    !defined(__SANITIZE_ADDRESS__)
#define TAC_VERSIONS __attribute__((target_clones("avx2", "default")))
#else
#define TAC_VERSIONS
#endif

enum { FOUR = 4 };

/* One field of the four elements q[]; past the end of a class the first is repeated, and not kicked. */
#define LANES(field) ((tac_four){q[0]->field, q[1]->field, q[2]->field, q[3]->field})

/* Impulses of four elements on one of their vertices, from coordinates side by side to one row (jx, jy, jz, 0) each. */
static inline __attribute__((always_inline)) void rows(tac_four row[FOUR], const tac_four j[3])
{
    const tac_four zero = {0, 0, 0, 0};
    tac_four xy_lo = __builtin_shufflevector(j[0], j[1], 0, 4, 2, 6),
             xy_hi = __builtin_shufflevector(j[0], j[1], 1, 5, 3, 7);
    tac_four z_lo = __builtin_shufflevector(j[2], zero, 0, 4, 2, 6),
             z_hi = __builtin_shufflevector(j[2], zero, 1, 5, 3, 7);
    row[0] = __builtin_shufflevector(xy_lo, z_lo, 0, 1, 4, 5);
    row[1] = __builtin_shufflevector(xy_hi, z_hi, 0, 1, 4, 5);
    row[2] = __builtin_shufflevector(xy_lo, z_lo, 2, 3, 6, 7);
    row[3] = __builtin_shufflevector(xy_hi, z_hi, 2, 3, 6, 7);
}

/* Kicks a vertex: v += w j, and w += w 0. Returns the kick's work, J . (v before + v after) / 2, by coordinates. */
static inline __attribute__((always_inline)) tac_four kick(struct tac_vel *vel, tac_four j)
{
    tac_four v;
    memcpy(&v, vel, sizeof v);
    tac_four d = __builtin_shufflevector(v, v, 3, 3, 3, 3) * j;
    tac_four work = j * (v + .5 * d);
    v += d;
    memcpy(vel, &v, sizeof v);
    return work;
}

/* A book of four lanes, closed into the real one at the end of a loop. */
struct four_book {
    tac_four work, absolute;
};

/* Enters the works of four elements, given by coordinates. */
static inline __attribute__((always_inline)) void enter(struct four_book *book, const tac_four work[FOUR])
{
    const tac_four_mask magnitude = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    tac_four x, y, z, even_pq = __builtin_shufflevector(work[0], work[1], 0, 4, 2, 6);
    tac_four even_rs = __builtin_shufflevector(work[2], work[3], 0, 4, 2, 6);
    x = __builtin_shufflevector(even_pq, even_rs, 0, 1, 4, 5);
    z = __builtin_shufflevector(even_pq, even_rs, 2, 3, 6, 7);
    y = __builtin_shufflevector(__builtin_shufflevector(work[0], work[1], 1, 5, 1, 5),
                                __builtin_shufflevector(work[2], work[3], 1, 5, 1, 5), 0, 1, 4, 5);
    x = x + y + z;
    book->work += x;
    book->absolute += (tac_four)((tac_four_mask)x & magnitude);
}

static inline __attribute__((always_inline)) void close_book(struct tac_book *book, const struct four_book *sum)
{
    book->work += (sum->work[0] + sum->work[1]) + (sum->work[2] + sum->work[3]);
    book->absolute += (sum->absolute[0] + sum->absolute[1]) + (sum->absolute[2] + sum->absolute[3]);
}

/* Positions of four vertices, transposed: x[k] holds coordinate k of all four. */
static inline __attribute__((always_inline)) void load(tac_four x[3], const struct tac_pos *restrict pos, tac_lid a,
                                                       tac_lid b, tac_lid c, tac_lid d)
{
    tac_four p, q, r, s;
    memcpy(&p, &pos[a], sizeof p);
    memcpy(&q, &pos[b], sizeof q);
    memcpy(&r, &pos[c], sizeof r);
    memcpy(&s, &pos[d], sizeof s);
    tac_four even_pq = __builtin_shufflevector(p, q, 0, 4, 2, 6), odd_pq = __builtin_shufflevector(p, q, 1, 5, 3, 7);
    tac_four even_rs = __builtin_shufflevector(r, s, 0, 4, 2, 6), odd_rs = __builtin_shufflevector(r, s, 1, 5, 3, 7);
    x[0] = __builtin_shufflevector(even_pq, even_rs, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(odd_pq, odd_rs, 0, 1, 4, 5);
    x[2] = __builtin_shufflevector(even_pq, even_rs, 2, 3, 6, 7);
}

/* n elements from s on, 1 to 4. */
static inline __attribute__((always_inline)) void four_springs(const struct tac_spring *s, int n, double h,
                                                               const struct tac_pos *restrict pos,
                                                               struct tac_vel *restrict vel, struct four_book *sum)
{
    const tac_four none = {0, 0, 0, 0};
    tac_four x[2][3], length, hk, j[3], row[FOUR];
    const struct tac_spring *q[FOUR] = {s, s + (n > 1 ? 1 : 0), s + (n > 2 ? 2 : 0), s + (n > 3 ? 3 : 0)};
    for (int v = 0; v < 2; v++)
        load(x[v], pos, q[0]->v[v], q[1]->v[v], q[2]->v[v], q[3]->v[v]);
    length = LANES(length);
    hk = h * LANES(stiffness);
    tac_four_spring(length, hk, x, j);
    rows(row, j);
    tac_four work[FOUR] = {none, none, none, none};
    for (int e = 0; e < n; e++) {
        work[e] = kick(&vel[s[e].v[0]], row[e]);
        work[e] += kick(&vel[s[e].v[1]], -row[e]);
    }
    enter(sum, work);
}

TAC_VERSIONS
static void tick_springs(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                         struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const size_t count = rate->count[TAC_KIND_SPRING];
    size_t i = 0;
    for (; i + FOUR <= count; i += FOUR)
        four_springs(&rate->spring[i], FOUR, rate->h_s, pos, vel, &sum);
    if (i < count)
        four_springs(&rate->spring[i], (int)(count - i), rate->h_s, pos, vel, &sum);
    close_book(book, &sum);
}

/* n elements from c on, 1 to 4. */
static inline __attribute__((always_inline)) void four_csts(const struct tac_cst *c, int n, double h,
                                                            const struct tac_pos *restrict pos,
                                                            struct tac_vel *restrict vel, struct four_book *sum)
{
    const tac_four none = {0, 0, 0, 0};
    tac_four x[3][3], b00, b01, b11, ha, hb, j[3][3], row[3][FOUR];
    const struct tac_cst *q[FOUR] = {c, c + (n > 1 ? 1 : 0), c + (n > 2 ? 2 : 0), c + (n > 3 ? 3 : 0)};
    for (int v = 0; v < 3; v++)
        load(x[v], pos, q[0]->v[v], q[1]->v[v], q[2]->v[v], q[3]->v[v]);
    b00 = LANES(b00);
    b01 = LANES(b01);
    b11 = LANES(b11);
    ha = h * LANES(a);
    hb = h * LANES(b);
    tac_four_cst(b00, b01, b11, ha, hb, x, j);
    for (int v = 0; v < 3; v++)
        rows(row[v], j[v]);
    tac_four work[FOUR] = {none, none, none, none};
    for (int e = 0; e < n; e++)
        for (int v = 0; v < 3; v++)
            work[e] += kick(&vel[c[e].v[v]], row[v][e]);
    enter(sum, work);
}

TAC_VERSIONS
static void tick_csts(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                      struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const size_t count = rate->count[TAC_KIND_CST];
    size_t i = 0;
    for (; i + FOUR <= count; i += FOUR)
        four_csts(&rate->cst[i], FOUR, rate->h_s, pos, vel, &sum);
    if (i < count)
        four_csts(&rate->cst[i], (int)(count - i), rate->h_s, pos, vel, &sum);
    close_book(book, &sum);
}

/* n elements from g on, 1 to 4. */
static inline __attribute__((always_inline)) void four_hinges(const struct tac_hinge *g, int n, double h,
                                                              const struct tac_pos *restrict pos,
                                                              struct tac_vel *restrict vel, struct four_book *sum)
{
    const tac_four none = {0, 0, 0, 0};
    tac_four x[4][3], rest, hk, j[4][3], row[4][FOUR];
    const struct tac_hinge *q[FOUR] = {g, g + (n > 1 ? 1 : 0), g + (n > 2 ? 2 : 0), g + (n > 3 ? 3 : 0)};
    for (int v = 0; v < 4; v++)
        load(x[v], pos, q[0]->v[v], q[1]->v[v], q[2]->v[v], q[3]->v[v]);
    rest = LANES(angle);
    hk = 2 * h * LANES(stiffness);
    tac_four_hinge(rest, hk, x, j);
    for (int v = 0; v < 4; v++)
        rows(row[v], j[v]);
    tac_four work[FOUR] = {none, none, none, none};
    for (int e = 0; e < n; e++)
        for (int v = 0; v < 4; v++)
            work[e] += kick(&vel[g[e].v[v]], row[v][e]);
    enter(sum, work);
}

TAC_VERSIONS
static void tick_hinges(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                        struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const size_t count = rate->count[TAC_KIND_HINGE];
    size_t i = 0;
    for (; i + FOUR <= count; i += FOUR)
        four_hinges(&rate->hinge[i], FOUR, rate->h_s, pos, vel, &sum);
    if (i < count)
        four_hinges(&rate->hinge[i], (int)(count - i), rate->h_s, pos, vel, &sum);
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

const tac_lid *tac_elastic_stencil(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, int *count)
{
    switch (kind) {
    case TAC_KIND_SPRING:
        *count = 2;
        return rate->spring[e].v;
    case TAC_KIND_CST:
        *count = 3;
        return rate->cst[e].v;
    case TAC_KIND_HINGE:
        *count = 4;
        return rate->hinge[e].v;
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

void tac_elastic_impulse(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, const double x[4][3],
                         double impulse[4][3])
{
    const double h = rate->h_s;
    memset(impulse, 0, 12 * sizeof(double));
    if (kind == TAC_KIND_SPRING) {
        const struct tac_spring *s = &rate->spring[e];
        tac_one_spring(s->length, h * s->stiffness, x, impulse[0]);
        for (int k = 0; k < 3; k++)
            impulse[1][k] = -impulse[0][k];
    } else if (kind == TAC_KIND_CST) {
        const struct tac_cst *c = &rate->cst[e];
        tac_one_cst(c->b00, c->b01, c->b11, h * c->a, h * c->b, x, impulse);
    } else if (kind == TAC_KIND_HINGE) {
        tac_one_hinge(rate->hinge[e].angle, 2 * h * rate->hinge[e].stiffness, x, impulse);
    }
}

double tac_elastic_potential(const struct tac_rate_class *rate, enum tac_kind kind, size_t e, const double x[4][3])
{
    switch (kind) {
    case TAC_KIND_SPRING:
        return tac_spring_potential(&rate->spring[e], x);
    case TAC_KIND_CST:
        return tac_cst_potential(&rate->cst[e], x);
    case TAC_KIND_HINGE:
        return tac_hinge_potential(&rate->hinge[e], x);
    default:
        return 0;
    }
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
        free(rate->vertex);
        for (int k = 0; k < TAC_KINDS; k++)
            free(rate->held[k]);
    }
    free((*elastic)->rate);
    free((*elastic)->omega);
    tac_load_times_free(&(*elastic)->times);
    free(*elastic);
    *elastic = NULL;
}
