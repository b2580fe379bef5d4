/* breakpoints.c: records breakpoints (docs/explanation/audit.md): the positions at which instants and knots rewrite a
 * vertex (tac_advance_to() and tac_scripts_apply() report these), and its positions at both ends of each frame
 * interval. Recording changes nothing in the simulation, so a record is a function of the scene and its frames, as the
 * trajectory is a function of the scene. */
#include "base/recorder.h"
#include "events/sim.h"

enum tac_err tac_sim_record(struct tac_sim *sim, struct tac_recorder *record)
{
    sim->record = record;
    if (record == NULL)
        return TAC_OK;
    return record->call->vertices(record, sim->state.owned,
                                  sim->scene->mesh->part ? sim->scene->mesh->part->vertex_id : NULL);
}

/* Did an instant or a knot at `now` rewrite the vertex? (The position of a scripted vertex may be updated without one.)
 */
static bool was_rewritten(const struct tac_sim *sim, tac_lid i)
{
    const struct tac_script *s = sim->scripts.of[i] >= 0 ? &sim->scripts.script[sim->scripts.of[i]] : NULL;
    if (s != NULL && s->next > 0 && s->t == sim->state.now)
        return true;
    return sim->state.vel[i].w != 0 && sim->state.pos[i].t == sim->state.now;
}

void tac_sim_look(struct tac_sim *sim, enum tac_look which)
{
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        double x[3];
        if (which != TAC_LOOK_ALL && was_rewritten(sim, i) != (which == TAC_LOOK_REWRITTEN))
            continue;
        tac_position(&sim->state, &sim->scripts, i, sim->state.now, x);
        tac_recorder_keep(sim->record, i, sim->state.now, x);
    }
}
