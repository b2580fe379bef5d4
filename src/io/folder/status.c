/* status.c: writes status.json and the progress line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io/folder/output.h"

static bool put_value(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static bool put_integer(json_t *object, const char *key, int64_t value)
{
    return put_value(object, key, json_integer((json_int_t)value));
}

static bool put_ticks(json_t *object, const char *key, const char *const *kind_name, const int64_t *ticks)
{
    json_t *kinds = json_object();
    bool ok = kinds != NULL;
    for (int i = 0; ok && kind_name[i] != NULL; i++)
        ok = put_integer(kinds, kind_name[i], ticks[i]);
    return put_value(object, key, kinds) && ok;
}

static bool put_seconds(json_t *object, const struct tac_counters *c)
{
    json_t *seconds = json_object();
    bool ok = seconds != NULL && put_value(seconds, "forces", tac_json_real(c->seconds_forces)) &&
              put_value(seconds, "contact", tac_json_real(c->seconds_contact)) &&
              put_value(seconds, "discovery", tac_json_real(c->seconds_discovery)) &&
              put_value(seconds, "waiting", tac_json_real(c->seconds_waiting)) &&
              put_value(seconds, "exchange", tac_json_real(c->seconds_exchange)) &&
              put_value(seconds, "output", tac_json_real(c->seconds_output)) &&
              put_value(seconds, "plans", tac_json_real(c->seconds_plans)) &&
              put_value(seconds, "slabs", tac_json_real(c->seconds_slabs[0])) &&
              put_value(seconds, "slabs_rescheduled", tac_json_real(c->seconds_slabs[1])) &&
              put_value(seconds, "lists", tac_json_real(c->seconds_lists[0])) &&
              put_value(seconds, "lists_rescheduled", tac_json_real(c->seconds_lists[1]));
    return put_value(object, "seconds", seconds) && ok;
}

json_t *tac_counters_json(const struct tac_counters *c, const char *const *kind_name)
{
    json_t *object = json_object();
    bool ok = object != NULL && put_ticks(object, "committed", kind_name, c->committed) &&
              put_ticks(object, "executed", kind_name, c->executed) && put_integer(object, "silent", c->silent) &&
              put_integer(object, "windows", c->windows) && put_integer(object, "rollbacks", c->rollbacks) &&
              put_integer(object, "repeated_ticks", c->repeated_ticks) &&
              put_integer(object, "contacts_found", c->contacts_found) &&
              put_integer(object, "deepest_layer", c->deepest_layer) &&
              put_integer(object, "certificates_created", c->certificates_created) &&
              put_integer(object, "certificates_failed", c->certificates_failed) &&
              put_integer(object, "certificates_rescheduled", c->certificates_rescheduled) &&
              put_integer(object, "certificates_reconfirmed", c->certificates_reconfirmed) &&
              put_integer(object, "plans_filed", c->plans_filed) &&
              put_integer(object, "candidate_builds", c->candidate_builds) &&
              put_integer(object, "candidate_repairs", c->candidate_repairs) &&
              put_integer(object, "candidates", c->candidates) &&
              put_integer(object, "messages_sent", c->messages_sent) &&
              put_integer(object, "bytes_sent", c->bytes_sent) && put_integer(object, "migrations", c->migrations) &&
              put_integer(object, "rigid_plans", c->rigid_plans) && put_seconds(object, c);
    if (ok)
        return object;
    json_decref(object);
    return NULL;
}

static double share_of(const struct tac_status *s)
{
    double share = s->end_s > 0 ? s->time_s / s->end_s : 1;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* Simulated seconds per second of wall time; NaN: not known yet. */
static double speed_of(const struct tac_output *out, const struct tac_status *s)
{
    return s->wall_s > 0 ? (s->time_s - out->begin_t_s) / s->wall_s : NAN;
}

json_t *tac_status_json(const struct tac_output *out, const struct tac_status *s)
{
    const struct tac_scene *scene = out->scene;
    json_t *object = json_object();
    bool ok =
        object != NULL && put_value(object, "format", json_string(TAC_STATUS_FORMAT)) &&
        put_value(object, "state", json_string(s->state)) && put_value(object, "time", tac_json_real(s->time_s)) &&
        put_value(object, "end", tac_json_real(s->end_s)) && put_value(object, "share", tac_json_real(share_of(s))) &&
        put_value(object, "speed", tac_json_real(speed_of(out, s))) &&
        put_value(object, "wall_s", tac_json_real(s->wall_s)) &&
        put_value(object, "wall_left_s", tac_json_real(s->wall_left_s)) &&
        put_value(object, "window_s", tac_json_real(s->window_s)) &&
        put_value(object, "ticks_per_s", tac_json_real(s->ticks_per_s)) &&
        put_integer(object, "contacts", s->contacts) && put_integer(object, "deepest_layer", s->deepest_layer) &&
        put_integer(object, "restarts", out->restarts) && put_integer(object, "ranks", out->ctx->size) &&
        put_value(object, "checkpoint", out->checkpoint[0] != '\0' ? tac_json_text(out->checkpoint) : json_null()) &&
        put_value(object, "error", s->error != NULL ? tac_json_text(s->error) : json_null()) &&
        put_value(object, "name", json_string(scene->settings->name)) &&
        put_value(object, "scene_sha256", json_string(scene->settings->sha256)) &&
        put_value(object, "version", json_string(tac_version())) && tac_process_describe(object) &&
        put_value(object, "counters", tac_counters_json(&s->counters, out->kind_name)) &&
        (!scene->settings->units.given || put_value(object, "units", tac_units_json(&scene->settings->units)));
    if (ok)
        return object;
    json_decref(object);
    return NULL;
}

static void progress_text(const struct tac_output *out, const struct tac_status *s, char *text, size_t size)
{
    char left[32];
    tac_duration_text(s->wall_left_s, left, sizeof left);
    snprintf(text, size,
             "t %.6g of %.6g s  %.1f %%  left %s  %.3g ticks/s  %" PRId64 " contacts  layer %" PRId64
             "  window %.3g s  %" PRId64 " rollbacks",
             s->time_s, s->end_s, 100 * share_of(s), left, s->ticks_per_s, s->contacts, s->deepest_layer, s->window_s,
             s->counters.rollbacks);
}

/* A line that wraps cannot be redrawn. */
static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

static void print_progress(struct tac_ctx *ctx, struct tac_output *out, const struct tac_status *s, bool last)
{
    enum { LOG_EVERY_S = 10 };
    double now = tac_wall_s();
    char text[512];
    if (ctx->quiet || (!out->terminal && !last && now - out->last_line < LOG_EVERY_S))
        return;
    out->last_line = now;
    progress_text(out, s, text, sizeof text);
    if (!out->terminal) {
        fprintf(stderr, "%s\n", text);
        return;
    }
    int columns = terminal_columns() - 1;
    fprintf(stderr, "\r%.*s\033[K%s", columns, text, last ? "\n" : "");
    fflush(stderr);
    out->line_open = !last;
}

enum tac_err tac_output_status(struct tac_ctx *ctx, struct tac_output *out, const struct tac_status *status, bool force)
{
    const double EVERY_S = .5;
    double now = tac_wall_s();
    if (ctx->rank != 0 || (!force && now - out->last_status < EVERY_S))
        return TAC_OK;
    out->last_status = now;
    print_progress(ctx, out, status, false);
    json_t *json = tac_status_json(out, status);
    enum tac_err err = tac_folder_replace_json(ctx, &out->folder, "status.json", json, false);
    json_decref(json);
    return err;
}

/* Writes a brief status without allocating memory, for a run that is out of memory. */
static bool rewrite_briefly(const struct tac_output *out, const struct tac_status *s)
{
    char text[1024], error[512] = "";
    if (s->error != NULL)
        snprintf(error, sizeof error, "%s", s->error);
    for (char *c = error; *c != '\0'; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < 32 || (unsigned char)*c > 126)
            *c = '?'; /* JSON would need an escape */
    const int n = snprintf(text, sizeof text,
                           "{\n  \"format\": \"%s\",\n  \"state\": \"%s\",\n  \"time\": %.17g,\n  \"end\": %.17g,\n"
                           "  \"error\": %s%s%s,\n  \"scene_sha256\": \"%s\"\n}\n",
                           TAC_STATUS_FORMAT, s->state, s->time_s, s->end_s, error[0] ? "\"" : "",
                           error[0] ? error : "null", error[0] ? "\"" : "", out->scene->settings->sha256);
    return n > 0 && (size_t)n < sizeof text && tac_folder_rewrite(&out->folder, "status.json", text, (size_t)n);
}

enum tac_err tac_status_last(struct tac_ctx *ctx, struct tac_output *out, const struct tac_status *status)
{
    print_progress(ctx, out, status, true);
    json_t *json = tac_status_json(out, status);
    enum tac_err err = tac_folder_replace_json(ctx, &out->folder, "status.json", json, true);
    if (err) {
        /* No room for a second copy: the end of a run on a full disk is worth a rewrite in place. */
        char *text = json != NULL ? json_dumps(json, JSON_INDENT(2)) : NULL;
        if (text != NULL ? tac_folder_rewrite(&out->folder, "status.json", text, strlen(text))
                         : rewrite_briefly(out, status))
            err = TAC_OK;
        free(text);
    }
    json_decref(json);
    return err;
}
