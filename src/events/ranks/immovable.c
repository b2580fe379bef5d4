/* immovable.c: adds up the contact impulses of vertices that never move (immovable.h). */
#include "events/ranks/immovable.h"
#include "base/exchange.h"
#include "events/ranks/ranks.h"
#include <stdlib.h>
#include <string.h>

/* Units as powers of two, relative to the mass of everything that moves times 1 m/s. */
enum { WHOLE_UNIT = -36, REST_UNIT = WHOLE_UNIT - 30 };

enum tac_err tac_immovable_create(struct tac_ctx *ctx, struct tac_immovable *immovable,
                                  const struct tac_vertex_state *state)
{
    return tac_alloc(ctx, 3 * (size_t)state->capacity, sizeof *immovable->rest, &immovable->rest);
}

void tac_immovable_destroy(struct tac_immovable *immovable)
{
    free(immovable->rest);
    free(immovable->list);
    free(immovable->start);
}

enum tac_err tac_immovable_choose(struct tac_sim *sim)
{
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    double heaviest = 0;
    int exponent = 0;
    for (tac_lid i = 0; i < sim->state.owned; i++)
        if (mesh->ever_free[i] && mesh->mass[i] > heaviest)
            heaviest = mesh->mass[i];
    if (tac_ranks_halo(sim->ranks) &&
        MPI_Allreduce(MPI_IN_PLACE, &heaviest, 1, MPI_DOUBLE, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while weighing the scene");
    /* No sum of masses: it would depend on its order. */
    const double all = heaviest * (double)(mesh->part ? mesh->part->vertex_total : mesh->vertex_count);
    if (all > 0)
        (void)frexp(all, &exponent);
    exponent = exponent < -500 ? -500 : exponent > 500 ? 500 : exponent;
    /* What is added to this and taken off again is a whole multiple of the unit. */
    sim->immovable.round[0] = ldexp(1.5, 52 + exponent + WHOLE_UNIT);
    sim->immovable.round[1] = ldexp(1.5, 52 + exponent + REST_UNIT);
    sim->immovable.unit = ldexp(1, exponent + WHOLE_UNIT);
    return TAC_OK;
}

enum tac_err tac_immovable_list(struct tac_sim *sim, bool all)
{
    enum tac_err err = TAC_OK;
    struct tac_immovable *s = &sim->immovable;
    s->count = 0;
    for (tac_lid i = 0; i < sim->state.count; i++) {
        if (!tac_model_is_immovable(sim->model, i) || !(sim->paths.near_pairs[i] > 0 || (all && i < sim->state.owned)))
            continue;
        TAC_TRY(tac_grow(sim->ctx, &s->list, &s->list_capacity, s->count + 1, sizeof *s->list));
        TAC_TRY(tac_grow(sim->ctx, &s->start, &s->start_capacity, s->count + 1, sizeof *s->start));
        s->list[s->count++] = i;
    }
done:
    return err;
}

void tac_immovable_begin(struct tac_immovable *immovable, const struct tac_vertex_state *state)
{
    for (size_t k = 0; k < immovable->count; k++) {
        double *sum = &state->impulse[3 * (size_t)immovable->list[k]],
               *low = &immovable->rest[3 * (size_t)immovable->list[k]];
        for (int i = 0; i < 3; i++) { /* so that the rest stays small */
            const double whole = (low[i] + immovable->round[0]) - immovable->round[0];
            immovable->start[k].sum[i] = sum[i] += whole;
            immovable->start[k].rest[i] = low[i] -= whole;
        }
    }
}

void tac_immovable_restore(struct tac_immovable *immovable, struct tac_vertex_state *state)
{
    for (size_t k = 0; k < immovable->count; k++) {
        memcpy(&state->impulse[3 * (size_t)immovable->list[k]], immovable->start[k].sum,
               sizeof immovable->start[k].sum);
        memcpy(&immovable->rest[3 * (size_t)immovable->list[k]], immovable->start[k].rest,
               sizeof immovable->start[k].rest);
    }
}

static bool has_impulse(const struct tac_sim *sim, tac_lid v)
{
    for (size_t k = 3 * (size_t)v; k < 3 * (size_t)v + 3; k++)
        if (sim->state.impulse[k] != 0 || sim->immovable.rest[k] != 0)
            return true;
    return false;
}

bool tac_immovable_owes(const struct tac_sim *sim, tac_lid v)
{
    return v >= sim->state.owned && sim->model->omit_immovable && tac_model_is_immovable(sim->model, v) &&
           has_impulse(sim, v);
}

/* A message: a sum for the owner of its vertex. */
struct owed {
    tac_gid id;
    double sum[3], rest[3];
};

static enum tac_err send_home(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    struct owed *owed = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t count = 0, capacity = 0, to_capacity = 0, total = 0;
    for (tac_lid v = sim->state.owned; v < sim->state.count && !err; v++) {
        if (sim->scene->mesh->part->vertex_id[v] < 0 || !tac_immovable_owes(sim, v))
            continue;
        err = tac_grow(sim->ctx, &owed, &capacity, count + 1, sizeof *owed);
        if (!err)
            err = tac_grow(sim->ctx, &to, &to_capacity, count + 1, sizeof *to);
        if (err)
            break;
        double *sum = &sim->state.impulse[3 * (size_t)v], *low = &sim->immovable.rest[3 * (size_t)v];
        owed[count] = (struct owed){tac_scene_id(sim->scene, v), {sum[0], sum[1], sum[2]}, {low[0], low[1], low[2]}};
        to[count++] = tac_scene_owner(sim->ctx, sim->scene, v);
    }
    TAC_TRY(tac_distribute(sim->ctx, err, count, to, owed, sizeof *owed, &came, &total));
    for (tac_lid v = sim->state.owned; v < sim->state.count; v++)
        for (size_t k = 3 * (size_t)v; k < 3 * (size_t)v + 3; k++)
            sim->state.impulse[k] = sim->immovable.rest[k] = 0;
    for (size_t k = 0; k < total; k++) {
        const tac_lid v = tac_id_find(sim->scene->mesh->part->vertex_id, sim->state.owned, came[k].id);
        TAC_CHECK(v >= 0);
        for (size_t i = 0; i < 3; i++) {
            sim->state.impulse[3 * (size_t)v + i] += came[k].sum[i];
            sim->immovable.rest[3 * (size_t)v + i] += came[k].rest[i];
        }
    }
done:
    free(owed);
    free(came);
    free(to);
    return err;
}

enum tac_err tac_immovable_gather(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    if (tac_ranks_halo(sim->ranks) && sim->model->omit_immovable)
        TAC_TRY(send_home(sim));
    for (size_t k = 0; k < 3 * (size_t)sim->state.owned; k++) {
        const double whole = sim->immovable.unit * floor(sim->immovable.rest[k] / sim->immovable.unit);
        sim->state.impulse[k] += whole;
        sim->immovable.rest[k] -= whole;
    }
done:
    return err;
}
