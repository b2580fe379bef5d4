/* Plastic elements, four at a time: rest values follow strains beyond the yield limit (AVCM 8.7), then the kicks. */
#include "elements/fours.h"

/* What the flow of n elements takes, by those whom this rank accounts for. */
static inline __attribute__((always_inline)) void enter_flow(struct tac_accum *lost, const uint8_t *mine, int n,
                                                             tac_four loss)
{
    for (int e = 0; e < n; e++)
        if (loss[e] != 0 && mine[e] && lost)
            tac_accum_add(lost, loss[e]);
}

/* The plastic elements of one kind and class. */
struct flowing {
    double *rest;
    const double *yield;
    const uint8_t *mine;
    struct tac_accum *lost;
    double h;
};

/* n elements from s on, the i-th plastic ones. */
static inline __attribute__((always_inline)) void four_springs(const struct tac_spring *s, size_t i, int n,
                                                               const struct flowing *f,
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

static inline __attribute__((always_inline)) void four_csts(const struct tac_cst *c, size_t i, int n,
                                                            const struct flowing *f, const struct tac_pos *restrict pos,
                                                            struct tac_vel *restrict vel, struct four_book *sum)
{
    const tac_four none = {0, 0, 0, 0};
    tac_four x[3][3], rest[3], j[3][3], loss;
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
    scatter(vel, stencil, n, 3, j, sum);
}

static inline __attribute__((always_inline)) void four_hinges(const struct tac_hinge *g, size_t i, int n,
                                                              const struct flowing *f,
                                                              const struct tac_pos *restrict pos,
                                                              struct tac_vel *restrict vel, struct four_book *sum)
{
    const tac_four none = {0, 0, 0, 0};
    tac_four x[4][3], rest = recall(&f->rest[i], 1, n), j[4][3], loss;
    const struct tac_hinge *q[FOUR] = {g, g + (n > 1 ? 1 : 0), g + (n > 2 ? 2 : 0), g + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 4);
    tac_four_plastic_hinge(LANES(stiffness), recall(&f->yield[i], 1, n), none + f->h, x, &rest, j, &loss);
    keep(&f->rest[i], 1, n, rest);
    enter_flow(f->lost, &f->mine[i], n, loss);
    scatter(vel, stencil, n, 4, j, sum);
}

TAC_VERSIONS
static void tick_springs(const struct tac_spring *s, size_t n, const struct flowing *f,
                         const struct tac_pos *restrict pos, struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_FOURS(n, i, e, four_springs(&s[i], i, e, f, pos, vel, &sum));
    close_book(book, &sum);
}

TAC_VERSIONS
static void tick_csts(const struct tac_cst *c, size_t n, const struct flowing *f, const struct tac_pos *restrict pos,
                      struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_FOURS(n, i, e, four_csts(&c[i], i, e, f, pos, vel, &sum));
    close_book(book, &sum);
}

TAC_VERSIONS
static void tick_hinges(const struct tac_hinge *g, size_t n, const struct flowing *f,
                        const struct tac_pos *restrict pos, struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_FOURS(n, i, e, four_hinges(&g[i], i, e, f, pos, vel, &sum));
    close_book(book, &sum);
}

void tac_plastic_tick(const struct tac_rate_class *rate, enum tac_kind kind, const struct tac_pos *pos,
                      struct tac_vel *vel, struct tac_book *book, struct tac_accum *lost)
{
    struct tac_book unread = {0, 0};
    const size_t n = rate->rest[kind].count, first = rate->count[kind] - n;
    const struct flowing f = {rate->rest[kind].value, rate->yield[kind], rate->flow_mine[kind], lost, rate->h_s};
    book = book ? book : &unread;
    if (n == 0)
        return;
    if (kind == TAC_KIND_SPRING)
        tick_springs(&rate->spring[first], n, &f, pos, vel, book);
    else if (kind == TAC_KIND_CST)
        tick_csts(&rate->cst[first], n, &f, pos, vel, book);
    else if (kind == TAC_KIND_HINGE)
        tick_hinges(&rate->hinge[first], n, &f, pos, vel, book);
}
