/* simulated.h: the work that a simulated rank declares (work.h). */
#ifndef TACTUS_SIMULATED_H
#define TACTUS_SIMULATED_H

#include "work.h"

#include <stdint.h>

struct tac_simulation;

enum work_kind { WORK_FORCES, WORK_CONTACT, WORK_DISCOVERY, WORK_BOUNDS, WORK_SOLVE, WORK_KINDS };

struct work {
    int64_t count[WORK_KINDS];
    double seconds[WORK_KINDS];
    double spent_s[WORK_WITH];  /* in calls of MPI: transfers, and waiting for others ... */
    double waited_s[WORK_WITH]; /* ... of it until the last of these had come */
    int64_t messages, bytes;    /* in passes and discovery */
    int64_t meetings;           /* calls of all ranks */
};

/* Local. Call on each rank after MPI_Init(): of how many ranks, what one unit of each kind costs, s, and whether the
 * network is one of delays (quiet.h). */
void work_begin(int ranks, const double cost_s[WORK_KINDS], bool delays);
/* Local. From now on the work of this rank is that of `sim` (borrowed); NULL: it has none. */
void work_watch(struct tac_simulation *sim);
/* Local. All that this rank declared. */
struct work work_told(void);

#endif
