/* dissect.h: an order in which to eliminate the unknowns of bodies that share columns, by nested dissection (George
 * 1973).
 *
 * The bodies are cut by separators: a part of them whose removal leaves two groups without a common column. Each group
 * is cut again, until it is small. All bodies of a group are eliminated before those of its separator, so the factor of
 * a matrix with an entry for each pair of bodies that share a column stays sparse. The separators are levels of a
 * breadth-first search from one end of the group. The order is a function of the problem alone.
 */
#ifndef TACTUS_IMPACT_BOUNDED_DISSECT_H
#define TACTUS_IMPACT_BOUNDED_DISSECT_H

#include "impact/bounded/bounded.h"

/* A separator, or a group that is not cut: the bodies at the places [begin, end) of the order. */
struct tac_separator {
    int32_t begin, end;
    int32_t parent; /* the part that separates this one from others; -1: none */
};

struct tac_dissection {
    size_t count, body_capacity, part_capacity, near_capacity;
    int32_t *order;             /* owned, (bodies) */
    int32_t *place;             /* owned, (bodies): the reverse */
    struct tac_separator *part; /* owned, (count): each behind all parts that it separates */
    size_t *begin;              /* owned, (bodies + 1): in `near` */
    int32_t *near;              /* owned: the bodies that share a column with each */

    /* work, owned, (bodies) */
    int32_t *group, *level, *queue;
};

/* Local. The columns of the problem have been listed, tac_bounded_list(). */
enum tac_err tac_dissect(struct tac_ctx *ctx, const struct tac_bounded *p, struct tac_dissection *d);
void tac_dissection_free(struct tac_dissection *d);

#endif
