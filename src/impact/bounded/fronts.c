/* fronts.c: the multifrontal factor of 1 + F D F^T. */
#include "impact/bounded/fronts.h"
#include "base/four.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16, PAD = 8 }; /* columns that are eliminated together; numbers that loops may read past an end */
#define MOST_NUMBERS ((size_t)1 << 27) /* of a factor and of what fronts leave */

static size_t padded(size_t n)
{
    return (n + 3) / 4 * 4;
}

void tac_fronts_free(struct tac_fronts *f)
{
    void *const owned[] = {f->front, f->rest,    f->column, f->part_of, f->row,
                           f->panel, f->inverse, f->stack,  f->square,  f->space};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    tac_dissection_free(&f->cut);
    memset(f, 0, sizeof *f);
}

/* ---- the plan ---- */

static void find_axes(struct tac_fronts *f, const struct tac_bounded *p)
{
    bool acts[3] = {false, false, false};
    for (size_t k = 0; k < p->columns; k++)
        for (int i = 0; i < TAC_COLUMN_BODIES; i++)
            for (int c = 0; c < 3; c++)
                acts[c] = acts[c] || (p->column[k].body[i] >= 0 && p->column[k].g[i][c] != 0);
    f->dim = 0;
    for (size_t c = 0; c < 3; c++)
        if (acts[c])
            f->axis[f->dim++] = c;
}

static enum tac_err make_lists(struct tac_ctx *ctx, struct tac_fronts *f, const struct tac_bounded *p)
{
    enum tac_err err;
    size_t has = f->body_capacity;
    TAC_TRY(tac_grow(ctx, &f->part_of, &has, p->bodies, sizeof *f->part_of));
    TAC_TRY(tac_grow(ctx, &f->row, &f->body_capacity, p->bodies, sizeof *f->row));
    TAC_TRY(tac_grow(ctx, &f->front, &f->front_capacity, f->cut.count + 1, sizeof *f->front));
    TAC_TRY(tac_grow(ctx, &f->column, &f->column_capacity, p->columns, sizeof *f->column));
    TAC_TRY(tac_grow(ctx, &f->inverse, &f->inverse_capacity, f->dim * p->bodies, sizeof *f->inverse));
    memset(f->front, 0, (f->cut.count + 1) * sizeof *f->front);
    for (size_t t = f->cut.count; t-- > 0;) {
        const struct tac_separator *part = &f->cut.part[t];
        f->front[t].own = (size_t)(part->end - part->begin);
        f->front[t].child = f->front[t].next = -1;
        for (int32_t k = part->begin; k < part->end; k++)
            f->part_of[k] = (int32_t)t;
    }
    for (size_t t = 0; t < f->cut.count; t++) {
        const int32_t parent = f->cut.part[t].parent;
        if (parent < 0)
            continue;
        f->front[t].next = f->front[parent].child;
        f->front[parent].child = (int32_t)t;
    }
done:
    return err;
}

static int compare_places(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Lists the bodies behind a part that it touches, or that what is left to it touches. */
static enum tac_err list_rest(struct tac_ctx *ctx, struct tac_fronts *f, size_t t, size_t *count)
{
    enum tac_err err = TAC_OK;
    const struct tac_separator *part = &f->cut.part[t];
    struct tac_front *front = &f->front[t];
    front->list = *count;
    TAC_TRY(tac_grow(ctx, &f->rest, &f->rest_capacity, *count + f->bodies, sizeof *f->rest));
    for (int32_t k = part->begin; k < part->end; k++) {
        const size_t b = (size_t)f->cut.order[k];
        for (size_t e = f->cut.begin[b]; e < f->cut.begin[b + 1]; e++) {
            const int32_t place = f->cut.place[f->cut.near[e]];
            if (place >= part->end && f->row[place] != (int32_t)t) {
                f->row[place] = (int32_t)t;
                f->rest[(*count)++] = place;
            }
        }
    }
    for (int32_t s = front->child; s >= 0; s = f->front[s].next)
        for (size_t e = 0; e < f->front[s].rest; e++) {
            const int32_t place = f->rest[f->front[s].list + e];
            if (place >= part->end && f->row[place] != (int32_t)t) {
                f->row[place] = (int32_t)t;
                f->rest[(*count)++] = place;
            }
        }
    front->rest = *count - front->list;
    if (front->rest > 1)
        qsort(f->rest + front->list, front->rest, sizeof *f->rest, compare_places);
done:
    return err;
}

static size_t square_of(const struct tac_fronts *f, size_t t)
{
    const size_t q = f->dim * f->front[t].rest;
    return q * padded(q);
}

/* Makes room for numbers: the factor, and what is left at any time. */
static enum tac_err make_numbers(struct tac_ctx *ctx, struct tac_fronts *f)
{
    enum tac_err err;
    size_t panel = 0, stack = 0, most = 0, square = 0, longest = 0;
    for (size_t t = 0; t < f->cut.count; t++) {
        struct tac_front *front = &f->front[t];
        const size_t rows = padded(f->dim * (front->own + front->rest));
        front->panel = panel;
        panel += f->dim * front->own * rows;
        for (int32_t s = front->child; s >= 0; s = f->front[s].next)
            stack -= square_of(f, (size_t)s);
        stack += square_of(f, t);
        most = stack > most ? stack : most;
        square = square_of(f, t) > square ? square_of(f, t) : square;
        longest = rows > longest ? rows : longest;
    }
    f->too_large = panel + most + square > MOST_NUMBERS;
    if (f->too_large)
        return TAC_OK;
    TAC_TRY(tac_grow(ctx, &f->panel, &f->panel_capacity, panel + PAD, sizeof *f->panel));
    TAC_TRY(tac_grow(ctx, &f->stack, &f->stack_capacity, most + PAD, sizeof *f->stack));
    TAC_TRY(tac_grow(ctx, &f->square, &f->square_capacity, square + PAD, sizeof *f->square));
    TAC_TRY(tac_grow(ctx, &f->space, &f->space_capacity, longest + PAD, sizeof *f->space));
    memset(f->panel + panel, 0, PAD * sizeof *f->panel);
    memset(f->space, 0, (longest + PAD) * sizeof *f->space);
done:
    return err;
}

/* The front at which a column arrives: that of its first body. */
static int32_t front_of(const struct tac_fronts *f, const struct tac_column *c)
{
    int32_t first = INT32_MAX;
    for (int i = 0; i < TAC_COLUMN_BODIES; i++)
        if (c->body[i] >= 0 && f->cut.place[c->body[i]] < first)
            first = f->cut.place[c->body[i]];
    return f->part_of[first];
}

static void deal_columns(struct tac_fronts *f, const struct tac_bounded *p)
{
    for (size_t k = 0; k < p->columns; k++)
        f->front[front_of(f, &p->column[k]) + 1].column++;
    for (size_t t = 0; t < f->cut.count; t++)
        f->front[t + 1].column += f->front[t].column;
    for (size_t k = 0; k < p->columns; k++)
        f->column[f->front[front_of(f, &p->column[k])].column++] = (uint32_t)k;
    for (size_t t = f->cut.count; t > 0; t--) /* each beginning has become the end */
        f->front[t].column = f->front[t - 1].column;
    f->front[0].column = 0;
}

enum tac_err tac_fronts_plan(struct tac_ctx *ctx, struct tac_fronts *f, const struct tac_bounded *p)
{
    enum tac_err err;
    size_t count = 0;
    f->bodies = p->bodies;
    find_axes(f, p);
    TAC_TRY(tac_dissect(ctx, p, &f->cut));
    TAC_TRY(make_lists(ctx, f, p));
    for (size_t b = 0; b < p->bodies; b++)
        f->row[b] = -1;
    for (size_t t = 0; t < f->cut.count; t++)
        TAC_TRY(list_rest(ctx, f, t, &count));
    TAC_TRY(make_numbers(ctx, f));
    deal_columns(f, p);
done:
    return err;
}

/* ---- a front ---- */

/* The present front: the columns of its own unknowns, `panel`, and the square that it leaves. */
struct present {
    double *panel, *square;
    size_t own, rows, stride, side; /* own unknowns and all; lengths of columns of the panel and of the square */
};

static struct present begin_front(struct tac_fronts *f, size_t t)
{
    const struct tac_front *front = &f->front[t];
    struct present a = {.panel = f->panel + front->panel,
                        .square = f->square,
                        .own = f->dim * front->own,
                        .rows = f->dim * (front->own + front->rest)};
    a.stride = padded(a.rows);
    a.side = padded(a.rows - a.own);
    memset(a.panel, 0, a.own * a.stride * sizeof *a.panel);
    memset(a.square, 0, (a.rows - a.own) * a.side * sizeof *a.square);
    for (size_t k = 0; k < a.own; k++)
        a.panel[k * a.stride + k] = 1;
    for (size_t k = 0; k < front->own; k++)
        f->row[(size_t)f->cut.part[t].begin + k] = (int32_t)k;
    for (size_t k = 0; k < front->rest; k++)
        f->row[f->rest[front->list + k]] = (int32_t)(front->own + k);
    return a;
}

/* Column j of the front, from which row i is at [i]. */
static double *column_at(const struct present *a, size_t j)
{
    return j < a->own ? a->panel + j * a->stride : a->square + (j - a->own) * a->side - a->own;
}

/* Adds w g g^T of one column of the problem. */
static void add_column(const struct tac_fronts *f, const struct present *a, const struct tac_column *c, double w)
{
    size_t at[3 * TAC_COLUMN_BODIES], count = 0;
    double g[3 * TAC_COLUMN_BODIES];
    for (int i = 0; i < TAC_COLUMN_BODIES; i++)
        for (size_t k = 0; k < f->dim && c->body[i] >= 0; k++) {
            at[count] = f->dim * (size_t)f->row[f->cut.place[c->body[i]]] + k;
            g[count++] = c->g[i][f->axis[k]];
        }
    for (size_t j = 0; j < count; j++) {
        double *column = column_at(a, at[j]);
        const double by = w * g[j];
        for (size_t i = 0; i < count; i++)
            if (at[i] >= at[j])
                column[at[i]] += by * g[i];
    }
}

/* Adds what front s has left, in its square. */
static void add_rest(const struct tac_fronts *f, const struct present *a, size_t s, const double *square)
{
    const struct tac_front *from = &f->front[s];
    const int32_t *rest = f->rest + from->list;
    const size_t dim = f->dim, side = padded(dim * from->rest);
    for (size_t j = 0; j < from->rest; j++)
        for (size_t c = 0; c < dim; c++) {
            const double *source = square + (dim * j + c) * side;
            double *column = column_at(a, dim * (size_t)f->row[rest[j]] + c);
            for (size_t e = c; e < dim; e++)
                column[dim * (size_t)f->row[rest[j]] + e] += source[dim * j + e];
            for (size_t i = j + 1; i < from->rest; i++)
                for (size_t e = 0; e < dim; e++)
                    column[dim * (size_t)f->row[rest[i]] + e] += source[dim * i + e];
        }
}

/* c -= a b^T for four columns of c: `rows` rows, a multiple of 4, and `depth` columns of a; b: four rows of the same
 * matrix as a. */
TAC_FOUR_INLINE void take_four(double *c, size_t stride, const double *a, const double *b, size_t length, size_t rows,
                               size_t depth)
{
    size_t i = 0;
    for (; i + 8 <= rows; i += 8) {
        tac_four sum[4][2];
        for (size_t j = 0; j < 4; j++) {
            sum[j][0] = tac_four_load(c + j * stride + i);
            sum[j][1] = tac_four_load(c + j * stride + i + 4);
        }
        for (size_t k = 0; k < depth; k++) {
            const tac_four first = tac_four_load(a + k * length + i), second = tac_four_load(a + k * length + i + 4);
            for (size_t j = 0; j < 4; j++) {
                const tac_four by = tac_four_all(b[k * length + j]);
                sum[j][0] -= first * by;
                sum[j][1] -= second * by;
            }
        }
        for (size_t j = 0; j < 4; j++) {
            tac_four_store(c + j * stride + i, sum[j][0]);
            tac_four_store(c + j * stride + i + 4, sum[j][1]);
        }
    }
    for (; i < rows; i += 4)
        for (size_t j = 0; j < 4; j++) {
            tac_four sum = tac_four_load(c + j * stride + i);
            for (size_t k = 0; k < depth; k++)
                sum -= tac_four_load(a + k * length + i) * tac_four_all(b[k * length + j]);
            tac_four_store(c + j * stride + i, sum);
        }
}

/* The same for one column. */
TAC_FOUR_INLINE void take_one(double *c, const double *a, const double *b, size_t length, size_t rows, size_t depth)
{
    for (size_t i = 0; i < rows; i += 4) {
        tac_four sum = tac_four_load(c + i);
        for (size_t k = 0; k < depth; k++)
            sum -= tac_four_load(a + k * length + i) * tac_four_all(b[k * length]);
        tac_four_store(c + i, sum);
    }
}

/* Eliminates the own unknowns. Returns false if a pivot is no positive number. */
TAC_VERSIONS static bool eliminate(const struct present *a, double *inverse)
{
    const size_t n = a->stride;
    double *const m = a->panel;
    for (size_t first = 0; first < a->own; first += BLOCK) {
        const size_t last = first + BLOCK < a->own ? first + BLOCK : a->own;
        size_t j = first;
        for (; j + 4 <= last && first > 0; j += 4)
            take_four(m + j * n + j / 4 * 4, n, m + j / 4 * 4, m + j, n, n - j / 4 * 4, first);
        for (; j < last && first > 0; j++)
            take_one(m + j * n + j / 4 * 4, m + j / 4 * 4, m + j, n, n - j / 4 * 4, first);
        for (j = first; j < last; j++) {
            double *column = m + j * n;
            for (size_t k = first; k < j; k++) {
                const double *other = m + k * n, by = other[j];
                for (size_t i = j; i < n; i++)
                    column[i] -= by * other[i];
            }
            if (!(column[j] > 0) || !(column[j] < INFINITY))
                return false;
            const double root = sqrt(column[j]);
            inverse[j] = 1 / root;
            for (size_t i = j; i < n; i++)
                column[i] *= inverse[j];
        }
    }
    const size_t rest = a->rows - a->own;
    size_t j = 0;
    for (; j + 4 <= rest; j += 4)
        take_four(a->square + j * a->side + j, a->side, m + a->own + j, m + a->own + j, n, a->side - j, a->own);
    for (; j < rest; j++)
        take_one(a->square + j * a->side + j / 4 * 4, m + a->own + j / 4 * 4, m + a->own + j, n, a->side - j / 4 * 4,
                 a->own);
    return true;
}

bool tac_fronts_factor(struct tac_fronts *f, const struct tac_bounded *p, const double *weight)
{
    size_t top = 0;
    for (size_t t = 0; t < f->cut.count; t++) {
        const struct tac_front *front = &f->front[t];
        const struct present a = begin_front(f, t);
        for (size_t e = front->column; e < front[1].column; e++)
            if (weight[f->column[e]] > 0)
                add_column(f, &a, &p->column[f->column[e]], weight[f->column[e]]);
        for (int32_t s = front->child; s >= 0; s = f->front[s].next) {
            top -= square_of(f, (size_t)s);
            add_rest(f, &a, (size_t)s, f->stack + top);
        }
        if (!eliminate(&a, f->inverse + f->dim * (size_t)f->cut.part[t].begin))
            return false;
        memcpy(f->stack + top, f->square, square_of(f, t) * sizeof *f->stack);
        top += square_of(f, t);
    }
    return true;
}

/* ---- the solution ---- */

/* Copies the unknowns of a front from x, or back. */
static void copy(const struct tac_fronts *f, size_t t, double *x, bool back)
{
    const struct tac_front *front = &f->front[t];
    for (size_t k = 0; k < front->own + front->rest; k++) {
        const int32_t place =
            k < front->own ? f->cut.part[t].begin + (int32_t)k : f->rest[front->list + k - front->own];
        double *at = x + 4 * (size_t)f->cut.order[place], *mine = f->space + f->dim * k;
        for (size_t c = 0; c < f->dim; c++)
            if (back)
                at[f->axis[c]] = mine[c];
            else
                mine[c] = at[f->axis[c]];
    }
    for (size_t k = f->dim * (front->own + front->rest); k % 4 != 0; k++)
        f->space[k] = 0;
}

TAC_VERSIONS static void go_forward(double *x, const double *panel, const double *inverse, size_t own, size_t stride)
{
    for (size_t k = 0; k < own; k++) {
        const double *column = panel + k * stride;
        size_t i = k + 1;
        x[k] *= inverse[k];
        for (; i < stride && i % 4 != 0; i++)
            x[i] -= column[i] * x[k];
        const tac_four by = tac_four_all(x[k]);
        for (; i < stride; i += 4)
            tac_four_store(x + i, tac_four_load(x + i) - tac_four_load(column + i) * by);
    }
}

TAC_VERSIONS static void go_back(double *x, const double *panel, const double *inverse, size_t own, size_t stride)
{
    for (size_t k = own; k-- > 0;) {
        const double *column = panel + k * stride;
        tac_four sum = tac_four_all(0);
        double few = 0;
        size_t i = k + 1;
        for (; i < stride && i % 4 != 0; i++)
            few += column[i] * x[i];
        for (; i < stride; i += 4)
            sum += tac_four_load(column + i) * tac_four_load(x + i);
        x[k] = (x[k] - (few + ((sum[0] + sum[1]) + (sum[2] + sum[3])))) * inverse[k];
    }
}

void tac_fronts_solve(const struct tac_fronts *f, double *x)
{
    for (size_t t = 0; t < f->cut.count; t++) {
        const struct tac_front *front = &f->front[t];
        copy(f, t, x, false);
        go_forward(f->space, f->panel + front->panel, f->inverse + f->dim * (size_t)f->cut.part[t].begin,
                   f->dim * front->own, padded(f->dim * (front->own + front->rest)));
        copy(f, t, x, true);
    }
    for (size_t t = f->cut.count; t-- > 0;) {
        const struct tac_front *front = &f->front[t];
        copy(f, t, x, false);
        go_back(f->space, f->panel + front->panel, f->inverse + f->dim * (size_t)f->cut.part[t].begin,
                f->dim * front->own, padded(f->dim * (front->own + front->rest)));
        copy(f, t, x, true);
    }
}
