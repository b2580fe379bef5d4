/* differ.c: names the key by which a scene differs from the one that a checkpoint was made from.
 *
 * The hash has shown already that the scenes differ. Keys that the hash leaves out are not compared. */
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>

/* What a value is in a sentence. */
struct reported {
    char text[128];
};

static struct reported describe_value(const json_t *value)
{
    struct reported reported = {"not set"};
    if (value == NULL)
        return reported;
    if (json_is_real(value)) {
        snprintf(reported.text, sizeof reported.text, "%s", tac_shown(json_real_value(value)).text);
        return reported;
    }
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6) | JSON_ENSURE_ASCII);
    if (text != NULL)
        snprintf(reported.text, sizeof reported.text, "%.90s%s", text, strlen(text) > 90 ? "..." : "");
    free(text);
    return reported;
}

static enum tac_err differs(struct tac_reader *reader, const char *where, const json_t *now, const json_t *then)
{
    return tac_scene_fail(reader, where,
                          "is %s, but %s in the scene that the checkpoint is of; set it back, start again without "
                          "--restart, or change it from there on with --branch",
                          describe_value(now).text, describe_value(then).text);
}

static enum tac_err compare(struct tac_reader *reader, const char *where, const json_t *now, const json_t *then);

/* `except`: keys that do not count, or NULL. */
static enum tac_err compare_objects(struct tac_reader *reader, const char *where, const json_t *now, const json_t *then,
                                    const char *const *except)
{
    const json_t *const sides[2] = {now, then};
    for (int side = 0; side < 2; side++) {
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)sides[side], key, value)
        {
            char place[TAC_WHERE];
            bool counts = side == 0 || json_object_get(now, key) == NULL;
            for (int k = 0; except != NULL && except[k] != NULL; k++)
                counts = counts && strcmp(key, except[k]) != 0;
            if (!counts)
                continue;
            tac_where(place, where, key);
            enum tac_err err = compare(reader, place, json_object_get(now, key), json_object_get(then, key));
            if (err)
                return err;
        }
    }
    return TAC_OK;
}

static enum tac_err compare(struct tac_reader *reader, const char *where, const json_t *now, const json_t *then)
{
    if (now == NULL && then == NULL)
        return TAC_OK;
    if (json_is_number(now) && json_is_number(then))
        return json_number_value(now) == json_number_value(then) ? TAC_OK : differs(reader, where, now, then);
    if (json_is_object(now) && json_is_object(then))
        return compare_objects(reader, where, now, then, NULL);
    if (!json_is_array(now) || !json_is_array(then))
        return now != NULL && then != NULL && json_equal(now, then) ? TAC_OK : differs(reader, where, now, then);
    size_t count = json_array_size(now);
    if (count != json_array_size(then))
        return differs(reader, where, now, then);
    for (size_t i = 0; i < count; i++) {
        char place[TAC_WHERE];
        tac_where_index(place, where, i);
        enum tac_err err = compare(reader, place, json_array_get(now, i), json_array_get(then, i));
        if (err)
            return err;
    }
    return TAC_OK;
}

static enum tac_err compare_keys(struct tac_reader *reader, const char *where, const json_t *now, const json_t *then,
                                 const char *const *keys)
{
    for (; *keys != NULL; keys++) {
        char place[TAC_WHERE];
        tac_where(place, where, *keys);
        enum tac_err err = compare(reader, place, json_object_get(now, *keys), json_object_get(then, *keys));
        if (err)
            return err;
    }
    return TAC_OK;
}

static const char *const PLACING[] = {"position", "rotation", "scale", NULL};

enum tac_err tac_scene_placed_alike(struct tac_reader *reader, json_t *body, tac_lid index)
{
    static const char *const path[] = {"path", NULL}, *const file[] = {"file", "sha256", "holds", "in_plane", NULL};
    const char *const *except = reader->resume->from_stored ? NULL : path;
    const json_t *then = json_array_get(json_object_get(reader->resume->stored, "bodies"), (size_t)index);
    char where[TAC_WHERE], place[TAC_WHERE];
    enum tac_err err = TAC_OK;
    tac_where_index(where, "bodies", (size_t)index);
    tac_where(place, where, "mesh");
    TAC_TRY(compare_objects(reader, place, json_object_get(body, "mesh"), json_object_get(then, "mesh"), except));
    TAC_TRY(compare_keys(reader, where, body, then, PLACING));
    tac_where(place, where, "start");
    const json_t *start = json_object_get(body, "start"), *old = json_object_get(then, "start");
    if (json_is_object(start) && json_is_object(old))
        TAC_TRY(compare_objects(reader, place, start, old, except != NULL ? file : NULL));
    else
        TAC_TRY(compare(reader, place, start, old));
done:
    return err;
}

/* Are the body's vertices and elements the checkpoint's? */
static bool same_geometry(const struct tac_reader *reader, tac_lid index)
{
    const struct tac_scene *s = reader->scene;
    const struct tac_geometry *g = reader->resume->geometry;
    const struct tac_body *b = &s->settings->body[index];
    const tac_lid *begin = reader->resume->begin + TAC_TABLES * (size_t)index, *end = begin + TAC_TABLES;
    if (b->vertex_begin != begin[0] || b->vertex_end != end[0] || b->triangle_begin != begin[1] ||
        b->triangle_end != end[1] || b->segment_begin != begin[2] || b->segment_end != end[2] ||
        b->tetrahedron_begin != begin[3] || b->tetrahedron_end != end[3])
        return false;
    for (size_t i = 3 * (size_t)begin[1]; i < 3 * (size_t)end[1]; i++)
        if (s->mesh->triangle[i] != g->triangle[i])
            return false;
    for (size_t i = 2 * (size_t)begin[2]; i < 2 * (size_t)end[2]; i++)
        if (s->mesh->segment[i] != g->segment[i])
            return false;
    for (size_t i = 4 * (size_t)begin[3]; i < 4 * (size_t)end[3]; i++)
        if (s->mesh->tetrahedron[i] != g->tetrahedron[i])
            return false;
    size_t first = 3 * (size_t)begin[0], count = 3 * (size_t)end[0] - first;
    return memcmp(s->mesh->x + first, g->x + first, count * sizeof *s->mesh->x) == 0;
}

static enum tac_err compare_materials(struct tac_reader *reader, const char *where, const json_t *now,
                                      const json_t *then)
{
    const char *name = json_string_value(json_object_get(now, "material"));
    const char *old = json_string_value(json_object_get(then, "material"));
    char place[TAC_WHERE];
    if (name == NULL && old == NULL)
        return TAC_OK;
    tac_where(place, where, "material");
    if (name == NULL || old == NULL)
        return differs(reader, place, json_object_get(now, "material"), json_object_get(then, "material"));
    tac_where(place, "materials", name);
    return compare(reader, place, json_object_get(json_object_get(reader->scene->settings->json, "materials"), name),
                   json_object_get(json_object_get(reader->resume->stored, "materials"), old));
}

static enum tac_err compare_bodies(struct tac_reader *reader, const json_t *now, const json_t *then)
{
    static const char *const apart[] = {"name", "mesh", "material", "position", "rotation", "scale", NULL};
    enum tac_err err = TAC_OK;
    if (json_array_size(now) != json_array_size(then))
        TAC_TRY(tac_scene_fail(reader, "bodies",
                               "has %zu elements, but %zu in the scene that the checkpoint is of; set it back, or "
                               "start again without --restart",
                               json_array_size(now), json_array_size(then)));
    for (size_t i = 0; i < json_array_size(now); i++) {
        const json_t *a = json_array_get(now, i), *b = json_array_get(then, i);
        char where[TAC_WHERE], place[TAC_WHERE];
        tac_where_index(where, "bodies", i);
        if (!same_geometry(reader, (tac_lid)i)) {
            tac_where(place, where, "mesh");
            TAC_TRY(compare_keys(reader, where, a, b, PLACING));
            tac_where(place, where, "start");
            TAC_TRY(compare(reader, place, json_object_get(a, "start"), json_object_get(b, "start")));
            tac_where(place, where, "mesh");
            TAC_TRY(compare(reader, place, json_object_get(a, "mesh"), json_object_get(b, "mesh")));
            /* Or a body before it has other counts; then that one was named. */
            TAC_TRY(tac_scene_fail(reader, place,
                                   "has changed since the checkpoint was written, though the scene has the same name "
                                   "for it; restore the old file (or leave the scene out, the checkpoint holds the "
                                   "mesh), or start again without --restart"));
        }
        TAC_TRY(compare_objects(reader, where, a, b, apart));
        TAC_TRY(compare_materials(reader, where, a, b));
    }
done:
    return err;
}

/* Motions or loads. Bodies may have new names: their places count. */
static enum tac_err compare_motions(struct tac_reader *reader, const char *key)
{
    static const char *const apart[] = {"body", NULL};
    const json_t *now = json_object_get(reader->scene->settings->json, key),
                 *then = json_object_get(reader->resume->stored, key);
    enum tac_err err = TAC_OK;
    if (json_array_size(now) != json_array_size(then))
        TAC_TRY(compare(reader, key, now, then));
    for (size_t i = 0; i < json_array_size(now); i++) {
        char where[TAC_WHERE];
        tac_where_index(where, key, i);
        TAC_TRY(compare_objects(reader, where, json_array_get(now, i), json_array_get(then, i), apart));
    }
    TAC_TRY(compare(reader, key, now, then)); /* the bodies that they are about */
done:
    return err;
}

enum tac_err tac_scene_differs(struct tac_reader *reader)
{
    static const char *const sections[] = {"gravity", "contact", "clocks", "integrator", NULL};
    const json_t *now = reader->scene->settings->json, *then = reader->resume->stored;
    enum tac_err err = TAC_OK;
    TAC_TRY(compare_keys(reader, "", now, then, sections));
    TAC_TRY(compare_bodies(reader, json_object_get(now, "bodies"), json_object_get(then, "bodies")));
    TAC_TRY(compare_motions(reader, "motions"));
    TAC_TRY(compare_motions(reader, "loads"));
    TAC_TRY(compare_motions(reader, "joints"));
    /* No key differs: then what the program makes of them does. */
    TAC_TRY(tac_scene_fail(reader, "",
                           "is read by this version (%s) otherwise than when the checkpoint was written; use "
                           "the version that wrote it, or start again without --restart",
                           tac_version()));
done:
    return err;
}
