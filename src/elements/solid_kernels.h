/* solid_kernels.h: the kernels of solids, for one tetrahedron and for four side by side; inline. */
#ifndef TACTUS_ELEMENTS_SOLID_KERNELS_H
#define TACTUS_ELEMENTS_SOLID_KERNELS_H

#include "elements/kernels.h"
#include <tactus/scene.h>

#define REAL double
#define NAME(name) tac_one_##name
#define SELECT(condition, yes, no) ((condition) ? (yes) : (no))
#define SQRT(x) sqrt(x)
#include "elements/kernel_solid.h"
#undef REAL
#undef NAME
#undef SELECT
#undef SQRT

#define inline inline __attribute__((always_inline))
#define REAL tac_four
#define NAME(name) tac_four_##name
#define SELECT(condition, yes, no) tac_four_select((condition), (yes), (no))
#define SQRT(x) tac_four_sqrt(x)
#include "elements/kernel_solid.h"
#undef REAL
#undef NAME
#undef SELECT
#undef SQRT
#undef inline

#endif
