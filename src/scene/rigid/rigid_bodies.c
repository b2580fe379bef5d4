/* rigid_bodies.c: reads which bodies are rigid, and computes their mass and axes (docs/explanation/rigid.md). */
#include "mesh/moments.h"
#include "scene/period.h"
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define AT(member) offsetof(struct tac_body, member)

static const struct tac_field rigid_fields[] = {
    {.key = "density",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(rigid_density),
     .fallback = NAN,
     .max = INFINITY,
     .min_open = true},
    {.key = "mass",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(rigid_mass),
     .fallback = NAN,
     .max = INFINITY,
     .min_open = true},
    {.key = "frequency",
     .kind = TAC_FIELD_NUMBER,
     .offset = AT(rigid_frequency),
     .fallback = NAN,
     .max = 1e9,
     .min_open = true},
};

/* ---- reading ---- */

/* Does the material make elements, which a rigid body has none of? */
static const char *elastic_part(const struct tac_material *m)
{
    return m->solid_model != TAC_SOLID_NONE       ? "solid"
           : m->stretch_model != TAC_STRETCH_NONE ? "stretch"
           : m->bend                              ? "bend"
           : m->section_count > 0                 ? m->section[0].keys->section
                                                  : NULL;
}

static enum tac_err read_value(struct tac_reader *reader, json_t *value, const char *place, const char *where,
                               struct tac_body *body)
{
    enum tac_err err = TAC_OK;
    char mass[TAC_WHERE];
    if (json_is_true(value))
        return TAC_OK;
    if (!json_is_object(value))
        return tac_scene_fail(reader, place, "must be true, false, {\"density\": kg/m^3} or {\"mass\": kg}, not %s",
                              tac_json_type(value));
    TAC_TRY(tac_fields_read(reader, value, place, rigid_fields, COUNT(rigid_fields), body));
    if (body->rigid_density > 0 ? body->rigid_mass > 0 : !(body->rigid_mass > 0) && !(body->rigid_frequency > 0))
        TAC_TRY(tac_scene_fail(reader, place, "needs either \"density\", kg/m^3, or \"mass\", kg"));
    if (!(body->rigid_density > 0) && !(body->rigid_mass > 0)) /* a shell */
        return TAC_OK;
    if (body->mass > 0) {
        tac_where(mass, where, "mass");
        TAC_TRY(tac_scene_fail(reader, mass,
                               "is a mass per vertex, and \"rigid\" gives the body a mass already; leave one out"));
    }
    if (body->segment_end > body->segment_begin || body->triangle_end == body->triangle_begin)
        TAC_TRY(tac_scene_fail(reader, place,
                               "gives the inside of a closed surface a mass, but \"%.60s\" %s; set it to true, and the "
                               "mass comes from the material's density or the body's \"mass\"",
                               body->name,
                               body->segment_end > body->segment_begin ? "has segments" : "has no triangles"));
done:
    return err;
}

enum tac_err tac_scene_read_rigid(struct tac_reader *reader, json_t *object, const char *where, tac_lid index)
{
    enum tac_err err = TAC_OK;
    struct tac_settings *s = reader->scene->settings;
    struct tac_body *body = &s->body[index];
    json_t *value = json_object_get(object, "rigid");
    char place[TAC_WHERE];
    body->rigid = -1;
    if (value == NULL || json_is_false(value))
        return TAC_OK;
    tac_where(place, where, "rigid");
    TAC_TRY(read_value(reader, value, place, where, body));
    if (reader->spread)
        TAC_TRY(tac_scene_fail(reader, place,
                               "is not possible in a scene so large that no rank reads all of it; run it on one rank"));
    if (body->fixed)
        TAC_TRY(tac_scene_fail(reader, place, "is given to \"%.60s\", which is fixed; leave one of the two out",
                               body->name));
    if (body->has_random_speed)
        TAC_TRY(
            tac_scene_fail(reader, place,
                           "is given to \"%.60s\", whose random_speed moves each vertex by itself; use velocity and "
                           "angular_velocity",
                           body->name));
    const char *part = body->material >= 0 ? elastic_part(&s->material[body->material]) : NULL;
    if (part != NULL)
        TAC_TRY(tac_scene_fail(reader, place,
                               "is given to \"%.60s\", but a rigid body does not deform, and its material "
                               "\"%.60s\" has \"%s\"; give it another material",
                               body->name, s->material[body->material].name, part));
    body->self_contact = false; /* its parts do not move against each other */
    body->rigid = s->rigid_count;
    TAC_TRY(tac_grow(reader->ctx, &s->rigid, &reader->rigid_capacity, (size_t)s->rigid_count + 1, sizeof *s->rigid));
    s->rigid[s->rigid_count++] = (struct tac_rigid_body){.body = index};
done:
    return err;
}

/* ---- mass ---- */

/* An edge of a triangle, in the sense in which the triangle goes along it. */
struct side {
    tac_lid low, high;
    bool up; /* from low to high */
};

static int compare_sides(const void *a, const void *b)
{
    const struct side *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

/* Refuses a surface that is not closed: each edge must have two triangles, which go along it in opposite senses. */
static enum tac_err check_closed(struct tac_reader *reader, const struct tac_body *body, const char *place)
{
    enum tac_err err = TAC_OK;
    const struct tac_local_mesh *mesh = reader->scene->mesh;
    const size_t n = 3 * (size_t)(body->triangle_end - body->triangle_begin);
    const tac_lid *corner = mesh->triangle + 3 * (size_t)body->triangle_begin;
    struct side *side = NULL;
    TAC_TRY(tac_alloc(reader->ctx, n, sizeof *side, &side));
    for (size_t i = 0; i < n; i++) {
        const tac_lid from = corner[i], to = corner[i % 3 == 2 ? i - 2 : i + 1];
        side[i] = from < to ? (struct side){from, to, true} : (struct side){to, from, false};
    }
    qsort(side, n, sizeof *side, compare_sides);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && compare_sides(&side[i], &side[end]) == 0;)
            end++;
        if (end - i == 2 && side[i].up != side[i + 1].up)
            continue;
        const char *what = end - i == 1   ? "has one triangle"
                           : end - i == 2 ? "has two triangles that face different ways"
                                          : "has more than two triangles";
        TAC_TRY(tac_scene_fail(reader, place,
                               "needs a closed surface, but the edge between vertices %d and %d of \"%.60s\" %s; close "
                               "the mesh, or set \"rigid\" to true, which makes it a shell",
                               (int)(side[i].low - body->vertex_begin), (int)(side[i].high - body->vertex_begin),
                               body->name, what));
    }
done:
    free(side);
    return err;
}

/* Adds the elements of a body by the densities of its material, or its vertices by their masses. */
static void add_shell(const struct tac_reader *reader, const struct tac_body *body, double density,
                      struct tac_moment_sums *sums)
{
    const struct tac_local_mesh *mesh = reader->scene->mesh;
    double p[3][3];
    if (body->mass > 0) {
        for (tac_lid i = body->vertex_begin; i < tac_body_mesh_end(body); i++) {
            memcpy(p[0], mesh->x + 3 * (size_t)i, sizeof p[0]);
            tac_moments_add(sums, body->mass, TAC_MOMENTS_POINT, (const double(*)[3])p);
        }
        return;
    }
    for (tac_lid t = body->triangle_begin; t < body->triangle_end; t++) {
        for (int k = 0; k < 3; k++)
            memcpy(p[k], mesh->x + 3 * (size_t)mesh->triangle[3 * (size_t)t + (size_t)k], sizeof p[k]);
        tac_moments_add(sums, density, TAC_MOMENTS_TRIANGLE, (const double(*)[3])p);
    }
    for (tac_lid t = body->segment_begin; t < body->segment_end; t++) {
        for (int k = 0; k < 2; k++)
            memcpy(p[k], mesh->x + 3 * (size_t)mesh->segment[2 * (size_t)t + (size_t)k], sizeof p[k]);
        tac_moments_add(sums, density, TAC_MOMENTS_SEGMENT, (const double(*)[3])p);
    }
}

static void add_solid(const struct tac_reader *reader, const struct tac_body *body, struct tac_moment_sums *sums)
{
    const struct tac_local_mesh *mesh = reader->scene->mesh;
    double p[3][3];
    for (tac_lid t = body->triangle_begin; t < body->triangle_end; t++) {
        for (int k = 0; k < 3; k++)
            memcpy(p[k], mesh->x + 3 * (size_t)mesh->triangle[3 * (size_t)t + (size_t)k], sizeof p[k]);
        tac_moments_add(sums, body->rigid_density > 0 ? body->rigid_density : 1, TAC_MOMENTS_SOLID,
                        (const double(*)[3])p);
    }
}

static void find_middle(const struct tac_reader *reader, const struct tac_body *body, double middle[3])
{
    const double *x = reader->scene->mesh->x;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (tac_lid i = body->vertex_begin; i < tac_body_mesh_end(body); i++) {
            low = fmin(low, x[3 * (size_t)i + (size_t)k]);
            high = fmax(high, x[3 * (size_t)i + (size_t)k]);
        }
        middle[k] = .5 * low + .5 * high;
    }
}

/* Sets z: an impulse j at x along n changes sum z_i^2 |j|^2 / 2 of the body's energy, z_0 by its centre, the others by
 * its axes. */
static void inverse_roots(const struct tac_rigid_body *rigid, const double x[3], double z[4])
{
    double arm[3];
    tac_sub(arm, x, rigid->center);
    z[0] = 1 / sqrt(rigid->mass);
    for (int k = 0; k < 3; k++)
        z[1 + k] = tac_dot(rigid->axis[k], arm) / sqrt(rigid->second[k]);
}

/* Gives points of joints their c_j: together they count as much as the surface, each as much as the others, however far
 * it is from the centre. A joint acts all the time, so its points have more than those of the surface. */
static void weigh_anchors(const struct tac_local_mesh *mesh, const struct tac_body *body,
                          const struct tac_rigid_body *rigid)
{
    const tac_lid end = body->vertex_end - body->pins, first = end - body->anchors;
    struct tac_accum sum = {0};
    double z[4];
    for (tac_lid v = body->vertex_begin; v < first && first < end; v++) {
        inverse_roots(rigid, mesh->x + 3 * (size_t)v, z);
        tac_accum_add(&sum, mesh->mass[v] * (z[0] * z[0] + tac_dot(z + 1, z + 1)));
    }
    for (tac_lid v = first; v < end; v++) {
        inverse_roots(rigid, mesh->x + 3 * (size_t)v, z);
        mesh->mass[v] = tac_accum_value(&sum) / (body->anchors * (z[0] * z[0] + tac_dot(z + 1, z + 1)));
    }
}

/* Sets the masses of the body's vertices, which are c_j [kg], to shares f c_j. f is the largest number, by a bound of
 * the largest eigenvalue from its rows, with which the shares never have more kinetic energy than the body: sum m_j
 * |v_j|^2 <= m |v|^2 + sum s_k |a'_k|^2 for all motions of its centre and axes. Then no contact at the vertices
 * oscillates faster than it would if they were free and had these masses (Rayleigh). */
static void share_mass(struct tac_reader *reader, const struct tac_body *body, const struct tac_rigid_body *rigid)
{
    struct tac_local_mesh *mesh = reader->scene->mesh;
    double g[4][4], bound = 0;
    struct tac_accum sums[4][4];
    memset(sums, 0, sizeof sums);
    weigh_anchors(mesh, body, rigid);
    for (tac_lid v = body->vertex_begin; v < body->vertex_end; v++) {
        double z[4];
        inverse_roots(rigid, mesh->x + 3 * (size_t)v, z);
        for (int i = 0; i < 4; i++)
            for (int j = i; j < 4; j++)
                tac_accum_add(&sums[i][j], mesh->mass[v] * z[i] * z[j]);
    }
    for (int i = 0; i < 4; i++)
        for (int j = i; j < 4; j++)
            g[i][j] = g[j][i] = tac_accum_value(&sums[i][j]);
    for (int i = 0; i < 4; i++)
        bound = fmax(bound, fabs(g[i][0]) + fabs(g[i][1]) + fabs(g[i][2]) + fabs(g[i][3]));
    for (tac_lid v = body->vertex_begin; v < body->vertex_end; v++)
        mesh->mass[v] /= bound;
}

/* The engine divides by masses and moments, and by their products; so they stay far from where doubles end. A number
 * that is none fails too. */
static bool within_range(const struct tac_rigid_body *rigid)
{
    const double least = 1e-100, most = 1e100;
    bool within = rigid->mass >= least && rigid->mass <= most;
    for (int k = 0; k < 3; k++)
        within = within && rigid->second[k] >= least && rigid->second[k] <= most;
    return within;
}

enum tac_err tac_scene_make_rigid(struct tac_reader *reader, tac_lid index, const char *where)
{
    enum tac_err err = TAC_OK;
    const struct tac_settings *s = reader->scene->settings;
    const struct tac_body *body = &s->body[index];
    struct tac_rigid_body *rigid = &s->rigid[body->rigid];
    const bool solid = body->rigid_density > 0 || body->rigid_mass > 0;
    struct tac_moment_sums *sums = NULL;
    struct tac_moments m;
    double middle[3];
    char place[TAC_WHERE];
    tac_where(place, where, "rigid");
    TAC_TRY(tac_alloc(reader->ctx, 1, sizeof *sums, &sums));
    find_middle(reader, body, middle);
    tac_moments_begin(sums, middle);
    if (solid) {
        TAC_TRY(check_closed(reader, body, place));
        add_solid(reader, body, sums);
        if (!(tac_accum_value(&sums->sum[0]) > 0))
            TAC_TRY(tac_scene_fail(reader, place,
                                   "needs a surface with a volume, but the triangles of \"%.60s\" face inwards or "
                                   "enclose nothing; turn them round",
                                   body->name));
    } else {
        add_shell(reader, body, body->material >= 0 ? s->material[body->material].density : 0, sums);
    }
    if (!tac_moments_make(sums, &m))
        TAC_TRY(tac_scene_fail(reader, place,
                               "makes \"%.60s\" rigid, which has no mass that could turn: all of it lies in one point, "
                               "or is beyond the range of numbers",
                               body->name));
    const double scale = body->rigid_mass > 0 ? body->rigid_mass / m.mass : 1;
    rigid->mass = scale * m.mass;
    for (int k = 0; k < 3; k++) {
        rigid->center[k] = m.center[k];
        rigid->second[k] = scale * m.second[k];
        memcpy(rigid->axis[k], m.axis[k], sizeof m.axis[k]);
    }
    if (!within_range(rigid))
        TAC_TRY(
            tac_scene_fail(reader, place,
                           "gives \"%.60s\" a mass of %.3g kg and second moments from %.3g to %.3g kg m^2; they must "
                           "be from 1e-100 to 1e+100",
                           body->name, rigid->mass, fmin(rigid->second[0], fmin(rigid->second[1], rigid->second[2])),
                           fmax(rigid->second[0], fmax(rigid->second[1], rigid->second[2]))));
    share_mass(reader, body, rigid);
done:
    free(sums);
    return err;
}

/* ---- what is not possible ---- */

/* Friction would act at the core of a body, not where the surfaces are. */
static enum tac_err check_radius(struct tac_reader *reader)
{
    const struct tac_settings *s = reader->scene->settings;
    char where[TAC_WHERE], place[TAC_WHERE];
    bool rubs = false;
    for (tac_lid i = 0; i < s->contact.law_count; i++)
        rubs |= s->contact.law[i].friction > 0;
    for (tac_lid i = 0; i < s->rigid_count && rubs; i++)
        if (s->body[s->rigid[i].body].radius > 0) {
            tac_where_index(where, "bodies", (size_t)s->rigid[i].body);
            tac_where(place, where, "radius");
            return tac_scene_fail(reader, place,
                                  "is not possible on a rigid body in a scene with friction yet: friction would act at "
                                  "its core; use a finer mesh without radius");
        }
    return TAC_OK;
}

/* Histories add up the masses of vertices, and those of a rigid body are shares. */
static enum tac_err check_histories(struct tac_reader *reader)
{
    const struct tac_settings *s = reader->scene->settings;
    char where[TAC_WHERE];
    for (tac_lid i = 0; i < s->output.history_count; i++) {
        const struct tac_history *h = &s->output.history[i];
        bool rigid = h->kind != TAC_HISTORY_FLUX && s->body[h->body].rigid >= 0;
        for (tac_lid k = 0; k < h->flux_count; k++)
            rigid |= s->body[h->flux_body[k]].rigid >= 0;
        if (rigid) {
            tac_where_index(where, "output.histories", (size_t)i);
            return tac_scene_fail(reader, where,
                                  "is of a rigid body, which is not possible yet; frames have the positions of its "
                                  "vertices, and energy.csv has sums");
        }
    }
    return check_radius(reader);
}

/* Accelerations and winds need the masses of vertices, and those of a rigid body are shares. */
static enum tac_err check_loads(struct tac_reader *reader)
{
    const struct tac_settings *s = reader->scene->settings;
    char where[TAC_WHERE];
    for (tac_lid i = 0; i < s->load_count; i++) {
        const enum tac_load_kind kind = s->load[i].kind;
        if (s->body[s->load[i].body].rigid < 0 || kind == TAC_LOAD_FORCE || kind == TAC_LOAD_PRESSURE)
            continue;
        tac_where_index(where, "loads", (size_t)i);
        return tac_scene_fail(reader, where,
                              "acts on \"%.60s\", which is rigid: of loads only forces and pressures can act on rigid "
                              "bodies yet",
                              s->body[s->load[i].body].name);
    }
    return TAC_OK;
}

enum tac_err tac_scene_check_rigid(struct tac_reader *reader)
{
    const struct tac_settings *s = reader->scene->settings;
    char where[TAC_WHERE], place[TAC_WHERE];
    if (s->rigid_count == 0)
        return TAC_OK;
    tac_where_index(where, "bodies", (size_t)s->rigid[0].body);
    tac_where(place, where, "rigid");
    if (s->integrator == TAC_INTEGRATOR_IMPACT)
        return tac_scene_fail(reader, place,
                              "is not possible with integrator.kind impact yet, which moves particles only; use the "
                              "asynchronous integrator");
    const bool implicit = s->integrator == TAC_INTEGRATOR_IMPLICIT;
    if (!implicit && tac_clock_period(reader->scene, s->clocks.rigid_s) < 4096) /* 2^12 quanta, the shortest chord */
        return tac_scene_fail(reader, "clocks.rigid_s", "is %g s, under 2^12 quanta (%g s); make it longer",
                              s->clocks.rigid_s, 4096 * s->quantum_s);
    if (s->two_d)
        return tac_scene_fail(reader, place, "is not possible in a 2D scene; give it some extent along z");
    if (s->discovery.mode == TAC_DISCOVER_KDS)
        return tac_scene_fail(reader, "discovery.mode",
                              "is \"kds\", which cannot follow rigid bodies yet; use \"speculate\"");
    for (tac_lid i = 0; i < s->motion_count; i++)
        if (s->body[s->motion[i].body].rigid >= 0) {
            tac_where_index(where, "motions", (size_t)i);
            return tac_scene_fail(reader, where,
                                  "moves \"%.60s\", which is rigid; leave its \"rigid\" out if all of it is moved for "
                                  "ever, since it is as rigid as its path is then",
                                  s->body[s->motion[i].body].name);
        }
    const enum tac_err err = check_loads(reader);
    return err ? err : check_histories(reader);
}
