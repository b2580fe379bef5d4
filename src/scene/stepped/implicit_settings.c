/* implicit_settings.c: reads the keys of the implicit integrator (docs/reference/implicit.md), and refuses keys that
 * have no meaning with it. */
#include "scene/scene_read.h"

#include <tactus/math.h>

#include <string.h>

static const double THINNEST = 1e-50; /* m: of contact */

static const char *const kinds[] = {"asynchronous", "implicit", "impact", NULL};
static const char *const schemes[] = {"euler", "newmark", "bdf2", "static", NULL};
static const char *const stiffnesses[] = {"adaptive", NULL};
static const char *const weights[] = {"pairs", "area", NULL};
static const char *const solvers[] = {"invariant", "petsc", NULL};

#define AT(member) offsetof(struct tac_settings, member)
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct tac_field fields[] = {
    {.key = "kind", .kind = TAC_FIELD_CHOICE, .offset = AT(integrator), .choice = kinds, .required = true},
    {.key = "step_s",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(implicit.step_s),
     .max = INFINITY,
     .min_open = true,
     .required = true},
    {.key = "scheme", .kind = TAC_FIELD_CHOICE, .offset = AT(implicit.scheme), .choice = schemes},
    {.key = "newton", .kind = TAC_FIELD_OTHER},
    {.key = "barrier", .kind = TAC_FIELD_OTHER},
    {.key = "friction", .kind = TAC_FIELD_OTHER},
    {.key = "solver", .kind = TAC_FIELD_OTHER},
};

static const struct tac_field newton_fields[] = {
    {.key = "velocity_tol",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(implicit.velocity_tol),
     .fallback = NAN,
     .max = TAC_FARTHEST,
     .min_open = true},
    {.key = "force_tol", .kind = TAC_FIELD_NUMBER, .offset = AT(implicit.force_tol), .fallback = 2.5e-3, .max = 1},
    {.key = "most", .kind = TAC_FIELD_INTEGER, .offset = AT(implicit.most), .fallback = 1000, .min = 1, .max = 1000000},
};

static const struct tac_field barrier_fields[] = {
    {.key = "stiffness", .kind = TAC_FIELD_OTHER},
    {.key = "weights", .kind = TAC_FIELD_CHOICE, .offset = AT(implicit.weights), .choice = weights},
};

static const struct tac_field friction_fields[] = {
    {.key = "velocity",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(implicit.friction_velocity),
     .fallback = NAN,
     .max = TAC_FARTHEST,
     .min_open = true},
    {.key = "slip",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(implicit.friction_slip),
     .fallback = NAN,
     .max = TAC_FARTHEST,
     .min_open = true},
    {.key = "lags", .kind = TAC_FIELD_INTEGER, .offset = AT(implicit.lags), .fallback = 1, .min = 0, .max = 1000},
};

static const struct tac_field solver_fields[] = {
    {.key = "kind", .kind = TAC_FIELD_CHOICE, .offset = AT(implicit.solver), .choice = solvers},
    {.key = "options", .kind = TAC_FIELD_OTHER},
    {.key = "tolerance",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(implicit.solver_tolerance),
     .fallback = 1e-4,
     .min = 1e-14,
     .max = .5},
};

static const struct tac_field stiffness_field = {
    .key = "stiffness", .kind = TAC_FIELD_NUMBER, .offset = AT(implicit.stiffness), .max = INFINITY, .min_open = true};

/* A number, or "adaptive", which is the default. */
static enum tac_err read_barrier(struct tac_reader *reader, json_t *section)
{
    static const struct tac_field word = {
        .key = "stiffness", .kind = TAC_FIELD_CHOICE, .offset = TAC_NOWHERE, .choice = stiffnesses};
    enum tac_err err;
    struct tac_settings *s = reader->scene->settings;
    TAC_TRY(tac_fields_read(reader, section, "integrator.barrier", barrier_fields, COUNT(barrier_fields), s));
    const json_t *value = json_object_get(section, "stiffness");
    if (value == NULL) {
        if (json_object_set_new(section, "stiffness", json_string("adaptive")) != 0)
            TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
    } else if (json_is_string(value)) {
        TAC_TRY(tac_field_read(reader, &word, value, "integrator.barrier.stiffness", NULL));
    } else {
        TAC_TRY(tac_field_read(reader, &stiffness_field, value, "integrator.barrier.stiffness", s));
    }
    if (s->implicit.weights == TAC_WEIGHTS_AREA && !(s->implicit.stiffness > 0))
        TAC_TRY(
            tac_scene_fail(reader, "integrator.barrier.weights",
                           "is \"area\", and integrator.barrier.stiffness is adaptive; with weights of area it is a "
                           "pressure: give it a number, Pa"));
done:
    return err;
}

static enum tac_err read_options(struct tac_reader *reader, json_t *section)
{
    enum tac_err err = TAC_OK;
    struct tac_implicit_settings *s = &reader->scene->settings->implicit;
    const json_t *value = json_object_get(section, "options");
    const char *where = "integrator.solver.options", *text = value != NULL ? json_string_value(value) : "";
    if (text == NULL)
        TAC_TRY(tac_scene_fail(reader, where, "must be a string"));
    if (strlen(text) >= sizeof s->solver_options)
        TAC_TRY(tac_scene_fail(reader, where, "has %zu characters; at most %zu are allowed", strlen(text),
                               sizeof s->solver_options - 1));
    if (text[0] != '\0' && s->solver == TAC_SOLVER_INVARIANT)
        TAC_TRY(tac_scene_fail(reader, where, "are for the kind \"petsc\"; the kind \"invariant\" has none"));
    snprintf(s->solver_options, sizeof s->solver_options, "%s", text);
    if (value == NULL && json_object_set_new(section, "options", json_string("")) != 0)
        TAC_TRY(tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file));
done:
    return err;
}

enum tac_err tac_scene_read_implicit(struct tac_reader *reader, json_t *integrator)
{
    enum tac_err err;
    struct tac_settings *s = reader->scene->settings;
    json_t *section;
    TAC_TRY(tac_fields_read(reader, integrator, "integrator", fields, COUNT(fields), s));
    TAC_TRY(tac_section(reader, integrator, "integrator", "newton", &section));
    TAC_TRY(tac_fields_read(reader, section, "integrator.newton", newton_fields, COUNT(newton_fields), s));
    TAC_TRY(tac_section(reader, integrator, "integrator", "barrier", &section));
    TAC_TRY(read_barrier(reader, section));
    TAC_TRY(tac_section(reader, integrator, "integrator", "friction", &section));
    TAC_TRY(tac_fields_read(reader, section, "integrator.friction", friction_fields, COUNT(friction_fields), s));
    TAC_TRY(tac_section(reader, integrator, "integrator", "solver", &section));
    TAC_TRY(tac_fields_read(reader, section, "integrator.solver", solver_fields, COUNT(solver_fields), s));
    TAC_TRY(read_options(reader, section));
    TAC_TRY(tac_scene_check_step(reader, s->implicit.step_s));
done:
    return err;
}

/* ---- what has no meaning with it, or is not there yet ---- */

/* The static scheme has no velocities. */
static enum tac_err check_static(struct tac_reader *reader)
{
    const struct tac_settings *s = reader->scene->settings;
    const struct tac_implicit_settings *m = &s->implicit;
    char where[TAC_WHERE];
    if (m->scheme != TAC_IMPLICIT_STATIC)
        return m->friction_slip > 0
                   ? tac_scene_fail(reader, "integrator.friction.slip",
                                    "is for the scheme \"static\"; give integrator.friction.velocity, m/s")
                   : TAC_OK;
    if (m->friction_velocity > 0)
        return tac_scene_fail(reader, "integrator.friction.velocity",
                              "is for schemes with velocities; with \"static\" give integrator.friction.slip, m");
    for (tac_lid k = 0; k < s->material_count; k++) {
        const struct tac_material *a = &s->material[k];
        const double damping[3] = {a->stretch_damping, a->bend_damping, a->solid_damping};
        static const char *const of[3] = {"stretch", "bend", "solid"};
        for (int i = 0; i < 3; i++)
            if (damping[i] > 0) {
                snprintf(where, sizeof where, "materials.%.60s.%s.damping", a->name, of[i]);
                return tac_scene_fail(reader, where,
                                      "damps velocities, and the scheme \"static\" has none; leave it out");
            }
    }
    for (tac_lid k = 0; k < s->load_count; k++)
        if (s->load[k].kind == TAC_LOAD_WIND) {
            snprintf(where, sizeof where, "loads[%" TAC_PRILID "].wind", k);
            return tac_scene_fail(
                reader, where, "pushes by velocities, and the scheme \"static\" has none; use a pressure or a force");
        }
    for (tac_lid b = 0; b < s->body_count; b++) {
        const struct tac_body *body = &s->body[b];
        bool moves = body->has_random_speed || body->start_sha256[0] != '\0';
        for (int k = 0; k < 3; k++)
            moves = moves || body->velocity[k] != 0 || body->angular_velocity[k] != 0;
        if (!moves)
            continue;
        snprintf(where, sizeof where, "bodies.%.60s", body->name);
        return tac_scene_fail(reader, where,
                              "has a start velocity, and the scheme \"static\" has none; leave velocity, "
                              "angular_velocity, random_speed and the start's velocities out");
    }
    return TAC_OK;
}

static enum tac_err check_laws(struct tac_reader *reader)
{
    const struct tac_contact_settings *c = &reader->scene->settings->contact;
    for (tac_lid b = 0; b < reader->scene->settings->body_count; b++)
        if (reader->scene->settings->body[b].rolls)
            return tac_scene_fail(reader, "bodies",
                                  "has \"rolls\" for \"%.60s\", which the implicit integrator does not have; use "
                                  "integrator.kind asynchronous",
                                  reader->scene->settings->body[b].name);
    if (c->friction_model == TAC_FRICTION_KINETIC)
        return tac_scene_fail(reader, "contact.friction_model",
                              "is \"kinetic\", which the implicit integrator does not have: its friction is smoothed "
                              "under integrator.friction.velocity; leave the key out");
    for (tac_lid i = 0; i < c->law_count && reader->scene->settings->implicit.scheme == TAC_IMPLICIT_STATIC; i++)
        if (c->law[i].friction != c->law[i].kinetic)
            return tac_scene_fail(reader, i ? "contact.pairs" : "contact.friction",
                                  "tells static from kinetic friction, and the scheme \"static\" has no velocities, by "
                                  "which it would know what slides; give one number");
    for (tac_lid i = 0; i < c->law_count; i++)
        if (c->law[i].restitution > 0) {
            char where[TAC_WHERE] = "contact.restitution";
            if (i > 0)
                snprintf(where, sizeof where, "contact.pairs[%" TAC_PRILID "].restitution", i - 1);
            return tac_scene_fail(reader, where,
                                  "is %s, which the implicit integrator cannot promise: a barrier has no restitution; "
                                  "set it to 0, or use integrator.kind asynchronous",
                                  tac_shown(c->law[i].restitution).text);
        }
    return TAC_OK;
}

/* The diagonal of the box around all vertices at the start, as src/implicit/implicit_create.c has it; 1 m around a
 * point. */
static double diagonal(const struct tac_reader *reader)
{
    const struct tac_local_mesh *mesh = reader->scene->mesh;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, side[3];
    for (size_t k = 0; k < 3 * (size_t)mesh->vertex_count; k++) {
        low[k % 3] = fmin(low[k % 3], mesh->x[k]);
        high[k % 3] = fmax(high[k % 3], mesh->x[k]);
    }
    if (reader->spread) {
        MPI_Allreduce(MPI_IN_PLACE, low, 3, MPI_DOUBLE, MPI_MIN, reader->ctx->comm);
        MPI_Allreduce(MPI_IN_PLACE, high, 3, MPI_DOUBLE, MPI_MAX, reader->ctx->comm);
    }
    tac_sub(side, high, low);
    const double length = sqrt(tac_dot(side, side));
    return length > 0 ? length : 1;
}

/* A default that is a part of the diagonal: the resolved scene has its number, and a scene with that number is the
 * same scene as one without it (0). */
static enum tac_err put_default(struct tac_reader *reader, const char *section, const char *key, double fallback,
                                double *value)
{
    json_t *object = json_object_get(json_object_get(reader->scene->settings->json, "integrator"), section);
    if (*value == fallback)
        *value = 0;
    if (*value > 0 || json_object_set_new(object, key, json_real(fallback)) == 0)
        return TAC_OK;
    return tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
}

static enum tac_err put_defaults(struct tac_reader *reader)
{
    struct tac_implicit_settings *m = &reader->scene->settings->implicit;
    const double length = diagonal(reader);
    enum tac_err err;
    if (m->scheme == TAC_IMPLICIT_STATIC) {
        err = put_default(reader, "newton", "velocity_tol", 1e-4 * length / m->step_s, &m->velocity_tol);
        if (!err)
            err = put_default(reader, "friction", "slip", 1e-5 * length, &m->friction_slip);
        return tac_reader_agree(reader, err);
    }
    err = put_default(reader, "newton", "velocity_tol", 1e-2 * length, &m->velocity_tol);
    if (!err)
        err = put_default(reader, "friction", "velocity", 1e-3 * length, &m->friction_velocity);
    return tac_reader_agree(reader, err);
}

enum tac_err tac_scene_check_implicit(struct tac_reader *reader)
{
    enum tac_err err = TAC_OK;
    const struct tac_settings *s = reader->scene->settings;
    if (s->integrator != TAC_INTEGRATOR_IMPLICIT)
        return TAC_OK;
    TAC_TRY(tac_scene_check_whole_steps(reader, s->implicit.step_s, "the implicit integrator"));
    if (s->contact.thickness > 0 && s->contact.thickness < THINNEST)
        TAC_TRY(tac_scene_fail(reader, "contact.thickness", "is %s m; the implicit integrator needs 0 or at least %s m",
                               tac_shown(s->contact.thickness).text, tac_shown(THINNEST).text));
    TAC_TRY(check_laws(reader));
    TAC_TRY(check_static(reader));
    TAC_TRY(put_defaults(reader));
done:
    return err;
}
