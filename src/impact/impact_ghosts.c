/* impact_ghosts.c: manages the ghosts, which change with the lists of pairs (docs/explanation/distribution.md). */
#include "impact/impact.h"
#include <stdlib.h>
#include <string.h>

enum { TAG = 48 };

/* All data of a ghost that its owner must tell. */
struct known {
    double x[3], v[3], a[3], p[3], before[3], proven[3];
    int64_t on;
};

static size_t fill_known(void *self, struct tac_neighbor *n)
{
    const struct tac_impact *sim = self;
    if (!tac_halo_room(sim->halo, n, n->give_count * sizeof(struct known) + 1))
        return 0;
    for (size_t i = 0; i < n->give_count; i++) {
        const size_t at = 3 * (size_t)n->give[i];
        struct known k = {.on = sim->scripts.on[n->give[i]]};
        memcpy(k.x, &sim->x[at], sizeof k.x);
        memcpy(k.v, &sim->v[at], sizeof k.v);
        memcpy(k.a, &sim->a[at], sizeof k.a);
        memcpy(k.p, &sim->p[at], sizeof k.p);
        memcpy(k.before, &sim->before[at], sizeof k.before);
        memcpy(k.proven, &sim->proven[at], sizeof k.proven);
        memcpy(n->report + i * sizeof k, &k, sizeof k);
    }
    return n->give_count * sizeof(struct known);
}

static void take_known(void *self, struct tac_neighbor *n)
{
    struct tac_impact *sim = self;
    TAC_CHECK(n->heard_count == n->need_count * sizeof(struct known));
    for (size_t i = 0; i < n->need_count; i++) {
        const size_t at = 3 * (size_t)n->need[i];
        struct known k;
        memcpy(&k, n->heard + i * sizeof k, sizeof k);
        memcpy(&sim->x[at], k.x, sizeof k.x);
        memcpy(&sim->v[at], k.v, sizeof k.v);
        memcpy(&sim->a[at], k.a, sizeof k.a);
        memcpy(&sim->p[at], k.p, sizeof k.p);
        memcpy(&sim->before[at], k.before, sizeof k.before);
        memcpy(&sim->proven[at], k.proven, sizeof k.proven);
        sim->scripts.on[n->need[i]] = (uint8_t)k.on;
    }
}

enum tac_err tac_impact_ghosts_refresh(struct tac_impact *sim)
{
    if (sim->halo == NULL)
        return TAC_OK;
    tac_halo_exchange(sim->halo, TAG, fill_known, take_known, sim);
    const enum tac_err err = tac_agree(sim->ctx, sim->halo->down);
    return err ? err : tac_impact_rigid_refresh(sim);
}

enum tac_err tac_impact_share(struct tac_impact *sim, double *value)
{
    if (sim->halo == NULL)
        return TAC_OK;
    tac_halo_share(sim->halo, TAG, value, 3, sim->count);
    return tac_agree(sim->ctx, sim->halo->down);
}

enum tac_err tac_impact_ghosts_keep(struct tac_impact *sim)
{
    enum tac_err err;
    const struct tac_impact_search *s = &sim->search;
    if (sim->halo == NULL)
        return TAC_OK;
    memset(sim->halo->mark, 0, (size_t)sim->count);
    for (size_t k = 0; k < s->count; k++)
        for (int i = 0; i < tac_pair_vertices(s->pair[k].type); i++)
            sim->halo->mark[s->pair[k].v[i]] = 1;
    tac_impact_rigid_mark(sim);
    TAC_TRY(tac_agree(sim->ctx, tac_halo_prune(sim->halo)));
    TAC_TRY(tac_agree(sim->ctx, tac_halo_subscribe(sim->halo)));
    TAC_TRY(tac_impact_ghosts_refresh(sim));
done:
    return err;
}

static void added(void *self, tac_lid v, const struct tac_ghost *ghost)
{
    struct tac_impact *sim = self;
    sim->count = sim->halo->vertices;
    sim->search.state.count = sim->count;
    sim->search.state.capacity = sim->halo->room;
    tac_model_add_ghost(sim->model, v, ghost);
    if (sim->rigid.count > 0)
        sim->rigid.of[v] = tac_scene_rigid_of(sim->scene, v);
}

static void enter_arrays(struct tac_impact *sim)
{
    struct tac_halo *halo = sim->halo;
    double **const array[] = {&sim->x, &sim->v, &sim->a, &sim->p, &sim->before, &sim->proven};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++)
        tac_halo_grows(halo, array[k], 3 * sizeof **array[k]);
    tac_halo_grows(halo, &sim->changed, sizeof *sim->changed);
    tac_halo_grows(halo, &sim->scripts.on, sizeof *sim->scripts.on);
    if (sim->rigid.count > 0)
        tac_halo_grows(halo, &sim->rigid.of, sizeof *sim->rigid.of);
    tac_model_grows(sim->model, halo);
    tac_halo_tell(halo, (struct tac_halo_user){sim, added, NULL});
}

enum tac_err tac_impact_ghosts_create(struct tac_impact *sim)
{
    enum tac_err err;
    if (sim->scene->mesh->part == NULL)
        return TAC_OK;
    err = tac_alloc(sim->ctx, 1, sizeof *sim->halo, &sim->halo);
    err = err ? err : tac_halo_create(sim->ctx, sim->scene, false, sim->halo);
    TAC_TRY(tac_agree(sim->ctx, err));
    enter_arrays(sim);
    TAC_TRY(tac_agree(sim->ctx, tac_halo_subscribe(sim->halo)));
done:
    return err;
}

void tac_impact_ghosts_destroy(struct tac_impact *sim)
{
    if (sim->halo != NULL)
        tac_halo_destroy(sim->halo);
    free(sim->halo);
    sim->halo = NULL;
}
