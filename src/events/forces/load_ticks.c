/* load_ticks.c: ticks loads, which give the last kicks of an instant, and books their works as energy that the scene
 * puts in (docs/explanation/method.md, Energy and the book; docs/reference/engine.md, Loads). */
#include "events/rigid/rigid_motion.h"
#include "events/sim.h"
#include <string.h>

static bool has_loads(const struct tac_scene *scene)
{
    return scene->settings->load_count > 0;
}

static struct tac_rate_class *due_class(const struct tac_sim *sim, size_t i)
{
    return &sim->elastic->rate[sim->clocks.due_elastic[i]];
}

void tac_loads_before(struct tac_sim *sim)
{
    for (size_t i = 0; has_loads(sim->scene) && i < sim->clocks.due_elastic_count; i++) {
        struct tac_rate_class *rate = due_class(sim, i);
        for (size_t k = 0; k < rate->pushed_count; k++)
            memcpy(&rate->push[6 * k + 3], sim->state.vel[rate->pushed[k]].v, 3 * sizeof(double));
    }
}

/* Adds up the impulses of a class in the order of its elements. */
static void add_impulses(struct tac_sim *sim, struct tac_rate_class *rate, tac_time t)
{
    tac_lid load = -1;
    double mean = 1;
    for (size_t k = 0; k < rate->pushed_count; k++)
        memset(&rate->push[6 * k], 0, 3 * sizeof(double));
    for (size_t i = 0; i < rate->load_count; i++) {
        struct tac_load_element *e = &rate->load[i];
        double x[3][3], j[3][3], centre[3] = {0, 0, 0};
        if (e->load != load) {
            load = e->load;
            mean = tac_load_mean(sim->scene, &sim->elastic->times, load, t, rate->period);
        }
        for (int k = 0; k < e->count; k++)
            tac_position(&sim->state, &sim->scripts, e->v[k], t, x[k]); /* that of a rigid body was not rewritten */
        tac_load_impulse(sim->scene, e, (const double(*)[3])x, rate->h_s, mean, j, centre);
        memcpy(e->centre, centre, sizeof centre);
        for (int k = 0; k < e->count; k++)
            for (int c = 0; c < 3 && e->slot[k] >= 0; c++)
                rate->push[6 * (size_t)e->slot[k] + (size_t)c] += j[k][c];
    }
}

static void kick_loaded(struct tac_sim *sim, const struct tac_rate_class *rate, tac_time t)
{
    double work = 0, absolute = 0;
    for (size_t k = 0; k < rate->pushed_count; k++) {
        const double *j = &rate->push[6 * k], w = sim->state.vel[rate->pushed[k]].w;
        double *v = sim->state.vel[rate->pushed[k]].v;
        if (w == 0)
            continue; /* scripted now: nothing is done to it, and nothing entered */
        if (w < 0) {  /* it moves with its rigid body */
            const double done = tac_rigid_kick(sim, rate->pushed[k], t, j);
            work += done;
            absolute += fabs(done);
            continue;
        }
        const double done = tac_dot(j, v) + .5 * w * tac_dot(j, j);
        work += done;
        absolute += fabs(done);
        for (int c = 0; c < 3; c++)
            v[c] += w * j[c];
    }
    sim->books.book.work += work;
    sim->books.book.absolute += absolute;
}

/* Books the work at each vertex: its impulse times its mean velocity over all kicks of the instant. The owner of the
 * vertex books it. */
static void enter_works(struct tac_sim *sim, const struct tac_rate_class *rate, tac_time t)
{
    for (size_t k = 0; k < rate->pushed_count; k++) {
        const double *j = &rate->push[6 * k], *before = j + 3, *after = sim->state.vel[rate->pushed[k]].v;
        if (sim->state.vel[rate->pushed[k]].w == 0)
            continue;
        const double mean[3] = {.5 * (before[0] + after[0]), .5 * (before[1] + after[1]), .5 * (before[2] + after[2])};
        const double work = tac_dot(j, mean);
        tac_accum_add(&sim->books.work, work);
        if (t == sim->books.kept_at)
            tac_accum_add(&sim->books.work_ahead, .5 * work);
    }
}

void tac_loads_tick(struct tac_sim *sim, tac_time t)
{
    if (!has_loads(sim->scene))
        return;
    for (size_t i = 0; i < sim->clocks.due_elastic_count; i++) {
        struct tac_rate_class *rate = due_class(sim, i);
        if (rate->load_count == 0)
            continue;
        add_impulses(sim, rate, t);
        kick_loaded(sim, rate, t);
        sim->books.ticks[TAC_KIND_LOAD] += (int64_t)rate->load_mine;
    }
}

void tac_loads_end(struct tac_sim *sim, tac_time t)
{
    for (size_t i = 0; has_loads(sim->scene) && i < sim->clocks.due_elastic_count; i++)
        if (due_class(sim, i)->pushed_count)
            enter_works(sim, due_class(sim, i), t);
}

void tac_loads_begin(const struct tac_scene *scene, struct tac_elastic *elastic)
{
    for (size_t c = 0; has_loads(scene) && c < elastic->class_count; c++) {
        struct tac_rate_class *rate = &elastic->rate[c];
        for (size_t i = 0; i < rate->load_count; i++)
            memcpy(rate->load[i].centre_start, rate->load[i].centre, sizeof rate->load[i].centre);
    }
}

void tac_loads_restore(const struct tac_scene *scene, struct tac_elastic *elastic)
{
    for (size_t c = 0; has_loads(scene) && c < elastic->class_count; c++) {
        struct tac_rate_class *rate = &elastic->rate[c];
        for (size_t i = 0; i < rate->load_count; i++)
            memcpy(rate->load[i].centre, rate->load[i].centre_start, sizeof rate->load[i].centre);
    }
}

void tac_loads_share_wind(const struct tac_scene *scene, struct tac_elastic *elastic)
{
    for (size_t c = 0; has_loads(scene) && c < elastic->class_count; c++) {
        struct tac_load_element *e = elastic->rate[c].load;
        for (size_t i = 0; i < elastic->rate[c].load_count; i++)
            if (e[i].first_wind >= 0)
                memcpy(e[i].centre, e[e[i].first_wind].centre, sizeof e[i].centre);
    }
}
