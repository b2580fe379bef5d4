/* overlap_pairs.c: examines one pair of elements: whether they cross or touch, or some of their parts are closer than
 * the radii allow. */
#include "geometry/exact/predicates.h"
#include "overlap/distance.h"
#include "overlap/overlap_search.h"
#include "partition/part.h"

#include <math.h>

/* An element's parts that are looked at with it. */
struct parts {
    enum tac_overlap_element element;
    tac_lid body;
    tac_lid triangle; /* or -1 */
    int corner_count, edge_count;
    tac_lid corner[3];             /* vertices the element owns */
    tac_lid edge[3], segment_edge; /* edges it owns; the segment's edge or -1 */
};

static bool shared(const tac_lid *a, int na, const tac_lid *b, int nb)
{
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++)
            if (a[i] == b[j])
                return true;
    return false;
}

/* Shares no vertex, has one that is ever free (or, of exempt pairs, none, and a scripted one), and boxes within the
 * margin: a pair to look at. */
static bool candidate(const struct tac_overlap_search *search, const tac_lid *a, int na, const tac_lid *b, int nb,
                      double distance)
{
    if (shared(a, na, b, nb))
        return false;
    bool free_vertex = false, scripted = false;
    double lo[2][3], hi[2][3];
    for (int side = 0; side < 2; side++) {
        const tac_lid *vertex = side == 0 ? a : b;
        for (int i = 0; i < (side == 0 ? na : nb); i++) {
            const double *x = tac_overlap_at(search, vertex[i]);
            free_vertex = free_vertex || search->scene->mesh->ever_free[vertex[i]];
            scripted = scripted || (search->scripted != NULL && search->scripted[vertex[i]]);
            for (int k = 0; k < 3; k++) {
                lo[side][k] = i == 0 || x[k] < lo[side][k] ? x[k] : lo[side][k];
                hi[side][k] = i == 0 || x[k] > hi[side][k] ? x[k] : hi[side][k];
            }
        }
    }
    const bool wanted = search->scripted != NULL ? scripted && !free_vertex : free_vertex;
    return wanted && !tac_boxes_separated(lo[0], hi[0], lo[1], hi[1], distance);
}

/* The largest coordinate and the extent of a pair's vertices. */
static void measure_pair(const struct tac_overlap_search *search, const tac_lid *a, int na, const tac_lid *b, int nb,
                         double *largest, double *extent)
{
    *largest = *extent = 0;
    const double *first = tac_overlap_at(search, a[0]);
    for (int i = 0; i < na + nb; i++) {
        const double *x = tac_overlap_at(search, i < na ? a[i] : b[i - na]);
        for (int k = 0; k < 3; k++) {
            *largest = fmax(*largest, fabs(x[k]));
            *extent = fmax(*extent, fabs(x[k] - first[k]));
        }
    }
}

static enum tac_err record(struct tac_overlap_search *search, enum tac_overlap_kind kind, tac_lid body_a,
                           tac_lid body_b, tac_lid a, tac_lid b, const double place[3], double gap)
{
    struct tac_overlaps *out = search->out;
    if (out->count >= TAC_OVERLAP_MOST) {
        out->more = true;
        return TAC_ERR_STOPPED;
    }
    enum tac_err err = tac_grow(search->ctx, &out->overlap, &search->capacity, out->count + 1, sizeof *out->overlap);
    if (err)
        return err;
    bool alike =
        kind == TAC_OVERLAP_EDGE_EDGE || kind == TAC_OVERLAP_EDGE_CROSSES_EDGE || kind == TAC_OVERLAP_VERTEX_VERTEX;
    bool turn = alike && b < a;
    out->overlap[out->count++] = (struct tac_overlap){kind,
                                                      {turn ? body_b : body_a, turn ? body_a : body_b},
                                                      {turn ? b : a, turn ? a : b},
                                                      {place[0], place[1], place[2]},
                                                      gap};
    return TAC_OK;
}

/* Examines a pair that may touch or lie too close. `a`, `b`: its vertices; `radius`: what the boxes' margin holds
 * beyond the touching tolerance, the pair's sum of radii. */
static enum tac_err examine_near_pair(struct tac_overlap_search *search, enum tac_overlap_kind kind,
                                      const struct parts *pa, const struct parts *pb, tac_lid id_a, tac_lid id_b,
                                      const tac_lid *a, int na, const tac_lid *b, int nb, double distance)
{
    /* The result must not depend on which of the two was found first. */
    if ((kind == TAC_OVERLAP_EDGE_EDGE || kind == TAC_OVERLAP_VERTEX_VERTEX) && id_b < id_a)
        return examine_near_pair(search, kind, pb, pa, id_b, id_a, b, nb, a, na, distance);
    if (!candidate(search, a, na, b, nb, distance))
        return TAC_OK;
    const struct tac_body *body = &search->scene->settings->body[pa->body];
    double radius =
        pa->body == pb->body && body->has_elements && body->piece_count <= 1
            ? 0
            : search->scene->settings->body[pa->body].radius + search->scene->settings->body[pb->body].radius;
    double place[3], gap, largest, extent;
    const double *x[4];
    for (int i = 0; i < na + nb; i++)
        x[i] = tac_overlap_at(search, i < na ? a[i] : b[i - na]);
    switch (kind) {
    case TAC_OVERLAP_VERTEX_TRIANGLE:
        gap = tac_distance_vertex_triangle(x[0], x[1], x[2], x[3], place);
        break;
    case TAC_OVERLAP_EDGE_EDGE:
        gap = tac_distance_edge_edge(x[0], x[1], x[2], x[3], place);
        break;
    case TAC_OVERLAP_VERTEX_EDGE:
        gap = tac_distance_vertex_edge(x[0], x[1], x[2], place);
        break;
    default:
        gap = tac_distance_vertex_vertex(x[0], x[1], place);
        break;
    }
    measure_pair(search, a, na, b, nb, &largest, &extent);
    if (gap - radius <= TAC_OVERLAP_TOUCH * largest)
        return record(search, kind, pa->body, pb->body, id_a, id_b, place, gap - radius);
    /* The computed distance of slivers may be too large. Where that could hide a contact, the exact test decides. */
    if (gap > 1e-4 * extent)
        return TAC_OK;
    bool touches = (kind == TAC_OVERLAP_VERTEX_TRIANGLE && tac_on_triangle(x[0], x[1], x[2], x[3])) ||
                   (kind == TAC_OVERLAP_EDGE_EDGE && tac_segments_meet(x[0], x[1], x[2], x[3])) ||
                   (kind == TAC_OVERLAP_VERTEX_EDGE && tac_on_segment(x[0], x[1], x[2]));
    return touches ? record(search, kind, pa->body, pb->body, id_a, id_b, place, -radius) : TAC_OK;
}

static double radii(const struct tac_overlap_search *search, const struct parts *a, const struct parts *b)
{
    return search->scene->settings->body[a->body].radius + search->scene->settings->body[b->body].radius;
}

/* 3D: the edges of `a` against the triangle of `b`, for crossing. */
static enum tac_err edges_through_triangle(struct tac_overlap_search *search, const struct parts *a,
                                           const struct parts *b)
{
    const struct tac_scene *scene = search->scene;
    const tac_lid *t = scene->mesh->triangle + 3 * (size_t)b->triangle;
    for (int i = 0; i < a->edge_count; i++) {
        const tac_lid *e = scene->mesh->topology->edge + 2 * (size_t)a->edge[i];
        if (!candidate(search, e, 2, t, 3, 0))
            continue;
        const double *x[5] = {tac_overlap_at(search, e[0]), tac_overlap_at(search, e[1]), tac_overlap_at(search, t[0]),
                              tac_overlap_at(search, t[1]), tac_overlap_at(search, t[2])};
        if (!tac_segment_pierces(x[0], x[1], x[2], x[3], x[4]))
            continue;
        double place[3], depth = tac_depth_edge_triangle(x[0], x[1], x[2], x[3], x[4], place);
        enum tac_err err = record(search, TAC_OVERLAP_EDGE_TRIANGLE, a->body, b->body, a->edge[i], b->triangle, place,
                                  -depth - radii(search, a, b));
        if (err)
            return err;
    }
    return TAC_OK;
}

static enum tac_err corners_to_triangle(struct tac_overlap_search *search, const struct parts *a, const struct parts *b,
                                        double distance)
{
    const tac_lid *t = search->scene->mesh->triangle + 3 * (size_t)b->triangle;
    for (int i = 0; i < a->corner_count; i++) {
        enum tac_err err = examine_near_pair(search, TAC_OVERLAP_VERTEX_TRIANGLE, a, b, a->corner[i], b->triangle,
                                             &a->corner[i], 1, t, 3, distance);
        if (err)
            return err;
    }
    return TAC_OK;
}

static enum tac_err corners_to_segment(struct tac_overlap_search *search, const struct parts *a, const struct parts *b,
                                       double distance)
{
    const tac_lid *e = search->scene->mesh->topology->edge + 2 * (size_t)b->segment_edge;
    for (int i = 0; i < a->corner_count; i++) {
        enum tac_err err = examine_near_pair(search, TAC_OVERLAP_VERTEX_EDGE, a, b, a->corner[i], b->segment_edge,
                                             &a->corner[i], 1, e, 2, distance);
        if (err)
            return err;
    }
    return TAC_OK;
}

static enum tac_err edges_to_edges(struct tac_overlap_search *search, const struct parts *a, const struct parts *b,
                                   double distance)
{
    for (int i = 0; i < a->edge_count; i++)
        for (int j = 0; j < b->edge_count; j++) {
            const tac_lid *e = search->scene->mesh->topology->edge + 2 * (size_t)a->edge[i];
            const tac_lid *f = search->scene->mesh->topology->edge + 2 * (size_t)b->edge[j];
            enum tac_err err =
                examine_near_pair(search, TAC_OVERLAP_EDGE_EDGE, a, b, a->edge[i], b->edge[j], e, 2, f, 2, distance);
            if (err)
                return err;
        }
    return TAC_OK;
}

/* 2D: two segments, for crossing. */
static enum tac_err segments_cross(struct tac_overlap_search *search, const struct parts *a, const struct parts *b)
{
    if (b->segment_edge < a->segment_edge)
        return segments_cross(search, b, a);
    const tac_lid *e = search->scene->mesh->topology->edge + 2 * (size_t)a->segment_edge;
    const tac_lid *f = search->scene->mesh->topology->edge + 2 * (size_t)b->segment_edge;
    if (!candidate(search, e, 2, f, 2, 0))
        return TAC_OK;
    const double *x[4] = {tac_overlap_at(search, e[0]), tac_overlap_at(search, e[1]), tac_overlap_at(search, f[0]),
                          tac_overlap_at(search, f[1])};
    if (!tac_segments_cross_2d(x[0], x[1], x[2], x[3]))
        return TAC_OK;
    double place[3], depth = tac_depth_edges_2d(x[0], x[1], x[2], x[3], place);
    return record(search, TAC_OVERLAP_EDGE_CROSSES_EDGE, a->body, b->body, a->segment_edge, b->segment_edge, place,
                  -depth - radii(search, a, b));
}

static struct parts parts_of(const struct tac_overlap_search *search, const struct tac_box_item *item)
{
    const struct tac_scene *scene = search->scene;
    struct parts parts = {(enum tac_overlap_element)item->kind, item->body, -1, 0, 0, {-1, -1, -1}, {-1, -1, -1}, -1};
    int64_t number = item->index + (parts.element == SEGMENT ? (int64_t)scene->mesh->triangle_count : 0);
    if (parts.element == PARTICLE) {
        parts.corner[parts.corner_count++] = item->index;
        return parts;
    }
    const tac_lid *vertex = parts.element == TRIANGLE ? scene->mesh->triangle + 3 * (size_t)item->index
                                                      : scene->mesh->segment + 2 * (size_t)item->index;
    for (int i = 0; i < (parts.element == TRIANGLE ? 3 : 2); i++)
        if (search->vertex_owner[vertex[i]] == number)
            parts.corner[parts.corner_count++] = vertex[i];
    if (parts.element == SEGMENT) {
        tac_lid edge = search->segment_edge[item->index];
        if (scene->mesh->topology->edge_triangle[2 * (size_t)edge] < 0) /* else a triangle has it */
            parts.edge[parts.edge_count++] = parts.segment_edge = edge;
        return parts;
    }
    parts.triangle = item->index;
    for (int i = 0; i < 3; i++) {
        tac_lid edge = scene->mesh->topology->triangle_edge[3 * (size_t)item->index + (size_t)i];
        if (scene->mesh->topology->edge_triangle[2 * (size_t)edge] == item->index)
            parts.edge[parts.edge_count++] = edge;
    }
    return parts;
}

/* Everything that a's parts are looked at for against b's, in this direction. */
static enum tac_err search_features(struct tac_overlap_search *search, const struct parts *a, const struct parts *b,
                                    double distance)
{
    enum tac_err err = TAC_OK;
    if (b->triangle >= 0) {
        TAC_TRY(edges_through_triangle(search, a, b));
        TAC_TRY(corners_to_triangle(search, a, b, distance));
    }
    /* A triangle's vertex against a segment is part of edge-edge; so is a segment's, but for its neighbours. */
    if (b->segment_edge >= 0 && a->element != TRIANGLE)
        TAC_TRY(corners_to_segment(search, a, b, distance));
done:
    return err;
}

static tac_lid first_vertex(const struct tac_scene *scene, const struct tac_box_item *item)
{
    const size_t index = (size_t)item->index;
    return item->kind == TRIANGLE  ? scene->mesh->triangle[3 * index]
           : item->kind == SEGMENT ? scene->mesh->segment[2 * index]
                                   : item->index;
}

/* Are these two of one piece of a body in pieces? Such a piece does not move against itself. */
static bool in_one_piece(const struct tac_scene *scene, const struct tac_box_item *a, const struct tac_box_item *b)
{
    return a->body == b->body && scene->settings->body[a->body].piece_count > 1 &&
           tac_scene_one_piece(scene, a->body, first_vertex(scene, a), first_vertex(scene, b));
}

enum tac_err tac_overlap_pair(void *user, const struct tac_box_item *item_a, const struct tac_box_item *item_b,
                              double distance)
{
    struct tac_overlap_search *search = user;
    enum tac_err err = TAC_OK;
    if (in_one_piece(search->scene, item_a, item_b))
        return TAC_OK;
    struct parts a = parts_of(search, item_a), b = parts_of(search, item_b);
    TAC_TRY(search_features(search, &a, &b, distance));
    TAC_TRY(search_features(search, &b, &a, distance));
    if (a.element == PARTICLE && b.element == PARTICLE)
        TAC_TRY(examine_near_pair(search, TAC_OVERLAP_VERTEX_VERTEX, &a, &b, a.corner[0], b.corner[0], a.corner, 1,
                                  b.corner, 1, distance));
    else if (!search->scene->settings->two_d)
        TAC_TRY(edges_to_edges(search, &a, &b, distance));
    else if (a.segment_edge >= 0 && b.segment_edge >= 0)
        TAC_TRY(segments_cross(search, &a, &b));
done:
    return err;
}
