/* kinetic_slab.h: the records of kinetic_slab.c. */
#ifndef TACTUS_KDS_KINETIC_SLAB_H
#define TACTUS_KDS_KINETIC_SLAB_H

#include "kds/kinetic.h"

/* A slab between two primitives, as thick as the first layer that is not active reaches, and moving with a constant
 * speed along its normal.  It proves that layer silent while the first primitive stays above and the second below. */
struct tac_slab {
    double n[3];         /* normal, unit: from the second primitive to the first */
    double upper, lower; /* its two faces along n at `laid`, m */
    double speed;        /* along n, m/s */
    tac_time laid;
    uint64_t key;
    tac_lid v[4];
    int32_t place[4]; /* where it stands in the lists of its vertices */
    double next;      /* distance under which the first layer not active is reached, m */
    double tolerance; /* m */
    tac_time period;  /* of the layer group that begins there; 0: there is none */
    int32_t slot;     /* active pair, or -1 */
    int32_t owner, following;
    uint8_t type, count, first, live;
};

/* A vertex' list of the slabs that rest on it: 4 x slab + which of its vertices it is. */
struct tac_stand {
    size_t count, capacity;
    uint32_t *entry; /* owned */
};

struct tac_slabs {
    size_t count, capacity, free_count, free_capacity; /* live and not */
    struct tac_slab *slab;                             /* owned */
    int32_t *free;                                     /* owned */
    struct tac_stand *stand;                           /* owned, (V) */
    size_t vertices;
    size_t of_slot_capacity;
    int32_t *of_slot; /* owned: slab of an active pair, or -1 */
    struct tac_queue *queue;
};

/* Local. A slab between the primitives a and b (ids) with these vertices, if they are a pair; linked before *head. */
enum tac_err tac_slabs_add(struct tac_kinetic *k, enum tac_pair_type type, tac_lid a, tac_lid b, const tac_lid *va,
                           const tac_lid *vb, int32_t owner, int32_t *head);

/* Local. Does the pair of a slab, whose vertices are at x (4,3; m) at view->state->now and move straight by u (4,3; m)
 * until `end`, come through the end of its layer stack?  Then k->stuck_at is that time, or an earlier one. */
void tac_slabs_through(struct tac_kinetic *k, const struct tac_slab *s, double x[4][3], const double u[4][3],
                       tac_time end);

#endif
