/* friction.h: the friction of an active pair, from the positions at its own ticks (docs/explanation/method.md,
 * Friction).
 *
 * The normal impulses of all layers of a pair add to one *budget* of tangential impulse, which its anchors use up. So
 * the weight that deep layers carry, although they act only from time to time, also gives friction to the outer layers.
 * A budget that is not used expires: it is never more than what was added in this stretch of time and the one before
 * it. A stretch is STRETCH ticks of the outermost layer group.  Each layer group has an anchor, a tangential spring
 * with the stiffness of its first layer.  All this state begins at the pair's first active tick, and is deleted at the
 * first silent tick of its outermost layer group. An anchor is set again whenever its layer group was silent.
 *
 * Where static friction is more than kinetic, a pair begins at rest: mu is the static one until its anchors cannot hold
 * it.  From then on it slides, with the kinetic mu, until it slips back, the way its anchors pull.
 *
 * The friction of a pair at an instant follows from the positions and from what all of its layer groups that tick did.
 * If a pair has only one layer group, friction is computed when that ticks; otherwise all layer groups note their
 * impulses, and friction is computed when all have ticked.  Its kicks are applied after those of the layers, so the
 * order in which layer groups tick has no effect.
 */
#ifndef TACTUS_CONTACT_FRICTION_H
#define TACTUS_CONTACT_FRICTION_H

#include "contact/pairs/active.h"
#include "contact/rolling.h"
#include <tactus/accum.h>

/* The state of a pair with friction. */
struct tac_friction_values {
    tac_time born, t; /* first and last instant with an active tick; -1: none, and all other fields mean nothing */
    double stock[2];  /* normal impulse of this stretch of time and of the one before it, N s */
    double budget;    /* impulse that friction may still use, N s; while the pair slides by kinetic friction, less than
                         the static one, minus that (-0 too) */
    double w[4];      /* weights of the closest points at t */
    double p[3];      /* vector from the second closest point to the first at t, m */
    double slid[3];   /* how far the first primitive has slipped along the second since `born`, m */
};
struct tac_friction_state {
    struct tac_friction_values now;
    int32_t kept; /* place of its values at the window's start; -1: they have not changed */
    int32_t head; /* this instant's entries; -1: none */
};
_Static_assert(sizeof(struct tac_friction_state) == 128, "two lines, which a tick touches");
/* Values at the window's start. */
struct tac_friction_kept {
    struct tac_friction_values values;
    int32_t slot;
};

/* The state of a layer group. */
struct tac_anchor_values {
    tac_time born;  /* `born` of the pair when it was last set; -1: never */
    double hold[3]; /* value of `slid` at which the tangential spring is fixed, m */
};
struct tac_anchor {
    struct tac_anchor_values now;
    int32_t kept; /* as above */
};
struct tac_anchor_kept {
    struct tac_anchor_values values;
    int32_t anchor;
};

/* An active tick at this instant. */
struct tac_friction_entry {
    int32_t pair, anchor, next;
    uint8_t outermost, fresh; /* the pair's first layer group; it was silent at its last tick */
    tac_time period;
    double h_s, stiffness; /* period; r of its first layer, N/m */
    double impulse;        /* normal, as applied, N s */
};

/* What friction does to a pair at an instant: impulse -j w[k] on vertex v[k]. */
struct tac_friction_kick {
    int32_t pair;
    bool open;     /* its layer groups have entries, from which the other fields will be computed */
    uint8_t count; /* vertices */
    uint8_t here;  /* this rank owns all of them, so no other rank takes part in the pair */
    tac_lid v[4];
    double w[4];
    tac_time period;  /* the longest of its layer groups that ticked */
    double j[3];      /* N s */
    double couple[3]; /* angular momentum that it removes, N m s */
    bool rolls;       /* it has: */
    tac_lid grain[2]; /* the first vertices of its primitives, and what turns them, N m s */
    double torque[2][3];
};

struct tac_friction {
    enum tac_friction_model kind;
    double quantum_s;
    const struct tac_model *model;
    struct tac_friction_state *friction_state;            /* owned, by pair slot; aligned to cache lines */
    size_t friction_state_count, friction_state_capacity; /* count: slots that ever were */
    struct tac_friction_kept *kept; /* owned: of the pairs that changed since the window's start */
    size_t kept_count, kept_capacity;
    struct tac_rolling_values *rolling, *rolling_kept; /* owned, as friction_state and kept; NULL: nothing rolls */
    size_t rolling_capacity, rolling_kept_capacity;
    bool rolls;                /* some bodies do */
    struct tac_anchor *anchor; /* owned */
    size_t anchor_count, anchor_capacity;
    struct tac_anchor_kept *anchor_kept; /* owned */
    size_t anchor_kept_count, anchor_kept_capacity;
    int32_t *free_anchor; /* owned */
    size_t free_count, free_capacity;
    struct tac_friction_entry *friction_entry; /* owned: of the current instant */
    size_t friction_entry_count, friction_entry_capacity;
    struct tac_friction_kick *kick; /* owned: of the current instant, in the order of the pairs' first entries */
    size_t kick_count, kick_capacity;
};

/* Local. Makes active->friction; if no law has friction, it stays NULL. */
enum tac_err tac_friction_create(struct tac_ctx *ctx, const struct tac_model *model,
                                 const struct tac_settings *settings, struct tac_active *active);
void tac_friction_destroy(struct tac_active *active);

/* Local. Makes room for a new pair in `slot`, without a state. */
enum tac_err tac_friction_pair(struct tac_ctx *ctx, struct tac_active *active, int32_t slot);
/* Local. Returns an anchor for a layer group of `slot`, or -1 if the pair has no friction. tac_friction_reserve() must
 * have made room. */
int32_t tac_friction_anchor(struct tac_active *active, int32_t slot);
void tac_friction_free(struct tac_active *active, int32_t anchor);
/* Local. Makes room for `groups` more layer groups, and for as many entries as there may be at an instant. */
enum tac_err tac_friction_reserve(struct tac_ctx *ctx, struct tac_active *active, size_t groups);
/* Does the pair have a state, which would be lost with its last layer group? */
bool tac_friction_has_state(const struct tac_active *active, int32_t slot);

/* Local. Call it when a window begins, or before slots are sorted: forgets the kept values. */
void tac_friction_begin(struct tac_active *active);
/* Local. Call it before the window is run again from its start: restores the kept values. */
void tac_friction_restore(struct tac_active *active);

/* Local. Notes an active tick of layer group e, with this normal impulse [N s], if the pair has other layer groups too.
 */
void tac_friction_enter(struct tac_active *active, const struct tac_layer_group *e, const struct tac_rate_group *c,
                        double impulse);
/* Local. Computes the friction of an active tick of a pair's only layer group. near: the pair's distance at t; x
 * (count, 3): positions of its vertices, m; turns: of its grains; NULL: none rolls. */
void tac_friction_tick_only(struct tac_active *active, const struct tac_layer_group *e, const struct tac_rate_group *c,
                            double impulse, const struct tac_near *near, tac_time t, const double x[4][3],
                            const struct tac_turns *turns);
/* Local. Computes a kick that is open, from the positions x (count, 3) [m] of its vertices at t. */
void tac_friction_tick(struct tac_active *active, struct tac_friction_kick *kick, tac_time t, const double x[4][3],
                       const struct tac_turns *turns);
/* Local. Call it at a silent tick of a pair's outermost layer group: deletes the state. */
void tac_friction_erase(struct tac_active *active, int32_t slot);
/* Local. Call it when the instant is over: empties the entries and kicks. */
void tac_friction_close(struct tac_active *active);

#endif
