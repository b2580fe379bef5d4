/* rest.h: estimates how deep the layers will be pressed by the bodies that rest on them.
 *
 * Weight that rests on deep layers makes them tick often, and tremble (docs/explanation/method.md, Friction).  It
 * cannot be known before the run which pairs will carry it.  The estimate takes
 *
 *     what     each body that has something under it, with the bodies above it, in so far as their footprints overlap
 *              (boxes seen along gravity, wider by radius and half the thickness); no body that scripts hold
 *     where    closed shells, and sheets stiff enough to stand: on their lowest vertices at the start, within a
 *              thickness, at least three; other sheets and ropes: on all their vertices; particles: on as many as find
 *              room in their footprint, side by side on the nearest body beneath it
 *     tremble  a body at rest moves up and down between the ticks, and while it moves up the layers push only e^2 as
 *              hard (docs/explanation/method.md, Restitution); so they are pressed as by 2/(1 + e^2) times the weight
 *
 * The estimate is right for bodies that stand as they will stand, and within some factor for bodies that fall.  A
 * factor of ten in the weight is a factor of about two in the layer.
 *
 *     struct tac_rest rest;
 *     tac_estimate_rest(ctx, scene, model, &rest);
 *     rest.layer                deepest layer that the weight on body rest.body will press; 0: nothing rests
 */
#ifndef TACTUS_FORECAST_REST_H
#define TACTUS_FORECAST_REST_H

#include "contact/model.h"

struct tac_rest {
    tac_lid body, under; /* the body that presses deepest, and what is under it; -1: nothing rests */
    double weight;       /* of the body and what is above it, N */
    double places;       /* vertices that carry it */
    double force;        /* weight / places, N */
    int32_t layer;       /* deepest one that this force presses */
    double stiffness;    /* r(1) of the law, N/m */
    double enough_stiffness, enough_thickness; /* N/m, m: either would keep it on layers 1 and 2 */
};

enum { TAC_REST_LAYER = 2 /* the deepest on which weight should rest */ };

/* Local. The worst body of a scene that is whole here. */
enum tac_err tac_estimate_rest(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_model *model,
                               struct tac_rest *out);

#endif
