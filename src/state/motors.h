/* motors.h: the motors of joints that turn a body of this rank (docs/explanation/joints.md, Motors). */
#ifndef TACTUS_STATE_MOTORS_H
#define TACTUS_STATE_MOTORS_H

#include <stddef.h>
#include <tactus/base.h>

enum { TAC_MOTOR_POINTS = 4 };

struct tac_motor_state {
    double angle; /* at its last tick, rad; whole turns count */
    double kept;  /* of a speed: the torque that what was lacking so far has added up to, N m */
};

struct tac_motor {
    tac_lid joint;
    tac_lid point[TAC_MOTOR_POINTS]; /* the first body's two points on the axis; the points beside it, of each body */
    int32_t place[2];                /* of the bodies among the rigid ones of this rank; -1: another's, or the world */
    struct tac_motor_state state;    /* now */
    struct tac_motor_state start;    /* at the window's start */
    double impulse[3];               /* of torque on the first body, at this instant, N m s */
    double before[2][3];             /* how the bodies turned before this instant's kicks, rad/s */
    tac_time *knot;                  /* owned: knots of its path, quanta */
};

struct tac_motors {
    size_t count;
    struct tac_motor *motor; /* owned, by ascending joint */
    tac_time period;         /* of all of them */
};

#endif
