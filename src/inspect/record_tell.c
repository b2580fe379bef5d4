/* record_tell.c: prints what a record.h5 holds, and how two of them differ, for `tactus info` and `tactus diff`. */
#include <tactus/stored.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inspect/record_compare.h"
#include "io/record/record_stored.h"
#include <tactus/report.h>

/* ---- info ---- */

static json_t *group_json(const struct tac_record_stored *r, const struct tac_record_group *g)
{
    return json_pack("{s:I, s:f, s:f, s:I}", "interval", (json_int_t)g->index, "begin", (double)g->begin * r->quantum_s,
                     "end", (double)g->end * r->quantum_s, "breakpoints", (json_int_t)g->rows);
}

static json_t *record_json(const struct tac_record_stored *r)
{
    json_t *groups = json_array();
    int64_t rows = 0;
    for (int64_t k = 0; k < r->group_count; k++) {
        json_array_append_new(groups, group_json(r, &r->group[k]));
        rows += r->group[k].rows;
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:f, s:I, s:o, s:o, s:I}", "path", tac_json_text(r->path), "name",
                     tac_json_text(r->name), "version", tac_json_text(r->version), "commit", tac_json_text(r->commit),
                     "scene_sha256", tac_json_text(r->sha256), "vertices", (json_int_t)r->vertex_count, "quantum_s",
                     r->quantum_s, "breakpoints", (json_int_t)rows, "intervals", groups, "partial",
                     r->has_partial ? group_json(r, &r->partial) : json_null(), "unfinished",
                     (json_int_t)r->unfinished);
}

/* Prints the times between the first interval and the last that no interval covers. */
static void print_gaps(FILE *out, const struct tac_record_stored *r)
{
    for (int64_t k = 1; k < r->group_count; k++)
        if (r->group[k].begin != r->group[k - 1].end)
            fprintf(out, "  gap        t = %.9g to %.9g s was not recorded\n",
                    (double)r->group[k - 1].end * r->quantum_s, (double)r->group[k].begin * r->quantum_s);
}

static void print_record(FILE *out, const struct tac_record_stored *r)
{
    int64_t rows = 0, most = 0;
    for (int64_t k = 0; k < r->group_count; k++) {
        rows += r->group[k].rows;
        most = r->group[k].rows > most ? r->group[k].rows : most;
    }
    fprintf(out, "%s: record of %s%s%s (tactus %s, commit %s)\n", r->path,
            r->name[0] != '\0' ? "'" : "a scene without a name", r->name, r->name[0] != '\0' ? "'" : "", r->version,
            r->commit);
    fprintf(out, "  scene      sha256 %s\n", r->sha256);
    if (r->group_count == 0) {
        fprintf(out, "  intervals  none\n");
    } else {
        fprintf(out, "  vertices   %" TAC_PRIGID "\n", r->vertex_count);
        fprintf(out, "  intervals  %" PRId64 ": %06" PRId64 " to %06" PRId64 ", t = %.9g to %.9g s\n", r->group_count,
                r->group[0].index, r->group[r->group_count - 1].index, (double)r->group[0].begin * r->quantum_s,
                (double)r->group[r->group_count - 1].end * r->quantum_s);
        fprintf(out, "  breakpoints %" PRId64 ", at most %" PRId64 " in an interval; quantum %.9g s\n", rows, most,
                r->quantum_s);
        print_gaps(out, r);
    }
    if (r->has_partial)
        fprintf(out, "  partial    interval %06" PRId64 " up to t = %.9g s, where a checkpoint was written\n",
                r->partial.index, (double)r->partial.end * r->quantum_s);
    if (r->unfinished > 0)
        fprintf(out, "  unfinished %" PRId64 " interval%s that a run was killed in, left out\n", r->unfinished,
                r->unfinished == 1 ? "" : "s");
}

enum tac_err tac_info_record(struct tac_ctx *ctx, const char *path, bool as_json, FILE *out)
{
    enum tac_err err;
    struct tac_record_stored *r = NULL;
    TAC_TRY(tac_record_stored_open(ctx, path, &r));
    if (as_json) {
        json_t *o = record_json(r);
        json_object_set_new(o, "kind", json_string("record"));
        err = tac_json_write(ctx, o, out);
    } else {
        print_record(out, r);
    }
done:
    tac_record_stored_close(&r);
    return err;
}

/* PATH, or PATH/record.h5 of a folder; owned by the caller. */
static enum tac_err find_record(struct tac_ctx *ctx, const char *path, char **out)
{
    struct stat s;
    const size_t size = strlen(path) + sizeof "/record.h5";
    const bool folder = stat(path, &s) == 0 && S_ISDIR(s.st_mode);
    enum tac_err err = tac_alloc(ctx, size, 1, out);
    if (!err)
        snprintf(*out, size, folder ? "%s/record.h5" : "%s", path);
    return err;
}

enum tac_err tac_record_summary(struct tac_ctx *ctx, const char *dir, json_t **out)
{
    enum tac_err err;
    char *path = NULL;
    struct stat s;
    struct tac_record_stored *r = NULL;
    struct tac_ctx alone = {.comm = ctx->comm, .size = 1, .quiet = true}; /* one that cannot be read does not end it */
    *out = NULL;
    TAC_TRY(find_record(ctx, dir, &path));
    if (stat(path, &s) != 0)
        *out = json_null();
    else if (tac_record_stored_open(&alone, path, &r))
        *out = json_pack("{s:o}", "problem", tac_json_text(alone.error));
    else
        *out = record_json(r);
    if (*out == NULL)
        err = tac_fail(ctx, TAC_ERR_RUN, "out of memory while looking at '%.1000s'", path);
done:
    tac_record_stored_close(&r);
    free(path);
    return err;
}

void tac_print_record_summary(const json_t *o, FILE *out)
{
    const json_t *intervals = json_object_get(o, "intervals"), *problem = json_object_get(o, "problem");
    const size_t n = json_array_size(intervals);
    if (problem != NULL)
        fprintf(out, "  record.h5  cannot be read: %s\n", json_string_value(problem));
    else if (intervals != NULL && n == 0)
        fprintf(out, "  record.h5  no interval\n");
    else if (intervals != NULL)
        fprintf(out, "  record.h5  %zu interval%s, t = %.9g to %.9g s, %lld breakpoints%s\n", n, n == 1 ? "" : "s",
                json_number_value(json_object_get(json_array_get(intervals, 0), "begin")),
                json_number_value(json_object_get(json_array_get(intervals, n - 1), "end")),
                (long long)json_integer_value(json_object_get(o, "breakpoints")),
                json_is_object(json_object_get(o, "partial")) ? ", and a part of the next one" : "");
}

/* ---- diff ---- */

static void print_record_comparison(FILE *out, const struct tac_record_comparison *c, bool all)
{
    char how[64] = "to the last bit";
    if (!isnan(c->tolerance))
        snprintf(how, sizeof how, "positions within %g", c->tolerance);
    fprintf(out, "compared %" PRId64 " interval%s of %" TAC_PRIGID " vertices, %s\n", c->intervals,
            c->intervals == 1 ? "" : "s", c->a->vertex_count, how);
    for (int k = 0; k < TAC_RECORD_TALLIES; k++) {
        const struct tac_tally *t = &c->tally[k];
        if (t->differing == 0)
            fprintf(out, "  %-14s %" PRId64 " values, none differs\n", t->name, t->compared);
        else
            fprintf(out,
                    "  %-14s %" PRId64 " values, %" PRId64 " differ%s; the largest difference is %.3g: %s%s%.1s: %.17g "
                    "and %.17g\n",
                    t->name, t->compared, t->differing, t->differing == 1 ? "s" : "", t->largest, t->column,
                    k == TAC_RECORD_POSITIONS ? ", " : "", k == TAC_RECORD_POSITIONS ? &"xyz"[t->component] : "", t->a,
                    t->b);
    }
    if (c->only_a > 0)
        fprintf(out, "  %" PRId64 " interval%s only in %s\n", c->only_a, c->only_a == 1 ? " is" : "s are", c->a->path);
    if (c->only_b > 0)
        fprintf(out, "  %" PRId64 " interval%s only in %s\n", c->only_b, c->only_b == 1 ? " is" : "s are", c->b->path);
    if (strcmp(c->a->sha256, c->b->sha256) != 0)
        fprintf(out, "  they are of two different scenes (by their hashes)\n");
    fprintf(out, "%s\n", tac_record_equal(c, all) ? "equal" : "different");
}

static json_t *record_tally_json(const struct tac_tally *t)
{
    json_t *o = json_pack("{s:I, s:I}", "compared", (json_int_t)t->compared, "differing", (json_int_t)t->differing);
    if (o != NULL && t->differing > 0)
        json_object_set_new(o, "largest",
                            json_pack("{s:o, s:o, s:o, s:o}", "difference", tac_json_real(t->largest), "a",
                                      tac_json_real(t->a), "b", tac_json_real(t->b), "where",
                                      tac_json_text(t->column)));
    return o;
}

static enum tac_err print_record_json(struct tac_ctx *ctx, FILE *out, const struct tac_record_comparison *c, bool all)
{
    json_t *o =
        json_pack("{s:b, s:o, s:o, s:o, s:b, s:I, s:I, s:I}", "equal", tac_record_equal(c, all), "a",
                  tac_json_text(c->a->path), "b", tac_json_text(c->b->path), "tolerance", tac_json_real(c->tolerance),
                  "same_scene", strcmp(c->a->sha256, c->b->sha256) == 0, "intervals", (json_int_t)c->intervals,
                  "intervals_only_a", (json_int_t)c->only_a, "intervals_only_b", (json_int_t)c->only_b);
    for (int k = 0; k < TAC_RECORD_TALLIES; k++)
        json_object_set_new(o, c->tally[k].name, record_tally_json(&c->tally[k]));
    return tac_json_write(ctx, o, out);
}

enum tac_err tac_diff_records(struct tac_ctx *ctx, const char *a, const char *b, double tolerance, bool all,
                              bool as_json, FILE *out)
{
    enum tac_err err;
    char *path[2] = {NULL, NULL};
    struct tac_record_comparison c = {.a = NULL};
    TAC_TRY(find_record(ctx, a, &path[0]));
    TAC_TRY(find_record(ctx, b, &path[1]));
    TAC_TRY(tac_record_compare(ctx, path[0], path[1], tolerance, &c));
    if (as_json)
        TAC_TRY(print_record_json(ctx, out, &c, all));
    else
        print_record_comparison(out, &c, all);
    err = tac_record_equal(&c, all) ? TAC_OK : TAC_ERR_NO;
done:
    tac_record_comparison_close(&c);
    free(path[0]);
    free(path[1]);
    return err;
}
