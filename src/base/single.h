/* single.h: numbers in single precision that are certainly not above, or not below, what they stand for. */
#ifndef TACTUS_BASE_SINGLE_H
#define TACTUS_BASE_SINGLE_H

#include <float.h>
#include <math.h>

/* The two of x, which may be infinite: a float is within 2^-24 of what it stands for, and the least one is 2^-149. */
static inline float tac_single_below(double x)
{
    const double y = x > FLT_MAX ? FLT_MAX : x;
    return (float)(y - 0x1p-23 * fabs(y) - 0x1p-140);
}
static inline float tac_single_above(double x)
{
    const double y = x < -FLT_MAX ? -FLT_MAX : x;
    return (float)(y + 0x1p-23 * fabs(y) + 0x1p-140);
}

#endif
