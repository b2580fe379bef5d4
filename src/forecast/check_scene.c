/* check_scene.c: writes the scene's part of the report of `tactus check`: what was read, in numbers. */
#include "run/start.h"
#include <tactus/check.h>
#include <tactus/math.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a body or the whole scene has. */
struct tally {
    tac_lid free, released, scripted, fixed; /* released: both scripted and, at other times, free; counted in free */
    double mass;                             /* kg, of vertices that are ever free */
    double low[3], high[3];                  /* bounding box, m */
};

static struct tally tally(const struct tac_scene *scene, const uint8_t *moved, tac_lid begin, tac_lid end)
{
    struct tally t = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (tac_lid i = begin; i < end; i++) {
        if (scene->mesh->ever_free[i]) {
            t.free++;
            t.released += moved[i];
            if (scene->settings->body[scene->mesh->vertex_body[i]].rigid < 0) /* else it is a share (rigid_bodies.c) */
                t.mass += scene->mesh->mass[i];
        } else if (moved[i]) {
            t.scripted++;
        } else {
            t.fixed++;
        }
        for (int k = 0; k < 3; k++) {
            t.low[k] = fmin(t.low[k], scene->mesh->x[3 * (size_t)i + (size_t)k]);
            t.high[k] = fmax(t.high[k], scene->mesh->x[3 * (size_t)i + (size_t)k]);
        }
    }
    for (tac_lid k = 0; k < scene->settings->rigid_count; k++) {
        const tac_lid first = scene->settings->rigid[k].vertex_begin;
        if (begin <= first && first < end)
            t.mass += scene->settings->rigid[k].mass;
    }
    return t;
}

/* Frames 0, 1, ... up to the first at the end. */
static int64_t frame_count(const struct tac_scene *scene)
{
    int64_t low = 0, high = 1;
    while (tac_scene_frame_time(scene, high) < scene->settings->t_end)
        high *= 2; /* frames lie at least 2^16 quanta apart, so this ends below 2^38 */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (tac_scene_frame_time(scene, middle) < scene->settings->t_end)
            low = middle;
        else
            high = middle;
    }
    return high + 1;
}

/* Adds to an object under construction; NULL, and the object is gone, when memory is out. */
static json_t *add_key(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) == 0)
        return array;
    json_decref(array);
    return NULL;
}

/* An array under `key` of the report, borrowed; NULL when memory is out: appending to it then fails. */
static json_t *list_in(json_t *report, const char *key)
{
    json_object_set_new(report, key, json_array());
    return json_object_get(report, key);
}

/* Kinds of pairs that the scene's elements can form. */
static json_t *pair_kinds(const struct tac_scene *scene, tac_lid free)
{
    json_t *kinds = json_array();
    bool particles = false;
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        particles = particles || !scene->settings->body[b].has_elements;
    if (scene->settings->contact.thickness == 0 || free == 0)
        return kinds;
    if (scene->mesh->triangle_count > 0)
        kinds = append(kinds, json_string("vertex-triangle"));
    if (!scene->settings->two_d && scene->mesh->topology->edge_count > 0)
        kinds = append(kinds, json_string("edge-edge"));
    if (scene->mesh->segment_count > 0)
        kinds = append(kinds, json_string("vertex-segment"));
    if (particles || (!scene->settings->two_d && scene->mesh->segment_count > 0))
        kinds = append(kinds, json_string("vertex-vertex"));
    return kinds;
}

/* A path need not be UTF-8, as JSON text must be: then its other bytes become '?'. */
static json_t *path_text(const char *path)
{
    json_t *text = json_string(path);
    char *copy = text == NULL ? calloc(strlen(path) + 1, 1) : NULL;
    if (copy == NULL)
        return text;
    for (size_t i = 0; path[i] != '\0'; i++)
        copy[i] = (unsigned char)path[i] < 0x80 ? path[i] : '?';
    text = json_string(copy);
    free(copy);
    return text;
}

static json_t *vector(const double v[3])
{
    return json_pack("[f, f, f]", v[0], v[1], v[2]);
}

/* json has no infinity: a sum that left the range is null. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Adds a number that is 0 where it was not given. */
static json_t *put_given(json_t *object, const char *key, double value)
{
    return value > 0 ? add_key(object, key, json_real(value)) : object;
}

static json_t *describe_material(const struct tac_material *m)
{
    json_t *object = put_given(json_pack("{s:s}", "name", m->name), "density", m->density);
    if (m->stretch_model != TAC_STRETCH_NONE) {
        const bool cst = m->stretch_model == TAC_STRETCH_CST;
        json_t *stretch = json_pack("{s:s, s:f}", "model", cst ? "cst" : "spring", "stiffness", m->stretch_stiffness);
        if (cst)
            stretch = add_key(stretch, "poisson", json_real(m->poisson));
        stretch = put_given(stretch, "damping", m->stretch_damping);
        stretch = put_given(stretch, "yield", m->stretch_yield);
        stretch = put_given(stretch, "limit", m->stretch_limit);
        object = add_key(object, "stretch", put_given(stretch, "limit_principal", m->stretch_limit_principal));
    }
    if (m->bend) {
        json_t *bend = json_pack("{s:s, s:f, s:s}", "model", "hinge", "stiffness", m->bend_stiffness, "rest",
                                 m->rest_flat ? "flat" : "mesh");
        object =
            add_key(object, "bend", put_given(put_given(bend, "damping", m->bend_damping), "yield", m->bend_yield));
    }
    if (m->solid_model != TAC_SOLID_NONE) {
        static const char *const model[] = {"", "neo-hookean", "stvk", "corotated"};
        object = add_key(object, "solid",
                         put_given(json_pack("{s:s, s:f, s:f}", "model", model[m->solid_model], "youngs",
                                             m->solid_youngs, "poisson", m->solid_poisson),
                                   "damping", m->solid_damping));
    }
    return object;
}

/* Size of a ball or a capsule: a line of some length, which for a ball is 0, and all that is within its radius. */
static json_t *add_round(json_t *object, const struct tac_scene *scene, const struct tac_body *body,
                         const struct tally *t)
{
    const double r = body->radius, *x = &scene->mesh->x[3 * (size_t)body->vertex_begin];
    double low[3], high[3], line[3] = {0, 0, 0};
    if (body->has_elements)
        tac_sub(line, x + 3, x);
    const double length = sqrt(tac_dot(line, line));
    for (int k = 0; k < 3; k++) {
        low[k] = t->low[k] - r;
        high[k] = t->high[k] + r;
    }
    object = add_key(object, "extent", json_pack("[o, o]", vector(low), vector(high)));
    object = add_key(object, "area", json_real(2 * TAC_PI * r * (length + 2 * r)));
    object = add_key(object, "volume", json_real(TAC_PI * r * r * (length + 4 * r / 3)));
    return object;
}

static json_t *describe_body(const struct tac_scene *scene, const struct tac_body *body, const struct tally *t)
{
    json_t *object = json_pack(
        "{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:[o, o], s:f, s:b, s:b}", "name", body->name, "vertices",
        (int)(body->vertex_end - body->vertex_begin), "triangles", (int)(body->triangle_end - body->triangle_begin),
        "segments", (int)(body->segment_end - body->segment_begin), "free", (int)t->free, "scripted",
        (int)(t->scripted + t->released), "fixed_vertices", (int)t->fixed, "mass", number(t->mass), "box",
        vector(t->low), vector(t->high), "radius", body->radius, "fixed", body->fixed, "self", body->self_contact);
    if (body->tetrahedron_end > body->tetrahedron_begin)
        object = add_key(object, "tetrahedra", json_integer(body->tetrahedron_end - body->tetrahedron_begin));
    if (body->rigid >= 0)
        object = add_key(object, "rigid", json_true());
    if (body->in_pieces)
        object = add_key(object, "pieces", json_integer(body->piece_count));
    if (body->material >= 0)
        object = add_key(object, "material", json_string(scene->settings->material[body->material].name));
    if (body->round)
        object = add_round(object, scene, body, t);
    return object;
}

static json_t *describe_motion(const struct tac_scene *scene, tac_lid index)
{
    const struct tac_motion *m = &scene->settings->motion[index];
    const struct tac_moved *moved = &scene->mesh->moved[index];
    const struct tac_body *body = &scene->settings->body[m->body];
    const bool follows =
        json_object_get(json_array_get(json_object_get(scene->settings->json, "motions"), (size_t)index), "follow");
    json_t *object = json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:b}", "body", body->name, "kind",
                               m->cache != NULL ? "positions"
                               : m->degrees     ? "rotate"
                               : follows        ? "follow"
                                                : "path",
                               "vertices", (int)moved->vertex_count, "knots", (int)m->knot_count, "first",
                               m->knot_t_s[0], "last", m->knot_t_s[m->knot_count - 1], "release", m->release);
    if (m->cache != NULL)
        object = add_key(object, "first_off", json_real(m->first_off));
    return object;
}

static json_t *describe_load(const struct tac_scene *scene, const struct tac_load *l)
{
    static const char *const kind[] = {"force", "pressure", "wind", "acceleration"};
    json_t *object = json_pack("{s:s, s:s, s:I, s:i}", "body", scene->settings->body[l->body].name, "kind",
                               kind[l->kind], "vertices", (json_int_t)l->vertex_count, "knots", (int)l->knot_count);
    if (l->kind == TAC_LOAD_FORCE)
        object = add_key(object, "force", vector(l->force));
    if (l->kind == TAC_LOAD_ACCELERATION)
        object = add_key(object, "acceleration", vector(l->force));
    if (l->kind == TAC_LOAD_PRESSURE)
        object = add_key(object, "pressure", json_real(l->pressure));
    if (l->kind == TAC_LOAD_WIND) {
        object = add_key(object, "wind", vector(l->wind));
        object = add_key(object, "drag", json_real(l->drag));
    }
    if (l->knot_count > 0) {
        object = add_key(object, "first", json_real(l->knot_t_s[0]));
        object = add_key(object, "last", json_real(l->knot_t_s[l->knot_count - 1]));
    }
    return object;
}

/* Pairs of materials that touch otherwise than the others. */
static json_t *describe_laws(const struct tac_scene *scene)
{
    json_t *laws = json_array();
    for (tac_lid i = 1; i < scene->settings->contact.law_count; i++) {
        const struct tac_contact_law *law = &scene->settings->contact.law[i];
        json_t *one =
            json_pack("{s:[s, s], s:f, s:f, s:f}", "materials", scene->settings->material[law->material[0]].name,
                      scene->settings->material[law->material[1]].name, "stiffness", law->stiffness, "restitution",
                      law->restitution, "friction", law->friction);
        laws = append(laws, law->kinetic < law->friction ? add_key(one, "kinetic", json_real(law->kinetic)) : one);
    }
    return laws;
}

static json_t *describe_contact(const struct tac_scene *scene, tac_lid free)
{
    json_t *ignore = json_array();
    for (tac_lid i = 0; i < scene->settings->contact.ignore_count; i++)
        ignore = append(ignore,
                        json_pack("[s, s]", scene->settings->body[scene->settings->contact.ignore[2 * (size_t)i]].name,
                                  scene->settings->body[scene->settings->contact.ignore[2 * (size_t)i + 1]].name));
    const struct tac_contact_settings *c = &scene->settings->contact;
    json_t *object = json_pack(
        "{s:f, s:f, s:f, s:f, s:s, s:f, s:f, s:o, s:o, s:o}", "thickness", scene->settings->contact.thickness,
        "stiffness", scene->settings->contact.stiffness, "restitution", scene->settings->contact.restitution,
        "friction", scene->settings->contact.friction, "friction_model",
        scene->settings->contact.friction_model == TAC_FRICTION_KINETIC ? "kinetic" : "anchor", "thickness_exponent",
        scene->settings->contact.thickness_exponent, "stiffness_exponent", scene->settings->contact.stiffness_exponent,
        "laws", describe_laws(scene), "pairs", pair_kinds(scene, free), "ignore", ignore);
    return c->kinetic < c->friction ? add_key(object, "kinetic", json_real(c->kinetic)) : object;
}

static const char *discovery_name(enum tac_discovery_mode mode)
{
    return mode == TAC_DISCOVER_SPECULATE ? "speculate" : mode == TAC_DISCOVER_KDS ? "kds" : "all-pairs";
}

/* The implicit one has no clocks, and its contact is a barrier: those keys then say nothing. */
static double resolved(const struct tac_scene *scene, const char *section, const char *key)
{
    const json_t *object = json_object_get(json_object_get(scene->settings->json, "integrator"), section);
    return json_number_value(json_object_get(object, key));
}

static json_t *describe_integrator(const struct tac_scene *scene)
{
    const struct tac_implicit_settings *s = &scene->settings->implicit;
    static const char *const scheme[] = {"implicit Euler", "Newmark", "BDF2", "static"};
    static const char *const operator[] = {"reflections", "lcp", "gauss-seidel", "jacobi"};
    const struct tac_impact_settings *m = &scene->settings->impact;
    if (scene->settings->integrator == TAC_INTEGRATOR_IMPACT)
        return json_pack("{s:s, s:f, s:s, s:f, s:I, s:I}", "kind", "impact", "step_s", m->step_s,
                         "operator", operator[m->kind], "solver_tolerance", m->tolerance, "passes",
                         (json_int_t)m->passes, "most", (json_int_t)m->most);
    if (scene->settings->integrator != TAC_INTEGRATOR_IMPLICIT)
        return json_pack("{s:s}", "kind", "asynchronous");
    return json_pack("{s:s, s:f, s:s, s:f, s:I, s:f, s:s, s:f, s:I, s:f, s:s}", "kind", "implicit", "step_s", s->step_s,
                     "scheme", scheme[s->scheme], "velocity_tol", resolved(scene, "newton", "velocity_tol"), "max",
                     (json_int_t)s->most, "stiffness", s->stiffness, "weights",
                     s->weights == TAC_WEIGHTS_AREA ? "area" : "pairs", "friction_velocity",
                     resolved(scene, "friction", "velocity"), "lags", (json_int_t)s->lags, "solver_tolerance",
                     s->solver_tolerance, "solver", s->solver == TAC_SOLVER_PETSC ? "petsc" : "invariant");
}

/* The report's parts about the whole scene; not 0 when memory is out. */
static int describe_whole(const struct tac_scene *scene, const struct tally *t, json_t *report)
{
    int failed = 0;
    failed |= json_object_set_new(report, "scene", path_text(scene->settings->path));
    failed |= json_object_set_new(report, "name", json_string(scene->settings->name));
    failed |= json_object_set_new(report, "sha256", json_string(scene->settings->sha256));
    if (scene->settings->units.given)
        failed |= json_object_set_new(report, "units", tac_units_json(&scene->settings->units));
    failed |= json_object_set_new(report, "dimensions", json_integer(scene->settings->two_d ? 2 : 3));
    failed |= json_object_set_new(report, "degrees_of_freedom",
                                  json_integer((scene->settings->two_d ? 2 : 3) * (json_int_t)t->free));
    failed |= json_object_set_new(report, "vertices",
                                  json_pack("{s:i, s:i, s:i, s:i}", "all", (int)scene->mesh->vertex_count, "free",
                                            (int)t->free, "scripted", (int)(t->scripted + t->released), "fixed",
                                            (int)t->fixed));
    failed |= json_object_set_new(report, "triangles", json_integer(scene->mesh->triangle_count));
    failed |= json_object_set_new(report, "segments", json_integer(scene->mesh->segment_count));
    failed |= json_object_set_new(report, "tetrahedra", json_integer(scene->mesh->tetrahedron_count));
    failed |= json_object_set_new(report, "edges", json_integer(scene->mesh->topology->edge_count));
    failed |= json_object_set_new(report, "hinges", json_integer(scene->mesh->topology->hinge_count));
    failed |= json_object_set_new(report, "mass", number(t->mass));
    failed |= json_object_set_new(report, "box", json_pack("[o, o]", vector(t->low), vector(t->high)));
    failed |= json_object_set_new(report, "time",
                                  json_pack("{s:f, s:f, s:I, s:f}", "end", scene->settings->end_s, "frame",
                                            scene->settings->frame_s, "frames", (json_int_t)frame_count(scene),
                                            "quantum_s", scene->settings->quantum_s));
    failed |= json_object_set_new(report, "gravity", vector(scene->settings->gravity));
    failed |= json_object_set_new(report, "contact", describe_contact(scene, t->free));
    failed |= json_object_set_new(report, "integrator", describe_integrator(scene));
    failed |= json_object_set_new(
        report, "clocks",
        json_pack("{s:s}", "mode", scene->settings->clocks.mode == TAC_CLOCKS_NESTED ? "nested" : "free"));
    failed |= json_object_set_new(report, "discovery",
                                  json_pack("{s:s}", "mode", discovery_name(scene->settings->discovery.mode)));
    return failed;
}

enum tac_err tac_check_read(struct tac_ctx *ctx, const struct tac_scene_source *source, const char *restart,
                            struct tac_scene **out)
{
    struct tac_start start = {0};
    *out = NULL;
    if (restart == NULL)
        return tac_scene_source_read(ctx, source, out);
    const enum tac_err err = tac_start_resume(ctx, restart, source, &start);
    *out = start.scene;
    start.scene = NULL;
    tac_start_clear(&start);
    return err;
}

enum tac_err tac_check_describe(struct tac_ctx *ctx, const struct tac_scene *scene, json_t *report, FILE *text)
{
    enum tac_err err = TAC_OK;
    uint8_t *moved = NULL;
    TAC_TRY(tac_alloc(ctx, (size_t)scene->mesh->vertex_count, 1, &moved));
    for (tac_lid m = 0; m < scene->settings->motion_count; m++)
        for (tac_lid k = 0; k < scene->mesh->moved[m].vertex_count; k++)
            moved[scene->mesh->moved[m].vertex[k]] = 1;
    struct tally whole = tally(scene, moved, 0, scene->mesh->vertex_count);
    int failed = describe_whole(scene, &whole, report);
    json_t *list = list_in(report, "materials");
    failed |= list == NULL;
    for (tac_lid i = 0; i < scene->settings->material_count; i++)
        failed |= json_array_append_new(list, describe_material(&scene->settings->material[i]));
    list = list_in(report, "bodies");
    failed |= list == NULL;
    for (tac_lid i = 0; i < scene->settings->body_count; i++) {
        const struct tac_body *body = &scene->settings->body[i];
        struct tally t = tally(scene, moved, body->vertex_begin, body->vertex_end);
        failed |= json_array_append_new(list, describe_body(scene, body, &t));
    }
    list = list_in(report, "motions");
    failed |= list == NULL;
    for (tac_lid i = 0; i < scene->settings->motion_count; i++)
        failed |= json_array_append_new(list, describe_motion(scene, i));
    list = list_in(report, "loads");
    failed |= list == NULL;
    for (tac_lid i = 0; i < scene->settings->load_count; i++)
        failed |= json_array_append_new(list, describe_load(scene, &scene->settings->load[i]));
    if (failed)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "out of memory while describing %s", scene->settings->path));
    if (text != NULL)
        tac_check_print(text, scene->settings->path, report);
done:
    free(moved);
    return err;
}
