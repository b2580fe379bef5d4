/* changed_scene.h: a simulation whose scene changes in mid-run (scene/change.h).
 *
 * It is taken out, and put into a new one of the changed scene, as between a checkpoint and a restart; so a checkpoint
 * written afterwards goes on with the same bits.  What a checkpoint does not hold, and what the change itself does to
 * the state, is done here.
 *
 *     tac_change_begin(sim, &change);  tac_state_collect(sim, false, &state);
 *     tac_change_fit(sim, scene, motion, state);  tac_sim_destroy(&sim);
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
    double gravity[3]; /* m/s^2 */
    tac_time gravity_period;
    size_t present_count;
    struct tac_element_present *present; /* owned */
};

/* Collective. Of the old simulation. */
enum tac_err tac_change_begin(struct tac_sim *sim, struct tac_change *change);
/* Local. What the old one's checkpoint tells of friction that is no more, and of knots that are counted anew, goes. */
void tac_change_fit(const struct tac_sim *sim, const struct tac_scene *scene, const uint8_t *motion,
                    struct tac_checkpoint *state);
/* Collective. Into the new one, which has the same vertices on the same ranks.  motion: (motions) those that have new
 * paths; NULL: none.  What changed gravity gives or takes is booked as work.  Elements whose clocks change see the
 * motion from now on, as at the start. */
enum tac_err tac_change_end(struct tac_sim *sim, const uint8_t *motion, const struct tac_change *change);
/* Local. */
void tac_change_clear(struct tac_change *change);

#endif
