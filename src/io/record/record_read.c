/* record_read.c: opens the record of a run, and streams the breakpoints of one group, vertex by vertex. */
#include "io/record/record_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum tac_err tac_recorded_damaged(struct tac_ctx *ctx, const struct tac_recorded *r, const char *what)
{
    return tac_record_damaged(ctx, r->file->path, what);
}

bool tac_recorded_partial(const struct tac_recorded *r, int64_t g)
{
    return g >= r->file->group_count;
}

/* Rank 0: fails if the run was not recorded, the most frequent cause, with a sentence that says what to do.
 */
static enum tac_err look_for(struct tac_ctx *ctx, const char *dir, const char *path)
{
    struct stat s;
    if (ctx->rank != 0 || stat(path, &s) == 0)
        return TAC_OK;
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "'%.500s' holds no record of its run (record.h5: %s); run with --record, or look at the frames: "
                    "tactus audit %.500s --frames",
                    dir, strerror(errno), dir);
}

/* Local. Lists the groups, and checks that they belong to this run. */
static enum tac_err take_groups(struct tac_ctx *ctx, struct tac_recorded *r)
{
    enum tac_err err;
    const struct tac_record_stored *f = r->file;
    const int64_t n = f->group_count + f->has_partial;
    if (n == 0)
        return tac_fail(
            ctx, TAC_ERR_INPUT,
            "'%.1000s' holds no interval that is whole: its run did not come to the end of the first one, so "
            "there is nothing to audit; status.json beside it says how the run stands",
            f->path);
    if (f->vertex_count != r->vertex_count)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "'%.1000s' is of %" TAC_PRIGID " vertices, and the run's frames are of %" TAC_PRILID
                        "; do both come from the same run?",
                        f->path, f->vertex_count, r->vertex_count);
    TAC_TRY(tac_alloc(ctx, (size_t)n, sizeof *r->group, &r->group));
    if (f->group_count > 0)
        memcpy(r->group, f->group, (size_t)f->group_count * sizeof *r->group);
    if (f->has_partial)
        r->group[n - 1] = f->partial;
    r->group_count = n;
done:
    return err;
}

enum tac_err tac_recorded_open(struct tac_ctx *ctx, const char *dir, tac_lid vertex_count, struct tac_recorded **out)
{
    enum tac_err err;
    const size_t size = strlen(dir) + sizeof "/record.h5";
    struct tac_recorded *r = NULL;
    char *path = NULL;
    *out = NULL;
    err = tac_alloc(ctx, 1, sizeof *r, &r);
    if (!err) {
        *r = (struct tac_recorded){.vertex_count = vertex_count, .opened = -1, .rows = {{-1, -1, -1}, {0}, NULL}};
        err = tac_alloc(ctx, size, 1, &path);
    }
    if (!err) {
        snprintf(path, size, "%s/record.h5", dir);
        err = look_for(ctx, dir, path);
    }
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_record_stored_open_all(ctx, path, &r->file));
    TAC_TRY(tac_agree(ctx, take_groups(ctx, r)));
    if (r->file->unfinished > 0)
        tac_warn(ctx, "'%s': the last interval was not finished and is left out: the record ends at t = %.9g s", path,
                 (double)r->group[r->group_count - 1].end * r->file->quantum_s);
    *out = r;
    r = NULL;
done:
    tac_recorded_close(&r);
    free(path);
    return err;
}

void tac_recorded_close(struct tac_recorded **p)
{
    struct tac_recorded *r = *p;
    struct tac_h5_quiet quiet;
    if (r == NULL)
        return;
    tac_h5_quiet(&quiet);
    tac_record_rows_close(&r->rows);
    tac_h5_restore(&quiet);
    tac_record_stored_close(&r->file);
    free(r->group);
    free(r);
    *p = NULL;
}

/* Rows of a chunk. */
static int64_t chunk_rows(hid_t dataset)
{
    hsize_t chunk[2] = {1 << 16, 0};
    hid_t list = H5Dget_create_plist(dataset);
    if (list >= 0 && H5Pget_layout(list) == H5D_CHUNKED)
        H5Pget_chunk(list, 2, chunk);
    if (list >= 0)
        H5Pclose(list);
    return (int64_t)chunk[0];
}

static enum tac_err open_group(struct tac_ctx *ctx, struct tac_recorded *r, int64_t g)
{
    const char *path = r->group[g].path;
    char what[128];
    if (r->opened == g)
        return TAC_OK;
    tac_record_rows_close(&r->rows);
    r->opened = -1;
    if (!tac_record_rows_open(r->file->file, path, r->vertex_count, &r->rows)) {
        snprintf(what, sizeof what, "%s/%s is missing or not as it should be", path, r->rows.wrong);
        return tac_recorded_damaged(ctx, r, what);
    }
    r->together = chunk_rows(r->rows.id[TAC_RECORD_POSITION]);
    r->opened = g;
    return TAC_OK;
}

enum tac_err tac_recorded_starts(struct tac_ctx *ctx, struct tac_recorded *r, int64_t g, int64_t *start)
{
    enum tac_err err = TAC_OK;
    const struct tac_record_group *group = &r->group[g];
    char what[160];
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    TAC_TRY(open_group(ctx, r, g));
    if (!tac_record_rows_read(&r->rows, TAC_RECORD_START, 0, (int64_t)r->vertex_count + 1, start)) {
        snprintf(what, sizeof what, "cannot read %s/start", group->path);
        TAC_TRY(tac_recorded_damaged(ctx, r, what));
    }
    bool sound = start[0] == 0 && start[r->vertex_count] == group->rows;
    for (tac_lid i = 0; i < r->vertex_count && sound; i++)
        sound = start[i + 1] >= 2 && start[i + 1] - 2 >= start[i];
    if (!sound) {
        snprintf(what, sizeof what,
                 "%s/start does not ascend from 0 to the number of rows with two or more for each vertex", group->path);
        err = tac_recorded_damaged(ctx, r, what);
    }
done:
    tac_h5_restore(&quiet);
    return err;
}

enum tac_err tac_recorded_stream(struct tac_ctx *ctx, struct tac_recorded *r, int64_t g, const int64_t *start,
                                 enum tac_err (*row)(void *user, const struct tac_recorded_row *row), void *user)
{
    enum { PORTION = 1 << 18 };
    enum tac_err err = TAC_OK;
    const struct tac_record_group *group = &r->group[g];
    tac_time *time = NULL;
    double *position = NULL;
    tac_lid vertex = 0;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    TAC_TRY(open_group(ctx, r, g));
    /* Portions are whole chunks; otherwise a chunk would be unpacked twice. */
    const int64_t portion = r->together >= PORTION ? PORTION : PORTION / r->together * r->together;
    TAC_TRY(tac_alloc(ctx, (size_t)portion, sizeof *time, &time));
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)portion, sizeof *position, &position));
    for (int64_t begin = 0; begin < group->rows; begin += portion) {
        const int64_t count = group->rows - begin < portion ? group->rows - begin : portion;
        if (!tac_record_rows_read(&r->rows, TAC_RECORD_TIME, begin, count, time) ||
            !tac_record_rows_read(&r->rows, TAC_RECORD_POSITION, begin, count, position)) {
            char what[96];
            snprintf(what, sizeof what, "cannot read the rows of %s", group->path);
            TAC_TRY(tac_recorded_damaged(ctx, r, what));
        }
        for (int64_t k = 0; k < count; k++) {
            while (begin + k >= start[vertex + 1])
                vertex++;
            TAC_TRY(
                row(user, &(struct tac_recorded_row){vertex, begin + k == start[vertex],
                                                     begin + k + 1 == start[vertex + 1], time[k], position + 3 * k}));
        }
    }
done:
    free(time);
    free(position);
    tac_h5_restore(&quiet);
    return err;
}
