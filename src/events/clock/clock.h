/* clock.h: finds the instants at which forces are due, and lists the forces that are due at an instant. */
#ifndef TACTUS_EVENTS_CLOCK_CLOCK_H
#define TACTUS_EVENTS_CLOCK_CLOCK_H

#include <tactus/base.h>

struct tac_sim;

struct tac_alarm {
    tac_time t, period;
    int32_t index; /* >= 0: elastic class; < 0: layer group class ~index */
};

/* The classes that are due at the current instant, and, with free clocks, the times at which classes tick next. */
struct tac_clocks {
    size_t heap_count, heap_capacity;
    struct tac_alarm *heap; /* owned; free clocks only */
    size_t due_elastic_count, due_group_count;
    int32_t *due_elastic; /* owned: indices of classes, ascending period */
    int32_t *due_group;   /* owned */
    size_t due_group_capacity;
};

/* Local. Prepares the clocks for a pass from sim->state.now on. */
enum tac_err tac_clock_start(struct tac_sim *sim);
/* Local. Returns the next instant after t and lists its due classes in sim->clocks.due_*. Returns TAC_TIME_NEVER if
 * there is none before `limit`. */
tac_time tac_clock_next(struct tac_sim *sim, tac_time t, tac_time limit);
/* Local. Call it with free clocks, at the end of an instant of a pass, when a class of layer groups was inserted at
 * `index`. */
enum tac_err tac_clock_shift(struct tac_sim *sim, size_t index);
/* Local. Call it with free clocks, at the end of instant t of a pass: the class at `index`, which had no layer group,
 * ticks too from then on. */
enum tac_err tac_clock_add(struct tac_sim *sim, size_t index, tac_time t);

#endif
