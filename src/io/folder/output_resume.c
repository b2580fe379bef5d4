/* output_resume.c: a run folder that a run from a checkpoint goes on with. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/folder/output.h"

/* Is t_s [s] the time of a frame before `next`? */
static bool is_frame(const struct tac_scene *scene, double t_s, int64_t next)
{
    double near = t_s / scene->frame_s;
    if (!(near >= 0 && near < 9e15))
        return false;
    for (int64_t k = (int64_t)near; k <= (int64_t)near + 1; k++)
        if (k < next && t_s == (double)tac_scene_frame_time(scene, k) * scene->quantum_s)
            return true;
    return false;
}

static int commas(const char *row)
{
    int n = 0;
    for (; *row != '\0'; row++)
        n += *row == ',';
    return n;
}

/* Where the rows end that stay, in bytes; -1: it does not begin as it should. */
static off_t rows_end(const struct tac_scene *scene, FILE *rows, double t_s, int64_t next)
{
    enum { COLUMNS = 22 };
    char *row = NULL;
    size_t capacity = 0;
    double before = -INFINITY;
    ssize_t length = getline(&row, &capacity, rows);
    off_t end = length > 5 && row[length - 1] == '\n' && strncmp(row, "time,", 5) == 0 ? length : -1;
    while (end >= 0 && (length = getline(&row, &capacity, rows)) > 0) {
        char *rest;
        double at = strtod(row, &rest);
        if (rest == row || *rest != ',' || row[length - 1] != '\n' || commas(row) < COLUMNS - 1 || !(at > before) ||
            at > t_s || !is_frame(scene, at, next))
            break;
        before = at;
        end += length;
    }
    free(row);
    return end;
}

enum tac_err tac_energy_resume(struct tac_ctx *ctx, struct tac_output *out, double t_s, int64_t next)
{
    enum tac_err err = TAC_OK;
    const char *dir = out->folder.dir;
    FILE *rows = NULL;
    int fd = openat(out->folder.fd, "energy.csv", O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return tac_energy_create(ctx, out);
    rows = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (rows == NULL) {
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot read %s/energy.csv: %s", dir, strerror(errno));
        if (fd >= 0)
            close(fd);
        goto done;
    }
    off_t end = rows_end(out->scene, rows, t_s, next);
    if (end < 0) {
        if (renameat(out->folder.fd, "energy.csv", out->folder.fd, "energy.csv.damaged") != 0)
            TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "cannot rename %s/energy.csv: %s", dir, strerror(errno)));
        tac_warn(ctx,
                 "%s/energy.csv does not begin with its header; it is kept as energy.csv.damaged, and a new one begins",
                 dir);
        TAC_TRY(tac_energy_create(ctx, out));
        goto done;
    }
    out->energy = openat(out->folder.fd, "energy.csv", O_WRONLY | O_APPEND | O_CLOEXEC);
    if (out->energy < 0 || ftruncate(out->energy, end) != 0)
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s/energy.csv: %s", dir, strerror(errno));
done:
    if (rows != NULL)
        fclose(rows);
    return err;
}

/* Does the file lie in the folder? */
static bool lies_in(const char *file, const char *dir)
{
    char path[PATH_MAX];
    struct stat a, b;
    const char *slash = strrchr(file, '/');
    int n = slash == NULL ? snprintf(path, sizeof path, ".")
                          : snprintf(path, sizeof path, "%.*s/", (int)(slash - file), file);
    return n > 0 && (size_t)n < sizeof path && stat(path, &a) == 0 && stat(dir, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* The checkpoint's own name, where the file given is a link to it. */
static void name_checkpoint(struct tac_output *out, const char *file)
{
    char *real = realpath(file, NULL);
    const char *path = real != NULL ? real : file, *slash = strrchr(path, '/');
    snprintf(out->checkpoint, sizeof out->checkpoint, "%s", slash != NULL ? slash + 1 : path);
    free(real);
}

/* Rank 0: a run that began again, in its status. */
static enum tac_err tell(struct tac_ctx *ctx, struct tac_output *out, double t_s)
{
    char *text = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_output_first_status(ctx, out, t_s, &text));
    TAC_TRY(tac_folder_replace(ctx, &out->folder, "status.json", text, strlen(text), true));
    out->folder.claimed = true;
done:
    free(text);
    return err;
}

/* Rank 0: it ended before it began.  A folder that was there keeps what it has; a new one goes. */
static void give_up(struct tac_ctx *ctx, struct tac_output *out, double t_s)
{
    struct tac_status status = {
        .state = "failed", .time_s = t_s, .end_s = out->scene->end_s, .wall_left_s = NAN, .error = ctx->error};
    if (out->folder.made) {
        out->folder.claimed = true; /* what is in it is ours, also before status.json is there */
        tac_folder_abandon(&out->folder);
    } else if (out->folder.claimed) {
        json_t *json = tac_status_json(out, &status);
        tac_folder_replace_json(ctx, &out->folder, "status.json", json, true); /* the first failure is what is told */
        json_decref(json);
    }
}

/* Rank 0: the small files. */
static enum tac_err go_on(struct tac_ctx *ctx, struct tac_output *out, const struct tac_kept_frame *kept, int64_t count,
                          double t_s, int64_t next)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_folder_replace_json(ctx, &out->folder, "scene.json", out->scene->json, true));
    TAC_TRY(tac_energy_resume(ctx, out, t_s, next));
    for (int64_t k = 0; k < count; k++)
        TAC_TRY(tac_xdmf_add(ctx, out, kept[k].index, kept[k].time_s));
    TAC_TRY(tac_xdmf_write(ctx, out, true));
    /* What it tells is of the run before, and comes anew at the end. */
    if (unlinkat(out->folder.fd, "run.json", 0) != 0 && errno != ENOENT)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "cannot remove %s/run.json: %s", out->folder.dir, strerror(errno)));
done:
    return err;
}

enum tac_err tac_output_resume(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, const char *checkpoint_file, tac_time now, int64_t next_frame,
                               struct tac_output **result)
{
    enum tac_err err = TAC_OK;
    const double t_s = (double)now * scene->quantum_s;
    struct tac_output *out = NULL;
    struct tac_kept_frame *kept = NULL;
    int64_t count = 0;
    *result = NULL;
    TAC_TRY(tac_output_blank(ctx, scene, &out));
    out->begin_t_s = t_s;
    if (ctx->rank == 0) {
        bool here = lies_in(checkpoint_file, dir);
        if (here)
            name_checkpoint(out, checkpoint_file);
        err = tac_folder_resume(ctx, dir, here, &out->folder, &out->restarts);
    }
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_frames_resume(ctx, scene, pieces, dir, t_s, next_frame, &kept, &count, &out->frames));
    TAC_TRY(tac_agree(ctx, ctx->rank == 0 ? tell(ctx, out, t_s) : TAC_OK));
    TAC_TRY(tac_agree(ctx, ctx->rank == 0 ? go_on(ctx, out, kept, count, t_s, next_frame) : TAC_OK));
    *result = out;
    out = NULL;
done:
    free(kept);
    if (out != NULL && out->frames != NULL)
        tac_frames_destroy(ctx, &out->frames);
    if (out != NULL && ctx->rank == 0)
        give_up(ctx, out, t_s);
    tac_output_destroy(&out);
    return err;
}

enum tac_err tac_output_sync(struct tac_ctx *ctx, struct tac_output *out)
{
    enum tac_err err = TAC_OK;
    if (ctx->rank == 0 && fsync(out->energy) != 0)
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s/energy.csv: %s; is the disk in order?", out->folder.dir,
                       strerror(errno));
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_frames_sync(ctx, out->frames));
done:
    return err;
}

void tac_output_checkpoint(struct tac_output *out, const char *name)
{
    snprintf(out->checkpoint, sizeof out->checkpoint, "%s", name);
    out->checkpoints++;
}
