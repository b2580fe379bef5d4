/* audit_pairs.c: finds the contact pairs that come near each other in a slab.
 *
 * A tree of boxes around the volumes that elements sweep finds the elements that come near.  Every vertex and edge of
 * two such elements is examined with the first element that has it.  Whether a pair is taken depends on nothing but the
 * boxes of its own two primitives.
 */
#include "audit/audit_room.h"
#include "partition/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum element { TRIANGLE, SEGMENT, PARTICLE };

struct box {
    double lo[3], hi[3];
};

static int compare_bodies(const void *a, const void *b)
{
    const tac_lid *p = a, *q = b;
    if (p[0] != q[0])
        return p[0] < q[0] ? -1 : 1;
    return (p[1] > q[1]) - (p[1] < q[1]);
}

static bool ignored(const struct tac_audit_search *s, tac_lid a, tac_lid b)
{
    const tac_lid pair[2] = {a < b ? a : b, a < b ? b : a};
    return s->ignore_count > 0 && bsearch(pair, s->ignore, s->ignore_count, 2 * sizeof *pair, compare_bodies) != NULL;
}

/* The distance that two bodies' primitives must keep. Within one mesh it is 0: where the mesh is finer than its own
 * radius, the run shrinks the radius. Two pieces of a body keep the distance of two bodies. */
static double distance_kept(const struct tac_scene *scene, tac_lid a, tac_lid b)
{
    const struct tac_body *p = &scene->settings->body[a], *q = &scene->settings->body[b];
    return a == b && p->has_elements && p->piece_count <= 1 ? 0 : p->radius + q->radius;
}

static double pair_margin(void *user, const struct tac_box_node *a, const struct tac_box_node *b)
{
    const struct tac_audit_search *s = user;
    const double more = s->watched + s->round;
    if (a->body < 0 || b->body < 0)
        return a->radius + b->radius + more;
    if (a->body == b->body ? !s->scene->settings->body[a->body].self_contact : ignored(s, a->body, b->body))
        return NAN;
    return distance_kept(s->scene, a->body, b->body) + more;
}

/* ---- elements and their parts ---- */

static enum tac_err make_masks(struct tac_audit_search *s)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *scene = s->scene;
    const struct tac_topology *topology = scene->mesh->topology;
    const size_t triangles = (size_t)scene->mesh->triangle_count, segments = (size_t)scene->mesh->segment_count;
    uint8_t *taken = NULL;
    TAC_TRY(tac_alloc(s->ctx, triangles + segments, 1, &s->mask));
    TAC_TRY(tac_alloc(s->ctx, segments, sizeof *s->segment_edge, &s->segment_edge));
    TAC_TRY(tac_alloc(s->ctx, (size_t)scene->mesh->vertex_count, 1, &taken));
    for (size_t i = 0; i < triangles + segments; i++) {
        const bool triangle = i < triangles;
        const tac_lid *v = triangle ? scene->mesh->triangle + 3 * i : scene->mesh->segment + 2 * (i - triangles);
        for (int k = 0; k < (triangle ? 3 : 2); k++) {
            s->mask[i] |= (uint8_t)(!taken[v[k]] << k);
            taken[v[k]] = 1;
        }
    }
    for (tac_lid e = 0; e < topology->edge_count; e++) {
        const tac_lid t = topology->edge_triangle[2 * (size_t)e], g = topology->edge_segment[e];
        for (int k = 0; k < 3 && t >= 0; k++)
            if (topology->triangle_edge[3 * (size_t)t + (size_t)k] == e)
                s->mask[t] |= (uint8_t)(8 << k);
        if (g >= 0) {
            s->segment_edge[g] = e;
            s->mask[triangles + (size_t)g] |= (uint8_t)((t < 0) << 3);
        }
    }
done:
    free(taken);
    return err;
}

enum tac_err tac_audit_search_make(struct tac_audit_search *s)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *scene = s->scene;
    const size_t most =
        (size_t)scene->mesh->triangle_count + (size_t)scene->mesh->segment_count + (size_t)scene->mesh->vertex_count;
    TAC_TRY(make_masks(s));
    TAC_TRY(tac_alloc(s->ctx, most, sizeof *s->item, &s->item));
    TAC_TRY(tac_alloc(s->ctx, (size_t)scene->settings->body_count, sizeof *s->radius, &s->radius));
    TAC_TRY(tac_alloc(s->ctx, (size_t)scene->settings->contact.ignore_count, 2 * sizeof *s->ignore, &s->ignore));
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        s->radius[b] = scene->settings->body[b].radius;
    for (tac_lid i = 0; i < scene->settings->contact.ignore_count; i++) {
        const tac_lid a = scene->settings->contact.ignore[2 * i], b = scene->settings->contact.ignore[2 * i + 1];
        s->ignore[2 * i] = a < b ? a : b;
        s->ignore[2 * i + 1] = a < b ? b : a;
    }
    s->ignore_count = (size_t)scene->settings->contact.ignore_count;
    qsort(s->ignore, s->ignore_count, 2 * sizeof *s->ignore, compare_bodies);
done:
    return err;
}

void tac_audit_search_free(struct tac_audit_search *s)
{
    free(s->mask);
    free(s->segment_edge);
    free(s->ignore);
    free(s->item);
    free(s->radius);
    free(s->walk.t);
    free(s->walk.x);
    tac_ccd_scratch_free(&s->scratch);
}

static void join(double lo[3], double hi[3], const double box[6], bool first)
{
    for (int k = 0; k < 3; k++) {
        lo[k] = first || box[k] < lo[k] ? box[k] : lo[k];
        hi[k] = first || box[3 + k] > hi[k] ? box[3 + k] : hi[k];
    }
}

static struct box box_of(const struct tac_audit_search *s, const tac_lid *v, int count)
{
    struct box box;
    for (int i = 0; i < count; i++)
        join(box.lo, box.hi, s->slab->box + 6 * (size_t)v[i], i == 0);
    return box;
}

static void put_item(struct tac_audit_search *s, enum element kind, tac_lid body, tac_lid index, const tac_lid *v,
                     int count)
{
    struct tac_box_item *item = &s->item[s->item_count++];
    const struct box box = box_of(s, v, count);
    *item = (struct tac_box_item){.body = body, .index = index, .kind = (uint8_t)kind};
    memcpy(item->lo, box.lo, sizeof item->lo);
    memcpy(item->hi, box.hi, sizeof item->hi);
    for (int i = 0; i < count; i++)
        item->active = item->active || s->scene->mesh->ever_free[v[i]];
}

static void put_items(struct tac_audit_search *s)
{
    const struct tac_scene *scene = s->scene;
    s->item_count = 0;
    for (tac_lid b = 0; b < scene->settings->body_count; b++) {
        const struct tac_body *body = &scene->settings->body[b];
        for (tac_lid i = body->triangle_begin; i < body->triangle_end; i++)
            put_item(s, TRIANGLE, b, i, scene->mesh->triangle + 3 * (size_t)i, 3);
        for (tac_lid i = body->segment_begin; i < body->segment_end; i++)
            put_item(s, SEGMENT, b, i, scene->mesh->segment + 2 * (size_t)i, 2);
        for (tac_lid i = body->vertex_begin; i < body->vertex_end && !body->has_elements; i++)
            put_item(s, PARTICLE, b, i, &i, 1);
    }
}

/* ---- pairs of two elements ---- */

/* An element that came near another, and the vertices and edges that are looked at with it. */
struct near {
    enum element element;
    tac_lid body, index, edge_id[3], v[3];
    int count, corners, edges;
    tac_lid corner[3], edge[3][2]; /* vertices */
    struct box box, corner_box[3], edge_box[3];
};

static void open_element(const struct tac_audit_search *s, const struct tac_box_item *item, struct near *e)
{
    const struct tac_scene *scene = s->scene;
    const size_t index = (size_t)item->index;
    e->element = (enum element)item->kind;
    e->body = item->body;
    e->index = item->index;
    memcpy(e->box.lo, item->lo, sizeof e->box.lo);
    memcpy(e->box.hi, item->hi, sizeof e->box.hi);
    e->count = e->element == TRIANGLE ? 3 : e->element == SEGMENT ? 2 : 1;
    e->v[0] = item->index;
    uint8_t mask = 1;
    if (e->element == TRIANGLE) {
        memcpy(e->v, scene->mesh->triangle + 3 * index, 3 * sizeof *e->v);
        mask = s->mask[index];
    } else if (e->element == SEGMENT) {
        memcpy(e->v, scene->mesh->segment + 2 * index, 2 * sizeof *e->v);
        mask = s->mask[(size_t)scene->mesh->triangle_count + index];
    }
    e->corners = e->edges = 0;
    for (int k = 0; k < e->count; k++)
        if (mask >> k & 1) {
            e->corner[e->corners] = e->v[k];
            e->corner_box[e->corners++] = box_of(s, &e->v[k], 1);
        }
    for (int k = 0; k < 3; k++)
        if (mask >> (3 + k) & 1) {
            const tac_lid id = e->element == TRIANGLE ? scene->mesh->topology->triangle_edge[3 * index + (size_t)k]
                                                      : s->segment_edge[index];
            e->edge_id[e->edges] = id;
            memcpy(e->edge[e->edges], scene->mesh->topology->edge + 2 * (size_t)id, sizeof e->edge[0]);
            e->edge_box[e->edges] = box_of(s, e->edge[e->edges], 2);
            e->edges++;
        }
}

/* A pair that may be one: no vertex in common, one that is free at some time, boxes that come near. */
static enum tac_err prove_if_near(struct tac_audit_search *s, int kind, tac_lid id_a, const tac_lid *a,
                                  const struct box *box_a, tac_lid id_b, const tac_lid *b, const struct box *box_b,
                                  double keep)
{
    const int first = tac_audit_first(kind), n = tac_audit_count(kind);
    struct tac_audit_pair pair = {.kind = kind, .n = n, .id = {id_a, id_b}, .keep = keep};
    bool ever_free = false;
    double large = 0;
    if (tac_boxes_separated(box_a->lo, box_a->hi, box_b->lo, box_b->hi, keep + s->watched + s->round))
        return TAC_OK;
    for (int i = 0; i < first; i++)
        for (int j = 0; j < n - first; j++)
            if (a[i] == b[j])
                return TAC_OK;
    for (int i = 0; i < n; i++) {
        pair.v[i] = i < first ? a[i] : b[i - first];
        ever_free = ever_free || s->scene->mesh->ever_free[pair.v[i]];
        large = fmax(large, s->slab->large[pair.v[i]]);
    }
    pair.round = TAC_AUDIT_ROUND * large;
    return ever_free ? tac_audit_prove(s, &pair) : TAC_OK;
}

static enum tac_err corners_against(struct tac_audit_search *s, const struct near *a, const struct near *b, double keep)
{
    enum tac_err err = TAC_OK;
    for (int i = 0; i < a->corners; i++) {
        if (b->element == TRIANGLE)
            TAC_TRY(prove_if_near(s, TAC_AUDIT_VERTEX_TRIANGLE, a->corner[i], &a->corner[i], &a->corner_box[i],
                                  b->index, b->v, &b->box, keep));
        else if (b->element == SEGMENT)
            TAC_TRY(prove_if_near(s, TAC_AUDIT_VERTEX_EDGE, a->corner[i], &a->corner[i], &a->corner_box[i],
                                  s->segment_edge[b->index], b->v, &b->box, keep));
    }
done:
    return err;
}

static enum tac_err edges_against(struct tac_audit_search *s, const struct near *a, const struct near *b, double keep)
{
    enum tac_err err = TAC_OK;
    for (int i = 0; i < a->edges; i++)
        for (int j = 0; j < b->edges; j++) {
            /* The result must not depend on the order in which the tree visits the two. */
            const bool turn = b->edge_id[j] < a->edge_id[i];
            const struct near *p = turn ? b : a, *q = turn ? a : b;
            const int k = turn ? j : i, l = turn ? i : j;
            TAC_TRY(prove_if_near(s, TAC_AUDIT_EDGE_EDGE, p->edge_id[k], p->edge[k], &p->edge_box[k], q->edge_id[l],
                                  q->edge[l], &q->edge_box[l], keep));
        }
done:
    return err;
}

static enum tac_err look_at_two(void *user, const struct tac_box_item *item_a, const struct tac_box_item *item_b,
                                double unused)
{
    struct tac_audit_search *s = user;
    enum tac_err err = TAC_OK;
    struct near a, b;
    open_element(s, item_a, &a);
    open_element(s, item_b, &b);
    const bool one_piece =
        a.body == b.body && b.element != PARTICLE && tac_scene_one_piece(s->scene, a.body, a.v[0], b.v[0]);
    const double keep = one_piece ? 0 : distance_kept(s->scene, item_a->body, item_b->body);
    TAC_TRY(corners_against(s, &a, &b, keep));
    TAC_TRY(corners_against(s, &b, &a, keep));
    if (a.element == PARTICLE && b.element == PARTICLE) {
        const bool turn = b.index < a.index;
        const struct near *p = turn ? &b : &a, *q = turn ? &a : &b;
        TAC_TRY(prove_if_near(s, TAC_AUDIT_VERTEX_VERTEX, p->index, p->v, &p->box, q->index, q->v, &q->box, keep));
    } else if (!s->scene->settings->two_d) {
        TAC_TRY(edges_against(s, &a, &b, keep));
    }
done:
    return err;
}

enum tac_err tac_audit_slab_search(struct tac_audit_search *s)
{
    enum tac_err err = TAC_OK;
    struct tac_box_tree *tree = NULL;
    double large = 0;
    for (tac_lid i = 0; i < s->scene->mesh->vertex_count; i++)
        large = fmax(large, s->slab->large[i]);
    /* What is not taken keeps its distance and `watched`: boxes hold the paths, sums below are rounded. */
    s->round = TAC_AUDIT_ROUND * large + 0x1p-40 * s->watched;
    s->best = s->bound = s->watched;
    s->report->slabs++;
    put_items(s);
    TAC_TRY(tac_box_tree_create(s->ctx, s->item, s->item_count, s->radius, &tree));
    TAC_TRY(tac_box_tree_walk(s->ctx, tree, &(struct tac_box_walk){s, pair_margin, look_at_two}));
done:
    tac_box_tree_destroy(&tree);
    return err;
}
