/* builder.h: declares the builder of meshes. Generators and readers add vertices and elements; finish checks them all
 * and returns the mesh.
 *
 *     struct tac_builder b;
 *     tac_builder_init(&b, ctx, "bodies[0].mesh");
 *     TAC_TRY(tac_builder_vertex(&b, 0, 0, 0)); ...
 *     err = tac_builder_finish(&b, false, &mesh);
 *     done: tac_builder_clear(&b);
 */
#ifndef TACTUS_MESH_BUILDER_H
#define TACTUS_MESH_BUILDER_H

#include <tactus/mesh.h>

/* No mesh has more vertices, triangles or segments than this: three times it still fits a tac_lid. */
#define TAC_MESH_LIMIT ((int64_t)1 << 27)
/* Coordinates beyond this would overflow in products of a few of them. */
#define TAC_COORDINATE_LIMIT 1e100

struct tac_builder {
    struct tac_ctx *ctx; /* borrowed */
    const char *where;   /* borrowed: JSON path or file name, starts every error sentence */
    char *path;          /* owned: the name of the file, which `where` then is; or NULL */
    const char *unit;    /* borrowed: what `place` counts ("line", "facet"); NULL: places are not kept */
    int64_t place;       /* where in the file the next element comes from; set by readers */
    size_t vertex_count, vertex_capacity;
    double *x; /* owned, (vertex_count, 3) */
    size_t triangle_count, triangle_capacity, triangle_place_capacity;
    tac_lid *triangle;       /* owned, (triangle_count, 3) */
    int64_t *triangle_place; /* owned, (triangle_count) if unit is set */
    size_t segment_count, segment_capacity, segment_place_capacity;
    tac_lid *segment;       /* owned, (segment_count, 2) */
    int64_t *segment_place; /* owned, (segment_count) if unit is set */
    size_t tetrahedron_count, tetrahedron_capacity, tetrahedron_place_capacity;
    tac_lid *tetrahedron;       /* owned, (tetrahedron_count, 4) */
    int64_t *tetrahedron_place; /* owned, (tetrahedron_count) if unit is set */
    int64_t left_out;           /* elements of other kinds of a file, which stay out */
};

/* All functions are local. */
void tac_builder_init(struct tac_builder *b, struct tac_ctx *ctx, const char *where);
void tac_builder_clear(struct tac_builder *b);

/* Makes room; refuses more than TAC_MESH_LIMIT of anything (TAC_ERR_INPUT). Counts are doubles so that products of
 * unchecked counts cannot overflow. */
enum tac_err tac_builder_reserve(struct tac_builder *b, double vertices, double triangles, double segments);

/* -0 becomes +0: a mesh in the plane z = 0 is so to the last bit. Coordinates may be anything here; finish refuses
 * those that are not finite or over the limit. */
enum tac_err tac_builder_vertex(struct tac_builder *b, double x, double y, double z);
/* Indices may be of vertices yet to come; finish checks them. */
enum tac_err tac_builder_triangle(struct tac_builder *b, int64_t i, int64_t j, int64_t k);
enum tac_err tac_builder_segment(struct tac_builder *b, int64_t i, int64_t j);
enum tac_err tac_builder_tetrahedron(struct tac_builder *b, const int64_t v[4]);

/* Two triangles for the quadrilateral with corners low-low, high-low, high-high, low-high in (u, v); normal u x v.
 * `parity` even: the diagonal runs low-low to high-high; odd: the other one. */
enum tac_err tac_builder_quad(struct tac_builder *b, int64_t ll, int64_t hl, int64_t hh, int64_t lh, int64_t parity);
/* The quads of a (nu x nv)-cell patch whose vertex (i, j) is first + i + (row length) j; a wrapped direction returns
 * to its first vertex. Normal u x v, or the opposite if flip. */
enum tac_err tac_builder_patch(struct tac_builder *b, int64_t first, int64_t nu, int64_t nv, bool wrap_u, bool wrap_v,
                               bool flip);

/* weld.c: vertices that lie nearer than `weld` [m] to a vertex before them that stays become the lowest such one;
 * elements that then have a vertex twice are dropped.  Warns of how many.  TAC_ERR_INPUT: coordinates that are no
 * numbers. */
enum tac_err tac_builder_weld(struct tac_builder *b, double weld);

/* Checks everything the header promises, drops vertices in no element if there are elements, moves the arrays into
 * *out. With points_only, the elements are dropped instead. */
enum tac_err tac_builder_finish(struct tac_builder *b, bool points_only, enum tac_mesh_want want,
                                struct tac_mesh **out);

/* tetrahedra.c: checks the tetrahedra, and replaces the builder's triangles and segments by the faces that only one
 * tetrahedron has, facing outward and in the order of the tetrahedra. */
enum tac_err tac_builder_surface(struct tac_builder *b);

#endif
