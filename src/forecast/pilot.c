/* pilot.c: runs a scene for some seconds in memory, and takes samples of what is counted (pilot.h). */
#include "forecast/pilot.h"
#include "base/memory_use.h"
#include "io/frames/frames.h"
#include "io/h5/chunk.h"
#include "run/simulation.h"
#include "scene/kind.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIME_OVER = 1, INTERRUPTED }; /* why it stops; over several ranks the largest counts */
enum { MOST_SAMPLES = 512 };

/* How often the memory is asked for: reading it takes some 20 us. */
static const double MEMORY_EVERY_S = .05;

struct pilot_run {
    struct tac_pilot *pilot;
    const struct tac_pilot_options *options;
    struct tac_simulation *sim; /* owned */
    double begin_s, memory_s;   /* wall times: the first step; the memory was last read */
    double memory;              /* bytes then */
    double steps, newton, touching;
    int64_t passes, every;              /* a sample is taken after every so many passes, alike on all ranks */
    tac_time end;                       /* of the pilot */
    int stopped;                        /* TIME_OVER, INTERRUPTED; 0: not */
    size_t room;                        /* bytes of the following three */
    unsigned char *raw, *scratch, *out; /* owned: an array of a frame while it is compressed */
};

/* ---- samples ---- */

/* The value of a column of steps.csv in a row of it; 0: there is no such column. */
static double find_column(const char *head, const char *row, const char *name)
{
    const size_t length = strlen(name);
    while (head != NULL && row != NULL) {
        if (strncmp(head, name, length) == 0 && (head[length] == ',' || head[length] == '\0'))
            return strtod(row, NULL);
        head = strchr(head, ',');
        row = strchr(row, ',');
        head += head != NULL;
        row += row != NULL;
    }
    return 0;
}

/* Sums what an integrator with steps tells of its last one. */
static void count_step(struct pilot_run *r)
{
    char row[512] = "";
    const struct tac_integrator *integrator = r->sim->integrator;
    if (integrator->steps == NULL)
        return;
    integrator->steps->row(r->sim->state, row, sizeof row);
    r->steps++;
    /* with the integrator for impact: rounds of its steps, and contacts that took part in them */
    r->newton +=
        find_column(integrator->steps->head, row, "newton") + find_column(integrator->steps->head, row, "rounds");
    r->touching +=
        find_column(integrator->steps->head, row, "contacts") + find_column(integrator->steps->head, row, "rows");
}

static double memory_now(struct pilot_run *r, double wall_s)
{
    if (r->memory == 0 || wall_s > r->memory_s + MEMORY_EVERY_S) {
        r->memory = (double)tac_memory_now();
        r->memory_s = wall_s;
    }
    return r->memory;
}

/* Keeps every second sample, so that any number of passes fits. */
static void thin_out(struct tac_pilot *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i += 2)
        p->sample[kept++] = p->sample[i];
    p->count = kept;
}

static enum tac_err take_sample(struct pilot_run *r)
{
    enum tac_err err = TAC_OK;
    struct tac_pilot *p = r->pilot;
    const struct tac_simulation *sim = r->sim;
    struct tac_status status;
    const double wall_s = tac_wall_s() - r->begin_s;
    const bool stepped = sim->integrator->steps != NULL;
    if (p->count == MOST_SAMPLES) {
        thin_out(p);
        r->every *= 2;
    }
    memset(&status, 0, sizeof status);
    sim->integrator->status(sim->state, &status);
    const struct tac_counters *c = &status.counters;
    TAC_TRY(tac_grow(sim->ctx, &p->sample, &p->capacity, p->count + 1, sizeof *p->sample));
    struct tac_sample *s = &p->sample[p->count++];
    s->of[TAC_SAMPLE_T] = (double)tac_simulation_now(sim) * sim->whole->settings->quantum_s;
    s->of[TAC_SAMPLE_WALL] = wall_s;
    s->of[TAC_SAMPLE_CONTACT] = stepped ? 0 : (double)(c->committed[TAC_KIND_PENALTY] + c->committed[TAC_KIND_LIMIT]);
    s->of[TAC_SAMPLE_ACTING] = stepped ? r->touching : (double)(c->committed[TAC_KIND_PENALTY] - c->silent);
    s->of[TAC_SAMPLE_STEPS] = r->steps;
    s->of[TAC_SAMPLE_NEWTON] = r->newton;
    s->of[TAC_SAMPLE_MEMORY] = memory_now(r, wall_s);
    s->of[TAC_SAMPLE_FORCES_S] = c->seconds_forces;
    s->of[TAC_SAMPLE_CONTACT_S] = c->seconds_contact;
    s->of[TAC_SAMPLE_WAITING_S] = c->seconds_waiting + c->seconds_exchange;
done:
    return err;
}

/* Collective. Samples of all ranks become those of the whole run, the same on every rank. */
static enum tac_err join_samples(struct tac_ctx *ctx, struct tac_pilot *p)
{
    enum tac_err err = TAC_OK;
    double *sum = NULL;
    const size_t n = p->count * TAC_SAMPLE_FIELDS;
    if (ctx->size == 1)
        return TAC_OK;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, n, sizeof *sum, &sum)));
    MPI_Allreduce(p->sample, sum, (int)n, MPI_DOUBLE, MPI_SUM, ctx->comm);
    MPI_Allreduce(MPI_IN_PLACE, p->sample, (int)n, MPI_DOUBLE, MPI_MAX, ctx->comm);
    for (size_t i = 0; i < p->count; i++) {
        const double *all = &sum[i * TAC_SAMPLE_FIELDS];
        double *of = p->sample[i].of;
        of[TAC_SAMPLE_CONTACT] = all[TAC_SAMPLE_CONTACT];
        if (of[TAC_SAMPLE_STEPS] == 0) /* all ranks know of all contacts of a step */
            of[TAC_SAMPLE_ACTING] = all[TAC_SAMPLE_ACTING];
        for (int k = TAC_SAMPLE_FORCES_S; k <= TAC_SAMPLE_WAITING_S; k++)
            of[k] = all[k] / ctx->size;
    }
    double bytes[2] = {p->raw, p->packed};
    double part[2] = {p->raw > 0 ? -p->packing.least : -INFINITY, p->packing.most};
    MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_DOUBLE, MPI_SUM, ctx->comm);
    MPI_Allreduce(MPI_IN_PLACE, part, 2, MPI_DOUBLE, MPI_MAX, ctx->comm);
    p->packing.least = -part[0];
    p->packing.most = part[1];
    MPI_Allreduce(MPI_IN_PLACE, &p->peak, 1, MPI_INT64_T, MPI_MAX, ctx->comm);
    p->raw = bytes[0];
    p->packed = bytes[1];
done:
    free(sum);
    return err;
}

/* ---- frames ---- */

/* Compresses an array of a frame as frames.h5 does; returns the bytes. */
static size_t packed_size(struct pilot_run *r, size_t bytes, size_t value_bytes)
{
    size_t size = bytes;
    return tac_chunk_pack(r->raw, bytes, value_bytes, TAC_DATASET_DEFLATE, r->scratch, r->out, &size) ? size : bytes;
}

static enum tac_err make_room(struct pilot_run *r, size_t bytes)
{
    enum tac_err err = TAC_OK;
    if (r->room >= bytes)
        return TAC_OK;
    free(r->raw);
    free(r->scratch);
    free(r->out);
    r->raw = r->scratch = r->out = NULL;
    r->room = 0;
    TAC_TRY(tac_alloc(r->sim->ctx, bytes, 1, &r->raw));
    TAC_TRY(tac_alloc(r->sim->ctx, bytes, 1, &r->scratch));
    TAC_TRY(tac_alloc(r->sim->ctx, tac_chunk_bound(bytes), 1, &r->out));
    r->room = bytes;
done:
    return err;
}

/* Positions, velocities and forces, and the impulses begin anew. */
static void pack_arrays(struct pilot_run *r, const struct tac_state_view *view)
{
    struct tac_pilot *p = r->pilot;
    const size_t n = (size_t)view->owned;
    const double span_s = (double)(view->now - r->sim->last_frame) * r->sim->whole->settings->quantum_s;
    r->sim->integrator->positions(r->sim->state, (double *)r->raw);
    double packed = (double)packed_size(r, 3 * n * sizeof(double), sizeof(double));
    for (size_t i = 0; i < n; i++)
        memcpy(r->raw + 3 * i * sizeof(double), (const char *)view->velocity + i * view->stride, 3 * sizeof(double));
    packed += (double)packed_size(r, 3 * n * sizeof(double), sizeof(double));
    float *force = (float *)r->raw;
    for (size_t c = 0; c < 3 * n; c++) {
        force[c] = span_s > 0 ? (float)(tac_state_impulse(view, c) / span_s) : 0;
        view->impulse[c] = 0;
        if (view->impulse_rest != NULL)
            view->impulse_rest[c] = 0;
    }
    packed += (double)packed_size(r, 3 * n * sizeof(float), sizeof(float));
    const double raw = 3. * (double)n * (2 * sizeof(double) + sizeof(float));
    const double part = raw > 0 ? packed / raw : 1;
    p->packing.least = p->raw > 0 ? fmin(p->packing.least, part) : part;
    p->packing.most = fmax(p->packing.most, part);
    p->raw += raw;
    p->packed += packed;
}

/* Collective. Does at a frame what a run does, but for writing. */
static enum tac_err make_frame(struct pilot_run *r)
{
    enum tac_err err = TAC_OK;
    struct tac_simulation *sim = r->sim;
    struct tac_energy_row row;
    if (sim->integrator->book != NULL)
        TAC_TRY(sim->integrator->book->gather_impulses(sim->state));
    const struct tac_state_view view = tac_simulation_view(sim);
    TAC_TRY(tac_agree(sim->ctx, make_room(r, 3 * (size_t)view.owned * sizeof(double))));
    pack_arrays(r, &view);
    TAC_TRY(sim->integrator->energy(sim->state, &row));
    tac_simulation_begin_row(sim);
    r->pilot->contacts = (double)row.contacts;
    sim->last_frame = view.now;
done:
    return err;
}

/* ---- the run ---- */

static tac_time before_step(void *user, tac_time t, struct tac_step *step)
{
    struct pilot_run *r = user;
    const struct tac_pilot_options *o = r->options;
    if (o->go_on != NULL && !o->go_on(o->user))
        step->ask_stop = INTERRUPTED;
    else if (tac_wall_s() - r->begin_s >= o->seconds)
        step->ask_stop = TIME_OVER;
    return t;
}

static enum tac_err after_step(void *user, tac_time t, const struct tac_step *step)
{
    enum tac_err err = TAC_OK;
    struct pilot_run *r = user;
    count_step(r);
    if (++r->passes % r->every == 0 || step->reported_stop || tac_simulation_now(r->sim) == r->end)
        TAC_TRY(r->sim->integrator->hold(r->sim->state, take_sample(r)));
    r->stopped = step->reported_stop;
    if (r->stopped)
        err = TAC_ERR_STOPPED; /* no failure: tac_simulation_go() ends here */
done:
    return err;
}

static enum tac_err step_on(struct pilot_run *r)
{
    enum tac_err err = TAC_OK;
    struct tac_simulation *sim = r->sim;
    const struct tac_scene *scene = sim->whole;
    const struct tac_observer observer = {r, before_step, after_step};
    const double until_s = r->options->until_s;
    const tac_time until = until_s > 0 ? tac_scene_quanta(scene, until_s) : TAC_TIME_NEVER;
    const tac_time end = r->end = until < scene->settings->t_end ? until : scene->settings->t_end;
    tac_time now = tac_simulation_now(sim);
    int64_t frame = (int64_t)((double)now * scene->settings->quantum_s / scene->settings->frame_s);
    r->begin_s = tac_wall_s();
    TAC_TRY(tac_agree(sim->ctx, take_sample(r)));
    if (now == 0)
        TAC_TRY(make_frame(r));
    while (now < end) {
        while (tac_scene_frame_time(scene, frame) <= now)
            frame++;
        const tac_time next = tac_scene_frame_time(scene, frame) < end ? tac_scene_frame_time(scene, frame) : end;
        err = tac_simulation_go(sim, next, &observer);
        if (err == TAC_ERR_STOPPED && r->stopped == TIME_OVER)
            return TAC_OK;
        TAC_TRY(err);
        TAC_TRY(make_frame(r));
        now = next;
    }
done:
    return err;
}

/* When a motion or a load begins that had not begun at t_s; NaN: none. */
static double find_later(const struct tac_settings *s, double t_s)
{
    double later = NAN;
    for (tac_lid m = 0; m < s->motion_count; m++)
        if (s->motion[m].knot_t_s[0] > t_s && s->motion[m].knot_t_s[0] < s->end_s)
            later = fmin(later, s->motion[m].knot_t_s[0]);
    for (tac_lid l = 0; l < s->load_count; l++)
        if (s->load[l].knot_count > 0 && s->load[l].knot_t_s[0] > t_s && s->load[l].knot_t_s[0] < s->end_s)
            later = fmin(later, s->load[l].knot_t_s[0]);
    return later;
}

static enum tac_err run_pilot(struct tac_ctx *ctx, const struct tac_scene_source *source, struct pilot_run *r)
{
    enum tac_err err;
    struct tac_pilot *p = r->pilot;
    const struct tac_pilot_options *o = r->options;
    const double begin_s = tac_wall_s();
    if (o->restart != NULL)
        TAC_TRY(tac_simulation_restore(ctx, o->restart, source, &r->sim));
    else
        TAC_TRY(tac_simulation_create(ctx, source, &r->sim));
    const struct tac_settings *s = r->sim->whole->settings;
    p->end_s = (double)s->t_end * s->quantum_s;
    p->may_touch = s->contact.thickness > 0;
    p->setup_s = tac_wall_s() - begin_s;
    if (tac_simulation_now(r->sim) >= s->t_end)
        TAC_TRY(
            tac_fail(ctx, TAC_ERR_INPUT,
                     "the checkpoint '%s' is at t = %.9g s, and the scene ends at %.9g s, so a pilot has nothing to "
                     "run; give a later end with --set time.end=T",
                     o->restart, tac_simulation_time(r->sim), p->end_s));
    err = step_on(r);
    tac_simulation_leave(r->sim, err, true);
    TAC_TRY(err);
    p->later_s = find_later(s, tac_pilot_to_s(p));
    p->peak = tac_memory_peak();
    TAC_TRY(join_samples(ctx, p));
    if (p->raw > 0)
        p->packing.likely = p->packed / p->raw;
    else
        p->packing = (struct tac_span){1, 1, 1};
done:
    return err;
}

enum tac_err tac_pilot_run(struct tac_ctx *ctx, const struct tac_scene_source *source,
                           const struct tac_pilot_options *options, struct tac_pilot **out)
{
    enum tac_err err = TAC_OK;
    struct tac_pilot *p = NULL;
    struct pilot_run r = {.options = options, .every = 1};
    *out = NULL;
    if (!(options->seconds > 0) || !isfinite(options->seconds))
        return tac_fail(ctx, TAC_ERR_INPUT, "a pilot needs a number of seconds greater than 0, not %g",
                        options->seconds);
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 1, sizeof *p, &p)));
    *p = (struct tac_pilot){.seconds = options->seconds, .ranks = ctx->size, .restarted = options->restart != NULL};
    r.pilot = p;
    tac_memory_forget_peak();
    err = run_pilot(ctx, source, &r);
    if (r.stopped == INTERRUPTED)
        err = tac_fail(ctx, TAC_ERR_RUN,
                       "the pilot run was stopped before its %g s were over; it has left nothing, so call it again",
                       options->seconds);
done:
    tac_simulation_destroy(&r.sim);
    free(r.raw);
    free(r.scratch);
    free(r.out);
    if (err)
        tac_pilot_destroy(&p);
    *out = p;
    return err;
}

void tac_pilot_destroy(struct tac_pilot **pilot)
{
    if (*pilot != NULL)
        free((*pilot)->sample);
    free(*pilot);
    *pilot = NULL;
}
