/* kinds.h: the table of mesh kinds: what each is called, takes and makes. The command line reads it too. */
#ifndef TACTUS_MESH_KINDS_H
#define TACTUS_MESH_KINDS_H

#include "mesh/builder.h"
#include "mesh/params.h"

struct tac_mesh_kind {
    const char *name;
    const char *help; /* one line */
    const struct tac_param *param;
    size_t param_count;
    /* Local. Pushes the mesh of a checked description. */
    enum tac_err (*make)(const struct tac_params *p, struct tac_builder *b);
};

extern const struct tac_mesh_kind tac_mesh_kinds[];
extern const size_t tac_mesh_kind_count;

/* Local. The kind of that name; TAC_ERR_INPUT names the nearest one. `path`: JSON path for the sentence. */
enum tac_err tac_mesh_kind_find(struct tac_ctx *ctx, const char *path, const char *name,
                                const struct tac_mesh_kind **out);

/* Generators, by file. */
enum tac_err tac_make_grid(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_box(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_torus(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_cylinder(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_cone(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_ribbon(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_spikes(const struct tac_params *p, struct tac_builder *b);
enum tac_err tac_make_sphere(const struct tac_params *p, struct tac_builder *b);
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
