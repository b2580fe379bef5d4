/* still.h: the contact impulses of vertices that never move (docs/reference/ranks.md, Vertices that never move).
 *
 * Such a vertex takes no kick, so nobody waits for its owner: whoever evaluates a pair adds the pair's impulses up for
 * it. Several ranks may do so for one vertex, so the sum may not depend on its order.  Each impulse is rounded to a
 * whole multiple of a unit, which the scene alone gives, and sums of those are exact: whole multiples of a coarse unit
 * in state.impulse, and what is left, in a unit 2^30 times finer, in `rest`.  Both are plain numbers; a vertex may take
 * 2^17 m/s times the mass of all that moves before a sum is rounded, and 2^23 ticks in one window.
 *
 *     tac_still_add(sim, v, j);          at a tick
 *     tac_still_begin(sim);  tac_still_restore(sim);      a window's start, and back to it
 *     tac_still_gather(sim);             before sums are read: those of other ranks' vertices go to their owners
 */
#ifndef TACTUS_EVENTS_RANKS_STILL_H
#define TACTUS_EVENTS_RANKS_STILL_H

#include "base/four.h"
#include "events/sim.h"

/* Local. */
enum tac_err tac_still_create(struct tac_sim *sim);
void tac_still_destroy(struct tac_sim *sim);
/* Collective. The units, from the masses of the scene. */
enum tac_err tac_still_choose(struct tac_sim *sim);
/* Local. The vertices that never move and have active pairs, anew: all of this rank's if `all`. */
enum tac_err tac_still_list(struct tac_sim *sim, bool all);
/* Local. Marks the window's start; back to it. */
void tac_still_begin(struct tac_sim *sim);
void tac_still_restore(struct tac_sim *sim);
/* Local. Is there a sum for a vertex of another rank? */
bool tac_still_owes(const struct tac_sim *sim, tac_lid v);
/* Collective. All sums are with the owners of their vertices, and are written in one way alone. */
enum tac_err tac_still_gather(struct tac_sim *sim);

/* Adds impulse j [N s] to vertex v. */
TAC_FOUR_INLINE void tac_still_add(struct tac_sim *sim, tac_lid v, tac_four j)
{
    const double c = sim->still.round[0], f = sim->still.round[1];
    const tac_four coarse = {c, c, c, c}, fine = {f, f, f, f};
    const tac_four whole = (j + coarse) - coarse, rest = ((j - whole) + fine) - fine;
    double *sum = &sim->state.impulse[3 * (size_t)v], *low = &sim->still.rest[3 * (size_t)v];
    for (int k = 0; k < 3; k++) {
        sum[k] += whole[k];
        low[k] += rest[k];
    }
}

#endif
