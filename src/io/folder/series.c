/* series.c: writes tables with rows by time, reactions.csv and histories.csv, and steps.csv, with rows by step. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "io/folder/series.h"

static enum tac_err fail_series(struct tac_ctx *ctx, const struct tac_output *out, const struct tac_series *s, int why)
{
    return tac_fail(ctx, TAC_ERR_RUN, "cannot write %s/%s: %s; free some space or write elsewhere with -o",
                    out->folder.dir, s->name, strerror(why));
}

enum tac_err tac_series_append(struct tac_ctx *ctx, const struct tac_output *out, const struct tac_series *s,
                               const char *text, size_t length)
{
    const int why = tac_append_whole(s->fd, text, length);
    return why == 0 ? TAC_OK : fail_series(ctx, out, s, why);
}

static struct tac_output_sums *sums_of(struct tac_output *out, const struct tac_series *s)
{
    return &out->sums[s - out->series];
}

static enum tac_err append_lines(struct tac_ctx *ctx, struct tac_output *out, const struct tac_series *s,
                                 const char *text, size_t length)
{
    const enum tac_err err = tac_series_append(ctx, out, s, text, length);
    return err ? err : tac_sums_note(ctx, sums_of(out, s), text, length);
}

static enum tac_err create_series(struct tac_ctx *ctx, struct tac_output *out, struct tac_series *s)
{
    char line[1024];
    const int length = snprintf(line, sizeof line, "%s\n", s->header);
    s->fd = openat(out->folder.fd, s->name, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    return s->fd < 0 ? fail_series(ctx, out, s, errno) : append_lines(ctx, out, s, line, (size_t)length);
}

/* Finds the end of the rows that are kept; -1: the file has another header. */
static enum tac_err find_end_of_rows(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past,
                                     const struct tac_series *s, FILE *file, int64_t *end)
{
    const double now_s = (double)past->now * out->scene->settings->quantum_s;
    enum tac_err err = TAC_OK;
    char *line = NULL, *rest;
    size_t capacity = 0;
    double before = -INFINITY;
    int64_t number = 1;
    ssize_t length = getline(&line, &capacity, file);
    const size_t header = strlen(s->header);
    *end = -1;
    if (length != (ssize_t)header + 1 || memcmp(line, s->header, header) != 0 || line[header] != '\n')
        goto done;
    *end = length;
    TAC_TRY(tac_sums_note(ctx, sums_of(out, s), line, (size_t)length));
    while ((length = getline(&line, &capacity, file)) > 0 && line[length - 1] == '\n') {
        const double at = strtod(line, &rest);
        number++;
        if (rest == line || *rest != ',' || !(at >= before) || memchr(line, '\0', (size_t)length) != NULL) {
            err = tac_fail(ctx, TAC_ERR_INPUT,
                           "%s/%s is damaged: its line %" PRId64
                           " is no row of this run; put it right, or move it away (a new one begins then), or go on in "
                           "another folder with -o",
                           out->folder.dir, s->name, number);
            goto done;
        }
        before = at;
        if (at > now_s || (s->frames && tac_energy_frame(out->scene, at, past->next_frame) < 0))
            break;
        *end += length;
        TAC_TRY(tac_sums_note(ctx, sums_of(out, s), line, (size_t)length));
    }
done:
    free(line);
    return err;
}

static enum tac_err put_aside(struct tac_ctx *ctx, struct tac_output *out, const struct tac_series *s)
{
    char aside[64];
    snprintf(aside, sizeof aside, "%s.damaged", s->name);
    if (renameat(out->folder.fd, s->name, out->folder.fd, aside) != 0)
        return tac_fail(ctx, TAC_ERR_RUN, "cannot rename %s/%s: %s", out->folder.dir, s->name, strerror(errno));
    tac_warn(ctx, "%s/%s does not begin with its header; it is kept as %s, and a new one begins", out->folder.dir,
             s->name, aside);
    return TAC_OK;
}

enum tac_err tac_series_open(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past,
                             struct tac_series *s)
{
    enum tac_err err = TAC_OK;
    int64_t end = -1;
    FILE *file = NULL;
    int copy;
    s->fd = past != NULL ? openat(out->folder.fd, s->name, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (s->fd < 0 && past != NULL && errno != ENOENT)
        return fail_series(ctx, out, s, errno);
    if (s->fd < 0)
        return create_series(ctx, out, s);
    copy = dup(s->fd);
    file = copy >= 0 ? fdopen(copy, "r") : NULL;
    if (file == NULL) {
        err = fail_series(ctx, out, s, errno);
        if (copy >= 0)
            close(copy);
        return err;
    }
    TAC_TRY(find_end_of_rows(ctx, out, past, s, file, &end));
    if (end < 0) {
        close(s->fd);
        s->fd = -1;
        TAC_TRY(put_aside(ctx, out, s));
        TAC_TRY(create_series(ctx, out, s));
    } else if (ftruncate(s->fd, (off_t)end) != 0) {
        err = fail_series(ctx, out, s, errno);
    }
done:
    fclose(file);
    return err;
}

#define HISTORIES                                                                                                      \
    "time,history,vertex,vertices,mass,kinetic,position_x,position_y,position_z,velocity_x,velocity_y,velocity_z,"     \
    "contact_force_x,contact_force_y,contact_force_z,elastic_force_x,elastic_force_y,elastic_force_z,name"
#define FLUX ",count_forward,count_back,mass_forward,mass_back"
#define REACTION                                                                                                       \
    ",stroke,displacement_x,displacement_y,displacement_z,force_x,force_y,force_z,moment_x,moment_y,moment_z"

#define POSE ",rotation_w,rotation_x,rotation_y,rotation_z,spin_x,spin_y,spin_z"

/* The columns of histories.csv: those of a kind are there if the scene has such histories. */
static const char *histories_header(const struct tac_scene *scene)
{
    const unsigned kinds = tac_scene_history_kinds(scene);
    static const char *const header[] = {
        HISTORIES,      HISTORIES FLUX,      HISTORIES REACTION,      HISTORIES FLUX REACTION,
        HISTORIES POSE, HISTORIES FLUX POSE, HISTORIES REACTION POSE, HISTORIES FLUX REACTION POSE,
    };
    return header[(kinds >> TAC_HISTORY_FLUX & 1) + 2 * (kinds >> TAC_HISTORY_REACTION & 1) +
                  4 * (kinds >> TAC_HISTORY_POSE & 1)];
}

/* In the order of enum tac_lines. */
static const struct tac_series all[TAC_LINES] = {
    {"reactions.csv",
     "time,body,vertices,force_x,force_y,force_z,moment_x,moment_y,moment_z,contact_force_x,contact_force_y,"
     "contact_force_z,elastic_force_x,elastic_force_y,elastic_force_z,name",
     true, -1},
    {"histories.csv", HISTORIES, false, -1},
    {"steps.csv", NULL, false, -1},
    {"energy.csv", NULL, false, -1},
};

enum tac_err tac_series_open_all(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past)
{
    const struct tac_output_settings *output = &out->scene->settings->output;
    const bool asked[TAC_LINES] = {
        [TAC_LINES_REACTIONS] = output->reactions, [TAC_LINES_HISTORIES] = output->history_count > 0};
    enum tac_err err = TAC_OK;
    for (int k = 0; k < TAC_LINES && !err; k++) {
        out->series[k] = all[k];
        if (k == TAC_LINES_HISTORIES)
            out->series[k].header = histories_header(out->scene);
        if (asked[k])
            err = tac_series_open(ctx, out, past, &out->series[k]);
    }
    return err;
}

enum tac_err tac_series_sync_all(struct tac_ctx *ctx, const struct tac_output *out)
{
    for (int k = 0; k < TAC_LINES; k++)
        if (out->series[k].fd >= 0 && fsync(out->series[k].fd) != 0)
            return tac_fail(ctx, TAC_ERR_RUN, "cannot write %s/%s: %s; is the disk in order?", out->folder.dir,
                            out->series[k].name, strerror(errno));
    return TAC_OK;
}

void tac_series_close_all(struct tac_output *out)
{
    for (int k = 0; k < TAC_LINES; k++) {
        if (out->series[k].fd >= 0)
            close(out->series[k].fd);
        out->series[k].fd = -1;
    }
}

enum tac_err tac_output_lines(struct tac_ctx *ctx, struct tac_output *out, enum tac_lines which, const char *text,
                              size_t length)
{
    return length > 0 ? append_lines(ctx, out, &out->series[which], text, length) : TAC_OK;
}

/* Copies the header of `from`, and its rows up to step `last`. */
static enum tac_err copy_steps(struct tac_ctx *ctx, struct tac_output *out, FILE *from, int64_t last)
{
    enum tac_err err = TAC_OK;
    const struct tac_series *s = &out->series[TAC_LINES_STEPS];
    char *row = NULL;
    size_t capacity = 0;
    ssize_t length = getline(&row, &capacity, from);
    while (length > 0 && (length = getline(&row, &capacity, from)) > 0 && row[length - 1] == '\n')
        if (strtoll(row, NULL, 10) <= last)
            TAC_TRY(append_lines(ctx, out, s, row, (size_t)length));
    if (ferror(from))
        err = fail_series(ctx, out, s, errno);
done:
    free(row);
    return err;
}

enum tac_err tac_output_steps(struct tac_ctx *ctx, struct tac_output *out, const char *header, int64_t last)
{
    static const char aside[] = "steps.csv.tmp";
    struct tac_series *s = &out->series[TAC_LINES_STEPS];
    enum tac_err err = TAC_OK;
    FILE *old = NULL;
    const int fd = openat(out->folder.fd, s->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        return fail_series(ctx, out, s, errno);
    old = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && old == NULL) {
        err = fail_series(ctx, out, s, errno);
        close(fd);
        return err;
    }
    s->fd = tac_create_new(out->folder.fd, aside, O_WRONLY | O_APPEND);
    if (s->fd < 0)
        TAC_TRY(fail_series(ctx, out, s, errno));
    TAC_TRY(append_lines(ctx, out, s, header, strlen(header)));
    if (old != NULL)
        TAC_TRY(copy_steps(ctx, out, old, last));
    if (renameat(out->folder.fd, aside, out->folder.fd, s->name) != 0)
        err = fail_series(ctx, out, s, errno);
done:
    if (old != NULL)
        fclose(old);
    if (err)
        unlinkat(out->folder.fd, aside, 0);
    return err;
}
