/* rate_groups.h: the active layer groups, by rate class. All layer groups of one period are one array in the order of
 * their keys. Those that are added in mid-window are in a second sorted array, `extra`, until tac_groups_settle()
 * merges them. The functions tac_active_*() (sim.h) decide which layer groups there are.
 */
#ifndef TACTUS_EVENTS_CLOCK_RATE_GROUPS_H
#define TACTUS_EVENTS_CLOCK_RATE_GROUPS_H

#include "events/sim.h"

/* Local. The order in which layer groups of a class tick: by key, then first layer. */
bool tac_groups_before(const struct tac_layer_group *a, const struct tac_layer_group *b);
/* Local. The class of a period (quanta); with free clocks it may have to be made (between passes, or when
 * all of an instant has ticked: tac_clock_shift()). */
enum tac_err tac_rate_group_of(struct tac_sim *sim, tac_time period, size_t *index);
/* Local. The layer group of a pair in a class; first tells layer groups of one pair apart. NULL if it has none there.
 */
struct tac_layer_group *tac_groups_find(struct tac_rate_group *c, uint64_t key, int32_t first);
/* Local. A layer group of layers first..last of a pair, born at t and silent so far, with an anchor if the pair rubs.
 */
struct tac_layer_group tac_groups_new(struct tac_sim *sim, int32_t slot, int32_t first, int32_t last, tac_time t);
/* Local. A new layer group of layers first..last of a pair, born at t, in its place among the extra ones, which must
 * have room.
 */
void tac_groups_append(struct tac_sim *sim, struct tac_rate_group *c, int32_t slot, int32_t first, int32_t last,
                       tac_time t);
/* Local. Drops what was marked (pair < 0) and merges the extra layer groups. */
enum tac_err tac_groups_settle(struct tac_sim *sim, struct tac_rate_group *c);

#endif
