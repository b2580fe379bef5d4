/* text.c: reads words and numbers with line numbers from a mesh file in memory that is text. */
#include "mesh/file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct tac_text tac_text_begin(const struct tac_file *file)
{
    struct tac_text t = {
        .ctx = file->ctx, .path = file->path, .at = file->data, .end = file->data + file->size, .line = 1};
    if (file->size >= 3 && memcmp(file->data, "\xef\xbb\xbf", 3) == 0)
        t.at += 3; /* a byte order mark, which some editors put first */
    return t;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The length of a backslash and line end that join two lines, or 0. */
static size_t joint(const struct tac_text *t)
{
    if (!t->continuation || t->at >= t->end || *t->at != '\\')
        return 0;
    if (t->end - t->at >= 2 && t->at[1] == '\n')
        return 2;
    return t->end - t->at >= 3 && t->at[1] == '\r' && t->at[2] == '\n' ? 3 : 0;
}

static void skip_blanks(struct tac_text *t)
{
    for (;;) {
        const size_t n = joint(t);
        if (n > 0) {
            t->at += n;
            t->line++;
        } else if (t->at < t->end && is_blank(*t->at)) {
            t->at++;
        } else {
            return;
        }
    }
}

struct tac_word tac_text_word(struct tac_text *t)
{
    skip_blanks(t);
    struct tac_word word = {t->at, 0};
    while (t->at < t->end && *t->at != '\n' && !is_blank(*t->at) && joint(t) == 0)
        t->at++;
    word.size = (size_t)(t->at - word.at);
    return word;
}

bool tac_text_next_line(struct tac_text *t)
{
    while (t->at < t->end && *t->at != '\n') {
        const size_t n = joint(t);
        t->at += n > 0 ? n : 1;
        t->line += n > 0;
    }
    if (t->at == t->end)
        return false;
    t->at++;
    t->line++;
    return true;
}

void tac_text_seek(struct tac_text *t)
{
    skip_blanks(t);
    while (t->at < t->end && *t->at == '\n') {
        t->at++;
        t->line++;
        skip_blanks(t);
    }
}

struct tac_word tac_text_any_word(struct tac_text *t)
{
    tac_text_seek(t);
    return tac_text_word(t);
}

bool tac_word_is(struct tac_word word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.at, text, word.size) == 0;
}

bool tac_word_is_nocase(struct tac_word word, const char *text)
{
    return word.size == strlen(text) && strncasecmp(word.at, text, word.size) == 0;
}

const char *tac_word_show(struct tac_word word, char text[48])
{
    size_t n = word.size < 40 ? word.size : 40;
    for (size_t i = 0; i < n; i++)
        text[i] = isprint((unsigned char)word.at[i]) ? word.at[i] : '?';
    text[n] = '\0';
    if (n < word.size)
        memcpy(text + n, "...", 4);
    return text;
}

enum tac_err tac_text_fail(const struct tac_text *t, const char *format, ...)
{
    char sentence[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return tac_fail(t->ctx, TAC_ERR_INPUT, "%s, line %" PRId64 ": %s", t->path, t->line, sentence);
}

static enum tac_err expected(const struct tac_text *t, struct tac_word word, const char *what, const char *kind)
{
    char text[48];
    if (word.size == 0)
        return tac_text_fail(t, "%s is missing; expected %s", what, kind);
    return tac_text_fail(t, "%s must be %s, not '%s'", what, kind, tac_word_show(word, text));
}

enum tac_err tac_text_number(const struct tac_text *t, struct tac_word word, const char *what, double *out)
{
    char copy[512], *end;
    if (word.size == 0 || word.size >= sizeof copy)
        return expected(t, word, what, "a number");
    for (size_t i = 0; i < word.size; i++) {
        /* What strtod would read beyond decimal numbers: hexadecimal, inf, nan. */
        if (strchr("0123456789+-.eE", word.at[i]) == NULL || word.at[i] == '\0')
            return expected(t, word, what, "a number");
    }
    memcpy(copy, word.at, word.size);
    copy[word.size] = '\0';
    *out = strtod(copy, &end);
    if (end == copy || *end != '\0')
        return expected(t, word, what, "a number");
    if (!isfinite(*out))
        return expected(t, word, what, "a number that a double can hold");
    return TAC_OK;
}

enum tac_err tac_text_integer(const struct tac_text *t, struct tac_word word, const char *what, int64_t *out)
{
    char copy[32], *end;
    if (word.size == 0 || word.size >= sizeof copy || word.at[0] == '+')
        return expected(t, word, what, "a whole number");
    memcpy(copy, word.at, word.size);
    copy[word.size] = '\0';
    errno = 0;
    const long long value = strtoll(copy, &end, 10);
    if (end != copy + word.size || isspace((unsigned char)copy[0]))
        return expected(t, word, what, "a whole number");
    if (errno != 0)
        return expected(t, word, what, "a whole number of at most 64 bits");
    *out = value;
    return TAC_OK;
}
