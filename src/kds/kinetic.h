/* kinetic.h: declares kinetic data structures: proofs that layers are silent, each with the time until which it holds
 * (ACM 2009, section 5; docs/reference/kinetic.md).
 *
 * Every vertex has a *flight plan*: from now on |v(t) - v0| <= eps. A *certificate* proves something about some
 * vertices (its support) from their plans, together with a time until which the proof holds. If a kick leaves the
 * vertex in its plan, nothing changes; otherwise the vertex gets a new plan, and the times of the certificates that
 * depend on it are computed again. Before each instant every certificate that may fail before it is renewed or replaced
 * by others, or a layer is activated. So no inactive layer can act at a tick, and no instant is run twice.
 *
 * Certificates belong to *structures* with a common interface (struct tac_kinetic_structure): the slabs between two
 * primitives (kinetic_slab.c), and a broad phase, which finds the primitives that need a slab (kinetic_lists.c or
 * kinetic_pairs.c).
 *
 *     tac_kinetic_create(view, &k);
 *     tac_kinetic_prove(k, t, &next);      every certificate holds until `next`, the instant t or an earlier one
 *     ... the instant `next` is run; vertices that it kicked: tac_kinetic_check(k, v) ...
 *     tac_kinetic_replan(k);
 *     tac_kinetic_destroy(&k);
 */
#ifndef TACTUS_KDS_KINETIC_H
#define TACTUS_KDS_KINETIC_H

#include "broadphase/candidates.h"
#include "broadphase/view.h"
#include "kds/queue.h"

/* A flight plan: |v(t) - v| <= eps from the time at which it was made. */
struct tac_plan {
    double v[3];  /* m/s */
    double eps2;  /* square of eps, m^2/s^2 */
    double reach; /* eps plus what rounding may add to a velocity, m/s */
    tac_time t;   /* time at which it was made */
    double x[3];  /* position of the vertex at t, m */
    bool left;    /* the vertex has left the plan, and is listed in tac_kinetic.moved */
};

/* A bound of how often rounding moves a vertex off its path (kinetic_rounding.c). */
struct tac_rounding {
    double once;            /* largest displacement each time the vertex is advanced, m */
    double gap_s;           /* it happens at most once in this time, plus a few times at once */
    double least_s, most_s; /* bounds of gap_s */
    double drift;           /* once / gap_s: most that rounding may add to a velocity, m/s */
    double slack;         /* extra thickness of a slab for the roundings that happen at once, m; 0: gap_s is as short as
                             possible */
    double level;         /* level of the leaky bucket: instants at once so far */
    tac_time last, dense; /* the last instant; the time at which gap_s was last changed */
};

struct tac_kinetic;

/* One kind of certificates and their data. All functions are local; `self` is the structure's own data, NULL if it
 * needs none. A broad phase whose slabs stay until it is built again has no certificates: its `queue` and all functions
 * below are NULL.
 */
struct tac_kinetic_structure {
    const char *name;
    /* Makes an empty structure. */
    enum tac_err (*create)(struct tac_kinetic *k, void **self);
    void (*destroy)(void *self);
    /* Makes the certificates for the state of k->now; old ones are dropped. */
    enum tac_err (*build)(struct tac_kinetic *k, void *self);
    /* Returns the queue of its certificates' failure times. */
    struct tac_queue *(*queue)(void *self);
    /* Call it when certificate `id` may fail before k->until and was taken out of the queue: renews it so that it holds
     * until k->until, or replaces it with others that do, or activates the layers that it proved silent. */
    enum tac_err (*fail)(struct tac_kinetic *k, void *self, int32_t id);
    /* Call it when these vertices have got new plans at k->now: computes the times of certificates that depend on them.
     */
    enum tac_err (*moved)(struct tac_kinetic *k, void *self, const tac_lid *v, size_t count);
    /* Broad phases; NULL if it drops no slabs. Call it when a slab that was made for `owner` has been renewed: drops
     * the slabs of `owner` if they are not needed any more. */
    enum tac_err (*relieved)(struct tac_kinetic *k, void *self, int32_t owner);
    /* Broad phases; NULL if it is never built again. Has the structure become so much worse since it was built that it
     * should be built again? */
    bool (*stale)(const struct tac_kinetic *k, const void *self);
};
extern const struct tac_kinetic_structure tac_kinetic_slabs, tac_kinetic_lists, tac_kinetic_pairs;

enum { TAC_KINETIC_BROAD, TAC_KINETIC_NARROW, TAC_KINETIC_STRUCTURES };

struct tac_kinetic {
    struct tac_view *view; /* borrowed */
    tac_time
        now; /* certificates are made from the state of this time; >= view->state->now, and no force is due between */
    tac_time next;   /* the next instant */
    tac_time until;  /* <= next: a renewed certificate must hold until then */
    tac_time tau;    /* time for which a certificate of the broad phase should hold, quanta */
    double tau_s;    /* the same, s */
    double extent;   /* no coordinate is larger, m */
    double farthest; /* m; as in candidates.h */
    struct tac_rounding rounding;
    double eps; /* m/s for all vertices; under 0: chosen for each vertex */
    bool built;
    size_t vertices;       /* V */
    struct tac_plan *plan; /* owned, (V) */
    double *next_eps;      /* owned, (V): eps of the vertex's next plan, m/s */
    size_t moved_count;
    tac_lid *moved; /* owned, (V): vertices that have left their plans */
    tac_lid bad;    /* a vertex that is not finite, or -1 */

    const struct tac_kinetic_structure *structure[TAC_KINETIC_STRUCTURES];
    void *self[TAC_KINETIC_STRUCTURES];      /* owned by the structures */
    double *seconds[TAC_KINETIC_STRUCTURES]; /* into the counters, by structure: two wall times, s: for failures and for
                                                new times */

    size_t doubt_count, doubt_capacity;
    int32_t *doubt;    /* owned: slabs of pairs at the end of their layer stack that could not be renewed */
    tac_time stuck_at; /* time at which a pair passes through its whole layer stack before `next`; TAC_TIME_NEVER: none
                          does */

    tac_time
        end; /* several ranks: the end of the window; a layer group that is activated in it may tick until then ... */
    int64_t most; /* ... at most so often; one that would tick more often is not activated, and: */
    tac_time cut_at,
        cut_period; /* time of the first such layer group, and shortest period of one; TAC_TIME_NEVER: none */

    /* primitives, as in candidates.h */
    int32_t primitive_count, body_count;
    struct tac_primitive *primitive; /* owned, by body */
    int32_t *primitive_begin;        /* owned, (bodies + 1) */
    uint8_t *immovable;              /* owned, (bodies): never moves */
};

/* Local. Makes the structures for the primitives of which this rank owns all vertices; `c` (borrowed) has all
 * primitives. */
enum tac_err tac_kinetic_create(struct tac_view *view, const struct tac_candidates *c, struct tac_kinetic **out);
void tac_kinetic_destroy(struct tac_kinetic **kinetic);
/* Local. Makes all certificates from the plans and the state of k->now, which the caller has set. */
enum tac_err tac_kinetic_build(struct tac_kinetic *k);
/* Local. Call it when a window begins, because scripts and the state may have changed. Resets k->cut_at. */
enum tac_err tac_kinetic_begin(struct tac_kinetic *k);
/* Local. Call it when these vertices have new plans: computes the times of the certificates that depend on them. */
enum tac_err tac_kinetic_moved(struct tac_kinetic *k, const tac_lid *v, size_t count);
/* Local. Renews all certificates that may fail before the next instant t. *next is t, or an earlier instant if a layer
 * group was activated that ticks before t. Sets k->stuck_at if a pair passes through its whole layer stack before
 * *next. Sets k->cut_at if a layer group was left inactive; then the instant must not be run. */
enum tac_err tac_kinetic_prove(struct tac_kinetic *k, tac_time t, tac_time *next);
/* Local. Call it for a vertex that was kicked at an instant: lists the vertex if it has left its plan. */
static inline void tac_kinetic_check(struct tac_kinetic *k, tac_lid v)
{
    struct tac_plan *plan = &k->plan[v];
    const double *u = k->view->state->vel[v].v;
    const double a = u[0] - plan->v[0], b = u[1] - plan->v[1], c = u[2] - plan->v[2];
    if (!(a * a + b * b + c * c <= plan->eps2) && !plan->left) {
        plan->left = true;
        k->moved[k->moved_count++] = v;
    }
}
/* Local. Makes new plans at view->state->now for all vertices that have left theirs. instant: some vertex was advanced
 * to this time. */
enum tac_err tac_kinetic_replan(struct tac_kinetic *k, bool instant);
/* Local. Call it between windows: drops layer groups that have been silent for long. */
enum tac_err tac_kinetic_tidy(struct tac_kinetic *k);

/* Local. Chooses the gap for k->extent. The caller must make all plans again. */
void tac_rounding_start(struct tac_kinetic *k);
/* Local. Call it when some vertex was advanced to view->state->now. Returns whether all plans must be made again,
 * because the drift by rounding is larger than they allow. */
bool tac_rounding_instant(struct tac_kinetic *k);
/* Local. Call it between windows: makes the gap longer if instants have been rare for a while. */
void tac_rounding_calm(struct tac_kinetic *k);

/* ---- for structures ---- */

/* Returns the time that is so many seconds after k->now, rounded down to a quantum; TAC_TIME_NEVER if it is too large.
 */
tac_time tac_kinetic_after(const struct tac_kinetic *k, double seconds);

/* Returns the length by which eps of plans is chosen, m. */
static inline double tac_kinetic_fine(const struct tac_kinetic *k)
{
    const double thickness = k->view->scene->settings->contact.thickness;
    return thickness > 0 ? thickness : 1e-3 * k->extent;
}

/* Computes the present velocity of any vertex, m/s. */
static inline void tac_kinetic_velocity(const struct tac_view *view, tac_lid v, double out[3])
{
    static const double rest[3];
    const double *from = view->state->vel[v].w != 0  ? view->state->vel[v].v
                         : view->scripts->of[v] >= 0 ? view->scripts->script[view->scripts->of[v]].v
                                                     : rest;
    out[0] = from[0];
    out[1] = from[1];
    out[2] = from[2];
}

/* Computes the position of a vertex at k->now, m. */
static inline void tac_kinetic_place(const struct tac_kinetic *k, tac_lid v, double x[3])
{
    tac_state_position(k->view->state, k->view->scripts, v, k->now, x);
}

/* Makes slabs between all features of two different primitives a and b; links them into the list *head, which is -1
 * when it is empty. `owner` is for the broad phase. */
enum tac_err tac_slabs_between(struct tac_kinetic *k, const struct tac_primitive *a, const struct tac_primitive *b,
                               int32_t owner, int32_t *head);
/* Does a slab of the list `head` belong to an active pair? */
bool tac_slabs_active(const struct tac_kinetic *k, int32_t head);
/* Removes the slabs of the list *head. */
void tac_slabs_drop(struct tac_kinetic *k, int32_t *head);
/* Returns the slab of an active pair, or -1. */
int32_t tac_slabs_of(const struct tac_kinetic *k, int32_t slot);
/* Call it between windows: drops those deepest layer groups of a pair that are not needed for a while. */
enum tac_err tac_slabs_drop_of(struct tac_kinetic *k, int32_t slot);
/* Call it when the next instant is known. Can a pair at the end of its layer stack pass through it before that? If so,
 * sets k->stuck_at. */
void tac_slabs_validate(struct tac_kinetic *k);
/* Local. Makes all doubtful slabs due now. */
void tac_slabs_doubt_again(struct tac_kinetic *k);
/* May the primitives of body a and those of body b touch (a may be b)? */
bool tac_kinetic_may_touch(const struct tac_kinetic *k, tac_lid a, tac_lid b);

#endif
