/* integrator.h: declares the table of integrators. An integrator moves the state of a scene through time.
 *
 * A scene names its integrator ("integrator": {"kind": ...}), and src/run calls it only through this table. A new
 * integrator is a room like src/events with a file like asynchronous.c, and a line in integrator.c.
 *
 * `state` belongs to the integrator. On one rank it is that of the whole scene, on several ranks that of a rank's local
 * scene, which it borrows. A checkpoint (state/snapshot.h) carries the simulation from one state to another: at a
 * restart, to other ranks, or when the scene changes. The trajectory must be the same to the last bit.
 */
#ifndef TACTUS_INTEGRATORS_INTEGRATOR_H
#define TACTUS_INTEGRATORS_INTEGRATOR_H

#include "base/recorder.h"

struct tac_checkpoint;
struct tac_contact;
struct tac_counters;
struct tac_energy_row;
struct tac_graph_rows;
struct tac_pieces;
struct tac_pose;
struct tac_scene;
struct tac_status;

/* What this rank requests before a step, and the largest request of any rank, which all ranks know after the step. */
struct tac_step {
    int64_t ask_stop, ask_save;
    int reported_stop, reported_save;
};

/* Pointers into the state; valid until the next step. */
struct tac_state_view {
    tac_time now;
    tac_lid owned;          /* vertices of this rank */
    const tac_gid *id;      /* (owned) ascending; NULL: 0, 1, ... */
    const double *velocity; /* velocity of the first vertex, m/s */
    size_t stride;          /* bytes to the next one's */
    const double *spin;     /* of the first vertex, rad/s; NULL: nothing rolls */
    size_t spin_stride;     /* bytes to the next one's */
    double *impulse;        /* (owned, 3): contact impulses since they were last set to 0, N s */
    double *impulse_rest; /* (owned, 3): small parts that belong to the impulses: add them, and set both to 0 together;
                             NULL: none */
    struct tac_counters *counters; /* counters of this rank */
};
static inline double tac_state_impulse(const struct tac_state_view *view, size_t component)
{
    return view->impulse[component] + (view->impulse_rest != NULL ? view->impulse_rest[component] : 0);
}

/* Lengths (of windows, of look-ahead) that the integrator has tuned to the scene. They do not change the trajectory,
 * but a new state would have to find them again, so the old state hands them to the new one. */
struct tac_tuning {
    int64_t value[8];
};

/* Work of a rank since the start, in seconds that are predicted from counts, so that a run does not depend on what else
 * the machine does. */
struct tac_workload {
    double ticks_s, contact_s; /* all ticks; the contact ticks among them */
    double discovery_s;
    double counted_s;      /* the part of the above that is predicted from counts, not measured by a clock */
    double shared;         /* share of the active contacts that other ranks evaluate too */
    double distribution_s; /* cost of a distribution that does not depend on its vertices; the same on all ranks */
};

struct tac_element;
typedef void tac_element_visitor(void *user, const struct tac_element *element, const void *record, const double *rest);

/* For an integrator that keeps an energy book beside its state. */
struct tac_integrator_book {
    /* Collective. Returns whether the row of the present time can be computed. It can if that time is 0 or the limit of
     * the last advance(), or if nothing happened at now.
     */
    bool (*knows_row)(const void *state);
    /* Local. Makes the row of the present time the last one: counts of a row begin at 0 again. */
    void (*begin_row)(void *state);
    /* Collective. Returns the residual of the book (book_residual in run.json). */
    double (*residual)(void *state);
    /* Collective. Sends the impulses that other ranks hold to the owners of the vertices. Call it before the impulses
     * of view() are read. */
    enum tac_err (*gather_impulses)(void *state);
};

/* For an integrator that has steps. */
struct tac_integrator_steps {
    const char *head; /* of steps.csv */
    /* Local. number() returns which step ended at the present time. row() writes its row, which begins with that
     * number, without the end of the line. */
    int64_t (*number)(const void *state);
    void (*row)(const void *state, char *row, size_t size);
};

/* Records of a run. */
struct tac_integrator_record {
    /* Local. begin(): records breakpoints in `recorder` (borrowed; NULL: does not) from now on. look(): records the
     * positions of now of some vertices (`which`). */
    enum tac_err (*begin)(void *state, struct tac_recorder *recorder);
    void (*look)(void *state, enum tac_look which);
};

/* For an integrator whose ranks are balanced by their work. */
struct tac_integrator_balance {
    bool gathers;        /* a scene with little work may be on one rank alone */
    int passes_per_look; /* after so many advances() the ranks' work is compared */
    /* Local. Fills the work of this rank so far. */
    void (*load)(const void *state, struct tac_workload *load);
    /* Local, the same on all ranks. Return the number of messages since the last clear that a join() could have saved;
     * and set it to 0. */
    int64_t (*deep_messages)(const void *state);
    void (*clear_deep_messages)(void *state);
    /* Collective. Owners as the pieces have them, but what would talk too much goes to one rank. */
    enum tac_err (*join)(void *state, struct tac_pieces *pieces);
    /* Local. Hand the tuned lengths from one state to the next. */
    void (*tuning_out)(const void *state, struct tac_tuning *tuning);
    void (*tuning_in)(void *state, const struct tac_tuning *tuning);
};

/* For an integrator that has state which is not in a checkpoint, or which a changed scene cannot use. Collective,
 * called around a change of the scene. out() of the old state returns what a checkpoint does not hold (NULL after a
 * failure). fit() (local) removes from the old state's checkpoint what the changed scene cannot use. in() puts the rest
 * into the new state. motion (motions): 1 for those that continue on another path; NULL: none. */
struct tac_integrator_change {
    enum tac_err (*out)(void *state, void **kept);
    void (*fit)(const void *state, const struct tac_scene *scene, const uint8_t *motion,
                struct tac_checkpoint *checkpoint);
    enum tac_err (*in)(void *state, const uint8_t *motion, const void *kept);
    void (*clear)(void **kept);
};

struct tac_integrator {
    const char *name; /* integrator.kind */

    /* ---- what every integrator has ---- */

    /* Collective. Makes the state at t = 0, or for state_in(). scene: borrowed; a local scene may get ghosts. */
    enum tac_err (*create)(struct tac_ctx *ctx, struct tac_scene *scene, void **state);
    /* Local. Destroys the state. *state may be NULL; leaves NULL. */ void (*destroy)(void **state);
    /* Collective. Commits at least one step, at most up to limit > now. energy() can be called when it has reached the
     * limit. */
    enum tac_err (*advance)(void *state, tac_time limit, struct tac_step *step);
    /* Collective. state_out() makes a checkpoint of now, state_in() puts one into a new state. write: the checkpoint is
     * only written, before the state changes, so rows of vertices need not be copied (tac_vertex_rows). */
    enum tac_err (*state_out)(void *state, bool write, struct tac_checkpoint **out);
    enum tac_err (*state_in)(void *state, const struct tac_checkpoint *in);
    /* Collective. Computes the row of energy.csv of now; does not change the state. */
    enum tac_err (*energy)(void *state, struct tac_energy_row *row);
    /* Collective. Sums the counters of all ranks. */
    enum tac_err (*counters)(const void *state, struct tac_counters *sum);
    /* Collective. Lists the contacts of now that this rank decides; *out is owned by the caller. */
    enum tac_err (*contacts)(void *state, struct tac_contact **out, size_t *count);
    /* Collective; call it right after state_in(). Counts the contacts of all ranks; contacts() can be called from then
     * on. */
    enum tac_err (*contact_count)(void *state, int64_t *count);
    /* Local. */
    void (*view)(void *state, struct tac_state_view *out);
    /* Local. Fills x (owned, 3) with the positions at now. */
    void (*positions)(const void *state, double *x);
    /* Local. Fills the poses of this rank's rigid bodies, ascending, and returns their number (state/pose.h); NULL:
     * there are none. */
    size_t (*poses)(const void *state, struct tac_pose *out);
    /* Local. Fills window_s, deepest_layer and counters. */
    void (*status)(const void *state, struct tac_status *out);
    /* Local. Returns the discovery mode, for run.json. */
    const char *(*discovery)(const void *state);
    /* Local. Keeps a failure of this rank until all ranks learn of it in the next step; on one rank returns it. */
    enum tac_err (*hold)(void *state, enum tac_err err);
    /* Local. Calls visit() for all elements that have a vertex of this rank, always in the same order, with the record
     * and, for a plastic element, the rest state that its strain is measured against. */
    void (*elements)(const void *state, tac_element_visitor *visit, void *user);
    /* Local. Adds costs and links of the vertices to rows that are there. */
    enum tac_err (*weigh)(void *state, struct tac_graph_rows *rows);
    const struct tac_integrator_record *record;

    /* ---- what some integrators have; else NULL ---- */

    const struct tac_integrator_book *book;   /* NULL: the row of now can always be computed, and impulses are whole */
    const struct tac_integrator_steps *steps; /* NULL: there is no steps.csv */
    const struct tac_integrator_balance *balance; /* NULL: the first distribution stays */
    const struct tac_integrator_change *change;   /* NULL: a checkpoint holds all, and every changed scene can use it */
};

/* Local. Returns the integrator that the scene names. */
const struct tac_integrator *tac_integrator_of(const struct tac_scene *scene);

extern const struct tac_integrator tac_integrator_asynchronous, tac_integrator_implicit, tac_integrator_impact;

#endif
