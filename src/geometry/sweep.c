/* sweep.c: conservative advancement of a pair along straight lines (sweep.h). */
#include "geometry/sweep.h"
#include <string.h>

double tac_sweep(enum tac_pair_type type, const double x[4][3], const double u[4][3], double threshold,
                 double tolerance)
{
    enum { MOST_STEPS = 1000 }; /* then it counts as a hit; at the end of a layer stack that would end the run */
    const int n = tac_pair_vertices(type);
    const double reach = tac_relative(type, u);
    double s = 0, y[4][3];
    struct tac_near near;
    if (type == TAC_PAIR_WIDE)
        memcpy(y[3], x[3], sizeof y[3]);
    for (int step = 0; step < MOST_STEPS; step++) {
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                y[i][k] = x[i][k] + s * u[i][k];
        tac_near_pair(type, y, &near);
        double gap = near.d - threshold - tolerance;
        if (!(gap > 0))
            return s;
        if (gap > reach * (1 - s))
            return TAC_SWEEP_CLEAR;
        s += .999999 * (gap / reach);
        if (s >= 1)
            return TAC_SWEEP_CLEAR;
    }
    return s;
}
