/* bounded.c: MPRGP with lower and upper bounds. */
#include "impact/bounded.h"
#include "base/evenly.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

#define TAC_EXPANSION 1.9 /* over a bound of the largest eigenvalue; 2 is the limit */

/* Faster than fmin() and fmax(), which take care of what is no number. */
static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

enum tac_err tac_bounded_begin(struct tac_ctx *ctx, struct tac_bounded *p, size_t columns, size_t bodies)
{
    enum tac_err err = TAC_OK;
    double **const array[] = {&p->b,       &p->lower, &p->upper,   &p->y,       &p->gradient, &p->direction,
                              &p->product, &p->free,  &p->chopped, &p->reduced, &p->term};
    p->columns = columns;
    p->bodies = bodies;
    if (columns > p->column_capacity) {
        const size_t room = columns + columns / 2;
        size_t has = 0;
        for (size_t k = 0; k < sizeof array / sizeof *array; k++, has = 0)
            TAC_TRY(tac_grow(ctx, array[k], &has, 2 * room, sizeof **array[k]));
        TAC_TRY(tac_grow(ctx, &p->column, &has, room, sizeof *p->column));
        has = 0;
        TAC_TRY(tac_grow(ctx, &p->entry, &has, TAC_COLUMN_BODIES * room, sizeof *p->entry));
        p->column_capacity = room;
    }
    if (bodies + 1 > p->body_capacity) {
        const size_t room = bodies + bodies / 2 + 1;
        size_t has = 0;
        TAC_TRY(tac_grow(ctx, &p->w, &has, 3 * room, sizeof *p->w));
        has = 0;
        TAC_TRY(tac_grow(ctx, &p->start, &has, room, sizeof *p->start));
        p->body_capacity = room;
    }
done:
    return err;
}

void tac_bounded_free(struct tac_bounded *p)
{
    void *const owned[] = {p->column,  p->b,    p->lower,   p->upper,   p->y,    p->w,     p->gradient, p->direction,
                           p->product, p->free, p->chopped, p->reduced, p->term, p->start, p->entry};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    memset(p, 0, sizeof *p);
}

/* ---- products ---- */

/* Lists the columns of each body. */
static void make_entries(struct tac_bounded *p)
{
    memset(p->start, 0, (p->bodies + 1) * sizeof *p->start);
    for (size_t k = 0; k < p->columns; k++)
        for (int i = 0; i < TAC_COLUMN_BODIES; i++)
            if (p->column[k].body[i] >= 0)
                p->start[p->column[k].body[i] + 1]++;
    for (size_t b = 0; b < p->bodies; b++)
        p->start[b + 1] += p->start[b];
    for (size_t k = 0; k < p->columns; k++)
        for (int i = 0; i < TAC_COLUMN_BODIES; i++)
            if (p->column[k].body[i] >= 0)
                p->entry[p->start[p->column[k].body[i]]++] = (uint32_t)(TAC_COLUMN_BODIES * k + (size_t)i);
    for (size_t b = p->bodies; b > 0; b--) /* each start has become the end */
        p->start[b] = p->start[b - 1];
    p->start[0] = 0;
}

/* p->w = F y */
static void go(struct tac_bounded *p, const double *y)
{
    for (size_t b = 0; b < p->bodies; b++)
        for (size_t c = 0; c < 3; c++) {
            size_t n = 0;
            for (size_t e = p->start[b]; e < p->start[b + 1]; e++, n++)
                p->term[n] = p->column[p->entry[e] / TAC_COLUMN_BODIES].g[p->entry[e] % TAC_COLUMN_BODIES][c] *
                             y[p->entry[e] / TAC_COLUMN_BODIES];
            p->w[3 * b + c] = tac_sum_evenly(p->term, n);
        }
}

void tac_bounded_apply(struct tac_bounded *p)
{
    go(p, p->y);
}

void tac_bounded_give(struct tac_bounded *p)
{
    make_entries(p);
    go(p, p->y);
}

/* Does the column act on turns? */
static inline bool turns(const struct tac_column *c)
{
    return c->body[2] >= 0 || c->body[3] >= 0;
}

/* The two first numbers and the two last ones are added first, so that it does not matter which body is the first. */
static inline double add_parts(const struct tac_column *c, const double part[TAC_COLUMN_BODIES])
{
    return turns(c) ? (part[0] + part[1]) + (part[2] + part[3]) : part[0] + part[1];
}

/* out = F^T w */
static void look(const struct tac_bounded *p, double *out)
{
    for (size_t k = 0; k < p->columns; k++) {
        const struct tac_column *c = &p->column[k];
        double part[TAC_COLUMN_BODIES] = {0, 0, 0, 0};
        for (int i = 0; i < TAC_COLUMN_BODIES; i++)
            if (c->body[i] >= 0)
                part[i] = tac_dot(c->g[i], &p->w[3 * (size_t)c->body[i]]);
        out[k] = add_parts(c, part);
    }
}

/* A bound of the largest eigenvalue of F^T F: the largest over the columns of the sum over their bodies of |g|^2 times
 * the number of columns there. */
static double bound_eigenvalue(const struct tac_bounded *p)
{
    double most = 0;
    for (size_t k = 0; k < p->columns; k++) {
        const struct tac_column *c = &p->column[k];
        double part[TAC_COLUMN_BODIES] = {0, 0, 0, 0};
        for (int i = 0; i < TAC_COLUMN_BODIES; i++)
            if (c->body[i] >= 0)
                part[i] = tac_dot(c->g[i], c->g[i]) * (double)(p->start[c->body[i] + 1] - p->start[c->body[i]]);
        most = larger(most, add_parts(c, part));
    }
    return most;
}

static void begin_gradient(struct tac_bounded *p)
{
    go(p, p->y);
    look(p, p->gradient);
    for (size_t k = 0; k < p->columns; k++)
        p->gradient[k] -= p->b[k];
}

/* ---- steps ---- */

/* Splits the gradient into its free part, and the part that leads away from bounds. Returns the largest component of
 * their sum. reduced: the free part, as far as an expansion could follow it. */
static double split(struct tac_bounded *p)
{
    double most = 0;
    for (size_t k = 0; k < p->columns; k++) {
        const double g = p->gradient[k], y = p->y[k], lower = p->lower[k], upper = p->upper[k];
        const bool low = y <= lower, high = y >= upper;
        p->free[k] = low || high ? 0 : g;
        p->chopped[k] = low && high ? 0 : low ? smaller(g, 0) : high ? larger(g, 0) : 0;
        p->reduced[k] = p->free[k] > 0   ? smaller((y - lower) / p->step, g)
                        : p->free[k] < 0 ? larger((y - upper) / p->step, g)
                                         : 0;
        most = larger(most, fabs(p->free[k] + p->chopped[k]));
    }
    return most;
}

static void move(struct tac_bounded *p, double length, const double *direction)
{
    for (size_t k = 0; k < p->columns; k++)
        p->y[k] = smaller(larger(p->y[k] - length * direction[k], p->lower[k]), p->upper[k]);
}

/* The largest length of a step along -direction that keeps the bounds. */
static double longest(const struct tac_bounded *p, bool leaving)
{
    double most = INFINITY;
    for (size_t k = 0; k < p->columns; k++) {
        const double d = p->direction[k];
        if (d > 0 && (p->y[k] > p->lower[k] || !leaving))
            most = smaller(most, (p->y[k] - p->lower[k]) / d);
        else if (d < 0 && p->upper[k] < INFINITY && (p->y[k] < p->upper[k] || !leaving))
            most = smaller(most, (p->y[k] - p->upper[k]) / d);
    }
    return most;
}

/* Sets product = F^T F direction. Returns the length of the step to the minimum along -direction; NAN if F does not
 * change along it. */
static double measure(struct tac_bounded *p)
{
    go(p, p->direction);
    look(p, p->product);
    p->square_of_move = tac_dot_evenly(p->w, p->w, 3 * p->bodies);
    return p->square_of_move > 0 ? tac_dot_evenly(p->gradient, p->direction, p->columns) / p->square_of_move : NAN;
}

static void follow(struct tac_bounded *p, double length)
{
    move(p, length, p->direction);
    for (size_t k = 0; k < p->columns; k++)
        p->gradient[k] -= length * p->product[k];
}

static void restart(struct tac_bounded *p)
{
    memcpy(p->direction, p->free, p->columns * sizeof *p->free);
}

/* A step of conjugate gradients, or as much of it as the bounds allow, and then an expansion. */
static double descend(struct tac_bounded *p, double length)
{
    const double most = longest(p, false);
    double error;
    if (length <= most) {
        follow(p, length);
        error = split(p);
        const double turn = tac_dot_evenly(p->free, p->product, p->columns) / p->square_of_move;
        for (size_t k = 0; k < p->columns; k++)
            p->direction[k] = p->free[k] - turn * p->direction[k];
        return error;
    }
    follow(p, most);
    (void)split(p);
    move(p, p->step, p->free);
    begin_gradient(p);
    error = split(p);
    restart(p);
    return error;
}

/* Lets numbers leave their bounds. NAN: nothing can be gained. */
static double leave(struct tac_bounded *p)
{
    memcpy(p->direction, p->chopped, p->columns * sizeof *p->chopped);
    const double length = measure(p);
    if (!(length > 0))
        return NAN;
    follow(p, smaller(length, longest(p, true)));
    const double error = split(p);
    restart(p);
    return error;
}

static bool iterate(struct tac_bounded *p, double error)
{
    const int64_t most = 20 * (int64_t)p->columns + 2000;
    for (int64_t round = 0; error > (round < p->patience ? p->tolerance : p->enough); round++) {
        if (round >= most)
            return false;
        p->iterations++;
        double length = NAN;
        if (tac_dot_evenly(p->chopped, p->chopped, p->columns) <= tac_dot_evenly(p->reduced, p->free, p->columns))
            length = measure(p);
        error = length > 0 ? descend(p, length) : leave(p);
        if (!(error >= 0))
            return false;
    }
    return true;
}

bool tac_bounded_solve(struct tac_bounded *p)
{
    make_entries(p);
    for (size_t k = 0; k < p->columns; k++)
        p->y[k] = smaller(larger(p->y[k], p->lower[k]), p->upper[k]);
    if (p->columns == 1) {
        const struct tac_column *c = p->column;
        double part[TAC_COLUMN_BODIES] = {0, 0, 0, 0};
        for (int i = 0; i < TAC_COLUMN_BODIES; i++)
            if (c->body[i] >= 0)
                part[i] = tac_dot(c->g[i], c->g[i]);
        const double square = add_parts(c, part);
        p->y[0] = square > 0 ? smaller(larger(p->b[0] / square, p->lower[0]), p->upper[0]) : 0;
        go(p, p->y);
        return true;
    }
    p->step = TAC_EXPANSION / bound_eigenvalue(p);
    begin_gradient(p);
    const double error = split(p);
    restart(p);
    const bool solved = iterate(p, error);
    go(p, p->y);
    return solved;
}
