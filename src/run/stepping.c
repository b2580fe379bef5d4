/* stepping.c: the public stepping API (tactus/simulation.h): creating, stepping, reading the state, checkpoints. */
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/geometry.h"
#include "run/simulation.h"
#include "run/start.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- contexts ---- */

enum tac_err tac_simulation_enter(struct tac_simulation *sim)
{
    if (sim == NULL)
        return TAC_ERR_INPUT;
    sim->own.error[0] = sim->host->error[0] = '\0';
    sim->own.quiet = sim->host->quiet;
    sim->own.warned = sim->host->warned;
    sim->own.warned_user = sim->host->warned_user;
    sim->own.warnings = 0;
    if (sim->failed)
        return tac_fail(
            sim->host, TAC_ERR_RUN,
            "the simulation has failed before and cannot be used any more; destroy it, and restore a checkpoint");
    return TAC_OK;
}

enum tac_err tac_simulation_leave(struct tac_simulation *sim, enum tac_err err, bool lost)
{
    sim->host->warnings += sim->own.warnings;
    if (err)
        memcpy(sim->host->error, sim->own.error, sizeof sim->own.error);
    if (lost && err == TAC_ERR_RUN)
        sim->failed = err;
    return err;
}

/* ---- life ---- */

/* Refuses to work without MPI. */
static enum tac_err check_mpi(struct tac_ctx *ctx)
{
    int runs = 0, over = 0;
    ctx->error[0] = '\0';
    MPI_Finalized(&over);
    if (!over)
        MPI_Initialized(&runs);
    if (!runs)
        return tac_fail(ctx, TAC_ERR_INPUT, "MPI does not run: call MPI_Init() or tac_mpi_begin() first");
    return TAC_OK;
}

/* Makes a simulation without a scene. */
static enum tac_err make_empty(struct tac_ctx *ctx, struct tac_simulation **out)
{
    struct tac_simulation *sim = NULL;
    enum tac_err err = tac_agree(ctx, tac_alloc(ctx, 1, sizeof *sim, &sim));
    if (!err) {
        MPI_Comm comm;
        MPI_Comm_dup(ctx->comm, &comm);
        tac_ctx_init(&sim->own, comm);
        sim->own.quiet = ctx->quiet;
        sim->own.warned = ctx->warned;
        sim->own.warned_user = ctx->warned_user;
        sim->own.added_elements = ctx->added_elements;
        sim->host = ctx;
    } else {
        free(sim);
        sim = NULL;
    }
    *out = sim;
    return err;
}

/* Begins the simulation with the scene that was read, and keeps its contexts. */
static void settle_scene(struct tac_simulation *sim, struct tac_scene *scene)
{
    struct tac_ctx own = sim->own, *host = sim->host;
    tac_simulation_begin(sim, &own, scene);
    sim->own = own;
    sim->ctx = &sim->own;
    sim->host = host;
}

enum tac_err tac_simulation_create(struct tac_ctx *ctx, const struct tac_scene_source *source,
                                   struct tac_simulation **out)
{
    enum tac_err err;
    struct tac_simulation *sim = NULL;
    struct tac_scene *scene = NULL;
    struct tac_pieces *pieces = NULL;
    struct tac_energy_row row;
    *out = NULL;
    if ((err = check_mpi(ctx)) != TAC_OK)
        return err;
    if (source == NULL || (source->path == NULL && source->text == NULL))
        return tac_fail(ctx, TAC_ERR_INPUT, "a simulation needs a scene: the path of its file, or its text");
    if ((err = make_empty(ctx, &sim)) != TAC_OK)
        return err;
    TAC_TRY(sim->own.size > 1 ? tac_scene_source_pieces(&sim->own, source, &scene, &pieces)
                              : tac_scene_source_read(&sim->own, source, &scene));
    settle_scene(sim, scene);
    TAC_TRY(tac_simulation_pieces(sim->ctx, sim->whole, &pieces));
    TAC_TRY(tac_simulation_check(sim->ctx, sim->whole, pieces, NULL));
    TAC_TRY(tac_simulation_make(sim, &pieces));
    TAC_TRY(sim->integrator->energy(sim->state, &row)); /* the defect of the energy book counts from here */
    tac_simulation_begin_row(sim);
    sim->has_row = true;
done:
    tac_pieces_destroy(&pieces);
    tac_simulation_leave(sim, err, false);
    if (err)
        tac_simulation_destroy(&sim);
    *out = sim;
    return err;
}

enum tac_err tac_simulation_restore(struct tac_ctx *ctx, const char *checkpoint, const struct tac_scene_source *source,
                                    struct tac_simulation **out)
{
    static const struct tac_scene_source none;
    enum tac_err err;
    struct tac_simulation *sim = NULL;
    struct tac_start start = {0};
    struct tac_pieces *pieces = NULL;
    int64_t contacts;
    *out = NULL;
    if ((err = check_mpi(ctx)) != TAC_OK)
        return err;
    if (checkpoint == NULL)
        return tac_fail(ctx, TAC_ERR_INPUT, "a restored simulation needs the path of a checkpoint, or of its folder");
    if (source != NULL && source->path == NULL && source->text != NULL)
        return tac_fail(
            ctx, TAC_ERR_INPUT,
            "a checkpoint continues with the scene that it holds or with the scene of a file, not with a text");
    if ((err = make_empty(ctx, &sim)) != TAC_OK)
        return err;
    TAC_TRY(tac_start_resume(&sim->own, checkpoint, source != NULL ? source : &none, &start));
    settle_scene(sim, start.scene);
    pieces = start.pieces;
    start.scene = NULL;
    start.pieces = NULL;
    TAC_TRY(tac_simulation_pieces(sim->ctx, sim->whole, &pieces));
    TAC_TRY(tac_simulation_make(sim, &pieces));
    TAC_TRY(sim->integrator->state_in(sim->state, start.checkpoint));
    sim->last_frame = start.checkpoint->last_frame;
    sim->restarts = start.checkpoint->restarts + 1;
    sim->wall_s = start.checkpoint->wall_s;
    TAC_TRY(sim->integrator->contact_count(sim->state, &contacts));
done:
    tac_pieces_destroy(&pieces);
    tac_start_clear(&start);
    tac_simulation_leave(sim, err, false);
    if (err)
        tac_simulation_destroy(&sim);
    *out = sim;
    return err;
}

void tac_simulation_destroy(struct tac_simulation **out)
{
    struct tac_simulation *sim = *out;
    int over = 0;
    if (sim == NULL)
        return;
    struct tac_scene *scene = sim->whole;
    tac_simulation_end(sim);
    tac_scene_destroy(&scene);
    MPI_Finalized(&over);
    if (!over)
        MPI_Comm_free(&sim->own.comm);
    free(sim);
    *out = NULL;
}

/* ---- time ---- */

double tac_simulation_time(const struct tac_simulation *sim)
{
    return sim == NULL || sim->state == NULL ? 0 : (double)tac_simulation_now(sim) * sim->whole->settings->quantum_s;
}

void tac_simulation_watch(struct tac_simulation *sim, bool (*go_on)(void *user), void *user)
{
    sim->go_on = go_on;
    sim->user = user;
}

static tac_time ask_watcher(void *user, tac_time t, struct tac_step *step)
{
    struct tac_simulation *sim = user;
    step->ask_stop = !sim->go_on(sim->user);
    return t;
}

static enum tac_err hear_watcher(void *user, tac_time t, const struct tac_step *step)
{
    struct tac_simulation *sim = user;
    if (!step->reported_stop || tac_simulation_now(sim) >= t)
        return TAC_OK;
    return tac_fail(sim->ctx, TAC_ERR_STOPPED,
                    "the simulation is at t = %.9g s, where the function that watches it stopped it",
                    tac_simulation_time(sim));
}

enum tac_err tac_simulation_advance(struct tac_simulation *sim, double t_s)
{
    const struct tac_observer observer = {sim, ask_watcher, hear_watcher};
    enum tac_err err = tac_simulation_enter(sim);
    if (err)
        return err;
    const tac_time now = tac_simulation_now(sim), t = tac_scene_quanta(sim->whole, t_s);
    if (!(t >= now) || t_s != t_s)
        return tac_fail(sim->host, TAC_ERR_INPUT, "cannot go to t = %.9g s: the simulation is at %.9g s already", t_s,
                        tac_simulation_time(sim));
    if (t == TAC_TIME_NEVER)
        return tac_fail(sim->host, TAC_ERR_INPUT,
                        "cannot go to t = %.9g s, which is over 2^53 quanta of %.9g s; set clocks.quantum_s higher",
                        t_s, sim->whole->settings->quantum_s);
    if (t == now)
        return TAC_OK;
    sim->looked = false;
    err = tac_simulation_go(sim, t, sim->go_on ? &observer : NULL);
    sim->has_row = err == TAC_OK;
    return tac_simulation_leave(sim, err, true);
}

/* ---- what is there ---- */

/* Makes room for positions and ids of this rank's present vertices. */
static enum tac_err make_views(struct tac_simulation *sim, const struct tac_state_view *view)
{
    enum tac_err err = TAC_OK;
    const size_t n = (size_t)view->owned;
    if (sim->position == NULL || n > sim->vertices) {
        free(sim->position);
        free(sim->id);
        sim->position = NULL;
        sim->id = NULL;
        TAC_TRY(tac_alloc(sim->ctx, 3 * n, sizeof *sim->position, &sim->position));
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof *sim->id, &sim->id));
        sim->vertices = n;
        sim->looked = false;
    }
    if (!sim->looked) {
        for (size_t i = 0; i < n; i++)
            sim->id[i] = view->id ? view->id[i] : (tac_gid)i;
        sim->integrator->positions(sim->state, sim->position);
    }
    sim->looked = true;
done:
    return err;
}

static enum tac_err make_vectors(struct tac_simulation *sim, bool velocities, struct tac_vectors *out)
{
    enum tac_err err = tac_simulation_enter(sim);
    if (err)
        return err;
    const struct tac_state_view view = tac_simulation_view(sim);
    err = make_views(sim, &view);
    *out = velocities ? (struct tac_vectors){view.owned, sim->id, view.velocity, view.stride}
                      : (struct tac_vectors){view.owned, sim->id, sim->position, 3 * sizeof *sim->position};
    return tac_simulation_leave(sim, err, false);
}

enum tac_err tac_simulation_positions(struct tac_simulation *sim, struct tac_vectors *out)
{
    return make_vectors(sim, false, out);
}

enum tac_err tac_simulation_velocities(struct tac_simulation *sim, struct tac_vectors *out)
{
    return make_vectors(sim, true, out);
}

tac_lid tac_simulation_vertices(const struct tac_simulation *sim)
{
    return sim == NULL || sim->state == NULL ? 0 : tac_simulation_view(sim).owned;
}

enum tac_err tac_simulation_copy(struct tac_simulation *sim, tac_lid room, tac_gid *id, double *x, double *v)
{
    enum tac_err err = tac_simulation_enter(sim);
    if (err)
        return err;
    const struct tac_state_view view = tac_simulation_view(sim);
    if (room < view.owned)
        return tac_fail(sim->host, TAC_ERR_INPUT,
                        "there is room for the state of %" TAC_PRILID " vertices, and this rank owns %" TAC_PRILID
                        "; call tac_simulation_vertices() after each step",
                        room, view.owned);
    for (tac_lid i = 0; id != NULL && i < view.owned; i++)
        id[i] = view.id ? view.id[i] : (tac_gid)i;
    if (x != NULL)
        sim->integrator->positions(sim->state, x);
    for (tac_lid i = 0; v != NULL && i < view.owned; i++)
        memcpy(&v[3 * i], (const char *)view.velocity + (size_t)i * view.stride, 3 * sizeof *v);
    return TAC_OK;
}

const struct tac_scene *tac_simulation_scene(const struct tac_simulation *sim)
{
    return sim->whole;
}

enum tac_err tac_simulation_contacts(struct tac_simulation *sim, const struct tac_contact **list, size_t *count)
{
    enum tac_err err = tac_simulation_enter(sim);
    if (err)
        return err;
    free(sim->contact);
    sim->contact = NULL;
    err = sim->integrator->contacts(sim->state, &sim->contact, count);
    *list = sim->contact;
    return tac_simulation_leave(sim, err, true);
}

enum tac_err tac_simulation_energy(struct tac_simulation *sim, struct tac_energy_row *row)
{
    enum tac_err err = tac_simulation_enter(sim);
    if (err)
        return err;
    if (!sim->has_row)
        return tac_fail(
            sim->host, TAC_ERR_INPUT,
            "the energy of t = %.9g s cannot be computed: a restored simulation, or one that was stopped during a "
            "step, does not have the velocities before the kicks at its present time; advance it first",
            tac_simulation_time(sim));
    err = sim->integrator->energy(sim->state, row);
    if (!err)
        tac_simulation_begin_row(sim);
    return tac_simulation_leave(sim, err, true);
}

/* ---- on the disk ---- */

/* The first frame after now. */
static int64_t next_frame(const struct tac_simulation *sim)
{
    const tac_time now = tac_simulation_now(sim);
    int64_t low = 0, high = 1;
    /* Frames beyond the scene's end have no times, but a longer run of the scene would have them. */
    struct tac_scene endless = *sim->whole;
    endless.settings->t_end = TAC_TIME_NEVER;
    while (tac_scene_frame_time(&endless, high) <= now)
        high *= 2;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (tac_scene_frame_time(&endless, middle) <= now)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static enum tac_err make_folder(struct tac_simulation *sim, const char *folder)
{
    enum tac_err err = TAC_OK;
    if (sim->ctx->rank == 0 && mkdir(folder, 0777) != 0 && errno != EEXIST)
        err = tac_fail(sim->ctx, TAC_ERR_INPUT, "cannot make the folder '%s': %s", folder, strerror(errno));
    return tac_agree(sim->ctx, err);
}

enum tac_err tac_simulation_save(struct tac_simulation *sim, const char *folder, char *name, size_t size)
{
    enum tac_err err = tac_simulation_enter(sim);
    struct tac_checkpoint *state = NULL;
    char written[64];
    if (err)
        return err;
    TAC_TRY(make_folder(sim, folder));
    TAC_TRY(sim->integrator->state_out(sim->state, true, &state));
    state->frame = next_frame(sim);
    state->last_frame = sim->last_frame;
    state->restarts = sim->restarts;
    state->wall_s = sim->wall_s;
    TAC_TRY(tac_checkpoint_write(sim->ctx, sim->whole, folder, sim->whole->settings->checkpoint.keep, state, written,
                                 sizeof written));
    if (name != NULL)
        snprintf(name, size, "%s", written);
done:
    tac_checkpoint_destroy(&state);
    return tac_simulation_leave(sim, err, false);
}
