/* forecast.c: counts what follows from a scene: ticks, steps, memory without contacts, disk (forecast.h). */
#include "forecast/forecast.h"
#include <math.h>

/* Bytes by measurement (docs/how-to/why-is-it-slow.md): the process; each vertex, and where there is contact its boxes
 * and bounds; each elastic element. */
static const double MEMORY_PROCESS = 33e6, MEMORY_VERTEX = 700, MEMORY_TOUCHING = 800, MEMORY_ELEMENT = 120;
/* The same of the implicit integrator, for each vertex that can move. */
static const double MEMORY_FREE = 4500;
/* What HDF5 keeps of each frame that it has written, and at most. */
static const double MEMORY_FRAME = .1e6, MEMORY_FRAMES = 40e6;
/* Bytes on the disk: positions and velocities of eight bytes, forces of four; what HDF5 needs beside them; a row; and
 * what frames.h5 has once: its mesh, by vertex and by node of an element. */
static const double FRAME_VERTEX = 60, FRAME = 12e3, ROW = 420, FRAMES_FILE = 12e3, MESH_VERTEX = 12, MESH_NODE = 8;
static const double CHECKPOINT = 50e3, CHECKPOINT_VERTEX = 110;

void tac_forecast_ticks(const struct tac_elastic *elastic, double end_s, struct tac_forecast *out)
{
    out->elastic = out->other = out->vertex = 0;
    for (size_t c = 0; c < elastic->class_count; c++) {
        const struct tac_rate_class *rate = &elastic->rate[c];
        out->vertex += (double)rate->vertex_count * end_s / rate->h_s;
        for (int k = TAC_KIND_GRAVITY; k < TAC_KINDS; k++) {
            const double ticks = (double)tac_class_count(rate, k) * end_s / rate->h_s;
            const bool element = (k >= TAC_KIND_SPRING && k <= TAC_KIND_HINGE) || k >= TAC_KIND_ADDED;
            *(element ? &out->elastic : &out->other) += ticks;
        }
    }
}

static double count_elements(const struct tac_elastic *elastic)
{
    double elements = 0;
    for (size_t c = 0; c < elastic->class_count; c++)
        for (int g = 0; g < elastic->rate[c].group_count; g++)
            elements += (double)elastic->rate[c].group[g].elastic.count;
    return elements;
}

void tac_forecast_make(const struct tac_scene *scene, const struct tac_elastic *elastic, struct tac_forecast *out)
{
    const struct tac_settings *s = scene->settings;
    const struct tac_checkpoint_settings *c = &s->checkpoint;
    const double vertices = scene->mesh->vertex_count;
    *out = (struct tac_forecast){.frame_count = 1 + ceil(s->end_s / s->frame_s)};
    for (tac_lid i = 0; i < scene->mesh->vertex_count; i++)
        out->free += scene->mesh->ever_free[i] != 0;
    out->output_memory = fmin(MEMORY_FRAMES, MEMORY_FRAME * (out->frame_count - 1));
    out->memory = MEMORY_PROCESS + out->output_memory + MEMORY_VERTEX * vertices;
    if (elastic != NULL) {
        tac_forecast_ticks(elastic, s->end_s, out);
        out->memory +=
            MEMORY_ELEMENT * count_elements(elastic) + (s->contact.thickness > 0 ? MEMORY_TOUCHING * vertices : 0);
        out->record = TAC_FORECAST_BREAKPOINT * out->vertex;
    } else {
        out->steps =
            floor(s->end_s / (s->integrator == TAC_INTEGRATOR_IMPACT ? s->impact.step_s : s->implicit.step_s) + .5);
        out->memory += MEMORY_FREE * out->free;
    }
    out->frames_packed = out->frame_count * FRAME_VERTEX * vertices;
    out->frames = out->frames_packed + out->frame_count * (FRAME + ROW) + FRAMES_FILE + MESH_VERTEX * vertices +
                  MESH_NODE * (3. * scene->mesh->triangle_count + 2. * scene->mesh->segment_count);
    out->checkpoint = CHECKPOINT + CHECKPOINT_VERTEX * vertices;
    out->checkpoints = c->keep;
}

struct tac_amount tac_show_seconds(double s)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}};
    struct tac_amount out;
    for (size_t k = 0; k < sizeof units / sizeof units[0]; k++)
        if (s >= 2 * units[k].unit) {
            const double n = s / units[k].unit;
            snprintf(out.text, sizeof out.text, "%.*f %s", n < 10, n, units[k].name);
            return out;
        }
    snprintf(out.text, sizeof out.text, s < 10 ? "%.2g s" : "%.0f s", s);
    return out;
}

struct tac_amount tac_show_bytes(double bytes)
{
    static const char *const name[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    struct tac_amount out;
    int k = 0;
    for (; bytes >= 1000 && k < 5; k++)
        bytes /= 1000;
    snprintf(out.text, sizeof out.text, "%.3g %s", bytes, name[k]);
    return out;
}
