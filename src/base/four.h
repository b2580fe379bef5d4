/* four.h: four numbers side by side. Where the machine's vectors are shorter, the compiler splits them. */
#ifndef TACTUS_BASE_FOUR_H
#define TACTUS_BASE_FOUR_H

#include <stdint.h>

typedef double tac_four __attribute__((vector_size(32)));
typedef long long tac_four_mask __attribute__((vector_size(32)));

/* Of a function: it is also made for machines with vectors of four doubles, and the one that fits is called.  The
 * operations are the same in both, so the bits are. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__AVX2__) &&                           \
    !defined(__SANITIZE_ADDRESS__)
#define TAC_VERSIONS __attribute__((target_clones("avx2", "default")))
#else
#define TAC_VERSIONS
#endif

#endif
