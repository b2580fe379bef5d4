/* forecast_steps.c: what a run of the implicit integrator will cost (docs/how-to/why-is-it-slow.md, Implicit steps).
 * How many Newton iterations a step takes follows from what comes to touch what, and is not known before; the numbers
 * were found in runs (jobs/experiments/implicit). */
#include "check/forecast.h"
#include <math.h>

/* Newton iterations of a step in the mean: of sheets and ropes that drape, of solids, of particles. */
static const double NEWTON_SHEET = 15, NEWTON_SOLID = 5, NEWTON_GRAIN = 3;
/* Seconds of a Newton iteration on one core, for each vertex that can move. */
static const double SHEET_S = 22e-6, SOLID_S = 12e-6;
/* Bytes: the process, what comes for each vertex that can move, and for each. */
static const double MEMORY = 30e6, MEMORY_FREE = 4500, MEMORY_VERTEX = 700;
/* What HDF5 keeps of frames that are written: for each, and at most. */
static const double MEMORY_FRAME = .2e6, MEMORY_FRAMES = 35e6;
/* Candidates and contacts: for each vertex of sheets, ropes and particles, each triangle of a solid's surface. */
static const double MEMORY_SHEET = 8000, MEMORY_SURFACE = 1500;
/* A record: what it takes to keep and to write it. */
static const double MEMORY_RECORD = 50e6;
/* Of a record: for each iterate of each vertex that can move. */
static const double ITERATE = 23;

/* Bytes of candidates and contacts; surface: triangles of solids that can move. */
static double memory_of_contact(const struct tac_scene *scene, const double count[3], double surface)
{
    return scene->settings->contact.thickness > 0 ? MEMORY_SHEET * (count[0] + count[2]) + MEMORY_SURFACE * surface : 0;
}

/* Vertices that can move: of sheets and ropes, of solids, of particles; triangles of the solids among them. */
static void count_free(const struct tac_scene *scene, double count[3], double *surface)
{
    const struct tac_local_mesh *m = scene->mesh;
    const tac_lid *tet = m->tetrahedron;
    count[0] = count[1] = count[2] = *surface = 0;
    for (tac_lid b = 0; b < scene->settings->body_count; b++) {
        const struct tac_body *body = &scene->settings->body[b];
        double *sort = &count[body->has_elements ? 0 : 2];
        for (tac_lid t = 0; t < m->tetrahedron_count; t++)
            if (m->vertex_body[tet[4 * (size_t)t]] == b) {
                sort = &count[1];
                break;
            }
        for (tac_gid v = body->vertex_begin; v < body->vertex_end; v++)
            *sort += m->ever_free[v] != 0;
        for (tac_lid t = 0; t < m->triangle_count && sort == &count[1]; t++) {
            const tac_lid v = m->triangle[3 * (size_t)t];
            *surface += m->vertex_body[v] == b && m->ever_free[v];
        }
    }
}

void tac_forecast_steps(const struct tac_scene *scene, struct tac_forecast *out)
{
    const struct tac_settings *s = scene->settings;
    double count[3], surface;
    *out = (struct tac_forecast){0};
    count_free(scene, count, &surface);
    const double all = count[0] + count[1] + count[2];
    out->steps = floor(s->end_s / s->implicit.step_s + .5);
    /* The system is one: what converges last decides. */
    out->newton = count[0] > 0 ? NEWTON_SHEET : count[1] > 0 ? NEWTON_SOLID : NEWTON_GRAIN;
    if (!(s->contact.thickness > 0))
        out->newton = NEWTON_GRAIN;
    out->wall_s = out->steps * out->newton * (SHEET_S * (count[0] + count[2]) + SOLID_S * count[1]);
    out->memory = MEMORY + fmin(MEMORY_FRAME * ceil(s->end_s / s->frame_s), MEMORY_FRAMES) + MEMORY_FREE * all +
                  MEMORY_VERTEX * scene->mesh->vertex_count + memory_of_contact(scene, count, surface);
    out->memory_record = MEMORY_RECORD;
    tac_forecast_disk(scene, out);
    out->record = ITERATE * out->steps * out->newton * all;
}
