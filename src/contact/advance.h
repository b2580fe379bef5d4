/* advance.h: how far a pair may go along a straight step before its distance has fallen to a given part
 * (docs/reference/implicit.md, Bound of a step): additive conservative advancement (Li et al. 2021).
 *
 * It uses the engine's own distance kernel, and subtracts a bound of that kernel's error and of the rounding of
 * positions. The audit of records (src/audit) shares nothing with it.
 */
#ifndef TACTUS_CONTACT_ADVANCE_H
#define TACTUS_CONTACT_ADVANCE_H

#include "geometry/closest_points.h"

/* Local. Returns a safe share, 0 to 1, of the step p (4, 3) of a pair at x. Let the gap be the distance less `radius`.
 * At the returned share the gap is larger than keep * min(gap at x, most), and before it the gap is never under half of
 * that. The share is 1 if the whole step brings the pair no nearer, and 0 if the pair touches already, within rounding.
 * If the share is at least `enough`, its value may depend on `enough`, but it is safe: a caller that wants the least
 * share over many pairs passes the least one so far as `enough`. */
double tac_advance_safely(enum tac_pair_type type, const double x[4][3], const double p[4][3], double radius,
                          double keep, double most, double enough);

#endif
