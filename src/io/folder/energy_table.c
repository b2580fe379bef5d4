/* energy_table.c: reads an energy.csv. */
#include <tactus/table.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_COLUMNS = 1024 };

struct reading {
    struct tac_ctx *ctx;
    const char *path;
    int64_t line;
    size_t capacity; /* values */
};

static enum tac_err fail_line(const struct reading *in, const char *what)
{
    return tac_fail(in->ctx, TAC_ERR_INPUT, "%s, line %" PRId64 ": %s", in->path, in->line, what);
}

static enum tac_err read_header(const struct reading *in, char *text, struct tac_table *t)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(in->ctx, MOST_COLUMNS, sizeof *t->column, &t->column));
    for (char *rest = text, *name; (name = strsep(&rest, ",")) != NULL;) {
        if (t->column_count == MOST_COLUMNS)
            return fail_line(in, "too many columns");
        TAC_TRY(tac_alloc(in->ctx, strlen(name) + 1, 1, &t->column[t->column_count]));
        tac_tame(strcpy(t->column[t->column_count++], name));
    }
    if (t->column_count == 0 || strcmp(t->column[0], "time") != 0)
        return fail_line(in, "the first column is not 'time': this is no energy.csv of a run");
    for (int i = 0; i < t->column_count; i++)
        if (tac_table_column(t, t->column[i]) != i)
            return fail_line(in, "two columns have one name");
done:
    return err;
}

static enum tac_err read_row(struct reading *in, char *text, struct tac_table *t)
{
    size_t need = ((size_t)t->row_count + 1) * (size_t)t->column_count;
    enum tac_err err = tac_grow(in->ctx, &t->value, &in->capacity, need, sizeof *t->value);
    if (err)
        return err;
    double *row = t->value + need - (size_t)t->column_count;
    int n = 0;
    for (char *rest = text, *field; (field = strsep(&rest, ",")) != NULL; n++) {
        char *end;
        if (n == t->column_count)
            return fail_line(in, "more values than columns");
        row[n] = strtod(field, &end);
        if (end == field || *end != '\0')
            return fail_line(in, "a value is not a number");
    }
    if (n < t->column_count)
        return fail_line(in, "fewer values than columns");
    if (!isfinite(row[0]) || (t->row_count > 0 && !(row[0] > row[-t->column_count])))
        return fail_line(in, "its time is not after the one before it");
    t->row_count++;
    return TAC_OK;
}

static enum tac_err read_lines(struct reading *in, FILE *f, struct tac_table *t)
{
    enum tac_err err = TAC_OK;
    char *text = NULL;
    size_t size = 0;
    ssize_t n;
    while ((n = getline(&text, &size, f)) > 0) {
        in->line++;
        if (text[n - 1] != '\n') {
            tac_warn(in->ctx, "%s: the last line was not finished and is left out", in->path);
            break;
        }
        if (memchr(text, '\0', (size_t)n) != NULL) {
            err = fail_line(in, "it holds a zero byte");
            goto done;
        }
        text[strcspn(text, "\r\n")] = '\0';
        TAC_TRY(in->line == 1 ? read_header(in, text, t) : read_row(in, text, t));
    }
    if (n < 0 && !feof(f)) /* it cannot be read, or memory is out */
        err = tac_fail(in->ctx, TAC_ERR_INPUT, "cannot read '%s': %s", in->path, strerror(errno));
    else if (t->column_count == 0)
        err = tac_fail(in->ctx, TAC_ERR_INPUT, "'%s' is empty: this is no energy.csv of a run", in->path);
done:
    free(text);
    return err;
}

enum tac_err tac_table_read(struct tac_ctx *ctx, const char *path, struct tac_table **out)
{
    enum tac_err err = TAC_OK;
    struct reading in = {ctx, path, 0, 0};
    struct tac_table *t = NULL;
    struct stat s;
    FILE *f = NULL;
    *out = NULL;
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || (f = fopen(path, "re")) == NULL)
        return tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%s': %s", path,
                        errno != 0 ? strerror(errno) : "it is no file");
    TAC_TRY(tac_alloc(ctx, 1, sizeof *t, &t));
    TAC_TRY(read_lines(&in, f, t));
    *out = t;
    t = NULL;
done:
    fclose(f);
    tac_table_destroy(&t);
    return err;
}

int tac_table_column(const struct tac_table *t, const char *name)
{
    for (int i = 0; i < t->column_count; i++)
        if (strcmp(t->column[i], name) == 0)
            return i;
    return -1;
}

void tac_table_destroy(struct tac_table **p)
{
    struct tac_table *t = *p;
    if (t == NULL)
        return;
    for (int i = 0; t->column != NULL && i < t->column_count; i++)
        free(t->column[i]);
    free(t->column);
    free(t->value);
    free(t);
    *p = NULL;
}
