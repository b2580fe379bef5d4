/* friction.h: the friction of an active pair, from the positions at its own ticks (docs/explanation/method.md,
 * Friction).
 *
 * The normal impulses of all layers of a pair add to one *budget* of tangential impulse, which its anchors use up. So
 * weight that rests on deep layers, which act only now and then, also gives friction to the outer ones. A budget that
 * is not used expires: it is never more than what was added in this stretch of time and the one before it. A stretch is
 * STRETCH ticks of the outermost layer group.  Each layer group has an anchor, a tangential spring with the stiffness
 * of its first layer.  All this state begins at the pair's first active tick, and is deleted at the first silent tick
 * of its outermost layer group. An anchor is set anew whenever its layer group was silent.
 *
 * The friction of a pair at an instant follows from the positions and from what all of its layer groups that tick did.
 * Where a pair has but one layer group, it is computed as that ticks; else all note their impulses, and it is computed
 * when all have ticked.  Its kicks are applied after those of the layers, so the order in which layer groups tick has
 * no effect.
 */
#ifndef TACTUS_CONTACT_FRICTION_H
#define TACTUS_CONTACT_FRICTION_H

#include "contact/pairs/active.h"
#include <tactus/accum.h>

/* The state of a pair that rubs. */
struct tac_friction_values {
    tac_time born, t; /* first and last instant with an active tick; -1: none, and all else means nothing */
    double stock[2];  /* normal impulse of this stretch of time and of the one before it, N s */
    double budget;    /* what friction may still spend, N s */
    double w[4];      /* weights of the closest points at t */
    double p[3];      /* from the second one to the first at t, m */
    double way[3];    /* how far the first has gone along the second since `born`, m */
};
struct tac_friction_state {
    struct tac_friction_values now;
    int32_t kept; /* where its values at the window's start are kept; -1: they are still the same */
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
    double hold[3]; /* where on `way` the tangential spring is fixed, m */
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
    bool open;     /* its layer groups have entries, from which the rest is still to be computed */
    uint8_t count; /* vertices */
    uint8_t here;  /* they are all of this rank: nobody else has a part in the pair */
    tac_lid v[4];
    double w[4];
    tac_time period;  /* the longest of its layer groups that ticked */
    double j[3];      /* N s */
    double couple[3]; /* that it takes from the angular momentum, N m s */
};

struct tac_friction {
    enum tac_friction_model kind;
    double quantum_s;
    const struct tac_model *model;
    struct tac_friction_state *friction_state;            /* owned, by pair slot; on whole lines */
    size_t friction_state_count, friction_state_capacity; /* count: slots that ever were */
    struct tac_friction_kept *kept;                       /* owned: of pairs touched since the window's start */
    size_t kept_count, kept_capacity;
    struct tac_anchor *anchor; /* owned */
    size_t anchor_count, anchor_capacity;
    struct tac_anchor_kept *anchor_kept; /* owned */
    size_t anchor_kept_count, anchor_kept_capacity;
    int32_t *free_anchor; /* owned */
    size_t free_count, free_capacity;
    struct tac_friction_entry *friction_entry; /* owned: of the instant under way */
    size_t friction_entry_count, friction_entry_capacity;
    struct tac_friction_kick *kick; /* owned: of the instant under way, in the order of the pairs' first entries */
    size_t kick_count, kick_capacity;
};

/* Local. Makes active->friction; where no law has friction, it is left NULL and not made. */
enum tac_err tac_friction_create(struct tac_ctx *ctx, const struct tac_model *model,
                                 const struct tac_settings *settings, struct tac_active *active);
void tac_friction_destroy(struct tac_active *active);

/* Local. A new pair in `slot`: room for it; nothing is known of it. */
enum tac_err tac_friction_pair(struct tac_ctx *ctx, struct tac_active *active, int32_t slot);
/* Local. An anchor for a layer group of `slot`, or -1 if the pair has no friction; room was made before. */
int32_t tac_friction_anchor(struct tac_active *active, int32_t slot);
void tac_friction_free(struct tac_active *active, int32_t anchor);
/* Local. Room for `layer groups` layer groups more, and as many entries as there may be at an instant. */
enum tac_err tac_friction_reserve(struct tac_ctx *ctx, struct tac_active *active, size_t groups);
/* Would dropping the pair's last layer group forget a state? */
bool tac_friction_has_state(const struct tac_active *active, int32_t slot);

/* Local. A window begins, or slots are to be laid anew: what was kept is forgotten. */
void tac_friction_begin(struct tac_active *active);
/* Local. The window is run again from its start. */
void tac_friction_restore(struct tac_active *active);

/* Local. An active tick of layer group e at t, with this normal impulse [N s].  Where the pair has others too. */
void tac_friction_enter(struct tac_active *active, const struct tac_layer_group *e, const struct tac_rate_group *c,
                        double impulse);
/* Local. The same of a pair's only layer group; the pair is `near` at t; x (count, 3): positions of its vertices, m. */
void tac_friction_tick_only(struct tac_active *active, const struct tac_layer_group *e, const struct tac_rate_group *c,
                            double impulse, const struct tac_near *near, tac_time t, const double x[4][3]);
/* Local. Computes a kick that is open, from the positions x (count, 3) [m] of its vertices at t. */
void tac_friction_tick(struct tac_active *active, struct tac_friction_kick *kick, tac_time t, const double x[4][3]);
/* Local. A silent tick of a pair's outermost layer group. */
void tac_friction_erase(struct tac_active *active, int32_t slot);
/* Local. The instant is over. */
void tac_friction_close(struct tac_active *active);

#endif
