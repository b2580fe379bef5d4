/* sim.h: one simulation: state, clocks, active contacts, and the passes that run them.
 *
 * A window (T, T + W] is run as a *pass*: every force that is due acts at its instants, with the layer groups that are
 * active, and the path of each vertex is kept. Discovery then examines the paths. If no contact was missed, the window
 * is committed; otherwise the missed contacts become active too, and the window is run again from its start.  All state
 * hangs off struct tac_sim, which owns it.
 *
 *     tac_sim_create(ctx, scene, mode, &sim);
 *     while (sim->state.now < scene->t_end) tac_sim_advance(sim, next_stop);    commits up to next_stop
 *     tac_sim_destroy(&sim);
 */
#ifndef TACTUS_EVENTS_SIM_H
#define TACTUS_EVENTS_SIM_H

#include "base/recorder.h"
#include "broadphase/view.h"
#include "contact/pairs/active.h"
#include "elements/elastic.h"
#include "events/clock/clock.h"
#include "events/forces/book.h"
#include "events/forces/script.h"
#include "events/windows/control.h"
#include "events/windows/discovery.h"
#include "partition/part.h"
#include "state/paths.h"
#include "state/vertex_state.h"
#include <math.h>

struct tac_ranks;

/* Contact impulses of vertices that never move (still.h). */
struct tac_still {
    double unit;     /* N s */
    double round[2]; /* what rounds to whole units, coarse and fine */
    double *rest;    /* owned, (V, 3): fine units beside state.impulse, N s; of others 0 */
    size_t count, list_capacity, start_capacity;
    tac_lid *list; /* owned: those with active pairs */
    struct {
        double sum[3], rest[3];
    } * start; /* owned: at the window's start, by place in the list */
};

struct tac_sim {
    struct tac_ctx *ctx;           /* borrowed */
    const struct tac_scene *scene; /* borrowed */
    struct tac_elastic *elastic;   /* owned */
    struct tac_model *model;       /* owned */
    bool contact;                  /* contact.thickness > 0 and something can touch */
    struct tac_ranks *ranks;       /* owned; NULL: one rank */
    struct tac_recorder *record;   /* borrowed: keeps every breakpoint; NULL: none does */
    struct tac_vertex_state state;
    struct tac_paths paths;
    struct tac_active active;
    struct tac_clocks clocks;
    struct tac_scripts scripts;
    struct tac_books books;
    struct tac_control control;
    struct tac_windows windows;
    struct tac_find find;
    struct tac_still still;
    struct tac_view view; /* of the above, for discovery */
};

/* ---- windows/pass.c ---- */
/* Local. x of vertex i at t (docs/explanation/method.md, Time and order): looks, does not touch. */
void tac_position(const struct tac_sim *sim, tac_lid i, tac_time t, double x[3]);
/* Local. Marks the window's start (what tac_pass_rollback goes back to). */
enum tac_err tac_pass_begin(struct tac_sim *sim);
/* Local. Runs all instants in (window_start, end]; returns the time reached: `end`, or the instant at which a pass
 * that can no longer be right stopped (sim->control.stop). */
tac_time tac_pass_run(struct tac_sim *sim, tac_time end);
/* Local. Runs one instant, whose classes tac_clock_next() has just told: what tac_pass_run() does with each. */
void tac_pass_step(struct tac_sim *sim, tac_time t);
/* Local. Back to the window's start; layer groups born after `believed` in this pass are dropped. */
enum tac_err tac_pass_rollback(struct tac_sim *sim, tac_time committed);
/* Local. What was run is right: now = end. */
enum tac_err tac_pass_commit(struct tac_sim *sim, tac_time end);

/* Local. Wall time in which this rank waited for others and sent to them, so far, s. */
static inline double tac_pass_waited(const struct tac_sim *sim)
{
    return sim->books.counters.seconds_waiting + sim->books.counters.seconds_exchange;
}
/* Local. Enters wall time spent on instants, `waited_s` of it between them: in forces, and contact's share in contact.
 */
void tac_pass_took(struct tac_sim *sim, double wall_s, double waited_s);

/* ---- forces/contact_tick.c ---- */
/* Local. The penalty layer groups due at t (sim->clocks.due_group), limits of stretch among them, and then the friction
 * of their pairs (docs/explanation/method.md). Fills sim->active.loss. */
void tac_contact_tick(struct tac_sim *sim, tac_time t);

/* ---- forces/contact_kick.c ---- */
/* Local. Kicks the vertices of a pair, which is `near` at t, by a force of this period: impulses [N s] `normal` along
 * its normal and `mollified` along the gradient of its mollifier. */
void tac_contact_kick_pair(struct tac_sim *sim, const struct tac_pair *p, const struct tac_near *near, tac_time t,
                           tac_time period, double normal, double mollified);
/* Local. The same of two particles, which are at no edge. */
void tac_contact_kick_particles(struct tac_sim *sim, const struct tac_pair *p, const struct tac_near *near, tac_time t,
                                tac_time period, double normal);
/* Local. The same of what restitution left out of the kicks: enters what is lost. */
void tac_contact_lose_pair(struct tac_sim *sim, const struct tac_pair *p, const struct tac_near *near, tac_time t,
                           tac_time period, double normal, double mollified);
/* Local. The friction of all pairs that ticked at t, after their layers. */
void tac_friction_apply(struct tac_sim *sim, tac_time t);
/* Local. Enters the impulse j (3, N s) on scripted vertex i of a force of this period, which restitution left out at t
 * or which friction gave (kick.h: of any vertex). */
void tac_contact_lose_scripted(struct tac_sim *sim, tac_lid i, const double j[3], tac_time t, tac_time period,
                               bool friction);
/* Local. After all kicks of instant t: what restitution and friction took away, booked and emptied. */
void tac_contact_losses(struct tac_sim *sim, tac_time t);

/* ---- windows/deepen.c ---- */
/* Local. In the event loop, at a tick of the deepest layer group of slot at t, where its distance is d, m, and grows by
 * speed, m/s, so that it is soon under the next one (tac_pair_is_soon()): watches that, and more if need be; false if
 * the pass must end for it. Room is made in tac_active_settle(): on one rank with nested clocks nothing is allocated
 * here.  On several, where all owners of a pair must decide alike, and with free clocks, more room is made at once. */
bool tac_active_foresee(struct tac_sim *sim, int32_t slot, tac_time t, double d, double speed);
/* Local. Free clocks, when all of instant t has ticked: does what tac_active_foresee() has put off. */
void tac_active_deepen(struct tac_sim *sim, tac_time t);

/* ---- windows/activate.c ---- */
/* Local. Watches one more layer group of a pair (from sim->state.now); a new pair gets a slot. *slot told. Call between
 * passes. */
enum tac_err tac_activate(struct tac_sim *sim, uint64_t key, const tac_lid v[4], int32_t *slot);
/* Local. Between two instants of a pass: puts the layer group that tac_activate() has just added where it can tick. */
enum tac_err tac_active_place(struct tac_sim *sim, int32_t slot);
/* Local. The pair's deepest layer group is from now on the one of layers first..last, with this period. */
void tac_active_deepest(struct tac_sim *sim, struct tac_pair *p, int32_t first, int32_t last, tac_time period);
/* Local. Sorts newly active layer groups into their classes and makes room for a pass. Call before each pass. */
enum tac_err tac_active_settle(struct tac_sim *sim);
/* Local. Drops the deepest layer group of a pair (must be silent); the pair with its last one. Call between passes. */
void tac_active_drop(struct tac_sim *sim, int32_t slot);
/* Local. Rollback: layer groups born after `believed` in this pass are dropped, the others' state is the window
 * start's. */
void tac_active_rollback(struct tac_sim *sim, tac_time committed);
/* Local. Commit: what was born in this pass stays. */
void tac_active_commit(struct tac_sim *sim);
/* Local. last_d of a pair's layer group that begins with layer `first`, infinity if there is none; between passes. */
double tac_active_last(struct tac_sim *sim, uint64_t key, tac_time period, int32_t first);
/* Local. The anchor (friction.h) of such a layer group, or -1. */
int32_t tac_active_anchor(struct tac_sim *sim, uint64_t key, tac_time period, int32_t first);
/* Local. Sets that of the layer group that tac_activate() just added. */
void tac_active_set_last(struct tac_sim *sim, int32_t slot, double last_d);
/* Local. Empty tables. */
enum tac_err tac_active_create(struct tac_sim *sim);
void tac_active_destroy(struct tac_sim *sim);

/* ---- windows/breakpoints.c ---- */
/* Local. Breakpoints go to `record` (borrowed, nothing kept in it) from now on; NULL: they are not kept. */
enum tac_err tac_sim_record(struct tac_sim *sim, struct tac_recorder *record);
/* Local. Records where vertices are now: all, at an end of a frame interval; those that were rewritten at this instant,
 * or those that were not. */
void tac_sim_look(struct tac_sim *sim, enum tac_look which);

/* ---- forces/load_ticks.c ---- */
/* Local. Before an instant's first kick: keeps the velocities that the works of due loads need. */
void tac_loads_before(struct tac_sim *sim);
/* Local. Ticks all due loads, the instant's last kicks, and enters their works. */
void tac_loads_tick(struct tac_sim *sim, tac_time t);
/* Local. Winds that overlap know what the first of them knows: after a state was put in. */
void tac_loads_twins(struct tac_sim *sim);
/* Local. Marks the window's start of the loads' state, and goes back to it. */
void tac_loads_begin(struct tac_sim *sim);
void tac_loads_restore(struct tac_sim *sim);

/* ---- sim.c ---- */
/* Collective. scene: borrowed; a local one (scene->part) grows with the ghosts. */
enum tac_err tac_sim_create(struct tac_ctx *ctx, struct tac_scene *scene, enum tac_discovery_mode mode,
                            struct tac_sim **out);
void tac_sim_destroy(struct tac_sim **sim);
/* Collective. Commits some more, at most up to `limit` > now; stops at scripted knots, which it applies.  For an energy
 * row at a time t, set sim->books.before_at = t before advancing to it. */
enum tac_err tac_sim_advance(struct tac_sim *sim, tac_time limit);
/* Collective. The sentence of a layer stack that has ended in the stretch between two instants that sim->state.now lies
 * in, where some pair of some rank comes under its bottom: TAC_ERR_RUN. */
enum tac_err tac_sim_stuck(struct tac_sim *sim);
/* Local. The sentence of vertex `id` (global) that is no longer a number at t: TAC_ERR_RUN. */
enum tac_err tac_sim_not_finite(struct tac_sim *sim, tac_gid id, tac_time t);
/* Global id of vertex i. */
static inline tac_gid tac_sim_id(const struct tac_sim *sim, tac_lid i)
{
    return tac_scene_id(sim->scene, i);
}
/* Rank that owns vertex i. */
static inline int tac_sim_owner(const struct tac_sim *sim, tac_lid i)
{
    return tac_scene_owner(sim->ctx, sim->scene, i);
}

/* Is it this rank that decides a pair, and counts it? */
static inline bool tac_sim_decides(const struct tac_sim *sim, const struct tac_pair *p)
{
    return tac_model_decider(sim->model, (enum tac_pair_type)p->type, p->v) < sim->state.owned;
}

/* Seconds of t quanta. */
static inline double tac_seconds(const struct tac_sim *sim, tac_time t)
{
    return tac_state_seconds(&sim->state, t);
}

#endif
