/* implicit_ghosts.c: manages the ghosts (docs/explanation/distribution.md). Ghosts that the elements of this rank reach
 * are permanent. Ghosts that its pairs reach change with the lists of pairs. A rank computes the same values at a ghost
 * as the owner, from the same numbers. Only values that need more of the scene than a rank has are sent by the owner.
 */
#include "base/exchange.h"
#include "implicit/parts.h"
#include <math.h>
#include <stdlib.h>

enum { TAG = 47 };

/* All data of a ghost that may change, or that only its owner can compute. */
struct known {
    double x[3], v[3], x0[3], p[3], trial[3], stiff, area;
    int32_t held, led;
};

static void pack(const struct tac_implicit *sim, tac_lid vertex, struct known *k)
{
    const size_t at = 3 * (size_t)vertex;
    memcpy(k->x, &sim->x[at], sizeof k->x);
    memcpy(k->v, &sim->v[at], sizeof k->v);
    memcpy(k->x0, &sim->newton.x0[at], sizeof k->x0);
    memcpy(k->p, &sim->newton.p[at], sizeof k->p);
    memcpy(k->trial, &sim->newton.trial[at], sizeof k->trial);
    k->stiff = sim->contact.stiff != NULL ? sim->contact.stiff[vertex] : 0;
    k->area = sim->contact.area != NULL ? sim->contact.area[vertex] : 0;
    k->held = sim->newton.held[vertex];
    k->led = sim->scripts.led[vertex];
}

static void unpack(struct tac_implicit *sim, tac_lid vertex, const struct known *k)
{
    const size_t at = 3 * (size_t)vertex;
    memcpy(&sim->x[at], k->x, sizeof k->x);
    memcpy(&sim->v[at], k->v, sizeof k->v);
    memcpy(&sim->newton.x0[at], k->x0, sizeof k->x0);
    memcpy(&sim->newton.p[at], k->p, sizeof k->p);
    memcpy(&sim->newton.trial[at], k->trial, sizeof k->trial);
    if (sim->contact.stiff != NULL)
        sim->contact.stiff[vertex] = k->stiff;
    if (sim->contact.area != NULL)
        sim->contact.area[vertex] = k->area;
    sim->newton.held[vertex] = (uint8_t)k->held;
    sim->scripts.led[vertex] = (uint8_t)k->led;
}

/* ---- messages ---- */

static size_t fill_known(void *self, struct tac_neighbor *n)
{
    const struct tac_implicit *sim = self;
    if (!tac_halo_room(sim->halo, n, n->give_count * sizeof(struct known) + 1))
        return 0;
    for (size_t i = 0; i < n->give_count; i++) {
        struct known k;
        pack(sim, n->give[i], &k);
        memcpy(n->report + i * sizeof k, &k, sizeof k);
    }
    return n->give_count * sizeof(struct known);
}

static void take_known(void *self, struct tac_neighbor *n)
{
    TAC_CHECK(n->heard_count == n->need_count * sizeof(struct known));
    for (size_t i = 0; i < n->need_count; i++) {
        struct known k;
        memcpy(&k, n->heard + i * sizeof k, sizeof k);
        unpack(self, n->need[i], &k);
    }
}

enum tac_err tac_implicit_ghosts_refresh(struct tac_implicit *sim)
{
    if (sim->halo == NULL)
        return TAC_OK;
    tac_halo_exchange(sim->halo, TAG, fill_known, take_known, sim);
    const enum tac_err err = tac_agree(sim->ctx, sim->halo->down);
    return err ? err : tac_rigid_refresh(sim);
}

enum tac_err tac_implicit_share(struct tac_implicit *sim, double *value, int width, bool meshed)
{
    if (sim->halo == NULL)
        return TAC_OK;
    tac_halo_share(sim->halo, TAG, value, width, meshed ? sim->meshed : sim->count);
    return tac_agree(sim->ctx, sim->halo->down);
}

/* ---- ghosts of contacts ---- */

void tac_implicit_ghosts_mark(struct tac_implicit *sim, const tac_lid *v, int n)
{
    for (int i = 0; i < n && sim->halo != NULL; i++)
        sim->halo->mark[v[i]] = 1;
}

enum tac_err tac_implicit_ghosts_keep(struct tac_implicit *sim)
{
    enum tac_err err;
    if (sim->halo == NULL)
        return TAC_OK;
    TAC_TRY(tac_agree(sim->ctx, tac_halo_prune(sim->halo)));
    TAC_TRY(tac_agree(sim->ctx, tac_halo_subscribe(sim->halo)));
    TAC_TRY(tac_implicit_ghosts_refresh(sim));
done:
    return err;
}

static void added(void *self, tac_lid v, const struct tac_ghost *ghost)
{
    struct tac_implicit *sim = self;
    sim->count = sim->halo->vertices;
    tac_implicit_search_grows(sim);
    if (!tac_implicit_own_inertia(sim))
        sim->inertia = sim->scene->mesh->mass; /* the array may have been reallocated */
    tac_model_add_ghost(sim->model, v, ghost);
}

/* ---- life ---- */

static void enter_arrays(struct tac_implicit *sim)
{
    struct tac_halo *halo = sim->halo;
    double **const array[] = {&sim->x, &sim->v, &sim->newton.x0, &sim->newton.p, &sim->newton.trial};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++)
        tac_halo_grows(halo, array[k], 3 * sizeof **array[k]);
    if (sim->contact.area != NULL)
        tac_halo_grows(halo, &sim->contact.area, sizeof *sim->contact.area);
    tac_halo_grows(halo, &sim->newton.held, sizeof *sim->newton.held);
    tac_halo_grows(halo, &sim->scripts.led, sizeof *sim->scripts.led);
    tac_model_grows(sim->model, halo);
    tac_halo_tell(halo, (struct tac_halo_user){sim, added, NULL});
}

enum tac_err tac_implicit_ghosts_create(struct tac_implicit *sim)
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

void tac_implicit_ghosts_destroy(struct tac_implicit *sim)
{
    if (sim->halo != NULL)
        tac_halo_destroy(sim->halo);
    free(sim->halo);
    sim->halo = NULL;
}
