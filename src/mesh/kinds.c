/* kinds.c: has the table of mesh kinds: their names, parameters, help texts and generators (docs/reference/meshes.md,
 * Kinds). */
#include "mesh/kinds.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct tac_param grid[] = {
    {.name = "size",
     .type = TAC_PARAM_NUMBERS,
     .width = 2,
     .required = true,
     .positive = true,
     .help = "[x, z], side lengths"},
    {.name = "cells",
     .type = TAC_PARAM_COUNTS,
     .width = 2,
     .required = true,
     .least = {1, 1},
     .help = "[nx, nz], squares along each side"},
};
static const struct tac_param ribbon[] = {
    {.name = "curve",
     .type = TAC_PARAM_ROWS,
     .width = 3,
     .required = true,
     .help = "[[x, y, z], ...], the middle line; closed if it ends where it starts"},
    {.name = "width", .type = TAC_PARAM_NUMBER, .required = true, .positive = true, .help = "across the curve"},
    {.name = "cells",
     .type = TAC_PARAM_COUNTS,
     .width = 2,
     .required = true,
     .least = {1, 1},
     .help = "[along, across], squares"},
    {.name = "up",
     .type = TAC_PARAM_NUMBERS,
     .width = 3,
     .help = "[x, y, z], where the surface faces; without it, carried from the start"},
};
static const struct tac_param torus[] = {
    {.name = "radii",
     .type = TAC_PARAM_NUMBERS,
     .width = 2,
     .required = true,
     .positive = true,
     .help = "[R, r], of the ring and of its tube"},
    {.name = "cells",
     .type = TAC_PARAM_COUNTS,
     .width = 2,
     .required = true,
     .least = {3, 3},
     .help = "[n, m], squares around the ring and around the tube"},
};
static const struct tac_param cylinder[] = {
    {.name = "radius", .type = TAC_PARAM_NUMBER, .required = true, .positive = true, .help = "of the circle"},
    {.name = "height", .type = TAC_PARAM_NUMBER, .required = true, .positive = true, .help = "along y"},
    {.name = "cells",
     .type = TAC_PARAM_COUNTS,
     .width = 2,
     .required = true,
     .least = {3, 1},
     .help = "[around, along], squares"},
    {.name = "closed", .type = TAC_PARAM_FLAG, .help = "with flat ends"},
};
static const struct tac_param spikes[] = {
    {.name = "size",
     .type = TAC_PARAM_NUMBERS,
     .width = 2,
     .required = true,
     .positive = true,
     .help = "[x, z], side lengths of the plate"},
    {.name = "count",
     .type = TAC_PARAM_COUNTS,
     .width = 2,
     .required = true,
     .least = {1, 1},
     .help = "[i, j], spikes along each side"},
    {.name = "height", .type = TAC_PARAM_NUMBER, .required = true, .positive = true, .help = "of a spike"},
    {.name = "base",
     .type = TAC_PARAM_NUMBER,
     .required = true,
     .positive = true,
     .help = "diameter of a spike's foot, through its corners"},
    {.name = "sides", .type = TAC_PARAM_COUNT, .least = {3}, .help = "triangles of a spike (default 6)"},
};
#define FILL                                                                                                           \
    {                                                                                                                  \
        .name = "fill", .type = TAC_PARAM_STRING, .help = "tets: a solid of tetrahedra, not only its surface"          \
    }

#define WELD                                                                                                           \
    {                                                                                                                  \
        .name = "weld", .type = TAC_PARAM_NUMBER,                                                                      \
        .help = "vertices nearer to each other than this become one (default 0: none do)"                              \
    }

static const struct tac_param sphere[] = {
    {.name = "radius", .type = TAC_PARAM_NUMBER, .required = true, .positive = true, .help = "of the sphere"},
    {.name = "level",
     .type = TAC_PARAM_COUNT,
     .help = "subdivisions of the icosahedron, 20 x 4^level triangles (default 0)"},
    FILL,
};
static const struct tac_param ball[] = {
    {.name = "radius", .type = TAC_PARAM_NUMBER, .required = true, .positive = true, .help = "of the ball"},
};
static const struct tac_param capsule[] = {
    {.name = "radius",
     .type = TAC_PARAM_NUMBER,
     .required = true,
     .positive = true,
     .help = "of the round surface about the line"},
    {.name = "length",
     .type = TAC_PARAM_NUMBER,
     .required = true,
     .positive = true,
     .help = "of the line along y; with both caps the capsule is 2 radius longer"},
};
static const struct tac_param plane[] = {
    {.name = "size",
     .type = TAC_PARAM_NUMBERS,
     .width = 2,
     .required = true,
     .positive = true,
     .help = "[x, z], side lengths"},
};
static const struct tac_param box[] = {
    {.name = "size",
     .type = TAC_PARAM_NUMBERS,
     .width = 3,
     .required = true,
     .positive = true,
     .help = "[x, y, z], side lengths"},
    {.name = "cells",
     .type = TAC_PARAM_COUNTS,
     .width = 3,
     .required = true,
     .least = {1, 1, 1},
     .help = "[nx, ny, nz], squares along each side"},
    FILL,
};
static const struct tac_param solid[] = {
    {.name = "edge", .type = TAC_PARAM_NUMBER, .required = true, .positive = true, .help = "edge length of the solid"},
    {.name = "level", .type = TAC_PARAM_COUNT, .help = "subdivisions, each cuts a triangle in four (default 0)"},
};
static const struct tac_param segments[] = {
    {.name = "vertices",
     .type = TAC_PARAM_ROWS,
     .width = 3,
     .help = "[[x, y, z], ...], a chain unless edges are given"},
    {.name = "edges", .type = TAC_PARAM_INDICES, .width = 2, .help = "[[i, j], ...], the vertices each segment joins"},
    {.name = "from", .type = TAC_PARAM_NUMBERS, .width = 3, .help = "[x, y, z], start of a straight chain"},
    {.name = "to", .type = TAC_PARAM_NUMBERS, .width = 3, .help = "[x, y, z], its end"},
    {.name = "cells", .type = TAC_PARAM_COUNT, .least = {1}, .help = "segments between from and to (default 1)"},
    {.name = "closed", .type = TAC_PARAM_FLAG, .help = "join the last vertex to the first"},
    WELD,
};
static const struct tac_param lattice[] = {
    {.name = "count",
     .type = TAC_PARAM_COUNTS,
     .width = 3,
     .required = true,
     .least = {1, 1, 1},
     .help = "[i, j, k], points along x, y and z"},
    {.name = "spacing", .type = TAC_PARAM_NUMBER, .required = true, .positive = true, .help = "between neighbours"},
};
static const struct tac_param points[] = {
    {.name = "vertices", .type = TAC_PARAM_ROWS, .width = 3, .help = "[[x, y, z], ...]"},
    {.name = "path", .type = TAC_PARAM_STRING, .help = "a mesh file: its vertices only"},
    {.name = "lattice",
     .type = TAC_PARAM_OBJECT,
     .member = lattice,
     .member_count = COUNT(lattice),
     .help = "{count [i, j, k], spacing}, centred"},
};
static const struct tac_param inlined[] = {
    {.name = "vertices", .type = TAC_PARAM_ROWS, .width = 3, .required = true, .help = "[[x, y, z], ...]"},
    {.name = "triangles", .type = TAC_PARAM_INDICES, .width = 3, .help = "[[i, j, k], ...], vertices counted from 0"},
    {.name = "edges", .type = TAC_PARAM_INDICES, .width = 2, .help = "[[i, j], ...], segments"},
    {.name = "tetrahedra", .type = TAC_PARAM_INDICES, .width = 4, .help = "[[i, j, k, l], ...], of a solid"},
    WELD,
};

static const struct tac_param file[] = {
    {.name = "path",
     .type = TAC_PARAM_STRING,
     .required = true,
     .help = "an OBJ, PLY, STL, Gmsh .msh (2.2, 4.1), VTK .vtu, Abaqus .inp or HDF5 file"},
    WELD,
};

#define KIND(name, table, make, help)                                                                                  \
    {                                                                                                                  \
        name, help, table, COUNT(table), make, NULL                                                                    \
    }

const struct tac_mesh_kind tac_mesh_kinds[] = {
    {"grid", "a flat sheet in the x-z plane, centred, facing +y", grid, COUNT(grid), tac_make_grid, tac_grid_blocks},
    KIND("ribbon", ribbon, tac_make_ribbon, "a band along a curve"),
    KIND("sphere", sphere, tac_make_sphere, "a subdivided icosahedron, every vertex on the sphere"),
    KIND("torus", torus, tac_make_torus, "a ring about the y axis, centred"),
    KIND("cylinder", cylinder, tac_make_cylinder, "a tube about the y axis, centred"),
    KIND("cone", cylinder, tac_make_cone, "about the y axis, centred, the tip at the top"),
    {"box", "the surface of a box, centred", box, COUNT(box), tac_make_box, tac_box_blocks},
    KIND("ball", ball, tac_make_ball, "one particle with a radius: exactly round"),
    KIND("capsule", capsule, tac_make_capsule, "one segment along y with a radius, centred: exactly round"),
    KIND("plane", plane, tac_make_plane, "two triangles in the x-z plane, centred, facing +y"),
    KIND("tetrahedron", solid, tac_make_tetrahedron, "regular, centred"),
    KIND("cube", solid, tac_make_cube, "regular, centred"),
    KIND("octahedron", solid, tac_make_octahedron, "regular, centred"),
    KIND("dodecahedron", solid, tac_make_dodecahedron, "regular, centred"),
    KIND("icosahedron", solid, tac_make_icosahedron, "regular, centred"),
    KIND("spikes", spikes, tac_make_spikes, "a plate in the plane y = 0 with spikes up"),
    KIND("segments", segments, tac_make_segments, "a chain or net of segments"),
    {"points", "particles", points, COUNT(points), tac_make_points, tac_points_blocks},
    KIND("inline", inlined, tac_make_inline, "vertices and elements written down here"),
    KIND("file", file, tac_make_file, "a mesh read from a file"),
};
const size_t tac_mesh_kind_count = COUNT(tac_mesh_kinds);

enum tac_err tac_mesh_kind_find(struct tac_ctx *ctx, const char *path, const char *name,
                                const struct tac_mesh_kind **out)
{
    const char *names[COUNT(tac_mesh_kinds)], *near;
    for (size_t i = 0; i < COUNT(tac_mesh_kinds); i++) {
        names[i] = tac_mesh_kinds[i].name;
        if (strcmp(name, names[i]) == 0) {
            *out = &tac_mesh_kinds[i];
            return TAC_OK;
        }
    }
    near = tac_nearest(name, names, COUNT(names));
    if (near != NULL)
        return tac_fail(ctx, TAC_ERR_INPUT, "%s: there is no mesh kind '%.60s'; did you mean '%s'?", path, name, near);
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "%s: there is no mesh kind '%.60s'; there are grid, ribbon, sphere, torus, cylinder, cone, box, "
                    "ball, capsule, plane, tetrahedron, cube, octahedron, dodecahedron, icosahedron, spikes, "
                    "segments, points, inline and file",
                    path, name);
}

enum tac_err tac_mesh_create(struct tac_ctx *ctx, const json_t *spec, const char *where, const char *base_dir,
                             struct tac_mesh **out)
{
    return tac_mesh_create_as(ctx, spec, where, base_dir, TAC_MESH_ANY, out);
}

enum tac_err tac_mesh_create_as(struct tac_ctx *ctx, const json_t *spec, const char *where, const char *base_dir,
                                enum tac_mesh_want want, struct tac_mesh **out)
{
    enum tac_err err = TAC_OK;
    const struct tac_mesh_kind *kind = NULL;
    struct tac_builder b;
    struct tac_params p = {.ctx = ctx, .object = spec, .where = where, .base_dir = base_dir};
    char path[512];
    const char *name = json_string_value(json_object_get(spec, "kind"));
    tac_builder_init(&b, ctx, where);
    if (!json_is_object(spec)) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: must be an object such as {\"kind\": \"sphere\", \"radius\": 0.1}",
                       where);
        goto done;
    }
    if (name == NULL) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: must be the name of a mesh kind, such as \"grid\" or \"file\"",
                       tac_params_path(&p, "kind", path));
        goto done;
    }
    TAC_TRY(tac_mesh_kind_find(ctx, tac_params_path(&p, "kind", path), name, &kind));
    p.what = kind->name;
    if (strcmp(where, "--") == 0)
        b.where = kind->name;
    TAC_TRY(tac_params_check(&p, kind->param, kind->param_count, "kind"));
    TAC_TRY(kind->make(&p, &b));
    const double weld = tac_params_has(&p, "weld") ? tac_params_number(&p, "weld") : 0;
    if (weld < 0) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: must be a length from 0, not %g", tac_params_path(&p, "weld", path),
                       weld);
        goto done;
    }
    if (weld > 0)
        TAC_TRY(tac_builder_weld(&b, weld));
    TAC_TRY(tac_builder_finish(&b, kind->make == tac_make_points || kind->make == tac_make_ball, want, out));
done:
    tac_builder_clear(&b);
    return err;
}
