/* implicit.c: the implicit integrator (src/implicit) behind the table of integrators. */
#include "base/exchange.h"
#include "implicit/ranks/implicit_balance.h"
#include "partition/part.h"
#include "state/whole_steps.h"
#include <stdlib.h>

#define TAC_WHO "the implicit integrator"

static enum tac_err create(struct tac_ctx *ctx, struct tac_scene *scene, void **state)
{
    struct tac_implicit *sim = NULL;
    enum tac_err err = tac_steps_check_end(ctx, scene, scene->settings->implicit.step_s, TAC_WHO);
    if (!err)
        err = tac_implicit_create(ctx, scene, &sim);
    *state = sim;
    return err;
}

static void destroy(void **state)
{
    struct tac_implicit *sim = *state;
    tac_implicit_destroy(&sim);
    *state = NULL;
}

static enum tac_err advance(void *state, tac_time limit, struct tac_step *step)
{
    enum tac_err err;
    struct tac_implicit *sim = state;
    int64_t ask[2] = {step->ask_stop, step->ask_save};
    TAC_TRY(tac_steps_check_limit(sim->ctx, sim->scene, sim->scale.h, tac_implicit_step_time(sim, sim->step + 1), limit,
                                  TAC_WHO));
    TAC_TRY(tac_implicit_step(sim, limit));
    TAC_TRY(tac_agree(sim->ctx, tac_recorder_error(sim->kept.record)));
    TAC_TRY(tac_over_ranks(sim->ctx, ask, 2, MPI_INT64_T, MPI_MAX));
    step->reported_stop = (int)ask[0];
    step->reported_save = (int)ask[1];
done:
    return err;
}

static enum tac_err state_out(void *state, bool write, struct tac_checkpoint **out)
{
    return tac_implicit_state_out(state, out);
}

static enum tac_err state_in(void *state, const struct tac_checkpoint *in)
{
    return tac_implicit_state_in(state, in);
}

static enum tac_err energy(void *state, struct tac_energy_row *row)
{
    return tac_implicit_energy(state, row);
}

static enum tac_err counters(const void *state, struct tac_counters *sum)
{
    return tac_implicit_counters(state, sum);
}

static enum tac_err contacts(void *state, struct tac_contact **out, size_t *count)
{
    return tac_implicit_contacts(state, out, count);
}

static enum tac_err contact_count(void *state, int64_t *count)
{
    struct tac_energy_row row;
    const enum tac_err err = tac_implicit_energy(state, &row);
    *count = row.contacts;
    return err;
}

static void view(void *state, struct tac_state_view *out)
{
    struct tac_implicit *sim = state;
    *out = (struct tac_state_view){.now = sim->now,
                                   .owned = sim->owned,
                                   .id = sim->id,
                                   .velocity = sim->own_v,
                                   .stride = 3 * sizeof(double),
                                   .impulse = sim->impulse,
                                   .counters = &sim->books.counters};
    /* With the static scheme sim->own_v stays 0. */
    for (tac_lid i = 0; i < sim->owned && sim->own_v != sim->v && !sim->is_static; i++)
        memcpy(&sim->own_v[3 * (size_t)i], &sim->v[3 * (size_t)i], 3 * sizeof(double));
}

static void positions(const void *state, double *x)
{
    const struct tac_implicit *sim = state;
    for (tac_lid i = 0; i < sim->owned; i++)
        memcpy(&x[3 * (size_t)i], &sim->x[3 * (size_t)i], 3 * sizeof(double));
}

static size_t fill_poses(const void *state, struct tac_pose *out)
{
    return tac_rigid_fill_poses(state, out);
}

static void status(const void *state, struct tac_status *out)
{
    const struct tac_implicit *sim = state;
    out->window_s = sim->scale.h;
    out->counters = sim->books.counters;
}

static const char *discovery(const void *state)
{
    return "boxes around steps";
}

static enum tac_err hold(void *state, enum tac_err err)
{
    const struct tac_implicit *sim = state;
    return tac_agree(sim->ctx, err);
}

/* ---- steps.csv ---- */

static int64_t step_number(const void *state)
{
    return ((const struct tac_implicit *)state)->step;
}

static void step_row(const void *state, char *row, size_t size)
{
    const struct tac_implicit *sim = state;
    snprintf(row, size, "%lld,%.17g,%lld,%lld,%.17g,%.17g,%.17g,%lld,%.17g,%.17g,%.3g,%.3g,%.3g,%.3g,%.17g,%lld",
             (long long)sim->step, (double)sim->now * sim->scene->settings->quantum_s, (long long)sim->last_step.newton,
             (long long)sim->last_step.linear, sim->last_step.least_share, sim->last_step.kappa,
             sim->last_step.residual_speed, (long long)sim->last_step.contacts, sim->last_step.least_gap,
             sim->last_step.lag_residual, sim->last_step.wall_s, sim->last_step.part_s[0], sim->last_step.part_s[1],
             sim->last_step.part_s[2], sim->last_step.residual, (long long)sim->last_step.parts);
}

/* ---- records ---- */

static enum tac_err record(void *state, struct tac_recorder *log)
{
    struct tac_implicit *sim = state;
    sim->kept.record = log;
    return log != NULL ? log->call->vertices(log, sim->owned, sim->id) : TAC_OK;
}

/* A step rewrites every vertex that can move at some time. */
static void look(void *state, enum tac_look which)
{
    struct tac_implicit *sim = state;
    for (tac_lid i = 0; i < sim->owned; i++) {
        const bool rewritten = sim->now > 0 && (sim->scene->mesh->ever_free[i] || sim->scripts.script_of[i] >= 0);
        if (which == TAC_LOOK_ALL || rewritten == (which == TAC_LOOK_REWRITTEN))
            tac_recorder_keep(sim->kept.record, i, sim->now, &sim->x[3 * (size_t)i]);
    }
}

/* ---- elements ---- */

static void elements(const void *state, tac_element_visitor *visit, void *user)
{
    const struct tac_implicit *sim = state;
    for (struct tac_implicit_walk w = {0}; tac_implicit_next(sim, &w);)
        visit(user, w.list->element, w.record, tac_implicit_rest(w.list, w.e));
}

static const struct tac_integrator_record RECORD = {.begin = record, .look = look};

static const struct tac_integrator_steps STEPS = {
    .head = "step,time,newton,linear,share_min,kappa,speed,contacts,min_distance,lag_residual,seconds,"
            "seconds_candidates,seconds_forces,seconds_solver,residual,parts",
    .number = step_number,
    .row = step_row,
};

const struct tac_integrator tac_integrator_implicit = {
    .name = "implicit",
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
    .poses = fill_poses,
    .status = status,
    .discovery = discovery,
    .hold = hold,
    .elements = elements,
    .weigh = tac_implicit_weigh_vertices,
    .record = &RECORD,
    .steps = &STEPS,
    .balance = &tac_implicit_balancing,
};
