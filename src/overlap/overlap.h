/* overlap.h: finds surfaces that cross, touch, or lie closer than their radius allows at the start of a scene.
 *
 * Such a scene is refused before anything runs, with every place listed.  A contact pair must start with an offset
 * distance (distance less both radii) above zero; crossing and touching are decided exactly (predicates.h), so no
 * rounding lets a crossing through.  What counts as touching is also a distance that rounding cannot tell from zero: at
 * most TAC_OVERLAP_TOUCH times the largest coordinate of the two elements.
 *
 * Pairs are the scene's contact pairs: vertex-triangle and edge-edge; particles against triangles, segments and
 * particles; in 2D vertices against segments, and particles.  Edge-triangle pairs stand for the crossings, in 2D pairs
 * of segments. Not pairs: two elements that share a vertex, or have no vertex that is ever free; bodies listed in
 * contact.ignore; within a body with `self` false.  Within a body with elements a radius above the mesh's spacing is
 * shrunk for the run, so only crossing and touching count there.  No contact (thickness 0): nothing is checked.
 *
 * The search is a tree of boxes of its own; it shares nothing with contact discovery.
 *
 *     TAC_TRY(tac_overlap_check(ctx, scene, "drop.run"));   // refuses, or goes on
 */
#ifndef TACTUS_OVERLAP_OVERLAP_H
#define TACTUS_OVERLAP_OVERLAP_H

#include <tactus/base.h>
#include <tactus/scene.h>

#define TAC_OVERLAP_TOUCH 0x1p-46 /* relative to coordinates: 64 units in the last place of 1 */
#define TAC_OVERLAP_MOST 1000000  /* the search stops after so many places: `more` is set */

enum tac_overlap_kind {
    TAC_OVERLAP_EDGE_TRIANGLE,     /* 3D: the edge passes through the triangle */
    TAC_OVERLAP_EDGE_CROSSES_EDGE, /* 2D: the segments cross */
    TAC_OVERLAP_VERTEX_TRIANGLE,   /* from here on: touching, or closer than the radius allows */
    TAC_OVERLAP_EDGE_EDGE,
    TAC_OVERLAP_VERTEX_EDGE, /* of a segment */
    TAC_OVERLAP_VERTEX_VERTEX,
};

struct tac_overlap {
    enum tac_overlap_kind kind;
    tac_lid body[2];    /* of either element */
    tac_lid element[2]; /* scene ids (vertex, triangle, or edge of the scene's topology), in the order of the kind's
                           name; of two alike the smaller first */
    double place[3];    /* m: the crossing, or midway between the closest points */
    double gap;         /* m: offset distance, at most rounding above 0; for a crossing minus the shortest separating
                           displacement, less both radii */
};

struct tac_overlaps {
    size_t count;
    struct tac_overlap *overlap; /* owned, (count), by ascending gap, then kind and ids */
    bool more;                   /* the search stopped at TAC_OVERLAP_MOST: there are more */
};

/* Local. Lists every overlap at t = 0 of the scene (an empty list if there is none). Reads scene's contact, body, x,
 * ever_free, triangles, segments and topology. About n log n for surfaces that lie apart. TAC_ERR_RUN out of memory. */
enum tac_err tac_overlap_find(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_overlaps **out);
/* Local. Does the same for pairs that are no contact pairs because none of their vertices is ever free, if one of these
 * is marked in `scripted` (V).  Pairs with a particle are listed if they touch or are closer than the radii allow;
 * pairs of surfaces only if they cross.  It also works if thickness is 0. */
enum tac_err tac_overlap_find_exempt(struct tac_ctx *ctx, const struct tac_scene *scene, const uint8_t *scripted,
                                     struct tac_overlaps **out);
/* Local. NULL is allowed; leaves NULL. */
void tac_overlap_destroy(struct tac_overlaps **overlaps);

/* Local. Writes "triangle 12 of body `a` and edge 5-9 of body `b` near (x, y, z), gap -0.001 m", at most `size` bytes;
 * element numbers count within the body's mesh. */
void tac_overlap_describe(const struct tac_scene *scene, const struct tac_overlap *overlap, char *text, size_t size);

/* Local. Writes the elements that overlap as OBJ, a group for each body, and a point at each place; comments hold the
 * list. It writes to a temporary name and renames. TAC_ERR_RUN if the file cannot be written. */
enum tac_err tac_overlap_write_obj(struct tac_ctx *ctx, const struct tac_scene *scene,
                                   const struct tac_overlaps *overlaps, const char *path);

/* Collective. Finds; if there is any overlap, makes the folder `dir` if need be, writes dir/overlaps.obj (rank 0) and
 * fails with TAC_ERR_INPUT and one sentence. `dir` NULL: no file. If the file cannot be written, the same sentence says
 * so. */
enum tac_err tac_overlap_check(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir);

struct tac_pieces; /* partition/part.h */
/* Collective. Looks at the knots of bodies that an animation moves as a whole (at up to 256 of each, evenly spaced, and
 * at fewer of large meshes, at least 8), and fails with TAC_ERR_INPUT and one sentence where such a body crosses
 * itself, unless it has no contact with itself. pieces NULL: every rank has the whole scene. */
enum tac_err tac_overlap_check_knots(struct tac_ctx *ctx, const struct tac_scene *whole,
                                     const struct tac_pieces *pieces);
/* Collective. Does what tac_overlap_check() does, for a scene in pieces (with topology), of which all ranks have
 * `common`: the same sentence and file, without a rank that has the whole scene. If there are more than
 * TAC_OVERLAP_MOST places, it depends on the ranks which of them are listed.  regions: the number of parts that the
 * search is cut into, at most ctx->size; 0: one for small scenes, else as many as ranks. */
enum tac_err tac_overlap_check_pieces(struct tac_ctx *ctx, const struct tac_scene *common,
                                      const struct tac_pieces *pieces, int regions, const char *dir);

#endif
