/* evaluate_four.h: evaluates four pairs at an instant side by side (docs/reference/engine.md, Layer groups). */
#ifndef TACTUS_CONTACT_EVALUATE_FOUR_H
#define TACTUS_CONTACT_EVALUATE_FOUR_H

#include "contact/pairs/active.h"
#include "state/position.h"

/* Local. Evaluates at t four pairs of one type, of a vertex and a triangle or of two edges; one pair may stand for
 * several.  Pair l is silent if its distance is certainly over silent_over[l] [m]; then bit l of the result is set. For
 * the others g[l] and the values that the pair keeps are set, with the bits of tac_pair_evaluate(). bound: lower bounds
 * of the distances, m.
 */
int tac_pairs_evaluate_four(const struct tac_vertex_state *state, const struct tac_scripts *scripts,
                            struct tac_pair *const p[4], const double silent_over[4], double bound[4], tac_time t,
                            struct tac_pair_geometry *const g[4]);
/* Does the same for pairs of two particles. */
int tac_particles_evaluate_four(const struct tac_vertex_state *state, const struct tac_scripts *scripts,
                                struct tac_pair *const p[4], const double silent_over[4], double bound[4], tac_time t,
                                struct tac_pair_geometry *const g[4]);

#endif
