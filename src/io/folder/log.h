/* log.h: run.log, the table of a run that a person reads, and the same rows on the terminal.
 *
 * The scene's output.log chooses the columns. A row is written for each frame, with the values of energy.csv, of the
 * last steps (implicit integrator), and of the wall clock. The file is a diary: a restart goes on with it, says so in a
 * line, and removes nothing. Rank 0 owns the file; all functions are local to it.
 *
 *     tac_log_open(ctx, out, past);
 *     after each step: tac_log_step(out, head, row);         after each frame: tac_log_row(ctx, out, index, &row,
 * &status); tac_log_end(out, &status);
 */
#ifndef TACTUS_IO_FOLDER_LOG_H
#define TACTUS_IO_FOLDER_LOG_H

#include <tactus/output.h>

/* Local to rank 0. Makes run.log, or goes on with it (past not NULL), unless the scene asks for no column. */
enum tac_err tac_log_open(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past);
/* Local to rank 0. Takes what the log shows of a step. head, row: of steps.csv, without the end of the line. */
void tac_log_step(struct tac_output *out, const char *head, const char *row);
/* Local to rank 0. Writes the row of a frame, and prints it: on a terminal always, else at most one in ten seconds.
 * What steps have summed begins anew. */
enum tac_err tac_log_row(struct tac_ctx *ctx, struct tac_output *out, int64_t frame, const struct tac_energy_row *row,
                         const struct tac_status *status);
/* Local to rank 0. Writes how the run ended, if the disk has room for it, and closes the file. */
void tac_log_end(struct tac_output *out, const struct tac_status *status);

#endif
