/* follow.h: what is followed through time beside the frames: reactions of held bodies, at frames, and histories of
 * chosen vertices, at intervals of their own.  Both are functions of the state of an instant, and change nothing. */
#ifndef TACTUS_RUN_FOLLOW_H
#define TACTUS_RUN_FOLLOW_H

#include "run/simulation.h"
#include <tactus/output.h>

/* Local. The next instant after `now` (from: or at it) at which a history has rows; TAC_TIME_NEVER: none. */
tac_time tac_follow_next(const struct tac_scene *scene, tac_time now, bool from);
/* Collective. Writes the rows of now of all histories that are due. */
enum tac_err tac_follow_histories(struct tac_simulation *sim, struct tac_output *out);
/* Collective. Writes the rows of now of all bodies that are held at some time.  Call before the contact impulses are
 * set to zero. */
enum tac_err tac_follow_reactions(struct tac_simulation *sim, struct tac_output *out);

#endif
