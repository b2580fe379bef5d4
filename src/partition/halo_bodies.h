/* halo_bodies.h: neighbours send each other what they know of bodies whose vertices belong to one rank each, as rigid
 * ones do. A rank gets the bodies of its ghosts.
 *
 *     const struct tac_halo_bodies bodies = {self, sizeof(struct known), body_of, pack, unpack};
 *     tac_halo_share_bodies(&halo, tag, &bodies);
 */
#ifndef TACTUS_PARTITION_HALO_BODIES_H
#define TACTUS_PARTITION_HALO_BODIES_H

#include "partition/halo.h"

enum { TAC_HALO_BODY = 1024 /* most bytes that are known of a body */ };

struct tac_halo_bodies {
    void *self;
    size_t size;                                     /* of what is known of a body, bytes */
    int32_t (*body_of)(const void *self, tac_lid v); /* -1: of none */
    void (*pack)(const void *self, int32_t body, void *known);
    void (*unpack)(void *self, int32_t body, int32_t owner, const void *known);
};

/* Neighbours. Sends what is known of own bodies to the ranks that have ghosts of them, and unpacks what comes. */
void tac_halo_share_bodies(struct tac_halo *halo, int tag, const struct tac_halo_bodies *bodies);

#endif
