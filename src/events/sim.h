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
#include "state/motors.h"
#include "state/paths.h"
#include "state/rigid.h"
#include "state/vertex_state.h"
#include <math.h>

struct tac_ranks;

/* The contact impulses of vertices that never move (immovable.h). */
struct tac_immovable {
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
    struct tac_immovable immovable;
    struct tac_rigid rigid;
    struct tac_motors motors;
    struct tac_view view; /* of the above, for discovery */
};

/* ---- windows/pass.c ---- */
/* Local. Computes the position x of vertex i at t (docs/explanation/method.md, Time and order); changes nothing. */
void tac_position(const struct tac_vertex_state *state, const struct tac_scripts *scripts, tac_lid i, tac_time t,
                  double x[3]);
/* Local. Saves the state at the window's start, to which tac_pass_rollback() returns. */
enum tac_err tac_pass_begin(struct tac_sim *sim);
/* Local. Runs all instants in (window_start, end]; returns the time reached: `end`, or the instant at which a pass
 * that can no longer be right stopped (sim->control.stop). */
tac_time tac_pass_run(struct tac_sim *sim, tac_time end);
/* Local. Runs one instant t, for which tac_clock_next() has just listed the due classes. tac_pass_run() calls it for
 * each. */
void tac_pass_step(struct tac_sim *sim, tac_time t);
/* Local. Returns to the window's start. Drops the layer groups that were born in this pass after `committed`. */
enum tac_err tac_pass_rollback(struct tac_sim *sim, tac_time committed);
/* Local. Accepts what was run: sets sim->state.now to `end`. */
enum tac_err tac_pass_commit(struct tac_sim *sim, tac_time end);

/* Local. Returns the wall time, s, that this rank has spent so far on waiting for other ranks and on sending to them.
 */
static inline double tac_pass_waited(const struct tac_books *books)
{
    return books->counters.seconds_waiting + books->counters.seconds_exchange;
}
/* Local. Adds the wall time of some instants to the counters: the share of contact to contact, the rest to forces.
 * `waited_s` of it was spent on other ranks.
 */
void tac_pass_took(struct tac_books *books, double wall_s, double waited_s);

/* ---- forces/contact_tick.c ---- */
/* Local. Evaluates the layer groups that are due at t (sim->clocks.due_group), those of limits of stretch too, and then
 * the friction of their pairs (docs/explanation/method.md). Fills sim->active.loss. */
void tac_contact_tick(struct tac_sim *sim, tac_time t);

/* ---- forces/contact_kick.c ---- */
/* Local. Kicks the vertices of a pair at t by a force of this period. `near`: the pair's geometry at t. Impulses in N
 * s: `normal` along the normal, `mollified` along the gradient of the mollifier. */
void tac_contact_kick_pair(struct tac_sim *sim, const struct tac_pair *p, const struct tac_near *near, tac_time t,
                           tac_time period, double normal, double mollified);
/* Local. Does the same for two particles, which need no mollifier. */
void tac_contact_kick_particles(struct tac_sim *sim, const struct tac_pair *p, const struct tac_near *near, tac_time t,
                                tac_time period, double normal);
/* Local. Takes the same arguments for the impulses that restitution left out of the kicks, and adds them to the losses.
 */
void tac_contact_lose_pair(struct tac_sim *sim, const struct tac_pair *p, const struct tac_near *near, tac_time t,
                           tac_time period, double normal, double mollified);
/* Local. Applies the friction of all pairs that ticked at t. Call it after their layers. */
void tac_friction_apply(struct tac_sim *sim, tac_time t);
/* Local. Books the impulse j (3, N s) on scripted vertex i, which restitution left out at t or which friction gave, of
 * a force of this period. (tac_contact_lose() in kick.h takes any vertex.) */
void tac_contact_lose_scripted(struct tac_sim *sim, tac_lid i, const double j[3], tac_time t, tac_time period,
                               bool friction);
/* Local. After all kicks of instant t: books what restitution and friction took away, and empties sim->active.loss. */
void tac_contact_losses(struct tac_sim *sim, tac_time t);

/* ---- windows/deepen.c ---- */
/* Local. Called in the event loop at a tick of the deepest layer group of `slot` at t, when the pair will soon come
 * under its next layer (tac_pair_is_soon()). d: its distance, m; speed: how fast the distance grows, m/s. Activates the
 * next layer group, and more if necessary. Returns false if the pass must end because of it. tac_active_settle() makes
 * the room: on one rank with nested clocks nothing is allocated here. On several ranks, where all owners of a pair must
 * decide alike, and with free clocks, more room is made at once. */
bool tac_active_foresee(struct tac_sim *sim, int32_t slot, tac_time t, double d, double speed);
/* Local. Free clocks: when all forces of instant t have ticked, activates what tac_active_foresee() has put off. */
void tac_active_deepen(struct tac_sim *sim, tac_time t);

/* ---- windows/activate.c ---- */
/* Local. Activates one more layer group of a pair from sim->state.now on; a new pair gets a slot. *slot: the pair's
 * slot. Call it between passes. */
enum tac_err tac_activate(struct tac_sim *sim, uint64_t key, const tac_lid v[4], int32_t *slot);
/* Local. Call it between two instants of a pass: moves the layer group that tac_activate() has just added to its class,
 * where it can tick. */
enum tac_err tac_active_place(struct tac_sim *sim, int32_t slot);
/* Local. Makes the layer group of layers first..last, with this period, the deepest one of the pair. */
void tac_active_deepest(struct tac_sim *sim, struct tac_pair *p, int32_t first, int32_t last, tac_time period);
/* Local. Sorts newly activated layer groups into their classes and makes room for a pass. Call it before each pass. */
enum tac_err tac_active_settle(struct tac_sim *sim);
/* Local. Deactivates the deepest layer group of a pair, which must be silent. The pair is removed with its last layer
 * group. Call it between passes. */
void tac_active_drop(struct tac_sim *sim, int32_t slot);
/* Local. Rollback: drops the layer groups that were born in this pass after `committed`; the others get back their
 * state at the window's start. */
void tac_active_rollback(struct tac_sim *sim, tac_time committed);
/* Local. Commit: keeps the layer groups that were born in this pass. */
void tac_active_commit(struct tac_active *active);
/* Local. Returns last_d of the pair's layer group that begins with layer `first`, or infinity if there is none. Call it
 * between passes. */
double tac_active_last(struct tac_sim *sim, uint64_t key, tac_time period, int32_t first);
/* Local. Returns the anchor (friction.h) of such a layer group, or -1. */
int32_t tac_active_anchor(struct tac_sim *sim, uint64_t key, tac_time period, int32_t first);
/* Local. Sets last_d of the layer group that tac_activate() has just added. */
void tac_active_set_last(struct tac_sim *sim, int32_t slot, double last_d);
/* Local. Makes empty tables. */
enum tac_err tac_active_create(struct tac_sim *sim);
void tac_active_destroy(struct tac_active *active);

/* ---- windows/breakpoints.c ---- */
/* Local. From now on breakpoints go to `record` (borrowed; it must be empty). NULL: they are not kept. */
enum tac_err tac_sim_record(struct tac_sim *sim, struct tac_recorder *record);
/* Local. Records where vertices are now: all of them (at an end of a frame interval), or those whose position was
 * rewritten at this instant, or those whose position was not. */
void tac_sim_look(struct tac_sim *sim, enum tac_look which);

/* ---- forces/load_ticks.c ---- */
/* Local. Call it before an instant's first kick: keeps the velocities that are needed for the works of due loads. */
void tac_loads_before(struct tac_sim *sim);
/* Local. Ticks all due loads, which give the last kicks of an instant. */
void tac_loads_tick(struct tac_sim *sim, tac_time t);
/* Local. After all kicks and plans of the instant: books the works of due loads. */
void tac_loads_end(struct tac_sim *sim, tac_time t);
/* Local. After a state was restored: winds on the same element take over what the first of them remembers. */
void tac_loads_share_wind(const struct tac_scene *scene, struct tac_elastic *elastic);
/* Local. Save the loads' state at the window's start, and restore it. */
void tac_loads_begin(const struct tac_scene *scene, struct tac_elastic *elastic);
void tac_loads_restore(const struct tac_scene *scene, struct tac_elastic *elastic);

/* ---- sim.c ---- */
/* Local. How vertex i, a ghost or (ours) a vertex of this rank, turns at t = 0. */
void tac_spin_begin(const struct tac_scene *scene, tac_lid i, bool ours, struct tac_spin *spin);
/* Collective. Makes a simulation. scene: borrowed; a local scene (scene->part) grows when ghosts are added. */
enum tac_err tac_sim_create(struct tac_ctx *ctx, struct tac_scene *scene, enum tac_discovery_mode mode,
                            struct tac_sim **out);
void tac_sim_destroy(struct tac_sim **sim);
/* Collective. Advances the committed time, at most to `limit` > now. Stops at knots of scripts, which it applies. If
 * the caller wants an energy row at time t, it sets sim->books.before_at = t before it advances to t. */
enum tac_err tac_sim_advance(struct tac_sim *sim, tac_time limit);
/* Collective. Reports that some pair of some rank passes through its whole layer stack between the two instants around
 * sim->state.now. Returns TAC_ERR_RUN with the sentence for the user. */
enum tac_err tac_sim_stuck(struct tac_sim *sim);
/* Local. Reports that the position of vertex `id` (global) is not a number at t. Returns TAC_ERR_RUN. */
enum tac_err tac_sim_not_finite(struct tac_sim *sim, tac_gid id, tac_time t);

/* Local. Does this rank decide about a pair, and count it? */
static inline bool tac_decides_pair(const struct tac_model *model, const struct tac_vertex_state *state,
                                    const struct tac_pair *p)
{
    return tac_model_decider(model, (enum tac_pair_type)p->type, p->v) < state->owned;
}

#endif
