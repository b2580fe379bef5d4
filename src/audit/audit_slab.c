/* audit_slab.c: reads the breakpoints of some slabs, and computes the motion of every vertex in a slab of time. */
#include "audit/audit_room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* ---- portions ---- */

struct filling {
    struct tac_ctx *ctx;
    struct tac_audit_portion *portion;
    size_t count;
    tac_lid vertex;
};

static enum tac_err keep_row(void *user, const struct tac_recorded_row *row)
{
    struct filling *f = user;
    struct tac_audit_portion *p = f->portion;
    enum tac_err err = TAC_OK;
    if (row->first)
        p->begin[row->vertex] = (int64_t)f->count;
    const size_t begin = (size_t)p->begin[row->vertex];
    if (f->count > begin && p->time[f->count - 1] >= p->t[1])
        return TAC_OK; /* it has one at the end or later */
    if (row->t <= p->t[0])
        f->count = begin; /* nearer to the start than the last one */
    TAC_TRY(tac_grow(f->ctx, &p->time, &p->capacity[0], f->count + 1, sizeof *p->time));
    TAC_TRY(tac_grow(f->ctx, &p->x, &p->capacity[1], f->count + 1, 3 * sizeof *p->x));
    p->time[f->count] = row->t;
    memcpy(p->x + 3 * f->count, row->x, 3 * sizeof *p->x);
    f->count++;
done:
    return err;
}

enum tac_err tac_audit_portion_read(struct tac_ctx *ctx, struct tac_recorded *recorded, int64_t g, const tac_time t[2],
                                    struct tac_audit_portion *portion)
{
    enum tac_err err = TAC_OK;
    int64_t *start = NULL;
    const size_t n = (size_t)recorded->vertex_count;
    struct filling f = {ctx, portion, 0, -1};
    portion->t[0] = t[0];
    portion->t[1] = t[1];
    TAC_TRY(tac_alloc(ctx, n + 1, sizeof *start, &start));
    if (portion->begin == NULL)
        TAC_TRY(tac_alloc(ctx, n + 1, sizeof *portion->begin, &portion->begin));
    TAC_TRY(tac_recorded_starts(ctx, recorded, g, start));
    TAC_TRY(tac_recorded_stream(ctx, recorded, g, start, keep_row, &f));
    portion->begin[n] = (int64_t)f.count;
done:
    free(start);
    return err;
}

void tac_audit_portion_free(struct tac_audit_portion *portion)
{
    free(portion->begin);
    free(portion->time);
    free(portion->x);
    memset(portion, 0, sizeof *portion);
}

/* (t - t_k) / (t_k+1 - t_k) is off by 3 u of itself, the difference of positions by u of itself, product and sum by u
 * each: in all under 13 u M for each coordinate, 23 u M in length. */
void tac_audit_at(const struct tac_audit_portion *portion, int64_t k, tac_time t, double x[3])
{
    const tac_time *time = portion->time + k;
    const double *p = portion->x + 3 * k;
    if (t == time[0]) {
        memcpy(x, p, 3 * sizeof *x);
        return;
    }
    if (t == time[1]) {
        memcpy(x, p + 3, 3 * sizeof *x);
        return;
    }
    const double share = (double)(t - time[0]) / (double)(time[1] - time[0]);
    for (int i = 0; i < 3; i++)
        x[i] = p[i] + share * (p[3 + i] - p[i]);
}

/* ---- slabs ---- */

/* The last row of the vertex at t or before, found between its rows. */
static int64_t row_before(const struct tac_audit_portion *p, tac_lid vertex, tac_time t)
{
    int64_t low = p->begin[vertex], high = p->begin[vertex + 1] - 1;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (p->time[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void widen(double box[6], const double x[3])
{
    for (int k = 0; k < 3; k++) {
        box[k] = x[k] < box[k] ? x[k] : box[k];
        box[3 + k] = x[k] > box[3 + k] ? x[k] : box[3 + k];
    }
}

/* How far x is from the straight line a to b at the share `s` of its time. */
static double apart(const double x[3], const double a[3], const double b[3], double s)
{
    double d[3];
    for (int k = 0; k < 3; k++)
        d[k] = x[k] - (a[k] + s * (b[k] - a[k]));
    return sqrt(tac_dot(d, d));
}

/* What a distance of a point from a line can be off by: 23 u M each, and the square root's part of itself. */
static double rounded(double stray, double large)
{
    return stray * (1 + 0x1p-40) + .5 * TAC_AUDIT_ROUND * large;
}

/* Grid, cells' strays, box of one vertex, going along its rows. */
static void walk_vertex(const struct tac_audit_portion *p, struct tac_audit_slab *slab, tac_lid i)
{
    const int64_t cells = (int64_t)1 << slab->depth;
    double *grid = slab->grid + 3 * (size_t)(cells + 1) * (size_t)i;
    double *stray = slab->stray + 2 * (size_t)cells * (size_t)i, *box = slab->box + 6 * (size_t)i, large = 0;
    int64_t row = row_before(p, i, slab->t[0]);
    slab->first[i] = row;
    tac_audit_at(p, row, slab->t[0], grid);
    memcpy(box, grid, 3 * sizeof *box);
    memcpy(box + 3, grid, 3 * sizeof *box);
    for (int64_t c = 0; c < cells; c++) {
        const tac_time begin = tac_audit_cut(slab->t, c, cells), end = tac_audit_cut(slab->t, c + 1, cells);
        const int64_t inner = row + 1;
        double *a = grid + 3 * c, *b = a + 3;
        while (p->time[row + 1] < end)
            row++;
        tac_audit_at(p, row, end, b);
        widen(box, b);
        stray[cells + c] = 0;
        for (int64_t k = inner; k <= row; k++) {
            const double *x = p->x + 3 * k;
            const double s = (double)(p->time[k] - begin) / (double)(end - begin);
            widen(box, x);
            stray[cells + c] = fmax(stray[cells + c], apart(x, a, b, s));
        }
    }
    for (int k = 0; k < 6; k++)
        large = fmax(large, fabs(box[k]));
    slab->large[i] = large;
    for (int k = 0; k < 3; k++) {
        box[k] -= .5 * TAC_AUDIT_ROUND * large;
        box[3 + k] += .5 * TAC_AUDIT_ROUND * large;
    }
    for (int64_t c = cells; c < 2 * cells; c++)
        stray[c] = rounded(stray[c], large);
    for (int64_t node = cells - 1; node > 0; node--) {
        /* The lines of the halves end at the middle, and there their distance from the line of the whole is largest. */
        int level = 0;
        while (node >> (level + 1) != 0)
            level++;
        const int64_t width = cells >> level, from = (node - ((int64_t)1 << level)) * width;
        const tac_time t0 = tac_audit_cut(slab->t, from, cells), t1 = tac_audit_cut(slab->t, from + width, cells);
        const double s = (double)(tac_audit_cut(slab->t, from + width / 2, cells) - t0) / (double)(t1 - t0);
        stray[node] =
            fmax(stray[2 * node], stray[2 * node + 1]) +
            rounded(apart(grid + 3 * (from + width / 2), grid + 3 * from, grid + 3 * (from + width), s), large);
    }
}

/* Cells in which a vertex has four breakpoints or so. */
static int choose_depth(tac_lid vertex_count, const struct tac_audit_portion *p, const tac_time t[2])
{
    const double share = (double)(t[1] - t[0]) / (double)(p->t[1] - p->t[0]);
    const double each = share * (double)p->begin[vertex_count] / fmax(1, vertex_count);
    int depth = 0;
    while (depth < 14 && ldexp(4, depth) < each && t[1] - t[0] >= (tac_time)2 << depth)
        depth++;
    return depth;
}

enum tac_err tac_audit_slab_make(struct tac_ctx *ctx, tac_lid vertex_count, const struct tac_audit_portion *portion,
                                 const tac_time t[2], struct tac_audit_slab *slab)
{
    enum tac_err err = TAC_OK;
    const size_t n = (size_t)vertex_count;
    slab->t[0] = t[0];
    slab->t[1] = t[1];
    slab->depth = choose_depth(vertex_count, portion, t);
    const size_t cells = (size_t)1 << slab->depth;
    TAC_TRY(tac_grow(ctx, &slab->grid, &slab->capacity[0], n * (cells + 1), 3 * sizeof *slab->grid));
    TAC_TRY(tac_grow(ctx, &slab->stray, &slab->capacity[1], n * 2 * cells, sizeof *slab->stray));
    if (slab->box == NULL) {
        TAC_TRY(tac_alloc(ctx, 6 * n, sizeof *slab->box, &slab->box));
        TAC_TRY(tac_alloc(ctx, n, sizeof *slab->large, &slab->large));
        TAC_TRY(tac_alloc(ctx, n, sizeof *slab->first, &slab->first));
    }
    for (tac_lid i = 0; i < vertex_count; i++)
        walk_vertex(portion, slab, i);
done:
    return err;
}

void tac_audit_slab_free(struct tac_audit_slab *slab)
{
    free(slab->grid);
    free(slab->stray);
    free(slab->box);
    free(slab->large);
    free(slab->first);
    memset(slab, 0, sizeof *slab);
}
