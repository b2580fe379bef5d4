/* line_search.c: the line search of Newton's method decides how far the next iterate goes along a direction
 * (docs/reference/implicit.md, One step). */
#include "implicit/parts.h"
#include <math.h>

#define TAC_SLACK 0x1p-48 /* times the sum of the sizes of all terms: what rounding may add to the potential */
#define TAC_GOOD .1       /* share of a direction: if contact allows less, its negative curvature was of no use */
#define TAC_STRAIGHT                                                                                                   \
    .9 /* of its slope the potential falls by along a direction that is too short: half is the model's */
#define TAC_FARTHEST 64   /* of such a direction is tried */
#define TAC_NEARLY_ALL .9 /* of a direction with turns: if less is allowed, it is made anew for that */
enum { HALVINGS = 60, TURNS = 3 /* such a direction is made anew at most so often, before it is tried */ };

/* share: of Newton's direction, that rigid bodies go then. */
static void scale_direction(struct tac_implicit *sim, double times, double share)
{
    for (size_t c = 0; c < 3 * (size_t)sim->count; c++)
        sim->newton.p[c] *= times;
    if (sim->rigid.count > 0)
        tac_rigid_turn(sim, share);
}

/* A part of a direction with turns strains rigid bodies, which only its end does not. So in scenes with rigid bodies a
 * shorter direction is made anew, with turns of its own. part: the part of Newton's direction that it is then; share:
 * the share of it that is allowed. */
static enum tac_err shorten(struct tac_implicit *sim, double times, double *part, double *share)
{
    *part *= times;
    scale_direction(sim, times, *part);
    return tac_implicit_reach(sim, share);
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
        scale_direction(sim, 2, 2 * times);
        TAC_TRY(tac_implicit_reach(sim, &share));
        if (share == 1) {
            tac_implicit_go(sim, 1);
            TAC_TRY(tac_implicit_potential(sim, sim->newton.trial, &far, &far_size));
        }
        if (!(far < *value)) {
            scale_direction(sim, .5, times);
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
    double share, bound, part = 1;
    int halving = 0;
    const bool turns = sim->rigid.count > 0;
    const double before = *value, most = *value + (TAC_SLACK * *size + sim->newton.rounding);
    TAC_TRY(tac_implicit_reach(sim, &share));
    bound = share;
    for (int k = 0; turns && share < TAC_NEARLY_ALL && share > 0 && k < TURNS; k++)
        TAC_TRY(shorten(sim, share, &part, &share));
    for (;; halving++) {
        tac_implicit_go(sim, share);
        const double begin_s = tac_wall_s();
        TAC_TRY(tac_implicit_potential(sim, sim->newton.trial, value, size));
        sim->books.counters.seconds_forces += tac_wall_s() - begin_s;
        if (*value <= most)
            break;
        if (halving == HALVINGS || !(share > 0))
            TAC_TRY(tac_implicit_fail_step(sim, "finds no descent"));
        if (turns)
            TAC_TRY(shorten(sim, .5 * share, &part, &share));
        else
            share *= .5;
    }
    const bool whole = share == 1 && part == 1;
    tac_implicit_note_direction(sim, halving == 0 && bound >= TAC_GOOD);
    tac_implicit_note_fall(sim, whole ? (before - *value) / -sim->newton.slope : 0);
    if (whole)
        TAC_TRY(go_farther(sim, before, value, size));
    if (part < 1)
        scale_direction(sim, 1 / part, 1);
    TAC_TRY(tac_implicit_foresee(sim, bound));
done:
    return err;
}
