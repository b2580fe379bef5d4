/* validation.h: looks back at a pass for contacts that it missed (docs/explanation/method.md, Finding contacts).
 *
 * Every candidate pair is bounded over the pass that was just run, or swept along the paths of its vertices.  For pairs
 * of several ranks, paths of vertices of other ranks may be needed; then all neighbours exchange messages. speculate.c
 * decides what follows from the result.
 */
#ifndef TACTUS_EVENTS_WINDOWS_VALIDATION_H
#define TACTUS_EVENTS_WINDOWS_VALIDATION_H

#include "broadphase/candidates.h"
#include "events/sim.h"

/* What was missed in a pass. */
struct tac_missed_contact {
    size_t candidate;
    tac_time t; /* nothing of it before */
};

struct tac_validation {
    size_t count, capacity;
    struct tac_missed_contact *miss; /* owned */
    tac_time earliest;               /* of all ranks, once they have talked */
    tac_time bottom;                 /* the same of pairs whose layer stack has ended */
    size_t open_count, open_capacity;
    size_t *open;           /* owned: candidates that wait for paths of other ranks */
    enum tac_repair repair; /* of the list; once ranks have talked, the most that any of them needs */
    bool wild;              /* the motion was too wild for the window, or no motion at all */
    tac_gid bad;            /* a vertex that is not finite, or -1 */
    double wildest;
    tac_time period; /* the shortest that is active or was missed */
};

/* Local. The places (m) of v, which are q's vertices, at the start of the pass and their ways (m) over it. */
void tac_validation_chords(const struct tac_sim *sim, const struct tac_candidate *q, const tac_lid v[4], double x[4][3],
                           double u[4][3]);
/* Did the deepest layer group of a pair do nothing in the pass? */
static inline bool tac_validation_silent(const struct tac_pair *p)
{
    return p->deep_last == INFINITY && p->active < p->deep_first;
}
/* What a rank has to judge: nothing yet; its list; no more, because what it has judged stands. */
enum tac_judge { TAC_JUDGE_NOTHING, TAC_JUDGE_LIST, TAC_JUDGE_NO_MORE };
/* Neighbours. Judges the pass up to `end` with the list as it is.  All ranks come here together. */
enum tac_err tac_validate(struct tac_sim *sim, tac_time end, struct tac_validation *validation, enum tac_judge judge);
/* Collective. What all ranks found. */
enum tac_err tac_validation_reduce(struct tac_sim *sim, struct tac_validation *validation);

#endif
