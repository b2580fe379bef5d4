/* path.h: tells whether a pair may come under a distance along the recorded paths of a pass. The answer is
 * conservative: no is certain, yes may be wrong. */
#ifndef TACTUS_EVENTS_WINDOWS_PATH_H
#define TACTUS_EVENTS_WINDOWS_PATH_H

#include "events/sim.h"
#include "geometry/sweep.h"

/* Local. tac_sweep() along the paths of a pass in [t0, t1], by the breakpoints of its near vertices. Returns the time
 * before which nothing happens, rounded down to a quantum, or TAC_TIME_NEVER. All vertices must be near, or held. */
tac_time tac_path_sweep(const struct tac_sim *sim, enum tac_pair_type type, const tac_lid v[4], tac_time t0,
                        tac_time t1, double threshold, double tolerance);

#endif
