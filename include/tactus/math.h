/* tactus/math.h: elementary functions that give the same bits on every machine.
 *
 * The invariance law forbids the C library's transcendental functions wherever a trajectory may see them: their bits
 * change with the processor's features.  The functions here use only + - * / and sqrt with fixed coefficients. They are
 * accurate to a few ulp, which is enough, and give the same bits with every compiler (built with -ffp-contract=off).
 */
#ifndef TACTUS_MATH_H
#define TACTUS_MATH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_PI 3.141592653589793238462643383279502884

double tac_sin(double radians);       /* any finite argument; best under 1e5 */
double tac_cos(double radians);       /* likewise */
double tac_atan2(double y, double x); /* -pi..pi; atan2(0, 0) is 0 */
double tac_acos(double c);            /* clamps c to -1..1 */
double tac_exp(double x);
double tac_log(double x);                     /* x > 0 */
double tac_pow(double base, double exponent); /* base > 0; exact 1 at base 1 or exponent 0 */

/* Computes the rotation matrix (row-major, 9) of a rotation vector in radians, by Rodrigues' formula. */
void tac_rotation(const double vector[3], double matrix[9]);

/* Counter-based random numbers: pure functions of (seed, counter), which apply SplitMix64's finaliser twice.
 * tac_random() is uniform in [0, 1) with 53 bits. */
uint64_t tac_hash64(uint64_t seed, uint64_t counter);
double tac_random(uint64_t seed, uint64_t counter);

static inline double tac_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void tac_sub(double out[3], const double a[3], const double b[3])
{
    out[0] = a[0] - b[0];
    out[1] = a[1] - b[1];
    out[2] = a[2] - b[2];
}
static inline void tac_cross(double out[3], const double a[3], const double b[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

#ifdef __cplusplus
}
#endif
#endif
