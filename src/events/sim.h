/* sim.h: one simulation: state, clocks, watched contacts, and the passes that run them.
 *
 * A window (T, T + W] is run as a *pass*: every due force at every instant, with the rungs watched now, keeping each
 * vertex's path.  Discovery then looks at the paths: clean windows are committed, others are run again from the
 * window's start with what was missed watched too.  All state hangs off struct tac_sim, which owns it.
 *
 *     tac_sim_create(ctx, scene, mode, &sim);
 *     while (sim->now < scene->t_end) tac_sim_advance(sim, next_stop);    commits up to next_stop
 *     tac_sim_destroy(&sim);
 */
#ifndef TACTUS_EVENTS_SIM_H
#define TACTUS_EVENTS_SIM_H

#include "base/state.h"
#include "contact/model.h"
#include "forces/elastic.h"
#include "partition/part.h"
#include <math.h>
#include <tactus/accum.h>
#include <tactus/output.h>
#include <tactus/scene.h>

struct tac_candidates;
struct tac_flights;
struct tac_friction;
struct tac_kinetic;
struct tac_ranks;
struct tac_record;

/* Where a window started: the line x + (t - t0) v, and the largest squared deviation of the vertex' path from it.  One
 * cache line; it is also what a rollback restores. */
struct tac_line {
    double x[3], v[3];
    tac_time t;
    double deviation2; /* m^2 */
};

/* A breakpoint of a near vertex: it was at x at t, and moved with v before. */
struct tac_break {
    tac_time t;
    double x[3], v[3];
    int32_t next; /* index of the vertex' next breakpoint, or -1 */
    int32_t unused;
};

/* A watched pair. */
struct tac_pair {
    uint64_t key;
    tac_lid v[4];
    uint8_t type, count, first; /* vertices in all, in the first primitive */
    uint8_t live;
    int32_t depth; /* deepest watched layer; 0: none */
    int32_t rungs; /* watched rungs */
    double next;   /* distance under which the first layer not watched (or the end of the nest) is reached */
    struct tac_form form;
    tac_time t_near;      /* instant of `near`; -1: none */
    struct tac_near near; /* at t_near */
    double mollifier;     /* at t_near; 1 but for near-parallel edges */
    double guard;         /* rounding of a distance of this pair, m */
    double d_tick;        /* distance at t_tick, the deepest rung's last tick; infinity: none */
    tac_time t_tick;
    double d_tick_start; /* the same at the window's start */
    tac_time t_tick_start;
    double deep_last;     /* last_d of the deepest rung */
    tac_time deep_period; /* its period */
    double deep_reach;    /* distance under which its first layer acts, m */
    int32_t deep_first;   /* its first layer */
    int32_t births;       /* rungs born in this pass; first of them in sim->birth */
    int32_t first_birth;
    uint8_t shared; /* its vertices are of several ranks */
    int32_t active; /* first layer of the deepest rung that acted in this pass; 0: none */
    uint8_t listed; /* scratch of the candidate list */
};

/* A rung of a pair: layers first..last, one period.  `last_d` is state: the distance at its last tick if that was
 * active, else infinity; born at the first active tick, erased at the first silent one (design 1.5). */
struct tac_rung {
    uint64_t key;
    int32_t pair;
    int32_t first, last;
    int32_t anchor; /* friction.h; -1: none */
    tac_time born;
    double last_d, saved_d;
};

/* All watched rungs of one period.  `extra` are those born while running, merged in when the pass has ended. */
struct tac_rung_class {
    tac_time period;
    double h_s;
    size_t count, capacity;
    struct tac_rung *rung; /* owned, by key */
    size_t extra_count, extra_capacity;
    struct tac_rung *extra; /* owned, by key */
    size_t extra_wanted;    /* room asked for in vain during a pass */
    size_t dropped;         /* rungs marked (pair < 0) to be taken out */
};

/* A rung born during a pass: until t the pair was watched only down to `next`. */
struct tac_birth {
    int32_t pair;
    int32_t following; /* next birth of the same pair, or -1 */
    tac_time t;
    double next;
};

/* A kick of this instant whose lost work is entered when the instant is over: what restitution left out, or friction.
 */
struct tac_loss {
    int32_t pair;
    tac_time period;
    double normal, mollified, rub[3]; /* impulse on vertex k: (normal n + rub) w_k + mollified dm/dx_k, N s */
};

/* A vertex that is scripted at some time. */
struct tac_script {
    tac_lid vertex;
    tac_lid motion;
    int32_t knot_begin, knot_count; /* its pieces in sim->knot */
    int32_t next;                   /* first knot not yet passed */
    bool on;                        /* scripted now */
    double origin[3];               /* where it was when it was caught, m */
    double x[3], v[3];              /* line of the piece under way, from t */
    tac_time t;
    bool caught;      /* was free before its first knot, and moved with v_free */
    double v_free[3]; /* m/s */
};

/* Knots of all motions, rotations cut to pieces of at most one degree; the same for all vertices of a motion. */
struct tac_knot {
    tac_time t;
    double shift[3]; /* path: displacement, m */
    double turn;     /* rotation, degrees */
};

/* A vertex in a damper's stencil at the instant t: what its damping takes out is known when the instant is over. */
struct tac_damped {
    double before[3]; /* velocity before the kicks of t, m/s */
    tac_time t;       /* quanta; its negative after the dampers' kicks, -1 after the instant */
    double change[3]; /* by the dampers' kicks; until then velocity before them, m/s */
};

enum tac_stop { TAC_STOP_NONE, TAC_STOP_ABORT, TAC_STOP_FULL };

struct tac_sim {
    struct tac_ctx *ctx;           /* borrowed */
    const struct tac_scene *scene; /* borrowed */
    enum tac_discovery_mode mode;
    const struct tac_discovery *discovery;
    struct tac_elastic *elastic; /* owned */
    struct tac_model *model;     /* owned */
    bool contact;                /* contact.thickness > 0 and something can touch */
    double quantum;              /* s */

    struct tac_ranks *ranks;   /* owned; NULL: one rank */
    struct tac_record *record; /* borrowed: keeps every breakpoint; NULL: none does */

    /* Vertices 0 .. owned-1 are this rank's; the others, ghosts, are of other ranks: w = 0, v = 0, and x is right at
     * the instants at which a stencil that they share with an owned one ticks. */
    tac_lid owned, count, capacity;

    tac_time now;        /* committed time: all before will not be run again */
    struct tac_pos *pos; /* owned, (V) */
    struct tac_vel *vel; /* owned, (V) */
    double *mass;        /* owned, (V), kg */
    double *impulse;     /* owned, (V, 3): contact impulse since the last frame, N s */
    int32_t *script_of;  /* owned, (V): script or -1 */

    /* paths of the window under way */
    tac_time window_start;
    struct tac_line *line; /* owned, (V) */
    double *impulse_start; /* owned, (V, 3): only entries of near vertices are kept */
    uint8_t *near;         /* owned, (V): 1 if it keeps breakpoints */
    int32_t *near_pairs;   /* owned, (V): watched pairs at the vertex */
    int32_t *break_head;   /* owned, (V): newest breakpoint, or -1 */
    int32_t *break_first;  /* owned, (V): oldest, if there is a newest */
    bool near_changed;
    size_t near_count;
    tac_lid *near_list; /* owned: vertices with near_pairs > 0 */
    size_t break_count, break_capacity;
    struct tac_break *breaks; /* owned */

    /* watched contacts */
    size_t pair_count, pair_capacity; /* slots, live or not */
    struct tac_pair *pair;            /* owned */
    size_t live_pairs, free_count, free_capacity;
    int32_t *free_slot; /* owned */
    size_t hash_size;   /* power of two */
    int32_t *hash;      /* owned: slots by key, -1 empty */
    size_t rung_class_count, rung_class_capacity;
    struct tac_rung_class *rung_class; /* owned, ascending period */
    size_t first_rung_class;           /* no class before it has a rung */
    size_t rung_count;                 /* in all classes, but for those born in this pass */
    size_t birth_count, birth_capacity;
    struct tac_birth *birth; /* owned */
    size_t loss_count, loss_capacity;
    struct tac_loss *loss;         /* owned */
    struct tac_friction *friction; /* owned; NULL: none rubs */

    /* clocks */
    size_t heap_count, heap_capacity;
    struct tac_alarm *heap; /* owned; free clocks only */
    size_t due_elastic_count, due_rung_count;
    int32_t *due_elastic; /* owned: indices of classes, ascending period */
    int32_t *due_rung;    /* owned */
    size_t due_rung_capacity;

    /* scripts */
    size_t script_count;
    struct tac_script *script; /* owned */
    size_t knot_count;
    struct tac_knot *knot; /* owned */
    tac_time next_knot;    /* first time at which some script of the scene changes */
    int32_t *motion_knot;  /* owned, (motions + 1): each motion's first knot in `knot` */

    /* accumulators (design 1.7); saved at a window's start */
    struct tac_accum dissipated, work, dissipated_start, work_start;
    struct tac_book book, book_start;
    double kinetic_start; /* J, at t = 0 */
    bool has_start;
    struct tac_accum total_start;         /* total energy of the first row */
    int64_t deepest_layer, deepest_start; /* since the last row */
    int64_t ticks[TAC_KINDS], silent;     /* of the pass under way */
    int64_t deepest_ever;

    struct tac_damped *damped; /* owned, (owned); NULL: no material damps */

    tac_time before_at; /* keep the velocities before the kicks of this instant (those of knots are always kept) */
    tac_time kept_at;   /* the instant whose v_before was kept in the last pass, -1: none */
    double *v_before;   /* owned, (V, 3) */
    struct tac_accum dissipated_ahead, work_ahead; /* J: of what the ticks at kept_at entered, the part after kept_at */
    enum tac_stop stop;                            /* why the pass ended early */

    int64_t ask_stop, ask_save; /* this rank's wishes: to end the run early, to have a checkpoint */
    int told_stop, told_save;   /* what the last pass' reduction says that some rank wishes */
    int64_t told_chatter;       /* likewise: ranks.h, of the rank that has most */
    tac_time stretch;           /* contact off: how far to go at once */

    struct tac_counters counters;
    int untimed, timed;                /* instants until the next that is timed; how many were, as far as remembered */
    double instant_s, contact_s;       /* mean wall time of those, and of contact in them */
    struct tac_candidates *candidates; /* owned by speculate */
    void *oracle;                      /* owned by all-pairs */
    struct tac_kinetic *kinetic;       /* owned by kds */
    struct tac_flights *flights;       /* owned by kds; NULL: one rank */
    size_t kicked_count;               /* kds: vertices that contacts brought to the instant under way */
    tac_lid *kicked;                   /* owned by kds, (V); NULL: nobody asks */
    double window_s;                   /* window of the last commit */
    tac_time window, window_least, window_short, window_most, window_unit; /* speculate: length asked for, its bounds */
    int32_t clean_streak;
    tac_time period_wanted; /* speculate: shortest period of a rung that the pass under way would not take on */
    tac_time least_period;  /* speculate: the shortest that all ranks had or wanted in the last pass */
    tac_time window_end;    /* of the pass under way */
    tac_time window_ticks;  /* most ticks of one rung that a window should have */
    int32_t window_halved;  /* so often, after misses in windows that had those */
};

struct tac_alarm {
    tac_time t, period;
    int32_t index; /* >= 0: elastic class; < 0: rung class ~index */
};

/* ---- clock.c ---- */
/* Local. Prepares the clocks for a pass from sim->now. */
enum tac_err tac_clock_start(struct tac_sim *sim);
/* Local. The next instant after t, with the due classes in sim->due_*. TAC_TIME_NEVER if none before `limit`. */
tac_time tac_clock_next(struct tac_sim *sim, tac_time t, tac_time limit);

/* ---- pass.c ---- */
/* Local. x of vertex i at t (design 2.2): looks, does not touch. */
void tac_position(const struct tac_sim *sim, tac_lid i, tac_time t, double x[3]);
/* Local. Marks the window's start (what tac_pass_restore goes back to). */
enum tac_err tac_pass_begin(struct tac_sim *sim);
/* Local. Runs all instants in (window_start, end]; returns the time reached: `end`, or the instant at which a pass
 * that can no longer be right stopped (sim->stop). */
tac_time tac_pass_run(struct tac_sim *sim, tac_time end);
/* Local. Runs one instant, whose classes tac_clock_next() has just told: what tac_pass_run() does with each. */
void tac_pass_step(struct tac_sim *sim, tac_time t);
/* Local. Back to the window's start; rungs born after `believed` in this pass are dropped. */
enum tac_err tac_pass_restore(struct tac_sim *sim, tac_time believed);
/* Local. What was run is right: now = end. */
enum tac_err tac_pass_commit(struct tac_sim *sim, tac_time end);

/* Local. Wall time in which this rank waited for others and sent to them, so far, s. */
static inline double tac_pass_waited(const struct tac_sim *sim)
{
    return sim->counters.seconds_waiting + sim->counters.seconds_exchange;
}
/* Local. Enters wall time spent on instants, `waited_s` of it between them: in forces, and contact's share in contact.
 */
void tac_pass_took(struct tac_sim *sim, double wall_s, double waited_s);

/* ---- contact_tick.c ---- */
/* Local. The penalty rungs due at t (sim->due_rung), limits of stretch among them, and then the friction of their pairs
 * (design 1.2 to 1.6). Fills sim->loss. */
void tac_contact_tick(struct tac_sim *sim, tac_time t);
/* Local. After all kicks of instant t: what restitution and friction took away, entered and emptied. */
void tac_contact_losses(struct tac_sim *sim, tac_time t);

/* ---- damping.c ---- */
enum tac_err tac_damping_create(struct tac_sim *sim);
/* Local. Call at a window's start: its instants may come again. */
void tac_damping_save(struct tac_sim *sim);
/* Local. Before the kicks of an instant; whether some damper is due. */
bool tac_damping_begin(struct tac_sim *sim, tac_time t);
/* Local. The dampers' kicks. */
void tac_damping_kick(struct tac_sim *sim, tac_time t);
/* Local. After all kicks of an instant with dampers: what they took out of the motion. */
void tac_damping_end(struct tac_sim *sim, tac_time t);

/* ---- watch.c ---- */
/* Local. The slot of a pair that is watched, or -1. */
int32_t tac_watch_find(const struct tac_sim *sim, uint64_t key);
/* Local. Watches one more rung of a pair (from sim->now); a new pair gets a slot. *slot told. Call between passes. */
enum tac_err tac_watch(struct tac_sim *sim, uint64_t key, const tac_lid v[4], int32_t *slot);
/* Local. Between two instants of a pass: puts the rung that tac_watch() has just added where it can tick. */
enum tac_err tac_watch_place(struct tac_sim *sim, int32_t slot);
/* Local. Watches one more rung of slot from t on, in the event loop; false if there is no room or no further layer.
 * Room is made in tac_watch_settle(): on one rank nothing is allocated here.  On several, where all owners of a pair
 * must decide alike, more room is made at once. */
bool tac_watch_deepen(struct tac_sim *sim, int32_t slot, tac_time t);
/* Local. Sorts newly watched rungs into their classes and makes room for a pass. Call before each pass. */
enum tac_err tac_watch_settle(struct tac_sim *sim);
/* Local. Drops the deepest rung of a pair (must be silent); the pair with its last one. Call between passes. */
void tac_watch_drop(struct tac_sim *sim, int32_t slot);
/* Local. Rollback: rungs born after `believed` in this pass are dropped, the others' state is the window start's. */
void tac_watch_undo(struct tac_sim *sim, tac_time believed);
/* Local. Commit: what was born in this pass stays. */
void tac_watch_believe(struct tac_sim *sim);
/* Local. last_d of a pair's rung that begins with layer `first`, infinity if there is none; between passes. */
double tac_watch_last(struct tac_sim *sim, uint64_t key, tac_time period, int32_t first);
/* Local. The anchor (friction.h) of such a rung, or -1. */
int32_t tac_watch_anchor(struct tac_sim *sim, uint64_t key, tac_time period, int32_t first);
/* Local. Sets that of the rung that tac_watch() just added. */
void tac_watch_set_last(struct tac_sim *sim, int32_t slot, double last_d);
/* Local. Empty tables. */
enum tac_err tac_watch_create(struct tac_sim *sim);
void tac_watch_destroy(struct tac_sim *sim);

/* ---- script.c ---- */
enum tac_err tac_scripts_create(struct tac_sim *sim);
/* Local. Sets sim->next_knot from sim->now. */
void tac_scripts_next(struct tac_sim *sim);
/* Local. Applies all knots at sim->now, after its kicks. */
void tac_scripts_apply(struct tac_sim *sim);
/* Local. Velocity with which scripted vertex i takes part in the tick at t of a force of this period: its displacement
 * over (t - period/2, t + period/2), for which the tick stands, over the period.  So works stay of second order in the
 * period wherever the knots fall between the ticks.  ahead (or NULL): the part of it that lies after t. */
void tac_script_velocity(const struct tac_sim *sim, tac_lid i, tac_time t, tac_time period, double v[3],
                         double ahead[3]);
/* Local. Enters what a script puts in: minus the impulse j (3, N s) on scripted vertex i times its mean velocity around
 * the tick at t of a force of this period. */
void tac_script_work(struct tac_sim *sim, tac_lid i, const double j[3], tac_time t, tac_time period);
/* Local. What scripts put into the due elements of a class, of a kind that has just ticked or (damping) will. */
void tac_held_works(struct tac_sim *sim, const struct tac_rate_class *rate, enum tac_kind kind, tac_time t);

/* ---- record.c ---- */
/* Local. Breakpoints go to `record` (borrowed, nothing kept in it) from now on; NULL: they are not kept. */
enum tac_err tac_sim_record(struct tac_sim *sim, struct tac_record *record);
/* Local. Records where vertices are now: all, at an end of a frame interval; those that were rewritten at this instant,
 * or those that were not. */
enum tac_look { TAC_LOOK_ALL, TAC_LOOK_REWRITTEN, TAC_LOOK_OTHERS };
void tac_sim_look(struct tac_sim *sim, enum tac_look which);

/* ---- loads.c ---- */
/* Local. Before an instant's first kick: keeps the velocities that the works of due loads need. */
void tac_loads_before(struct tac_sim *sim);
/* Local. Ticks all due loads, the instant's last kicks, and enters their works. */
void tac_loads_tick(struct tac_sim *sim, tac_time t);
/* Local. Winds that overlap know what the first of them knows: after a state was put in. */
void tac_loads_twins(struct tac_sim *sim);
/* Local. Marks the window's start of the loads' state, and goes back to it. */
void tac_loads_begin(struct tac_sim *sim);
void tac_loads_restore(struct tac_sim *sim);

/* ---- discovery: one table of functions per way of finding contacts ---- */
struct tac_discovery {
    const char *name;
    enum tac_err (*create)(struct tac_sim *sim);
    /* Commits at least one step, at most to `limit`. */
    enum tac_err (*advance)(struct tac_sim *sim, tac_time limit);
    void (*destroy)(struct tac_sim *sim);
};
extern const struct tac_discovery tac_discovery_none, tac_discovery_all_pairs, tac_discovery_speculate,
    tac_discovery_kinetic;

/* ---- sim.c ---- */
enum tac_err tac_sim_create(struct tac_ctx *ctx, const struct tac_scene *scene, enum tac_discovery_mode mode,
                            struct tac_sim **out);
void tac_sim_destroy(struct tac_sim **sim);
/* Collective. Commits some more, at most up to `limit` > now; stops at scripted knots, which it applies.  For an energy
 * row at a time t, set sim->before_at = t before advancing to it. */
enum tac_err tac_sim_advance(struct tac_sim *sim, tac_time limit);
/* Collective. The sentence of a nest that has ended in the stretch between two instants that sim->now lies in, where
 * some pair of some rank comes under its bottom: TAC_ERR_RUN. */
enum tac_err tac_sim_stuck(struct tac_sim *sim);
/* Local. The sentence of vertex `id` (global) that is no longer a number at t: TAC_ERR_RUN. */
enum tac_err tac_sim_not_finite(struct tac_sim *sim, tac_gid id, tac_time t);
/* Global id of vertex i. */
static inline tac_gid tac_sim_id(const struct tac_sim *sim, tac_lid i)
{
    return sim->scene->part ? sim->scene->part->vertex_id[i] : i;
}
/* Rank that owns vertex i. */
static inline int tac_sim_owner(const struct tac_sim *sim, tac_lid i)
{
    return sim->scene->part ? sim->scene->part->owner[i] : sim->ctx->rank;
}

/* ---- energy.c ---- */
/* Collective. The row of now; v_before must be from now. Resets deepest_layer. */
enum tac_err tac_sim_energy(struct tac_sim *sim, struct tac_energy_row *row);
/* Collective; of a state that was just restored. The row's `contacts`, now: pairs of all ranks within their outermost
 * layer. */
enum tac_err tac_sim_contacts(struct tac_sim *sim, int64_t *contacts);
/* Collective. Adds up each of `count` sums over all ranks, exactly. */
enum tac_err tac_sim_sum(const struct tac_sim *sim, struct tac_accum *sum, int count);
/* Collective. Book of works: |sum of works - change of kinetic energy| / sum |work|. */
double tac_sim_book_residual(const struct tac_sim *sim);
double tac_sim_kinetic(const struct tac_sim *sim); /* Collective. J */

/* Seconds of t quanta. */
static inline double tac_seconds(const struct tac_sim *sim, tac_time t)
{
    return (double)t * sim->quantum;
}

#endif
