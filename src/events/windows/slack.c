/* slack.c: which candidates must be looked at after a window (docs/reference/engine.md, Windows).
 *
 * Most candidates are far from their first layer in most windows. Such a candidate has a *slack*: the excess of its
 * distance over the distance under which it must be looked at. Each window subtracts a bound of the change of the
 * distance. So for most candidates only a record of 24 bytes and the motions of four vertices are read; the candidate's
 * own record is read when the slack is used up.
 *
 * A pass may be run again. So a slack has two values, at the start and at the end of the pass, and only a commit
 * replaces the first by the second. */
#include "events/windows/slack.h"
#include "events/windows/windows.h"

/* When a pass is validated, the next window is assumed to be this many times as long as wanted. */
static const double LONGER = 2;

/* Returns a lower bound of the distance of a candidate with this slack. The tolerance, which the slack does not
 * include, remains for rounding. */
TAC_FOUR_INLINE double distance_of(const struct tac_candidate *q, double slack)
{
    return q->next + tac_slack_margin(q) + slack;
}

/* Rounds a number that is not negative down to single precision. */
TAC_FOUR_INLINE float lower(double x)
{
    return (float)(x * (1 - 0x1p-22));
}

void tac_slack_begin(const struct tac_sim *sim, tac_time end)
{
    struct tac_candidates *c = sim->view.candidates;
    const double next = LONGER * (double)tac_windows_ask(&sim->windows) / (double)(end - sim->paths.start);
    /* Of the change: what this window takes, and what look_ahead() foresees, twice each. */
    c->slack.factor = 1 + 2 * (2 * fmax(1, next));
}

TAC_MORE_VERSIONS size_t tac_slack_use(struct tac_candidates *c, size_t begin, size_t count, size_t due[TAC_SLACKS])
{
    const struct tac_move *move = c->move;
    const bool committed = c->slack.committed;
    const double factor = c->slack.factor;
    size_t found = 0;
    for (size_t k = begin; k < begin + count; k++) {
        struct tac_slack *s = &c->slack.of[k];
        double deviation;
        const float now = committed ? s->end : s->start;
        s->start = now;
        if (now > 0) {
            const double change = tac_slack_change(move, s, &deviation);
            if (now > factor * change + TAC_EXPECTED_DEVIATIONS * deviation) {
                s->end = lower(now - change);
                continue;
            }
            c->list[k].d = tac_single_below(distance_of(&c->list[k], now));
        }
        tac_slack_clear(c, k);
        tac_candidate_fetch(&c->list[k]); /* it will be looked at */
        due[found++] = k;
    }
    return found;
}

void tac_slack_commit(struct tac_candidates *c, double ahead)
{
    c->slack.committed = true;
    if (1 + 2 * ahead <= c->slack.factor)
        return;
    /* The next window is longer than was foreseen: all are looked at now. */
    for (size_t k = 0; k < c->known; k++) {
        struct tac_slack *s = &c->slack.of[k];
        double deviation;
        if (!(s->start > 0))
            continue;
        const double change = tac_slack_change(c->move, s, &deviation);
        c->list[k].change = tac_single_above(change);
        c->list[k].d = tac_single_below(distance_of(&c->list[k], s->end) + change);
        tac_slack_clear(c, k);
    }
}

void tac_slack_lay(struct tac_candidates *c, size_t k)
{
    const struct tac_candidate *q = &c->list[k];
    const double slack = (double)q->d - q->next - q->tolerance - tac_slack_margin(q);
    /* What would be used up in the next window is not asked for. */
    const bool lasts = q->slot < 0 && q->type < TAC_PAIR_TYPES && slack > c->slack.factor * q->change;
    c->slack.of[k].end = lasts ? lower(slack) : -INFINITY;
}
