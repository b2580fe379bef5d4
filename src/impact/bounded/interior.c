/* interior.c: a primal-dual interior-point method with Mehrotra's predictor and Gondzio's correctors. */
#include "impact/bounded/interior.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FACTORS = 80, CORRECTORS = 1 };
static const double NARROW = 1e-7;   /* of the widest bounds: an impulse between narrower ones is left as it is */
static const double NEAREST = .01;   /* a step goes to so much of the distance from the nearest bound, or less */
static const double PROXIMAL = 1e-4; /* of the accuracy: impulses that no velocity feels stay small */
static const double STARTING = 1e-2; /* of the largest b, squared: the products of a start from other impulses */
static const double SPREAD = 10;     /* products are brought to within this factor of their mean */
static const double USEFUL = 1e-3;   /* of the largest b: what is off by no more is a good start, though not solved */
static const double ROUNDED = .01;   /* a distance under this part of its multiplier counts as none */

static enum tac_err make_room(struct tac_ctx *ctx, struct tac_interior *in, size_t columns)
{
    enum tac_err err = TAC_OK;
    double **const array[] = {&in->low,       &in->high,   &in->z_low,    &in->z_high,    &in->residual, &in->weight,
                              &in->c_low,     &in->c_high, &in->right,    &in->seen,      &in->step.y,   &in->step.low,
                              &in->step.high, &in->more.y, &in->more.low, &in->more.high, &in->kept};
    size_t has = in->capacity;
    for (size_t k = 0; k < sizeof array / sizeof *array; k++, has = in->capacity)
        TAC_TRY(tac_grow(ctx, array[k], &has, columns + 4, sizeof **array[k]));
    TAC_TRY(tac_grow(ctx, &in->bounds, &has, columns + 4, sizeof *in->bounds));
    in->capacity = columns + 4 > in->capacity ? columns + 4 : in->capacity;
done:
    return err;
}

void tac_interior_free(struct tac_interior *in)
{
    void *const owned[] = {in->bounds,   in->low,       in->high,   in->z_low,    in->z_high,    in->residual,
                           in->weight,   in->c_low,     in->c_high, in->right,    in->seen,      in->step.y,
                           in->step.low, in->step.high, in->more.y, in->more.low, in->more.high, in->kept};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    tac_fronts_free(&in->fronts);
    memset(in, 0, sizeof *in);
}

/* ---- the start ---- */

static double largest(const double *x, size_t n)
{
    double most = 0;
    for (size_t k = 0; k < n; k++)
        most = fmax(most, fabs(x[k]));
    return most;
}

static void count_bounds(struct tac_interior *in, const struct tac_bounded *p)
{
    double widest = 0;
    for (size_t k = 0; k < p->columns; k++)
        if (p->upper[k] < INFINITY)
            widest = fmax(widest, p->upper[k] - p->lower[k]);
    for (size_t k = 0; k < p->columns; k++)
        in->bounds[k] = p->upper[k] == INFINITY ? 1 : p->upper[k] - p->lower[k] > NARROW * widest ? 2 : 0;
}

/* Starts in the middle, where all products are alike; `near`: near the impulses of p. */
static void begin(struct tac_interior *in, const struct tac_bounded *p, double most, bool near)
{
    const double product = most * most * (near ? STARTING : 1), away = sqrt(product);
    for (size_t k = 0; k < p->columns; k++) {
        const double width = p->upper[k] - p->lower[k], least = in->bounds[k] == 2 ? fmin(away, .1 * width) : away;
        if (in->bounds[k] == 0)
            continue;
        in->low[k] = near ? fmax(p->y[k] - p->lower[k], least) : in->bounds[k] == 2 ? .5 * width : away;
        in->high[k] = 0;
        if (in->bounds[k] == 2) {
            in->low[k] = fmin(in->low[k], width - least);
            in->high[k] = width - in->low[k];
        }
    }
    for (size_t k = 0; k < p->columns; k++) {
        in->z_low[k] = in->bounds[k] > 0 ? product / in->low[k] : 0;
        in->z_high[k] = in->bounds[k] == 2 ? product / in->high[k] : 0;
    }
}

/* ---- products ---- */

/* w = F y, in the order of the columns. */
static void add_up(struct tac_bounded *p, const double *y)
{
    memset(p->w, 0, 4 * (p->bodies + 1) * sizeof *p->w);
    for (size_t k = 0; k < p->columns; k++)
        for (int i = 0; i < TAC_COLUMN_BODIES; i++)
            for (size_t c = 0; c < 3 && p->column[k].body[i] >= 0; c++)
                p->w[4 * (size_t)p->column[k].body[i] + c] += p->column[k].g[i][c] * y[k];
}

/* Sets p->y, from the bound that is nearer. */
static void place(const struct tac_interior *in, struct tac_bounded *p)
{
    for (size_t k = 0; k < p->columns; k++)
        if (in->bounds[k] == 2 && in->high[k] < in->low[k])
            p->y[k] = p->upper[k] - in->high[k];
        else if (in->bounds[k] > 0)
            p->y[k] = p->lower[k] + in->low[k];
}

/* Sets the residual and the mean of the products. Returns the largest residual; infinity: some is no number. */
static double look(struct tac_interior *in, struct tac_bounded *p, double proximal)
{
    double most = 0, sum = 0, count = 0;
    bool finite = true;
    place(in, p);
    add_up(p, p->y);
    tac_bounded_look(p, in->residual);
    for (size_t k = 0; k < p->columns; k++) {
        in->residual[k] += (proximal * p->y[k] - p->b[k]) + (in->z_high[k] - in->z_low[k]);
        if (in->bounds[k] == 0)
            continue;
        most = fmax(most, fabs(in->residual[k]));
        finite = finite && fabs(in->residual[k]) < INFINITY;
        sum += in->low[k] * in->z_low[k] + in->high[k] * in->z_high[k];
        count += in->bounds[k];
    }
    in->mean = count > 0 ? sum / count : 0;
    return finite && in->mean >= 0 ? most : INFINITY;
}

static bool factor(struct tac_interior *in, const struct tac_bounded *p, double proximal)
{
    for (size_t k = 0; k < p->columns; k++) {
        const double high = in->bounds[k] == 2 ? in->z_high[k] / in->high[k] : 0;
        in->weight[k] = in->bounds[k] > 0 ? 1 / ((in->z_low[k] / in->low[k] + high) + proximal) : 0;
    }
    in->factors++;
    return tac_fronts_factor(&in->fronts, p, in->weight);
}

/* The direction in which the residual goes by `part` of itself, and products change by c_low and c_high. */
static void aim(struct tac_interior *in, struct tac_bounded *p, double part, struct tac_interior_step *s)
{
    for (size_t k = 0; k < p->columns; k++) {
        const double high = in->bounds[k] == 2 ? in->c_high[k] / in->high[k] : 0;
        in->right[k] = in->bounds[k] > 0 ? (in->c_low[k] / in->low[k] - high) - part * in->residual[k] : 0;
        s->y[k] = in->weight[k] * in->right[k];
    }
    add_up(p, s->y);
    tac_fronts_solve(&in->fronts, p->w);
    tac_bounded_look(p, in->seen);
    for (size_t k = 0; k < p->columns; k++) {
        s->y[k] = in->weight[k] * (in->right[k] - in->seen[k]);
        s->low[k] = in->bounds[k] > 0 ? (in->c_low[k] - in->z_low[k] * s->y[k]) / in->low[k] : 0;
        s->high[k] = in->bounds[k] == 2 ? (in->c_high[k] + in->z_high[k] * s->y[k]) / in->high[k] : 0;
    }
}

/* ---- steps ---- */

static double shorter(double length, double x, double change)
{
    return change < 0 && x < -change * length ? x / -change : length;
}

/* The part of a step, at most 1, after which a distance or a multiplier is 0. */
static double longest(const struct tac_interior *in, const struct tac_bounded *p, const struct tac_interior_step *s)
{
    double length = 1;
    for (size_t k = 0; k < p->columns; k++) {
        if (in->bounds[k] == 0)
            continue;
        length = shorter(shorter(length, in->low[k], s->y[k]), in->z_low[k], s->low[k]);
        if (in->bounds[k] == 2)
            length = shorter(shorter(length, in->high[k], -s->y[k]), in->z_high[k], s->high[k]);
    }
    return length;
}

static double mean_after(const struct tac_interior *in, const struct tac_bounded *p, double length)
{
    const struct tac_interior_step *s = &in->step;
    double sum = 0, count = 0;
    for (size_t k = 0; k < p->columns; k++) {
        if (in->bounds[k] == 0)
            continue;
        sum += (in->low[k] + length * s->y[k]) * (in->z_low[k] + length * s->low[k]);
        if (in->bounds[k] == 2)
            sum += (in->high[k] - length * s->y[k]) * (in->z_high[k] + length * s->high[k]);
        count += in->bounds[k];
    }
    return sum / count;
}

static double between(double x, double most)
{
    return fmin(fmax(x, -most), most);
}

/* The direction of Mehrotra: towards the bounds, and from there to products that are alike. Returns their goal. */
static double predict(struct tac_interior *in, struct tac_bounded *p)
{
    struct tac_interior_step *s = &in->step;
    for (size_t k = 0; k < p->columns; k++) {
        in->c_low[k] = -in->low[k] * in->z_low[k];
        in->c_high[k] = -in->high[k] * in->z_high[k];
    }
    aim(in, p, 1, s);
    const double part = mean_after(in, p, longest(in, p, s)) / in->mean, goal = part * part * part * in->mean;
    for (size_t k = 0; k < p->columns; k++) {
        in->c_low[k] += goal - between(s->y[k] * s->low[k], in->mean);
        in->c_high[k] += goal + between(s->y[k] * s->high[k], in->mean);
    }
    aim(in, p, 1, s);
    return goal;
}

static double correction(double product, double goal)
{
    return fmax(fmin(fmax(product, goal / SPREAD), SPREAD * goal) - product, -SPREAD * goal);
}

/* Corrects products that would be far from the goal after a longer step. Returns the new length, or the same one if
 * nothing was gained. */
static double correct(struct tac_interior *in, struct tac_bounded *p, double goal, double length)
{
    struct tac_interior_step *s = &in->step, *more = &in->more;
    const double far = fmin(1, 1.08 * length + .08);
    for (size_t k = 0; k < p->columns; k++) {
        in->c_low[k] = correction((in->low[k] + far * s->y[k]) * (in->z_low[k] + far * s->low[k]), goal);
        in->c_high[k] = correction((in->high[k] - far * s->y[k]) * (in->z_high[k] + far * s->high[k]), goal);
    }
    aim(in, p, 0, more);
    for (size_t k = 0; k < p->columns; k++) {
        more->y[k] += s->y[k];
        more->low[k] += s->low[k];
        more->high[k] += s->high[k];
    }
    const double now = longest(in, p, more);
    if (now < length + .01)
        return length;
    const struct tac_interior_step kept = *s;
    *s = *more;
    *more = kept;
    return now;
}

static void go(struct tac_interior *in, const struct tac_bounded *p, double length)
{
    const struct tac_interior_step *s = &in->step;
    for (size_t k = 0; k < p->columns; k++) {
        in->low[k] += length * s->y[k];
        in->high[k] -= length * s->y[k];
        in->z_low[k] += length * s->low[k];
        in->z_high[k] += length * s->high[k];
    }
}

/* Puts impulses that are next to their bounds on them, and those between narrow bounds where the gradient leads. */
static void round_off(const struct tac_interior *in, struct tac_bounded *p)
{
    for (size_t k = 0; k < p->columns; k++)
        if (in->bounds[k] == 0)
            p->y[k] = in->residual[k] > 0 ? p->lower[k] : p->upper[k];
        else if (in->low[k] < ROUNDED * in->z_low[k])
            p->y[k] = p->lower[k];
        else if (in->bounds[k] == 2 && in->high[k] < ROUNDED * in->z_high[k])
            p->y[k] = p->upper[k];
}

enum tac_err tac_interior_solve(struct tac_ctx *ctx, struct tac_interior *in, struct tac_bounded *p, double accuracy,
                                bool *solved)
{
    enum tac_err err;
    const double most = largest(p->b, p->columns), proximal = PROXIMAL * accuracy, enough = accuracy * most;
    double error = INFINITY;
    *solved = false;
    TAC_TRY(make_room(ctx, in, p->columns));
    tac_bounded_list(p);
    TAC_TRY(tac_fronts_plan(ctx, &in->fronts, p));
    if (in->fronts.too_large)
        goto done;
    memcpy(in->kept, p->y, p->columns * sizeof *p->y);
    count_bounds(in, p);
    begin(in, p, most, largest(p->y, p->columns) > 0);
    for (int round = 0;; round++) {
        error = look(in, p, proximal);
        *solved = error <= .1 * enough && in->mean <= enough * enough;
        if (*solved || !(error < INFINITY) || round == MOST_FACTORS || !factor(in, p, proximal))
            break;
        const double goal = predict(in, p);
        double length = longest(in, p, &in->step), before = 0;
        for (int k = 0; k < CORRECTORS && length > before; k++) {
            before = length;
            length = correct(in, p, goal, length);
        }
        go(in, p, length * (1 - fmin(NEAREST, fmax(in->mean / (most * most), 1e-6))));
    }
    if (error <= USEFUL * most)
        round_off(in, p);
    else
        memcpy(p->y, in->kept, p->columns * sizeof *p->y);
done:
    return err;
}
