/* validation.h: finds the contacts that a pass has missed (docs/explanation/method.md, Finding contacts).
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
    tac_time t; /* the pair is silent before */
};

struct tac_validation {
    size_t count, capacity;
    struct tac_missed_contact *miss; /* owned */
    tac_time earliest;               /* first time of a miss; after tac_validation_reduce() of all ranks */
    tac_time bottom;                 /* the same for pairs that have passed through their whole layer stack */
    size_t open_count, open_capacity;
    size_t *open;           /* owned: candidates that wait for paths of other ranks */
    enum tac_repair repair; /* what the list needs; after tac_validation_reduce() the most that any rank needs */
    bool wild;              /* vertices moved too far for the window, or their positions are not numbers */
    tac_gid bad;            /* a vertex that is not finite, or -1 */
    double wildest;
    tac_time period; /* the shortest period that is active or was missed, quanta */
};

/* Local. Fills x with the positions (m) of v, which are q's vertices, at the start of the pass, and u with their
 * displacements (m) over it. */
void tac_validation_chords(const struct tac_model *model, const struct tac_view *view, const struct tac_candidate *q,
                           const tac_lid v[4], double x[4][3], double u[4][3]);
/* Did the deepest layer group of a pair do nothing in the pass? */
static inline bool tac_validation_silent(const struct tac_pair *p)
{
    return p->deep_last == INFINITY && p->active < p->deep_first;
}
/* What a rank has to validate: nothing yet; its list; no more, because its last result is valid. */
enum tac_validation_part { TAC_VALIDATE_NOTHING, TAC_VALIDATE_LIST, TAC_VALIDATE_NO_MORE };
/* Neighbours. Validates the pass up to `end` with the present list. All ranks call it together. */
enum tac_err tac_validate(struct tac_sim *sim, tac_time end, struct tac_validation *validation,
                          enum tac_validation_part part);
/* Collective. Combines what all ranks have found. */
enum tac_err tac_validation_reduce(struct tac_sim *sim, struct tac_validation *validation);

#endif
