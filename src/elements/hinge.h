/* hinge.h: the ticks of hinges (hinge_tick.c), which the table of their kind (hinge.c) refers to: impulses of bending,
 * of its damping and of its plasticity, as struct tac_element says of `tick` and struct tac_element_memory of
 * `tick_dampers` and `tick_plastic` (element.h).  All Local. */
#ifndef TACTUS_ELEMENTS_HINGE_H
#define TACTUS_ELEMENTS_HINGE_H

#include "elements/element.h"

void tac_hinge_tick(const void *record, size_t count, double h, const struct tac_pos *pos, struct tac_vel *vel,
                    struct tac_book *book);
void tac_hinge_tick_dampers(const void *damper, double *last, size_t count, const struct tac_pos *pos,
                            struct tac_vel *vel, struct tac_book *book);
void tac_hinge_tick_plastic(const void *record, size_t count, const struct tac_flowing *flowing,
                            const struct tac_pos *pos, struct tac_vel *vel, struct tac_book *book);

#endif
