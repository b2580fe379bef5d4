/* distribute_near.c: a distribution knows at most the contacts of now, but what lies over each other will touch
 * (docs/reference/ranks.md, Reading and the first distribution).
 *
 * Space is cut into columns along gravity, some edges of the meshes wide; without gravity, into cubes. In each of them
 * vertices of different bodies that follow each other are linked: strongly where they are near each other, weakly
 * elsewhere. So a stack of cloths is cut from top to bottom rather than cloth by cloth, which costs no more and leaves
 * most contacts to one rank. */
#include "base/exchange.h"
#include "partition/corners.h"
#include "run/rebalance.h"
#include "run/rebalance_near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

static const double WIDTH = .75, NEAR = 1.5;       /* of a column, and what is near in it, in mean edges */
static const double NEAR_WEIGHT = 2, WEIGHT = .25; /* in edges of elements */

/* A vertex on its way to the rank that has its column. */
struct stand {
    uint64_t column;
    double height;
    tac_gid vertex;
    int64_t holder, body;
};

static int compare_stands(const void *a, const void *b)
{
    const struct stand *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->height != y->height)
        return x->height < y->height ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Mean length of the edges of triangles and segments, m; 0: there are none. */
static double mean_edge(struct tac_ctx *ctx, const struct tac_pieces *p, const struct tac_corners *c)
{
    double sum[2] = {0, 0};
    for (int64_t i = 0; i < 3 * (int64_t)p->triangle_count + p->segment_count; i++) {
        const int64_t t = i / 3, s = i - 3 * (int64_t)p->triangle_count;
        const tac_gid *v = s < 0 ? p->triangle + 3 * t : p->segment + 2 * s;
        const tac_lid a = tac_finder_find(&c->finder, v[s < 0 ? i % 3 : 0]),
                      b = tac_finder_find(&c->finder, v[s < 0 ? (i + 1) % 3 : 1]);
        double d[3];
        if (!c->ever_free[a] && !c->ever_free[b])
            continue;
        tac_sub(d, &c->x[3 * (size_t)a], &c->x[3 * (size_t)b]);
        sum[0] += sqrt(tac_dot(d, d));
        sum[1]++;
    }
    MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, ctx->comm);
    return sum[1] > 0 ? sum[0] / sum[1] : 0;
}

/* Three directions at right angles, the last one along gravity; false: there is none. */
static bool directions(const struct tac_settings *settings, double axis[3][3])
{
    const double *g = settings->gravity, size = sqrt(tac_dot(g, g));
    int least = 0;
    memset(axis, 0, 3 * sizeof *axis);
    if (!(size > 0)) {
        axis[0][0] = axis[1][1] = axis[2][2] = 1;
        return false;
    }
    for (int k = 0; k < 3; k++) {
        axis[2][k] = g[k] / size;
        least = fabs(g[k]) < fabs(g[least]) ? k : least;
    }
    axis[0][least] = 1;
    const double along = axis[2][least];
    for (int k = 0; k < 3; k++)
        axis[0][k] -= along * axis[2][k];
    const double length = sqrt(tac_dot(axis[0], axis[0]));
    for (int k = 0; k < 3; k++)
        axis[0][k] /= length;
    for (int k = 0; k < 3; k++)
        axis[1][k] = axis[2][(k + 1) % 3] * axis[0][(k + 2) % 3] - axis[2][(k + 2) % 3] * axis[0][(k + 1) % 3];
    return true;
}

static uint64_t cell(double along, double width)
{
    return (uint64_t)(int64_t)floor(fmax(-1e15, fmin(1e15, along / width)));
}

static void stand_on(const double *x, const double axis[3][3], bool falls, double width, struct stand *out)
{
    out->column = tac_hash64(cell(tac_dot(x, axis[0]), width), cell(tac_dot(x, axis[1]), width));
    if (!falls)
        out->column = tac_hash64(out->column, cell(tac_dot(x, axis[2]), width));
    out->height = tac_dot(x, axis[2]);
}

enum tac_err tac_distribute_near(struct tac_ctx *ctx, const struct tac_settings *settings, const struct tac_pieces *p,
                                 const struct tac_corners *corners, const double *x, double weight,
                                 struct tac_telling *t)
{
    enum tac_err err = TAC_OK;
    struct stand *stand = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t n = 0, count = 0;
    double axis[3][3];
    const double edge = mean_edge(ctx, p, corners), width = WIDTH * edge;
    const bool falls = directions(settings, axis);
    if (!(width > 0) || ctx->size == 1)
        return TAC_OK; /* alike on all ranks */
    err = tac_alloc(ctx, (size_t)p->vertex_count, sizeof *stand, &stand);
    if (!err)
        err = tac_alloc(ctx, (size_t)p->vertex_count, sizeof *to, &to);
    for (tac_lid i = 0; i < p->vertex_count && !err; i++) {
        if (!p->ever_free[i] || !settings->body[p->body[i]].has_elements)
            continue;
        stand_on(&x[3 * (size_t)i], (const double(*)[3])axis, falls, width, &stand[n]);
        stand[n].vertex = p->vertex_id[i];
        stand[n].holder = ctx->rank;
        stand[n].body = p->body[i];
        to[n] = (int32_t)(stand[n].column % (uint64_t)ctx->size);
        n++;
    }
    TAC_TRY(tac_distribute(ctx, err, n, to, stand, sizeof *stand, &came, &count));
    if (count > 0)
        qsort(came, count, sizeof *came, compare_stands);
    for (size_t k = 1; k < count && !err; k++) {
        const struct stand *a = &came[k - 1], *b = &came[k];
        if (a->column == b->column && a->body != b->body)
            err = tac_tell(ctx, t, (int32_t)a->holder, a->vertex, b->vertex,
                           weight * (b->height - a->height < NEAR * edge ? NEAR_WEIGHT : WEIGHT));
    }
done:
    free(stand);
    free(came);
    free(to);
    return err;
}
