/* mesh.c: makes the rows of a body's mesh that a rank has. They are taken from a mesh that every rank makes. The rows
 * of a large HDF5 file, or of a large mesh of a kind that allows it, are read or made by blocks. The checks and their
 * sentences are those of a mesh that is read whole. */
#include "scene/spread/mesh.h"

#include <stdlib.h>
#include <string.h>

static const char *file_of(const json_t *spec)
{
    const char *kind = json_string_value(json_object_get(spec, "kind"));
    /* A description with other keys is wrong, and refused where meshes are made. */
    if (kind == NULL || strcmp(kind, "file") != 0 || json_object_size(spec) != 2)
        return NULL;
    return json_string_value(json_object_get(spec, "path"));
}

int64_t tac_spread_mesh_rows(const struct tac_ctx *ctx, const json_t *spec, const char *base_dir)
{
    struct tac_ctx silent = *ctx; /* the rank that reads the file reports what is wrong with it */
    const char *path = file_of(spec);
    struct tac_hdf5 *mesh = NULL;
    char *whole = NULL;
    struct tac_mesh_blocks blocks;
    int64_t rows = 0;
    if (tac_mesh_find_blocks(ctx, spec, &blocks))
        return blocks.vertex_count + blocks.triangle_count + blocks.tetrahedron_count;
    if (path == NULL || path[0] == '\0')
        return 0;
    const size_t size = strlen(base_dir) + strlen(path) + 2;
    if (tac_alloc(&silent, size, 1, &whole) == TAC_OK) {
        snprintf(whole, size, "%s%s%s", path[0] == '/' ? "" : base_dir, path[0] == '/' ? "" : "/", path);
        if (tac_file_check(&silent, whole, NULL) == TAC_OK && tac_is_hdf5(whole) &&
            tac_hdf5_open(&silent, whole, &mesh) == TAC_OK &&
            /* of tetrahedra alone the surface is derived, for which all of them are needed */
            (tac_hdf5_rows(mesh, TAC_HDF5_TETRAHEDRA) == 0 ||
             tac_hdf5_rows(mesh, TAC_HDF5_TRIANGLES) + tac_hdf5_rows(mesh, TAC_HDF5_SEGMENTS) > 0))
            rows = tac_hdf5_rows(mesh, TAC_HDF5_VERTICES) + tac_hdf5_rows(mesh, TAC_HDF5_TRIANGLES) +
                   tac_hdf5_rows(mesh, TAC_HDF5_SEGMENTS);
    }
    tac_hdf5_close(&mesh);
    free(whole);
    return rows;
}

/* All ranks see a mesh of the same size, or one of them reads another file. */
static enum tac_err compare_sizes(struct tac_ctx *ctx, const char *where, const tac_lid total[TAC_TABLES])
{
    enum tac_err err = TAC_OK;
    tac_lid first[TAC_TABLES];
    memcpy(first, total, sizeof first);
    MPI_Bcast(first, TAC_TABLES, TAC_LID_MPI, 0, ctx->comm);
    if (memcmp(first, total, sizeof first) != 0)
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: rank %d reads another mesh than rank 0; put it on a shared disk", where,
                       ctx->rank);
    return tac_agree(ctx, err);
}

/* Keeps this rank's rows of a mesh that is here whole. */
static void cut_rows(const struct tac_ctx *ctx, tac_lid body, struct tac_mesh *mesh, struct tac_extent *extent)
{
    tac_lid *count[TAC_TABLES] = {&mesh->vertex_count, &mesh->triangle_count, &mesh->segment_count,
                                  &mesh->tetrahedron_count};
    for (int k = 0; k < TAC_TABLES; k++) {
        extent->total[k] = *count[k];
        tac_spread_block(ctx, body, extent->total[k], &extent->number[k], count[k]);
    }
    char *const array[TAC_TABLES] = {(char *)mesh->x, (char *)mesh->triangle, (char *)mesh->segment,
                                     (char *)mesh->tetrahedron};
    const size_t size[TAC_TABLES] = {3 * sizeof *mesh->x, 3 * sizeof *mesh->triangle, 2 * sizeof *mesh->segment,
                                     4 * sizeof *mesh->tetrahedron};
    for (int k = 0; k < TAC_TABLES; k++)
        if (*count[k] > 0)
            memmove(array[k], array[k] + (size_t)extent->number[k] * size[k], (size_t)*count[k] * size[k]);
}

static void choose_rows(struct tac_spread_large *l)
{
    tac_lid *const count[TAC_TABLES] = {&l->mesh->vertex_count, &l->mesh->triangle_count, &l->mesh->segment_count,
                                        &l->mesh->tetrahedron_count};
    for (int k = 0; k < TAC_TABLES; k++)
        tac_spread_block(l->ctx, l->body, l->rows->total[k], &l->rows->number[k], count[k]);
}

static enum tac_err open_large(struct tac_spread_large *l, const char *where)
{
    char from[512];
    snprintf(from, sizeof from, "%.500s.path", where);
    enum tac_err err = tac_file_check(l->ctx, l->path, from);
    if (err == TAC_OK)
        err = tac_hdf5_open(l->ctx, l->path, &l->file);
    if (err == TAC_OK)
        err = tac_alloc(l->ctx, 1, sizeof *l->mesh, &l->mesh);
    TAC_TRY(tac_agree(l->ctx, err));
    for (int k = 0; k < 3; k++)
        l->rows->total[k] = (tac_lid)tac_hdf5_rows(l->file, (enum tac_hdf5_table)k); /* at most TAC_MESH_LIMIT */
    TAC_TRY(compare_sizes(l->ctx, l->path, l->rows->total));
    if (l->rows->total[TAC_VERTICES] == 0)
        err = tac_fail(l->ctx, TAC_ERR_INPUT, "%s: has no vertices; a mesh needs at least one", l->path);
    choose_rows(l);
done:
    return err;
}

static enum tac_err read_vertices(struct tac_spread_large *l)
{
    const size_t n = (size_t)l->mesh->vertex_count;
    const struct tac_origin origin = tac_spread_origin(l);
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(l->ctx, 3 * n, sizeof *l->mesh->x, &l->mesh->x));
    TAC_TRY(tac_hdf5_read(l->ctx, l->file, TAC_HDF5_VERTICES, l->rows->number[0], (int64_t)n, l->mesh->x));
    for (size_t k = 0; k < 3 * n; k++)
        l->mesh->x[k] += 0.0; /* no -0, as in meshes read whole */
    TAC_TRY(tac_check_coordinates(&origin, (size_t)l->rows->number[0], n, l->mesh->x));
done:
    return err;
}

static enum tac_err make_tetrahedra(struct tac_spread_large *l)
{
    const size_t n = (size_t)l->mesh->tetrahedron_count;
    int64_t v[4];
    enum tac_err err = TAC_OK;
    if (n == 0)
        return TAC_OK;
    TAC_TRY(tac_alloc(l->ctx, 4 * n, sizeof *l->mesh->tetrahedron, &l->mesh->tetrahedron));
    for (size_t t = 0; t < n; t++) {
        l->blocks.tetrahedron(&l->blocks, l->rows->number[TAC_TETRAHEDRA] + (int64_t)t, v);
        for (size_t k = 0; k < 4; k++)
            l->mesh->tetrahedron[4 * t + k] = (tac_lid)v[k];
    }
done:
    return err;
}

static enum tac_err make_rows(struct tac_spread_large *l)
{
    const struct tac_origin origin = tac_spread_origin(l);
    const size_t n = (size_t)l->mesh->vertex_count, triangles = (size_t)l->mesh->triangle_count;
    int64_t v[3];
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(l->ctx, 3 * n, sizeof *l->mesh->x, &l->mesh->x));
    TAC_TRY(tac_alloc(l->ctx, 3 * triangles, sizeof *l->mesh->triangle, &l->mesh->triangle));
    TAC_TRY(tac_alloc(l->ctx, 1, 1, &l->mesh->segment));
    TAC_TRY(make_tetrahedra(l));
    for (size_t i = 0; i < n; i++)
        l->blocks.vertex(&l->blocks, l->rows->number[TAC_VERTICES] + (int64_t)i, l->mesh->x + 3 * i);
    for (size_t t = 0; t < triangles; t++) {
        l->blocks.triangle(&l->blocks, l->rows->number[TAC_TRIANGLES] + (int64_t)t, v);
        for (size_t k = 0; k < 3; k++)
            l->mesh->triangle[3 * t + k] = (tac_lid)v[k];
    }
    TAC_TRY(tac_check_coordinates(&origin, (size_t)l->rows->number[TAC_VERTICES], n, l->mesh->x));
done:
    return err;
}

static enum tac_err read_elements(struct tac_spread_large *l, enum tac_table table, tac_lid **out)
{
    enum { PORTION = 1 << 18 };
    const size_t width = (size_t)tac_spread_width(table);
    const int64_t rows = tac_spread_rows(l, table);
    int64_t *data = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(l->ctx, width * (size_t)rows, sizeof **out, out));
    TAC_TRY(tac_alloc(l->ctx, width * (size_t)(rows < PORTION ? rows : PORTION), sizeof *data, &data));
    for (int64_t first = 0; first < rows; first += PORTION) {
        const int64_t count = rows - first < PORTION ? rows - first : PORTION;
        TAC_TRY(
            tac_hdf5_read(l->ctx, l->file, (enum tac_hdf5_table)table, l->rows->number[table] + first, count, data));
        for (size_t i = 0; i < width * (size_t)count; i++) {
            /* What no vertex can have becomes -1, which no vertex has either. */
            const bool fits = data[i] >= 0 && data[i] < TAC_MESH_LIMIT;
            (*out)[width * (size_t)first + i] = fits ? (tac_lid)data[i] : -1;
        }
    }
done:
    free(data);
    return err;
}

static enum tac_err read_large(struct tac_spread_large *l, const char *where)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(open_large(l, where));
    err = read_vertices(l);
    if (err == TAC_OK)
        err = read_elements(l, TAC_TRIANGLES, &l->mesh->triangle);
    if (err == TAC_OK)
        err = read_elements(l, TAC_SEGMENTS, &l->mesh->segment);
    TAC_TRY(tac_agree(l->ctx, err));
    tac_hdf5_close(&l->file);
    TAC_TRY(tac_spread_check_indices(l, TAC_TRIANGLES));
    TAC_TRY(tac_spread_check_indices(l, TAC_SEGMENTS));
    TAC_TRY(tac_spread_check_sizes(l, TAC_TRIANGLES));
    TAC_TRY(tac_spread_check_sizes(l, TAC_SEGMENTS));
    TAC_TRY(tac_spread_check_repeats(l, TAC_TRIANGLES));
    TAC_TRY(tac_spread_check_repeats(l, TAC_SEGMENTS));
    if (l->rows->total[TAC_TRIANGLES] > 0 || l->rows->total[TAC_SEGMENTS] > 0)
        TAC_TRY(tac_spread_drop_unused(l));
done:
    return err;
}

/* Rows that a kind of mesh makes are all different and all used. */
static enum tac_err make_large(struct tac_spread_large *l)
{
    enum tac_err err = tac_alloc(l->ctx, 1, sizeof *l->mesh, &l->mesh);
    TAC_TRY(tac_agree(l->ctx, err));
    l->rows->total[TAC_VERTICES] = (tac_lid)l->blocks.vertex_count; /* at most TAC_MESH_LIMIT */
    l->rows->total[TAC_TRIANGLES] = (tac_lid)l->blocks.triangle_count;
    l->rows->total[TAC_TETRAHEDRA] = (tac_lid)l->blocks.tetrahedron_count;
    choose_rows(l);
    TAC_TRY(tac_agree(l->ctx, make_rows(l)));
    TAC_TRY(tac_spread_check_sizes(l, TAC_TRIANGLES));
done:
    return err;
}

/* The surface of a solid from a file is derived from all of its tetrahedra, so such a mesh is made whole. Kinds that
 * make tetrahedra by rows know their surface, and it is the surface with all inner vertices, which only a solid has. */
static bool may_be_spread(const struct tac_ctx *ctx, const json_t *spec, enum tac_mesh_want want)
{
    struct tac_mesh_blocks blocks;
    const bool tetrahedra = tac_mesh_find_blocks(ctx, spec, &blocks) && blocks.tetrahedron_count > 0;
    return tetrahedra == (want == TAC_MESH_SOLID);
}

enum tac_err tac_spread_mesh(struct tac_reader *reader, tac_lid body, const json_t *spec, const char *where,
                             enum tac_mesh_want want, struct tac_mesh **out, struct tac_extent *extent)
{
    struct tac_ctx *ctx = reader->ctx;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_agree(ctx, TAC_OK)); /* ranks that have failed already wait in this agreement */
    bool large = ctx->rank == 0 && may_be_spread(ctx, spec, want) &&
                 tac_spread_mesh_rows(ctx, spec, reader->base_dir) >= reader->smallest;
    MPI_Bcast(&large, 1, MPI_C_BOOL, 0, ctx->comm);
    if (large) {
        struct tac_spread_large l = {.ctx = ctx, .body = body, .path = file_of(spec), .rows = extent};
        if (l.path != NULL) {
            err = read_large(&l, where);
        } else {
            l.path = where;
            err = tac_mesh_find_blocks(ctx, spec, &l.blocks)
                      ? TAC_OK
                      : tac_fail(ctx, TAC_ERR_RUN, "out of memory while making %s", where);
            err = tac_agree(ctx, err);
            err = err ? err : make_large(&l);
        }
        tac_hdf5_close(&l.file);
        if (err)
            tac_mesh_destroy(&l.mesh);
        *out = l.mesh;
        goto done;
    }
    TAC_TRY(tac_agree(ctx, tac_mesh_create_as(ctx, spec, where, reader->base_dir, want, out)));
    TAC_TRY(compare_sizes(ctx, where,
                          (tac_lid[TAC_TABLES]){(*out)->vertex_count, (*out)->triangle_count, (*out)->segment_count,
                                                (*out)->tetrahedron_count}));
    cut_rows(ctx, body, *out, extent);
done:
    return tac_reader_agreed(reader, err);
}
