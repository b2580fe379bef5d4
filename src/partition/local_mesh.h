/* local_mesh.h: declares the records that a rank has received, before they become a local scene; for local_mesh*.c
 * only. */
#ifndef TACTUS_PARTITION_LOCAL_MESH_H
#define TACTUS_PARTITION_LOCAL_MESH_H

#include "base/exchange.h"
#include "partition/pieces.h"

struct vertex_record {
    tac_gid id;
    double x[3], v[3], mass;
    int32_t owner;
    tac_lid body, motion, load, valence;
    int32_t ever_free, scripted;
};

struct triangle_record {
    tac_gid id, vertex[3], edge[3];
    tac_lid valence[3];
    uint8_t place[4];
};

struct segment_record {
    tac_gid id, vertex[2], edge;
};

struct hinge_record {
    tac_gid edge, vertex[4];
};

struct tetrahedron_record {
    tac_gid id, vertex[4];
};

/* All ascending by id (hinges: by edge). Freed table by table as the local scene takes shape. */
struct arrived {
    size_t vertices, ghosts, triangles, segments, hinges, tetrahedra;
    struct vertex_record *vertex; /* owned: ours */
    struct vertex_record *ghost;  /* owned */
    struct triangle_record *triangle;
    struct segment_record *segment;
    struct hinge_record *hinge;
    struct tetrahedron_record *tetrahedron;
    tac_gid *corner;          /* owned: the distinct vertices of the elements, ascending */
    struct tac_finder finder; /* owned: in them */
    tac_lid *number;          /* owned: their local ids */
};

/* Local. */
static inline tac_lid tac_local_vertex(const struct arrived *a, tac_gid id)
{
    return a->number[tac_finder_find(&a->finder, id)];
}

/* ---- local_mesh_distribute.c ---- */

/* The owners of a block of vertices, kept by the rank whose block it is. */
struct tac_directory {
    tac_gid total, first;
    int32_t *owner; /* owned: of the block's vertices; -1: no rank gave that vertex */
};

/* Collective. Makes the directory from p->owner, the owner of every vertex of the pieces. */
enum tac_err tac_directory_make(struct tac_ctx *ctx, const struct tac_pieces *p, struct tac_directory *d);
/* Collective. Gets the owners of n vertices from the directory. err: the caller's error code so far. */
enum tac_err tac_directory_owners(struct tac_ctx *ctx, enum tac_err err, const struct tac_directory *d, size_t n,
                                  const tac_gid *id, int32_t *owner);
/* Collective. Sends every vertex to its owner and every element to the owners of its vertices.  They arrive in vertex,
 * triangle, segment, hinge and tetrahedron of `a`, in no fixed order. The pieces are freed meanwhile. */
enum tac_err tac_local_distribute(struct tac_ctx *ctx, const struct tac_directory *dir, const struct tac_scene *common,
                                  struct tac_pieces *p, struct arrived *a);

/* ---- local_mesh_topology.c ---- */

/* Local. Elements and topology of a local scene whose part has vertex ids already. */
enum tac_err tac_local_elements(struct tac_ctx *ctx, struct arrived *a, struct tac_scene *scene);

#endif
