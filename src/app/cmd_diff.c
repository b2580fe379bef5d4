/* cmd_diff.c: tactus diff A B. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include <tactus/compare.h>
#include <tactus/report.h>
#include <tactus/stored.h>

static const char AXIS[] = "xyz";

static bool is_table(const struct tac_comparison *c, const struct tac_tally *t)
{
    return t == &c->tally[TAC_ENERGY] || t >= &c->tally[TAC_REACTIONS];
}

/* Returns whether there is something to print. */
static bool is_compared(const struct tac_comparison *c, int tally)
{
    return tally == TAC_ENERGY      ? c->has_energy
           : tally == TAC_FIELDS    ? c->tally[tally].compared > 0
           : tally >= TAC_REACTIONS ? c->has_lines[tally - TAC_REACTIONS]
                                    : true;
}

/* "frame 3 (t = 0.375 s), body 'sheet', vertex 12, y" */
static void describe_place(const struct tac_comparison *c, const struct tac_tally *t, char *text, size_t size)
{
    if (t->vertex < 0) {
        if (is_table(c, t))
            snprintf(text, size, "column %s at t = %.17g s", t->column, t->time_s);
        else
            snprintf(text, size, "%s", t->column);
        return;
    }
    tac_lid body = c->a->body[t->vertex], first = t->vertex;
    while (first > 0 && c->a->body[first - 1] == body)
        first--;
    snprintf(text, size,
             "frame %" PRId64 " (t = %.17g s), body '%.100s', vertex %" TAC_PRILID " (%" TAC_PRILID
             " of the scene), %c",
             t->frame, t->time_s, c->a->body_name[body], t->vertex - first, t->vertex, AXIS[t->component]);
}

static void print_tally(const struct tac_comparison *c, const struct tac_tally *t)
{
    char where[512];
    if (t->differing == 0) {
        printf("  %-14s %" PRId64 " values, none differs\n", t->name, t->compared);
        return;
    }
    describe_place(c, t, where, sizeof where);
    printf("  %-14s %" PRId64 " values, %" PRId64 " differ%s; the largest difference is %.3g: %s: %.17g and %.17g\n",
           t->name, t->compared, t->differing, t->differing == 1 ? "s" : "", t->largest, where, t->a, t->b);
}

static void print_only(const char *what, int64_t n, const char *path, double first_s)
{
    if (n > 0)
        printf("  %" PRId64 " %s%s only in %s, the first at t = %.17g s\n", n, what, n == 1 ? " is" : "s are", path,
               first_s);
}

static void print_differences(const struct tac_comparison *c, bool all_frames)
{
    char how[64] = "to the last bit";
    if (!isnan(c->tolerance))
        snprintf(how, sizeof how, "within %g", c->tolerance);
    printf("compared %" PRId64 " frame%s of %" TAC_PRILID " vertices", c->frames_compared,
           c->frames_compared == 1 ? "" : "s", c->a->vertex_count);
    if (c->has_energy)
        printf(" and %" PRId64 " rows of energy.csv", c->rows_compared);
    printf(", %s\n", how);
    for (int i = 0; i < TAC_TALLY_COUNT; i++)
        if (is_compared(c, i))
            print_tally(c, &c->tally[i]);
    print_only("frame", c->frames_only_a, c->a->path, c->first_only_a_s);
    print_only("frame", c->frames_only_b, c->b->path, c->first_only_b_s);
    if (c->lines_only_a + c->lines_only_b > 0)
        printf("  of reactions.csv, histories.csv and steps.csv %" PRId64 " rows are only in %s, and %" PRId64
               " only in %s\n",
               c->lines_only_a, c->a->path, c->lines_only_b, c->b->path);
    if (c->columns_only_a + c->columns_only_b > 0)
        printf("  %d columns of energy.csv are in one only, and not compared\n", c->columns_only_a + c->columns_only_b);
    puts(tac_comparison_equal(c, all_frames) ? "equal" : "different");
}

static json_t *difference_json(const struct tac_comparison *c, const struct tac_tally *t)
{
    json_t *o = json_pack("{s:I, s:I}", "compared", (json_int_t)t->compared, "differing", (json_int_t)t->differing);
    if (o == NULL || t->differing == 0)
        return o;
    /* NaN and infinities are null in JSON. */
    json_t *largest = json_pack("{s:o, s:o, s:o}", "difference", tac_json_real(t->largest), "a", tac_json_real(t->a),
                                "b", tac_json_real(t->b));
    if (t->vertex >= 0) {
        char axis[2] = {AXIS[t->component], '\0'};
        tac_lid body = c->a->body[t->vertex];
        tac_json_put(&largest, "frame", json_integer(t->frame));
        tac_json_put(&largest, "time", json_real(t->time_s));
        tac_json_put(&largest, "body", tac_json_text(c->a->body_name[body]));
        tac_json_put(&largest, "vertex", json_integer(t->vertex));
        tac_json_put(&largest, "component", json_string(axis));
    } else {
        if (is_table(c, t))
            tac_json_put(&largest, "time", json_real(t->time_s));
        tac_json_put(&largest, "where", tac_json_text(t->column));
    }
    tac_json_put(&o, "largest", largest);
    return o;
}

static enum tac_err print_differences_json(struct tac_ctx *ctx, const struct tac_comparison *c, bool all_frames)
{
    json_t *o = json_pack("{s:b, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "equal",
                          tac_comparison_equal(c, all_frames), "a", tac_json_text(c->a->path), "b",
                          tac_json_text(c->b->path), "tolerance", tac_json_real(c->tolerance), "frames",
                          (json_int_t)c->frames_compared, "frames_only_a", (json_int_t)c->frames_only_a,
                          "frames_only_b", (json_int_t)c->frames_only_b, "rows", (json_int_t)c->rows_compared,
                          "rows_only_a", (json_int_t)c->rows_only_a, "rows_only_b", (json_int_t)c->rows_only_b,
                          "lines_only_a", (json_int_t)c->lines_only_a, "lines_only_b", (json_int_t)c->lines_only_b);
    for (int i = 0; i < TAC_TALLY_COUNT; i++)
        if (is_compared(c, i))
            tac_json_put(&o, c->tally[i].name, difference_json(c, &c->tally[i]));
    return tac_json_print(ctx, o);
}

enum tac_err tac_cmd_diff(struct tac_ctx *ctx, int argc, char **argv)
{
    enum tac_err err = TAC_OK;
    double tolerance = NAN;
    bool all_frames = false, as_json = false, help, record[2];
    const char *name[2];
    int count;
    struct tac_comparison c = {.a = NULL};
    const struct tac_option option[] = {
        {"--tol", TAC_OPTION_NUMBER, &tolerance, "X", "values may differ by X; else they must agree to the last bit"},
        {"--all-frames", TAC_OPTION_FLAG, &all_frames, NULL, "a time that only one of them has is a difference"},
        {"--json", TAC_OPTION_FLAG, &as_json, NULL, "print JSON"},
    };
    const size_t options = sizeof option / sizeof option[0];
    TAC_TRY(tac_options_parse(ctx, "diff", argc, argv, option, options, name, 2, &count, &help));
    if (help) {
        tac_options_help(
            "diff", "A B [--tol X] [--all-frames] [--json]",
            "Compares two run folders, or two frames.h5: topology, position, velocity, contact_force and\n"
            "energy.csv at the times that both have, and reactions.csv, histories.csv and steps.csv (but its\n"
            "columns of seconds), each where both have it; or two checkpoints: all that a run goes on from (a\n"
            "folder beside a checkpoint stands for its newest one); or two record.h5: every breakpoint, in\n"
            "the intervals that both have. Exit code 0: equal; 1: they differ; 2: they cannot be compared.",
            option, options);
        goto done;
    }
    if (count != 2) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "tactus diff needs two run folders or frames files: tactus diff A B");
        goto done;
    }
    if (tolerance < 0) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "--tol must not be negative, but it is %g", tolerance);
        goto done;
    }
    if (tac_checkpoint_is(name[0]) || tac_checkpoint_is(name[1])) {
        err = tac_diff_checkpoints(ctx, name[0], name[1], tolerance, as_json, stdout);
        goto done;
    }
    for (int k = 0; k < 2; k++)
        TAC_TRY(tac_record_stored_is(ctx, name[k], &record[k]));
    if (record[0] || record[1]) {
        err = tac_diff_records(ctx, name[0], name[1], tolerance, all_frames, as_json, stdout);
        goto done;
    }
    TAC_TRY(tac_compare(ctx, name[0], name[1], tolerance, &c));
    if (as_json)
        TAC_TRY(print_differences_json(ctx, &c, all_frames));
    else
        print_differences(&c, all_frames);
    err = tac_comparison_equal(&c, all_frames) ? TAC_OK : TAC_ERR_NO;
done:
    tac_comparison_close(&c);
    return err;
}
