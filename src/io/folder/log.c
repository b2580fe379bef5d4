/* log.c: writes run.log, and prints its rows. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "io/folder/log.h"
#include "io/folder/output.h"

enum {
    LINE = 2048,       /* more than all columns need */
    HEADER_EVERY = 25, /* rows after which the names of the columns are repeated */
    NUMBER_WIDTH = 11, /* "-1.2346e-05" */
    WHOLE_WIDTH = 7,
    PRINT_EVERY_S = 10, /* rows that go to a file by stderr */
};

struct log_info {
    const char *name;
    enum tac_log_unit unit;
    int of; /* TAC_LOG_OF_ */
    bool whole;
};

#define INFO(constant, name, unit, of, usual, whole) {name, TAC_LOG_##unit, TAC_LOG_OF_##of, whole},
static const struct log_info log_columns[] = {TAC_LOG_LIST(INFO)};

static enum tac_err fail_log(struct tac_ctx *ctx, const struct tac_output *out, int why)
{
    return tac_fail(ctx, TAC_ERR_RUN, "cannot write %s/run.log: %s; free some space or write elsewhere with -o",
                    out->folder.dir, strerror(why));
}

static enum tac_err append(struct tac_ctx *ctx, const struct tac_output *out, const char *text)
{
    const int why = tac_append_whole(out->log.fd, text, strlen(text));
    return why == 0 ? TAC_OK : fail_log(ctx, out, why);
}

/* ---- columns ---- */

/* Columns that this run's integrator does not have are left out, so a scene keeps its list when its integrator
 * changes. */
static bool is_shown(const struct tac_output *out, enum tac_log_column column)
{
    return log_columns[column].of & tac_log_set(out->scene->settings->integrator);
}

static int width_of(enum tac_log_column column)
{
    const struct log_info *info = &log_columns[column];
    const bool narrow = info->whole || info->unit == TAC_LOG_WALL_TIME || info->unit == TAC_LOG_PERCENT;
    const int least = narrow ? WHOLE_WIDTH : NUMBER_WIDTH, name = (int)strlen(info->name);
    return 1 + (name > least ? name : least);
}

static void unit_of(const struct tac_units *u, enum tac_log_column column, char *text, size_t size)
{
    switch (log_columns[column].unit) {
    case TAC_LOG_SCENE_TIME:
        snprintf(text, size, "%s", u->time);
        break;
    case TAC_LOG_WALL_TIME:
        snprintf(text, size, "s");
        break;
    case TAC_LOG_PERCENT:
        snprintf(text, size, "%%");
        break;
    case TAC_LOG_ENERGY:
        snprintf(text, size, "%s", u->energy);
        break;
    case TAC_LOG_LENGTH:
        snprintf(text, size, "%s", u->length);
        break;
    case TAC_LOG_MOMENTUM:
        snprintf(text, size, "%s %s/%s", u->mass, u->length, u->time);
        break;
    case TAC_LOG_SCENE_TIME_PER_S:
        snprintf(text, size, "%s/s", u->time);
        break;
    case TAC_LOG_PER_S:
        snprintf(text, size, "1/s");
        break;
    default:
        snprintf(text, size, "-");
    }
}

struct line {
    char text[LINE];
    size_t length;
};

static void put_cell(struct line *line, int width, const char *text)
{
    const int n = snprintf(line->text + line->length, sizeof line->text - line->length, "%*s", width, text);
    line->length += n > 0 && (size_t)n < sizeof line->text - line->length ? (size_t)n : 0;
}

/* The names of the columns, and a line of their units. The mark of a comment takes the blank before the first column,
 * so that programs which read tables of numbers skip both lines. */
static void put_header(const struct tac_output *out, struct line *line)
{
    const struct tac_output_settings *output = &out->scene->settings->output;
    for (int which = 0; which < 2; which++) {
        const size_t begin = line->length;
        for (int k = 0; k < output->log_count; k++) {
            char unit[4 * TAC_UNIT_NAME];
            unit_of(&out->scene->settings->units, output->log[k], unit, sizeof unit);
            if (is_shown(out, output->log[k]))
                put_cell(line, width_of(output->log[k]), which == 0 ? log_columns[output->log[k]].name : unit);
        }
        put_cell(line, 1, "\n");
        line->text[begin] = line->text[begin] == ' ' ? '#' : line->text[begin];
    }
}

/* ---- values ---- */

static const double *step_value(const struct tac_output *out, enum tac_log_column column)
{
    return &out->log.step[column - TAC_LOG_STEP];
}

static double share_of(const struct tac_status *s)
{
    return s->end_s > 0 ? fmin(1, fmax(0, s->time_s / s->end_s)) : 1;
}

static double clock_value(const struct tac_output *out, const struct tac_status *s, enum tac_log_column column)
{
    switch (column) {
    case TAC_LOG_SHARE:
        return 100 * share_of(s);
    case TAC_LOG_TICKS_PER_S:
        return s->ticks_per_s;
    case TAC_LOG_ROLLBACKS:
        return (double)s->counters.rollbacks;
    case TAC_LOG_WINDOW_S:
        return s->window_s;
    case TAC_LOG_SPEED:
        return s->wall_s > 0 ? (s->time_s - out->begin_t_s) / s->wall_s : NAN;
    case TAC_LOG_WALL_S:
        return s->wall_s;
    case TAC_LOG_WALL_LEFT_S:
        return s->wall_left_s;
    default:
        return NAN;
    }
}

static double value_of(const struct tac_output *out, int64_t frame, const struct tac_energy_row *row,
                       const struct tac_status *s, enum tac_log_column column)
{
    if (column >= TAC_LOG_STEP && column <= TAC_LOG_JAMMED)
        return *step_value(out, column);
    switch (column) {
    case TAC_LOG_FRAME:
        return (double)frame;
    case TAC_LOG_TIME:
        return row->time_s;
    case TAC_LOG_KINETIC:
        return row->kinetic;
    case TAC_LOG_GRAVITY:
        return row->gravity;
    case TAC_LOG_STRETCH:
        return row->stretch;
    case TAC_LOG_BEND:
        return row->bend;
    case TAC_LOG_CONTACT:
        return row->contact;
    case TAC_LOG_TOTAL:
        return row->total;
    case TAC_LOG_DISSIPATED:
        return row->dissipated;
    case TAC_LOG_DISSIPATED_FRICTION:
        return row->lost_friction;
    case TAC_LOG_DISSIPATED_RESTITUTION:
        return row->lost_restitution;
    case TAC_LOG_DISSIPATED_DAMPING:
        return row->lost_damping;
    case TAC_LOG_DISSIPATED_PLASTICITY:
        return row->lost_plasticity;
    case TAC_LOG_WORK:
        return row->work;
    case TAC_LOG_DEFECT:
        return row->defect;
    case TAC_LOG_MOMENTUM_X:
    case TAC_LOG_MOMENTUM_Y:
    case TAC_LOG_MOMENTUM_Z:
        return row->momentum[column - TAC_LOG_MOMENTUM_X];
    case TAC_LOG_CONTACTS:
        return (double)row->contacts;
    case TAC_LOG_MIN_DISTANCE:
        return row->min_distance;
    case TAC_LOG_DEEPEST_LAYER:
        return (double)row->deepest_layer;
    default:
        return clock_value(out, s, column);
    }
}

static void put_value(struct line *line, enum tac_log_column column, double value)
{
    const struct log_info *info = &log_columns[column];
    const bool tenths = info->unit == TAC_LOG_WALL_TIME || info->unit == TAC_LOG_PERCENT;
    char text[32];
    if (isnan(value))
        snprintf(text, sizeof text, "nan");
    else
        snprintf(text, sizeof text,
                 info->whole                        ? "%.0f"
                 : tenths && fabs(value) < 99999.95 ? "%.1f"
                 : column == TAC_LOG_TIME           ? "%.6g"
                                                    : "%.5g",
                 value);
    if (strlen(text) < (size_t)width_of(column))
        put_cell(line, width_of(column), text);
    else { /* an unusual exponent: the blank between two values stays */
        put_cell(line, 1, " ");
        put_cell(line, 1, text);
    }
}

/* ---- steps ---- */

/* How the steps between two rows become one number. */
static void add_step(double *value, enum tac_log_column column, bool first, double next)
{
    if (first || column == TAC_LOG_STEP || column == TAC_LOG_KAPPA)
        *value = next;
    else if (column == TAC_LOG_NEWTON || column == TAC_LOG_LINEAR || column == TAC_LOG_REFLECTIONS ||
             column == TAC_LOG_JAMMED)
        *value += next;
    else if (column == TAC_LOG_SHARE_MIN)
        *value = fmin(*value, next);
    else
        *value = fmax(*value, next);
}

void tac_log_step(struct tac_output *out, const char *head, const char *row)
{
    struct tac_log *log = &out->log;
    if (log->fd < 0 || strtod(row, NULL) == log->step[0])
        return; /* a step is told once, however often the run pauses after it */
    for (; *head != '\0' && *row != '\0';) {
        const size_t length = strcspn(head, ",");
        for (int k = TAC_LOG_STEP; k <= TAC_LOG_JAMMED; k++)
            if (strlen(log_columns[k].name) == length && strncmp(log_columns[k].name, head, length) == 0)
                add_step(&log->step[k - TAC_LOG_STEP], (enum tac_log_column)k, log->steps == 0, strtod(row, NULL));
        head += length + (head[length] == ',');
        row += strcspn(row, ",");
        row += *row == ',';
    }
    log->steps++;
}

/* ---- the file ---- */

static const char *const integrators[] = {"asynchronous", "implicit", "impact"}; /* enum tac_integrator_kind */

/* A line that a kill has cut short is ended, and a line says where the run goes on. */
static enum tac_err go_on(struct tac_ctx *ctx, struct tac_output *out, double t_s)
{
    char text[LINE], last = '\n';
    if (lseek(out->log.fd, -1, SEEK_END) >= 0 && read(out->log.fd, &last, 1) != 1)
        last = '\n';
    snprintf(text, sizeof text, "%s# goes on from t = %.6g %s, restart %lld, on %d rank%s\n", last == '\n' ? "" : "\n",
             t_s, out->scene->settings->units.time, (long long)out->restarts, ctx->size, ctx->size == 1 ? "" : "s");
    return append(ctx, out, text);
}

enum tac_err tac_log_open(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past)
{
    const struct tac_settings *s = out->scene->settings;
    char text[LINE];
    if (s->output.log_count == 0)
        return TAC_OK;
    if (past != NULL) {
        out->log.fd = openat(out->folder.fd, "run.log", O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (out->log.fd >= 0)
            return go_on(ctx, out, (double)past->now * s->quantum_s);
        if (errno != ENOENT)
            return fail_log(ctx, out, errno);
    }
    out->log.fd = tac_create_new(out->folder.fd, "run.log", O_RDWR | O_APPEND);
    if (out->log.fd < 0)
        return fail_log(ctx, out, errno);
    snprintf(text, sizeof text, "# %.200s%stactus %s, %s integrator, %d rank%s\n", s->name, s->name[0] ? ": " : "",
             tac_version(), integrators[s->integrator], ctx->size, ctx->size == 1 ? "" : "s");
    return append(ctx, out, text);
}

static void print_row(const struct tac_ctx *ctx, struct tac_output *out, const struct line *header,
                      const struct line *row)
{
    struct tac_log *log = &out->log;
    const double now = tac_wall_s();
    if (ctx->quiet || (!out->terminal && now - out->last_line < PRINT_EVERY_S))
        return;
    out->last_line = now;
    if (out->line_open)
        fputs("\r\033[K", stderr);
    if (log->printed % HEADER_EVERY == 0)
        fputs(header->text, stderr);
    log->printed++;
    fputs(row->text, stderr);
    fflush(stderr);
    out->line_open = false;
}

enum tac_err tac_log_row(struct tac_ctx *ctx, struct tac_output *out, int64_t frame, const struct tac_energy_row *row,
                         const struct tac_status *status)
{
    const struct tac_output_settings *output = &out->scene->settings->output;
    struct line header = {.length = 0}, line = {.length = 0};
    enum tac_err err = TAC_OK;
    if (out->log.fd < 0)
        return TAC_OK;
    put_header(out, &header);
    for (int k = 0; k < output->log_count; k++)
        if (is_shown(out, output->log[k]))
            put_value(&line, output->log[k], value_of(out, frame, row, status, output->log[k]));
    put_cell(&line, 1, "\n");
    if (out->log.rows++ % HEADER_EVERY == 0)
        TAC_TRY(append(ctx, out, header.text));
    TAC_TRY(append(ctx, out, line.text));
    print_row(ctx, out, &header, &line);
    out->log.steps = 0;
done:
    return err;
}

void tac_log_end(struct tac_output *out, const struct tac_status *status)
{
    char text[LINE + 2048];
    if (out->log.fd < 0)
        return;
    snprintf(text, sizeof text, "# %s at t = %.6g %s after %.1f s%s%s\n", status->state, status->time_s,
             out->scene->settings->units.time, status->wall_s, status->error ? ": " : "",
             status->error ? status->error : "");
    tac_append_whole(out->log.fd, text, strlen(text)); /* that the disk is full is told elsewhere */
    close(out->log.fd);
    out->log.fd = -1;
}
