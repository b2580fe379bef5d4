/* tactus/mesh.h: meshes that a generator makes, that are read from a file or that are written in the scene; and their
 * topology.
 *
 * A mesh has vertices and any of triangles, segments and tetrahedra.  A mesh with none is a set of points (particles).
 * The triangles of a mesh with tetrahedra are the faces that only one of these has, facing outward; vertices that only
 * tetrahedra have lie inside.  A mesh owns its arrays.  Vertex order is that of the generator or file; it is part of
 * the scene and never changes.
 *
 *     struct tac_mesh *mesh = NULL;
 *     json_t *spec = json_pack("{s:s, s:f, s:i}", "kind", "sphere", "radius", .1, "level", 3);
 *     TAC_TRY(tac_mesh_create(ctx, spec, "bodies[0].mesh", ".", &mesh));
 *     ...
 *     tac_mesh_destroy(&mesh);
 */
#ifndef TACTUS_MESH_H
#define TACTUS_MESH_H

#include <jansson.h>
#include <tactus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tac_mesh {
    tac_lid vertex_count;
    double *x; /* owned, (vertex_count, 3), m */
    tac_lid triangle_count;
    tac_lid *triangle; /* owned, (triangle_count, 3) vertex indices */
    tac_lid segment_count;
    tac_lid *segment; /* owned, (segment_count, 2) vertex indices */
    tac_lid tetrahedron_count;
    tac_lid *tetrahedron; /* owned, (tetrahedron_count, 4) vertex indices; seen from the fourth the others go clockwise;
                             NULL where there are none */
};

/* What is made of a description or file that has tetrahedra. */
enum tac_mesh_want {
    TAC_MESH_ANY, /* a solid, if it has tetrahedra */
    TAC_MESH_SURFACE /* triangles and segments: its own, or, if it has tetrahedra alone, their surface */,
    TAC_MESH_SOLID /* a solid; TAC_ERR_INPUT if it has no tetrahedra */
};

/* Local. Makes the mesh that a scene's "mesh" object describes (docs/reference/scene-format.md; kinds grid, ribbon,
 * sphere, torus, cylinder, cone, box, ball, capsule, plane, tetrahedron ... icosahedron, spikes, segments, points,
 * inline, file).  `where` is the JSON path used in error sentences; relative file paths start at `base_dir`.  Checks:
 * known keys, finite numbers, indices in range, degenerate triangles (repeated vertex or zero area), zero-length
 * segments, duplicate triangles or segments.  Vertices in no element of a mesh with elements are dropped with a
 * warning.  TAC_ERR_INPUT on bad input. If `where` is "--", sentences name options of a command line ("--radius")
 * instead of JSON paths.  As tac_mesh_create_as() with TAC_MESH_ANY. */
enum tac_err tac_mesh_create(struct tac_ctx *ctx, const json_t *spec, const char *where, const char *base_dir,
                             struct tac_mesh **out);

/* Local. Does the same; `want` says what a body needs. */
enum tac_err tac_mesh_create_as(struct tac_ctx *ctx, const json_t *spec, const char *where, const char *base_dir,
                                enum tac_mesh_want want, struct tac_mesh **out);

/* Local. Does `spec` describe a ball or a capsule? Its mesh is only the middle: a particle, a segment. The surface lies
 * its `radius` off that. */
bool tac_mesh_is_round(const json_t *spec);

/* Local. Reads OBJ, PLY (ascii and binary), STL (ascii and binary), Gmsh .msh 2.2/4.1 (ascii and binary), VTK .vtu,
 * Abaqus .inp or HDF5 (/vertices (V,3) f8, /triangles (T,3) i8, /segments (S,2) i8, /tetrahedra (K,4) i8), told apart
 * by content, then extension.  Checks and drops like tac_mesh_create.  TAC_ERR_INPUT names the file and the line, byte
 * or facet. */
enum tac_err tac_mesh_read(struct tac_ctx *ctx, const char *path, struct tac_mesh **out);

/* Local. Writes the format that the extension tells: .obj, .ply (binary), .stl (binary; triangles only), .msh
 * (Gmsh 2.2, ascii), .h5; the last two hold tetrahedra. Writes to a temporary name and renames, so that a file that is
 * not complete never has the final name.  TAC_ERR_INPUT: the name has another extension or cannot be made, or STL
 * cannot hold the mesh; TAC_ERR_RUN: the disk failed. */
enum tac_err tac_mesh_write(struct tac_ctx *ctx, const struct tac_mesh *mesh, const char *path);

/* Local. NULL is allowed; leaves NULL. */
void tac_mesh_destroy(struct tac_mesh **mesh);

/* Edges, their triangles and hinges of a set of triangles and segments. Edges are unique and sorted by
 * (min vertex, max vertex): an edge's id is its rank in that order (invariance law: force keys).  */
struct tac_topology {
    tac_lid edge_count;
    tac_lid *edge;          /* owned, (edge_count, 2), smaller vertex first */
    tac_lid *edge_triangle; /* owned, (edge_count, 2): triangles at the edge in ascending order, -1 where none */
    tac_lid *edge_valence;  /* owned, (edge_count): triangles at the edge; over 2 is non-manifold */
    tac_lid *edge_segment;  /* owned, (edge_count): segment element that is this edge, or -1 */
    tac_lid *triangle_edge; /* owned, (triangle_count, 3): edge k is opposite vertex k of the triangle */
    tac_lid hinge_count;
    tac_lid *hinge;      /* owned, (hinge_count, 4): edge's two vertices (min, max), then the opposite vertices of the
                            triangle that has the edge in the direction min -> max first, the other second; where the
                            two triangles disagree in orientation, ascending by triangle id */
    tac_lid *hinge_edge; /* owned, (hinge_count) edge id, ascending */
};

/* Local. Finds edges and hinges; hinges are the edges with exactly two triangles. Takes time O(n log n), n = T + S. */
enum tac_err tac_topology_create(struct tac_ctx *ctx, tac_lid vertex_count, tac_lid triangle_count,
                                 const tac_lid *triangle, tac_lid segment_count, const tac_lid *segment,
                                 struct tac_topology **out);
void tac_topology_destroy(struct tac_topology **topology);

#ifdef __cplusplus
}
#endif
#endif
