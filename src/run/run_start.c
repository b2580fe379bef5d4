/* run_start.c: begins a whole run from its scene or checkpoint, runs it to its end, and frees everything. */
#include "io/checkpoint/checkpoint.h"
#include "io/folder/output.h"
#include "io/record/record.h"
#include "run/follow.h"
#include "run/running.h"
#include "run/start.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* <stem of the scene's file>.run in the current folder. */
static enum tac_err default_folder(struct tac_ctx *ctx, const char *scene, char **out)
{
    const char *base = strrchr(scene, '/');
    base = base ? base + 1 : scene;
    const char *dot = strrchr(base, '.');
    size_t stem = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    enum tac_err err = tac_alloc(ctx, stem + 5, 1, out);
    if (err == TAC_OK) {
        memcpy(*out, base, stem);
        memcpy(*out + stem, ".run", 5);
    }
    return err;
}

/* The folder that the file lies in. */
static enum tac_err folder_of(struct tac_ctx *ctx, const char *file, char **out)
{
    const char *slash = strrchr(file, '/');
    size_t length = slash == NULL ? 1 : slash == file ? 1 : (size_t)(slash - file);
    enum tac_err err = tac_alloc(ctx, length + 1, 1, out);
    if (err == TAC_OK)
        memcpy(*out, slash == NULL ? "." : file, length);
    return err;
}

/* Settles the options that need the scene. Local, with the same result on every rank. */
static enum tac_err settle_options(struct tac_ctx *ctx, const struct tac_scene_source *source,
                                   const struct tac_run_options *options, const struct tac_start *start, char **folder)
{
    enum tac_err err = TAC_OK;
    struct tac_scene *scene = start->scene;
    if (options->until_s != NULL)
        TAC_TRY(tac_scene_until(ctx, scene, *options->until_s));
    /* An end that is nearer than TAC_FRAME_GRAIN to the grid of frames is moved to the grid, so a checkpoint may be
     * that much later. */
    if (start->checkpoint != NULL && start->checkpoint->now > scene->settings->t_end + TAC_FRAME_GRAIN)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT,
                         "the checkpoint '%s' is at t = %.9g s, after the end, %.9g s; give a later one with --until",
                         start->file, (double)start->checkpoint->now * scene->settings->quantum_s,
                         scene->settings->end_s));
    if (start->checkpoint != NULL)
        TAC_TRY(folder_of(ctx, start->file, folder));
    else if (source->path != NULL)
        TAC_TRY(default_folder(ctx, source->path, folder));
    else if (options->dir == NULL)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "a run of a scene without a file needs a folder to write to"));
done:
    return err;
}

static enum tac_err start_record(struct tac_running *run, bool resume)
{
    enum tac_err err = TAC_OK;
    const struct tac_run_options *o = run->options;
    struct tac_simulation *sim = &run->sim;
    const tac_time now = tac_simulation_now(sim);
    bool loaded = false;
    if (resume && !o->record && now == sim->whole->settings->t_end) /* what is recorded stays */
        TAC_TRY(tac_record_end(run->ctx, sim->whole, run->dir, now));
    else if (resume)
        TAC_TRY(tac_record_resume(run->ctx, sim->whole, run->dir, now, run->frame - 1, now > sim->last_frame, o->record,
                                  &run->record, &loaded));
    else if (o->record)
        TAC_TRY(tac_record_create(run->ctx, sim->whole, run->dir, &run->record));
    sim->record = run->record;
    TAC_TRY(tac_agree(run->ctx, sim->integrator->record->begin(sim->state, run->record ? &run->record->log : NULL)));
    if (resume && run->record != NULL)
        sim->integrator->record->look(sim->state, loaded ? TAC_LOOK_REWRITTEN : TAC_LOOK_ALL);
done:
    return err;
}

/* Puts the state of a checkpoint into the simulation. */
static enum tac_err enter_checkpoint(struct tac_running *run, struct tac_checkpoint **state)
{
    enum tac_err err;
    TAC_TRY(run->sim.integrator->state_in(run->sim.state, *state));
    run->frame = (*state)->frame;
    run->sim.last_frame = (*state)->last_frame;
    run->restarts = (*state)->restarts + 1;
    run->wall_before_s = (*state)->wall_s;
    run->sim.ticks_before = tac_simulation_ticks(tac_simulation_view(&run->sim).counters);
    run->all_before = tac_simulation_ticks(&(*state)->counters);
    if ((*state)->has_row) {
        run->row = (*state)->row;
        run->row_at = (*state)->now;
    }
    run->followed = (*state)->follow;
    run->followed_count = (*state)->follow_count;
    (*state)->follow = NULL;
    tac_checkpoint_destroy(state);
    TAC_TRY(run->sim.integrator->contact_count(run->sim.state, &run->contacts)); /* until the next frame */
done:
    return err;
}

static struct tac_output_past past_of(const struct tac_start *start)
{
    const struct tac_checkpoint *c = start->checkpoint;
    return (struct tac_output_past){
        start->file,           c->now,          c->frame,      c->restarts, c->has_losses != 0,
        c->folder.entry_count, c->folder.entry, c->folder.sums};
}

/* For a checkpoint at the end of the run. *over: the folder is whole, so there is nothing to do; if not, the end of the
 * run is written again. */
static enum tac_err check_end(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                              const struct tac_start *start, bool *over)
{
    enum tac_err err;
    const struct tac_checkpoint *c = start->checkpoint;
    const struct tac_output_past past = past_of(start);
    const bool last_frame = c->last_frame < c->now; /* it is still to come */
    bool here, whole;
    int kicked = 0;
    TAC_TRY(tac_output_whole(ctx, scene, dir, &past, last_frame, &here, &whole));
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
                       "the checkpoint '%s' is of t = %.9g s, where the run ends, and does not hold the last row of "
                       "energy.csv; go on from an older one, or further with --until",
                       start->file, (double)c->now * scene->settings->quantum_s);
done:
    return err;
}

/* Runs a simulation that has a folder to its end, unless it has failed already (err). */
static enum tac_err run_on(struct tac_running *run, bool resume, enum tac_err err)
{
    if (!err)
        err = start_record(run, resume);
    if (!err)
        err = tac_agree(run->ctx, tac_steps_open(run->ctx, run->sim.integrator, run->sim.state, run->out));
    if (!err)
        err = tac_follow_create(&run->sim, run->followed, run->followed_count, &run->follow);
    if (!err)
        err = tac_running_loop(run);
    /* The ranks agree on the error, so that a rank that failed alone does not leave the others waiting. */
    return tac_running_finish(run, tac_agree(run->ctx, err));
}

/* ---- a branch ---- */

/* Keys that are not part of the physics: they may change at any restart. */
static bool is_free(const char *assignment)
{
    static const char *const keys[] = {"time", "output", "discovery", "name"};
    const size_t length = strcspn(assignment, ".=");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strlen(keys[i]) == length && strncmp(assignment, keys[i], length) == 0)
            return true;
    return false;
}

/* Refuses a folder that holds a run, because a branch needs a new one. */
static enum tac_err check_new(struct tac_ctx *ctx, const char *dir)
{
    struct stat s;
    char *path = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, strlen(dir) + sizeof "/status.json", 1, &path));
    sprintf(path, "%s/status.json", dir);
    if (ctx->rank == 0 && stat(path, &s) == 0)
        err = tac_fail(ctx, TAC_ERR_INPUT, "'%s' already holds a run; --branch needs a new folder, choose it with -o",
                       dir);
done:
    free(path);
    return err;
}

/* Refuses an older checkpoint of the folder `parent` if the newest one is damaged. A branch from an earlier time is
 * another trajectory, so the user must name that checkpoint. */
static enum tac_err check_parent(struct tac_ctx *ctx, const char *parent, const char *file)
{
    enum tac_err err = TAC_OK;
    struct stat s;
    int64_t *list = NULL;
    size_t count = 0;
    const char *name = strrchr(file, '/');
    if (ctx->rank != 0 || stat(parent, &s) != 0 || !S_ISDIR(s.st_mode))
        return TAC_OK;
    TAC_TRY(tac_checkpoint_list(ctx, parent, &list, &count));
    if (count > 0 && list[count - 1] != tac_checkpoint_number(name == NULL ? file : name + 1))
        err = tac_fail(ctx, TAC_ERR_INPUT,
                       "the newest checkpoint of '%.1000s' cannot be used; to branch from an earlier one, name it: "
                       "--restart '%.1000s'",
                       parent, file);
done:
    free(list);
    return err;
}

/* Restores the checkpoint, applies the changes, and then makes the folder of the changed scene, so that a refused
 * change leaves no folder. */
static enum tac_err begin_branch(struct tac_running *run, struct tac_start *start, struct tac_pieces **pieces)
{
    enum tac_err err;
    struct tac_simulation *sim = &run->sim;
    struct tac_output_past past = past_of(start);
    char sha256[65];
    snprintf(sha256, sizeof sha256, "%s", sim->whole->settings->sha256);
    past.entry = NULL; /* it is of another folder */
    past.entry_count = 0;
    past.sums = NULL;
    TAC_TRY(tac_agree(run->ctx, check_new(run->ctx, run->dir)));
    TAC_TRY(tac_agree(run->ctx, check_parent(run->ctx, run->options->restart, start->file)));
    TAC_TRY(tac_simulation_make(sim, pieces));
    TAC_TRY(enter_checkpoint(run, &start->checkpoint));
    for (int i = 0; i < run->change_count; i++) {
        bool lost;
        TAC_TRY(tac_simulation_change(sim, run->change[i], &lost));
    }
    run->row_at = -1;
    if (sim->local != NULL)
        TAC_TRY(tac_pieces_of(run->ctx, sim->local, pieces));
    TAC_TRY(tac_output_resume(run->ctx, sim->whole, *pieces, run->dir, &past, &run->out));
    tac_pieces_destroy(pieces);
    const struct tac_output_branch branch = {start->file, sha256, (double)past.now * sim->whole->settings->quantum_s,
                                             run->change, run->change_count};
    TAC_TRY(tac_output_branched(run->ctx, run->out, &branch));
done:
    return err;
}

/* Splits the assignments into those that any restart may make, which stay in source->set, and the changes. */
static enum tac_err split_changes(struct tac_running *run, struct tac_scene_source *source, const char ***kept)
{
    enum tac_err err;
    int count = 0;
    const size_t room = (size_t)source->set_count + 1;
    TAC_TRY(tac_alloc(run->ctx, room, sizeof **kept, kept));
    TAC_TRY(tac_alloc(run->ctx, room, sizeof *run->change, &run->change));
    for (int i = 0; i < source->set_count; i++)
        if (is_free(source->set[i]))
            (*kept)[count++] = source->set[i];
        else
            run->change[run->change_count++] = source->set[i];
    source->set = *kept;
    source->set_count = count;
    if (run->change_count == 0)
        err = tac_fail(run->ctx, TAC_ERR_INPUT,
                       "--branch changes nothing: no --set names gravity, contact, loads or motions; leave --branch "
                       "out to go on with the same scene");
done:
    return err;
}

static enum tac_err run_branch(struct tac_running *run, struct tac_start *start, struct tac_pieces **pieces)
{
    enum tac_err err;
    const struct tac_settings *settings = run->sim.whole->settings;
    if (start->checkpoint->now >= settings->t_end)
        TAC_TRY(tac_fail(run->ctx, TAC_ERR_INPUT,
                         "the checkpoint '%s' is of t = %.9g s, where the scene ends, so nothing is left to branch to; "
                         "give a later end with --set time.end=T",
                         start->file, (double)start->checkpoint->now * settings->quantum_s));
    TAC_TRY(tac_simulation_pieces(run->sim.ctx, run->sim.whole, pieces));
    err = begin_branch(run, start, pieces);
    if (run->out != NULL)
        err = run_on(run, true, err);
done:
    return err;
}

static enum tac_err run_scene(struct tac_running *run, struct tac_start *start, struct tac_pieces **pieces)
{
    enum tac_err err = TAC_OK;
    struct tac_ctx *ctx = run->ctx;
    struct tac_simulation *sim = &run->sim;
    const struct tac_run_options *options = run->options;
    const bool resume = start->checkpoint != NULL;
    struct tac_output_past past = {.file = NULL};
    bool over = false;
    if (resume) {
        past = past_of(start);
        if (past.now >= sim->whole->settings->t_end)
            TAC_TRY(check_end(ctx, sim->whole, run->dir, start, &over));
        if (over)
            goto done;
    } else if (!options->overwrite) {
        TAC_TRY(tac_folder_taken(ctx, run->dir));
    }
    TAC_TRY(tac_simulation_pieces(sim->ctx, sim->whole, pieces));
    if (!resume)
        TAC_TRY(tac_simulation_check(sim->ctx, sim->whole, *pieces, run->dir));
    if (*pieces == NULL) /* refuse what cannot be run before a folder is made */
        TAC_TRY(tac_simulation_make(sim, pieces));
    if (resume)
        TAC_TRY(tac_output_resume(ctx, sim->whole, *pieces, run->dir, &past, &run->out));
    else
        TAC_TRY(tac_output_create(ctx, sim->whole, *pieces, run->dir, options->overwrite, &run->out));
    /* From here on the folder's status.json says how the run ends. */
    if (*pieces != NULL)
        err = tac_simulation_make(sim, pieces);
    if (!err && resume)
        err = enter_checkpoint(run, &start->checkpoint);
    err = run_on(run, resume, err);
done:
    return err;
}

static enum tac_err resume_run(struct tac_ctx *ctx, const char *path, const struct tac_scene_source *source,
                               struct tac_start *start, struct tac_pieces **pieces)
{
    const enum tac_err err = tac_start_resume(ctx, path, source, start);
    *pieces = start->pieces;
    start->pieces = NULL;
    return err;
}

enum tac_err tac_run(struct tac_ctx *ctx, const struct tac_scene_source *source, const struct tac_run_options *options)
{
    enum tac_err err;
    struct tac_pieces *pieces = NULL;
    struct tac_start start = {0};
    const double begin_s = tac_wall_s();
    struct tac_running run = {.ctx = ctx, .row_at = -1};
    struct tac_run_options settled = *options;
    struct tac_scene_source kept = *source;
    const char **kept_set = NULL;
    char *folder = NULL;
    if (options->branch) {
        TAC_TRY(tac_agree(ctx, split_changes(&run, &kept, &kept_set)));
        source = &kept;
    }
    if (options->restart != NULL)
        TAC_TRY(resume_run(ctx, options->restart, source, &start, &pieces));
    else if (ctx->size > 1)
        TAC_TRY(tac_scene_source_pieces(ctx, source, &start.scene, &pieces));
    else
        TAC_TRY(tac_scene_source_read(ctx, source, &start.scene));
    TAC_TRY(tac_agree(ctx, settle_options(ctx, source, options, &start, &folder)));
    tac_simulation_begin(&run.sim, ctx, start.scene);
    run.options = &settled;
    run.dir = options->dir ? options->dir : folder;
    run.wall_start_s = run.saved_wall_s = tac_wall_s();
    /* The limit counts from the call. A limit that is already over must stay positive, because 0 means no limit. */
    if (options->wall_limit_s > 0)
        settled.wall_limit_s = fmax(options->wall_limit_s - (run.wall_start_s - begin_s), 1e-3);
    TAC_TRY((options->branch ? run_branch : run_scene)(&run, &start, &pieces));
done:
    tac_pieces_destroy(&pieces);
    tac_record_destroy(&run.record);
    tac_output_destroy(&run.out);
    tac_simulation_end(&run.sim);
    tac_start_clear(&start);
    free(kept_set);
    free(run.change);
    tac_follow_destroy(&run.follow);
    free(run.followed);
    free(run.position);
    free(run.velocity);
    free(run.force);
    tac_fields_clear(&run.fields);
    free(folder);
    free(run.moved);
    return err;
}
