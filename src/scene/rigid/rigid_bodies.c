/* rigid_bodies.c: reads which bodies are rigid, and computes their mass and axes (docs/explanation/rigid.md). */
#include "mesh/moments.h"
#include "scene/period.h"
#include "scene/rigid/rigid_pieces.h"
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
    {.key = "pieces", .kind = TAC_FIELD_BOOL, .offset = AT(in_pieces)},
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
    if (body->rigid_density > 0 ? body->rigid_mass > 0
                                : !(body->rigid_mass > 0) && !(body->rigid_frequency > 0) && !body->in_pieces)
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

static enum tac_err check_pieces(struct tac_reader *reader, const struct tac_body *body, const char *place)
{
    if (!body->has_elements)
        return tac_scene_fail(reader, place,
                              "has \"pieces\", but \"%.60s\" has neither triangles nor segments: each of its points "
                              "would be a piece; leave \"rigid\" out, points are free then",
                              body->name);
    if (body->anchors + body->pins > 0)
        return tac_scene_fail(reader, place,
                              "has \"pieces\", but a joint holds \"%.60s\", and it is not said which piece; make the "
                              "piece that it holds a body of its own",
                              body->name);
    return TAC_OK;
}

static enum tac_err find_pieces(struct tac_reader *reader, tac_lid index, const char *place)
{
    enum tac_err err;
    const struct tac_body *body = &reader->scene->settings->body[index];
    tac_lid wrong[3];
    TAC_TRY(check_pieces(reader, body, place));
    TAC_TRY(tac_rigid_add_pieces(reader->ctx, reader->scene, &reader->rigid_capacity, index, wrong));
    if (wrong[0] >= 0)
        TAC_TRY(tac_scene_fail(reader, place,
                               "has \"pieces\", but vertex %d of \"%.60s\" is of the piece of vertex %d, and another "
                               "piece begins at vertex %d between them; sort the vertices of its mesh by pieces",
                               (int)wrong[0], body->name, (int)wrong[1], (int)wrong[2]));
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
    if (body->in_pieces)
        TAC_TRY(find_pieces(reader, index, place));
    else
        TAC_TRY(tac_rigid_add(reader->ctx, s, &reader->rigid_capacity, index, body->vertex_begin, body->vertex_end));
    if (body->piece_count == 1)
        body->self_contact = false; /* its parts do not move against each other */
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

/* Where a body's pieces are computed. */
struct making {
    struct tac_reader *reader; /* borrowed, as the next ones */
    const struct tac_body *body;
    const char *place;
    struct tac_moment_sums *sums; /* (pieces) */
};

/* Adds an element of a body to the sums of its piece. */
static void add_element(const struct making *m, double density, enum tac_moments_kind kind, const tac_lid *v, int n)
{
    const struct tac_scene *scene = m->reader->scene;
    const tac_lid index = scene->settings->rigid[m->body->rigid].body;
    double p[3][3];
    for (int k = 0; k < n; k++)
        memcpy(p[k], scene->mesh->x + 3 * (size_t)v[k], sizeof p[k]);
    tac_moments_add(&m->sums[tac_rigid_of(scene->settings, index, v[0]) - m->body->rigid], density, kind,
                    (const double(*)[3])p);
}

/* Adds the elements of a body by the densities of its material, or its vertices by their masses. */
static void add_shell(const struct making *m, double density)
{
    const struct tac_local_mesh *mesh = m->reader->scene->mesh;
    const struct tac_body *body = m->body;
    if (body->mass > 0) {
        for (tac_lid i = body->vertex_begin; i < tac_body_mesh_end(body); i++)
            add_element(m, body->mass, TAC_MOMENTS_POINT, &i, 1);
        return;
    }
    for (tac_lid t = body->triangle_begin; t < body->triangle_end; t++)
        add_element(m, density, TAC_MOMENTS_TRIANGLE, &mesh->triangle[3 * (size_t)t], 3);
    for (tac_lid t = body->segment_begin; t < body->segment_end; t++)
        add_element(m, density, TAC_MOMENTS_SEGMENT, &mesh->segment[2 * (size_t)t], 2);
}

static void add_solid(const struct making *m)
{
    const struct tac_local_mesh *mesh = m->reader->scene->mesh;
    for (tac_lid t = m->body->triangle_begin; t < m->body->triangle_end; t++)
        add_element(m, m->body->rigid_density > 0 ? m->body->rigid_density : 1, TAC_MOMENTS_SOLID,
                    &mesh->triangle[3 * (size_t)t], 3);
}

static void find_middle(const struct tac_reader *reader, tac_lid begin, tac_lid end, double middle[3])
{
    const double *x = reader->scene->mesh->x;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (tac_lid i = begin; i < end; i++) {
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
    for (tac_lid v = rigid->vertex_begin; v < first && first < end; v++) {
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
    for (tac_lid v = rigid->vertex_begin; v < rigid->vertex_end; v++) {
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
    for (tac_lid v = rigid->vertex_begin; v < rigid->vertex_end; v++)
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

/* What a sentence calls a body, or a piece of one. */
static const char *name_piece(const struct making *m, tac_lid piece, char text[96])
{
    if (m->body->piece_count > 1)
        snprintf(text, 96, "piece %d of \"%.60s\"", (int)piece, m->body->name);
    else
        snprintf(text, 96, "\"%.60s\"", m->body->name);
    return text;
}

/* Sums up the pieces of a body, one or more. */
static enum tac_err add_pieces(const struct making *m, bool solid)
{
    enum tac_err err = TAC_OK;
    const struct tac_settings *s = m->reader->scene->settings;
    char text[96];
    double middle[3];
    for (tac_lid k = 0; k < m->body->piece_count; k++) {
        const struct tac_rigid_body *piece = &s->rigid[m->body->rigid + k];
        const bool whole = m->body->piece_count == 1;
        find_middle(m->reader, piece->vertex_begin, whole ? tac_body_mesh_end(m->body) : piece->vertex_end, middle);
        tac_moments_begin(&m->sums[k], middle);
    }
    if (!solid) {
        add_shell(m, m->body->material >= 0 ? s->material[m->body->material].density : 0);
        return TAC_OK;
    }
    TAC_TRY(check_closed(m->reader, m->body, m->place));
    add_solid(m);
    for (tac_lid k = 0; k < m->body->piece_count; k++)
        if (!(tac_accum_value(&m->sums[k].sum[0]) > 0))
            TAC_TRY(tac_scene_fail(m->reader, m->place,
                                   "needs a surface with a volume, but the triangles of %s face inwards or "
                                   "enclose nothing; turn them round",
                                   name_piece(m, k, text)));
done:
    return err;
}

/* Makes the pieces of a body by their sums; mass: that of all together. */
static enum tac_err make_pieces(const struct making *m, double *mass)
{
    enum tac_err err = TAC_OK;
    char text[96];
    *mass = 0;
    for (tac_lid k = 0; k < m->body->piece_count; k++) {
        struct tac_rigid_body *rigid = &m->reader->scene->settings->rigid[m->body->rigid + k];
        struct tac_moments moments;
        if (!tac_moments_make(&m->sums[k], &moments))
            TAC_TRY(tac_scene_fail(m->reader, m->place,
                                   "makes %s rigid, which has no mass that could turn: all of it lies in one point, "
                                   "or is beyond the range of numbers",
                                   name_piece(m, k, text)));
        rigid->mass = moments.mass;
        for (int a = 0; a < 3; a++) {
            rigid->center[a] = moments.center[a];
            rigid->second[a] = moments.second[a];
            memcpy(rigid->axis[a], moments.axis[a], sizeof moments.axis[a]);
        }
        *mass += moments.mass;
    }
done:
    return err;
}

void tac_scene_rigid_center(const struct tac_settings *s, const struct tac_body *body, double center[3])
{
    double mass = 0, sum[3] = {0, 0, 0};
    for (tac_lid k = body->rigid; k < body->rigid + body->piece_count; k++) {
        mass += s->rigid[k].mass;
        for (int a = 0; a < 3; a++)
            sum[a] += s->rigid[k].mass * s->rigid[k].center[a];
    }
    for (int a = 0; a < 3; a++)
        center[a] = body->piece_count > 1 ? sum[a] / mass : s->rigid[body->rigid].center[a];
}

/* Each piece moves as it would in a body that turns about the centre of all. */
static void set_velocities(const struct making *m)
{
    const struct tac_settings *s = m->reader->scene->settings;
    double center[3], arm[3], turning[3];
    tac_scene_rigid_center(s, m->body, center);
    for (tac_lid k = m->body->rigid; k < m->body->rigid + m->body->piece_count; k++) {
        memcpy(s->rigid[k].velocity, m->body->velocity, sizeof m->body->velocity);
        tac_sub(arm, s->rigid[k].center, center);
        tac_cross(turning, m->body->angular_velocity, arm);
        for (int a = 0; a < 3 && m->body->piece_count > 1; a++)
            s->rigid[k].velocity[a] += turning[a];
    }
}

enum tac_err tac_scene_make_rigid(struct tac_reader *reader, tac_lid index, const char *where)
{
    enum tac_err err = TAC_OK;
    const struct tac_settings *s = reader->scene->settings;
    const struct tac_body *body = &s->body[index];
    char place[TAC_WHERE], text[96];
    struct making m = {.reader = reader, .body = body, .place = place};
    double mass;
    tac_where(place, where, "rigid");
    TAC_TRY(tac_alloc(reader->ctx, (size_t)body->piece_count, sizeof *m.sums, &m.sums));
    TAC_TRY(add_pieces(&m, body->rigid_density > 0 || body->rigid_mass > 0));
    TAC_TRY(make_pieces(&m, &mass));
    const double scale = body->rigid_mass > 0 ? body->rigid_mass / mass : 1;
    for (tac_lid k = 0; k < body->piece_count; k++) {
        struct tac_rigid_body *rigid = &s->rigid[body->rigid + k];
        rigid->mass = scale * rigid->mass;
        for (int a = 0; a < 3; a++)
            rigid->second[a] = scale * rigid->second[a];
        if (!within_range(rigid))
            TAC_TRY(tac_scene_fail(reader, place,
                                   "gives %s a mass of %.3g kg and second moments from %.3g to %.3g kg m^2; they must "
                                   "be from 1e-100 to 1e+100",
                                   name_piece(&m, k, text), rigid->mass,
                                   fmin(rigid->second[0], fmin(rigid->second[1], rigid->second[2])),
                                   fmax(rigid->second[0], fmax(rigid->second[1], rigid->second[2]))));
        share_mass(reader, body, rigid);
    }
    set_velocities(&m);
done:
    free(m.sums);
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
        bool rigid = h->kind != TAC_HISTORY_FLUX && h->kind != TAC_HISTORY_POSE && s->body[h->body].rigid >= 0;
        for (tac_lid k = 0; k < h->flux_count; k++)
            rigid |= s->body[h->flux_body[k]].rigid >= 0;
        if (rigid) {
            tac_where_index(where, "output.histories", (size_t)i);
            return tac_scene_fail(reader, where,
                                  "is of vertices of a rigid body, which is not possible yet; follow its pose (kind "
                                  "pose); frames have the positions of its vertices");
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
    const bool layered = s->integrator == TAC_INTEGRATOR_ASYNCHRONOUS;
    if (layered && tac_clock_period(reader->scene, s->clocks.rigid_s) < 4096) /* 2^12 quanta, the shortest chord */
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
