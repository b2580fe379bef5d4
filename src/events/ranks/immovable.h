/* immovable.h: the contact impulses of vertices that never move (docs/reference/ranks.md, Vertices that never move).
 *
 * No kick changes such a vertex, so no rank waits for its owner: the rank that evaluates a pair adds up the pair's
 * impulses for it. Several ranks may do this for one vertex, so the sum must not depend on the order.  Each impulse is
 * rounded to a whole multiple of a unit, which the scene alone gives, and sums of those are exact: whole multiples of a
 * coarse unit in state.impulse, and what is left, in a unit 2^30 times finer, in `rest`.  Both are plain numbers; a
 * vertex may take 2^17 m/s times the mass of all that moves before a sum is rounded, and 2^23 ticks in one window.
 *
 *     tac_immovable_add(&sim->immovable, &sim->state, v, j);          at a tick
 *     tac_immovable_begin(&sim->immovable, &sim->state);  tac_immovable_restore(&sim->immovable, &sim->state);      at
 * a window's start, and at a rollback tac_immovable_gather(sim);             before sums are read: sends those of other
 * ranks' vertices to their owners
 */
#ifndef TACTUS_EVENTS_RANKS_IMMOVABLE_H
#define TACTUS_EVENTS_RANKS_IMMOVABLE_H

#include "base/four.h"
#include "events/sim.h"

/* Local. */
enum tac_err tac_immovable_create(struct tac_ctx *ctx, struct tac_immovable *immovable,
                                  const struct tac_vertex_state *state);
void tac_immovable_destroy(struct tac_immovable *immovable);
/* Collective. Chooses the units from the masses of the scene. */
enum tac_err tac_immovable_choose(struct tac_sim *sim);
/* Local. Lists again the vertices that never move and have active pairs; if `all`, also all those that this rank owns.
 */
enum tac_err tac_immovable_list(struct tac_sim *sim, bool all);
/* Local. Save the sums at the window's start, and restore them. */
void tac_immovable_begin(struct tac_immovable *immovable, const struct tac_vertex_state *state);
void tac_immovable_restore(struct tac_immovable *immovable, struct tac_vertex_state *state);
/* Local. Does this rank have a sum for v, a vertex of another rank? */
bool tac_immovable_owes(const struct tac_sim *sim, tac_lid v);
/* Collective. Sends all sums to the owners of their vertices, and brings each into the one form in which `rest` is less
 * than a coarse unit. */
enum tac_err tac_immovable_gather(struct tac_sim *sim);

/* Adds impulse j [N s] to vertex v. */
TAC_FOUR_INLINE void tac_immovable_add(struct tac_immovable *immovable, struct tac_vertex_state *state, tac_lid v,
                                       tac_four j)
{
    const double c = immovable->round[0], f = immovable->round[1];
    const tac_four coarse = {c, c, c, c}, fine = {f, f, f, f};
    const tac_four whole = (j + coarse) - coarse, rest = ((j - whole) + fine) - fine;
    double *sum = &state->impulse[3 * (size_t)v], *low = &immovable->rest[3 * (size_t)v];
    for (int k = 0; k < 3; k++) {
        sum[k] += whole[k];
        low[k] += rest[k];
    }
}

#endif
