/* localise.h: what came to a rank, before it becomes a local scene. */
#ifndef TACTUS_PARTITION_LOCALISE_H
#define TACTUS_PARTITION_LOCALISE_H

#include "partition/exchange.h"
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

/* All ascending by id (hinges: by edge). Freed table by table as the local scene takes shape. */
struct arrived {
    size_t vertices, ghosts, triangles, segments, hinges;
    struct vertex_record *vertex; /* owned: ours */
    struct vertex_record *ghost;  /* owned */
    struct triangle_record *triangle;
    struct segment_record *segment;
    struct hinge_record *hinge;
    tac_gid *corner;          /* owned: the distinct vertices of the elements, ascending */
    struct tac_finder finder; /* owned: in them */
    tac_lid *number;          /* owned: their local ids */
};

/* Local. */
static inline tac_lid tac_local_vertex(const struct arrived *a, tac_gid id)
{
    return a->number[tac_finder_find(&a->finder, id)];
}

/* Local. Elements and topology of a local scene whose part has vertex ids already. */
enum tac_err tac_localise_elements(struct tac_ctx *ctx, struct arrived *a, struct tac_scene *scene);

#endif
