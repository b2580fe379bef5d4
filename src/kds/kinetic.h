/* kinetic.h: kinetic data structures: proofs that layers are silent, which say themselves how long they hold (ACM
 * section 5; docs/reference/kinetic.md).
 *
 * Every vertex files a *flight plan*: from now on |v(t) - v0| <= eps.  A *certificate* proves something about some
 * vertices from their plans (its support) and knows a time until which it holds.  A kick that keeps the vertex in its
 * plan changes nothing; one that does not makes the vertex file a new plan, and the certificates that rest on it are
 * timed anew.  Before each instant all certificates that may fail before it are renewed, replaced by others, or a layer
 * is active.  So no layer that is not active can act at a tick, and nothing is ever run twice.
 *
 * Certificates belong to *structures*, which all look alike (struct tac_kinetic_structure): the slabs between two
 * primitives (kinetic_slab.c), and one of several ways to know which primitives need a slab (the broad phase:
 * kinetic_lists.c, kinetic_pairs.c).
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

/* A flight plan: |v(t) - v| <= eps from when it was filed. */
struct tac_plan {
    double v[3];  /* m/s */
    double eps2;  /* square of eps, m^2/s^2 */
    double reach; /* eps, and what rounding may add to a velocity, m/s */
    tac_time t;   /* when it was filed */
    double x[3];  /* where the vertex was then, m */
    bool left;    /* among those that have left it */
};

/* How often rounding moves a vertex off its path (kinetic_rounding.c). */
struct tac_rounding {
    double once;            /* how far at most, each time it is brought up, m */
    double gap_s;           /* it happens once in that time, and a few times at once */
    double least_s, most_s; /* of the gap */
    double drift;           /* once / gap_s: most that rounding may add to a velocity, m/s */
    double slack;           /* what a slab is thicker for what happens at once, m; 0: gaps are as short as may be */
    double level;           /* instants at once so far */
    tac_time last, dense;   /* the last instant; when the gap was last changed */
};

struct tac_kinetic;

/* One kind of certificates and what they rest on.  All functions are local; `self` is the structure's own, NULL if it
 * needs none.  A broad phase whose slabs stay until it is built again has no certificates: queue and all below are
 * NULL.
 */
struct tac_kinetic_structure {
    const char *name;
    /* Empty. */
    enum tac_err (*create)(struct tac_kinetic *k, void **self);
    void (*destroy)(void *self);
    /* Certificates for the state of k->now; any old ones are forgotten. */
    enum tac_err (*build)(struct tac_kinetic *k, void *self);
    /* The failure times of its certificates. */
    struct tac_queue *(*queue)(void *self);
    /* Certificate `id` may fail before k->until, and was taken out of the queue: renews it so that it holds at
     * k->until, or replaces it with others that do, or watches what it kept apart. */
    enum tac_err (*fail)(struct tac_kinetic *k, void *self, int32_t id);
    /* These vertices have filed new plans at k->now: times anew what they support. */
    enum tac_err (*moved)(struct tac_kinetic *k, void *self, const tac_lid *v, size_t count);
    /* Broad phases; NULL if it drops none. A slab that was made for `owner` has been renewed: are the slabs still
     * wanted? */
    enum tac_err (*relieved)(struct tac_kinetic *k, void *self, int32_t owner);
    /* Broad phases; NULL if it stays as it is. Has it grown so much worse than it was when it was built that it should
     * be built again? */
    bool (*stale)(const struct tac_kinetic *k, const void *self);
};
extern const struct tac_kinetic_structure tac_kinetic_slabs, tac_kinetic_lists, tac_kinetic_pairs;

enum { TAC_KINETIC_BROAD, TAC_KINETIC_NARROW, TAC_KINETIC_STRUCTURES };

struct tac_kinetic {
    struct tac_view *view; /* borrowed */
    tac_time
        now; /* certificates are made from the state of this time; >= view->state->now, and nothing is due between */
    tac_time next;   /* the next instant */
    tac_time until;  /* <= next: what a renewed certificate must live to see */
    tac_time tau;    /* life that a certificate of the broad phase should have */
    double tau_s;    /* the same, s */
    double extent;   /* no coordinate is larger, m */
    double farthest; /* m; as in candidates.h */
    struct tac_rounding rounding;
    double eps; /* m/s for all; under 0: chosen per vertex */
    bool built;
    size_t vertices;       /* V */
    struct tac_plan *plan; /* owned, (V) */
    double *wish;          /* owned, (V): eps of the next plan, m/s */
    size_t moved_count;
    tac_lid *moved; /* owned, (V): vertices that have left their plans */
    tac_lid bad;    /* a vertex that is not finite, or -1 */

    const struct tac_kinetic_structure *structure[TAC_KINETIC_STRUCTURES];
    void *self[TAC_KINETIC_STRUCTURES];      /* owned by the structures */
    double *seconds[TAC_KINETIC_STRUCTURES]; /* into the counters: wall time for failures, for new times */

    size_t doubt_count, doubt_capacity;
    int32_t *doubt;    /* owned: slabs of pairs at the end of their layer stack that could not be renewed */
    tac_time stuck_at; /* when a pair goes through its layer stack before `next`; TAC_TIME_NEVER: none does */

    tac_time end; /* of several ranks: of the window, up to which a layer group that is active in it would tick ... */
    int64_t most; /* ... so often at most; one that would tick more often is not, and: */
    tac_time cut_at, cut_period; /* where the first of them would have been, and the shortest; TAC_TIME_NEVER: none */

    /* primitives, as in candidates.h */
    int32_t primitive_count, body_count;
    struct tac_primitive *primitive; /* owned, by body */
    int32_t *primitive_begin;        /* owned, (bodies + 1) */
    uint8_t *still;                  /* owned, (bodies): never moves */
};

/* Local. Certificates among the primitives whose vertices are all this rank's; `c` (borrowed) has them all. */
enum tac_err tac_kinetic_create(struct tac_view *view, const struct tac_candidates *c, struct tac_kinetic **out);
void tac_kinetic_destroy(struct tac_kinetic **kinetic);
/* Local. Certificates from the plans and the state of k->now, which the caller has set. */
enum tac_err tac_kinetic_build(struct tac_kinetic *k);
/* Local. To be called when a window begins: scripts may have changed, and state is as it is. k->cut_at: see there. */
enum tac_err tac_kinetic_begin(struct tac_kinetic *k);
/* Local. These vertices have new plans: times anew what rests on them. */
enum tac_err tac_kinetic_moved(struct tac_kinetic *k, const tac_lid *v, size_t count);
/* Local. Renews all certificates that may fail before the instant t, the next one; *next is t, or an earlier instant if
 * a layer group is active that ticks before it.  k->stuck_at: a pair goes through the end of its layer stack before
 * *next. k->cut_at: something was left inactive, and the instant must not be run. */
enum tac_err tac_kinetic_prove(struct tac_kinetic *k, tac_time t, tac_time *next);
/* Local. Has the vertex, kicked at an instant, left its plan? */
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
/* Local. New plans for all that have left theirs, at view->state->now. instant: something was brought up there. */
enum tac_err tac_kinetic_replan(struct tac_kinetic *k, bool instant);
/* Local. Between windows: drops layer groups that have long been silent. */
enum tac_err tac_kinetic_tidy(struct tac_kinetic *k);

/* Local. The gap for k->extent: all plans are filed anew. */
void tac_rounding_start(struct tac_kinetic *k);
/* Local. Something was brought up at view->state->now. Must all plans be filed anew, for drift is larger than they
 * promise? */
bool tac_rounding_instant(struct tac_kinetic *k);
/* Local. Between windows: a longer gap after calm times. */
void tac_rounding_calm(struct tac_kinetic *k);

/* ---- for structures ---- */

/* Seconds from k->now as a time, rounded down to a quantum; TAC_TIME_NEVER if it is beyond all times. */
tac_time tac_kinetic_after(const struct tac_kinetic *k, double seconds);

/* What plans are measured against, m. */
static inline double tac_kinetic_fine(const struct tac_kinetic *k)
{
    const double thickness = k->view->scene->settings->contact.thickness;
    return thickness > 0 ? thickness : 1e-3 * k->extent;
}

/* Velocity of any vertex now, m/s. */
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

/* Where a vertex is at k->now, m. */
static inline void tac_kinetic_place(const struct tac_kinetic *k, tac_lid v, double x[3])
{
    tac_state_position(k->view->state, k->view->scripts, v, k->now, x);
}

/* Slabs between all that two primitives (a, b; not the same) stand for; they are linked from *head on, which is -1 at
 * first.  `owner` is for the broad phase. */
enum tac_err tac_slabs_between(struct tac_kinetic *k, const struct tac_primitive *a, const struct tac_primitive *b,
                               int32_t owner, int32_t *head);
/* Is one of the slabs from head on about an active pair? */
bool tac_slabs_active(const struct tac_kinetic *k, int32_t head);
/* Forgets the slabs from head on. */
void tac_slabs_drop(struct tac_kinetic *k, int32_t *head);
/* The slab of an active pair, or -1. */
int32_t tac_slabs_of(const struct tac_kinetic *k, int32_t slot);
/* Between windows: drops the deepest layer groups of a pair that are not needed for a while. */
enum tac_err tac_slabs_drop_of(struct tac_kinetic *k, int32_t slot);
/* When the next instant is known: can a pair at the end of its layer stack come through it before then? Sets
 * k->stuck_at. */
void tac_slabs_validate(struct tac_kinetic *k);
/* Local. All slabs in doubt are due now. */
void tac_slabs_doubt_again(struct tac_kinetic *k);
/* May the primitives of body a and those of body b touch (a may be b)? */
bool tac_kinetic_may_touch(const struct tac_kinetic *k, tac_lid a, tac_lid b);

#endif
