/* flat_starts.c: finds how far vertices start from the flat parts of surfaces, which decides how thick the layers are
 * that push them off (contact/flat.h). The start positions decide, at a restart too, so that a run that goes on has the
 * same layers. */
#include "events/windows/flat_starts.h"
#include "base/exchange.h"
#include "broadphase/along.h"
#include "contact/flat.h"
#include "events/sim.h"
#include "partition/ghosts.h"
#include <stdlib.h>
#include <string.h>

/* Pairs are found up to this many of their thicknesses: beyond 1 / TAC_REST_FRACTION_MOST their thickness is the
 * scene's. */
static const double FAR = 1.125;

/* context: the simulation; a tac_take_pair. */
static enum tac_err take(void *context, const struct tac_found_pair *pair)
{
    const struct tac_sim *sim = context;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    double x[4][3];
    struct tac_near near;
    if (tac_flat_edges(sim->scene, pair->type, pair->v) == 0)
        return TAC_OK;
    for (int k = 0; k < 4; k++)
        memcpy(x[k], &mesh->x[3 * (size_t)pair->v[k]], sizeof x[k]);
    tac_near_pair(pair->type, (const double(*)[3])x, &near);
    struct tac_flat *flat = &mesh->flat[pair->v[0]];
    flat->start = near.d < flat->start ? near.d : flat->start;
    return TAC_OK;
}

struct found_start {
    tac_gid id;
    double start;
};

/* Sends what this rank has found about vertices of other ranks to them: those that never move, near a rigid body. */
static enum tac_err tell_owners(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    struct found_start *mine = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t count = 0, capacity = 0, to_capacity = 0, n = 0;
    for (tac_lid v = mesh->part->owned; v < sim->state.count && !err; v++) {
        if (mesh->part->vertex_id[v] < 0 || !(mesh->flat[v].start < INFINITY))
            continue;
        TAC_TRY(tac_grow(sim->ctx, &mine, &capacity, count + 1, sizeof *mine));
        TAC_TRY(tac_grow(sim->ctx, &to, &to_capacity, count + 1, sizeof *to));
        mine[count] = (struct found_start){mesh->part->vertex_id[v], mesh->flat[v].start};
        to[count++] = mesh->part->owner[v];
    }
done:
    err = tac_distribute(sim->ctx, err, count, to, mine, sizeof *mine, &came, &n);
    for (size_t k = 0; k < n && !err; k++) {
        struct tac_flat *flat = &mesh->flat[tac_id_find(mesh->part->vertex_id, mesh->part->owned, came[k].id)];
        flat->start = came[k].start < flat->start ? came[k].start : flat->start;
    }
    free(mine);
    free(came);
    free(to);
    return err;
}

/* Brings the starts of the ghosts of elements from their owners. */
static enum tac_err refresh(struct tac_sim *sim)
{
    enum tac_err err;
    const struct tac_local_mesh *mesh = sim->scene->mesh;
    double *start = NULL;
    err = tac_agree(sim->ctx, tac_alloc(sim->ctx, (size_t)mesh->vertex_count, sizeof *start, &start));
    if (err)
        goto done;
    for (tac_lid i = 0; i < mesh->vertex_count; i++)
        start[i] = mesh->flat[i].start;
    err = tac_ghosts_refresh(sim->ctx, mesh->part, mesh->vertex_count, 1, start);
    for (tac_lid i = 0; i < mesh->vertex_count; i++)
        mesh->flat[i].start = start[i];
done:
    free(start);
    return err;
}

enum tac_err tac_flat_starts(struct tac_sim *sim)
{
    enum tac_err err;
    struct tac_counters counters = {0}; /* this search is not one of the run */
    struct tac_view view = sim->view;
    struct tac_along *along = NULL;
    double *still = NULL;
    if (sim->scene->mesh->flat == NULL || !sim->contact)
        return TAC_OK;
    view.counters = &counters;
    view.margin = FAR;
    TAC_TRY(tac_along_create(&view, 1, &along));
    TAC_TRY(tac_agree(sim->ctx, tac_alloc(sim->ctx, 3 * (size_t)sim->state.count, sizeof *still, &still)));
    TAC_TRY(tac_along_find(along, sim->scene->mesh->x, still, 0, take, sim));
    if (view.halo != NULL) {
        TAC_TRY(tell_owners(sim));
        memset(view.halo->mark, 0, (size_t)sim->state.count);
        TAC_TRY(tac_agree(sim->ctx, tac_halo_prune(view.halo)));
        TAC_TRY(refresh(sim));
    }
done:
    free(still);
    tac_along_destroy(&along);
    return err;
}
