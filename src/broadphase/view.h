/* view.h: what the discovery of contacts knows of a simulation, and what it may ask of it.
 *
 * Discovery (this room, and kds) sees positions, scripts and active contacts, and asks for layer groups to be active or
 * dropped.  It knows no integrator: whoever runs one fills a view.
 */
#ifndef TACTUS_BROADPHASE_VIEW_H
#define TACTUS_BROADPHASE_VIEW_H

#include "contact/pairs/active.h"
#include "partition/halo.h"
#include "state/paths.h"
#include "state/position.h"
#include <math.h>
#include <tactus/counters.h>

/* What may be asked; `self` is the integrator's.  All are local. */
struct tac_activation {
    /* Watches one more layer group of a pair from now on; a new pair gets a slot. *slot told. */
    enum tac_err (*active)(void *self, uint64_t key, const tac_lid v[4], int32_t *slot);
    /* Between two instants: puts the layer group that watch() has just added where it can tick. */
    enum tac_err (*place)(void *self, int32_t slot);
    /* Drops the deepest layer group of a pair, which must be silent; the pair with its last one. */
    void (*drop)(void *self, int32_t slot);
    /* Does friction hold the pair?  Then its outermost layer group must stay. */
    bool (*holds)(void *self, int32_t slot);
};

struct tac_candidates;

/* All borrowed. */
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
    const int32_t *owner;              /* (V): the rank of each vertex, where several ranks have the whole scene: found
                                        * are the pairs with a vertex of this rank.  NULL: those that it decides */
    tac_time main_period;              /* that most of the elastic work has; else that of first layers, quanta */
    const struct tac_activation *activation;
    void *self; /* whose view it is */
};

static inline enum tac_err tac_view_active(struct tac_view *view, uint64_t key, const tac_lid v[4], int32_t *slot)
{
    return view->activation->active(view->self, key, v, slot);
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
