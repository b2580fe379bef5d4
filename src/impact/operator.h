/* operator.h: changes velocities of bodies that touch, at one instant (docs/reference/impact.md, Operators; Smith et
 * al., Reflections on Simultaneous Impact, 2012).
 *
 * It knows rows and velocities, and neither time nor places. All problems have the form
 *
 *     P(v, G, r):  y = argmin over y >= 0 of 1/2 |v + G y|^2 - r.y
 *
 * whose result v + G y is the nearest velocity to v at which no row k has g_k.v under r_k.
 *
 *     struct tac_instant in = {.ctx = ctx, .rule = rule, .bodies = 2, .v = v, .rows = 1, .row = row};
 *     TAC_TRY(tac_instant_islands(&in));
 *     TAC_TRY(tac_instant_strike(&in));          impact: in.v changes, and the rows get impulses
 *     tac_instant_free(&in);
 */
#ifndef TACTUS_IMPACT_OPERATOR_H
#define TACTUS_IMPACT_OPERATOR_H

#include "impact/bounded/interior.h"
#include "impact/islands.h"
#include <tactus/scene.h>

enum { TAC_MANY_ROWS = 400 }; /* smaller islands are solved as a whole, and to the end */

/* Which rank solves each island (deal.c). */
struct tac_deal {
    size_t capacity, limit, giants; /* limit: an island of more rows, and a problem of more columns, is one of all */
    int32_t *owner;                 /* owned, (islands): a rank, or -1: all */
    bool together;                  /* all ranks work on the present island */
    struct tac_bounded share;       /* of a problem that all solve */
};

/* The rows of a problem that has not spread to all of its island (reach.c). */
struct tac_spread {
    size_t body_capacity, row_capacity;
    size_t count, rings;
    uint32_t *chosen; /* owned, (rows): the first `count` are the set */
    bool *has;        /* owned, (rows): is it in the set? */
    bool *meets;      /* owned, (bodies): has it a row in the set? */
    double *v;        /* owned, (bodies, 3): velocities with the impulses of the set */
    double *y;        /* owned, (rows): impulses */
};

/* The rows of the last support of the present part of a step, with what went into it and came out (kept.c). */
struct tac_kept_support {
    size_t count, row_capacity, body_capacity; /* count: of `row`; 0: nothing is kept */
    struct tac_kept_row *row;                  /* owned, ascending by key */
    int32_t *of;                               /* owned, (rows): in `row`, or -1 */
    double *before;                            /* owned, (bodies, 3): velocities before the support */
};

struct tac_instant {
    struct tac_ctx *ctx; /* borrowed */
    bool dealt;          /* calls are collective, and all ranks have the same rows and velocities */
    bool keeps;          /* rows ascend by key, and one with the same key is the same until kept.count is set to 0 */
    struct tac_impact_settings rule;
    size_t large; /* an interior point helps in problems of more columns; 0: more than usual (operator.c) */
    size_t bodies, rows;
    double *v;                  /* borrowed, (bodies, 3): times the root of mass */
    struct tac_impact_row *row; /* borrowed, (rows) */

    /* of an impact */
    double fastest; /* the largest |v| of a body in the scene */
    double floor;   /* m/s: slower approaches are rounding errors of supports */
    bool moves;     /* the fastest body is faster than what forces give in a step */
    double slow;    /* m/s: what approaches slower is not reflected, unless all of its island is elastic */

    double slack;      /* times rule.tolerance: of the island that is being solved */
    bool lossy, turns; /* it loses energy; it has rigid pieces */
    bool tumbles;      /* it has many rows, and rigid pieces that are not at rest */
    double most;       /* the largest number that the last problem was to take */

    /* counted since the caller set them to 0 */
    int64_t reflections, jammed, iterations;
    size_t largest;   /* rows of an island */
    int64_t unsolved; /* since the caller set it to 0: unknowns of the largest problem that was not solved; 0: none */

    /* work, owned */
    struct tac_islands all, part; /* of all rows; of the rows that are violated */
    struct tac_deal deal;
    struct tac_spread spread;
    struct tac_kept_support kept;
    struct tac_bounded problem;
    struct tac_interior interior;
    size_t body_capacity, row_capacity;
    int32_t *local;         /* (bodies): number in the problem, or -1 */
    int32_t *global;        /* (bodies): the reverse */
    double *start, *other;  /* (bodies, 3): velocities before an impact, and by another law */
    uint32_t *violated;     /* (rows) */
    double *first, *second; /* (rows): impulses */
};

/* Local. Makes room for, and the islands of, the present rows. */
enum tac_err tac_instant_islands(struct tac_instant *in);
void tac_instant_free(struct tac_instant *in);

/* Local. Does the row approach faster than by rounding errors, with `slow` m/s allowed (0: none)? */
static inline bool tac_instant_violates(const struct tac_instant *in, const struct tac_impact_row *row, double slow)
{
    return tac_row_speed(row, in->v) + row->u < -(1e-12 * in->fastest + fmax(in->floor, slow) / row->s);
}

/* Collective, if the islands are dealt. Impact, without friction, of all islands in which a row is violated: in->v
 * becomes the velocities after it, and the rows get their impulses, 0 in other islands. in->unsolved says whether all
 * this was done. */
enum tac_err tac_instant_strike(struct tac_instant *in);
/* Collective, if the islands are dealt. Friction of all impacts of the rows since the last call. */
enum tac_err tac_instant_rub(struct tac_instant *in);
/* Local. Is there such friction? All ranks find the same. */
bool tac_instant_must_rub(const struct tac_instant *in);

/* Collective, if the islands are dealt. Support of all islands, with friction: in->v becomes the nearest velocities at
 * which no row approaches. again: only in islands that lose energy; their rows have the impulses of a support before
 * this one, from which to start. */
enum tac_err tac_instant_support(struct tac_instant *in, bool again);

/* Local. Gives in->v the impulses of the rows of island i once more. Friction has none. */
enum tac_err tac_instant_repeat(struct tac_instant *in, size_t i);

/* Local. Returns whether island i loses no energy: all its rows are elastic and without friction. */
bool tac_instant_is_elastic(const struct tac_instant *in, size_t i);

/* ---- parts, for this room ---- */

/* deal.c. deal: local; decides which rank solves each of the present islands. each: collective, if they are dealt;
 * calls `work` for all islands. */
typedef enum tac_err tac_island_work(struct tac_instant *in, size_t island);
enum tac_err tac_instant_deal(struct tac_instant *in);
enum tac_err tac_instant_each(struct tac_instant *in, tac_island_work *work);
void tac_deal_free(struct tac_deal *deal);

/* Local. number: numbers the bodies of the rows: in->local and in->global; returns how many they are. forget: leaves
 * in->local empty again. */
size_t tac_instant_number(struct tac_instant *in, const uint32_t *list, size_t n);
void tac_instant_forget(struct tac_instant *in, size_t bodies);

/* Local. P(v, G, -u), of n rows, into in->problem. times: 2 for a reflection, P(2v, G, -2u); else 1. start: impulses to
 * start from, by rows; NULL: 0. */
enum tac_err tac_instant_solve(struct tac_instant *in, const uint32_t *list, size_t n, const double *v, double times,
                               const double *start);
/* Local. Into in->problem: y by rows, and what it pushes. */
enum tac_err tac_instant_give(struct tac_instant *in, const uint32_t *list, size_t n, const double *y);
/* Local. min 1/2 |v + G y + D z|^2 - r.y, y >= 0, |z| <= tac_instant_limit(), along `directions` of the two directions
 * of each row; `r`: with or without the r of the rows. Rows get y and z, and start with them. */
enum tac_err tac_instant_solve_with_friction(struct tac_instant *in, const uint32_t *list, size_t n, int directions,
                                             const double *v, bool r);
/* Local. The most that friction may do: in->second of the row times its friction. */
double tac_instant_limit(const struct tac_instant *in, uint32_t row);
/* Local. Where energy is lost, so slow an approach is left to the next step, if the fastest one is `most`. */
double tac_instant_enough(const struct tac_instant *in, double most);
/* Local. v += scale times what in->problem has pushed. */
void tac_instant_push(const struct tac_instant *in, double scale, double *v);

/* reach.c. Local, of an island: its rows from where few of them approach. stop: P(v, G, -u), into in->problem.
 * slow_down: friction of an impact, from in->v; in->problem has only rows near to those with impulses. */
enum tac_err tac_instant_stop(struct tac_instant *in, const uint32_t *list, size_t n, const double *v);
enum tac_err tac_instant_slow_down(struct tac_instant *in, const uint32_t *list, size_t n);
enum tac_err tac_spread_make(struct tac_ctx *ctx, struct tac_spread *s, size_t bodies, size_t rows);
void tac_spread_free(struct tac_spread *s);

/* kept.c. Local. begin: before a support of all islands, finds which rows are kept. has: has the island been solved
 * from these velocities? restore: gives it that result. store: keeps the results of all islands. */
enum tac_err tac_kept_make(struct tac_ctx *ctx, struct tac_kept_support *kept, size_t bodies, size_t rows);
void tac_kept_free(struct tac_kept_support *kept);
void tac_kept_begin(struct tac_instant *in);
bool tac_kept_has(const struct tac_instant *in, const uint32_t *list, size_t n);
void tac_kept_restore(struct tac_instant *in, const uint32_t *list, size_t n);
bool tac_kept_start(struct tac_instant *in, const uint32_t *list, size_t n);
void tac_kept_store(struct tac_instant *in);

/* Local. The other operators, of island i (others.c). Impulses go to in->first. */
enum tac_err tac_instant_strike_otherwise(struct tac_instant *in, size_t i);

#endif
