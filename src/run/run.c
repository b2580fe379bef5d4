/* The loop over frames of a run. */
#include "check/overlap.h"
#include "events/ranks.h"
#include "events/state.h"
#include "io/record/record.h"
#include "run/running.h"
#include <stdlib.h>
#include <string.h>
#include <tactus/process.h>

static void fill_status(struct tac_running *run, struct tac_status *status, const char *state)
{
    const struct tac_sim *sim = run->sim;
    memset(status, 0, sizeof *status);
    status->state = state;
    status->time_s = tac_seconds(sim, sim->state.now);
    status->end_s = tac_seconds(sim, run->whole->t_end);
    status->wall_s = tac_wall_s() - run->wall_start_s;
    double share = status->time_s / status->end_s;
    status->wall_left_s = share > 0 ? status->wall_s * (1 - share) / share : NAN;
    status->window_s = sim->windows.last_s;
    status->contacts =
        sim->ranks ? run->row.contacts : (int64_t)sim->active.live_pairs; /* of all ranks: at the last frame */
    status->deepest_layer = sim->books.deepest_ever;
    double ticks = 0;
    for (int k = 0; k < TAC_KINDS; k++)
        ticks += (double)sim->books.counters.committed[k];
    status->ticks_per_s = status->wall_s > 0 ? ticks * run->ctx->size / status->wall_s : 0;
    status->error = run->ctx->error[0] ? run->ctx->error : NULL;
    status->counters = sim->books.counters;
    if (sim->ranks) {
        status->counters.messages_sent += sim->ranks->messages;
        status->counters.bytes_sent += sim->ranks->bytes;
    }
}

/* At a frame one interval of the record ends and another begins. */
static enum tac_err record_frame(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    if (run->record == NULL)
        return TAC_OK;
    if (run->frame > 0) {
        tac_sim_look(run->sim, TAC_LOOK_OTHERS);
        TAC_TRY(tac_record_group(run->record, run->frame - 1));
    }
    tac_sim_look(run->sim, TAC_LOOK_ALL);
done:
    return err;
}

static enum tac_err write_frame(struct tac_running *run)
{
    enum tac_err err;
    struct tac_sim *sim = run->sim;
    const double begin_s = tac_wall_s(), span = tac_seconds(sim, sim->state.now - run->last_frame);
    for (tac_lid i = 0; i < sim->state.owned; i++) {
        size_t k = 3 * (size_t)i;
        tac_position(sim, i, sim->state.now, &run->position[k]);
        memcpy(&run->velocity[k], sim->state.vel[i].v, 3 * sizeof(double));
        for (size_t c = k; c < k + 3; c++) {
            run->force[c] = span > 0 ? (float)(sim->state.impulse[c] / span) : 0;
            sim->state.impulse[c] = 0;
        }
    }
    const struct tac_frame frame = {run->frame,       tac_seconds(sim, sim->state.now),
                                    sim->state.owned, sim->scene->part ? sim->scene->part->vertex_id : NULL,
                                    run->position,    run->velocity,
                                    run->force};
    TAC_TRY(record_frame(run));
    TAC_TRY(tac_sim_energy(sim, &run->row));
    TAC_TRY(tac_output_frame(run->ctx, run->out, &frame));
    TAC_TRY(tac_output_row(run->ctx, run->out, &run->row));
    run->frame++;
    run->last_frame = sim->state.now;
done:
    sim->books.counters.seconds_output += tac_wall_s() - begin_s;
    return err;
}

/* ---- checkpoints ---- */

/* A checkpoint within a frame interval: the record's part of it must survive too.  It ends with a look at now, which
 * the run forgets again. */
static enum tac_err save_record(struct tac_running *run)
{
    enum tac_err err;
    if (run->record == NULL)
        return TAC_OK;
    if (run->sim->state.now == run->last_frame)
        return tac_record_sync(run->record);
    TAC_TRY(tac_record_deal(run->record));
    tac_sim_look(run->sim, TAC_LOOK_OTHERS);
    TAC_TRY(tac_record_partial(run->record, run->frame - 1));
done:
    return err;
}

static enum tac_err save(struct tac_running *run)
{
    enum tac_err err;
    struct tac_checkpoint *state = NULL;
    const double begin_s = tac_wall_s();
    TAC_TRY(save_record(run));
    TAC_TRY(tac_output_sync(run->ctx, run->out));
    TAC_TRY(tac_state_collect(run->sim, &state));
    state->frame = run->frame;
    state->last_frame = run->last_frame;
    state->restarts = run->restarts;
    state->wall_s = run->wall_before_s + begin_s - run->wall_start_s;
    TAC_TRY(tac_checkpoint_write(run->ctx, run->whole, run->options->dir, run->whole->checkpoint.keep, state,
                                 run->saved, sizeof run->saved));
    tac_output_checkpoint(run->out, run->saved);
    run->saved_wall_s = tac_wall_s();
    run->save_took_s = run->saved_wall_s - begin_s;
    run->sim->control.ask_save = 0;
done:
    tac_checkpoint_destroy(&state);
    run->sim->books.counters.seconds_output += tac_wall_s() - begin_s;
    return err;
}

enum { WALL_LIMIT = 1000 }; /* among signals' numbers: the greatest wish is told */

/* What this rank wishes, to be heard by all at the end of the next pass. */
static void wish(struct tac_running *run)
{
    const double now_s = tac_wall_s(), pass_s = now_s - run->wished_wall_s;
    const double limit_s = run->options->wall_limit_s, left_s = limit_s - (now_s - run->wall_start_s);
    run->longest_pass_s = run->wished_wall_s > 0 ? fmax(run->longest_pass_s, pass_s) : 0;
    run->wished_wall_s = now_s;
    run->sim->control.ask_stop = tac_signal_caught();
    if (run->ctx->rank != 0)
        return;
    /* Time for the checkpoint, for one more pass, and for closing the files. */
    if (limit_s > 0 && run->sim->control.ask_stop == 0 &&
        left_s < fmin(.25 * limit_s, 2 + 4 * run->save_took_s + 2 * run->longest_pass_s))
        run->sim->control.ask_stop = WALL_LIMIT;
    run->sim->control.ask_save = now_s - run->saved_wall_s > run->whole->checkpoint.every_s;
}

static enum tac_err stop(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    const int why = run->sim->control.told_stop;
    TAC_TRY(save(run));
    err = tac_fail(run->ctx, TAC_ERR_STOPPED,
                   "stopped by %s at t = %.9g s; the state is in %s/%s: run again with --restart %s to go on",
                   why == WALL_LIMIT ? "the wall limit" : strsignal(why), tac_seconds(run->sim, run->sim->state.now),
                   run->options->dir, run->saved, run->options->dir);
done:
    return err;
}

/* The first multiple of every_t after now, quanta. */
static tac_time next_save(const struct tac_running *run)
{
    const double every_s = run->whole->checkpoint.every_t;
    if (!(every_s > 0))
        return TAC_TIME_NEVER;
    const double k = floor(tac_seconds(run->sim, run->sim->state.now) / every_s * (1 + 1e-12)) + 1;
    const tac_time t = tac_scene_quanta(run->whole, k * every_s);
    return t > run->sim->state.now ? t : run->sim->state.now + 1;
}

/* ---- the loop ---- */

/* Is the end a frame of the grid?  Else a longer run would not have it. */
static bool end_on_grid(const struct tac_running *run)
{
    const double k = (double)run->frame * run->whole->frame_s / run->whole->quantum_s / 65536;
    return floor(k + .5) * 65536 == (double)run->whole->t_end;
}

static enum tac_err loop(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    const tac_time t_end = run->whole->t_end;
    struct tac_status status;
    if (run->frame == 0)
        TAC_TRY(write_frame(run));
    run->next_save = next_save(run);
    while (run->sim->state.now < t_end) {
        tac_time next = tac_scene_frame_time(run->whole, run->frame);
        next = next > run->sim->state.now && next < t_end ? next : t_end;
        run->sim->books.before_at = next;
        while (run->sim->state.now < next) {
            wish(run);
            TAC_TRY(tac_sim_advance(run->sim, next < run->next_save ? next : run->next_save));
            fill_status(run, &status, "running");
            TAC_TRY(tac_ranks_hold(run->sim, tac_output_status(run->ctx, run->out, &status, false)));
            const struct tac_sim *sim = run->sim;
            if (sim->state.now == next)
                break;
            if (sim->control.told_stop)
                TAC_TRY(stop(run));
            if (sim->control.told_save || sim->state.now >= run->next_save) {
                TAC_TRY(save(run));
                run->next_save = next_save(run);
            }
            TAC_TRY(tac_run_balance(run));
            run->sim->books.before_at = next;
        }
        /* A last frame between two of the grid is taken back by a run that goes further: the checkpoint is before it.
         */
        const bool last = run->sim->state.now == t_end, on_grid = end_on_grid(run);
        if (last && !on_grid)
            TAC_TRY(save(run));
        TAC_TRY(write_frame(run));
        if (last && on_grid)
            TAC_TRY(save(run));
        if (last)
            break;
        if (run->sim->control.told_stop)
            TAC_TRY(stop(run));
        if (run->sim->control.told_save || run->sim->state.now >= run->next_save) {
            TAC_TRY(save(run));
            run->next_save = next_save(run);
        }
        TAC_TRY(tac_run_balance(run));
    }
done:
    return err;
}

/* Writes how it ended, also after a failure. */
static enum tac_err finish(struct tac_running *run, enum tac_err err)
{
    enum tac_err last = TAC_OK;
    struct tac_summary summary;
    memset(&summary, 0, sizeof summary);
    summary.clocks = run->whole->clocks.mode == TAC_CLOCKS_NESTED ? "nested" : "free";
    summary.argc = run->options->argc;
    summary.argv = run->options->argv;
    if (run->sim) {
        summary.discovery = run->sim->find.way->name;
        summary.book_residual = tac_sim_book_residual(run->sim);
        fill_status(run, &summary.status, err == TAC_OK ? "finished" : err == TAC_ERR_STOPPED ? "stopped" : "failed");
        last = tac_state_counters(run->sim, &summary.status.counters);
    } else { /* lost on the way from one deal to the next */
        summary.status.state = "failed";
        summary.status.error = run->ctx->error;
    }
    summary.wall_s = summary.status.wall_s;
    const enum tac_err record = tac_record_close(run->record);
    if (record && !err) {
        summary.status.state = "failed";
        summary.status.error = run->ctx->error;
    }
    const enum tac_err told = tac_output_finish(run->ctx, run->out, &summary);
    return err ? err : last ? last : record ? record : told;
}

static enum tac_err start_record(struct tac_running *run, bool resume)
{
    enum tac_err err = TAC_OK;
    const struct tac_run_options *o = run->options;
    const struct tac_sim *sim = run->sim;
    bool loaded = false;
    if (resume)
        TAC_TRY(tac_record_resume(run->ctx, run->whole, o->dir, sim->state.now, run->frame - 1,
                                  sim->state.now > run->last_frame, o->record, &run->record, &loaded));
    else if (o->record)
        TAC_TRY(tac_record_create(run->ctx, run->whole, o->dir, &run->record));
    TAC_TRY(tac_agree(run->ctx, tac_sim_record(run->sim, run->record)));
    if (resume && run->record != NULL)
        tac_sim_look(run->sim, loaded ? TAC_LOOK_REWRITTEN : TAC_LOOK_ALL);
done:
    return err;
}

/* Goes on where a checkpoint stands. */
static enum tac_err go_on(struct tac_running *run)
{
    enum tac_err err;
    struct tac_checkpoint **state = run->options->checkpoint;
    TAC_TRY(tac_state_restore(run->sim, *state));
    run->frame = (*state)->frame;
    run->last_frame = (*state)->last_frame;
    run->restarts = (*state)->restarts + 1;
    run->wall_before_s = (*state)->wall_s;
    tac_checkpoint_destroy(state);
done:
    return err;
}

static enum tac_err check_overlaps(struct tac_running *run, const struct tac_pieces *pieces)
{
    if (pieces != NULL)
        return tac_overlap_check_pieces(run->ctx, run->whole, pieces, 0, run->options->dir);
    return tac_overlap_check(run->ctx, run->whole, run->options->dir);
}

enum tac_err tac_run(struct tac_ctx *ctx, struct tac_scene *scene, const struct tac_run_options *options)
{
    enum tac_err err = TAC_OK;
    const bool resume = options->checkpoint != NULL && *options->checkpoint != NULL;
    const double now_s = tac_wall_s();
    const char *shuffle = getenv("TACTUS_TEST_MIGRATE");
    struct tac_pieces *pieces = NULL;
    struct tac_running run = {.ctx = ctx,
                              .whole = scene,
                              .options = options,
                              .wall_start_s = now_s,
                              .saved_wall_s = now_s,
                              .balance_wall_s = now_s};
    run.shuffle = shuffle ? strtoul(shuffle, NULL, 10) : 0;
    if (resume && (*options->checkpoint)->now >= scene->t_end) {
        if (ctx->rank == 0)
            tac_warn(ctx, "the checkpoint %s is of t = %.9g s, where the run ends; there is nothing left to run",
                     options->restart, (double)(*options->checkpoint)->now * scene->quantum_s);
        goto done;
    }
    TAC_TRY(tac_run_pieces(&run, &pieces));
    if (!resume)
        TAC_TRY(check_overlaps(&run, pieces));
    if (pieces == NULL) /* what cannot be run is told before a folder is made */
        TAC_TRY(tac_run_deal(&run, &pieces));
    if (resume)
        TAC_TRY(tac_output_resume(ctx, scene, pieces, options->dir, options->restart, (*options->checkpoint)->now,
                                  (*options->checkpoint)->frame, &run.out));
    else
        TAC_TRY(tac_output_create(ctx, scene, pieces, options->dir, options->overwrite, &run.out));
    /* From here on the folder says how it ends. */
    if (pieces != NULL)
        err = tac_run_deal(&run, &pieces);
    if (!err && resume)
        err = go_on(&run);
    if (!err)
        err = start_record(&run, resume);
    if (!err)
        err = loop(&run);
    /* All have failed alike; one that did alone shall not leave the others waiting for ever. */
    err = finish(&run, tac_agree(ctx, err));
done:
    tac_pieces_destroy(&pieces);
    tac_record_destroy(&run.record);
    tac_output_destroy(&run.out);
    tac_sim_destroy(&run.sim);
    tac_scene_destroy(&run.local);
    free(run.position);
    free(run.velocity);
    free(run.force);
    return err;
}
