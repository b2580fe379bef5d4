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
 * beside each other have the same diagonals on the faces that they share, and all inner vertices have the same mass. */
enum tac_err tac_fill_box(struct tac_builder *b, const double size[3], const int64_t n[3])
{
    static const int ORDER[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    enum tac_err err = TAC_OK;
    const double cells = (double)n[0] * (double)n[1] * (double)n[2];
    const int64_t step[3] = {1, n[0] + 1, (n[0] + 1) * (n[1] + 1)};
    TAC_TRY(tac_builder_reserve(b, (double)(n[0] + 1) * (double)(n[1] + 1) * (double)(n[2] + 1), 0, 0));
    if (6 * cells > (double)TAC_MESH_LIMIT / 4)
        return tac_fail(b->ctx, TAC_ERR_INPUT,
                        "%s: %.0f tetrahedra are more than one mesh may have (%" PRId64 "); make it coarser", b->where,
                        6 * cells, TAC_MESH_LIMIT / 4);
    for (int64_t k = 0; k <= n[2]; k++)
        for (int64_t j = 0; j <= n[1]; j++)
            for (int64_t i = 0; i <= n[0]; i++) {
                const int64_t at[3] = {i, j, k};
                double x[3];
                for (int c = 0; c < 3; c++)
                    x[c] = .5 * size[c] * ((double)(2 * at[c] - n[c]) / (double)n[c]);
                TAC_TRY(tac_builder_vertex(b, x[0], x[1], x[2]));
            }
    for (int64_t k = 0; k < n[2]; k++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t i = 0; i < n[0]; i++)
                for (int t = 0; t < 6; t++) {
                    int64_t v[4] = {i + step[1] * j + step[2] * k, 0, 0, 0};
                    for (int c = 0; c < 3; c++)
                        v[1 + c] = v[c] + step[ORDER[t][c]];
                    if (t >= 3) { /* odd orders have the opposite orientation */
                        const int64_t swap = v[2];
                        v[2] = v[1];
                        v[1] = swap;
                    }
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
