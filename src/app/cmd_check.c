/* cmd_check.c: `tactus check SCENE`: validates a scene and describes it; with --pilot it is run for some seconds. */
#include "app/app.h"
#include <tactus/check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tactus/process.h>
#include <tactus/report.h>

static const char usage[] =
    "SCENE [-o DIR] [--set path=value ...] [--pilot SECONDS [--restart FILE|DIR]] [--details] [--json]";
static const char about[] =
    "Reads a scene as 'tactus run' would, refuses what cannot be run, and describes it in ten lines.\n"
    "With --pilot it runs the scene for so many seconds, writes nothing, and estimates what the whole run will cost.\n"
    "Exit code 0: the scene is sound; 2: it is not, and the sentence on stderr says why; 3: the pilot run failed.";

struct arguments {
    const char *scene, *dir, *restart;
    struct tac_strings set;
    double pilot; /* s; NaN: none */
    bool details, json, help;
};

/* The report, on rank 0. */
struct report {
    json_t *json, *warned; /* owned */
    FILE *text;            /* owned; NULL: the user wants no details */
    char *written;         /* owned: the details, which come after the summary */
    size_t length;
};

/* Keeps a warning for the report. */
static void keep_warning(void *list, const char *sentence)
{
    tac_json_append(list, tac_json_text(sentence));
}

static bool is_wanted(void *user)
{
    (void)user;
    return tac_signal_caught() == 0;
}

/* Describes the scene, without its cost. */
static enum tac_err describe_scene(struct tac_ctx *ctx, const struct arguments *a,
                                   const struct tac_scene_source *source, struct report *r)
{
    enum tac_err err = TAC_OK;
    struct tac_scene *scene = NULL;
    if (a->details && !a->json) {
        r->text = open_memstream(&r->written, &r->length);
        if (r->text == NULL)
            TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "out of memory while describing the scene"));
    }
    TAC_TRY(tac_check_read(ctx, source, a->restart, &scene));
    TAC_TRY(tac_check_describe(ctx, scene, r->json, r->text));
    TAC_TRY(tac_check_engine(ctx, scene, a->dir, r->json, r->text));
    TAC_TRY(tac_check_exempt(ctx, scene, r->json, r->text));
    if (isnan(a->pilot))
        TAC_TRY(tac_check_forecast(ctx, scene, NULL, r->json, r->text));
done:
    tac_scene_destroy(&scene);
    return err;
}

/* Describes the scene's cost, from the pilot run. The scene was freed before the pilot, whose memory is measured, so it
 * is read again; its warnings were printed the first time. */
static enum tac_err describe_cost(struct tac_ctx *ctx, const struct arguments *a, const struct tac_scene_source *source,
                                  const struct tac_pilot *pilot, struct report *r)
{
    enum tac_err err;
    struct tac_scene *scene = NULL;
    struct tac_ctx silent = *ctx;
    silent.quiet = true;
    silent.warned = NULL;
    err = tac_check_read(&silent, source, a->restart, &scene);
    if (err)
        memcpy(ctx->error, silent.error, sizeof ctx->error);
    else
        err = tac_check_forecast(ctx, scene, pilot, r->json, r->text);
    tac_scene_destroy(&scene);
    return err;
}

static enum tac_err print_report(struct tac_ctx *ctx, const struct arguments *a, struct report *r)
{
    if (!a->json) {
        tac_check_summary(stdout, a->scene != NULL ? a->scene : a->restart, r->json, ctx->warnings);
        return TAC_OK;
    }
    if (json_object_set_new(r->json, "warnings", json_integer(ctx->warnings)) != 0 ||
        json_object_set(r->json, "warned", r->warned) != 0)
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory while describing the scene");
    if (json_dumpf(r->json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) != 0)
        return tac_fail(ctx, TAC_ERR_RUN, "the report cannot be written to standard output; check the disk");
    putchar('\n');
    return TAC_OK;
}

/* Prints the details after the summary; after a failure, as far as they are known. */
static void print_details(struct report *r, bool after_summary)
{
    if (r->text != NULL) {
        fclose(r->text);
        if (after_summary)
            fputs("\n", stdout);
        fputs(r->written, stdout);
    }
    free(r->written);
}

/* Collective. Rank 0 alone describes the scene; all of them run the pilot. */
static enum tac_err check_scene(struct tac_ctx *ctx, const struct arguments *a)
{
    enum tac_err err = TAC_OK;
    struct tac_ctx alone = *ctx;
    struct tac_pilot *pilot = NULL;
    struct report r = {.json = json_object(), .warned = json_array()};
    const struct tac_scene_source source = {.path = a->scene, .set = a->set.item, .set_count = a->set.count};
    const struct tac_pilot_options options = {.seconds = a->pilot, .restart = a->restart, .go_on = is_wanted};
    if (ctx->size > 1)
        tac_ctx_init(&alone, MPI_COMM_SELF);
    alone.warned = keep_warning;
    alone.warned_user = &r.warned;
    if (ctx->rank == 0)
        err = describe_scene(&alone, a, &source, &r);
    memcpy(ctx->error, alone.error, sizeof ctx->error);
    TAC_TRY(tac_agree(ctx, err));
    if (!isnan(a->pilot)) {
        const bool quiet = ctx->quiet;
        ctx->quiet = true; /* it reads the scene once more */
        err = tac_pilot_run(ctx, &source, &options, &pilot);
        ctx->quiet = quiet;
        TAC_TRY(err);
        if (ctx->rank == 0)
            err = describe_cost(&alone, a, &source, pilot, &r);
        memcpy(ctx->error, alone.error, sizeof ctx->error);
        TAC_TRY(tac_agree(ctx, err));
    }
    if (ctx->rank == 0)
        err = print_report(&alone, a, &r);
    memcpy(ctx->error, alone.error, sizeof ctx->error);
done:
    print_details(&r, err == TAC_OK);
    ctx->warnings = alone.warnings;
    tac_pilot_destroy(&pilot);
    json_decref(r.warned);
    json_decref(r.json);
    return err;
}

/* Checks what the command line alone shows. */
static enum tac_err check_arguments(struct tac_ctx *ctx, const struct arguments *a, int scenes)
{
    if (!isnan(a->pilot) && !(a->pilot > 0 && isfinite(a->pilot)))
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "--pilot needs a number of seconds greater than 0, not %g; 20 is enough for most scenes",
                        a->pilot);
    if (a->restart != NULL && isnan(a->pilot))
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "--restart says where a pilot run begins; give --pilot SECONDS too, or leave it out");
    if (scenes < 1 && a->restart == NULL)
        return tac_fail(ctx, TAC_ERR_INPUT, "tactus check needs a scene: tactus check %s", usage);
    return TAC_OK;
}

enum tac_err tac_cmd_check(struct tac_ctx *ctx, int argc, char **argv)
{
    struct arguments a = {.pilot = NAN};
    int count = 0;
    const struct tac_option option[] = {
        {"-o", TAC_OPTION_STRING, &a.dir, "DIR", "folder for overlaps.obj, written when surfaces overlap"},
        {"--set", TAC_OPTION_LIST, &a.set, "path=value", "change a key of the scene, e.g. contact.restitution=0.5"},
        {"--pilot", TAC_OPTION_NUMBER, &a.pilot, "SECONDS",
         "run the scene for so long, in memory, and estimate what the whole run will cost"},
        {"--restart", TAC_OPTION_STRING, &a.restart, "FILE|DIR",
         "with --pilot: begin at a checkpoint, or at the newest whole one in a run folder"},
        {"--details", TAC_OPTION_FLAG, &a.details, NULL,
         "then print the rest: materials, bodies, periods, layers, costs"},
        {"--json", TAC_OPTION_FLAG, &a.json, NULL, "print the report as JSON"},
    };
    const size_t options = sizeof option / sizeof option[0];
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_options_parse(ctx, "check", argc, argv, option, options, &a.scene, 1, &count, &a.help));
    if (a.help && ctx->rank == 0)
        tac_options_help("check", usage, about, option, options);
    if (a.help)
        goto done;
    TAC_TRY(check_arguments(ctx, &a, count));
    err = check_scene(ctx, &a);
done:
    free(a.set.item);
    return err;
}
