/* push.c: pushes apart what touches, is nearer than radii allow, or crosses by little.
 *
 * Each overlap moves the vertices of its two elements apart, along the normals of one of the two bodies, until there
 * is a quarter of the contact thickness between them; those that may not move leave it to the others.  Which side the
 * other body is on is what its elements say that do not cross, and else what most of the overlaps of these two bodies
 * say; layers that lie in each other exactly are put in the order in which the scene lists them.  Then it is looked
 * again, some tens of times.
 */
#include "overlap/overlap_search.h"
#include "repair/repair_room.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

enum { ROUNDS = 60 };
#define GIVEN .25   /* of the thickness: how much room is made */
#define FARTHEST 8. /* times the thickness and twice the largest radius: what needs more is not pushed */

struct push {
    struct tac_repair *r;
    double *normal; /* (V, 3), unit or 0 */
    double *shift;  /* (V, 3), m */
    double *begin;  /* (V, 3), m: where they were */
    double *side;   /* (overlaps): of its two bodies, +1 or -1 */
};

/* One overlap: of its elements, the one whose body has the normals comes first. */
struct look {
    tac_lid vertex[2][3], body[2];
    int count[2];
    double n[3];  /* unit; the second one is to go along it, or against it */
    double along; /* how far the second one lies along it, m */
};

static void set_normals(struct push *p)
{
    const struct tac_local_mesh *m = p->r->scene->mesh;
    memset(p->normal, 0, 3 * (size_t)m->vertex_count * sizeof *p->normal);
    for (size_t t = 0; t < (size_t)m->triangle_count; t++) {
        const tac_lid *v = &m->triangle[3 * t];
        double a[3], b[3], n[3];
        tac_sub(a, &m->x[3 * (size_t)v[1]], &m->x[3 * (size_t)v[0]]);
        tac_sub(b, &m->x[3 * (size_t)v[2]], &m->x[3 * (size_t)v[0]]);
        tac_cross(n, a, b);
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                p->normal[3 * (size_t)v[k] + (size_t)c] += n[c];
    }
}

static bool make_unit(double n[3])
{
    const double l = sqrt(tac_dot(n, n));
    for (int c = 0; c < 3 && l > 0; c++)
        n[c] /= l;
    return l > 0 && isfinite(l);
}

static void middle(const double *x, const tac_lid *v, int count, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < count; k++)
        for (int c = 0; c < 3; c++)
            out[c] += x[3 * (size_t)v[k] + (size_t)c] / count;
}

/* Between bodies without triangles: from middle to middle, across an edge. */
static void aim(const struct push *p, const double *x, struct look *l, const double d[3])
{
    const int edge = l->count[0] == 2 ? 0 : 1;
    double e[3] = {0};
    memcpy(l->n, d, sizeof l->n);
    if (l->count[edge] == 2)
        tac_sub(e, &x[3 * (size_t)l->vertex[edge][1]], &x[3 * (size_t)l->vertex[edge][0]]);
    if (make_unit(e))
        for (int c = 0; c < 3; c++)
            l->n[c] -= tac_dot(d, e) * e[c];
    const bool flat = p->r->scene->settings->two_d;
    if (!make_unit(l->n))
        memcpy(l->n, (const double[]){0, flat, !flat}, sizeof l->n);
}

static void look_at(const struct push *p, const struct tac_overlap *o, struct look *l)
{
    const struct tac_scene *s = p->r->scene;
    double at[2][3], d[3];
    /* Normals of what does not yield come first, then those of the first body in the scene. */
    bool second = o->body[1] < o->body[0];
    if (p->r->loose[o->body[0]] != p->r->loose[o->body[1]])
        second = p->r->loose[o->body[0]];
    const struct tac_body *first = &s->settings->body[o->body[second]];
    if (first->triangle_end == first->triangle_begin)
        second = !second;
    for (int k = 0; k < 2; k++) {
        const int from = k == 0 ? second : !second;
        l->body[k] = o->body[from];
        l->count[k] = tac_overlap_vertices(s, o, from, l->vertex[k]);
        middle(s->mesh->x, l->vertex[k], l->count[k], at[k]);
    }
    tac_sub(d, at[1], at[0]);
    middle(p->normal, l->vertex[0], l->count[0], l->n);
    if (!make_unit(l->n))
        aim(p, s->mesh->x, l, d);
    l->along = tac_dot(d, l->n);
}

static bool crosses(const struct tac_overlap *o)
{
    return o->kind == TAC_OVERLAP_EDGE_TRIANGLE || o->kind == TAC_OVERLAP_EDGE_CROSSES_EDGE;
}

/* What the overlaps of two bodies say of their sides. */
struct pair {
    tac_lid body[2];
    double sum, size; /* m */
};

static struct pair *pair_of(struct pair *pair, size_t count, const tac_lid body[2])
{
    for (size_t k = 0; k < count; k++)
        if (pair[k].body[0] == body[0] && pair[k].body[1] == body[1])
            return &pair[k];
    return NULL;
}

/* Which side of which body the other one is on, by all overlaps of the two. */
static enum tac_err find_sides(struct push *p, const struct tac_overlaps *all)
{
    struct pair *pair = NULL;
    size_t count = 0, capacity = 0;
    enum tac_err err = TAC_OK;
    for (size_t i = 0; i < all->count; i++) {
        struct look l;
        look_at(p, &all->overlap[i], &l);
        struct pair *own = pair_of(pair, count, l.body);
        if (own == NULL) {
            TAC_TRY(tac_grow(p->r->ctx, &pair, &capacity, count + 1, sizeof *pair));
            own = &pair[count++];
            *own = (struct pair){.body = {l.body[0], l.body[1]}};
        }
        own->sum += l.along;
        own->size += fabs(l.along);
    }
    for (size_t i = 0; i < all->count; i++) {
        struct look l;
        look_at(p, &all->overlap[i], &l);
        const struct pair *own = pair_of(pair, count, l.body);
        p->side[i] = own->sum < -1e-9 * own->size ? -1 : 1;
    }
done:
    free(pair);
    return err;
}

/* Moves the vertices of an element that may move by d, unless another overlap moves them farther. */
static void shift(struct push *p, const struct look *l, int side, double far)
{
    for (int k = 0; k < l->count[side]; k++) {
        double *to = &p->shift[3 * (size_t)l->vertex[side][k]];
        if (!p->r->yields[l->vertex[side][k]] || far * far <= tac_dot(to, to))
            continue;
        for (int c = 0; c < 3; c++)
            to[c] = far * l->n[c];
    }
}

static int movable(const struct push *p, const struct look *l, int side)
{
    int count = 0;
    for (int k = 0; k < l->count[side]; k++)
        count += p->r->yields[l->vertex[side][k]];
    return count;
}

/* One round; false: something cannot move. */
static bool push_all(struct push *p, const struct tac_overlaps *all)
{
    const struct tac_scene *s = p->r->scene;
    const double room = GIVEN * s->settings->contact.thickness;
    memset(p->shift, 0, 3 * (size_t)s->mesh->vertex_count * sizeof *p->shift);
    for (size_t i = 0; i < all->count; i++) {
        struct look l;
        look_at(p, &all->overlap[i], &l);
        const bool moves[2] = {movable(p, &l, 0) > 0, movable(p, &l, 1) > 0};
        const double own = fabs(l.along) > 1e-6 * room ? copysign(1, l.along) : p->side[i];
        const double sign = crosses(&all->overlap[i]) ? p->side[i] : own, need = room - all->overlap[i].gap;
        if (!moves[0] && !moves[1])
            return false;
        const double part = moves[0] && moves[1] ? .5 : 1;
        for (int side = 0; side < 2; side++)
            shift(p, &l, side, (side == 1 ? sign : -sign) * part * need);
    }
    for (size_t i = 0; i < 3 * (size_t)s->mesh->vertex_count; i++)
        s->mesh->x[i] += p->shift[i];
    return true;
}

static bool too_far(const struct push *p)
{
    const struct tac_scene *s = p->r->scene;
    double radius = 0;
    for (tac_lid b = 0; b < s->settings->body_count; b++)
        radius = fmax(radius, s->settings->body[b].radius);
    const double most = FARTHEST * (s->settings->contact.thickness + 2 * radius);
    for (size_t v = 0; v < (size_t)s->mesh->vertex_count; v++) {
        double d[3];
        tac_sub(d, &s->mesh->x[3 * v], &p->begin[3 * v]);
        if (!(tac_dot(d, d) <= most * most))
            return true;
    }
    return false;
}

/* Has a push turned a tetrahedron inside out? */
static bool is_broken(const struct tac_repair *r)
{
    const struct tac_local_mesh *m = r->scene->mesh;
    for (size_t k = 0; k < (size_t)m->tetrahedron_count; k++) {
        const tac_lid *v = &m->tetrahedron[4 * k];
        double a[3], b[3], c[3], n[3];
        tac_sub(a, &m->x[3 * (size_t)v[1]], &m->x[3 * (size_t)v[0]]);
        tac_sub(b, &m->x[3 * (size_t)v[2]], &m->x[3 * (size_t)v[0]]);
        tac_sub(c, &m->x[3 * (size_t)v[3]], &m->x[3 * (size_t)v[0]]);
        tac_cross(n, a, b);
        if (!(tac_dot(n, c) > 0))
            return true;
    }
    return false;
}

static enum tac_err push_round(struct push *p, bool *done, bool *ends)
{
    struct tac_overlaps *all = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_repair_look(p->r, &all));
    *done = all->count == 0;
    *ends = *done || all->more;
    if (*ends)
        goto done;
    free(p->side);
    p->side = NULL;
    TAC_TRY(tac_alloc(p->r->ctx, all->count, sizeof *p->side, &p->side));
    set_normals(p);
    TAC_TRY(find_sides(p, all));
    *ends = !push_all(p, all) || too_far(p);
done:
    tac_overlap_destroy(&all);
    return err;
}

enum tac_err tac_repair_push(struct tac_repair *r, bool *done)
{
    const size_t n = 3 * (size_t)r->scene->mesh->vertex_count;
    struct push p = {.r = r};
    bool ends = false;
    enum tac_err err = TAC_OK;
    *done = false;
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *p.normal, &p.normal));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *p.shift, &p.shift));
    TAC_TRY(tac_alloc(r->ctx, n, sizeof *p.begin, &p.begin));
    memcpy(p.begin, r->scene->mesh->x, n * sizeof *p.begin);
    for (int round = 0; round < ROUNDS && !ends; round++)
        TAC_TRY(push_round(&p, done, &ends));
    *done = *done && !is_broken(r);
    if (!*done)
        memcpy(r->scene->mesh->x, p.begin, n * sizeof *p.begin);
done:
    free(p.normal);
    free(p.shift);
    free(p.begin);
    free(p.side);
    return err;
}
