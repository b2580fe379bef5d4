/* pose.h: where a rigid body is, and how it moves, as output has it. */
#ifndef TACTUS_STATE_POSE_H
#define TACTUS_STATE_POSE_H

#include <tactus/scene.h>

struct tac_pose {
    tac_lid rigid;                 /* its place among the scene's rigid bodies */
    double center[3], velocity[3]; /* of the centre of mass, m, m/s */
    double rotation[4];            /* quaternion w, x, y, z, w >= 0: from the placed mesh to now */
    double spin[3];                /* rad/s, in the axes of the scene */
};

/* Local. Fills rotation and spin. body: as it starts; a[k], b[k]: what its principal axis k has become, and its rate,
 * 1/s. */
void tac_pose_turn(const struct tac_rigid_body *body, const double a[3][3], const double b[3][3],
                   struct tac_pose *pose);

#endif
