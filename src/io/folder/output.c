/* output.c: creates, writes and closes the run folder as a whole. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/json_read.h"
#include "base/memory_use.h"
#include "io/folder/log.h"
#include "io/folder/series.h"
#include "io/frames/vtkhdf.h"

static const char ENERGY_HEADER[] =
    "time,kinetic,gravity,stretch,bend,contact,total,dissipated,work,defect,momentum_x,momentum_y,momentum_z,"
    "angular_momentum_x,angular_momentum_y,angular_momentum_z,friction_couple_x,friction_couple_y,friction_couple_z,"
    "contacts,deepest_layer,min_distance";
/* Columns of later versions: a file that was begun without them continues without them. */
static const char LOSSES_HEADER[] =
    ",dissipated_friction,dissipated_restitution,dissipated_damping,dissipated_plasticity";

static enum tac_err fail_energy(struct tac_ctx *ctx, const struct tac_output *out, int why)
{
    return tac_fail(ctx, TAC_ERR_RUN, "cannot write %s/energy.csv: %s; free some space or write elsewhere with -o",
                    out->folder.dir, strerror(why));
}

static enum tac_err append_energy(struct tac_ctx *ctx, struct tac_output *out, const char *text, size_t length)
{
    const int why = tac_append_whole(out->energy, text, length);
    return why == 0 ? TAC_OK : fail_energy(ctx, out, why);
}

enum tac_err tac_energy_create(struct tac_ctx *ctx, struct tac_output *out, bool losses)
{
    out->energy = openat(out->folder.fd, "energy.csv", O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (out->energy < 0)
        return fail_energy(ctx, out, errno);
    char header[sizeof ENERGY_HEADER + sizeof LOSSES_HEADER];
    const int length = snprintf(header, sizeof header, "%s%s\n", ENERGY_HEADER, losses ? LOSSES_HEADER : "");
    out->energy_losses = losses;
    const enum tac_err err = append_energy(ctx, out, header, (size_t)length);
    return err ? err : tac_sums_note(ctx, &out->sums[TAC_LINES_ENERGY], header, (size_t)length);
}

bool tac_energy_tells_losses(const char *header)
{
    return strstr(header, LOSSES_HEADER) != NULL;
}

enum tac_err tac_output_first_status(struct tac_ctx *ctx, struct tac_output *out, double time_s, char **text)
{
    struct tac_status status = {
        .state = "running", .time_s = time_s, .end_s = out->scene->settings->end_s, .wall_left_s = NAN};
    json_t *json = tac_status_json(out, &status);
    *text = json != NULL ? json_dumps(json, JSON_INDENT(2)) : NULL;
    json_decref(json);
    return *text != NULL ? TAC_OK : tac_fail(ctx, TAC_ERR_RUN, "out of memory while making the run folder");
}

/* Rank 0: makes the folder, with a status.json that claims it. */
static enum tac_err claim_folder(struct tac_ctx *ctx, struct tac_output *out, const char *dir, bool overwrite)
{
    char *text = NULL;
    enum tac_err err = tac_output_first_status(ctx, out, 0, &text);
    if (!err)
        err = tac_folder_claim(ctx, dir, overwrite, text, &out->folder);
    free(text);
    return err;
}

/* Rank 0: the small files. */
static enum tac_err write_small(struct tac_ctx *ctx, struct tac_output *out)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_folder_replace_json(ctx, &out->folder, "scene.json", out->scene->settings->json, true));
    TAC_TRY(tac_energy_create(ctx, out, true));
    TAC_TRY(tac_series_open_all(ctx, out, NULL));
    TAC_TRY(tac_log_open(ctx, out, NULL));
    TAC_TRY(tac_xdmf_write(ctx, out, true));
done:
    return err;
}

enum tac_err tac_output_blank(struct tac_ctx *ctx, const struct tac_scene *scene, struct tac_output **result)
{
    struct tac_output *out = NULL;
    enum tac_err err = tac_agree(ctx, tac_alloc(ctx, 1, sizeof *out, &out));
    *result = out;
    if (err) {
        free(out);
        *result = NULL;
        return err;
    }
    out->ctx = ctx;
    out->scene = scene;
    tac_kind_names(ctx, out->kind_name);
    out->folder.fd = out->folder.ranks = out->energy = out->log.fd = -1;
    for (int k = 0; k < TAC_LINES; k++)
        out->series[k].fd = -1;
    out->start_wall_s = tac_wall_s();
    out->last_line = out->start_wall_s; /* the first plain line comes after a while */
    out->last_status = -1;
    out->terminal = isatty(STDERR_FILENO);
    return TAC_OK;
}

enum tac_err tac_output_create(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, bool overwrite, struct tac_output **result)
{
    enum tac_err err = TAC_OK;
    struct tac_output *out = NULL;
    *result = NULL;
    TAC_TRY(tac_output_blank(ctx, scene, &out));
    TAC_TRY(tac_agree(ctx, ctx->rank == 0 ? claim_folder(ctx, out, dir, overwrite) : TAC_OK));
    tac_folder_share_ranks(ctx, dir, &out->folder);
    TAC_TRY(tac_frames_create(ctx, scene, pieces, dir, &out->frames));
    TAC_TRY(tac_agree(ctx, ctx->rank == 0 ? write_small(ctx, out) : TAC_OK));
    *result = out;
    out = NULL;
done:
    if (out != NULL && out->frames != NULL)
        tac_frames_destroy(ctx, &out->frames);
    if (out != NULL && ctx->rank == 0)
        tac_folder_abandon(&out->folder); /* a run that did not begin leaves no files */
    tac_output_destroy(&out);
    return err;
}

enum tac_err tac_output_frame(struct tac_ctx *ctx, struct tac_output *out, const struct tac_frame *frame)
{
    enum tac_err err = tac_frames_write(ctx, out->frames, frame);
    unsigned fields = 0;
    if (err)
        return err;
    for (int k = 0; k < frame->field_count; k++)
        fields |= 1u << (frame->field[k].info - tac_field_table());
    if (ctx->rank == 0) {
        err = tac_grow(ctx, &out->entry, &out->entry_capacity, out->entry_count + 1, sizeof *out->entry);
        if (!err) {
            out->entry[out->entry_count++] = (struct tac_output_entry){frame->index, 1, -1};
            err = tac_xdmf_add(ctx, out, frame->index, frame->time_s, fields);
        }
        if (!err)
            err = tac_xdmf_write(ctx, out, false);
    }
    return tac_agree(ctx, err);
}

void tac_output_entries(const struct tac_output *out, const struct tac_output_entry **entry, int64_t *count)
{
    *entry = out->entry;
    *count = (int64_t)out->entry_count;
}

const struct tac_output_sums *tac_output_sums(const struct tac_output *out)
{
    return out->sums;
}

struct line {
    char text[1024];
    int length;
};

/* ",%.17g", where C's printf might put a sign on a NaN. */
static void put_value(struct line *line, double value)
{
    char *at = line->text + line->length;
    size_t room = sizeof line->text - (size_t)line->length;
    line->length += isnan(value) ? snprintf(at, room, ",nan") : snprintf(at, room, ",%.17g", value);
}

static enum tac_err write_row(struct tac_ctx *ctx, struct tac_output *out, const struct tac_energy_row *row)
{
    const double sums[] = {row->kinetic, row->gravity,    row->stretch, row->bend,  row->contact,
                           row->total,   row->dissipated, row->work,    row->defect};
    struct line line = {.length = 0};
    line.length = snprintf(line.text, sizeof line.text, "%.17g", row->time_s);
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        put_value(&line, sums[i]);
    for (int k = 0; k < 3; k++)
        put_value(&line, row->momentum[k]);
    for (int k = 0; k < 3; k++)
        put_value(&line, row->angular_momentum[k]);
    for (int k = 0; k < 3; k++)
        put_value(&line, row->friction_couple[k]);
    line.length += snprintf(line.text + line.length, sizeof line.text - (size_t)line.length, ",%" PRId64 ",%" PRId64,
                            row->contacts, row->deepest_layer);
    put_value(&line, row->min_distance);
    const double lost[] = {row->lost_friction, row->lost_restitution, row->lost_damping, row->lost_plasticity};
    for (size_t i = 0; i < sizeof lost / sizeof lost[0] && out->energy_losses; i++)
        put_value(&line, lost[i]);
    line.text[line.length++] = '\n'; /* 26 values of at most 25 characters leave room */
    const enum tac_err err = append_energy(ctx, out, line.text, (size_t)line.length);
    if (!err && out->entry_count > 0)
        out->entry[out->entry_count - 1].row =
            (int64_t)crc32(crc32(0, Z_NULL, 0), (const Bytef *)line.text, (uInt)line.length);
    return err;
}

enum tac_err tac_output_row(struct tac_ctx *ctx, struct tac_output *out, const struct tac_energy_row *row)
{
    return tac_agree(ctx, ctx->rank == 0 ? write_row(ctx, out, row) : TAC_OK);
}

enum tac_err tac_output_where(struct tac_ctx *ctx, const struct tac_output *out, const char *dir, char **now)
{
    enum tac_err err;
    char path[PATH_MAX] = "";
    int64_t length = (int64_t)strlen(dir);
    const char *is = dir;
    *now = NULL;
    if (ctx->rank == 0 && strlen(out->folder.dir) < sizeof path) {
        tac_folder_where(&out->folder, path, sizeof path);
        is = path;
        length = (int64_t)strlen(path);
    }
    MPI_Bcast(&length, 1, MPI_INT64_T, 0, ctx->comm);
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)length + 1, 1, now)));
    if (ctx->rank == 0)
        memcpy(*now, is, (size_t)length);
    MPI_Bcast(*now, (int)length, MPI_CHAR, 0, ctx->comm);
done:
    if (err) {
        free(*now);
        *now = NULL;
    }
    return err;
}

static json_t *options_json(const struct tac_summary *summary)
{
    json_t *arguments = json_array();
    for (int i = 0; i < summary->argc; i++)
        tac_json_append(&arguments, tac_json_text(summary->argv[i]));
    return json_pack("{s:s?, s:s?, s:b, s:o}", "discovery", summary->discovery, "clocks", summary->clocks, "invariant",
                     summary->invariant, "arguments", arguments);
}

enum tac_err tac_output_branched(struct tac_ctx *ctx, struct tac_output *out, const struct tac_output_branch *branch)
{
    enum tac_err err = TAC_OK;
    json_t *set = json_array();
    if (ctx->rank == 0) {
        char *real = realpath(branch->parent, NULL);
        for (int i = 0; i < branch->count; i++)
            tac_json_append(&set, tac_json_text(branch->set[i]));
        json_t *json = json_pack("{s:s, s:o, s:s, s:o, s:O?}", "format", "tactus-branch/1", "parent",
                                 tac_json_text(real != NULL ? real : branch->parent), "parent_scene_sha256",
                                 branch->sha256, "time", tac_json_real(branch->time_s), "set", set);
        err = tac_folder_replace_json(ctx, &out->folder, "branch.json", json, true);
        json_decref(json);
        free(real);
    }
    json_decref(set);
    return tac_agree(ctx, err);
}

/* Returns the contents of branch.json, for run.json; null if the run was not branched. */
static json_t *branch_json(const struct tac_output *out)
{
    const int fd = openat(out->folder.fd, "branch.json", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    json_error_t error;
    json_t *branch = fd >= 0 ? tac_json_read_fd(fd, 0, &error) : NULL;
    if (fd >= 0)
        close(fd);
    return branch != NULL ? branch : json_null();
}

static json_t *run_json(struct tac_ctx *ctx, const struct tac_output *out, const struct tac_summary *summary)
{
    return json_pack(
        "{s:s, s:s, s:s, s:i, s:s, s:s, s:i, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o*}", "format",
        TAC_RUN_FORMAT, "version", tac_version(), "commit", tac_commit(), "trajectory_generation",
        TAC_TRAJECTORY_GENERATION, "name", out->scene->settings->name, "scene_sha256", out->scene->settings->sha256,
        "ranks", ctx->size, "restarts", (json_int_t)out->restarts, "checkpoints", (json_int_t)out->checkpoints, "state",
        summary->status.state, "time", tac_json_real(summary->status.time_s), "options", options_json(summary),
        "counters", tac_counters_json(&summary->status.counters, out->kind_name), "wall_s",
        tac_json_real(summary->wall_s), "wall_total_s", tac_json_real(summary->wall_total_s), "peak_memory_bytes",
        out->peak_memory_bytes > 0 ? json_integer(out->peak_memory_bytes) : json_null(), "book_residual",
        tac_json_real(summary->book_residual), "branch", branch_json(out), "units",
        tac_units_json(&out->scene->settings->units));
}

/* Writes frames.vtkhdf. The paths use the folder's descriptor, because the folder may have been renamed. */
static enum tac_err write_vtkhdf(struct tac_ctx *ctx, const struct tac_output *out)
{
    const struct tac_local_mesh *mesh = out->scene->mesh;
    char frames[64], path[64], shown[PATH_MAX + 32];
    const struct tac_vtkhdf of = {.frames = frames,
                                  .name = "frames.h5",
                                  .vertices = mesh->vertex_count,
                                  .triangles = mesh->triangle_count,
                                  .segments = mesh->segment_count,
                                  .points = out->frames->point_count,
                                  .tetrahedra = mesh->tetrahedron_count,
                                  .frame = out->xdmf.frame,
                                  .count = out->xdmf.frame_count};
    snprintf(frames, sizeof frames, "/proc/self/fd/%d/frames.h5", out->folder.fd);
    snprintf(path, sizeof path, "/proc/self/fd/%d/frames.vtkhdf", out->folder.fd);
    snprintf(shown, sizeof shown, "%s/frames.vtkhdf", out->folder.dir);
    return of.count > 0 ? tac_vtkhdf_write(ctx, &of, path, shown) : TAC_OK;
}

static enum tac_err write_last(struct tac_ctx *ctx, struct tac_output *out, const struct tac_summary *summary)
{
    enum tac_err err = tac_xdmf_write(ctx, out, true);
    if (out->energy >= 0 && close(out->energy) != 0) {
        enum tac_err worse = fail_energy(ctx, out, errno);
        err = err > worse ? err : worse;
    }
    out->energy = -1;
    if (!err && !out->frames->broken)
        err = write_vtkhdf(ctx, out);
    if (out->series[TAC_LINES_HISTORIES].fd >= 0) {
        const enum tac_err histories = tac_histories_convert(ctx, out);
        err = err > histories ? err : histories;
    }
    json_t *json = run_json(ctx, out, summary);
    enum tac_err run = tac_folder_replace_json(ctx, &out->folder, "run.json", json, true);
    json_decref(json);
    err = err > run ? err : run;
    struct tac_status status = summary->status;
    if (err && strcmp(status.state, "failed") != 0) {
        /* The status must say that the run failed, so that no reader takes the folder for whole. */
        status.state = "failed";
        status.error = ctx->error;
    }
    tac_log_end(out, &status);
    enum tac_err last = tac_status_last(ctx, out, &status);
    return err > last ? err : last;
}

enum tac_err tac_output_finish(struct tac_ctx *ctx, struct tac_output *out, const struct tac_summary *summary)
{
    enum tac_err err = tac_frames_close(ctx, out->frames);
    struct tac_summary reported = *summary;
    int64_t peak = tac_memory_peak();
    MPI_Reduce(&peak, &out->peak_memory_bytes, 1, MPI_INT64_T, MPI_MAX, 0, ctx->comm);
    if (err) {
        reported.status.state = "failed";
        reported.status.error = ctx->error;
    }
    if (ctx->rank == 0) {
        enum tac_err small = write_last(ctx, out, &reported);
        err = err > small ? err : small;
    }
    return tac_agree(ctx, err);
}

void tac_output_destroy(struct tac_output **p)
{
    struct tac_output *out = *p;
    if (out == NULL)
        return;
    tac_frames_destroy(out->ctx, &out->frames);
    if (out->energy >= 0)
        close(out->energy);
    tac_series_close_all(out);
    if (out->log.fd >= 0)
        close(out->log.fd);
    if (out->line_open)
        fputc('\n', stderr);
    free(out->xdmf.text);
    free(out->xdmf.frame);
    free(out->entry);
    for (int k = 0; k < TAC_LINES; k++)
        free(out->sums[k].line);
    /* All ranks have closed their files, so ranks.lock is removed. If a rank was lost, the lock stays and a restart
     * waits for that rank. */
    if (out->folder.fd >= 0 && out->folder.ranks >= 0)
        unlinkat(out->folder.fd, TAC_RANKS_LOCK, 0);
    tac_folder_close(&out->folder);
    free(out);
    *p = NULL;
}
