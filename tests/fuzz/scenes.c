/* scenes.c: what the targets that read scenes share. */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/builder.h"

static double member(const json_t *list, size_t i)
{
    const double v = json_number_value(json_array_get(list, i));
    return v > 0 ? v : 0;
}

/* Elements or vertices that a generator's mesh will have, about. */
static double elements_of(const json_t *mesh)
{
    const json_t *cells = json_object_get(mesh, "cells"), *count = json_object_get(mesh, "count");
    const json_t *lattice = json_object_get(json_object_get(mesh, "lattice"), "count");
    const double a = member(cells, 0), b = member(cells, 1), c = member(cells, 2);
    const double level = json_number_value(json_object_get(mesh, "level"));
    double n = json_array_size(cells) == 3 ? 4 * (a * b + b * c + c * a) : 2 * a * b;
    n = fmax(n, json_number_value(cells));
    n = fmax(n, member(lattice, 0) * member(lattice, 1) * member(lattice, 2));
    n = fmax(n, 12 * member(count, 0) * member(count, 1) * fmax(1, json_number_value(json_object_get(mesh, "sides"))));
    n = fmax(n, level > 0 && level < 40 ? 36 * pow(4, level) : level);
    if (json_object_get(mesh, "fill") != NULL)
        n = fmax(n, fmax(6 * a * b * c, level > 0 && level < 40 ? 20 * pow(8, level) : 0));
    return n;
}

bool fuzz_scene_is_large(const json_t *root, double much)
{
    const double MOST = 4 * (double)TAC_MESH_LIMIT;
    double sum = 0;
    size_t i;
    const json_t *body;
    json_array_foreach(json_object_get(root, "bodies"), i, body)
    {
        const double n = elements_of(json_object_get(body, "mesh"));
        if (n < MOST)
            sum += n;
    }
    return sum > much;
}

static void must_be(const struct tac_ctx *ctx, enum tac_err err, const struct tac_scene *scene, const char *sha256,
                    const char *what)
{
    if (err != TAC_OK || strcmp(scene->settings->sha256, sha256) != 0) {
        fprintf(stderr, "code %d: %s\n", (int)err, ctx->error);
        fuzz_broken(__FILE__, __LINE__, what);
    }
}

static void read_resolved(const struct tac_scene *scene)
{
    struct tac_ctx ctx = {.comm = MPI_COMM_SELF, .size = 1, .quiet = true};
    struct tac_scene *again = NULL;
    char *text = json_dumps(scene->settings->json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    fuzz_must(text != NULL, "a resolved scene can be written");
    const enum tac_err err = tac_scene_read(&ctx, fuzz_put("resolved.json", text, strlen(text)), NULL, 0, &again);
    must_be(&ctx, err, again, scene->settings->sha256, "a resolved scene is the same scene");
    free(text);
    tac_scene_destroy(&again);
}

/* The ids of a scene are 32 bits wide, a checkpoint's 64. */
static tac_gid *widen(const tac_lid *id, size_t count)
{
    tac_gid *wide = malloc((count + 1) * sizeof *wide);
    for (size_t i = 0; i < count; i++)
        wide[i] = id[i];
    return wide;
}

static void read_stored(const struct tac_scene *scene)
{
    struct tac_ctx ctx = {.comm = MPI_COMM_SELF, .size = 1, .quiet = true};
    struct tac_scene *again = NULL;
    json_t *stored = tac_scene_stored_json(scene);
    tac_gid *triangle = widen(scene->mesh->triangle, 3 * (size_t)scene->mesh->triangle_count);
    tac_gid *segment = widen(scene->mesh->segment, 2 * (size_t)scene->mesh->segment_count);
    tac_gid *tetrahedron = widen(scene->mesh->tetrahedron, 4 * (size_t)scene->mesh->tetrahedron_count);
    const struct tac_geometry geometry = {.vertex_count = scene->mesh->vertex_count,
                                          .triangle_count = scene->mesh->triangle_count,
                                          .segment_count = scene->mesh->segment_count,
                                          .x = scene->mesh->x,
                                          .mass = scene->mesh->mass,
                                          .triangle = triangle,
                                          .segment = segment,
                                          .tetrahedron_count = scene->mesh->tetrahedron_count,
                                          .tetrahedron = tetrahedron};
    fuzz_must(stored != NULL, "a scene can be stored");
    const enum tac_err err = tac_scene_resume(&ctx, NULL, NULL, 0, stored, scene->settings->sha256, &geometry, &again);
    must_be(&ctx, err, again, scene->settings->sha256, "a stored scene is the same scene");
    json_decref(stored);
    free(triangle);
    free(segment);
    free(tetrahedron);
    tac_scene_destroy(&again);
}

void fuzz_scene_again(struct tac_scene *scene)
{
    read_resolved(scene);
    read_stored(scene);
}
