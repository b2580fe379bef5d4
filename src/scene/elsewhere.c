/* elsewhere.c: reads bodies that start elsewhere than their placed meshes, or with a velocity for each vertex (key
 * `start`).
 *
 * The scene's vertices get the positions of the file: what moves, collides and is compared with the start begins there.
 * The placed mesh stays the rest shape of the elements, and is what masses and boxes that select vertices come from; it
 * is kept with the settings of the body, whole on every rank.
 *
 * A run that goes on from a checkpoint has positions and velocities of its own, and does not read the file. What the
 * hash needs to know of it is in the resolved scene.
 */
#include "mesh/cache/point_cache.h"
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct tac_field start_fields[] = {
    {.key = "file", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "sha256", .kind = TAC_FIELD_OTHER},
    {.key = "holds", .kind = TAC_FIELD_OTHER},
    {.key = "in_plane", .kind = TAC_FIELD_OTHER},
};
static const char *const OF_VELOCITIES[] = {"sha256", "holds", "in_plane"}; /* the resolved scene has these */

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

static enum tac_err check_rows(struct tac_reader *reader, const char *place, tac_lid index, int64_t count,
                               int64_t vertices, const double *x, const char *what)
{
    const struct tac_body *body = &reader->scene->settings->body[index];
    if (vertices != count)
        return tac_scene_fail(reader, place, "has %lld vertices, but \"%.60s\" has %lld", (long long)vertices,
                              body->name, (long long)count);
    for (int64_t i = 0; i < 3 * vertices; i++) {
        if (!(fabs(x[i]) <= TAC_FARTHEST))
            return tac_scene_fail(reader, place, "vertex %lld is over %g %s", (long long)(i / 3), TAC_FARTHEST, what);
        if (i % 3 == 2 && x[i] != 0)
            reader->leaves_plane = true;
    }
    return TAC_OK;
}

/* Moves this rank's rows to the positions of the file. */
static void take_positions(struct tac_reader *reader, tac_lid index, const double *x)
{
    const struct tac_rows rows = reader->rows[index][TAC_VERTICES];
    if (rows.end > rows.begin)
        memcpy(reader->scene->mesh->x + 3 * (size_t)rows.begin, x + 3 * (size_t)rows.number,
               3 * (size_t)(rows.end - rows.begin) * sizeof *x);
}

/* Sets a key of the resolved scene, or compares it with what the scene has there. */
static enum tac_err tell(struct tac_reader *reader, json_t *start, const char *whole, const char *key, json_t *found)
{
    const json_t *given = json_object_get(start, key);
    char place[TAC_WHERE];
    enum tac_err err = TAC_OK;
    tac_where(place, whole, key);
    if (found == NULL)
        return tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
    if (given != NULL && !json_equal(given, found))
        err = tac_scene_fail(reader, place,
                             "is not what the file's velocities have; if the file was changed, leave the key out");
    else if (json_object_set(start, key, found) != 0)
        err = tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
    json_decref(found);
    return err;
}

/* Keeps the velocities until they can be added, and tells of them in the resolved scene. */
static enum tac_err take_velocities(struct tac_reader *reader, json_t *start, const char *whole, tac_lid index,
                                    struct tac_start_rows *file)
{
    struct tac_body *body = &reader->scene->settings->body[index];
    const size_t n = 3 * (size_t)file->vertices[TAC_START_VELOCITY];
    bool in_plane = true;
    enum tac_err err = TAC_OK;
    body->start_velocity = file->x[TAC_START_VELOCITY];
    body->start_count = (tac_lid)file->vertices[TAC_START_VELOCITY];
    file->x[TAC_START_VELOCITY] = NULL;
    for (size_t i = 2; i < n; i += 3)
        in_plane = in_plane && body->start_velocity[i] == 0;
    TAC_TRY(tac_scene_digest(reader->ctx, body->start_velocity, n, body->start_sha256));
    TAC_TRY(tell(reader, start, whole, "sha256", json_string(body->start_sha256)));
    TAC_TRY(
        tell(reader, start, whole, "holds", json_string(file->x[TAC_START_POSITION] != NULL ? "both" : "velocity")));
    TAC_TRY(tell(reader, start, whole, "in_plane", json_boolean(in_plane)));
done:
    return err;
}

static enum tac_err read_file(struct tac_reader *reader, json_t *object, const char *where, const char *whole,
                              tac_lid index)
{
    const struct tac_body *body = &reader->scene->settings->body[index];
    json_t *start = json_object_get(object, "start");
    struct tac_start_rows file = {{0}, {NULL}};
    char place[TAC_WHERE], from[TAC_WHERE + 2];
    int64_t count = body->vertex_end - body->vertex_begin;
    enum tac_err err = TAC_OK;
    tac_where(place, whole, "file");
    snprintf(from, sizeof from, "%s: ", place);
    TAC_TRY(tac_start_rows_read(reader->ctx, json_string_value(json_object_get(start, "file")), from, &file));
    if (file.x[TAC_START_POSITION] != NULL) {
        TAC_TRY(make_rest(reader, object, where, index, !reader->spread, &count));
        TAC_TRY(check_rows(reader, place, index, count, file.vertices[TAC_START_POSITION], file.x[TAC_START_POSITION],
                           "m away"));
        take_positions(reader, index, file.x[TAC_START_POSITION]);
    }
    if (file.x[TAC_START_VELOCITY] != NULL) {
        TAC_TRY(check_rows(reader, place, index, count, file.vertices[TAC_START_VELOCITY], file.x[TAC_START_VELOCITY],
                           "m/s fast"));
        TAC_TRY(take_velocities(reader, start, whole, index, &file));
    }
    for (size_t k = 0; file.vertices[TAC_START_VELOCITY] == 0 && k < COUNT(OF_VELOCITIES); k++)
        if (json_object_get(start, OF_VELOCITIES[k]) != NULL)
            TAC_TRY(tac_scene_fail(reader, whole,
                                   "has a key \"%s\" for velocities, and its file has no `velocity`; "
                                   "leave the key out",
                                   OF_VELOCITIES[k]));
done:
    tac_start_rows_clear(&file);
    return err;
}

/* The mesh is that of a checkpoint, and begins where the file had it. What the scene tells of velocities may be missing
 * in one that was not resolved. */
static enum tac_err go_on(struct tac_reader *reader, json_t *object, const char *where, const char *whole,
                          tac_lid index)
{
    struct tac_body *body = &reader->scene->settings->body[index];
    json_t *start = json_object_get(object, "start");
    const json_t *bodies = json_object_get(reader->resume->stored, "bodies");
    const json_t *then = json_object_get(json_array_get(bodies, (size_t)index), "start");
    char place[TAC_WHERE];
    const char *text = "";
    int64_t count;
    enum tac_err err = TAC_OK;
    for (size_t k = 0; k < COUNT(OF_VELOCITIES); k++) {
        json_t *value = json_object_get(then, OF_VELOCITIES[k]);
        const json_t *given = json_object_get(start, OF_VELOCITIES[k]);
        if (given != NULL && (value == NULL || !json_equal(given, value)))
            TAC_TRY(tac_scene_fail(reader, whole,
                                   "has another \"%s\" than the scene that the checkpoint is of; leave it out",
                                   OF_VELOCITIES[k]));
        if (value != NULL && json_object_set(start, OF_VELOCITIES[k], value) != 0)
            TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
    }
    tac_where(place, whole, "sha256");
    if (json_object_get(start, "sha256") != NULL)
        TAC_TRY(tac_string(reader, json_object_get(start, "sha256"), place, &text));
    snprintf(body->start_sha256, sizeof body->start_sha256, "%s", text);
    if (text[0] != '\0' && !json_is_true(json_object_get(start, "in_plane")))
        reader->leaves_plane = true;
    const char *holds = json_string_value(json_object_get(start, "holds"));
    if (holds == NULL || strcmp(holds, "velocity") != 0)
        TAC_TRY(make_rest(reader, object, where, index, false, &count));
done:
    return err;
}

enum tac_err tac_scene_read_start(struct tac_reader *reader, json_t *object, const char *where, tac_lid index,
                                  bool placed)
{
    json_t *start = json_object_get(object, "start");
    const struct tac_body *body = &reader->scene->settings->body[index];
    char whole[TAC_WHERE], place[TAC_WHERE];
    const char *path;
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
                               "is of bodies that can deform, and \"%.60s\" is rigid; use position, rotation, velocity "
                               "and angular_velocity",
                               body->name));
    TAC_TRY(tac_reader_agree(reader, placed ? go_on(reader, object, where, whole, index)
                                            : read_file(reader, object, where, whole, index)));
    if (body->start_sha256[0] != '\0' && body->fixed)
        tac_scene_warn(reader, whole, "\"%.60s\" is fixed: its start velocities have no effect", body->name);
done:
    return err;
}

static enum tac_err add_velocities(struct tac_reader *reader, tac_lid index)
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_body *body = &scene->settings->body[index];
    const struct tac_rows rows = reader->rows[index][TAC_VERTICES];
    for (tac_lid i = rows.begin; i < rows.end; i++) {
        const tac_lid number = rows.number + i - rows.begin;
        if (!scene->mesh->ever_free[i] || number >= body->start_count)
            continue;
        for (size_t k = 0; k < 3; k++)
            scene->mesh->v[3 * (size_t)i + k] += body->start_velocity[3 * (size_t)number + k];
    }
    return tac_scene_check_start(reader, index);
}

enum tac_err tac_scene_add_start_velocities(struct tac_reader *reader)
{
    enum tac_err err = TAC_OK;
    for (tac_lid b = 0; b < reader->scene->settings->body_count; b++) {
        struct tac_body *body = &reader->scene->settings->body[b];
        if (body->start_velocity == NULL)
            continue;
        TAC_TRY(tac_reader_agree(reader, add_velocities(reader, b)));
        free(body->start_velocity);
        body->start_velocity = NULL;
    }
done:
    return err;
}

/* How far a triangle or a segment is stretched at the start: its longest edge over that at rest, and the principal
 * stretch.  Vertices at rest are r[], at the start x[]. */
static double edge_stretch(int count, const double *const r[3], const double *const x[3])
{
    double most = 0;
    for (int k = 0; k < (count == 3 ? 3 : 1); k++)
        most = fmax(most, tac_scene_length(x[k], x[(k + 1) % count]) / tac_scene_length(r[k], r[(k + 1) % count]));
    return most;
}

static double principal_stretch(const double *const r[3], const double *const x[3])
{
    double e1[3], e2[3], n[3], f0[3], f1[3];
    tac_sub(e1, r[1], r[0]);
    tac_sub(e2, r[2], r[0]);
    tac_cross(n, e1, e2);
    const double l = sqrt(tac_dot(e1, e1)), p = tac_dot(e1, e2) / l, q = sqrt(tac_dot(n, n)) / l;
    for (int c = 0; c < 3; c++) {
        f0[c] = (x[1][c] - x[0][c]) / l;
        f1[c] = (x[2][c] - x[0][c] - p * f0[c]) / q;
    }
    const double half = .5 * (tac_dot(f0, f0) - tac_dot(f1, f1)), mixed = tac_dot(f0, f1);
    return sqrt(.5 * (tac_dot(f0, f0) + tac_dot(f1, f1)) + sqrt(half * half + mixed * mixed));
}

/* Nothing may start beyond a limit of stretch, which could not pull it back. */
static enum tac_err check_limits(struct tac_reader *reader, const char *place, const struct tac_body *body, int count,
                                 const double *const r[3], const double *const x[3])
{
    const struct tac_material *m =
        body->material >= 0 && !body->fixed ? &reader->scene->settings->material[body->material] : NULL;
    if (m != NULL && m->stretch_limit > 0 && !(edge_stretch(count, r, x) < 1 + m->stretch_limit))
        return tac_scene_fail(reader, place,
                              "an edge of \"%.60s\" is %.4g times as long at the start as at rest, and "
                              "materials.%.60s.stretch.limit allows less than %.4g",
                              body->name, edge_stretch(count, r, x), m->name, 1 + m->stretch_limit);
    if (m != NULL && count == 2 && m->stretch_limit > 0 && m->stretch_limit < 1 &&
        !(edge_stretch(count, r, x) > 1 - m->stretch_limit))
        return tac_scene_fail(reader, place,
                              "a segment of \"%.60s\" is %.4g times as long at the start as at rest, and "
                              "materials.%.60s.stretch.limit allows more than %.4g",
                              body->name, edge_stretch(count, r, x), m->name, 1 - m->stretch_limit);
    if (m != NULL && count == 3 && m->stretch_limit_principal > 0 &&
        !(principal_stretch(r, x) < 1 + m->stretch_limit_principal))
        return tac_scene_fail(reader, place,
                              "a triangle of \"%.60s\" is stretched to %.4g at the start, and "
                              "materials.%.60s.stretch.limit_principal allows less than %.4g",
                              body->name, principal_stretch(r, x), m->name, 1 + m->stretch_limit_principal);
    return TAC_OK;
}

enum tac_err tac_start_check_sizes(struct tac_reader *reader, tac_lid index, enum tac_table table, const tac_lid *at,
                                   const double *x)
{
    static const char *const what[TAC_TABLES][2] = {
        {"", ""}, {"triangle", "has no area"}, {"segment", "has no length"}, {"tetrahedron", "is turned inside out"}};
    const struct tac_body *body = &reader->scene->settings->body[index];
    const struct tac_rows rows = reader->rows[index][table];
    const size_t width = (size_t)tac_table_width(table);
    const tac_lid *id =
        rows.end > rows.begin ? *tac_table_elements(reader->scene->mesh, table) + width * (size_t)rows.begin : NULL;
    char where[TAC_WHERE], place[TAC_WHERE];
    enum tac_err err = TAC_OK;
    tac_where_index(where, "bodies", (size_t)index);
    tac_where(place, where, "start");
    for (tac_lid i = 0; i < rows.end - rows.begin; i++) {
        const tac_lid *v = (at != NULL ? at : id) + width * (size_t)i;
        const double *r[4] = {NULL}, *y[4] = {NULL};
        for (size_t k = 0; k < width; k++) {
            r[k] = body->rest + 3 * (size_t)(id[width * (size_t)i + k] - body->vertex_begin);
            y[k] = x + 3 * (size_t)v[k];
        }
        const double size = table == TAC_TRIANGLES  ? tac_scene_area(y[0], y[1], y[2])
                            : table == TAC_SEGMENTS ? tac_scene_length(y[0], y[1])
                                                    : tac_scene_volume(y[0], y[1], y[2], y[3]);
        if (size > 0 && table != TAC_TETRAHEDRA)
            TAC_TRY(check_limits(reader, place, body, (int)width, r, y));
        if (size > 0)
            continue;
        return tac_scene_fail(reader, place, "a %s (%lld) of \"%.60s\" %s at the start; correct the positions",
                              what[table][0], (long long)(rows.number + i), body->name, what[table][1]);
    }
done:
    return err;
}
