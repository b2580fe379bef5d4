/* windows.h: what speculative windows and, on several ranks, windows with kinetic structures have in common.
 *
 * The length of a window is a number of ticks of the period that has most of the elastic work. After a window was run,
 * chords and deviations describe how each vertex moved in it, and show whether it stayed in its trajectory bound.
 */
#ifndef TACTUS_EVENTS_WINDOWS_WINDOWS_H
#define TACTUS_EVENTS_WINDOWS_WINDOWS_H

#include "events/sim.h"

/* Collective; local on one rank. Sets the lengths sim->windows.length*, from the scene's clocks and discovery.window_s.
 */
enum tac_err tac_windows_choose(struct tac_sim *sim);
/* Local. Returns the period, quanta, that has most of the elastic work of this rank; without elements, the period of
 * first layers. */
tac_time tac_windows_main_period(const struct tac_sim *sim);
/* Collective; local on one rank. Sets sim->windows.least_period, the shortest active period, after a state was
 * restored. */
enum tac_err tac_windows_agree(struct tac_sim *sim);
/* Local. Returns the shortest period of this rank that is active or was wanted in the last pass, quanta. */
tac_time tac_windows_least(const struct tac_active *active, const struct tac_windows *windows);
/* Local. Returns the wanted length of the next window: sim->windows.length, unless some layer group would tick too
 * often in it. A pair that is thrown deep into its layer stack stays there for some ten ticks of its deepest layer
 * group, which may be a millionth of sim->windows.length; all other ticks of that layer group are silent. */
tac_time tac_windows_ask(const struct tac_windows *windows);
/* Local. Returns what passes have cost this rank since the last call, without the forces that acted (windows.c). */
int64_t tac_windows_cost(struct tac_sim *sim);
/* Local; the same on all ranks. After a commit: chooses the next length. `attempts`: passes that were thrown away;
 * `asked`: the wanted length of the window, which a frame, a knot or a deep layer may have cut. */
void tac_windows_adapt(struct tac_sim *sim, int attempts, tac_time asked);
/* Local. Returns the period, quanta, under which a layer group makes its pair deep: windows are shortened for such a
 * pair. 0: no length is chosen yet. */
static inline tac_time tac_windows_deep(const struct tac_windows *windows)
{
    return windows->ticks > 0 ? windows->length / windows->ticks : 0;
}
/* Local. Computes the chords and deviations of the pass to `end` in sim->view.candidates. Returns false if the position
 * of some vertex is not finite (*bad: its index). *wildest: the largest deviation, m. */
bool tac_windows_measure(struct tac_sim *sim, tac_time end, tac_lid *bad, double *wildest);
/* Local. Do all vertices stay in their trajectory bounds during the pass? Lists those that do not as leavers of the
 * candidates, up to leaver_most + 1; so many mean that the list has ended. With `keep` (at a commit) it updates the
 * offsets instead. */
bool tac_windows_hold(struct tac_sim *sim, tac_time end, bool keep);

#endif
