/* sections.h: declares objects of materials that belong to elements beyond stretch and bend
 * (docs/reference/elements.md). The scene reads them by the keys in an element's entry, and uses nothing else of
 * elements.  The table itself is defined with the elements (elements/element_table.c), a room above this one.
 */
#ifndef TACTUS_SCENE_SECTIONS_H
#define TACTUS_SCENE_SECTIONS_H

#include <tactus/scene.h>

/* The program's elements, NULL at the end. */
extern const struct tac_element_keys *const tac_elements[];

/* Local. Lists the program's elements and then those that the context adds, in `out` (most); returns their number. More
 * than `most` are a bug. */
int tac_elements_known(const struct tac_ctx *ctx, const struct tac_element_keys **out, int most);

/* Local. Returns the numbers of a material's section, in the order of its keys; NULL: it has none. */
const double *tac_material_section(const struct tac_material *material, const struct tac_element_keys *keys);

#endif
