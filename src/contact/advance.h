/* advance.h: how far a pair may go along a straight step before its distance has fallen to a given part
 * (docs/reference/implicit.md, Bound of a step): additive conservative advancement (Li et al. 2021).
 *
 * It asks the engine's own distance kernel, and subtracts what that and the places' rounding may be wrong by.  The
 * verifier of records (src/audit) shares nothing with it.
 */
#ifndef TACTUS_CONTACT_ADVANCE_H
#define TACTUS_CONTACT_ADVANCE_H

#include "geometry/closest_points.h"

/* Local. A share of the step p (4, 3), 0 to 1, at which the distance of the pair at x, less radius, is over `keep`
 * times what it is at x, or over keep times `most`, if that is less; on the way there it is never under half of that.
 * Where the step brings the pair no nearer than that it is 1.  0: they touch already, within rounding.  A share of
 * `enough` or more need not be the same for another `enough`, only as safe: of the least over many pairs `enough` is
 * the least so far. */
double tac_advance_safely(enum tac_pair_type type, const double x[4][3], const double p[4][3], double radius,
                          double keep, double most, double enough);

#endif
