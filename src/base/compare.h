/* compare.h: comparisons for qsort() and bsearch(). The arguments point to a number, or to a struct that begins with
 * it; the result is -1, 0 or 1. */
#ifndef TACTUS_BASE_COMPARE_H
#define TACTUS_BASE_COMPARE_H

#include <stdint.h>

/* Local. Compares int32_t, such as tac_lid. */
static inline int tac_compare_int32(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Local. Compares int64_t, such as tac_gid and tac_time. */
static inline int tac_compare_int64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

#endif
