/* steps.h: steps.csv, a row per step of an integrator that has steps (docs/run-folder.md).  Rank 0 writes it. */
#ifndef TACTUS_RUN_STEPS_H
#define TACTUS_RUN_STEPS_H

#include "run/integrator.h"
#include <stdio.h>

/* Local to rank 0; other ranks and integrators without steps get NULL.  Goes on with the file in folder dir: rows that
 * are later than the state go, and the header comes if there is none.  TAC_ERR_RUN: the disk. */
enum tac_err tac_steps_open(struct tac_ctx *ctx, const struct tac_integrator *way, const void *state, const char *dir,
                            FILE **out);
/* Local. The row of the last step; out NULL: none. */
enum tac_err tac_steps_row(struct tac_ctx *ctx, const struct tac_integrator *way, const void *state, FILE *out);
/* Local. NULL is allowed; leaves NULL. */
void tac_steps_close(FILE **out);

#endif
