/* state_transfer.h: takes the whole state out of a simulation and puts it into another one, for checkpoints and when
 * vertices move to other ranks.
 *
 * The collected state depends only on the scene and the time, not on which rank held which vertex. A simulation that is
 * made from it, on any number of ranks, continues with the same bits. */
#ifndef TACTUS_EVENTS_STATE_STATE_TRANSFER_H
#define TACTUS_EVENTS_STATE_STATE_TRANSFER_H

#include "events/sim.h"
#include "state/snapshot.h"

/* Collective. Collects the state at sim->state.now; each rank gives what it owns. The caller fills in frames, wall time
 * and restarts. write: the state will only be written, before the simulation changes, so vertices are not copied.
 */
enum tac_err tac_state_collect(struct tac_sim *sim, bool write, struct tac_checkpoint **out);

/* Collective. Puts a state into a new simulation.  Rows may lie on any rank; they are sent to the owners of their
 * vertices. */
enum tac_err tac_state_restore(struct tac_sim *sim, const struct tac_checkpoint *state);

/* ---- element_state.c: the memory of elements ---- */
/* Local. Collects the memory of the elements whose lowest vertex this rank owns. */
enum tac_err tac_elements_collect(struct tac_sim *sim, struct tac_checkpoint *state);
/* Collective. Puts it into a new simulation, on every rank that evaluates the element. owner: kind by kind
 * (count, nodes), of the rows' vertices; where there is no vertex, as of the first one. */
enum tac_err tac_elements_restore(struct tac_sim *sim, const struct tac_checkpoint *state, const int32_t *owner);

/* What an element would remember if it ticked now. An element whose clock changes continues with this, as at the start.
 */
struct tac_element_present {
    int64_t kind;
    tac_gid id;
    tac_time period;
    double value[TAC_ELEMENT_MEMORY];
};
/* Local. Lists this for all elements here that remember their last tick, in ascending order, in *out (owned by the
 * caller). The positions of ghosts must be those of sim->state.now. */
enum tac_err tac_elements_present(struct tac_sim *sim, struct tac_element_present **out, size_t *count);
/* Local. Gives the values of the list to the elements whose period differs from the one in the list. */
enum tac_err tac_elements_retime(struct tac_sim *sim, const struct tac_element_present *present, size_t count);

/* ---- friction_state.c ---- */
/* Local. Collects states for a checkpoint: rows of the pairs about which this rank decides. */
enum tac_err tac_friction_collect(struct tac_sim *sim, struct tac_checkpoint *c);
/* Collective. Sends a checkpoint's states to the ranks on which the pairs are active; the pairs must have been restored
 * before. `owner`: (rows, 4), the ranks of the rows' vertices. */
enum tac_err tac_friction_restore_state(struct tac_sim *sim, const struct tac_checkpoint *c, const int32_t *owner);

/* Local. Removes the states of pairs that have no friction in this scene, of which only the bodies are read. */
void tac_friction_drop(const struct tac_scene *scene, struct tac_checkpoint *c);

/* Collective. Adds up the counters of all ranks. */
enum tac_err tac_state_counters(const struct tac_sim *sim, struct tac_counters *sum);

/* Local. Does a vertex of this rank take part in the pair of these vertices (global ids, -1 where unused)? On one rank
 * this is always true. */
bool tac_state_concerns(const struct tac_sim *sim, const tac_gid vertex[4]);

#endif
