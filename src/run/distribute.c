/* distribute.c: makes the first distribution of a scene over the ranks, from the graph of the elements in its pieces
 * (docs/reference/ranks.md, Reading and the first distribution). */
#include "base/exchange.h"
#include "partition/corners.h"
#include "partition/graph_rows.h"
#include "run/rebalance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* Edges of the graph that is cut, before they are sent to the ranks that have their rows. */
struct edge_report {
    tac_gid row, neighbor;
    double weight;
};

struct edge_reports {
    size_t count, report_capacity, to_capacity;
    struct edge_report *report; /* owned */
    int32_t *to;                /* owned */
};

/* Adds an edge that will be sent to rank `to`, which has its row. */
static enum tac_err queue_edge(struct tac_ctx *ctx, struct edge_reports *t, int32_t to, tac_gid row, tac_gid neighbor,
                               double weight)
{
    enum tac_err err;
    TAC_TRY(tac_grow(ctx, &t->report, &t->report_capacity, t->count + 1, sizeof *t->report));
    TAC_TRY(tac_grow(ctx, &t->to, &t->to_capacity, t->count + 1, sizeof *t->to));
    t->report[t->count] = (struct edge_report){row, neighbor, weight};
    t->to[t->count++] = to;
done:
    return err;
}

/* ---- vertices that lie over each other ----
 *
 * The contacts of now are the most that a distribution knows, but vertices that lie over each other will touch later
 * (docs/reference/ranks.md, Reading and the first distribution).
 *
 * Space is cut into columns along gravity, which are about as wide as an edge of the meshes; without gravity, into
 * cubes. In each of them vertices of different bodies that follow each other are linked: strongly where they are near
 * each other, weakly elsewhere. So a stack of cloths is cut from top to bottom rather than cloth by cloth, which costs
 * no more and leaves most contacts to one rank. */

static const double WIDTH = .75, NEAR = 1.5;       /* of a column, and what is near in it, in mean edges */
static const double NEAR_WEIGHT = 2, WEIGHT = .25; /* in edges of elements */

/* A vertex that is sent to the rank that has its column. */
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
static bool find_directions(const struct tac_settings *settings, double axis[3][3])
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

static uint64_t cell_of(double along, double width)
{
    return (uint64_t)(int64_t)floor(fmax(-1e15, fmin(1e15, along / width)));
}

static void place_in_column(const double *x, const double axis[3][3], bool falls, double width, struct stand *out)
{
    out->column = tac_hash64(cell_of(tac_dot(x, axis[0]), width), cell_of(tac_dot(x, axis[1]), width));
    if (!falls)
        out->column = tac_hash64(out->column, cell_of(tac_dot(x, axis[2]), width));
    out->height = tac_dot(x, axis[2]);
}

/* Collective; the result is this rank's own. Adds edges between vertices of different bodies that lie over each other.
 * corners: of the pieces; x (of their vertices, 3): positions, m; weight: of an edge of an element. */
static enum tac_err link_near_vertices(struct tac_ctx *ctx, const struct tac_settings *settings,
                                       const struct tac_pieces *p, const struct tac_corners *corners, const double *x,
                                       double weight, struct edge_reports *t)
{
    enum tac_err err = TAC_OK;
    struct stand *stand = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t n = 0, count = 0;
    double axis[3][3];
    const double edge = mean_edge(ctx, p, corners), width = WIDTH * edge;
    const bool falls = find_directions(settings, axis);
    if (!(width > 0) || ctx->size == 1)
        return TAC_OK; /* alike on all ranks */
    err = tac_alloc(ctx, (size_t)p->vertex_count, sizeof *stand, &stand);
    if (!err)
        err = tac_alloc(ctx, (size_t)p->vertex_count, sizeof *to, &to);
    for (tac_lid i = 0; i < p->vertex_count && !err; i++) {
        if (!p->ever_free[i] || !settings->body[p->body[i]].has_elements)
            continue;
        place_in_column(&x[3 * (size_t)i], (const double(*)[3])axis, falls, width, &stand[n]);
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
            err = queue_edge(ctx, t, (int32_t)a->holder, a->vertex, b->vertex,
                             weight * (b->height - a->height < NEAR * edge ? NEAR_WEIGHT : WEIGHT));
    }
done:
    free(stand);
    free(came);
    free(to);
    return err;
}

/* Sends the reported edges to the ranks that have their rows, and adds them to the rows there. */
static enum tac_err make_rows(struct tac_ctx *ctx, enum tac_err err, const struct tac_pieces *p, struct edge_reports *t,
                              struct tac_graph_rows *rows)
{
    struct edge_report *came = NULL;
    size_t count = 0;
    TAC_TRY(tac_distribute(ctx, err, t->count, t->to, t->report, sizeof *t->report, &came, &count));
    for (size_t i = 0; i < count && err == TAC_OK; i++) {
        const tac_lid row = tac_id_find(p->vertex_id, p->vertex_count, came[i].row);
        TAC_CHECK(row >= 0);
        err = tac_graph_link(ctx, rows, row, came[i].neighbor, came[i].weight);
    }
    err = tac_agree(ctx, err);
done:
    free(came);
    free(t->report);
    free(t->to);
    memset(t, 0, sizeof *t);
    return err;
}

/* ---- elements ---- */

static enum tac_err report_edge(struct tac_ctx *ctx, const struct tac_corners *c, struct edge_reports *t, tac_gid a,
                                tac_gid b, double weight)
{
    const tac_lid i = tac_finder_find(&c->finder, a < b ? a : b), j = tac_finder_find(&c->finder, a < b ? b : a);
    return queue_edge(ctx, t, c->holder[i], c->id[i], c->id[j],
                      c->ever_free[i] || c->ever_free[j] ? weight : .1 * weight);
}

static enum tac_err report_elements(struct tac_ctx *ctx, const struct tac_pieces *p, const struct tac_corners *c,
                                    struct edge_reports *t)
{
    enum tac_err err = TAC_OK;
    for (int64_t i = 0; i < 3 * (int64_t)p->triangle_count; i++) {
        const tac_gid *v = p->triangle + i / 3 * 3;
        if (p->triangle_place[i] == 0) /* only the first triangle of an edge reports it */
            TAC_TRY(report_edge(ctx, c, t, v[(i + 1) % 3], v[(i + 2) % 3], 1));
    }
    for (int64_t i = 0; i < p->segment_count; i++)
        TAC_TRY(report_edge(ctx, c, t, p->segment[2 * i], p->segment[2 * i + 1], 1));
    /* Every tetrahedron of a solid reports its edges; an inner edge has about six tetrahedra. */
    for (int64_t i = 0; i < p->tetrahedron_count; i++)
        for (int k = 0; k < 4; k++)
            for (int n = k + 1; n < 4; n++) {
                const tac_gid *v = p->tetrahedron + 4 * i;
                TAC_TRY(report_edge(ctx, c, t, v[k], v[n], .2));
            }
    for (int64_t h = 0; h < p->hinge_count; h++) {
        const tac_gid *v = p->hinge + 4 * h;
        if (v[2] != v[3])
            TAC_TRY(queue_edge(ctx, t, c->holder[tac_finder_find(&c->finder, v[2])], v[2], v[3], .25));
    }
done:
    return err;
}

static enum tac_err link_elements(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *p,
                                  struct tac_graph_rows *rows)
{
    struct tac_corners corners = {0};
    struct edge_reports t = {0};
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_corners_find(ctx, p, &corners));
    err = report_elements(ctx, p, &corners, &t);
    const enum tac_err near = link_near_vertices(ctx, common->settings, p, &corners, p->x, 1, &t);
    err = err ? err : near;
    tac_corners_free(&corners);
    TAC_TRY(make_rows(ctx, err, p, &t, rows));
done:
    tac_corners_free(&corners);
    return err;
}

/* ---- bodies without common elements should lie on the ranks of their neighbours: particles and first vertices of
 * bodies are threaded along a space-filling curve by weak edges ---- */

static const double THREAD = .25; /* in edges of elements */

/* The place of x along the space-filling curve (Morton code). */
static uint64_t morton_code(const double x[3], const double lo[3], double size)
{
    uint64_t code = 0;
    for (int k = 0; k < 3; k++) {
        uint64_t cell = size > 0 ? (uint64_t)fmin(2097151, fmax(0, (x[k] - lo[k]) / size * 2097151)) : 0;
        for (int b = 0; b < 21; b++)
            code |= (cell >> b & 1) << (3 * b + k);
    }
    return code;
}

struct spot {
    uint64_t code;
    tac_gid vertex;
    int64_t holder; /* of the vertex' row */
};

static int compare_spots(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static int compare_codes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort_spots(size_t n, struct spot *spot)
{
    if (n)
        qsort(spot, n, sizeof *spot, compare_spots);
}

/* Is vertex i of the pieces linked along the curve? It is if it is a particle, or the first vertex of its body. */
static bool is_on_curve(const struct tac_scene *common, const struct tac_pieces *p, tac_lid i)
{
    const struct tac_body *body = &common->settings->body[p->body[i]];
    return !body->has_elements || p->vertex_id[i] == body->vertex_begin;
}

/* Lists the vertices of this rank that are linked along the curve, in the order of the curve. */
static enum tac_err list_spots(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *p,
                               const double *x, struct spot **out, size_t *count)
{
    double box[6] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY}, size = 0; /* lo, -hi */
    size_t n = 0;
    for (tac_lid i = 0; i < p->vertex_count; i++) {
        n += is_on_curve(common, p, i);
        for (size_t k = 0; k < 3; k++) {
            box[k] = fmin(box[k], x[3 * (size_t)i + k]);
            box[k + 3] = fmin(box[k + 3], -x[3 * (size_t)i + k]);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, box, 6, MPI_DOUBLE, MPI_MIN, ctx->comm);
    for (int k = 0; k < 3; k++)
        size = fmax(size, -box[k + 3] - box[k]);
    enum tac_err err = tac_alloc(ctx, n, sizeof **out, out);
    *count = err ? 0 : n;
    n = 0;
    for (tac_lid i = 0; i < p->vertex_count && err == TAC_OK; i++)
        if (is_on_curve(common, p, i))
            (*out)[n++] = (struct spot){morton_code(&x[3 * (size_t)i], box, size), p->vertex_id[i], ctx->rank};
    sort_spots(*count, *out);
    return err;
}

/* Chooses the code at which the part of each rank begins; rank 0 does it, from samples of all ranks. */
static enum tac_err choose_codes(struct tac_ctx *ctx, const struct spot *spot, size_t n, uint64_t *from)
{
    enum { SAMPLES = 16 };
    const size_t known = n < SAMPLES ? n : SAMPLES;
    uint64_t mine[SAMPLES], *all = NULL;
    int32_t to[SAMPLES] = {0};
    size_t total = 0;
    enum tac_err err = TAC_OK;
    for (size_t k = 0; k < known; k++)
        mine[k] = spot[n / known * k].code;
    TAC_TRY(tac_distribute(ctx, TAC_OK, known, to, mine, sizeof *mine, &all, &total));
    if (total > 0)
        qsort(all, total, sizeof *all, compare_codes);
    for (size_t r = 0; r < (size_t)ctx->size; r++)
        from[r] = total > 0 ? all[total * r / (size_t)ctx->size] : 0;
    MPI_Bcast(from, ctx->size, MPI_UINT64_T, 0, ctx->comm);
done:
    free(all);
    return err;
}

/* Chooses the rank that sorts each spot. */
static enum tac_err choose_sorters(struct tac_ctx *ctx, enum tac_err err, const struct spot *spot, size_t n,
                                   int32_t *to)
{
    uint64_t *from = NULL;
    if (err == TAC_OK)
        err = tac_alloc(ctx, (size_t)ctx->size, sizeof *from, &from);
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(choose_codes(ctx, spot, n, from));
    int rank = 0;
    for (size_t i = 0; i < n; i++) {
        while (rank + 1 < ctx->size && spot[i].code >= from[rank + 1])
            rank++;
        to[i] = rank;
    }
done:
    free(from);
    return err;
}

/* The vertex of the last spot on the ranks before this one; -1: there is none. */
static enum tac_err spot_before(struct tac_ctx *ctx, const struct spot *spot, size_t n, tac_gid *before)
{
    tac_gid mine = n ? spot[n - 1].vertex : -1, *last = NULL;
    enum tac_err err = tac_alloc(ctx, (size_t)ctx->size, sizeof *last, &last);
    TAC_TRY(tac_agree(ctx, err));
    MPI_Allgather(&mine, 1, TAC_GID_MPI, last, 1, TAC_GID_MPI, ctx->comm);
    *before = -1;
    for (int r = 0; r < ctx->rank; r++)
        *before = last[r] >= 0 ? last[r] : *before;
done:
    free(last);
    return err;
}

static enum tac_err link_along_curve(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *p,
                                     const double *x, double weight, struct tac_graph_rows *rows)
{
    struct spot *spot = NULL, *sorted = NULL;
    struct edge_reports t = {0};
    int32_t *to = NULL;
    size_t n, count = 0;
    tac_gid before = -1;
    enum tac_err err = list_spots(ctx, common, p, x, &spot, &n);
    if (err == TAC_OK)
        err = tac_alloc(ctx, n, sizeof *to, &to);
    TAC_TRY(choose_sorters(ctx, err, spot, n, to));
    TAC_TRY(tac_distribute(ctx, TAC_OK, n, to, spot, sizeof *spot, &sorted, &count));
    sort_spots(count, sorted);
    TAC_TRY(spot_before(ctx, sorted, count, &before));
    for (size_t k = 0; k < count && err == TAC_OK; k++) {
        if (before >= 0)
            err = queue_edge(ctx, &t, (int32_t)sorted[k].holder, sorted[k].vertex, before, THREAD * weight);
        before = sorted[k].vertex;
    }
    TAC_TRY(make_rows(ctx, err, p, &t, rows));
done:
    free(spot);
    free(sorted);
    free(to);
    return err;
}

enum tac_err tac_rebalance_near(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *p,
                                const double *x, struct tac_graph_rows *rows)
{
    struct tac_corners corners = {0};
    struct edge_reports t = {0};
    enum tac_err err = TAC_OK;
    double sum[2] = {0, (double)rows->count};
    for (size_t k = 0; k < rows->count; k++)
        sum[0] += rows->link[k].weight;
    MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, ctx->comm);
    const double edge = sum[1] > 0 ? sum[0] / sum[1] : 1;
    TAC_TRY(tac_corners_find(ctx, p, &corners));
    err = link_near_vertices(ctx, common->settings, p, &corners, x, edge, &t);
    TAC_TRY(make_rows(ctx, err, p, &t, rows));
    TAC_TRY(link_along_curve(ctx, common, p, x, edge, rows));
done:
    tac_corners_free(&corners);
    return err;
}

enum tac_err tac_distribute_first(struct tac_ctx *ctx, const struct tac_scene *common, struct tac_pieces *pieces)
{
    enum tac_err err;
    struct tac_graph_rows rows = {0};
    const tac_lid n = pieces->vertex_count;
    err = tac_alloc(ctx, (size_t)n, sizeof *rows.weight, &rows.weight);
    for (tac_lid i = 0; i < n && err == TAC_OK; i++)
        rows.weight[i] = pieces->ever_free[i] ? 1 : .02;
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(link_elements(ctx, common, pieces, &rows));
    TAC_TRY(link_along_curve(ctx, common, pieces, pieces->x, 1, &rows));
    TAC_TRY(tac_graph_cut_rows(ctx, pieces->vertex_total, n, pieces->vertex_id, &rows, NULL, pieces->owner, NULL));
done:
    tac_graph_rows_free(&rows);
    return err;
}
