/* forecast_contact.c: estimates how many ticks contact will take, by how the bodies of a scene meet (forecast.h). */
#include "check/defect_shape.h"
#include "check/estimate.h"
#include "check/forecast.h"
#include "check/rest.h"
#include <stdlib.h>
#include <tactus/math.h>

/* Layer groups that tick: of a shell that stands, in all; per vertex of a rope, of a grain. */
static const double WATCHED_STANDING = 3.2, WATCHED_ROPE = 4, WATCHED_GRAIN = 2.5;
/* Without weight: times the root of what speed presses (swept()), per vertex of a sheet, at least. */
static const double WATCHED_SWEPT = 12, LEAST_SWEPT = .1;
/* With weight: times the root of load (the weight of a vertex over what the first layer can push), per vertex. */
static const double WATCHED_LOADED = 20, MOST_LOADED = 15;
/* Of the pairs of a sheet that lies: times load to that power, at most all. */
static const double WATCHED_LYING = 2.5, LYING_POWER = .3;
/* Of the pairs of a mesh with itself that are nearer than the thickness at rest, counted in such a unit: free vertices
 * times the square of the thickness over the edge. */
static const double WATCHED_NEIGHBOURS = .02;
/* Part of a sheet that folds onto itself. */
static const double FOLDED = .1;
/* Layer groups that tick, of an edge with a limit of stretch. */
static const double WATCHED_LIMIT = 1.5;
/* A sheet lies if it begins within so many thicknesses of what is under it, and is no higher than that itself. */
static const double LIES = 3;
/* A sheet of bending stiffness k, areal density d and length l stands by itself if k is over this part of d g l^3. */
static const double STANDS = .3;
enum { MOST_LOOKED_AT = 64 };

struct mesh_size {
    double length; /* of all edges, m */
    double edges;
};

struct meeting {
    struct tac_validated v;
    struct mesh_size *size; /* owned, (bodies) */
    struct tac_rest rest;   /* the weight that presses deepest */
    bool driven;            /* by scripts, loads, start velocities */
};

static void measure_edges(struct meeting *m)
{
    const struct tac_local_mesh *mesh = m->v.scene->mesh;
    for (tac_lid e = 0; e < mesh->topology->edge_count; e++) {
        const tac_lid *end = &mesh->topology->edge[2 * (size_t)e];
        double d[3];
        tac_sub(d, &mesh->x[3 * (size_t)end[1]], &mesh->x[3 * (size_t)end[0]]);
        struct mesh_size *size = &m->size[mesh->vertex_body[end[0]]];
        size->length += sqrt(tac_dot(d, d));
        size->edges++;
    }
}

static bool stands(const struct meeting *m, tac_lid b)
{
    const struct tac_body *body = &m->v.scene->settings->body[b];
    const struct tac_shape *s = &m->v.body[b];
    const tac_lid triangles = body->triangle_end - body->triangle_begin;
    if (triangles == 0 || body->segment_end > body->segment_begin || body->material < 0)
        return false;
    const struct tac_material *material = &m->v.scene->settings->material[body->material];
    const bool closed = 2 * m->size[b].edges == 3 * (double)triangles;
    if ((closed || m->v.g > 0) && tac_shape_stiffness(&m->v, b) * tac_shape_size(s) > s->mass * m->v.g)
        return true;
    const double length = fmax(s->high - s->low, fmax(s->far_of[0] - s->side[0], s->far_of[1] - s->side[1]));
    return material->bend && m->v.g > 0 &&
           material->bend_stiffness > STANDS * material->density * m->v.g * length * length * length;
}

/* One over the period of the layer groups down to `deepest` between vertices of the body and `other` (-1: one like
 * itself), added up; the mean over vertices. */
static double rate(const struct meeting *m, tac_lid b, tac_lid other, int32_t deepest)
{
    const struct tac_body *body = &m->v.scene->settings->body[b];
    const tac_lid step = 1 + (body->vertex_end - body->vertex_begin) / MOST_LOOKED_AT;
    double sum = 0, count = 0;
    for (tac_lid i = body->vertex_begin; i < body->vertex_end; i += step) {
        const tac_lid v[4] = {i, other < 0 ? i : other, -1, -1};
        struct tac_form form;
        int32_t last = 0;
        if (!m->v.scene->mesh->ever_free[i])
            continue;
        tac_model_form(m->v.model, TAC_PAIR_VERTEX_VERTEX, v, &form);
        for (int32_t l = 1; l <= deepest && l <= form.bottom; l = last + 1)
            sum += 1 / ((double)tac_model_layer_group(m->v.model, &form, l, &last) * m->v.scene->settings->quantum_s);
        count++;
    }
    return count > 0 ? sum / count : 0;
}

/* When the body meets something, s. */
static double meets(const struct meeting *m, tac_lid b)
{
    const struct tac_shape *s = &m->v.body[b];
    if (m->driven && s->under < 0)
        return 0;
    if (s->under < 0)
        return m->v.scene->settings->body_count > 1 && !(m->v.g > 0) ? 0 : INFINITY;
    const double fall = fmax(0, s->low - m->v.body[s->under].high - m->v.scene->settings->contact.thickness);
    const double land = sqrt(m->v.closing * m->v.closing + 2 * m->v.g * fall);
    return fall > 0 ? fall / (.5 * (land + m->v.closing)) : 0;
}

/* The part of a sheet that others can touch at a time: their surface over its own; at least that of its folds. */
static double share_of_others(const struct meeting *m, tac_lid b)
{
    double others = 0;
    for (tac_lid c = 0; c < m->v.scene->settings->body_count; c++)
        others += c == b ? 0 : m->v.body[c].area;
    return fmin(1, fmax(FOLDED, others / m->v.body[b].area));
}

/* The weight of a vertex over the push of the first layer, fully pressed: what is light trembles on it, and touches
 * only now and then. */
static double load(const struct meeting *m, tac_lid b)
{
    const struct tac_shape *s = &m->v.body[b];
    const struct tac_scene *scene = m->v.scene;
    const struct tac_contact_law *law = tac_scene_law(scene, b, s->under >= 0 ? s->under : b);
    return s->mass * m->v.g / s->free / (law->stiffness * scene->settings->contact.thickness);
}

/* What the body's inertia presses, a force for each length, over the stiffness of the first layer: how fine its mesh is
 * does not matter to it. */
static double swept(const struct meeting *m, tac_lid b)
{
    const struct tac_shape *s = &m->v.body[b];
    return s->mass / s->area * m->v.closing * m->v.closing / tac_scene_law(m->v.scene, b, b)->stiffness;
}

/* Pairs of a flat sheet with what it lies on: vertices of either, and edges that cross. */
static double lying(const struct meeting *m, tac_lid b)
{
    const struct tac_shape *s = &m->v.body[b], *o = &m->v.body[s->under];
    const double both = s->share * s->area;
    const double across = o->area > 0 ? m->size[s->under].length / o->area : 0;
    const double under = o->area > 0 ? (double)(m->v.scene->settings->body[s->under].vertex_end -
                                                m->v.scene->settings->body[s->under].vertex_begin) *
                                           fmin(1, both / o->area)
                                     : 0;
    return s->share * s->free + under + 2 / TAC_PI * m->size[b].length * s->share * across;
}

/* The part of them that ticks. */
static double pressed(const struct meeting *m, tac_lid b)
{
    return fmin(1, WATCHED_LYING * tac_pow(load(m, b), LYING_POWER));
}

static double draped(const struct meeting *m, tac_lid b)
{
    const double per_vertex =
        m->v.g > 0 ? WATCHED_LOADED * sqrt(load(m, b)) : fmax(LEAST_SWEPT, WATCHED_SWEPT * sqrt(swept(m, b)));
    return fmin(MOST_LOADED, per_vertex) * m->v.body[b].free * share_of_others(m, b);
}

static bool lies(const struct meeting *m, tac_lid b)
{
    const struct tac_shape *s = &m->v.body[b];
    const double near = LIES * m->v.scene->settings->contact.thickness;
    return s->under >= 0 && s->area > 0 && s->high - s->low < near && s->low - m->v.body[s->under].high < near &&
           m->v.g > 0;
}

/* Pairs within the thickness in the body's own mesh, besides those that share a vertex. */
static double neighbours(const struct meeting *m, tac_lid b)
{
    const struct tac_shape *s = &m->v.body[b];
    if (!m->v.scene->settings->body[b].self_contact || !(s->area > 0) || !(m->size[b].edges > 0))
        return 0;
    const double edge = m->size[b].length / m->size[b].edges;
    const double within = m->v.scene->settings->contact.thickness / edge;
    return within > 1 ? s->free * within * within : 0;
}

static void add_body(const struct meeting *m, tac_lid b, struct tac_forecast *out)
{
    const struct tac_scene *scene = m->v.scene;
    const struct tac_body *body = &scene->settings->body[b];
    const struct tac_shape *s = &m->v.body[b];
    const double end = scene->settings->end_s, start = meets(m, b);
    const double near = neighbours(m, b), own = WATCHED_NEIGHBOURS * near, beneath = lies(m, b) ? lying(m, b) : 0;
    const int32_t deepest = m->rest.body == b && m->rest.layer > TAC_REST_LAYER ? m->rest.layer : 1;
    const tac_lid obstacle = s->under >= 0 ? scene->settings->body[s->under].vertex_begin : -1;
    const double watched = !body->has_elements ? WATCHED_GRAIN * s->free
                           : stands(m, b)      ? WATCHED_STANDING
                           : beneath > 0       ? beneath * pressed(m, b)
                           : s->area > 0       ? draped(m, b)
                                               : WATCHED_ROPE * s->free;
    out->near += near + beneath;
    out->contact += own * end * rate(m, b, -1, 1);
    out->pairs += own;
    if (!(start < end))
        return;
    out->contact += watched * (end - start) * rate(m, b, obstacle, deepest);
    out->pairs += watched;
}

static void add_limits(const struct meeting *m, struct tac_forecast *out)
{
    const struct tac_scene *scene = m->v.scene;
    for (tac_lid e = 0; m->v.model->limits && e < scene->mesh->topology->edge_count; e++) {
        if (!tac_model_limits(m->v.model, TAC_PAIR_LONG, e))
            continue;
        struct tac_form form;
        int32_t last;
        tac_model_form(m->v.model, TAC_PAIR_LONG, &scene->mesh->topology->edge[2 * (size_t)e], &form);
        const double h = (double)tac_model_layer_group(m->v.model, &form, 1, &last) * scene->settings->quantum_s;
        out->contact += WATCHED_LIMIT * scene->settings->end_s / h;
        out->pairs += WATCHED_LIMIT;
    }
}

enum tac_err tac_forecast_contact(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                                  const struct tac_model *model, struct tac_forecast *out)
{
    enum tac_err err = TAC_OK;
    struct meeting m = {.v = {.scene = scene, .elastic = elastic, .model = model}};
    double fall;
    if (!(model->h1_max_s > 0))
        goto done;
    add_limits(&m, out);
    if (!(scene->settings->contact.thickness > 0))
        goto done;
    m.v.g = sqrt(tac_dot(scene->settings->gravity, scene->settings->gravity));
    const double speed = tac_estimate_speed(scene, &fall);
    m.v.closing = sqrt(fmax(0, speed * speed - 2 * m.v.g * fall));
    m.driven = scene->settings->motion_count > 0 || scene->settings->load_count > 0 || m.v.closing > 0;
    TAC_TRY(tac_alloc(ctx, (size_t)scene->settings->body_count, sizeof *m.v.body, &m.v.body));
    TAC_TRY(tac_alloc(ctx, (size_t)scene->settings->body_count, sizeof *m.size, &m.size));
    TAC_TRY(tac_estimate_rest(ctx, scene, model, &m.rest));
    tac_shape_measure(&m.v);
    measure_edges(&m);
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        if (m.v.body[b].free > 0)
            add_body(&m, b, out);
done:
    free(m.v.body);
    free(m.size);
    return err;
}
