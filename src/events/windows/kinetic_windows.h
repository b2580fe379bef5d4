/* kinetic_windows.h: runs windows with kinetic data structures (docs/reference/kinetic.md). On several ranks
 * kinetic_ranks.c does this. */
#ifndef TACTUS_EVENTS_WINDOWS_KINETIC_WINDOWS_H
#define TACTUS_EVENTS_WINDOWS_KINETIC_WINDOWS_H

#include "events/sim.h"
#include "kds/kinetic.h"

/* Local. Within a window: renews the certificates of sim->find.kinetic, and runs the next instant, or goes to `limit`
 * if none is left.  Stays where it is if a pair comes through the end of its layer stack before
 * (sim->find.kinetic->stuck). */
enum tac_err tac_kinetic_step(struct tac_sim *sim, tac_time limit);

/* ---- several ranks: kinetic_ranks.c ---- */
struct tac_validation;
/* Collective. What several ranks need; sim->view.candidates is there. */
enum tac_err tac_kinetic_together(struct tac_sim *sim);
/* Neighbours. In the place of tac_pass_run(): runs the pass up to `end`, and proves this rank's own pairs as it goes.
 * sim->state.now is the window's start before and after. */
enum tac_err tac_kinetic_run(struct tac_sim *sim, tac_time end);
/* Local. What the pass found beside the list: a pair of this rank that comes through its layer stack, or a layer group
 * that would tick too often. */
void tac_kinetic_judge(const struct tac_sim *sim, struct tac_validation *validation);
/* Local. All is as it was when the window began. */
void tac_kinetic_restored(struct tac_sim *sim);
/* Local. Between windows: drops what this rank's own certificates show to be silent for a while. */
enum tac_err tac_kinetic_committed(struct tac_sim *sim);

#endif
