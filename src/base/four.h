/* four.h: four numbers side by side. Where the machine's vectors are shorter, the compiler splits them. */
#ifndef TACTUS_BASE_FOUR_H
#define TACTUS_BASE_FOUR_H

#include <math.h>
#include <stdint.h>

typedef double tac_four __attribute__((vector_size(32)));
typedef long long tac_four_mask __attribute__((vector_size(32)));

/* Attribute of a function: the compiler also makes a version for machines with vectors of four doubles, and the version
 * that fits the machine is called.  The operations of both are the same, so their bits are the same.  (clang refuses
 * vector arguments in such versions, even inlined; it makes only one.)  TAC_MORE_VERSIONS adds a version for machines
 * with 32 registers for such vectors, for functions for which 16 are too few. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__AVX2__) &&                           \
    !defined(__SANITIZE_ADDRESS__)
#define TAC_VERSIONS __attribute__((target_clones("avx2", "default")))
#else
#define TAC_VERSIONS
#endif
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && !defined(__AVX2__) &&         \
    !defined(__SANITIZE_ADDRESS__)
#define TAC_MORE_VERSIONS __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define TAC_MORE_VERSIONS TAC_VERSIONS
#endif

#define TAC_FOUR_INLINE static inline __attribute__((always_inline))

TAC_FOUR_INLINE tac_four tac_four_select(tac_four_mask mask, tac_four yes, tac_four no)
{
    return (tac_four)(((tac_four_mask)yes & mask) | ((tac_four_mask)no & ~mask));
}

/* gcc makes one root of these four where the machine has vectors of four, and two of two elsewhere.  One of four takes
 * no longer than one of two: a loop over hinges spends a third less time on its roots and divisions by that. */
TAC_FOUR_INLINE tac_four tac_four_sqrt(tac_four x)
{
    return (tac_four){sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])};
}

/* The first three numbers of four rows, by columns: x[k] holds number k of all four. */
TAC_FOUR_INLINE void tac_four_columns(tac_four x[3], tac_four p, tac_four q, tac_four r, tac_four s)
{
    tac_four even_pq = __builtin_shufflevector(p, q, 0, 4, 2, 6), odd_pq = __builtin_shufflevector(p, q, 1, 5, 3, 7);
    tac_four even_rs = __builtin_shufflevector(r, s, 0, 4, 2, 6), odd_rs = __builtin_shufflevector(r, s, 1, 5, 3, 7);
    x[0] = __builtin_shufflevector(even_pq, even_rs, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(odd_pq, odd_rs, 0, 1, 4, 5);
    x[2] = __builtin_shufflevector(even_pq, even_rs, 2, 3, 6, 7);
}

TAC_FOUR_INLINE tac_four tac_four_all(double value)
{
    return (tac_four){value, value, value, value};
}
/* Four numbers from and to memory, at any address of a double. */
TAC_FOUR_INLINE tac_four tac_four_load(const double *at)
{
    tac_four v;
    __builtin_memcpy(&v, at, sizeof v);
    return v;
}
TAC_FOUR_INLINE void tac_four_store(double *at, tac_four v)
{
    __builtin_memcpy(at, &v, sizeof v);
}

#endif
