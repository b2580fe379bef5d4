/* tactus/stored.h: describes what checkpoints and records hold, as text or as JSON, and compares them.
 *
 *     if (tac_checkpoint_is("drop.run/checkpoint.h5"))
 *         TAC_TRY(tac_info_checkpoint(ctx, "drop.run/checkpoint.h5", false, stdout));
 */
#ifndef TACTUS_STORED_H
#define TACTUS_STORED_H

#include <jansson.h>
#include <tactus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- checkpoints ---- */

/* Local. Returns whether the file is a checkpoint, maybe a damaged one, and no other kind of file. */
bool tac_checkpoint_is(const char *path);
/* Local. Describes a checkpoint on `out`, as text or as JSON.  TAC_ERR_INPUT: it is damaged or foreign. */
enum tac_err tac_info_checkpoint(struct tac_ctx *ctx, const char *path, bool as_json, FILE *out);
/* Local. Lists the checkpoints of a run folder: [{"file", "bytes", "whole", "problem"}], newest last; new reference. */
enum tac_err tac_list_checkpoints(struct tac_ctx *ctx, const char *dir, json_t **out);
/* Local. Prints that list, a line each. */
void tac_print_checkpoints(const json_t *list, FILE *out);
/* Local. Compares two checkpoints and prints the result on `out`; tolerance NaN: to the last bit.  TAC_ERR_NO: they
 * differ. */
enum tac_err tac_diff_checkpoints(struct tac_ctx *ctx, const char *a, const char *b, double tolerance, bool as_json,
                                  FILE *out);

/* ---- records ---- */

/* Local. *is: it is an HDF5 file that claims to be a record. */
enum tac_err tac_record_stored_is(struct tac_ctx *ctx, const char *path, bool *is);
/* Local. Describes a record on `out`, as text or as JSON. */
enum tac_err tac_info_record(struct tac_ctx *ctx, const char *path, bool as_json, FILE *out);
/* Local. Tells as JSON what the folder's record.h5 holds: null if there is none, {"problem": ...} if it cannot be read.
 * *out is a new reference. */
enum tac_err tac_record_summary(struct tac_ctx *ctx, const char *dir, json_t **out);
/* Local. Prints such a summary in one line, unless it is null. */
void tac_print_record_summary(const json_t *summary, FILE *out);
/* Local. Compares two records and prints the result on `out`. If one of the two is a folder, its record is meant.
 * TAC_ERR_NO: they differ. */
enum tac_err tac_diff_records(struct tac_ctx *ctx, const char *a, const char *b, double tolerance, bool all,
                              bool as_json, FILE *out);

/* ---- the breakpoints of a record, for tactus/audit.h ---- */

struct tac_recorded; /* opaque */
/* Collective. Opens the record of the run in the folder `dir`, which has vertex_count vertices.  A last interval that
 * was not finished is left out, with a warning.  TAC_ERR_INPUT: there is none, or it is damaged, or of another number
 * of vertices. */
enum tac_err tac_recorded_open(struct tac_ctx *ctx, const char *dir, tac_lid vertex_count, struct tac_recorded **out);
/* Local. NULL is allowed; leaves NULL. */
void tac_recorded_close(struct tac_recorded **r);

#ifdef __cplusplus
}
#endif
#endif
