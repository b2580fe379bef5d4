/* patches.h: parts of a mesh that have hardly changed their shape, inside which no pair can touch.
 *
 * Most primitives whose boxes meet are neighbours in one mesh.  A patch is a block of some primitives with the blocks
 * around it.  Seen along its normal it is flat, and where its vertices are there is compared with where they were at
 * the start: if one linear map explains all of them but a small rest, no two points of the patch have come much nearer
 * than the map says, so that none of its pairs can come under its first layer, and a search leaves all of them out
 * (docs/engine.md, Candidates).  A patch that bends or is squeezed too much fails, and its pairs are looked at.
 */
#ifndef TACTUS_BROADPHASE_PATCHES_H
#define TACTUS_BROADPHASE_PATCHES_H

#include "broadphase/candidates.h"

/* What never changes of a patch.  The flat coordinates u of a vertex are those of its start position from `centre`
 * along the axes. */
struct tac_patch {
    double axis[2][3], centre[3];
    double inverse[3]; /* of the sum of u u^T over the vertices: xx, xy, yy; 1/m^2 */
    /* Of the pairs that it proves.  One whose flat distance is f has its first layer at no more than `first`, if f is
     * `nearest`, and from there on at most as the straight line to `most` at the distance `far`, which no pair passes.
     */
    double nearest, first, far, most;
    double margin;                /* for rounding, m */
    int32_t near, near_count;     /* blocks whose pairs with its own it proves, in near[]; none: it can prove nothing */
    int32_t vertex, vertex_count; /* in vertex[] */
};

/* If a map shrinks no length below lambda of itself: the least that is left between a pair and its first layer, m. */
static inline double tac_patch_room(const struct tac_patch *patch, double lambda)
{
    const double near = lambda * patch->nearest - patch->first, far = lambda * patch->far - patch->most;
    return near < far ? near : far;
}

/* Of one body. */
struct tac_patches {
    int32_t count;
    int32_t *of;             /* owned, one per primitive of the body: its block */
    struct tac_patch *patch; /* owned, (count): that around each block */
    int32_t *near;           /* owned: blocks, ascending in each patch */
    tac_lid *vertex;         /* owned */
    uint8_t *state;          /* owned, (count): in the search under way, enum tac_patch_state */
};

enum tac_patch_state { TAC_PATCH_UNKNOWN, TAC_PATCH_HOLDS, TAC_PATCH_FAILS };

/* Local. The patches of body b, from the start positions, into c->patches[b], which stays NULL where they serve
 * nothing: in small bodies and those that are no surface. */
enum tac_err tac_patches_create(struct tac_view *view, struct tac_candidates *c, tac_lid b);
void tac_patches_destroy(struct tac_patches **patches);
/* Local. Asks anew: the trajectory bounds have changed. */
void tac_patches_ask(struct tac_patches *patches);
/* Local. Is there no pair of a primitive of block a and one of block b that can touch while the trajectory bounds hold,
 * from c->from_s to the end of the list?  *cost grows by what asking took, in tests of boxes. */
bool tac_patches_hold(const struct tac_candidates *c, const double *start, struct tac_patches *patches, int32_t a,
                      int32_t b, int64_t *cost);

/* Most vertices of a patch. */
enum { TAC_PATCH_MOST = 96 };

#endif
