/* tactus/report.h: what the commands that look at runs share: the state of a run, and printing. */
#ifndef TACTUS_REPORT_H
#define TACTUS_REPORT_H

#include <jansson.h>
#include <tactus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Local. The status.json in the folder; new reference.  TAC_ERR_INPUT when there is none or it is not a run's. */
enum tac_err tac_folder_status(struct tac_ctx *ctx, const char *dir, json_t **out);
/* Local. The run.json in the folder; new reference.  *out NULL, and no error, when there is none (yet). */
enum tac_err tac_folder_run(struct tac_ctx *ctx, const char *dir, json_t **out);

/* Is the writer of a status.json still there?  Unknown: another machine, or not said. */
enum tac_alive { TAC_ALIVE_NO, TAC_ALIVE_YES, TAC_ALIVE_UNKNOWN };
enum tac_alive tac_process_alive(const json_t *status);
/* Local. Which boot of which machine this is: process numbers mean nothing elsewhere, nor after a reboot. */
void tac_process_machine(char *text, size_t size);
/* Adds machine, pid, pid_start and updated (Unix time) to a status; false if out of memory. */
bool tac_process_describe(json_t *status);

/* A JSON number, or null where JSON has none (NaN, infinity); NULL if out of memory. */
json_t *tac_json_real(double value);
/* A JSON string; what is not UTF-8 (a path, a name in a foreign file) has its odd bytes replaced by '?'. */
json_t *tac_json_text(const char *text);
/* Puts a value (its reference is taken) into the object or list *to.  Out of memory: *to is given back and NULL, which
 * stays so whatever is put into it then. */
void tac_json_put(json_t **to, const char *key, json_t *value);
void tac_json_append(json_t **to, json_t *value);
/* Prints to `out`, or to stdout, and takes the reference; `json` NULL is an error: out of memory. */
enum tac_err tac_json_write(struct tac_ctx *ctx, json_t *json, FILE *out);
enum tac_err tac_json_print(struct tac_ctx *ctx, json_t *json);
/* "2:07:05", "7:05", or "?" */
void tac_duration_text(double seconds, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
