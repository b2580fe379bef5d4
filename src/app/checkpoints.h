/* checkpoints.h: what tactus info and tactus diff say about checkpoints. */
#ifndef TACTUS_APP_CHECKPOINTS_H
#define TACTUS_APP_CHECKPOINTS_H

#include <jansson.h>
#include <tactus/base.h>

/* Describes one on stdout. */
enum tac_err tac_info_checkpoint(struct tac_ctx *ctx, const char *path, bool as_json);

/* The checkpoints of a run folder: [{"file", "bytes", "whole", "problem"}], newest last; new reference. */
enum tac_err tac_list_checkpoints(struct tac_ctx *ctx, const char *dir, json_t **out);
/* Prints that list, a line each. */
void tac_print_checkpoints(const json_t *list);

/* Compares two on stdout; TAC_ERR_NO: they differ. */
enum tac_err tac_diff_checkpoints(struct tac_ctx *ctx, const char *a, const char *b, double tolerance, bool as_json);

#endif
