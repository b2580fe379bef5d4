/* Rungs by class: all rungs of one period are one array in the order of their keys, and `extra` holds those that came
 * in mid-window, sorted too, until tac_rungs_settle() merges them.  tac_watch_*() (sim.h) decide which rungs there are.
 */
#ifndef TACTUS_EVENTS_RUNGS_H
#define TACTUS_EVENTS_RUNGS_H

#include "events/sim.h"

/* Local. The order in which rungs of a class tick: by key, then first layer. */
bool tac_rungs_before(const struct tac_rung *a, const struct tac_rung *b);
/* Local. The class of a period (quanta); with free clocks it may have to be made (only between passes). */
enum tac_err tac_rungs_class(struct tac_sim *sim, tac_time period, size_t *index);
/* Local. The rung of a pair in a class; first tells rungs of one pair apart. NULL if it has none there. */
struct tac_rung *tac_rungs_find(struct tac_rung_class *c, uint64_t key, int32_t first);
/* Local. A new rung of layers first..last of a pair, born at t, in its place among the extra ones, which must have
 * room.
 */
void tac_rungs_append(struct tac_sim *sim, struct tac_rung_class *c, int32_t slot, int32_t first, int32_t last,
                      tac_time t);
/* Local. Drops what was marked (pair < 0) and merges the extra rungs. */
enum tac_err tac_rungs_settle(struct tac_sim *sim, struct tac_rung_class *c);

#endif
