/* material.c: reads the materials of a scene, and the contact laws between them. */
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

static const char *const stretch_models[] = {"cst", "spring", NULL};
static const char *const bend_models[] = {"hinge", NULL};
static const char *const bend_rests[] = {"mesh", "flat", NULL};
static const char *const solid_models[] = {"neo-hookean", "stvk", "corotated", NULL};

#define AT(member) offsetof(struct tac_material, member)
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct tac_field material_fields[] = {
    {.key = "density",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(density),
     .fallback = NAN,
     .max = INFINITY,
     .min_open = true},
    {.key = "stretch", .kind = TAC_FIELD_OTHER},
    {.key = "bend", .kind = TAC_FIELD_OTHER},
    {.key = "solid", .kind = TAC_FIELD_OTHER},
};

static const struct tac_field stretch_fields[] = {
    {.key = "model", .kind = TAC_FIELD_CHOICE, .offset = TAC_NOWHERE, .choice = stretch_models, .required = true},
    {.key = "stiffness",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(stretch_stiffness),
     .max = INFINITY,
     .min_open = true,
     .required = true},
    {.key = "poisson", .kind = TAC_FIELD_NUMBER, .offset = AT(poisson), .fallback = NAN, .max = 1, .max_open = true},
    {.key = "damping", .kind = TAC_FIELD_NUMBER, .offset = AT(stretch_damping), .max = INFINITY},
    {.key = "yield",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(stretch_yield),
     .fallback = NAN,
     .max = INFINITY,
     .min_open = true},
    {.key = "limit",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(stretch_limit),
     .fallback = NAN,
     .max = INFINITY,
     .min_open = true},
    {.key = "limit_principal",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(stretch_limit_principal),
     .fallback = NAN,
     .max = INFINITY,
     .min_open = true},
};

static const struct tac_field bend_fields[] = {
    {.key = "model", .kind = TAC_FIELD_CHOICE, .offset = TAC_NOWHERE, .choice = bend_models, .required = true},
    {.key = "stiffness",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(bend_stiffness),
     .max = INFINITY,
     .min_open = true,
     .required = true},
    {.key = "damping", .kind = TAC_FIELD_NUMBER, .offset = AT(bend_damping), .max = INFINITY},
    {.key = "yield",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(bend_yield),
     .fallback = NAN,
     .max = TAC_PI,
     .min_open = true,
     .max_open = true},
    {.key = "rest", .kind = TAC_FIELD_CHOICE, .offset = TAC_NOWHERE, .choice = bend_rests},
};

static const struct tac_field solid_fields[] = {
    {.key = "model", .kind = TAC_FIELD_CHOICE, .offset = TAC_NOWHERE, .choice = solid_models, .required = true},
    {.key = "youngs",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(solid_youngs),
     .max = INFINITY,
     .min_open = true,
     .required = true},
    {.key = "poisson",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(solid_poisson),
     .min = -1,
     .max = .5,
     .min_open = true,
     .max_open = true},
    {.key = "damping", .kind = TAC_FIELD_NUMBER, .offset = AT(solid_damping), .max = INFINITY},
};

static enum tac_err read_stretch(struct tac_reader *reader, json_t *stretch, const char *where,
                                 struct tac_material *material)
{
    char place[TAC_WHERE];
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_fields_read(reader, stretch, where, stretch_fields, COUNT(stretch_fields), material));
    bool cst = strcmp(json_string_value(json_object_get(stretch, "model")), "cst") == 0;
    material->stretch_model = cst ? TAC_STRETCH_CST : TAC_STRETCH_SPRING;
    tac_where(place, where, "poisson");
    json_t *poisson = json_object_get(stretch, "poisson");
    if (!cst && poisson != NULL)
        TAC_TRY(tac_scene_fail(reader, place, "belongs to the model \"cst\"; springs have none: leave it out"));
    if (cst && poisson == NULL && json_object_set_new(stretch, "poisson", json_real(0)) != 0)
        TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
done:
    return err;
}

static enum tac_err read_bend(struct tac_reader *reader, json_t *bend, const char *where, struct tac_material *material)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_fields_read(reader, bend, where, bend_fields, COUNT(bend_fields), material));
    material->bend = true;
    material->rest_flat = strcmp(json_string_value(json_object_get(bend, "rest")), "flat") == 0;
done:
    return err;
}

static enum tac_err read_solid(struct tac_reader *reader, json_t *solid, const char *where,
                               struct tac_material *material)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_fields_read(reader, solid, where, solid_fields, COUNT(solid_fields), material));
    const char *model = json_string_value(json_object_get(solid, "model"));
    int k = 0;
    while (strcmp(solid_models[k], model) != 0)
        k++;
    material->solid_model = TAC_SOLID_NEO_HOOKEAN + (enum tac_solid_model)k;
    char place[TAC_WHERE];
    tac_where(place, where, "poisson");
    if (material->solid_model == TAC_SOLID_NEO_HOOKEAN && material->solid_poisson < 0)
        TAC_TRY(tac_scene_fail(reader, place,
                               "is %g; the energy of \"neo-hookean\" has no lower bound in a crushed tetrahedron if "
                               "it is under 0: make it 0 or more, or use the model \"corotated\"",
                               material->solid_poisson));
done:
    return err;
}

static enum tac_err read_material(struct tac_reader *reader, json_t *object, const char *name,
                                  struct tac_material *material)
{
    char where[TAC_WHERE], place[TAC_WHERE];
    struct tac_field fields[COUNT(material_fields) + TAC_MATERIAL_SECTIONS];
    enum tac_err err = TAC_OK;
    tac_where(where, "materials", name);
    if (name[0] == '\0')
        TAC_TRY(tac_scene_fail(reader, where, "has an empty name; give each material a name"));
    TAC_TRY(tac_check_name(reader, name, "materials:"));
    TAC_TRY(tac_copy(reader->ctx, name, &material->name));
    memcpy(fields, material_fields, sizeof material_fields);
    TAC_TRY(tac_fields_read(reader, object, where, fields,
                            tac_scene_section_fields(reader, fields, COUNT(material_fields)), material));
    json_t *stretch = json_object_get(object, "stretch"), *bend = json_object_get(object, "bend");
    json_t *solid = json_object_get(object, "solid");
    if (stretch != NULL) {
        tac_where(place, where, "stretch");
        TAC_TRY(read_stretch(reader, stretch, place, material));
    }
    if (bend != NULL) {
        tac_where(place, where, "bend");
        TAC_TRY(read_bend(reader, bend, place, material));
    }
    if (solid != NULL) {
        tac_where(place, where, "solid");
        TAC_TRY(read_solid(reader, solid, place, material));
    }
    TAC_TRY(tac_scene_read_sections(reader, object, where, material));
done:
    return err;
}

enum tac_err tac_scene_find_material(struct tac_reader *reader, const json_t *value, const char *where, tac_lid *out)
{
    const struct tac_scene *scene = reader->scene;
    enum tac_err err;
    const char *name = "", *nearest = NULL;
    TAC_TRY(tac_string(reader, value, where, &name));
    for (*out = 0; *out < scene->settings->material_count; ++*out)
        if (strcmp(scene->settings->material[*out].name, name) == 0)
            return TAC_OK;
    for (tac_lid i = 0; i < scene->settings->material_count && nearest == NULL; i++)
        nearest = tac_nearest(name, (const char *const *)&scene->settings->material[i].name, 1);
    if (nearest != NULL)
        err = tac_scene_fail(reader, where, "\"%.60s\" is no material of the scene; did you mean \"%.60s\"?", name,
                             nearest);
    else
        err = tac_scene_fail(reader, where, "\"%.60s\" is no material of the scene; add it to materials", name);
done:
    return err;
}

/* Reads one of contact.pairs; keys that it does not have are those of the scene. */
static enum tac_err read_law(struct tac_reader *reader, json_t *object, const char *where, struct tac_contact_law *law)
{
    static const struct tac_field fields[] = {
        {.key = "materials", .kind = TAC_FIELD_OTHER, .required = true},
        {.key = "stiffness",
         .kind = TAC_FIELD_NUMBER,
         .offset = offsetof(struct tac_contact_law, stiffness),
         .fallback = NAN,
         .max = INFINITY,
         .min_open = true},
        {.key = "restitution",
         .kind = TAC_FIELD_NUMBER,
         .offset = offsetof(struct tac_contact_law, restitution),
         .fallback = NAN,
         .max = 1},
        {.key = "friction",
         .kind = TAC_FIELD_FRICTION,
         .offset = offsetof(struct tac_contact_law, friction),
         .fallback = NAN,
         .max = INFINITY},
        {.key = "rolling",
         .kind = TAC_FIELD_NUMBER,
         .offset = offsetof(struct tac_contact_law, rolling),
         .fallback = NAN,
         .max = INFINITY},
        {.key = "twisting",
         .kind = TAC_FIELD_NUMBER,
         .offset = offsetof(struct tac_contact_law, twisting),
         .fallback = NAN,
         .max = INFINITY},
    };
    enum tac_err err;
    char place[TAC_WHERE], each[TAC_WHERE];
    tac_lid index[2] = {0, 0};
    *law = reader->scene->settings->contact.law[0];
    TAC_TRY(tac_fields_read(reader, object, where, fields, COUNT(fields), law));
    tac_where(place, where, "materials");
    json_t *names = json_object_get(object, "materials");
    if (!json_is_array(names) || json_array_size(names) != 2)
        TAC_TRY(tac_scene_fail(reader, place, "must be an array of two names of materials"));
    for (size_t k = 0; k < 2; k++) {
        tac_where_index(each, place, k);
        TAC_TRY(tac_scene_find_material(reader, json_array_get(names, k), each, &index[k]));
    }
    law->material[0] = index[0] < index[1] ? index[0] : index[1];
    law->material[1] = index[0] < index[1] ? index[1] : index[0];
done:
    return err;
}

static int by_materials(const void *a, const void *b)
{
    const struct tac_contact_law *x = a, *y = b;
    return x->material[0] != y->material[0] ? (x->material[0] > y->material[0]) - (x->material[0] < y->material[0])
                                            : (x->material[1] > y->material[1]) - (x->material[1] < y->material[1]);
}

/* The papers' form has no state that tells what slides from what lies still. */
static enum tac_err check_kinetic_model(struct tac_reader *reader)
{
    const struct tac_contact_settings *c = &reader->scene->settings->contact;
    for (tac_lid i = 0; i < c->law_count && c->friction_model == TAC_FRICTION_KINETIC; i++)
        if (c->law[i].friction != c->law[i].kinetic || c->law[i].rolling > 0 || c->law[i].twisting > 0)
            return tac_scene_fail(reader, "contact.friction_model",
                                  "is \"kinetic\", which has no friction of what lies still; give one number as "
                                  "`friction`, no rolling and no twisting friction, or leave the key out");
    return TAC_OK;
}

static enum tac_err check_rolling(struct tac_reader *reader)
{
    const struct tac_contact_settings *c = &reader->scene->settings->contact;
    for (tac_lid i = 0; i < c->law_count; i++)
        if ((c->law[i].rolling > 0 || c->law[i].twisting > 0) && !(c->law[i].friction > 0))
            return tac_scene_fail(reader,
                                  i                ? "contact.pairs"
                                  : c->rolling > 0 ? "contact.rolling"
                                                   : "contact.twisting",
                                  "has rolling or twisting friction where `friction` is 0; without it nothing rolls");
    return TAC_OK;
}

enum tac_err tac_scene_read_laws(struct tac_reader *reader, json_t *contact)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err;
    json_t *pairs;
    TAC_TRY(tac_list(reader, contact, "contact", "pairs", &pairs));
    const size_t count = json_array_size(pairs);
    TAC_TRY(tac_alloc(reader->ctx, count + 1, sizeof *scene->settings->contact.law, &scene->settings->contact.law));
    struct tac_contact_law *law = scene->settings->contact.law;
    law[0] = (struct tac_contact_law){{-1, -1},
                                      scene->settings->contact.stiffness,
                                      scene->settings->contact.restitution,
                                      scene->settings->contact.friction,
                                      scene->settings->contact.kinetic,
                                      scene->settings->contact.rolling,
                                      scene->settings->contact.twisting};
    for (size_t i = 0; i < count; i++) {
        char where[TAC_WHERE];
        tac_where_index(where, "contact.pairs", i);
        TAC_TRY(read_law(reader, json_array_get(pairs, i), where, &law[1 + i]));
    }
    qsort(&law[1], count, sizeof *law, by_materials);
    for (size_t i = 1; i < count; i++)
        if (by_materials(&law[i], &law[i + 1]) == 0)
            TAC_TRY(tac_scene_fail(reader, "contact.pairs",
                                   "has two entries for \"%.60s\" and \"%.60s\"; leave one of them",
                                   scene->settings->material[law[i].material[0]].name,
                                   scene->settings->material[law[i].material[1]].name));
    scene->settings->contact.law_count = (tac_lid)count + 1;
    TAC_TRY(check_kinetic_model(reader));
    TAC_TRY(check_rolling(reader));
done:
    return err;
}

const struct tac_contact_law *tac_scene_law(const struct tac_scene *scene, tac_lid a, tac_lid b)
{
    const tac_lid m = scene->settings->body[a].material, n = scene->settings->body[b].material;
    const struct tac_contact_law wanted = {.material = {m < n ? m : n, m < n ? n : m}},
                                 *law = scene->settings->contact.law;
    const struct tac_contact_law *found =
        scene->settings->contact.law_count > 1
            ? bsearch(&wanted, &law[1], (size_t)scene->settings->contact.law_count - 1, sizeof *law, by_materials)
            : NULL;
    return found ? found : law;
}

enum tac_err tac_scene_read_materials(struct tac_reader *reader, json_t *root)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    json_t *materials, *object;
    const char *name;
    TAC_TRY(tac_section(reader, root, "", "materials", &materials));
    TAC_TRY(tac_alloc(reader->ctx, json_object_size(materials), sizeof *scene->settings->material,
                      &scene->settings->material));
    json_object_foreach(materials, name, object)
    {
        scene->settings->material_count++;
        TAC_TRY(read_material(reader, object, name, &scene->settings->material[scene->settings->material_count - 1]));
    }
done:
    return err;
}
