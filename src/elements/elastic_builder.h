/* elastic_builder.h: declares the lists from which rate classes are made, for elastic_build.c, memory_build.c and
 * classes.c only. */
#ifndef TACTUS_ELEMENTS_ELASTIC_BUILDER_H
#define TACTUS_ELEMENTS_ELASTIC_BUILDER_H

#include "elements/elastic.h"
#include "elements/loads.h"

/* All elements whose kicks this rank computes, in scene order, by the table of elements. */
struct builder {
    struct tac_ctx *ctx;
    const struct tac_scene *scene;
    struct tac_element_set set;
    tac_time *period[TAC_ELEMENTS]; /* owned, (count of the list), quanta */
    double *omega2;                 /* (V) */
    tac_time *damper[TAC_ELEMENTS]; /* owned, likewise: period of its damping; 0: none */
    double *slack[TAC_ELEMENTS];    /* owned, likewise: largest stable step of its damping over that period */
    struct tac_loads loads;
};

/* Returns the class of a period; there must be one. */
size_t tac_class_of(const struct tac_elastic *el, tac_time period);

/* Local. Returns the yield limit of an element: relative change of length, Green strain, rad; 0: none. */
double tac_builder_yield(const struct builder *b, int kind, size_t e);
/* Collective. Chooses the periods of damping. */
enum tac_err tac_builder_damp(struct builder *b);
/* Local. Makes all classes and their lists. gravity: its period; 0: there is none. */
enum tac_err tac_builder_classes(struct builder *b, struct tac_elastic *el, tac_time gravity);
/* Local. Puts the dampers into their classes, with the strains of the start. */
enum tac_err tac_builder_dampers(struct builder *b, struct tac_elastic *el);
/* Local. Makes the rest values of plastic elements, whose classes have been made. */
enum tac_err tac_builder_plastic(struct builder *b, struct tac_elastic *el);

#endif
