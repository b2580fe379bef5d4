/* rigid_nodes.h: rigid bodies of the implicit integrator (docs/explanation/rigid.md, In the implicit integrator).
 *
 * The unknowns of a rigid body are four nodes. They carry a quarter of its mass each, and have its centre of mass and
 * its second moments, so momenta and kinetic energies are sums over them. One stiff tetrahedron over them keeps the
 * body's shape. Its vertices follow the nodes: x = sum W_i y_i, where the weights W_i depend on where a vertex is at
 * the start. A force on a vertex is W_i times the force on node i.
 *
 * Contact sees vertices only. So all arrays of vertices of struct tac_implicit keep their meaning, but inertia and
 * gradients of these vertices are 0, and nodes have arrays of their own here. A rank has the nodes of its own bodies,
 * and copies of those of the ghosts that it needs.
 */
#ifndef TACTUS_IMPLICIT_RIGID_RIGID_NODES_H
#define TACTUS_IMPLICIT_RIGID_RIGID_NODES_H

#include "elements/records.h"
#include "implicit/rigid/rigid_joints.h"
#include "state/snapshot.h"
#include <tactus/scene.h>

struct tac_implicit;
struct tac_pose;

enum {
    TAC_RIGID_NODES = 4,
    TAC_RIGID_SIZE = 3 * TAC_RIGID_NODES,
    TAC_PAST_OF_NODES = TAC_RIGID_NODES * TAC_PAST_NUMBERS
};

struct tac_implicit_piece {
    tac_lid first, end;     /* its vertices, if this rank owns it; else first == end */
    int32_t owner;          /* -1: this rank knows nothing of its nodes */
    double center[3];       /* at the start, m */
    double far[3];          /* the nodes' distances from it along the principal axes, m */
    double axis[3][3];      /* these axes at the start, over the distances, 1/m */
    double mass, inertia;   /* of a node, kg; inertia: in the potential, kg */
    struct tac_solid shape; /* the tetrahedron over the nodes */
};

struct tac_implicit_rigid {
    size_t count;                     /* rigid bodies of the scene */
    struct tac_implicit_piece *piece; /* owned, (count) */
    size_t own_count;
    int32_t *own; /* owned, (own_count): the bodies of this rank, ascending */
    /* Of the nodes, as the arrays of struct tac_implicit and of its newton that have these names: owned, (count, 4, 3)
     */
    double *x, *v, *x0, *ahead, *p, *trial, *gradient, *part[3];
    double *straight; /* owned, (count, 4, 3): as the linear system has it; p: with its turn (rigid_turn.c), m */
    double *past;     /* owned, (count, TAC_PAST_OF_NODES); NULL: the scheme remembers nothing */
    double *gross;    /* owned, (count, 4) */
    struct tac_implicit_joints joints;
};

/* ---- rigid_nodes.c: life and places ---- */

/* Local. Makes the nodes of the scene's rigid bodies at the start. */
enum tac_err tac_rigid_nodes_create(struct tac_implicit *sim);
void tac_rigid_nodes_destroy(struct tac_implicit_rigid *r);
/* Local. Computes the weights of body k's nodes at its vertex v, also a ghost. */
void tac_rigid_weights(const struct tac_implicit *sim, int32_t k, tac_lid v, double w[TAC_RIGID_NODES]);
/* Local. Sets the value (count, 3) of all vertices of rigid bodies to that of `node` (bodies, 4, 3). */
void tac_rigid_spread(const struct tac_implicit *sim, const double *node, double *value);
/* Neighbours. Gets the nodes of ghosts from their owners. */
enum tac_err tac_rigid_refresh(struct tac_implicit *sim);
/* Local. Returns the nodes at x, which is sim->x or sim->newton.trial. */
const double *tac_rigid_nodes_at(const struct tac_implicit *sim, const double *x);
/* Local. Exchanges x and trial. */
void tac_rigid_swap(struct tac_implicit_rigid *r);
/* Local. Copies x and v to x0 and so on at the start of a part of a step. */
void tac_rigid_nodes_begin(struct tac_implicit_rigid *r);

/* Local. Copies the state of own bodies into a snapshot. in: collective; owner (rows): of each row's first vertex. */
enum tac_err tac_rigid_rows_out(const struct tac_implicit *sim, struct tac_checkpoint *c);
enum tac_err tac_rigid_rows_in(struct tac_implicit *sim, const struct tac_checkpoint *c, const int32_t *owner);

/* ---- rigid_turn.c ---- */

/* Local. Sets p of nodes and of their vertices to `share` of the straight direction, with its turn. */
void tac_rigid_turn(struct tac_implicit *sim, double share);

/* Local. Fills the poses of own bodies, ascending, and returns their number. */
size_t tac_rigid_fill_poses(const struct tac_implicit *sim, struct tac_pose *out);
/* Local. Takes out of the velocities of own bodies, and of the accelerations that newmark remembers, what strains them;
 * momenta, forces and torques stay. */
void tac_rigid_calm(struct tac_implicit *sim);

/* ---- rigid_terms.c: the potential, its derivatives, and the book ---- */

/* Local. Returns the share of p with which the tetrahedra of own bodies keep a part of their volumes. */
double tac_rigid_reach(const struct tac_implicit *sim, double keep);
/* Local. Sets the gradient of nodes, and the sums of sizes of forces, to 0. */
void tac_rigid_clear(struct tac_implicit_rigid *r);
/* Local. Add to the gradient of nodes. */
void tac_rigid_add_inertia(struct tac_implicit *sim);
void tac_rigid_add_shape(struct tac_implicit *sim);
/* Local. Makes the gradient of nodes part `part` of it, and 0. */
void tac_rigid_keep_part(struct tac_implicit_rigid *r, int part);
/* Local. Completes the gradient of nodes by forces on vertices, and sets those of vertices to 0. */
void tac_rigid_gather(struct tac_implicit *sim);
/* Local. Returns the change of the potential by rounding of the places of node i of body k. */
double tac_rigid_rounding(const struct tac_implicit *sim, int32_t k, int i);
/* Local. Returns the largest distance between x0 and ahead along an axis, m. */
double tac_rigid_ahead(const struct tac_implicit *sim);
/* Local. Sets the inertia of own bodies with the static scheme, by their shape's stiffness. */
void tac_rigid_static(struct tac_implicit *sim, double share);

#endif
