/* body.c: reads the bodies of a scene: their keys and their meshes, which it places. */
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

#define AT(member) offsetof(struct tac_body, member)
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct tac_field body_fields[] = {
    {.key = "name", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "mesh", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "material", .kind = TAC_FIELD_OTHER},
    {.key = "mass", .kind = TAC_FIELD_NUMBER, .offset = AT(mass), .fallback = NAN, .max = INFINITY, .min_open = true},
    {.key = "radius", .kind = TAC_FIELD_NUMBER, .offset = AT(radius), .max = TAC_FARTHEST},
    {.key = "position", .kind = TAC_FIELD_VECTOR, .offset = AT(position), .max = TAC_FARTHEST},
    {.key = "rotation", .kind = TAC_FIELD_VECTOR, .offset = AT(rotation), .max = 1e6},
    {.key = "scale",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(scale),
     .fallback = 1,
     .max = TAC_FARTHEST,
     .min_open = true},
    {.key = "velocity", .kind = TAC_FIELD_VECTOR, .offset = AT(velocity), .max = TAC_FARTHEST},
    {.key = "angular_velocity", .kind = TAC_FIELD_VECTOR, .offset = AT(angular_velocity), .max = TAC_FARTHEST},
    {.key = "random_speed", .kind = TAC_FIELD_RANGE, .offset = AT(random_speed), .fallback = NAN, .max = TAC_FARTHEST},
    {.key = "seed", .kind = TAC_FIELD_INTEGER, .offset = AT(seed), .max = 9007199254740991.0},
    {.key = "rolls", .kind = TAC_FIELD_BOOL, .offset = AT(rolls), .fallback = NAN},
    {.key = "spin", .kind = TAC_FIELD_VECTOR, .offset = AT(spin), .fallback = NAN, .max = 1e9},
    {.key = "fixed", .kind = TAC_FIELD_BOOL, .offset = AT(fixed)},
    {.key = "self", .kind = TAC_FIELD_BOOL, .offset = AT(self_contact), .fallback = 1},
    {.key = "rigid", .kind = TAC_FIELD_OTHER},
    {.key = "start", .kind = TAC_FIELD_OTHER},
};

static enum tac_err read_name(struct tac_reader *reader, json_t *object, const char *where, tac_lid index)
{
    struct tac_body *body = &reader->scene->settings->body[index];
    char place[TAC_WHERE];
    const char *name;
    enum tac_err err = TAC_OK;
    tac_where(place, where, "name");
    TAC_TRY(tac_string(reader, json_object_get(object, "name"), place, &name));
    if (name[0] == '\0')
        TAC_TRY(tac_scene_fail(reader, place, "is empty; give each body a name"));
    TAC_TRY(tac_check_name(reader, name, place));
    json_t *other = json_object_get(reader->names, name);
    if (other != NULL)
        TAC_TRY(tac_scene_fail(reader, place, "\"%.60s\" is the name of bodies[%lld] already; names must be unique",
                               name, (long long)json_integer_value(other)));
    if (json_object_set_new(reader->names, name, json_integer(index)) != 0)
        TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
    TAC_TRY(tac_copy(reader->ctx, name, &body->name));
done:
    return err;
}

static enum tac_err read_material_name(struct tac_reader *reader, json_t *object, const char *where,
                                       struct tac_body *body)
{
    json_t *value = json_object_get(object, "material");
    char place[TAC_WHERE];
    body->material = -1;
    if (value == NULL)
        return TAC_OK;
    tac_where(place, where, "material");
    return tac_scene_find_material(reader, value, place, &body->material);
}

enum tac_err tac_scene_resolve_path(struct tac_reader *reader, json_t *object, const char *key)
{
    const char *path = json_string_value(json_object_get(object, key));
    if (path == NULL || path[0] == '/' || path[0] == '\0')
        return TAC_OK;
    size_t size = strlen(reader->base_dir) + strlen(path) + 2;
    char *whole = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(reader->ctx, size, 1, &whole));
    snprintf(whole, size, "%s/%s", strcmp(reader->base_dir, "/") == 0 ? "" : reader->base_dir, path);
    if (json_object_set_new(object, key, json_string(whole)) != 0)
        err = tac_scene_fail(reader, "", "lies in a folder whose name is not UTF-8 text; rename the folder");
done:
    free(whole);
    return err;
}

/* Makes room for a mesh after those that the scene has. */
static enum tac_err make_room(struct tac_reader *reader, const char *where, const struct tac_mesh *mesh,
                              const struct tac_extent *extent)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    size_t whole[TAC_TABLES];
    for (int k = 0; k < TAC_TABLES; k++)
        whole[k] = (size_t)reader->total[k] + (size_t)extent->total[k];
    if (whole[0] > TAC_MOST_ELEMENTS || whole[1] > TAC_MOST_ELEMENTS || whole[2] > TAC_MOST_ELEMENTS ||
        whole[3] > TAC_MOST_ELEMENTS)
        TAC_TRY(
            tac_scene_fail(reader, where,
                           "brings the scene to %zu vertices, %zu triangles, %zu segments and %zu tetrahedra; at most "
                           "%d of each can be counted: use coarser meshes",
                           whole[0], whole[1], whole[2], whole[3], TAC_MOST_ELEMENTS));
    size_t vertices = (size_t)scene->mesh->vertex_count + (size_t)mesh->vertex_count;
    size_t triangles = (size_t)scene->mesh->triangle_count + (size_t)mesh->triangle_count;
    size_t segments = (size_t)scene->mesh->segment_count + (size_t)mesh->segment_count;
    size_t tetrahedra = (size_t)scene->mesh->tetrahedron_count + (size_t)mesh->tetrahedron_count;
    /* One more, so that no array is NULL in any scene. */
    TAC_TRY(tac_grow(reader->ctx, &scene->mesh->x, &reader->x_capacity, 3 * vertices + 1, sizeof *scene->mesh->x));
    TAC_TRY(tac_grow(reader->ctx, &scene->mesh->vertex_body, &reader->body_capacity, vertices + 1,
                     sizeof *scene->mesh->vertex_body));
    TAC_TRY(tac_grow(reader->ctx, &scene->mesh->triangle, &reader->triangle_capacity, 3 * triangles + 1,
                     sizeof *scene->mesh->triangle));
    TAC_TRY(tac_grow(reader->ctx, &scene->mesh->segment, &reader->segment_capacity, 2 * segments + 1,
                     sizeof *scene->mesh->segment));
    if (whole[TAC_TETRAHEDRA] > 0)
        TAC_TRY(tac_grow(reader->ctx, &scene->mesh->tetrahedron, &reader->tetrahedron_capacity, 4 * tetrahedra + 1,
                         sizeof *scene->mesh->tetrahedron));
done:
    return err;
}

/* x = position + R scale X.  Without rotation R is left out, so that such bodies lie exactly at the given position.
 * placed: the mesh is in its place already. */
enum tac_err tac_scene_place_vertices(struct tac_reader *reader, const char *where, const struct tac_body *body,
                                      const struct tac_mesh *mesh, bool placed, tac_lid number, double *x)
{
    const double *w = body->rotation;
    bool turned = w[0] != 0 || w[1] != 0 || w[2] != 0;
    double radians[3], r[9];
    for (int k = 0; k < 3; k++)
        radians[k] = w[k] * (TAC_PI / 180);
    tac_rotation(radians, r);
    for (tac_lid i = 0; i < mesh->vertex_count; i++) {
        double scaled[3], *to = x + 3 * (size_t)i;
        for (int k = 0; k < 3; k++)
            scaled[k] = body->scale * mesh->x[3 * (size_t)i + (size_t)k];
        for (int k = 0; k < 3; k++) {
            to[k] = body->position[k] + (turned ? tac_dot(r + 3 * k, scaled) : scaled[k]);
            if (placed)
                to[k] = mesh->x[3 * (size_t)i + (size_t)k];
            if (!(fabs(to[k]) <= TAC_FARTHEST))
                return tac_scene_fail(reader, where,
                                      "places vertex %d at coordinate %g; coordinates must stay within %g m",
                                      (int)(number + i), to[k], TAC_FARTHEST);
        }
        if (to[2] != 0)
            reader->leaves_plane = true;
    }
    return TAC_OK;
}

static enum tac_err append(struct tac_reader *reader, const char *where, tac_lid index, const struct tac_mesh *mesh,
                           const struct tac_extent *extent, bool placed)
{
    struct tac_scene *scene = reader->scene;
    struct tac_body *body = &scene->settings->body[index];
    const tac_lid here[TAC_TABLES] = {mesh->vertex_count, mesh->triangle_count, mesh->segment_count,
                                      mesh->tetrahedron_count};
    tac_lid *count[TAC_TABLES] = {&scene->mesh->vertex_count, &scene->mesh->triangle_count, &scene->mesh->segment_count,
                                  &scene->mesh->tetrahedron_count};
    tac_lid *range[TAC_TABLES][2] = {{&body->vertex_begin, &body->vertex_end},
                                     {&body->triangle_begin, &body->triangle_end},
                                     {&body->segment_begin, &body->segment_end},
                                     {&body->tetrahedron_begin, &body->tetrahedron_end}};
    enum tac_err err = TAC_OK;
    TAC_TRY(make_room(reader, where, mesh, extent));
    const tac_lid first = reader->total[TAC_VERTICES], row = scene->mesh->vertex_count;
    TAC_TRY(tac_scene_place_vertices(reader, where, body, mesh, placed, extent->number[TAC_VERTICES],
                                     scene->mesh->x + 3 * (size_t)row));
    for (tac_lid i = 0; i < mesh->vertex_count; i++)
        scene->mesh->vertex_body[row + i] = index;
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++)
        scene->mesh->triangle[3 * (size_t)scene->mesh->triangle_count + i] = first + mesh->triangle[i];
    for (size_t i = 0; i < 2 * (size_t)mesh->segment_count; i++)
        scene->mesh->segment[2 * (size_t)scene->mesh->segment_count + i] = first + mesh->segment[i];
    for (size_t i = 0; i < 4 * (size_t)mesh->tetrahedron_count; i++)
        scene->mesh->tetrahedron[4 * (size_t)scene->mesh->tetrahedron_count + i] = first + mesh->tetrahedron[i];
    for (int k = 0; k < TAC_TABLES; k++) {
        reader->rows[index][k] = (struct tac_rows){*count[k], *count[k] + here[k], extent->number[k]};
        *count[k] += here[k];
        *range[k][0] = reader->total[k];
        *range[k][1] = reader->total[k] += extent->total[k];
    }
    body->has_elements = extent->total[TAC_TRIANGLES] > 0 || extent->total[TAC_SEGMENTS] > 0;
    if (extent->total[TAC_TRIANGLES] > 0)
        reader->leaves_plane = true;
done:
    return err;
}

/* A body that may deform as a solid needs tetrahedra; others are surfaces, even if their meshes have tetrahedra. */
enum tac_mesh_want tac_scene_mesh_want(const struct tac_scene *scene, const struct tac_body *body)
{
    const bool solid = body->material >= 0 && scene->settings->material[body->material].solid_model != TAC_SOLID_NONE;
    return solid && !body->fixed ? TAC_MESH_SOLID : TAC_MESH_SURFACE;
}

/* The mesh of a ball or a capsule has the body's radius. given: the scene says one, too; the resolved scene does. */
static enum tac_err read_round(struct tac_reader *reader, json_t *object, const char *where, bool given,
                               struct tac_body *body)
{
    const json_t *spec = json_object_get(object, "mesh");
    char place[TAC_WHERE];
    if (!tac_mesh_is_round(spec))
        return TAC_OK;
    const double radius = body->scale * json_number_value(json_object_get(spec, "radius"));
    tac_where(place, where, "radius");
    if (given && body->radius != radius)
        return tac_scene_fail(reader, place, "is %g, but the mesh is a %s of radius %g m; leave the key out",
                              body->radius, json_string_value(json_object_get(spec, "kind")), radius);
    if (!(radius <= TAC_FARTHEST))
        return tac_scene_fail(reader, place, "is %g m with the body's scale; it must be at most %g m", radius,
                              TAC_FARTHEST);
    body->round = true;
    body->radius = radius;
    if (json_object_set_new(object, "radius", json_real(radius)) != 0)
        return tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
    return TAC_OK;
}

static enum tac_err read_mesh(struct tac_reader *reader, json_t *object, const char *where, tac_lid index)
{
    char place[TAC_WHERE], whole[2 * TAC_WHERE];
    struct tac_mesh *mesh = NULL;
    struct tac_extent extent = {{0}, {0}};
    json_t *spec = json_object_get(object, "mesh");
    const enum tac_mesh_want want = tac_scene_mesh_want(reader->scene, &reader->scene->settings->body[index]);
    enum tac_err err = TAC_OK;
    tac_where(place, where, "mesh");
    if (!json_is_object(spec))
        TAC_TRY(tac_scene_fail(reader, place, "must be an object with a \"kind\", not %s", tac_json_type(spec)));
    if (json_object_get(spec, "fill") != NULL && want == TAC_MESH_SURFACE &&
        !reader->scene->settings->body[index].fixed)
        TAC_TRY(
            tac_scene_fail(reader, place,
                           "requests tetrahedra by \"fill\", but the body's material has no \"solid\"; give it one, "
                           "or leave \"fill\" out"));
    TAC_TRY(tac_scene_resolve_path(reader, spec, "path"));
    snprintf(whole, sizeof whole, "%.250s: %s", reader->file, place);
    TAC_TRY(tac_resume_mesh(reader, object, where, index, &mesh, &extent));
    bool placed = mesh != NULL;
    if (reader->spread && !placed) {
        TAC_TRY(tac_spread_mesh(reader, index, spec, whole, want, &mesh, &extent));
    } else if (!reader->spread) {
        if (!placed)
            TAC_TRY(tac_mesh_create_as(reader->ctx, spec, whole, reader->base_dir, want, &mesh));
        extent = (struct tac_extent){
            {mesh->vertex_count, mesh->triangle_count, mesh->segment_count, mesh->tetrahedron_count}, {0}};
    }
    if (extent.total[TAC_VERTICES] == 0)
        TAC_TRY(tac_scene_fail(reader, place, "has no vertices; give a mesh that has some"));
    TAC_TRY(append(reader, where, index, mesh, &extent, placed));
    TAC_TRY(tac_scene_read_start(reader, object, where, index, placed));
    TAC_TRY(tac_scene_add_anchors(reader, index, where, placed));
done:
    tac_mesh_destroy(&mesh);
    return err;
}

static enum tac_err check_rolls(struct tac_reader *reader, const json_t *object, const char *where,
                                const struct tac_body *body)
{
    char place[TAC_WHERE];
    if (!body->rolls) {
        tac_where(place, where, "spin");
        return json_object_get(object, "spin") == NULL
                   ? TAC_OK
                   : tac_scene_fail(reader, place, "is of grains that roll; give the body \"rolls\": true");
    }
    tac_where(place, where, "rolls");
    if (body->has_elements || !(body->radius > 0))
        return tac_scene_fail(reader, place, "is of particles with a radius; \"%.60s\" %s", body->name,
                              body->has_elements ? "has triangles or segments" : "has no radius");
    if (body->fixed)
        return tac_scene_fail(reader, place, "is of bodies that move, and \"%.60s\" is fixed", body->name);
    for (int k = 0; k < 3; k++)
        if (body->spin[k] != 0 && k < 2)
            reader->leaves_plane = true;
    return TAC_OK;
}

static enum tac_err read_body(struct tac_reader *reader, json_t *object, tac_lid index)
{
    struct tac_body *body = &reader->scene->settings->body[index];
    char where[TAC_WHERE];
    enum tac_err err = TAC_OK;
    const bool has_radius = json_object_get(object, "radius") != NULL; /* before defaults are filled in */
    tac_where_index(where, "bodies", (size_t)index);
    TAC_TRY(tac_fields_read(reader, object, where, body_fields, COUNT(body_fields), body));
    TAC_TRY(read_name(reader, object, where, index));
    TAC_TRY(read_material_name(reader, object, where, body));
    body->has_random_speed = json_object_get(object, "random_speed") != NULL;
    if (body->velocity[2] != 0 || body->angular_velocity[0] != 0 || body->angular_velocity[1] != 0)
        reader->leaves_plane = true;
    bool moves = body->has_random_speed;
    for (int k = 0; k < 3; k++)
        moves = moves || body->velocity[k] != 0 || body->angular_velocity[k] != 0;
    if (body->fixed && moves)
        tac_scene_warn(reader, where, "\"%.60s\" is fixed: its velocity has no effect", body->name);
    TAC_TRY(read_mesh(reader, object, where, index));
    TAC_TRY(read_round(reader, object, where, has_radius, body));
    TAC_TRY(check_rolls(reader, object, where, body));
    TAC_TRY(tac_scene_read_rigid(reader, object, where, index));
done:
    return err;
}

enum tac_err tac_scene_read_bodies(struct tac_reader *reader, json_t *root)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    json_t *bodies;
    TAC_TRY(tac_list(reader, root, "", "bodies", &bodies));
    size_t count = json_array_size(bodies);
    if (count == 0)
        TAC_TRY(tac_scene_fail(reader, "bodies", "is empty; a scene needs at least one body"));
    if (count > TAC_MOST_ELEMENTS)
        TAC_TRY(tac_scene_fail(reader, "bodies", "has too many elements"));
    reader->names = json_object();
    TAC_TRY(tac_alloc(reader->ctx, count, sizeof *scene->settings->body, &scene->settings->body));
    TAC_TRY(tac_alloc(reader->ctx, count, sizeof *reader->rows, &reader->rows));
    for (size_t i = 0; i < count; i++) {
        scene->settings->body_count++;
        TAC_TRY(read_body(reader, json_array_get(bodies, i), (tac_lid)i));
    }
done:
    return err;
}

enum tac_err tac_scene_find_body(struct tac_reader *reader, const json_t *value, const char *where, tac_lid *out)
{
    const struct tac_scene *scene = reader->scene;
    const char *name, *nearest = NULL;
    enum tac_err err = tac_string(reader, value, where, &name);
    if (err)
        return err;
    json_t *index = json_object_get(reader->names, name);
    if (index != NULL) {
        *out = (tac_lid)json_integer_value(index);
        return TAC_OK;
    }
    for (tac_lid i = 0; i < scene->settings->body_count && nearest == NULL; i++)
        nearest = tac_nearest(name, (const char *const *)&scene->settings->body[i].name, 1);
    if (nearest != NULL)
        return tac_scene_fail(reader, where, "\"%.60s\" is no body of the scene; did you mean \"%.60s\"?", name,
                              nearest);
    return tac_scene_fail(reader, where, "\"%.60s\" is no body of the scene; give the name of one", name);
}

static int by_pair(const void *a, const void *b)
{
    const tac_lid *p = a, *q = b;
    if (p[0] != q[0])
        return p[0] < q[0] ? -1 : 1;
    return (p[1] > q[1]) - (p[1] < q[1]);
}

enum tac_err tac_scene_read_ignore(struct tac_reader *reader, json_t *contact)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    json_t *ignore;
    tac_lid *pair;
    TAC_TRY(tac_list(reader, contact, "contact", "ignore", &ignore));
    size_t count = json_array_size(ignore);
    TAC_TRY(tac_alloc(reader->ctx, count, 2 * sizeof *pair, &scene->settings->contact.ignore));
    pair = scene->settings->contact.ignore;
    for (size_t i = 0; i < count; i++) {
        char where[TAC_WHERE], place[TAC_WHERE];
        json_t *names = json_array_get(ignore, i);
        tac_lid index[2] = {0, 0};
        tac_where_index(where, "contact.ignore", i);
        if (!json_is_array(names) || json_array_size(names) != 2)
            TAC_TRY(tac_scene_fail(reader, where, "must be an array of two names of bodies"));
        for (size_t k = 0; k < 2; k++) {
            tac_where_index(place, where, k);
            TAC_TRY(tac_scene_find_body(reader, json_array_get(names, k), place, &index[k]));
        }
        if (index[0] == index[1])
            TAC_TRY(tac_scene_fail(reader, where, "names one body twice; set the body's \"self\" to false instead"));
        pair[2 * i] = index[0] < index[1] ? index[0] : index[1];
        pair[2 * i + 1] = index[0] < index[1] ? index[1] : index[0];
    }
    qsort(pair, count, 2 * sizeof *pair, by_pair);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || by_pair(pair + 2 * i, pair + 2 * (kept - 1)) != 0) {
            memmove(pair + 2 * kept, pair + 2 * i, 2 * sizeof *pair);
            kept++;
        }
    scene->settings->contact.ignore_count = (tac_lid)kept;
done:
    return err;
}
