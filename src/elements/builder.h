/* builder.h: the lists from which rate classes are made.  Private to elastic_build.c,
 * memory_build.c and classes.c. */
#ifndef TACTUS_ELEMENTS_BUILDER_H
#define TACTUS_ELEMENTS_BUILDER_H

#include "elements/elastic.h"
#include "elements/loads.h"

/* All elements with a kick to be computed here, in scene order. */
struct builder {
    struct tac_ctx *ctx;
    const struct tac_scene *scene;
    size_t count[TAC_KINDS];
    struct tac_spring *spring;
    struct tac_cst *cst;
    struct tac_hinge *hinge;
    double *row[TAC_KINDS]; /* (count, 4): sum over j of |K_ij| for each vertex i of the element's stencil */
    tac_gid *id[TAC_KINDS]; /* edge, triangle, edge */
    tac_time *period[TAC_KINDS];
    double *omega2;              /* (V) */
    double *gradient2;           /* (hinges): square of the angle's gradient over all vertices, at rest, 1/m^2 */
    tac_time *damper[TAC_KINDS]; /* period of its damping; 0: none */
    double *slack[TAC_KINDS];    /* largest stable step of its damping over that period */
    struct tac_loads loads;
};

/* Their names in sentences, by kind. */
extern const char *const tac_element_name[TAC_KIND_HINGE + 1];

const struct tac_material *tac_material_of(const struct tac_scene *scene, tac_lid body);
const tac_lid *tac_builder_stencil(const struct builder *b, int kind, size_t e, int *count);
/* The class of a period that is there. */
size_t tac_class_of(const struct tac_elastic *el, tac_time period);

/* Local. Yield limit of an element: relative change of length, Green strain, rad; 0: none. */
double tac_builder_yield(const struct builder *b, int kind, size_t e);
/* Collective. Periods of damping. */
enum tac_err tac_builder_damp(struct builder *b);
/* Local. All classes and their lists; gravity: its period, 0: none. */
enum tac_err tac_builder_classes(struct builder *b, struct tac_elastic *el, tac_time gravity);
/* Local. Dampers into their classes, with the strains of the start. */
enum tac_err tac_builder_dampers(struct builder *b, struct tac_elastic *el);
/* Local. Rest values of plastic elements, whose classes are made. */
enum tac_err tac_builder_plastic(struct builder *b, struct tac_elastic *el);

#endif
