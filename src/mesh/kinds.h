/* kinds.h: declares the table of mesh kinds: the name, parameters and generator of each. The command line reads it
 * too. */
#ifndef TACTUS_MESH_KINDS_H
#define TACTUS_MESH_KINDS_H

#include "mesh/builder.h"
#include "mesh/params.h"

/* A mesh of which any rows can be made by themselves: for meshes that no rank holds whole. */
struct tac_mesh_blocks {
    int64_t vertex_count, triangle_count, tetrahedron_count;
    double size[3]; /* data of the kind, from which it makes rows */
    int64_t cells[3];
    /* Local. Make row i: x (3); three vertex numbers (NULL if there are no triangles); four (NULL if there are no
     * tetrahedra). The triangles of a mesh of tetrahedra are its surface. */
    void (*vertex)(const struct tac_mesh_blocks *b, int64_t i, double x[3]);
    void (*triangle)(const struct tac_mesh_blocks *b, int64_t i, int64_t v[3]);
    void (*tetrahedron)(const struct tac_mesh_blocks *b, int64_t i, int64_t v[4]);
};

/* Local. Finds the mesh that `spec` describes, by rows. Returns false if it is made as a whole only, is larger than a
 * mesh may be, or has an error in its description (which is reported where meshes are made whole). */
bool tac_mesh_find_blocks(const struct tac_ctx *ctx, const json_t *spec, struct tac_mesh_blocks *out);

/* Generators, by file. */
bool tac_grid_blocks(const struct tac_params *p, struct tac_mesh_blocks *b);
bool tac_points_blocks(const struct tac_params *p, struct tac_mesh_blocks *b);
/* A box of tetrahedra, none of which is nearly flat. */
bool tac_box_blocks(const struct tac_params *p, struct tac_mesh_blocks *b);
enum tac_err tac_make_grid(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_box(const struct tac_params *p, struct tac_builder *b);
/* filled.c: whether the description says "fill": "tets"; TAC_ERR_INPUT: it says something else. */
enum tac_err tac_mesh_filled(const struct tac_params *p, bool *filled);
enum tac_err tac_fill_box(struct tac_builder *b, const double size[3], const int64_t cells[3]);
/* The solid within a triangulated surface around the origin: its tetrahedra with the origin, cut in eight `level`
 * times; every new vertex lies on a sphere about the origin, whose radius is linear between those of the edge's ends.
 */
enum tac_err tac_fill_sphere(struct tac_builder *b, int64_t level, double radius);
enum tac_err tac_make_torus(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_cylinder(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_cone(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_ribbon(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_spikes(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_sphere(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_ball(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_capsule(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_plane(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_tetrahedron(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_cube(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_octahedron(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_dodecahedron(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_icosahedron(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_segments(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_points(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_inline(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_file(const struct tac_params *p, struct tac_builder *b);

#endif
