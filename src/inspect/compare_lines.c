/* compare_lines.c: compares reactions.csv, histories.csv and steps.csv of two runs if both have the file: rows of the
 * same time and of the same body, vertex or step. */
#include "inspect/compare_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 64, MOST_KEYS = 3 };

/* One of the tables. */
struct kind {
    const char *name;
    int tally;
    const char *key[MOST_KEYS]; /* columns that identify a row, beside its name; the first is its time */
    /* Columns that begin with these words are over the time since the frame before, and are compared only if that frame
     * is the same. */
    const char *back[4];
    const char *left_out; /* columns that begin so are not compared; NULL: none */
};

static const struct kind KINDS[] = {
    {"reactions.csv", TAC_REACTIONS, {"time", "body"}, {"force_", "moment_", "contact_force_"}, NULL},
    {"histories.csv", TAC_HISTORIES, {"time", "history", "vertex"}, {"contact_force_"}, NULL},
    {"steps.csv", TAC_STEPS, {"time", "step"}, {NULL}, "seconds"},
};

/* A table: its numbers, and one name per row if a column has names. */
struct lines {
    char *header; /* owned, cut into columns */
    const char *column[MOST_COLUMNS];
    int columns;   /* of numbers */
    int name_at;   /* how many of them are before the names; -1: there are none */
    double *value; /* owned, (rows, columns) */
    char **name;   /* owned, (rows), owned names; NULL entries: none */
    int64_t rows;
    size_t value_capacity, name_capacity;
};

static void lines_clear(struct lines *t)
{
    for (int64_t i = 0; t->name != NULL && i < t->rows; i++)
        free(t->name[i]);
    free(t->name);
    free(t->value);
    free(t->header);
}

static enum tac_err fail_at_line(struct tac_ctx *ctx, const char *path, int64_t line, const char *what)
{
    return tac_fail(ctx, TAC_ERR_INPUT, "%s, line %" PRId64 ": %s", path, line, what);
}

static enum tac_err read_header(struct tac_ctx *ctx, const char *path, const char *text, struct lines *t)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, strlen(text) + 1, 1, &t->header));
    tac_tame(strcpy(t->header, text));
    t->name_at = -1;
    for (char *rest = t->header, *name; (name = strsep(&rest, ",")) != NULL;) {
        if (t->columns == MOST_COLUMNS)
            return fail_at_line(ctx, path, 1, "too many columns");
        if (t->name_at < 0 && strcmp(name, "name") == 0)
            t->name_at = t->columns;
        else
            t->column[t->columns++] = name;
    }
done:
    return err;
}

/* The end of a name, which is quoted if it has a comma; in quotes two of them are one. */
static const char *end_of_name(const char *text)
{
    bool quoted = false;
    for (; *text != '\0' && (quoted || *text != ','); text++)
        quoted ^= *text == '"';
    return text;
}

static enum tac_err read_row(struct tac_ctx *ctx, const char *path, int64_t line, const char *text, struct lines *t)
{
    const size_t columns = (size_t)t->columns;
    const int fields = t->columns + (t->name_at >= 0);
    enum tac_err err = TAC_OK;
    char *rest, *name;
    double *value;
    TAC_TRY(tac_grow(ctx, &t->value, &t->value_capacity, ((size_t)t->rows + 1) * columns, sizeof *t->value));
    TAC_TRY(tac_grow(ctx, &t->name, &t->name_capacity, (size_t)t->rows + 1, sizeof *t->name));
    TAC_TRY(tac_alloc(ctx, strlen(text) + 1, 1, &name));
    t->name[t->rows] = name;
    value = &t->value[(size_t)t->rows++ * columns];
    for (int k = 0; k < fields; k++) {
        if (k == t->name_at) {
            const size_t length = (size_t)(end_of_name(text) - text);
            memcpy(name, text, length); /* which ends with the 0 of the new memory */
            rest = (char *)text + length;
        } else {
            *value++ = strtod(text, &rest);
        }
        const bool last = k + 1 == fields;
        if ((rest == text && k != t->name_at) || *rest != (last ? '\0' : ','))
            return fail_at_line(ctx, path, line, "a value is missing, or is not a number");
        text = rest + !last;
    }
done:
    return err;
}

/* *there false: no such file. */
static enum tac_err read_lines(struct tac_ctx *ctx, const char *path, struct lines *t, bool *there)
{
    enum tac_err err = TAC_OK;
    char *text = NULL;
    size_t size = 0;
    ssize_t n;
    FILE *file = fopen(path, "re");
    *there = file != NULL || errno != ENOENT;
    if (file == NULL)
        return *there ? tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%s': %s", path, strerror(errno)) : TAC_OK;
    for (int64_t line = 1; (n = getline(&text, &size, file)) > 0 && text[n - 1] == '\n'; line++) {
        if (memchr(text, '\0', (size_t)n) != NULL)
            TAC_TRY(fail_at_line(ctx, path, line, "it holds a zero byte"));
        text[n - 1] = '\0';
        TAC_TRY(line == 1 ? read_header(ctx, path, text, t) : read_row(ctx, path, line, text, t));
    }
    if (n < 0 && !feof(file))
        err = tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
    else if (n > 0)
        tac_warn(ctx, "%s: the last line was not finished and is left out", path);
done:
    free(text);
    fclose(file);
    return err;
}

static int find_column(const struct lines *t, const char *name)
{
    for (int i = 0; i < t->columns; i++)
        if (strcmp(t->column[i], name) == 0)
            return i;
    return -1;
}

/* ---- comparing ---- */

struct pair {
    struct tac_comparison *c;
    const struct kind *kind;
    struct lines t[2];
    int key[2][MOST_KEYS], keys; /* columns */
    int same_as[MOST_COLUMNS];   /* of the first: the column of the second; -1: not compared */
    bool looks_back[MOST_COLUMNS];
    bool *used; /* owned, (rows of the second) */
};

static bool begins_with(const char *text, const char *with)
{
    return with != NULL && strncmp(text, with, strlen(with)) == 0;
}

static double value_at(const struct pair *p, int side, int64_t row, int column)
{
    return p->t[side].value[row * p->t[side].columns + column];
}

static enum tac_err match_columns(struct tac_ctx *ctx, struct pair *p)
{
    for (p->keys = 0; p->keys < MOST_KEYS && p->kind->key[p->keys] != NULL; p->keys++)
        for (int side = 0; side < 2; side++) {
            const struct tac_reader *r = side == 0 ? p->c->a : p->c->b;
            p->key[side][p->keys] = find_column(&p->t[side], p->kind->key[p->keys]);
            if (p->key[side][p->keys] < 0)
                return tac_fail(ctx, TAC_ERR_INPUT, "%s/%s has no column '%s': this is no %s of a run", r->folder,
                                p->kind->name, p->kind->key[p->keys], p->kind->name);
        }
    for (int k = 0; k < p->t[0].columns; k++) {
        const char *name = p->t[0].column[k];
        p->same_as[k] = begins_with(name, p->kind->left_out) ? -1 : find_column(&p->t[1], name);
        p->looks_back[k] = false;
        for (int b = 0; b < 4; b++)
            p->looks_back[k] = p->looks_back[k] || begins_with(name, p->kind->back[b]);
    }
    return TAC_OK;
}

/* The last frame before t; -infinity: there is none. */
static double frame_before(const struct tac_reader *r, double t_s)
{
    int64_t low = -1, high = r->frame_count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (r->frame[middle].time_s < t_s)
            low = middle;
        else
            high = middle;
    }
    return low >= 0 ? r->frame[low].time_s : -INFINITY;
}

static bool same_row(const struct pair *p, int64_t i, int64_t j)
{
    for (int k = 0; k < p->keys; k++)
        if (value_at(p, 0, i, p->key[0][k]) != value_at(p, 1, j, p->key[1][k]))
            return false;
    return strcmp(p->t[0].name[i], p->t[1].name[j]) == 0;
}

static void compare_row(struct pair *p, int64_t i, int64_t j)
{
    struct tac_tally *t = &p->c->tally[p->kind->tally];
    const double t_s = value_at(p, 0, i, p->key[0][0]);
    const bool before = frame_before(p->c->a, t_s) == frame_before(p->c->b, t_s);
    for (int k = 0; k < p->t[0].columns; k++) {
        if (p->same_as[k] < 0 || (p->looks_back[k] && !before))
            continue;
        if (tac_tally_count(t, value_at(p, 0, i, k), value_at(p, 1, j, p->same_as[k]), p->c->tolerance)) {
            t->time_s = t_s;
            snprintf(t->column, sizeof t->column, "%.60s", p->t[0].column[k]);
        }
    }
}

/* The end of the rows that have the time of row i; times ascend. */
static int64_t end_of_time(const struct pair *p, int side, int64_t i)
{
    const double t_s = value_at(p, side, i, p->key[side][0]);
    do
        i++;
    while (i < p->t[side].rows && value_at(p, side, i, p->key[side][0]) == t_s);
    return i;
}

/* Compares rows i to end_i of the first table with rows j to end_j of the second. All have the same time, and mostly
 * the same order. */
static void compare_time(struct pair *p, int64_t i, int64_t end_i, int64_t j, int64_t end_j)
{
    const int64_t begin = j;
    for (int64_t n = 0; i < end_i; i++, n++) {
        int64_t k = begin + n < end_j && !p->used[begin + n] && same_row(p, i, begin + n) ? begin + n : -1;
        for (int64_t l = begin; k < 0 && l < end_j; l++)
            k = !p->used[l] && same_row(p, i, l) ? l : -1;
        if (k < 0) {
            p->c->lines_only_a++;
            continue;
        }
        p->used[k] = true;
        compare_row(p, i, k);
    }
    for (int64_t k = begin; k < end_j; k++)
        p->c->lines_only_b += !p->used[k];
}

static void compare_table_rows(struct pair *p)
{
    for (int64_t i = 0, j = 0; i < p->t[0].rows || j < p->t[1].rows;) {
        const int64_t end_i = i < p->t[0].rows ? end_of_time(p, 0, i) : i;
        const int64_t end_j = j < p->t[1].rows ? end_of_time(p, 1, j) : j;
        const double a = end_i > i ? value_at(p, 0, i, p->key[0][0]) : INFINITY;
        const double b = end_j > j ? value_at(p, 1, j, p->key[1][0]) : INFINITY;
        if (a == b) {
            compare_time(p, i, end_i, j, end_j);
            i = end_i;
            j = end_j;
        } else if (a < b || end_j == j) {
            p->c->lines_only_a += end_i - i;
            i = end_i;
        } else {
            p->c->lines_only_b += end_j - j;
            j = end_j;
        }
    }
}

static enum tac_err compare_kind(struct tac_ctx *ctx, struct tac_comparison *c, const struct kind *kind)
{
    enum tac_err err = TAC_OK;
    struct pair p = {.c = c, .kind = kind};
    const char *const folder[2] = {c->a->folder, c->b->folder};
    bool there[2] = {false, false};
    char *path = NULL;
    for (int side = 0; side < 2; side++) {
        const size_t size = strlen(folder[side]) + strlen(kind->name) + 2;
        TAC_TRY(tac_alloc(ctx, size, 1, &path));
        snprintf(path, size, "%s/%s", folder[side], kind->name);
        TAC_TRY(read_lines(ctx, path, &p.t[side], &there[side]));
        free(path);
        path = NULL;
    }
    if (!there[0] || !there[1] || p.t[0].header == NULL || p.t[1].header == NULL)
        goto done;
    c->has_lines[kind->tally - TAC_REACTIONS] = true;
    TAC_TRY(match_columns(ctx, &p));
    TAC_TRY(tac_alloc(ctx, (size_t)p.t[1].rows, sizeof *p.used, &p.used));
    compare_table_rows(&p);
done:
    free(path);
    free(p.used);
    lines_clear(&p.t[0]);
    lines_clear(&p.t[1]);
    return err;
}

enum tac_err tac_compare_lines(struct tac_ctx *ctx, struct tac_comparison *c)
{
    enum tac_err err = TAC_OK;
    if (c->a->folder == NULL || c->b->folder == NULL)
        return TAC_OK;
    for (size_t k = 0; k < sizeof KINDS / sizeof KINDS[0] && !err; k++)
        err = compare_kind(ctx, c, &KINDS[k]);
    return err;
}
