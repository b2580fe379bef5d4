/* options.c: reads the command line by a table of options. */
#include "app/app.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 128 };

/* "-1", "-.5": a value, though it begins like an option. */
static bool is_negative_number(const char *word)
{
    const char *s = word + 1;
    return word[0] == '-' && (isdigit((unsigned char)s[0]) || (s[0] == '.' && isdigit((unsigned char)s[1])));
}

/* "-" alone is a name (standard input or output), not an option. */
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && !is_negative_number(word);
}

static bool is_help(const char *word)
{
    return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0;
}

/* The option that `word` (with or without "=value") names, or NULL. */
static const struct tac_option *find_option(const struct tac_option *option, size_t count, const char *word)
{
    size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word, "=") : strlen(word);
    for (size_t i = 0; i < count; i++)
        if (strlen(option[i].name) == length && memcmp(option[i].name, word, length) == 0)
            return &option[i];
    return NULL;
}

static enum tac_err fail_unknown(struct tac_ctx *ctx, const char *command, const struct tac_option *option,
                                 size_t count, const char *word)
{
    const char *known[MOST_OPTIONS];
    size_t n = 0;
    for (; n < count && n < MOST_OPTIONS - 1; n++)
        known[n] = option[n].name;
    known[n++] = "--help";
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const char *near = tac_nearest(name, known, n);
    if (near != NULL)
        return tac_fail(ctx, TAC_ERR_INPUT, "unknown option '%s' of tactus %s; did you mean '%s'?", name, command,
                        near);
    return tac_fail(ctx, TAC_ERR_INPUT, "unknown option '%s' of tactus %s; 'tactus %s -h' lists its options", name,
                    command, command);
}

static enum tac_err store_number(struct tac_ctx *ctx, const struct tac_option *option, const char *text)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || isspace((unsigned char)text[0]))
        return tac_fail(ctx, TAC_ERR_INPUT, "%s needs a number, not '%.100s'", option->name, text);
    if (!isfinite(value))
        return tac_fail(ctx, TAC_ERR_INPUT, "%s needs a finite number, not '%.100s'", option->name, text);
    *(double *)option->value = value;
    return TAC_OK;
}

static enum tac_err store_value(struct tac_ctx *ctx, const struct tac_option *option, const char *text)
{
    switch (option->kind) {
    case TAC_OPTION_FLAG:
        *(bool *)option->value = true;
        return TAC_OK;
    case TAC_OPTION_STRING:
        *(const char **)option->value = text;
        return TAC_OK;
    case TAC_OPTION_NUMBER:
        return store_number(ctx, option, text);
    case TAC_OPTION_LIST: {
        struct tac_strings *list = option->value;
        const char **item = realloc(list->item, ((size_t)list->count + 1) * sizeof *item);
        if (item == NULL)
            return tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading the options");
        list->item = item;
        list->item[list->count++] = text;
        return TAC_OK;
    }
    }
    return TAC_OK;
}

/* Takes the option at argv[*i] and, unless it is a flag, its value; moves *i to the last word used. */
static enum tac_err take_option(struct tac_ctx *ctx, const char *command, const struct tac_option *option,
                                size_t option_count, int argc, char **argv, int *i)
{
    const char *word = argv[*i];
    const struct tac_option *o = find_option(option, option_count, word);
    if (o == NULL)
        return fail_unknown(ctx, command, option, option_count, word);
    const char *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    if (o->kind == TAC_OPTION_FLAG) {
        if (equals != NULL)
            return tac_fail(ctx, TAC_ERR_INPUT, "%s takes no value, but '%.200s' gives one", o->name, word);
        return store_value(ctx, o, NULL);
    }
    if (equals != NULL)
        return store_value(ctx, o, equals + 1);
    if (*i + 1 >= argc)
        return tac_fail(ctx, TAC_ERR_INPUT, "%s needs a value: %s %s", o->name, o->name, o->argument);
    const char *value = argv[*i + 1];
    if (is_option(value))
        return tac_fail(ctx, TAC_ERR_INPUT, "%s needs a value, but the option '%.100s' follows%s%s", o->name, value,
                        o->name[1] == '-' ? "; a value that begins with '-' is given as " : "",
                        o->name[1] == '-' ? "--name=value" : "");
    ++*i;
    return store_value(ctx, o, value);
}

enum tac_err tac_options_parse(struct tac_ctx *ctx, const char *command, int argc, char **argv,
                               const struct tac_option *option, size_t option_count, const char **positional,
                               int max_positional, int *count, bool *help)
{
    int n = 0;
    *help = false;
    if (count != NULL)
        *count = 0;
    /* Help has priority over everything else on the line. No value can be -h, so it is safe to look for -h first. */
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (is_help(argv[i])) {
            *help = true;
            return TAC_OK;
        }
    bool options_ended = false;
    for (int i = 0; i < argc; i++) {
        if (!options_ended && strcmp(argv[i], "--") == 0) {
            options_ended = true;
        } else if (!options_ended && is_option(argv[i])) {
            enum tac_err err = take_option(ctx, command, option, option_count, argc, argv, &i);
            if (err)
                return err;
        } else if (n < max_positional) {
            positional[n++] = argv[i];
        } else {
            return tac_fail(ctx, TAC_ERR_INPUT, "unexpected argument '%.200s'; see 'tactus %s -h'", argv[i], command);
        }
    }
    if (count != NULL)
        *count = n;
    return TAC_OK;
}

void tac_options_help(const char *command, const char *usage, const char *text, const struct tac_option *option,
                      size_t option_count)
{
    printf("usage: tactus %s %s\n\n%s\n", command, usage, text);
    printf("\noptions:\n");
    for (size_t i = 0; i < option_count; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", option[i].name, option[i].argument != NULL ? option[i].argument : "");
        printf("  %-24s %s\n", left, option[i].help);
    }
    printf("  %-24s %s\n", "-h, --help", "this text");
}
