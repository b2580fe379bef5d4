/* integrator.h: the table of integrators: what moves a scene's state through time.
 *
 * A scene names its integrator ("integrator": {"kind": ...}); src/run talks to it through this table alone.  A new
 * one is a room like src/events, with a file like asynchronous.c, and a line in integrator.c.
 *
 * `state` is the integrator's own: on one rank of the whole scene, on several of one rank's local scene, which it
 * borrows.  A checkpoint (state/snapshot.h) is how it leaves one state and enters another: after a restart, on other
 * ranks, or when the scene changes; the trajectory must not notice.
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
struct tac_scene;
struct tac_status;

/* What ranks wish when a step begins, and what all know when it is over: the largest wish of any rank. */
struct tac_step {
    int64_t ask_stop, ask_save;
    int told_stop, told_save;
};

/* Where the state lies; valid until the next step. */
struct tac_state_view {
    tac_time now;
    tac_lid owned;                 /* vertices of this rank */
    const tac_gid *id;             /* (owned) ascending; NULL: 0, 1, ... */
    const double *velocity;        /* of the first vertex, m/s */
    size_t stride;                 /* bytes to the next one's */
    double *impulse;               /* (owned, 3): of contact since they were last set to 0, N s */
    double *impulse_rest;          /* (owned, 3): small parts to be added to them, and set to 0 with them; NULL: none */
    struct tac_counters *counters; /* of this rank */
};

static inline double tac_state_impulse(const struct tac_state_view *view, size_t component)
{
    return view->impulse[component] + (view->impulse_rest != NULL ? view->impulse_rest[component] : 0);
}

/* Lengths that an integrator has found to be good.  They have no influence on the trajectory, but are lost with the
 * state: handed from one state to the next. */
struct tac_pace {
    int64_t value[8];
};

/* What a rank has worked, in seconds as counts foretell them, so that runs are alike on a machine that does other
 * things too. */
struct tac_workload {
    double ticks_s, contact_s; /* all ticks; those of contact among them */
    double discovery_s;
    double counted_s; /* of all that: what counts foretell, and no clock has measured */
    double shared;    /* share of the active contacts that other ranks evaluate too */
    double deal_s;    /* what a deal takes beside its vertices; on all ranks the same */
};

struct tac_element;
typedef void tac_element_visitor(void *user, const struct tac_element *element, const void *record, const double *rest);

/* Of an integrator that sums up, beside its state, what a run does. */
struct tac_integrator_book {
    /* Collective. Can the row of now be told: is now 0 or the limit of the last advance(), or did nothing happen at it?
     */
    bool (*knows_row)(const void *state);
    /* Local. The row of now is the last one from now on: what it counts since the last one begins anew. */
    void (*begin_row)(void *state);
    /* Collective. What the book lacks (run.json). */
    double (*residual)(void *state);
    /* Collective. Before the impulses of view() are read: what other ranks have of them comes to the owners of the
     * vertices. */
    enum tac_err (*gather_impulses)(void *state);
};

/* Of an integrator that has steps. */
struct tac_integrator_steps {
    const char *head; /* of steps.csv */
    /* Local. Which step ended at now; its row, which begins with that number, without the end of the line. */
    int64_t (*number)(const void *state);
    void (*row)(const void *state, char *row, size_t size);
};

/* Records of a run. */
struct tac_integrator_record {
    /* Local. Breakpoints go to `recorder` (borrowed; NULL: nowhere) from now on; which vertices' places are told to it
     * now. */
    enum tac_err (*begin)(void *state, struct tac_recorder *recorder);
    void (*look)(void *state, enum tac_look which);
};

/* Of an integrator whose ranks are balanced by their work. */
struct tac_integrator_balance {
    /* Local. Work so far. */
    void (*load)(const void *state, struct tac_workload *load);
    /* Local, alike on all ranks. Messages since the last clear that a join() could have spared; counted anew. */
    int64_t (*deep_messages)(const void *state);
    void (*clear_deep_messages)(void *state);
    /* Collective. Owners as the pieces have them, but what would talk too much goes to one rank. */
    enum tac_err (*join)(void *state, struct tac_pieces *pieces);
    /* Local. Lengths, from one state to the next. */
    void (*pace_out)(const void *state, struct tac_pace *pace);
    void (*pace_in)(void *state, const struct tac_pace *pace);
};

/* Of an integrator with a state that a checkpoint does not hold, or that a changed scene may have no use for.
 * Collective. Around a change of the scene: out() of the old state gives what a checkpoint does not hold (NULL after a
 * failure); fit() (local) takes out of the old state's checkpoint what the changed scene has no use for; in() brings
 * the rest into the new state.  motion: (motions) those that go on with another path; NULL: none. */
struct tac_integrator_change {
    enum tac_err (*out)(void *state, void **kept);
    void (*fit)(const void *state, const struct tac_scene *scene, const uint8_t *motion,
                struct tac_checkpoint *checkpoint);
    enum tac_err (*in)(void *state, const uint8_t *motion, const void *kept);
    void (*clear)(void **kept);
};

struct tac_integrator {
    const char *name; /* integrator.kind */

    /* ---- what each has ---- */

    /* Collective. scene: borrowed; a local one may get ghosts.  At t = 0, or empty for state_in(). */
    enum tac_err (*create)(struct tac_ctx *ctx, struct tac_scene *scene, void **state);
    /* Local. NULL is allowed; leaves NULL. */
    void (*destroy)(void **state);
    /* Collective. Commits something, at most up to limit > now, of which energy() can be asked if it comes there. */
    enum tac_err (*advance)(void *state, tac_time limit, struct tac_step *step);
    /* Collective. The state at now, and into a new one.  write: what comes out is only written, before anything of the
     * state changes, so rows of vertices need not be copied (tac_vertex_rows). */
    enum tac_err (*state_out)(void *state, bool write, struct tac_checkpoint **out);
    enum tac_err (*state_in)(void *state, const struct tac_checkpoint *in);
    /* Collective. The row of energy.csv of now; it changes nothing. */
    enum tac_err (*energy)(void *state, struct tac_energy_row *row);
    /* Collective. Counters of all ranks. */
    enum tac_err (*counters)(const void *state, struct tac_counters *sum);
    /* Collective. Contacts of now that this rank decides; *out is owned by the caller. */
    enum tac_err (*contacts)(void *state, struct tac_contact **out, size_t *count);
    /* Collective; right after state_in(). How many there are on all ranks; contacts() can be asked from then on. */
    enum tac_err (*contact_count)(void *state, int64_t *count);
    /* Local. */
    void (*view)(void *state, struct tac_state_view *out);
    /* Local. x (owned, 3) at now. */
    void (*positions)(const void *state, double *x);
    /* Local. window_s, deepest_layer, counters. */
    void (*status)(const void *state, struct tac_status *out);
    /* Local. What this integrator does, for run.json: the way of finding contacts. */
    const char *(*discovery)(const void *state);
    /* Local. A failure of this rank alone, which all will hear of in the next step; on one rank it is returned. */
    enum tac_err (*hold)(void *state, enum tac_err err);
    /* Local. The elements here (all that touch a vertex of ours), always in the same order: visit() is given the record
     * and, of a plastic one, what its strain is measured against. */
    void (*elements)(const void *state, tac_element_visitor *visit, void *user);
    /* Local. Costs and links of the vertices, into rows that are there. */
    enum tac_err (*weigh)(void *state, struct tac_graph_rows *rows);
    const struct tac_integrator_record *record;

    /* ---- what one may have; NULL: it has not ---- */

    const struct tac_integrator_book *book;       /* the row of now can always be told, and impulses are whole */
    const struct tac_integrator_steps *steps;     /* there is no steps.csv */
    const struct tac_integrator_balance *balance; /* ranks stay as the scene was first dealt */
    const struct tac_integrator_change *change;   /* a checkpoint holds all, and nothing that a scene could change */
};

/* The integrator of a scene. */
const struct tac_integrator *tac_integrator_of(const struct tac_scene *scene);

extern const struct tac_integrator tac_integrator_asynchronous, tac_integrator_implicit;

#endif
