/* support.h: runs a scene in memory, row by row, without a run folder. */
#ifndef TACTUS_TESTS_ENERGY_SUPPORT_H
#define TACTUS_TESTS_ENERGY_SUPPORT_H

#include "check.h"
#include "events/sim.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct experiment {
    struct tac_ctx ctx;
    struct tac_scene *scene;
    struct tac_sim *sim;
    struct tac_energy_row start, row; /* at t = 0; the newest */
};

enum { MOST_SETTINGS = 16, SETTING_BYTES = 512 };
struct settings {
    char text[MOST_SETTINGS][SETTING_BYTES];
    int count;
};

/* Adds "path=value", printf style. */
static inline void set(struct settings *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s->text[s->count++], SETTING_BYTES, format, args);
    va_end(args);
    TAC_CHECK(s->count < MOST_SETTINGS && n < SETTING_BYTES);
}

/* Reads a scene (path within the source tree) and makes a simulation of it; a failure ends the program. */
static inline void begin(struct experiment *e, const char *file, const struct settings *s)
{
    char path[4096];
    const char *setting[MOST_SETTINGS], *root = getenv("TACTUS_SOURCE");
    memset(e, 0, sizeof *e);
    tac_ctx_init(&e->ctx, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", file);
    for (int i = 0; s && i < s->count; i++)
        setting[i] = s->text[i];
    if (tac_scene_read(&e->ctx, path, setting, s ? s->count : 0, &e->scene) ||
        tac_sim_create(&e->ctx, e->scene, e->scene->settings->discovery.mode, &e->sim) ||
        tac_sim_energy(e->sim, &e->start)) {
        printf("%s: %s\n", file, e->ctx.error);
        exit(2);
    }
    e->row = e->start;
}

/* Runs up to t_s and takes the row there; false if the run failed. */
static inline bool run_to(struct experiment *e, double t_s)
{
    tac_time t = tac_scene_quanta(e->scene, t_s);
    e->sim->books.before_at = t;
    while (e->sim->state.now < t)
        if (tac_sim_advance(e->sim, t)) {
            CHECK(false, "%s: %s", e->scene->settings->path, e->ctx.error);
            return false;
        }
    return tac_sim_energy(e->sim, &e->row) == TAC_OK;
}

static inline void end(struct experiment *e)
{
    tac_sim_destroy(&e->sim);
    tac_scene_destroy(&e->scene);
}

/* Largest size of the defect over rows every `step` up to the scene's end, in joules. */
static inline double largest_defect(struct experiment *e, double step_s)
{
    double worst = 0;
    for (int64_t k = 1; (double)k * step_s <= e->scene->settings->end_s && run_to(e, (double)k * step_s); k++)
        worst = fmax(worst, fabs(e->row.defect));
    return worst;
}

#endif
