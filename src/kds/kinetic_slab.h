/* kinetic_slab.h: declares the records of separating slabs (kinetic_slab.c; ACM 2009, section 5.1). */
#ifndef TACTUS_KDS_KINETIC_SLAB_H
#define TACTUS_KDS_KINETIC_SLAB_H

#include "kds/kinetic.h"

/* A slab between two primitives, as thick as the reach of the first inactive layer, which moves with a constant speed
 * along its normal. It proves this layer silent while the first primitive stays above it and the second one below. */
struct tac_slab {
    double n[3];         /* normal, unit: from the second primitive to the first */
    double upper, lower; /* its two faces along n at `laid`, m */
    double speed;        /* along n, m/s */
    tac_time laid;
    uint64_t key;
    tac_lid v[4];
    int32_t place[4]; /* its places in the lists of its vertices */
    double next;      /* distance under which the first inactive layer is reached, m */
    double tolerance; /* m */
    tac_time period;  /* of the layer group that begins with that layer; 0: there is none */
    int32_t slot;     /* active pair, or -1 */
    int32_t owner, following;
    uint8_t type, count, first, live;
};

/* The list of the slabs that depend on a vertex: 4 x slab + the number of the vertex in it. */
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

/* Local. If the primitives a and b (ids) with these vertices are a pair, makes a slab between them and links it before
 * *head. */
enum tac_err tac_slabs_add(struct tac_kinetic *k, enum tac_pair_type type, tac_lid a, tac_lid b, const tac_lid *va,
                           const tac_lid *vb, int32_t owner, int32_t *head);

/* Local. Does the pair of a slab pass through the end of its layer stack? Its vertices are at x (4,3; m) at
 * view->state->now and move straight by u (4,3; m) until `end`. If so, k->stuck_at is set to that time, unless it is
 * earlier already. */
void tac_slabs_through(struct tac_kinetic *k, const struct tac_slab *s, double x[4][3], const double u[4][3],
                       tac_time end);

#endif
