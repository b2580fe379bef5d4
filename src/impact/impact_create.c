/* impact_create.c: creates the simulation of a scene at its start. */
#include "impact/impact.h"
#include <stdlib.h>
#include <string.h>

void tac_impact_destroy(struct tac_impact **out)
{
    struct tac_impact *sim = *out;
    if (sim == NULL)
        return;
    tac_impact_search_destroy(sim);
    tac_impact_active_free(sim);
    tac_impact_scripts_destroy(sim);
    tac_impact_rigid_destroy(&sim->rigid);
    tac_loads_free(&sim->loads);
    tac_load_times_free(&sim->load_times);
    tac_model_destroy(&sim->model);
    if (sim->own_v != sim->v)
        free(sim->own_v);
    double *const arrays[] = {sim->x, sim->v, sim->a, sim->p, sim->before, sim->proven, sim->impulse};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        free(arrays[k]);
    free(sim->changed);
    free(sim->id);
    free(sim->pushed.row);
    tac_impact_ghosts_destroy(sim);
    free(sim);
    *out = NULL;
}

tac_lid tac_impact_vertex(const struct tac_impact *sim, tac_gid id)
{
    return sim->halo != NULL ? tac_ghost_find(sim->halo, id) : (tac_lid)id;
}

/* Local. Sets which vertices this rank has. */
static enum tac_err take_scene(struct tac_impact *sim, struct tac_scene *scene)
{
    enum tac_err err = TAC_OK;
    const struct tac_part *part = scene->mesh->part;
    sim->scene = scene;
    sim->count = scene->mesh->vertex_count;
    sim->owned = tac_scene_owned(scene);
    if (part != NULL) {
        TAC_TRY(tac_alloc(sim->ctx, (size_t)part->owned, sizeof *sim->id, &sim->id));
        if (part->owned > 0)
            memcpy(sim->id, part->vertex_id, (size_t)part->owned * sizeof *sim->id);
    }
    TAC_TRY(tac_loads_collect(sim->ctx, scene, &sim->loads));
    TAC_TRY(tac_load_times_make(sim->ctx, scene, &sim->load_times));
done:
    return err;
}

static enum tac_err make_arrays(struct tac_impact *sim)
{
    enum tac_err err = TAC_OK;
    const size_t n = 3 * (size_t)sim->count;
    double **const all[] = {&sim->x, &sim->v, &sim->a, &sim->p, &sim->before, &sim->proven};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        TAC_TRY(tac_alloc(sim->ctx, n, sizeof **all[k], all[k]));
    TAC_TRY(tac_alloc(sim->ctx, (size_t)sim->count, 1, &sim->changed));
    TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->owned, sizeof *sim->impulse, &sim->impulse));
    sim->own_v = sim->v;
    if (sim->id != NULL)
        TAC_TRY(tac_alloc(sim->ctx, 3 * (size_t)sim->owned, sizeof *sim->own_v, &sim->own_v));
    if (n > 0) {
        memcpy(sim->x, sim->scene->mesh->x, n * sizeof *sim->x);
        memcpy(sim->v, sim->scene->mesh->v, n * sizeof *sim->v);
    }
    TAC_TRY(tac_impact_rigid_create(sim));
    TAC_TRY(tac_impact_scripts_create(sim));
    tac_impact_scripts_start(sim);
done:
    return err;
}

enum tac_err tac_impact_create(struct tac_ctx *ctx, struct tac_scene *scene, struct tac_impact **out)
{
    enum tac_err err;
    struct tac_impact *sim = NULL;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, 1, sizeof *sim, &sim)));
    sim->ctx = ctx;
    sim->active.instant.ctx = ctx;
    sim->active.instant.dealt = sim->active.instant.keeps = true;
    sim->active.instant.rule = scene->settings->impact;
    TAC_TRY(tac_agree(ctx, take_scene(sim, scene)));
    TAC_TRY(tac_agree(ctx, tac_model_create(ctx, scene, &sim->model)));
    TAC_TRY(tac_agree(ctx, make_arrays(sim)));
    TAC_TRY(tac_impact_ghosts_create(sim));
    TAC_TRY(tac_impact_search_create(sim));
    TAC_TRY(tac_impact_ghosts_refresh(sim));
done:
    if (err)
        tac_impact_destroy(&sim);
    *out = sim;
    return err;
}
