/* impact_state.c: copies the state at the end of a step into a snapshot, and back, on any number of ranks. */
#include "base/exchange.h"
#include "impact/impact.h"
#include "partition/ghosts.h"
#include "state/whole_steps.h"
#include <stdlib.h>
#include <string.h>

/* ---- out ---- */

static enum tac_err collect_vertices(struct tac_impact *sim, struct tac_vertex_rows *r)
{
    enum tac_err err;
    const size_t n = (size_t)sim->owned;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    double **const array[] = {&r->start, &r->x, &r->v, &r->impulse};
    const double *const from[] = {mesh->x, sim->x, sim->v, sim->impulse};
    r->count = sim->owned;
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->id, &r->id));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->mass, &r->mass));
    TAC_TRY(tac_alloc(sim->ctx, n, sizeof *r->t, &r->t));
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) {
        TAC_TRY(tac_alloc(sim->ctx, 3 * n, sizeof **array[k], array[k]));
        if (n > 0)
            memcpy(*array[k], from[k], 3 * n * sizeof **array[k]);
    }
    for (size_t i = 0; i < n; i++) {
        r->id[i] = tac_scene_id(sim->scene, (tac_lid)i);
        r->mass[i] = mesh->mass[i];
        r->t[i] = sim->now;
    }
done:
    return err;
}

static enum tac_err collect_scripts(struct tac_impact *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    TAC_TRY(tac_alloc(sim->ctx, sim->scripts.count, sizeof *c->script, &c->script));
    for (size_t k = 0; k < sim->scripts.count; k++) {
        const struct tac_impact_script *s = &sim->scripts.script[k];
        struct tac_script_state *o = &c->script[c->script_count++];
        o->vertex = tac_scene_id(sim->scene, s->vertex);
        o->t = sim->now;
        o->on = s->on;
        o->caught = s->caught;
        memcpy(o->origin, s->origin, sizeof o->origin);
        memcpy(o->x, &sim->x[3 * (size_t)s->vertex], sizeof o->x);
        memcpy(o->v, &sim->v[3 * (size_t)s->vertex], sizeof o->v);
    }
done:
    return err;
}

static enum tac_err collect(struct tac_impact *sim, struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_local_mesh *m = sim->scene->mesh;
    const struct tac_part *part = m->part;
    c->now = sim->now;
    c->trajectory.generation = TAC_TRAJECTORY_GENERATION;
    c->vertex_total = part ? part->vertex_total : m->vertex_count;
    c->triangle_total = part ? part->triangle_total : m->triangle_count;
    c->segment_total = part ? part->segment_total : m->segment_count;
    c->tetrahedron_total = part ? part->tetrahedron_total : m->tetrahedron_count;
    TAC_TRY(collect_vertices(sim, &c->vertices));
    TAC_TRY(tac_mesh_rows_collect(sim->ctx, sim->scene, &c->mesh));
    TAC_TRY(collect_scripts(sim, c));
done:
    return err;
}

enum tac_err tac_impact_state_out(struct tac_impact *sim, struct tac_checkpoint **out)
{
    enum tac_err err;
    struct tac_checkpoint *c = NULL;
    struct tac_accum sum[3] = {sim->books.lost, sim->books.friction, sim->books.work};
    err = tac_alloc(sim->ctx, 1, sizeof *c, &c);
    err = err ? err : collect(sim, c);
    TAC_TRY(tac_agree(sim->ctx, err));
    TAC_TRY(tac_sum_all(sim->ctx, sum, 3));
    c->has_losses = 1;
    c->dissipated = sum[0];
    c->lost[0] = sum[1];
    c->work = sum[2];
    c->total_start = sim->books.total_start;
    tac_accum_carry(&c->total_start);
    for (int k = 1; k < 3; k++)
        tac_accum_carry(&c->lost[k]);
    for (int k = 0; k < 3; k++)
        tac_accum_carry(&c->couple[k]);
    c->has_start = sim->books.has_start;
    TAC_TRY(tac_impact_counters(sim, &c->counters));
done:
    if (err)
        tac_checkpoint_destroy(&c);
    *out = c;
    return err;
}

/* ---- in ---- */

struct vertex {
    tac_gid id;
    double x[3], v[3], impulse[3];
};

/* Collective. Finds the owners of all vertices that the rows name, in the order of the rows; *owner is owned by the
 * caller. */
static enum tac_err find_owners(struct tac_impact *sim, const struct tac_checkpoint *c, int32_t **owner)
{
    enum tac_err err;
    const struct tac_part *part = sim->scene->mesh->part;
    const size_t count = (size_t)c->vertices.count + (size_t)c->script_count;
    tac_gid *wanted = NULL;
    size_t n = 0;
    err = tac_alloc(sim->ctx, count, sizeof *wanted, &wanted);
    err = err ? err : tac_alloc(sim->ctx, count, sizeof **owner, owner);
    TAC_TRY(tac_agree(sim->ctx, err));
    for (tac_lid k = 0; k < c->vertices.count; k++)
        wanted[n++] = c->vertices.id[k];
    for (tac_lid k = 0; k < c->script_count; k++)
        wanted[n++] = c->script[k].vertex;
    if (part != NULL)
        TAC_TRY(tac_owners_find(sim->ctx, part->vertex_total, sim->owned, sim->id, NULL, count, wanted, *owner));
done:
    free(wanted);
    return err;
}

static tac_lid own_vertex(const struct tac_impact *sim, tac_gid id)
{
    return sim->id != NULL ? tac_id_find(sim->id, sim->owned, id) : id >= 0 && id < sim->owned ? (tac_lid)id : -1;
}

static enum tac_err take_vertices(struct tac_impact *sim, const struct tac_vertex_rows *r, const int32_t *owner)
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
    }
    free(row);
    free(mine);
    return err;
}

static enum tac_err take_scripts(struct tac_impact *sim, const struct tac_checkpoint *c, const int32_t *owner)
{
    struct tac_script_state *mine = NULL;
    size_t total = 0;
    enum tac_err err =
        tac_distribute(sim->ctx, TAC_OK, (size_t)c->script_count, owner, c->script, sizeof *mine, &mine, &total);
    for (size_t k = 0; k < total && !err; k++) {
        const tac_lid v = own_vertex(sim, mine[k].vertex);
        struct tac_impact_script *s =
            v >= 0 && sim->scripts.of[v] >= 0 ? &sim->scripts.script[sim->scripts.of[v]] : NULL;
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
    }
    free(mine);
    tac_impact_scripts_tell(sim);
    return tac_agree(sim->ctx, err);
}

enum tac_err tac_impact_state_in(struct tac_impact *sim, const struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_accum nothing = {{0}, 0, 0};
    const bool first = sim->ctx->rank == 0;
    int32_t *owner = NULL;
    TAC_TRY(find_owners(sim, c, &owner));
    TAC_TRY(take_vertices(sim, &c->vertices, owner));
    TAC_TRY(take_scripts(sim, c, owner + c->vertices.count));
    TAC_TRY(tac_impact_ghosts_refresh(sim));
    sim->now = c->now;
    sim->step = tac_steps_number(sim->scene, sim->scene->settings->impact.step_s, c->now);
    sim->books.lost = first ? c->dissipated : nothing;
    sim->books.friction = first ? c->lost[0] : nothing;
    sim->books.work = first ? c->work : nothing;
    sim->books.total_start = c->total_start;
    sim->books.has_start = c->has_start != 0;
    tac_counters_restore(sim->ctx, &c->counters, &sim->books.counters);
done:
    free(owner);
    return err;
}
