/* bounded_loops.c: the loops of MPRGP over columns and bodies, four numbers side by side. */
#include "base/evenly.h"
#include "base/evenly_four.h"
#include "impact/bounded/bounded.h"
#include <math.h>
#include <string.h>
#include <tactus/math.h>

/* ---- lists ---- */

static void list_entries(struct tac_bounded *p)
{
    bool deep = false;
    memset(p->start, 0, (p->bodies + 1) * sizeof *p->start);
    for (size_t k = 0; k < p->columns; k++)
        for (size_t i = 0; i < TAC_COLUMN_BODIES; i++) {
            const int32_t b = p->column[k].body[i];
            p->place[TAC_COLUMN_BODIES * k + i] = b >= 0 ? (uint32_t)b : (uint32_t)p->bodies;
            deep = deep || (i >= 2 && b >= 0);
            if (b >= 0)
                p->start[b + 1]++;
        }
    if (p->team == NULL)
        p->deep = deep;
    for (size_t b = 0; b < p->bodies; b++)
        p->start[b + 1] += p->start[b];
    for (size_t k = 0; k < p->columns; k++)
        for (size_t i = 0; i < TAC_COLUMN_BODIES; i++)
            if (p->column[k].body[i] >= 0) {
                const size_t at = p->start[p->column[k].body[i]]++;
                p->entry[at] = (uint32_t)k;
                memcpy(&p->pack[4 * at], p->column[k].g[i], 4 * sizeof *p->pack);
            }
    for (size_t b = p->bodies; b > 0; b--) /* each start has become the end */
        p->start[b] = p->start[b - 1];
    p->start[0] = 0;
}

void tac_bounded_list(struct tac_bounded *p)
{
    double *const all[] = {p->b,         p->lower,   p->upper, p->y,       p->gradient,
                           p->direction, p->product, p->free,  p->chopped, p->reduced};
    list_entries(p);
    for (size_t k = p->columns; k % 4 != 0; k++)
        for (size_t a = 0; a < sizeof all / sizeof *all; a++)
            all[a][k] = 0;
    memset(&p->w[4 * p->bodies], 0, 4 * sizeof *p->w);
}

/* ---- products ---- */

/* A body of very many columns. */
static void sum_many(struct tac_bounded *p, size_t b, const double *y)
{
    for (size_t c = 0; c < 3; c++) {
        size_t n = 0;
        for (size_t e = p->start[b]; e < p->start[b + 1]; e++)
            p->term[n++] = p->pack[4 * e + c] * y[p->entry[e]];
        p->w[4 * b + c] = tac_sum_evenly(p->term, n);
    }
    p->w[4 * b + 3] = 0;
}

/* The sums of n terms of four numbers each, as those of tac_sum_evenly(). */
TAC_FOUR_INLINE tac_four sum_terms(const double *term, size_t n, const struct tac_even_most *most)
{
    if (n <= 2)
        return n == 0 ? tac_four_all(0) : n == 1 ? tac_four_load(term) : tac_four_load(term) + tac_four_load(term + 4);
    const tac_four_mask e = tac_even_exponent(most->most);
    const tac_four scale = tac_even_power(TAC_EVEN_HALF - e);
    struct tac_even_sum sum = {tac_four_all(0), tac_four_all(0)};
    for (size_t k = 0; k < n; k++)
        tac_even_add(&sum, tac_four_load(term + 4 * k), scale);
    return tac_four_select(most->finite, tac_even_round(&sum, e), tac_four_all(NAN));
}

/* The sums of terms that are rounded to multiples of a part of the largest that is so small, 2^-(51 - bits), that no
 * sum of as many numbers is rounded. What is not finite stays so. */
TAC_FOUR_INLINE tac_four sum_coarsely(const double *term, size_t n, tac_four most)
{
    const tac_four_mask lift = {1, 1, 1, 1};
    long long bits = 1;
    while (n >> bits > 0)
        bits++;
    const tac_four round = tac_even_power(tac_even_exponent(most) + lift * (1 + bits)) * tac_four_all(1.5);
    tac_four sum = tac_four_all(0);
    for (size_t k = 0; k < n; k++)
        sum += tac_four_load(term + 4 * k) + round - round;
    return sum;
}

/* Sets the terms at a body, four numbers each, and the largest of them. Returns how many they are. */
TAC_FOUR_INLINE size_t make_terms(const struct tac_bounded *p, size_t b, const double *y, double *term,
                                  struct tac_even_most *most)
{
    const size_t n = p->start[b + 1] - p->start[b];
    const double *pack = p->pack + 4 * p->start[b];
    const uint32_t *entry = p->entry + p->start[b];
    *most = TAC_EVEN_NONE;
    for (size_t k = 0; k < n; k++) {
        const tac_four t = tac_four_load(pack + 4 * k) * tac_four_all(y[entry[k]]);
        tac_four_store(term + 4 * k, t);
        tac_even_meet(most, t);
    }
    return n;
}

/* w = F y; `coarsely` is a constant where this is used. */
TAC_FOUR_INLINE void go(struct tac_bounded *p, const double *y, bool coarsely)
{
    double term[4 * TAC_EVEN_MOST];
    const size_t own = p->team != NULL ? p->team->own : p->bodies;
    for (size_t b = 0; b < own; b++) {
        struct tac_even_most most;
        if (p->start[b + 1] - p->start[b] > TAC_EVEN_MOST) {
            sum_many(p, b, y);
            continue;
        }
        const size_t n = make_terms(p, b, y, term, &most);
        tac_four_store(p->w + 4 * b, coarsely ? sum_coarsely(term, n, most.most) : sum_terms(term, n, &most));
    }
}

TAC_VERSIONS void tac_bounded_go_coarsely(struct tac_bounded *p, const double *y)
{
    go(p, y, true);
}

TAC_VERSIONS void tac_bounded_go(struct tac_bounded *p, const double *y)
{
    go(p, y, false);
}

/* Row k of F^T, at the bodies that are `which` of its columns, for four columns. */
TAC_FOUR_INLINE tac_four look_at(const struct tac_bounded *p, size_t k, size_t which)
{
    tac_four part[4], x[3];
    for (size_t i = 0; i < 4; i++)
        part[i] = tac_four_load(p->column[k + i].g[which]) *
                  tac_four_load(p->w + 4 * (size_t)p->place[TAC_COLUMN_BODIES * (k + i) + which]);
    tac_four_columns(x, part[0], part[1], part[2], part[3]);
    return x[0] + x[1] + x[2];
}

TAC_VERSIONS void tac_bounded_look(const struct tac_bounded *p, double *out)
{
    const size_t whole = p->columns / 4 * 4;
    for (size_t k = 0; k < whole; k += 4) {
        const tac_four first = look_at(p, k, 0) + look_at(p, k, 1);
        tac_four_store(out + k, p->deep ? first + (look_at(p, k, 2) + look_at(p, k, 3)) : first);
    }
    for (size_t k = whole; k < p->columns; k++) {
        double part[TAC_COLUMN_BODIES];
        for (size_t i = 0; i < TAC_COLUMN_BODIES; i++)
            part[i] = tac_dot(p->column[k].g[i], &p->w[4 * (size_t)p->place[TAC_COLUMN_BODIES * k + i]]);
        out[k] = p->deep ? (part[0] + part[1]) + (part[2] + part[3]) : part[0] + part[1];
    }
}

/* ---- columns ---- */

TAC_FOUR_INLINE tac_four smaller(tac_four a, tac_four b)
{
    return tac_four_select(a < b, a, b);
}

TAC_FOUR_INLINE double largest(tac_four x)
{
    double most = 0;
    for (int k = 0; k < 4; k++)
        most = x[k] > most ? x[k] : most;
    return most;
}

TAC_VERSIONS double tac_bounded_split(struct tac_bounded *p)
{
    const tac_four zero = tac_four_all(0), rate = tac_four_all(1 / p->step);
    tac_four most = zero;
    for (size_t k = 0; k < p->columns; k += 4) {
        const tac_four g = tac_four_load(p->gradient + k), y = tac_four_load(p->y + k);
        const tac_four lower = tac_four_load(p->lower + k), upper = tac_four_load(p->upper + k);
        const tac_four_mask low = y <= lower, high = y >= upper;
        const tac_four free = tac_four_select(low | high, zero, g);
        const tac_four chopped = tac_four_select(low, tac_four_select(high, zero, smaller(g, zero)),
                                                 tac_four_select(high, tac_even_larger(g, zero), zero));
        const tac_four down = smaller((y - lower) * rate, g), up = tac_even_larger((y - upper) * rate, g);
        tac_four_store(p->free + k, free);
        tac_four_store(p->chopped + k, chopped);
        tac_four_store(p->reduced + k, tac_four_select(free > zero, down, tac_four_select(free < zero, up, zero)));
        most = tac_even_larger(tac_even_size(free + chopped), most);
    }
    return largest(most);
}

TAC_FOUR_INLINE void move_four(struct tac_bounded *p, size_t k, double length, const double *direction)
{
    const tac_four y = tac_four_load(p->y + k) - tac_four_all(length) * tac_four_load(direction + k);
    tac_four_store(p->y + k, smaller(tac_even_larger(y, tac_four_load(p->lower + k)), tac_four_load(p->upper + k)));
}

TAC_VERSIONS void tac_bounded_move(struct tac_bounded *p, double length, const double *direction)
{
    for (size_t k = 0; k < p->columns; k += 4)
        move_four(p, k, length, direction);
}

TAC_VERSIONS void tac_bounded_follow(struct tac_bounded *p, double length)
{
    for (size_t k = 0; k < p->columns; k += 4) {
        move_four(p, k, length, p->direction);
        tac_four_store(p->gradient + k,
                       tac_four_load(p->gradient + k) - tac_four_all(length) * tac_four_load(p->product + k));
    }
}

TAC_VERSIONS void tac_bounded_turn(struct tac_bounded *p, double turn)
{
    for (size_t k = 0; k < p->columns; k += 4)
        tac_four_store(p->direction + k,
                       tac_four_load(p->free + k) - tac_four_all(turn) * tac_four_load(p->direction + k));
}

/* What has no bound leaves no limit: (y - INFINITY) / d is INFINITY. */
TAC_VERSIONS double tac_bounded_longest(const struct tac_bounded *p, bool leaving)
{
    const tac_four zero = tac_four_all(0), none = tac_four_all(INFINITY);
    const tac_four_mask all = leaving ? (tac_four_mask){0, 0, 0, 0} : (tac_four_mask){-1, -1, -1, -1};
    tac_four most = none;
    for (size_t k = 0; k < p->columns; k += 4) {
        const tac_four d = tac_four_load(p->direction + k), y = tac_four_load(p->y + k);
        const tac_four lower = tac_four_load(p->lower + k), upper = tac_four_load(p->upper + k);
        const tac_four_mask down = d > zero, counts = (down & ((y > lower) | all)) | ((d < zero) & ((y < upper) | all));
        const tac_four length = tac_four_select(down, y - lower, y - upper) / d;
        most = smaller(tac_four_select(counts, length, none), most);
    }
    double least = INFINITY;
    for (int k = 0; k < 4; k++)
        least = most[k] < least ? most[k] : least;
    return least;
}
