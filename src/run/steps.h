/* steps.h: steps.csv, a row per step of an integrator that has steps (docs/reference/run-folder.md).  Rank 0 writes it.
 */
#ifndef TACTUS_RUN_STEPS_H
#define TACTUS_RUN_STEPS_H

#include "integrators/integrator.h"
#include <string.h>
#include <tactus/output.h>

/* Local; rank 0 of an integrator with steps does something.  Goes on with the file in the run's folder: rows that are
 * later than the state go, and the header comes if there is none.  TAC_ERR_RUN: the disk. */
enum tac_err tac_steps_open(struct tac_ctx *ctx, const struct tac_integrator *way, const void *state,
                            struct tac_output *out);
/* Local; likewise. The row of the last step. */
enum tac_err tac_steps_row(struct tac_ctx *ctx, const struct tac_integrator *way, const void *state,
                           struct tac_output *out);

#endif
