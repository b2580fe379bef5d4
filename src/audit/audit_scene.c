/* audit_scene.c: reads the scene of a run from its folder, as far as an audit needs it. */
#include "scene/rigid/rigid_pieces.h"
#include <tactus/audit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum tac_err strange(struct tac_ctx *ctx, const struct tac_reader *frames, const char *what)
{
    return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is damaged, or of a foreign program: %s", frames->path, what);
}

/* Vertices and elements come body by body. */
static enum tac_err fill_bodies(struct tac_ctx *ctx, const struct tac_reader *r, struct tac_scene *s)
{
    for (tac_lid i = 0; i < r->vertex_count; i++) {
        struct tac_body *body = &s->settings->body[r->body[i]];
        if (i > 0 && r->body[i] < r->body[i - 1])
            return strange(ctx, r, "its vertices are not in the order of the bodies");
        if (i == 0 || r->body[i] != r->body[i - 1]) {
            body->vertex_begin = i;
            body->radius = r->radius[i];
        }
        if (!(r->radius[i] == body->radius && r->radius[i] >= 0 && isfinite(r->radius[i])))
            return strange(ctx, r, "the radius of a body is not one number");
        body->vertex_end = i + 1;
    }
    for (int kind = 0; kind < 3; kind++) {
        const int width = kind == 0 ? 3 : kind == 1 ? 2 : 4;
        const tac_lid *element = kind == 0 ? r->triangle : kind == 1 ? r->segment : r->tetrahedron;
        const tac_lid count = kind == 0 ? r->triangle_count : kind == 1 ? r->segment_count : r->tetrahedron_count;
        tac_lid last = 0;
        for (tac_lid i = 0; i < count; i++) {
            const tac_lid *v = element + (size_t)width * (size_t)i, b = r->body[v[0]];
            struct tac_body *body = &s->settings->body[b];
            for (int k = 0; k < width; k++)
                if (r->body[v[k]] != b || v[k] == v[(k + 1) % width])
                    return strange(ctx, r, "an element is not of one body, or has a vertex twice");
            if (b < last)
                return strange(ctx, r, "its elements are not in the order of the bodies");
            tac_lid *begin = kind == 0   ? &body->triangle_begin
                             : kind == 1 ? &body->segment_begin
                                         : &body->tetrahedron_begin;
            tac_lid *end = kind == 0 ? &body->triangle_end : kind == 1 ? &body->segment_end : &body->tetrahedron_end;
            if (*end == 0)
                *begin = i;
            *end = i + 1;
            body->has_elements = true;
            last = b;
        }
    }
    return TAC_OK;
}

/* Particles are the vertices of bodies without elements: so the elements of all other bodies must be known. Only
 * points of joints are in none, which nothing touches. */
static enum tac_err check_loose(struct tac_ctx *ctx, const struct tac_reader *r, const struct tac_scene *s)
{
    const struct tac_local_mesh *m = s->mesh;
    enum tac_err err = TAC_OK;
    uint8_t *used = NULL;
    TAC_TRY(tac_alloc(ctx, (size_t)m->vertex_count, 1, &used));
    for (size_t i = 0; i < 3 * (size_t)m->triangle_count; i++)
        used[m->triangle[i]] = 1;
    for (size_t i = 0; i < 2 * (size_t)m->segment_count; i++)
        used[m->segment[i]] = 1;
    for (size_t i = 0; i < 4 * (size_t)m->tetrahedron_count; i++) /* inside a solid, where nothing can touch */
        used[m->tetrahedron[i]] = 1;
    for (tac_lid i = 0; i < m->vertex_count && !err; i++) {
        const struct tac_body *body = &s->settings->body[m->vertex_body[i]];
        if (!used[i] && body->has_elements && body->anchors == 0)
            err = strange(ctx, r, "a body with elements has a vertex that is in none");
    }
done:
    free(used);
    return err;
}

static tac_lid find_body(const struct tac_scene *s, const json_t *name)
{
    const char *text = json_string_value(name);
    for (tac_lid b = 0; text != NULL && b < s->settings->body_count; b++)
        if (strcmp(s->settings->body[b].name, text) == 0)
            return b;
    return -1;
}

static enum tac_err read_ignore(struct tac_ctx *ctx, const json_t *contact, const char *path, struct tac_scene *s)
{
    const json_t *ignore = json_object_get(contact, "ignore");
    enum tac_err err =
        tac_alloc(ctx, json_array_size(ignore), 2 * sizeof *s->settings->contact.ignore, &s->settings->contact.ignore);
    for (size_t i = 0; i < json_array_size(ignore) && !err; i++) {
        for (size_t k = 0; k < 2; k++) {
            tac_lid b = find_body(s, json_array_get(json_array_get(ignore, i), k));
            if (b < 0)
                return tac_fail(ctx, TAC_ERR_INPUT,
                                "'%s' does not belong to the frames beside it: contact.ignore[%zu] names a body that "
                                "they do not have",
                                path, i);
            s->settings->contact.ignore[2 * i + k] = b;
        }
        s->settings->contact.ignore_count++;
    }
    return err;
}

/* Marks the bodies that have points of joints. */
static void mark_joined(const json_t *json, struct tac_scene *s)
{
    static const char *const side[] = {"a", "b"};
    const json_t *joints = json_object_get(json, "joints");
    for (size_t i = 0; i < json_array_size(joints); i++)
        for (int k = 0; k < 2; k++) {
            const tac_lid b =
                find_body(s, json_object_get(json_object_get(json_array_get(joints, i), side[k]), "body"));
            if (b >= 0)
                s->settings->body[b].anchors = 1;
        }
}

/* Lists the pieces of the bodies whose pieces are rigid, each by itself. */
static enum tac_err find_pieces(struct tac_ctx *ctx, const struct tac_reader *r, const json_t *bodies,
                                struct tac_scene *s)
{
    enum tac_err err = TAC_OK;
    size_t capacity = 0;
    tac_lid wrong[3];
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        const json_t *rigid = json_object_get(json_array_get(bodies, (size_t)b), "rigid");
        if (!json_is_true(json_object_get(rigid, "pieces")))
            continue;
        TAC_TRY(tac_rigid_add_pieces(ctx, s, &capacity, b, wrong));
        if (wrong[0] >= 0)
            TAC_TRY(strange(ctx, r, "the vertices of a body in pieces are not in the order of these"));
    }
done:
    return err;
}

/* Sets what the mesh does not contain: which bodies can touch themselves, and which pairs may pass through each
 * other. */
static enum tac_err read_json(struct tac_ctx *ctx, const char *dir, const struct tac_reader *r, struct tac_scene *s)
{
    enum tac_err err = TAC_OK;
    char *path = NULL;
    json_t *json = NULL;
    json_error_t error;
    size_t size = strlen(dir) + sizeof "/scene.json";
    TAC_TRY(tac_alloc(ctx, size, 1, &path));
    snprintf(path, size, "%s/scene.json", dir);
    json = json_load_file(path, 0, &error);
    if (json == NULL) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%s', which says what may pass through what: line %d: %s", path,
                       error.line, error.text);
        goto done;
    }
    const json_t *bodies = json_object_get(json, "bodies"), *contact = json_object_get(json, "contact");
    const double thickness = json_number_value(json_object_get(contact, "thickness"));
    s->settings->contact.thickness = isfinite(thickness) && thickness > 0 ? thickness : 0;
    if (json_array_size(bodies) != (size_t)s->settings->body_count) {
        err = tac_fail(ctx, TAC_ERR_INPUT,
                       "'%s' does not belong to the frames beside it: it has %zu bodies, they have %" TAC_PRILID, path,
                       json_array_size(bodies), s->settings->body_count);
        goto done;
    }
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        const json_t *body = json_array_get(bodies, (size_t)b), *self = json_object_get(body, "self");
        s->settings->body[b].self_contact = !json_is_false(self);
        s->settings->body[b].fixed = json_is_true(json_object_get(body, "fixed"));
    }
    mark_joined(json, s);
    TAC_TRY(find_pieces(ctx, r, bodies, s));
    for (tac_lid i = 0; i < s->mesh->vertex_count; i++)
        s->mesh->ever_free[i] = r->free != NULL ? r->free[i] != 0 : !s->settings->body[s->mesh->vertex_body[i]].fixed;
    TAC_TRY(read_ignore(ctx, contact, path, s));
done:
    json_decref(json);
    free(path);
    return err;
}

/* The reader's arrays become the scene's. */
static enum tac_err take_mesh(struct tac_ctx *ctx, struct tac_reader *r, struct tac_scene *s)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(fill_bodies(ctx, r, s));
    s->mesh->vertex_count = r->vertex_count;
    s->mesh->triangle_count = r->triangle_count;
    s->mesh->segment_count = r->segment_count;
    s->mesh->tetrahedron_count = r->tetrahedron_count;
    s->mesh->tetrahedron = r->tetrahedron;
    r->tetrahedron = NULL;
    s->mesh->vertex_body = r->body;
    s->mesh->triangle = r->triangle;
    s->mesh->segment = r->segment;
    r->body = r->triangle = r->segment = NULL;
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)s->mesh->vertex_count, sizeof *s->mesh->x, &s->mesh->x));
    TAC_TRY(tac_alloc(ctx, (size_t)s->mesh->vertex_count, 1, &s->mesh->ever_free));
    TAC_TRY(tac_topology_create(ctx, s->mesh->vertex_count, s->mesh->triangle_count, s->mesh->triangle,
                                s->mesh->segment_count, s->mesh->segment, &s->mesh->topology));
done:
    return err;
}

enum tac_err tac_audit_scene_read(struct tac_ctx *ctx, struct tac_reader *frames, const char *dir,
                                  struct tac_scene **out)
{
    enum tac_err err = TAC_OK;
    struct tac_scene *s = NULL;
    *out = NULL;
    TAC_TRY(tac_reader_mesh(ctx, frames));
    TAC_TRY(tac_scene_make(ctx, NULL, &s));
    TAC_TRY(tac_alloc(ctx, (size_t)frames->body_count, sizeof *s->settings->body, &s->settings->body));
    s->settings->body_count = frames->body_count;
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        s->settings->body[b].name = frames->body_name[b];
        frames->body_name[b] = NULL;
    }
    TAC_TRY(take_mesh(ctx, frames, s));
    TAC_TRY(read_json(ctx, dir, frames, s));
    TAC_TRY(check_loose(ctx, frames, s));
    *out = s;
    s = NULL;
done:
    tac_scene_destroy(&s);
    return err;
}

int tac_audit_side(const struct tac_scene *s, const struct tac_audit_place *place, int side, const char **kind,
                   tac_lid *body, tac_lid vertex[3])
{
    static const char *const names[6][2] = {{"vertex", "triangle"}, {"edge", "edge"},     {"vertex", "edge"},
                                            {"vertex", "vertex"},   {"edge", "triangle"}, {"edge", "edge"}};
    const tac_lid id = place->id[side];
    *kind = names[place->kind][side];
    int count = 1;
    vertex[0] = id;
    if (**kind == 'e') {
        count = 2;
        memcpy(vertex, &s->mesh->topology->edge[2 * (size_t)id], 2 * sizeof *vertex);
    } else if (**kind == 't') {
        count = 3;
        memcpy(vertex, &s->mesh->triangle[3 * (size_t)id], 3 * sizeof *vertex);
    }
    *body = s->mesh->vertex_body[vertex[0]];
    for (int k = 0; k < count; k++)
        vertex[k] -= s->settings->body[*body].vertex_begin;
    return count;
}

void tac_audit_describe(const struct tac_scene *s, const struct tac_audit_place *place, int side, char *text,
                        size_t size)
{
    const char *kind;
    tac_lid body, v[3];
    const int count = tac_audit_side(s, place, side, &kind, &body, v);
    if (count == 2)
        snprintf(text, size, "edge %" TAC_PRILID "-%" TAC_PRILID " of body `%s`", v[0], v[1],
                 s->settings->body[body].name);
    else
        snprintf(text, size, "%s %" TAC_PRILID " of body `%s`", kind,
                 count == 3 ? place->id[side] - s->settings->body[body].triangle_begin : v[0],
                 s->settings->body[body].name);
}
