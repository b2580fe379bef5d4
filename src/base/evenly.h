/* evenly.h: sums that depend neither on the order of their terms nor on its mirror image.
 *
 * The terms are rounded to whole multiples of one small part of the largest term, 2^-80 of the power of two above it
 * (halves to even), added as integers, and the sum is rounded once. So a sum is a function of the set of its terms, and
 * it changes its sign if they all do. It is as exact as a sum in double precision needs to be, and much faster than
 * tactus/accum.h, which is exact.
 *
 *     force = tac_sum_evenly(term, count);
 */
#ifndef TACTUS_BASE_EVENLY_H
#define TACTUS_BASE_EVENLY_H

#include <stddef.h>

/* Local. Returns the sum of n terms; NAN if one of them is not finite. Parts of terms under 2^-980 are lost. */
double tac_sum_evenly(const double *term, size_t n);
/* Local. Returns the sum of the products a[i] b[i], each of which is rounded first. */
double tac_dot_evenly(const double *a, const double *b, size_t n);

#endif
