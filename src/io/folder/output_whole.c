/* output_whole.c: decides whether a folder holds everything of a run that has ended. It looks only at times and
 * numbers. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/folder/output.h"
#include <tactus/reader.h>
#include <tactus/table.h>

struct end {
    const struct tac_scene *scene;
    const char *dir;
    double t_s;
    int64_t frames, rows; /* how many; -1: not known */
};

/* Does a JSON file say that this run ended there? */
static bool says_finished(const struct end *e, const char *name, const char *format)
{
    char path[4200];
    snprintf(path, sizeof path, "%.4096s/%s", e->dir, name);
    json_t *json = json_load_file(path, 0, NULL);
    const char *text[3] = {json_string_value(json_object_get(json, "format")),
                           json_string_value(json_object_get(json, "state")),
                           json_string_value(json_object_get(json, "scene_sha256"))};
    const bool ok = text[0] != NULL && strcmp(text[0], format) == 0 && text[1] != NULL &&
                    strcmp(text[1], "finished") == 0 && text[2] != NULL &&
                    strcmp(text[2], e->scene->settings->sha256) == 0 &&
                    json_number_value(json_object_get(json, "time")) == e->t_s;
    json_decref(json);
    return ok;
}

/* The ends of a text file are enough: it is replaced by rename. */
static bool xdmf_has(const struct end *e, int64_t index)
{
    static const char tail[] = "</Xdmf>\n";
    enum { GRID = 8192 }; /* bytes; a frame takes some 1500 */
    char path[4200], text[GRID + 1], grid[64];
    snprintf(path, sizeof path, "%.4096s/frames.xdmf", e->dir);
    snprintf(grid, sizeof grid, "<Grid Name=\"%06" PRId64 "\"", index);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat s;
    if (fd < 0)
        return false;
    ssize_t n = -1;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode))
        n = pread(fd, text, GRID, s.st_size > GRID ? s.st_size - GRID : 0);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > (ssize_t)sizeof tail && strcmp(text + n - (sizeof tail - 1), tail) == 0 && strstr(text, grid) != NULL;
}

static bool frames_are_there(struct tac_ctx *ctx, const struct end *e)
{
    struct tac_reader *r = NULL;
    bool ok = tac_reader_open(ctx, e->dir, &r) == TAC_OK && r->incomplete == 0 && r->frame_count > 0 &&
              strcmp(r->sha256, e->scene->settings->sha256) == 0 && r->frame[r->frame_count - 1].time_s == e->t_s &&
              (e->frames < 0 || r->frame_count == e->frames) && xdmf_has(e, r->frame[r->frame_count - 1].index);
    tac_reader_close(&r);
    return ok;
}

static bool rows_are_there(struct tac_ctx *ctx, const struct end *e)
{
    char path[4200];
    struct tac_table *t = NULL;
    snprintf(path, sizeof path, "%.4096s/energy.csv", e->dir);
    const bool ok = tac_table_read(ctx, path, &t) == TAC_OK && t->row_count > 0 &&
                    t->value[(t->row_count - 1) * t->column_count] == e->t_s &&
                    (e->rows < 0 || t->row_count == e->rows);
    tac_table_destroy(&t);
    return ok;
}

/* Does checkpoint.h5 point to the file, and is no checkpoint half written? */
static bool is_newest_checkpoint(const struct end *e, const char *file)
{
    char path[4200];
    struct stat a, b;
    snprintf(path, sizeof path, "%.4096s/checkpoint.h5", e->dir);
    const bool same = stat(path, &a) == 0 && stat(file, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    snprintf(path, sizeof path, "%.4096s/checkpoint.h5.tmp", e->dir);
    return same && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

enum tac_err tac_output_whole(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                              const struct tac_output_past *past, bool last_frame, bool *here, bool *whole)
{
    char path[4200];
    bool reported[2] = {false, false};
    if (ctx->rank == 0) {
        struct tac_ctx alone; /* a missing file is no error */
        struct end e = {scene, dir, (double)past->now * scene->settings->quantum_s, -1, -1};
        tac_ctx_init(&alone, MPI_COMM_SELF);
        alone.quiet = true;
        if (past->entry_count > 0)
            e.frames = e.rows = last_frame;
        for (int64_t k = 0; k < past->entry_count; k++) {
            e.frames += past->entry[k].frame;
            e.rows += past->entry[k].row >= 0;
        }
        snprintf(path, sizeof path, "%.4096s/scene.json", dir);
        reported[0] = tac_output_lies_in(past->file, dir);
        reported[1] = reported[0] && says_finished(&e, "status.json", TAC_STATUS_FORMAT) &&
                      says_finished(&e, "run.json", TAC_RUN_FORMAT) && access(path, R_OK) == 0 &&
                      is_newest_checkpoint(&e, past->file) && rows_are_there(&alone, &e) &&
                      frames_are_there(&alone, &e);
    }
    MPI_Bcast(reported, 2, MPI_C_BOOL, 0, ctx->comm);
    *here = reported[0];
    *whole = reported[1];
    return TAC_OK;
}
