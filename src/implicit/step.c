/* step.c: one step of time: Newton's method on the incremental potential, from one state without contact to the next
 * (docs/implicit.md, One step). */
#include "implicit/parts.h"
#include "partition/part.h"
#include <math.h>
#include <stdlib.h>

tac_time tac_implicit_step_time(const struct tac_implicit *sim, int64_t k)
{
    return tac_scene_grid(sim->scene, sim->scale.h, k);
}

/* ---- the step's start ---- */

static void begin_held(struct tac_implicit *sim)
{
    for (tac_lid v = 0; v < sim->count; v++)
        sim->newton.held[v] = !sim->scene->mesh->ever_free[v] && sim->scripts.script_of[v] < 0;
}

static enum tac_err begin(struct tac_implicit *sim)
{
    enum tac_err err;
    memset(&sim->told, 0, sizeof sim->told);
    sim->told.least_share = 1;
    sim->kept.iterates = 0;
    sim->contact.sliding_count = 0;
    sim->contact.foreseen_count = 0;
    sim->newton.pull = 0;
    memcpy(sim->newton.x0, sim->x, 3 * (size_t)sim->count * sizeof *sim->x);
    tac_implicit_scripts_begin(sim, tac_implicit_step_time(sim, sim->step), tac_implicit_step_time(sim, sim->step + 1));
    begin_held(sim);
    tac_implicit_begin_scheme(sim);
    if (sim->step == 0)
        tac_implicit_scripts_push(sim);
    TAC_TRY(tac_implicit_start_scheme(sim));
    tac_implicit_predict(sim, true);
    tac_implicit_begin_wind(sim);
    tac_implicit_begin_dampers(sim);
    memset(sim->newton.p, 0, 3 * (size_t)sim->count * sizeof *sim->newton.p);
    TAC_TRY(tac_implicit_find(sim, sim->x, sim->newton.p, 1));
    tac_implicit_weigh_all(sim);
    TAC_TRY(tac_agree(sim->ctx, tac_implicit_touch(sim, sim->x)));
    TAC_TRY(tac_implicit_begin_stiffness(sim, sim->x, &sim->newton.kappa));
    TAC_TRY(tac_agree(sim->ctx, tac_implicit_lag(sim, sim->x)));
    TAC_TRY(tac_implicit_begin_system(sim));
done:
    return err;
}
/* ---- the step's end ---- */

/* Every accepted iterate at an instant of its own, evenly spaced. */
static void tell_record(struct tac_implicit *sim, tac_time to)
{
    for (size_t n = 0; n < sim->kept.iterates; n++) {
        const tac_time t =
            sim->now + (tac_time)((double)(to - sim->now) * ((double)(n + 1) / (double)sim->kept.iterates));
        for (tac_lid i = 0; i < sim->owned; i++) {
            const tac_lid v = tac_implicit_vertex(sim, i);
            if (sim->scene->mesh->ever_free[v] || sim->scripts.script_of[v] >= 0)
                tac_recorder_keep(sim->kept.record, i, n + 1 == sim->kept.iterates ? to : t,
                                  &sim->kept.iterate[3 * (n * (size_t)sim->owned + (size_t)i)]);
        }
    }
}

/* The state as it was when the step began. */
static void take_back(struct tac_implicit *sim)
{
    memcpy(sim->x, sim->newton.x0, 3 * (size_t)sim->count * sizeof *sim->x);
    sim->contact.touch_of = NULL;
}

/* Of any rank alike: without it friction's forces need not be taken anew. */
static bool any_friction(const struct tac_implicit *sim)
{
    const struct tac_contact_settings *c = &sim->scene->settings->contact;
    bool any = false;
    for (tac_lid i = 0; i < c->law_count; i++)
        any = any || c->law[i].friction > 0;
    return any;
}

/* Wall time so far of the parts that steps.csv tells. */
static void parts_so_far(const struct tac_implicit *sim, double s[3])
{
    const struct tac_counters *c = &sim->books.counters;
    s[0] = c->seconds_discovery;
    s[1] = c->seconds_forces;
    s[2] = c->seconds_contact; /* of an implicit integrator: the linear solver's */
}

enum tac_err tac_implicit_step(struct tac_implicit *sim, tac_time limit)
{
    enum tac_err err;
    bool there;
    const double begin_s = tac_wall_s();
    double before_s[3], after_s[3];
    parts_so_far(sim, before_s);
    tac_time to = tac_implicit_step_time(sim, sim->step + 1);
    if (to > limit - TAC_FRAME_GRAIN) /* an end beside the grid */
        to = limit;
    TAC_TRY(begin(sim));
    TAC_TRY(tac_implicit_move_all(sim, &there));
    const int64_t lags = sim->scene->settings->implicit.lags;
    bool settled = false;
    for (int64_t lag = 0; lags > 0 ? lag < lags : !settled; lag++) {
        if (lag > 0)
            TAC_TRY(tac_agree(sim->ctx, tac_implicit_lag(sim, sim->x)));
        TAC_TRY(tac_implicit_minimise(sim, &there));
        settled = !any_friction(sim) || (lag > 0 && sim->newton.rests);
    }
    TAC_TRY(tac_implicit_enter_step(sim));
    if (any_friction(sim))
        TAC_TRY(tac_implicit_lag_residual(sim, &sim->told.lag_residual));
    tac_implicit_flow(sim);
    tac_implicit_end_scheme(sim);
    if (sim->kept.record != NULL)
        tell_record(sim, to);
    sim->step++;
    sim->now = to;
    sim->books.counters.windows++;
    sim->told.wall_s = tac_wall_s() - begin_s;
    parts_so_far(sim, after_s);
    for (int k = 0; k < 3; k++)
        sim->told.part_s[k] = after_s[k] - before_s[k];
done:
    if (err)
        take_back(sim);
    return err;
}
