/* kinetic.h: runs windows with kinetic data structures (docs/kds.md). On several ranks kinetic_ranks.c does this. */
#ifndef TACTUS_EVENTS_KINETIC_H
#define TACTUS_EVENTS_KINETIC_H

#include "events/sim.h"
#include "kds/kinetic.h"

/* Local. Within a window: renews the certificates of sim->find.kinetic, and runs the next instant, or goes to `limit`
 * if none is left.  Stays where it is if a pair comes through the end of its layer stack before
 * (sim->find.kinetic->stuck). */
enum tac_err tac_kinetic_step(struct tac_sim *sim, tac_time limit);

/* Collective. What several ranks need; sim->view.candidates is there. */
enum tac_err tac_kinetic_together(struct tac_sim *sim);
/* Collective. Commits one window. */
enum tac_err tac_kinetic_advance_together(struct tac_sim *sim, tac_time limit);

#endif
