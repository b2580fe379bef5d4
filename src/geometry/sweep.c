/* sweep.c: advances a pair conservatively along straight lines (sweep.h). */
#include "geometry/sweep.h"
#include <string.h>

/* The share of the motion u before which the primitives' extents along n, now at y, do not come as near as `limit`. */
static inline double until(enum tac_pair_type type, const double y[4][3], const double u[4][3], const double n[3],
                           double limit)
{
    const int count = tac_pair_vertices(type), first = tac_pair_first(type);
    double least = INFINITY;
    for (int i = 0; i < first; i++)
        for (int j = first; j < count; j++) {
            double r[3], moved[3];
            tac_sub(r, y[i], y[j]);
            tac_sub(moved, u[j], u[i]);
            const double room = tac_dot(n, r) - limit, travel = tac_dot(n, moved);
            const double share = travel > 0 ? room / travel : room > 0 ? INFINITY : 0;
            least = share < least ? share : least;
        }
    return least;
}

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
    for (int tries = 0; tries < MOST_STEPS; tries++) {
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                y[i][k] = x[i][k] + s * u[i][k];
        tac_near_pair(type, y, &near);
        double gap = near.d - threshold - tolerance;
        if (!(gap > 0))
            return s;
        if (gap > reach * (1 - s))
            return TAC_SWEEP_CLEAR;
        double step = gap / reach;
        if (!tac_pair_grows(type)) { /* the distance of what grows is minus a length: no direction bounds it */
            const double along = until(type, y, u, near.n, threshold + tolerance);
            step = along > step ? along : step;
        }
        s += .999999 * step;
        if (s >= 1)
            return TAC_SWEEP_CLEAR;
    }
    return s;
}
