/* single.h: rounds numbers to single precision in a known direction, downwards or upwards. */
#ifndef TACTUS_BASE_SINGLE_H
#define TACTUS_BASE_SINGLE_H

#include <float.h>
#include <math.h>

/* Return a bound of x from below and from above; x may be infinite.  Rounding to a float changes a number by at most
 * 2^-24 of it, and the least float is 2^-149. */
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
