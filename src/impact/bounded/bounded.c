/* bounded.c: MPRGP with lower and upper bounds. */
#include "impact/bounded/bounded.h"
#include "base/evenly.h"
#include "base/exchange.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

#define MOST_EASE 30.     /* so many times what is enough is allowed after as many times the patience */
#define TAC_EXPANSION 1.9 /* over a bound of the largest eigenvalue; 2 is the limit */

static enum tac_err make_columns(struct tac_ctx *ctx, struct tac_bounded *p, size_t room)
{
    enum tac_err err = TAC_OK;
    double **const array[] = {&p->b,         &p->lower,   &p->upper, &p->y,       &p->gradient,
                              &p->direction, &p->product, &p->free,  &p->chopped, &p->reduced};
    size_t has = 0;
    for (size_t k = 0; k < sizeof array / sizeof *array; k++, has = 0)
        TAC_TRY(tac_grow(ctx, array[k], &has, room + 4, sizeof **array[k]));
    TAC_TRY(tac_grow(ctx, &p->column, &has, room, sizeof *p->column));
    has = 0;
    TAC_TRY(tac_grow(ctx, &p->entry, &has, TAC_COLUMN_BODIES * room, sizeof *p->entry));
    has = 0;
    TAC_TRY(tac_grow(ctx, &p->place, &has, TAC_COLUMN_BODIES * room, sizeof *p->place));
    has = 0;
    TAC_TRY(tac_grow(ctx, &p->term, &has, room, sizeof *p->term));
    has = 0;
    TAC_TRY(tac_grow(ctx, &p->pack, &has, (size_t)4 * TAC_COLUMN_BODIES * room, sizeof *p->pack));
    p->column_capacity = room;
done:
    return err;
}

enum tac_err tac_bounded_begin(struct tac_ctx *ctx, struct tac_bounded *p, size_t columns, size_t bodies)
{
    enum tac_err err = TAC_OK;
    p->columns = columns;
    p->bodies = bodies;
    if (columns > p->column_capacity)
        TAC_TRY(make_columns(ctx, p, columns + columns / 2));
    if (bodies + 1 > p->body_capacity) {
        const size_t room = bodies + bodies / 2 + 1;
        size_t has = 0;
        TAC_TRY(tac_grow(ctx, &p->w, &has, 4 * room, sizeof *p->w));
        has = 0;
        TAC_TRY(tac_grow(ctx, &p->start, &has, room, sizeof *p->start));
        p->body_capacity = room;
    }
done:
    return err;
}

void tac_bounded_free(struct tac_bounded *p)
{
    void *const owned[] = {p->column,   p->b,         p->lower,   p->upper, p->y,       p->w,
                           p->gradient, p->direction, p->product, p->free,  p->chopped, p->reduced,
                           p->term,     p->start,     p->entry,   p->place, p->pack};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    memset(p, 0, sizeof *p);
}

/* ---- of all ranks of a team ---- */

static void combine(struct tac_bounded *p, void *value, int count, MPI_Datatype type, MPI_Op op)
{
    if (!p->team->err)
        p->team->err = tac_over_ranks(p->team->ctx, value, count, type, op);
}

enum { MOST_DOTS = 3 };

struct dot {
    const double *a, *b;
    size_t n;
};

/* Dot products, and the largest of a number of each rank, *most. */
static void add_up(struct tac_bounded *p, int count, const struct dot *dot, double *most, double *out)
{
    double size[MOST_DOTS + 1] = {0};
    int64_t limb[MOST_DOTS][TAC_EVEN_LIMBS] = {{0}};
    if (p->team == NULL) {
        for (int k = 0; k < count; k++)
            out[k] = tac_dot_evenly(dot[k].a, dot[k].b, dot[k].n);
        return;
    }
    for (int k = 0; k < count; k++)
        size[k] = tac_even_largest(dot[k].a, dot[k].b, dot[k].n);
    size[count] = *most;
    combine(p, size, count + 1, MPI_DOUBLE, MPI_MAX);
    for (int k = 0; k < count; k++)
        if (size[k] < INFINITY)
            tac_even_limbs(dot[k].a, dot[k].b, dot[k].n, size[k], limb[k]);
    combine(p, limb, count * TAC_EVEN_LIMBS, MPI_INT64_T, MPI_SUM);
    for (int k = 0; k < count; k++)
        out[k] = size[k] < INFINITY ? tac_even_value(size[k], limb[k]) : NAN;
    *most = size[count];
}

static void go(struct tac_bounded *p, const double *y, bool coarsely)
{
    if (coarsely)
        tac_bounded_go_coarsely(p, y);
    else
        tac_bounded_go(p, y);
    if (p->team != NULL)
        tac_nodes_halo_refresh(p->team->halo, p->w, 4 * sizeof *p->w);
}

static size_t counted(const struct tac_bounded *p)
{
    return p->team != NULL ? p->team->mine : p->columns;
}

/* Splits the gradient, and measures its parts. Returns the largest component. *turn: free times product, unless it is
 * NULL. */
static double split(struct tac_bounded *p, double *turn)
{
    const size_t n = counted(p);
    const struct dot dot[MOST_DOTS] = {{p->chopped, p->chopped, n}, {p->reduced, p->free, n}, {p->free, p->product, n}};
    double error = tac_bounded_split(p), out[MOST_DOTS];
    add_up(p, turn != NULL ? 3 : 2, dot, &error, out);
    p->square_of_chopped = out[0];
    p->reduced_free = out[1];
    if (turn != NULL)
        *turn = out[2];
    return error;
}

/* ---- steps ---- */

void tac_bounded_apply(struct tac_bounded *p)
{
    go(p, p->y, false);
}

void tac_bounded_give(struct tac_bounded *p)
{
    tac_bounded_list(p);
    go(p, p->y, false);
}

/* The sum over the bodies of a column of |g|^2, times the number of columns there, if `counts`. The two first bodies
 * and the two last ones are added first, so that it does not matter which one is the first. */
static double square_of(const struct tac_bounded *p, const struct tac_column *c, bool counts)
{
    double part[TAC_COLUMN_BODIES] = {0, 0, 0, 0};
    for (int i = 0; i < TAC_COLUMN_BODIES; i++)
        if (c->body[i] >= 0)
            part[i] =
                tac_dot(c->g[i], c->g[i]) * (counts ? (double)(p->start[c->body[i] + 1] - p->start[c->body[i]]) : 1);
    return (part[0] + part[1]) + (part[2] + part[3]);
}

/* The largest eigenvalue of F^T F is at most the largest over the columns of the sum over their bodies of |g|^2 times
 * the number of columns there. */
static double step_of(const struct tac_bounded *p)
{
    double most = 0;
    for (size_t k = 0; k < p->columns; k++) {
        const double square = square_of(p, &p->column[k], true);
        most = square > most ? square : most;
    }
    return TAC_EXPANSION / most;
}

static void begin_gradient(struct tac_bounded *p)
{
    go(p, p->y, p->coarse);
    tac_bounded_look(p, p->gradient);
    for (size_t k = 0; k < p->columns; k++)
        p->gradient[k] -= p->b[k];
}

/* Sets product = F^T F direction, and the longest step that keeps the bounds. Returns the length of the step to the
 * minimum along -direction; NAN if F does not change along it. Pieces that turn need exact sums: a face that lands flat
 * would turn. */
static double measure(struct tac_bounded *p, bool leaving)
{
    double out[2];
    go(p, p->direction, !p->deep);
    tac_bounded_look(p, p->product);
    double shortest = -tac_bounded_longest(p, leaving);
    const struct dot dot[2] = {{p->w, p->w, 4 * (p->team != NULL ? p->team->own : p->bodies)},
                               {p->gradient, p->direction, counted(p)}};
    add_up(p, 2, dot, &shortest, out);
    p->longest = -shortest;
    p->square_of_move = out[0];
    return out[0] > 0 ? out[1] / out[0] : NAN;
}

static void restart(struct tac_bounded *p)
{
    memcpy(p->direction, p->free, p->columns * sizeof *p->free);
}

/* A step of conjugate gradients, or as much of it as the bounds allow, and then an expansion. */
static double descend(struct tac_bounded *p, double length)
{
    double error, turn;
    if (length <= p->longest) {
        tac_bounded_follow(p, length);
        error = split(p, &turn);
        tac_bounded_turn(p, turn / p->square_of_move);
        return error;
    }
    tac_bounded_follow(p, p->longest);
    (void)tac_bounded_split(p);
    tac_bounded_move(p, p->step, p->free);
    begin_gradient(p);
    error = split(p, NULL);
    restart(p);
    return error;
}

/* Lets numbers leave their bounds. NAN: nothing can be gained. */
static double leave(struct tac_bounded *p)
{
    memcpy(p->direction, p->chopped, p->columns * sizeof *p->chopped);
    const double length = measure(p, true);
    if (!(length > 0))
        return NAN;
    tac_bounded_follow(p, length < p->longest ? length : p->longest);
    const double error = split(p, NULL);
    restart(p);
    return error;
}

/* The error that is small enough. A heap of thousands of discs that jams would else take ten thousands of iterations.
 */
static double allowed(const struct tac_bounded *p, int64_t round)
{
    if (round < p->patience)
        return p->tolerance;
    return p->coarse ? p->enough * fmin((double)round / (double)p->patience, MOST_EASE) : p->enough;
}

static bool iterate(struct tac_bounded *p, double error, size_t columns)
{
    const int64_t most = 20 * (int64_t)columns + 2000;
    for (int64_t round = 0; error > allowed(p, round); round++) {
        p->left = p->most > 0 && round == p->most;
        if (round >= most || p->left)
            return p->left;
        p->iterations++;
        double length = NAN;
        if (p->square_of_chopped <= p->reduced_free)
            length = measure(p, false);
        error = length > 0 ? descend(p, length) : leave(p);
        if (!(error >= 0) || (p->team != NULL && p->team->err))
            return false;
    }
    p->rough = error > p->tolerance;
    return true;
}

/* The projection of what is to be taken, without other columns. */
static void solve_one(struct tac_bounded *p)
{
    const double square = square_of(p, p->column, false);
    p->y[0] = square > 0 ? fmin(fmax(p->b[0] / square, p->lower[0]), p->upper[0]) : 0;
    go(p, p->y, false);
}

double tac_bounded_step(struct tac_bounded *p)
{
    tac_bounded_list(p);
    return step_of(p);
}

bool tac_bounded_solve(struct tac_bounded *p)
{
    size_t columns = p->columns;
    p->rough = p->left = false;
    tac_bounded_list(p);
    tac_bounded_move(p, 0, p->b);
    if (p->team != NULL)
        columns = p->team->columns;
    else if (p->columns == 1) {
        solve_one(p);
        return true;
    } else
        p->step = step_of(p);
    begin_gradient(p);
    const double error = split(p, NULL);
    restart(p);
    const bool solved = iterate(p, error, columns);
    go(p, p->y, false);
    return solved;
}
