/* rigid_motion.h: how rigid bodies move in the asynchronous integrator (docs/explanation/rigid.md).
 *
 * A body plans when its chord ends, and at the end of each instant at which something kicked one of its vertices. So
 * its plans follow from kicks alone, and not from what anybody looks at. All functions do nothing in a scene without
 * rigid bodies.
 */
#ifndef TACTUS_EVENTS_RIGID_RIGID_MOTION_H
#define TACTUS_EVENTS_RIGID_RIGID_MOTION_H

#include "base/four.h"
#include "events/sim.h"
#include "kds/queue.h"
#include <tactus/accum.h>

/* Local. Makes the bodies as the scene starts them, and their first plans. */
enum tac_err tac_rigid_create(struct tac_sim *sim);
void tac_rigid_destroy(struct tac_rigid *rigid);

/* Local. When the next chord ends; TAC_TIME_NEVER if there is none. */
static inline tac_time tac_rigid_next(const struct tac_rigid *rigid)
{
    return rigid->count > 0 ? tac_queue_next(rigid->ends) : TAC_TIME_NEVER;
}
/* Local. Kicks vertex i of a rigid body by the impulse j [N s] at t. Returns the work, J. */
double tac_rigid_kick(struct tac_sim *sim, tac_lid i, tac_time t, const double j[3]) __attribute__((cold));
/* Local. Gives body k (a place in sim->rigid) the impulse of torque l [N m s] at t. */
void tac_rigid_twist(struct tac_sim *sim, int32_t k, tac_time t, const double l[3]);
/* Local. Computes how body k turns at t, rad/s. */
void tac_rigid_spin(const struct tac_sim *sim, int32_t k, tac_time t, double w[3]);
/* Local. Gives the centres of all bodies the velocity dv [m/s] at t. */
void tac_rigid_pull(struct tac_sim *sim, tac_time t, const double dv[3]);
/* Local. Call it after all kicks of instant t, before its losses are booked. */
void tac_rigid_plan(struct tac_sim *sim, tac_time t);

/* Local. Save the state at the window's start, and return to it. */
void tac_rigid_begin(struct tac_sim *sim);
void tac_rigid_rollback(struct tac_rigid *rigid);
/* Local. Before a pass is accepted: fails if a body turned too fast in it. TAC_ERR_RUN, with the sentence. */
enum tac_err tac_rigid_error(struct tac_sim *sim);
/* Local. Keeps the velocities before the kicks of an instant. */
void tac_rigid_keep(struct tac_rigid *rigid);
/* Local. After motions were set: puts the ends of chords in order. */
void tac_rigid_order(struct tac_rigid *rigid);

/* Local. Adds the energies and momenta of sim->state.now to the sums; halfway through the kicks of that instant where
 * the velocities before them were kept. */
void tac_rigid_energy(const struct tac_sim *sim, struct tac_accum *kinetic, struct tac_accum *gravity,
                      struct tac_accum momentum[3], struct tac_accum angular[3]);
/* Local. Adds the kinetic energy after all kicks. */
void tac_rigid_kinetic(const struct tac_rigid *rigid, struct tac_accum *kinetic);

/* Local. Fills the poses at t of the rank's bodies, and returns their number. */
struct tac_pose;
size_t tac_rigid_poses(const struct tac_sim *sim, tac_time t, struct tac_pose *out);

#endif
