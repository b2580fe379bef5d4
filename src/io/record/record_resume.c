/* record_resume.c: continues the record.h5 of a run from a checkpoint: removes later intervals, and reads back the
 * interval that was not complete. As with frames.h5 (frames_resume.c) rank 0 examines the file, and removes groups, in
 * child processes; only then is it opened to be written. If the earlier run came further, its group of that interval is
 * whole; it then becomes a partial group, so that another run from the same checkpoint finds it again.
 */
#include "base/child.h"
#include "io/frames/frames.h"
#include "io/h5/disk.h"
#include "io/record/record.h"
#include "io/record/record_stored.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a damaged file: each interval is read in a child process first, because HDF5 crashes on some damage ---- */

/* What to save of a damaged file. */
struct salvage {
    const char *path; /* borrowed */
    const struct tac_scene *scene;
    int64_t unfinished; /* the interval that had not ended; negative: none */
    tac_time now;
};

struct trial {
    const struct salvage *s;
    const char *group;
    bool unfinished;
};

/* In a child: is the group there, whole, of this scene, and are its checksums right? *end: the time at which it ends.
 */
static enum tac_err try_group(struct tac_ctx *ctx, void *data, int64_t *end)
{
    const struct trial *t = data;
    const struct salvage *s = t->s;
    const tac_gid vertices = s->scene->mesh->vertex_count;
    const hid_t file = tac_h5_open_read(s->path);
    char sha256[80] = "";
    double quantum_s = s->scene->settings->quantum_s;
    tac_time span[2] = {0, 0};
    bool ok = file >= 0;
    if (ok && tac_h5_get_text(file, "scene_sha256", sha256, sizeof sha256))
        ok = strcmp(sha256, s->scene->settings->sha256) == 0;
    if (ok && tac_record_quantum(file, &quantum_s))
        ok = quantum_s == s->scene->settings->quantum_s;
    ok = ok && tac_record_span(file, t->group, vertices, span) &&
         (!t->unfinished || tac_record_serves(file, t->group, vertices, s->now)) &&
         tac_record_reads_through(file, t->group, vertices);
    *end = span[1];
    return ok ? TAC_OK : tac_record_damaged(ctx, s->path, t->group);
}

static bool salvage_group(const struct salvage *s, const char *group, bool unfinished, hid_t to, const char *name,
                          int64_t *end)
{
    struct trial t = {s, group, unfinished};
    struct tac_ctx alone;
    struct stat file = {0};
    if (stat(s->path, &file) != 0)
        return false;
    tac_ctx_init(&alone, MPI_COMM_SELF);
    alone.quiet = true;
    if (tac_child_try(&alone, s->path, file.st_size, try_group, &t, end) != TAC_OK)
        return false;
    const hid_t from = tac_h5_open_read(s->path);
    const bool copied = from >= 0 && H5Ocopy(from, group, to, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    if (from >= 0)
        H5Fclose(from);
    return copied;
}

/* Rank 0. Copies the intervals 0 .. count - 1 that can still be read, and the one that was not over, into
 * `to`. *covered: the end of the last interval, quanta; source: the group that has the interval that was not over, or
 * empty; lost: the intervals that cannot be read. */
static enum tac_err salvage_intervals(struct tac_ctx *ctx, const struct salvage *s, int64_t count,
                                      struct tac_frames *to, tac_time *covered, char source[64],
                                      struct tac_ranges *lost)
{
    char group[64], name[64];
    int64_t end = 0;
    bool any = false;
    *covered = 0;
    for (int64_t k = 0; k < count; k++) {
        snprintf(group, sizeof group, "record/%06" PRId64, k);
        if (salvage_group(s, group, false, to->frames, group + strlen("record/"), &end)) {
            *covered = end;
            any = true;
        } else if (any) { /* a record may begin late, but has no gaps */
            tac_ranges_add(lost, k);
        }
    }
    for (int64_t k = 0; k < TAC_RECORD_SOURCES && s->unfinished >= 0 && source[0] == '\0'; k++) {
        tac_record_source_name(s->unfinished, k, group);
        snprintf(name, sizeof name, "partial/%06" PRId64, s->unfinished);
        if (salvage_group(s, group, true, to->file, name, &end))
            snprintf(source, 64, "%s", name);
    }
    if (to->disk_error != 0)
        return tac_fail(ctx, TAC_ERR_RUN, "cannot write %s: %s; is the disk in order?", to->path,
                        strerror(to->disk_error));
    return TAC_OK;
}

/* ---- the present record, and the one to make ---- */

struct plan {
    const char *path;
    const struct tac_scene *scene;
    tac_time now;
    int64_t index; /* the current interval */
    bool within;
    bool remote;     /* of another scene, or another quantum */
    char source[64]; /* the group that has the present interval so far; empty: none */
    int64_t choice; /* its index among the groups that may have it; TAC_RECORD_SOURCES: none; negative: not known yet */
    char *aside;    /* owned; rank 0: the new name of a damaged file; NULL: there is none */
    char why[512];  /* rank 0: what is wrong with it */
    tac_time covered; /* the record is complete up to here, without the present interval; 0: it holds nothing */
    bool late;        /* some group must be removed or renamed */
};

struct names {
    struct tac_ctx *ctx;
    int64_t from;     /* groups with lower numbers stay */
    bool all;         /* and others too */
    char (*name)[24]; /* owned */
    size_t count, capacity;
    int64_t last; /* highest number below `from`; -1: none */
};

static herr_t list_name(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    struct names *names = data;
    const size_t digits = strspn(name, "0123456789");
    const bool numbered = digits >= 6 && digits <= 18 && name[digits] == '\0';
    const int64_t index = numbered ? strtoll(name, NULL, 10) : INT64_MAX;
    if (!numbered && !(names->all && strcmp(name, TAC_RECORD_NEXT) == 0))
        return 0; /* not ours */
    if (index < names->from) {
        names->last = index > names->last ? index : names->last;
        return 0;
    }
    if (tac_grow(names->ctx, &names->name, &names->capacity, names->count + 1, sizeof *names->name))
        return -1;
    snprintf(names->name[names->count++], sizeof *names->name, "%s", name);
    return 0;
}

static bool list_names(hid_t file, const char *where, struct names *names)
{
    hid_t group = H5Lexists(file, where, H5P_DEFAULT) > 0 ? H5Gopen2(file, where, H5P_DEFAULT) : -1;
    names->last = -1;
    const bool ok = group >= 0 && H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, list_name, names) >= 0;
    if (group >= 0)
        H5Gclose(group);
    return ok;
}

void tac_record_source_name(int64_t index, int64_t k, char name[64])
{
    if (k == 0)
        snprintf(name, 64, "partial/" TAC_RECORD_NEXT);
    else
        snprintf(name, 64, "%s/%06" PRId64, k == 1 ? "partial" : "record", index);
}

/* Finds the first group that has all of the present interval so far and whose checksums are right; TAC_RECORD_SOURCES:
 * none.
 */
static int64_t choose_source(hid_t file, const struct plan *p)
{
    int64_t k = 0;
    for (char name[64]; k < TAC_RECORD_SOURCES; k++) {
        tac_record_source_name(p->index, k, name);
        if (tac_record_serves(file, name, p->scene->mesh->vertex_count, p->now) &&
            tac_record_reads_through(file, name, p->scene->mesh->vertex_count))
            break;
    }
    return k;
}

/* Decides what to keep, remove and rename. */
static enum tac_err plan_record(struct tac_ctx *ctx, hid_t file, struct plan *p)
{
    enum tac_err err = TAC_OK;
    char format[64], sha256[80], group[64];
    double quantum_s;
    struct names record = {.ctx = ctx, .from = p->index}, partial = {.ctx = ctx, .all = true};
    if (!tac_h5_get_text(file, "format", format, sizeof format) || strcmp(format, TAC_RECORD_FORMAT) != 0 ||
        !tac_record_quantum(file, &quantum_s))
        TAC_TRY(tac_record_damaged(ctx, p->path, "it is not of the format " TAC_RECORD_FORMAT));
    tac_h5_get_text(file, "scene_sha256", sha256, sizeof sha256);
    p->remote = strcmp(sha256, p->scene->settings->sha256) != 0 || quantum_s != p->scene->settings->quantum_s;
    if (p->remote)
        goto done;
    if (!list_names(file, "record", &record) || !list_names(file, "partial", &partial))
        TAC_TRY(tac_record_damaged(ctx, p->path, "its list of groups cannot be read"));
    if (p->within && p->choice < 0) /* reads all of them, once */
        p->choice = choose_source(file, p);
    if (p->within && p->choice < TAC_RECORD_SOURCES)
        tac_record_source_name(p->index, p->choice, p->source);
    tac_time span[2] = {0, 0};
    snprintf(group, sizeof group, "record/%06" PRId64, record.last);
    if (record.last >= 0 && !tac_record_span(file, group, p->scene->mesh->vertex_count, span))
        TAC_TRY(tac_record_damaged(ctx, p->path, "one of its intervals is not whole"));
    p->covered = span[1];
    snprintf(group, sizeof group, "partial/%06" PRId64, p->index);
    p->late = record.count > 0 || partial.count > (strcmp(p->source, group) == 0);
done:
    free(record.name);
    free(partial.name);
    return err;
}

/* In a child process: examines the file, and reads once everything that the restart will read. */
static enum tac_err examine_record_in_child(struct tac_ctx *ctx, void *data, int64_t *result)
{
    struct plan *p = data;
    hid_t file = tac_h5_open_read(p->path);
    if (file < 0)
        return tac_record_damaged(ctx, p->path, "the HDF5 library cannot open it");
    enum tac_err err = plan_record(ctx, file, p);
    *result = p->choice;
    H5Fclose(file);
    return err;
}

/* Removes the groups, but `keep` (NULL: none). */
static bool remove_groups(hid_t file, const char *where, struct names *names, const char *keep)
{
    bool ok = list_names(file, where, names);
    hid_t group = ok ? H5Gopen2(file, where, H5P_DEFAULT) : -1;
    for (size_t k = 0; k < names->count && ok; k++)
        if (keep == NULL || strcmp(names->name[k], keep) != 0) /* a name that is listed twice is gone already */
            ok = H5Lexists(group, names->name[k], H5P_DEFAULT) == 0 ||
                 H5Ldelete(group, names->name[k], H5P_DEFAULT) >= 0;
    free(names->name);
    return group >= 0 && H5Gclose(group) >= 0 && ok;
}

/* In a child: removes late intervals, and renames the group of the present interval. */
static enum tac_err remove_late_intervals(struct tac_ctx *ctx, void *data, int64_t *result)
{
    const struct plan *p = data;
    struct names record = {.ctx = ctx, .from = p->index}, partial = {.ctx = ctx, .all = true};
    char name[24], to[64];
    int disk_error = 0;
    hid_t disk = -1, access = H5Pcreate(H5P_FILE_ACCESS);
    snprintf(name, sizeof name, "%06" PRId64, p->index);
    snprintf(to, sizeof to, "partial/%s", name);
    bool ok =
        access >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 && tac_disk_use(access, &disk_error, &disk);
#if H5_VERSION_GE(1, 10, 7)
    ok = ok && H5Pset_file_locking(access, false, true) >= 0;
#endif
    hid_t file = ok ? H5Fopen(p->path, H5F_ACC_RDWR, access) : -1;
    ok = file >= 0;
    if (ok && p->source[0] != '\0' && strcmp(p->source, to) != 0) {
        ok = H5Lexists(file, to, H5P_DEFAULT) <= 0 || H5Ldelete(file, to, H5P_DEFAULT) >= 0;
        ok = ok && H5Lmove(file, p->source, file, to, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    }
    ok = ok && remove_groups(file, "record", &record, NULL) &&
         remove_groups(file, "partial", &partial, p->source[0] != '\0' ? name : NULL);
    /* Nothing has been written to the file so far: a failure before this leaves it as it was. */
    if (!ok)
        return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is damaged: its later intervals cannot be removed", p->path);
    ok = H5Fclose(file) >= 0;
    if (disk_error != 0)
        return tac_fail(ctx, TAC_ERR_RUN, "cannot write %s: %s; is the disk in order?", p->path, strerror(disk_error));
    return ok ? TAC_OK : tac_fail(ctx, TAC_ERR_INPUT, "'%s' is damaged: it cannot be written", p->path);
}

/* Rank 0: examines the file and removes late intervals. *there: the file can be continued. record: a damaged file is
 * renamed, so that a new one can be made; otherwise it stays. */
static enum tac_err prepare_record(struct tac_ctx *ctx, struct plan *p, bool record, bool *there)
{
    enum tac_err err = TAC_OK;
    struct tac_ctx alone; /* what is wrong with the file is no error of this run */
    struct stat status = {0};
    *there = false;
    tac_disk_recover(p->path);
    if (stat(p->path, &status) != 0 && errno == ENOENT)
        return TAC_OK;
    if (access(p->path, R_OK | W_OK) != 0)
        return tac_fail(ctx, TAC_ERR_INPUT, "cannot write to '%s': %s; choose another folder with -o", p->path,
                        strerror(errno));
    tac_ctx_init(&alone, MPI_COMM_SELF);
    alone.quiet = true;
    struct plan tried = *p;
    err = tac_child_try(&alone, p->path, status.st_size, examine_record_in_child, &tried, &p->choice);
    if (!err) {
        hid_t file = tac_h5_open_read(p->path);
        err = file >= 0 ? plan_record(&alone, file, p) : tac_record_damaged(&alone, p->path, "it cannot be opened");
        if (file >= 0)
            H5Fclose(file);
    }
    if (!err && p->remote)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "'%s' is the record of another scene than the checkpoint's; move it away, or choose another "
                        "folder with -o",
                        p->path);
    if (!err && p->late)
        err = tac_child_try(&alone, p->path, status.st_size, remove_late_intervals, p, NULL);
    *there = err == TAC_OK;
    if (err == TAC_ERR_INPUT) {
        p->source[0] = '\0';
        p->covered = 0;
        snprintf(p->why, sizeof p->why, "%.500s", alone.error);
        if (record)
            return tac_frames_put_aside(ctx, p->path, &p->aside);
        tac_warn_loss(ctx, "%s; it stays as it is: give --record again to go on with what can be read of it", p->why);
        return TAC_OK;
    }
    return err ? tac_fail(ctx, err, "%s", alone.error) : TAC_OK;
}

/* ---- taking over ---- */

static enum tac_err take_rows(struct tac_record *r, const struct tac_record_rows *s, const struct plan *p,
                              const int64_t *start, tac_time *time, double *position, struct tac_point *point)
{
    enum tac_err err = TAC_OK;
    const int64_t rows = start[r->end - r->begin];
    tac_gid vertex = r->begin;
    TAC_TRY(tac_spill_begin(&r->block, 0));
    for (int64_t at = start[0]; at < rows;) {
        const int64_t n = rows - at < (int64_t)r->portion ? rows - at : (int64_t)r->portion;
        size_t count = 0;
        if (!tac_record_rows_read(s, TAC_RECORD_TIME, at, n, time) ||
            !tac_record_rows_read(s, TAC_RECORD_POSITION, at, n, position))
            TAC_TRY(tac_record_damaged(r->ctx, p->path, "the current interval cannot be read"));
        for (int64_t k = 0; k < n; k++, at++) {
            while (at >= start[vertex + 1 - r->begin])
                vertex++;
            if (time[k] >= p->now)
                continue;
            point[count].vertex = vertex;
            point[count].t = time[k];
            memcpy(point[count++].x, &position[3 * k], sizeof point->x);
        }
        TAC_TRY(tac_record_take(r, point, count));
    }
done:
    return err;
}

/* Local. Reads the points of this rank's block that are before the checkpoint. */
static enum tac_err take_over(struct tac_record *r, const struct plan *p)
{
    enum tac_err err = TAC_OK;
    const int64_t n = r->end - r->begin;
    const hid_t file = tac_h5_open_read(p->path);
    struct tac_record_rows s = {{-1, -1, -1}, {0}, NULL};
    int64_t *start = NULL;
    tac_time *time = NULL;
    double *position = NULL;
    struct tac_point *point = NULL;
    TAC_TRY(tac_alloc(r->ctx, (size_t)n + 1, sizeof *start, &start));
    TAC_TRY(tac_alloc(r->ctx, r->portion, sizeof *time, &time));
    TAC_TRY(tac_alloc(r->ctx, 3 * r->portion, sizeof *position, &position));
    TAC_TRY(tac_alloc(r->ctx, r->portion, sizeof *point, &point));
    if (file < 0 || !tac_record_rows_open(file, p->source, r->vertex_total, &s) ||
        !tac_record_rows_read(&s, TAC_RECORD_START, r->begin, n + 1, start))
        TAC_TRY(tac_record_damaged(r->ctx, p->path, "the current interval cannot be read"));
    for (int64_t i = 0; i < n; i++)
        if (start[i] < 0 || start[i + 1] < start[i] || start[i + 1] > s.rows[TAC_RECORD_TIME])
            TAC_TRY(tac_record_damaged(r->ctx, p->path, "its rows are out of order"));
    TAC_TRY(take_rows(r, &s, p, start, time, position, point));
done:
    tac_record_rows_close(&s);
    if (file >= 0)
        H5Fclose(file);
    free(start);
    free(time);
    free(position);
    free(point);
    return err;
}

static void warn_of_gaps(struct tac_ctx *ctx, const struct plan *p, bool there, bool record)
{
    const double now_s = (double)p->now * p->scene->settings->quantum_s,
                 covered_s = (double)p->covered * p->scene->settings->quantum_s;
    const bool connects = p->within ? p->source[0] != '\0' : p->covered == p->now;
    if (!record && there)
        tac_warn(ctx, "'%s' ends at t = %.9g s: give --record again to go on with it", p->path,
                 connects ? now_s : covered_s);
    else if (record && !connects)
        tac_warn(ctx, "'%s' has no breakpoints from t = %.9g s to t = %.9g s, where this run goes on", p->path,
                 covered_s, now_s);
}

/* Collective. Reads the present interval from the file that rank 0 has prepared, and opens the file to continue it. */
static enum tac_err continue_record(struct tac_ctx *ctx, struct plan *p, const char *dir, struct tac_record **out)
{
    enum tac_err err;
    struct tac_record *r = NULL;
    TAC_TRY(tac_record_blank(ctx, p->scene, dir, &r));
    if (p->source[0] != '\0') {
        snprintf(p->source, sizeof p->source, "partial/%06" PRId64, p->index);
        r->partial = p->index;
        TAC_TRY(tac_agree(ctx, take_over(r, p)));
    }
    TAC_TRY(tac_frames_handle(ctx, dir, "record.h5", false, &r->file));
    TAC_TRY(tac_frames_open_file(ctx, r->file, "record"));
    *out = r;
    r = NULL;
done:
    if (r != NULL && r->file != NULL)
        r->file->broken = true;
    tac_record_destroy(&r);
    return err;
}

/* Collective. Makes a new file with what can still be read of the damaged one. */
static enum tac_err begin_anew(struct tac_ctx *ctx, struct plan *p, const char *dir, struct tac_record **out)
{
    enum tac_err err;
    struct tac_record *r = NULL;
    struct tac_ranges lost = {.count = 0};
    const struct salvage s = {p->aside, p->scene, p->within ? p->index : -1, p->now};
    TAC_TRY(tac_record_create(ctx, p->scene, dir, &r));
    if (p->aside != NULL) {
        err = salvage_intervals(ctx, &s, p->index, r->file, &p->covered, p->source, &lost);
        if (!err)
            tac_warn_loss(ctx, "%s; it is kept as '%s', and what can be read of it was copied into a new record.h5%s%s",
                          p->why, p->aside, lost.count > 0 ? "; lost: intervals " : "", tac_ranges_text(&lost));
    }
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(tac_frames_flush(ctx, r->file, "a new file"));
    MPI_Bcast(p->source, sizeof p->source, MPI_CHAR, 0, ctx->comm);
    if (p->source[0] != '\0') {
        r->partial = p->index;
        TAC_TRY(tac_agree(ctx, take_over(r, p)));
    }
    *out = r;
    r = NULL;
done:
    if (r != NULL)
        r->file->broken = true;
    tac_record_destroy(&r);
    return err;
}

enum tac_err tac_record_resume(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, tac_time now,
                               int64_t index, bool within, bool record, struct tac_record **out, bool *loaded)
{
    enum tac_err err;
    bool there = false;
    char *path = NULL;
    struct plan plan = {.scene = scene, .now = now, .index = index, .within = within, .choice = -1};
    struct tac_h5_quiet quiet;
    const size_t size = strlen(dir) + sizeof "/record.h5";
    tac_h5_quiet(&quiet);
    *out = NULL;
    *loaded = false;
    err = tac_alloc(ctx, size, 1, &path);
    if (!err) {
        snprintf(path, size, "%s/record.h5", dir);
        plan.path = path;
        err = ctx->rank == 0 ? prepare_record(ctx, &plan, record, &there) : TAC_OK;
    }
    TAC_TRY(tac_agree(ctx, err));
    MPI_Bcast(&there, 1, MPI_C_BOOL, 0, ctx->comm);
    MPI_Bcast(plan.source, sizeof plan.source, MPI_CHAR, 0, ctx->comm);
    if (record && !there)
        TAC_TRY(begin_anew(ctx, &plan, dir, out));
    if (ctx->rank == 0)
        warn_of_gaps(ctx, &plan, there, record);
    if (record && there)
        TAC_TRY(continue_record(ctx, &plan, dir, out));
    *loaded = record && plan.source[0] != '\0';
done:
    free(path);
    free(plan.aside);
    tac_h5_restore(&quiet);
    return err;
}

/* ---- a run that goes on where it ends, without --record ---- */

/* In a child: finds the end of the record, quanta. */
static enum tac_err find_end_of_record(struct tac_ctx *ctx, void *data, int64_t *end)
{
    const struct plan *p = data;
    struct names record = {.ctx = ctx, .from = INT64_MAX};
    tac_time span[2] = {0, 0};
    char group[64];
    hid_t file = tac_h5_open_read(p->path);
    bool ok = file >= 0 && list_names(file, "record", &record);
    snprintf(group, sizeof group, "record/%06" PRId64, record.last);
    if (ok && record.last >= 0)
        ok = tac_record_span(file, group, p->scene->mesh->vertex_count, span);
    *end = span[1];
    if (file >= 0)
        H5Fclose(file);
    return ok ? TAC_OK : tac_record_damaged(ctx, p->path, "its last interval cannot be read");
}

enum tac_err tac_record_end(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, tac_time now)
{
    enum tac_err err = TAC_OK;
    char *path = NULL;
    struct stat status;
    struct tac_ctx alone; /* what is wrong with the file is no error of this run */
    struct plan plan = {.scene = scene, .now = now};
    int64_t end = 0;
    const size_t size = strlen(dir) + sizeof "/record.h5";
    TAC_TRY(tac_alloc(ctx, size, 1, &path));
    snprintf(path, size, "%s/record.h5", dir);
    plan.path = path;
    if (ctx->rank != 0 || stat(path, &status) != 0)
        goto done;
    tac_ctx_init(&alone, MPI_COMM_SELF);
    alone.quiet = true;
    if (tac_child_try(&alone, path, status.st_size, find_end_of_record, &plan, &end) != TAC_OK)
        tac_warn(ctx, "%s", alone.error);
    else if (end < now)
        tac_warn(ctx, "'%s' ends at t = %.9g s, before the run does: give --record to write the rest of it", path,
                 (double)end * scene->settings->quantum_s);
done:
    free(path);
    return tac_agree(ctx, err);
}
