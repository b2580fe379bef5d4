/* tactus/accum.h: sums that do not depend on their order.
 *
 * A fixed-point accumulator over the whole range of double: every finite double is added exactly, and the sum is
 * rounded to double once, when it is read.  So a sum over vertices or events is the same to the last bit for any
 * number of ranks and any order (invariance law, energy.csv).
 *
 *     struct tac_accum a = {0};
 *     tac_accum_add(&a, 0.1); tac_accum_add(&a, -0.1);
 *     tac_accum_value(&a) == 0.0
 */
#ifndef TACTUS_ACCUM_H
#define TACTUS_ACCUM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_ACCUM_LIMBS 68 /* 32 bits each, from 2^-1088 up */

struct tac_accum {
    int64_t limb[TAC_ACCUM_LIMBS]; /* carry-save; value = sum limb[i] 2^(32 i - 1088) */
    int32_t pending;               /* additions since the carries were last propagated */
    int32_t bad;                   /* a NaN or infinity was added: the value is NaN */
};

void tac_accum_add(struct tac_accum *a, double value);
/* Propagates the carries. Afterwards equal sums have equal bytes, as checkpoints need it, and the limbs of up to 2^30
 * ranks may be added with MPI_SUM; call this function again after that. */
void tac_accum_carry(struct tac_accum *a);
/* a += b, exactly. */
void tac_accum_merge(struct tac_accum *a, const struct tac_accum *b);
/* a -= b, exactly. */
void tac_accum_subtract(struct tac_accum *a, const struct tac_accum *b);
/* Returns the sum, rounded once (halves to even; underflow gives subnormal numbers). It does not change the sum. */
double tac_accum_value(const struct tac_accum *a);

#ifdef __cplusplus
}
#endif
#endif
