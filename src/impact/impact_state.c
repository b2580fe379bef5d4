/* impact_state.c: copies the state at the end of a step into a snapshot, and back, on any number of ranks. */
#include "base/exchange.h"
#include "impact/impact.h"
#include "state/step_rows.h"
#include "state/whole_steps.h"
#include <stdlib.h>
#include <string.h>

/* ---- out ---- */

static struct tac_step_state state_of(const struct tac_impact *sim)
{
    return (struct tac_step_state){
        .owned = sim->owned, .id = sim->id, .x = sim->x, .v = sim->v, .impulse = sim->impulse};
}

static enum tac_err collect_scripts(struct tac_impact *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(sim->ctx, sim->scripts.count, sizeof *c->script, &c->script));
    for (size_t k = 0; k < sim->scripts.count; k++) {
        const struct tac_impact_script *s = &sim->scripts.script[k];
        struct tac_script_state *o = &c->script[c->script_count++];
        o->vertex = tac_scene_id(sim->scene, s->vertex);
        o->t = sim->now;
        o->on = s->on;
        o->caught = s->caught;
        memcpy(o->origin, s->origin, sizeof o->origin);
        memcpy(o->x, &sim->x[3 * (size_t)s->vertex], sizeof o->x);
        memcpy(o->v, &sim->v[3 * (size_t)s->vertex], sizeof o->v);
    }
done:
    return err;
}

static enum tac_err collect(struct tac_impact *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_step_state state = state_of(sim);
    TAC_TRY(tac_step_rows_out(sim->ctx, sim->scene, sim->now, &state, c));
    TAC_TRY(collect_scripts(sim, c));
    TAC_TRY(tac_impact_rigid_rows_out(sim, c));
done:
    return err;
}

enum tac_err tac_impact_state_out(struct tac_impact *sim, struct tac_checkpoint **out)
{
    enum tac_err err;
    struct tac_checkpoint *c = NULL;
    struct tac_accum sum[3] = {sim->books.lost, sim->books.friction, sim->books.work};
    err = tac_alloc(sim->ctx, 1, sizeof *c, &c);
    err = err ? err : collect(sim, c);
    TAC_TRY(tac_agree(sim->ctx, err));
    TAC_TRY(tac_sum_all(sim->ctx, sum, 3));
    c->has_losses = 1;
    c->dissipated = sum[0];
    c->lost[0] = sum[1];
    c->work = sum[2];
    c->total_start = sim->books.total_start;
    tac_accum_carry(&c->total_start);
    for (int k = 1; k < 3; k++)
        tac_accum_carry(&c->lost[k]);
    for (int k = 0; k < 3; k++)
        tac_accum_carry(&c->couple[k]);
    c->has_start = sim->books.has_start;
    TAC_TRY(tac_impact_counters(sim, &c->counters));
done:
    if (err)
        tac_checkpoint_destroy(&c);
    *out = c;
    return err;
}

/* ---- in ---- */

static enum tac_err take_scripts(struct tac_impact *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    const struct tac_step_state state = state_of(sim);
    struct tac_script_state *mine = NULL;
    size_t total = 0;
    enum tac_err err =
        tac_distribute(sim->ctx, TAC_OK, (size_t)c->script_count, owner, c->script, sizeof *mine, &mine, &total);
    for (size_t k = 0; k < total && !err; k++) {
        const tac_lid v = tac_step_vertex(&state, mine[k].vertex);
        struct tac_impact_script *s =
            v >= 0 && sim->scripts.of[v] >= 0 ? &sim->scripts.script[sim->scripts.of[v]] : NULL;
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
    }
    free(mine);
    tac_impact_scripts_tell(sim);
    return tac_agree(sim->ctx, err);
}

enum tac_err tac_impact_state_in(struct tac_impact *sim, const struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_accum nothing = {{0}, 0, 0};
    const bool first = sim->ctx->rank == 0;
    const struct tac_step_state state = state_of(sim);
    int32_t *owner = NULL;
    TAC_TRY(tac_step_rows_owners(sim->ctx, sim->scene, &state, c, &owner));
    TAC_TRY(tac_step_rows_in(sim->ctx, &c->vertices, owner, &state));
    TAC_TRY(take_scripts(sim, c, owner + c->vertices.count));
    TAC_TRY(tac_impact_rigid_rows_in(sim, c, owner + c->vertices.count + c->script_count));
    TAC_TRY(tac_impact_ghosts_refresh(sim));
    sim->now = c->now;
    sim->step = tac_steps_number(sim->scene, sim->scene->settings->impact.step_s, c->now);
    sim->books.lost = first ? c->dissipated : nothing;
    sim->books.friction = first ? c->lost[0] : nothing;
    sim->books.work = first ? c->work : nothing;
    sim->books.total_start = c->total_start;
    sim->books.has_start = c->has_start != 0;
    tac_counters_restore(sim->ctx, &c->counters, &sim->books.counters);
done:
    free(owner);
    return err;
}
