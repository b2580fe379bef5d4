/* along.h: candidates for an integrator that moves all vertices together along straight lines.
 *
 * Such an integrator asks for the pairs that come near on the straight path from x to x + part p: vertex by vertex in
 * space, but all of them at the same share of the path.  It keeps its own list of what it is shown.  The list has all
 * pairs as long as there is a share of the path that the list was made for from which no vertex is farther than the
 * skin.  With a larger skin a list lasts longer, and has more pairs. The best skin is found by trials, whose costs are
 * counts of work.
 *
 *     TAC_TRY(tac_along_holds(along, x, p, part, &holds));
 *     if (!holds) {
 *         ... empties its list ...
 *         TAC_TRY(tac_along_find(along, x, p, part, take, context));
 *         tac_along_enter(along, count);
 *     }
 *     tac_along_use(along, count);
 *
 * On several ranks (view->halo) a search brings what is remote as for the asynchronous integrator, new ghosts among it,
 * so arrays of the vertices may move.  All ranks agree whether a list holds, for a list needs one share for all.
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
    struct tac_descent descent;        /* of the skin */
    double cost;                       /* of lists and their use since the skin was chosen, ns by counts */
    int directions;                    /* that they have served */
    double spent;                      /* as `cost`, since it was made */
};

/* Collective; local on one rank.  times > 0: the skin is always so many times the largest that is tried. */
enum tac_err tac_along_create(struct tac_view *view, double times, struct tac_along **out);
void tac_along_destroy(struct tac_along **along);

/* Collective; local on one rank. A direction p (V, 3) begins at x (V, 3): *part: of it, for which to find pairs first.
 * 1, unless p is long and the list that there is does not hold for all of it. */
enum tac_err tac_along_begin(struct tac_along *along, const double *x, const double *p, double *part);
/* Collective; local on one rank. *holds: does the list have all pairs for the places between x and x + part p? */
enum tac_err tac_along_holds(const struct tac_along *along, const double *x, const double *p, double part, bool *holds);
/* Collective. Shows all pairs for a new list, each once, in no certain order: those whose distance may come under their
 * radius and view->margin times their thickness. */
enum tac_err tac_along_find(struct tac_along *along, const double *x, const double *p, double part, tac_take_pair *take,
                            void *context);
/* Local. A list of so many pairs has been written; is used once. */
void tac_along_enter(struct tac_along *along, size_t count);
void tac_along_use(struct tac_along *along, size_t count);

#endif
