/* calibrate.c: measures how fast this machine is with a scene's own forces (forecast.h).
 *
 * The kernels are the engine's: all elastic elements of the scene tick, again and again, at their start positions; then
 * distances of pairs from all over its meshes are computed.  So caches work as in a run.  What a run does around its
 * kernels (windows, discovery, the book) is in the usual speed, which is scaled by what was measured: it was found
 * together with the times of the same kernels (USUAL_...).  Always the same work; the processor's time counts, so that
 * other work on the machine does little. */
#include "check/forecast.h"
#include "geometry/closest_points.h"
#include <stdlib.h>
#include <time.h>

/* The kernels' times on the machine that tac_speed_usual() is of, ns. */
static const double USUAL_ELASTIC_NS = 9.8, USUAL_DISTANCE_NS = 19;
/* Ticks and distances that are computed at least. */
static const double ELASTIC = 12e6, DISTANCES = 4e6;

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns ns per tick; 0: there are no elastic forces. */
static double time_elastic(const struct tac_elastic *elastic, const struct tac_pos *pos, struct tac_vel *vel)
{
    double each = 0, ticks = 0;
    struct tac_book book = {0};
    for (size_t c = 0; c < elastic->class_count; c++)
        for (int g = 0; g < elastic->rate[c].group_count; g++)
            each += (double)elastic->rate[c].group[g].elastic.count;
    const double start = cpu_s();
    while (each > 0 && ticks < ELASTIC) {
        for (size_t c = 0; c < elastic->class_count; c++)
            for (int g = 0; g < elastic->rate[c].group_count; g++)
                tac_group_tick(&elastic->rate[c].group[g], elastic->rate[c].h_s, pos, vel, &book, NULL);
        ticks += each;
    }
    return ticks > 0 ? 1e9 * (cpu_s() - start) / ticks : 0;
}

/* Returns ns per distance; 0: there are no two vertices. */
static double time_distances(const struct tac_scene *scene, double *sum)
{
    const struct tac_local_mesh *mesh = scene->mesh;
    const size_t triangles = (size_t)mesh->triangle_count, vertices = (size_t)mesh->vertex_count;
    size_t i = 0, j = vertices / 2; /* the other partner lies elsewhere in memory */
    if (vertices < 2)
        return 0;
    const double start = cpu_s();
    for (double n = 0; n < DISTANCES; n++) {
        double x[4][3] = {{0}};
        struct tac_near near;
        tac_lid v[4] = {(tac_lid)(i % vertices), (tac_lid)(j % vertices), -1, -1};
        if (triangles > 0)
            for (int k = 0; k < 3; k++)
                v[1 + k] = mesh->triangle[3 * (j % triangles) + (size_t)k];
        for (int k = 0; k < (triangles > 0 ? 4 : 2); k++)
            for (int d = 0; d < 3; d++)
                x[k][d] = mesh->x[3 * (size_t)v[k] + (size_t)d] + (k == 0 ? 1e-3 : 0);
        tac_near_pair(triangles > 0 ? TAC_PAIR_VERTEX_TRIANGLE : TAC_PAIR_VERTEX_VERTEX, x, &near);
        *sum += near.d;
        i++;
        j++;
    }
    return 1e9 * (cpu_s() - start) / DISTANCES;
}

enum tac_err tac_forecast_calibrate(struct tac_ctx *ctx, const struct tac_scene *scene,
                                    const struct tac_elastic *elastic, struct tac_speed *speed)
{
    enum tac_err err;
    struct tac_pos *pos = NULL;
    struct tac_vel *vel = NULL;
    const size_t n = (size_t)scene->mesh->vertex_count;
    struct tac_speed s = tac_speed_usual();
    double sum = 0;
    TAC_TRY(tac_alloc(ctx, n, sizeof *pos, &pos));
    TAC_TRY(tac_alloc(ctx, n, sizeof *vel, &vel));
    for (size_t i = 0; i < n; i++) {
        /* A little off the rest shape, so that no force is 0. */
        for (size_t k = 0; k < 3; k++)
            pos[i].x[k] = scene->mesh->x[3 * i + k] * (1 + 1e-3 * (double)((i + k) % 5));
        vel[i].w = scene->mesh->ever_free[i] ? 1 / scene->mesh->mass[i] : 0;
    }
    const double elastic_ns = time_elastic(elastic, pos, vel), distance_ns = time_distances(scene, &sum);
    if (elastic_ns > 0)
        s.elastic_ns *= elastic_ns / USUAL_ELASTIC_NS;
    if (distance_ns > 0 && sum > 0) /* nothing is left out that nobody reads */
        s.contact_ns *= distance_ns / USUAL_DISTANCE_NS;
    s.measured = true;
    *speed = s;
done:
    free(pos);
    free(vel);
    return err;
}
