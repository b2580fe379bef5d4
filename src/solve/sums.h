/* sums.h: exact dot products over the nodes of all ranks. */
#ifndef TACTUS_SOLVE_SUMS_H
#define TACTUS_SOLVE_SUMS_H

#include "solve/local.h"
#include <tactus/accum.h>

enum { TAC_MOST_SUMS = 3 };

/* Local. Adds one number of each owned node, the product of its values in a and b. */
void tac_dot_add(const struct tac_local_system *local, const double *a, const double *b, struct tac_accum *sum);
/* Collective. The sums of all ranks in one message, each rounded once. */
void tac_dot_reduce(const struct tac_ctx *ctx, int count, struct tac_accum *sum, double *out);

#endif
