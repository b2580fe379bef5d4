/* rigid_matrix.h: declares how rigid bodies enter the matrix of a Newton step. The vertices of a rigid body are no
 * unknowns, so its four nodes stand for one side of a pair.
 */
#ifndef TACTUS_IMPLICIT_RIGID_RIGID_MATRIX_H
#define TACTUS_IMPLICIT_RIGID_RIGID_MATRIX_H

#include "implicit/system.h"

/* Local. Returns which sides of a pair are of a rigid body (TAC_SIDE_FIRST, TAC_SIDE_SECOND). */
int tac_rigid_sides(const struct tac_implicit *sim, const tac_lid *v, enum tac_pair_type type);
/* Local. Returns the number of nodes of a pair with these sides. */
int tac_rigid_nodes_of(enum tac_pair_type type, int sides);
/* Local. Changes the matrix of a pair over its vertices, (3 n, 3 n), into that over its nodes. */
void tac_rigid_to_nodes(const struct tac_implicit *sim, const tac_lid *v, enum tac_pair_type type, int sides,
                        const double *dense, double *out);
/* Local. Adds the matrices of the shapes of own bodies. */
void tac_rigid_assemble(struct tac_implicit *sim, enum tac_curvature curvature, struct tac_matrix *matrix);

/* Local. Return the vertices of number e of the pairs of joints, and of the motors, and the type of pair whose stencil
 * they have: two vertices or a vertex and a segment, and two edges. */
const tac_lid *tac_rigid_tied_pair(const struct tac_implicit *sim, size_t e, enum tac_pair_type *type);
const tac_lid *tac_rigid_motor_pair(const struct tac_implicit *sim, size_t e, enum tac_pair_type *type);
/* Local. Fill their matrices, (6, 6) or (9, 9) and (12, 12), times the weight of the scheme. */
void tac_rigid_tied_hessian(const struct tac_implicit *sim, size_t e, const double *x, enum tac_curvature curvature,
                            double *dense);
void tac_rigid_motor_hessian(const struct tac_implicit *sim, size_t e, const double *x, enum tac_curvature curvature,
                             double *dense);

#endif
