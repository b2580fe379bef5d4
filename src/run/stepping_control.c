/* stepping_control.c: changes the scene between two steps, for the caller of the API or for a branch of a run.
 *
 * The state is taken out as for a checkpoint, the scene is changed, and the state is put into a new simulation of the
 * changed scene on the same ranks. So everything that follows from the changed values (periods, laws, knots) is
 * computed as for a scene that had them from the start, and a restart from a later checkpoint gives the same
 * trajectory. */
#include "io/checkpoint/checkpoint.h"
#include "run/simulation.h"
#include "scene/change.h"
#include <stdlib.h>
#include <string.h>

/* Puts the state into a new simulation of the scene as it is now. motion (motions): those that have other knots. */
static enum tac_err enter_scene(struct tac_simulation *sim, const struct tac_checkpoint *state, const uint8_t *motion,
                                const void *kept)
{
    enum tac_err err = TAC_OK;
    struct tac_pieces *pieces = NULL;
    if (sim->local != NULL)
        TAC_TRY(tac_pieces_of(sim->ctx, sim->local, &pieces)); /* owners stay */
    TAC_TRY(tac_simulation_rebuild(sim, pieces, state));
    if (sim->integrator->change != NULL)
        TAC_TRY(sim->integrator->change->in(sim->state, motion, kept));
done:
    tac_pieces_destroy(&pieces);
    return err;
}

/* Copies the checkpoint, with own arrays for everything that a change may remove from it. */
static enum tac_err copy_state(struct tac_ctx *ctx, const struct tac_checkpoint *state, struct tac_checkpoint *copy)
{
    enum tac_err err;
    *copy = *state;
    copy->script = NULL;
    copy->friction_state = NULL;
    TAC_TRY(tac_alloc(ctx, (size_t)state->script_count, sizeof *copy->script, &copy->script));
    TAC_TRY(tac_alloc(ctx, (size_t)state->friction_state_count, sizeof *copy->friction_state, &copy->friction_state));
    if (state->script_count)
        memcpy(copy->script, state->script, (size_t)state->script_count * sizeof *copy->script);
    if (state->friction_state_count)
        memcpy(copy->friction_state, state->friction_state,
               (size_t)state->friction_state_count * sizeof *copy->friction_state);
done:
    return tac_agree(ctx, err);
}

/* Puts the state into the changed scene; if the scene is refused (a period is too short, for example), puts it back
 * into the scene before. */
static enum tac_err change_scene(struct tac_simulation *sim, struct tac_scene_change *change,
                                 const struct tac_checkpoint *state, const struct tac_checkpoint *fitted,
                                 const void *kept, bool *lost)
{
    char sentence[sizeof sim->ctx->error];
    enum tac_err err;
    tac_scene_change_swap(sim->whole, change);
    err = enter_scene(sim, fitted, change->motion, kept);
    if (err == TAC_OK)
        return TAC_OK;
    tac_scene_change_swap(sim->whole, change);
    memcpy(sentence, sim->ctx->error, sizeof sentence);
    sim->ctx->error[0] = '\0';
    *lost = sim->local == NULL && sim->ctx->size > 1;
    if (*lost || enter_scene(sim, state, NULL, kept) != TAC_OK) {
        *lost = true;
        err = TAC_ERR_RUN;
    }
    memcpy(sim->ctx->error, sentence, sizeof sentence);
    return err;
}

enum tac_err tac_simulation_change(struct tac_simulation *sim, const char *assignment, bool *lost)
{
    enum tac_err err;
    struct tac_scene_change change = {.motion = NULL};
    struct tac_checkpoint *state = NULL, fitted = {0};
    void *kept = NULL;
    *lost = false;
    TAC_TRY(tac_agree(sim->ctx, tac_scene_change(sim->ctx, sim->whole, assignment, tac_simulation_now(sim), &change)));
    if (sim->integrator->change != NULL)
        TAC_TRY(sim->integrator->change->out(sim->state, &kept));
    TAC_TRY(sim->integrator->state_out(sim->state, false, &state));
    TAC_TRY(copy_state(sim->ctx, state, &fitted));
    if (sim->integrator->change != NULL)
        sim->integrator->change->fit(sim->state, &change.scene, change.motion, &fitted);
    sim->looked = false;
    TAC_TRY(change_scene(sim, &change, state, &fitted, kept, lost));
done:
    free(fitted.script);
    free(fitted.friction_state);
    tac_checkpoint_destroy(&state);
    if (sim->integrator->change != NULL)
        sim->integrator->change->clear(&kept);
    tac_scene_change_clear(&change);
    return err;
}

enum tac_err tac_simulation_set_control(struct tac_simulation *sim, const char *assignment)
{
    enum tac_err err = tac_simulation_enter(sim);
    bool lost;
    if (err)
        return err;
    if (assignment == NULL)
        return tac_fail(sim->host, TAC_ERR_INPUT, "a change needs a key and a value, such as gravity=[0, 0, -9.81]");
    err = tac_simulation_change(sim, assignment, &lost);
    return tac_simulation_leave(sim, err, lost);
}
