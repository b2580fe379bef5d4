/* view.h: declares the data of a simulation that the discovery of contacts reads, and the functions that it calls.
 *
 * Discovery (this room, and kds) reads positions, scripts and active contacts, and calls functions of the integrator
 * that activate or drop layer groups. It does not depend on the integrator: each integrator fills a view.
 */
#ifndef TACTUS_BROADPHASE_VIEW_H
#define TACTUS_BROADPHASE_VIEW_H

#include "contact/pairs/active.h"
#include "partition/halo.h"
#include "state/paths.h"
#include "state/position.h"
#include <math.h>
#include <tactus/counters.h>

/* The functions that discovery calls; `self` belongs to the integrator. All are local. */
struct tac_activation {
    /* Activates one more layer group of a pair from now on; a new pair gets a slot. *slot: the pair's slot. */
    enum tac_err (*activate)(void *self, uint64_t key, const tac_lid v[4], int32_t *slot);
    /* Between two instants: moves the layer group that activate() has just added to its class, where it can tick. */
    enum tac_err (*place)(void *self, int32_t slot);
    /* Deactivates the deepest layer group of a pair, which must be silent. The pair is removed with its last layer
     * group. */
    void (*drop)(void *self, int32_t slot);
    /* Does the pair have a friction state? Then its outermost layer group must stay active. */
    bool (*holds)(void *self, int32_t slot);
};

struct tac_candidates;

/* The view of a simulation; all pointers are borrowed. */
struct tac_view {
    struct tac_ctx *ctx;
    const struct tac_scene *scene;
    const struct tac_model *model;
    struct tac_vertex_state *state;
    struct tac_scripts *scripts;
    struct tac_paths *paths;
    struct tac_active *active;
    struct tac_counters *counters;
    struct tac_halo *halo;             /* NULL: one rank */
    struct tac_candidates *candidates; /* NULL: none are made */
    double margin;                     /* pairs are found that come under so many times their thickness, at least 1 */
    bool every_owner;                  /* found are all pairs with a vertex of this rank; else those that it decides */
    bool movers_only; /* with every_owner: of these pairs only those in which such a vertex is free at some time */
    tac_time
        main_period; /* period with most of the elastic work; without elements, the period of first layers; quanta */
    const struct tac_activation *activation;
    void *self; /* the integrator's, for `activation` */
};

static inline enum tac_err tac_view_activate(struct tac_view *view, uint64_t key, const tac_lid v[4], int32_t *slot)
{
    return view->activation->activate(view->self, key, v, slot);
}
static inline enum tac_err tac_view_place(struct tac_view *view, int32_t slot)
{
    return view->activation->place(view->self, slot);
}
static inline void tac_view_drop(struct tac_view *view, int32_t slot)
{
    view->activation->drop(view->self, slot);
}
static inline bool tac_view_has_friction(struct tac_view *view, int32_t slot)
{
    return view->activation->holds(view->self, slot);
}

#endif
