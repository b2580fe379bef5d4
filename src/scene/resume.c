/* resume.c: makes the scene with which a checkpoint goes on. It is read like a new one, but the bodies' geometry may be
 * the checkpoint's; at the end its hash must be the checkpoint's. */
#include "base/exchange.h"
#include "scene/scene_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>
#include <unistd.h>

/* The last one stands in checkpoints of scenes with solids alone. */
static const char *const KINDS[TAC_TABLES] = {"vertices", "triangles", "segments", "tetrahedra"};

/* ---- what a checkpoint keeps ---- */

static json_t *counts_json(const struct tac_scene *scene, int kind)
{
    json_t *list = json_array();
    for (tac_lid b = 0; b < scene->settings->body_count; b++) {
        const struct tac_body *body = &scene->settings->body[b];
        tac_lid count = kind == TAC_VERTICES    ? body->vertex_end - body->vertex_begin
                        : kind == TAC_TRIANGLES ? body->triangle_end - body->triangle_begin
                        : kind == TAC_SEGMENTS  ? body->segment_end - body->segment_begin
                                                : body->tetrahedron_end - body->tetrahedron_begin;
        if (json_array_append_new(list, json_integer(count)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

json_t *tac_scene_stored_json(const struct tac_scene *scene)
{
    json_t *stored = json_copy(scene->settings->json), *geometry = json_object();
    bool ok = stored != NULL && geometry != NULL;
    const tac_lid bodies = scene->settings->body_count;
    const bool solids = bodies > 0 && scene->settings->body[bodies - 1].tetrahedron_end > 0;
    for (int k = 0; ok && k < (solids ? TAC_TABLES : TAC_TETRAHEDRA); k++)
        ok = json_object_set_new(geometry, KINDS[k], counts_json(scene, k)) == 0;
    ok = ok && json_object_set(stored, "geometry", geometry) == 0;
    json_decref(geometry);
    if (ok)
        return stored;
    json_decref(stored);
    return NULL;
}

/* ---- reading it ---- */

static enum tac_err fail_stored(struct tac_reader *reader, const char *what)
{
    return tac_fail(reader->ctx, TAC_ERR_INPUT,
                    "the checkpoint holds a scene that this version (%s) cannot go on with: %s; use the version that "
                    "wrote it, or start again without --restart",
                    tac_version(), what);
}

/* Where each body's part begins, from the counts under "geometry"; together they must be all there is. */
static enum tac_err read_counts(struct tac_reader *reader, const json_t *counts)
{
    struct tac_resume *resume = reader->resume;
    const struct tac_geometry *g = resume->geometry;
    const tac_gid total[TAC_TABLES] = {g->vertex_count, g->triangle_count, g->segment_count, g->tetrahedron_count};
    enum tac_err err = TAC_OK;
    const json_t *bodies = json_object_get(resume->stored, "bodies");
    resume->body_count = json_array_size(bodies);
    if (!json_is_object(counts) || resume->body_count > TAC_MOST_ELEMENTS)
        TAC_TRY(fail_stored(reader, "it does not say which vertices belong to which body"));
    TAC_TRY(tac_alloc(reader->ctx, resume->body_count + 1, TAC_TABLES * sizeof *resume->begin, &resume->begin));
    for (int k = 0; k < TAC_TABLES; k++) {
        const json_t *list = json_object_get(counts, KINDS[k]);
        tac_gid sum = 0;
        if (list == NULL && k == TAC_TETRAHEDRA && total[k] == 0)
            continue;
        if (total[k] < 0 || total[k] > TAC_MOST_ELEMENTS || json_array_size(list) != resume->body_count)
            TAC_TRY(fail_stored(reader, "it does not say which elements belong to which body"));
        for (size_t b = 0; b < resume->body_count; b++) {
            tac_gid count = json_integer_value(json_array_get(list, b));
            if (count < 0 || count > total[k] - sum)
                TAC_TRY(fail_stored(reader, "its bodies and its geometry do not fit together"));
            sum += count;
            resume->begin[TAC_TABLES * (b + 1) + (size_t)k] = (tac_lid)sum;
        }
        if (sum != total[k])
            TAC_TRY(fail_stored(reader, "its bodies and its geometry do not fit together"));
    }
done:
    return err;
}

/* A body's elements, counted from its own first vertex. */
static enum tac_err take_elements(struct tac_reader *reader, const tac_gid *element, const tac_lid *begin,
                                  const tac_lid *end, size_t kind, size_t width, tac_lid *out)
{
    size_t first = width * (size_t)begin[kind], last = width * (size_t)end[kind];
    for (size_t i = first; i < last; i++) {
        if (element[i] < begin[0] || element[i] >= end[0])
            return fail_stored(reader, "an element reaches into another body");
        out[i - first] = (tac_lid)(element[i] - begin[0]);
    }
    return TAC_OK;
}

static enum tac_err take_mesh(struct tac_reader *reader, tac_lid index, struct tac_mesh **out)
{
    const struct tac_resume *resume = reader->resume;
    const struct tac_geometry *g = resume->geometry;
    const tac_lid *begin = resume->begin + TAC_TABLES * (size_t)index, *end = begin + TAC_TABLES;
    struct tac_mesh *mesh = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(reader->ctx, 1, sizeof *mesh, &mesh));
    mesh->vertex_count = end[0] - begin[0];
    mesh->triangle_count = end[1] - begin[1];
    mesh->segment_count = end[2] - begin[2];
    mesh->tetrahedron_count = end[3] - begin[3];
    TAC_TRY(tac_alloc(reader->ctx, 3 * (size_t)mesh->vertex_count, sizeof *mesh->x, &mesh->x));
    TAC_TRY(tac_alloc(reader->ctx, 3 * (size_t)mesh->triangle_count, sizeof *mesh->triangle, &mesh->triangle));
    TAC_TRY(tac_alloc(reader->ctx, 2 * (size_t)mesh->segment_count, sizeof *mesh->segment, &mesh->segment));
    if (mesh->tetrahedron_count > 0)
        TAC_TRY(
            tac_alloc(reader->ctx, 4 * (size_t)mesh->tetrahedron_count, sizeof *mesh->tetrahedron, &mesh->tetrahedron));
    if (mesh->vertex_count > 0)
        memcpy(mesh->x, g->x + 3 * (size_t)begin[0], 3 * (size_t)mesh->vertex_count * sizeof *mesh->x);
    TAC_TRY(take_elements(reader, g->triangle, begin, end, 1, 3, mesh->triangle));
    TAC_TRY(take_elements(reader, g->segment, begin, end, 2, 2, mesh->segment));
    TAC_TRY(take_elements(reader, g->tetrahedron, begin, end, 3, 4, mesh->tetrahedron));
    *out = mesh;
    mesh = NULL;
done:
    tac_mesh_destroy(&mesh);
    return err;
}

/* ---- in pieces: each rank has its rows of the checkpoint, and takes its rows of each body ---- */

/* The rows of body `index` of one table, `width` numbers of 8 bytes each, that this rank is to have of `from`; owned by
 * the caller, *count of them. */
static enum tac_err take_rows(struct tac_reader *reader, tac_lid index, size_t table, size_t width, const void *from,
                              struct tac_extent *extent, void *out, size_t *count)
{
    const struct tac_resume *resume = reader->resume;
    const struct tac_geometry *g = resume->geometry;
    const tac_gid begin = resume->begin[TAC_TABLES * (size_t)index + table],
                  end = resume->begin[TAC_TABLES * ((size_t)index + 1) + table];
    const tac_gid first = g->first[table] > begin ? g->first[table] : begin,
                  past = g->first[table] + g->here[table] < end ? g->first[table] + g->here[table] : end;
    const size_t n = past > first ? (size_t)(past - first) : 0;
    int32_t *to = NULL;
    tac_lid rows;
    enum tac_err err;
    extent->total[table] = (tac_lid)(end - begin);
    tac_spread_block(reader->ctx, index, extent->total[table], &extent->number[table], &rows);
    err = tac_alloc(reader->ctx, n, sizeof *to, &to);
    for (size_t i = 0; i < n && !err; i++)
        to[i] = tac_spread_rank(reader->ctx, index, extent->total[table], (tac_lid)(first - begin + (tac_gid)i));
    const char *row = n > 0 ? (const char *)from + 8 * width * (size_t)(first - g->first[table]) : NULL;
    TAC_TRY(tac_distribute(reader->ctx, err, n, to, row, 8 * width, out, count));
    TAC_CHECK(*count == (size_t)rows); /* rows ascend with the ranks, here and there */
done:
    free(to);
    return err;
}

/* Elements counted from their body's first vertex. */
static enum tac_err count_from_body(struct tac_reader *reader, const tac_gid *element, size_t n, tac_lid index,
                                    tac_lid **out)
{
    const tac_lid *begin = reader->resume->begin + TAC_TABLES * (size_t)index, *end = begin + TAC_TABLES;
    enum tac_err err;
    TAC_TRY(tac_alloc(reader->ctx, n, sizeof **out, out));
    for (size_t i = 0; i < n; i++) {
        if (element[i] < begin[0] || element[i] >= end[0])
            TAC_TRY(fail_stored(reader, "an element reaches into another body"));
        (*out)[i] = (tac_lid)(element[i] - begin[0]);
    }
done:
    return err;
}

static enum tac_err take_spread(struct tac_reader *reader, tac_lid index, struct tac_mesh **out,
                                struct tac_extent *extent)
{
    const struct tac_geometry *g = reader->resume->geometry;
    const tac_gid *const from[TAC_TABLES] = {NULL, g->triangle, g->segment, g->tetrahedron};
    struct tac_mesh *mesh = NULL;
    tac_gid *element = NULL;
    size_t count;
    enum tac_err err;
    TAC_TRY(tac_agree(reader->ctx, tac_alloc(reader->ctx, 1, sizeof *mesh, &mesh)));
    TAC_TRY(take_rows(reader, index, TAC_VERTICES, 3, g->x, extent, &mesh->x, &count));
    mesh->vertex_count = (tac_lid)count;
    tac_lid **const to[TAC_TABLES] = {NULL, &mesh->triangle, &mesh->segment, &mesh->tetrahedron};
    tac_lid *const rows[TAC_TABLES] = {NULL, &mesh->triangle_count, &mesh->segment_count, &mesh->tetrahedron_count};
    for (size_t k = TAC_TRIANGLES; k < TAC_TABLES; k++) {
        const size_t width = (size_t)tac_table_width((enum tac_table)k);
        TAC_TRY(take_rows(reader, index, k, width, from[k], extent, &element, &count));
        *rows[k] = (tac_lid)count;
        TAC_TRY(tac_agree(reader->ctx, count_from_body(reader, element, width * count, index, to[k])));
        free(element);
        element = NULL;
    }
    *out = mesh;
    mesh = NULL;
done:
    free(element);
    tac_mesh_destroy(&mesh);
    return tac_reader_agreed(reader, err);
}

static bool is_file(const json_t *mesh)
{
    const char *kind = json_string_value(json_object_get(mesh, "kind"));
    return kind != NULL && strcmp(kind, "file") == 0;
}

/* Returns whether the file of a mesh is missing; while ranks read together, rank 0 decides that. */
static bool is_gone(struct tac_reader *reader, const char *path, int *why)
{
    int reported[2] = {access(path, R_OK) != 0, errno};
    if (reader->spread)
        MPI_Bcast(reported, 2, MPI_INT, 0, reader->ctx->comm);
    *why = reported[1];
    return reported[0];
}

enum tac_err tac_resume_mesh(struct tac_reader *reader, json_t *body, const char *where, tac_lid index,
                             struct tac_mesh **mesh, struct tac_extent *extent)
{
    const struct tac_resume *resume = reader->resume;
    enum tac_err err = TAC_OK;
    if (resume == NULL || (size_t)index >= resume->body_count)
        return TAC_OK;
    if (reader->spread)
        TAC_TRY(tac_reader_agree(reader, TAC_OK)); /* ranks that have failed already wait in this agreement */
    if (resume->from_stored) {
        TAC_TRY(tac_scene_placed_alike(reader, body, index)); /* --set may have moved it */
    } else {
        const json_t *spec = json_object_get(body, "mesh");
        const json_t *old = json_array_get(json_object_get(resume->stored, "bodies"), (size_t)index);
        const char *path = json_string_value(json_object_get(spec, "path"));
        int why;
        if (!is_file(spec) || !is_file(json_object_get(old, "mesh")) || path == NULL || !is_gone(reader, path, &why))
            return TAC_OK;
        char place[TAC_WHERE];
        tac_where(place, where, "mesh.path");
        TAC_TRY(tac_scene_placed_alike(reader, body, index));
        tac_scene_warn(reader, place, "'%.500s' cannot be read (%s); going on with the mesh that the checkpoint holds",
                       path, strerror(why));
    }
    if (reader->spread)
        TAC_TRY(take_spread(reader, index, mesh, extent));
    else
        TAC_TRY(take_mesh(reader, index, mesh));
done:
    return err;
}

/* Adds a vertex and its mass to a sum that does not depend on the order. */
static void add_mass(uint64_t *sum, tac_gid id, double mass)
{
    uint64_t bits;
    memcpy(&bits, &mass, sizeof bits);
    *sum += tac_hash64((uint64_t)id, bits);
}

/* Collective while spread. The masses are computed from the geometry again; the comparison costs little. */
static bool same_masses(const struct tac_reader *reader, const struct tac_geometry *g)
{
    const struct tac_scene *scene = reader->scene;
    uint64_t sum[2] = {0, 0};
    if (!reader->spread)
        return g->mass == NULL ||
               (g->vertex_count == scene->mesh->vertex_count &&
                memcmp(g->mass, scene->mesh->mass, (size_t)scene->mesh->vertex_count * sizeof *scene->mesh->mass) == 0);
    for (tac_gid i = 0; i < g->here[TAC_VERTICES]; i++)
        add_mass(&sum[0], g->first[TAC_VERTICES] + i, g->mass[i]);
    reader->spread->add_masses(reader, add_mass, &sum[1]);
    MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_UINT64_T, MPI_SUM, reader->ctx->comm);
    return sum[0] == sum[1];
}

/* What a checkpoint of an older version was run with, where its scene lacks a key of today: with the default of then.
 */
static enum tac_err put_old_defaults(struct tac_reader *reader, json_t *scene)
{
    json_t *contact = json_object_get(scene, "contact");
    bool ok = contact != NULL || json_object_set_new(scene, "contact", json_object()) == 0;
    contact = json_object_get(scene, "contact");
    if (ok && json_is_object(contact) && json_object_get(contact, "rest_fraction") == NULL)
        ok = json_object_set_new(contact, "rest_fraction", json_real(TAC_REST_FRACTION_MOST)) == 0;
    return ok ? TAC_OK : tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
}

static enum tac_err resume_local(struct tac_reader *reader, const char *const *set, int set_count,
                                 const char *stored_sha256)
{
    struct tac_scene *scene = reader->scene;
    struct tac_resume *resume = reader->resume;
    enum tac_err err = TAC_OK;
    json_t *counts = json_object_get(resume->stored, "geometry");
    TAC_TRY(read_counts(reader, counts));
    json_object_del(resume->stored, "geometry");
    const bool old = json_object_get(json_object_get(resume->stored, "contact"), "rest_fraction") == NULL;
    if (old)
        TAC_TRY(put_old_defaults(reader, resume->stored));
    TAC_TRY(tac_copy(reader->ctx, reader->file, &scene->settings->path));
    if (resume->from_stored) {
        scene->settings->json = json_deep_copy(resume->stored);
        if (scene->settings->json == NULL)
            TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
        TAC_TRY(tac_copy(reader->ctx, "/", &reader->base_dir)); /* its paths are absolute */
    } else {
        TAC_TRY(tac_scene_load(reader, &scene->settings->json));
        TAC_TRY(tac_scene_find_base(reader));
    }
    for (int i = 0; i < set_count; i++)
        TAC_TRY(tac_scene_set(reader, scene->settings->json, set[i]));
    if (old)
        TAC_TRY(put_old_defaults(reader, scene->settings->json));
    if (reader->spread)
        TAC_TRY(tac_reader_compare_texts(reader));
    TAC_TRY(tac_scene_resolve(reader, scene->settings->json));
    resume->differs = stored_sha256 != NULL && strcmp(scene->settings->sha256, stored_sha256) != 0;
    if (resume->differs && reader->spread)
        return TAC_OK; /* the caller reads the whole scene, to find the difference */
    if (resume->differs)
        TAC_TRY(tac_scene_differs(reader));
    if (!same_masses(reader, resume->geometry))
        TAC_TRY(fail_stored(reader, "its masses are not those of its scene"));
done:
    return err;
}

enum tac_err tac_scene_resume_by(struct tac_reader *reader, const char *const *set, int set_count, const json_t *stored,
                                 const char *stored_sha256)
{
    struct tac_ctx *ctx = reader->ctx;
    enum tac_err err = TAC_OK;
    reader->resume->stored = json_deep_copy(stored);
    if (!json_is_object(stored))
        TAC_TRY(fail_stored(reader, "it is no JSON object"));
    if (reader->resume->stored == NULL)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
    TAC_TRY(tac_scene_make(ctx, NULL, &reader->scene));
    TAC_TRY(resume_local(reader, set, set_count, stored_sha256));
done:
    free(reader->base_dir);
    free(reader->rows);
    free(reader->motion);
    json_decref(reader->names);
    json_decref(reader->resume->stored);
    free(reader->resume->begin);
    /* While rows are spread over the ranks, the ranks may have agreed on the failure already; then none calls this
     * function for it. */
    if (!reader->agreed)
        err = tac_agree(ctx, err);
    if (err || reader->resume->differs) {
        tac_scene_destroy(&reader->scene);
        if (reader->spread)
            reader->spread->destroy(reader);
    }
    return err;
}

enum tac_err tac_scene_resume(struct tac_ctx *ctx, const char *path, const char *const *set, int set_count,
                              const json_t *stored, const char *stored_sha256, const struct tac_geometry *geometry,
                              struct tac_scene **out)
{
    struct tac_resume resume = {.geometry = geometry, .from_stored = path == NULL};
    struct tac_reader reader = {.ctx = ctx, .file = path != NULL ? path : TAC_RESUMED_NAME, .resume = &resume};
    const enum tac_err err = tac_scene_resume_by(&reader, set, set_count, stored, stored_sha256);
    *out = reader.scene;
    return err;
}
