/* cmd_status.c: tactus status DIR. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "app/app.h"
#include <tactus/report.h>

static double real_of(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text != NULL ? text : "?";
}

static void print_text(const char *dir, const json_t *s, enum tac_alive alive, double age_s)
{
    const char *state = text_of(s, "state"), *error = json_string_value(json_object_get(s, "error"));
    bool running = strcmp(state, "running") == 0;
    char left[32];
    if (running && alive == TAC_ALIVE_NO)
        printf("%s: ended without saying so (its process %lld is gone)\n", dir,
               (long long)json_integer_value(json_object_get(s, "pid")));
    else
        printf("%s: %s\n", dir, state);
    printf("  time        %.6g of %.6g s (%.1f %%)\n", real_of(s, "time"), real_of(s, "end"),
           100 * real_of(s, "share"));
    printf("  speed       %.3g s of simulated time per second, %.3g ticks per second\n", real_of(s, "speed"),
           real_of(s, "ticks_per_s"));
    tac_duration_text(real_of(s, "wall_s"), left, sizeof left);
    printf("  wall time   %s\n", left);
    if (running && alive != TAC_ALIVE_NO) {
        tac_duration_text(real_of(s, "wall_left_s"), left, sizeof left);
        printf("  left        %s\n", left);
    }
    printf("  contacts    %lld, deepest layer %lld\n", (long long)json_integer_value(json_object_get(s, "contacts")),
           (long long)json_integer_value(json_object_get(s, "deepest_layer")));
    printf("  window      %.3g s, %lld rollbacks\n", real_of(s, "window_s"),
           (long long)json_integer_value(json_object_get(json_object_get(s, "counters"), "rollbacks")));
    const char *checkpoint = json_string_value(json_object_get(s, "checkpoint"));
    printf("  checkpoint  %s, restarted %lld times\n", checkpoint != NULL ? checkpoint : "none yet",
           (long long)json_integer_value(json_object_get(s, "restarts")));
    if (running && age_s >= 0) {
        tac_duration_text(age_s, left, sizeof left);
        printf("  last sign   %s ago\n", left);
    }
    if (error != NULL)
        printf("  error       %s\n", error);
}

static enum tac_err print_json(struct tac_ctx *ctx, json_t *s, enum tac_alive alive, double age_s)
{
    json_t *is = alive == TAC_ALIVE_UNKNOWN ? json_null() : json_boolean(alive == TAC_ALIVE_YES);
    if (json_object_set_new(s, "alive", is) != 0 || json_object_set_new(s, "age_s", tac_json_real(age_s)) != 0)
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory while printing a status");
    return tac_json_print(ctx, json_incref(s));
}

enum tac_err tac_cmd_status(struct tac_ctx *ctx, int argc, char **argv)
{
    enum tac_err err = TAC_OK;
    bool as_json = false, help;
    const char *dir;
    int count;
    json_t *status = NULL;
    const struct tac_option option[] = {
        {"--json", TAC_OPTION_FLAG, &as_json, NULL, "print JSON: status.json, alive, age_s"}};
    TAC_TRY(tac_options_parse(ctx, "status", argc, argv, option, 1, &dir, 1, &count, &help));
    if (help) {
        tac_options_help("status", "DIR [--json]", "Tells how far the run in the folder DIR is, or how it ended.",
                         option, 1);
        goto done;
    }
    if (count != 1) {
        err = tac_fail(ctx, TAC_ERR_INPUT, "tactus status needs a run folder: tactus status DIR");
        goto done;
    }
    TAC_TRY(tac_folder_status(ctx, dir, &status));
    enum tac_alive alive = tac_process_alive(status);
    double updated = real_of(status, "updated"), age_s = difftime(time(NULL), (time_t)0) - updated;
    if (as_json)
        TAC_TRY(print_json(ctx, status, alive, age_s));
    else
        print_text(dir, status, alive, age_s);
done:
    json_decref(status);
    return err;
}
