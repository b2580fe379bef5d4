/* patches.h: parts of a mesh that have hardly changed their shape, inside which no pair can touch.
 *
 * Most primitives whose boxes meet are neighbours in one mesh.  A patch is a block of some primitives with the blocks
 * around it.  Seen along its normal it is flat, and where its vertices are there is compared with where they were at
 * the start: if one linear map explains all of them but a small rest, no two points of the patch have come much nearer
 * than the map says, so that none of its pairs can come under its first layer, and a search leaves all of them out
 * (docs/reference/engine.md, Candidates).  This is judged for each block of the patch by itself: where it has bent or
 * was squeezed too much, the pairs with that block are looked at.
 */
#ifndef TACTUS_BROADPHASE_PATCHES_H
#define TACTUS_BROADPHASE_PATCHES_H

#include "broadphase/candidates.h"

/* What never changes of a patch.  The flat coordinates u of a vertex are those of its start position from `centre`
 * along the axes. */
struct tac_patch {
    double axis[2][3], centre[3];
    double inverse[3];        /* of the sum of u u^T over the vertices: xx, xy, yy; 1/m^2 */
    double margin;            /* for rounding, m */
    int32_t near, near_count; /* blocks whose pairs with its own it may prove, in near[]; none: it can prove nothing */
    int32_t vertex, vertex_count; /* in vertex[] */
    int32_t own;                  /* of these are its block's, and come first */
};

/* A block in a patch. */
struct tac_patch_near {
    float nearest;    /* least flat distance of its pairs with the patch' own block, m */
    float bump;       /* most that those were farther apart at the start than flat, m */
    uint8_t vertices; /* so many of the patch' first ones hold all of its own */
    uint8_t holds;    /* in the search under way: no such pair can touch */
};

/* Of one body. */
struct tac_patches {
    int32_t count;
    int32_t *of;                   /* owned, one per primitive of the body: its block */
    struct tac_patch *patch;       /* owned, (count): that around each block */
    int32_t *near;                 /* owned: blocks */
    struct tac_patch_near *beside; /* owned: the same, what is known of them */
    tac_lid *vertex;               /* owned */
    uint8_t *asked;                /* owned, (count): 1: in the search under way */
    double most;                   /* farthest first layer of a pair, m */
    double fraction;               /* of a pair's distance at the start, its first layer is no farther; or infinity */
};

/* If a map shrinks no length in a patch below lambda of itself: the least that is left between a pair of its own block
 * and a near one and the pair's first layer, m; also minus infinity, and what is no number.  With the flat distance,
 * the first layer grows along a straight line up to `most` and no farther: the ends of that line are the worst. */
static inline double tac_patch_room(const struct tac_patches *patches, const struct tac_patch_near *near, double lambda)
{
    const double nearest = (double)near->nearest, bump = (double)near->bump,
                 first = patches->fraction * (nearest + bump);
    if (!(first < patches->most))
        return lambda * nearest - patches->most;
    const double here = lambda * nearest - first,
                 far = lambda * (patches->most / patches->fraction - bump) - patches->most;
    return here < far ? here : far;
}

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
