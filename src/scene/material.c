/* material.c: the materials of a scene. */
#include "read.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

static const char *const stretch_models[] = {"cst", "spring", NULL};
static const char *const bend_models[] = {"hinge", NULL};
static const char *const bend_rests[] = {"mesh", "flat", NULL};

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
     .offset = TAC_NOWHERE,
     .fallback = NAN,
     .max = INFINITY,
     .min_open = true,
     .later = true},
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

static enum tac_err read_material(struct tac_reader *reader, json_t *object, const char *name,
                                  struct tac_material *material)
{
    char where[TAC_WHERE], place[TAC_WHERE];
    enum tac_err err = TAC_OK;
    tac_where(where, "materials", name);
    if (name[0] == '\0')
        TAC_TRY(tac_scene_fail(reader, where, "has an empty name; give each material a name"));
    TAC_TRY(tac_check_name(reader, name, "materials:"));
    TAC_TRY(tac_copy(reader->ctx, name, &material->name));
    TAC_TRY(tac_fields_read(reader, object, where, material_fields, COUNT(material_fields), material));
    json_t *stretch = json_object_get(object, "stretch"), *bend = json_object_get(object, "bend");
    if (stretch != NULL) {
        tac_where(place, where, "stretch");
        TAC_TRY(read_stretch(reader, stretch, place, material));
    }
    if (bend != NULL) {
        tac_where(place, where, "bend");
        TAC_TRY(read_bend(reader, bend, place, material));
    }
done:
    return err;
}

enum tac_err tac_scene_read_materials(struct tac_reader *reader, json_t *root)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    json_t *materials, *object;
    const char *name;
    TAC_TRY(tac_section(reader, root, "", "materials", &materials));
    TAC_TRY(tac_alloc(reader->ctx, json_object_size(materials), sizeof *scene->material, &scene->material));
    json_object_foreach(materials, name, object)
    {
        scene->material_count++;
        TAC_TRY(read_material(reader, object, name, &scene->material[scene->material_count - 1]));
    }
done:
    return err;
}
