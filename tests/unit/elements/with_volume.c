/* with_volume.c: the table of src/elements/element_table.c with one line more.  A program that has this file takes its
 * table from here, and not from the library. */
#include "elements/element.h"

extern const struct tac_element tac_element_volume;

const struct tac_element_keys *const tac_elements[] = {
    &tac_element_spring.keys,
    &tac_element_cst.keys,
    &tac_element_hinge.keys,
    &tac_element_volume.keys, /* the line */
    NULL,
};
