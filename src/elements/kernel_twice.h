/* kernel_twice.h: compiles the kernels of KERNELS, a file, for one element (REAL = double) and for four side by side
 * (REAL = a vector of four).  No include guard: the file that includes it defines KERNELS first. */
#define REAL double
#define NAME(name) tac_one_##name
#define SELECT(condition, yes, no) ((condition) ? (yes) : (no))
#define SQRT(x) sqrt(x)
#include KERNELS
#undef REAL
#undef NAME
#undef SELECT
#undef SQRT

#define inline inline __attribute__((always_inline))
#define REAL tac_four
#define NAME(name) tac_four_##name
#define SELECT(condition, yes, no) tac_four_select((condition), (yes), (no))
#define SQRT(x) tac_four_sqrt(x)
#include KERNELS
#undef REAL
#undef NAME
#undef SELECT
#undef SQRT
#undef inline
#undef KERNELS
