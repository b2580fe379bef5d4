/* mass.c: lumped masses, initial velocities, and what can only be judged once all bodies are placed. */
#include "read.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

static double area(const struct tac_scene *scene, tac_lid triangle)
{
    const tac_lid *t = scene->triangle + 3 * (size_t)triangle;
    double a[3], b[3], n[3];
    tac_sub(a, scene->x + 3 * (size_t)t[1], scene->x + 3 * (size_t)t[0]);
    tac_sub(b, scene->x + 3 * (size_t)t[2], scene->x + 3 * (size_t)t[0]);
    tac_cross(n, a, b);
    return sqrt(tac_dot(n, n)) / 2;
}

static double length(const struct tac_scene *scene, tac_lid segment)
{
    const tac_lid *s = scene->segment + 2 * (size_t)segment;
    double a[3];
    tac_sub(a, scene->x + 3 * (size_t)s[1], scene->x + 3 * (size_t)s[0]);
    return sqrt(tac_dot(a, a));
}

/* Adds a body's lumped masses: a third of each triangle, half of each segment. Elements that vanished when the body was
 * placed (scale, position beyond the precision of double) are refused here. */
static enum tac_err lump(struct tac_reader *reader, const struct tac_body *body, const char *where, double density)
{
    struct tac_scene *scene = reader->scene;
    for (tac_lid t = body->triangle_begin; t < body->triangle_end; t++) {
        double a = area(scene, t);
        if (!(a > 0))
            return tac_scene_fail(reader, where,
                                  "\"%.60s\" has a triangle %d of no area once placed; check scale and position",
                                  body->name, (int)(t - body->triangle_begin));
        for (int k = 0; k < 3; k++)
            scene->mass[scene->triangle[3 * (size_t)t + (size_t)k]] += density * a / 3;
    }
    for (tac_lid s = body->segment_begin; s < body->segment_end; s++) {
        double l = length(scene, s);
        if (!(l > 0))
            return tac_scene_fail(reader, where,
                                  "\"%.60s\" has a segment %d of no length once placed; check scale and position",
                                  body->name, (int)(s - body->segment_begin));
        for (int k = 0; k < 2; k++)
            scene->mass[scene->segment[2 * (size_t)s + (size_t)k]] += density * l / 2;
    }
    return TAC_OK;
}

static enum tac_err check_masses(struct tac_reader *reader, const struct tac_body *body, const char *where,
                                 double density)
{
    const struct tac_scene *scene = reader->scene;
    for (tac_lid i = body->vertex_begin; i < body->vertex_end; i++) {
        double mass = scene->mass[i];
        if (!isfinite(mass))
            return tac_scene_fail(reader, where, "\"%.60s\" has a vertex %d of infinite mass; lower its density",
                                  body->name, (int)(i - body->vertex_begin));
        if (mass > 0 || !scene->ever_free[i])
            continue;
        if (body->material >= 0 && density == 0)
            return tac_scene_fail(reader, where,
                                  "\"%.60s\" can move freely but has no mass; give materials.%.60s a density, or the "
                                  "body a mass",
                                  body->name, scene->material[body->material].name);
        if (density > 0 && !body->has_elements)
            return tac_scene_fail(
                reader, where,
                "\"%.60s\" can move freely but has no mass: density acts on triangles and segments, and "
                "its mesh has neither; give the body a mass per vertex",
                body->name);
        if (density > 0)
            return tac_scene_fail(reader, where, "\"%.60s\" has a vertex %d of mass 0; raise its density or size",
                                  body->name, (int)(i - body->vertex_begin));
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
    TAC_TRY(tac_alloc(reader->ctx, (size_t)scene->vertex_count, sizeof *scene->mass, &scene->mass));
    for (tac_lid b = 0; b < scene->body_count; b++) {
        const struct tac_body *body = &scene->body[b];
        double density = body->material >= 0 ? scene->material[body->material].density : 0;
        char where[TAC_WHERE];
        tac_where_index(where, "bodies", (size_t)b);
        TAC_TRY(lump(reader, body, where, density));
        for (tac_lid i = body->vertex_begin; i < body->vertex_end; i++) {
            if (body->fixed)
                scene->mass[i] = 0;
            else if (body->mass > 0)
                scene->mass[i] = body->mass;
        }
        TAC_TRY(check_masses(reader, body, where, density));
    }
done:
    return err;
}

/* The centre of mass of a body's vertices, scripted ones with their own mass.  Scaled by the largest mass, so that the
 * sums stay in the range of double. */
static void centre_of_mass(const struct tac_scene *scene, const struct tac_body *body, double centre[3])
{
    double largest = 0, sum = 0, moment[3] = {0, 0, 0};
    for (tac_lid i = body->vertex_begin; i < body->vertex_end; i++)
        largest = fmax(largest, scene->mass[i]);
    for (tac_lid i = body->vertex_begin; i < body->vertex_end && largest > 0; i++) {
        double share = scene->mass[i] / largest;
        sum += share;
        for (int k = 0; k < 3; k++)
            moment[k] += share * scene->x[3 * (size_t)i + (size_t)k];
    }
    for (int k = 0; k < 3; k++)
        centre[k] = sum > 0 ? moment[k] / sum : 0;
}

/* Uniform speed in a uniform direction.  The counter is the vertex's number in the scene, so that two bodies with one
 * seed do not move alike. */
static void random_velocity(const struct tac_scene *scene, const struct tac_body *body, tac_lid vertex, double out[3])
{
    uint64_t seed = (uint64_t)body->seed, counter = 4 * (uint64_t)vertex;
    double lo = body->random_speed[0], hi = body->random_speed[1];
    double speed = lo + (hi - lo) * tac_random(seed, counter);
    double angle = 2 * TAC_PI * tac_random(seed, counter + 1);
    double z = scene->two_d ? 0 : 2 * tac_random(seed, counter + 2) - 1;
    double across = sqrt(1 - z * z);
    out[0] = speed * (across * tac_cos(angle));
    out[1] = speed * (across * tac_sin(angle));
    out[2] = speed * z;
}

enum tac_err tac_scene_velocities(struct tac_reader *reader)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    scene->two_d = !reader->leaves_plane;
    TAC_TRY(tac_alloc(reader->ctx, 3 * (size_t)scene->vertex_count, sizeof *scene->v, &scene->v));
    for (tac_lid b = 0; b < scene->body_count; b++) {
        const struct tac_body *body = &scene->body[b];
        char where[TAC_WHERE];
        double centre[3];
        tac_where_index(where, "bodies", (size_t)b);
        centre_of_mass(scene, body, centre);
        for (tac_lid i = body->vertex_begin; i < body->vertex_end; i++) {
            double arm[3], turning[3], thermal[3] = {0, 0, 0}, *v = scene->v + 3 * (size_t)i;
            if (!scene->ever_free[i])
                continue;
            tac_sub(arm, scene->x + 3 * (size_t)i, centre);
            tac_cross(turning, body->angular_velocity, arm);
            if (body->has_random_speed)
                random_velocity(scene, body, i, thermal);
            for (int k = 0; k < 3; k++) {
                v[k] = body->velocity[k] + turning[k] + thermal[k];
                if (!(fabs(v[k]) <= TAC_FARTHEST))
                    TAC_TRY(tac_scene_fail(reader, where,
                                           "\"%.60s\" starts its vertex %d at %g m/s; speeds must stay "
                                           "within %g m/s",
                                           body->name, (int)(i - body->vertex_begin), v[k], TAC_FARTHEST));
            }
        }
    }
done:
    return err;
}

/* A hinge needs two triangles; an edge of three has no one angle. */
static enum tac_err check_manifold(struct tac_reader *reader)
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_topology *topology = scene->topology;
    for (tac_lid e = 0; e < topology->edge_count; e++) {
        const tac_lid *edge = topology->edge + 2 * (size_t)e;
        tac_lid b = scene->vertex_body[edge[0]];
        const struct tac_body *body = &scene->body[b];
        if (topology->edge_valence[e] <= 2 || body->material < 0 || !scene->material[body->material].bend)
            continue;
        const double *x = scene->x + 3 * (size_t)edge[0];
        char where[TAC_WHERE];
        tac_where_index(where, "bodies", (size_t)b);
        return tac_scene_fail(
            reader, where,
            "\"%.60s\" bends, but its edge between vertices %d and %d at (%g, %g, %g) has %d triangles; "
            "split the mesh there or leave out materials.%.60s.bend",
            body->name, (int)(edge[0] - body->vertex_begin), (int)(edge[1] - body->vertex_begin), x[0], x[1], x[2],
            (int)topology->edge_valence[e], scene->material[body->material].name);
    }
    return TAC_OK;
}

enum tac_err tac_scene_check_elements(struct tac_reader *reader)
{
    const struct tac_scene *scene = reader->scene;
    const struct tac_topology *topology = scene->topology;
    uint8_t *hinged = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(check_manifold(reader));
    TAC_TRY(tac_alloc(reader->ctx, (size_t)scene->body_count, 1, &hinged));
    for (tac_lid h = 0; h < topology->hinge_count; h++)
        hinged[scene->vertex_body[topology->hinge[4 * (size_t)h]]] = 1;
    for (tac_lid b = 0; b < scene->body_count; b++) {
        const struct tac_body *body = &scene->body[b];
        const struct tac_material *material = body->material >= 0 ? &scene->material[body->material] : NULL;
        bool triangles = body->triangle_end > body->triangle_begin, segments = body->segment_end > body->segment_begin;
        char where[TAC_WHERE];
        tac_where_index(where, "bodies", (size_t)b);
        if (material == NULL || body->fixed)
            continue;
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
