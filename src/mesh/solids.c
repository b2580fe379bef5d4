/* solids.c: generators of the five regular solids, subdivided, and of the icosphere. */
#include "mesh/kinds.h"

#include <math.h>
#include <stdlib.h>

/* Vertices in units the edge of which is `edge`; faces counterclockwise from outside. */
struct solid {
    int vertex_count, face_count, sides;
    double edge;
    const double (*vertex)[3];
    const unsigned char *face; /* (face_count, sides) */
};

#define SQRT2 1.41421356237309504880
#define PHI 1.61803398874989484820   /* the golden ratio */
#define PHI_1 0.61803398874989484820 /* phi - 1 = 1/phi */

static const double tetrahedron_vertex[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
static const unsigned char tetrahedron_face[] = {0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2};
static const struct solid tetrahedron = {4, 4, 3, 2 * SQRT2, tetrahedron_vertex, tetrahedron_face};

static const double cube_vertex[8][3] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                         {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
static const unsigned char cube_face[] = {0, 2, 3, 1, 0, 1, 5, 4, 0, 4, 6, 2, 1, 3, 7, 5, 2, 6, 7, 3, 4, 5, 7, 6};
static const struct solid cube = {8, 6, 4, 2, cube_vertex, cube_face};

static const double octahedron_vertex[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
static const unsigned char octahedron_face[] = {0, 2, 4, 0, 5, 2, 0, 4, 3, 0, 3, 5, 1, 4, 2, 1, 2, 5, 1, 3, 4, 1, 5, 3};
static const struct solid octahedron = {6, 8, 3, SQRT2, octahedron_vertex, octahedron_face};

static const double dodecahedron_vertex[20][3] = {
    {-1, -1, -1},     {1, -1, -1},       {-1, 1, -1},       {1, 1, -1},        {-1, -1, 1},
    {1, -1, 1},       {-1, 1, 1},        {1, 1, 1},         {0, -PHI_1, -PHI}, {0, -PHI_1, PHI},
    {0, PHI_1, -PHI}, {0, PHI_1, PHI},   {-PHI, 0, -PHI_1}, {PHI, 0, -PHI_1},  {-PHI, 0, PHI_1},
    {PHI, 0, PHI_1},  {-PHI_1, -PHI, 0}, {-PHI_1, PHI, 0},  {PHI_1, -PHI, 0},  {PHI_1, PHI, 0}};
static const unsigned char dodecahedron_face[] = {
    0, 8,  1,  18, 16, 0, 12, 2, 10, 8,  0, 16, 4,  14, 12, 1, 8, 10, 3, 13, 1, 13, 15, 5,  18, 2, 17, 19, 3,  10,
    2, 12, 14, 6,  17, 3, 19, 7, 15, 13, 4, 16, 18, 5,  9,  4, 9, 11, 6, 14, 5, 15, 7,  11, 9,  6, 11, 7,  19, 17};
static const struct solid dodecahedron = {20, 12, 5, 2 * PHI_1, dodecahedron_vertex, dodecahedron_face};

static const double icosahedron_vertex[12][3] = {{0, -1, -PHI}, {0, -1, PHI}, {0, 1, -PHI}, {0, 1, PHI},
                                                 {-PHI, 0, -1}, {PHI, 0, -1}, {-PHI, 0, 1}, {PHI, 0, 1},
                                                 {-1, -PHI, 0}, {-1, PHI, 0}, {1, -PHI, 0}, {1, PHI, 0}};
static const unsigned char icosahedron_face[] = {0, 4, 2, 0, 2,  5,  0,  8, 4, 0,  5, 10, 0, 10, 8,  1, 3,  6, 1,  7,
                                                 3, 1, 6, 8, 1,  10, 7,  1, 8, 10, 2, 4,  9, 2,  11, 5, 2,  9, 11, 3,
                                                 9, 6, 3, 7, 11, 3,  11, 9, 4, 8,  6, 4,  6, 9,  5,  7, 10, 5, 11, 7};
static const struct solid icosahedron = {12, 20, 3, 2, icosahedron_vertex, icosahedron_face};

/* Puts every vertex from `first` on at distance 1 from the origin. */
static void project(struct tac_builder *b, size_t first)
{
    for (size_t i = first; i < b->vertex_count; i++) {
        double *x = b->x + 3 * i;
        const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        for (int k = 0; k < 3; k++)
            x[k] /= length;
    }
}

/* Every triangle becomes four. The new vertices are the middles of the edges in the order of the edges' ids. */
static enum tac_err subdivide(struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct tac_topology *topo = NULL;
    const size_t old_vertices = b->vertex_count, old_triangles = b->triangle_count;
    TAC_TRY(tac_topology_create(b->ctx, (tac_lid)old_vertices, (tac_lid)old_triangles, b->triangle, 0, NULL, &topo));
    for (tac_lid e = 0; e < topo->edge_count; e++) {
        /* By value: pushing a vertex may move the array. */
        const double *p = b->x + 3 * (size_t)topo->edge[2 * e], *q = b->x + 3 * (size_t)topo->edge[2 * e + 1];
        const double middle[3] = {.5 * (p[0] + q[0]), .5 * (p[1] + q[1]), .5 * (p[2] + q[2])};
        TAC_TRY(tac_builder_vertex(b, middle[0], middle[1], middle[2]));
    }
    for (size_t t = 0; t < old_triangles; t++) {
        tac_lid v[3], m[3];
        for (size_t k = 0; k < 3; k++) {
            v[k] = b->triangle[3 * t + k];
            m[k] = (tac_lid)old_vertices + topo->triangle_edge[3 * t + k];
        }
        /* The middle one takes the place of the old one. */
        for (size_t k = 0; k < 3; k++)
            b->triangle[3 * t + k] = m[k];
        TAC_TRY(tac_builder_triangle(b, v[0], m[2], m[1]));
        TAC_TRY(tac_builder_triangle(b, v[1], m[0], m[2]));
        TAC_TRY(tac_builder_triangle(b, v[2], m[1], m[0]));
    }
done:
    tac_topology_destroy(&topo);
    return err;
}

static enum tac_err make_solid(struct tac_builder *b, const struct solid *solid, int64_t level, double scale,
                               bool round)
{
    enum tac_err err = TAC_OK;
    double triangles = (double)solid->face_count * (solid->sides - 2);
    /* A level that cannot fit must not loop for long: 4^14 is already too many. */
    for (int64_t l = 0; l < level && l < 14; l++)
        triangles *= 4;
    TAC_TRY(tac_builder_reserve(b, 2 + triangles / 2, triangles, 0)); /* a closed surface: V = 2 + T/2 */
    for (int i = 0; i < solid->vertex_count; i++)
        TAC_TRY(tac_builder_vertex(b, solid->vertex[i][0], solid->vertex[i][1], solid->vertex[i][2]));
    for (int f = 0; f < solid->face_count; f++) {
        const unsigned char *v = solid->face + f * solid->sides;
        for (int k = 2; k < solid->sides; k++)
            TAC_TRY(tac_builder_triangle(b, v[0], v[k - 1], v[k]));
    }
    if (round)
        project(b, 0);
    for (int64_t l = 0; l < level; l++) {
        const size_t first = b->vertex_count;
        TAC_TRY(subdivide(b));
        if (round)
            project(b, first);
    }
    for (size_t k = 0; k < 3 * b->vertex_count; k++)
        b->x[k] *= scale;
done:
    return err;
}

static enum tac_err make_regular(const struct tac_params *p, struct tac_builder *b, const struct solid *solid)
{
    return make_solid(b, solid, tac_params_count(p, "level", 0), tac_params_number(p, "edge") / solid->edge, false);
}

enum tac_err tac_make_tetrahedron(const struct tac_params *p, struct tac_builder *b)
{
    return make_regular(p, b, &tetrahedron);
}

enum tac_err tac_make_cube(const struct tac_params *p, struct tac_builder *b)
{
    return make_regular(p, b, &cube);
}

enum tac_err tac_make_octahedron(const struct tac_params *p, struct tac_builder *b)
{
    return make_regular(p, b, &octahedron);
}

enum tac_err tac_make_dodecahedron(const struct tac_params *p, struct tac_builder *b)
{
    return make_regular(p, b, &dodecahedron);
}

enum tac_err tac_make_icosahedron(const struct tac_params *p, struct tac_builder *b)
{
    return make_regular(p, b, &icosahedron);
}

enum tac_err tac_make_sphere(const struct tac_params *p, struct tac_builder *b)
{
    const int64_t level = tac_params_count(p, "level", 0);
    const double radius = tac_params_number(p, "radius");
    enum tac_err err = TAC_OK;
    bool filled;
    TAC_TRY(tac_mesh_filled(p, &filled));
    TAC_TRY(make_solid(b, &icosahedron, filled ? 0 : level, filled ? 1 : radius, true));
    if (filled)
        TAC_TRY(tac_fill_sphere(b, level, radius));
done:
    return err;
}
