/* elsewhere.c: reads bodies that start elsewhere than their placed meshes (key `start`).
 *
 * The scene's vertices get the positions of the file: what moves, collides and is compared with the start begins there.
 * The placed mesh stays the rest shape of the elements, and is what masses and boxes that select vertices come from; it
 * is kept with the settings of the body, whole on every rank.
 */
#include "mesh/cache/point_cache.h"
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct tac_field start_fields[] = {
    {.key = "file", .kind = TAC_FIELD_OTHER, .required = true},
};

/* Makes the body's placed mesh, all of it. */
static enum tac_err make_rest(struct tac_reader *reader, const json_t *object, const char *where, tac_lid index,
                              bool whole, int64_t *count)
{
    struct tac_body *body = &reader->scene->settings->body[index];
    const struct tac_rows rows = reader->rows[index][TAC_VERTICES];
    char place[TAC_WHERE], mesh_where[2 * TAC_WHERE];
    struct tac_mesh *mesh = NULL;
    enum tac_err err = TAC_OK;
    *count = rows.end - rows.begin;
    if (whole) {
        TAC_TRY(tac_alloc(reader->ctx, 3 * (size_t)*count, sizeof *body->rest, &body->rest));
        memcpy(body->rest, reader->scene->mesh->x + 3 * (size_t)rows.begin, 3 * (size_t)*count * sizeof *body->rest);
        return TAC_OK;
    }
    tac_where(place, where, "mesh");
    snprintf(mesh_where, sizeof mesh_where, "%.250s: %s", reader->file, place);
    TAC_TRY(tac_mesh_create_as(reader->ctx, json_object_get(object, "mesh"), mesh_where, reader->base_dir,
                               tac_scene_mesh_want(reader->scene, body), &mesh));
    *count = mesh->vertex_count;
    TAC_TRY(tac_alloc(reader->ctx, 3 * (size_t)*count, sizeof *body->rest, &body->rest));
    TAC_TRY(tac_scene_place_vertices(reader, where, body, mesh, false, 0, body->rest));
done:
    tac_mesh_destroy(&mesh);
    return err;
}

/* Moves this rank's rows to the positions of the file. */
static enum tac_err take_positions(struct tac_reader *reader, const json_t *start, const char *place, tac_lid index,
                                   int64_t count)
{
    const struct tac_body *body = &reader->scene->settings->body[index];
    const struct tac_rows rows = reader->rows[index][TAC_VERTICES];
    char from[TAC_WHERE + 2];
    int64_t vertices;
    double *x = NULL;
    enum tac_err err = TAC_OK;
    snprintf(from, sizeof from, "%s: ", place);
    TAC_TRY(tac_positions_read(reader->ctx, json_string_value(json_object_get(start, "file")), from, &vertices, &x));
    if (vertices != count)
        TAC_TRY(tac_scene_fail(reader, place, "has %lld vertices, but \"%.60s\" has %lld", (long long)vertices,
                               body->name, (long long)count));
    for (int64_t i = 0; i < 3 * vertices; i++) {
        if (!(fabs(x[i]) <= TAC_FARTHEST))
            TAC_TRY(tac_scene_fail(reader, place, "vertex %lld is over %g m away", (long long)(i / 3), TAC_FARTHEST));
        if (i % 3 == 2 && x[i] != 0)
            reader->leaves_plane = true;
    }
    if (rows.end > rows.begin)
        memcpy(reader->scene->mesh->x + 3 * (size_t)rows.begin, x + 3 * (size_t)rows.number,
               3 * (size_t)(rows.end - rows.begin) * sizeof *x);
done:
    free(x);
    return err;
}

enum tac_err tac_scene_read_start(struct tac_reader *reader, json_t *object, const char *where, tac_lid index,
                                  bool placed)
{
    json_t *start = json_object_get(object, "start");
    const struct tac_body *body = &reader->scene->settings->body[index];
    char whole[TAC_WHERE], place[TAC_WHERE];
    const char *path;
    int64_t count;
    enum tac_err err = TAC_OK;
    if (start == NULL)
        return TAC_OK;
    tac_where(whole, where, "start");
    if (!json_is_object(start))
        TAC_TRY(tac_scene_fail(reader, whole, "must be an object with a \"file\", not %s", tac_json_type(start)));
    TAC_TRY(tac_fields_read(reader, start, whole, start_fields, COUNT(start_fields), reader->scene->settings));
    tac_where(place, whole, "file");
    TAC_TRY(tac_string(reader, json_object_get(start, "file"), place, &path));
    TAC_TRY(tac_scene_resolve_path(reader, start, "file"));
    if (json_object_get(object, "rigid") != NULL && !json_is_false(json_object_get(object, "rigid")))
        TAC_TRY(tac_scene_fail(reader, whole,
                               "is of bodies that can deform, and \"%.60s\" is rigid; use position and rotation",
                               body->name));
    TAC_TRY(tac_reader_agree(reader, make_rest(reader, object, where, index, !reader->spread && !placed, &count)));
    if (!placed)
        TAC_TRY(tac_reader_agree(reader, take_positions(reader, start, place, index, count)));
done:
    return err;
}

enum tac_err tac_start_check_sizes(struct tac_reader *reader, tac_lid index, enum tac_table table, const tac_lid *at,
                                   const double *x)
{
    static const char *const what[TAC_TABLES][2] = {
        {"", ""}, {"triangle", "has no area"}, {"segment", "has no length"}, {"tetrahedron", "is turned inside out"}};
    const struct tac_body *body = &reader->scene->settings->body[index];
    const struct tac_rows rows = reader->rows[index][table];
    const size_t width = (size_t)tac_table_width(table);
    char where[TAC_WHERE], place[TAC_WHERE];
    if (at == NULL && rows.end > rows.begin)
        at = *tac_table_elements(reader->scene->mesh, table) + width * (size_t)rows.begin;
    for (tac_lid i = 0; i < rows.end - rows.begin; i++) {
        const tac_lid *v = at + width * (size_t)i;
        const double *a = x + 3 * (size_t)v[0], *b = x + 3 * (size_t)v[1],
                     *c = table == TAC_SEGMENTS ? NULL : x + 3 * (size_t)v[2];
        const double size = table == TAC_TRIANGLES  ? tac_scene_area(a, b, c)
                            : table == TAC_SEGMENTS ? tac_scene_length(a, b)
                                                    : tac_scene_volume(a, b, c, x + 3 * (size_t)v[3]);
        if (size > 0)
            continue;
        tac_where_index(where, "bodies", (size_t)index);
        tac_where(place, where, "start");
        return tac_scene_fail(reader, place, "a %s (%lld) of \"%.60s\" %s at the start; correct the positions",
                              what[table][0], (long long)(rows.number + i), body->name, what[table][1]);
    }
    return TAC_OK;
}
