/* motor_ticks.c: ticks the motors of joints. */
#include "events/rigid/motor_ticks.h"
#include "contact/hinge_motors.h"
#include "events/rigid/rigid_motion.h"
#include "scene/period.h"
#include <stdlib.h>

/* By what part a motor of a given speed mends in one tick what it lacks, if the joint does not hinder it; and which
 * part of that torque stays, so that it carries a weight without lagging behind. */
static const double MENDED = .25, KEPT = 1 / 64.;

/* ---- torque ---- */

/* Computes the axis of a joint, a unit vector, and the angle by which its first body has turned about it against the
 * second one, between -pi and pi, counted from `middle`. */
static double find_angle(const struct tac_sim *sim, const struct tac_motor *motor, tac_time t, double axis[3])
{
    double x[TAC_MOTOR_POINTS][3], a[3], b[3];
    for (int i = 0; i < TAC_MOTOR_POINTS; i++)
        tac_position(&sim->state, &sim->scripts, motor->point[i], t, x[i]);
    tac_sub(axis, x[1], x[0]);
    const double length = sqrt(tac_dot(axis, axis));
    for (int k = 0; k < 3; k++)
        axis[k] /= length;
    tac_sub(a, x[2], x[0]);
    tac_sub(b, x[3], x[0]);
    return tac_motor_angle(axis, a, b);
}

/* The torque on the first body about the axis, N m; speed: mean of how the angle grew since the last tick. *kept:
 * state. */
static double find_torque(const struct tac_motor_settings *m, double factor, double angle, double speed, double h_s,
                          double *kept)
{
    const double aim = factor * m->target;
    double push;
    switch (m->kind) {
    case TAC_MOTOR_SPEED:
        push = MENDED * m->inertia * (aim - speed) / h_s;
        *kept = tac_motor_clamp(*kept + KEPT * push, m->most);
        return tac_motor_clamp(*kept + push, m->most);
    case TAC_MOTOR_POSITION:
        return tac_motor_clamp(m->stiffness * (aim * (TAC_PI / 180) - angle) - m->damping * speed, m->most);
    default:
        return aim;
    }
}

static bool is_due(const struct tac_sim *sim)
{
    bool due = false;
    for (size_t i = 0; i < sim->clocks.due_elastic_count && sim->motors.count > 0; i++)
        due |= sim->elastic->rate[sim->clocks.due_elastic[i]].motors;
    return due;
}

void tac_motors_before(struct tac_sim *sim, tac_time t)
{
    if (!is_due(sim))
        return;
    for (size_t n = 0; n < sim->motors.count; n++)
        for (int side = 0; side < 2; side++) {
            struct tac_motor *motor = &sim->motors.motor[n];
            if (motor->place[side] >= 0)
                tac_rigid_spin(sim, motor->place[side], t, motor->before[side]);
        }
}

static void kick(struct tac_sim *sim, struct tac_motor *motor, tac_time t)
{
    const struct tac_joint *joint = &sim->scene->settings->joint[motor->joint];
    const struct tac_motor_settings *m = &joint->motor;
    const double h_s = tac_state_seconds(&sim->state, sim->motors.period);
    const double middle = tac_motor_middle(joint);
    double axis[3];
    const double last = motor->state.angle, angle = tac_motor_unwind(find_angle(sim, motor, t, axis) + middle, last);
    const double factor = tac_factor_mean(m->factor, motor->knot, m->knot_count, t, sim->motors.period);
    const double torque = find_torque(m, factor, angle, (angle - last) / h_s, h_s, &motor->state.kept);
    motor->state.angle = angle;
    for (int side = 0; side < 2; side++) {
        double l[3];
        for (int k = 0; k < 3; k++) {
            motor->impulse[k] = h_s * torque * axis[k];
            l[k] = side == 0 ? motor->impulse[k] : -motor->impulse[k];
        }
        if (motor->place[side] >= 0)
            tac_rigid_twist(sim, motor->place[side], t, l);
    }
}

/* Books the work at each body: the impulse times the mean of how it turned over all kicks of the instant. */
static void enter_works(struct tac_sim *sim, const struct tac_motor *motor, tac_time t)
{
    for (int side = 0; side < 2; side++) {
        double after[3], mean[3];
        if (motor->place[side] < 0)
            continue;
        tac_rigid_spin(sim, motor->place[side], t, after);
        for (int k = 0; k < 3; k++)
            mean[k] = .5 * (motor->before[side][k] + after[k]);
        const double work = (side == 0 ? 1 : -1) * tac_dot(motor->impulse, mean);
        tac_accum_add(&sim->books.work, work);
        if (t == sim->books.kept_at)
            tac_accum_add(&sim->books.work_ahead, .5 * work);
    }
}

void tac_motors_tick(struct tac_sim *sim, tac_time t)
{
    if (!is_due(sim))
        return;
    for (size_t n = 0; n < sim->motors.count; n++)
        kick(sim, &sim->motors.motor[n], t);
    for (size_t n = 0; n < sim->motors.count; n++)
        enter_works(sim, &sim->motors.motor[n], t);
}

/* ---- windows ---- */

void tac_motors_begin(struct tac_motors *motors)
{
    for (size_t n = 0; n < motors->count; n++)
        motors->motor[n].start = motors->motor[n].state;
}

void tac_motors_restore(struct tac_motors *motors)
{
    for (size_t n = 0; n < motors->count; n++)
        motors->motor[n].state = motors->motor[n].start;
}

/* ---- making ---- */

/* The place on this rank of a rigid body of the scene, or -1. */
static int32_t place_of(const struct tac_rigid *r, tac_lid rigid)
{
    for (size_t k = 0; k < r->count; k++)
        if (r->piece[k].rigid == rigid)
            return (int32_t)k;
    return -1;
}

/* Adds the motor of a joint, if it turns a body of this rank. */
static enum tac_err add_motor(struct tac_sim *sim, tac_lid index)
{
    enum tac_err err = TAC_OK;
    const struct tac_scene *scene = sim->scene;
    const struct tac_joint *joint = &scene->settings->joint[index];
    struct tac_motor motor = {.joint = index, .place = {-1, -1}};
    for (int side = 0; side < 2 && sim->rigid.count > 0; side++)
        if (joint->end[side].body >= 0)
            motor.place[side] = place_of(&sim->rigid, scene->settings->body[joint->end[side].body].rigid);
    if (motor.place[0] < 0 && motor.place[1] < 0)
        return TAC_OK;
    TAC_TRY(tac_motor_make(sim->ctx, scene, index, &motor));
    sim->motors.motor[sim->motors.count++] = motor;
done:
    return err;
}

enum tac_err tac_motors_create(struct tac_sim *sim)
{
    enum tac_err err = TAC_OK;
    const struct tac_settings *s = sim->scene->settings;
    size_t count = 0;
    for (tac_lid i = 0; i < s->joint_count; i++)
        count += s->joint[i].motor.kind != TAC_MOTOR_NONE;
    if (count == 0)
        return TAC_OK;
    sim->motors.period = tac_clock_period(sim->scene, s->motor_s);
    TAC_TRY(tac_alloc(sim->ctx, count, sizeof *sim->motors.motor, &sim->motors.motor));
    for (tac_lid i = 0; i < s->joint_count; i++)
        if (s->joint[i].motor.kind != TAC_MOTOR_NONE)
            TAC_TRY(add_motor(sim, i));
done:
    return err;
}

void tac_motors_destroy(struct tac_motors *motors)
{
    for (size_t n = 0; n < motors->count; n++)
        free(motors->motor[n].knot);
    free(motors->motor);
}
