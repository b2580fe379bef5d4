/* around.c: computes points beside an axis. */
#include "geometry/around.h"
#include <math.h>
#include <tactus/math.h>

void tac_around(const double axis[3], double along, double radius, double angle, double out[3])
{
    double unit[3] = {0, 0, 0}, x[3], y[3];
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(axis[k]) < fabs(axis[least]))
            least = k;
    unit[least] = 1;
    tac_cross(x, axis, unit);
    const double length = sqrt(tac_dot(x, x));
    for (int k = 0; k < 3; k++)
        x[k] /= length;
    tac_cross(y, axis, x);
    const double c = radius * tac_cos(angle), s = radius * tac_sin(angle);
    for (int k = 0; k < 3; k++)
        out[k] = along * axis[k] + (c * x[k] + s * y[k]);
}
