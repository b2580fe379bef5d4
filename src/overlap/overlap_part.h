/* overlap_part.h: elements that are sent between ranks, and the small scenes that are made of them.  Private to the
 * check of a scene in pieces. */
#ifndef TACTUS_OVERLAP_OVERLAP_PART_H
#define TACTUS_OVERLAP_OVERLAP_PART_H

#include "overlap/overlap.h"
#include "partition/part.h"

/* A triangle, segment or vertex.  Keys ascend: ids of triangles, then of segments, then of vertices. */
struct tac_overlap_record {
    tac_gid key, vertex[3];
    double x[3][3];
    uint8_t ever_free[8];
};

/* The parts of a scene that the search for overlaps and its report read. */
struct tac_overlap_part {
    struct tac_scene scene;       /* of the two below */
    struct tac_settings settings; /* the needed part of the common settings, borrowed; body is owned */
    struct tac_local_mesh mesh;   /* its own arrays */
    struct tac_part ids;          /* mesh.part: vertex_id, triangle_id owned */
};

/* Local. Makes the scene of these elements, `record` (n) ascending by key, each once. Vertices and triangles are sorted
 * by id, so that results that depend on their order are those of the whole scene. Ranges of bodies are of this scene,
 * or (`whole`) those of the whole one, for sentences. total: counts of the pieces. Start with {0}; free also after a
 * failure. */
enum tac_err tac_overlap_part_make(struct tac_ctx *ctx, const struct tac_scene *common, const struct tac_pieces *total,
                                   size_t n, const struct tac_overlap_record *record, bool whole,
                                   struct tac_overlap_part *out);
void tac_overlap_part_free(struct tac_overlap_part *part);

#endif
