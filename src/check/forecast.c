/* forecast.c: forecasts ticks, wall time, memory and disk of a run (forecast.h). */
#include "check/forecast.h"
#include <math.h>

/* Bytes, by runs of many sizes (jobs/experiments/speed/forecast.py): the process, and what comes for each; a pair is a
 * layer group that ticks, with those beside it that are watched in vain; a near one is a candidate, and watched at
 * times. */
static const double MEMORY_PROCESS = 33e6, MEMORY_VERTEX = 700, MEMORY_ELEMENT = 120, MEMORY_PAIR = 5000,
                    MEMORY_NEAR = 1200;
/* Trees and bounds of a vertex that may touch something. */
static const double MEMORY_TOUCHING = 800;
/* What HDF5 keeps of each frame, and at most. */
static const double MEMORY_FRAME = .1e6, MEMORY_FRAMES = 40e6;
/* Bytes on the disk: frames have positions and velocities of eight bytes, forces of four; deflated they keep this part.
 * Checkpoints are not deflated. */
static const double FRAME = 12e3, FRAME_VERTEX = 60, DEFLATED = .75, CHECKPOINT = 50e3, CHECKPOINT_VERTEX = 110,
                    CHECKPOINT_PAIR = 60;
static const double ROW = 420, BREAKPOINT = 10;

/* How often the vertices are rewritten: at the ticks of their fastest force. */
static double instants(const struct tac_elastic *elastic)
{
    double sum = 0;
    for (size_t c = 0; c < elastic->class_count; c++)
        sum += (double)elastic->rate[c].vertex_count / elastic->rate[c].h_s;
    return sum;
}

static void count_ticks(const struct tac_elastic *elastic, double end_s, struct tac_forecast *out)
{
    for (size_t c = 0; c < elastic->class_count; c++) {
        const struct tac_rate_class *rate = &elastic->rate[c];
        for (int k = TAC_KIND_GRAVITY; k < TAC_KINDS; k++) {
            const double ticks = (double)tac_class_count(rate, k) * end_s / rate->h_s;
            const bool element = (k >= TAC_KIND_SPRING && k <= TAC_KIND_HINGE) || k >= TAC_KIND_ADDED;
            *(element ? &out->elastic : &out->other) += ticks;
        }
    }
}

void tac_forecast_disk(const struct tac_scene *scene, struct tac_forecast *out)
{
    const double end = scene->settings->end_s, vertices = scene->mesh->vertex_count;
    const double frames = 1 + ceil(end / scene->settings->frame_s);
    const struct tac_checkpoint_settings *c = &scene->settings->checkpoint;
    double kept = 1 + (c->every_t > 0 ? end / c->every_t : 0) + out->wall_s / c->every_s;
    kept = fmin(floor(kept), c->keep);
    out->frames = frames * (FRAME + DEFLATED * FRAME_VERTEX * vertices + ROW);
    out->checkpoints = kept * (CHECKPOINT + CHECKPOINT_VERTEX * vertices + CHECKPOINT_PAIR * out->pairs);
}

enum tac_err tac_forecast_make(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                               const struct tac_speed *speed, struct tac_forecast *out)
{
    enum tac_err err;
    struct tac_model *model = NULL;
    *out = (struct tac_forecast){0};
    TAC_TRY(tac_model_create(ctx, scene, &model));
    const double end = scene->settings->end_s, vertices = scene->mesh->vertex_count;
    count_ticks(elastic, end, out);
    out->vertex = instants(elastic) * end;
    TAC_TRY(tac_forecast_contact(ctx, scene, elastic, model, out));
    out->wall_s = 1e-9 * (speed->elastic_ns * (out->elastic + out->other) + speed->contact_ns * out->contact);
    double elements = 0;
    for (size_t c = 0; c < elastic->class_count; c++)
        for (int g = 0; g < elastic->rate[c].group_count; g++)
            elements += (double)elastic->rate[c].group[g].elastic.count;
    out->memory = MEMORY_PROCESS + fmin(MEMORY_FRAMES, MEMORY_FRAME * ceil(end / scene->settings->frame_s)) +
                  MEMORY_VERTEX * vertices + MEMORY_ELEMENT * elements + MEMORY_PAIR * out->pairs +
                  MEMORY_NEAR * out->near + (scene->settings->contact.thickness > 0 ? MEMORY_TOUCHING * vertices : 0);
    tac_forecast_disk(scene, out);
    out->record = BREAKPOINT * (out->vertex + out->contact);
done:
    tac_model_destroy(&model);
    return err;
}
