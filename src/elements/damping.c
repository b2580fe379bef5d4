/* Dampers, four at a time. */
#include "elements/fours.h"

/* n dampers from s on, 1 to 4, and what they remember. */
static inline __attribute__((always_inline)) void four_springs(const struct tac_spring_damper *s, double *last, int n,
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

static inline __attribute__((always_inline)) void four_csts(const struct tac_cst_damper *c, double *last, int n,
                                                            const struct tac_pos *restrict pos,
                                                            struct tac_vel *restrict vel, struct four_book *sum)
{
    tac_four x[3][3], strain[3], j[3][3];
    const struct tac_cst_damper *q[FOUR] = {c, c + (n > 1 ? 1 : 0), c + (n > 2 ? 2 : 0), c + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 3);
    for (int k = 0; k < 3; k++)
        strain[k] = recall(last + k, 3, n);
    tac_four_cst_damper(LANES(b00), LANES(b01), LANES(b11), LANES(a), LANES(b), LANES(most), x, strain, j);
    for (int k = 0; k < 3; k++)
        keep(last + k, 3, n, strain[k]);
    scatter(vel, stencil, n, 3, j, sum);
}

static inline __attribute__((always_inline)) void four_hinges(const struct tac_hinge_damper *g, double *last, int n,
                                                              const struct tac_pos *restrict pos,
                                                              struct tac_vel *restrict vel, struct four_book *sum)
{
    tac_four x[4][3], angle = recall(last, 1, n), j[4][3];
    const struct tac_hinge_damper *q[FOUR] = {g, g + (n > 1 ? 1 : 0), g + (n > 2 ? 2 : 0), g + (n > 3 ? 3 : 0)};
    const tac_lid *const stencil[FOUR] = STENCILS;
    gather(x, pos, stencil, 4);
    tac_four_hinge_damper(LANES(rate), LANES(most), x, &angle, j);
    keep(last, 1, n, angle);
    scatter(vel, stencil, n, 4, j, sum);
}

TAC_VERSIONS
static void tick_springs(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                         struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const struct tac_memory *m = &rate->last[TAC_KIND_SPRING];
    IN_FOURS(m->count, i, e, four_springs(&rate->spring_damper[i], &m->value[i], e, pos, vel, &sum));
    close_book(book, &sum);
}

TAC_VERSIONS
static void tick_csts(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                      struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const struct tac_memory *m = &rate->last[TAC_KIND_CST];
    IN_FOURS(m->count, i, e, four_csts(&rate->cst_damper[i], &m->value[3 * i], e, pos, vel, &sum));
    close_book(book, &sum);
}

TAC_VERSIONS
static void tick_hinges(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                        struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const struct tac_memory *m = &rate->last[TAC_KIND_HINGE];
    IN_FOURS(m->count, i, e, four_hinges(&rate->hinge_damper[i], &m->value[i], e, pos, vel, &sum));
    close_book(book, &sum);
}

void tac_damping_tick(const struct tac_rate_class *rate, const struct tac_pos *pos, struct tac_vel *vel,
                      struct tac_book *book)
{
    struct tac_book unread = {0, 0};
    book = book ? book : &unread;
    tick_springs(rate, pos, vel, book);
    tick_csts(rate, pos, vel, book);
    tick_hinges(rate, pos, vel, book);
}
