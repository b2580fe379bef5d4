/* impact_settings.c: reads the keys of the integrator for impact (docs/reference/impact.md), and refuses what it does
 * not have. */
#include "scene/scene_read.h"

#include <tactus/math.h>

static const char *const kinds[] = {"asynchronous", "implicit", "impact", NULL};
static const char *const operators[] = {"reflections", "lcp", "gauss-seidel", "jacobi", NULL};

#define AT(member) offsetof(struct tac_settings, member)
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define TAC_WHO "the integrator for impact"

static const struct tac_field fields[] = {
    {.key = "kind", .kind = TAC_FIELD_CHOICE, .offset = AT(integrator), .choice = kinds, .required = true},
    {.key = "step_s",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(impact.step_s),
     .max = INFINITY,
     .min_open = true,
     .required = true},
    {.key = "operator", .kind = TAC_FIELD_CHOICE, .offset = AT(impact.kind), .choice = operators},
    {.key = "most", .kind = TAC_FIELD_INTEGER, .offset = AT(impact.most), .fallback = 1000, .max = 1e9},
    {.key = "solver", .kind = TAC_FIELD_OTHER},
    {.key = "friction", .kind = TAC_FIELD_OTHER},
};

static const struct tac_field solver_fields[] = {
    {.key = "tolerance",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(impact.tolerance),
     .fallback = 1e-10,
     .min = 1e-14,
     .max = 1e-3},
};

static const struct tac_field friction_fields[] = {
    {.key = "passes", .kind = TAC_FIELD_INTEGER, .offset = AT(impact.passes), .fallback = 4, .min = 1, .max = 1000},
};

enum tac_err tac_scene_read_impact(struct tac_reader *reader, json_t *integrator)
{
    enum tac_err err;
    struct tac_settings *s = reader->scene->settings;
    json_t *section;
    TAC_TRY(tac_fields_read(reader, integrator, "integrator", fields, COUNT(fields), s));
    TAC_TRY(tac_section(reader, integrator, "integrator", "solver", &section));
    TAC_TRY(tac_fields_read(reader, section, "integrator.solver", solver_fields, COUNT(solver_fields), s));
    TAC_TRY(tac_section(reader, integrator, "integrator", "friction", &section));
    TAC_TRY(tac_fields_read(reader, section, "integrator.friction", friction_fields, COUNT(friction_fields), s));
    TAC_TRY(tac_scene_check_step(reader, s->impact.step_s));
done:
    return err;
}

/* ---- what it does not have ---- */

static enum tac_err check_bodies(struct tac_reader *reader)
{
    const struct tac_settings *s = reader->scene->settings;
    const struct tac_local_mesh *mesh = reader->scene->mesh;
    for (tac_lid b = 0; b < s->body_count; b++)
        if (s->body[b].rolls)
            return tac_scene_fail(reader, "bodies",
                                  "has \"rolls\" for \"%.60s\", which " TAC_WHO " does not have; use "
                                  "integrator.kind asynchronous",
                                  s->body[b].name);
    for (tac_lid v = 0; v < mesh->vertex_count; v++) {
        const struct tac_body *body = &s->body[mesh->vertex_body[v]];
        if (mesh->ever_free[v] && body->has_elements && body->rigid < 0)
            return tac_scene_fail(reader, "bodies",
                                  "has \"%.60s\", which moves freely and can change its shape, and " TAC_WHO
                                  " moves particles and rigid bodies only; make the body rigid, fix it, move all of "
                                  "it by a motion for the whole time, or use integrator.kind asynchronous or implicit",
                                  body->name);
    }
    return TAC_OK;
}

static enum tac_err check_laws(struct tac_reader *reader)
{
    const struct tac_contact_settings *c = &reader->scene->settings->contact;
    if (!(c->thickness > 0))
        return tac_scene_fail(reader, "contact.thickness",
                              "is 0, so nothing would touch; " TAC_WHO " needs a length in which surfaces count as "
                              "touching");
    if (c->friction_model == TAC_FRICTION_KINETIC)
        return tac_scene_fail(reader, "contact.friction_model",
                              "is \"kinetic\", which " TAC_WHO " does not have; leave the key out");
    for (tac_lid i = 0; i < c->law_count; i++)
        if (c->law[i].friction != c->law[i].kinetic)
            return tac_scene_fail(reader, i ? "contact.pairs" : "contact.friction",
                                  "tells static from kinetic friction, and " TAC_WHO " has one friction; give one "
                                  "number");
    return TAC_OK;
}

static enum tac_err check_loads(struct tac_reader *reader)
{
    const struct tac_settings *s = reader->scene->settings;
    for (tac_lid k = 0; k < s->load_count; k++)
        if (!tac_load_of_vertices(&s->load[k])) {
            char where[TAC_WHERE];
            tac_where_index(where, "loads", (size_t)k);
            return tac_scene_fail(reader, where,
                                  "is a %s, which acts on surfaces, and " TAC_WHO " has loads of vertices only; give a "
                                  "force or an acceleration",
                                  s->load[k].kind == TAC_LOAD_WIND ? "wind" : "pressure");
        }
    return TAC_OK;
}

enum tac_err tac_scene_check_impact(struct tac_reader *reader)
{
    enum tac_err err = TAC_OK;
    const struct tac_settings *s = reader->scene->settings;
    if (s->integrator != TAC_INTEGRATOR_IMPACT)
        return TAC_OK;
    TAC_TRY(tac_scene_check_whole_steps(reader, s->impact.step_s, TAC_WHO));
    TAC_TRY(check_laws(reader));
    TAC_TRY(check_loads(reader));
    TAC_TRY(tac_reader_agree(reader, check_bodies(reader)));
done:
    return err;
}
