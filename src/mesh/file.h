/* file.h: declares a whole mesh file in memory, and two readers of it: words of text with line numbers, and bytes with
 * offsets. No function reads past the end, for any contents of the file.
 */
#ifndef TACTUS_MESH_FILE_H
#define TACTUS_MESH_FILE_H

#include <tactus/base.h>

struct tac_file {
    struct tac_ctx *ctx; /* borrowed */
    const char *path;    /* borrowed */
    char *data;          /* owned; a zero byte follows the last one */
    size_t size;
};

/* Local. Reads the file. `from`: what named the file (a JSON path), or NULL; it begins the sentence if the file cannot
 * be opened. Only regular files are read, so the function never waits for a pipe. TAC_ERR_INPUT also for an empty
 * file. */
enum tac_err tac_file_check(struct tac_ctx *ctx, const char *path, const char *from);
enum tac_err tac_file_load(struct tac_ctx *ctx, const char *path, const char *from, struct tac_file *out);
void tac_file_free(struct tac_file *file);

/* A word of a text: characters in the file. */
struct tac_word {
    const char *at; /* view of the file */
    size_t size;    /* 0: there is none */
};

struct tac_text {
    struct tac_ctx *ctx; /* borrowed */
    const char *path;    /* borrowed */
    const char *at, *end;
    int64_t line;      /* of `at`, from 1 */
    bool continuation; /* a backslash at the end of a line joins the next one to it (OBJ) */
};

/* Local. */
struct tac_text tac_text_begin(const struct tac_file *file);
/* The next word of this line; none at its end. Blanks are spaces, tabs and carriage returns. */
struct tac_word tac_text_word(struct tac_text *t);
/* The next word on this line or a later one. */
struct tac_word tac_text_any_word(struct tac_text *t);
/* Moves to where that word begins, so that `line` is its line. */
void tac_text_seek(struct tac_text *t);
/* To the beginning of the next line; false if there is none. */
bool tac_text_next_line(struct tac_text *t);
bool tac_word_is(struct tac_word word, const char *text);
bool tac_word_is_nocase(struct tac_word word, const char *text);
/* The word as it may be shown: printable and short. */
const char *tac_word_show(struct tac_word word, char text[48]);
/* TAC_ERR_INPUT "FILE, line N: ..." of a format string. */
enum tac_err tac_text_fail(const struct tac_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A finite decimal number; a whole number. `what` is what was expected, for the sentence. */
enum tac_err tac_text_number(const struct tac_text *t, struct tac_word word, const char *what, double *out);
enum tac_err tac_text_integer(const struct tac_text *t, struct tac_word word, const char *what, int64_t *out);

struct tac_bytes {
    struct tac_ctx *ctx;       /* borrowed */
    const char *path;          /* borrowed */
    const unsigned char *data; /* view of the file */
    size_t size, at;
    bool big_endian;
};

/* Local. Begins to read at offset `at`. */
struct tac_bytes tac_bytes_begin(const struct tac_file *file, size_t at, bool big_endian);
size_t tac_bytes_left(const struct tac_bytes *b);
enum tac_err tac_bytes_fail(const struct tac_bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Unsigned, signed (two's complement) or floating-point (4 or 8 bytes) number of `width` bytes. `what` was being read,
 * for the sentence when the file ends too early. */
enum tac_err tac_bytes_unsigned(struct tac_bytes *b, int width, const char *what, uint64_t *out);
enum tac_err tac_bytes_signed(struct tac_bytes *b, int width, const char *what, int64_t *out);
enum tac_err tac_bytes_float(struct tac_bytes *b, int width, const char *what, double *out);
enum tac_err tac_bytes_skip(struct tac_bytes *b, uint64_t count, const char *what);

#endif
