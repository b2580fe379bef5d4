/* hinge_tick.c: ticks hinges (hinge.c), four of them side by side.
 *
 * The loops are pipelines. The impulses of a hinge need a chain of three roots, four divisions and a polynomial, some
 * 250 cycles long, in which each operation depends on the one before. A processor looks only some hundred operations
 * ahead, so it would be idle. Therefore one iteration of the loop works on a dozen batches of four hinges, each one
 * step further than the next.  No step has more than one root or division, or a chain of other operations that takes
 * longer. */
#include "elements/fours.h"
#include "elements/hinge.h"

/* The steps, and how many iterations before the hinges at a step were begun. */
enum { TRIANGLES, FIRST, ANGLE = 10, PARTS, KICK, LINE = 16 };

/* Four hinges whose tick has begun and has not ended. */
struct unfinished {
    struct tac_four_bend bend;
    tac_four ee, turn, across, rise;
    tac_four tangent, below; /* of half the angle, then of its quarter; what it is to be divided by */
    tac_four series;
    tac_four size;  /* what ANGLE leaves to PARTS */
    tac_four apart; /* so that no two have the same offset in their pages, where loads would wait for stores */
};

/* Their impulses: those of this iteration, and those of the last one, with which vertices are kicked now. */
typedef tac_four impulses[4][3];

/* The triangles of n hinges, 1 to 4, whose records are `size` bytes apart from `first` on. */
static inline __attribute__((always_inline)) void fold(struct unfinished *at, const void *first, size_t size, int n,
                                                       const struct tac_pos *restrict pos)
{
    const tac_lid *stencil[FOUR];
    tac_four x[4][3];
    struct tac_four_fold f;
    struct tac_four_bend b; /* of its own, so that nothing is stored before all is computed */
    stencils(stencil, first, size, n);
    gather(x, pos, stencil, 4);
    tac_four_fold_triangles(x, &f);
    tac_four_bend_triangles(&f, &b);
    at->bend = b;
    at->ee = f.ee;
    at->turn = f.turn;
    at->across = f.across;
}

/* A step between TRIANGLES and ANGLE. */
static inline __attribute__((always_inline)) void step(struct unfinished *at, int what)
{
    switch (what) {
    case FIRST:
        at->bend.length = tac_four_sqrt(at->ee);
        break;
    case FIRST + 1:
        at->rise = tac_four_fold_rise(at->turn, at->bend.length);
        break;
    case FIRST + 2:
        at->below = tac_four_half_across(at->rise, at->across);
        break;
    case FIRST + 3:
        at->tangent = tac_four_half_tangent(at->rise, at->below);
        break;
    case FIRST + 4:
        at->below = tac_four_halved_across(at->tangent);
        break;
    case FIRST + 5:
        at->tangent = at->tangent / at->below;
        break;
    case FIRST + 6:
        at->series = tac_four_series_head(at->tangent);
        tac_four_bend_shares(at->ee, &at->bend);
        break;
    case FIRST + 7:
        at->series = tac_four_series_middle(at->tangent, at->series);
        break;
    case FIRST + 8:
        at->series = tac_four_series_tail(at->tangent, at->series);
        break;
    }
}

static inline __attribute__((always_inline)) tac_four angle(const struct unfinished *at)
{
    return tac_four_whole_angle(at->series, at->rise, at->across);
}

/* One iteration of the loop over `fours` batches of hinges; `all`: all steps have hinges. */
#define IN_TURN(first, fours, turn, all, i, n, at, at_angle, at_push)                                                  \
    do {                                                                                                               \
        _Pragma("GCC unroll 16") for (int what = FIRST; what < ANGLE; what++) if (all || turn - (size_t)what < fours)  \
            step(&line[(turn - (size_t)what) % LINE], what);                                                           \
        if (all || turn < fours)                                                                                       \
            fold(&line[turn % LINE], &(first)[FOUR * turn], sizeof *(first), FOUR, pos);                               \
        if (all || turn - PARTS < fours) {                                                                             \
            const size_t i = FOUR * (turn - PARTS);                                                                    \
            struct unfinished *at = &line[(turn - PARTS) % LINE];                                                      \
            tac_four(*const j)[3] = line_j[turn % 2];                                                                  \
            enum { n = FOUR };                                                                                         \
            (void)i;                                                                                                   \
            at_push;                                                                                                   \
        }                                                                                                              \
        if (all || turn - ANGLE < fours) {                                                                             \
            const size_t i = FOUR * (turn - ANGLE);                                                                    \
            struct unfinished *at = &line[(turn - ANGLE) % LINE];                                                      \
            enum { n = FOUR };                                                                                         \
            const tac_four theta = angle(at);                                                                          \
            (void)i;                                                                                                   \
            at_angle;                                                                                                  \
        }                                                                                                              \
        if (all || turn - KICK < fours)                                                                                \
            scatter_from(vel, &(first)[FOUR * (turn - KICK)], sizeof *(first), FOUR, 4, line_j[(turn - 1) % 2], &sum); \
    } while (0)

/* Runs `at_angle` and then `at_push` for all hinges from `first` on, `count` of them, and kicks: of n of them, from
 * number i on, whose state is in `at`; at_angle gets their angles theta and leaves at->size, at_push leaves j.  What is
 * left of whole fours goes at the end. */
#define IN_LINE(first, count, i, n, at, at_angle, at_push)                                                             \
    do {                                                                                                               \
        const size_t fours = (count) / FOUR, turns = fours > 0 ? fours + KICK : 0;                                     \
        struct unfinished line[LINE];                                                                                  \
        impulses line_j[2];                                                                                            \
        size_t turn = 0;                                                                                               \
        for (; turn < turns && turn < KICK; turn++)                                                                    \
            IN_TURN(first, fours, turn, false, i, n, at, at_angle, at_push);                                           \
        for (; turn < fours; turn++)                                                                                   \
            IN_TURN(first, fours, turn, true, i, n, at, at_angle, at_push);                                            \
        for (; turn < turns; turn++)                                                                                   \
            IN_TURN(first, fours, turn, false, i, n, at, at_angle, at_push);                                           \
        if (FOUR * fours < (count)) {                                                                                  \
            const size_t i = FOUR * fours;                                                                             \
            struct unfinished *at = &line[0];                                                                          \
            tac_four(*const j)[3] = line_j[0];                                                                         \
            const int n = (int)((count)-i);                                                                            \
            fold(at, &(first)[i], sizeof *(first), n, pos);                                                            \
            _Pragma("GCC unroll 16") for (int what = FIRST; what < ANGLE; what++) step(at, what);                      \
            const tac_four theta = angle(at);                                                                          \
            at_angle;                                                                                                  \
            at_push;                                                                                                   \
            scatter_from(vel, &(first)[i], sizeof *(first), n, 4, j, &sum);                                            \
        }                                                                                                              \
    } while (0)

/* How hard n elements, 1 to 4, from g on push at the angles theta: what the gradient of the angle is to be multiplied
 * by. */
static inline __attribute__((always_inline)) tac_four size_of(const struct tac_hinge *g, int n, double h,
                                                              tac_four theta)
{
    const struct tac_hinge *q[FOUR] = {g, g + (n > 1 ? 1 : 0), g + (n > 2 ? 2 : 0), g + (n > 3 ? 3 : 0)};
    const double *const two[FOUR] = {&q[0]->stiffness, &q[1]->stiffness, &q[2]->stiffness, &q[3]->stiffness};
    tac_four field[2]; /* stiffness and angle */
    lanes_of_two(field, two);
    return 2 * h * field[0] * (theta - field[1]);
}

TAC_MORE_VERSIONS
void tac_hinge_tick(const void *record, size_t count, double h, const struct tac_pos *restrict pos,
                    struct tac_vel *restrict vel, struct tac_book *book)
{
    const struct tac_hinge *g = record;
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_LINE(g, count, i, n, at, at->size = size_of(&g[i], n, h, theta), tac_four_bend_push(at->size, &at->bend, j));
    close_book(book, &sum);
}

/* n dampers from g on, 1 to 4, and what they remember. */
static inline __attribute__((always_inline)) void four_dampers(const struct tac_hinge_damper *g, double *last, int n,
                                                               const struct tac_four_bend *b, tac_four theta,
                                                               tac_four j[4][3])
{
    tac_four angle_before = recall(last, 1, n);
    const struct tac_hinge_damper *q[FOUR] = {g, g + (n > 1 ? 1 : 0), g + (n > 2 ? 2 : 0), g + (n > 3 ? 3 : 0)};
    tac_four_hinge_damper(LANES(rate), LANES(most), b, theta, &angle_before, j);
    keep(last, 1, n, angle_before);
}

TAC_MORE_VERSIONS
void tac_hinge_tick_dampers(const void *damper, double *last, size_t count, const struct tac_pos *restrict pos,
                            struct tac_vel *restrict vel, struct tac_book *book)
{
    const struct tac_hinge_damper *g = damper;
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_LINE(g, count, i, n, at, at->size = theta, four_dampers(&g[i], &last[i], n, &at->bend, at->size, j));
    close_book(book, &sum);
}

/* n elements from g on, 1 to 4, the i-th plastic ones. */
static inline __attribute__((always_inline)) void four_plastic(const struct tac_hinge *g, size_t i, int n,
                                                               const struct tac_flowing *flowing,
                                                               const struct tac_four_bend *b, tac_four theta,
                                                               tac_four j[4][3])
{
    const tac_four none = {0, 0, 0, 0};
    tac_four rest = recall(&flowing->rest[i], 1, n), loss;
    const struct tac_hinge *q[FOUR] = {g, g + (n > 1 ? 1 : 0), g + (n > 2 ? 2 : 0), g + (n > 3 ? 3 : 0)};
    tac_four_plastic_hinge(LANES(stiffness), recall(&flowing->yield[i], 1, n), none + flowing->h, b, theta, &rest, j,
                           &loss);
    keep(&flowing->rest[i], 1, n, rest);
    enter_flow(flowing->lost, &flowing->mine[i], n, loss);
}

TAC_MORE_VERSIONS
void tac_hinge_tick_plastic(const void *record, size_t count, const struct tac_flowing *flowing,
                            const struct tac_pos *restrict pos, struct tac_vel *restrict vel, struct tac_book *book)
{
    const struct tac_hinge *g = record;
    struct four_book sum = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    IN_LINE(g, count, i, n, at, at->size = theta, four_plastic(&g[i], i, n, flowing, &at->bend, at->size, j));
    close_book(book, &sum);
}
