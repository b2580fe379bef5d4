/* implicit_state.c: copies the state at the end of a step into a snapshot, and back, on any number of ranks. */
#include "base/exchange.h"
#include "implicit/parts.h"
#include "partition/ghosts.h"
#include "state/whole_steps.h"
#include <stdlib.h>

/* ---- out ---- */

#define TAC_PAST_BYTES (TAC_PAST_NUMBERS * sizeof(double))

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
        r->id[i] = tac_implicit_id(sim, (tac_lid)i);
        r->t[i] = sim->now;
    }
    if (n == 0)
        goto done;
    memcpy(r->mass, sim->scene->mesh->mass, n * sizeof *r->mass);
    memcpy(r->start, sim->scene->mesh->x, 3 * n * sizeof *r->start);
    memcpy(r->x, sim->x, 3 * n * sizeof *r->x);
    memcpy(r->v, sim->v, 3 * n * sizeof *r->v);
    memcpy(r->impulse, sim->impulse, 3 * n * sizeof *r->impulse);
    if (sim->past == NULL)
        goto done;
    TAC_TRY(tac_alloc(sim->ctx, TAC_PAST_NUMBERS * n, sizeof *r->past, &r->past));
    memcpy(r->past, sim->past, n * TAC_PAST_BYTES);
done:
    return err;
}

static enum tac_err collect_scripts(struct tac_implicit *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(sim->ctx, sim->scripts.script_count, sizeof *c->script, &c->script));
    for (size_t k = 0; k < sim->scripts.script_count; k++) {
        const struct tac_implicit_script *s = &sim->scripts.script[k];
        struct tac_script_state *o = &c->script[c->script_count++];
        o->vertex = tac_implicit_id(sim, s->vertex);
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
    const struct tac_part *part = m->part;
    c->now = sim->now;
    c->has_past = sim->past != NULL;
    c->trajectory.has_script_force = 1;
    c->trajectory.level = sim->level;
    c->trajectory.generation = TAC_TRAJECTORY_GENERATION;
    c->vertex_total = part ? part->vertex_total : m->vertex_count;
    c->triangle_total = part ? part->triangle_total : m->triangle_count;
    c->segment_total = part ? part->segment_total : m->segment_count;
    c->tetrahedron_total = part ? part->tetrahedron_total : m->tetrahedron_count;
    TAC_TRY(collect_vertices(sim, &c->vertices));
    TAC_TRY(tac_mesh_rows_collect(sim->ctx, sim->scene, &c->mesh));
    TAC_TRY(collect_scripts(sim, c));
    TAC_TRY(tac_implicit_rests_out(sim, c));
    if (sim->rigid.count > 0)
        TAC_TRY(tac_rigid_rows_out(sim, c));
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

/* Collective. Finds the owners of all vertices that the rows name, in the order of the rows; *owner is owned by the
 * caller. */
static enum tac_err find_owners(struct tac_implicit *sim, const struct tac_checkpoint *c, int32_t **owner)
{
    enum tac_err err;
    const struct tac_part *part = sim->scene->mesh->part;
    const size_t count = (size_t)c->vertices.count + (size_t)c->script_count + (size_t)c->rigid.count +
                         tac_element_rows_vertices(c, NULL);
    tac_gid *wanted = NULL;
    size_t n = 0;
    err = tac_alloc(sim->ctx, count, sizeof *wanted, &wanted);
    err = err ? err : tac_alloc(sim->ctx, count, sizeof **owner, owner);
    TAC_TRY(tac_agree(sim->ctx, err));
    for (tac_lid k = 0; k < c->vertices.count; k++)
        wanted[n++] = c->vertices.id[k];
    for (tac_lid k = 0; k < c->script_count; k++)
        wanted[n++] = c->script[k].vertex;
    for (tac_lid k = 0; k < c->rigid.count; k++)
        wanted[n++] = c->rigid.row[k].vertex;
    tac_element_rows_vertices(c, wanted + n);
    if (part != NULL)
        TAC_TRY(tac_owners_find(sim->ctx, part->vertex_total, sim->owned, sim->id, NULL, count, wanted, *owner));
done:
    free(wanted);
    return err;
}

static tac_lid own_vertex(const struct tac_implicit *sim, tac_gid id)
{
    return sim->id != NULL ? tac_id_find(sim->id, sim->owned, id) : id >= 0 && id < sim->owned ? (tac_lid)id : -1;
}

static enum tac_err take_vertices(struct tac_implicit *sim, const struct tac_vertex_rows *r, const int32_t *owner)
{
    enum tac_err err;
    struct vertex *row = NULL, *mine = NULL;
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
    err = tac_distribute(sim->ctx, err, (size_t)r->count, owner, row, sizeof *row, &mine, &total);
    for (size_t k = 0; k < total && !err; k++) {
        const tac_lid own = own_vertex(sim, mine[k].id);
        TAC_CHECK(own >= 0);
        const size_t v = (size_t)own;
        memcpy(&sim->x[3 * v], mine[k].x, sizeof mine[k].x);
        memcpy(&sim->v[3 * v], mine[k].v, sizeof mine[k].v);
        memcpy(&sim->impulse[3 * v], mine[k].impulse, sizeof mine[k].impulse);
        if (sim->past != NULL)
            memcpy(&sim->past[TAC_PAST_NUMBERS * v], mine[k].past, sizeof mine[k].past);
    }
    free(row);
    free(mine);
    return err;
}

static enum tac_err take_scripts(struct tac_implicit *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    struct tac_script_state *mine = NULL;
    size_t total = 0;
    enum tac_err err =
        tac_distribute(sim->ctx, TAC_OK, (size_t)c->script_count, owner, c->script, sizeof *mine, &mine, &total);
    for (size_t k = 0; k < total && !err; k++) {
        const tac_lid v = own_vertex(sim, mine[k].vertex);
        struct tac_implicit_script *s = v >= 0 ? tac_implicit_script(sim, v) : NULL;
        if (s == NULL) {
            err = tac_fail(sim->ctx, TAC_ERR_INPUT,
                           "the checkpoint has a motion of vertex %" TAC_PRIGID
                           " that the scene has not; go on with the scene that the checkpoint is of",
                           mine[k].vertex);
            break;
        }
        s->on = mine[k].on != 0;
        s->caught = mine[k].caught != 0;
        memcpy(s->origin, mine[k].origin, sizeof s->origin);
        memcpy(s->force, mine[k].force, sizeof s->force);
    }
    free(mine);
    tac_implicit_scripts_tell(sim);
    return tac_agree(sim->ctx, err);
}

static enum tac_err take_rests(struct tac_implicit *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    enum tac_err err = TAC_OK;
    for (int kind = 0; kind < TAC_KINDS && !err; kind++) {
        const struct tac_element_states *s = &c->element[kind];
        struct tac_element_states mine = {.nodes = s->nodes, .width = s->width};
        if (s->nodes > 0) /* on all ranks */
            err = tac_element_rows_send(sim->ctx, s, owner, &mine);
        if (!err)
            tac_implicit_rests_in(sim, kind, &mine);
        owner += (size_t)s->nodes * (size_t)s->count;
        free(mine.row);
    }
    return err;
}

/* Collective. Sends the rows of all ranks to their owners, and refreshes the ghosts. */
static enum tac_err take_rows(struct tac_implicit *sim, const struct tac_checkpoint *c)
{
    enum tac_err err;
    int32_t *owner = NULL;
    TAC_TRY(find_owners(sim, c, &owner));
    TAC_TRY(take_vertices(sim, &c->vertices, owner));
    TAC_TRY(take_scripts(sim, c, owner + c->vertices.count));
    TAC_TRY(tac_rigid_rows_in(sim, c, owner + c->vertices.count + c->script_count));
    TAC_TRY(take_rests(sim, c, owner + c->vertices.count + c->script_count + c->rigid.count));
    TAC_TRY(tac_implicit_ghosts_refresh(sim));
    if (sim->past != NULL)
        TAC_TRY(tac_implicit_share(sim, sim->past, TAC_PAST_NUMBERS, true));
done:
    free(owner);
    return err;
}

enum tac_err tac_implicit_state_in(struct tac_implicit *sim, const struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_accum nothing = {{0}, 0, 0};
    const bool first = sim->ctx->rank == 0;
    if (sim->past != NULL && !c->has_past)
        TAC_TRY(tac_fail(sim->ctx, TAC_ERR_INPUT,
                         "the checkpoint does not have what integrator.scheme \"%s\" remembers of the step before; go "
                         "on with the scene that the checkpoint is of",
                         sim->scene->settings->implicit.scheme == TAC_IMPLICIT_BDF2 ? "bdf2" : "newmark"));
    sim->contact.touch_of = NULL;
    TAC_TRY(take_rows(sim, c));
    sim->now = c->now;
    sim->step = tac_steps_number(sim->scene, sim->scene->settings->implicit.step_s, c->now);
    sim->level = c->trajectory.level;
    for (int k = 0; k < TAC_LOST; k++)
        sim->books.lost[k] = first ? c->lost[k] : nothing;
    sim->books.work = first ? c->work : nothing;
    sim->books.total_start = c->total_start;
    sim->books.has_start = c->has_start != 0;
    tac_counters_restore(sim->ctx, &c->counters, &sim->books.counters);
done:
    return err;
}
