/* Dampers, four at a time. */
#include "forces/fours.h"

/* n dampers from s on, 1 to 4, and what they remember. */
static inline __attribute__((always_inline)) void four_springs(const struct tac_spring_damper *s, double *last, int n,
                                                               const struct tac_pos *restrict pos,
                                                               struct tac_vel *restrict vel, struct four_book *sum)
{
    const tac_four none = {0, 0, 0, 0};
    tac_four x[2][3], j[3], row[FOUR], l = recall(last, 1, n);
    const struct tac_spring_damper *q[FOUR] = {s, s + (n > 1 ? 1 : 0), s + (n > 2 ? 2 : 0), s + (n > 3 ? 3 : 0)};
    for (int v = 0; v < 2; v++)
        load(x[v], pos, q[0]->v[v], q[1]->v[v], q[2]->v[v], q[3]->v[v]);
    tac_four_spring_damper(LANES(rate), x, &l, j);
    keep(last, 1, n, l);
    rows(row, j);
    tac_four work[FOUR] = {none, none, none, none};
    for (int e = 0; e < n; e++) {
        work[e] = kick(&vel[s[e].v[0]], row[e]);
        work[e] += kick(&vel[s[e].v[1]], -row[e]);
    }
    enter(sum, work);
}

static inline __attribute__((always_inline)) void four_csts(const struct tac_cst_damper *c, double *last, int n,
                                                            const struct tac_pos *restrict pos,
                                                            struct tac_vel *restrict vel, struct four_book *sum)
{
    const tac_four none = {0, 0, 0, 0};
    tac_four x[3][3], strain[3], j[3][3], row[3][FOUR];
    const struct tac_cst_damper *q[FOUR] = {c, c + (n > 1 ? 1 : 0), c + (n > 2 ? 2 : 0), c + (n > 3 ? 3 : 0)};
    for (int v = 0; v < 3; v++)
        load(x[v], pos, q[0]->v[v], q[1]->v[v], q[2]->v[v], q[3]->v[v]);
    for (int k = 0; k < 3; k++)
        strain[k] = recall(last + k, 3, n);
    tac_four_cst_damper(LANES(b00), LANES(b01), LANES(b11), LANES(a), LANES(b), LANES(most), x, strain, j);
    for (int k = 0; k < 3; k++)
        keep(last + k, 3, n, strain[k]);
    for (int v = 0; v < 3; v++)
        rows(row[v], j[v]);
    tac_four work[FOUR] = {none, none, none, none};
    for (int e = 0; e < n; e++)
        for (int v = 0; v < 3; v++)
            work[e] += kick(&vel[c[e].v[v]], row[v][e]);
    enter(sum, work);
}

static inline __attribute__((always_inline)) void four_hinges(const struct tac_hinge_damper *g, double *last, int n,
                                                              const struct tac_pos *restrict pos,
                                                              struct tac_vel *restrict vel, struct four_book *sum)
{
    const tac_four none = {0, 0, 0, 0};
    tac_four x[4][3], angle = recall(last, 1, n), j[4][3], row[4][FOUR];
    const struct tac_hinge_damper *q[FOUR] = {g, g + (n > 1 ? 1 : 0), g + (n > 2 ? 2 : 0), g + (n > 3 ? 3 : 0)};
    for (int v = 0; v < 4; v++)
        load(x[v], pos, q[0]->v[v], q[1]->v[v], q[2]->v[v], q[3]->v[v]);
    tac_four_hinge_damper(LANES(rate), LANES(most), x, &angle, j);
    keep(last, 1, n, angle);
    for (int v = 0; v < 4; v++)
        rows(row[v], j[v]);
    tac_four work[FOUR] = {none, none, none, none};
    for (int e = 0; e < n; e++)
        for (int v = 0; v < 4; v++)
            work[e] += kick(&vel[g[e].v[v]], row[v][e]);
    enter(sum, work);
}

TAC_VERSIONS
static void tick_springs(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                         struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const struct tac_memory *m = &rate->last[TAC_KIND_SPRING];
    size_t i = 0;
    for (; i + FOUR <= m->count; i += FOUR)
        four_springs(&rate->spring_damper[i], &m->value[i], FOUR, pos, vel, &sum);
    if (i < m->count)
        four_springs(&rate->spring_damper[i], &m->value[i], (int)(m->count - i), pos, vel, &sum);
    close_book(book, &sum);
}

TAC_VERSIONS
static void tick_csts(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                      struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const struct tac_memory *m = &rate->last[TAC_KIND_CST];
    size_t i = 0;
    for (; i + FOUR <= m->count; i += FOUR)
        four_csts(&rate->cst_damper[i], &m->value[3 * i], FOUR, pos, vel, &sum);
    if (i < m->count)
        four_csts(&rate->cst_damper[i], &m->value[3 * i], (int)(m->count - i), pos, vel, &sum);
    close_book(book, &sum);
}

TAC_VERSIONS
static void tick_hinges(const struct tac_rate_class *rate, const struct tac_pos *restrict pos,
                        struct tac_vel *restrict vel, struct tac_book *book)
{
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const struct tac_memory *m = &rate->last[TAC_KIND_HINGE];
    size_t i = 0;
    for (; i + FOUR <= m->count; i += FOUR)
        four_hinges(&rate->hinge_damper[i], &m->value[i], FOUR, pos, vel, &sum);
    if (i < m->count)
        four_hinges(&rate->hinge_damper[i], &m->value[i], (int)(m->count - i), pos, vel, &sum);
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
