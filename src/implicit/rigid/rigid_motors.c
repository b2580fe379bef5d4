/* rigid_motors.c: motors of hinges in the implicit integrator (docs/explanation/joints.md, In the implicit integrator).
 *
 * The angle is that between an arm of each body, about the axis at the start of the step. The force on the outer end of
 * an arm is the torque over its length, and that on its inner end is the opposite: a couple. A motor has its torque at
 * the end of the step, so that no stiffness of it needs a shorter one.
 */
#include "contact/hinge_motors.h"
#include "elements/loads.h"
#include "implicit/parts.h"
#include <math.h>
#include <tactus/math.h>

/* How much a motor of a given speed pushes, over what would mend all that it lacks in a step if the two bodies turned
 * freely. It is large, so that what a weight takes from the speed is small. */
static const double PUSHES = 64;

/* ---- the angle ---- */

static void arms(const struct tac_implicit_motor *m, const double *x, double a[3], double b[3])
{
    tac_sub(a, &x[3 * (size_t)m->v[0]], &x[3 * (size_t)m->v[1]]);
    tac_sub(b, &x[3 * (size_t)m->v[2]], &x[3 * (size_t)m->v[3]]);
}

static double find_angle(const struct tac_implicit_motor *m, const double *x)
{
    double a[3], b[3];
    arms(m, x, a, b);
    return tac_motor_unwind(tac_motor_angle(m->axis, a, b) + tac_motor_middle(m->joint), m->motor.state.angle);
}

static double find_torque(const struct tac_implicit_motor *m, double angle)
{
    return tac_motor_clamp(m->steep * (m->aim - angle) + m->push, m->joint->motor.most);
}

/* The derivative of an angle by the outer end of its arm. */
static void turn_by(const double axis[3], const double arm[3], double g[3])
{
    const double along = tac_dot(axis, arm);
    double across[3];
    for (int c = 0; c < 3; c++)
        across[c] = arm[c] - along * axis[c];
    const double square = tac_dot(across, across);
    tac_cross(g, axis, across);
    for (int c = 0; c < 3; c++)
        g[c] /= square;
}

/* The derivative of the angle by the ends of both arms. */
static void turn_by_all(const struct tac_implicit_motor *m, const double *x, double g[TAC_MOTOR_ARMS][3])
{
    double a[3], b[3];
    arms(m, x, a, b);
    turn_by(m->axis, a, g[0]);
    turn_by(m->axis, b, g[3]);
    for (int c = 0; c < 3; c++) {
        g[1][c] = -g[0][c];
        g[2][c] = -g[3][c];
    }
}

/* ---- a step ---- */

/* Where a factor is taken: a position at the end of the step, others in the mean over it. */
static double factor_of(const struct tac_implicit *sim, const struct tac_implicit_motor *m)
{
    const struct tac_motor_settings *s = &m->joint->motor;
    const tac_time from = sim->part.from, to = sim->part.to;
    return s->kind == TAC_MOTOR_POSITION
               ? tac_factor_mean(s->factor, m->motor.knot, s->knot_count, to, 2)
               : tac_factor_mean(s->factor, m->motor.knot, s->knot_count, from + (to - from) / 2, to - from);
}

void tac_rigid_begin_motors(struct tac_implicit *sim)
{
    struct tac_implicit_joints *j = &sim->rigid.joints;
    const double h = sim->scale.h;
    for (size_t k = 0; k < j->motor_count; k++) {
        struct tac_implicit_motor *m = &j->motor[k];
        const struct tac_motor_settings *s = &m->joint->motor;
        const double *x = sim->newton.x0, factor = factor_of(sim, m);
        tac_sub(m->axis, &x[3 * (size_t)m->motor.point[1]], &x[3 * (size_t)m->motor.point[0]]);
        const double length = sqrt(tac_dot(m->axis, m->axis));
        for (int c = 0; c < 3; c++)
            m->axis[c] /= length;
        m->motor.state.angle = find_angle(m, x);
        const double angle = m->motor.state.angle;
        m->steep = m->aim = m->push = 0;
        if (s->kind == TAC_MOTOR_TORQUE) {
            m->push = factor * s->target;
        } else if (s->kind == TAC_MOTOR_SPEED) {
            m->steep = PUSHES * s->inertia / (h * h);
            m->aim = angle + h * (factor * s->target);
        } else {
            m->steep = s->stiffness + s->damping / h;
            m->aim = (s->stiffness * (factor * s->target * (TAC_PI / 180)) + s->damping / h * angle) / m->steep;
        }
    }
}

/* Of a torque that is bounded: a parabola of the angle, and straight lines that go on with its slope. */
double tac_motor_energy(const struct tac_implicit_motor *m, const double *x)
{
    const double angle = find_angle(m, x), torque = find_torque(m, angle);
    if (!(m->steep > 0))
        return -m->push * (angle - m->motor.state.angle);
    const double inside = torque / m->steep; /* how far the angle is from its aim, as far as the parabola goes */
    return .5 * m->steep * inside * inside + torque * (m->aim - angle - inside);
}

void tac_motor_hessian(const struct tac_implicit_motor *m, const double *x, double *dense)
{
    enum { SIZE = 3 * TAC_MOTOR_ARMS };
    double g[TAC_MOTOR_ARMS][3];
    const bool bounded = fabs(m->steep * (m->aim - find_angle(m, x))) >= m->joint->motor.most;
    const double steep = bounded ? 0 : m->steep;
    turn_by_all(m, x, g);
    for (int i = 0; i < SIZE; i++)
        for (int k = 0; k < SIZE; k++)
            dense[SIZE * i + k] = steep * (g[i / 3][i % 3] * g[k / 3][k % 3]);
}

void tac_rigid_add_motors(struct tac_implicit *sim, const double *x)
{
    const struct tac_implicit_joints *j = &sim->rigid.joints;
    for (size_t k = 0; k < j->motor_count; k++) {
        const struct tac_implicit_motor *m = &j->motor[k];
        double g[TAC_MOTOR_ARMS][3];
        const double torque = find_torque(m, find_angle(m, x));
        turn_by_all(m, x, g);
        for (int i = 0; i < TAC_MOTOR_ARMS; i++)
            for (size_t c = 0; c < 3 && m->v[i] < sim->owned; c++)
                sim->newton.gradient[3 * (size_t)m->v[i] + c] -= sim->weight * (torque * g[i][c]);
    }
}

/* The work is the mean of the torques at the start and the end, times the angle. */
void tac_rigid_end_motors(struct tac_implicit *sim)
{
    struct tac_implicit_joints *j = &sim->rigid.joints;
    for (size_t k = 0; k < j->motor_count; k++) {
        struct tac_implicit_motor *m = &j->motor[k];
        const double angle = find_angle(m, sim->x), torque = find_torque(m, angle);
        const double first = sim->now > 0 ? m->motor.state.kept : torque;
        if (m->counted)
            tac_accum_add(&sim->books.work, .5 * (first + torque) * (angle - m->motor.state.angle));
        m->motor.state = (struct tac_motor_state){angle, torque};
    }
}

/* ---- states ---- */

void tac_rigid_motors_out(const struct tac_implicit_joints *joints, struct tac_motor_state *out)
{
    for (size_t k = 0; k < joints->motor_count; k++)
        out[k] = joints->motor[k].motor.state;
}

void tac_rigid_motors_in(struct tac_implicit_joints *joints, const struct tac_motor_state *in)
{
    for (size_t k = 0; k < joints->motor_count; k++)
        joints->motor[k].motor.state = in[k];
}

void tac_rigid_motor_rows_out(const struct tac_implicit *sim, double *past)
{
    const struct tac_implicit_joints *j = &sim->rigid.joints;
    for (size_t k = 0; k < j->motor_count; k++)
        for (int i = 0; i < TAC_MOTOR_ARMS; i++)
            if (j->motor[k].v[i] < sim->owned) {
                double *row = &past[TAC_PAST_NUMBERS * (size_t)j->motor[k].v[i]];
                row[0] = j->motor[k].motor.state.angle;
                row[1] = j->motor[k].motor.state.kept;
            }
}

void tac_rigid_motor_rows_in(struct tac_implicit *sim, const double *past)
{
    struct tac_implicit_joints *j = &sim->rigid.joints;
    for (size_t k = 0; k < j->motor_count; k++)
        for (int i = 0; i < TAC_MOTOR_ARMS; i++)
            if (j->motor[k].v[i] < sim->owned) {
                const double *row = &past[TAC_PAST_NUMBERS * (size_t)j->motor[k].v[i]];
                j->motor[k].motor.state = (struct tac_motor_state){row[0], row[1]};
            }
}
