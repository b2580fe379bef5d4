/* defect.h: how large will the defect of a run's energy become?  The derivation is in
 * docs/reference/energy-estimate.md.
 *
 * estimate.h tells what one bounce leaves by chance.  A run has more, and most of it has one sign:
 *
 *     landing   at e < 1 a vertex that is stopped by layers loses (1 - e^2)/3 (omega h)^2 of its energy to the steps
 *               of the deepest layer that it presses, whatever the phase: it adds up
 *     pressing  while layers hold a vertex against elastic kicks of period h, of mean force F, each kick puts in
 *               c (F h)^2/m more than the book sees go; so a bounce of a body on n vertices, of duration T, leaves
 *               c (h/T) (M/(n m)) of its energy, about
 *     resting   the same of gravity's kicks on what lies: a power c M g^2 h
 *     chance    phases between the clocks, of both signs
 *     rows      rows of energy.csv between two ticks of gravity: half a period times its power
 *
 *     c = (1 - e)/(2 (1 + e)) (1 - min(1, 2 h_layer/h)^p), p = (1 + min(1, 3 e))/2, the layers that press weighted with
 *     their forces
 *
 * What it cannot know is left out: how much of a body comes to lie on what, how often vertices come loose, what hangs
 * and swings, folds, friction's anchors, energy from scripts after the start.
 *
 *     struct tac_defect d;
 *     TAC_TRY(tac_estimate_defect(ctx, scene, elastic, model, &d));
 *     d.total / d.energy       what the defect may become, as a part of the energy that is there
 */
#ifndef TACTUS_CHECK_DEFECT_H
#define TACTUS_CHECK_DEFECT_H

#include "contact/model.h"
#include "elements/elastic.h"

/* Factors within which the estimate was right (jobs/experiments/physics/estimate.py): where it is steady, and by
 * chance. */
#define TAC_DEFECT_WITHIN 3.
#define TAC_DEFECT_CHANCE_WITHIN 10.

/* All in J, over all bodies, until scene->t_end. */
struct tac_defect {
    double energy; /* kinetic at the start (or at the scripts' speed), and of the fall of all mass to the lowest vertex;
                      0: nothing can move, and the rest is 0 */
    double landing, pressing, resting, chance, rows;
    double total; /* root of the sum of squares of these, the two of steady kicks added first */
    tac_lid body; /* the one with the largest part; -1: none */
};

/* Local, of a scene that is whole here. TAC_ERR_RUN out of memory. */
enum tac_err tac_estimate_defect(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_elastic *elastic,
                                 const struct tac_model *model, struct tac_defect *out);

/* Local. Sum of c F^2 h over the kicks of period h_s [s] of mean force `force` [N], against which a pair of this form
 * holds a vertex, and over those of its outer layers against its deeper ones: over the mass, the power they leave.
 * N^2 s. */
double tac_defect_of_kicks(const struct tac_model *model, const struct tac_form *form, double force, double h_s);

#endif
