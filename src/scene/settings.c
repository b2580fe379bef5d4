/* settings.c: reads the scalar sections of a scene (time, gravity, contact, clocks, discovery, output). */
#include "scene/accuracy.h"
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>

#define FORMAT "tactus-scene/1"

static const char *const clock_modes[] = {"nested", "free", NULL};
static const char *const discovery_modes[] = {"speculate", "kds", "all-pairs", NULL};
static const char *const structures[] = {"k-dop", "pairs", NULL};
static const char *const queues[] = {"binary", "pairing", "calendar", "radix", NULL};
static const char *const integrators[] = {"asynchronous", "implicit", "impact", NULL};
static const char *const friction_models[] = {"anchor", "kinetic", NULL};

#define AT(member) offsetof(struct tac_settings, member)

static const struct tac_field scene_fields[] = {
    {.key = "format", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "name", .kind = TAC_FIELD_OTHER},
    {.key = "units", .kind = TAC_FIELD_OTHER},
    {.key = "time", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "gravity", .kind = TAC_FIELD_VECTOR, .offset = AT(gravity), .max = TAC_FARTHEST},
    {.key = "contact", .kind = TAC_FIELD_OTHER},
    {.key = "clocks", .kind = TAC_FIELD_OTHER},
    {.key = "integrator", .kind = TAC_FIELD_OTHER},
    {.key = "discovery", .kind = TAC_FIELD_OTHER},
    {.key = "output", .kind = TAC_FIELD_OTHER},
    {.key = "materials", .kind = TAC_FIELD_OTHER},
    {.key = "bodies", .kind = TAC_FIELD_OTHER, .required = true},
    {.key = "motions", .kind = TAC_FIELD_OTHER},
    {.key = "joints", .kind = TAC_FIELD_OTHER},
    {.key = "loads", .kind = TAC_FIELD_OTHER},
};

static const struct tac_field time_fields[] = {
    {.key = "end", .kind = TAC_FIELD_NUMBER, .offset = AT(end_s), .max = INFINITY, .min_open = true, .required = true},
    {.key = "frame",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(frame_s),
     .max = INFINITY,
     .min_open = true,
     .required = true},
};

/* The ranges of the exponents keep stiffness_exponent - 2 thickness_exponent >= -1: the sum over the layers of
 * r(l) eta(l)^2 diverges, so no finite energy gets through (docs/explanation/method.md, Penalty layers). */
static const struct tac_field contact_fields[] = {
    {.key = "thickness", .kind = TAC_FIELD_NUMBER, .offset = AT(contact.thickness), .max = TAC_FARTHEST},
    {.key = "stiffness",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(contact.stiffness),
     .fallback = 1000,
     .max = INFINITY,
     .min_open = true},
    {.key = "restitution", .kind = TAC_FIELD_NUMBER, .offset = AT(contact.restitution), .max = 1},
    {.key = "friction", .kind = TAC_FIELD_FRICTION, .offset = AT(contact.friction), .max = INFINITY},
    {.key = "rolling", .kind = TAC_FIELD_NUMBER, .offset = AT(contact.rolling), .fallback = NAN, .max = INFINITY},
    {.key = "twisting", .kind = TAC_FIELD_NUMBER, .offset = AT(contact.twisting), .fallback = NAN, .max = INFINITY},
    {.key = "friction_model",
     .kind = TAC_FIELD_CHOICE,
     .offset = AT(contact.friction_model),
     .choice = friction_models},
    {.key = "pairs", .kind = TAC_FIELD_OTHER},
    {.key = "ignore", .kind = TAC_FIELD_OTHER},
    {.key = "thickness_exponent",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(contact.thickness_exponent),
     .fallback = .25,
     .max = 1,
     .min_open = true},
    {.key = "stiffness_exponent",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(contact.stiffness_exponent),
     .fallback = 3,
     .min = 1,
     .max = 8},
    {.key = "min_period_s",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(contact.min_period_s),
     .fallback = NAN,
     .max = INFINITY,
     .min_open = true},
    {.key = "pairs_per_vertex",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(contact.pairs_per_vertex),
     .fallback = NAN,
     .min = 1,
     .max = 1e9},
    {.key = "rest_fraction",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(contact.rest_fraction),
     .fallback = .5,
     .max = TAC_REST_FRACTION_MOST,
     .min_open = true},
};

static const struct tac_field clocks_fields[] = {
    {.key = "mode", .kind = TAC_FIELD_CHOICE, .offset = AT(clocks.mode), .choice = clock_modes},
    {.key = "accuracy", .kind = TAC_FIELD_OTHER},
    {.key = "quantum_s",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(quantum_s),
     .fallback = NAN, /* by the end */
     .min = 0x1p-120,
     .max = 1},
    {.key = "elastic_safety",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(clocks.elastic_safety),
     .fallback = .1,
     .max = 1,
     .min_open = true},
    {.key = "elastic_s",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(clocks.elastic_s),
     .fallback = .001,
     .max = INFINITY,
     .min_open = true},
    {.key = "contact_safety",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(clocks.contact_safety),
     .fallback = .15,
     .max = 1,
     .min_open = true},
    {.key = "contact_s",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(clocks.contact_s),
     .fallback = NAN,
     .max = INFINITY,
     .min_open = true},
    {.key = "gravity_s",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(clocks.gravity_s),
     .fallback = .001,
     .max = INFINITY,
     .min_open = true},
    {.key = "rigid_s",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(clocks.rigid_s),
     .fallback = .001,
     .max = INFINITY,
     .min_open = true},
    {.key = "turn",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(clocks.turn),
     .fallback = 0x1p-8,
     .max = 0x1p-5, /* beyond, a plan might not converge */
     .min_open = true},
};

static const struct tac_field integrator_fields[] = {
    {.key = "kind", .kind = TAC_FIELD_CHOICE, .offset = AT(integrator), .choice = integrators},
};

static const struct tac_field discovery_fields[] = {
    {.key = "mode", .kind = TAC_FIELD_CHOICE, .offset = AT(discovery.mode), .choice = discovery_modes},
    {.key = "window_s",
     .kind = TAC_FIELD_RANGE,
     .offset = AT(discovery.window_s),
     .fallback = NAN,
     .max = INFINITY,
     .min_open = true},
    {.key = "structure", .kind = TAC_FIELD_CHOICE, .offset = AT(discovery.structure), .choice = structures},
    {.key = "queue", .kind = TAC_FIELD_CHOICE, .offset = AT(discovery.queue), .choice = queues, .fallback = 2},
    {.key = "kdop", .kind = TAC_FIELD_INTEGER, .offset = AT(discovery.kdop), .fallback = 18, .min = 6, .max = 26},
    {.key = "vagueness",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(discovery.vagueness),
     .fallback = NAN,
     .max = TAC_FARTHEST},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* `accuracy` sets the safeties that are not given. The resolved scene has these safeties instead of it, so its meaning
 * does not change if the levels change, and the hash of a scene is that of the safeties. */
static enum tac_err apply_accuracy(struct tac_reader *reader, json_t *clocks)
{
    enum tac_err err = TAC_OK;
    int level = -1, applied = 0;
    const struct tac_field field = {
        .key = "accuracy", .kind = TAC_FIELD_CHOICE, .fallback = NAN, .choice = tac_accuracy_names};
    json_t *word = json_is_object(clocks) ? json_object_get(clocks, "accuracy") : NULL;
    if (word == NULL)
        goto done;
    TAC_TRY(tac_field_read(reader, &field, word, "clocks.accuracy", &level));
    const struct tac_accuracy *a = &tac_accuracy[level];
    const char *const key[] = {"elastic_safety", "contact_safety"};
    const double value[] = {a->elastic_safety, a->contact_safety};
    for (size_t k = 0; k < COUNT(key); k++) {
        if (json_object_get(clocks, key[k]) != NULL)
            continue;
        applied++;
        if (json_object_set_new(clocks, key[k], json_real(value[k])) != 0)
            TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
    }
    if (applied == 0)
        tac_scene_warn(reader, "clocks.accuracy",
                       "has no effect, because elastic_safety and contact_safety are both given; leave them out, or "
                       "leave accuracy out");
    json_object_del(clocks, "accuracy");
done:
    return err;
}

/* After `time`: the default of the quantum depends on the end. */
static enum tac_err read_clocks(struct tac_reader *reader, json_t *clocks)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    int exponent;
    scene->settings->clocks.contact_s = INFINITY;
    if (json_object_get(clocks, "quantum_s") == NULL &&
        json_object_set_new(clocks, "quantum_s", json_real(tac_scene_default_quantum(reader))) != 0)
        TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
    TAC_TRY(apply_accuracy(reader, clocks));
    TAC_TRY(tac_fields_read(reader, clocks, "clocks", clocks_fields, COUNT(clocks_fields), scene->settings));
    double mantissa = frexp(scene->settings->quantum_s, &exponent);
    if (mantissa != .5)
        TAC_TRY(tac_scene_fail(reader, "clocks.quantum_s", "is %s; it must be a power of two, for instance %s",
                               tac_shown(scene->settings->quantum_s).text,
                               tac_shown(ldexp(1, mantissa < 0.70710678 ? exponent - 1 : exponent)).text));
done:
    return err;
}

static enum tac_err read_head(struct tac_reader *reader, json_t *root)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    const char *text = "";
    if (!json_is_object(root))
        TAC_TRY(tac_scene_fail(reader, "", "must hold a JSON object, not %s", tac_json_type(root)));
    /* The format first: of another format nothing else can be judged. */
    json_t *format = json_object_get(root, "format");
    if (format == NULL)
        TAC_TRY(tac_scene_fail(reader, "", "has no key \"format\"; a scene has \"format\": \"" FORMAT "\""));
    TAC_TRY(tac_string(reader, format, "format", &text));
    if (strcmp(text, FORMAT) != 0)
        TAC_TRY(tac_scene_fail(reader, "format", "is \"%.60s\"; this version reads \"" FORMAT "\"", text));
    TAC_TRY(tac_fields_read(reader, root, "", scene_fields, COUNT(scene_fields), scene->settings));
    text = "";
    json_t *name = json_object_get(root, "name");
    if (name != NULL)
        TAC_TRY(tac_string(reader, name, "name", &text));
    TAC_TRY(tac_check_name(reader, text, "name"));
    TAC_TRY(tac_copy(reader->ctx, text, &scene->settings->name));
    reader->leaves_plane = scene->settings->gravity[2] != 0;
    TAC_TRY(tac_scene_read_units(reader, root));
done:
    return err;
}

/* Every kind has keys of its own. */
static enum tac_err read_integrator(struct tac_reader *reader, json_t *section)
{
    static const struct tac_field kind = {.key = "kind", .kind = TAC_FIELD_CHOICE, .choice = integrators};
    enum tac_err err = TAC_OK;
    int which = TAC_INTEGRATOR_ASYNCHRONOUS;
    const json_t *word = json_object_get(section, "kind");
    if (word != NULL)
        TAC_TRY(tac_field_read(reader, &kind, word, "integrator.kind", &which));
    if (which == TAC_INTEGRATOR_IMPLICIT)
        return tac_scene_read_implicit(reader, section);
    if (which == TAC_INTEGRATOR_IMPACT)
        return tac_scene_read_impact(reader, section);
    TAC_TRY(tac_fields_read(reader, section, "integrator", integrator_fields, COUNT(integrator_fields),
                            reader->scene->settings));
done:
    return err;
}

static enum tac_err read_discovery(struct tac_reader *reader, json_t *section)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err;
    scene->settings->discovery.vagueness = -1;
    TAC_TRY(tac_fields_read(reader, section, "discovery", discovery_fields, COUNT(discovery_fields), scene->settings));
    const int64_t k = scene->settings->discovery.kdop;
    if (k != 6 && k != 14 && k != 18 && k != 26)
        TAC_TRY(
            tac_scene_fail(reader, "discovery.kdop", "is %d; a hierarchy of k-DOPs has k = 6, 14, 18 or 26", (int)k));
done:
    return err;
}

enum tac_err tac_scene_read_settings(struct tac_reader *reader, json_t *root)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    json_t *section;
    TAC_TRY(read_head(reader, root));
    TAC_TRY(tac_section(reader, root, "", "time", &section));
    TAC_TRY(tac_fields_read(reader, section, "time", time_fields, COUNT(time_fields), scene->settings));
    TAC_TRY(tac_section(reader, root, "", "clocks", &section));
    TAC_TRY(read_clocks(reader, section));
    TAC_TRY(tac_scene_check_time(reader));
    TAC_TRY(tac_section(reader, root, "", "integrator", &section));
    TAC_TRY(read_integrator(reader, section));
    TAC_TRY(tac_section(reader, root, "", "discovery", &section));
    TAC_TRY(read_discovery(reader, section));
    TAC_TRY(tac_section(reader, root, "", "output", &section));
    TAC_TRY(tac_scene_read_output(reader, section));
    TAC_TRY(tac_section(reader, root, "", "contact", &section));
    TAC_TRY(tac_fields_read(reader, section, "contact", contact_fields, COUNT(contact_fields), scene->settings));
done:
    return err;
}

enum tac_err tac_scene_reread_settings(struct tac_reader *reader, json_t *root)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    json_t *section;
    TAC_TRY(tac_fields_read(reader, root, "", scene_fields, COUNT(scene_fields), scene->settings));
    reader->leaves_plane |= scene->settings->gravity[2] != 0;
    TAC_TRY(tac_section(reader, root, "", "contact", &section));
    TAC_TRY(tac_fields_read(reader, section, "contact", contact_fields, COUNT(contact_fields), scene->settings));
done:
    return err;
}
