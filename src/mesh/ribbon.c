/* ribbon.c: generates a band along a curve: the curve is resampled evenly by arc length, and a frame is carried along
 * it (docs/reference/meshes.md, Kinds). */
#include "mesh/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* Sine of the angle between curve and `up` under which the frame is only carried along, and over which it follows
 * `up` entirely; between them it passes smoothly from one to the other. */
#define CARRIED_BELOW 0.2
#define GUIDED_ABOVE 0.6

struct ribbon {
    struct tac_ctx *ctx;
    size_t knots;
    double *knot, *length; /* owned: (knots, 3); (knots) arc length from the start */
    int64_t n;             /* cells along */
    bool closed, guided;   /* the curve ends where it starts; `up` was given */
    double up[3];
    double *point, *tangent, *side; /* owned: (n + 1, 3) each */
};

static double normalize(double v[3])
{
    const double length = sqrt(tac_dot(v, v));
    for (int k = 0; k < 3 && length > 0; k++)
        v[k] /= length;
    return length;
}

static enum tac_err read_curve(const struct tac_params *p, struct ribbon *r)
{
    enum tac_err err = TAC_OK;
    char path[512];
    r->knots = tac_params_row_count(p, "curve");
    tac_params_path(p, "curve", path);
    if (r->knots < 2) {
        err = tac_fail(p->ctx, TAC_ERR_INPUT, "%s: needs at least 2 points, not %zu", path, r->knots);
        goto done;
    }
    TAC_TRY(tac_alloc(p->ctx, r->knots, 3 * sizeof(double), &r->knot));
    TAC_TRY(tac_alloc(p->ctx, r->knots, sizeof(double), &r->length));
    for (size_t i = 0; i < r->knots; i++) {
        double *x = r->knot + 3 * i, d[3];
        tac_params_row(p, "curve", i, 3, x);
        if (i > 0) {
            tac_sub(d, x, x - 3);
            r->length[i] = r->length[i - 1] + sqrt(tac_dot(d, d));
        }
    }
    if (!(r->length[r->knots - 1] > 1e-100)) {
        err = tac_fail(p->ctx, TAC_ERR_INPUT, "%s: has no length; its points are all the same", path);
        goto done;
    }
    const double *last = r->knot + 3 * (r->knots - 1);
    r->closed = r->knots >= 4 && r->knot[0] == last[0] && r->knot[1] == last[1] && r->knot[2] == last[2];
    if (r->closed && r->n < 3)
        err = tac_fail(p->ctx, TAC_ERR_INPUT, "%s: a curve that ends where it starts needs at least 3 cells along it",
                       tac_params_path(p, "cells", path));
done:
    return err;
}

/* Points at even arc lengths, and, for now in `tangent`, the direction of the piece of curve each lies on. */
static void resample(struct ribbon *r)
{
    const double total = r->length[r->knots - 1];
    size_t piece = 1;
    for (int64_t i = 0; i <= r->n; i++) {
        const double s = total * ((double)i / (double)r->n);
        while (piece + 1 < r->knots && (r->length[piece] <= s || r->length[piece] == r->length[piece - 1]))
            piece++;
        /* The last pieces may have no length. */
        size_t q = piece;
        while (r->length[q] == r->length[q - 1])
            q--;
        const double v = fmin(1, (s - r->length[q - 1]) / (r->length[q] - r->length[q - 1]));
        const double *a = r->knot + 3 * (q - 1), *b = r->knot + 3 * q;
        for (int k = 0; k < 3; k++) {
            r->point[3 * i + k] = i == r->n ? r->knot[3 * (r->knots - 1) + (size_t)k] : a[k] + v * (b[k] - a[k]);
            r->tangent[3 * i + k] = b[k] - a[k];
        }
        normalize(r->tangent + 3 * i);
    }
}

/* Central differences; where the curve folds back so that there is none, the direction of its piece stays. */
static void find_tangents(struct ribbon *r)
{
    const double step = r->length[r->knots - 1] / (double)r->n;
    for (int64_t i = 0; i <= r->n; i++) {
        const bool first = i == 0, last = i == r->n;
        const int64_t before = first ? (r->closed ? r->n - 1 : 0) : i - 1;
        const int64_t after = last ? (r->closed ? 1 : r->n) : i + 1;
        double d[3];
        tac_sub(d, r->point + 3 * after, r->point + 3 * before);
        if (normalize(d) > 1e-6 * step)
            memcpy(r->tangent + 3 * i, d, sizeof d);
    }
}

/* Computes the component of `wanted` perpendicular to the tangent, turned by a quarter about it: the direction across a
 * ribbon that faces `wanted`. Returns the sine of the angle between the two. */
static double side_facing(const double tangent[3], const double wanted[3], double side[3])
{
    tac_cross(side, tangent, wanted);
    return normalize(side);
}

/* The shortest turn from one tangent to the next, applied to a side. */
static void carry(const double from[3], const double to[3], const double side[3], double out[3])
{
    const double c = 1 + tac_dot(from, to), s = tac_dot(side, to);
    for (int k = 0; k < 3; k++)
        out[k] = c > 1e-12 ? side[k] - s / c * (from[k] + to[k]) : side[k]; /* a fold: side is across both */
    const double along = tac_dot(out, to);
    for (int k = 0; k < 3; k++)
        out[k] -= along * to[k];
    normalize(out);
}

/* Carries the side at `from` to `to` and turns it towards the one that faces `up`, on whichever of its two sides the
 * ribbon is: so it does not flip where the curve passes through the direction of `up`. */
static void advance(const struct ribbon *r, const double side_from[3], int64_t from, int64_t to, double side[3])
{
    double wanted[3];
    carry(r->tangent + 3 * from, r->tangent + 3 * to, side_from, side);
    if (!r->guided)
        return;
    const double sine = side_facing(r->tangent + 3 * to, r->up, wanted);
    const double w = fmax(0, fmin(1, (sine - CARRIED_BELOW) / (GUIDED_ABOVE - CARRIED_BELOW)));
    const double weight = w * w * (3 - 2 * w), sign = tac_dot(side, wanted) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++)
        side[k] = (1 - weight) * side[k] + weight * sign * wanted[k];
    normalize(side);
}

/* Where to begin: the first point at which the ribbon can face `up` well. Without `up`: the start, facing +y, or +z if
 * the curve runs along y. */
static int64_t first_side(struct ribbon *r)
{
    static const double y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    double best = 0, side[3];
    if (r->guided) {
        for (int64_t i = 0; i <= r->n; i++)
            best = fmax(best, side_facing(r->tangent + 3 * i, r->up, side));
        if (best > 1e-3) {
            int64_t i = 0;
            while (side_facing(r->tangent + 3 * i, r->up, side) < .9 * best)
                i++;
            memcpy(r->side + 3 * i, side, sizeof side);
            return i;
        }
        r->guided = false; /* the curve runs along `up` everywhere */
    }
    if (side_facing(r->tangent, y, r->side) < CARRIED_BELOW)
        side_facing(r->tangent, z, r->side);
    return 0;
}

/* Turns side about the unit tangent. */
static void turn(const double tangent[3], double angle, double side[3])
{
    double across[3];
    const double c = tac_cos(angle), s = tac_sin(angle);
    tac_cross(across, tangent, side);
    for (int k = 0; k < 3; k++)
        side[k] = c * side[k] + s * across[k];
}

static void find_sides(struct ribbon *r)
{
    const int64_t start = first_side(r);
    if (!r->closed) {
        for (int64_t i = start; i < r->n; i++)
            advance(r, r->side + 3 * i, i, i + 1, r->side + 3 * (i + 1));
        for (int64_t i = start; i > 0; i--)
            advance(r, r->side + 3 * i, i, i - 1, r->side + 3 * (i - 1));
        return;
    }
    /* Once around; the angle by which the side misses its own start is spread evenly. Point n is point 0. */
    const int64_t n = r->n, first = start % n;
    double last[3], across[3];
    memmove(r->side + 3 * first, r->side + 3 * start, 3 * sizeof(double));
    for (int64_t k = 0; k + 1 < n; k++)
        advance(r, r->side + 3 * ((first + k) % n), (first + k) % n, (first + k + 1) % n,
                r->side + 3 * ((first + k + 1) % n));
    advance(r, r->side + 3 * ((first + n - 1) % n), (first + n - 1) % n, first, last);
    tac_cross(across, last, r->side + 3 * first);
    const double missed = tac_atan2(tac_dot(across, r->tangent + 3 * first), tac_dot(last, r->side + 3 * first));
    for (int64_t k = 1; k < n; k++)
        turn(r->tangent + 3 * ((first + k) % n), missed * ((double)k / (double)n), r->side + 3 * ((first + k) % n));
}

enum tac_err tac_make_ribbon(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct ribbon r = {.ctx = p->ctx, .guided = tac_params_has(p, "up")};
    const double width = tac_params_number(p, "width");
    int64_t n[2];
    char path[512];
    tac_params_counts(p, "cells", 2, n);
    r.n = n[0];
    if (r.guided) {
        tac_params_numbers(p, "up", 3, r.up);
        if (!(normalize(r.up) > 0)) {
            err = tac_fail(p->ctx, TAC_ERR_INPUT, "%s: must have a direction; [0, 0, 0] has none",
                           tac_params_path(p, "up", path));
            goto done;
        }
    }
    TAC_TRY(read_curve(p, &r));
    TAC_TRY(tac_builder_reserve(b, (double)(n[0] + 1) * (double)(n[1] + 1), 2 * (double)n[0] * (double)n[1], 0));
    TAC_TRY(tac_alloc(p->ctx, (size_t)n[0] + 1, 3 * sizeof(double), &r.point));
    TAC_TRY(tac_alloc(p->ctx, (size_t)n[0] + 1, 3 * sizeof(double), &r.tangent));
    TAC_TRY(tac_alloc(p->ctx, (size_t)n[0] + 1, 3 * sizeof(double), &r.side));
    resample(&r);
    find_tangents(&r);
    find_sides(&r);
    for (int64_t j = 0; j <= n[1]; j++) {
        const double w = .5 * width * ((double)(2 * j - n[1]) / (double)n[1]);
        for (int64_t i = 0; i < n[0] + (r.closed ? 0 : 1); i++) {
            const double *x = r.point + 3 * i, *side = r.side + 3 * i;
            TAC_TRY(tac_builder_vertex(b, x[0] + w * side[0], x[1] + w * side[1], x[2] + w * side[2]));
        }
    }
    TAC_TRY(tac_builder_patch(b, 0, n[0], n[1], r.closed, false, true));
done:
    free(r.knot);
    free(r.length);
    free(r.point);
    free(r.tangent);
    free(r.side);
    return err;
}
