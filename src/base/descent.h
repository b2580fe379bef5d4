/* descent.h: a length that is chosen by what it costs.
 *
 * What has that length is run, and what it cost per time is told; then the length goes on in the direction it went in,
 * or turns where the cost has risen.  So it comes to the least cost, and wanders about it by one step or two.  Costs
 * are counts, never seconds, so that a run repeats:
 *
 *     struct tac_descent descent = {0};
 *     length *= tac_descent_step(&descent, cost / time, 1.5);
 */
#ifndef TACTUS_BASE_DESCENT_H
#define TACTUS_BASE_DESCENT_H

#include <stdbool.h>

struct tac_descent {
    double last;  /* cost per time of the length before; 0: not known */
    bool shorter; /* the direction */
};

/* Local. The factor by which the length changes: step or 1 / step (step > 1). */
static inline double tac_descent_step(struct tac_descent *descent, double cost_per_time, double step)
{
    if (descent->last > 0 && cost_per_time > descent->last)
        descent->shorter = !descent->shorter;
    descent->last = cost_per_time;
    return descent->shorter ? 1 / step : step;
}

#endif
