/* corners.h: declares the vertices of the elements in a rank's pieces, whose rows may be on other ranks. */
#ifndef TACTUS_PARTITION_CORNERS_H
#define TACTUS_PARTITION_CORNERS_H

#include "base/exchange.h"
#include "partition/part.h"

struct tac_corners {
    size_t count;
    tac_gid *id;              /* owned, (count) ascending: the vertices of our elements */
    int32_t *holder;          /* owned, (count): the rank that has the vertex' row */
    double *x;                /* owned, (count, 3), m */
    uint8_t *ever_free;       /* owned, (count) */
    struct tac_finder finder; /* owned: in id */
};

/* Collective. Gets the vertices. Start with {0}; free also after a failure. */
enum tac_err tac_corners_find(struct tac_ctx *ctx, const struct tac_pieces *pieces, struct tac_corners *out);
void tac_corners_free(struct tac_corners *corners);

#endif
