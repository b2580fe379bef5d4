/* output_resume.c: continues a run folder from a checkpoint. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/checkpoint/checkpoint.h"
#include "io/folder/log.h"
#include "io/folder/series.h"

bool tac_output_lies_in(const char *file, const char *dir)
{
    char path[PATH_MAX];
    struct stat a, b;
    const char *slash = strrchr(file, '/');
    int n = slash == NULL ? snprintf(path, sizeof path, ".")
                          : snprintf(path, sizeof path, "%.*s/", (int)(slash - file), file);
    return n > 0 && (size_t)n < sizeof path && stat(path, &a) == 0 && stat(dir, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Makes the checkpoint the newest of its folder, under its own name if the given file is a link to it. */
static void lead_checkpoint(struct tac_ctx *ctx, struct tac_output *out, const char *file)
{
    char *real = realpath(file, NULL);
    tac_checkpoint_lead(ctx, out->folder.dir, real != NULL ? real : file, out->checkpoint, sizeof out->checkpoint);
    free(real);
}

/* Rank 0: writes the first status of the restarted run. */
static enum tac_err write_first_status(struct tac_ctx *ctx, struct tac_output *out, double t_s)
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

/* Rank 0: ends a run that failed before it began. A folder that was there keeps its files; a new folder is removed. */
static void give_up(struct tac_ctx *ctx, struct tac_output *out, double t_s)
{
    struct tac_status status = {.state = "failed",
                                .time_s = t_s,
                                .end_s = out->scene->settings->end_s,
                                .wall_left_s = NAN,
                                .error = ctx->error};
    if (out->folder.made) {
        out->folder.claimed = true; /* its files are ours, even before status.json is there */
        tac_folder_abandon(&out->folder);
    } else if (out->folder.claimed) {
        json_t *json = tac_status_json(out, &status);
        tac_folder_replace_json(ctx, &out->folder, "status.json", json,
                                true); /* the first failure stays in the status */
        json_decref(json);
    }
}

/* Lists the frames and rows that are kept, by frame; both lists ascend. */
static enum tac_err list_entries(struct tac_ctx *ctx, struct tac_output *out, const struct tac_frames_plan *frames,
                                 const struct tac_energy_plan *rows)
{
    enum tac_err err = TAC_OK;
    for (int64_t f = 0, r = 0; f < frames->count || r < (int64_t)rows->count;) {
        const int64_t frame = f < frames->count ? frames->kept[f].index : INT64_MAX;
        const int64_t row = r < (int64_t)rows->count ? rows->row[r].index : INT64_MAX;
        const int64_t index = frame < row ? frame : row;
        TAC_TRY(tac_grow(ctx, &out->entry, &out->entry_capacity, out->entry_count + 1, sizeof *out->entry));
        out->entry[out->entry_count++] =
            (struct tac_output_entry){index, frame == index, row == index ? rows->row[r].row : -1};
        f += frame == index;
        r += row == index;
    }
done:
    return err;
}

/* Rank 0: the small files. */
static enum tac_err continue_files(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_past *past,
                                   const struct tac_frames_plan *frames, const struct tac_energy_plan *rows)
{
    static const char *const of_end[] = {"run.json", "frames.vtkhdf"};
    enum tac_err err = TAC_OK;
    TAC_TRY(list_entries(ctx, out, frames, rows));
    TAC_TRY(tac_folder_replace_json(ctx, &out->folder, "scene.json", out->scene->settings->json, true));
    TAC_TRY(tac_energy_resume(ctx, out, past, rows));
    TAC_TRY(tac_series_open_all(ctx, out, past));
    TAC_TRY(tac_log_open(ctx, out, past));
    for (int64_t k = 0; k < frames->count; k++)
        TAC_TRY(tac_xdmf_add(ctx, out, frames->kept[k].index, frames->kept[k].time_s, frames->kept[k].fields));
    TAC_TRY(tac_xdmf_write(ctx, out, true));
    /* These describe the earlier run; they are written again at the end. */
    for (int k = 0; k < 2; k++)
        if (unlinkat(out->folder.fd, of_end[k], 0) != 0 && errno != ENOENT)
            TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "cannot remove %s/%s: %s", out->folder.dir, of_end[k], strerror(errno)));
done:
    return err;
}

/* Rank 0: does the folder hold output of a run? If not, the checkpoint was copied here, and the output of its own
 * folder is not expected. */
static bool holds_output(const struct tac_folder *folder)
{
    return folder->fd >= 0 &&
           (faccessat(folder->fd, "frames.h5", F_OK, 0) == 0 || faccessat(folder->fd, "energy.csv", F_OK, 0) == 0);
}

enum tac_err tac_output_resume(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, const struct tac_output_past *past, struct tac_output **result)
{
    enum tac_err err = TAC_OK;
    const double t_s = (double)past->now * scene->settings->quantum_s;
    const bool first = ctx->rank == 0;
    struct tac_output *out = NULL;
    struct tac_frames_plan frames = {.path = NULL};
    struct tac_energy_plan rows = {.row = NULL};
    *result = NULL;
    TAC_TRY(tac_output_blank(ctx, scene, &out));
    out->begin_t_s = t_s;
    if (first) {
        out->here = tac_output_lies_in(past->file, dir);
        err = tac_folder_resume(ctx, dir, out->here, past->restarts, &out->folder, &out->restarts);
    }
    TAC_TRY(tac_agree(ctx, err));
    MPI_Bcast(&out->here, 1, MPI_C_BOOL, 0, ctx->comm);
    tac_folder_share_ranks(ctx, dir, &out->folder);
    /* Everything is checked before anything is changed. */
    const bool held = out->here && holds_output(&out->folder);
    TAC_TRY(tac_frames_look(ctx, scene, dir, past, held, &frames));
    TAC_TRY(tac_agree(ctx, first ? tac_energy_look(ctx, out, past, held, &rows) : TAC_OK));
    if (first && out->here)
        lead_checkpoint(ctx, out, past->file);
    TAC_TRY(tac_frames_resume(ctx, scene, pieces, dir, past->next_frame, &frames, &out->frames));
    TAC_TRY(tac_agree(ctx, first ? write_first_status(ctx, out, t_s) : TAC_OK));
    TAC_TRY(tac_agree(ctx, first ? continue_files(ctx, out, past, &frames, &rows) : TAC_OK));
    *result = out;
    out = NULL;
done:
    tac_frames_plan_clear(&frames);
    free(rows.row);
    if (out != NULL && out->frames != NULL)
        tac_frames_destroy(ctx, &out->frames);
    if (out != NULL && first)
        give_up(ctx, out, t_s);
    tac_output_destroy(&out);
    return err;
}

bool tac_output_here(const struct tac_output *out)
{
    return out->here;
}

enum tac_err tac_output_sync(struct tac_ctx *ctx, struct tac_output *out)
{
    enum tac_err err = TAC_OK;
    if (ctx->rank == 0 && fsync(out->energy) != 0)
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s/energy.csv: %s; is the disk in order?", out->folder.dir,
                       strerror(errno));
    if (!err && ctx->rank == 0)
        err = tac_series_sync_all(ctx, out);
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
