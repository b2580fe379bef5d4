/* forecast_report.c: the forecast of `tactus check`: ticks, wall time, memory, disk; which key costs most, and what
 * another value of it would save; what each level of clocks.accuracy would cost and lose. */
#include "check/forecast_change.h"
#include "scene/accuracy.h"
#include <math.h>
#include <stdlib.h>
#include <tactus/report.h>

static const double DAY = 86400;

struct tac_speed tac_speed_usual(void)
{
    return (struct tac_speed){.elastic_ns = 20, .contact_ns = 200};
}

static enum tac_err no_memory(struct tac_ctx *ctx)
{
    return tac_fail(ctx, TAC_ERR_RUN, "out of memory while forecasting the run");
}

struct tac_amount tac_show_seconds(double s)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{DAY, "days"}, {3600, "hours"}, {60, "minutes"}};
    struct tac_amount out;
    for (size_t k = 0; k < sizeof units / sizeof units[0]; k++)
        if (s >= 2 * units[k].unit) {
            const double n = s / units[k].unit;
            snprintf(out.text, sizeof out.text, "%.*f %s", n < 10, n, units[k].name);
            return out;
        }
    snprintf(out.text, sizeof out.text, s < 10 ? "%.2g s" : "%.0f s", s);
    return out;
}

struct tac_amount tac_show_bytes(double bytes)
{
    static const char *const name[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    struct tac_amount out;
    int k = 0;
    for (; bytes >= 1000 && k < 5; k++)
        bytes /= 1000;
    snprintf(out.text, sizeof out.text, "%.3g %s", bytes, name[k]);
    return out;
}

/* The part of the time that it is now; 1 where nothing ticks now, so that nothing can change it. */
static double part_of(double wall_s, const struct tac_forecast *now)
{
    return now->wall_s > 0 ? wall_s / now->wall_s : 1;
}

/* ---- what other values would save ---- */

static json_t *describe_savings(const struct tac_change *change, size_t count, const struct tac_forecast *now)
{
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++)
        tac_json_append(&list,
                        json_pack("{s:s, s:f, s:f, s:o, s:o, s:o, s:o}", "key", change[k].key, "now", change[k].now,
                                  "instead", change[k].instead, "elastic", tac_json_real(change[k].forecast.elastic),
                                  "contact", tac_json_real(change[k].forecast.contact), "wall_s",
                                  tac_json_real(change[k].forecast.wall_s), "saves",
                                  tac_json_real(1 - part_of(change[k].forecast.wall_s, now))));
    return list;
}

/* "materials.cloth.stretch.stiffness 15 instead of 60, 40 %": the first three that save something. */
static void print_savings(FILE *text, const struct tac_change *change, size_t count, const struct tac_forecast *now)
{
    enum { SHOWN = 3 };
    for (size_t k = 0; k < count && k < SHOWN; k++) {
        const double saves = 1 - part_of(change[k].forecast.wall_s, now);
        if (saves < .01)
            return;
        fprintf(text, "%-10s %s %g instead of %g would save %.0f %% of the time%s%s\n", k ? "" : "savings",
                change[k].key, change[k].instead, change[k].now, 100 * saves, change[k].advice[0] ? ": " : "",
                change[k].advice);
    }
}

/* ---- levels of accuracy ---- */

static enum tac_err describe_levels(struct tac_ctx *ctx, const struct tac_scene *scene,
                                    const struct tac_elastic *elastic, const struct tac_speed *speed,
                                    const struct tac_forecast *now, json_t **out, FILE *text)
{
    enum tac_err err = TAC_OK;
    json_t *list = json_array();
    for (int level = 0; level < TAC_ACCURACY_LEVELS; level++) {
        const struct tac_accuracy *a = &tac_accuracy[level];
        struct tac_forecast f;
        bool can;
        TAC_TRY(tac_forecast_level(ctx, scene, elastic, speed, level, &f, &can));
        if (!can)
            continue;
        const double cost = part_of(f.wall_s, now), contact_s = 1e-9 * speed->contact_ns * f.contact;
        const double least = part_of(f.wall_s + contact_s * (a->contact.least / a->contact.median - 1), now);
        const double most = part_of(f.wall_s + contact_s * (a->contact.most / a->contact.median - 1), now);
        tac_json_append(&list, json_pack("{s:s, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:[f, f, f], s:[f, f, f]}",
                                         "level", tac_accuracy_names[level], "elastic_safety", a->elastic_safety,
                                         "contact_safety", a->contact_safety, "elastic", tac_json_real(f.elastic),
                                         "contact", tac_json_real(f.contact), "wall_s", tac_json_real(f.wall_s), "cost",
                                         tac_json_real(cost), "cost_least", tac_json_real(least), "cost_most",
                                         tac_json_real(most), "contact_quotient", a->contact.least, a->contact.median,
                                         a->contact.most, "defect_quotient", a->defect.least, a->defect.median,
                                         a->defect.most));
        if (text)
            fprintf(
                text,
                "%-10s %-8s elastic_safety %g, contact_safety %g: %.2g (%.2g to %.2g) times the time of this scene,\n"
                "                    %.2g (%.2g to %.2g) times the defect of standard\n",
                level ? "" : "accuracy", tac_accuracy_names[level], a->elastic_safety, a->contact_safety, cost, least,
                most, a->defect.median, a->defect.least, a->defect.most);
    }
    *out = list;
    list = NULL;
done:
    json_decref(list);
    return err;
}

/* ---- the whole ---- */

static void print_room(FILE *text, const struct tac_forecast *f)
{
    fprintf(text, "memory     about %s on one rank", tac_show_bytes(f->memory).text);
    if (f->memory_record > 0)
        fprintf(text, "; with --record %s more", tac_show_bytes(f->memory_record).text);
    fputs("\n", text);
    fprintf(text, "disk       about %s of frames, %s of checkpoints; with --record %s more\n",
            tac_show_bytes(f->frames).text, tac_show_bytes(f->checkpoints).text, tac_show_bytes(f->record).text);
}

static void print_forecast(FILE *text, const struct tac_forecast *f, const struct tac_speed *speed)
{
    fprintf(text,
            "forecast   %.3g elastic ticks, %.3g of gravity, dampers and loads; contact about %.2g\n"
            "           (%.1g to %.1g): sheets that drape, shells that stand, no deep impacts\n",
            f->elastic, f->other, f->contact, f->contact / TAC_FORECAST_WITHIN, f->contact * TAC_FORECAST_WITHIN);
    fprintf(text, "wall       about %s on one core at %.3g ns an elastic tick and %.3g ns a contact tick, %s\n",
            tac_show_seconds(f->wall_s).text, speed->elastic_ns, speed->contact_ns,
            speed->measured ? "measured on this machine" : "the usual speed");
    print_room(text, f);
}

static json_t *describe(const struct tac_forecast *f, const struct tac_speed *speed)
{
    return json_pack("{s:{s:o, s:o, s:o, s:o, s:o, s:f}, s:{s:o, s:o, s:o}, s:{s:f, s:f, s:b}, s:o, s:{s:o, s:o, s:o}}",
                     "ticks", "elastic", tac_json_real(f->elastic), "other", tac_json_real(f->other), "contact",
                     tac_json_real(f->contact), "contact_least", tac_json_real(f->contact / TAC_FORECAST_WITHIN),
                     "contact_most", tac_json_real(f->contact * TAC_FORECAST_WITHIN), "within", TAC_FORECAST_WITHIN,
                     "wall_s", "likely", tac_json_real(f->wall_s), "least",
                     tac_json_real(1e-9 * (speed->elastic_ns * (f->elastic + f->other) +
                                           speed->contact_ns * f->contact / TAC_FORECAST_WITHIN)),
                     "most",
                     tac_json_real(1e-9 * (speed->elastic_ns * (f->elastic + f->other) +
                                           speed->contact_ns * f->contact * TAC_FORECAST_WITHIN)),
                     "speed", "elastic_ns", speed->elastic_ns, "contact_ns", speed->contact_ns, "measured",
                     speed->measured, "memory", tac_json_real(f->memory), "disk", "frames", tac_json_real(f->frames),
                     "checkpoints", tac_json_real(f->checkpoints), "record", tac_json_real(f->record));
}

/* One sentence about a run of more than a day. */
static void warn_of_days(struct tac_ctx *ctx, const struct tac_forecast *f, const struct tac_change *change)
{
    if (change != NULL)
        tac_warn(ctx,
                 "a run will take some %s on one core; %s costs most: %g instead of %g would save %.0f %% of the time "
                 "(the forecast of tactus check tells what other keys would save)",
                 tac_show_seconds(f->wall_s).text, change->key, change->instead, change->now,
                 100 * (1 - change->forecast.wall_s / f->wall_s));
    else
        tac_warn(ctx, "a run will take some %s on one core; fewer vertices or an earlier time.end would save time",
                 tac_show_seconds(f->wall_s).text);
}

/* The implicit integrator has no ticks. */
static enum tac_err describe_steps(struct tac_ctx *ctx, const struct tac_scene *scene, json_t *report, FILE *text)
{
    struct tac_forecast f;
    const double within = TAC_FORECAST_NEWTON_WITHIN;
    tac_forecast_steps(scene, &f);
    if (text) {
        fprintf(text, "forecast   %.0f steps, about %.2g Newton iterations in each (%.2g to %.2g)\n", f.steps, f.newton,
                fmax(1, f.newton / within), f.newton * within);
        fprintf(text, "wall       about %s on one core (%s to %s), on the machine where it was measured\n",
                tac_show_seconds(f.wall_s).text, tac_show_seconds(f.wall_s / within).text,
                tac_show_seconds(f.wall_s * within).text);
        print_room(text, &f);
    }
    if (f.wall_s > DAY)
        warn_of_days(ctx, &f, NULL);
    json_t *object = json_pack(
        "{s:o, s:{s:o, s:o, s:o}, s:{s:o, s:o, s:o}, s:o, s:o, s:{s:o, s:o, s:o}}", "steps", tac_json_real(f.steps),
        "newton", "likely", tac_json_real(f.newton), "least", tac_json_real(fmax(1, f.newton / within)), "most",
        tac_json_real(f.newton * within), "wall_s", "likely", tac_json_real(f.wall_s), "least",
        tac_json_real(f.wall_s / within), "most", tac_json_real(f.wall_s * within), "memory", tac_json_real(f.memory),
        "memory_record", tac_json_real(f.memory_record), "disk", "frames", tac_json_real(f.frames), "checkpoints",
        tac_json_real(f.checkpoints), "record", tac_json_real(f.record));
    return json_object_set_new(report, "forecast", object) == 0 ? TAC_OK : no_memory(ctx);
}

enum tac_err tac_check_forecast(struct tac_ctx *ctx, const struct tac_scene *scene, enum tac_calibration when,
                                json_t *report, FILE *text)
{
    enum tac_err err;
    struct tac_elastic *elastic = NULL;
    struct tac_forecast f;
    struct tac_change *change = NULL;
    size_t count = 0;
    json_t *object = NULL, *levels = NULL;
    struct tac_speed speed = tac_speed_usual();
    if (scene->settings->integrator == TAC_INTEGRATOR_IMPLICIT)
        return describe_steps(ctx, scene, report, text);
    TAC_TRY(tac_elastic_create(ctx, scene, &elastic));
    TAC_TRY(tac_forecast_make(ctx, scene, elastic, &speed, &f));
    if (when == TAC_CALIBRATE_ALWAYS || (when == TAC_CALIBRATE_LONG && f.wall_s >= TAC_LONG_S)) {
        TAC_TRY(tac_forecast_calibrate(ctx, scene, elastic, &speed));
        TAC_TRY(tac_forecast_make(ctx, scene, elastic, &speed, &f));
    }
    TAC_TRY(tac_forecast_changes(ctx, scene, elastic, &speed, &change, &count));
    object = describe(&f, &speed);
    if (text)
        print_forecast(text, &f, &speed);
    const bool saves = count > 0 && change[0].forecast.wall_s < .99 * f.wall_s;
    tac_json_put(&object, "costs_most", saves ? json_string(change[0].key) : json_null());
    tac_json_put(&object, "savings", describe_savings(change, count, &f));
    if (text)
        print_savings(text, change, count, &f);
    TAC_TRY(describe_levels(ctx, scene, elastic, &speed, &f, &levels, text));
    tac_json_put(&object, "accuracy", levels);
    if (f.wall_s > DAY)
        warn_of_days(ctx, &f, saves ? &change[0] : NULL);
    if (json_object_set_new(report, "forecast", object) != 0)
        err = no_memory(ctx);
    object = NULL;
done:
    json_decref(object);
    tac_forecast_changes_free(&change, count);
    tac_elastic_destroy(&elastic);
    return err;
}
