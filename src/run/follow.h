/* follow.h: tables beside the frames: reactions of held bodies, at each frame, and histories, at intervals of their
 * own. Writing them does not change the state. */
#ifndef TACTUS_RUN_FOLLOW_H
#define TACTUS_RUN_FOLLOW_H

#include "run/simulation.h"
#include <tactus/output.h>

/* Local. The next instant after `now` (from: or at it) at which a history has rows; TAC_TIME_NEVER: none. */
tac_time tac_follow_next(const struct tac_scene *scene, tac_time now, bool from);

/* What histories keep from row to row, so that each crossing of a plane is counted once and a mean begins at the row
 * before. It is the same on all ranks and is part of checkpoints. */
struct tac_follow; /* opaque */

/* Collective. word (count): from the checkpoint that the run continues from (NULL: none); a history that is not in it
 * begins here. TAC_ERR_INPUT: the words are damaged. */
enum tac_err tac_follow_create(struct tac_simulation *sim, const int64_t *word, int64_t count, struct tac_follow **out);
/* Local. NULL is allowed; leaves NULL. */
void tac_follow_destroy(struct tac_follow **follow);
/* Local. Stores it for a checkpoint: *word (owned by the caller), *count of them. */
enum tac_err tac_follow_store(struct tac_ctx *ctx, const struct tac_scene *whole, const struct tac_follow *follow,
                              int64_t **word, int64_t *count);
/* Collective. Call it at a frame, before the contact impulses are set to zero. */
enum tac_err tac_follow_frame(struct tac_simulation *sim, struct tac_follow *follow);
/* Collective. Writes the rows of now of all histories that are due. */
enum tac_err tac_follow_histories(struct tac_simulation *sim, struct tac_follow *follow, struct tac_output *out);
/* Collective. Writes the rows of now of all bodies that are held at some time.  Call before the contact impulses are
 * set to zero. */
enum tac_err tac_follow_reactions(struct tac_simulation *sim, struct tac_output *out);

#endif
