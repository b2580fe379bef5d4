/* remote.h: declares functions that the files about primitives of other ranks share (docs/reference/ranks.md,
 * Discovery).
 *
 * Every rank publishes a few boxes that contain its primitives while the trajectory bounds hold. The owner of a
 * primitive (which is the owner of its lowest vertex) sends it to all ranks whose boxes it meets and which do not have
 * it. Two boxes around all primitives of a rank, its *whole* boxes, go to all ranks; everything else is sent only
 * between near ranks, whose whole boxes meet.
 */
#ifndef TACTUS_BROADPHASE_REMOTE_H
#define TACTUS_BROADPHASE_REMOTE_H

#include "broadphase/candidates.h"

static inline bool tac_boxes_meet(const struct tac_box *a, const struct tac_box *b)
{
    for (int k = 0; k < 3; k++)
        if (!(a->lo[k] <= b->hi[k] && b->lo[k] <= a->hi[k]))
            return false;
    return true;
}

/* Local. Make a box empty; enlarge it so that it contains another one. */
void tac_box_empty(struct tac_box *box);
void tac_box_merge(struct tac_box *box, const struct tac_box *other);
/* Local. Computes the box in which a primitive stays while the trajectory bounds hold, enlarged by half of a contact's
 * reach.
 */
void tac_remote_box(const struct tac_view *view, const struct tac_candidates *c, const struct tac_primitive *p,
                    struct tac_box *box);

/* ---- remote_groups.c ---- */
/* Local. Sorts this rank's primitives that can move into c->remote.boxes groups by position, in c->remote.group. */
enum tac_err tac_remote_group(struct tac_view *view, struct tac_candidates *c);

/* ---- remote_boxes.c: the published boxes ---- */
/* Local. Returns whether the box overlaps one that the near rank number `near` (in c->remote.near) has published. */
bool tac_remote_meets(struct tac_candidates *c, size_t near, const struct tac_box *box);
/* Local. Computes this rank's boxes, c->remote.mine, from the trajectory bounds; fills own (primitives) with the boxes
 * of the primitives. */
enum tac_err tac_remote_lay(struct tac_view *view, struct tac_candidates *c, struct tac_box *own);
/* Collective; err: the caller's error code so far. Finds the near ranks (c->remote.near) and sends the boxes to them.
 */
enum tac_err tac_remote_publish(struct tac_view *view, struct tac_candidates *c, enum tac_err err);
/* A box, around a group of some rank's primitives, that has grown. */
struct tac_grown_box {
    int64_t rank, group;
    struct tac_box box;
};
/* Collective; err: the caller's error code so far. Enlarges this rank's boxes so that they contain the primitives that
 * changed (count; with their boxes), and sends the grown boxes to all ranks. *grown: the boxes of all ranks that have
 * grown, owned by the caller. */
enum tac_err tac_remote_grow(struct tac_view *view, struct tac_candidates *c, enum tac_err err, size_t count,
                             const int32_t *changed, const struct tac_box *box, struct tac_grown_box **grown,
                             size_t *grown_count);

/* ---- remote_grown.c ---- */
/* Local. Returns the size, in bytes, of a rank's message about its boxes that grow. */
size_t tac_remote_growth_bytes(const struct tac_ctx *ctx);
/* Collective; err: the caller's error code so far. growth: room for such a message of each rank; mine (count): this
 * rank's boxes that have grown. *grown: those of all ranks, by ascending rank, owned by the caller; it is not set if
 * there are none. */
enum tac_err tac_remote_tell_grown(struct tac_ctx *ctx, enum tac_err err, void *growth, int count,
                                   const struct tac_grown_box *mine, struct tac_grown_box **grown, size_t *grown_count);

/* ---- remote.c: sending primitives ---- */
/* Neighbours; err: the caller's error code so far. The returned code may be that of this rank only, until the next
 * agreement of all ranks. Sends the primitives that leavers changed (count; with their boxes), and those that the grown
 * boxes meet, to the ranks whose boxes they meet. Received primitives are in c->remote, with their trajectory bounds;
 * vertices that had other bounds on this rank become leavers (tac_candidates_leave()). *added: number of new
 * primitives. */
enum tac_err tac_remote_send_changed(struct tac_view *view, struct tac_candidates *c, enum tac_err err, size_t count,
                                     const int32_t *changed, const struct tac_box *box,
                                     const struct tac_grown_box *grown, size_t grown_count, size_t *added);

/* ---- remote_arrange.c ---- */
/* Local. Sorts the remote primitives by body, makes a tree for each body, and selects one primitive that stands for
 * each feature for which no primitive of this rank stands. */
enum tac_err tac_remote_arrange(struct tac_view *view, struct tac_candidates *c);
/* Local. Returns the place of a primitive among the first `count` remote ones, which are sorted, or -1. */
int64_t tac_remote_find(const struct tac_candidates *c, size_t count, const struct tac_primitive *p);

#endif
