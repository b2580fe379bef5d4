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

/* "mesh.obj, line 12" or, without places, "bodies[0].mesh". */
static const char *place(const struct tac_builder *b, const int64_t *places, size_t element, char text[512])
{
    if (b->unit == NULL || places == NULL)
        snprintf(text, 512, "%.500s", b->where);
    else
        snprintf(text, 512, "%.440s, %s %" PRId64, b->where, b->unit, places[element]);
    return text;
}

enum tac_err tac_check_vertices(struct tac_builder *b)
{
    for (size_t k = 0; k < 3 * b->vertex_count; k++) {
        if (!(fabs(b->x[k]) <= TAC_COORDINATE_LIMIT))
            return tac_fail(b->ctx, TAC_ERR_INPUT,
                            "%s: the %c coordinate of vertex %zu is %g; coordinates must be finite and at most %g",
                            b->where, "xyz"[k % 3], k / 3, b->x[k], TAC_COORDINATE_LIMIT);
    }
    return TAC_OK;
}

/* Indices in range and different. */
static enum tac_err check_indices(struct tac_builder *b, const char *what, size_t count, int width,
                                  const tac_lid *element, const int64_t *places)
{
    char text[512];
    for (size_t e = 0; e < count; e++) {
        const tac_lid *v = element + (size_t)width * e;
        for (int k = 0; k < width; k++) {
            if (v[k] < 0 || (size_t)v[k] >= b->vertex_count)
                return tac_fail(b->ctx, TAC_ERR_INPUT,
                                "%s: %s %zu names a vertex that does not exist; the mesh has %zu vertices",
                                place(b, places, e, text), what, e, b->vertex_count);
            for (int m = 0; m < k; m++) {
                if (v[k] == v[m])
                    return tac_fail(b->ctx, TAC_ERR_INPUT, "%s: %s %zu names vertex %" TAC_PRILID " twice; remove it",
                                    place(b, places, e, text), what, e, v[k]);
            }
        }
    }
    return TAC_OK;
}

static enum tac_err check_areas(struct tac_builder *b)
{
    char text[512];
    for (size_t t = 0; t < b->triangle_count; t++) {
        const tac_lid *v = b->triangle + 3 * t;
        double edge[3][3], normal[3], longest = 0;
        for (int k = 0; k < 3; k++) {
            tac_sub(edge[k], b->x + 3 * (size_t)v[(k + 1) % 3], b->x + 3 * (size_t)v[k]);
            longest = fmax(longest, tac_dot(edge[k], edge[k]));
        }
        tac_cross(normal, edge[0], edge[1]);
        if (longest < TINY_SQUARE || sqrt(tac_dot(normal, normal)) <= THINNEST * longest)
            return tac_fail(b->ctx, TAC_ERR_INPUT,
                            "%s: triangle %zu (vertices %" TAC_PRILID ", %" TAC_PRILID ", %" TAC_PRILID
                            ") near (%g, %g, %g) has no area; remove it or move a vertex",
                            place(b, b->triangle_place, t, text), t, v[0], v[1], v[2], b->x[3 * (size_t)v[0]],
                            b->x[3 * (size_t)v[0] + 1], b->x[3 * (size_t)v[0] + 2]);
    }
    for (size_t s = 0; s < b->segment_count; s++) {
        const tac_lid *v = b->segment + 2 * s;
        double edge[3];
        tac_sub(edge, b->x + 3 * (size_t)v[1], b->x + 3 * (size_t)v[0]);
        if (tac_dot(edge, edge) < TINY_SQUARE)
            return tac_fail(b->ctx, TAC_ERR_INPUT,
                            "%s: segment %zu (vertices %" TAC_PRILID ", %" TAC_PRILID
                            ") has no length; remove it or move a vertex",
                            place(b, b->segment_place, s, text), s, v[0], v[1]);
    }
    return TAC_OK;
}

/* Two elements with the same vertices, in whatever order. */
static enum tac_err check_repeats(struct tac_builder *b, const char *what, size_t count, int width,
                                  const tac_lid *element, const int64_t *places)
{
    enum tac_err err = TAC_OK;
    tac_lid *key = NULL, *order = NULL;
    const size_t w = (size_t)width;
    size_t found = SIZE_MAX, first = 0;
    char text[512];
    if (count < 2)
        return TAC_OK;
    TAC_TRY(tac_alloc(b->ctx, count * w, sizeof *key, &key));
    TAC_TRY(tac_alloc(b->ctx, count, sizeof *order, &order));
    if (count > 0)
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
    TAC_TRY(tac_sort_rows(b->ctx, (tac_lid)b->vertex_count, count, width, key, order));
    for (size_t e = 1; e < count; e++) {
        /* The sort is stable, so order[e - 1] < order[e] among equals; report the earliest repeat. */
        const size_t one = (size_t)order[e - 1], two = (size_t)order[e];
        if (two < found && memcmp(key + w * one, key + w * two, w * sizeof *key) == 0) {
            found = two;
            first = one;
        }
    }
    if (found != SIZE_MAX)
        err = tac_fail(b->ctx, TAC_ERR_INPUT, "%s: %s %zu has the same vertices as %s %zu; remove one of them",
                       place(b, places, found, text), what, found, what, first);
done:
    free(key);
    free(order);
    return err;
}

enum tac_err tac_check_elements(struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(check_indices(b, "triangle", b->triangle_count, 3, b->triangle, b->triangle_place));
    TAC_TRY(check_indices(b, "segment", b->segment_count, 2, b->segment, b->segment_place));
    TAC_TRY(check_areas(b));
    TAC_TRY(check_repeats(b, "triangle", b->triangle_count, 3, b->triangle, b->triangle_place));
    TAC_TRY(check_repeats(b, "segment", b->segment_count, 2, b->segment, b->segment_place));
done:
    return err;
}
