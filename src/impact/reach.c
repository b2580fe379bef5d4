/* reach.c: problems of large islands that few rows begin (docs/reference/impact.md, Solver).
 *
 * A ball that hits a heap changes the velocities near it, and its impulse fades out. So a problem is solved with the
 * rows that approach, then with those that approach now, too, until none is left; each time the rows at the bodies of
 * those that are there come along, and twice as far as the time before. All other rows have no impulse. Which rows
 * these are does not depend on their order.
 */
#include "impact/operator.h"
#include <stdlib.h>
#include <string.h>

enum tac_err tac_spread_make(struct tac_ctx *ctx, struct tac_spread *s, size_t bodies, size_t rows)
{
    enum tac_err err;
    size_t has = s->body_capacity;
    TAC_TRY(tac_grow(ctx, &s->meets, &has, bodies, sizeof *s->meets));
    has = 3 * s->body_capacity;
    TAC_TRY(tac_grow(ctx, &s->v, &has, 3 * bodies, sizeof *s->v));
    s->body_capacity = bodies > s->body_capacity ? bodies : s->body_capacity;
    has = s->row_capacity;
    TAC_TRY(tac_grow(ctx, &s->has, &has, rows, sizeof *s->has));
    has = s->row_capacity;
    TAC_TRY(tac_grow(ctx, &s->chosen, &has, rows, sizeof *s->chosen));
    has = s->row_capacity;
    TAC_TRY(tac_grow(ctx, &s->y, &has, rows, sizeof *s->y));
    s->row_capacity = rows > s->row_capacity ? rows : s->row_capacity;
done:
    return err;
}

void tac_spread_free(struct tac_spread *s)
{
    void *const owned[] = {s->meets, s->has, s->v, s->chosen, s->y};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
}

/* ---- the set ---- */

static void begin(struct tac_instant *in, const uint32_t *list, size_t n, const double *v)
{
    struct tac_spread *s = &in->spread;
    s->count = 0;
    s->rings = 1;
    memcpy(s->v, v, 3 * in->bodies * sizeof *v);
    for (size_t k = 0; k < n; k++) {
        const int32_t *body = in->row[list[k]].body;
        s->has[list[k]] = false;
        s->y[list[k]] = 0;
        for (int i = 0; i < 2; i++)
            if (body[i] >= 0)
                s->meets[body[i]] = false;
    }
}

static void choose(struct tac_spread *s, uint32_t row)
{
    s->has[row] = true;
    s->chosen[s->count++] = row;
}

/* Rows join after all have been looked at: else it would depend on their order which ones do. */
static void meet_bodies(struct tac_instant *in, size_t from)
{
    const uint32_t *const end = in->spread.chosen + in->spread.count;
    for (const uint32_t *row = in->spread.chosen + from; row < end; row++) {
        const int32_t *body = in->row[*row].body;
        for (int i = 0; i < 2; i++)
            if (body[i] >= 0)
                in->spread.meets[body[i]] = true;
    }
}

/* Adds the rows that approach faster than `limit`, and than forces make them in a step: what is slower is left to the
 * support. Returns how many they are. */
static size_t add_approaching(struct tac_instant *in, const uint32_t *list, size_t n, double limit)
{
    struct tac_spread *s = &in->spread;
    const size_t before = s->count;
    for (size_t k = 0; k < n; k++)
        if (!s->has[list[k]] &&
            tac_row_speed(&in->row[list[k]], s->v) + in->row[list[k]].u < -fmax(limit, in->slow / in->row[list[k]].s))
            choose(s, list[k]);
    meet_bodies(in, before);
    return s->count - before;
}

/* Adds the rows near to the set. Returns false if they are so many that all may as well be. */
static bool grow(struct tac_instant *in, const uint32_t *list, size_t n)
{
    struct tac_spread *s = &in->spread;
    for (size_t ring = 0; ring < s->rings && s->count <= n / 2; ring++) {
        const size_t before = s->count;
        for (size_t k = 0; k < n; k++) {
            const int32_t *body = in->row[list[k]].body;
            if (!s->has[list[k]] && ((body[0] >= 0 && s->meets[body[0]]) || (body[1] >= 0 && s->meets[body[1]])))
                choose(s, list[k]);
        }
        meet_bodies(in, before);
    }
    s->rings *= 2;
    return s->count <= n / 2;
}

/* The velocities that the last problem, from v, has left. */
static void move(struct tac_instant *in, const double *v)
{
    const struct tac_bounded *p = &in->problem;
    for (size_t b = 0; b < p->bodies; b++)
        for (size_t k = 0; k < 3; k++) {
            const size_t at = 3 * (size_t)in->global[b] + k;
            in->spread.v[at] = v[at] + p->w[4 * b + k];
        }
}

/* ---- problems ---- */

static bool is_large(const struct tac_instant *in, size_t n)
{
    return n > TAC_MANY_ROWS && in->lossy;
}

enum tac_err tac_instant_stop(struct tac_instant *in, const uint32_t *list, size_t n, const double *v)
{
    enum tac_err err = TAC_OK;
    struct tac_spread *s = &in->spread;
    double most = 0;
    if (!is_large(in, n))
        return tac_instant_solve(in, list, n, v, 1, NULL);
    for (size_t k = 0; k < n; k++)
        most = fmax(most, -(tac_row_speed(&in->row[list[k]], v) + in->row[list[k]].u));
    const double limit = tac_instant_enough(in, most);
    begin(in, list, n, v);
    for (size_t more = add_approaching(in, list, n, limit); more > 0 && in->unsolved == 0;
         more = add_approaching(in, list, n, limit)) {
        if (!grow(in, list, n))
            return tac_instant_solve(in, list, n, v, 1, s->y);
        TAC_TRY(tac_instant_solve(in, s->chosen, s->count, v, 1, s->y));
        for (size_t k = 0; k < s->count; k++)
            s->y[s->chosen[k]] = in->problem.y[k];
        move(in, v);
    }
    TAC_TRY(tac_instant_give(in, list, n, s->y));
done:
    return err;
}

enum tac_err tac_instant_slow_down(struct tac_instant *in, const uint32_t *list, size_t n)
{
    enum tac_err err = TAC_OK;
    struct tac_spread *s = &in->spread;
    size_t more = 1;
    if (!is_large(in, n))
        return tac_instant_solve_with_friction(in, list, n, 1, in->v, false);
    begin(in, list, n, in->v);
    for (size_t k = 0; k < n; k++)
        if (tac_instant_limit(in, list[k]) > 0)
            choose(s, list[k]);
    meet_bodies(in, 0);
    while (more > 0 && in->unsolved == 0) {
        if (!grow(in, list, n))
            return tac_instant_solve_with_friction(in, list, n, 1, in->v, false);
        TAC_TRY(tac_instant_solve_with_friction(in, s->chosen, s->count, 1, in->v, false));
        move(in, in->v);
        more = add_approaching(in, list, n, tac_instant_enough(in, in->most));
    }
done:
    return err;
}
