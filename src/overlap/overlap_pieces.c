/* overlap_pieces.c: searches for overlaps in a scene that no rank holds whole.
 *
 * Space is cut into a region for each rank, and a rank gets the elements whose boxes, grown by their radius, have a
 * point in its region.  A pair of parts (vertices, edges, triangles) belongs to the region of the lowest corner that
 * their grown boxes have in common: every element of either part has that corner in its own grown box, so that rank has
 * all of them, and finds about the pair what it would find in the whole scene.  It drops what it finds about other
 * pairs.
 */
#include "overlap/overlap_part.h"
#include "overlap/overlap_search.h"
#include "overlap/regions.h"
#include "partition/corners.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 8192 }; /* vertices: below, rank 0 looks at all of it */

struct check {
    struct tac_ctx *ctx; /* borrowed, as the next two */
    const struct tac_scene *common;
    const struct tac_pieces *p;
    struct tac_corners corners; /* owned */
    double touch;               /* m: the scene's largest coordinate, times TAC_OVERLAP_TOUCH */
    struct tac_regions regions; /* owned */
};

/* An overlap as it goes to rank 0. */
struct found {
    enum tac_overlap_kind kind;
    tac_lid body[2];
    double place[3], gap;
    struct tac_overlap_record element[2]; /* the key of edges comes after that of triangles */
};

/* ---- elements to regions ---- */

/* By how much a body's boxes are grown: any two whose distance counts have then a point in common, in spite of
 * rounding. */
static double grow(const struct check *c, tac_lid body)
{
    return c->common->settings->body[body].radius * (1 + 0x1p-30) + c->touch;
}

/* Elements of this rank: triangles, segments, and vertices, of which only particles count. */
static int64_t element_count(const struct tac_pieces *p)
{
    return (int64_t)p->triangle_count + p->segment_count + p->vertex_count;
}

static void put_corner(const struct check *c, struct tac_overlap_record *r, int k, tac_gid vertex)
{
    const tac_lid at = tac_finder_find(&c->corners.finder, vertex);
    r->vertex[k] = vertex;
    memcpy(r->x[k], c->corners.x + 3 * (size_t)at, sizeof r->x[k]);
    r->ever_free[k] = c->corners.ever_free[at];
}

/* Returns how many vertices it has. */
static int make_record(const struct check *c, int64_t i, struct tac_overlap_record *r)
{
    const struct tac_pieces *p = c->p;
    const int64_t s = i - p->triangle_count, v = s - p->segment_count;
    memset(r, 0, sizeof *r);
    if (s < 0) {
        r->key = p->triangle_id[i];
        for (int k = 0; k < 3; k++)
            put_corner(c, r, k, p->triangle[3 * i + k]);
        return 3;
    }
    if (v < 0) {
        r->key = p->triangle_total + p->segment_id[s];
        for (int k = 0; k < 2; k++)
            put_corner(c, r, k, p->segment[2 * s + k]);
        return 2;
    }
    r->key = p->triangle_total + p->segment_total + p->vertex_id[v];
    r->vertex[0] = p->vertex_id[v];
    memcpy(r->x[0], p->x + 3 * v, sizeof r->x[0]);
    r->ever_free[0] = p->ever_free[v];
    return 1;
}

static void fill_record(const void *from, tac_lid index, void *record)
{
    struct tac_overlap_record r;
    make_record(from, index, &r);
    memcpy(record, &r, sizeof r);
}

static void grown_box(int n, const double (*x)[3], double by, double lo[3], double hi[3])
{
    for (int k = 0; k < 3; k++) {
        lo[k] = hi[k] = x[0][k];
        for (int i = 1; i < n; i++) {
            lo[k] = fmin(lo[k], x[i][k]);
            hi[k] = fmax(hi[k], x[i][k]);
        }
        lo[k] -= by;
        hi[k] += by;
    }
}

/* Elements that go somewhere. */
struct sending {
    size_t count, which_capacity, to_capacity;
    tac_lid *which; /* owned */
    int32_t *to;    /* owned */
};

static enum tac_err choose_ranks(const struct check *c, struct sending *out)
{
    int32_t *region = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(c->ctx, (size_t)c->regions.count, sizeof *region, &region));
    if (element_count(c->p) > INT32_MAX)
        TAC_TRY(tac_fail(c->ctx, TAC_ERR_RUN, "rank %d would hold %lld elements; use more ranks", c->ctx->rank,
                         (long long)element_count(c->p)));
    for (int64_t i = 0; i < element_count(c->p); i++) {
        struct tac_overlap_record r;
        double lo[3], hi[3];
        const int n = make_record(c, i, &r);
        const tac_lid body = tac_scene_body_of(c->common, r.vertex[0]);
        if (n == 1 && c->common->settings->body[body].has_elements)
            continue;
        grown_box(n, (const double(*)[3])r.x, grow(c, body), lo, hi);
        const size_t regions = (size_t)tac_regions_of_box(&c->regions, lo, hi, region);
        TAC_TRY(tac_grow(c->ctx, &out->which, &out->which_capacity, out->count + regions, sizeof *out->which));
        TAC_TRY(tac_grow(c->ctx, &out->to, &out->to_capacity, out->count + regions, sizeof *out->to));
        for (size_t k = 0; k < regions; k++) {
            out->which[out->count] = (tac_lid)i;
            out->to[out->count++] = region[k];
        }
    }
done:
    free(region);
    return err;
}

/* The scene of this rank's region. */
static enum tac_err collect(const struct check *c, struct tac_overlap_part *part)
{
    struct sending sending = {0};
    struct tac_overlap_record *record = NULL;
    size_t n = 0;
    enum tac_err err = choose_ranks(c, &sending);
    err = tac_distribute_table(c->ctx, err, sending.count, sending.which, sending.to, fill_record, c, sizeof *record,
                               &record, &n);
    free(sending.which);
    free(sending.to);
    TAC_TRY(err);
    err = tac_sort_records(c->ctx, n, sizeof *record, record);
    if (err == TAC_OK)
        err = tac_overlap_part_make(c->ctx, c->common, c->p, n, record, false, part);
    err = tac_agree(c->ctx, err);
done:
    free(record);
    return err;
}

/* ---- the results ---- */

/* Returns whether this rank reports an overlap; if so, *out is the report. */
static bool is_mine_to_report(const struct check *c, const struct tac_overlap_part *part,
                              const struct tac_overlap *overlap, struct found *out)
{
    double corner[3] = {-INFINITY, -INFINITY, -INFINITY};
    memset(out, 0, sizeof *out);
    out->kind = overlap->kind;
    out->gap = overlap->gap;
    memcpy(out->place, overlap->place, sizeof out->place);
    for (int side = 0; side < 2; side++) {
        struct tac_overlap_record *r = &out->element[side];
        tac_lid vertex[3];
        double lo[3], hi[3];
        const int n = tac_overlap_vertices(&part->scene, overlap, side, vertex);
        for (int k = 0; k < n; k++) {
            r->vertex[k] = part->ids.vertex_id[vertex[k]];
            memcpy(r->x[k], part->scene.mesh->x + 3 * (size_t)vertex[k], sizeof r->x[k]);
        }
        r->key = n == 3   ? part->ids.triangle_id[overlap->element[side]]
                 : n == 2 ? c->p->triangle_total
                          : c->p->triangle_total + 1 + r->vertex[0];
        out->body[side] = overlap->body[side];
        grown_box(n, (const double(*)[3])r->x, grow(c, out->body[side]), lo, hi);
        for (int k = 0; k < 3; k++)
            corner[k] = fmax(corner[k], lo[k]);
    }
    return tac_region_of(&c->regions, corner) == c->ctx->rank;
}

/* Sends all overlaps to rank 0, or a share of every rank's if there are too many. */
static enum tac_err gather_overlaps(const struct check *c, const struct tac_overlap_part *part,
                                    const struct tac_overlaps *overlaps, struct found **out, size_t *count, bool *more)
{
    struct tac_ctx *ctx = c->ctx;
    struct found *mine = NULL;
    int32_t *to = NULL;
    int64_t n = 0, prefix = 0, total = 0;
    int full = overlaps->more;
    enum tac_err err = tac_alloc(ctx, overlaps->count, sizeof *mine, &mine);
    if (err == TAC_OK)
        err = tac_alloc(ctx, overlaps->count, sizeof *to, &to); /* all 0 */
    TAC_TRY(tac_agree(ctx, err));
    for (size_t i = 0; i < overlaps->count; i++)
        n += is_mine_to_report(c, part, &overlaps->overlap[i], &mine[n]);
    MPI_Scan(&n, &prefix, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    MPI_Allreduce(&n, &total, 1, MPI_INT64_T, MPI_SUM, ctx->comm);
    MPI_Allreduce(MPI_IN_PLACE, &full, 1, MPI_INT, MPI_MAX, ctx->comm);
    *more = full || total > TAC_OVERLAP_MOST;
    if (total > TAC_OVERLAP_MOST) /* prefix * MOST fits for any number of ranks */
        n = prefix * TAC_OVERLAP_MOST / total - (prefix - n) * TAC_OVERLAP_MOST / total;
    TAC_TRY(tac_distribute(ctx, TAC_OK, (size_t)n, to, mine, sizeof *mine, out, count));
done:
    free(mine);
    free(to);
    return err;
}

/* ---- rank 0 ---- */

static int compare_records(const void *a, const void *b)
{
    const struct tac_overlap_record *p = a, *q = b;
    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    for (int k = 0; k < 2; k++)
        if (p->vertex[k] != q->vertex[k])
            return p->vertex[k] < q->vertex[k] ? -1 : 1;
    return 0;
}

/* Edge of the small scene. */
static tac_lid find_edge(const struct tac_topology *t, tac_lid a, tac_lid b)
{
    tac_lid low = 0, high = t->edge_count;
    while (high - low > 1) {
        const tac_lid middle = low + (high - low) / 2, *e = t->edge + 2 * (size_t)middle;
        if (e[0] < a || (e[0] == a && e[1] <= b))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static tac_lid find_element(const struct tac_overlap_part *part, const struct tac_pieces *p,
                            const struct tac_overlap_record *r)
{
    const tac_gid *id = part->ids.vertex_id;
    const tac_lid n = part->scene.mesh->vertex_count, a = tac_id_find(id, n, r->vertex[0]);
    if (r->key < p->triangle_total)
        return tac_id_find(part->ids.triangle_id, part->scene.mesh->triangle_count, r->key);
    if (r->key > p->triangle_total)
        return a;
    return find_edge(part->scene.mesh->topology, a, tac_id_find(id, n, r->vertex[1]));
}

/* Makes a scene of the elements that overlap, gives the overlaps its numbers, and refuses the scene. */
static enum tac_err refuse_overlaps(struct tac_ctx *ctx, const struct check *c, const struct found *found, size_t n,
                                    bool more, const char *dir)
{
    const struct tac_pieces total = {.triangle_total = c->p->triangle_total, .segment_total = 1};
    struct tac_overlap_part part = {.ids = {0}};
    struct tac_overlaps overlaps = {n, NULL, more};
    struct tac_overlap_record *record = NULL;
    size_t records = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, n, sizeof *overlaps.overlap, &overlaps.overlap));
    TAC_TRY(tac_alloc(ctx, 2 * n, sizeof *record, &record));
    for (size_t i = 0; i < 2 * n; i++)
        record[i] = found[i / 2].element[i % 2];
    qsort(record, 2 * n, sizeof *record, compare_records);
    for (size_t i = 0; i < 2 * n; i++)
        if (records == 0 || compare_records(&record[records - 1], &record[i]) != 0)
            record[records++] = record[i];
    TAC_TRY(tac_overlap_part_make(ctx, c->common, &total, records, record, true, &part));
    for (size_t i = 0; i < n; i++) {
        struct tac_overlap *o = &overlaps.overlap[i];
        o->kind = found[i].kind;
        o->gap = found[i].gap;
        memcpy(o->place, found[i].place, sizeof o->place);
        for (int side = 0; side < 2; side++) {
            o->body[side] = found[i].body[side];
            o->element[side] = find_element(&part, c->p, &found[i].element[side]);
        }
    }
    tac_overlap_sort(&overlaps);
    err = tac_overlap_refuse(ctx, &part.scene, &overlaps, dir);
done:
    free(record);
    free(overlaps.overlap);
    tac_overlap_part_free(&part);
    return err;
}

/* ---- the whole ---- */

static enum tac_err prepare(struct check *c, int regions)
{
    const struct tac_pieces *p = c->p;
    double largest = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_corners_find(c->ctx, p, &c->corners));
    for (size_t i = 0; i < 3 * (size_t)p->vertex_count; i++)
        largest = fmax(largest, fabs(p->x[i]));
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, c->ctx->comm);
    c->touch = TAC_OVERLAP_TOUCH * largest;
    err = tac_regions_make(c->ctx, regions, (size_t)p->vertex_count, p->x, &c->regions);
done:
    return err;
}

enum tac_err tac_overlap_check_pieces(struct tac_ctx *ctx, const struct tac_scene *common,
                                      const struct tac_pieces *pieces, int regions, const char *dir)
{
    struct check c = {.ctx = ctx, .common = common, .p = pieces};
    struct tac_overlap_part part = {.ids = {0}};
    struct tac_overlaps *overlaps = NULL;
    struct found *found = NULL;
    size_t count = 0;
    bool more = false;
    enum tac_err err = TAC_OK;
    if (!(common->settings->contact.thickness > 0))
        return TAC_OK;
    if (regions < 1 || regions > ctx->size)
        regions = pieces->vertex_total < SMALL ? 1 : ctx->size;
    TAC_TRY(prepare(&c, regions));
    TAC_TRY(collect(&c, &part));
    tac_corners_free(&c.corners);
    TAC_TRY(tac_agree(ctx, tac_overlap_find(ctx, &part.scene, &overlaps)));
    TAC_TRY(gather_overlaps(&c, &part, overlaps, &found, &count, &more));
    TAC_TRY(tac_agree(ctx, count > 0 ? refuse_overlaps(ctx, &c, found, count, more, dir) : TAC_OK));
done:
    free(found);
    tac_overlap_destroy(&overlaps);
    tac_overlap_part_free(&part);
    tac_corners_free(&c.corners);
    tac_regions_free(&c.regions);
    return err;
}
