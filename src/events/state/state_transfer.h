/* state_transfer.h: the whole state of a simulation, out of it and into another one: checkpoints and migration.
 *
 * What is collected depends on the scene and the time alone, not on who held what: a simulation made from it, on any
 * number of ranks, goes on with the same bits. */
#ifndef TACTUS_EVENTS_STATE_STATE_TRANSFER_H
#define TACTUS_EVENTS_STATE_STATE_TRANSFER_H

#include "events/sim.h"
#include "state/snapshot.h"

/* Collective. The state at sim->state.now; this rank gives what it owns. Frames, wall time and restarts are left to the
 * caller.  write: it is only written, before anything of the simulation changes, so vertices are not copied.
 */
enum tac_err tac_state_collect(struct tac_sim *sim, bool write, struct tac_checkpoint **out);

/* Collective. Puts a state into a new simulation.  Rows may lie on any rank; they are sent to the owners of their
 * vertices. */
enum tac_err tac_state_restore(struct tac_sim *sim, const struct tac_checkpoint *state);

/* ---- element_state.c: what elements remember ---- */
/* Local. Of those whose lowest vertex is ours. */
enum tac_err tac_elements_collect(struct tac_sim *sim, struct tac_checkpoint *state);
/* Collective. Puts it into a new simulation, on every rank that evaluates the element. owner: kind by kind
 * (count, nodes), of the rows' vertices; where there is no vertex, as of the first one. */
enum tac_err tac_elements_restore(struct tac_sim *sim, const struct tac_checkpoint *state, const int32_t *owner);

/* What an element would remember of now: where its clock changes, it goes on with that, as at the start. */
struct tac_glance {
    int64_t kind;
    tac_gid id;
    tac_time period;
    double value[TAC_ELEMENT_MEMORY];
};
/* Local. Of all elements here that remember a last tick, ascending, in *out (owned by the caller).  Ghosts must be
 * where they are now. */
enum tac_err tac_elements_glance(struct tac_sim *sim, struct tac_glance **out, size_t *count);
/* Local. Elements whose period is another one than in the list. */
enum tac_err tac_elements_retime(struct tac_sim *sim, const struct tac_glance *glance, size_t count);

/* ---- friction_state.c ---- */
/* Local. This rank's states, for a checkpoint: rows of pairs that this rank decides. */
enum tac_err tac_friction_collect(struct tac_sim *sim, struct tac_checkpoint *c);
/* Collective. Deals a checkpoint's states out to those that watch the pairs, which were restored before. `owner`:
 * (rows, 4), of the rows' vertices. */
enum tac_err tac_friction_restore_state(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner);

/* Local. Takes out the states of pairs that do not rub in this scene (of which the bodies are enough). */
void tac_friction_drop(const struct tac_scene *scene, struct tac_checkpoint *c);

/* Collective. Counters of all ranks. */
enum tac_err tac_state_counters(const struct tac_sim *sim, struct tac_counters *sum);

/* Local. Has a vertex of this rank a part in the pair of these vertices (global ids, -1 where unused)?  On one rank
 * each pair has. */
bool tac_state_concerns(const struct tac_sim *sim, const tac_gid vertex[4]);

#endif
