/* steps.h: writes steps.csv: one row for each step of an integrator that has steps (docs/reference/run-folder.md). Rank
 * 0 writes it. */
#ifndef TACTUS_RUN_STEPS_H
#define TACTUS_RUN_STEPS_H

#include "integrators/integrator.h"
#include <string.h>
#include <tactus/output.h>

/* Local; does nothing on other ranks than 0, and for an integrator without steps. Opens the file in the run's folder:
 * removes rows that are later than the state, and writes the header if there is none. TAC_ERR_RUN: the disk failed. */
enum tac_err tac_steps_open(struct tac_ctx *ctx, const struct tac_integrator *integrator, const void *state,
                            struct tac_output *out);
/* Local; likewise. Writes the row of the last step. */
enum tac_err tac_steps_row(struct tac_ctx *ctx, const struct tac_integrator *integrator, const void *state,
                           struct tac_output *out);

#endif
