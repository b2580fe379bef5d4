/* implicit_state.c: the state at the end of a step into a checkpoint, and back, on any number of ranks. */
#include "base/exchange.h"
#include "implicit/parts.h"
#include <stdlib.h>

/* ---- out ---- */

#define TAC_PAST_BYTES (TAC_PAST_NUMBERS * sizeof(double))

static double *past_of(const struct tac_implicit *sim, tac_lid v)
{
    return &sim->past[TAC_PAST_NUMBERS * (size_t)v];
}

static enum tac_err collect_vertices(struct tac_implicit *sim, struct tac_vertex_rows *r)
{
    enum tac_err err;
    const size_t n = (size_t)sim->owned;
    r->count = sim->owned;
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->id, &r->id));
    TAC_TRY(tac_alloc(sim->ctx, 3 * n, sizeof *r->start, &r->start));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->mass, &r->mass));
    TAC_TRY(tac_alloc(sim->ctx, 3 * n, sizeof *r->x, &r->x));
    TAC_TRY(tac_alloc(sim->ctx, 3 * n, sizeof *r->v, &r->v));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->t, &r->t));
    TAC_TRY(tac_alloc(sim->ctx, 3 * n, sizeof *r->impulse, &r->impulse));
    for (size_t i = 0; i < n; i++) {
        const size_t v = (size_t)tac_implicit_vertex(sim, (tac_lid)i);
        r->id[i] = (tac_gid)v;
        r->mass[i] = sim->scene->mesh->mass[v];
        r->t[i] = sim->now;
        memcpy(&r->start[3 * i], &sim->scene->mesh->x[3 * v], 3 * sizeof *r->start);
        memcpy(&r->x[3 * i], &sim->x[3 * v], 3 * sizeof *r->x);
        memcpy(&r->v[3 * i], &sim->v[3 * v], 3 * sizeof *r->v);
    }
    memcpy(r->impulse, sim->impulse, 3 * n * sizeof *r->impulse);
    if (sim->past == NULL)
        goto done;
    TAC_TRY(tac_alloc(sim->ctx, TAC_PAST_NUMBERS * n, sizeof *r->past, &r->past));
    for (size_t i = 0; i < n; i++)
        memcpy(&r->past[TAC_PAST_NUMBERS * i], past_of(sim, tac_implicit_vertex(sim, (tac_lid)i)), TAC_PAST_BYTES);
done:
    return err;
}

/* Elements whose lowest vertex is this rank's: their ids and vertices. */
static enum tac_err collect_elements(struct tac_implicit *sim, const tac_lid *element, tac_lid total, int nodes,
                                     tac_lid *count, tac_gid **id, tac_gid **vertex)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)total, sizeof **id, id));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)total * (size_t)nodes, sizeof **vertex, vertex));
    for (tac_lid e = 0; e < total; e++) {
        const tac_lid *v = &element[(size_t)e * (size_t)nodes];
        if (!tac_implicit_counts(sim, v, nodes))
            continue;
        for (int k = 0; k < nodes; k++)
            (*vertex)[(size_t)*count * (size_t)nodes + (size_t)k] = v[k];
        (*id)[(*count)++] = e;
    }
done:
    return err;
}

static enum tac_err collect_scripts(struct tac_implicit *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(sim->ctx, sim->scripts.script_count, sizeof *c->script, &c->script));
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        const struct tac_implicit_script *s = &sim->scripts.script[k];
        if (!tac_implicit_mine(sim, s->vertex))
            continue;
        struct tac_script_state *o = &c->script[c->script_count++];
        o->vertex = s->vertex;
        o->t = sim->now;
        o->on = s->on;
        o->caught = s->caught;
        memcpy(o->origin, s->origin, sizeof o->origin);
        memcpy(o->force, s->force, sizeof o->force);
        memcpy(o->x, &sim->x[3 * (size_t)s->vertex], sizeof o->x);
        memcpy(o->v, &sim->v[3 * (size_t)s->vertex], sizeof o->v);
    }
done:
    return err;
}

static enum tac_err collect(struct tac_implicit *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_local_mesh *m = sim->scene->mesh;
    c->now = sim->now;
    c->has_past = sim->past != NULL;
    c->trajectory.has_script_force = 1;
    c->trajectory.level = sim->level;
    c->trajectory.generation = TAC_TRAJECTORY_GENERATION;
    c->vertex_total = m->vertex_count;
    c->triangle_total = m->triangle_count;
    c->segment_total = m->segment_count;
    c->tetrahedron_total = m->tetrahedron_count;
    TAC_TRY(collect_vertices(sim, &c->vertices));
    TAC_TRY(collect_elements(sim, m->triangle, m->triangle_count, 3, &c->mesh.triangle_count, &c->mesh.triangle_id,
                             &c->mesh.triangle));
    TAC_TRY(collect_elements(sim, m->segment, m->segment_count, 2, &c->mesh.segment_count, &c->mesh.segment_id,
                             &c->mesh.segment));
    TAC_TRY(collect_elements(sim, m->tetrahedron, m->tetrahedron_count, 4, &c->mesh.tetrahedron_count,
                             &c->mesh.tetrahedron_id, &c->mesh.tetrahedron));
    TAC_TRY(collect_scripts(sim, c));
    TAC_TRY(tac_implicit_rests_out(sim, c));
done:
    return err;
}

enum tac_err tac_implicit_state_out(struct tac_implicit *sim, struct tac_checkpoint **out)
{
    enum tac_err err;
    struct tac_checkpoint *c = NULL;
    struct tac_accum sum[TAC_LOST + 1];
    memcpy(sum, sim->books.lost, sizeof sim->books.lost);
    sum[TAC_LOST] = sim->books.work;
    *out = NULL;
    TAC_TRY(tac_alloc(sim->ctx, 1, sizeof *c, &c));
    TAC_TRY(collect(sim, c));
done:
    err = tac_agree(sim->ctx, err);
    if (!err)
        err = tac_implicit_sum(sim->ctx, sum, TAC_LOST + 1);
    if (!err) {
        c->has_losses = 1;
        memcpy(c->lost, sum, sizeof c->lost);
        c->dissipated = sum[0];
        for (int k = 1; k < TAC_LOST; k++)
            tac_accum_merge(&c->dissipated, &sum[k]);
        tac_accum_carry(&c->dissipated);
        c->work = sum[TAC_LOST];
        c->total_start = sim->books.total_start;
        tac_accum_carry(&c->total_start);
        for (int k = 0; k < 3; k++)
            tac_accum_carry(&c->couple[k]);
        c->has_start = sim->books.has_start;
        err = tac_implicit_counters(sim, &c->counters);
    }
    if (err)
        tac_checkpoint_destroy(&c);
    *out = c;
    return err;
}

/* ---- in ---- */

struct vertex {
    tac_gid id;
    double x[3], v[3], impulse[3], past[TAC_PAST_NUMBERS];
};

struct script {
    tac_gid vertex;
    double origin[3], force[3];
    int32_t on, caught;
};

/* Rows of all ranks, in the order of ranks. */
static enum tac_err gather(struct tac_ctx *ctx, enum tac_err err, size_t count, const void *row, size_t size,
                           void *all_out, size_t *total)
{
    int *counts = NULL, *at = NULL, mine = (int)count, all = 0;
    char *rows = NULL;
    MPI_Datatype type;
    TAC_TRY(err);
    TAC_TRY(tac_alloc(ctx, (size_t)ctx->size, sizeof *counts, &counts));
    TAC_TRY(tac_alloc(ctx, (size_t)ctx->size, sizeof *at, &at));
done:
    if ((err = tac_agree(ctx, err)) == TAC_OK) {
        MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, ctx->comm);
        for (int r = 0; r < ctx->size; r++) {
            at[r] = all;
            all += counts[r];
        }
        err = tac_agree(ctx, tac_alloc(ctx, (size_t)all, size, &rows));
    }
    if (!err) {
        MPI_Type_contiguous((int)size, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        if (MPI_Allgatherv(row, mine, type, rows, counts, at, type, ctx->comm) != MPI_SUCCESS)
            err = tac_fail(ctx, TAC_ERR_RUN, "MPI failed while gathering a state");
        MPI_Type_free(&type);
    }
    free(counts);
    free(at);
    *total = (size_t)all;
    memcpy(all_out, &rows, sizeof rows);
    return err;
}

static enum tac_err take_vertices(struct tac_implicit *sim, const struct tac_vertex_rows *r)
{
    enum tac_err err;
    struct vertex *row = NULL, *all = NULL;
    size_t total = 0;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)r->count, sizeof *row, &row));
    for (size_t k = 0; k < (size_t)r->count; k++) {
        row[k].id = r->id[k];
        memcpy(row[k].x, &r->x[3 * k], sizeof row[k].x);
        memcpy(row[k].v, &r->v[3 * k], sizeof row[k].v);
        memcpy(row[k].impulse, &r->impulse[3 * k], sizeof row[k].impulse);
        if (r->past != NULL)
            memcpy(row[k].past, &r->past[TAC_PAST_NUMBERS * k], sizeof row[k].past);
    }
done:
    err = gather(sim->ctx, err, (size_t)r->count, row, sizeof *row, &all, &total);
    for (size_t k = 0; k < total && !err; k++) {
        const size_t v = (size_t)all[k].id;
        TAC_CHECK(all[k].id >= 0 && all[k].id < sim->count);
        memcpy(&sim->x[3 * v], all[k].x, sizeof all[k].x);
        memcpy(&sim->v[3 * v], all[k].v, sizeof all[k].v);
        if (sim->past != NULL)
            memcpy(past_of(sim, (tac_lid)v), all[k].past, sizeof all[k].past);
        const tac_lid own = sim->id ? tac_id_find(sim->id, sim->owned, all[k].id) : (tac_lid)v;
        if (own >= 0)
            memcpy(&sim->impulse[3 * (size_t)own], all[k].impulse, sizeof all[k].impulse);
    }
    free(row);
    free(all);
    return err;
}

static enum tac_err take_scripts(struct tac_implicit *sim, const struct tac_checkpoint *c)
{
    enum tac_err err;
    struct script *row = NULL, *all = NULL;
    size_t total = 0;
    TAC_TRY(tac_alloc(sim->ctx, (size_t)c->script_count, sizeof *row, &row));
    for (tac_lid k = 0; k < c->script_count; k++) {
        row[k] = (struct script){.vertex = c->script[k].vertex, .on = c->script[k].on, .caught = c->script[k].caught};
        memcpy(row[k].origin, c->script[k].origin, sizeof row[k].origin);
        memcpy(row[k].force, c->script[k].force, sizeof row[k].force);
    }
done:
    err = gather(sim->ctx, err, (size_t)c->script_count, row, sizeof *row, &all, &total);
    for (size_t k = 0; k < total && !err; k++) {
        const tac_gid v = all[k].vertex;
        if (v < 0 || v >= sim->count || sim->scripts.script_of[v] < 0) {
            err = tac_fail(sim->ctx, TAC_ERR_INPUT,
                           "the checkpoint has a motion of vertex %" TAC_PRIGID
                           " that the scene has not; go on with the scene that the checkpoint is of",
                           v);
            break;
        }
        struct tac_implicit_script *s = &sim->scripts.script[sim->scripts.script_of[v]];
        s->on = all[k].on != 0;
        s->caught = all[k].caught != 0;
        memcpy(s->origin, all[k].origin, sizeof s->origin);
        memcpy(s->force, all[k].force, sizeof s->force);
    }
    free(row);
    free(all);
    return tac_agree(sim->ctx, err);
}

static enum tac_err take_rests(struct tac_implicit *sim, const struct tac_checkpoint *c)
{
    enum tac_err err = TAC_OK;
    for (int kind = 0; kind < TAC_KINDS && !err; kind++) {
        struct tac_element_states all = c->element[kind];
        size_t total = 0;
        all.row = NULL;
        if (all.nodes > 0) /* on all ranks */
            err = gather(sim->ctx, TAC_OK, (size_t)all.count, c->element[kind].row, tac_element_row_size(&all),
                         &all.row, &total);
        all.count = (tac_lid)total;
        tac_implicit_rests_in(sim, kind, &all);
        free(all.row);
    }
    return err;
}

/* The step that ended at `now`: the grid has rounded, and a run may have ended up to a grain beside it. */
static int64_t step_of(const struct tac_implicit *sim, tac_time now)
{
    int64_t k = (int64_t)((double)now * sim->scene->settings->quantum_s / sim->scene->settings->implicit.step_s);
    while (k > 0 && tac_implicit_step_time(sim, k) > now + TAC_FRAME_GRAIN)
        k--;
    while (tac_implicit_step_time(sim, k + 1) <= now + TAC_FRAME_GRAIN)
        k++;
    return k;
}

enum tac_err tac_implicit_state_in(struct tac_implicit *sim, const struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_accum nothing = {{0}, 0, 0};
    static const struct tac_counters zero;
    const bool first = sim->ctx->rank == 0;
    if (sim->past != NULL && !c->has_past)
        TAC_TRY(tac_fail(sim->ctx, TAC_ERR_INPUT,
                         "the checkpoint does not have what integrator.scheme \"%s\" remembers of the step before; go "
                         "on with the scene that the checkpoint is of",
                         sim->scene->settings->implicit.scheme == TAC_IMPLICIT_BDF2 ? "bdf2" : "newmark"));
    sim->contact.touch_of = NULL;
    TAC_TRY(take_vertices(sim, &c->vertices));
    TAC_TRY(take_scripts(sim, c));
    TAC_TRY(take_rests(sim, c));
    sim->now = c->now;
    sim->step = step_of(sim, c->now);
    sim->level = c->trajectory.level;
    for (int k = 0; k < TAC_LOST; k++)
        sim->books.lost[k] = first ? c->lost[k] : nothing;
    sim->books.work = first ? c->work : nothing;
    sim->books.total_start = c->total_start;
    sim->books.has_start = c->has_start != 0;
    sim->books.counters = first ? c->counters : zero;
    sim->books.counters.windows = c->counters.windows;
    sim->books.counters.rollbacks = c->counters.rollbacks;
    sim->books.counters.candidate_builds = c->counters.candidate_builds;
    sim->books.counters.migrations = c->counters.migrations;
    /* Seconds are means over ranks. */
    sim->books.counters.seconds_forces *= sim->ctx->size;
    sim->books.counters.seconds_contact *= sim->ctx->size;
    sim->books.counters.seconds_discovery *= sim->ctx->size;
    sim->books.counters.seconds_output *= sim->ctx->size;
done:
    return err;
}
