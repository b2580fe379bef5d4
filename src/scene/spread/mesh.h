/* mesh.h: declares a large mesh whose rows are spread over the ranks, for mesh.c, which reads or makes the rows, and
 * rows.c, which checks them together. */
#ifndef TACTUS_SCENE_SPREAD_MESH_H
#define TACTUS_SCENE_SPREAD_MESH_H

#include "mesh/check.h"
#include "mesh/kinds.h"
#include "mesh/read.h"
#include "scene/scene_read.h"

/* A mesh that is read or made by blocks. */
struct tac_spread_large {
    struct tac_ctx *ctx;   /* borrowed */
    tac_lid body;          /* whose mesh it is */
    const char *path;      /* borrowed: of the file; for a mesh that is made, the beginning of sentences */
    struct tac_hdf5 *file; /* owned; NULL: made */
    struct tac_mesh_blocks blocks;
    struct tac_extent *rows; /* borrowed */
    struct tac_mesh *mesh;   /* owned: this rank's rows; elements name vertices of the whole mesh */
};

/* Local. Vertices of an element. */
static inline int tac_spread_width(enum tac_table table)
{
    return table == TAC_SEGMENTS ? 2 : 3;
}

/* Local. Returns the number of rows of this rank. */
static inline tac_lid tac_spread_rows(const struct tac_spread_large *l, enum tac_table table)
{
    return table == TAC_TRIANGLES ? l->mesh->triangle_count : l->mesh->segment_count;
}

/* Local. Returns the elements of these rows. */
static inline tac_lid *tac_spread_elements(const struct tac_spread_large *l, enum tac_table table)
{
    return table == TAC_TRIANGLES ? l->mesh->triangle : l->mesh->segment;
}

/* Local. Returns the origin of the rows, with which sentences begin. */
static inline struct tac_origin tac_spread_origin(const struct tac_spread_large *l)
{
    return (struct tac_origin){l->ctx, l->path, NULL, NULL};
}

/* Collective. Checks that each element names different vertices of the mesh.  TAC_ERR_INPUT, naming the first that does
 * not.
 */
enum tac_err tac_spread_check_indices(struct tac_spread_large *l, enum tac_table table);
/* Collective. Checks that elements have a length or an area.  TAC_ERR_INPUT. */
enum tac_err tac_spread_check_sizes(struct tac_spread_large *l, enum tac_table table);
/* Collective. Checks that no two elements have the same vertices.  TAC_ERR_INPUT, naming both. */
enum tac_err tac_spread_check_repeats(struct tac_spread_large *l, enum tac_table table);
/* Collective. Drops vertices that no element uses, with a warning; the others get new numbers and rows. */
enum tac_err tac_spread_drop_unused(struct tac_spread_large *l);

#endif
