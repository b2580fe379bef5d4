/* implicit_state.c: copies the state at the end of a step into a snapshot, and back, on any number of ranks. */
#include "base/exchange.h"
#include "implicit/parts.h"
#include "state/step_rows.h"
#include "state/whole_steps.h"
#include <stdlib.h>

/* ---- out ---- */

static struct tac_step_state state_of(const struct tac_implicit *sim)
{
    return (struct tac_step_state){
        .owned = sim->owned, .id = sim->id, .x = sim->x, .v = sim->v, .impulse = sim->impulse, .past = sim->past};
}

static enum tac_err collect_scripts(struct tac_implicit *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(sim->ctx, sim->scripts.script_count, sizeof *c->script, &c->script));
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        const struct tac_implicit_script *s = &sim->scripts.script[k];
        struct tac_script_state *o = &c->script[c->script_count++];
        o->vertex = tac_implicit_id(sim, s->vertex);
        o->t = sim->now;
        o->on = s->on;
        o->caught = s->caught;
        memcpy(o->origin, s->origin, sizeof o->origin);
        memcpy(o->force, s->force, sizeof o->force);
        memcpy(o->x, &sim->x[3 * (size_t)s->vertex], sizeof o->x);
        memcpy(o->v, &sim->v[3 * (size_t)s->vertex], sizeof o->v);
    }
done:
    return err;
}

static enum tac_err collect(struct tac_implicit *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_step_state state = state_of(sim);
    c->has_past = sim->past != NULL || tac_rigid_has_motors(sim);
    c->trajectory.has_script_force = 1;
    c->trajectory.level = sim->level;
    TAC_TRY(tac_step_rows_out(sim->ctx, sim->scene, sim->now, &state, c));
    if (tac_rigid_has_motors(sim) && c->vertices.past == NULL)
        TAC_TRY(
            tac_alloc(sim->ctx, TAC_PAST_NUMBERS * (size_t)sim->owned, sizeof *c->vertices.past, &c->vertices.past));
    tac_rigid_motor_rows_out(sim, c->vertices.past);
    TAC_TRY(collect_scripts(sim, c));
    TAC_TRY(tac_implicit_rests_out(sim, c));
    if (sim->rigid.count > 0)
        TAC_TRY(tac_rigid_rows_out(sim, c));
done:
    return err;
}

enum tac_err tac_implicit_state_out(struct tac_implicit *sim, struct tac_checkpoint **out)
{
    enum tac_err err;
    struct tac_checkpoint *c = NULL;
    struct tac_accum sum[TAC_LOST + 1];
    memcpy(sum, sim->books.lost, sizeof sim->books.lost);
    sum[TAC_LOST] = sim->books.work;
    *out = NULL;
    TAC_TRY(tac_alloc(sim->ctx, 1, sizeof *c, &c));
    TAC_TRY(collect(sim, c));
done:
    err = tac_agree(sim->ctx, err);
    if (!err)
        err = tac_implicit_sum(sim->ctx, sum, TAC_LOST + 1);
    if (!err) {
        c->has_losses = 1;
        memcpy(c->lost, sum, sizeof c->lost);
        c->dissipated = sum[0];
        for (int k = 1; k < TAC_LOST; k++)
            tac_accum_merge(&c->dissipated, &sum[k]);
        tac_accum_carry(&c->dissipated);
        c->work = sum[TAC_LOST];
        c->total_start = sim->books.total_start;
        tac_accum_carry(&c->total_start);
        for (int k = 0; k < 3; k++)
            tac_accum_carry(&c->couple[k]);
        c->has_start = sim->books.has_start;
        err = tac_implicit_counters(sim, &c->counters);
    }
    if (err)
        tac_checkpoint_destroy(&c);
    *out = c;
    return err;
}

/* ---- in ---- */

static enum tac_err take_scripts(struct tac_implicit *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    const struct tac_step_state state = state_of(sim);
    struct tac_script_state *mine = NULL;
    size_t total = 0;
    enum tac_err err =
        tac_distribute(sim->ctx, TAC_OK, (size_t)c->script_count, owner, c->script, sizeof *mine, &mine, &total);
    for (size_t k = 0; k < total && !err; k++) {
        const tac_lid v = tac_step_vertex(&state, mine[k].vertex);
        struct tac_implicit_script *s = v >= 0 ? tac_implicit_script(sim, v) : NULL;
        if (s == NULL) {
            err = tac_fail(sim->ctx, TAC_ERR_INPUT,
                           "the checkpoint has a motion of vertex %" TAC_PRIGID
                           " that the scene has not; go on with the scene that the checkpoint is of",
                           mine[k].vertex);
            break;
        }
        s->on = mine[k].on != 0;
        s->caught = mine[k].caught != 0;
        memcpy(s->origin, mine[k].origin, sizeof s->origin);
        memcpy(s->force, mine[k].force, sizeof s->force);
    }
    free(mine);
    tac_implicit_scripts_tell(sim);
    return tac_agree(sim->ctx, err);
}

static enum tac_err take_rests(struct tac_implicit *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    enum tac_err err = TAC_OK;
    for (int kind = 0; kind < TAC_KINDS && !err; kind++) {
        const struct tac_element_states *s = &c->element[kind];
        struct tac_element_states mine = {.nodes = s->nodes, .width = s->width};
        if (s->nodes > 0) /* on all ranks */
            err = tac_element_rows_send(sim->ctx, s, owner, &mine);
        if (!err)
            tac_implicit_rests_in(sim, kind, &mine);
        owner += (size_t)s->nodes * (size_t)s->count;
        free(mine.row);
    }
    return err;
}

/* Collective. Sends the rows of all ranks to their owners, and refreshes the ghosts. */
static enum tac_err take_rows(struct tac_implicit *sim, const struct tac_checkpoint *c)
{
    enum tac_err err;
    struct tac_step_state state = state_of(sim);
    int32_t *owner = NULL;
    double *past = NULL; /* of motors alone */
    if (state.past == NULL && tac_rigid_has_motors(sim))
        TAC_TRY(tac_agree(sim->ctx, tac_alloc(sim->ctx, TAC_PAST_NUMBERS * (size_t)sim->owned, sizeof *past, &past)));
    state.past = state.past != NULL ? state.past : past;
    TAC_TRY(tac_step_rows_owners(sim->ctx, sim->scene, &state, c, &owner));
    TAC_TRY(tac_step_rows_in(sim->ctx, &c->vertices, owner, &state));
    tac_rigid_motor_rows_in(sim, state.past);
    TAC_TRY(take_scripts(sim, c, owner + c->vertices.count));
    TAC_TRY(tac_rigid_rows_in(sim, c, owner + c->vertices.count + c->script_count));
    TAC_TRY(take_rests(sim, c, owner + c->vertices.count + c->script_count + c->rigid.count));
    TAC_TRY(tac_implicit_ghosts_refresh(sim));
    if (sim->past != NULL)
        TAC_TRY(tac_implicit_share(sim, sim->past, TAC_PAST_NUMBERS, true));
done:
    free(owner);
    free(past);
    return err;
}

enum tac_err tac_implicit_state_in(struct tac_implicit *sim, const struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_accum nothing = {{0}, 0, 0};
    const bool first = sim->ctx->rank == 0;
    if (sim->past != NULL && !c->has_past)
        TAC_TRY(tac_fail(sim->ctx, TAC_ERR_INPUT,
                         "the checkpoint does not have what integrator.scheme \"%s\" remembers of the step before; go "
                         "on with the scene that the checkpoint is of",
                         sim->scene->settings->implicit.scheme == TAC_IMPLICIT_BDF2 ? "bdf2" : "newmark"));
    sim->contact.touch_of = NULL;
    TAC_TRY(take_rows(sim, c));
    sim->now = c->now;
    sim->step = tac_steps_number(sim->scene, sim->scene->settings->implicit.step_s, c->now);
    sim->level = c->trajectory.level;
    for (int k = 0; k < TAC_LOST; k++)
        sim->books.lost[k] = first ? c->lost[k] : nothing;
    sim->books.work = first ? c->work : nothing;
    sim->books.total_start = c->total_start;
    sim->books.has_start = c->has_start != 0;
    tac_counters_restore(sim->ctx, &c->counters, &sim->books.counters);
done:
    return err;
}
