/* path.h: tells whether a pair may come under a distance along the recorded paths of a pass. The answer "no" is
 * certain; the answer "yes" may be wrong. */
#ifndef TACTUS_EVENTS_WINDOWS_PATH_H
#define TACTUS_EVENTS_WINDOWS_PATH_H

#include "events/sim.h"
#include "geometry/sweep.h"

/* Local. Does what tac_sweep() does, along the paths of a pass in [t0, t1], from the breakpoints of near vertices.
 * Returns a time before which the pair stays above the threshold, rounded down to a quantum, or TAC_TIME_NEVER. Every
 * vertex must be near, or held. */
tac_time tac_path_sweep(const struct tac_sim *sim, enum tac_pair_type type, const tac_lid v[4], tac_time t0,
                        tac_time t1, double threshold, double tolerance);

#endif
