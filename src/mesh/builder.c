/* builder.c: collects the vertices and elements that generators and readers make, and checks them at the end. */
#include "mesh/builder.h"

#include "mesh/check.h"

#include <stdlib.h>
#include <string.h>

void tac_builder_init(struct tac_builder *b, struct tac_ctx *ctx, const char *where)
{
    memset(b, 0, sizeof *b);
    b->ctx = ctx;
    b->where = where;
}

void tac_builder_clear(struct tac_builder *b)
{
    free(b->path);
    free(b->x);
    free(b->triangle);
    free(b->triangle_place);
    free(b->segment);
    free(b->segment_place);
    free(b->tetrahedron);
    free(b->tetrahedron_place);
    tac_builder_init(b, b->ctx, "");
}

static enum tac_err refuse_too_many(struct tac_builder *b, const char *what, double count)
{
    return tac_fail(b->ctx, TAC_ERR_INPUT, "%s: %.0f %s are more than one mesh may have (%" PRId64 "); make it coarser",
                    b->where, count, what, TAC_MESH_LIMIT);
}

enum tac_err tac_builder_reserve(struct tac_builder *b, double vertices, double triangles, double segments)
{
    enum tac_err err = TAC_OK;
    const double limit = (double)TAC_MESH_LIMIT;
    if (!(vertices <= limit))
        return refuse_too_many(b, "vertices", vertices);
    if (!(triangles <= limit))
        return refuse_too_many(b, "triangles", triangles);
    if (!(segments <= limit))
        return refuse_too_many(b, "segments", segments);
    TAC_TRY(tac_grow(b->ctx, &b->x, &b->vertex_capacity, (size_t)vertices, 3 * sizeof *b->x));
    TAC_TRY(tac_grow(b->ctx, &b->triangle, &b->triangle_capacity, (size_t)triangles, 3 * sizeof *b->triangle));
    TAC_TRY(tac_grow(b->ctx, &b->segment, &b->segment_capacity, (size_t)segments, 2 * sizeof *b->segment));
done:
    return err;
}

enum tac_err tac_builder_vertex(struct tac_builder *b, double x, double y, double z)
{
    enum tac_err err = TAC_OK;
    if (b->vertex_count >= (size_t)TAC_MESH_LIMIT)
        return refuse_too_many(b, "vertices", (double)b->vertex_count + 1);
    TAC_TRY(tac_grow(b->ctx, &b->x, &b->vertex_capacity, b->vertex_count + 1, 3 * sizeof *b->x));
    double *to = b->x + 3 * b->vertex_count++;
    to[0] = x + 0.0;
    to[1] = y + 0.0;
    to[2] = z + 0.0;
done:
    return err;
}

/* One new element: its indices, which need only fit a tac_lid here, and its place. */
static enum tac_err push(struct tac_builder *b, const char *what, int width, const int64_t *index, size_t *count,
                         tac_lid **array, size_t *capacity, int64_t **places, size_t *place_capacity)
{
    enum tac_err err = TAC_OK;
    if (*count >= (size_t)TAC_MESH_LIMIT)
        return refuse_too_many(b, what, (double)*count + 1);
    TAC_TRY(tac_grow(b->ctx, array, capacity, *count + 1, (size_t)width * sizeof **array));
    if (b->unit != NULL) {
        TAC_TRY(tac_grow(b->ctx, places, place_capacity, *count + 1, sizeof **places));
        (*places)[*count] = b->place;
    }
    for (int k = 0; k < width; k++) {
        /* What no vertex can have becomes -1, which no vertex has either. */
        bool fits = index[k] >= 0 && index[k] < TAC_MESH_LIMIT;
        (*array)[(size_t)width * *count + (size_t)k] = fits ? (tac_lid)index[k] : -1;
    }
    (*count)++;
done:
    return err;
}

enum tac_err tac_builder_triangle(struct tac_builder *b, int64_t i, int64_t j, int64_t k)
{
    const int64_t index[3] = {i, j, k};
    return push(b, "triangles", 3, index, &b->triangle_count, &b->triangle, &b->triangle_capacity, &b->triangle_place,
                &b->triangle_place_capacity);
}

enum tac_err tac_builder_segment(struct tac_builder *b, int64_t i, int64_t j)
{
    const int64_t index[2] = {i, j};
    return push(b, "segments", 2, index, &b->segment_count, &b->segment, &b->segment_capacity, &b->segment_place,
                &b->segment_place_capacity);
}

enum tac_err tac_builder_tetrahedron(struct tac_builder *b, const int64_t v[4])
{
    return push(b, "tetrahedra", 4, v, &b->tetrahedron_count, &b->tetrahedron, &b->tetrahedron_capacity,
                &b->tetrahedron_place, &b->tetrahedron_place_capacity);
}

enum tac_err tac_builder_quad(struct tac_builder *b, int64_t ll, int64_t hl, int64_t hh, int64_t lh, int64_t parity)
{
    enum tac_err err = TAC_OK;
    if (parity % 2 == 0) {
        TAC_TRY(tac_builder_triangle(b, ll, hl, hh));
        TAC_TRY(tac_builder_triangle(b, ll, hh, lh));
    } else {
        TAC_TRY(tac_builder_triangle(b, ll, hl, lh));
        TAC_TRY(tac_builder_triangle(b, hl, hh, lh));
    }
done:
    return err;
}

enum tac_err tac_builder_patch(struct tac_builder *b, int64_t first, int64_t nu, int64_t nv, bool wrap_u, bool wrap_v,
                               bool flip)
{
    enum tac_err err = TAC_OK;
    const int64_t row = wrap_u ? nu : nu + 1;
    for (int64_t j = 0; j < nv; j++) {
        const int64_t below = first + row * j, above = first + row * (wrap_v && j + 1 == nv ? 0 : j + 1);
        for (int64_t i = 0; i < nu; i++) {
            const int64_t next = wrap_u && i + 1 == nu ? 0 : i + 1;
            const int64_t hl = below + next, lh = above + i;
            TAC_TRY(tac_builder_quad(b, below + i, flip ? lh : hl, above + next, flip ? hl : lh, i + j));
        }
    }
done:
    return err;
}

/* Removes the vertices that no element uses and renumbers the rest, in order. quietly: they were to be expected. */
static enum tac_err drop_unused(struct tac_builder *b, bool quietly)
{
    enum tac_err err = TAC_OK;
    tac_lid *number = NULL;
    size_t kept = 0;
    TAC_TRY(tac_alloc(b->ctx, b->vertex_count, sizeof *number, &number));
    for (size_t k = 0; k < 3 * b->triangle_count; k++)
        number[b->triangle[k]] = 1;
    for (size_t k = 0; k < 2 * b->segment_count; k++)
        number[b->segment[k]] = 1;
    for (size_t k = 0; k < 4 * b->tetrahedron_count; k++)
        number[b->tetrahedron[k]] = 1;
    for (size_t i = 0; i < b->vertex_count; i++) {
        if (!number[i])
            continue;
        memmove(b->x + 3 * kept, b->x + 3 * i, 3 * sizeof *b->x);
        number[i] = (tac_lid)kept++;
    }
    if (kept < b->vertex_count) {
        if (!quietly)
            tac_warn(b->ctx,
                     "%s: %zu of %zu vertices are in no element and are dropped; vertex numbers count the others",
                     b->where, b->vertex_count - kept, b->vertex_count);
        for (size_t k = 0; k < 3 * b->triangle_count; k++)
            b->triangle[k] = number[b->triangle[k]];
        for (size_t k = 0; k < 2 * b->segment_count; k++)
            b->segment[k] = number[b->segment[k]];
        for (size_t k = 0; k < 4 * b->tetrahedron_count; k++)
            b->tetrahedron[k] = number[b->tetrahedron[k]];
        b->vertex_count = kept;
    }
done:
    free(number);
    return err;
}

/* An owned array cut to its size; kept as it is if the cut fails. */
static void *fit(void *array, size_t bytes)
{
    void *cut = realloc(array, bytes ? bytes : 1);
    return cut != NULL ? cut : array;
}

/* Makes the elements that the caller needs. *inside: vertices that only tetrahedra have are dropped. */
static enum tac_err choose(struct tac_builder *b, enum tac_mesh_want want, bool *inside)
{
    enum tac_err err = TAC_OK;
    const bool own = b->triangle_count + b->segment_count > 0;
    const int64_t others = b->left_out + (want == TAC_MESH_SURFACE && own ? (int64_t)b->tetrahedron_count : 0);
    if (want == TAC_MESH_SOLID && b->tetrahedron_count == 0)
        return tac_fail(
            b->ctx, TAC_ERR_INPUT,
            "%s: has no tetrahedra, and the body's material is a \"solid\"; give a mesh that has some (a box "
            "or sphere with \"fill\": \"tets\", a Gmsh or HDF5 file), or another material",
            b->where);
    if (others > 0)
        tac_warn(b->ctx, "%s: %" PRId64 " volume elements are left out; %s", b->where, others,
                 want == TAC_MESH_SURFACE
                     ? "only triangles, quadrangles and lines are read, for the body is no \"solid\""
                     : "of those only tetrahedra with four nodes are read");
    *inside = want == TAC_MESH_SURFACE && b->tetrahedron_count > 0 && !own;
    if (b->tetrahedron_count > 0 && (want != TAC_MESH_SURFACE || !own))
        TAC_TRY(tac_builder_surface(b));
    if (want == TAC_MESH_SURFACE)
        b->tetrahedron_count = 0;
done:
    return err;
}

enum tac_err tac_builder_finish(struct tac_builder *b, bool points_only, enum tac_mesh_want want, struct tac_mesh **out)
{
    enum tac_err err = TAC_OK;
    struct tac_mesh *mesh = NULL;
    bool inside = false;
    if (points_only)
        b->triangle_count = b->segment_count = b->tetrahedron_count = 0;
    if (b->vertex_count == 0) {
        err = tac_fail(b->ctx, TAC_ERR_INPUT, "%s: has no vertices; a mesh needs at least one", b->where);
        goto done;
    }
    TAC_TRY(tac_check_vertices(b));
    TAC_TRY(choose(b, points_only ? TAC_MESH_ANY : want, &inside));
    TAC_TRY(tac_check_elements(b));
    if (b->triangle_count + b->segment_count > 0)
        TAC_TRY(drop_unused(b, inside));
    TAC_TRY(tac_alloc(b->ctx, 1, sizeof *mesh, &mesh));
    mesh->vertex_count = (tac_lid)b->vertex_count;
    mesh->x = fit(b->x, 3 * b->vertex_count * sizeof *b->x);
    mesh->triangle_count = (tac_lid)b->triangle_count;
    mesh->triangle = fit(b->triangle, 3 * b->triangle_count * sizeof *b->triangle);
    mesh->segment_count = (tac_lid)b->segment_count;
    mesh->segment = fit(b->segment, 2 * b->segment_count * sizeof *b->segment);
    if (b->tetrahedron_count > 0) {
        mesh->tetrahedron_count = (tac_lid)b->tetrahedron_count;
        mesh->tetrahedron = fit(b->tetrahedron, 4 * b->tetrahedron_count * sizeof *b->tetrahedron);
        b->tetrahedron = NULL;
    }
    b->x = NULL;
    b->triangle = b->segment = NULL;
    *out = mesh;
done:
    return err;
}

void tac_mesh_destroy(struct tac_mesh **mesh)
{
    if (*mesh == NULL)
        return;
    free((*mesh)->x);
    free((*mesh)->triangle);
    free((*mesh)->segment);
    free((*mesh)->tetrahedron);
    free(*mesh);
    *mesh = NULL;
}
