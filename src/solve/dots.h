/* dots.h: declares exact dot products over the nodes of all ranks. */
#ifndef TACTUS_SOLVE_DOTS_H
#define TACTUS_SOLVE_DOTS_H

#include "solve/local.h"
#include <tactus/accum.h>

enum { TAC_MOST_SUMS = 4 };

/* The range of limbs that a sum used the last time, and one more at both ends. It is the same on all ranks, and only
 * these limbs are sent. {0}: no range is known. */
struct tac_sum_window {
    int begin, end;
};

/* Local. Adds one number for each owned node: the product of its values in a and b. */
void tac_dot_add(const struct tac_local_system *local, const double *a, const double *b, struct tac_accum *sum);
/* Collective. Computes the sums over all ranks in one message, each rounded once. window (count): of the same sums
 * before; NULL: all limbs are sent. If a rank uses a limb outside its window, all limbs are sent in a second message,
 * so the result does not depend on windows. */
void tac_dot_reduce(const struct tac_ctx *ctx, int count, struct tac_accum *sum, struct tac_sum_window *window,
                    double *out);

#endif
