/* patches_build.h: declares the data with which the patches of a body are made, in two steps: first its blocks, then
 * the patches around them.
 */
#ifndef TACTUS_BROADPHASE_PATCHES_BUILD_H
#define TACTUS_BROADPHASE_PATCHES_BUILD_H

#include "broadphase/patches.h"

enum { TAC_PATCH_BLOCK = 4 }; /* largest number of primitives of a block */

/* A block beside another one, and the least flat distance, m, of a primitive of the one from a primitive of the other.
 */
struct tac_patch_ring {
    int32_t block;
    double nearest;
};

struct tac_patches_build {
    struct tac_view *view;
    const struct tac_candidates *c;
    const struct tac_primitive *primitive; /* of the body */
    struct tac_patches *out;
    tac_lid body;
    int32_t primitive_count;
    int32_t *begin, *member; /* owned: primitives by block */
    int32_t (*meeting)[2];   /* owned: blocks whose boxes meet */
    size_t meeting_count, meeting_capacity;
    int32_t *beside_begin, *beside; /* owned: the same by block, itself first */
    int32_t *taken;                 /* owned, (V): 1 + the last patch that contains the vertex */
    struct tac_patch_ring *ring;    /* owned: those beside the block of the current patch */
    size_t ring_capacity;
    size_t near_count, near_capacity, known_capacity, vertex_count, vertex_capacity;
};

/* Local. Sorts the primitives of a body into blocks, b->out->of[], and finds for each block those whose boxes meet its
 * own: begin, member, beside_begin, beside. */
enum tac_err tac_patches_blocks(struct tac_patches_build *b);

#endif
