/* implicit_plates.h: declares how ranks work together on plates that are unknowns (docs/explanation/distribution.md,
 * The implicit integrator).
 *
 * A plate is a body whose vertices are never free, but which a script moves. While these vertices are unknowns
 * (newton.pull > 0), they take part in all pairs of the plate, and there may be as many as on all other ranks together.
 * Their owner does not have these pairs: the rank that counts a pair evaluates it, and sends the owner what the pair
 * adds to the gradient and to the matrix. The owner adds this between its own pairs, in the order of keys, so with the
 * bits that it would find itself.
 */
#ifndef TACTUS_IMPLICIT_RANKS_IMPLICIT_PLATES_H
#define TACTUS_IMPLICIT_RANKS_IMPLICIT_PLATES_H

#include "implicit/system.h"

/* A pair that another rank has evaluated. */
struct tac_plate_pair {
    size_t place; /* how many of this rank's own pairs of the sort come before it */
    enum tac_pair_type type;
    tac_lid v[4];
    const double *g, *dense; /* of the last gradient (n, 3); of the last matrix, over the nodes of the pair */
};

/* Local. The next pair of the sort that came and belongs before own pair e, and *next goes on; NULL: none is left. */
const struct tac_plate_pair *tac_plates_next(const struct tac_implicit *sim, enum tac_pair_sort sort, size_t e,
                                             size_t *next);
/* Local. The matrix of own pair e, if it was evaluated in order to be sent, else NULL. Call it with ascending e, and
 * with *next = 0 at first. */
const double *tac_plates_ready(const struct tac_implicit *sim, enum tac_pair_sort sort, size_t e, size_t *next);
/* Local. Returns how many pairs of the sort came. */
size_t tac_plates_count(const struct tac_implicit *sim, enum tac_pair_sort sort);
/* Local. Adds what such pairs before own pair e add to the gradient. */
void tac_plates_push(struct tac_implicit *sim, enum tac_pair_sort sort, size_t e, size_t *next);

/* Local. Makes *shown, with room for the ghosts of plates (count), which tac_plates_mark() marks. */
enum tac_err tac_plates_shown(struct tac_implicit *sim, size_t count, tac_lid **shown);

/* Neighbours. Exchange the gradients of pairs that slide or touch, at x; the matrices of all pairs, at x, and the
 * forces of foreseen ones. A rank that fails goes on to the next meeting of all: the second one returns the error; err:
 * of what this rank did before. */
void tac_plates_gradients(struct tac_implicit *sim, const double *x);
enum tac_err tac_plates_matrices(struct tac_implicit *sim, enum tac_err err, const double *x,
                                 enum tac_curvature curvature);

#endif
