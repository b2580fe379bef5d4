/* active.h: the active contacts: pairs of primitives with active layers, and their layer groups by period. */
#ifndef TACTUS_CONTACT_PAIRS_ACTIVE_H
#define TACTUS_CONTACT_PAIRS_ACTIVE_H

#include "contact/model.h"
#include <stddef.h>
#include <tactus/math.h>

struct tac_friction;

/* The geometry of a pair at an instant. */
struct tac_pair_geometry {
    struct tac_near near;
    double mollifier; /* 1 but for near-parallel edges, and 0 where another triangle of a flat part acts */
};

/* An active pair. Nearly all ticks read only its first two cache lines of 64 bytes, which contain the part of `form`
 * that they need; the work that each window does for each pair reads only the third line besides. In a large scene the
 * cost of contact is the memory that it reads (docs/results/performance.md). */
struct tac_pair {
    tac_lid v[4];
    uint8_t type, count; /* vertices in all */
    uint8_t shared : 1;  /* its vertices are of several ranks */
    uint8_t
        proven : 1; /* kinetic structures prove which of its layers are silent, so it is not validated after a window */
    uint8_t rubs : 1;  /* it has a friction state */
    uint8_t flat : 3;  /* edges of its triangle that lie inside a flat part (contact/flat.h) */
    uint8_t kept_sign; /* sign of the instant of `kept`; if another instant has another sign, `kept` is not of that
                          instant */
    int32_t depth;     /* deepest active layer; 0: none */
    float normal[3];   /* at its last evaluation, not longer than 1; 0: never evaluated */
    float guard;       /* rounding of a distance of this pair then, m */
    int32_t groups;    /* active layer groups */
    int32_t active;    /* first layer of the deepest layer group that acted in this pass; 0: none */
    double next;       /* distance under which the first inactive layer (or the end of the layer stack) is reached */
    double d_tick;     /* distance at t_tick, the deepest group's last tick; infinity: none */

    tac_time t_tick;
    double d_least;   /* least distance at ticks of the deepest group since the window's start or the group's birth, m;
                         infinity: no tick since */
    double deep_last; /* last_d of the deepest layer group */
    tac_time deep_period; /* of the deepest layer group */
    struct tac_form form;

    double speed; /* bound of its relative speed in the last window in which it was looked at, m/s, by which it sleeps;
                     0: not known. For a shared pair its owners have agreed on it */
    double sleep_speed; /* the skipped ticks of this pass were silent if the pair was slower than this, m/s */
    tac_time awake;     /* no tick is skipped before */
    int32_t last_sleep; /* its newest sleep in this pass, or -1 */
    int32_t births;     /* number of layer groups born in this pass; `first_birth` is the first of them */
    int32_t deep_first; /* first layer of the deepest layer group */
    uint8_t live;
    uint8_t slept_too_long; /* a skipped tick may not have been silent */
    uint8_t listed;         /* scratch of the candidate list */

    uint64_t key;
    double d_tick_start; /* d_tick and t_tick at the window's start */
    tac_time t_tick_start;
    double deep_reach; /* distance under which the deepest group's first layer acts, m */
    double seen_speed; /* a shared pair's speed as the deciding rank computed it; that rank sends it to the other owners
                          as `speed` */
    tac_time seen_awake; /* no tick is skipped before; as the deciding rank computed it */
    int32_t first_birth;
    int32_t kept;     /* several layer groups: place in tac_active.kept of the geometry that all groups ticking at an
                         instant use */
    double unused[2]; /* to whole lines */
};
enum { TAC_PAIR_LINES = 2 }; /* cache lines that a tick reads */
_Static_assert(offsetof(struct tac_pair, t_tick) == 64 && offsetof(struct tac_pair, form.h_s) == 128 &&
                   offsetof(struct tac_pair, key) == 184 && sizeof(struct tac_pair) == 256,
               "the lines of a pair");

/* The sign of an instant: a byte of its hash. */
static inline uint8_t tac_pair_sign(tac_time t)
{
    return (uint8_t)((uint64_t)t * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

/* The geometry of a pair of several layer groups at the current instant. */
struct tac_kept {
    int32_t pair;
    struct tac_pair_geometry geometry;
};

/* A layer group of a pair: layers first..last, one period.  `last_d` is state: the distance at its last tick if that
 * was active, else infinity; born at the first active tick, erased at the first silent one (docs/explanation/method.md,
 * Friction).
 */
struct tac_layer_group {
    uint64_t key;
    int32_t pair;
    int32_t first, last : 31;
    uint32_t shared : 1; /* of a pair of several ranks */
    int32_t anchor;      /* friction.h; -1: none */
    tac_time born;
    double last_d, saved_d;
    tac_time wake; /* of one of `extra`, as tac_rate_group.wake */
    double clear;  /* distance under which its first layer acts, m */
};
_Static_assert(sizeof(struct tac_layer_group) == 64, "a line");

/* All active layer groups of one period.  `extra` are those born while running, merged in when the pass has ended. */
struct tac_rate_group {
    tac_time period;
    double h_s;
    size_t count, capacity;
    struct tac_layer_group *group; /* owned, by key */
    size_t wake_capacity;
    tac_time *wake; /* owned, (count): ticks of a group before this time are skipped; at the window's end it is proven
                       that they were silent. It is a separate array because for most groups nothing else is read */
    size_t extra_count, extra_capacity;
    struct tac_layer_group *extra; /* owned, by key */
    size_t extra_wanted;           /* room that was missing during a pass */
    size_t dropped;                /* layer groups marked (pair < 0) to be taken out */
};

/* A layer group born during a pass: until t the pair was active only down to `next`. */
struct tac_birth {
    int32_t pair;
    int32_t following; /* next birth of the same pair, or -1 */
    tac_time t;
    double next;
    double least;    /* d_least of that time */
    tac_time period; /* of the deepest layer group of that time */
};

/* Ticks of a layer group that were skipped in this pass: they were silent if the pair's distance did not come under
 * `clear` (m) from `from` to `to`, and certainly if its speed was under `speed` (m/s). */
struct tac_sleep {
    tac_time from, to;
    double clear, speed;
    int32_t following; /* the sleep of the pair before it, or -1 */
};

/* The impulses that contacts lost at a vertex in the current instant, summed in the order of the ticks. When the
 * instant is over, they are booked with one product and one exact sum (events/forces/contact_kick.c). */
struct tac_loss {
    double j[4];      /* impulses that restitution left out plus those of friction, N s; the fourth number is 0 */
    double rub[4];    /* the part of friction in j */
    double couple[3]; /* angular momentum that friction removes in the pairs of which this is the first vertex that can
                         move, N m s */
    bool listed;      /* in tac_active.lossy */
};

/* A place in the table of pairs by key. The tag is a part of the key's hash. The key itself is in the pair, elsewhere
 * in memory, and is read only if the tags are equal. */
struct tac_slot_place {
    int32_t slot; /* -1: empty */
    uint32_t tag;
};

/* A pair that will come under its next layer soon. */
struct tac_deeper {
    int32_t slot;
    double d, speed; /* distance at this instant, m; how it grows, m/s */
};

/* All active contacts. */
struct tac_active {
    size_t pair_count, pair_capacity; /* slots, live or not */
    struct tac_pair *pair;            /* owned, aligned: each begins a cache line */
    size_t unsorted;                  /* pairs that were added since the slots were sorted by key */
    size_t live_pairs, free_count, free_capacity;
    int32_t *free_slot;          /* owned */
    size_t hash_size;            /* power of two, at most 2^32 */
    struct tac_slot_place *hash; /* owned: slots by key, open addressing */
    size_t rate_group_count, rate_group_capacity;
    struct tac_rate_group *rate_group; /* owned, ascending period */
    size_t first_rate_group;           /* no class before it has a layer group */
    size_t group_count;                /* in all classes, without those born in this pass */
    size_t birth_count, birth_capacity;
    struct tac_birth *birth; /* owned */
    size_t deeper_count, deeper_capacity;
    struct tac_deeper
        *deeper; /* owned: pairs that get a deeper layer group when all forces of this instant have ticked */
    size_t sleep_count, sleep_capacity;
    struct tac_sleep *sleep;          /* owned */
    size_t kept_count, kept_capacity; /* of the current instant */
    struct tac_kept *kept;            /* owned */
    struct tac_loss *loss;            /* owned, (owned vertices) */
    size_t lossy_count;
    tac_lid *lossy;                /* owned, (owned vertices): those with a loss in this instant */
    struct tac_friction *friction; /* owned; NULL: no law has friction */
};

/* Fetches into the cache what a look at a candidate reads of its pair; slot -1: it has none. Always inline, because gcc
 * considers a function that only prefetches to have no effect, and omits calls of it. */
static inline __attribute__((always_inline)) void tac_pair_fetch(const struct tac_active *active, int32_t slot)
{
    if (slot < 0)
        return;
    const char *p = (const char *)&active->pair[slot];
    __builtin_prefetch(p, 1);
    __builtin_prefetch(p + offsetof(struct tac_pair, t_tick), 1);
    __builtin_prefetch(p + offsetof(struct tac_pair, speed), 1);
}

/* If the next layer group may be reached within this many ticks of the deepest one, it is activated. */
enum { TAC_FORESIGHT = 2 };

/* Will the pair come under its next layer soon? To be asked at a tick of its deepest layer group; d: the distance, m;
 * growth: by how much it grows until the next tick, m. */
static inline bool tac_pair_is_soon(const struct tac_pair *p, double d, double growth)
{
    return d + TAC_FORESIGHT * growth < p->next && p->depth < p->form.bottom;
}

/* ---- pair_table.c ---- */
/* Local. Adds a pair that is not in the table, without layer groups and without its form. *slot: its slot. */
enum tac_err tac_pairs_add(struct tac_ctx *ctx, struct tac_active *active, uint64_t key, const tac_lid v[4],
                           int32_t *slot);
/* Local. Removes a pair without layer groups and frees its slot. */
void tac_pairs_remove(struct tac_active *active, int32_t slot);

/* ---- slots.c ---- */
/* Local. Call it between passes. If many pairs were added since the last time, sorts the slots by key; then *slot
 * (owned by the caller) is the new slot of each old one. Otherwise *slot is NULL. */
enum tac_err tac_active_sort(struct tac_ctx *ctx, struct tac_active *active, int32_t **slot);

/* The part of a key's hash that the table keeps. */
static inline uint32_t tac_active_tag(uint64_t key)
{
    return (uint32_t)tac_hash64(key, 0);
}

/* The place at which the search for a pair begins. */
static inline size_t tac_active_home(const struct tac_active *active, uint32_t tag)
{
    return (size_t)tag & (active->hash_size - 1);
}

/* Fetch into the cache what tac_active_find_tagged() reads first, and what it reads next. */
static inline __attribute__((always_inline)) void tac_active_fetch(const struct tac_active *active, uint32_t tag)
{
    if (active->hash_size > 0)
        __builtin_prefetch(&active->hash[tac_active_home(active, tag)]);
}
static inline __attribute__((always_inline)) void tac_active_fetch_pair(const struct tac_active *active, uint32_t tag)
{
    if (active->hash_size == 0)
        return;
    const struct tac_slot_place *place = &active->hash[tac_active_home(active, tag)];
    if (place->tag == tag)
        tac_pair_fetch(active, place->slot);
}

/* Local. Return the slot of an active pair, or -1. The first function is for callers that know the tag of the key. */
static inline int32_t tac_active_find_tagged(const struct tac_active *active, uint64_t key, uint32_t tag)
{
    if (active->hash_size == 0)
        return -1;
    for (size_t i = tac_active_home(active, tag);; i = (i + 1) & (active->hash_size - 1)) {
        const struct tac_slot_place *place = &active->hash[i];
        if (place->slot < 0 || (place->tag == tag && active->pair[place->slot].key == key))
            return place->slot;
    }
}
static inline int32_t tac_active_find(const struct tac_active *active, uint64_t key)
{
    return tac_active_find_tagged(active, key, tac_active_tag(key));
}

#endif
