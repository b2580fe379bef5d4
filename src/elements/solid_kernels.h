/* solid_kernels.h: declares the kernels of solids, for one tetrahedron and for four side by side; they are inline. */
#ifndef TACTUS_ELEMENTS_SOLID_KERNELS_H
#define TACTUS_ELEMENTS_SOLID_KERNELS_H

#include "elements/kernels.h"
#include <string.h>
#include <tactus/scene.h>

/* x = m 2^n with m in 1 .. 2, of normal numbers above 0: returns m. */
static inline double tac_one_mantissa(double x, double *n)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    *n = (double)((bits >> 52) - 1023);
    bits = (bits & 0xfffffffffffff) | 0x3ff0000000000000;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline __attribute__((always_inline)) tac_four tac_four_mantissa(tac_four x, tac_four *n)
{
    /* A whole number under 2^52 in the low bits of 2^52 is that much more: no conversion, which not all machines have
     * for four. */
    *n = (tac_four)(((tac_four_mask)x >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
    return (tac_four)(((tac_four_mask)x & 0xfffffffffffff) | 0x3ff0000000000000);
}

#define KERNELS "elements/kernel_solid.h"
#include "elements/kernel_twice.h"

#endif
