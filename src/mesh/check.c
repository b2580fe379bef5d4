/* check.c: checks rows of a mesh: finite coordinates, indices in range, no degenerate and no repeated element
 * (docs/reference/meshes.md, What is refused). */
#include "mesh/check.h"

#include "mesh/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* Squared lengths under this are zero: they are about to underflow. */
#define TINY_SQUARE 1e-200
/* A triangle is degenerate if its height over its longest edge is less than this fraction of that edge. */
#define THINNEST 1e-12

static const char *name_of(int width)
{
    return width == 4 ? "tetrahedron" : width == 3 ? "triangle" : "segment";
}

/* "mesh.obj, line 12" or, without places, "bodies[0].mesh". */
static const char *place(const struct tac_origin *origin, size_t row, char text[512])
{
    if (origin->unit == NULL || origin->place == NULL)
        snprintf(text, 512, "%.500s", origin->where);
    else
        snprintf(text, 512, "%.440s, %s %" PRId64, origin->where, origin->unit, origin->place[row]);
    return text;
}

enum tac_err tac_check_coordinates(const struct tac_origin *origin, size_t first, size_t count, const double *x)
{
    for (size_t k = 0; k < 3 * count; k++) {
        if (!(fabs(x[k]) <= TAC_COORDINATE_LIMIT))
            return tac_fail(origin->ctx, TAC_ERR_INPUT,
                            "%s: the %c coordinate of vertex %zu is %g; coordinates must be finite and at most %g",
                            origin->where, "xyz"[k % 3], first + k / 3, x[k], TAC_COORDINATE_LIMIT);
    }
    return TAC_OK;
}

enum tac_err tac_check_indices(const struct tac_origin *origin, size_t first, size_t count, int width,
                               const tac_lid *element, size_t vertex_count)
{
    char text[512];
    for (size_t e = 0; e < count; e++) {
        const tac_lid *v = element + (size_t)width * e;
        for (int k = 0; k < width; k++) {
            if (v[k] < 0 || (size_t)v[k] >= vertex_count)
                return tac_fail(origin->ctx, TAC_ERR_INPUT,
                                "%s: %s %zu names a vertex that does not exist; the mesh has %zu vertices",
                                place(origin, e, text), name_of(width), first + e, vertex_count);
            for (int m = 0; m < k; m++) {
                if (v[k] == v[m])
                    return tac_fail(origin->ctx, TAC_ERR_INPUT,
                                    "%s: %s %zu names vertex %" TAC_PRILID " twice; remove it", place(origin, e, text),
                                    name_of(width), first + e, v[k]);
            }
        }
    }
    return TAC_OK;
}

static bool has_area(const tac_lid *at, const double *x)
{
    double edge[3][3], normal[3], longest = 0;
    for (int k = 0; k < 3; k++) {
        tac_sub(edge[k], x + 3 * (size_t)at[(k + 1) % 3], x + 3 * (size_t)at[k]);
        longest = fmax(longest, tac_dot(edge[k], edge[k]));
    }
    tac_cross(normal, edge[0], edge[1]);
    return !(longest < TINY_SQUARE || sqrt(tac_dot(normal, normal)) <= THINNEST * longest);
}

static bool has_length(const tac_lid *at, const double *x)
{
    double edge[3];
    tac_sub(edge, x + 3 * (size_t)at[1], x + 3 * (size_t)at[0]);
    return !(tac_dot(edge, edge) < TINY_SQUARE);
}

enum tac_err tac_check_sizes(const struct tac_origin *origin, size_t first, size_t count, int width,
                             const tac_lid *element, const tac_lid *at, const double *x)
{
    char text[512];
    for (size_t e = 0; e < count; e++) {
        const tac_lid *v = element + (size_t)width * e, *row = at + (size_t)width * e;
        if (width == 3 && !has_area(row, x))
            return tac_fail(origin->ctx, TAC_ERR_INPUT,
                            "%s: triangle %zu (vertices %" TAC_PRILID ", %" TAC_PRILID ", %" TAC_PRILID
                            ") near (%g, %g, %g) has no area; remove it or move a vertex",
                            place(origin, e, text), first + e, v[0], v[1], v[2], x[3 * (size_t)row[0]],
                            x[3 * (size_t)row[0] + 1], x[3 * (size_t)row[0] + 2]);
        if (width == 2 && !has_length(row, x))
            return tac_fail(origin->ctx, TAC_ERR_INPUT,
                            "%s: segment %zu (vertices %" TAC_PRILID ", %" TAC_PRILID
                            ") has no length; remove it or move a vertex",
                            place(origin, e, text), first + e, v[0], v[1]);
    }
    return TAC_OK;
}

/* Six times the volume, and the cube of the longest edge. */
static double six_volumes(const tac_lid *v, const double *x, double *cube)
{
    double edge[6][3], n[3], longest = 0;
    for (int k = 0, e = 0; k < 4; k++)
        for (int i = k + 1; i < 4; i++, e++) {
            tac_sub(edge[e], x + 3 * (size_t)v[i], x + 3 * (size_t)v[k]);
            longest = fmax(longest, tac_dot(edge[e], edge[e]));
        }
    tac_cross(n, edge[0], edge[1]);
    *cube = longest * sqrt(longest);
    return tac_dot(n, edge[2]);
}

enum tac_err tac_check_volumes(const struct tac_origin *origin, size_t count, tac_lid *element, const double *x)
{
    char text[512];
    double cube;
    size_t inverted = 0;
    for (size_t e = 0; e < count; e++)
        inverted += six_volumes(element + 4 * e, x, &cube) < 0;
    const bool mirrored = inverted == count; /* the file has the opposite orientation */
    for (size_t e = 0; e < count; e++) {
        tac_lid *v = element + 4 * e;
        if (mirrored) {
            const tac_lid last = v[3];
            v[3] = v[2];
            v[2] = last;
        }
        const double volume = six_volumes(v, x, &cube);
        if (!(cube > 1e-300) || !(fabs(volume) > THINNEST * cube))
            return tac_fail(
                origin->ctx, TAC_ERR_INPUT,
                "%s: tetrahedron %zu near (%g, %g, %g) is flat: it has no volume; remove it or move a vertex",
                place(origin, e, text), e, x[3 * (size_t)v[0]], x[3 * (size_t)v[0] + 1], x[3 * (size_t)v[0] + 2]);
        if (volume < 0)
            return tac_fail(
                origin->ctx, TAC_ERR_INPUT,
                "%s: tetrahedron %zu near (%g, %g, %g) is inverted, and others are not; exchange two of its "
                "vertices",
                place(origin, e, text), e, x[3 * (size_t)v[0]], x[3 * (size_t)v[0] + 1], x[3 * (size_t)v[0] + 2]);
    }
    return TAC_OK;
}

enum tac_err tac_fail_repeat(const struct tac_origin *origin, int width, size_t row, size_t two, size_t one)
{
    char text[512];
    return tac_fail(origin->ctx, TAC_ERR_INPUT, "%s: %s %zu has the same vertices as %s %zu; remove one of them",
                    place(origin, row, text), name_of(width), two, name_of(width), one);
}

enum tac_err tac_check_repeats(const struct tac_origin *origin, size_t vertex_count, size_t count, int width,
                               const tac_lid *element)
{
    enum tac_err err = TAC_OK;
    tac_lid *key = NULL, *order = NULL;
    const size_t w = (size_t)width;
    size_t found = SIZE_MAX, first = 0;
    if (count < 2)
        return TAC_OK;
    TAC_TRY(tac_alloc(origin->ctx, count * w, sizeof *key, &key));
    TAC_TRY(tac_alloc(origin->ctx, count, sizeof *order, &order));
    memcpy(key, element, count * w * sizeof *key);
    for (size_t e = 0; e < count; e++) {
        tac_lid *v = key + w * e;
        for (size_t k = 1; k < w; k++) {
            for (size_t m = k; m > 0 && v[m - 1] > v[m]; m--) {
                tac_lid swap = v[m];
                v[m] = v[m - 1];
                v[m - 1] = swap;
            }
        }
    }
    TAC_TRY(tac_sort_rows(origin->ctx, (tac_lid)vertex_count, count, width, key, order));
    for (size_t e = 1; e < count; e++) {
        /* The sort is stable, so order[e - 1] < order[e] among equals; report the earliest repeat. */
        const size_t one = (size_t)order[e - 1], two = (size_t)order[e];
        if (two < found && memcmp(key + w * one, key + w * two, w * sizeof *key) == 0) {
            found = two;
            first = one;
        }
    }
    if (found != SIZE_MAX)
        err = tac_fail_repeat(origin, width, found, found, first);
done:
    free(key);
    free(order);
    return err;
}

enum tac_err tac_check_vertices(struct tac_builder *b)
{
    const struct tac_origin origin = {b->ctx, b->where, NULL, NULL};
    return tac_check_coordinates(&origin, 0, b->vertex_count, b->x);
}

enum tac_err tac_check_elements(struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    const struct tac_origin triangle = {b->ctx, b->where, b->unit, b->triangle_place};
    const struct tac_origin segment = {b->ctx, b->where, b->unit, b->segment_place};
    TAC_TRY(tac_check_indices(&triangle, 0, b->triangle_count, 3, b->triangle, b->vertex_count));
    TAC_TRY(tac_check_indices(&segment, 0, b->segment_count, 2, b->segment, b->vertex_count));
    TAC_TRY(tac_check_sizes(&triangle, 0, b->triangle_count, 3, b->triangle, b->triangle, b->x));
    TAC_TRY(tac_check_sizes(&segment, 0, b->segment_count, 2, b->segment, b->segment, b->x));
    TAC_TRY(tac_check_repeats(&triangle, b->vertex_count, b->triangle_count, 3, b->triangle));
    TAC_TRY(tac_check_repeats(&segment, b->vertex_count, b->segment_count, 2, b->segment));
done:
    return err;
}
