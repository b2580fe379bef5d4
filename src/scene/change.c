/* change.c: changes a scene in mid-run. It makes the change in a copy of the scene's text, and reads again the parts
 * that may have changed. So a value is refused for the same reasons as in a scene file, and has the same meaning. */
#include "scene/change.h"
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>

static const char WHAT[] = "gravity, contact.friction and contact.restitution (also those of contact.pairs), force, "
                           "pressure, wind, drag and path of loads, path and rotate.path of motions";

/* ---- what may change ---- */

static bool listed(const char *key, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(key, *list) == 0)
            return true;
    return false;
}

/* Two objects that may differ in the keys `loose` alone. */
static enum tac_err same_but(struct tac_reader *reader, const char *where, const json_t *then, const json_t *now,
                             const char *const *loose)
{
    const json_t *const sides[2] = {then, now};
    for (int side = 0; side < 2; side++) {
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)sides[side], key, value)
        {
            const json_t *a = json_object_get(then, key), *b = json_object_get(now, key);
            char place[TAC_WHERE];
            if (listed(key, loose) || (a != NULL && b != NULL && json_equal(a, b)))
                continue;
            tac_where(place, where, key);
            return tac_scene_fail(reader, place, "cannot change while the simulation runs; what can is %s", WHAT);
        }
    }
    return TAC_OK;
}

static enum tac_err same_lists(struct tac_reader *reader, const char *where, const json_t *then, const json_t *now,
                               const char *const *loose)
{
    enum tac_err err = TAC_OK;
    if (!json_is_array(now) || json_array_size(then) != json_array_size(now))
        TAC_TRY(tac_scene_fail(reader, where,
                               "cannot get another number of elements while the simulation runs; what can change is %s",
                               WHAT));
    for (size_t i = 0; i < json_array_size(now); i++) {
        char place[TAC_WHERE];
        tac_where_index(place, where, i);
        TAC_TRY(same_but(reader, place, json_array_get(then, i), json_array_get(now, i), loose));
    }
done:
    return err;
}

/* Lists keep their lengths, so that there is a place for values that are read again. */
static enum tac_err check_keys(struct tac_reader *reader, const json_t *then, const json_t *now)
{
    static const char *const contact[] = {"friction", "restitution", "pairs", NULL},
                             *const law[] = {"friction", "restitution", NULL}, *const load[] = {"force", "pressure",
                                                                                                "wind",  "drag",
                                                                                                "path",  NULL},
                             *const motion[] = {"path", "rotate", NULL}, *const rotate[] = {"path", NULL};
    const json_t *old = json_object_get(then, "contact"), *new = json_object_get(now, "contact");
    enum tac_err err = TAC_OK;
    if (!json_is_object(new))
        TAC_TRY(tac_scene_fail(reader, "contact", "must be an object, not %s", tac_json_type(new)));
    TAC_TRY(same_but(reader, "contact", old, new, contact));
    TAC_TRY(same_lists(reader, "contact.pairs", json_object_get(old, "pairs"), json_object_get(new, "pairs"), law));
    TAC_TRY(same_lists(reader, "loads", json_object_get(then, "loads"), json_object_get(now, "loads"), load));
    old = json_object_get(then, "motions");
    new = json_object_get(now, "motions");
    TAC_TRY(same_lists(reader, "motions", old, new, motion));
    for (size_t i = 0; i < json_array_size(new); i++) {
        char where[TAC_WHERE], place[TAC_WHERE];
        const json_t *a = json_object_get(json_array_get(old, i), "rotate"),
                     *b = json_object_get(json_array_get(new, i), "rotate");
        tac_where_index(where, "motions", i);
        tac_where(place, where, "rotate");
        if ((a != NULL) != (b != NULL) || (b != NULL && !json_is_object(b)))
            TAC_TRY(tac_scene_fail(reader, place,
                                   "cannot be added or removed while the simulation runs: a motion with a path keeps a "
                                   "path, and a rotation stays a rotation"));
        if (b != NULL)
            TAC_TRY(same_but(reader, place, a, b, rotate));
    }
done:
    return err;
}

/* Periods of layers follow from whether a contact loses energy at all (docs/reference/engine.md). */
static enum tac_err check_restitution(struct tac_reader *reader, const struct tac_scene *then)
{
    const struct tac_scene *now = reader->scene;
    for (tac_lid i = 0; i < now->settings->contact.law_count && !(now->settings->contact.pairs_per_vertex > 0); i++)
        if ((now->settings->contact.law[i].restitution == 1) != (then->settings->contact.law[i].restitution == 1))
            return tac_scene_fail(reader, "contact",
                                  "a restitution cannot change to or from 1 while the simulation runs, because the "
                                  "periods of layers depend on it; set contact.pairs_per_vertex in the scene to "
                                  "allow this");
    return TAC_OK;
}

/* ---- the future of a motion ---- */

/* Where the motion is at `now`: three numbers, or one angle. */
static json_t *place_at(const struct tac_scene *scene, const struct tac_motion *m, tac_time now)
{
    const int width = m->degrees != NULL ? 1 : 3;
    const double *value = m->degrees != NULL ? m->degrees : m->displacement;
    double at[3];
    tac_lid k = 0;
    while (k + 1 < m->knot_count && tac_scene_quanta(scene, m->knot_t_s[k + 1]) <= now)
        k++;
    const tac_time from = tac_scene_quanta(scene, m->knot_t_s[k]);
    const bool last = k + 1 == m->knot_count;
    const double share = last ? 0 : (double)(now - from) / (double)(tac_scene_quanta(scene, m->knot_t_s[k + 1]) - from);
    for (int c = 0; c < width; c++) {
        const double a = value[width * k + c], b = last ? a : value[width * (k + 1) + c];
        at[c] = a + share * (b - a);
    }
    return width == 1 ? json_real(at[0]) : json_pack("[f, f, f]", at[0], at[1], at[2]);
}

/* What was, then what was given: a new list. */
static json_t *join(const struct tac_scene *scene, const struct tac_motion *m, tac_time now, const json_t *then,
                    const json_t *given)
{
    json_t *list = json_array();
    tac_lid k = 0;
    bool ok = list != NULL;
    for (; ok && k < m->knot_count && tac_scene_quanta(scene, m->knot_t_s[k]) <= now; k++)
        ok = json_array_append(list, json_array_get(then, (size_t)k)) == 0;
    if (ok && tac_scene_quanta(scene, m->knot_t_s[k - 1]) < now)
        ok = json_array_append_new(
                 list, json_pack("[f, o]", (double)now * scene->settings->quantum_s, place_at(scene, m, now))) == 0;
    if (ok)
        ok = json_array_extend(list, (json_t *)given) == 0;
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}

/* The path of motion i, if it was set to another one: all of it where it has not begun or has let its vertices go. */
static enum tac_err renew_path(struct tac_reader *reader, const struct tac_scene *then, tac_lid i, tac_time now,
                               json_t *object, bool *changed)
{
    const struct tac_motion *m = &then->settings->motion[i];
    const json_t *before = json_array_get(json_object_get(then->settings->json, "motions"), (size_t)i);
    const bool turns = m->degrees != NULL;
    json_t *holder = turns ? json_object_get(object, "rotate") : object, *given = json_object_get(holder, "path");
    const json_t *path = json_object_get(turns ? json_object_get(before, "rotate") : before, "path");
    char where[TAC_WHERE], place[TAC_WHERE];
    double first;
    enum tac_err err = TAC_OK;
    *changed = false;
    if (given == NULL || json_equal(given, path))
        return TAC_OK;
    tac_where_index(where, "motions", (size_t)i);
    tac_where(place, where, turns ? "rotate.path" : "path");
    if (!json_is_array(given))
        TAC_TRY(tac_scene_fail(reader, place, "must be an array of knots, not %s", tac_json_type(given)));
    if (!json_is_array(json_array_get(given, 0)))
        TAC_TRY(tac_scene_fail(reader, place, "must begin with a knot, an array of two, that lies after now"));
    TAC_TRY(tac_number(reader, json_array_get(json_array_get(given, 0), 0), place, &first));
    if (tac_scene_quanta(then, first) <= now)
        TAC_TRY(tac_scene_fail(reader, place,
                               "begins at %s s; the future of a motion begins after now, which is t = %s s",
                               tac_shown(first).text, tac_shown((double)now * then->settings->quantum_s).text));
    *changed = true;
    const bool begun = tac_scene_quanta(then, m->knot_t_s[0]) <= now;
    const bool gone = m->release && m->knot_count > 1 && tac_scene_quanta(then, m->knot_t_s[m->knot_count - 1]) <= now;
    if (begun && !gone && json_object_set_new(holder, "path", join(then, m, now, path, given)) != 0)
        err = tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while changing a motion");
done:
    return err;
}

/* ---- the whole ---- */

/* A copy of the text whose sections that may change are its own. */
static enum tac_err copy_text(struct tac_reader *reader, const json_t *text, json_t **out)
{
    static const char *const section[] = {"gravity", "contact", "loads", "motions", NULL};
    json_t *copy = json_copy((json_t *)text);
    bool ok = copy != NULL;
    for (int i = 0; ok && section[i] != NULL; i++) {
        const json_t *value = json_object_get(text, section[i]);
        ok = value == NULL || json_object_set_new(copy, section[i], json_deep_copy(value)) == 0;
    }
    *out = copy;
    return ok ? TAC_OK : tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while changing the scene");
}

/* Only the sections that copy_text() copied. */
static enum tac_err check_section(struct tac_reader *reader, const char *assignment)
{
    static const char *const section[] = {"gravity", "contact", "loads", "motions"};
    const size_t length = strcspn(assignment, ".=");
    for (size_t i = 0; i < sizeof section / sizeof section[0]; i++)
        if (strlen(section[i]) == length && strncmp(section[i], assignment, length) == 0)
            return TAC_OK;
    return tac_fail(reader->ctx, TAC_ERR_INPUT,
                    "\"%.100s\" cannot be changed while the simulation runs; what can is %s", assignment, WHAT);
}

/* Empty places for what will be read again. */
static enum tac_err make_empty_places(struct tac_reader *reader, const struct tac_scene *then)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    scene->settings->contact.law = NULL;
    scene->settings->load = NULL;
    scene->settings->motion = NULL;
    TAC_TRY(tac_alloc(reader->ctx, (size_t)then->settings->load_count, sizeof *scene->settings->load,
                      &scene->settings->load));
    for (tac_lid i = 0; i < then->settings->load_count; i++) {
        scene->settings->load[i].body = then->settings->load[i].body;
        scene->settings->load[i].vertex_count = then->settings->load[i].vertex_count;
    }
    TAC_TRY(tac_alloc(reader->ctx, (size_t)then->settings->motion_count, sizeof *scene->settings->motion,
                      &scene->settings->motion));
    for (tac_lid i = 0; i < then->settings->motion_count; i++) {
        scene->settings->motion[i].arm = then->settings->motion[i].arm;
        scene->settings->motion[i].body = then->settings->motion[i].body;
    }
done:
    return err;
}

static enum tac_err read_again(struct tac_reader *reader, const struct tac_scene *then, const char *assignment,
                               tac_time now, struct tac_scene_change *out)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_scene_set(reader, scene->settings->json, assignment));
    TAC_TRY(check_keys(reader, then->settings->json, scene->settings->json));
    for (tac_lid i = 0; i < then->settings->motion_count; i++) {
        bool changed;
        TAC_TRY(renew_path(reader, then, i, now,
                           json_array_get(json_object_get(scene->settings->json, "motions"), (size_t)i), &changed));
        out->motion[i] = changed;
    }
    TAC_TRY(tac_scene_reread_settings(reader, scene->settings->json));
    TAC_TRY(tac_scene_read_laws(reader, json_object_get(scene->settings->json, "contact")));
    TAC_TRY(tac_scene_reread_loads(reader, scene->settings->json));
    TAC_TRY(tac_scene_reread_motions(reader, scene->settings->json));
    TAC_TRY(tac_scene_recheck_speeds(reader));
    for (tac_lid i = 0; i < then->settings->load_count; i++)
        if (scene->settings->load[i].kind != then->settings->load[i].kind)
            TAC_TRY(tac_scene_fail(reader, "loads",
                                   "load %d cannot become one of another kind while the simulation runs", (int)i));
    TAC_TRY(check_restitution(reader, then));
    if (then->settings->two_d && reader->leaves_plane)
        TAC_TRY(tac_scene_fail(reader, "", "%.100s leaves the plane z = 0 of a 2D scene; keep z at 0", assignment));
    TAC_TRY(tac_scene_rehash(reader));
done:
    return err;
}

enum tac_err tac_scene_change(struct tac_ctx *ctx, const struct tac_scene *scene, const char *assignment, tac_time now,
                              struct tac_scene_change *out)
{
    struct tac_reader reader = {.ctx = ctx,
                                .file = scene->settings->path,
                                .setter = "the change",
                                .scene = &out->scene,
                                .before = scene->settings};
    enum tac_err err = TAC_OK;
    out->settings = *scene->settings;
    out->scene = (struct tac_scene){&out->settings, scene->mesh};
    out->settings.json = NULL;
    out->motion = NULL;
    TAC_TRY(make_empty_places(&reader, scene));
    TAC_TRY(tac_alloc(ctx, (size_t)scene->settings->motion_count, 1, &out->motion));
    TAC_TRY(check_section(&reader, assignment));
    if (scene->settings->rigid_count > 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                         "a scene with rigid bodies cannot be changed while the simulation runs yet; start another "
                         "run with --set"));
    TAC_TRY(copy_text(&reader, scene->settings->json, &out->scene.settings->json));
    TAC_TRY(read_again(&reader, scene, assignment, now, out));
done:
    if (err)
        tac_scene_change_clear(out);
    return err;
}

void tac_scene_change_swap(struct tac_scene *scene, struct tac_scene_change *change)
{
    const struct tac_settings kept = *scene->settings;
    *scene->settings = change->settings;
    scene->settings->users = kept.users;
    change->settings = kept;
}

void tac_scene_change_clear(struct tac_scene_change *change)
{
    struct tac_settings *s = &change->settings;
    for (tac_lid i = 0; i < s->load_count && s->load != NULL; i++) {
        free(s->load[i].knot_t_s);
        free(s->load[i].factor);
    }
    for (tac_lid i = 0; i < s->motion_count && s->motion != NULL; i++)
        tac_motion_clear(&s->motion[i]);
    free(s->load);
    free(s->motion);
    free(s->contact.law);
    json_decref(s->json);
    free(change->motion);
    memset(change, 0, sizeof *change);
}
