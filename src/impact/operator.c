/* operator.c: generalised reflections, restitution, friction and support. */
#include "impact/operator.h"
#include "base/evenly.h"
#include <stdlib.h>
#include <string.h>

#define TAC_ROUNDING 0x1p-46 /* of velocities: no problem is solved to less than this part of the largest */
/* Where energy is lost anyhow, errors of impulses only leave a little speed, which the next step takes. */
#define TAC_SLACK 1000
#define TAC_SLACK_OF_TURNS 10 /* of more than TAC_MANY_ROWS rows with rigid bodies */
#define TAC_SLACK_OF_TUMBLING 1e5
#define TAC_SETTLED 1e-7           /* of the largest impulse: so little it may change in the last pass of friction */
static const double ENOUGH = 1e-3; /* of the largest velocity that is to be taken, after some iterations */
/* Likewise, of an interior point. */
static const double INTERIOR = 1e-5, INTERIOR_OF_TURNS = 1e-8;
enum {
    REFLECTIONS_PER_ROW = 10,
    PATIENCE = 100,
    PATIENCE_OF_TURNS = 1000,
    PER_ROOT = 2,
    PER_ROW = 5,
    LARGE = 4000,
    LARGE_OF_TURNS = 400,
    FIRST = 100,
    FIRST_OF_TURNS = 30,
    TUMBLING = 2 /* passes of friction */
};

/* ---- life ---- */

enum tac_err tac_instant_islands(struct tac_instant *in)
{
    enum tac_err err = TAC_OK;
    size_t has = in->body_capacity;
    TAC_TRY(tac_grow(in->ctx, &in->local, &has, in->bodies, sizeof *in->local));
    has = in->body_capacity;
    TAC_TRY(tac_grow(in->ctx, &in->global, &has, in->bodies, sizeof *in->global));
    has = 3 * in->body_capacity;
    TAC_TRY(tac_grow(in->ctx, &in->start, &has, 3 * in->bodies, sizeof *in->start));
    has = 3 * in->body_capacity;
    TAC_TRY(tac_grow(in->ctx, &in->other, &has, 3 * in->bodies, sizeof *in->other));
    in->body_capacity = in->bodies > in->body_capacity ? in->bodies : in->body_capacity;
    has = in->row_capacity;
    TAC_TRY(tac_grow(in->ctx, &in->violated, &has, in->rows, sizeof *in->violated));
    has = in->row_capacity;
    TAC_TRY(tac_grow(in->ctx, &in->first, &has, in->rows, sizeof *in->first));
    has = in->row_capacity;
    TAC_TRY(tac_grow(in->ctx, &in->second, &has, in->rows, sizeof *in->second));
    in->row_capacity = in->rows > in->row_capacity ? in->rows : in->row_capacity;
    for (size_t b = 0; b < in->bodies; b++)
        in->local[b] = -1;
    for (uint32_t k = 0; k < in->rows; k++)
        in->violated[k] = k;
    TAC_TRY(tac_islands_make(in->ctx, &in->all, in->bodies, in->row, in->violated, in->rows));
    for (size_t i = 0; i < in->all.count; i++)
        if (in->all.begin[i + 1] - in->all.begin[i] > in->largest)
            in->largest = in->all.begin[i + 1] - in->all.begin[i];
    TAC_TRY(tac_spread_make(in->ctx, &in->spread, in->bodies, in->rows));
    TAC_TRY(tac_kept_make(in->ctx, &in->kept, in->bodies, in->rows));
    TAC_TRY(tac_instant_deal(in));
done:
    return err;
}

void tac_instant_free(struct tac_instant *in)
{
    tac_islands_free(&in->all);
    tac_islands_free(&in->part);
    tac_bounded_free(&in->problem);
    tac_interior_free(&in->interior);
    tac_deal_free(&in->deal);
    tac_spread_free(&in->spread);
    tac_kept_free(&in->kept);
    void *const owned[] = {in->local, in->global, in->start, in->other, in->violated, in->first, in->second};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    memset(in, 0, sizeof *in);
}

/* ---- problems ---- */

size_t tac_instant_number(struct tac_instant *in, const uint32_t *list, size_t n)
{
    size_t bodies = 0;
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < TAC_COLUMN_BODIES; i++) {
            const int32_t b = tac_row_body(&in->row[list[k]], i);
            if (b >= 0 && in->local[b] < 0) {
                in->local[b] = (int32_t)bodies;
                in->global[bodies++] = b;
            }
        }
    return bodies;
}

void tac_instant_forget(struct tac_instant *in, size_t bodies)
{
    for (size_t b = 0; b < bodies; b++)
        in->local[in->global[b]] = -1;
}

static struct tac_column column_of(const struct tac_instant *in, const struct tac_impact_row *row)
{
    struct tac_column c;
    for (int i = 0; i < TAC_COLUMN_BODIES; i++) {
        c.body[i] = tac_row_body(row, i) >= 0 ? in->local[tac_row_body(row, i)] : -1;
        memcpy(c.g[i], i < 2 ? row->g[i] : row->round[i - 2], sizeof row->g[0]);
        c.g[i][3] = 0;
    }
    return c;
}

double tac_instant_enough(const struct tac_instant *in, double most)
{
    return fmax(ENOUGH * most, TAC_ROUNDING * in->fastest);
}

/* Conjugate gradients. */
static enum tac_err solve_by_gradients(struct tac_instant *in, bool *solved)
{
    enum tac_err err = TAC_OK;
    struct tac_bounded *p = &in->problem;
    const int64_t before = p->iterations;
    if (in->deal.together && p->columns > in->deal.limit)
        err = tac_bounded_solve_together(in->ctx, p, &in->deal.share, solved);
    else
        *solved = tac_bounded_solve(p);
    in->iterations += p->iterations - before;
    return err;
}

/* Conjugate gradients; where they do not soon come to an end in a large problem that loses energy, an interior point,
 * from which they go on. All ranks that work on the problem do the same. */
static enum tac_err solve_by_both(struct tac_instant *in, bool *solved)
{
    enum tac_err err;
    struct tac_bounded *p = &in->problem;
    const size_t large = in->large > 0 ? in->large : in->turns ? LARGE_OF_TURNS : LARGE;
    bool found;
    p->most = !in->lossy || p->columns <= large ? 0 : in->turns ? FIRST_OF_TURNS : FIRST;
    TAC_TRY(solve_by_gradients(in, solved));
    if (!p->left)
        goto done;
    err =
        tac_interior_solve(in->ctx, &in->interior, p, in->turns && !in->tumbles ? INTERIOR_OF_TURNS : INTERIOR, &found);
    TAC_TRY(in->deal.together ? tac_agree(in->ctx, err) : err);
    p->most = 0;
    if (found && !in->turns)
        p->patience = 1;
    TAC_TRY(solve_by_gradients(in, solved));
done:
    return err;
}

/* Rows that no velocity allows, as those of a ball between two scripts that meet, have impulses without limits. Such a
 * problem is counted and changes nothing: the caller looks for rows that can be, in a shorter step.
 *
 * After `patience` iterations less accuracy is enough where energy is lost. An impulse goes along a chain from row to
 * row; a support takes no more than what forces give in half a step, and the next step takes what it leaves. */
static enum tac_err solve(struct tac_instant *in, bool support)
{
    enum tac_err err;
    bool solved;
    struct tac_bounded *p = &in->problem;
    double most = 0;
    for (size_t k = 0; k < p->columns; k++)
        most = fmax(most, fabs(p->b[k]));
    in->most = most;
    p->tolerance = fmax(in->slack * in->rule.tolerance * most, TAC_ROUNDING * in->fastest);
    p->enough = in->lossy ? fmax(tac_instant_enough(in, most), p->tolerance) : p->tolerance;
    p->coarse = in->slack > 1;
    p->patience = PATIENCE + (support || p->columns > TAC_MANY_ROWS ? (int64_t)(PER_ROOT * sqrt((double)p->columns))
                                                                    : PER_ROW * (int64_t)p->columns);
    if (in->turns)
        p->patience = PATIENCE_OF_TURNS + (int64_t)p->columns / 2;
    TAC_TRY(solve_by_both(in, &solved));
    if (!solved) {
        in->unsolved = in->unsolved > (int64_t)p->columns ? in->unsolved : (int64_t)p->columns;
        memset(p->y, 0, p->columns * sizeof *p->y);
        memset(p->w, 0, 4 * p->bodies * sizeof *p->w);
    }
done:
    return err;
}

enum tac_err tac_instant_solve(struct tac_instant *in, const uint32_t *list, size_t n, const double *v, double times,
                               const double *start)
{
    enum tac_err err;
    struct tac_bounded *p = &in->problem;
    const size_t bodies = tac_instant_number(in, list, n);
    TAC_TRY(tac_bounded_begin(in->ctx, p, n, bodies));
    for (size_t k = 0; k < n; k++) {
        const struct tac_impact_row *row = &in->row[list[k]];
        p->column[k] = column_of(in, row);
        p->b[k] = -times * (tac_row_speed(row, v) + row->u);
        p->lower[k] = 0;
        p->upper[k] = INFINITY;
        p->y[k] = start != NULL ? start[list[k]] : 0;
    }
    TAC_TRY(solve(in, false));
done:
    tac_instant_forget(in, bodies);
    return err;
}

enum tac_err tac_instant_give(struct tac_instant *in, const uint32_t *list, size_t n, const double *y)
{
    enum tac_err err;
    struct tac_bounded *p = &in->problem;
    const size_t bodies = tac_instant_number(in, list, n);
    TAC_TRY(tac_bounded_begin(in->ctx, p, n, bodies));
    for (size_t k = 0; k < n; k++) {
        p->column[k] = column_of(in, &in->row[list[k]]);
        p->y[k] = y[list[k]];
    }
    tac_bounded_give(p);
done:
    tac_instant_forget(in, bodies);
    return err;
}

void tac_instant_push(const struct tac_instant *in, double scale, double *v)
{
    for (size_t b = 0; b < in->problem.bodies; b++)
        for (size_t k = 0; k < 3; k++)
            v[3 * (size_t)in->global[b] + k] += scale * in->problem.w[4 * b + k];
}

/* ---- laws ---- */

static bool loses_nothing(const struct tac_instant *in, const uint32_t *list, size_t n, bool friction)
{
    for (size_t k = 0; k < n; k++)
        if (in->row[list[k]].restitution < 1 || (friction && in->row[list[k]].friction > 0))
            return false;
    return true;
}

/* Sets how exactly the problems of an island are solved. Noise of what turns would become slips, and never rest. */
static void choose_slack(struct tac_instant *in, const uint32_t *list, size_t n)
{
    in->turns = false;
    for (size_t k = 0; k < n; k++)
        in->turns = in->turns || in->row[list[k]].turn[0] > 0 || in->row[list[k]].turn[1] > 0;
    in->lossy = !loses_nothing(in, list, n, true);
    in->tumbles = in->lossy && in->turns && n > TAC_MANY_ROWS && in->moves;
    in->slack = !in->lossy          ? 1
                : !in->turns        ? TAC_SLACK
                : in->tumbles       ? TAC_SLACK_OF_TUMBLING
                : n > TAC_MANY_ROWS ? TAC_SLACK_OF_TURNS
                                    : 1;
}

/* ---- friction ---- */

/* Sets the directions of friction of n rows that have none: against their slip at v, and across it. Returns whether
 * some row has them. */
static bool aim_friction(struct tac_instant *in, const uint32_t *list, size_t n, const double *v)
{
    bool any = false;
    for (size_t k = 0; k < n; k++) {
        struct tac_impact_row *row = &in->row[list[k]];
        double slip[3];
        if (!(row->friction > 0))
            continue;
        if (row->rubs) {
            any = true;
            continue;
        }
        tac_row_slip(row, v, slip);
        const double along = tac_dot(slip, row->n);
        for (int c = 0; c < 3; c++)
            slip[c] -= along * row->n[c];
        const double length = sqrt(tac_dot(slip, slip));
        if (!(length / row->s > TAC_ROUNDING * in->fastest))
            continue;
        any = row->rubs = true;
        for (int c = 0; c < 3; c++)
            row->tangent[0][c] = -slip[c] / length;
        tac_cross(row->tangent[1], row->n, row->tangent[0]);
    }
    return any;
}

/* keep: directions of impacts whose friction is still to come. */
static void forget_friction(struct tac_instant *in, const uint32_t *list, size_t n, bool keep)
{
    for (size_t k = 0; k < n; k++) {
        struct tac_impact_row *row = &in->row[list[k]];
        row->rubbed = 0;
        memset(row->slide, 0, sizeof row->slide);
        if (keep && row->struck > 0)
            continue;
        row->rubs = false;
        row->struck = 0;
        memset(row->tangent, 0, sizeof row->tangent);
    }
}

/* Column k: friction along one of the two directions. */
static void write_friction(struct tac_instant *in, const struct tac_impact_row *row, int which, const double *v,
                           double limit, size_t k)
{
    struct tac_bounded *p = &in->problem;
    const double *t = row->tangent[which];
    double slip[3];
    p->column[k] = column_of(in, row);
    double turn[2][3];
    tac_row_turn(row, t, turn);
    for (int c = 0; c < 3; c++) {
        p->column[k].g[0][c] = t[c] * (row->inverse[0] / row->s);
        p->column[k].g[1][c] = -(t[c] * (row->inverse[1] / row->s));
        p->column[k].g[2][c] = turn[0][c] / row->s;
        p->column[k].g[3][c] = turn[1][c] / row->s;
    }
    tac_row_slip(row, v, slip);
    p->b[k] = -tac_dot(t, slip) / row->s;
    p->lower[k] = -limit;
    p->upper[k] = limit;
    p->y[k] = fmin(fmax(row->slide[which], -limit), limit);
}

/* Does nothing of the rows move or push out of a plane x, y or z = const? Then friction is along one direction. What
 * turns may leave a plane. */
static bool is_flat(const struct tac_instant *in, const uint32_t *list, size_t n, const double *v)
{
    bool flat[3] = {!in->turns, !in->turns, !in->turns};
    for (size_t k = 0; k < n; k++) {
        const struct tac_impact_row *row = &in->row[list[k]];
        for (size_t c = 0; c < 3; c++)
            for (int i = 0; i < 2; i++)
                flat[c] = flat[c] && row->n[c] == 0 && row->other[c] == 0 &&
                          (row->body[i] < 0 || v[3 * (size_t)row->body[i] + c] == 0);
        if (!(flat[0] || flat[1] || flat[2]))
            return false;
    }
    return true;
}

double tac_instant_limit(const struct tac_instant *in, uint32_t row)
{
    return in->row[row].rubs ? in->row[row].friction * in->second[row] : 0;
}

enum tac_err tac_instant_solve_with_friction(struct tac_instant *in, const uint32_t *list, size_t n, int directions,
                                             const double *v, bool r)
{
    enum tac_err err;
    struct tac_bounded *p = &in->problem;
    const size_t bodies = tac_instant_number(in, list, n);
    size_t columns = n;
    if (directions > 1 && is_flat(in, list, n, v))
        directions = 1;
    for (size_t k = 0; k < n; k++)
        columns += tac_instant_limit(in, list[k]) > 0 ? (size_t)directions : 0;
    TAC_TRY(tac_bounded_begin(in->ctx, p, columns, bodies));
    columns = n;
    for (size_t k = 0; k < n; k++) {
        const struct tac_impact_row *row = &in->row[list[k]];
        p->column[k] = column_of(in, row);
        p->b[k] = (r ? row->r : 0) - (tac_row_speed(row, v) + row->u);
        p->lower[k] = 0;
        p->upper[k] = INFINITY;
        p->y[k] = row->lambda;
        for (int i = 0; i < directions && tac_instant_limit(in, list[k]) > 0; i++)
            write_friction(in, row, i, v, tac_instant_limit(in, list[k]), columns++);
    }
    TAC_TRY(solve(in, true));
    columns = n;
    for (size_t k = 0; k < n; k++) {
        struct tac_impact_row *row = &in->row[list[k]];
        row->lambda = p->y[k];
        for (int i = 0; i < 2; i++)
            row->slide[i] = i < directions && tac_instant_limit(in, list[k]) > 0 ? p->y[columns++] : 0;
    }
done:
    tac_instant_forget(in, bodies);
    return err;
}

/* Adds half of what the impulses of friction, and those along n that they have caused, take at the velocities v. */
static void enter_rubbed(struct tac_instant *in, const uint32_t *list, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        struct tac_impact_row *row = &in->row[list[k]];
        double slip[3];
        tac_row_slip(row, in->v, slip);
        row->rubbed -= .5 * (row->lambda * (tac_row_speed(row, in->v) + row->u));
        for (int i = 0; i < 2; i++)
            row->rubbed -= .5 * (row->slide[i] * (tac_dot(row->tangent[i], slip) / row->s));
    }
}

/* After restitution: the impulses in in->second wait for their friction, against the slip before the first of them. */
static void keep_for_friction(struct tac_instant *in, const uint32_t *list, size_t n)
{
    (void)aim_friction(in, list, n, in->start);
    for (size_t k = 0; k < n; k++) {
        struct tac_impact_row *row = &in->row[list[k]];
        row->lambda = in->second[list[k]];
        row->struck += row->lambda;
    }
}

static enum tac_err rub_island(struct tac_instant *in, size_t i)
{
    enum tac_err err = TAC_OK;
    const uint32_t *list = in->all.order + in->all.begin[i];
    const size_t n = in->all.begin[i + 1] - in->all.begin[i];
    bool any = false;
    for (size_t k = 0; k < n; k++) {
        struct tac_impact_row *row = &in->row[list[k]];
        row->lambda = 0;
        in->second[list[k]] = row->struck;
        any = any || tac_instant_limit(in, list[k]) > 0;
    }
    forget_friction(in, list, n, true);
    if (any) {
        choose_slack(in, list, n);
        TAC_TRY(tac_instant_slow_down(in, list, n));
        enter_rubbed(in, list, n);
        tac_instant_push(in, 1, in->v);
        enter_rubbed(in, list, n);
    }
    for (size_t k = 0; k < n; k++)
        in->row[list[k]].struck = 0;
done:
    return err;
}

bool tac_instant_must_rub(const struct tac_instant *in)
{
    for (size_t k = 0; k < in->rows; k++)
        if (in->row[k].rubs && in->row[k].friction * in->row[k].struck > 0)
            return true;
    return false;
}

enum tac_err tac_instant_rub(struct tac_instant *in)
{
    return tac_instant_each(in, rub_island);
}

/* ---- reflections ---- */

static size_t find_violated(struct tac_instant *in, const uint32_t *list, size_t n, double slow)
{
    size_t count = 0;
    for (size_t k = 0; k < n; k++)
        if (tac_instant_violates(in, &in->row[list[k]], slow))
            in->violated[count++] = list[k];
    return count;
}

/* Reflects the velocity at the rows of one component. Impulses are added to in->first. */
static enum tac_err reflect_component(struct tac_instant *in, const uint32_t *list, size_t n)
{
    enum tac_err err;
    const struct tac_bounded *p = &in->problem;
    TAC_TRY(tac_instant_solve(in, list, n, in->v, 2, NULL));
    const double square = tac_dot_evenly(p->w, p->w, 4 * p->bodies);
    if (!(square > 0))
        goto done;
    /* b is -2 (G^T v + u); the scale is 1 but for the residual, and with it no energy changes. */
    const double scale = tac_dot_evenly(p->y, p->b, n) / square;
    tac_instant_push(in, scale, in->v);
    for (size_t k = 0; k < n; k++)
        in->first[list[k]] += scale * p->y[k];
done:
    return err;
}

/* Reflects until no row is violated by more than `slow`. *jammed: that did not happen. */
static enum tac_err reflect(struct tac_instant *in, const uint32_t *list, size_t n, double slow, bool *jammed)
{
    enum tac_err err = TAC_OK;
    *jammed = false;
    for (int64_t round = 0;; round++) {
        const size_t violated = find_violated(in, list, n, slow);
        if (violated == 0 || in->unsolved > 0)
            break;
        if (round == in->rule.most + REFLECTIONS_PER_ROW * (int64_t)n) {
            *jammed = true;
            in->jammed++;
            break;
        }
        in->reflections++;
        TAC_TRY(tac_islands_make(in->ctx, &in->part, in->bodies, in->row, in->violated, violated));
        for (size_t i = 0; i < in->part.count; i++)
            TAC_TRY(
                reflect_component(in, in->part.order + in->part.begin[i], in->part.begin[i + 1] - in->part.begin[i]));
    }
done:
    return err;
}

/* ---- restitution ---- */

/* Restores the velocities of the rows' bodies before the impact. */
static void go_back(struct tac_instant *in, const uint32_t *list, size_t n, const double *from, double *to)
{
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < TAC_COLUMN_BODIES; i++) {
            const int32_t b = tac_row_body(&in->row[list[k]], i);
            if (b >= 0)
                memcpy(&to[3 * (size_t)b], &from[3 * (size_t)b], 3 * sizeof *to);
        }
}

/* The velocity after restitution is on the way from the inelastic one, in->other with the impulses in->second, to
 * in->v, with the impulses in->first: as far as no energy is gained. Both are allowed, so it is. */
static void keep_energy(struct tac_instant *in, const uint32_t *list, size_t n)
{
    double a = 0, b = 0, c = 0, share = 1;
    for (size_t k = 0; k < n; k++) {
        const struct tac_impact_row *row = &in->row[list[k]];
        const double before = tac_row_speed(row, in->start) + row->u, low = tac_row_speed(row, in->other) + row->u;
        const double change = tac_row_speed(row, in->v) + row->u - low;
        const double y = in->second[list[k]], more = in->first[list[k]] - y;
        a += more * change;
        b += y * change + more * (before + low);
        c += y * (before + low);
    }
    if (a + b + c > 0 && a > 0)
        share = fmin(fmax((-b + sqrt(fmax(b * b - 4 * a * c, 0))) / (2 * a), 0), 1);
    for (size_t k = 0; k < n; k++) {
        double *y = &in->second[list[k]];
        *y = share * in->first[list[k]] + (1 - share) * *y;
    }
    for (size_t k = 0; k < in->problem.bodies; k++)
        for (size_t i = 0; i < 3; i++) {
            const size_t at = 3 * (size_t)in->global[k] + i;
            in->v[at] = share * in->v[at] + (1 - share) * in->other[at];
        }
}

/* Every row has a law of its own: impulses in between, and then what is allowed next to that. in->problem is that of
 * the inelastic impact. */
static enum tac_err mix_laws(struct tac_instant *in, const uint32_t *list, size_t n)
{
    enum tac_err err;
    struct tac_bounded *p = &in->problem;
    for (size_t k = 0; k < n; k++) {
        const double c = in->row[list[k]].restitution;
        p->y[k] = in->first[list[k]] = c * in->first[list[k]] + (1 - c) * in->second[list[k]];
    }
    tac_bounded_apply(p);
    go_back(in, list, n, in->start, in->v);
    tac_instant_push(in, 1, in->v);
    TAC_TRY(tac_instant_stop(in, list, n, in->v));
    tac_instant_push(in, 1, in->v);
    for (size_t k = 0; k < n; k++)
        in->first[list[k]] += p->y[k];
    keep_energy(in, list, n);
done:
    return err;
}

/* After an inelastic impact, in->problem, from in->start: in->v has the elastic velocities. */
static enum tac_err restitute(struct tac_instant *in, const uint32_t *list, size_t n)
{
    const double c = in->row[list[0]].restitution;
    bool one = true;
    for (size_t k = 0; k < n; k++) {
        in->second[list[k]] = in->problem.y[k];
        one = one && in->row[list[k]].restitution == c;
    }
    go_back(in, list, n, in->start, in->other);
    tac_instant_push(in, 1, in->other);
    if (!one)
        return mix_laws(in, list, n);
    for (size_t k = 0; k < n; k++)
        in->second[list[k]] = c * in->first[list[k]] + (1 - c) * in->second[list[k]];
    for (size_t k = 0; k < in->problem.bodies; k++)
        for (size_t i = 0; i < 3; i++) {
            const size_t at = 3 * (size_t)in->global[k] + i;
            in->v[at] = c * in->v[at] + (1 - c) * in->other[at];
        }
    return TAC_OK;
}

bool tac_instant_is_elastic(const struct tac_instant *in, size_t i)
{
    return loses_nothing(in, in->all.order + in->all.begin[i], in->all.begin[i + 1] - in->all.begin[i], true);
}

/* What is left to approach slowly after restitution goes to the nearest allowed velocity. */
static enum tac_err stop_slow(struct tac_instant *in, const uint32_t *list, size_t n)
{
    enum tac_err err = TAC_OK;
    if (find_violated(in, list, n, 0) == 0)
        return TAC_OK;
    TAC_TRY(tac_instant_stop(in, list, n, in->v));
    tac_instant_push(in, 1, in->v);
    for (size_t k = 0; k < n; k++)
        in->second[list[k]] += in->problem.y[k];
done:
    return err;
}

/* Generalised reflections of one island. Impulses without friction go to in->second. Where energy is lost, nothing is
 * reflected that approaches slower than what forces give in a step: a heap would never rest. */
static enum tac_err strike_reflecting(struct tac_instant *in, const uint32_t *list, size_t n)
{
    enum tac_err err = TAC_OK;
    bool any = false, jammed = false;
    const bool elastic = loses_nothing(in, list, n, false);
    const double slow = elastic ? 0 : in->slow;
    for (size_t k = 0; k < n; k++)
        any = any || in->row[list[k]].restitution > 0;
    any = any && find_violated(in, list, n, slow) > 0;
    if (any)
        TAC_TRY(reflect(in, list, n, slow, &jammed));
    if (any && !jammed && elastic) {
        for (size_t k = 0; k < n; k++)
            in->second[list[k]] = in->first[list[k]];
        goto done;
    }
    TAC_TRY(tac_instant_stop(in, list, n, in->start));
    if (any && !jammed) {
        TAC_TRY(restitute(in, list, n));
        TAC_TRY(stop_slow(in, list, n));
        goto done;
    }
    for (size_t k = 0; k < n; k++)
        in->second[list[k]] = in->problem.y[k];
    go_back(in, list, n, in->start, in->v);
    tac_instant_push(in, 1, in->v);
done:
    return err;
}

static enum tac_err strike_island(struct tac_instant *in, size_t i)
{
    enum tac_err err = TAC_OK;
    const uint32_t *list = in->all.order + in->all.begin[i];
    const size_t n = in->all.begin[i + 1] - in->all.begin[i];
    for (size_t k = 0; k < n; k++) {
        in->row[list[k]].lambda = 0;
        in->first[list[k]] = in->second[list[k]] = 0;
    }
    forget_friction(in, list, n, true);
    choose_slack(in, list, n);
    if (find_violated(in, list, n, 0) == 0)
        return TAC_OK;
    TAC_TRY(in->rule.kind == TAC_IMPACT_REFLECTIONS ? strike_reflecting(in, list, n)
                                                    : tac_instant_strike_otherwise(in, i));
    keep_for_friction(in, list, n);
done:
    return err;
}

enum tac_err tac_instant_strike(struct tac_instant *in)
{
    memcpy(in->start, in->v, 3 * in->bodies * sizeof *in->v);
    return tac_instant_each(in, strike_island);
}

/* ---- support ---- */

/* Are the limits of friction those of the impulses? Makes them so. */
static bool settle_limits(struct tac_instant *in, const uint32_t *list, size_t n)
{
    double change = 0, most = 0;
    for (size_t k = 0; k < n; k++) {
        change = fmax(change, fabs(in->row[list[k]].lambda - in->second[list[k]]));
        most = fmax(most, in->row[list[k]].lambda);
        in->second[list[k]] = in->row[list[k]].lambda;
    }
    return change <= (in->problem.rough && !in->turns ? ENOUGH : TAC_SETTLED) * most;
}

/* An island with rigid pieces in which a support leaves all slower than what counts as a rounding error rests: it would
 * creep. If a part of it rested and another one did not, the two would be in each other's way. */
static void rest(struct tac_instant *in, const uint32_t *list, size_t n)
{
    if (!in->turns || !in->lossy)
        return;
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < TAC_COLUMN_BODIES; i++) {
            const struct tac_impact_row *row = &in->row[list[k]];
            const double *v = &in->v[3 * (size_t)tac_row_body(row, i)];
            if (tac_row_body(row, i) >= 0 && !(sqrt(tac_dot(v, v)) * row->inverse[i % 2] <= in->floor))
                return;
        }
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < TAC_COLUMN_BODIES; i++) {
            const int32_t b = tac_row_body(&in->row[list[k]], i);
            if (b >= 0)
                memset(&in->v[3 * (size_t)b], 0, 3 * sizeof *in->v);
        }
}

/* A slip that only weight would cause is the same for bodies that fall together, so friction is aimed at the slip of a
 * support without friction. */
static enum tac_err support_island(struct tac_instant *in, size_t i, bool again)
{
    enum tac_err err = TAC_OK;
    const uint32_t *list = in->all.order + in->all.begin[i];
    const size_t n = in->all.begin[i + 1] - in->all.begin[i];
    bool settled = false;
    if (!again && in->keeps && tac_kept_has(in, list, n)) {
        tac_kept_restore(in, list, n);
        return TAC_OK;
    }
    choose_slack(in, list, n);
    for (size_t k = 0; k < n; k++) {
        struct tac_impact_row *row = &in->row[list[k]];
        row->lambda = again ? row->lambda : 0;
    }
    if (!again)
        forget_friction(in, list, n, false);
    const bool large = in->turns && in->lossy && n > TAC_MANY_ROWS,
               start = !again && in->keeps && large && tac_kept_start(in, list, n);
    const int64_t most = in->tumbles && in->rule.passes > TUMBLING ? TUMBLING : in->rule.passes;
    for (size_t k = 0; k < n; k++)
        in->second[list[k]] = in->row[list[k]].lambda;
    int64_t pass = !again && !start ? 0 : in->tumbles ? most : start && most > 1 ? most - 1 : 1;
    for (; pass <= most && !settled; pass++) {
        TAC_TRY(tac_instant_solve_with_friction(in, list, n, 2, in->v, true));
        if (pass == most)
            break;
        settled = settle_limits(in, list, n);
        go_back(in, list, n, in->v, in->start);
        tac_instant_push(in, 1, in->start);
        settled = aim_friction(in, list, n, in->start) ? settled : true;
    }
    tac_instant_push(in, 1, in->v);
    if (!again)
        rest(in, list, n);
done:
    return err;
}

static enum tac_err support_first(struct tac_instant *in, size_t i)
{
    return support_island(in, i, false);
}

static enum tac_err support_again(struct tac_instant *in, size_t i)
{
    return tac_instant_is_elastic(in, i) ? TAC_OK : support_island(in, i, true);
}

enum tac_err tac_instant_support(struct tac_instant *in, bool again)
{
    enum tac_err err;
    if (again)
        return tac_instant_each(in, support_again);
    if (in->keeps)
        tac_kept_begin(in);
    TAC_TRY(tac_instant_each(in, support_first));
    if (in->keeps)
        tac_kept_store(in);
done:
    return err;
}

/* The impulses of rows that are elastic and without friction. */
enum tac_err tac_instant_repeat(struct tac_instant *in, size_t i)
{
    const uint32_t *list = in->all.order + in->all.begin[i];
    const size_t n = in->all.begin[i + 1] - in->all.begin[i];
    for (size_t k = 0; k < n; k++)
        in->first[list[k]] = in->row[list[k]].lambda;
    const enum tac_err err = tac_instant_give(in, list, n, in->first);
    if (!err)
        tac_instant_push(in, 1, in->v);
    return err;
}
