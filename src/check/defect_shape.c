/* defect_shape.c: measures the bodies for the estimate of the defect: sizes, what lies under them, curvatures, and how
 * stiffly they spring back (docs/reference/energy-estimate.md). */
#include "check/defect_shape.h"
#include "elements/records.h"

/* Among more bodies, who is above whom is not asked. */
enum { MOST_STACKED = 2048 };
/* Stiffness of a sheet of hinges of stiffness k is 3 k; that of a shell under a point load 8 sqrt(membrane x sheet)
 * times its curvature (Reissner 1946). */
static const double SHEET = 3, SHELL = 8;

static double along(const struct tac_validated *j, int axis, tac_lid i)
{
    return tac_dot(j->axis[axis], &j->scene->mesh->x[3 * (size_t)i]);
}

static void set_axes(struct tac_validated *j)
{
    const double *g = j->scene->settings->gravity;
    j->g = sqrt(tac_dot(g, g));
    int least = 0;
    for (int k = 0; k < 3; k++) {
        j->axis[0][k] = j->g > 0 ? -g[k] / j->g : k == 1;
        least = fabs(j->axis[0][k]) < fabs(j->axis[0][least]) ? k : least;
    }
    double e[3] = {least == 0, least == 1, least == 2};
    tac_cross(j->axis[1], j->axis[0], e);
    const double length = sqrt(tac_dot(j->axis[1], j->axis[1]));
    for (int k = 0; k < 3; k++)
        j->axis[1][k] /= length;
    tac_cross(j->axis[2], j->axis[0], j->axis[1]);
}

static void measure(struct tac_validated *j, tac_lid b)
{
    const struct tac_body *body = &j->scene->settings->body[b];
    struct tac_shape *s = &j->body[b];
    *s = (struct tac_shape){.low = INFINITY,
                            .high = -INFINITY,
                            .side = {INFINITY, INFINITY},
                            .far_of = {-INFINITY, -INFINITY},
                            .under = -1,
                            .vertex = -1};
    for (tac_lid i = body->vertex_begin; i < body->vertex_end; i++) {
        const double up = along(j, 0, i);
        s->low = fmin(s->low, up - body->radius);
        s->high = fmax(s->high, up + body->radius);
        for (int k = 0; k < 2; k++) {
            s->side[k] = fmin(s->side[k], along(j, 1 + k, i));
            s->far_of[k] = fmax(s->far_of[k], along(j, 1 + k, i));
        }
        if (!j->scene->mesh->ever_free[i])
            continue;
        s->vertex = s->vertex < 0 ? i : s->vertex;
        s->free++;
        s->mass += j->scene->mesh->mass[i];
        s->mean += j->scene->mesh->mass[i] * up;
    }
    s->mean /= s->mass > 0 ? s->mass : 1;
}

/* Hinges turn by their rest angle over the height between two triangles' centres: the angles times the edges' lengths,
 * summed, are twice the mean curvature times the area. */
static void add_curvature(struct tac_validated *j)
{
    const struct tac_scene *scene = j->scene;
    for (size_t c = 0; c < j->elastic->class_count; c++) {
        const struct tac_rate_class *rate = &j->elastic->rate[c];
        const struct tac_element_group *group = &rate->group[tac_element_of_kind(TAC_KIND_HINGE)];
        for (size_t e = 0; e < group->elastic.count; e++) {
            const struct tac_hinge *hinge = tac_forces_record(&group->elastic, e);
            double d[3];
            tac_sub(d, &scene->mesh->x[3 * (size_t)hinge->v[1]], &scene->mesh->x[3 * (size_t)hinge->v[0]]);
            j->body[scene->mesh->vertex_body[hinge->v[0]]].curvature += .5 * fabs(hinge->angle) * sqrt(tac_dot(d, d));
        }
    }
    for (tac_lid b = 0; b < scene->settings->body_count; b++) {
        struct tac_shape *s = &j->body[b];
        for (tac_lid t = scene->settings->body[b].triangle_begin; t < scene->settings->body[b].triangle_end; t++) {
            const tac_lid *v = &scene->mesh->triangle[3 * (size_t)t];
            double p[3], q[3], n[3];
            tac_sub(p, &scene->mesh->x[3 * (size_t)v[1]], &scene->mesh->x[3 * (size_t)v[0]]);
            tac_sub(q, &scene->mesh->x[3 * (size_t)v[2]], &scene->mesh->x[3 * (size_t)v[0]]);
            tac_cross(n, p, q);
            s->area += .5 * sqrt(tac_dot(n, n));
        }
        s->curvature /= s->area > 0 ? s->area : 1;
    }
}

/* What is beneath each body: the highest of those whose boxes overlap when seen along gravity. */
static void find_under(struct tac_validated *j, tac_lid b)
{
    struct tac_shape *s = &j->body[b];
    const double slack = j->scene->settings->contact.thickness;
    double own = 1;
    for (int k = 0; k < 2; k++)
        own *= s->far_of[k] - s->side[k] + slack;
    for (tac_lid c = 0; c < j->scene->settings->body_count && j->scene->settings->body_count <= MOST_STACKED; c++) {
        const struct tac_shape *o = &j->body[c];
        double shared = 1;
        for (int k = 0; k < 2; k++)
            shared *= fmax(0, fmin(s->far_of[k], o->far_of[k]) - fmax(s->side[k], o->side[k]) + slack);
        if (c == b || !(shared > 0) || o->high > s->low + slack)
            continue;
        if (s->under >= 0 && j->body[s->under].high >= o->high)
            continue;
        s->under = c;
        s->share = fmin(1, shared / own);
    }
    /* Obstacles around it, as a box's walls, or what it is thrown at. */
    if (s->under < 0)
        s->share = 1;
}

/* Stiffness with which a body springs back where it is dented, N/m; 0: a flat sheet, a rope. */
double tac_shape_stiffness(const struct tac_validated *j, tac_lid b)
{
    const struct tac_body *body = &j->scene->settings->body[b];
    const struct tac_shape *s = &j->body[b];
    if (body->material < 0 || !(s->area > 0))
        return 0;
    const struct tac_material *m = &j->scene->settings->material[body->material];
    const double edge = sqrt(2 * s->area / fmax(1, body->triangle_end - body->triangle_begin));
    const double membrane = m->stretch_model == TAC_STRETCH_SPRING ? m->stretch_stiffness / edge : m->stretch_stiffness;
    return m->bend ? SHELL * sqrt(membrane * SHEET * m->bend_stiffness) * s->curvature : 0;
}

/* The radius of the body, or how large it is where it is flat. */
double tac_shape_size(const struct tac_shape *s)
{
    const double flat = fmax(s->high - s->low, fmax(s->far_of[0] - s->side[0], s->far_of[1] - s->side[1]));
    return 1 / fmax(s->curvature, 1 / flat);
}

void tac_shape_measure(struct tac_validated *j)
{
    set_axes(j);
    j->lowest = INFINITY;
    for (tac_lid b = 0; b < j->scene->settings->body_count; b++) {
        measure(j, b);
        j->lowest = fmin(j->lowest, j->body[b].low);
    }
    add_curvature(j);
    for (tac_lid b = 0; b < j->scene->settings->body_count; b++)
        find_under(j, b);
}
