/* run_save.c: writes the checkpoints of a run. It adds what they hold beside the state, and first makes sure that the
 * files that belong to them are on the disk. */
#include "io/checkpoint/checkpoint.h"
#include "io/record/record.h"
#include "run/follow.h"
#include "run/running.h"
#include <stdlib.h>
#include <string.h>

/* For a checkpoint within a frame interval, writes the record's part of the interval too. That part ends with the
 * positions of now, which the run then drops. */
static enum tac_err save_record(struct tac_running *run)
{
    enum tac_err err;
    if (run->record == NULL)
        return TAC_OK;
    if (tac_simulation_now(&run->sim) == run->sim.last_frame)
        return tac_record_sync(run->record);
    TAC_TRY(tac_record_distribute(run->record));
    run->sim.integrator->record->look(run->sim.state, TAC_LOOK_OTHERS);
    TAC_TRY(tac_record_partial(run->record, run->frame - 1));
done:
    return err;
}

/* Computes the energy row of now for a checkpoint that is written before the frame of now. A run that is killed after
 * this checkpoint and before its last frame could not compute the row after a restart, because the velocities before
 * the kicks of now are not in the state. If they were not kept either (a stop at any time), there is a row only if
 * nothing was kicked at now. */
static enum tac_err make_row(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    const struct tac_simulation *sim = &run->sim;
    const tac_time now = tac_simulation_now(sim);
    if (run->row_at == now || sim->last_frame == now)
        return TAC_OK;
    run->row_at = -1;
    if (sim->integrator->book != NULL && !sim->integrator->book->knows_row(sim->state))
        return TAC_OK;
    TAC_TRY(sim->integrator->energy(sim->state, &run->row));
    run->row_at = now;
done:
    return err;
}

/* Rank 0: copies the checksums of the tables' lines. */
static enum tac_err copy_sums(struct tac_running *run, struct tac_checkpoint *state)
{
    enum tac_err err = TAC_OK;
    const struct tac_output_sums *sums = tac_output_sums(run->out);
    for (int k = 0; k < TAC_LINES && !err; k++) {
        const size_t n = (size_t)sums[k].count;
        err = tac_alloc(run->ctx, n, sizeof *sums->line, &state->folder.sums[k].line);
        if (!err && n > 0)
            memcpy(state->folder.sums[k].line, sums[k].line, n * sizeof *sums->line);
        state->folder.sums[k].count = sums[k].count;
    }
    return err;
}

/* Fills what a checkpoint holds beside the simulation. */
static enum tac_err describe_run(struct tac_running *run, struct tac_checkpoint *state)
{
    enum tac_err err = TAC_OK;
    const struct tac_output_entry *entry = NULL;
    state->frame = run->frame;
    state->last_frame = run->sim.last_frame;
    state->restarts = run->restarts;
    state->has_row = run->row_at == tac_simulation_now(&run->sim);
    state->row = run->row;
    TAC_TRY(tac_follow_store(run->sim.ctx, run->sim.whole, run->follow, &state->follow, &state->follow_count));
    if (run->ctx->rank == 0) {
        tac_output_entries(run->out, &entry, &state->folder.entry_count);
        TAC_TRY(tac_alloc(run->ctx, (size_t)state->folder.entry_count, sizeof *entry, &state->folder.entry));
        if (state->folder.entry_count > 0)
            memcpy(state->folder.entry, entry, (size_t)state->folder.entry_count * sizeof *entry);
        TAC_TRY(copy_sums(run, state));
    }
done:
    MPI_Bcast(&state->folder.entry_count, 1, MPI_INT64_T, 0, run->ctx->comm);
    for (int k = 0; k < TAC_LINES; k++)
        MPI_Bcast(&state->folder.sums[k].count, 1, MPI_INT64_T, 0, run->ctx->comm);
    return tac_agree(run->ctx, err);
}

/* Finds the present path of the folder, because HDF5 opens a checkpoint by its path and the folder may have been
 * renamed. */
static enum tac_err follow_folder(struct tac_running *run)
{
    char *now = NULL;
    const enum tac_err err = tac_output_where(run->ctx, run->out, run->dir, &now);
    if (err)
        return err;
    free(run->moved);
    run->dir = run->moved = now;
    return TAC_OK;
}

/* Writes the checkpoint; if the folder was renamed meanwhile, writes it again under the folder's new path. */
static enum tac_err write_state(struct tac_running *run, const struct tac_checkpoint *state)
{
    enum { TRIES = 3 };
    const struct tac_scene *scene = run->sim.whole;
    enum tac_err err = TAC_OK;
    for (int i = 0; i < TRIES; i++) {
        char sentence[sizeof run->ctx->error], *tried = NULL;
        err = tac_checkpoint_write(run->ctx, scene, run->dir, scene->settings->checkpoint.keep, state, run->saved,
                                   sizeof run->saved);
        if (!err)
            break;
        memcpy(sentence, run->ctx->error, sizeof sentence);
        run->ctx->error[0] = '\0';
        tried = run->moved; /* is freed below, not by follow_folder(): it is compared */
        run->moved = NULL;
        const char *before = run->dir;
        const enum tac_err followed = follow_folder(run);
        const bool moved = !followed && strcmp(before, run->dir) != 0;
        free(tried);
        if (followed)
            return followed;
        if (!moved) {
            memcpy(run->ctx->error, sentence, sizeof sentence);
            break;
        }
    }
    return err;
}

enum tac_err tac_running_save(struct tac_running *run)
{
    enum tac_err err;
    const struct tac_simulation *sim = &run->sim;
    struct tac_checkpoint *state = NULL;
    const double begin_s = tac_wall_s();
    TAC_TRY(follow_folder(run));
    TAC_TRY(save_record(run));
    TAC_TRY(tac_output_sync(run->ctx, run->out));
    TAC_TRY(make_row(run));
    TAC_TRY(sim->integrator->state_out(sim->state, true, &state));
    TAC_TRY(describe_run(run, state));
    state->wall_s = run->wall_before_s + begin_s - run->wall_start_s;
    TAC_TRY(write_state(run, state));
    tac_output_checkpoint(run->out, run->saved);
    run->saved_wall_s = tac_wall_s();
    run->save_took_s = run->saved_wall_s - begin_s;
done:
    tac_checkpoint_destroy(&state);
    tac_simulation_view(sim).counters->seconds_output += tac_wall_s() - begin_s;
    return err;
}
