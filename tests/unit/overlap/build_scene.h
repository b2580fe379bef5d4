/* build_scene.h: scenes made in memory, body by body, as far as the search for overlaps reads them. */
#ifndef TACTUS_TESTS_BUILD_SCENE_H
#define TACTUS_TESTS_BUILD_SCENE_H

#include <stdlib.h>
#include <string.h>
#include <tactus/mesh.h>
#include <tactus/scene.h>

enum { BUILD_MOST = 1 << 16 };

static struct tac_scene *build_scene(void)
{
    struct tac_scene *scene = calloc(1, sizeof *scene);
    scene->settings = calloc(1, sizeof *scene->settings);
    scene->mesh = calloc(1, sizeof *scene->mesh);
    scene->settings->contact.thickness = 0.01;
    scene->settings->body = calloc(BUILD_MOST, sizeof *scene->settings->body);
    scene->mesh->x = calloc(3 * BUILD_MOST, sizeof *scene->mesh->x);
    scene->mesh->ever_free = calloc(BUILD_MOST, 1);
    scene->mesh->vertex_body = calloc(BUILD_MOST, sizeof *scene->mesh->vertex_body);
    scene->mesh->triangle = calloc(3 * BUILD_MOST, sizeof *scene->mesh->triangle);
    scene->mesh->segment = calloc(2 * BUILD_MOST, sizeof *scene->mesh->segment);
    scene->settings->contact.ignore = calloc(2 * 64, sizeof *scene->settings->contact.ignore);
    return scene;
}

/* Adds a body; triangles and segments index its own vertices. Placed at x + shift. */
static struct tac_body *build_body(struct tac_scene *scene, const char *name, bool is_free, double radius,
                                   const double *shift, const double (*x)[3], tac_lid vertices,
                                   const tac_lid (*triangle)[3], tac_lid triangles, const tac_lid (*segment)[2],
                                   tac_lid segments)
{
    struct tac_body *body = &scene->settings->body[scene->settings->body_count];
    tac_lid base = scene->mesh->vertex_count;
    *body = (struct tac_body){.name = strdup(name), .material = -1, .radius = radius, .scale = 1, .fixed = !is_free};
    body->self_contact = true;
    body->has_elements = triangles + segments > 0;
    body->vertex_begin = base;
    body->triangle_begin = scene->mesh->triangle_count;
    body->segment_begin = scene->mesh->segment_count;
    for (tac_lid i = 0; i < vertices; i++) {
        for (int k = 0; k < 3; k++)
            scene->mesh->x[3 * (base + i) + k] = x[i][k] + (shift ? shift[k] : 0);
        scene->mesh->ever_free[base + i] = is_free;
        scene->mesh->vertex_body[base + i] = scene->settings->body_count;
    }
    for (tac_lid i = 0; i < 3 * triangles; i++)
        scene->mesh->triangle[3 * scene->mesh->triangle_count + i] = base + triangle[i / 3][i % 3];
    for (tac_lid i = 0; i < 2 * segments; i++)
        scene->mesh->segment[2 * scene->mesh->segment_count + i] = base + segment[i / 2][i % 2];
    scene->mesh->vertex_count = body->vertex_end = base + vertices;
    scene->mesh->triangle_count = body->triangle_end = scene->mesh->triangle_count + triangles;
    scene->mesh->segment_count = body->segment_end = scene->mesh->segment_count + segments;
    scene->settings->body_count++;
    return body;
}

static void build_finish(struct tac_ctx *ctx, struct tac_scene *scene)
{
    tac_topology_destroy(&scene->mesh->topology);
    if (tac_topology_create(ctx, scene->mesh->vertex_count, scene->mesh->triangle_count, scene->mesh->triangle,
                            scene->mesh->segment_count, scene->mesh->segment, &scene->mesh->topology) != TAC_OK) {
        printf("no topology: %s\n", ctx->error);
        exit(1);
    }
    scene->settings->two_d = scene->mesh->triangle_count == 0;
    for (tac_lid i = 0; i < scene->mesh->vertex_count; i++)
        scene->settings->two_d = scene->settings->two_d && scene->mesh->x[3 * i + 2] == 0.0;
}

static void build_destroy(struct tac_scene **scene)
{
    tac_topology_destroy(&(*scene)->mesh->topology);
    for (tac_lid i = 0; i < (*scene)->settings->body_count; i++)
        free((*scene)->settings->body[i].name);
    free((*scene)->settings->body);
    free((*scene)->mesh->x);
    free((*scene)->mesh->ever_free);
    free((*scene)->mesh->vertex_body);
    free((*scene)->mesh->triangle);
    free((*scene)->mesh->segment);
    free((*scene)->settings->contact.ignore);
    free((*scene)->settings);
    free((*scene)->mesh);
    free(*scene);
    *scene = NULL;
}

/* Shapes of unit size. */
static const double tetrahedron_x[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const tac_lid tetrahedron_t[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
static const double cube_x[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                    {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
static const tac_lid cube_t[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                      {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

#endif
