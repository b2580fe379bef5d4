/* run.c: a whole run's frames, checkpoints, record and stops, around the one loop that steps a simulation. */
#include "io/checkpoint/checkpoint.h"
#include "io/record/record.h"
#include "run/running.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/process.h>

static double seconds(const struct tac_running *run, tac_time t)
{
    return (double)t * run->sim.whole->quantum_s;
}

static void fill_status(struct tac_running *run, struct tac_status *status, const char *state)
{
    const struct tac_simulation *sim = &run->sim;
    memset(status, 0, sizeof *status);
    sim->way->status(sim->state, status);
    status->state = state;
    status->time_s = seconds(run, tac_simulation_now(sim));
    status->end_s = seconds(run, sim->whole->t_end);
    status->wall_s = tac_wall_s() - run->wall_start_s;
    double share = status->time_s / status->end_s;
    status->wall_left_s = share > 0 ? status->wall_s * (1 - share) / share : NAN;
    if (status->contacts < 0)
        status->contacts = run->row.contacts; /* of all ranks: at the last frame */
    double ticks = 0;
    for (int k = 0; k < TAC_KINDS; k++)
        ticks += (double)status->counters.committed[k];
    status->ticks_per_s = status->wall_s > 0 ? ticks * run->ctx->size / status->wall_s : 0;
    status->error = run->ctx->error[0] ? run->ctx->error : NULL;
}

/* At a frame one interval of the record ends and another begins. */
static enum tac_err record_frame(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    if (run->record == NULL)
        return TAC_OK;
    if (run->frame > 0) {
        run->sim.way->look(run->sim.state, TAC_LOOK_OTHERS);
        TAC_TRY(tac_record_group(run->record, run->frame - 1));
    }
    run->sim.way->look(run->sim.state, TAC_LOOK_ALL);
done:
    return err;
}

/* Vertices come and go with balance. */
static enum tac_err make_room(struct tac_running *run, size_t vertices)
{
    enum tac_err err = TAC_OK;
    if (run->position != NULL && vertices <= run->room)
        return TAC_OK;
    free(run->position);
    free(run->velocity);
    free(run->force);
    run->position = run->velocity = NULL;
    run->force = NULL;
    run->room = vertices;
    TAC_TRY(tac_alloc(run->ctx, 3 * vertices, sizeof *run->position, &run->position));
    TAC_TRY(tac_alloc(run->ctx, 3 * vertices, sizeof *run->velocity, &run->velocity));
    TAC_TRY(tac_alloc(run->ctx, 3 * vertices, sizeof *run->force, &run->force));
done:
    return err;
}

static enum tac_err write_frame(struct tac_running *run)
{
    enum tac_err err;
    struct tac_simulation *sim = &run->sim;
    const struct tac_state_view view = tac_simulation_view(sim);
    const double begin_s = tac_wall_s(), span = seconds(run, view.now - sim->last_frame);
    TAC_TRY(tac_agree(run->ctx, make_room(run, (size_t)view.owned)));
    sim->way->positions(sim->state, run->position);
    for (size_t i = 0; i < (size_t)view.owned; i++) {
        memcpy(&run->velocity[3 * i], (const char *)view.velocity + i * view.stride, 3 * sizeof(double));
        for (size_t c = 3 * i; c < 3 * i + 3; c++) {
            run->force[c] = span > 0 ? (float)(view.impulse[c] / span) : 0;
            view.impulse[c] = 0;
        }
    }
    const struct tac_frame frame = {run->frame,    seconds(run, view.now), view.owned, view.id,
                                    run->position, run->velocity,          run->force};
    TAC_TRY(record_frame(run));
    TAC_TRY(sim->way->energy(sim->state, &run->row));
    TAC_TRY(tac_output_frame(run->ctx, run->out, &frame));
    TAC_TRY(tac_output_row(run->ctx, run->out, &run->row));
    run->frame++;
    sim->last_frame = view.now;
done:
    view.counters->seconds_output += tac_wall_s() - begin_s;
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
    if (tac_simulation_now(&run->sim) == run->sim.last_frame)
        return tac_record_sync(run->record);
    TAC_TRY(tac_record_deal(run->record));
    run->sim.way->look(run->sim.state, TAC_LOOK_OTHERS);
    TAC_TRY(tac_record_partial(run->record, run->frame - 1));
done:
    return err;
}

static enum tac_err save(struct tac_running *run)
{
    enum tac_err err;
    struct tac_simulation *sim = &run->sim;
    struct tac_checkpoint *state = NULL;
    const double begin_s = tac_wall_s();
    TAC_TRY(save_record(run));
    TAC_TRY(tac_output_sync(run->ctx, run->out));
    TAC_TRY(sim->way->state_out(sim->state, &state));
    state->frame = run->frame;
    state->last_frame = sim->last_frame;
    state->restarts = run->restarts;
    state->wall_s = run->wall_before_s + begin_s - run->wall_start_s;
    TAC_TRY(tac_checkpoint_write(run->ctx, sim->whole, run->dir, sim->whole->checkpoint.keep, state, run->saved,
                                 sizeof run->saved));
    tac_output_checkpoint(run->out, run->saved);
    run->saved_wall_s = tac_wall_s();
    run->save_took_s = run->saved_wall_s - begin_s;
done:
    tac_checkpoint_destroy(&state);
    tac_simulation_view(sim).counters->seconds_output += tac_wall_s() - begin_s;
    return err;
}

enum { WALL_LIMIT = 1000 }; /* among signals' numbers: the greatest wish is told */

/* What this rank wishes, to be heard by all at the end of the next pass. */
static void wish(struct tac_running *run, struct tac_step *step)
{
    const double now_s = tac_wall_s(), pass_s = now_s - run->wished_wall_s;
    const double limit_s = run->options->wall_limit_s, left_s = limit_s - (now_s - run->wall_start_s);
    run->longest_pass_s = run->wished_wall_s > 0 ? fmax(run->longest_pass_s, pass_s) : 0;
    run->wished_wall_s = now_s;
    step->ask_stop = tac_signal_caught();
    if (run->ctx->rank != 0)
        return;
    /* Time for the checkpoint, for one more pass, and for closing the files. */
    if (limit_s > 0 && step->ask_stop == 0 &&
        left_s < fmin(.25 * limit_s, 2 + 4 * run->save_took_s + 2 * run->longest_pass_s))
        step->ask_stop = WALL_LIMIT;
    step->ask_save = now_s - run->saved_wall_s > run->sim.whole->checkpoint.every_s;
}

static enum tac_err stop(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    const int why = run->step.told_stop;
    TAC_TRY(save(run));
    err = tac_fail(run->ctx, TAC_ERR_STOPPED,
                   "stopped by %s at t = %.9g s; the state is in %s/%s: run again with --restart %s to go on",
                   why == WALL_LIMIT ? "the wall limit" : strsignal(why), seconds(run, tac_simulation_now(&run->sim)),
                   run->dir, run->saved, run->dir);
done:
    return err;
}

/* The first multiple of every_t after now, quanta. */
static tac_time next_save(const struct tac_running *run)
{
    const double every_s = run->sim.whole->checkpoint.every_t;
    const tac_time now = tac_simulation_now(&run->sim);
    if (!(every_s > 0))
        return TAC_TIME_NEVER;
    const double k = floor(seconds(run, now) / every_s * (1 + 1e-12)) + 1;
    const tac_time t = tac_scene_quanta(run->sim.whole, k * every_s);
    return t > now ? t : now + 1;
}

/* After a step: stops and checkpoints that are due. */
static enum tac_err stop_or_save(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    if (run->step.told_stop)
        TAC_TRY(stop(run));
    if (run->step.told_save || tac_simulation_now(&run->sim) >= run->next_save) {
        TAC_TRY(save(run));
        run->next_save = next_save(run);
    }
done:
    return err;
}

/* ---- the loop ---- */

static tac_time before_step(void *user, tac_time t, struct tac_step *step)
{
    struct tac_running *run = user;
    wish(run, step);
    return t < run->next_save ? t : run->next_save;
}

/* At a frame it comes first; stops and checkpoints then come after it. */
static enum tac_err after_step(void *user, tac_time t, const struct tac_step *step)
{
    enum tac_err err = TAC_OK;
    struct tac_running *run = user;
    struct tac_status status;
    run->step = *step;
    fill_status(run, &status, "running");
    TAC_TRY(run->sim.way->hold(run->sim.state, tac_output_status(run->ctx, run->out, &status, false)));
    if (tac_simulation_now(&run->sim) < t)
        TAC_TRY(stop_or_save(run));
done:
    return err;
}

/* Is the end a frame of the grid?  Else a longer run would not have it. */
static bool end_on_grid(const struct tac_running *run)
{
    const struct tac_scene *s = run->sim.whole;
    const double k = (double)run->frame * s->frame_s / s->quantum_s / 65536;
    return floor(k + .5) * 65536 == (double)s->t_end;
}

enum tac_err tac_running_loop(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    const struct tac_observer observer = {run, before_step, after_step};
    const tac_time t_end = run->sim.whole->t_end;
    if (run->frame == 0)
        TAC_TRY(write_frame(run));
    run->next_save = next_save(run);
    for (tac_time now = tac_simulation_now(&run->sim); now < t_end;) {
        tac_time next = tac_scene_frame_time(run->sim.whole, run->frame);
        next = next > now && next < t_end ? next : t_end;
        TAC_TRY(tac_simulation_go(&run->sim, next, &observer));
        now = next;
        /* A last frame between two of the grid is taken back by a run that goes further: the checkpoint is before it.
         */
        const bool last = now == t_end, on_grid = end_on_grid(run);
        if (last && !on_grid)
            TAC_TRY(save(run));
        TAC_TRY(write_frame(run));
        if (last && on_grid)
            TAC_TRY(save(run));
        if (!last)
            TAC_TRY(stop_or_save(run));
    }
done:
    return err;
}

enum tac_err tac_running_finish(struct tac_running *run, enum tac_err err)
{
    enum tac_err last = TAC_OK;
    struct tac_summary summary;
    memset(&summary, 0, sizeof summary);
    summary.clocks = run->sim.whole->clocks.mode == TAC_CLOCKS_NESTED ? "nested" : "free";
    summary.argc = run->options->argc;
    summary.argv = run->options->argv;
    struct tac_simulation *sim = &run->sim;
    if (sim->state) {
        summary.discovery = sim->way->discovery(sim->state);
        summary.book_residual = sim->way->book_residual(sim->state);
        fill_status(run, &summary.status, err == TAC_OK ? "finished" : err == TAC_ERR_STOPPED ? "stopped" : "failed");
        last = sim->way->counters(sim->state, &summary.status.counters);
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
