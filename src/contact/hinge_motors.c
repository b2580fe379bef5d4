/* hinge_motors.c: where the motors of hinges are, and the angle that they look at. */
#include "contact/hinge_motors.h"
#include "contact/joint_pairs.h"
#include "scene/period.h"
#include <math.h>

double tac_motor_angle(const double axis[3], const double a[3], const double b[3])
{
    double cross[3];
    tac_cross(cross, b, a);
    return tac_atan2(tac_dot(axis, cross), tac_dot(a, b) - tac_dot(axis, a) * tac_dot(axis, b));
}

double tac_motor_unwind(double angle, double last)
{
    const double turn = 2 * TAC_PI;
    return angle + turn * floor((last - angle) / turn + .5);
}

enum tac_err tac_motor_make(struct tac_ctx *ctx, const struct tac_scene *scene, tac_lid joint, struct tac_motor *motor)
{
    enum tac_err err;
    const struct tac_motor_settings *m = &scene->settings->joint[joint].motor;
    motor->joint = joint;
    motor->point[0] = tac_joint_point(scene, joint, 0, 0);
    motor->point[1] = tac_joint_point(scene, joint, 0, 1);
    motor->point[2] = tac_joint_point(scene, joint, 0, 2);
    motor->point[3] = tac_joint_point(scene, joint, 1, 2);
    TAC_TRY(tac_alloc(ctx, (size_t)m->knot_count, sizeof *motor->knot, &motor->knot));
    for (tac_lid k = 0; k < m->knot_count; k++)
        motor->knot[k] = tac_scene_quanta(scene, m->knot_t_s[k]);
done:
    return err;
}
