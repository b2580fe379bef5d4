/* descent.h: chooses a length by trials, so that it costs little.
 *
 * The caller runs with a length and reports its cost per time; then a longer or a shorter length is tried.  If the
 * trial costs less, the search goes on in this direction.  If it costs more, the length before is used again, for a
 * while, before the other direction is tried.  This while doubles each time that no trial has paid, because trials
 * cost, too.  Costs are counts, never seconds, so that a run can be repeated exactly:
 *
 *     struct tac_descent descent = {0};
 *     length = tac_descent_next(&descent, cost / time, 1.5, length, least, most);
 */
#ifndef TACTUS_BASE_DESCENT_H
#define TACTUS_BASE_DESCENT_H

#include <stdbool.h>

struct tac_descent {
    double last;  /* cost per time of the length that is kept; 0: not known */
    double kept;  /* the length to go back to while another one is tried; 0: there is no trial now */
    bool shorter; /* the direction */
    int stays;    /* how often the length is kept until the next trial */
    int patience; /* how often it was kept after the last trial that did not pay */
};

enum { TAC_DESCENT_PATIENCE = 8 };

static inline double tac_descent_within(double length, double least, double most)
{
    return length < least ? least : length > most ? most : length;
}

/* Local. Returns the next length to use, after `length` has cost cost_per_time: within least .. most, longer or shorter
 * by a factor `step` (> 1), or the same. */
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
        return tac_descent_within(kept, least, most);
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
        return tac_descent_within(length, least, most); /* no other length is allowed */
    d->kept = length;
    return tac_descent_within(d->shorter ? length / step : length * step, least, most);
}

#endif
