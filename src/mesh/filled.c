/* filled.c: solids of tetrahedra: a box cut into cells, and a ball. */
#include "mesh/kinds.h"

#include "mesh/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

enum tac_err tac_mesh_filled(const struct tac_params *p, bool *filled)
{
    char path[512];
    *filled = tac_params_has(p, "fill");
    if (!*filled || strcmp(tac_params_string(p, "fill"), "tets") == 0)
        return TAC_OK;
    return tac_fail(p->ctx, TAC_ERR_INPUT, "%s: must be \"tets\"; leave it out for the surface alone",
                    tac_params_path(p, "fill", path));
}

/* ---- a box ---- */

/* Every cell is cut into six tetrahedra around its diagonal from the lowest corner to the highest (Kuhn 1960): cells
 * beside each other have the same diagonals on the faces that they share, and all inner vertices have the same mass.
 * Tetrahedron t of a cell goes from the lowest corner along these axes, one after the other. */
enum { TETRAHEDRA = 6 };
static const int ORDER[TETRAHEDRA][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};

static void box_vertex(const struct tac_mesh_blocks *b, int64_t i, double x[3])
{
    for (int c = 0; c < 3; c++) {
        const int64_t n = b->cells[c];
        x[c] = .5 * b->size[c] * ((double)(2 * (i % (n + 1)) - n) / (double)n) + 0.0;
        i /= n + 1;
    }
}

static void cell_at(const struct tac_mesh_blocks *b, int64_t cell, int64_t at[3])
{
    at[0] = cell % b->cells[0];
    at[1] = cell / b->cells[0] % b->cells[1];
    at[2] = cell / b->cells[0] / b->cells[1];
}

static void cell_tetrahedron(const struct tac_mesh_blocks *b, const int64_t at[3], int t, int64_t v[4])
{
    const int64_t step[3] = {1, b->cells[0] + 1, (b->cells[0] + 1) * (b->cells[1] + 1)};
    v[0] = at[0] + step[1] * at[1] + step[2] * at[2];
    for (int c = 0; c < 3; c++)
        v[1 + c] = v[c] + step[ORDER[t][c]];
    if (t >= 3) { /* odd orders have the opposite orientation */
        const int64_t swap = v[2];
        v[2] = v[1];
        v[1] = swap;
    }
}

static void box_tetrahedron(const struct tac_mesh_blocks *b, int64_t i, int64_t v[4])
{
    int64_t at[3];
    cell_at(b, i / TETRAHEDRA, at);
    cell_tetrahedron(b, at, (int)(i % TETRAHEDRA), v);
}

/* Returns how many sides of the first `cells` cells lie on the surface of the box. */
static int64_t outer_sides(const struct tac_mesh_blocks *b, int64_t cells)
{
    const int64_t *n = b->cells, layer = n[0] * n[1], layers = cells / layer, rest = cells % layer;
    const int64_t rows = rest / n[0], left = rest % n[0];
    int64_t count = layers * (2 * n[1] + 2 * n[0]) + 2 * rows;
    count += layers > 0 ? layer : 0; /* the first layer's low sides, the last one's high sides */
    count += layers == n[2] ? layer : 0;
    count += rows > 0 ? n[0] : 0; /* rows is less than n[1] */
    if (layers < n[2])
        count += rest * ((layers == 0) + (layers == n[2] - 1));
    return count + (left > 0) + left * ((rows == 0) + (rows == n[1] - 1));
}

/* Triangle i of the surface, in the order of the tetrahedra and of their faces: face 0, opposite the lowest corner,
 * lies on the high side along the first axis, face 3 on the low side along the last one. */
static void box_triangle(const struct tac_mesh_blocks *b, int64_t i, int64_t v[3])
{
    int64_t low = 0, high = b->cells[0] * b->cells[1] * b->cells[2], at[3], corner[4] = {0, 0, 0, 0};
    while (high - low > 1) { /* the last cell with fewer triangles before it: each side has two */
        const int64_t middle = low + (high - low) / 2;
        if (2 * outer_sides(b, middle) <= i)
            low = middle;
        else
            high = middle;
    }
    int64_t before = i - 2 * outer_sides(b, low);
    cell_at(b, low, at);
    for (int t = 0; t < TETRAHEDRA; t++) {
        const bool first = at[ORDER[t][0]] == b->cells[ORDER[t][0]] - 1, last = at[ORDER[t][2]] == 0;
        if (before < first + last) {
            const bool opposite = first && before == 0;
            cell_tetrahedron(b, at, t, corner);
            v[0] = corner[opposite ? 1 : 0];
            v[1] = corner[2];
            v[2] = corner[opposite ? 3 : 1];
            return;
        }
        before -= first + last;
    }
}

static double most_tetrahedra(const int64_t n[3])
{
    return TETRAHEDRA * (double)n[0] * (double)n[1] * (double)n[2];
}

/* Returns whether cells are so round and large that no tetrahedron is refused as flat. */
static bool has_volume(const struct tac_mesh_blocks *b)
{
    double least = INFINITY, most = 0;
    for (int c = 0; c < 3; c++) {
        const double side = b->size[c] / (double)b->cells[c];
        least = side < least ? side : least;
        most = side > most ? side : most;
    }
    return least > 1e-80 && least > 1e-5 * most;
}

static void describe_box(struct tac_mesh_blocks *b)
{
    const int64_t *n = b->cells;
    b->vertex_count = (n[0] + 1) * (n[1] + 1) * (n[2] + 1);
    b->tetrahedron_count = TETRAHEDRA * n[0] * n[1] * n[2];
    b->triangle_count = 4 * (n[0] * n[1] + n[1] * n[2] + n[2] * n[0]);
    b->vertex = box_vertex;
    b->triangle = box_triangle;
    b->tetrahedron = box_tetrahedron;
}

bool tac_box_blocks(const struct tac_params *p, struct tac_mesh_blocks *b)
{
    bool filled;
    if (tac_mesh_filled(p, &filled) != TAC_OK || !filled)
        return false;
    tac_params_numbers(p, "size", 3, b->size);
    tac_params_counts(p, "cells", 3, b->cells);
    if (most_tetrahedra(b->cells) > (double)TAC_MESH_LIMIT / 4 || !has_volume(b))
        return false;
    describe_box(b);
    return true;
}

enum tac_err tac_fill_box(struct tac_builder *b, const double size[3], const int64_t n[3])
{
    enum tac_err err = TAC_OK;
    struct tac_mesh_blocks box = {.size = {size[0], size[1], size[2]}, .cells = {n[0], n[1], n[2]}};
    int64_t v[4];
    double x[3];
    TAC_TRY(tac_builder_reserve(b, (double)(n[0] + 1) * (double)(n[1] + 1) * (double)(n[2] + 1), 0, 0));
    if (most_tetrahedra(n) > (double)TAC_MESH_LIMIT / 4)
        return tac_fail(b->ctx, TAC_ERR_INPUT,
                        "%s: %.0f tetrahedra are more than one mesh may have (%" PRId64 "); make it coarser", b->where,
                        most_tetrahedra(n), TAC_MESH_LIMIT / 4);
    describe_box(&box);
    for (int64_t i = 0; i < box.vertex_count; i++) {
        box_vertex(&box, i, x);
        TAC_TRY(tac_builder_vertex(b, x[0], x[1], x[2]));
    }
    for (int64_t i = 0; i < box.tetrahedron_count; i++) {
        box_tetrahedron(&box, i, v);
        TAC_TRY(tac_builder_tetrahedron(b, v));
    }
done:
    return err;
}

/* ---- a ball ---- */

static double length_of(const double *x)
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* The edges of all tetrahedra: edge e of tetrahedron t is in edge_of[6 t + e]; ends: (count, 2), ascending. */
static const int EDGE[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static enum tac_err list_edges(const struct tac_builder *b, tac_lid *edge_of, tac_lid *ends, size_t *count)
{
    enum tac_err err = TAC_OK;
    const size_t n = 6 * b->tetrahedron_count;
    tac_lid *key = NULL, *order = NULL;
    *count = 0;
    TAC_TRY(tac_alloc(b->ctx, 2 * n, sizeof *key, &key));
    TAC_TRY(tac_alloc(b->ctx, n, sizeof *order, &order));
    for (size_t i = 0; i < n; i++) {
        const tac_lid *v = b->tetrahedron + 4 * (i / 6), p = v[EDGE[i % 6][0]], q = v[EDGE[i % 6][1]];
        key[2 * i] = p < q ? p : q;
        key[2 * i + 1] = p < q ? q : p;
    }
    TAC_TRY(tac_sort_rows(b->ctx, (tac_lid)b->vertex_count, n, 2, key, order));
    for (size_t i = 0; i < n; i++) {
        const tac_lid *at = key + 2 * (size_t)order[i];
        if (i == 0 || memcmp(at, key + 2 * (size_t)order[i - 1], 2 * sizeof *at) != 0)
            memcpy(ends + 2 * (*count)++, at, 2 * sizeof *at);
        edge_of[order[i]] = (tac_lid)*count - 1;
    }
done:
    free(key);
    free(order);
    return err;
}

/* The middle of an edge, on its sphere. */
static enum tac_err add_middle(struct tac_builder *b, const tac_lid *ends)
{
    const double *p = b->x + 3 * (size_t)ends[0], *q = b->x + 3 * (size_t)ends[1];
    const double radius = .5 * (length_of(p) + length_of(q));
    double middle[3];
    for (int k = 0; k < 3; k++)
        middle[k] = .5 * (p[k] + q[k]);
    const double length = length_of(middle), by = length > 0 ? radius / length : 0;
    return tac_builder_vertex(b, by * middle[0], by * middle[1], by * middle[2]);
}

/* Adds a tetrahedron of the octahedron, with either orientation of the given vertices. */
static enum tac_err add_turned(struct tac_builder *b, tac_lid i, tac_lid j, tac_lid k, tac_lid l)
{
    const tac_lid v[4] = {i, j, k, l};
    double edge[3][3], n[3];
    for (int e = 0; e < 3; e++)
        tac_sub(edge[e], b->x + 3 * (size_t)v[1 + e], b->x + 3 * (size_t)v[0]);
    tac_cross(n, edge[0], edge[1]);
    const bool turn = tac_dot(n, edge[2]) < 0;
    return tac_builder_tetrahedron(b, (const int64_t[]){i, j, turn ? l : k, turn ? k : l});
}

/* Four corners, and the octahedron between them around its shortest diagonal. m: the middles of the edges. */
static enum tac_err add_eight(struct tac_builder *b, const tac_lid v[4], const tac_lid m[6])
{
    /* Opposite middles, and the four others in turn around them. */
    static const int DIAGONAL[3][6] = {{0, 5, 1, 3, 4, 2}, {1, 4, 0, 2, 5, 3}, {2, 3, 0, 4, 5, 1}};
    enum tac_err err = TAC_OK;
    int best = 0;
    double shortest = INFINITY;
    for (int d = 0; d < 3; d++) {
        double off[3];
        for (int k = 0; k < 3; k++)
            off[k] = b->x[3 * (size_t)m[DIAGONAL[d][0]] + (size_t)k] - b->x[3 * (size_t)m[DIAGONAL[d][1]] + (size_t)k];
        const double length = length_of(off);
        if (length < shortest * (1 - 1e-9)) { /* not by rounding */
            shortest = length;
            best = d;
        }
    }
    const int *d = DIAGONAL[best];
    TAC_TRY(tac_builder_tetrahedron(b, (const int64_t[]){v[0], m[0], m[1], m[2]}));
    TAC_TRY(tac_builder_tetrahedron(b, (const int64_t[]){m[0], v[1], m[3], m[4]}));
    TAC_TRY(tac_builder_tetrahedron(b, (const int64_t[]){m[1], m[3], v[2], m[5]}));
    TAC_TRY(tac_builder_tetrahedron(b, (const int64_t[]){m[2], m[4], m[5], v[3]}));
    for (int k = 0; k < 4; k++)
        TAC_TRY(add_turned(b, m[d[0]], m[d[1]], m[d[2 + k]], m[d[2 + (k + 1) % 4]]));
done:
    return err;
}

static enum tac_err refine(struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    const size_t count = b->tetrahedron_count, vertices = b->vertex_count;
    tac_lid *old = b->tetrahedron, *edge_of = NULL, *ends = NULL;
    size_t edges = 0;
    TAC_TRY(tac_alloc(b->ctx, 6 * count, sizeof *edge_of, &edge_of));
    TAC_TRY(tac_alloc(b->ctx, 12 * count, sizeof *ends, &ends));
    TAC_TRY(list_edges(b, edge_of, ends, &edges));
    for (size_t e = 0; e < edges; e++)
        TAC_TRY(add_middle(b, ends + 2 * e));
    b->tetrahedron = NULL;
    b->tetrahedron_count = b->tetrahedron_capacity = 0;
    for (size_t t = 0; t < count; t++) {
        tac_lid m[6];
        for (size_t e = 0; e < 6; e++)
            m[e] = (tac_lid)vertices + edge_of[6 * t + e];
        TAC_TRY(add_eight(b, old + 4 * t, m));
    }
done:
    if (b->tetrahedron != old)
        free(old);
    free(edge_of);
    free(ends);
    return err;
}

enum tac_err tac_fill_sphere(struct tac_builder *b, int64_t level, double radius)
{
    enum tac_err err = TAC_OK;
    const size_t surface = b->triangle_count;
    const int64_t centre = (int64_t)b->vertex_count;
    double tetrahedra = (double)surface;
    for (int64_t l = 0; l < level && l < 10; l++)
        tetrahedra *= 8;
    if (tetrahedra > (double)TAC_MESH_LIMIT / 4)
        return tac_fail(b->ctx, TAC_ERR_INPUT,
                        "%s: %.0f tetrahedra are more than one mesh may have (%" PRId64 "); lower its level", b->where,
                        tetrahedra, TAC_MESH_LIMIT / 4);
    TAC_TRY(tac_builder_vertex(b, 0, 0, 0));
    for (size_t t = 0; t < surface; t++) {
        const tac_lid *v = b->triangle + 3 * t;
        TAC_TRY(tac_builder_tetrahedron(b, (const int64_t[]){centre, v[0], v[1], v[2]}));
    }
    b->triangle_count = 0;
    for (int64_t l = 0; l < level; l++)
        TAC_TRY(refine(b));
    for (size_t k = 0; k < 3 * b->vertex_count; k++)
        b->x[k] *= radius;
done:
    return err;
}
