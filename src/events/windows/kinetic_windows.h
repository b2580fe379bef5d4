/* kinetic_windows.h: runs windows with kinetic data structures (docs/reference/kinetic.md). */
#ifndef TACTUS_EVENTS_WINDOWS_KINETIC_WINDOWS_H
#define TACTUS_EVENTS_WINDOWS_KINETIC_WINDOWS_H

#include "events/sim.h"
#include "kds/kinetic.h"

/* Local. Within a window: renews the certificates of sim->find.kinetic and runs the next instant, or advances to
 * `limit` if no instant is left. If a pair would pass through its whole layer stack before
 * (sim->find.kinetic->stuck_at), it does not advance. */
enum tac_err tac_kinetic_step(struct tac_sim *sim, tac_time limit);

/* ---- several ranks ---- */
struct tac_validation;
/* Neighbours. Replaces tac_pass_run(): runs the pass up to `end`, and proves this rank's own pairs before each instant.
 * sim->state.now is the window's start before and after the call. */
enum tac_err tac_kinetic_run(struct tac_sim *sim, tac_time end);
/* Local. Adds to the validation what the pass found outside the candidate list: a pair of this rank that passes through
 * its layer stack, or a layer group that would tick too often. */
void tac_kinetic_validate(const struct tac_find *find, struct tac_validation *validation);
/* Local. Call it after a rollback to the start of the window. */
void tac_kinetic_restored(struct tac_find *find);
/* Local. Call it between windows: drops layer groups that will be silent for a while by this rank's own certificates.
 */
enum tac_err tac_kinetic_committed(struct tac_sim *sim);

#endif
