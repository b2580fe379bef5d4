/* slack.h: which candidates must be looked at after a window, and which cannot have become near (docs/engine.md,
 * Windows). */
#ifndef TACTUS_EVENTS_SPECULATION_SLACK_H
#define TACTUS_EVENTS_SPECULATION_SLACK_H

#include "broadphase/candidates.h"
#include "events/sim.h"

enum { TAC_SLACKS = 32 }; /* candidates that are asked for together */

/* In the next windows a vertex is expected to leave its chord by up to so many times what it did in the last. */
#define TAC_WANDER 4.

/* Margin above its next layer in which a candidate is looked at more closely: a twentieth of the distance; of a limit,
 * of its thickness, which its tolerance tells. */
static inline double tac_slack_margin(const struct tac_candidate *q)
{
    return .05 * (tac_pair_is_limit((enum tac_pair_type)q->type) ? 1e7 * q->tolerance : q->next);
}

/* Local. Once for each judgement of a pass up to `end`, before tac_slack_use(). */
void tac_slack_begin(const struct tac_sim *sim, tac_time end);
/* Local. Uses up what the motions of the pass take of the slacks of candidates [begin, begin + count) of the list,
 * count at most TAC_SLACKS.  Those that must be looked at are told in due[], in their order; how many. */
size_t tac_slack_use(struct tac_candidates *c, size_t begin, size_t count, size_t due[TAC_SLACKS]);
/* Local. The pass is right, and the next window will be at most `ahead` / 2 times as long. */
void tac_slack_commit(struct tac_candidates *c, double ahead);
/* Local. After a commit: need candidate k not be looked at, ahead or in the window that was run? */
static inline bool tac_slack_left(const struct tac_candidates *c, size_t k)
{
    return c->slack.of[k].start > -INFINITY;
}
/* Local. After a commit: candidate k, whose distance now is at least q->d, has that as its slack, if it can have one.
 */
void tac_slack_lay(struct tac_candidates *c, size_t k);

#endif
