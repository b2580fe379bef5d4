/* motor_ticks.h: motors of joints (docs/explanation/joints.md, Motors). They tick like loads: the last kicks of an
 * instant. All owners of a motor's bodies compute its torque from the same positions. All functions do nothing in a
 * scene without motors. */
#ifndef TACTUS_EVENTS_RIGID_MOTOR_TICKS_H
#define TACTUS_EVENTS_RIGID_MOTOR_TICKS_H

#include "events/sim.h"

/* Local. Makes the motors as the scene starts them; the rigid bodies are there. */
enum tac_err tac_motors_create(struct tac_sim *sim);
void tac_motors_destroy(struct tac_motors *motors);

/* Local. Call it before an instant's first kick. */
void tac_motors_before(struct tac_sim *sim, tac_time t);
/* Local. Ticks the motors that are due, and books their works as energy that the scene puts in. */
void tac_motors_tick(struct tac_sim *sim, tac_time t);

/* Local. Save the state at the window's start, and return to it. */
void tac_motors_begin(struct tac_motors *motors);
void tac_motors_restore(struct tac_motors *motors);

#endif
