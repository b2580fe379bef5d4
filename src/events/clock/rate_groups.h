/* rate_groups.h: the active layer groups, by rate class. All layer groups of one period are one array in the order of
 * their keys. Those that are added in mid-window are in a second sorted array, `extra`, until tac_groups_settle()
 * merges them. The functions tac_active_*() (sim.h) add and drop layer groups.
 */
#ifndef TACTUS_EVENTS_CLOCK_RATE_GROUPS_H
#define TACTUS_EVENTS_CLOCK_RATE_GROUPS_H

#include "events/sim.h"

/* Local. Does a tick before b in their class? The order is by key, then by first layer. */
bool tac_groups_before(const struct tac_layer_group *a, const struct tac_layer_group *b);
/* Local. Finds the class of a period (quanta). With free clocks the class may have to be made; this may be done between
 * passes, or when all forces of an instant have ticked (tac_clock_shift()). */
enum tac_err tac_rate_group_of(struct tac_sim *sim, tac_time period, size_t *index);
/* Local. Returns the layer group of a pair in a class, or NULL. `first` distinguishes layer groups of one pair.
 */
struct tac_layer_group *tac_groups_find(struct tac_rate_group *c, uint64_t key, int32_t first);
/* Local. Returns a layer group of layers first..last of a pair, born at t and silent so far, with an anchor if the pair
 * has friction.
 */
struct tac_layer_group tac_groups_new(struct tac_active *active, const struct tac_model *model, int32_t slot,
                                      int32_t first, int32_t last, tac_time t);
/* Local. Inserts a new layer group of layers first..last of a pair, born at t, into the extra ones, which must have
 * room.
 */
void tac_groups_append(struct tac_active *active, const struct tac_model *model, struct tac_rate_group *c, int32_t slot,
                       int32_t first, int32_t last, tac_time t);
/* Local. Drops what was marked (pair < 0) and merges the extra layer groups. */
enum tac_err tac_groups_settle(struct tac_ctx *ctx, struct tac_rate_group *c);

#endif
