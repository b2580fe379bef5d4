/* pose.c: computes how a rigid body has turned, as a quaternion, and how it turns. */
#include "state/pose.h"
#include "state/chord.h"
#include <math.h>

/* The quaternion of a rotation, from the largest of its four numbers, so that nothing is divided by a small one
 * (Shepperd 1978). */
static void to_quaternion(const double r[3][3], double q[4])
{
    const double trace = r[0][0] + r[1][1] + r[2][2];
    double four[4] = {1 + trace, 1 + 2 * r[0][0] - trace, 1 + 2 * r[1][1] - trace, 1 + 2 * r[2][2] - trace};
    int most = 0;
    for (int k = 1; k < 4; k++)
        most = four[k] > four[most] ? k : most;
    const double half = sqrt(four[most]) / 2, part = 1 / (4 * half);
    const double off[3] = {r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]};
    const double sum[3] = {r[1][2] + r[2][1], r[0][2] + r[2][0], r[0][1] + r[1][0]}; /* of the two other axes */
    q[most] = half;
    for (int k = 0; k < 4; k++) {
        if (k == most)
            continue;
        q[k] = part * (most == 0 ? off[k - 1] : k == 0 ? off[most - 1] : sum[3 - (k - 1) - (most - 1)]);
    }
    if (q[0] < 0)
        for (int k = 0; k < 4; k++)
            q[k] = -q[k];
}

void tac_pose_turn(const struct tac_rigid_body *body, const double a[3][3], const double b[3][3], struct tac_pose *pose)
{
    double now[3][3], turned[3][3] = {{0}}, l[3];
    tac_chord_nearest(a, now);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                turned[i][j] += now[k][i] * body->axis[k][j];
    to_quaternion((const double(*)[3])turned, pose->rotation);
    tac_chord_momentum(body->second, a, b, l);
    tac_chord_spin(body->second, (const double(*)[3])now, l, pose->spin);
}
