/* slack.h: which candidates must be looked at after a window, and which cannot have become near
 * (docs/reference/engine.md, Windows). */
#ifndef TACTUS_EVENTS_WINDOWS_SLACK_H
#define TACTUS_EVENTS_WINDOWS_SLACK_H

#include "base/four.h"
#include "broadphase/candidates.h"
#include "events/sim.h"
#include <string.h>

enum { TAC_SLACKS = 32 }; /* candidates that are handled together */

/* In the next windows a vertex is expected to leave its chord by up to this many times its deviation in the last one.
 */
#define TAC_EXPECTED_DEVIATIONS 4.

/* A candidate is looked at more closely when it is above its next layer by less than this margin, m: a twentieth of the
 * layer's distance; for a limit, a twentieth of its thickness, which follows from its tolerance. */
static inline double tac_slack_margin(const struct tac_candidate *q)
{
    return .05 * (tac_pair_is_limit((enum tac_pair_type)q->type) ? 1e7 * q->tolerance : (double)q->next);
}

TAC_FOUR_INLINE double tac_slack_larger(double a, double b)
{
    return a > b ? a : b;
}

/* The row (u, deviation) of a vertex. */
TAC_FOUR_INLINE tac_four tac_slack_row(const struct tac_move *move)
{
    tac_four row;
    memcpy(&row, move->u, sizeof row);
    return row;
}

/* The largest change of a contact's distance over the pass along the chords, m, as tac_relative() computes it;
 * *deviation: what deviations from the chords may add to it.  The four (or fewer) pairs of vertices of different
 * primitives are computed side by side.  The rows are not an array: gcc would copy them in a loop, by halves and
 * through memory. */
TAC_FOUR_INLINE double tac_slack_change(const struct tac_move *move, const struct tac_slack *s, double *deviation)
{
    const bool edges = s->v[0] < 0;
    const long long all = edges ? -1 : 0;
    const tac_four_mask two = {all, all, all, all};
    tac_four d[3];
    const tac_four p = tac_slack_row(&move[edges ? ~s->v[0] : s->v[0]]), q = tac_slack_row(&move[s->v[1]]),
                   r = tac_slack_row(&move[s->v[2]]), t = tac_slack_row(&move[s->v[3]]);
    /* Of a vertex and what it may meet 0-2, 0-3, 0-1 and 0-3 again; of edges 0-2, 0-3, 1-2, 1-3. */
    const tac_four from = tac_four_select(two, q, p), to = tac_four_select(two, r, q);
    tac_four_columns(d, p - r, p - t, from - to, from - t);
    const tac_four square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    *deviation = tac_slack_larger(p[3], from[3]) + tac_slack_larger(tac_slack_larger(r[3], t[3]), to[3]);
    return sqrt(tac_slack_larger(tac_slack_larger(square[0], square[1]), tac_slack_larger(square[2], square[3])));
}

/* Sets that candidate k must be looked at. */
static inline void tac_slack_clear(struct tac_candidates *c, size_t k)
{
    c->slack.of[k].start = c->slack.of[k].end = -INFINITY;
}

/* Local. Call it once for each validation of a pass up to `end`, before tac_slack_use(). */
void tac_slack_begin(const struct tac_sim *sim, tac_time end);
/* Local. Subtracts from the slacks of candidates [begin, begin + count) of the list what the motions of the pass use
 * up; count is at most TAC_SLACKS. Lists in due[] those that must be looked at, in their order, and returns their
 * number. */
size_t tac_slack_use(struct tac_candidates *c, size_t begin, size_t count, size_t due[TAC_SLACKS]);
/* Local. Call it when the pass is committed and the next window will be at most `ahead` / 2 times as long. */
void tac_slack_commit(struct tac_candidates *c, double ahead);
/* Local. After a commit: is it unnecessary to look at candidate k, both ahead and in the window that was run? */
static inline bool tac_slack_left(const struct tac_candidates *c, size_t k)
{
    return c->slack.of[k].start > -INFINITY;
}
/* Local. After a commit: gives candidate k, whose distance now is at least q->d, a slack by that distance, if it can
 * have one.
 */
void tac_slack_lay(struct tac_candidates *c, size_t k);

#endif
