/* along.h: finds candidates for an integrator that moves all vertices together along straight lines.
 *
 * Such an integrator needs the pairs that come near on the straight path from x to x + part p. Every vertex has its own
 * line, but all are at the same share of it at a time. The integrator keeps its own list of the pairs that it is given.
 * This list is complete as long as the path for which it was made has a share at which no vertex is farther from its
 * present position than the skin. With a larger skin a list lasts longer, and has more pairs. The best skin is found by
 * trials, whose costs are counts of work. Where only few vertices are farther from their paths, and there is one rank,
 * these get other paths, and only their pairs are searched again.
 *
 *     TAC_TRY(tac_along_holds(along, x, p, part, &holds));
 *     if (!holds)
 *         TAC_TRY(tac_along_repair(along, x, p, part, take, context, &repaired));
 *     if (repaired) {
 *         ... removes the pairs with a vertex v that has along->left[v], and enters those that it was given ...
 *     } else if (!holds) {
 *         ... empties its list ...
 *         TAC_TRY(tac_along_find(along, x, p, part, take, context));
 *         tac_along_enter(along, count);
 *     }
 *     tac_along_use(along, count);
 *
 * On several ranks (view->halo) a search gets remote primitives as for the asynchronous integrator, and with them new
 * ghosts, so arrays of vertices may be reallocated. All ranks agree whether a list is complete, because a list has one
 * share for all.
 */
#ifndef TACTUS_BROADPHASE_ALONG_H
#define TACTUS_BROADPHASE_ALONG_H

#include "broadphase/candidates.h"

struct tac_along {
    struct tac_view *view;             /* borrowed */
    struct tac_candidates *candidates; /* owned; x, move[].u and skin are those of the list */
    double skin_most;                  /* m */
    bool fixed;                        /* the skin: by a test */
    bool made;                         /* there is a list */
    double share[2];            /* where on the list's path the last path that it was asked for begins and ends */
    uint8_t *left;              /* owned, (V): 1: the last repair gave the vertex another path; on one rank */
    struct tac_descent descent; /* of the skin */
    double cost;                /* of lists and their use since the skin was chosen, ns by counts */
    int directions;             /* that they have served */
    double spent;               /* as `cost`, since it was made */
};

/* Collective; local on one rank. Creates the search. times > 0: the skin is always this multiple of the largest one
 * that is tried otherwise. */
enum tac_err tac_along_create(struct tac_view *view, double times, struct tac_along **out);
void tac_along_destroy(struct tac_along **along);

/* Collective; local on one rank. Call it when a direction p (V, 3) begins at x (V, 3). *part: the part of p for which
 * to find pairs first: 1, unless p is long and the present list is not complete for all of it. */
enum tac_err tac_along_begin(struct tac_along *along, const double *x, const double *p, double *part);
/* Collective; local on one rank. *holds: the list has all pairs for the positions between x and x + part p. */
enum tac_err tac_along_holds(struct tac_along *along, const double *x, const double *p, double part, bool *holds);
/* Local. Call it after tac_along_holds() for the same positions. Makes the list complete for them, where that costs
 * less than a new one: few vertices are not near their paths, and there is one rank. It gives these vertices,
 * along->left, other paths, and passes their pairs to `take`. The integrator must remove the pairs with such a vertex
 * that it had. *done: false if a new list must be made. */
enum tac_err tac_along_repair(struct tac_along *along, const double *x, const double *p, double part,
                              tac_take_pair *take, void *context, bool *done);
/* Collective. Passes all pairs of a new list to `take`, each once, in no fixed order: those whose distance may come
 * under their radius plus view->margin times their thickness. */
enum tac_err tac_along_find(struct tac_along *along, const double *x, const double *p, double part, tac_take_pair *take,
                            void *context);
/* Local, on one rank. The vertices v with changed[v] have got other displacements since the last list, which was made
 * at the same x for part = 1: passes the pairs that have such a vertex. The new list has no others, and knows the new
 * displacements. *done: false if a whole list must be made instead, as the others do not keep to the paths of the
 * last one. */
enum tac_err tac_along_find_changed(struct tac_along *along, const double *p, const uint8_t *changed,
                                    tac_take_pair *take, void *context, bool *done);
/* Local. Count the work when a list of so many pairs has been written, and when it is used once. */
void tac_along_enter(struct tac_along *along, size_t count);
void tac_along_use(struct tac_along *along, size_t count);

#endif
