/* line_search.c: the line search of Newton's method decides how far the next iterate goes along a direction
 * (docs/reference/implicit.md, One step). */
#include "implicit/parts.h"
#include <math.h>

#define TAC_SLACK 0x1p-48 /* times the sum of the sizes of all terms: what rounding may add to the potential */
#define TAC_GOOD .1       /* share of a direction: if contact allows less, its negative curvature was of no use */
#define TAC_STRAIGHT                                                                                                   \
    .9 /* of its slope the potential falls by along a direction that is too short: half is the model's */
#define TAC_FARTHEST 64 /* of such a direction is tried */
enum { HALVINGS = 60 };

static void scale_direction(struct tac_implicit *sim, double times)
{
    for (size_t c = 0; c < 3 * (size_t)sim->count; c++)
        sim->newton.p[c] *= times;
    for (size_t c = 0; c < TAC_RIGID_SIZE * sim->rigid.count; c++)
        sim->rigid.p[c] *= times;
}

/* All of sim->newton.p is allowed, and lowers the potential from `before` to *value. The quadratic model, whose
 * curvature is never negative, predicts a fall by half of the slope. If the potential falls by nearly the whole slope,
 * the direction is too short. Then this function doubles the direction as long as that is allowed and lowers the
 * potential. */
static enum tac_err go_farther(struct tac_implicit *sim, double before, double *value, double *size)
{
    enum tac_err err = TAC_OK;
    double times = 1;
    while (before - *value > -TAC_STRAIGHT * sim->newton.slope * times && times < TAC_FARTHEST) {
        double share, far = INFINITY, far_size = 0;
        scale_direction(sim, 2);
        TAC_TRY(tac_implicit_reach(sim, &share));
        if (share == 1) {
            tac_implicit_go(sim, 1);
            TAC_TRY(tac_implicit_potential(sim, sim->newton.trial, &far, &far_size));
        }
        if (!(far < *value)) {
            scale_direction(sim, .5);
            tac_implicit_go(sim, 1);
            break;
        }
        *value = far;
        *size = far_size;
        times *= 2;
    }
done:
    return err;
}

/* Goes along sim->newton.p from sim->x to sim->newton.trial, as far as no pair loses too much of its gap and the
 * potential falls. value and size: the potential and the sum of the sizes of its terms, before and after. */
enum tac_err tac_implicit_search_line(struct tac_implicit *sim, double *value, double *size)
{
    enum tac_err err;
    double share, bound;
    int halving = 0;
    const double before = *value, most = *value + (TAC_SLACK * *size + sim->newton.rounding);
    TAC_TRY(tac_implicit_reach(sim, &share));
    bound = share;
    for (;; halving++) {
        tac_implicit_go(sim, share);
        const double begin_s = tac_wall_s();
        TAC_TRY(tac_implicit_potential(sim, sim->newton.trial, value, size));
        sim->books.counters.seconds_forces += tac_wall_s() - begin_s;
        if (*value <= most)
            break;
        if (halving == HALVINGS || !(share > 0))
            TAC_TRY(tac_implicit_fail_step(sim, "finds no descent"));
        share *= .5;
    }
    tac_implicit_note_direction(sim, halving == 0 && bound >= TAC_GOOD);
    tac_implicit_note_fall(sim, share == 1 ? (before - *value) / -sim->newton.slope : 0);
    if (share == 1)
        TAC_TRY(go_farther(sim, before, value, size));
    TAC_TRY(tac_implicit_foresee(sim, bound));
done:
    return err;
}
