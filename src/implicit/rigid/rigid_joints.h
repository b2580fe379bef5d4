/* rigid_joints.h: joints and motors of the implicit integrator (docs/explanation/joints.md, In the implicit
 * integrator). A joint is one to three pairs of points, each with the energy of a limit of stretch. A motor has an
 * energy of the angle that it turns in a step. Each owner of a point has all points of the joint, and adds the terms at
 * its own ones, so nothing is sent.
 */
#ifndef TACTUS_IMPLICIT_RIGID_RIGID_JOINTS_H
#define TACTUS_IMPLICIT_RIGID_RIGID_JOINTS_H

#include "state/motors.h"
#include <tactus/scene.h>

struct tac_implicit;

enum { TAC_TIE_VERTICES = 3, TAC_MOTOR_ARMS = 4 };

/* A pair of points that a joint holds together, or a point and a segment. */
struct tac_implicit_tie {
    tac_lid v[TAC_TIE_VERTICES + 1];
    int count;        /* vertices: 2, 3 */
    double most;      /* they never come so far apart, m */
    double soft;      /* by how much less the energy begins, m */
    double stiffness; /* N/m */
    bool counted;     /* this rank enters it in sums */
};

struct tac_implicit_motor {
    struct tac_motor motor;    /* state: at the end of the last step; kept: the torque there, N m */
    tac_lid v[TAC_MOTOR_ARMS]; /* the ends of the first body's arm, outer one first, and those of the second one's */
    const struct tac_joint *joint; /* borrowed from the settings */
    bool counted;
    /* in the current step: the torque is `steep` times what the angle lacks to `aim`, or `push`, N m/rad, rad, N m */
    double axis[3], steep, aim, push;
};

struct tac_implicit_joints {
    size_t tie_count;
    struct tac_implicit_tie *tie; /* owned: those with a vertex of this rank, by joint and point */
    size_t motor_count;
    struct tac_implicit_motor *motor; /* owned: likewise */
};

/* Local. Makes the joints of this rank as the scene starts them. */
enum tac_err tac_rigid_joints_create(struct tac_implicit *sim);
void tac_rigid_joints_destroy(struct tac_implicit_joints *joints);

/* Local. Returns whether a vertex is a point of a joint, and of no mesh. */
bool tac_rigid_is_anchor(const struct tac_implicit *sim, tac_lid v);
/* Local. Returns whether the scene has motors, whose states stand in the rows of what a scheme remembers. */
bool tac_rigid_has_motors(const struct tac_implicit *sim);

/* ---- rigid_joints.c: pairs of points ---- */

/* Local. Returns the energy of a pair at x, J; INFINITY: it is as far apart as it never may be. */
double tac_tie_energy(const struct tac_implicit_tie *tie, const double *x);
/* Local. Fills the Hessian, (3 count, 3 count), N/m, of a segment but for how its point turns with it; it has no
 * negative eigenvalue. */
void tac_tie_hessian(const struct tac_implicit_tie *tie, const double *x, double *dense);
/* Local. Adds the gradient of all pairs, times the weight of the scheme, to that of own vertices. */
void tac_rigid_add_ties(struct tac_implicit *sim, const double *x);
/* Local. Returns the share of p with which every pair keeps a part of what is left until it is as far apart as it may
 * be. */
double tac_rigid_tie_reach(const struct tac_implicit *sim, double keep);
/* Local. Adds the sizes of the forces of pairs to those of single forces on vertices and nodes. */
void tac_rigid_tie_sizes(struct tac_implicit *sim, const double *x);

/* ---- rigid_motors.c ---- */

/* Local. Sets what the motors do in the step that begins. */
void tac_rigid_begin_motors(struct tac_implicit *sim);
/* Local. Returns the energy of a motor in this step, J. */
double tac_motor_energy(const struct tac_implicit_motor *m, const double *x);
/* Local. Fills a matrix that is at least as stiff as the Hessian, but for how arms bend, (12, 12). */
void tac_motor_hessian(const struct tac_implicit_motor *m, const double *x, double *dense);
void tac_rigid_add_motors(struct tac_implicit *sim, const double *x);
/* Local. At the end of a step: books the works, and keeps the angles and torques. */
void tac_rigid_end_motors(struct tac_implicit *sim);
/* Local. Copy the states of the motors of this rank to `out`, (motors), and back. */
void tac_rigid_motors_out(const struct tac_implicit_joints *joints, struct tac_motor_state *out);
void tac_rigid_motors_in(struct tac_implicit_joints *joints, const struct tac_motor_state *in);
/* Local. Write the states into the rows of the motors' points, and read them. past: (own vertices,
 * TAC_PAST_NUMBERS), which is not looked at without motors. */
void tac_rigid_motor_rows_out(const struct tac_implicit *sim, double *past);
void tac_rigid_motor_rows_in(struct tac_implicit *sim, const double *past);

#endif
