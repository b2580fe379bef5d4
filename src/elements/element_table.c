/* element_table.c: lists the elements of the program, in the order of their kicks (docs/reference/elements.md).  The
 * place of an element in this table is its number in checkpoints: a new one goes to the end. */
#include "elements/element.h"

const struct tac_element_keys *const tac_elements[] = {
    &tac_element_spring.keys,
    &tac_element_cst.keys,
    &tac_element_hinge.keys,
    &tac_element_neo_hookean.keys,
    &tac_element_stvk.keys,
    &tac_element_corotated.keys,
    NULL,
};
