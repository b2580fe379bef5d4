/* part.h: declares which vertices and elements a rank holds, and how they are distributed.
 *
 * A rank owns some vertices.  Its *local scene* is a struct tac_scene whose vertices are the owned ones, by ascending
 * global id, and after them the ghosts that its elements reach, by ascending global id; whose triangles, segments and
 * tetrahedra are those that touch an owned vertex, by ascending global id; whose edges are the edges of those, and
 * whose hinges are those with an owned vertex among their four.  So the order of local elements is that of the force
 * keys (docs/explanation/method.md, Time and order), and the memory of a rank depends on its part and its surroundings,
 * not on the scene.
 *
 * *Pieces* are the scene between one partition and the next: every vertex, triangle, segment, hinge, tetrahedron
 * is on exactly one rank, no matter which.  Reading makes pieces, tac_local_create() makes a local scene of them,
 * tac_pieces_of() makes pieces of a local scene again (migration).
 */
#ifndef TACTUS_PARTITION_PART_H
#define TACTUS_PARTITION_PART_H

#include "base/exchange.h"
#include <string.h>
#include <tactus/scene.h>

/* How a local scene belongs to the whole one.  tac_local_mesh.part points to it; NULL there: the rank holds the whole
 * scene. */
struct tac_part {
    tac_gid vertex_total, triangle_total, segment_total, edge_total, tetrahedron_total;
    tac_lid owned;           /* vertices 0 .. owned-1 of the local scene are ours */
    tac_gid *vertex_id;      /* owned, (V) ascending within the owned ones, and within the ghosts */
    int32_t *owner;          /* owned, (V) rank */
    tac_lid *valence;        /* owned, (V) edges of the whole scene at the vertex; right for ghosts too */
    uint8_t *scripted;       /* owned, (V) 1: in some motion of the scene; right for ghosts too */
    tac_lid *motion;         /* owned, (V) which motion, or -1; right for ghosts too */
    tac_gid *triangle_id;    /* owned, (T) ascending */
    tac_gid *segment_id;     /* owned, (S) ascending */
    tac_lid *segment_edge;   /* owned, (S) local edge ids */
    tac_gid *tetrahedron_id; /* owned, (K) ascending */
    tac_gid *edge_id; /* owned, (E) ascending. Of the local topology's edges, edge_valence is that of the whole scene;
                         edge_triangle and edge_segment are -1 also where the element is not local */
};

/* What a vertex is in the flat parts of a surface (contact/flat.h). */
enum tac_flat_place {
    TAC_FLAT_NOWHERE, /* in none */
    TAC_FLAT_RIM,     /* on the rim of one: some of its edges lie inside a flat part */
    TAC_FLAT_INSIDE   /* all of its edges do */
};
enum { TAC_FLAT_CHORDS = 3 };
struct tac_flat {
    uint8_t place;                  /* enum tac_flat_place */
    tac_lid chords;                 /* how many of the next there are */
    tac_lid chord[TAC_FLAT_CHORDS]; /* of a vertex on a rim: ids of others on it, to which an edge inside leads */
    double start;                   /* least distance at the start to a triangle of a flat part, m; infinity: far */
};

struct tac_pieces {
    tac_gid vertex_total, triangle_total, segment_total, edge_total, tetrahedron_total; /* of the scene; on all ranks */

    tac_lid vertex_count;
    tac_gid *vertex_id;            /* owned, (n) ascending */
    double *x, *v;                 /* owned, (n, 3): start positions, m, and velocities, m/s */
    double *mass;                  /* owned, (n), kg */
    uint8_t *ever_free, *scripted; /* owned, (n) */
    tac_lid *body;                 /* owned, (n) */
    tac_lid *motion;               /* owned, (n): the motion that moves it, or -1; NULL: by the common scene's lists */
    tac_lid *load;                 /* owned, (n): its set of loads, or -1 */
    tac_lid *valence;              /* owned, (n): edges at the vertex */
    int32_t *owner;                /* owned, (n): the rank that shall own it */

    tac_lid triangle_count;
    tac_gid *triangle_id;      /* owned, (n) ascending */
    tac_gid *triangle;         /* owned, (n, 3) vertex ids */
    tac_gid *triangle_edge;    /* owned, (n, 3) edge ids; edge k is opposite vertex k */
    tac_lid *triangle_valence; /* owned, (n, 3): triangles at each of these edges */
    uint8_t *triangle_place;   /* owned, (n, 3): how many of those come before this one; 2: two or more */

    tac_lid segment_count;
    tac_gid *segment_id;   /* owned, (n) ascending */
    tac_gid *segment;      /* owned, (n, 2) vertex ids */
    tac_gid *segment_edge; /* owned, (n) edge ids */

    tac_lid hinge_count;
    tac_gid *hinge;      /* owned, (n, 4) vertex ids, in the order of tac_topology.hinge */
    tac_gid *hinge_edge; /* owned, (n) edge ids, ascending */

    tac_lid tetrahedron_count;
    tac_gid *tetrahedron_id; /* owned, (n) ascending */
    tac_gid *tetrahedron;    /* owned, (n, 4) vertex ids */
};

/* Collective. Pieces of a scene that every rank holds whole: rank r takes the r-th block of everything. owner is 0.
 * valence, triangle_edge, segment_edge, hinges and edge_total are left to tac_pieces_topology(). */
enum tac_err tac_pieces_from_scene(struct tac_ctx *ctx, const struct tac_scene *whole, struct tac_pieces **out);

/* Collective. Reads a scene as tac_scene_read() does, refuses the same scenes, and makes pieces with their topology.
 * No rank ever holds a large HDF5 mesh ("kind": "file") or a large grid whole, and it holds other meshes only one at a
 * time.  *common: the scene without its arrays and without the lists of the motions' vertices (pieces->motion has
 * them).  Scenes without such a mesh, and a single rank, read all of it first. */
enum tac_err tac_scene_read_pieces(struct tac_ctx *ctx, const char *path, const char *const *set, int set_count,
                                   struct tac_scene **common, struct tac_pieces **pieces);

/* Collective. Does the same with a file or a text. */
enum tac_err tac_scene_source_pieces(struct tac_ctx *ctx, const struct tac_scene_source *source,
                                     struct tac_scene **common, struct tac_pieces **pieces);

/* Collective. Does what tac_scene_resume() does, in pieces: no rank gets the whole geometry of the checkpoint; each has
 * its rows. *common is NULL if the scene is not that of the checkpoint; tac_scene_resume() then finds the
 * difference. */
enum tac_err tac_scene_resume_pieces(struct tac_ctx *ctx, const struct tac_scene_source *source, const json_t *stored,
                                     const char *stored_sha256, const struct tac_geometry *geometry,
                                     struct tac_scene **common, struct tac_pieces **pieces);
/* Local. Returns whether a scene of this geometry is large enough for that.  A small one takes a few megabytes on each
 * rank. */
bool tac_scene_is_large(const struct tac_ctx *ctx, const struct tac_geometry *geometry);

/* Collective. Makes edges (ids as in tac_topology: the place of (min, max) vertex in ascending order), valences and
 * hinges in parallel from the pieces' triangles and segments.  Every edge is made on the rank that has the block of its
 * smaller vertex. */
enum tac_err tac_pieces_topology(struct tac_ctx *ctx, struct tac_pieces *pieces);

/* Collective. Makes the local scene of every rank, by pieces->owner.  Bodies (with their ranges of global ids),
 * materials, settings and json are shared with `common`; mesh->moved[].vertex are local ids of *owned* vertices.  Ranks
 * may own nothing. The pieces are freed meanwhile, to save memory: afterwards only their totals are left, and the
 * caller must still destroy them. */
enum tac_err tac_local_create(struct tac_ctx *ctx, const struct tac_scene *common, struct tac_pieces *pieces,
                              struct tac_scene **out);

/* Collective. Pieces of local scenes: each rank gives the vertices that it owns (owner = itself, to be changed by the
 * caller), and the elements whose lowest vertex it owns.  x, v, mass as in the local scene. */
enum tac_err tac_pieces_of(struct tac_ctx *ctx, const struct tac_scene *local, struct tac_pieces **out);

void tac_pieces_destroy(struct tac_pieces **pieces);
/* Local. Destroys a local scene with its part, or a whole scene. */
void tac_local_destroy(struct tac_scene **local);

/* Local. Frees the arrays of a whole scene that a local one has replaced (x, v, mass, ever_free, vertex_body, triangle,
 * segment, tetrahedron, topology: NULL afterwards); counts, bodies, materials, motions and json stay. */
void tac_scene_free_arrays(struct tac_scene *whole);

/* For a scene, local or whole, these return: the global id of vertex i; how many vertices this rank owns; whether i
 * lies inside a solid; which rank owns i. */
static inline tac_gid tac_scene_id(const struct tac_scene *scene, tac_lid i)
{
    return scene->mesh->part ? scene->mesh->part->vertex_id[i] : i;
}
/* Returns where vertex i is in the rest shape, which is where it starts but for bodies with the key `start`. */
static inline const double *tac_scene_rest(const struct tac_scene *scene, tac_lid i)
{
    const struct tac_body *body = &scene->settings->body[scene->mesh->vertex_body[i]];
    const tac_gid id = body->rest != NULL ? tac_scene_id(scene, i) : 0;
    return body->rest != NULL && id < tac_body_mesh_end(body) ? &body->rest[3 * (size_t)(id - body->vertex_begin)]
                                                              : &scene->mesh->x[3 * (size_t)i];
}
/* Does the same for the n vertices of an element. */
static inline void tac_scene_gather_rest(const struct tac_scene *scene, const tac_lid *v, int n, double (*out)[3])
{
    for (int i = 0; i < n; i++)
        memcpy(out[i], tac_scene_rest(scene, v[i]), sizeof out[i]);
}
/* Returns the place of a vertex among the rigid bodies and pieces of the scene; -1: its body is not rigid. */
static inline tac_lid tac_scene_rigid_of(const struct tac_scene *scene, tac_lid i)
{
    return tac_rigid_of(scene->settings, scene->mesh->vertex_body[i], tac_scene_id(scene, i));
}
/* Returns whether two vertices of a body are of one piece. A body that is not in pieces is one. */
static inline bool tac_scene_one_piece(const struct tac_scene *scene, tac_lid body, tac_lid i, tac_lid j)
{
    const struct tac_settings *s = scene->settings;
    return s->body[body].piece_count <= 1 ||
           tac_rigid_of(s, body, tac_scene_id(scene, i)) == tac_rigid_of(s, body, tac_scene_id(scene, j));
}
static inline tac_lid tac_scene_owned(const struct tac_scene *scene)
{
    return scene->mesh->part ? scene->mesh->part->owned : scene->mesh->vertex_count;
}
/* Returns whether this rank owns the vertex with the lowest id of a stencil (n); then it accounts for the stencil. */
static inline bool tac_stencil_mine(const struct tac_scene *scene, const tac_lid *v, int n)
{
    if (scene->mesh->part == NULL)
        return true;
    tac_lid lowest = v[0];
    for (int i = 1; i < n; i++)
        if (scene->mesh->part->vertex_id[v[i]] < scene->mesh->part->vertex_id[lowest])
            lowest = v[i];
    return lowest < scene->mesh->part->owned;
}
/* Returns whether vertex i is inside a solid, where nothing can touch it. valence: the number of its edges, which only
 * surfaces have. */
static inline bool tac_scene_inside(const struct tac_scene *scene, tac_lid i, tac_lid valence)
{
    return valence == 0 && scene->settings->body[scene->mesh->vertex_body[i]].has_elements;
}
static inline int tac_scene_owner(const struct tac_ctx *ctx, const struct tac_scene *scene, tac_lid i)
{
    return scene->mesh->part ? scene->mesh->part->owner[i] : ctx->rank;
}

#endif
