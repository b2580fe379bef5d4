/* follow.h: what is followed through time beside the frames: reactions of held bodies, at frames, and histories,
 * at intervals of their own.  They change nothing of the state. */
#ifndef TACTUS_RUN_FOLLOW_H
#define TACTUS_RUN_FOLLOW_H

#include "run/simulation.h"
#include <tactus/output.h>

/* Local. The next instant after `now` (from: or at it) at which a history has rows; TAC_TIME_NEVER: none. */
tac_time tac_follow_next(const struct tac_scene *scene, tac_time now, bool from);

/* What histories remember from row to row, so that a plane's crossings are counted once, and a mean is since the row
 * before; the same on all ranks, kept in checkpoints. */
struct tac_follow; /* opaque */

/* Collective. As the checkpoint from which the run goes on has it (NULL: nothing); a history that it does not know
 * begins here.  TAC_ERR_INPUT: the words make no sense. */
enum tac_err tac_follow_create(struct tac_simulation *sim, const int64_t *word, int64_t count, struct tac_follow **out);
/* Local. NULL is allowed; leaves NULL. */
void tac_follow_destroy(struct tac_follow **follow);
/* Local. For a checkpoint: *word (owned by the caller), *count of them. */
enum tac_err tac_follow_store(const struct tac_simulation *sim, const struct tac_follow *follow, int64_t **word,
                              int64_t *count);
/* Collective. At a frame, before the contact impulses are set to zero. */
enum tac_err tac_follow_frame(struct tac_simulation *sim, struct tac_follow *follow);
/* Collective. Writes the rows of now of all histories that are due. */
enum tac_err tac_follow_histories(struct tac_simulation *sim, struct tac_follow *follow, struct tac_output *out);
/* Collective. Writes the rows of now of all bodies that are held at some time.  Call before the contact impulses are
 * set to zero. */
enum tac_err tac_follow_reactions(struct tac_simulation *sim, struct tac_output *out);

#endif
