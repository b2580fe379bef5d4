/* flat.h: finds the flat parts of surfaces that keep their shape, and says which pairs a flat part does not need.
 *
 * A flat part is a set of triangles in one plane, joined by their edges, of a surface that keeps its shape: it never
 * moves, a script moves it along a path or turns it, or it is a rigid body. In contact it acts as the polygon that it
 * is, and not as the triangles that it was cut into: a body that slides over it must not meet the edges inside. Two
 * rules do this (docs/explanation/method.md, Flat parts):
 *
 * - The edges inside a flat part, and the vertices of which all edges lie inside, are in no pair. They are not needed:
 *   where a mesh first touches a flat part, it does so with one of its own vertices, or at the rim.
 * - A triangle does not push a vertex that has left the prism over it across an edge inside the flat part. The triangle
 *   beyond that edge is nearer.
 *
 * For the second rule all triangles of a flat part must push a vertex alike, so in such a pair the thickness follows
 * from the vertex' least distance from flat parts at the start, not from that to the one triangle.
 */
#ifndef TACTUS_CONTACT_FLAT_H
#define TACTUS_CONTACT_FLAT_H

#include "geometry/closest_points.h"
#include "partition/part.h"

struct tac_model;

/* Collective. Finds the flat parts of a scene, whole or local: fills scene->mesh->flat, which stays NULL if there are
 * none on any rank. Starts are infinite. */
enum tac_err tac_flat_create(struct tac_ctx *ctx, struct tac_scene *scene);

/* Does the edge between two vertices lie inside a flat part? */
bool tac_flat_edge(const struct tac_scene *scene, tac_lid a, tac_lid b);

/* Which edges of the triangle in the pair v lie inside a flat part? Bit k: the one opposite its vertex k. Another type
 * of pair has none. */
unsigned tac_flat_edges(const struct tac_scene *scene, enum tac_pair_type type, const tac_lid *v);

/* Is the pair one that a flat part does not need? w_ever (V): inverse masses, 0 of what is never free. */
bool tac_flat_decides(const struct tac_scene *scene, const double *w_ever, enum tac_pair_type type, const tac_lid *v);
static inline bool tac_flat_omits(const struct tac_scene *scene, const double *w_ever, enum tac_pair_type type,
                                  const tac_lid *v)
{
    return scene->mesh->flat != NULL && type != TAC_PAIR_VERTEX_VERTEX && tac_flat_decides(scene, w_ever, type, v);
}

/* Returns the distance from which the pair's thickness follows; `start`: that of its two primitives at the start, m. */
static inline double tac_flat_start(const struct tac_scene *scene, enum tac_pair_type type, const tac_lid *v,
                                    double start)
{
    if (type != TAC_PAIR_VERTEX_TRIANGLE || scene->mesh->flat == NULL || !(scene->mesh->flat[v[0]].start < start) ||
        tac_flat_edges(scene, type, v) == 0)
        return start;
    return scene->mesh->flat[v[0]].start;
}

/* Returns those of the edges on which, or very near to which, the nearest point of the triangle is. w (4): the weights
 * of the nearest points. */
static inline unsigned tac_flat_nearest(unsigned edges, const double w[4])
{
    const double none = -1e-6; /* those of the triangle are negative */
    return edges & ((unsigned)(w[1] > none) | (unsigned)(w[2] > none) << 1 | (unsigned)(w[3] > none) << 2);
}

/* Has the vertex left the prism over the triangle across one of these edges, towards another triangle of the flat part,
 * which acts instead? x (4, 3): p, a, b, c; near: their distance. Where a vertex is exactly over an edge, or over a
 * vertex of several triangles, one of them acts: that which it would be over if it were moved a little in a direction
 * that is the same for all, and along no edge that is likely. That one acts up to a margin beyond the edge, which is
 * more than the rounding of triangles that are not too thin to have flat parts (flat.c), and the other from half of the
 * margin on. So some triangle acts everywhere, whatever is rounded. */
static inline bool tac_flat_beyond(unsigned edges, const double x[4][3], const struct tac_near *near)
{
    const double against[3] = {0.5411961001461969, 0.7653668647301796,
                               0.3483106997489925}; /* the direction, turned round */
    double ab[3], ac[3], n[3], margin = 0;
    edges = tac_flat_nearest(edges, near->w);
    if (edges == 0)
        return false;
    for (int k = 1; k < 4; k++)
        for (int c = 0; c < 3; c++)
            margin += 0x1p-34 * fabs(x[k][c] - x[0][c]);
    tac_sub(ab, x[2], x[1]);
    tac_sub(ac, x[3], x[1]);
    tac_cross(n, ab, ac);
    for (int k = 0; k < 3; k++) {
        if (!(edges >> k & 1))
            continue;
        const double *from = x[1 + (k + 1) % 3], *to = x[1 + (k + 2) % 3];
        double along[3], out[3], p[3], inner[3];
        tac_sub(along, to, from);
        tac_cross(out, along, n);
        tac_sub(p, x[0], from);
        tac_sub(inner, x[1 + k], from);
        const double outward = tac_dot(out, inner) > 0 ? -1 : 1, size = sqrt(tac_dot(out, out));
        const bool chosen = outward * tac_dot(out, against) > -1e-12 * size;
        if (outward * tac_dot(out, p) > (chosen ? margin : -.5 * margin) * size)
            return true;
    }
    return false;
}

/* Returns the distance of a vertex from the plane of a triangle, m; x (4, 3): p, a, b, c. */
static inline double tac_flat_height(const double x[4][3])
{
    double ab[3], ac[3], ap[3], n[3];
    tac_sub(ab, x[2], x[1]);
    tac_sub(ac, x[3], x[1]);
    tac_sub(ap, x[0], x[1]);
    tac_cross(n, ab, ac);
    return fabs(tac_dot(n, ap)) / sqrt(tac_dot(n, n));
}

#endif
