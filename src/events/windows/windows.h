/* windows.h: what speculative windows and, on several ranks, windows with kinetic structures have in common.
 *
 * Lengths of windows are in ticks of the period that has most of the elastic work.  When a window has been run, chords
 * and deviations tell how each vertex moved in it, and whether it kept to its trajectory bound of the candidate list.
 */
#ifndef TACTUS_EVENTS_WINDOWS_WINDOWS_H
#define TACTUS_EVENTS_WINDOWS_WINDOWS_H

#include "events/sim.h"

/* Collective; local on one rank. Sets the lengths sim->windows.length*, from the scene's clocks and discovery.window_s.
 */
enum tac_err tac_windows_choose(struct tac_sim *sim);
/* Local. The period that most of the elastic work of this rank has; else that of first layers, quanta. */
tac_time tac_windows_main_period(const struct tac_sim *sim);
/* Collective; local on one rank. After the state was put in: the shortest active period, sim->windows.least_period. */
enum tac_err tac_windows_agree(struct tac_sim *sim);
/* Local. The shortest period of this rank: active, or wanted in the last pass. */
tac_time tac_windows_least(const struct tac_sim *sim);
/* Local. How long the next window should be: sim->windows.length, unless some layer group would tick too often in it.
 * A pair that is thrown deep into its layer stack is there for some ten ticks of its deepest layer group, which may be
 * a millionth of sim->windows.length; all other ticks of that layer group are silent. */
tac_time tac_windows_ask(const struct tac_sim *sim);
/* Local. What passes have cost this rank since it was last asked for, beside the forces that acted: see windows.c. */
int64_t tac_windows_cost(struct tac_sim *sim);
/* Local; the same on all ranks. After a commit: the next length.  `attempts` passes were thrown away; `asked`: the
 * length that the window had to have, which a frame, a knot or a deep layer may have cut. */
void tac_windows_adapt(struct tac_sim *sim, int attempts, tac_time asked);
/* Local. A pair is deep if it has a layer group of a shorter period: windows are shortened for it. 0: they have no
 * length. */
static inline tac_time tac_windows_deep(const struct tac_sim *sim)
{
    return sim->windows.ticks > 0 ? sim->windows.length / sim->windows.ticks : 0;
}
/* Local. Chords and deviations of the pass to `end`, into sim->view.candidates. Returns false if some vertex is not
 * finite (its index in *bad). *wildest: the largest deviation, m. */
bool tac_windows_measure(struct tac_sim *sim, tac_time end, tac_lid *bad, double *wildest);
/* Local. Do all vertices keep to their trajectory bounds during the pass? Tells those that do not in the candidates'
 * leavers, up to one more than their most, which also says that the list has ended. With `keep` (at a commit) it
 * updates offsets instead. */
bool tac_windows_hold(struct tac_sim *sim, tac_time end, bool keep);

#endif
