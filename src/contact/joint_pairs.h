/* joint_pairs.h: pairs of points that a joint holds together, as limits (docs/explanation/joints.md), for
 * model.c and limits.c. */
#ifndef TACTUS_CONTACT_JOINT_PAIRS_H
#define TACTUS_CONTACT_JOINT_PAIRS_H

#include "contact/model.h"

/* Local. Returns the joint that holds the vertices v (local) of a pair of this type together, and which of its pairs
 * they are; -1: none does. */
tac_lid tac_joint_of(const struct tac_scene *scene, enum tac_pair_type type, const tac_lid *v, int *pair);

/* Local. The local number of point p of one side of a joint; -1: it is not on this rank. */
static inline tac_lid tac_joint_point(const struct tac_scene *scene, tac_lid joint, int side, int p)
{
    const tac_lid *point = scene->mesh->joint_point;
    return point == NULL ? (tac_lid)scene->settings->joint[joint].end[side].point[p]
                         : point[(2 * (size_t)joint + (size_t)side) * TAC_JOINT_POINTS + (size_t)p];
}

/* Local. Fills the type of pair p of a joint, and its vertices v (4, local): its first side's, then its second side's
 * one or two; -1: it is not on this rank, or unused. Returns whether all of them are on this rank. */
bool tac_joint_pair(const struct tac_scene *scene, tac_lid joint, int p, enum tac_pair_type *type, tac_lid v[4]);

/* Local. The inverse mass against which a pair works at most, 1/kg. */
double tac_joint_inverse_mass(const struct tac_model *model, enum tac_pair_type type, const tac_lid *v);

/* Collective. Computes bounds of h(1) over all pairs of joints, s. Refuses (TAC_ERR_INPUT) a joint whose first layer
 * needs a period under 2^12 quanta, unless the integrator has no clocks. */
enum tac_err tac_joint_extremes(struct tac_ctx *ctx, const struct tac_model *model, double *longest_s,
                                double *shortest_s);

/* Local. Fills radius, thickness, stiffness and law of *form, and *pairs, which is N_c; v: as above, a pair of a joint.
 */
void tac_joint_form(const struct tac_model *model, enum tac_pair_type type, const tac_lid *v, struct tac_form *form,
                    double *pairs);

#endif
