/* mass.c: computes lumped masses and initial velocities, and checks what can only be checked once all bodies are
 * placed. */
#include "scene/scene_read.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/accum.h>
#include <tactus/math.h>

double tac_scene_area(const double *a, const double *b, const double *c)
{
    double u[3], v[3], n[3];
    tac_sub(u, b, a);
    tac_sub(v, c, a);
    tac_cross(n, u, v);
    return sqrt(tac_dot(n, n)) / 2;
}

double tac_scene_length(const double *a, const double *b)
{
    double u[3];
    tac_sub(u, b, a);
    return sqrt(tac_dot(u, u));
}

double tac_scene_volume(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3], n[3];
    tac_sub(u, b, a);
    tac_sub(v, c, a);
    tac_sub(w, d, a);
    tac_cross(n, u, v);
    return tac_dot(n, w) / 6;
}

enum tac_err tac_scene_fail_vanished(struct tac_reader *reader, const char *where, const struct tac_body *body,
                                     const char *what, tac_lid number, const char *size)
{
    return tac_scene_fail(reader, where, "\"%.60s\" has a %s %d of no %s once placed; check scale and position",
                          body->name, what, (int)number, size);
}

/* Where a vertex of a body is in the rest shape. */
static const double *rest_of(const struct tac_scene *scene, const struct tac_body *body, tac_lid vertex)
{
    return body->rest != NULL ? body->rest + 3 * (size_t)(vertex - body->vertex_begin)
                              : scene->mesh->x + 3 * (size_t)vertex;
}

/* Adds a body's lumped masses: a third of each triangle, half of each segment, or of a solid a quarter of each
 * tetrahedron, in the order of the elements. Elements
 * that vanished when the body was placed (scale, position beyond the precision of double) are refused here. */
static enum tac_err lump(struct tac_reader *reader, const struct tac_body *body, const char *where, double density)
{
    struct tac_scene *scene = reader->scene;
    const double area_density = body->tetrahedron_end > body->tetrahedron_begin ? 0 : density;
    for (tac_lid i = body->triangle_begin; i < body->triangle_end; i++) {
        const tac_lid *t = scene->mesh->triangle + 3 * (size_t)i;
        double a = tac_scene_area(rest_of(scene, body, t[0]), rest_of(scene, body, t[1]), rest_of(scene, body, t[2]));
        if (!(a > 0))
            return tac_scene_fail_vanished(reader, where, body, "triangle", i - body->triangle_begin, "area");
        for (int k = 0; k < 3; k++)
            scene->mesh->mass[t[k]] += area_density * a / 3;
    }
    for (tac_lid i = body->segment_begin; i < body->segment_end; i++) {
        const tac_lid *s = scene->mesh->segment + 2 * (size_t)i;
        double l = tac_scene_length(rest_of(scene, body, s[0]), rest_of(scene, body, s[1]));
        if (!(l > 0))
            return tac_scene_fail_vanished(reader, where, body, "segment", i - body->segment_begin, "length");
        for (int k = 0; k < 2; k++)
            scene->mesh->mass[s[k]] += area_density * l / 2;
    }
    for (tac_lid i = body->tetrahedron_begin; i < body->tetrahedron_end; i++) {
        const tac_lid *t = scene->mesh->tetrahedron + 4 * (size_t)i;
        double volume = tac_scene_volume(rest_of(scene, body, t[0]), rest_of(scene, body, t[1]),
                                         rest_of(scene, body, t[2]), rest_of(scene, body, t[3]));
        if (!(volume > 0))
            return tac_scene_fail_vanished(reader, where, body, "tetrahedron", i - body->tetrahedron_begin, "volume");
        for (int k = 0; k < 4; k++)
            scene->mesh->mass[t[k]] += density * volume / 4;
    }
    return TAC_OK;
}

static enum tac_err check_masses(struct tac_reader *reader, tac_lid index, const char *where, double density)
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_body *body = &scene->settings->body[index];
    const struct tac_rows rows = reader->rows[index][TAC_VERTICES];
    for (tac_lid i = rows.begin; i < rows.end - body->anchors - body->pins; i++) {
        const int number = (int)(rows.number + i - rows.begin);
        double mass = scene->mesh->mass[i];
        if (!isfinite(mass))
            return tac_scene_fail(reader, where, "\"%.60s\" has a vertex %d of infinite mass; lower its density",
                                  body->name, number);
        if (mass > 0 || !scene->mesh->ever_free[i])
            continue;
        if (body->material >= 0 && density == 0)
            return tac_scene_fail(reader, where,
                                  "\"%.60s\" can move freely but has no mass; give materials.%.60s a density, or the "
                                  "body a mass",
                                  body->name, scene->settings->material[body->material].name);
        if (density > 0 && !body->has_elements)
            return tac_scene_fail(
                reader, where,
                "\"%.60s\" can move freely but has no mass: density acts on triangles and segments, and "
                "its mesh has neither; give the body a mass per vertex",
                body->name);
        if (density > 0)
            return tac_scene_fail(reader, where, "\"%.60s\" has a vertex %d of mass 0; raise its density or size",
                                  body->name, number);
        return tac_scene_fail(
            reader, where,
            "\"%.60s\" can move freely but has no mass; give it a mass, or a material with a density, "
            "or \"fixed\": true",
            body->name);
    }
    return TAC_OK;
}

enum tac_err tac_scene_masses(struct tac_reader *reader)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_reader_agree(reader, tac_alloc(reader->ctx, (size_t)scene->mesh->vertex_count,
                                               sizeof *scene->mesh->mass, &scene->mesh->mass)));
    for (tac_lid b = 0; b < scene->settings->body_count; b++) {
        const struct tac_body *body = &scene->settings->body[b];
        double density = body->material >= 0 ? scene->settings->material[body->material].density : 0;
        char where[TAC_WHERE];
        tac_where_index(where, "bodies", (size_t)b);
        if (body->rigid_density > 0 || body->rigid_mass > 0)
            density = 1; /* each vertex' part of the surface, which tac_scene_make_rigid() turns into its share */
        TAC_TRY(reader->spread ? tac_spread_lump(reader, b, where, density) : lump(reader, body, where, density));
        for (int k = TAC_TRIANGLES; k < TAC_TABLES && body->rest != NULL && !reader->spread; k++)
            TAC_TRY(tac_start_check_sizes(reader, b, (enum tac_table)k, NULL, scene->mesh->x));
        for (tac_lid i = reader->rows[b][TAC_VERTICES].begin; i < reader->rows[b][TAC_VERTICES].end; i++) {
            if (body->fixed)
                scene->mesh->mass[i] = 0;
            else if (body->mass > 0 && i < reader->rows[b][TAC_VERTICES].end - body->anchors - body->pins)
                scene->mesh->mass[i] = body->mass;
        }
        TAC_TRY(tac_reader_agree(reader, check_masses(reader, b, where, density)));
        if (body->rigid >= 0)
            TAC_TRY(tac_reader_agree(reader, tac_scene_make_rigid(reader, b, where)));
    }
done:
    return err;
}

static void add_ranks(const struct tac_reader *reader, struct tac_accum *sum)
{
    if (!reader->spread)
        return;
    tac_accum_carry(sum);
    MPI_Allreduce(MPI_IN_PLACE, sum->limb, TAC_ACCUM_LIMBS, MPI_INT64_T, MPI_SUM, reader->ctx->comm);
    MPI_Allreduce(MPI_IN_PLACE, &sum->bad, 1, MPI_INT32_T, MPI_MAX, reader->ctx->comm);
    tac_accum_carry(sum);
}

/* The centre of mass of a body's vertices, scripted ones with their own mass.  Scaled by the largest mass, so that the
 * sums stay in the range of double; the sums are exact, so that they are the same however vertices are spread. */
static void centre_of_mass(const struct tac_reader *reader, tac_lid index, double centre[3])
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_rows rows = reader->rows[index][TAC_VERTICES];
    struct tac_accum sum[4];
    double largest = 0;
    memset(sum, 0, sizeof sum);
    for (tac_lid i = rows.begin; i < rows.end; i++)
        largest = fmax(largest, scene->mesh->mass[i]);
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, reader->ctx->comm);
    for (tac_lid i = rows.begin; i < rows.end && largest > 0; i++) {
        double share = scene->mesh->mass[i] / largest;
        tac_accum_add(&sum[3], share);
        for (int k = 0; k < 3; k++)
            tac_accum_add(&sum[k], share * scene->mesh->x[3 * (size_t)i + (size_t)k]);
    }
    for (int k = 0; k < 4; k++)
        add_ranks(reader, &sum[k]);
    for (int k = 0; k < 3; k++)
        centre[k] = largest > 0 ? tac_accum_value(&sum[k]) / tac_accum_value(&sum[3]) : 0;
}

/* Chooses a uniform speed in a uniform direction.  The counter is the vertex's number in the scene, so that two bodies
 * with one seed do not move alike. */
static void random_velocity(const struct tac_scene *scene, const struct tac_body *body, tac_lid vertex, double out[3])
{
    uint64_t seed = (uint64_t)body->seed, counter = 4 * (uint64_t)vertex;
    double lo = body->random_speed[0], hi = body->random_speed[1];
    double speed = lo + (hi - lo) * tac_random(seed, counter);
    double angle = 2 * TAC_PI * tac_random(seed, counter + 1);
    double z = scene->settings->two_d ? 0 : 2 * tac_random(seed, counter + 2) - 1;
    double across = sqrt(1 - z * z);
    out[0] = speed * (across * tac_cos(angle));
    out[1] = speed * (across * tac_sin(angle));
    out[2] = speed * z;
}

static enum tac_err body_velocities(struct tac_reader *reader, tac_lid index)
{
    struct tac_scene *scene = reader->scene;
    const struct tac_body *body = &scene->settings->body[index];
    const struct tac_rows rows = reader->rows[index][TAC_VERTICES];
    const double *w = body->angular_velocity;
    double centre[3] = {0, 0, 0};
    char where[TAC_WHERE];
    tac_where_index(where, "bodies", (size_t)index);
    if (body->rigid >= 0)
        tac_scene_rigid_center(scene->settings, body, centre);
    else if (w[0] != 0 || w[1] != 0 || w[2] != 0)
        centre_of_mass(reader, index, centre);
    for (tac_lid i = rows.begin; i < rows.end; i++) {
        double arm[3], turning[3], thermal[3] = {0, 0, 0}, *v = scene->mesh->v + 3 * (size_t)i;
        const tac_lid number = rows.number + i - rows.begin;
        if (!scene->mesh->ever_free[i])
            continue;
        tac_sub(arm, scene->mesh->x + 3 * (size_t)i, centre);
        tac_cross(turning, w, arm);
        if (body->has_random_speed)
            random_velocity(scene, body, body->vertex_begin + number, thermal);
        for (int k = 0; k < 3; k++) {
            v[k] = body->velocity[k] + turning[k] + thermal[k];
            if (!(fabs(v[k]) <= TAC_FARTHEST))
                return tac_scene_fail(reader, where,
                                      "\"%.60s\" starts its vertex %d at %g m/s; speeds must stay within %g m/s",
                                      body->name, (int)number, v[k], TAC_FARTHEST);
        }
    }
    return TAC_OK;
}

enum tac_err tac_scene_velocities(struct tac_reader *reader)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    if (reader->spread)
        MPI_Allreduce(MPI_IN_PLACE, &reader->leaves_plane, 1, MPI_C_BOOL, MPI_LOR, reader->ctx->comm);
    scene->settings->two_d = !reader->leaves_plane;
    TAC_TRY(tac_reader_agree(reader, tac_alloc(reader->ctx, 3 * (size_t)scene->mesh->vertex_count,
                                               sizeof *scene->mesh->v, &scene->mesh->v)));
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        TAC_TRY(tac_reader_agree(reader, body_velocities(reader, b)));
done:
    return err;
}

bool tac_scene_bends(const struct tac_scene *scene, tac_lid body)
{
    const tac_lid material = scene->settings->body[body].material;
    return material >= 0 && scene->settings->material[material].bend;
}

enum tac_err tac_scene_fail_manifold(struct tac_reader *reader, const tac_gid edge[2], const double x[3],
                                     tac_lid valence)
{
    const struct tac_scene *scene = reader->scene;
    tac_lid b = 0;
    while (scene->settings->body[b].vertex_end <= edge[0])
        b++;
    const struct tac_body *body = &scene->settings->body[b];
    char where[TAC_WHERE];
    tac_where_index(where, "bodies", (size_t)b);
    return tac_scene_fail(reader, where,
                          "\"%.60s\" bends, but its edge between vertices %d and %d at (%g, %g, %g) has %d triangles; "
                          "split the mesh there or leave out materials.%.60s.bend",
                          body->name, (int)(edge[0] - body->vertex_begin), (int)(edge[1] - body->vertex_begin), x[0],
                          x[1], x[2], (int)valence, scene->settings->material[body->material].name);
}

/* A hinge needs two triangles; an edge of three has no one angle. */
static enum tac_err check_manifold(struct tac_reader *reader)
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_topology *topology = scene->mesh->topology;
    for (tac_lid e = 0; e < topology->edge_count; e++) {
        const tac_lid *edge = topology->edge + 2 * (size_t)e;
        if (topology->edge_valence[e] > 2 && tac_scene_bends(scene, scene->mesh->vertex_body[edge[0]]))
            return tac_scene_fail_manifold(reader, (const tac_gid[]){edge[0], edge[1]},
                                           scene->mesh->x + 3 * (size_t)edge[0], topology->edge_valence[e]);
    }
    return TAC_OK;
}

/* Has any body of this material triangles? */
static bool any_triangles(const struct tac_scene *scene, tac_lid material)
{
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        if (scene->settings->body[b].material == material &&
            scene->settings->body[b].triangle_end > scene->settings->body[b].triangle_begin)
            return true;
    return false;
}

enum tac_err tac_scene_check_elements(struct tac_reader *reader)
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_topology *topology = scene->mesh->topology;
    uint8_t *hinged = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(reader->spread ? reader->spread->check_manifold(reader) : check_manifold(reader));
    TAC_TRY(tac_reader_agree(reader, tac_alloc(reader->ctx, (size_t)scene->settings->body_count, 1, &hinged)));
    if (reader->spread)
        TAC_TRY(reader->spread->find_hinged(reader, hinged));
    else
        for (tac_lid h = 0; h < topology->hinge_count; h++)
            hinged[scene->mesh->vertex_body[topology->hinge[4 * (size_t)h]]] = 1;
    for (tac_lid b = 0; b < scene->settings->body_count; b++) {
        const struct tac_body *body = &scene->settings->body[b];
        const struct tac_material *material = body->material >= 0 ? &scene->settings->material[body->material] : NULL;
        bool triangles = body->triangle_end > body->triangle_begin, segments = body->segment_end > body->segment_begin;
        char where[TAC_WHERE];
        tac_where_index(where, "bodies", (size_t)b);
        if (material == NULL || body->fixed)
            continue;
        if (material->stretch_limit_principal > 0 && !any_triangles(scene, body->material))
            TAC_TRY(tac_reader_agree(
                reader, tac_scene_fail(reader, where,
                                       "\"%.60s\" has no triangles, nor has any other body of the material \"%.60s\", "
                                       "whose stretch.limit_principal is for triangles only; leave it out, or use "
                                       "stretch.limit",
                                       body->name, material->name)));
        if (material->solid_model != TAC_SOLID_NONE && body->tetrahedron_end == body->tetrahedron_begin)
            TAC_TRY(tac_reader_agree(
                reader, tac_scene_fail(reader, where,
                                       "\"%.60s\" has no tetrahedra, which the \"solid\" of its material \"%.60s\" "
                                       "acts on; give a mesh that has some, or another material",
                                       body->name, material->name)));
        if (material->bend && !hinged[b])
            tac_scene_warn(reader, where,
                           "\"%.60s\" has no two triangles at one edge: \"bend\" of its material \"%.60s\" has "
                           "no effect",
                           body->name, material->name);
        if (material->stretch_model == TAC_STRETCH_CST && segments)
            tac_scene_warn(reader, where,
                           "\"%.60s\" has segments: the stretch model \"cst\" of its material \"%.60s\" acts on "
                           "triangles only",
                           body->name, material->name);
        else if (material->stretch_model != TAC_STRETCH_NONE && !segments && !triangles)
            tac_scene_warn(reader, where,
                           "\"%.60s\" has neither triangles nor segments: \"stretch\" of its material \"%.60s\" "
                           "has no effect",
                           body->name, material->name);
    }
done:
    free(hinged);
    return err;
}
