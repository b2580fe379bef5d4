/* app/records.h: what the commands tell about records. */
#ifndef TACTUS_APP_RECORDS_H
#define TACTUS_APP_RECORDS_H

#include <jansson.h>
#include <tactus/base.h>

/* Describes one on stdout. */
enum tac_err tac_info_record(struct tac_ctx *ctx, const char *path, bool as_json);
/* What the folder's record.h5 holds, as JSON; null where there is none, and {"problem": ...} where it cannot be read.
 * New reference. */
enum tac_err tac_record_summary(struct tac_ctx *ctx, const char *dir, json_t **out);
/* Prints that in a line, unless it is null. */
void tac_print_record_summary(const json_t *summary);

/* Compares two on stdout; a folder beside a record stands for its own.  TAC_ERR_NO: they differ. */
enum tac_err tac_diff_records(struct tac_ctx *ctx, const char *a, const char *b, double tolerance, bool all,
                              bool as_json);

#endif
