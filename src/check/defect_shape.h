/* defect_shape.h: bodies as far as defect.h asks: how they fall, on what, and how they spring back. */
#ifndef TACTUS_CHECK_DEFECT_SHAPE_H
#define TACTUS_CHECK_DEFECT_SHAPE_H

#include "contact/model.h"
#include "elements/elastic.h"

/* A body as far as its bounces depend on it. */
struct tac_shape {
    double mass, free, mean, low, high; /* kg, vertices, m along up */
    double side[2], far_of[2];          /* m across */
    double curvature, area;             /* 1/m, m^2: half the mean of the two curvatures */
    double kick_s;                      /* mean over its outermost vertices of period / mass, s/kg */
    tac_lid under, vertex;              /* body beneath it, or -1; its first vertex that is ever free */
    double share;                       /* part of its footprint that is above that body */
};

struct tac_validated {
    const struct tac_scene *scene;
    const struct tac_elastic *elastic;
    const struct tac_model *model;
    double g, axis[3][3], closing, lowest, gravity_s;
    double *elastic_s;      /* owned, (V) */
    struct tac_shape *body; /* owned, (bodies) */
};

/* Local. Fills `body` and `lowest` of a scene that is whole here, from axes to what is under each body. */
void tac_shape_measure(struct tac_validated *j);

/* Local. Stiffness with which a body springs back where it is dented, N/m; 0: a flat sheet, a rope. */
double tac_shape_stiffness(const struct tac_validated *j, tac_lid b);

/* Local. The radius of the body, or its extent where it is flat, m. */
double tac_shape_size(const struct tac_shape *s);

#endif
