/* flat.c: finds the flat parts of surfaces that keep their shape (docs/explanation/method.md, Flat parts). */
#include "contact/flat.h"
#include "base/exchange.h"
#include "partition/ghosts.h"
#include "partition/role.h"
#include <stdlib.h>
#include <string.h>

/* What a flat part may deviate from a plane, in thicknesses. */
static const double DEVIATION = 0x1p-10;
/* A thinner triangle has no plane: the square of the least height over its length. */
static const double SLIVER = 1e-8;

enum { NOTHING = -1, FORCES = -2 }; /* what moves a vertex, where it is no motion of the scene */

struct finder {
    struct tac_ctx *ctx;
    const struct tac_scene *scene;
    tac_lid *mover; /* owned, (V): a motion, or one of the above */
    double bends;   /* the sine of the angle between two triangles, times the number of the body's triangles, under
                       which they are in one plane */
};

static enum tac_err find_movers(struct finder *f)
{
    const struct tac_local_mesh *m = f->scene->mesh;
    const enum tac_err err = tac_alloc(f->ctx, (size_t)m->vertex_count, sizeof *f->mover, &f->mover);
    for (tac_lid i = 0; i < m->vertex_count && !err; i++)
        f->mover[i] = m->ever_free[i] ? FORCES : m->part && m->part->scripted[i] ? m->part->motion[i] : NOTHING;
    for (tac_lid k = 0; !err && m->part == NULL && k < m->moved_count; k++)
        for (tac_lid i = 0; i < m->moved[k].vertex_count; i++)
            f->mover[m->moved[k].vertex[i]] = m->ever_free[m->moved[k].vertex[i]] ? FORCES : k;
    return err;
}

/* Does a triangle keep its shape? It never moves, or goes along a path or turns, or it is of a rigid body. */
static bool keeps_shape(const struct finder *f, const tac_lid *v)
{
    const struct tac_scene *s = f->scene;
    const tac_lid mover = f->mover[v[0]];
    if (mover == FORCES)
        return s->settings->rigid_count > 0 && tac_scene_rigid_of(s, v[0]) >= 0;
    return f->mover[v[1]] == mover && f->mover[v[2]] == mover &&
           (mover == NOTHING || s->settings->motion[mover].cache == NULL);
}

/* The normal of a triangle, as long as twice its area. Returns false if it is too thin to have one. */
static bool find_normal(const struct tac_scene *s, const tac_lid *v, double n[3])
{
    double ab[3], ac[3];
    tac_sub(ab, &s->mesh->x[3 * (size_t)v[1]], &s->mesh->x[3 * (size_t)v[0]]);
    tac_sub(ac, &s->mesh->x[3 * (size_t)v[2]], &s->mesh->x[3 * (size_t)v[0]]);
    tac_cross(n, ab, ac);
    const double length = tac_dot(ab, ab) + tac_dot(ac, ac);
    return tac_dot(n, n) > SLIVER * length * length;
}

/* Returns whether the third vertices of two triangles lie on either side of their common edge. */
static bool on_either_side(const struct tac_scene *s, const tac_lid *edge, const tac_lid *v, const tac_lid *w)
{
    const double *x = s->mesh->x, *from = &x[3 * (size_t)edge[0]];
    double along[3], side[2][3];
    tac_sub(along, &x[3 * (size_t)edge[1]], from);
    for (int k = 0; k < 2; k++) {
        const tac_lid *t = k == 0 ? v : w;
        tac_lid third = t[0];
        for (int i = 1; i < 3; i++)
            third = t[i] != edge[0] && t[i] != edge[1] ? t[i] : third;
        double r[3];
        tac_sub(r, &x[3 * (size_t)third], from);
        const double share = tac_dot(r, along) / tac_dot(along, along);
        for (int i = 0; i < 3; i++)
            side[k][i] = r[i] - share * along[i];
    }
    return tac_dot(side[0], side[1]) < 0;
}

/* Does an edge, of which all triangles are on this rank, lie inside a flat part? The angles between neighbours are so
 * small that those of all triangles of the body together do not bend the part by DEVIATION. */
static bool is_inside(const struct finder *f, tac_lid e)
{
    const struct tac_topology *t = f->scene->mesh->topology;
    if (t->edge_valence[e] != 2 || t->edge_segment[e] >= 0)
        return false;
    const tac_lid *v = &f->scene->mesh->triangle[3 * (size_t)t->edge_triangle[2 * (size_t)e]];
    const tac_lid *w = &f->scene->mesh->triangle[3 * (size_t)t->edge_triangle[2 * (size_t)e + 1]];
    double n[3], m[3], sine[3];
    if (!keeps_shape(f, v) || !keeps_shape(f, w) || !find_normal(f->scene, v, n) || !find_normal(f->scene, w, m) ||
        !on_either_side(f->scene, &t->edge[2 * (size_t)e], v, w))
        return false;
    tac_cross(sine, n, m);
    const struct tac_body *body = &f->scene->settings->body[f->scene->mesh->vertex_body[v[0]]];
    const double bends = f->bends / (body->triangle_end - body->triangle_begin);
    return tac_dot(sine, sine) <= bends * bends * tac_dot(n, n) * tac_dot(m, m);
}

/* Finds the places of this rank's vertices; inside: (E), filled for edges with a vertex of this rank. */
static enum tac_err find_places(const struct finder *f, uint8_t *inside, int *any)
{
    enum tac_err err;
    const struct tac_local_mesh *m = f->scene->mesh;
    const struct tac_topology *t = m->topology;
    const tac_lid owned = tac_scene_owned(f->scene);
    uint8_t *outside = NULL; /* (V): 1: some edge is not inside */
    TAC_TRY(tac_alloc(f->ctx, (size_t)m->vertex_count, 1, &outside));
    for (tac_lid e = 0; e < t->edge_count; e++) {
        const tac_lid *v = &t->edge[2 * (size_t)e];
        if (v[0] >= owned && v[1] >= owned)
            continue;
        inside[e] = is_inside(f, e);
        *any |= inside[e];
        for (int k = 0; k < 2; k++) {
            outside[v[k]] |= !inside[e];
            m->flat[v[k]].place = inside[e] ? TAC_FLAT_INSIDE : m->flat[v[k]].place;
        }
    }
    for (tac_lid i = 0; i < owned; i++)
        if (outside[i] && m->flat[i].place == TAC_FLAT_INSIDE)
            m->flat[i].place = TAC_FLAT_RIM;
done:
    free(outside);
    return err;
}

/* Lists the edges between two vertices of a rim. Local edges ascend as those of the scene, so the list is the same on
 * any number of ranks. */
static void find_chords(const struct finder *f, const uint8_t *inside)
{
    const struct tac_local_mesh *m = f->scene->mesh;
    const struct tac_topology *t = m->topology;
    for (tac_lid e = 0; e < t->edge_count; e++) {
        const tac_lid *v = &t->edge[2 * (size_t)e];
        if (!inside[e] || m->flat[v[0]].place != TAC_FLAT_RIM || m->flat[v[1]].place != TAC_FLAT_RIM)
            continue;
        for (int k = 0; k < 2; k++) {
            struct tac_flat *flat = &m->flat[v[k]];
            if (v[k] < tac_scene_owned(f->scene) && flat->chords < TAC_FLAT_CHORDS)
                flat->chord[flat->chords++] = (tac_lid)tac_scene_id(f->scene, v[1 - k]);
        }
    }
}

static void tell_flat(const void *known, tac_gid id, void *record)
{
    const struct tac_local_mesh *m = known;
    memcpy(record, &m->flat[tac_id_find(m->part->vertex_id, m->part->owned, id)], sizeof *m->flat);
}

/* Gets what the owners know about the ghosts of elements. */
static enum tac_err ask_owners(const struct finder *f)
{
    const struct tac_local_mesh *m = f->scene->mesh;
    if (m->part == NULL)
        return TAC_OK;
    const size_t owned = (size_t)m->part->owned;
    return tac_ask(f->ctx, TAC_OK, (size_t)m->vertex_count - owned, m->part->owner + owned, m->part->vertex_id + owned,
                   tell_flat, m, sizeof *m->flat, m->flat + owned);
}

static enum tac_err over_ranks(const struct finder *f, void *value, MPI_Datatype type)
{
    return f->scene->mesh->part == NULL ? TAC_OK : tac_over_ranks(f->ctx, value, 1, type, MPI_MAX);
}

enum tac_err tac_flat_create(struct tac_ctx *ctx, struct tac_scene *scene)
{
    enum tac_err err;
    struct finder f = {.ctx = ctx, .scene = scene};
    struct tac_local_mesh *m = scene->mesh;
    uint8_t *inside = NULL;
    double largest = 0;
    int any = 0;
    if (m->flat != NULL || scene->settings->two_d || !(scene->settings->contact.thickness > 0))
        return TAC_OK;
    err = find_movers(&f);
    err = err ? err : tac_alloc(ctx, (size_t)m->topology->edge_count, 1, &inside);
    err = err ? err : tac_alloc(ctx, (size_t)m->vertex_count, sizeof *m->flat, &m->flat);
    TAC_TRY(m->part ? tac_agree(ctx, err) : err);
    for (size_t i = 0; i < (size_t)m->vertex_count; i++) {
        m->flat[i].start = INFINITY;
        for (int k = 0; k < 3; k++)
            largest = fmax(largest, fabs(m->x[3 * i + (size_t)k]));
    }
    TAC_TRY(over_ranks(&f, &largest, MPI_DOUBLE));
    f.bends = largest > 0 ? DEVIATION * scene->settings->contact.thickness / (4 * largest) : 0;
    err = find_places(&f, inside, &any);
    TAC_TRY(m->part ? tac_agree(ctx, err) : err);
    TAC_TRY(over_ranks(&f, &any, MPI_INT));
    if (!any) {
        free(m->flat);
        m->flat = NULL;
        goto done;
    }
    TAC_TRY(ask_owners(&f));
    find_chords(&f, inside);
    TAC_TRY(ask_owners(&f));
done:
    free(f.mover);
    free(inside);
    return err;
}

/* ---- what follows from it ---- */

static bool has_chord(const struct tac_flat *from, tac_gid id)
{
    for (tac_lid k = 0; k < from->chords; k++)
        if (from->chord[k] == id)
            return true;
    return false;
}

bool tac_flat_edge(const struct tac_scene *s, tac_lid a, tac_lid b)
{
    const struct tac_flat *p = &s->mesh->flat[a], *q = &s->mesh->flat[b];
    if (p->place == TAC_FLAT_NOWHERE || q->place == TAC_FLAT_NOWHERE)
        return false;
    return p->place == TAC_FLAT_INSIDE || q->place == TAC_FLAT_INSIDE || has_chord(p, tac_scene_id(s, b)) ||
           has_chord(q, tac_scene_id(s, a));
}

unsigned tac_flat_edges(const struct tac_scene *s, enum tac_pair_type type, const tac_lid *v)
{
    unsigned edges = 0;
    if (s->mesh->flat == NULL || type != TAC_PAIR_VERTEX_TRIANGLE || s->mesh->flat[v[1]].place == TAC_FLAT_NOWHERE)
        return 0;
    for (int k = 0; k < 3; k++)
        edges |= (unsigned)tac_flat_edge(s, v[1 + (k + 1) % 3], v[1 + (k + 2) % 3]) << k;
    return edges;
}

/* Could what is never free, and has a pair with no vertex that is, pass through the flat part? Then the rest of its
 * mesh needs the edges inside. */
static bool can_pass(const double *w_ever, const tac_lid *part, const tac_lid *other, int n)
{
    bool held = false;
    for (int i = 0; i < n; i++)
        held = held || w_ever[other[i]] == 0;
    return held && w_ever[part[0]] == 0;
}

bool tac_flat_decides(const struct tac_scene *s, const double *w_ever, enum tac_pair_type type, const tac_lid *v)
{
    if (type == TAC_PAIR_EDGE_EDGE)
        return (tac_flat_edge(s, v[0], v[1]) && !can_pass(w_ever, v, v + 2, 2)) ||
               (tac_flat_edge(s, v[2], v[3]) && !can_pass(w_ever, v + 2, v, 2));
    return (type == TAC_PAIR_VERTEX_TRIANGLE || type == TAC_PAIR_VERTEX_SEGMENT) &&
           s->mesh->flat[v[0]].place == TAC_FLAT_INSIDE && !can_pass(w_ever, v, v + 1, tac_pair_vertices(type) - 1);
}
