/* tactus/report.h: what the commands that look at runs share: reading the state of a run, and printing. */
#ifndef TACTUS_REPORT_H
#define TACTUS_REPORT_H

#include <jansson.h>
#include <tactus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Local. Reads the status.json of the folder; *out is a new reference. TAC_ERR_INPUT: there is none, or it is not that
 * of a run. */
enum tac_err tac_folder_status(struct tac_ctx *ctx, const char *dir, json_t **out);
/* Local. Reads the run.json of the folder; *out is a new reference. If there is none (yet), *out is NULL and this is no
 * error. */
enum tac_err tac_folder_run(struct tac_ctx *ctx, const char *dir, json_t **out);

/* Local. Reads job.json, which jobs/submit leaves in the folder, and job-state.json, which the job itself writes there.
 * *job and *state are new references, NULL where there is no such file. TAC_ERR_INPUT: one of them is damaged. */
enum tac_err tac_folder_job(struct tac_ctx *ctx, const char *dir, json_t **job, json_t **state);

/* Whether the process that writes a status.json is still there. It is unknown if that was on another machine, or if the
 * file does not tell. */
enum tac_alive { TAC_ALIVE_NO, TAC_ALIVE_YES, TAC_ALIVE_UNKNOWN };
enum tac_alive tac_process_alive(const json_t *status);
/* Local. Writes a text that identifies this machine and its last boot. Process numbers have no meaning on another
 * machine or after a reboot. */
void tac_process_machine(char *text, size_t size);
/* Adds machine, pid, pid_start and updated (Unix time) to a status; false if out of memory. */
bool tac_process_describe(json_t *status);

/* Returns a JSON number, or JSON's null for NaN and infinity, which JSON cannot express; NULL if out of memory. */
json_t *tac_json_real(double value);
/* Reads a JSON value of any kind from a text; new reference. NULL: *no_memory tells whether memory ran out, and
 * error->text what else is wrong. */
json_t *tac_json_value(const char *text, json_error_t *error, bool *no_memory);
/* Returns a JSON string. Bytes that are not UTF-8 (in a path, or in a name from another program's file) are replaced by
 * '?'. */
json_t *tac_json_text(const char *text);
/* Put a value into the object or list *to, and take over its reference. If memory is out, *to is released and becomes
 * NULL, and all later calls leave it NULL. */
void tac_json_put(json_t **to, const char *key, json_t *value);
void tac_json_append(json_t **to, json_t *value);
/* Prints to `out`, or to stdout, and takes the reference; `json` NULL is an error: out of memory. */
enum tac_err tac_json_write(struct tac_ctx *ctx, json_t *json, FILE *out);
enum tac_err tac_json_print(struct tac_ctx *ctx, json_t *json);
/* Writes a duration as "2:07:05" or "7:05", or "?" if it is not known. */
void tac_duration_text(double seconds, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
