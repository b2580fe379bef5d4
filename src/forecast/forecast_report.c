/* forecast_report.c: the forecast of `tactus check`: exact counts; with a pilot also time, contact, memory and disk
 * with their spread, which key costs most, and what each level of clocks.accuracy would cost. */
#include "forecast/forecast.h"
#include "forecast/levers.h"
#include "forecast/pilot.h"
#include "scene/accuracy.h"
#include <math.h>
#include <stdlib.h>
#include <tactus/report.h>

static const double DAY = 86400;
/* Where ranks wait for so much of the time, fewer of them would hardly take longer. */
static const double WAITS = .5;

struct reported {
    const struct tac_scene *scene;
    const struct tac_pilot *pilot; /* NULL: none */
    bool implicit;                 /* or another one with steps */
    const char *iterations;        /* of a step, in words */
    struct tac_forecast exact;
    /* with a pilot: */
    struct tac_span contact, newton, wall_s, memory; /* newton: iterations of a step */
    double elastic_ns, contact_ns, waiting;          /* waiting: part of the time */
    struct tac_lever_base base;
};

static enum tac_err no_memory(struct tac_ctx *ctx)
{
    return tac_fail(ctx, TAC_ERR_RUN, "out of memory while forecasting the run");
}

static struct tac_span scale(struct tac_span s, double factor)
{
    return (struct tac_span){s.likely * factor, s.least * factor, s.most * factor};
}

static struct tac_span shift(struct tac_span s, double by)
{
    return (struct tac_span){s.likely + by, s.least + by, s.most + by};
}

/* What the pilot tells of the whole run. */
static void extend(struct reported *t)
{
    const struct tac_pilot *p = t->pilot;
    const struct tac_forecast *f = &t->exact;
    const double wall_s = tac_pilot_recent(p, TAC_SAMPLE_WALL), from_s = tac_pilot_from_s(p);
    const double forces_s = tac_pilot_recent(p, TAC_SAMPLE_FORCES_S),
                 contact_s = tac_pilot_recent(p, TAC_SAMPLE_CONTACT_S);
    const double steps = f->steps * (1 - from_s / p->end_s), contact = tac_pilot_recent(p, TAC_SAMPLE_CONTACT);
    const double ticks = (f->elastic + f->other) * tac_pilot_recent(p, TAC_SAMPLE_T) / p->end_s;
    t->contact = tac_pilot_extend(p, TAC_SAMPLE_CONTACT);
    t->newton = scale(tac_pilot_extend(p, TAC_SAMPLE_NEWTON), steps > 0 ? 1 / steps : 0);
    t->wall_s = shift(tac_pilot_extend(p, TAC_SAMPLE_WALL), p->setup_s);
    t->memory = tac_pilot_memory(p, f->output_memory);
    t->elastic_ns = ticks > 0 ? 1e9 * forces_s * p->ranks / ticks : 0;
    t->contact_ns = contact > 0 ? 1e9 * contact_s * p->ranks / contact : 0;
    t->waiting = wall_s > 0 ? fmin(1, tac_pilot_recent(p, TAC_SAMPLE_WAITING_S) / wall_s) : 0;
    t->base = (struct tac_lever_base){f->elastic + f->other, t->contact.likely, t->wall_s.likely,
                                      wall_s > 0 ? t->wall_s.likely * fmin(1, forces_s / wall_s) : 0,
                                      wall_s > 0 ? t->wall_s.likely * fmin(1, contact_s / wall_s) : 0};
}

/* ---- memory and disk ---- */

/* Bytes of frames and rows; with a pilot as its frames could be compressed. */
static struct tac_span frames_of(const struct reported *t)
{
    const struct tac_forecast *f = &t->exact;
    const double fixed = f->frames - f->frames_packed;
    if (t->pilot == NULL)
        return (struct tac_span){f->frames, fixed, f->frames};
    return shift(scale(t->pilot->packing, f->frames_packed), fixed);
}

/* Bytes of the checkpoints that are kept; without a pilot the most that can be. */
static double checkpoints_of(const struct reported *t)
{
    const struct tac_settings *s = t->scene->settings;
    const struct tac_checkpoint_settings *c = &s->checkpoint;
    if (t->pilot == NULL)
        return t->exact.checkpoints * t->exact.checkpoint;
    const double made = 1 + (c->every_t > 0 ? s->end_s / c->every_t : 0) + t->wall_s.likely / c->every_s;
    return fmin(floor(made), c->keep) * (t->exact.checkpoint + TAC_FORECAST_CHECKPOINT_CONTACT * t->pilot->contacts);
}

/* Bytes of a record; NaN: not known without a pilot. */
static double record_of(const struct reported *t)
{
    if (t->scene->settings->integrator == TAC_INTEGRATOR_IMPACT) /* a position of each particle a step */
        return TAC_FORECAST_ITERATE * t->exact.steps * t->exact.free;
    if (t->implicit)
        return t->pilot != NULL ? TAC_FORECAST_ITERATE * t->exact.steps * t->newton.likely * t->exact.free : NAN;
    return t->exact.record + (t->pilot != NULL ? TAC_FORECAST_BREAKPOINT * t->contact.likely : 0);
}

static void put_span(json_t **object, const char *key, bool known, struct tac_span s)
{
    tac_json_put(object, key,
                 known ? json_pack("{s:o, s:o, s:o}", "likely", tac_json_real(s.likely), "least",
                                   tac_json_real(s.least), "most", tac_json_real(s.most))
                       : json_null());
}

static void put_room(json_t **object, const struct reported *t)
{
    const struct tac_span frames = frames_of(t);
    tac_json_put(object, "memory", tac_json_real(t->pilot != NULL ? t->memory.likely : t->exact.memory));
    put_span(object, "memory_span", t->pilot != NULL, t->memory);
    tac_json_put(object, "disk",
                 json_pack("{s:o, s:o, s:o, s:o, s:o}", "frames", tac_json_real(frames.likely), "frames_least",
                           tac_json_real(frames.least), "frames_most", tac_json_real(frames.most), "checkpoints",
                           tac_json_real(checkpoints_of(t)), "record", tac_json_real(record_of(t))));
}

static void print_room(FILE *text, const struct reported *t)
{
    const struct tac_span frames = frames_of(t);
    const double record = record_of(t);
    if (t->pilot != NULL) {
        fprintf(text, "memory     about %s on each rank (%s", tac_show_bytes(t->memory.likely).text,
                tac_show_bytes(t->memory.least).text);
        fprintf(text, " to %s)\n", tac_show_bytes(t->memory.most).text);
    } else {
        fprintf(text, "memory     about %s on one rank, and that of contacts\n", tac_show_bytes(t->exact.memory).text);
    }
    fprintf(text, "disk       %s %s of frames", t->pilot != NULL ? "about" : "at most",
            tac_show_bytes(frames.likely).text);
    fprintf(text, ", %s of checkpoints", tac_show_bytes(checkpoints_of(t)).text);
    if (!isnan(record))
        fprintf(text, "; with --record %s%s more", t->pilot != NULL ? "" : "at least ", tac_show_bytes(record).text);
    fputs("\n", text);
}

/* ---- the pilot itself ---- */

static json_t *describe_pilot(const struct reported *t)
{
    const struct tac_pilot *p = t->pilot;
    char note[96];
    if (p == NULL)
        return json_null();
    const enum tac_pilot_worth worth = tac_pilot_note(p, note, sizeof note);
    return json_pack("{s:f, s:i, s:o, s:o, s:o, s:b, s:b, s:o, s:f, s:s}", "seconds", p->seconds, "ranks", p->ranks,
                     "from", tac_json_real(tac_pilot_from_s(p)), "to", tac_json_real(tac_pilot_to_s(p)), "touched",
                     tac_json_real(tac_pilot_touched_s(p)), "whole", tac_pilot_is_whole(p), "lower_bound",
                     worth == TAC_PILOT_LOWER_BOUND, "wall_s",
                     tac_json_real(p->sample[p->count - 1].of[TAC_SAMPLE_WALL]), "waiting", t->waiting, "note", note);
}

static void print_pilot(FILE *text, const struct reported *t)
{
    const struct tac_pilot *p = t->pilot;
    const double touched_s = tac_pilot_touched_s(p);
    char note[96];
    tac_pilot_note(p, note, sizeof note);
    fprintf(text, "pilot      from t = %.4g s to %.4g s of %.4g s, on %d rank%s", tac_pilot_from_s(p),
            tac_pilot_to_s(p), p->end_s, p->ranks, p->ranks == 1 ? "" : "s");
    if (!isnan(touched_s))
        fprintf(text, "; contact since %.4g s", touched_s);
    fprintf(text, "%s%s\n", note[0] != '\0' ? "; " : "", note);
    if (p->ranks > 1 && t->waiting > WAITS)
        fprintf(text, "ranks      they waited for each other for %.0f %% of the time: fewer would take hardly longer\n",
                100 * t->waiting);
}

static void print_wall(FILE *text, const struct reported *t)
{
    fprintf(text, "wall       about %s (%s", tac_show_seconds(t->wall_s.likely).text,
            tac_show_seconds(t->wall_s.least).text);
    fprintf(text, " to %s) on %d rank%s", tac_show_seconds(t->wall_s.most).text, t->pilot->ranks,
            t->pilot->ranks == 1 ? "" : "s");
    if (t->elastic_ns > 0 && !t->implicit)
        fprintf(text, " at %.3g ns an elastic tick", t->elastic_ns);
    if (t->contact_ns > 0)
        fprintf(text, "%s %.3g ns a contact tick", t->elastic_ns > 0 ? " and" : " at", t->contact_ns);
    fputs("\n", text);
}

static void print_forecast(FILE *text, const struct reported *t)
{
    if (t->pilot != NULL)
        print_pilot(text, t);
    if (t->implicit)
        fprintf(text, "forecast   %.0f steps", t->exact.steps);
    else
        fprintf(text, "forecast   %.3g elastic ticks, %.3g of gravity, dampers and loads", t->exact.elastic,
                t->exact.other);
    if (t->pilot == NULL)
        fprintf(text, "; %s and time: tactus check --pilot 20 runs the scene for 20 s to estimate them\n",
                t->implicit ? t->iterations : "contact");
    else if (t->implicit)
        fprintf(text, ", about %.2g %s in each (%.2g to %.2g)\n", t->newton.likely, t->iterations, t->newton.least,
                t->newton.most);
    else
        fprintf(text, "; contact about %.2g (%.2g to %.2g)\n", t->contact.likely, t->contact.least, t->contact.most);
    if (t->pilot != NULL)
        print_wall(text, t);
    print_room(text, t);
}

/* ---- what other values would save ---- */

/* The part of the time that it is now; 1 where nothing takes time. */
static double part_of(double wall_s, const struct reported *t)
{
    return t->wall_s.likely > 0 ? wall_s / t->wall_s.likely : 1;
}

static json_t *describe_savings(const struct tac_lever *lever, size_t count, const struct reported *t)
{
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++)
        tac_json_append(&list,
                        json_pack("{s:s, s:f, s:f, s:o, s:o, s:o, s:o}", "key", lever[k].key, "now", lever[k].now,
                                  "instead", lever[k].instead, "elastic", tac_json_real(lever[k].elastic), "contact",
                                  tac_json_real(lever[k].contact), "wall_s", tac_json_real(lever[k].wall_s), "saves",
                                  tac_json_real(1 - part_of(lever[k].wall_s, t))));
    return list;
}

/* "materials.cloth.stretch.stiffness 15 instead of 60 would save 40 %": the first three that save something. */
static void print_savings(FILE *text, const struct tac_lever *lever, size_t count, const struct reported *t)
{
    enum { SHOWN = 3 };
    for (size_t k = 0; k < count && k < SHOWN; k++) {
        const double saves = 1 - part_of(lever[k].wall_s, t);
        if (saves < .01)
            return;
        fprintf(text, "%-10s %s %g instead of %g would save %.0f %% of the time%s%s\n", k ? "" : "savings",
                lever[k].key, lever[k].instead, lever[k].now, 100 * saves, lever[k].advice[0] ? ": " : "",
                lever[k].advice);
    }
}

static enum tac_err describe_levels(struct tac_ctx *ctx, const struct reported *t, json_t **out, FILE *text)
{
    enum tac_err err = TAC_OK;
    json_t *list = json_array();
    for (int level = 0; level < TAC_ACCURACY_LEVELS; level++) {
        const struct tac_accuracy *a = &tac_accuracy[level];
        struct tac_lever l;
        bool can;
        TAC_TRY(tac_levers_level(ctx, t->scene, &t->base, level, &l, &can));
        if (!can)
            continue;
        const double cost = part_of(l.wall_s, t), least = part_of(l.wall_least_s, t), most = part_of(l.wall_most_s, t);
        tac_json_append(&list, json_pack("{s:s, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:[f, f, f], s:[f, f, f]}",
                                         "level", tac_accuracy_names[level], "elastic_safety", a->elastic_safety,
                                         "contact_safety", a->contact_safety, "elastic", tac_json_real(l.elastic),
                                         "contact", tac_json_real(l.contact), "wall_s", tac_json_real(l.wall_s), "cost",
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

/* One sentence about a run of more than a day. lever: the one that saves most, NULL: none does. */
static void warn_of_days(struct tac_ctx *ctx, const struct reported *t, const struct tac_lever *lever)
{
    const char *ranks = t->pilot->ranks == 1 ? "" : "s";
    if (lever != NULL)
        tac_warn(ctx,
                 "the run will take some %s on %d rank%s; %s costs most: %g instead of %g would save %.0f %% of the "
                 "time (the forecast of tactus check has what other keys would save)",
                 tac_show_seconds(t->wall_s.likely).text, t->pilot->ranks, ranks, lever->key, lever->instead,
                 lever->now, 100 * (1 - part_of(lever->wall_s, t)));
    else
        tac_warn(ctx, "the run will take some %s on %d rank%s; fewer vertices or an earlier time.end would save time",
                 tac_show_seconds(t->wall_s.likely).text, t->pilot->ranks, ranks);
}

/* What the keys of the scene do to its cost, and the other integrator. */
static enum tac_err describe_levers(struct tac_ctx *ctx, const struct reported *t, json_t **object, FILE *text)
{
    enum tac_err err = TAC_OK;
    struct tac_lever *lever = NULL;
    json_t *levels = NULL;
    size_t count = 0;
    if (t->pilot != NULL)
        TAC_TRY(tac_levers_find(ctx, t->scene, &t->base, &lever, &count));
    const bool saves = count > 0 && lever[0].wall_s < .99 * t->wall_s.likely;
    tac_json_put(object, "costs_most", saves ? json_string(lever[0].key) : json_null());
    tac_json_put(object, "savings", describe_savings(lever, count, t));
    if (text)
        print_savings(text, lever, count, t);
    if (t->pilot != NULL)
        TAC_TRY(describe_levels(ctx, t, &levels, text));
    tac_json_put(object, "accuracy", levels != NULL ? levels : json_array());
    if (t->pilot != NULL && text)
        fprintf(text, "other      --set integrator.kind=implicit has the pilot run the other integrator, for what is "
                      "stiff and slow\n");
    if (t->pilot != NULL && t->wall_s.likely > DAY)
        warn_of_days(ctx, t, saves ? &lever[0] : NULL);
done:
    tac_levers_free(&lever, count);
    return err;
}

/* ---- the whole ---- */

static json_t *describe_ticks(const struct reported *t)
{
    const bool known = t->pilot != NULL;
    const double least = t->contact.least, likely = t->contact.likely, most = t->contact.most;
    const double within = known && least > 0 ? fmax(most / likely, likely / least) : NAN;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "elastic", tac_json_real(t->exact.elastic), "other",
                     tac_json_real(t->exact.other), "contact", tac_json_real(known ? likely : NAN), "contact_least",
                     tac_json_real(known ? least : NAN), "contact_most", tac_json_real(known ? most : NAN), "within",
                     tac_json_real(within));
}

static enum tac_err describe(struct tac_ctx *ctx, const struct reported *t, json_t *report, FILE *text)
{
    enum tac_err err = TAC_OK;
    const bool known = t->pilot != NULL;
    json_t *object = json_object();
    if (t->implicit) {
        tac_json_put(&object, "steps", tac_json_real(t->exact.steps));
        put_span(&object, t->scene->settings->integrator == TAC_INTEGRATOR_IMPACT ? "rounds" : "newton", known,
                 t->newton);
    } else {
        tac_json_put(&object, "ticks", describe_ticks(t));
        tac_json_put(&object, "speed",
                     known ? json_pack("{s:f, s:f, s:b}", "elastic_ns", t->elastic_ns, "contact_ns", t->contact_ns,
                                       "measured", true)
                           : json_null());
    }
    put_span(&object, "wall_s", known, t->wall_s);
    put_room(&object, t);
    tac_json_put(&object, "pilot", describe_pilot(t));
    if (text)
        print_forecast(text, t);
    if (!t->implicit)
        TAC_TRY(describe_levers(ctx, t, &object, text));
    else if (known && t->wall_s.likely > DAY)
        warn_of_days(ctx, t, NULL);
    err = json_object_set_new(report, "forecast", object) == 0 ? TAC_OK : no_memory(ctx);
    object = NULL;
done:
    json_decref(object);
    return err;
}

enum tac_err tac_check_forecast(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pilot *pilot,
                                json_t *report, FILE *text)
{
    enum tac_err err = TAC_OK;
    struct tac_elastic *elastic = NULL;
    struct reported t = {.scene = scene, .pilot = pilot};
    t.implicit = scene->settings->integrator != TAC_INTEGRATOR_ASYNCHRONOUS;
    t.iterations = scene->settings->integrator == TAC_INTEGRATOR_IMPACT ? "rounds" : "Newton iterations";
    if (!t.implicit)
        TAC_TRY(tac_elastic_create(ctx, scene, &elastic));
    tac_forecast_make(scene, elastic, &t.exact);
    tac_elastic_destroy(&elastic);
    if (pilot != NULL)
        extend(&t);
    err = describe(ctx, &t, report, text);
done:
    return err;
}
