/* impact.c: the integrator for impact (src/impact) behind the table of integrators. */
#include "impact/impact.h"
#include "base/exchange.h"
#include "integrators/integrator.h"
#include "partition/graph_rows.h"
#include "state/whole_steps.h"
#include <stdlib.h>
#include <string.h>

#define TAC_WHO "the integrator for impact"

static enum tac_err create(struct tac_ctx *ctx, struct tac_scene *scene, void **state)
{
    struct tac_impact *sim = NULL;
    enum tac_err err = tac_steps_check_end(ctx, scene, scene->settings->impact.step_s, TAC_WHO);
    if (!err)
        err = tac_impact_create(ctx, scene, &sim);
    *state = sim;
    return err;
}

static void destroy(void **state)
{
    struct tac_impact *sim = *state;
    tac_impact_destroy(&sim);
    *state = NULL;
}

static enum tac_err advance(void *state, tac_time limit, struct tac_step *step)
{
    enum tac_err err;
    struct tac_impact *sim = state;
    int64_t ask[2] = {step->ask_stop, step->ask_save};
    const double h = sim->scene->settings->impact.step_s;
    TAC_TRY(
        tac_steps_check_limit(sim->ctx, sim->scene, h, tac_scene_grid(sim->scene, h, sim->step + 1), limit, TAC_WHO));
    TAC_TRY(tac_impact_step(sim, limit));
    TAC_TRY(tac_agree(sim->ctx, tac_recorder_error(sim->record)));
    TAC_TRY(tac_over_ranks(sim->ctx, ask, 2, MPI_INT64_T, MPI_MAX));
    step->reported_stop = (int)ask[0];
    step->reported_save = (int)ask[1];
done:
    return err;
}

static enum tac_err state_out(void *state, bool write, struct tac_checkpoint **out)
{
    return tac_impact_state_out(state, out);
}

static enum tac_err state_in(void *state, const struct tac_checkpoint *in)
{
    return tac_impact_state_in(state, in);
}

static enum tac_err energy(void *state, struct tac_energy_row *row)
{
    return tac_impact_energy(state, row);
}

static enum tac_err counters(const void *state, struct tac_counters *sum)
{
    return tac_impact_counters(state, sum);
}

static enum tac_err contacts(void *state, struct tac_contact **out, size_t *count)
{
    return tac_impact_contacts(state, out, count);
}

static enum tac_err contact_count(void *state, int64_t *count)
{
    struct tac_energy_row row;
    const enum tac_err err = tac_impact_energy(state, &row);
    *count = row.contacts;
    return err;
}

static void view(void *state, struct tac_state_view *out)
{
    struct tac_impact *sim = state;
    *out = (struct tac_state_view){.now = sim->now,
                                   .owned = sim->owned,
                                   .id = sim->id,
                                   .velocity = sim->own_v,
                                   .stride = 3 * sizeof(double),
                                   .impulse = sim->impulse,
                                   .counters = &sim->books.counters};
    if (sim->own_v != sim->v && sim->owned > 0)
        memcpy(sim->own_v, sim->v, 3 * (size_t)sim->owned * sizeof *sim->v);
}

static void positions(const void *state, double *x)
{
    const struct tac_impact *sim = state;
    if (sim->owned > 0)
        memcpy(x, sim->x, 3 * (size_t)sim->owned * sizeof *x);
}

static size_t poses(const void *state, struct tac_pose *out)
{
    return tac_impact_rigid_poses(state, out);
}

static void status(const void *state, struct tac_status *out)
{
    const struct tac_impact *sim = state;
    out->window_s = sim->scene->settings->impact.step_s;
    out->counters = sim->books.counters;
}

static const char *discovery(const void *state)
{
    return "boxes around steps";
}

static enum tac_err hold(void *state, enum tac_err err)
{
    const struct tac_impact *sim = state;
    return tac_agree(sim->ctx, err);
}

/* What moves has no elements. */
static void elements(const void *state, tac_element_visitor *visit, void *user)
{
    (void)state;
    (void)visit;
    (void)user;
}

static enum tac_err weigh(void *state, struct tac_graph_rows *rows)
{
    const struct tac_impact *sim = state;
    for (tac_lid i = 0; i < sim->owned; i++) {
        const bool moves = sim->scene->mesh->ever_free[i] || sim->scripts.of[i] >= 0;
        rows->weight[i] = moves;
        if (rows->found != NULL)
            rows->found[i] = moves;
    }
    return TAC_OK;
}

/* ---- steps.csv ---- */

static int64_t step_number(const void *state)
{
    return ((const struct tac_impact *)state)->step;
}

static void step_row(const void *state, char *row, size_t size)
{
    const struct tac_impact *sim = state;
    const struct tac_instant *in = &sim->active.instant;
    snprintf(row, size, "%lld,%.17g,%lld,%lld,%lld,%zu,%lld,%lld,%lld,%lld,%.17g,%.17g,%.3g,%.3g,%.3g",
             (long long)sim->step, (double)sim->now * sim->scene->settings->quantum_s, (long long)in->reflections,
             (long long)sim->last_step.rounds, (long long)sim->last_step.rows, in->largest, (long long)in->iterations,
             (long long)sim->last_step.corrections, (long long)in->jammed, (long long)sim->last_step.halvings,
             sim->last_step.least_gap, sim->last_step.defect, sim->last_step.wall_s, sim->last_step.part_s[0],
             sim->last_step.part_s[1]);
}

/* ---- records ---- */

static enum tac_err record(void *state, struct tac_recorder *log)
{
    struct tac_impact *sim = state;
    sim->record = log;
    return log != NULL ? log->call->vertices(log, sim->owned, sim->id) : TAC_OK;
}

/* A step rewrites every vertex that can move at some time. */
static void look(void *state, enum tac_look which)
{
    struct tac_impact *sim = state;
    for (tac_lid i = 0; i < sim->owned; i++) {
        const bool rewritten = sim->now > 0 && (sim->scene->mesh->ever_free[i] || sim->scripts.of[i] >= 0);
        if (which == TAC_LOOK_ALL || rewritten == (which == TAC_LOOK_REWRITTEN))
            tac_recorder_keep(sim->record, i, sim->now, &sim->x[3 * (size_t)i]);
    }
}

static const struct tac_integrator_record RECORD = {.begin = record, .look = look};

static const struct tac_integrator_steps STEPS = {
    .head = "step,time,reflections,rounds,rows,island,iterations,corrections,jammed,halvings,min_distance,defect,"
            "seconds,seconds_candidates,seconds_operator",
    .number = step_number,
    .row = step_row,
};

const struct tac_integrator tac_integrator_impact = {
    .name = "impact",
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .state_out = state_out,
    .state_in = state_in,
    .energy = energy,
    .counters = counters,
    .contacts = contacts,
    .contact_count = contact_count,
    .view = view,
    .positions = positions,
    .poses = poses,
    .status = status,
    .discovery = discovery,
    .hold = hold,
    .elements = elements,
    .weigh = weigh,
    .record = &RECORD,
    .steps = &STEPS,
};
