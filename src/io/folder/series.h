/* series.h: tables that grow beside energy.csv on request: reactions.csv and histories.csv.
 *
 * Rank 0 owns the file.  Each row begins with its time; rows of one time come together and are written before the
 * frame of that time and before any checkpoint of it or later.  So a run that goes on cuts off what is later than its
 * checkpoint, and nothing is lost or there twice, wherever it was killed.
 */
#ifndef TACTUS_IO_FOLDER_SERIES_H
#define TACTUS_IO_FOLDER_SERIES_H

#include "io/folder/output.h"

/* Local to rank 0. Makes the file, or goes on with it: rows that are later than past->now go (past NULL: a new run). A
 * file that has another header is kept as NAME.damaged, with a warning.  TAC_ERR_INPUT: a line is no row. */
enum tac_err tac_series_open(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past,
                             struct tac_series *series);
/* Local to rank 0. Appends lines, all or none of them. */
enum tac_err tac_series_append(struct tac_ctx *ctx, const struct tac_output *out, const struct tac_series *series,
                               const char *text, size_t length);

/* Local to rank 0. All of them that the scene asks for: opened as above, brought to the disk, closed. */
enum tac_err tac_series_open_all(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past);
enum tac_err tac_series_sync_all(struct tac_ctx *ctx, const struct tac_output *out);
void tac_series_close_all(struct tac_output *out);

/* ---- histories.c ---- */
/* Local to rank 0. Makes histories.h5 of histories.csv. */
enum tac_err tac_histories_convert(struct tac_ctx *ctx, const struct tac_output *out);

#endif
