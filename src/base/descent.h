/* descent.h: a length that is chosen by what it costs.
 *
 * What has that length is run, and what it cost per time is told; then a longer or a shorter one is tried.  Where that
 * costs less the length goes on in this direction.  Where it costs more the length before comes again, and stays for a
 * while before the other direction is tried; twice as long each time that no trial has paid, because trials cost, too.
 * Costs are counts, never seconds, so that a run repeats:
 *
 *     struct tac_descent descent = {0};
 *     length = tac_descent_next(&descent, cost / time, 1.5, length, least, most);
 */
#ifndef TACTUS_BASE_DESCENT_H
#define TACTUS_BASE_DESCENT_H

#include <stdbool.h>

struct tac_descent {
    double last;  /* cost per time of the length that is kept; 0: not known */
    double kept;  /* that length, while another one is tried; 0: none is */
    bool shorter; /* the direction */
    int stays,
        patience; /* how often the length is kept until the next trial; and after the last one that did not pay */
};

enum { TAC_DESCENT_PATIENCE = 8 };

/* Local. The length that follows one that cost so much per time: within least .. most, a factor `step` (> 1) from it,
 * or the same. */
static inline double tac_descent_next(struct tac_descent *d, double cost_per_time, double step, double length,
                                      double least, double most)
{
    if (d->kept > 0 && cost_per_time > d->last) { /* the trial did not pay */
        const double kept = d->kept;
        d->kept = 0;
        d->shorter = !d->shorter;
        d->patience = d->patience ? 2 * d->patience : 1;
        d->patience = d->patience < TAC_DESCENT_PATIENCE ? d->patience : TAC_DESCENT_PATIENCE;
        d->stays = d->patience;
        return kept < least ? least : kept > most ? most : kept;
    }
    if (d->kept > 0)
        d->patience = 0;
    d->kept = 0;
    d->last = cost_per_time;
    if (d->stays > 0) {
        d->stays--;
        return length;
    }
    if (d->shorter ? length <= least : length >= most)
        d->shorter = !d->shorter;
    if (d->shorter ? length <= least : length >= most)
        return length < least ? least : most; /* there is no other */
    d->kept = length;
    const double next = d->shorter ? length / step : length * step;
    return next < least ? least : next > most ? most : next;
}

#endif
