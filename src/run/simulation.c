/* simulation.c: makes and frees a simulation on its ranks, and has the one loop that steps it. */
#include "run/simulation.h"
#include "io/checkpoint/checkpoint.h"
#include "overlap/overlap.h"
#include <stdlib.h>
#include <string.h>

void tac_simulation_begin(struct tac_simulation *sim, struct tac_ctx *ctx, struct tac_scene *scene)
{
    memset(sim, 0, sizeof *sim);
    sim->ctx = ctx;
    sim->whole = scene;
    sim->integrator = tac_integrator_of(scene);
    sim->balance.shuffle = ctx->hooks.migrate;
    sim->balance.distributes_small = ctx->hooks.distributes_small;
}

enum tac_err tac_simulation_pieces(struct tac_ctx *ctx, struct tac_scene *whole, struct tac_pieces **pieces)
{
    enum tac_err err = TAC_OK;
    if (*pieces == NULL && ctx->size > 1) {
        TAC_TRY(tac_pieces_from_scene(ctx, whole, pieces));
        tac_scene_free_arrays(whole);
        TAC_TRY(tac_pieces_topology(ctx, *pieces));
    }
done:
    return err;
}

enum tac_err tac_simulation_check(struct tac_ctx *ctx, struct tac_scene *whole, const struct tac_pieces *pieces,
                                  const char *dir)
{
    const enum tac_err err =
        pieces != NULL ? tac_overlap_check_pieces(ctx, whole, pieces, 0, dir) : tac_overlap_check(ctx, whole, dir);
    return err ? err : tac_overlap_check_knots(ctx, whole, pieces);
}

enum tac_err tac_simulation_make(struct tac_simulation *sim, struct tac_pieces **pieces)
{
    enum tac_err err = TAC_OK;
    if (*pieces != NULL) {
        TAC_TRY(tac_simulation_distribute(sim, *pieces));
        TAC_TRY(tac_local_create(sim->ctx, sim->whole, *pieces, &sim->local));
    }
    tac_pieces_destroy(pieces);
    TAC_TRY(sim->integrator->create(sim->ctx, sim->local ? sim->local : sim->whole, &sim->state));
done:
    return tac_agree(sim->ctx, err);
}

int64_t tac_simulation_ticks(const struct tac_counters *counters)
{
    int64_t ticks = 0;
    for (int k = 0; k < TAC_COUNTED_KINDS; k++)
        ticks += counters->committed[k];
    return ticks;
}

enum tac_err tac_simulation_rebuild(struct tac_simulation *sim, struct tac_pieces *pieces,
                                    const struct tac_checkpoint *state)
{
    enum tac_err err = TAC_OK;
    struct tac_tuning tuning;
    const bool begun = sim->state != NULL, tuned = begun && sim->integrator->balance != NULL;
    int64_t ticks = 0;
    if (tuned)
        sim->integrator->balance->tuning_out(sim->state, &tuning);
    if (begun)
        ticks = tac_simulation_ticks(tac_simulation_view(sim).counters) - sim->ticks_before;
    sim->integrator->destroy(&sim->state); /* there may not be memory for two states */
    if (pieces != NULL) {
        tac_local_destroy(&sim->local);
        TAC_TRY(tac_local_create(sim->ctx, sim->whole, pieces, &sim->local));
    }
    TAC_TRY(sim->integrator->create(sim->ctx, sim->local ? sim->local : sim->whole, &sim->state));
    TAC_TRY(sim->integrator->state_in(sim->state, state));
    if (tuned)
        sim->integrator->balance->tuning_in(sim->state, &tuning);
    if (begun) /* in the new state rank 0 has the counts of all ranks */
        sim->ticks_before = tac_simulation_ticks(tac_simulation_view(sim).counters) - ticks;
done:
    return err;
}

enum tac_err tac_simulation_go(struct tac_simulation *sim, tac_time t, const struct tac_observer *observer)
{
    enum tac_err err = TAC_OK;
    while (tac_simulation_now(sim) < t) {
        struct tac_step step = {0};
        tac_time limit = t;
        if (sim->balance.due)
            TAC_TRY(tac_simulation_balance(sim));
        sim->balance.due = false;
        if (observer)
            limit = observer->before(observer->user, t, &step);
        TAC_TRY(sim->integrator->advance(sim->state, limit, &step));
        sim->balance.due = true;
        if (observer)
            TAC_TRY(observer->after(observer->user, t, &step));
    }
done:
    return err;
}

void tac_simulation_end(struct tac_simulation *sim)
{
    if (sim->integrator)
        sim->integrator->destroy(&sim->state);
    tac_local_destroy(&sim->local);
    free(sim->position);
    free(sim->id);
    free(sim->contact);
    sim->position = NULL;
    sim->id = NULL;
    sim->contact = NULL;
}
