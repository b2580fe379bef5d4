/* weights.c: computes the share of the barrier's stiffness that a pair has: by the area that it represents, where the
 * barrier has weights (docs/reference/implicit.md, The barrier). */
#include "implicit/parts.h"
#include <math.h>

/* Two surfaces with equal meshes press on each other by the vertices of each on the triangles of the other, and by
 * their edges. Each of the three carries a third. An edge represents sqrt 3/6 of the square of its length. Edges of
 * lengths a and b cross 24/(pi a b) times in a unit of area, averaged over directions. So a crossing has about this
 * share of the mean of their areas: */
#define TAC_EDGE_SHARE .45

enum tac_err tac_implicit_weights_create(struct tac_implicit *sim)
{
    enum tac_err err = TAC_OK;
    const struct tac_local_mesh *m = sim->scene->mesh;
    if (sim->scene->settings->implicit.weights != TAC_WEIGHTS_AREA)
        return TAC_OK;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->count, sizeof *sim->contact.area, &sim->contact.area));
    for (tac_lid t = 0; t < m->triangle_count;
         t++) { /* at ghosts this is only a part; they get the whole from their owners */
        const tac_lid *v = &m->triangle[3 * (size_t)t];
        double e1[3], e2[3], n[3];
        tac_sub(e1, &m->x[3 * (size_t)v[1]], &m->x[3 * (size_t)v[0]]);
        tac_sub(e2, &m->x[3 * (size_t)v[2]], &m->x[3 * (size_t)v[0]]);
        tac_cross(n, e1, e2);
        for (int k = 0; k < 3; k++)
            sim->contact.area[v[k]] += sqrt(tac_dot(n, n)) / 6;
    }
done:
    return err;
}

/* A width for vertices and edges that have none. */
static double width(const struct tac_implicit *sim, const struct tac_implicit_pair *p, tac_lid v)
{
    return 2 * sim->scene->settings->body[sim->scene->mesh->vertex_body[v]].radius + p->form.thickness;
}

static double length(const struct tac_implicit *sim, tac_lid a, tac_lid b)
{
    double d[3];
    tac_sub(d, &sim->scene->mesh->x[3 * (size_t)a], &sim->scene->mesh->x[3 * (size_t)b]);
    return sqrt(tac_dot(d, d));
}

/* The area of an edge: with triangles that of an equilateral mesh, else its length times its width. */
static double edge_area(const struct tac_implicit *sim, const struct tac_implicit_pair *p, tac_lid a, tac_lid b)
{
    const double l = length(sim, a, b);
    return sim->contact.area[a] > 0 ? .28867513459481287 * l * l : l * width(sim, p, a);
}

/* What a pair has of the kappa that the scene gives: the factor of it. */
static double share_of_given(const struct tac_implicit *sim, const struct tac_implicit_pair *p)
{
    const struct tac_barrier_pair *f = &p->form;
    const double s_hat = f->thickness * (2 * f->radius + f->thickness);
    double area, wide;
    if (sim->contact.area == NULL)
        return 1;
    switch (f->type) {
    case TAC_PAIR_EDGE_EDGE:
        area = TAC_EDGE_SHARE * sqrt(edge_area(sim, p, p->v[0], p->v[1]) * edge_area(sim, p, p->v[2], p->v[3]));
        break;
    case TAC_PAIR_VERTEX_SEGMENT:
        area = length(sim, p->v[1], p->v[2]) * width(sim, p, p->v[1]);
        break;
    default:
        wide = width(sim, p, p->v[0]);
        area = sim->contact.area[p->v[0]] > 0 ? sim->contact.area[p->v[0]] : wide * wide;
    }
    return area / 3 * f->thickness / (s_hat * s_hat) * sim->weight;
}

void tac_implicit_weigh(struct tac_implicit *sim, struct tac_implicit_pair *p)
{
    p->share = share_of_given(sim, p);
    if (tac_implicit_adapts(sim))
        p->share = fmax(sim->scene->settings->implicit.stiffness * p->share, tac_implicit_least_kappa(sim, p));
}

void tac_implicit_weigh_all(struct tac_implicit *sim)
{
    for (size_t e = 0; e < sim->contact.pair_count; e++)
        tac_implicit_weigh(sim, &sim->contact.pair[e]);
}
