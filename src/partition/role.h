/* role.h: declares the role that a vertex of the local scene has on this rank.
 *
 * Each local vertex has one role from the start of a run (or the arrival of the ghost) to its end.  It says who
 * computes the motion of the vertex.  `owned` of part.h says something else: which rows the rank stores and writes; the
 * owner of an immovable vertex has no more to do for it than any other rank.
 */
#ifndef TACTUS_PARTITION_ROLE_H
#define TACTUS_PARTITION_ROLE_H

#include <stdbool.h>

enum tac_role {
    TAC_ROLE_OWNED,     /* this rank's: forces move it */
    TAC_ROLE_SCRIPTED,  /* this rank's: the scene prescribes its motion at some time, and it may be free at others */
    TAC_ROLE_GHOST,     /* another rank's: it can move, and its owner sends its motion */
    TAC_ROLE_IMMOVABLE, /* it never moves, whichever rank owns it: nothing is ever sent about it */
};

/* Local. Returns the role of a vertex.  ever_free: forces move it at some time; scripted: some motion of the scene
 * does. */
static inline enum tac_role tac_role_of(bool owned, bool ever_free, bool scripted)
{
    if (!ever_free && !scripted)
        return TAC_ROLE_IMMOVABLE;
    if (!owned)
        return TAC_ROLE_GHOST;
    return scripted ? TAC_ROLE_SCRIPTED : TAC_ROLE_OWNED;
}

#endif
