/* cmd_check.c: `tactus check SCENE`: validates a scene and describes it; nothing is run. */
#include "app/app.h"
#include <tactus/check.h>

#include <stdlib.h>

#include <tactus/report.h>

static const char usage[] = "SCENE [-o DIR] [--set path=value ...] [--calibrate | --no-calibrate] [--details] [--json]";
static const char about[] =
    "Reads a scene as 'tactus run' would, refuses what cannot be run, and tells in ten lines what it is.\n"
    "Exit code 0: the scene is sound; 2: it is not, and the sentence on stderr says why.";

/* Keeps a warning for the report. */
static void keep(void *list, const char *sentence)
{
    tac_json_append(list, tac_json_text(sentence));
}

static enum tac_err check(struct tac_ctx *ctx, const char *path, const struct tac_strings *set, const char *dir,
                          enum tac_calibration when, bool details, bool as_json)
{
    struct tac_scene *scene = NULL;
    json_t *report = json_object(), *warned = json_array();
    char *written = NULL; /* the details, which come behind the summary */
    size_t length = 0;
    FILE *text = NULL;
    enum tac_err err = TAC_OK;
    ctx->warned = keep;
    ctx->warned_user = &warned;
    if (details && ctx->rank == 0) {
        text = open_memstream(&written, &length);
        if (text == NULL)
            TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "out of memory while describing the scene"));
    }
    TAC_TRY(tac_scene_read(ctx, path, set->item, set->count, &scene));
    TAC_TRY(tac_check_describe(ctx, scene, report, text));
    TAC_TRY(tac_check_engine(ctx, scene, dir, report, text));
    TAC_TRY(tac_check_exempt(ctx, scene, report, text));
    TAC_TRY(tac_check_forecast(ctx, scene, when, report, text));
    if (as_json && ctx->rank == 0) {
        if (json_object_set_new(report, "warnings", json_integer(ctx->warnings)) != 0 ||
            json_object_set(report, "warned", warned) != 0)
            TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "out of memory while describing the scene"));
        if (json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) != 0)
            TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "the report cannot be written to standard output; check the disk"));
        putchar('\n');
    }
    if (!as_json && ctx->rank == 0)
        tac_check_summary(stdout, path, report, ctx->warnings);
done:
    if (text != NULL) {
        fclose(text);
        if (err == TAC_OK)
            fputs("\n", stdout);
        fputs(written, stdout);
    }
    free(written);
    ctx->warned = NULL;
    ctx->warned_user = NULL;
    json_decref(warned);
    json_decref(report);
    tac_scene_destroy(&scene);
    return err;
}

enum tac_err tac_cmd_check(struct tac_ctx *ctx, int argc, char **argv)
{
    const char *scene = NULL, *dir = NULL;
    struct tac_strings set = {NULL, 0};
    bool json = false, details = false, help = false, calibrate = false, no_calibrate = false;
    int count = 0;
    const struct tac_option option[] = {
        {"-o", TAC_OPTION_STRING, &dir, "DIR", "folder for overlaps.obj, written when surfaces overlap"},
        {"--set", TAC_OPTION_LIST, &set, "path=value", "change a key of the scene, e.g. contact.restitution=0.5"},
        {"--calibrate", TAC_OPTION_FLAG, &calibrate, NULL,
         "measure this machine's speed for a second; without it only for scenes of 100 s or more"},
        {"--no-calibrate", TAC_OPTION_FLAG, &no_calibrate, NULL, "forecast with the usual speed of a core"},
        {"--details", TAC_OPTION_FLAG, &details, NULL, "then tell the rest: materials, bodies, periods, layers, costs"},
        {"--json", TAC_OPTION_FLAG, &json, NULL, "print the report as JSON"},
    };
    const size_t options = sizeof option / sizeof option[0];
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_options_parse(ctx, "check", argc, argv, option, options, &scene, 1, &count, &help));
    if (help) {
        if (ctx->rank == 0)
            tac_options_help("check", usage, about, option, options);
    } else if (count < 1) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "tactus check needs a scene: tactus check %s", usage);
    } else if (calibrate && no_calibrate) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "tactus check takes --calibrate or --no-calibrate, not both");
    } else {
        err = check(ctx, scene, &set, dir,
                    calibrate      ? TAC_CALIBRATE_ALWAYS
                    : no_calibrate ? TAC_CALIBRATE_NEVER
                                   : TAC_CALIBRATE_LONG,
                    details && !json, json);
    }
done:
    free(set.item);
    return err;
}
