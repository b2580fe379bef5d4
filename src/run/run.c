/* run.c: runs the loop over the frames of a run. */
#include "io/folder/log.h"
#include "io/record/record.h"
#include "run/follow.h"
#include "run/running.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/process.h>

static double seconds_of(const struct tac_running *run, tac_time t)
{
    return (double)t * run->sim.whole->settings->quantum_s;
}

static void fill_status(struct tac_running *run, struct tac_status *status, const char *state)
{
    const struct tac_simulation *sim = &run->sim;
    memset(status, 0, sizeof *status);
    sim->integrator->status(sim->state, status);
    status->state = state;
    status->time_s = seconds_of(run, tac_simulation_now(sim));
    status->end_s = seconds_of(run, sim->whole->settings->t_end);
    status->wall_s = tac_wall_s() - run->wall_start_s;
    status->wall_left_s = tac_progress_left_s(&run->progress, status->end_s);
    status->contacts = run->contacts; /* counting them anew would need a collective call */
    /* The number of ticks on other ranks is not known here, so it is estimated by this rank's. */
    const double ticks = (double)(tac_simulation_ticks(&status->counters) - sim->ticks_before) * run->ctx->size;
    status->ticks_per_s = status->wall_s > 0 ? ticks / status->wall_s : 0;
    status->error = run->ctx->error[0] ? run->ctx->error : NULL;
}

/* Ends one interval of the record at a frame and begins the next. */
static enum tac_err record_frame(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    if (run->record == NULL)
        return TAC_OK;
    if (run->frame > 0) {
        run->sim.integrator->record->look(run->sim.state, TAC_LOOK_OTHERS);
        TAC_TRY(tac_record_group(run->record, run->frame - 1));
    }
    run->sim.integrator->record->look(run->sim.state, TAC_LOOK_ALL);
done:
    return err;
}

/* Makes room for this rank's vertices, whose number changes with each rebalancing. */
static enum tac_err make_frame_room(struct tac_running *run, size_t vertices)
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

/* Writes the row of the newest frame into the log. */
static enum tac_err log_frame(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    struct tac_status status;
    if (run->ctx->rank == 0) {
        fill_status(run, &status, "running");
        err = tac_log_row(run->ctx, run->out, run->frame, &run->row, &status);
    }
    return tac_agree(run->ctx, err);
}

static enum tac_err write_frame(struct tac_running *run)
{
    enum tac_err err;
    struct tac_simulation *sim = &run->sim;
    const struct tac_state_view view = tac_simulation_view(sim);
    const double begin_s = tac_wall_s(), span = seconds_of(run, view.now - sim->last_frame);
    if (sim->integrator->book != NULL)
        TAC_TRY(sim->integrator->book->gather_impulses(sim->state));
    TAC_TRY(tac_follow_reactions(sim, run->out));
    TAC_TRY(tac_follow_frame(sim, run->follow));
    TAC_TRY(tac_agree(run->ctx, make_frame_room(run, (size_t)view.owned)));
    sim->integrator->positions(sim->state, run->position);
    for (size_t i = 0; i < (size_t)view.owned; i++) {
        memcpy(&run->velocity[3 * i], (const char *)view.velocity + i * view.stride, 3 * sizeof(double));
        for (size_t c = 3 * i; c < 3 * i + 3; c++) {
            run->force[c] = span > 0 ? (float)(tac_state_impulse(&view, c) / span) : 0;
            view.impulse[c] = 0;
            if (view.impulse_rest != NULL)
                view.impulse_rest[c] = 0;
        }
    }
    struct tac_frame frame = {
        run->frame, seconds_of(run, view.now), view.owned, view.id, run->position, run->velocity, run->force, 0, NULL};
    TAC_TRY(tac_fields_fill(sim, &run->fields, &frame));
    TAC_TRY(record_frame(run));
    if (run->row_at != view.now)
        TAC_TRY(sim->integrator->energy(sim->state, &run->row));
    tac_simulation_begin_row(sim);
    run->row_at = -1;
    TAC_TRY(tac_output_frame(run->ctx, run->out, &frame));
    run->contacts = run->row.contacts;
    TAC_TRY(tac_output_row(run->ctx, run->out, &run->row));
    TAC_TRY(log_frame(run));
    run->frame++;
    sim->last_frame = view.now;
done:
    view.counters->seconds_output += tac_wall_s() - begin_s;
    return err;
}

/* ---- stops ---- */

enum { WALL_LIMIT = 1000 }; /* shares a number range with signals: all ranks get the largest request */

/* Fills the requests of this rank, which all ranks know at the end of the next pass. */
static void make_requests(struct tac_running *run, struct tac_step *step)
{
    const double now_s = tac_wall_s(), pass_s = now_s - run->requested_wall_s;
    const double limit_s = run->options->wall_limit_s, left_s = limit_s - (now_s - run->wall_start_s);
    run->longest_pass_s = run->requested_wall_s > 0 ? fmax(run->longest_pass_s, pass_s) : 0;
    run->requested_wall_s = now_s;
    step->ask_stop = tac_signal_caught();
    if (run->ctx->rank != 0)
        return;
    /* The time that the checkpoint, one more pass and closing the files need; and the record, whose part grows with the
     * time since the last frame. */
    const double backlog_s = run->record != NULL ? tac_record_backlog_s(run->record) : 0;
    if (limit_s > 0 && step->ask_stop == 0 &&
        left_s < fmin(.25 * limit_s, 2 + 4 * run->save_took_s + 2 * run->longest_pass_s) + 1.5 * backlog_s)
        step->ask_stop = WALL_LIMIT;
    step->ask_save = now_s - run->saved_wall_s > run->sim.whole->settings->checkpoint.every_s;
}

static enum tac_err stop_run(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    const int why = run->step.reported_stop;
    TAC_TRY(tac_running_save(run));
    err = tac_fail(run->ctx, TAC_ERR_STOPPED,
                   "stopped by %s at t = %.9g s; the state is in %s/%s: run again with --restart %s to go on",
                   why == WALL_LIMIT ? "the wall limit" : strsignal(why),
                   seconds_of(run, tac_simulation_now(&run->sim)), run->dir, run->saved, run->dir);
done:
    return err;
}

/* The first multiple of every_t after now, quanta. It is on a grid like that of frames, so that a frame and a
 * checkpoint can share an instant. */
static tac_time next_save(const struct tac_running *run)
{
    const struct tac_scene *scene = run->sim.whole;
    const tac_time now = tac_simulation_now(&run->sim);
    const double every_s = fmax(scene->settings->checkpoint.every_t, TAC_FRAME_GRAIN * scene->settings->quantum_s);
    if (!(scene->settings->checkpoint.every_t > 0))
        return TAC_TIME_NEVER;
    int64_t k = (int64_t)(seconds_of(run, now) / every_s);
    while (tac_scene_grid(scene, every_s, k) <= now)
        k++;
    return tac_scene_grid(scene, every_s, k);
}

/* After a step, stops or writes a checkpoint if that is due. */
static enum tac_err stop_or_save(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    if (run->step.reported_stop)
        TAC_TRY(stop_run(run));
    if (run->step.reported_save || tac_simulation_now(&run->sim) >= run->next_save) {
        TAC_TRY(tac_running_save(run));
        run->next_save = next_save(run);
    }
done:
    return err;
}

/* ---- the loop ---- */

static tac_time before_step(void *user, tac_time t, struct tac_step *step)
{
    struct tac_running *run = user;
    make_requests(run, step);
    return t < run->next_save ? t : run->next_save;
}

/* After each step: writes the status, and stops or saves if that is due. At a frame the loop writes the frame first,
 * and then stops or saves. */
static enum tac_err after_step(void *user, tac_time t, const struct tac_step *step)
{
    enum tac_err err = TAC_OK;
    struct tac_running *run = user;
    struct tac_status status;
    run->step = *step;
    tac_progress_note(&run->progress, tac_wall_s(), seconds_of(run, tac_simulation_now(&run->sim)));
    fill_status(run, &status, "running");
    enum tac_err reported = tac_output_status(run->ctx, run->out, &status, false);
    if (!reported)
        reported = tac_steps_row(run->ctx, run->sim.integrator, run->sim.state, run->out);
    TAC_TRY(run->sim.integrator->hold(run->sim.state, reported));
    if (tac_simulation_now(&run->sim) < t)
        TAC_TRY(stop_or_save(run));
done:
    return err;
}

/* Is the end a frame of the grid? If not, a longer run would not have this frame. */
static bool end_on_grid(const struct tac_running *run)
{
    const struct tac_scene *s = run->sim.whole;
    return tac_scene_grid(s, s->settings->frame_s, run->frame) == s->settings->t_end;
}

/* Finishes a run that continues at its end. Only the last frame may be missing, and in another folder the checkpoint.
 */
static enum tac_err finish_again(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    if (!tac_output_here(run->out))
        TAC_TRY(tac_running_save(run));
    if (run->sim.last_frame < tac_simulation_now(&run->sim))
        TAC_TRY(write_frame(run));
done:
    return err;
}

enum tac_err tac_running_loop(struct tac_running *run)
{
    enum tac_err err = TAC_OK;
    const struct tac_observer observer = {run, before_step, after_step};
    const tac_time t_end = run->sim.whole->settings->t_end;
    tac_progress_begin(&run->progress, tac_wall_s(), seconds_of(run, tac_simulation_now(&run->sim)));
    if (run->frame == 0) {
        TAC_TRY(tac_follow_histories(&run->sim, run->follow, run->out));
        TAC_TRY(write_frame(run));
    }
    run->next_save = next_save(run);
    if (tac_simulation_now(&run->sim) == t_end)
        TAC_TRY(finish_again(run));
    for (tac_time now = tac_simulation_now(&run->sim); now < t_end;) {
        tac_time next = tac_scene_frame_time(run->sim.whole, run->frame);
        next = next > now && next < t_end ? next : t_end;
        const tac_time follow = tac_follow_next(run->sim.whole, now, false), stop_at = follow < next ? follow : next;
        TAC_TRY(tac_simulation_go(&run->sim, stop_at, &observer));
        now = stop_at;
        TAC_TRY(tac_follow_histories(&run->sim, run->follow, run->out));
        if (now < next) {
            TAC_TRY(stop_or_save(run));
            continue;
        }
        /* A run that continues beyond the end removes a last frame that is off the grid, so the checkpoint is written
         * before that frame. If the run is killed between the two, a restart from the checkpoint writes the frame. */
        const bool last = now == t_end, on_grid = end_on_grid(run);
        if (last && !on_grid)
            TAC_TRY(tac_running_save(run));
        TAC_TRY(write_frame(run));
        if (last && on_grid)
            TAC_TRY(tac_running_save(run));
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
    summary.clocks = run->sim.whole->settings->clocks.mode == TAC_CLOCKS_NESTED ? "nested" : "free";
    summary.invariant = run->sim.whole->settings->integrator != TAC_INTEGRATOR_IMPLICIT ||
                        run->sim.whole->settings->implicit.solver == TAC_SOLVER_INVARIANT;
    summary.argc = run->options->argc;
    summary.argv = run->options->argv;
    struct tac_simulation *sim = &run->sim;
    if (sim->state) {
        summary.discovery = sim->integrator->discovery(sim->state);
        summary.book_residual = sim->integrator->book != NULL ? sim->integrator->book->residual(sim->state) : 0;
        fill_status(run, &summary.status, err == TAC_OK ? "finished" : err == TAC_ERR_STOPPED ? "stopped" : "failed");
        last = sim->integrator->counters(sim->state, &summary.status.counters);
        const double ticks = (double)(tac_simulation_ticks(&summary.status.counters) - run->all_before);
        summary.status.ticks_per_s = summary.status.wall_s > 0 ? ticks / summary.status.wall_s : 0;
    } else { /* the state was lost in a rebalancing */
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
    const enum tac_err reported = tac_output_finish(run->ctx, run->out, &summary);
    return err ? err : last ? last : record ? record : reported;
}
