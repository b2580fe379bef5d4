/* report.c: reads status.json and run.json, and prints JSON and durations, for the commands that describe run folders.
 */
#include <tactus/report.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_read.h"
#include "io/folder/output.h"

/* Its strings are printed. */
static bool tame_strings(json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (!json_is_string(value))
            continue;
        char *text = strdup(json_string_value(value));
        const bool set = text != NULL && json_string_set(value, tac_tame(text)) == 0;
        free(text);
        if (!set)
            return false;
    }
    return true;
}

json_t *tac_json_value(const char *text, json_error_t *error, bool *no_memory)
{
    json_t *value = tac_json_read_text(text, strlen(text), JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, error);
    *no_memory = value == NULL && tac_json_no_memory(error);
    return value;
}

/* A small JSON file of ours: an object whose "format" begins with `format`.  *there false: no such file.  writer: for
 * the sentence about another file. */
static enum tac_err read_object(struct tac_ctx *ctx, const char *dir, const char *name, const char *format, bool *there,
                                json_t **out, const char *writer)
{
    enum { MOST_BYTES = 1 << 24 };
    enum tac_err err = TAC_OK;
    json_error_t error = {0};
    struct stat s;
    char *path = NULL;
    size_t size = strlen(dir) + strlen(name) + 2;
    *out = NULL;
    *there = false;
    TAC_TRY(tac_alloc(ctx, size, 1, &path));
    snprintf(path, size, "%s/%s", dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno != ENOENT)
        err = tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
    if (fd < 0)
        goto done;
    *there = true;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size <= MOST_BYTES)
        *out = tac_json_read_fd(fd, 0, &error);
    close(fd);
    const char *is = json_string_value(json_object_get(*out, "format"));
    if (*out == NULL && tac_json_no_memory(&error)) {
        err = tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading '%s'", path);
    } else if (is == NULL || strncmp(is, format, strlen(format)) != 0) {
        json_decref(*out);
        *out = NULL;
        err = tac_fail(ctx, TAC_ERR_INPUT, "'%s' was not written by %s, or it is damaged", path, writer);
    } else if (!tame_strings(*out)) {
        json_decref(*out);
        *out = NULL;
        err = tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading '%s'", path);
    }
done:
    free(path);
    return err;
}

static enum tac_err look_folder(struct tac_ctx *ctx, const char *dir)
{
    struct stat s;
    if (stat(dir, &s) != 0)
        return tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%s': %s", dir, strerror(errno));
    if (!S_ISDIR(s.st_mode))
        return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is no run folder: it is no folder", dir);
    return TAC_OK;
}

enum tac_err tac_folder_status(struct tac_ctx *ctx, const char *dir, json_t **out)
{
    bool there;
    *out = NULL;
    enum tac_err err = look_folder(ctx, dir);
    if (!err)
        err = read_object(ctx, dir, "status.json", "tactus-status/", &there, out, "a run");
    if (!err && !there)
        return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is no run folder: it has no status.json", dir);
    return err;
}

enum tac_err tac_folder_run(struct tac_ctx *ctx, const char *dir, json_t **out)
{
    bool there;
    return read_object(ctx, dir, "run.json", "tactus-run/", &there, out, "a run");
}

enum tac_err tac_folder_job(struct tac_ctx *ctx, const char *dir, json_t **job, json_t **state)
{
    bool there;
    *job = *state = NULL;
    enum tac_err err = look_folder(ctx, dir);
    if (!err)
        err = read_object(ctx, dir, "job.json", "tactus-job/", &there, job, "jobs/submit");
    if (!err && there)
        err = read_object(ctx, dir, "job-state.json", "tactus-job-state/", &there, state, "a job");
    if (err) {
        json_decref(*job);
        *job = NULL;
    }
    return err;
}

json_t *tac_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *tac_json_text(const char *text)
{
    json_t *json = json_string(text);
    if (json != NULL)
        return json;
    size_t length = strlen(text);
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i <= length; i++)
        copy[i] = (char)((unsigned char)text[i] < 128 ? text[i] : '?');
    json = json_string(copy);
    free(copy);
    return json;
}

static void keep_if(json_t **to, bool put)
{
    if (put)
        return;
    json_decref(*to);
    *to = NULL;
}

void tac_json_put(json_t **to, const char *key, json_t *value)
{
    keep_if(to, json_object_set_new(*to, key, value) == 0);
}

void tac_json_append(json_t **to, json_t *value)
{
    keep_if(to, json_array_append_new(*to, value) == 0);
}

enum tac_err tac_json_write(struct tac_ctx *ctx, json_t *json, FILE *out)
{
    char *text = json != NULL ? json_dumps(json, JSON_INDENT(2)) : NULL;
    json_decref(json);
    if (text == NULL)
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory while printing JSON");
    /* Characters that could control a terminal and that JSON does not escape. */
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if (*c == 127)
            fprintf(out, "\\u007f");
        else if (c[0] == 0xc2 && c[1] < 0xa0)
            fprintf(out, "\\u%04x", *++c);
        else
            putc(*c, out);
    putc('\n', out);
    free(text);
    return TAC_OK;
}

enum tac_err tac_json_print(struct tac_ctx *ctx, json_t *json)
{
    return tac_json_write(ctx, json, stdout);
}

void tac_duration_text(double seconds, char *text, size_t size)
{
    if (!(seconds >= 0) || seconds > 1e9) {
        snprintf(text, size, "?");
        return;
    }
    int64_t s = (int64_t)(seconds + .5);
    if (s >= 3600)
        snprintf(text, size, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
    else
        snprintf(text, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}
