/* The loop over frames of a run. */
#include "base/signals.h"
#include "check/overlap.h"
#include "events/ranks.h"
#include "events/state.h"
#include "io/checkpoint/checkpoint.h"
#include "io/record/record.h"
#include "run/running.h"
#include <stdlib.h>
#include <string.h>

int64_t tac_run_ticks(const struct tac_counters *counters)
{
    int64_t ticks = 0;
    for (int k = 0; k < TAC_KINDS; k++)
        ticks += counters->committed[k];
    return ticks;
}

static void fill_status(struct tac_running *run, struct tac_status *status, const char *state)
{
    const struct tac_sim *sim = run->sim;
    memset(status, 0, sizeof *status);
    status->state = state;
    status->time_s = tac_seconds(sim, sim->state.now);
    status->end_s = tac_seconds(sim, run->whole->settings->t_end);
    status->wall_s = tac_wall_s() - run->wall_start_s;
    double share = status->time_s / status->end_s;
    status->wall_left_s = share > 0 ? status->wall_s * (1 - share) / share : NAN;
    status->window_s = sim->windows.last_s;
    status->contacts = run->contacts; /* counting them anew would have all ranks meet */
    status->deepest_layer = sim->books.deepest_ever;
    /* Other ranks' ticks are like this one's, as far as it knows. */
    const double ticks = (double)(tac_run_ticks(&sim->books.counters) - run->ticks_before) * run->ctx->size;
    status->ticks_per_s = status->wall_s > 0 ? ticks / status->wall_s : 0;
    status->error = run->ctx->error[0] ? run->ctx->error : NULL;
    status->counters = sim->books.counters;
    if (sim->ranks) {
        status->counters.messages_sent += sim->ranks->halo.messages;
        status->counters.bytes_sent += sim->ranks->halo.bytes;
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
                                    sim->state.owned, sim->scene->mesh->part ? sim->scene->mesh->part->vertex_id : NULL,
                                    run->position,    run->velocity,
                                    run->force};
    TAC_TRY(record_frame(run));
    if (run->row_at != sim->state.now)
        TAC_TRY(tac_sim_energy(sim, &run->row));
    sim->books.deepest_layer = 0;
    run->row_at = -1;
    TAC_TRY(tac_output_frame(run->ctx, run->out, &frame));
    run->contacts = run->row.contacts;
    TAC_TRY(tac_output_row(run->ctx, run->out, &run->row));
    run->frame++;
    run->last_frame = sim->state.now;
done:
    sim->books.counters.seconds_output += tac_wall_s() - begin_s;
    return err;
}

/* ---- stops ---- */

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
    run->sim->control.ask_save = now_s - run->saved_wall_s > run->whole->settings->checkpoint.every_s;
}

static enum tac_err stop(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    const int why = run->sim->control.told_stop;
    TAC_TRY(tac_run_save(run));
    err = tac_fail(run->ctx, TAC_ERR_STOPPED,
                   "stopped by %s at t = %.9g s; the state is in %s/%s: run again with --restart %s to go on",
                   why == WALL_LIMIT ? "the wall limit" : strsignal(why), tac_seconds(run->sim, run->sim->state.now),
                   run->options->dir, run->saved, run->options->dir);
done:
    return err;
}

/* The first multiple of every_t after now, quanta: on a grid like that of frames, so that one instant serves both. */
static tac_time next_save(const struct tac_running *run)
{
    const double every_s =
        fmax(run->whole->settings->checkpoint.every_t, TAC_FRAME_GRAIN * run->whole->settings->quantum_s);
    if (!(run->whole->settings->checkpoint.every_t > 0))
        return TAC_TIME_NEVER;
    int64_t k = (int64_t)(tac_seconds(run->sim, run->sim->state.now) / every_s);
    while (tac_scene_grid(run->whole, every_s, k) <= run->sim->state.now)
        k++;
    return tac_scene_grid(run->whole, every_s, k);
}

/* ---- the loop ---- */

/* Is the end a frame of the grid?  Else a longer run would not have it. */
static bool end_on_grid(const struct tac_running *run)
{
    return tac_scene_grid(run->whole, run->whole->settings->frame_s, run->frame) == run->whole->settings->t_end;
}

/* A run that goes on where it ends: only its last frame may be missing.  In another folder, and its checkpoint. */
static enum tac_err end_again(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    if (!tac_output_here(run->out))
        TAC_TRY(tac_run_save(run));
    if (run->last_frame < run->sim->state.now)
        TAC_TRY(write_frame(run));
done:
    return err;
}

/* An energy row may be told at the next frame, and at the next checkpoint of the scene's own times. */
static void keep_before(struct tac_running *run, tac_time next)
{
    run->sim->books.before_at = next < run->next_save ? next : run->next_save;
}

static enum tac_err loop(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    const tac_time t_end = run->whole->settings->t_end;
    struct tac_status status;
    if (run->frame == 0)
        TAC_TRY(write_frame(run));
    run->next_save = next_save(run);
    if (run->sim->state.now == t_end)
        TAC_TRY(end_again(run));
    while (run->sim->state.now < t_end) {
        tac_time next = tac_scene_frame_time(run->whole, run->frame);
        next = next > run->sim->state.now && next < t_end ? next : t_end;
        keep_before(run, next);
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
                TAC_TRY(tac_run_save(run));
                run->next_save = next_save(run);
            }
            TAC_TRY(tac_run_balance(run));
            keep_before(run, next);
        }
        /* A last frame between two of the grid is taken back by a run that goes further: the checkpoint is before it.
         * Who is killed between the two goes on from there, and writes it. */
        const bool last = run->sim->state.now == t_end, on_grid = end_on_grid(run);
        if (last && !on_grid)
            TAC_TRY(tac_run_save(run));
        TAC_TRY(write_frame(run));
        if (last && on_grid)
            TAC_TRY(tac_run_save(run));
        if (last)
            break;
        if (run->sim->control.told_stop)
            TAC_TRY(stop(run));
        if (run->sim->control.told_save || run->sim->state.now >= run->next_save) {
            TAC_TRY(tac_run_save(run));
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
    summary.clocks = run->whole->settings->clocks.mode == TAC_CLOCKS_NESTED ? "nested" : "free";
    summary.argc = run->options->argc;
    summary.argv = run->options->argv;
    if (run->sim) {
        summary.discovery = run->sim->find.way->name;
        summary.book_residual = tac_sim_book_residual(run->sim);
        fill_status(run, &summary.status, err == TAC_OK ? "finished" : err == TAC_ERR_STOPPED ? "stopped" : "failed");
        last = tac_state_counters(run->sim, &summary.status.counters);
        const double ticks = (double)(tac_run_ticks(&summary.status.counters) - run->all_before);
        summary.status.ticks_per_s = summary.status.wall_s > 0 ? ticks / summary.status.wall_s : 0;
    } else { /* lost on the way from one deal to the next */
        summary.status.state = "failed";
        summary.status.error = run->ctx->error;
    }
    summary.wall_s = tac_wall_s() - run->wall_start_s;
    summary.wall_total_s = run->wall_before_s + summary.wall_s;
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
    if (resume && !o->record && sim->state.now == run->whole->settings->t_end) /* what there is of it stays */
        TAC_TRY(tac_record_end(run->ctx, run->whole, o->dir, sim->state.now));
    else if (resume)
        TAC_TRY(tac_record_resume(run->ctx, run->whole, o->dir, sim->state.now, run->frame - 1,
                                  sim->state.now > run->last_frame, o->record, &run->record, &loaded));
    else if (o->record)
        TAC_TRY(tac_record_create(run->ctx, run->whole, o->dir, &run->record));
    TAC_TRY(tac_agree(run->ctx, tac_sim_record(run->sim, run->record ? &run->record->log : NULL)));
    if (resume && run->record != NULL)
        tac_sim_look(run->sim, loaded ? TAC_LOOK_REWRITTEN : TAC_LOOK_ALL);
done:
    return err;
}

/* Goes on where a checkpoint stands. */
static enum tac_err go_on(struct tac_running *run)
{
    enum tac_err err;
    struct tac_checkpoint **state = &run->start->checkpoint;
    TAC_TRY(tac_state_restore(run->sim, *state));
    run->frame = (*state)->frame;
    run->last_frame = (*state)->last_frame;
    run->restarts = (*state)->restarts + 1;
    run->wall_before_s = (*state)->wall_s;
    run->ticks_before = tac_run_ticks(&run->sim->books.counters);
    run->all_before = tac_run_ticks(&(*state)->counters);
    if ((*state)->has_row) {
        run->row = (*state)->row;
        run->row_at = (*state)->now;
    }
    tac_checkpoint_destroy(state);
    TAC_TRY(tac_sim_contacts(run->sim, &run->contacts)); /* until the next frame */
done:
    return err;
}

static struct tac_output_past past_of(const struct tac_run_start *start)
{
    const struct tac_checkpoint *c = start->checkpoint;
    return (struct tac_output_past){start->file, c->now, c->frame, c->restarts, c->entry_count, c->entry};
}

/* A checkpoint of where the run ends: the folder may be whole, and then there is nothing to do.  Else its end is made
 * once more; *over: no. */
static enum tac_err look_at_end(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_run_options *o,
                                const struct tac_run_start *start, bool *over)
{
    enum tac_err err;
    const struct tac_checkpoint *c = start->checkpoint;
    const struct tac_output_past past = past_of(start);
    const bool last_frame = c->last_frame < c->now; /* it is still to come */
    bool here, whole;
    int kicked = 0;
    TAC_TRY(tac_output_whole(ctx, scene, o->dir, &past, last_frame, &here, &whole));
    *over = whole || (!here && !last_frame);
    if (*over && ctx->rank == 0)
        tac_warn(ctx, "the checkpoint %s is of t = %.9g s, where the run ends; there is nothing left to run",
                 start->file, (double)c->now * scene->settings->quantum_s);
    if (*over || !last_frame || c->has_row)
        goto done;
    for (tac_lid i = 0; i < c->vertices.count && !kicked; i++)
        kicked = c->vertices.t[i] == c->now;
    MPI_Allreduce(MPI_IN_PLACE, &kicked, 1, MPI_INT, MPI_MAX, ctx->comm);
    if (kicked)
        err = tac_fail(ctx, TAC_ERR_INPUT,
                       "the checkpoint '%s' is of t = %.9g s, where the run ends, and does not tell the last row of "
                       "energy.csv; go on from an older one, or further with --until",
                       start->file, (double)c->now * scene->settings->quantum_s);
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
    struct tac_run_start start = {0};
    return tac_run_from(ctx, scene, options, &start);
}

enum tac_err tac_run_from(struct tac_ctx *ctx, struct tac_scene *scene, const struct tac_run_options *options,
                          struct tac_run_start *start)
{
    enum tac_err err = TAC_OK;
    const bool resume = start->checkpoint != NULL;
    const double now_s = tac_wall_s();
    const char *shuffle = getenv("TACTUS_TEST_MIGRATE");
    struct tac_pieces *pieces = NULL;
    struct tac_running run = {.ctx = ctx,
                              .whole = scene,
                              .options = options,
                              .start = start,
                              .wall_start_s = now_s,
                              .saved_wall_s = now_s,
                              .row_at = -1,
                              .balance_wall_s = now_s};
    run.shuffle = shuffle ? strtoul(shuffle, NULL, 10) : 0;
    struct tac_output_past past = {.file = NULL};
    bool over = false;
    if (resume) {
        past = past_of(start);
        if (past.now >= scene->settings->t_end)
            TAC_TRY(look_at_end(ctx, scene, options, start, &over));
        if (over)
            goto done;
    }
    TAC_TRY(tac_run_pieces(&run, &pieces));
    if (!resume)
        TAC_TRY(check_overlaps(&run, pieces));
    if (pieces == NULL) /* what cannot be run is told before a folder is made */
        TAC_TRY(tac_run_deal(&run, &pieces));
    if (resume)
        TAC_TRY(tac_output_resume(ctx, scene, pieces, options->dir, &past, &run.out));
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
    tac_local_destroy(&run.local);
    free(run.position);
    free(run.velocity);
    free(run.force);
    return err;
}
