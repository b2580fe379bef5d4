/* limits.h: lists the limits about which a rank decides: first those of edges, then those of triangles, then those of
 * joints.
 *
 *     struct tac_limit limit = {0};
 *     while (tac_limits_next(model, &limit)) ... limit.type, limit.v, limit.key
 */
#ifndef TACTUS_CONTACT_LIMITS_H
#define TACTUS_CONTACT_LIMITS_H

#include "contact/model.h"

struct tac_limit {
    enum tac_pair_type type;
    tac_lid a, b;    /* its primitives (global ids), as in the key */
    tac_lid v[4];    /* local, in the pair's order: an edge's lower id first; -1: unused */
    uint64_t key;    /* tac_pair_key(type, a, b) */
    tac_lid element; /* position of the listing: twice the edge plus which of its two limits, then the triangle, then
                        the pair of all joints */
    bool triangles, joints;
};

/* Local. Sets *limit to the next limit about which this rank decides. Returns false if there is none. */
bool tac_limits_next(const struct tac_model *model, struct tac_limit *limit);

#endif
