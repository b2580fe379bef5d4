/* grids.c: generators of flat and box-shaped surfaces: grid, plane, box. */
#include "mesh/kinds.h"

/* Point i of n + 1 evenly spaced over -size/2 .. size/2: exact at the ends and the middle, symmetric to the last bit.
 */
static double spaced(double size, int64_t i, int64_t n)
{
    return .5 * size * ((double)(2 * i - n) / (double)n);
}

static void grid_vertex(const struct tac_mesh_blocks *b, int64_t i, double x[3])
{
    const int64_t row = b->cells[0] + 1;
    x[0] = spaced(b->size[0], i % row, b->cells[0]) + 0.0;
    x[1] = 0;
    x[2] = spaced(b->size[1], i / row, b->cells[1]) + 0.0;
}

/* Two triangles for each cell, facing +y (z cross x); the diagonals alternate, the first from low-low to high-high. */
static void grid_triangle(const struct tac_mesh_blocks *b, int64_t i, int64_t v[3])
{
    static const int CORNER[2][2][3] = {{{0, 2, 3}, {0, 3, 1}}, {{0, 2, 1}, {2, 3, 1}}};
    const int64_t column = i / 2 % b->cells[0], row = i / 2 / b->cells[0], low = column + row * (b->cells[0] + 1);
    const int64_t corner[4] = {low, low + 1, low + b->cells[0] + 1, low + b->cells[0] + 2};
    for (int k = 0; k < 3; k++)
        v[k] = corner[CORNER[(column + row) % 2][i % 2][k]];
}

bool tac_grid_blocks(const struct tac_params *p, struct tac_mesh_blocks *b)
{
    tac_params_numbers(p, "size", 2, b->size);
    tac_params_counts(p, "cells", 2, b->cells);
    b->vertex_count = (b->cells[0] + 1) * (b->cells[1] + 1);
    b->triangle_count = 2 * b->cells[0] * b->cells[1];
    b->vertex = grid_vertex;
    b->triangle = grid_triangle;
    return true;
}

static enum tac_err push_grid(struct tac_builder *b, const struct tac_mesh_blocks *grid)
{
    enum tac_err err = TAC_OK;
    int64_t v[3];
    double x[3];
    for (int64_t i = 0; i < grid->vertex_count; i++) {
        grid->vertex(grid, i, x);
        TAC_TRY(tac_builder_vertex(b, x[0], x[1], x[2]));
    }
    for (int64_t i = 0; i < grid->triangle_count; i++) {
        grid->triangle(grid, i, v);
        TAC_TRY(tac_builder_triangle(b, v[0], v[1], v[2]));
    }
done:
    return err;
}

enum tac_err tac_make_grid(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct tac_mesh_blocks grid = {0};
    int64_t n[2];
    tac_params_counts(p, "cells", 2, n);
    TAC_TRY(tac_builder_reserve(b, (double)(n[0] + 1) * (double)(n[1] + 1), 2 * (double)n[0] * (double)n[1], 0));
    (void)tac_grid_blocks(p, &grid);
    TAC_TRY(push_grid(b, &grid));
done:
    return err;
}

enum tac_err tac_make_plane(const struct tac_params *p, struct tac_builder *b)
{
    struct tac_mesh_blocks grid = {
        .vertex_count = 4, .triangle_count = 2, .cells = {1, 1}, .vertex = grid_vertex, .triangle = grid_triangle};
    tac_params_numbers(p, "size", 2, grid.size);
    return push_grid(b, &grid);
}

/* The number of surface lattice point c of a box of n cells, counted x fastest. */
static int64_t box_vertex(const int64_t n[3], const int64_t c[3])
{
    const int64_t row = n[0] + 1, layer = row * (n[1] + 1), ring = 2 * (n[0] + n[1]);
    if (c[2] == 0)
        return c[1] * row + c[0];
    if (c[2] == n[2])
        return layer + (n[2] - 1) * ring + c[1] * row + c[0];
    const int64_t first = layer + (c[2] - 1) * ring;
    if (c[1] == 0)
        return first + c[0];
    if (c[1] == n[1])
        return first + row + 2 * (n[1] - 1) + c[0];
    return first + row + 2 * (c[1] - 1) + (c[0] > 0);
}

/* The side of the box at which coordinate `axis` is at its low or high end. */
static enum tac_err box_side(struct tac_builder *b, const int64_t n[3], int axis, bool high)
{
    enum tac_err err = TAC_OK;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3; /* u cross v is +axis */
    int64_t c[3];
    c[axis] = high ? n[axis] : 0;
    for (int64_t j = 0; j < n[v]; j++) {
        for (int64_t i = 0; i < n[u]; i++) {
            int64_t corner[4];
            for (int k = 0; k < 4; k++) {
                c[u] = i + (k == 1 || k == 2);
                c[v] = j + (k >= 2);
                corner[k] = box_vertex(n, c);
            }
            TAC_TRY(tac_builder_quad(b, corner[0], corner[high ? 1 : 3], corner[2], corner[high ? 3 : 1], i + j));
        }
    }
done:
    return err;
}

enum tac_err tac_make_box(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    double size[3], quads = 0;
    int64_t n[3];
    bool filled;
    TAC_TRY(tac_mesh_filled(p, &filled));
    tac_params_numbers(p, "size", 3, size);
    tac_params_counts(p, "cells", 3, n);
    if (filled)
        return tac_fill_box(b, size, n);
    for (int k = 0; k < 3; k++)
        quads += 2 * (double)n[k] * (double)n[(k + 1) % 3];
    TAC_TRY(tac_builder_reserve(b, quads + 2, 2 * quads, 0)); /* a closed surface of quads: V = Q + 2 */
    for (int64_t k = 0; k <= n[2]; k++) {
        for (int64_t j = 0; j <= n[1]; j++) {
            const bool inside = k > 0 && k < n[2] && j > 0 && j < n[1];
            for (int64_t i = 0; i <= n[0]; i += inside ? n[0] : 1)
                TAC_TRY(tac_builder_vertex(b, spaced(size[0], i, n[0]), spaced(size[1], j, n[1]),
                                           spaced(size[2], k, n[2])));
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        TAC_TRY(box_side(b, n, axis, false));
        TAC_TRY(box_side(b, n, axis, true));
    }
done:
    return err;
}
