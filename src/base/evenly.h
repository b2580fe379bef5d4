/* evenly.h: sums that depend neither on the order of their terms nor on its mirror image.
 *
 * The terms are rounded to whole multiples of one small part of the largest term, 2^-80 of the power of two above it
 * (halves to even), added as integers, and the sum is rounded once. So a sum is a function of the set of its terms, and
 * it changes its sign if they all do. It is as exact as a sum in double precision needs to be, and much faster than
 * tactus/accum.h, which is exact.
 *
 *     force = tac_sum_evenly(term, count);
 *
 * A sum of terms that several ranks have is made in two steps, with the same bits as on one rank (of more than two
 * terms in all):
 *
 *     double most = tac_even_largest(a, b, n);              then the largest over the ranks
 *     tac_even_limbs(a, b, n, most, limb);                  then their sums over the ranks
 *     dot = tac_even_value(most, limb);
 */
#ifndef TACTUS_BASE_EVENLY_H
#define TACTUS_BASE_EVENLY_H

#include <stddef.h>
#include <stdint.h>

/* Local. Returns the sum of n terms; NAN if one of them is not finite. Parts of terms under 2^-980 are lost. */
double tac_sum_evenly(const double *term, size_t n);
/* Local. Returns the sum of the products a[i] b[i], each of which is rounded first. */
double tac_dot_evenly(const double *a, const double *b, size_t n);

enum { TAC_EVEN_LIMBS = 3 };

/* Local. Returns the largest size of the products; INFINITY: one of them is not finite. */
double tac_even_largest(const double *a, const double *b, size_t n);
/* Local. Sets limbs to the sum of the products; `most`: the largest of all ranks, finite. */
void tac_even_limbs(const double *a, const double *b, size_t n, double most, int64_t limb[TAC_EVEN_LIMBS]);
double tac_even_value(double most, const int64_t limb[TAC_EVEN_LIMBS]);

#endif
