/* remote.h: what the files about primitives of other ranks share (docs/reference/ranks.md, Discovery).
 *
 * Every rank publishes a few boxes that hold its primitives while the trajectory bounds hold. The owner of a primitive
 * (by its lowest vertex) sends it to all ranks whose boxes it meets and which do not hold it themselves. Two whole
 * boxes of each rank go to all ranks; everything else is sent between near ranks, whose whole boxes meet.
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

/* Local. Nothing, and all that is in either of two. */
void tac_box_empty(struct tac_box *box);
void tac_box_merge(struct tac_box *box, const struct tac_box *other);
/* Local. The box in which a primitive stays while the trajectory bounds hold, with half of a contact's reach around it.
 */
void tac_remote_box(const struct tac_view *view, const struct tac_candidates *c, const struct tac_primitive *p,
                    struct tac_box *box);

/* ---- remote_groups.c ---- */
/* Local. Sorts this rank's primitives that can move into c->remote.boxes groups by where they are: c->remote.group. */
enum tac_err tac_remote_group(struct tac_view *view, struct tac_candidates *c);

/* ---- remote_boxes.c: the published boxes ---- */
/* Local. Does the box meet one that the near rank number `near` has published? */
bool tac_remote_meets(struct tac_candidates *c, size_t near, const struct tac_box *box);
/* Local. This rank's boxes, c->remote.mine, from the trajectory bounds; own (primitives): their boxes. */
enum tac_err tac_remote_lay(struct tac_view *view, struct tac_candidates *c, struct tac_box *own);
/* Collective, with the code of what was done before: the boxes go to the ranks that are near (c->remote.near). */
enum tac_err tac_remote_publish(struct tac_view *view, struct tac_candidates *c, enum tac_err err);
/* Collective. The box of a group of some rank's primitives has grown. */
struct tac_grown_box {
    int64_t rank, group;
    struct tac_box box;
};
/* Collective, with the code of what was done before. This rank's boxes grow to hold those primitives that changed
 * (count; with their boxes); all ranks hear of it. *grown: what grew anywhere, owned by the caller. */
enum tac_err tac_remote_grow(struct tac_view *view, struct tac_candidates *c, enum tac_err err, size_t count,
                             const int32_t *changed, const struct tac_box *box, struct tac_grown_box **grown,
                             size_t *grown_count);

/* ---- remote_grown.c ---- */
/* Local. Bytes of what a rank tells of its boxes that grow. */
size_t tac_remote_growth_bytes(const struct tac_ctx *ctx);
/* Collective, with the code of what was done before. growth: room for those bytes of each rank; mine (count): this
 * rank's boxes that have grown. *grown: those of all ranks, by ascending rank, owned by the caller, where there are
 * some. */
enum tac_err tac_remote_tell_grown(struct tac_ctx *ctx, enum tac_err err, void *growth, int count,
                                   const struct tac_grown_box *mine, struct tac_grown_box **grown, size_t *grown_count);

/* ---- remote.c: primitives on their way ---- */
/* Neighbours, with the code of what was done before; the code may be of this rank only, and the next agreement tells
 * all. Those that leavers changed (count; with their boxes) and those that the grown boxes meet go to the ranks whose
 * boxes they meet. What came is in c->remote, its bounds are known, and vertices whose bounds were other ones here are
 * leavers (tac_candidates_leave()). *added: primitives that are new. */
enum tac_err tac_remote_send_changed(struct tac_view *view, struct tac_candidates *c, enum tac_err err, size_t count,
                                     const int32_t *changed, const struct tac_box *box,
                                     const struct tac_grown_box *grown, size_t grown_count, size_t *added);

/* ---- remote_arrange.c ---- */
/* Local. Sorts the remote primitives by body, makes a tree for each body, and has one primitive stand for each feature
 * that none of ours stands for. */
enum tac_err tac_remote_arrange(struct tac_view *view, struct tac_candidates *c);
/* Local. Where a primitive is among the first `count` ones, which are sorted; -1: nowhere. */
int64_t tac_remote_find(const struct tac_candidates *c, size_t count, const struct tac_primitive *p);

#endif
