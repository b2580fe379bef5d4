/* step_rows.c: makes and takes rows of a snapshot for integrators whose state exists at the ends of steps only. */
#include "state/step_rows.h"
#include "base/exchange.h"
#include "partition/ghosts.h"
#include "partition/part.h"
#include <stdlib.h>
#include <string.h>

#define TAC_PAST_BYTES (TAC_PAST_NUMBERS * sizeof(double))

tac_lid tac_step_vertex(const struct tac_step_state *state, tac_gid id)
{
    if (state->id != NULL)
        return tac_id_find(state->id, state->owned, id);
    return id >= 0 && id < state->owned ? (tac_lid)id : -1;
}

/* ---- out ---- */

static enum tac_err collect_vertices(struct tac_ctx *ctx, const struct tac_scene *scene, tac_time now,
                                     const struct tac_step_state *state, struct tac_vertex_rows *r)
{
    enum tac_err err;
    const size_t n = (size_t)state->owned;
    double **const array[] = {&r->start, &r->x, &r->v, &r->impulse};
    const double *const from[] = {scene->mesh->x, state->x, state->v, state->impulse};
    r->count = state->owned;
    TAC_TRY(tac_alloc(ctx, n, sizeof *r->id, &r->id));
    TAC_TRY(tac_alloc(ctx, n, sizeof *r->mass, &r->mass));
    TAC_TRY(tac_alloc(ctx, n, sizeof *r->t, &r->t));
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) {
        TAC_TRY(tac_alloc(ctx, 3 * n, sizeof **array[k], array[k]));
        if (n > 0)
            memcpy(*array[k], from[k], 3 * n * sizeof **array[k]);
    }
    for (size_t i = 0; i < n; i++) {
        r->id[i] = tac_scene_id(scene, (tac_lid)i);
        r->mass[i] = scene->mesh->mass[i];
        r->t[i] = now;
    }
    if (n == 0 || state->past == NULL)
        goto done;
    TAC_TRY(tac_alloc(ctx, TAC_PAST_NUMBERS * n, sizeof *r->past, &r->past));
    memcpy(r->past, state->past, n * TAC_PAST_BYTES);
done:
    return err;
}

enum tac_err tac_step_rows_out(struct tac_ctx *ctx, const struct tac_scene *scene, tac_time now,
                               const struct tac_step_state *state, struct tac_checkpoint *c)
{
    enum tac_err err;
    const struct tac_local_mesh *m = scene->mesh;
    const struct tac_part *part = m->part;
    c->now = now;
    c->trajectory.generation = TAC_TRAJECTORY_GENERATION;
    c->vertex_total = part ? part->vertex_total : m->vertex_count;
    c->triangle_total = part ? part->triangle_total : m->triangle_count;
    c->segment_total = part ? part->segment_total : m->segment_count;
    c->tetrahedron_total = part ? part->tetrahedron_total : m->tetrahedron_count;
    TAC_TRY(collect_vertices(ctx, scene, now, state, &c->vertices));
    TAC_TRY(tac_mesh_rows_collect(ctx, scene, &c->mesh));
done:
    return err;
}

/* ---- in ---- */

enum tac_err tac_step_rows_owners(struct tac_ctx *ctx, const struct tac_scene *scene,
                                  const struct tac_step_state *state, const struct tac_checkpoint *c, int32_t **owner)
{
    enum tac_err err;
    const struct tac_part *part = scene->mesh->part;
    const size_t count = (size_t)c->vertices.count + (size_t)c->script_count + (size_t)c->rigid.count +
                         tac_element_rows_vertices(c, NULL);
    tac_gid *wanted = NULL;
    size_t n = 0;
    err = tac_alloc(ctx, count, sizeof *wanted, &wanted);
    err = err ? err : tac_alloc(ctx, count, sizeof **owner, owner);
    TAC_TRY(tac_agree(ctx, err));
    for (tac_lid k = 0; k < c->vertices.count; k++)
        wanted[n++] = c->vertices.id[k];
    for (tac_lid k = 0; k < c->script_count; k++)
        wanted[n++] = c->script[k].vertex;
    for (tac_lid k = 0; k < c->rigid.count; k++)
        wanted[n++] = c->rigid.row[k].vertex;
    tac_element_rows_vertices(c, wanted + n);
    if (part != NULL)
        TAC_TRY(tac_owners_find(ctx, part->vertex_total, state->owned, state->id, NULL, count, wanted, *owner));
done:
    free(wanted);
    return err;
}

struct vertex {
    tac_gid id;
    double x[3], v[3], impulse[3], past[TAC_PAST_NUMBERS];
};

enum tac_err tac_step_rows_in(struct tac_ctx *ctx, const struct tac_vertex_rows *rows, const int32_t *owner,
                              const struct tac_step_state *state)
{
    enum tac_err err;
    struct vertex *row = NULL, *mine = NULL;
    size_t total = 0;
    TAC_TRY(tac_alloc(ctx, (size_t)rows->count, sizeof *row, &row));
    for (size_t k = 0; k < (size_t)rows->count; k++) {
        row[k].id = rows->id[k];
        memcpy(row[k].x, &rows->x[3 * k], sizeof row[k].x);
        memcpy(row[k].v, &rows->v[3 * k], sizeof row[k].v);
        memcpy(row[k].impulse, &rows->impulse[3 * k], sizeof row[k].impulse);
        if (rows->past != NULL)
            memcpy(row[k].past, &rows->past[TAC_PAST_NUMBERS * k], sizeof row[k].past);
    }
done:
    err = tac_distribute(ctx, err, (size_t)rows->count, owner, row, sizeof *row, &mine, &total);
    for (size_t k = 0; k < total && !err; k++) {
        const tac_lid own = tac_step_vertex(state, mine[k].id);
        TAC_CHECK(own >= 0);
        const size_t v = (size_t)own;
        memcpy(&state->x[3 * v], mine[k].x, sizeof mine[k].x);
        memcpy(&state->v[3 * v], mine[k].v, sizeof mine[k].v);
        memcpy(&state->impulse[3 * v], mine[k].impulse, sizeof mine[k].impulse);
        if (state->past != NULL)
            memcpy(&state->past[TAC_PAST_NUMBERS * v], mine[k].past, sizeof mine[k].past);
    }
    free(row);
    free(mine);
    return err;
}
