/* audit_scene.c: the scene of a run, as far as an audit needs it, from what its folder holds. */
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
        struct tac_body *body = &s->body[r->body[i]];
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
    for (int kind = 0; kind < 2; kind++) {
        const int width = kind == 0 ? 3 : 2;
        const tac_lid *element = kind == 0 ? r->triangle : r->segment;
        tac_lid last = 0;
        for (tac_lid i = 0; i < (kind == 0 ? r->triangle_count : r->segment_count); i++) {
            const tac_lid *v = element + (size_t)width * (size_t)i, b = r->body[v[0]];
            struct tac_body *body = &s->body[b];
            for (int k = 0; k < width; k++)
                if (r->body[v[k]] != b || v[k] == v[(k + 1) % width])
                    return strange(ctx, r, "an element is not of one body, or has a vertex twice");
            if (b < last)
                return strange(ctx, r, "its elements are not in the order of the bodies");
            tac_lid *begin = kind == 0 ? &body->triangle_begin : &body->segment_begin;
            tac_lid *end = kind == 0 ? &body->triangle_end : &body->segment_end;
            if (*end == 0)
                *begin = i;
            *end = i + 1;
            body->has_elements = true;
            last = b;
        }
    }
    return TAC_OK;
}

/* Particles are the vertices of bodies without elements: of what the rest is made must be told. */
static enum tac_err check_loose(struct tac_ctx *ctx, const struct tac_reader *r, const struct tac_scene *s)
{
    enum tac_err err = TAC_OK;
    uint8_t *used = NULL;
    TAC_TRY(tac_alloc(ctx, (size_t)r->vertex_count, 1, &used));
    for (size_t i = 0; i < 3 * (size_t)r->triangle_count; i++)
        used[r->triangle[i]] = 1;
    for (size_t i = 0; i < 2 * (size_t)r->segment_count; i++)
        used[r->segment[i]] = 1;
    for (tac_lid i = 0; i < r->vertex_count && !err; i++)
        if (!used[i] && s->body[r->body[i]].has_elements)
            err = strange(ctx, r, "a body with elements has a vertex that is in none");
done:
    free(used);
    return err;
}

static tac_lid find_body(const struct tac_scene *s, const json_t *name)
{
    const char *text = json_string_value(name);
    for (tac_lid b = 0; text != NULL && b < s->body_count; b++)
        if (strcmp(s->body[b].name, text) == 0)
            return b;
    return -1;
}

static enum tac_err read_ignore(struct tac_ctx *ctx, const json_t *contact, const char *path, struct tac_scene *s)
{
    const json_t *ignore = json_object_get(contact, "ignore");
    enum tac_err err = tac_alloc(ctx, json_array_size(ignore), 2 * sizeof *s->contact.ignore, &s->contact.ignore);
    for (size_t i = 0; i < json_array_size(ignore) && !err; i++) {
        for (size_t k = 0; k < 2; k++) {
            tac_lid b = find_body(s, json_array_get(json_array_get(ignore, i), k));
            if (b < 0)
                return tac_fail(ctx, TAC_ERR_INPUT,
                                "'%s' does not belong to the frames beside it: contact.ignore[%zu] names a body that "
                                "they do not have",
                                path, i);
            s->contact.ignore[2 * i + k] = b;
        }
        s->contact.ignore_count++;
    }
    return err;
}

/* What the mesh does not tell: which bodies meet themselves, and which pairs may pass. */
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
    s->contact.thickness = isfinite(thickness) && thickness > 0 ? thickness : 0;
    if (json_array_size(bodies) != (size_t)s->body_count) {
        err = tac_fail(ctx, TAC_ERR_INPUT,
                       "'%s' does not belong to the frames beside it: it has %zu bodies, they have %" TAC_PRILID, path,
                       json_array_size(bodies), s->body_count);
        goto done;
    }
    for (tac_lid b = 0; b < s->body_count; b++) {
        const json_t *body = json_array_get(bodies, (size_t)b), *self = json_object_get(body, "self");
        s->body[b].self_contact = !json_is_false(self);
        s->body[b].fixed = json_is_true(json_object_get(body, "fixed"));
    }
    for (tac_lid i = 0; i < s->vertex_count; i++)
        s->ever_free[i] = r->free != NULL ? r->free[i] != 0 : !s->body[s->vertex_body[i]].fixed;
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
    TAC_TRY(check_loose(ctx, r, s));
    s->vertex_count = r->vertex_count;
    s->triangle_count = r->triangle_count;
    s->segment_count = r->segment_count;
    s->vertex_body = r->body;
    s->triangle = r->triangle;
    s->segment = r->segment;
    r->body = r->triangle = r->segment = NULL;
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)s->vertex_count, sizeof *s->x, &s->x));
    TAC_TRY(tac_alloc(ctx, (size_t)s->vertex_count, 1, &s->ever_free));
    TAC_TRY(tac_topology_create(ctx, s->vertex_count, s->triangle_count, s->triangle, s->segment_count, s->segment,
                                &s->topology));
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
    TAC_TRY(tac_alloc(ctx, 1, sizeof *s, &s));
    TAC_TRY(tac_alloc(ctx, (size_t)frames->body_count, sizeof *s->body, &s->body));
    s->body_count = frames->body_count;
    for (tac_lid b = 0; b < s->body_count; b++) {
        s->body[b].name = frames->body_name[b];
        frames->body_name[b] = NULL;
    }
    TAC_TRY(take_mesh(ctx, frames, s));
    TAC_TRY(read_json(ctx, dir, frames, s));
    *out = s;
    s = NULL;
done:
    tac_audit_scene_destroy(&s);
    return err;
}

void tac_audit_scene_destroy(struct tac_scene **scene)
{
    struct tac_scene *s = *scene;
    if (s == NULL)
        return;
    for (tac_lid b = 0; b < s->body_count; b++)
        free(s->body[b].name);
    free(s->body);
    free(s->contact.ignore);
    free(s->x);
    free(s->ever_free);
    free(s->vertex_body);
    free(s->triangle);
    free(s->segment);
    tac_topology_destroy(&s->topology);
    free(s);
    *scene = NULL;
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
        memcpy(vertex, &s->topology->edge[2 * (size_t)id], 2 * sizeof *vertex);
    } else if (**kind == 't') {
        count = 3;
        memcpy(vertex, &s->triangle[3 * (size_t)id], 3 * sizeof *vertex);
    }
    *body = s->vertex_body[vertex[0]];
    for (int k = 0; k < count; k++)
        vertex[k] -= s->body[*body].vertex_begin;
    return count;
}

void tac_audit_describe(const struct tac_scene *s, const struct tac_audit_place *place, int side, char *text,
                        size_t size)
{
    const char *kind;
    tac_lid body, v[3];
    const int count = tac_audit_side(s, place, side, &kind, &body, v);
    if (count == 2)
        snprintf(text, size, "edge %" TAC_PRILID "-%" TAC_PRILID " of body `%s`", v[0], v[1], s->body[body].name);
    else
        snprintf(text, size, "%s %" TAC_PRILID " of body `%s`", kind,
                 count == 3 ? place->id[side] - s->body[body].triangle_begin : v[0], s->body[body].name);
}
