/* check.h: checks meshes: finite coordinates, indices in range, no degenerate or repeated element. The checks of rows
 * take any rows of a mesh, numbered from `first` on, so that a rank can check the block that it read. All functions are
 * local; TAC_ERR_INPUT names the element and, for a file, its place.
 */
#ifndef TACTUS_MESH_CHECK_H
#define TACTUS_MESH_CHECK_H

#include "mesh/builder.h"

enum tac_err tac_check_vertices(struct tac_builder *b);
enum tac_err tac_check_elements(struct tac_builder *b);

/* Where rows come from, for sentences. */
struct tac_origin {
    struct tac_ctx *ctx;  /* borrowed */
    const char *where;    /* borrowed: the file, or the JSON path */
    const char *unit;     /* borrowed: what `place` counts, or NULL */
    const int64_t *place; /* borrowed: of each row, or NULL */
};

/* x: (count, 3). */
enum tac_err tac_check_coordinates(const struct tac_origin *origin, size_t first, size_t count, const double *x);
/* Indices in range and different.  element: (count, width). */
enum tac_err tac_check_indices(const struct tac_origin *origin, size_t first, size_t count, int width,
                               const tac_lid *element, size_t vertex_count);
/* Triangles (width 3) have an area, segments (width 2) a length.  at: (count, width) rows of x where the vertices of
 * `element` are. */
enum tac_err tac_check_sizes(const struct tac_origin *origin, size_t first, size_t count, int width,
                             const tac_lid *element, const tac_lid *at, const double *x);
/* Tetrahedra (count, 4) have a volume that is positive; where all of them are negative, their vertices 2 and 3 are
 * exchanged. */
enum tac_err tac_check_volumes(const struct tac_origin *origin, size_t count, tac_lid *element, const double *x);
/* Checks that no two elements have the same vertices, in any order. */
enum tac_err tac_check_repeats(const struct tac_origin *origin, size_t vertex_count, size_t count, int width,
                               const tac_lid *element);
/* The sentence for element `two`, which has the vertices of element `one`; `row` of origin->place. */
enum tac_err tac_fail_repeat(const struct tac_origin *origin, int width, size_t row, size_t two, size_t one);

#endif
