/* hinge.h: declares the ticks of hinges (hinge_tick.c) for the entry of hinges in the table of elements (hinge.c):
 * impulses of bending, of its damping and of its plasticity. struct tac_element describes `tick`, and struct
 * tac_element_memory describes `tick_dampers` and `tick_plastic` (element.h). All are Local. */
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
