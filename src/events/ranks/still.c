/* still.c: the contact impulses of vertices that never move (still.h). */
#include "events/ranks/still.h"
#include "base/exchange.h"
#include "events/ranks/ranks.h"
#include <stdlib.h>
#include <string.h>

/* Of the mass of all that moves times 1 m/s, as powers of two. */
enum { WHOLE_UNIT = -36, REST_UNIT = WHOLE_UNIT - 30 };

enum tac_err tac_still_create(struct tac_sim *sim)
{
    return tac_alloc(sim->ctx, 3 * (size_t)sim->state.capacity, sizeof *sim->still.rest, &sim->still.rest);
}

void tac_still_destroy(struct tac_sim *sim)
{
    free(sim->still.rest);
    free(sim->still.list);
    free(sim->still.start);
}

enum tac_err tac_still_choose(struct tac_sim *sim)
{
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    double heaviest = 0;
    int exponent = 0;
    for (tac_lid i = 0; i < sim->state.owned; i++)
        if (mesh->ever_free[i] && mesh->mass[i] > heaviest)
            heaviest = mesh->mass[i];
    if (tac_sim_halo(sim) &&
        MPI_Allreduce(MPI_IN_PLACE, &heaviest, 1, MPI_DOUBLE, MPI_MAX, sim->ctx->comm) != MPI_SUCCESS)
        return tac_fail(sim->ctx, TAC_ERR_RUN, "MPI failed while weighing the scene");
    /* No sum of masses: it would depend on its order. */
    const double all = heaviest * (double)(mesh->part ? mesh->part->vertex_total : mesh->vertex_count);
    if (all > 0)
        (void)frexp(all, &exponent);
    exponent = exponent < -500 ? -500 : exponent > 500 ? 500 : exponent;
    /* What is added to this and taken off again is a whole multiple of the unit. */
    sim->still.round[0] = ldexp(1.5, 52 + exponent + WHOLE_UNIT);
    sim->still.round[1] = ldexp(1.5, 52 + exponent + REST_UNIT);
    sim->still.unit = ldexp(1, exponent + WHOLE_UNIT);
    return TAC_OK;
}

enum tac_err tac_still_list(struct tac_sim *sim, bool all)
{
    enum tac_err err = TAC_OK;
    struct tac_still *s = &sim->still;
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

void tac_still_begin(struct tac_sim *sim)
{
    struct tac_still *s = &sim->still;
    for (size_t k = 0; k < s->count; k++) {
        double *sum = &sim->state.impulse[3 * (size_t)s->list[k]], *low = &s->rest[3 * (size_t)s->list[k]];
        for (int i = 0; i < 3; i++) { /* so that the rest stays small */
            const double whole = (low[i] + s->round[0]) - s->round[0];
            s->start[k].sum[i] = sum[i] += whole;
            s->start[k].rest[i] = low[i] -= whole;
        }
    }
}

void tac_still_restore(struct tac_sim *sim)
{
    const struct tac_still *s = &sim->still;
    for (size_t k = 0; k < s->count; k++) {
        memcpy(&sim->state.impulse[3 * (size_t)s->list[k]], s->start[k].sum, sizeof s->start[k].sum);
        memcpy(&s->rest[3 * (size_t)s->list[k]], s->start[k].rest, sizeof s->start[k].rest);
    }
}

static bool any(const struct tac_sim *sim, tac_lid v)
{
    for (size_t k = 3 * (size_t)v; k < 3 * (size_t)v + 3; k++)
        if (sim->state.impulse[k] != 0 || sim->still.rest[k] != 0)
            return true;
    return false;
}

bool tac_still_owes(const struct tac_sim *sim, tac_lid v)
{
    return v >= sim->state.owned && sim->model->apart && tac_model_is_immovable(sim->model, v) && any(sim, v);
}

/* A sum on its way to its owner. */
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
        if (sim->scene->mesh->part->vertex_id[v] < 0 || !tac_still_owes(sim, v))
            continue;
        err = tac_grow(sim->ctx, &owed, &capacity, count + 1, sizeof *owed);
        if (!err)
            err = tac_grow(sim->ctx, &to, &to_capacity, count + 1, sizeof *to);
        if (err)
            break;
        double *sum = &sim->state.impulse[3 * (size_t)v], *low = &sim->still.rest[3 * (size_t)v];
        owed[count] = (struct owed){tac_sim_id(sim, v), {sum[0], sum[1], sum[2]}, {low[0], low[1], low[2]}};
        to[count++] = tac_sim_owner(sim, v);
    }
    TAC_TRY(tac_distribute(sim->ctx, err, count, to, owed, sizeof *owed, &came, &total));
    for (tac_lid v = sim->state.owned; v < sim->state.count; v++)
        for (size_t k = 3 * (size_t)v; k < 3 * (size_t)v + 3; k++)
            sim->state.impulse[k] = sim->still.rest[k] = 0;
    for (size_t k = 0; k < total; k++) {
        const tac_lid v = tac_id_find(sim->scene->mesh->part->vertex_id, sim->state.owned, came[k].id);
        TAC_CHECK(v >= 0);
        for (size_t i = 0; i < 3; i++) {
            sim->state.impulse[3 * (size_t)v + i] += came[k].sum[i];
            sim->still.rest[3 * (size_t)v + i] += came[k].rest[i];
        }
    }
done:
    free(owed);
    free(came);
    free(to);
    return err;
}

enum tac_err tac_still_gather(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    if (tac_sim_halo(sim) && sim->model->apart)
        TAC_TRY(send_home(sim));
    for (size_t k = 0; k < 3 * (size_t)sim->state.owned; k++) {
        const double whole = sim->still.unit * floor(sim->still.rest[k] / sim->still.unit);
        sim->state.impulse[k] += whole;
        sim->still.rest[k] -= whole;
    }
done:
    return err;
}
