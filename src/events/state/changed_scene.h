/* changed_scene.h: changes the scene of a simulation in mid-run (scene/change.h).
 *
 * The state is taken out of the simulation and put into a new one of the changed scene, as at a checkpoint and a
 * restart; so a run from a checkpoint that is written afterwards continues with the same bits. This file transfers what
 * a checkpoint does not hold, and applies what the change itself does to the state.
 *
 *     tac_change_begin(sim, &change);  tac_state_collect(sim, false, &state);
 *     tac_change_fit(&sim->scripts, scene, motion, state);  tac_sim_destroy(&sim);
 *     (the scene changes)
 *     tac_sim_create(...);  tac_state_restore(sim, state);
 *     tac_change_end(sim, motion, &change);  tac_change_clear(&change);
 */
#ifndef TACTUS_EVENTS_STATE_CHANGED_SCENE_H
#define TACTUS_EVENTS_STATE_CHANGED_SCENE_H

#include "events/state/state_transfer.h"

struct tac_change {
    tac_time kept_at; /* velocities before the kicks of this instant; -1: none */
    double *v_before; /* owned, (owned vertices, 3), m/s */
    struct tac_accum dissipated_ahead, damping_ahead, friction_ahead, work_ahead;
    struct tac_handed handed;
    double gravity[3]; /* m/s^2 */
    tac_time gravity_period;
    size_t present_count;
    struct tac_element_present *present; /* owned */
};

/* Collective. Keeps what a checkpoint of the old simulation does not hold. */
enum tac_err tac_change_begin(struct tac_sim *sim, struct tac_change *change);
/* Local. Removes from the old simulation's checkpoint the friction that the changed scene does not have, and restarts
 * the count of knots of the marked motions. */
void tac_change_fit(const struct tac_scripts *scripts, const struct tac_scene *scene, const uint8_t *motion,
                    struct tac_checkpoint *state);
/* Collective. Puts what was kept into the new simulation, which has the same vertices on the same ranks. motion:
 * (motions), 1 for those that have new paths; NULL: none. The energy that a change of gravity gives or takes is booked
 * as work. Elements whose clocks change start to observe the motion now, as at the start of a run. */
enum tac_err tac_change_end(struct tac_sim *sim, const uint8_t *motion, const struct tac_change *change);
/* Local. Frees what `change` owns. */
void tac_change_clear(struct tac_change *change);

#endif
