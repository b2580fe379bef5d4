/* roots.h: sets that are joined (union-find). parent[v] is v where v is a root. The root of a set is its lowest member,
 * so it depends on the sets alone and not on the order in which they were joined.
 */
#ifndef TACTUS_BASE_ROOTS_H
#define TACTUS_BASE_ROOTS_H

#include <tactus/base.h>

/* Local. Returns the root of v's set, and halves the way there. */
static inline tac_lid tac_root(tac_lid *parent, tac_lid v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

/* Local. Joins the sets of a and b. */
static inline void tac_root_join(tac_lid *parent, tac_lid a, tac_lid b)
{
    a = tac_root(parent, a);
    b = tac_root(parent, b);
    parent[a > b ? a : b] = a < b ? a : b;
}

#endif
