/* hinge_motors.h: what the motors of hinges have in common in all integrators (docs/explanation/joints.md, Motors):
 * where they are, and the angle that they look at. */
#ifndef TACTUS_CONTACT_HINGE_MOTORS_H
#define TACTUS_CONTACT_HINGE_MOTORS_H

#include "state/motors.h"
#include <tactus/math.h>
#include <tactus/scene.h>

/* Local. Fills the joint, the points and the knots of a motor, whose knots the caller frees. */
enum tac_err tac_motor_make(struct tac_ctx *ctx, const struct tac_scene *scene, tac_lid joint, struct tac_motor *motor);

/* Local. Returns the angle about a unit vector from arm b to arm a, between -pi and pi. */
double tac_motor_angle(const double axis[3], const double a[3], const double b[3]);
/* Local. Returns the angle next to `last` that is `angle` but for whole turns. */
double tac_motor_unwind(double angle, double last);

/* Returns the angle of a joint at which the points beside its axis meet, rad. */
static inline double tac_motor_middle(const struct tac_joint *joint)
{
    return joint->limited ? .5 * (joint->limit[0] + joint->limit[1]) * (TAC_PI / 180) : 0;
}

static inline double tac_motor_clamp(double value, double most)
{
    return value > most ? most : value < -most ? -most : value;
}

#endif
