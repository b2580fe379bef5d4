/* islands.h: groups of rows that share bodies, directly or by other rows of the group. */
#ifndef TACTUS_IMPACT_ISLANDS_H
#define TACTUS_IMPACT_ISLANDS_H

#include "impact/row.h"

struct tac_islands {
    size_t count, capacity, row_capacity, body_capacity;
    uint32_t *order; /* owned: the rows, island by island; in each of them, and the islands by their first rows, they
                        are in the order in which they were given */
    size_t *begin;   /* owned, (count + 1): where the islands begin in `order` */
    int32_t *parent, *number; /* owned, (bodies): work */
};

/* Local. Makes the islands of n rows, row[list[k]]. A body that several rows name links them; what has no unknowns
 * links nothing. */
enum tac_err tac_islands_make(struct tac_ctx *ctx, struct tac_islands *islands, size_t bodies,
                              const struct tac_impact_row *row, const uint32_t *list, size_t n);
void tac_islands_free(struct tac_islands *islands);

#endif
