/* app.h: declares the program's commands and its option parser. Each command has a file cmd_NAME.c. */
#ifndef TACTUS_APP_APP_H
#define TACTUS_APP_APP_H

#include <tactus/base.h>

/* One option of a command: fills *value in place. */
enum tac_option_kind { TAC_OPTION_FLAG, TAC_OPTION_STRING, TAC_OPTION_NUMBER, TAC_OPTION_LIST };
struct tac_option {
    const char *name; /* "--until", or "-o" */
    enum tac_option_kind kind;
    void *value;          /* bool*, const char**, double* (NaN: not given), or struct tac_strings* */
    const char *argument; /* its name in the help; NULL for a flag */
    const char *help;     /* one line */
};
struct tac_strings {
    const char **item; /* owned array of borrowed strings */
    int count;
};

/* Local. Parses argv[0 .. argc) against the table: "--name value" or "--name=value".  Words that are no options are put
 * into positional (at most max_positional; *count: how many). Unknown options are refused with the name of the nearest
 * known one. A negative number is a value, not an option. "--" ends the options.  *help is set by -h or --help.
 * TAC_ERR_INPUT. */
enum tac_err tac_options_parse(struct tac_ctx *ctx, const char *command, int argc, char **argv,
                               const struct tac_option *option, size_t option_count, const char **positional,
                               int max_positional, int *count, bool *help);
/* Prints "usage: tactus COMMAND <usage>", a line of text and the option table to stdout. */
void tac_options_help(const char *command, const char *usage, const char *text, const struct tac_option *option,
                      size_t option_count);

/* Commands: argc/argv start after the command's name. Collective; return the exit code, with ctx->error set for 2, 3
 * and 75.  Results to stdout (rank 0), progress to stderr. */
enum tac_err tac_cmd_run(struct tac_ctx *ctx, int argc, char **argv);
enum tac_err tac_cmd_check(struct tac_ctx *ctx, int argc, char **argv);
enum tac_err tac_cmd_repair(struct tac_ctx *ctx, int argc, char **argv);
enum tac_err tac_cmd_mesh(struct tac_ctx *ctx, int argc, char **argv);
enum tac_err tac_cmd_info(struct tac_ctx *ctx, int argc, char **argv);
enum tac_err tac_cmd_diff(struct tac_ctx *ctx, int argc, char **argv);
enum tac_err tac_cmd_audit(struct tac_ctx *ctx, int argc, char **argv);
enum tac_err tac_cmd_status(struct tac_ctx *ctx, int argc, char **argv);
enum tac_err tac_cmd_export(struct tac_ctx *ctx, int argc, char **argv);
enum tac_err tac_cmd_pack(struct tac_ctx *ctx, int argc, char **argv);

#endif
