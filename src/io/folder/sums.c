/* sums.c: computes and checks checksums of the lines of tables. A checkpoint has those of all lines before it, so that
 * a restart does not continue a damaged table. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "io/folder/output.h"

static int64_t sum_of(const char *line, size_t length)
{
    return (int64_t)crc32(crc32(0, Z_NULL, 0), (const Bytef *)line, (uInt)length);
}

enum tac_err tac_sums_note(struct tac_ctx *ctx, struct tac_output_sums *sums, const char *text, size_t length)
{
    for (const char *end; length > 0 && (end = memchr(text, '\n', length)) != NULL;) {
        const size_t n = (size_t)(end - text) + 1;
        const enum tac_err err =
            tac_grow(ctx, &sums->line, &sums->capacity, (size_t)sums->count + 1, sizeof *sums->line);
        if (err)
            return err;
        sums->line[sums->count++] = sum_of(text, n);
        text += n;
        length -= n;
    }
    return TAC_OK;
}

/* ---- a restart ---- */

static const char *const NAME[TAC_LINES] = {"reactions.csv", "histories.csv", "steps.csv", "energy.csv"};

struct look {
    struct tac_ctx *ctx;
    const struct tac_output *out;
    const struct tac_output_past *past;
    const char *name;
    int time_column;
};

static enum tac_err refuse_table(const struct look *l, int64_t line, const char *what)
{
    return tac_fail(l->ctx, TAC_ERR_INPUT,
                    "%s/%s is damaged: its line %" PRId64 "%s %s; put it right, or move it away (a new one begins "
                    "then), or go on in another folder with -o",
                    l->out->folder.dir, l->name, line, line == 1 ? ", the header," : "", what);
}

/* Returns whether the row is from before the checkpoint. A table that began again because the old one was moved away
 * has only later rows. */
static bool is_before(const struct look *l, const char *row)
{
    char *rest;
    for (int k = 0; k < l->time_column && row != NULL; k++)
        row = (row = strchr(row, ',')) != NULL ? row + 1 : NULL;
    const double at = row != NULL ? strtod(row, &rest) : 0;
    return row == NULL || rest == row || !(at > (double)l->past->now * l->out->scene->settings->quantum_s);
}

/* Returns whether all rows after the header are later. */
static bool begun_anew(const struct look *l, FILE *file)
{
    char *line = NULL;
    size_t capacity = 0;
    bool anew = true;
    rewind(file);
    for (int64_t n = 0; anew && getline(&line, &capacity, file) > 0; n++)
        anew = n == 0 || !is_before(l, line);
    free(line);
    return anew && !ferror(file);
}

/* Compares the lines that the checkpoint has checksums of. *anew: only the header is from before the checkpoint. */
static enum tac_err compare_lines(const struct look *l, FILE *file, const struct tac_output_sums *reported, bool *anew)
{
    enum tac_err err = TAC_OK;
    char *line = NULL;
    size_t capacity = 0;
    *anew = false;
    for (int64_t n = 0; n < reported->count; n++) {
        const ssize_t length = getline(&line, &capacity, file);
        if (n == 1 && (length <= 0 || sum_of(line, (size_t)length) != reported->line[n]) && begun_anew(l, file)) {
            *anew = true;
            break;
        }
        if (length <= 0 && ferror(file))
            TAC_TRY(
                tac_fail(l->ctx, TAC_ERR_RUN, "cannot read %s/%s: %s", l->out->folder.dir, l->name, strerror(errno)));
        if (length <= 0)
            TAC_TRY(refuse_table(l, n + 1, "is missing"));
        if (sum_of(line, (size_t)length) != reported->line[n])
            TAC_TRY(refuse_table(l, n + 1, "is not what was written"));
    }
done:
    free(line);
    return err;
}

static enum tac_err look_at(const struct look *l, const struct tac_output_sums *reported)
{
    enum tac_err err = TAC_OK;
    bool anew = true;
    const int fd = openat(l->out->folder.fd, l->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (file == NULL && (fd >= 0 || errno != ENOENT)) {
        err = tac_fail(l->ctx, TAC_ERR_RUN, "cannot read %s/%s: %s", l->out->folder.dir, l->name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return err;
    }
    if (file != NULL)
        err = compare_lines(l, file, reported, &anew);
    if (!err && anew && reported->count > 1)
        tac_warn(l->ctx, "%s/%s has no rows from before the checkpoint, and goes on with those after it",
                 l->out->folder.dir, l->name);
    if (file != NULL)
        fclose(file);
    return err;
}

enum tac_err tac_sums_look(struct tac_ctx *ctx, const struct tac_output *out, const struct tac_output_past *past)
{
    const struct tac_output_settings *output = &out->scene->settings->output;
    const bool goes_on[TAC_LINES] = {output->reactions, output->history_count > 0,
                                     out->scene->settings->integrator != TAC_INTEGRATOR_ASYNCHRONOUS, true};
    enum tac_err err = TAC_OK;
    for (int k = 0; k < TAC_LINES && past->sums != NULL && !err; k++) {
        const struct look l = {ctx, out, past, NAME[k], k == TAC_LINES_STEPS};
        if (goes_on[k] && past->sums[k].count > 0)
            err = look_at(&l, &past->sums[k]);
    }
    return err;
}
