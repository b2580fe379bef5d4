/* dots.h: exact dot products over the nodes of all ranks. */
#ifndef TACTUS_SOLVE_DOTS_H
#define TACTUS_SOLVE_DOTS_H

#include "solve/local.h"
#include <tactus/accum.h>

enum { TAC_MOST_SUMS = 3 };

/* The limbs of a sum that were in use when it was last made, and one more at both ends; the same on all ranks.  Only
 * they are sent. {0}: none is known. */
struct tac_sum_window {
    int begin, end;
};

/* Local. Adds one number of each owned node, the product of its values in a and b. */
void tac_dot_add(const struct tac_local_system *local, const double *a, const double *b, struct tac_accum *sum);
/* Collective. The sums of all ranks in one message, each rounded once.  window (count): of the same sums before; NULL:
 * all limbs are sent.  Where a rank has a limb in use beyond its window, all are sent in a second message; so the
 * result does not depend on windows. */
void tac_dot_reduce(const struct tac_ctx *ctx, int count, struct tac_accum *sum, struct tac_sum_window *window,
                    double *out);

#endif
