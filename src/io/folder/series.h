/* series.h: tables that grow beside energy.csv on request: reactions.csv, histories.csv and steps.csv.
 *
 * Rank 0 owns the file. Each row begins with its time. All rows of one time are written together, before the frame of
 * that time and before any checkpoint at that time or later. A restart cuts off the rows that are later than its
 * checkpoint. So no row is lost or written twice, wherever the run was killed.
 */
#ifndef TACTUS_IO_FOLDER_SERIES_H
#define TACTUS_IO_FOLDER_SERIES_H

#include "io/folder/output.h"

/* Local to rank 0. Makes the file (past NULL: a new run), or continues it and removes the rows that are later than
 * past->now. A file that has another header is renamed to NAME.damaged, with a warning. TAC_ERR_INPUT: a line is no
 * row. */
enum tac_err tac_series_open(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past,
                             struct tac_series *series);
/* Local to rank 0. Appends lines, all or none of them. */
enum tac_err tac_series_append(struct tac_ctx *ctx, const struct tac_output *out, const struct tac_series *series,
                               const char *text, size_t length);

/* Local to rank 0. Open, as above, sync and close all tables that the scene asks for. */
enum tac_err tac_series_open_all(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past);
enum tac_err tac_series_sync_all(struct tac_ctx *ctx, const struct tac_output *out);
void tac_series_close_all(struct tac_output *out);

/* ---- histories.c ---- */
/* Local to rank 0. Makes histories.h5 from histories.csv. */
enum tac_err tac_histories_convert(struct tac_ctx *ctx, const struct tac_output *out);

#endif
