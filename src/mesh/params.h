/* params.h: declares the keys of a mesh's description, as tables. The JSON reader, the command line and its help use
 * the same table of a kind, so they agree.
 *
 * tac_params_check() refuses what the table does not allow; after it the getters cannot fail.
 */
#ifndef TACTUS_MESH_PARAMS_H
#define TACTUS_MESH_PARAMS_H

#include <tactus/mesh_kinds.h>

/* A description being read. */
struct tac_params {
    struct tac_ctx *ctx;  /* borrowed */
    const json_t *object; /* borrowed */
    const char *where;    /* borrowed: JSON path of the object; "--" for command-line options, which then read --name */
    const char *base_dir; /* borrowed: where relative file paths start */
    const char *what;     /* borrowed: "a grid" */
};

/* Local. Writes "where.name", or "--name". Returns text. */
const char *tac_params_path(const struct tac_params *p, const char *name, char text[512]);

/* Local. Checks a description: known keys only (except `ignored`, which may be NULL), all required ones, right types,
 * finite numbers in range. TAC_ERR_INPUT with the path of the key. */
enum tac_err tac_params_check(const struct tac_params *p, const struct tac_param *table, size_t count,
                              const char *ignored);

/* Local. Return values of a checked description. */
bool tac_params_has(const struct tac_params *p, const char *name);
double tac_params_number(const struct tac_params *p, const char *name);
int64_t tac_params_count(const struct tac_params *p, const char *name, int64_t missing);
bool tac_params_flag(const struct tac_params *p, const char *name);
const char *tac_params_string(const struct tac_params *p, const char *name);
void tac_params_numbers(const struct tac_params *p, const char *name, int width, double *out);
void tac_params_counts(const struct tac_params *p, const char *name, int width, int64_t *out);
size_t tac_params_row_count(const struct tac_params *p, const char *name);
void tac_params_row(const struct tac_params *p, const char *name, size_t row, int width, double *out);

#endif
