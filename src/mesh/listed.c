/* listed.c: meshes whose vertices are written down: inline, segments, points. */
#include "mesh/kinds.h"

#include <string.h>

static enum tac_err push_vertices(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    const size_t count = tac_params_row_count(p, "vertices");
    TAC_TRY(tac_builder_reserve(b, (double)count, 0, 0));
    for (size_t i = 0; i < count; i++) {
        double x[3];
        tac_params_row(p, "vertices", i, 3, x);
        TAC_TRY(tac_builder_vertex(b, x[0], x[1], x[2]));
    }
done:
    return err;
}

/* The elements under a key, each index held against the number of vertices so that the sentence has the JSON path. */
static enum tac_err push_elements(const struct tac_params *p, struct tac_builder *b, const char *key, int width)
{
    enum tac_err err = TAC_OK;
    char path[512];
    const size_t count = tac_params_row_count(p, key);
    for (size_t e = 0; e < count; e++) {
        double v[4];
        tac_params_row(p, key, e, width, v);
        for (int k = 0; k < width; k++) {
            if (v[k] >= (double)b->vertex_count) {
                err = tac_fail(p->ctx, TAC_ERR_INPUT, "%s[%zu][%d]: vertex %.0f does not exist; there are %zu, from 0",
                               tac_params_path(p, key, path), e, k, v[k], b->vertex_count);
                goto done;
            }
        }
        if (width == 4)
            TAC_TRY(tac_builder_tetrahedron(
                b, (const int64_t[]){(int64_t)v[0], (int64_t)v[1], (int64_t)v[2], (int64_t)v[3]}));
        else if (width == 3)
            TAC_TRY(tac_builder_triangle(b, (int64_t)v[0], (int64_t)v[1], (int64_t)v[2]));
        else
            TAC_TRY(tac_builder_segment(b, (int64_t)v[0], (int64_t)v[1]));
    }
done:
    return err;
}

enum tac_err tac_make_inline(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(push_vertices(p, b));
    TAC_TRY(push_elements(p, b, "triangles", 3));
    TAC_TRY(push_elements(p, b, "edges", 2));
    TAC_TRY(push_elements(p, b, "tetrahedra", 4));
done:
    return err;
}

/* Refuses a key that has no meaning beside what else is given. */
static enum tac_err refuse(const struct tac_params *p, const char *key, const char *why)
{
    char path[512];
    if (!tac_params_has(p, key))
        return TAC_OK;
    return tac_fail(p->ctx, TAC_ERR_INPUT, "%s: %s", tac_params_path(p, key, path), why);
}

static enum tac_err straight_chain(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    char path[512];
    double from[3], to[3];
    const int64_t n = tac_params_count(p, "cells", 1);
    const char *missing = !tac_params_has(p, "from") ? "from" : !tac_params_has(p, "to") ? "to" : NULL;
    if (missing != NULL) {
        err = tac_fail(p->ctx, TAC_ERR_INPUT, "%s: is missing; segments need 'from' and 'to', or 'vertices'",
                       tac_params_path(p, missing, path));
        goto done;
    }
    TAC_TRY(refuse(p, "edges", "goes with 'vertices', not with 'from' and 'to'"));
    if (tac_params_flag(p, "closed"))
        TAC_TRY(refuse(p, "closed", "a straight line cannot be closed; give 'vertices' instead of 'from' and 'to'"));
    tac_params_numbers(p, "from", 3, from);
    tac_params_numbers(p, "to", 3, to);
    TAC_TRY(tac_builder_reserve(b, (double)n + 1, 0, (double)n));
    for (int64_t i = 0; i <= n; i++) {
        const double v = (double)i / (double)n;
        double x[3];
        for (int k = 0; k < 3; k++)
            x[k] = i == n ? to[k] : from[k] + v * (to[k] - from[k]);
        TAC_TRY(tac_builder_vertex(b, x[0], x[1], x[2]));
    }
    for (int64_t i = 0; i < n; i++)
        TAC_TRY(tac_builder_segment(b, i, i + 1));
done:
    return err;
}

enum tac_err tac_make_segments(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    if (!tac_params_has(p, "vertices"))
        return straight_chain(p, b);
    TAC_TRY(refuse(p, "from", "goes without 'vertices'; give one or the other"));
    TAC_TRY(refuse(p, "to", "goes without 'vertices'; give one or the other"));
    TAC_TRY(refuse(p, "cells", "goes with 'from' and 'to', not with 'vertices'"));
    TAC_TRY(push_vertices(p, b));
    if (tac_params_has(p, "edges")) {
        if (tac_params_flag(p, "closed"))
            TAC_TRY(refuse(p, "closed", "goes without 'edges': they say themselves what is joined"));
        TAC_TRY(push_elements(p, b, "edges", 2));
    } else {
        const bool closed = tac_params_flag(p, "closed");
        const int64_t n = (int64_t)b->vertex_count;
        if (n < (closed ? 3 : 2)) {
            char path[512];
            err = tac_fail(p->ctx, TAC_ERR_INPUT, "%s: a %s needs at least %d vertices, not %" PRId64,
                           tac_params_path(p, "vertices", path), closed ? "closed chain" : "chain", closed ? 3 : 2, n);
            goto done;
        }
        for (int64_t i = 0; i + 1 < n; i++)
            TAC_TRY(tac_builder_segment(b, i, i + 1));
        if (closed)
            TAC_TRY(tac_builder_segment(b, n - 1, 0));
    }
done:
    return err;
}

/* Points on a lattice about the origin, x fastest. */
static void lattice_vertex(const struct tac_mesh_blocks *b, int64_t i, double x[3])
{
    const int64_t *n = b->cells, place[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
    for (int k = 0; k < 3; k++)
        x[k] = .5 * b->size[0] * (double)(2 * place[k] - n[k] + 1);
}

static void find_lattice(const struct tac_params *p, struct tac_mesh_blocks *b)
{
    struct tac_params inner = *p;
    inner.object = json_object_get(p->object, "lattice");
    tac_params_counts(&inner, "count", 3, b->cells);
    b->size[0] = tac_params_number(&inner, "spacing");
    b->triangle_count = 0;
    b->vertex = lattice_vertex;
    b->triangle = NULL;
}

/* More points than a mesh may have, maybe more than can be counted, are refused where the mesh is made whole. */
static bool too_many(const int64_t n[3])
{
    return (double)n[0] * (double)n[1] * (double)n[2] > TAC_MESH_LIMIT;
}

bool tac_points_blocks(const struct tac_params *p, struct tac_mesh_blocks *b)
{
    if (!tac_params_has(p, "lattice") || tac_params_has(p, "vertices") || tac_params_has(p, "path"))
        return false;
    find_lattice(p, b);
    if (too_many(b->cells))
        return false;
    b->vertex_count = b->cells[0] * b->cells[1] * b->cells[2];
    return true;
}

static enum tac_err make_lattice(const struct tac_params *p, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct tac_mesh_blocks lattice = {0};
    double x[3];
    find_lattice(p, &lattice);
    TAC_TRY(
        tac_builder_reserve(b, (double)lattice.cells[0] * (double)lattice.cells[1] * (double)lattice.cells[2], 0, 0));
    const int64_t count = lattice.cells[0] * lattice.cells[1] * lattice.cells[2];
    for (int64_t i = 0; i < count; i++) {
        lattice_vertex(&lattice, i, x);
        TAC_TRY(tac_builder_vertex(b, x[0], x[1], x[2]));
    }
done:
    return err;
}

enum tac_err tac_make_points(const struct tac_params *p, struct tac_builder *b)
{
    const bool vertices = tac_params_has(p, "vertices"), path = tac_params_has(p, "path");
    const int sources = vertices + path + tac_params_has(p, "lattice");
    if (sources != 1)
        return tac_fail(
            p->ctx, TAC_ERR_INPUT, "%s: points need exactly one of 'vertices', 'path' and 'lattice', not %s",
            strcmp(p->where, "--") == 0 ? "tactus mesh points" : p->where, sources == 0 ? "none" : "several");
    if (path)
        return tac_make_file(p, b);
    return vertices ? push_vertices(p, b) : make_lattice(p, b);
}
