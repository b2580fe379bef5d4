/* cmd_export.c: tactus export DIR: frames as OBJ, PLY or VTK files, or as an animated glTF. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/app.h"
#include <tactus/export.h>
#include <tactus/reader.h>

/* ---- which frames ---- */

/* Reads a whole number at *at and moves *at behind it; false if there is none. */
static bool take_number(const char **at, int64_t *value)
{
    char *end;
    if (**at != '-' && (**at < '0' || **at > '9'))
        return false;
    errno = 0;
    *value = strtoll(*at, &end, 10);
    if (end == *at || errno != 0)
        return false;
    *at = end;
    return true;
}

/* The index of frame number n. A negative n counts from the end: -1 is the last frame. Returns -1 if there is no such
 * frame. */
static int64_t index_of(const struct tac_reader *r, int64_t n)
{
    if (n >= 0)
        return n;
    return n >= -r->frame_count ? r->frame[r->frame_count + n].index : -1;
}

struct range {
    int64_t first, step, last; /* indices of frames; last is included */
};

/* "3", "5:8", "0:10:100", with open ends, up to a comma or the end. */
static bool take_range(const char **at, const struct tac_reader *r, struct range *range)
{
    int64_t field[3] = {0, 0, 0};
    bool given[3] = {false, false, false};
    int n = 0;
    const char *begin = *at;
    for (;; ++*at) {
        if (**at != ':' && **at != ',' && **at != '\0') {
            if (!take_number(at, &field[n]))
                return false;
            given[n] = true;
        }
        n++;
        if (**at != ':' || n == 3)
            break;
    }
    if (*at == begin || (**at != ',' && **at != '\0'))
        return false;
    int end = n - 1;
    range->first = given[0] ? index_of(r, field[0]) : 0;
    range->step = n == 3 && given[1] ? field[1] : 1;
    range->last = given[end] ? index_of(r, field[end]) : INT64_MAX;
    /* A user of Python may give the step last: 0:100:10 would select one frame, which is not meant. */
    bool swapped = n == 3 && given[2] && range->last > range->first && range->step > range->last - range->first;
    return range->step > 0 && !swapped;
}

static enum tac_err select_frames(struct tac_ctx *ctx, const struct tac_reader *r, const char *text, bool *chosen)
{
    const char *at = text;
    if (strcmp(text, "all") == 0)
        text = at = "0:";
    else if (strcmp(text, "last") == 0)
        text = at = "-1";
    for (;; at++) {
        struct range range;
        int64_t found = 0;
        const char *begin = at;
        if (!take_range(&at, r, &range))
            return tac_fail(
                ctx, TAC_ERR_INPUT,
                "--frames does not understand '%.100s'; it takes 7, 0:100, 0:10:100 (first:step:last), a list of these "
                "with commas, 'all' or 'last'",
                text);
        for (int64_t k = 0; k < r->frame_count; k++) {
            int64_t i = r->frame[k].index;
            if (i >= range.first && i <= range.last && (i - range.first) % range.step == 0) {
                chosen[k] = true;
                found++;
            }
        }
        if (found == 0)
            return tac_fail(ctx, TAC_ERR_INPUT, "'%s' has no frame %.*s: its frames are %s to %s", r->path,
                            (int)(at - begin), begin, r->frame_count > 0 ? r->frame[0].name : "none",
                            r->frame_count > 0 ? r->frame[r->frame_count - 1].name : "none");
        if (*at == '\0')
            return TAC_OK;
    }
}

/* ---- the files ---- */

struct export
{
    const struct tac_reader *r;
    const char *dir, *format;
    bool overwrite;
    double *x, *v;             /* owned, (V, 3) */
    float *f;                  /* owned, (V, 3) */
    bool *chosen;              /* owned, (frames) */
    void *field[TAC_DATASETS]; /* owned: fields of the present frame */
};

typedef enum tac_err write_whole(struct tac_ctx *ctx, const struct tac_reader *r, const bool *chosen, const char *path);

/* Formats; the first are in the order of enum tac_export_format. whole: the file that is of all frames, or NULL. write:
 * writes it; NULL: there is a file for each frame, of which `whole` is the list. */
static const struct {
    const char *name, *whole;
    write_whole *write;
} formats[] = {{"obj", NULL, NULL},
               {"ply", NULL, NULL},
               {"vtu", "frames.pvd", NULL},
               {"vtp", "frames.pvd", NULL},
               {"gltf", "animation.glb", tac_export_gltf},
               {"usda", "animation.usda", tac_export_usd},
               {"vtkhdf", "frames.vtkhdf", tac_export_vtkhdf}};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static int format_of(const struct export *e)
{
    for (int k = 0; k < FORMATS; k++)
        if (strcmp(e->format, formats[k].name) == 0)
            return k;
    return -1;
}

static void file_name(const struct export *e, int64_t k, char *path, size_t size)
{
    snprintf(path, size, "%s/frame-%s.%s", e->dir, e->r->frame[k].name, e->format);
}

/* Path of the file that is of all frames; false: there is none. */
static bool whole_name(const struct export *e, char *path, size_t size)
{
    const char *whole = formats[format_of(e)].whole;
    snprintf(path, size, "%s/%s", e->dir, whole != NULL ? whole : "");
    return whole != NULL;
}

static enum tac_err refuse_existing(struct tac_ctx *ctx, const char *path)
{
    return tac_fail(ctx, TAC_ERR_INPUT, "'%s' exists; give --overwrite to replace it, or choose another folder with -o",
                    path);
}

/* Checks that all files may be written, before any is. */
static enum tac_err prepare_files(struct tac_ctx *ctx, const struct export *e)
{
    struct stat s;
    char path[4096];
    if (strlen(e->dir) > sizeof path - 64)
        return tac_fail(ctx, TAC_ERR_INPUT, "the name of the folder after -o is too long");
    if (mkdir(e->dir, 0777) != 0 && errno != EEXIST)
        return tac_fail(ctx, TAC_ERR_INPUT, "cannot make the folder '%s': %s; choose another with -o", e->dir,
                        strerror(errno));
    if (stat(e->dir, &s) != 0 || !S_ISDIR(s.st_mode))
        return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is a file, not a folder; choose another with -o", e->dir);
    const bool one = formats[format_of(e)].write != NULL;
    for (int64_t k = 0; !e->overwrite && !one && k < e->r->frame_count; k++) {
        file_name(e, k, path, sizeof path);
        if (e->chosen[k] && lstat(path, &s) == 0)
            return refuse_existing(ctx, path);
    }
    if (whole_name(e, path, sizeof path) && !e->overwrite && lstat(path, &s) == 0)
        return refuse_existing(ctx, path);
    return TAC_OK;
}

/* Reads the fields that a frame has on request, except those of lists. */
static enum tac_err read_fields(struct tac_ctx *ctx, struct export *e, int64_t k, struct tac_export_frame *frame)
{
    enum tac_err err = TAC_OK;
    for (int which = 0; which < TAC_DATASETS; which++) {
        int64_t rows;
        free(e->field[which]);
        e->field[which] = NULL;
        const enum tac_field_at at = tac_field_table()[which].at;
        if (!(e->r->frame[k].fields >> which & 1) || at == TAC_AT_CONTACTS || at == TAC_AT_RIGID)
            continue;
        TAC_TRY(tac_reader_field(ctx, e->r, k, which, &e->field[which], &rows));
        frame->field[which] = e->field[which];
    }
done:
    return err;
}

static enum tac_err write_frames(struct tac_ctx *ctx, struct export *e, int64_t *written)
{
    enum tac_err err = TAC_OK;
    const int format = format_of(e);
    char path[4096];
    const bool whole = whole_name(e, path, sizeof path);
    if (formats[format].write != NULL) {
        *written = 1;
        return formats[format].write(ctx, e->r, e->chosen, path);
    }
    for (int64_t k = 0; k < e->r->frame_count; k++) {
        if (!e->chosen[k])
            continue;
        struct tac_export_frame frame = {
            .time_s = e->r->frame[k].time_s, .position = e->x, .velocity = e->v, .contact_force = e->f};
        TAC_TRY(tac_reader_frame(ctx, e->r, k, e->x, e->v, e->f));
        if (whole)
            TAC_TRY(read_fields(ctx, e, k, &frame));
        file_name(e, k, path, sizeof path);
        TAC_TRY(tac_export_write(ctx, e->r, &frame, (enum tac_export_format)format, path));
        ++*written;
    }
    if (whole_name(e, path, sizeof path))
        TAC_TRY(tac_export_pvd(ctx, e->r, e->chosen, e->format, path));
done:
    return err;
}

static enum tac_err export_run(struct tac_ctx *ctx, struct tac_reader *r, const char *frames, struct export *e)
{
    enum tac_err err = TAC_OK;
    int64_t written = 0;
    size_t n = 3 * (size_t)r->vertex_count;
    e->r = r;
    TAC_TRY(tac_alloc(ctx, (size_t)r->frame_count, sizeof *e->chosen, &e->chosen));
    TAC_TRY(select_frames(ctx, r, frames, e->chosen));
    TAC_TRY(tac_reader_mesh(ctx, r));
    TAC_TRY(tac_alloc(ctx, n, sizeof *e->x, &e->x));
    TAC_TRY(tac_alloc(ctx, n, sizeof *e->v, &e->v));
    TAC_TRY(tac_alloc(ctx, n, sizeof *e->f, &e->f));
    TAC_TRY(prepare_files(ctx, e));
    TAC_TRY(write_frames(ctx, e, &written));
    printf("%s: %" PRId64 " %s file%s\n", e->dir, written, e->format, formats[format_of(e)].write != NULL ? "" : "s");
done:
    free(e->chosen);
    free(e->x);
    free(e->v);
    free(e->f);
    for (int k = 0; k < TAC_DATASETS; k++)
        free(e->field[k]);
    return err;
}

enum tac_err tac_cmd_export(struct tac_ctx *ctx, int argc, char **argv)
{
    enum tac_err err = TAC_OK;
    struct export e = {.format = "ply"};
    struct tac_reader *r = NULL;
    const char *run, *frames = "all";
    bool help;
    int count;
    const struct tac_option option[] = {
        {"-o", TAC_OPTION_STRING, &e.dir, "DIR2", "the folder to write to, made if need be"},
        {"--frames", TAC_OPTION_STRING, &frames, "F", "7, 0:100, 0:10:100 (first:step:last), a list, 'all' or 'last'"},
        {"--format", TAC_OPTION_STRING, &e.format, "obj|ply|vtu|vtp|gltf|usda|vtkhdf",
         "obj; ply (the default), with velocity, force and body; vtu, vtp: with all fields; gltf, usda: one animation; "
         "vtkhdf: one index over frames.h5"},
        {"--overwrite", TAC_OPTION_FLAG, &e.overwrite, NULL, "replace files that are there"},
    };
    const size_t options = sizeof option / sizeof option[0];
    TAC_TRY(tac_options_parse(ctx, "export", argc, argv, option, options, &run, 1, &count, &help));
    if (help) {
        tac_options_help(
            "export", "DIR -o DIR2 [--frames F] [--format obj|ply|vtu|vtp|gltf|usda|vtkhdf] [--overwrite]",
            "Writes frames of a run folder (or frames.h5) as DIR2/frame-NNNNNN.obj, .ply, .vtu or .vtp; with the\n"
            "last two, DIR2/frames.pvd is their list for ParaView. gltf writes DIR2/animation.glb, usda\n"
            "DIR2/animation.usda; vtkhdf DIR2/frames.vtkhdf, whose values stay in the run's frames.h5. The last\n"
            "frame of a range is part of it; -1 is the last frame of the run, -2 the one before.",
            option, options);
        goto done;
    }
    if (count != 1)
        err = tac_fail(ctx, TAC_ERR_INPUT, "tactus export needs a run folder: tactus export DIR -o DIR2");
    else if (e.dir == NULL || e.dir[0] == '\0')
        err = tac_fail(ctx, TAC_ERR_INPUT, "tactus export needs a folder to write to: -o DIR2");
    else if (format_of(&e) < 0)
        err = tac_fail(ctx, TAC_ERR_INPUT, "--format is obj, ply, vtu, vtp, gltf, usda or vtkhdf, not '%.100s'",
                       e.format);
    if (err)
        goto done;
    TAC_TRY(tac_reader_open(ctx, run, &r));
    err = export_run(ctx, r, frames, &e);
done:
    tac_reader_close(&r);
    return err;
}
