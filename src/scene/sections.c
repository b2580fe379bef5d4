/* sections.c: reads the objects of materials that belong to elements other than stretch and bend
 * (docs/reference/elements.md). */
#include "scene/sections.h"
#include "scene/kind.h"
#include "scene/scene_read.h"
#include <string.h>

int tac_elements_known(const struct tac_ctx *ctx, const struct tac_element_keys **out, int most)
{
    int n = 0;
    for (const struct tac_element_keys *const *k = tac_elements; *k != NULL; k++) {
        TAC_CHECK(n < most);
        out[n++] = *k;
    }
    for (const struct tac_element_keys *const *k = ctx->added_elements; k != NULL && *k != NULL; k++) {
        TAC_CHECK(n < most);
        out[n++] = *k;
    }
    return n;
}

void tac_kind_names(const struct tac_ctx *ctx, const char *name[TAC_KINDS + 1])
{
    const struct tac_element_keys *keys[TAC_ELEMENTS];
    const int n = tac_elements_known(ctx, keys, TAC_ELEMENTS);
    memset(name, 0, (TAC_KINDS + 1) * sizeof *name);
    name[TAC_KIND_GRAVITY] = "gravity";
    name[TAC_KIND_PENALTY] = "penalty";
    name[TAC_KIND_LIMIT] = "limit";
    name[TAC_KIND_DAMPING] = "damping";
    name[TAC_KIND_LOAD] = "load";
    for (int k = 0; k < n; k++)
        name[tac_kind_of_element(k)] = keys[k]->name;
}

const double *tac_material_section(const struct tac_material *material, const struct tac_element_keys *keys)
{
    for (int i = 0; i < material->section_count; i++)
        if (material->section[i].keys == keys)
            return material->section[i].value;
    return NULL;
}

size_t tac_scene_section_fields(const struct tac_reader *reader, struct tac_field *fields, size_t count)
{
    const struct tac_element_keys *keys[TAC_MATERIAL_SECTIONS];
    const int n = tac_elements_known(reader->ctx, keys, TAC_MATERIAL_SECTIONS);
    for (int k = 0; k < n; k++)
        if (keys[k]->section != NULL)
            fields[count++] = (struct tac_field){.key = keys[k]->section, .kind = TAC_FIELD_OTHER};
    return count;
}

static enum tac_err read_section(struct tac_reader *reader, json_t *object, const char *where,
                                 struct tac_material_section *section)
{
    const struct tac_element_keys *keys = section->keys;
    struct tac_field field[TAC_SECTION_NUMBERS];
    for (int i = 0; i < keys->count; i++) {
        const struct tac_section_number *n = &keys->number[i];
        field[i] = (struct tac_field){.key = n->key,
                                      .kind = TAC_FIELD_NUMBER,
                                      .offset = (size_t)i * sizeof(double),
                                      .fallback = n->fallback,
                                      .min = n->min,
                                      .max = n->max,
                                      .min_open = n->min_open,
                                      .required = isnan(n->fallback)};
    }
    return tac_fields_read(reader, object, where, field, (size_t)keys->count, section->value);
}

enum tac_err tac_scene_read_sections(struct tac_reader *reader, json_t *object, const char *where,
                                     struct tac_material *material)
{
    enum tac_err err = TAC_OK;
    const struct tac_element_keys *keys[TAC_MATERIAL_SECTIONS];
    const int n = tac_elements_known(reader->ctx, keys, TAC_MATERIAL_SECTIONS);
    for (int k = 0; k < n; k++) {
        json_t *value = keys[k]->section ? json_object_get(object, keys[k]->section) : NULL;
        char place[TAC_WHERE];
        if (value == NULL)
            continue;
        tac_where(place, where, keys[k]->section);
        struct tac_material_section *section = &material->section[material->section_count++];
        section->keys = keys[k];
        TAC_TRY(read_section(reader, value, place, section));
    }
done:
    return err;
}
