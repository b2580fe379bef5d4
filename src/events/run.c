/* The loop over frames of a run. */
#include <tactus/run.h>

#include "events/ranks.h"
#include "verify/overlap.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct tac_ctx *ctx;
    const struct tac_scene *scene;
    const struct tac_run_options *options;
    struct tac_sim *sim;
    struct tac_output *out;
    struct tac_scene *whole;     /* borrowed: what was read */
    struct tac_scene *local;     /* owned; NULL on one rank */
    double *position, *velocity; /* owned, (owned vertices, 3) */
    float *force;                /* owned, likewise */
    size_t room;                 /* owned vertices that there is room for */
    int64_t frame;               /* of the next frame */
    tac_time last_frame;
    double wall_start_s;
    struct tac_energy_row row;
};

/* Set by the handler, read between windows: a process has one set of signals. */
static volatile sig_atomic_t caught_signal;

static void on_signal(int number)
{
    caught_signal = number;
}

static void catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
}

static void fill_status(struct run *run, struct tac_status *status, const char *state)
{
    const struct tac_sim *sim = run->sim;
    memset(status, 0, sizeof *status);
    status->state = state;
    status->time_s = tac_seconds(sim, sim->now);
    status->end_s = tac_seconds(sim, run->scene->t_end);
    status->wall_s = tac_wall_s() - run->wall_start_s;
    double share = status->time_s / status->end_s;
    status->wall_left_s = share > 0 ? status->wall_s * (1 - share) / share : NAN;
    status->window_s = sim->window_s;
    status->contacts = (int64_t)sim->live_pairs;
    status->deepest_layer = sim->deepest_ever;
    double ticks = 0;
    for (int k = 0; k < TAC_KINDS; k++)
        ticks += (double)sim->counters.committed[k];
    status->ticks_per_s = status->wall_s > 0 ? ticks / status->wall_s : 0;
    status->error = run->ctx->error[0] ? run->ctx->error : NULL;
    status->counters = sim->counters;
}

static enum tac_err write_frame(struct run *run)
{
    enum tac_err err;
    struct tac_sim *sim = run->sim;
    const double begin_s = tac_wall_s(), span = tac_seconds(sim, sim->now - run->last_frame);
    for (tac_lid i = 0; i < sim->owned; i++) {
        size_t k = 3 * (size_t)i;
        tac_position(sim, i, sim->now, &run->position[k]);
        memcpy(&run->velocity[k], sim->vel[i].v, 3 * sizeof(double));
        for (size_t c = k; c < k + 3; c++) {
            run->force[c] = span > 0 ? (float)(sim->impulse[c] / span) : 0;
            sim->impulse[c] = 0;
        }
    }
    const struct tac_frame frame = {run->frame,    tac_seconds(sim, sim->now),
                                    sim->owned,    sim->scene->part ? sim->scene->part->vertex_id : NULL,
                                    run->position, run->velocity,
                                    run->force};
    TAC_TRY(tac_sim_energy(sim, &run->row));
    TAC_TRY(tac_output_frame(run->ctx, run->out, &frame));
    TAC_TRY(tac_output_row(run->ctx, run->out, &run->row));
    run->frame++;
    run->last_frame = sim->now;
done:
    sim->counters.seconds_output += tac_wall_s() - begin_s;
    return err;
}

static enum tac_err loop(struct run *run)
{
    enum tac_err err = TAC_OK;
    struct tac_sim *sim = run->sim;
    struct tac_status status;
    TAC_TRY(write_frame(run));
    while (sim->now < run->scene->t_end) {
        tac_time next = tac_scene_frame_time(run->scene, run->frame);
        next = next > sim->now && next < run->scene->t_end ? next : run->scene->t_end;
        sim->before_at = next;
        while (sim->now < next) {
            TAC_TRY(tac_sim_advance(sim, next));
            if (caught_signal && sim->now < run->scene->t_end) {
                int number = caught_signal;
                if (sim->now < next)
                    TAC_TRY(write_frame(run));
                err = tac_fail(run->ctx, TAC_ERR_RUN,
                               "stopped by %s at t = %.9g s; the frames up to there are written, and since checkpoints "
                               "come in a later version the run has to start anew",
                               strsignal(number), tac_seconds(sim, sim->now));
                goto done;
            }
            fill_status(run, &status, "running");
            TAC_TRY(tac_output_status(run->ctx, run->out, &status, false));
        }
        TAC_TRY(write_frame(run));
    }
done:
    return err;
}

/* Writes how it ended, also after a failure. */
static enum tac_err finish(struct run *run, enum tac_err err)
{
    struct tac_summary summary;
    memset(&summary, 0, sizeof summary);
    summary.discovery = run->sim->discovery->name;
    summary.clocks = run->scene->clocks.mode == TAC_CLOCKS_NESTED ? "nested" : "free";
    summary.argc = run->options->argc;
    summary.argv = run->options->argv;
    summary.book_residual = tac_sim_book_residual(run->sim);
    fill_status(run, &summary.status, err == TAC_OK ? "finished" : caught_signal ? "stopped" : "failed");
    summary.wall_s = summary.status.wall_s;
    enum tac_err last = tac_output_finish(run->ctx, run->out, &summary);
    return err ? err : last;
}

/* Deals the scene out to the ranks, and makes the simulation of this rank's part. */
static enum tac_err deal(struct run *run)
{
    enum tac_err err;
    struct tac_ctx *ctx = run->ctx;
    struct tac_pieces *pieces = NULL;
    if (ctx->size > 1) {
        TAC_TRY(tac_pieces_from_scene(ctx, run->whole, &pieces));
        TAC_TRY(tac_pieces_topology(ctx, pieces));
        for (tac_lid i = 0; i < pieces->vertex_count; i++)
            pieces->owner[i] = (int32_t)(pieces->vertex_id[i] * ctx->size / pieces->vertex_total);
        TAC_TRY(tac_localise(ctx, run->whole, pieces, &run->local));
        tac_scene_shed(run->whole);
    }
    tac_pieces_destroy(&pieces);
    run->scene = run->local ? run->local : run->whole;
    TAC_TRY(tac_sim_create(ctx, run->scene, run->scene->discovery.mode, &run->sim));
    run->room = (size_t)run->sim->owned;
    TAC_TRY(tac_alloc(ctx, 3 * run->room, sizeof *run->position, &run->position));
    TAC_TRY(tac_alloc(ctx, 3 * run->room, sizeof *run->velocity, &run->velocity));
    TAC_TRY(tac_alloc(ctx, 3 * run->room, sizeof *run->force, &run->force));
done:
    tac_pieces_destroy(&pieces);
    return tac_agree(ctx, err);
}

/* Rank 0, by itself. */
static enum tac_err check_overlaps(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir)
{
    struct tac_ctx alone;
    tac_ctx_init(&alone, MPI_COMM_SELF);
    alone.quiet = ctx->quiet;
    enum tac_err err = tac_overlap_check(&alone, scene, dir);
    memcpy(ctx->error, alone.error, sizeof ctx->error);
    return err;
}

enum tac_err tac_run(struct tac_ctx *ctx, struct tac_scene *scene, const struct tac_run_options *options)
{
    enum tac_err err;
    struct run run = {.ctx = ctx, .scene = scene, .whole = scene, .options = options, .wall_start_s = tac_wall_s()};
    caught_signal = 0;
    /* One rank looks for overlaps; memory for that is not needed everywhere. */
    TAC_TRY(tac_agree(ctx, ctx->rank == 0 ? check_overlaps(ctx, scene, options->dir) : TAC_OK));
    /* Several ranks: the mesh is written while the scene is whole. */
    if (ctx->size > 1)
        TAC_TRY(tac_output_create(ctx, scene, options->dir, options->overwrite, &run.out));
    TAC_TRY(deal(&run));
    if (ctx->size == 1)
        TAC_TRY(tac_output_create(ctx, scene, options->dir, options->overwrite, &run.out));
    catch_signals();
    err = finish(&run, loop(&run));
done:
    tac_output_destroy(&run.out);
    tac_sim_destroy(&run.sim);
    tac_scene_destroy(&run.local);
    free(run.position);
    free(run.velocity);
    free(run.force);
    return err;
}
