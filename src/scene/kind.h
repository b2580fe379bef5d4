/* kind.h: declares the kinds of forces, with their numbers and names in reports, counters and checkpoints.  Several
 * rooms use them, so they are defined in the lowest one.  elements/element.h says what an element is.
 *
 * Order of the kicks of one instant: gravity; the elements in the order of their table (elements/element.h); contact,
 * with the limits of stretch; dampers; loads.  The numbers of kinds stand in checkpoints, so they never change:
 * elements that come after the first three have the numbers from TAC_KIND_ADDED on.
 */
#ifndef TACTUS_SCENE_KIND_H
#define TACTUS_SCENE_KIND_H

#include <tactus/scene.h>

enum tac_kind {
    TAC_KIND_GRAVITY,
    TAC_KIND_SPRING,
    TAC_KIND_CST,
    TAC_KIND_HINGE,
    TAC_KIND_PENALTY,
    TAC_KIND_LIMIT,   /* of stretch */
    TAC_KIND_DAMPING, /* the dampers of all elements */
    TAC_KIND_LOAD,    /* prescribed forces */
    TAC_KIND_ADDED    /* the fourth element of the table, and so on */
};

enum {
    TAC_ELEMENTS = TAC_MATERIAL_SECTIONS, /* most elements in a table */
    TAC_FIRST_ELEMENTS = TAC_KIND_HINGE - TAC_KIND_SPRING + 1,
    TAC_KINDS = TAC_KIND_ADDED + TAC_ELEMENTS - TAC_FIRST_ELEMENTS /* most kinds */
};

/* Local. Lists the names of all kinds of forces in reports, by number, and NULL after the last. */
void tac_kind_names(const struct tac_ctx *ctx, const char *name[TAC_KINDS + 1]);

/* Return the kind of the table's element k, and the element of a kind; -1: the kind is no element. */
static inline int tac_kind_of_element(int k)
{
    return k < TAC_FIRST_ELEMENTS ? TAC_KIND_SPRING + k : TAC_KIND_ADDED + k - TAC_FIRST_ELEMENTS;
}
static inline int tac_element_of_kind(int kind)
{
    return kind >= TAC_KIND_ADDED                              ? kind - TAC_KIND_ADDED + TAC_FIRST_ELEMENTS
           : kind >= TAC_KIND_SPRING && kind <= TAC_KIND_HINGE ? kind - TAC_KIND_SPRING
                                                               : -1;
}

#endif
