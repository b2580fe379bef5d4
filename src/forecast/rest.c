/* rest.c: estimates how deep the layers will be pressed by the bodies that rest on them, from masses and footprints. */
#include "forecast/rest.h"

#include <math.h>
#include <stdlib.h>

/* If there are more bodies, it is not examined which is above which: each counts with its own weight. */
enum { MOST_STACKED = 2048, LEAST_PLACES = 3 };
/* A sheet of bending stiffness k, areal density d and length l stands by itself if k is over this part of d g l^3. */
static const double STANDS = .3;

struct footprint {
    double low, high;          /* along up, radius included, m */
    double side[2], far_of[2]; /* from, to, across; wider by radius and half the thickness, m */
    double mass;               /* of vertices that are ever free, kg; 0 if some are held */
    double places;
};

struct stack {
    const struct tac_scene *scene;
    const struct tac_model *model;
    double g, axis[3][3]; /* m/s^2; up, and two directions across */
    struct footprint *body;
    tac_lid *edges; /* (bodies): edges of each */
};

static double area(const struct footprint *f)
{
    return (f->far_of[0] - f->side[0]) * (f->far_of[1] - f->side[1]);
}

static double shared_area(const struct footprint *a, const struct footprint *b)
{
    double product = 1;
    for (int k = 0; k < 2; k++)
        product *= fmax(0, fmin(a->far_of[k], b->far_of[k]) - fmax(a->side[k], b->side[k]));
    return product;
}

static double along(const struct stack *s, int axis, tac_lid vertex)
{
    return tac_dot(s->axis[axis], &s->scene->mesh->x[3 * (size_t)vertex]);
}

static void set_axes(struct stack *s)
{
    const double *g = s->scene->settings->gravity;
    s->g = sqrt(tac_dot(g, g));
    int least = 0;
    for (int k = 0; k < 3; k++) {
        s->axis[0][k] = -g[k] / s->g;
        least = fabs(s->axis[0][k]) < fabs(s->axis[0][least]) ? k : least;
    }
    double e[3] = {least == 0, least == 1, least == 2}, length;
    tac_cross(s->axis[1], s->axis[0], e);
    length = sqrt(tac_dot(s->axis[1], s->axis[1]));
    for (int k = 0; k < 3; k++)
        s->axis[1][k] /= length;
    tac_cross(s->axis[2], s->axis[0], s->axis[1]);
}

/* Will it stay as it stands: is it closed, or stiff enough? */
static bool stands(const struct stack *s, tac_lid b, const struct footprint *f)
{
    const struct tac_body *body = &s->scene->settings->body[b];
    const tac_lid triangles = body->triangle_end - body->triangle_begin;
    if (triangles == 0 || body->segment_end > body->segment_begin)
        return false;
    if (2 * s->edges[b] == 3 * triangles)
        return true;
    if (body->material < 0 || !s->scene->settings->material[body->material].bend)
        return false;
    const struct tac_material *m = &s->scene->settings->material[body->material];
    const double across = fmax(f->far_of[0] - f->side[0], f->far_of[1] - f->side[1]);
    const double length = fmax(across, f->high - f->low);
    return m->bend_stiffness > STANDS * m->density * s->g * length * length * length;
}

static double count_places(const struct stack *s, tac_lid b, const struct footprint *f)
{
    const struct tac_body *body = &s->scene->settings->body[b];
    const double thickness = s->scene->settings->contact.thickness, room = 2 * body->radius + thickness;
    const double vertices = body->vertex_end - body->vertex_begin;
    if (!body->has_elements)
        return fmin(vertices, fmax(1, area(f) / (room * room)));
    if (!stands(s, b, f))
        return vertices;
    double lowest = 0;
    for (tac_lid i = body->vertex_begin; i < body->vertex_end; i++)
        lowest += along(s, 0, i) - body->radius <= f->low + thickness;
    return fmin(vertices, fmax(LEAST_PLACES, lowest));
}

static void measure_footprint(struct stack *s, tac_lid b)
{
    const struct tac_body *body = &s->scene->settings->body[b];
    struct footprint *f = &s->body[b];
    const double wide = body->radius + .5 * s->scene->settings->contact.thickness;
    bool held = false;
    *f = (struct footprint){INFINITY, -INFINITY, {INFINITY, INFINITY}, {-INFINITY, -INFINITY}, 0, 0};
    for (tac_lid i = body->vertex_begin; i < body->vertex_end; i++) {
        const double up = along(s, 0, i);
        f->low = fmin(f->low, up - body->radius);
        f->high = fmax(f->high, up + body->radius);
        for (int k = 0; k < 2; k++) {
            const double at = along(s, 1 + k, i);
            f->side[k] = fmin(f->side[k], at - wide);
            f->far_of[k] = fmax(f->far_of[k], at + wide);
        }
        held |= !s->scene->mesh->ever_free[i];
        f->mass += s->scene->mesh->ever_free[i] ? s->scene->mesh->mass[i] : 0;
    }
    if (body->rigid >= 0)
        f->mass = s->scene->settings->rigid[body->rigid].mass;
    if (held || body->piece_count > 1) /* where its pieces will lie is not known */
        f->mass = 0;
    f->places = f->mass > 0 ? count_places(s, b, f) : 0;
}

static bool may_touch(const struct stack *s, tac_lid a, tac_lid b)
{
    return s->model->ignored == NULL ||
           !s->model->ignored[(size_t)a * (size_t)s->scene->settings->body_count + (size_t)b];
}

/* Pressed in units of r(1) eta(1) by the time that layer `next` is reached: what the layers above it push then. */
static double capacity(const struct tac_model *m, int32_t next)
{
    double push = 0;
    for (int32_t l = 1; l < next; l++)
        push += m->rate[l] * (m->reach[l] - m->reach[next]);
    return push;
}

/* The deepest layer that a force presses. */
static int32_t pressed(const struct tac_model *m, double force, double stiffness, double thickness)
{
    /* capacity(l + 1) = capacity(l) + sum(l) (reach(l) - reach(l + 1)) */
    double push = 0;
    int32_t l = 1;
    for (; l + 1 < m->layer_count; l++) {
        push += m->sum[l] * (m->reach[l] - m->reach[l + 1]);
        if (push * stiffness * thickness >= force)
            break;
    }
    return l;
}

/* Is c rather what body b will rest on than d: beneath it, and higher up? */
static bool nearer(const struct stack *s, tac_lid b, tac_lid c, tac_lid d)
{
    const double top = s->body[b].low + s->scene->settings->contact.thickness;
    const double high_c = s->body[c].high, high_d = s->body[d].high;
    return high_c <= top ? high_d > top || high_c > high_d : high_d > top && high_c < high_d;
}

static void keep_worst(const struct stack *s, tac_lid b, struct tac_rest *worst)
{
    const struct tac_scene *scene = s->scene;
    const struct footprint *f = &s->body[b];
    struct tac_rest rest = {.body = b, .under = -1, .weight = f->mass * s->g, .places = f->places};
    const bool stacked = scene->settings->body_count <= MOST_STACKED;
    for (tac_lid c = 0; c < scene->settings->body_count && (stacked || rest.under < 0); c++) {
        const struct footprint *o = &s->body[c];
        const double share = shared_area(f, o);
        if (c == b || !(share > 0) || !may_touch(s, b, c))
            continue;
        if (o->low > f->low)
            rest.weight += stacked ? o->mass * s->g * fmin(1, share / area(o)) : 0;
        else if ((o->low < f->low || o->mass == 0) && (rest.under < 0 || nearer(s, b, c, rest.under)))
            rest.under = c;
    }
    if (rest.under < 0 || !(rest.places > 0))
        return;
    const struct tac_contact_law *law = tac_scene_law(scene, b, rest.under);
    const double thickness = scene->settings->contact.thickness, most = capacity(s->model, TAC_REST_LAYER + 1);
    rest.force = rest.weight / rest.places;
    rest.stiffness = law->stiffness;
    const double force = 2 * rest.force / (1 + law->restitution * law->restitution);
    rest.layer = pressed(s->model, force, rest.stiffness, thickness);
    rest.enough_stiffness = force / (most * thickness);
    rest.enough_thickness = force / (most * rest.stiffness);
    if (worst->body < 0 || rest.enough_thickness > worst->enough_thickness)
        *worst = rest;
}

enum tac_err tac_estimate_rest(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_model *model,
                               struct tac_rest *out)
{
    enum tac_err err = TAC_OK;
    struct stack s = {.scene = scene, .model = model};
    *out = (struct tac_rest){.body = -1, .under = -1};
    if (!(scene->settings->contact.thickness > 0) ||
        !(tac_dot(scene->settings->gravity, scene->settings->gravity) > 0) || model->layer_count <= TAC_REST_LAYER + 1)
        goto done;
    set_axes(&s);
    TAC_TRY(tac_alloc(ctx, (size_t)scene->settings->body_count, sizeof *s.body, &s.body));
    TAC_TRY(tac_alloc(ctx, (size_t)scene->settings->body_count, sizeof *s.edges, &s.edges));
    for (tac_lid e = 0; e < scene->mesh->topology->edge_count; e++)
        s.edges[scene->mesh->vertex_body[scene->mesh->topology->edge[2 * e]]]++;
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        measure_footprint(&s, b);
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        if (s.body[b].mass > 0)
            keep_worst(&s, b, out);
done:
    free(s.body);
    free(s.edges);
    return err;
}
