/* patches.h: finds parts of a mesh that have hardly changed their shape, so that no pair inside them can touch.
 *
 * Most primitives whose boxes meet are neighbours in one mesh.  A patch is a block of some primitives with the blocks
 * around it.  Its vertices are projected along its normal, and their flat positions are compared with those at the
 * start. If one linear map explains the change up to a small residual, two points of the patch cannot have come nearer
 * than the map and the residual allow. Then none of its pairs can come under its first layer, and a search omits all of
 * them (docs/reference/engine.md, Candidates).  This is tested for each block of the patch by itself: if it has bent or
 * was compressed too much, the pairs with that block are looked at.
 */
#ifndef TACTUS_BROADPHASE_PATCHES_H
#define TACTUS_BROADPHASE_PATCHES_H

#include "broadphase/candidates.h"

/* The constant data of a patch.  The flat coordinates u of a vertex are those of its start position from `centre`
 * along the axes. */
struct tac_patch {
    double axis[2][3], centre[3];
    double inverse[3];            /* of the sum of u u^T over the vertices: xx, xy, yy; 1/m^2 */
    double margin;                /* for rounding, m */
    int32_t near, near_count;     /* in near[]: blocks for whose pairs with its own block it may prove that they cannot
                                     touch; none: it proves nothing */
    int32_t vertex, vertex_count; /* in vertex[] */
    int32_t own;                  /* number of these that belong to its own block; they come first */
};

/* A block in a patch. */
struct tac_patch_near {
    float nearest;    /* least flat distance of its pairs with the patch' own block, m */
    float bump;       /* largest excess of their distance at the start over the flat distance, m */
    uint8_t vertices; /* the patch's first `vertices` vertices include all of this block */
    uint8_t holds;    /* 1: in the current search no such pair can touch */
};

/* The patches of one body. */
struct tac_patches {
    int32_t count;
    int32_t *of;                   /* owned, one per primitive of the body: its block */
    struct tac_patch *patch;       /* owned, (count): the patch around each block */
    int32_t *near;                 /* owned: blocks */
    struct tac_patch_near *beside; /* owned: data of the same blocks */
    tac_lid *vertex;               /* owned */
    uint8_t *asked;                /* owned, (count): 1: the patch was tested in the current search */
    double most;                   /* largest distance at which a pair's first layer begins, m */
    double fraction; /* a pair's first layer begins no farther than this times its distance at the start; or infinity */
};

/* Assume that a map shrinks every length in a patch at most to lambda of itself. Returns the least distance, m, that
 * then remains between a pair of its own block and a near one and the pair's first layer; it may be minus infinity or
 * not a number. The distance of the first layer grows linearly with the flat distance up to `most`, so the ends of that
 * line are the worst cases. */
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

/* Local. Makes the patches of body b from the start positions, in c->patches[b]. It stays NULL if patches are of no
 * use: for small bodies, and for bodies that are no surface. */
enum tac_err tac_patches_create(struct tac_view *view, struct tac_candidates *c, tac_lid b);
void tac_patches_destroy(struct tac_patches **patches);
/* Local. Forgets the results of tests; call it when the trajectory bounds have changed. */
void tac_patches_ask(struct tac_patches *patches);
/* Local. Is it certain that no primitive of block a can touch one of block b while the trajectory bounds hold, from
 * c->from_s to the end of the list? Adds the cost of the test to *cost, in tests of boxes. */
bool tac_patches_hold(const struct tac_candidates *c, const double *start, struct tac_patches *patches, int32_t a,
                      int32_t b, int64_t *cost);

/* The largest number of vertices of a patch. */
enum { TAC_PATCH_MOST = 96 };

#endif
