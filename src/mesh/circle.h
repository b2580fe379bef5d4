/* circle.h: points of a circle whose symmetries hold to the last bit. */
#ifndef TACTUS_MESH_CIRCLE_H
#define TACTUS_MESH_CIRCLE_H

#include <stdint.h>

/* Local. Computes cosine and sine of k / n of a full turn, n >= 1: exact at the quarters, symmetric about both axes and
 * both diagonals. */
void tac_circle(int64_t k, int64_t n, double *cosine, double *sine);

#endif
