/* fours.h: declares what the loops over elements have in common: they take four elements at a time, kick their
 * vertices, and add up their works.
 */
#ifndef TACTUS_ELEMENTS_FOURS_H
#define TACTUS_ELEMENTS_FOURS_H

#include "elements/element.h"
#include "elements/kernels.h"
#include "partition/map.h"
#include <string.h>

/* The loops take blocks of four. They compute four impulses side by side, from positions that kicks of this instant do
 * not change, and then kick one vertex after the other in key order. */
enum { FOUR = 4 };

/* One field of the four elements q[]; past the end of a class the first is repeated, and not kicked. */
#define LANES(field) ((tac_four){q[0]->field, q[1]->field, q[2]->field, q[3]->field})

/* Loads two consecutive fields of the four elements together, from p[0] .. p[3] on. */
static inline __attribute__((always_inline)) void lanes_of_two(tac_four field[2], const double *const p[FOUR])
{
    typedef double two __attribute__((vector_size(16)));
    two row[FOUR];
    for (int l = 0; l < FOUR; l++)
        memcpy(&row[l], p[l], sizeof row[l]);
    const tac_four even = __builtin_shufflevector(row[0], row[2], 0, 1, 2, 3);
    const tac_four odd = __builtin_shufflevector(row[1], row[3], 0, 1, 2, 3);
    field[0] = __builtin_shufflevector(even, odd, 0, 4, 2, 6);
    field[1] = __builtin_shufflevector(even, odd, 1, 5, 3, 7);
}

/* Transposes the impulses of four elements on one of their vertices, from coordinates side by side to one row (jx, jy,
 * jz, 0) each. */
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

/* A book of four lanes, of twice the works, which is added to the real one at the end of a loop. */
struct four_book {
    tac_four work, absolute;
};

/* Enters the works of four elements, given by coordinates, twice. */
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
    book->work += .5 * ((sum->work[0] + sum->work[1]) + (sum->work[2] + sum->work[3]));
    book->absolute += .5 * ((sum->absolute[0] + sum->absolute[1]) + (sum->absolute[2] + sum->absolute[3]));
}

/* Loads the positions of four vertices, transposed: x[k] holds coordinate k of all four. */
static inline __attribute__((always_inline)) void load(tac_four x[3], const struct tac_pos *restrict pos, tac_lid a,
                                                       tac_lid b, tac_lid c, tac_lid d)
{
    tac_four p, q, r, s;
    memcpy(&p, &pos[a], sizeof p);
    memcpy(&q, &pos[b], sizeof q);
    memcpy(&r, &pos[c], sizeof r);
    memcpy(&s, &pos[d], sizeof s);
    tac_four_columns(x, p, q, r, s);
}

/* The stencils of the four elements q[]. */
#define STENCILS                                                                                                       \
    {                                                                                                                  \
        q[0]->v, q[1]->v, q[2]->v, q[3]->v                                                                             \
    }

/* Gathers the positions of the k vertices of four elements: x[v][c] holds coordinate c of their vertices v. */
static inline __attribute__((always_inline)) void gather(tac_four x[][3], const struct tac_pos *restrict pos,
                                                         const tac_lid *const stencil[FOUR], int k)
{
    for (int v = 0; v < k; v++)
        load(x[v], pos, stencil[0][v], stencil[1][v], stencil[2][v], stencil[3][v]);
}

/* Kicks the k vertices of n elements, 1 to 4, one element after the other; j[v]: impulses on their vertices v, by
 * coordinates.  Enters the works. */
static inline __attribute__((always_inline)) void scatter(struct tac_vel *restrict vel,
                                                          const tac_lid *const stencil[FOUR], int n, int k,
                                                          tac_four j[][3], struct four_book *sum)
{
    const tac_four none = {0, 0, 0, 0};
    tac_four row[FOUR][FOUR], work[FOUR] = {none, none, none, none};
    for (int v = 0; v < k; v++)
        rows(row[v], j[v]);
    for (int e = 0; e < n; e++)
        for (int v = 0; v < k; v++)
            work[e] += tac_map_kick(&vel[stencil[e][v]], row[v][e]);
    enter(sum, work);
}

/* Finds the stencils of n elements, 1 to 4, whose records are `size` bytes apart from `first` on. After the last one
 * the first is repeated. */
static inline __attribute__((always_inline)) void stencils(const tac_lid *stencil[FOUR], const void *first, size_t size,
                                                           int n)
{
    for (int l = 0; l < FOUR; l++)
        stencil[l] = (const void *)((const char *)first + (l < n ? (size_t)l : 0) * size);
}

/* Does what scatter() does, for these elements. */
static inline __attribute__((always_inline)) void scatter_from(struct tac_vel *restrict vel, const void *first,
                                                               size_t size, int n, int k, tac_four j[][3],
                                                               struct four_book *sum)
{
    const tac_lid *stencil[FOUR];
    stencils(stencil, first, size, n);
    scatter(vel, stencil, n, k, j, sum);
}

/* Does the same for pairs of vertices: j on the first, -j on the second. */
static inline __attribute__((always_inline)) void scatter_pairs(struct tac_vel *restrict vel,
                                                                const tac_lid *const stencil[FOUR], int n,
                                                                const tac_four j[3], struct four_book *sum)
{
    const tac_four none = {0, 0, 0, 0};
    tac_four row[FOUR], work[FOUR] = {none, none, none, none};
    rows(row, j);
    for (int e = 0; e < n; e++) {
        work[e] = tac_map_kick(&vel[stencil[e][0]], row[e]);
        work[e] += tac_map_kick(&vel[stencil[e][1]], -row[e]);
    }
    enter(sum, work);
}

/* Runs `call` for the elements i .. i + n - 1 of `count`: four at a time, with n known to the compiler, then the rest.
 */
#define IN_FOURS(count, i, n, call)                                                                                    \
    size_t i = 0;                                                                                                      \
    for (; i + FOUR <= (count); i += FOUR) {                                                                           \
        enum { n = FOUR };                                                                                             \
        call;                                                                                                          \
    }                                                                                                                  \
    if (i < (count)) {                                                                                                 \
        const int n = (int)((count)-i);                                                                                \
        call;                                                                                                          \
    }

/* Does the same for elements of `nodes` vertices, whose records begin at `first`. `call` leaves their impulses in j,
 * and their vertices are kicked one iteration later. So the many loads and stores of the kicks run in parallel with the
 * arithmetic of the next elements. */
#define IN_TURNS(first, count, nodes, i, n, call)                                                                      \
    do {                                                                                                               \
        tac_four line[2][nodes][3];                                                                                    \
        size_t i = 0;                                                                                                  \
        for (; i + FOUR <= (count); i += FOUR) {                                                                       \
            enum { n = FOUR };                                                                                         \
            tac_four j[nodes][3];                                                                                      \
            call;                                                                                                      \
            memcpy(line[i / FOUR % 2], j, sizeof j);                                                                   \
            if (i > 0)                                                                                                 \
                scatter_from(vel, &(first)[i - FOUR], sizeof *(first), n, nodes, line[(i / FOUR + 1) % 2], &sum);      \
        }                                                                                                              \
        if (i > 0)                                                                                                     \
            scatter_from(vel, &(first)[i - FOUR], sizeof *(first), FOUR, nodes, line[(i / FOUR + 1) % 2], &sum);       \
        if (i < (count)) {                                                                                             \
            const int n = (int)((count)-i);                                                                            \
            tac_four j[nodes][3];                                                                                      \
            call;                                                                                                      \
            scatter_from(vel, &(first)[i], sizeof *(first), n, nodes, j, &sum);                                        \
        }                                                                                                              \
    } while (0)

/* Loads four numbers, `step` apart; after the n-th the first is repeated. */
static inline __attribute__((always_inline)) tac_four recall(const double *p, int step, int n)
{
    return (tac_four){p[0], p[n > 1 ? step : 0], p[n > 2 ? 2 * step : 0], p[n > 3 ? 3 * step : 0]};
}

/* Stores them where recall() loaded them. */
static inline __attribute__((always_inline)) void keep(double *p, int step, int n, tac_four value)
{
    for (int e = 0; e < n; e++)
        p[e * step] = value[e];
}

/* Enters the energy that the flow of n elements takes, of those elements that this rank accounts for. */
static inline __attribute__((always_inline)) void enter_flow(struct tac_accum *lost, const uint8_t *mine, int n,
                                                             tac_four loss)
{
    for (int e = 0; e < n; e++)
        if (loss[e] != 0 && mine[e] && lost)
            tac_accum_add(lost, loss[e]);
}

#endif
