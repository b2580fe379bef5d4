/* frames_resume.c: continues the frames.h5 of a run from a checkpoint: removes later frames, and keeps the others if
 * they are as they were written (frames_check.c).
 *
 * The run may have been killed in the middle of a write.  So rank 0 looks at the file, and removes frames, in child
 * processes (HDF5 crashes on some damage), through the driver whose file is whole at every moment; only then does it
 * open the file to write it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "io/frames/frames.h"
#include "io/h5/disk.h"
#include <tactus/reader.h>

/* Is frame `index` of this scene at t_s, s? Both times come from the same sum, so they must be equal to the last bit.
 */
static bool on_grid(const struct tac_scene *scene, int64_t index, double t_s)
{
    return t_s == (double)tac_scene_frame_time(scene, index) * scene->settings->quantum_s;
}

static enum tac_err refuse_remote(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                                  const struct tac_reader *r)
{
    if (strcmp(r->sha256, scene->settings->sha256) != 0 || r->vertex_count != scene->mesh->vertex_count ||
        r->triangle_count != scene->mesh->triangle_count || r->segment_count != scene->mesh->segment_count ||
        r->tetrahedron_count != scene->mesh->tetrahedron_count)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "'%s' holds the frames of another scene than the checkpoint's; choose another folder with -o",
                        dir);
    return TAC_OK;
}

/* Finds how many of the file's frames are kept. */
static enum tac_err choose_frames_to_keep(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                                          const struct tac_reader *r, double t_s, int64_t next, int64_t *stay)
{
    int64_t early = 0;
    *stay = 0;
    while (early < r->frame_count && r->frame[early].index < next && r->frame[early].time_s <= t_s)
        early++;
    while (*stay < early && on_grid(scene, r->frame[*stay].index, r->frame[*stay].time_s))
        ++*stay;
    /* The file's last frame may be off the grid, if a run ended there. */
    if (*stay < early && !(*stay == early - 1 && early == r->frame_count))
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "'%s' holds frames at other times than this scene's (frame %" PRId64
                        " at %.9g s): set time.frame as it was, or choose another folder with -o",
                        dir, r->frame[*stay].index, r->frame[*stay].time_s);
    if (*stay > 0 && r->frame[*stay - 1].index < next - 1)
        tac_warn(ctx, "'%s' has no frames between %" PRId64 " and %" PRId64, dir, r->frame[*stay - 1].index, next);
    return TAC_OK;
}

struct removal {
    const char *path;
    const struct tac_kept_frame *kept;
    int64_t count;
};

struct names {
    char (*name)[24]; /* owned */
    size_t count, capacity;
    const struct removal *removal;
    struct tac_ctx *ctx;
};

static herr_t list_late(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    struct names *names = data;
    size_t digits = strspn(name, "0123456789");
    if (digits < 6 || digits > 18 || name[digits] != '\0')
        return 0; /* not ours */
    int64_t index = strtoll(name, NULL, 10);
    for (int64_t k = names->removal->count; k-- > 0;)
        if (names->removal->kept[k].index <= index) {
            if (names->removal->kept[k].index == index)
                return 0;
            break;
        }
    if (tac_grow(names->ctx, &names->name, &names->capacity, names->count + 1, sizeof *names->name))
        return -1;
    snprintf(names->name[names->count++], sizeof *names->name, "%s", name);
    return 0;
}

/* In a child: removes all frames but those to keep. */
static enum tac_err remove_late_frames(struct tac_ctx *ctx, void *data, int64_t *removed)
{
    const struct removal *removal = data;
    struct names names = {.removal = removal, .ctx = ctx};
    int disk_error = 0;
    hid_t disk = -1, access = H5Pcreate(H5P_FILE_ACCESS), file = -1, group = -1;
    bool ok =
        access >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 && tac_disk_use(access, &disk_error, &disk);
#if H5_VERSION_GE(1, 10, 7)
    ok = ok && H5Pset_file_locking(access, false, true) >= 0;
#endif
    file = ok ? H5Fopen(removal->path, H5F_ACC_RDWR, access) : -1;
    group = file >= 0 ? H5Gopen2(file, "frames", H5P_DEFAULT) : -1;
    ok = group >= 0 && H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, list_late, &names) >= 0;
    for (size_t i = names.count; ok && i-- > 0;)
        /* A name may be listed twice where a kill came between two steps of a write: then it is gone already. */
        ok = H5Lexists(group, names.name[i], H5P_DEFAULT) == 0 || H5Ldelete(group, names.name[i], H5P_DEFAULT) >= 0;
    *removed = (int64_t)names.count;
    /* Nothing has reached the file so far: what goes wrong before this leaves it as it was. */
    if (ctx->error[0] != '\0')
        return TAC_ERR_RUN; /* no memory for the names: the file may be sound */
    if (!ok)
        return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is damaged: its later frames cannot be removed", removal->path);
    ok = H5Gclose(group) >= 0 && H5Fclose(file) >= 0;
    free(names.name);
    if (disk_error != 0)
        return tac_fail(ctx, TAC_ERR_RUN, "cannot write %s: %s; is the disk in order?", removal->path,
                        strerror(disk_error));
    return ok ? TAC_OK : tac_fail(ctx, TAC_ERR_INPUT, "'%s' is damaged: it cannot be written", removal->path);
}

/* Renames the damaged file but does not remove it, because other tools may save more of it. */
enum tac_err tac_frames_put_aside(struct tac_ctx *ctx, const char *path, char **aside)
{
    enum tac_err err = TAC_OK;
    const size_t size = strlen(path) + 32;
    TAC_TRY(tac_alloc(ctx, size, 1, aside));
    snprintf(*aside, size, "%s.damaged", path);
    for (int n = 2; faccessat(AT_FDCWD, *aside, F_OK, AT_SYMLINK_NOFOLLOW) == 0; n++)
        snprintf(*aside, size, "%s.damaged-%d", path, n);
    if (rename(path, *aside) != 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_RUN, "cannot rename %s: %s", path, strerror(errno)));
done:
    return err;
}

/* Rank 0: copies the frames that can still be read from the damaged file into the new one. */
static enum tac_err salvage_frames(struct tac_ctx *ctx, const struct tac_scene *scene, int64_t next,
                                   struct tac_frames_plan *plan, struct tac_frames *to)
{
    struct tac_ranges lost = {.count = 0};
    free(plan->kept);
    plan->kept = NULL;
    const enum tac_err err =
        tac_frames_salvage(ctx, scene, plan->aside_path, plan->first, next, to, &plan->kept, &plan->count, &lost);
    if (err)
        return err;
    if (lost.count == 0)
        tac_warn_loss(ctx, "%s; it is kept as '%s', and its %" PRId64 " frames were copied into a new frames.h5",
                      plan->aside, plan->aside_path, plan->count);
    else
        tac_warn_loss(ctx,
                      "%s; it is kept as '%s', and %" PRId64 " of its frames were copied into a new frames.h5; lost: "
                      "frame%s %s; a restart from a checkpoint before them makes them again",
                      plan->aside, plan->aside_path, plan->count, lost.count > 1 ? "s" : "", tac_ranges_text(&lost));
    return TAC_OK;
}

/* Checks that the frames are there that the checkpoint lists. If there is none at all, warns and continues. */
static enum tac_err find_reported_frames(struct tac_ctx *ctx, const struct tac_output_past *past,
                                         const struct tac_frames_plan *plan)
{
    int64_t k = 0;
    for (int64_t i = 0; i < past->entry_count; i++) {
        const int64_t index = past->entry[i].index;
        while (k < plan->count && plan->kept[k].index < index)
            k++;
        if (past->entry[i].frame == 0 || (k < plan->count && plan->kept[k].index == index))
            continue;
        if (plan->count > 0)
            return tac_fail(ctx, TAC_ERR_INPUT,
                            "'%s' lacks frame %" PRId64
                            ", which was there when the checkpoint was written; go on from an older checkpoint, move "
                            "the file away (a new one begins with frame %" PRId64
                            "), or go on in another folder with -o",
                            plan->path, index, past->next_frame);
        if (plan->aside[0] == '\0')
            tac_warn(ctx, "'%s' has no frames from before the checkpoint, and goes on with frame %" PRId64, plan->path,
                     past->next_frame);
        break;
    }
    return TAC_OK;
}

/* Rank 0: which frames of the file stay. */
static enum tac_err plan_frames(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                                const struct tac_output_past *past, struct tac_frames_plan *plan)
{
    enum tac_err err = TAC_OK;
    struct tac_reader *r = NULL;
    struct tac_ctx alone; /* an error of the old file is no error of this run */
    struct stat file = {0};
    tac_disk_recover(plan->path);
    if (stat(plan->path, &file) != 0 && errno == ENOENT)
        return TAC_OK;
    if (access(plan->path, R_OK | W_OK) != 0)
        return tac_fail(ctx, TAC_ERR_INPUT, "cannot write to '%s': %s; choose another folder with -o", plan->path,
                        strerror(errno));
    plan->bytes = file.st_size;
    tac_ctx_init(&alone, MPI_COMM_SELF);
    alone.quiet = true;
    err = tac_reader_open(&alone, plan->path, &r);
    if (err == TAC_ERR_INPUT) {
        snprintf(plan->aside, sizeof plan->aside, "%.500s", alone.error);
        return TAC_OK;
    }
    if (err)
        return tac_fail(ctx, err, "%s", alone.error);
    TAC_TRY(refuse_remote(ctx, scene, dir, r));
    TAC_TRY(choose_frames_to_keep(ctx, scene, dir, r, (double)past->now * scene->settings->quantum_s, past->next_frame,
                                  &plan->count));
    TAC_TRY(tac_alloc(ctx, (size_t)plan->count, sizeof *plan->kept, &plan->kept));
    for (int64_t k = 0; k < plan->count; k++)
        plan->kept[k] = (struct tac_kept_frame){r->frame[k].index, r->frame[k].time_s, r->frame[k].fields};
    plan->late = r->frame_count > plan->count || r->incomplete > 0;
    plan->there = true;
done:
    tac_reader_close(&r);
    return err;
}

enum tac_err tac_frames_look(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir,
                             const struct tac_output_past *past, bool here, struct tac_frames_plan *plan)
{
    enum tac_err err;
    struct tac_h5_quiet quiet;
    const bool first = ctx->rank == 0;
    const size_t size = strlen(dir) + sizeof "/frames.h5";
    *plan = (struct tac_frames_plan){.path = NULL};
    tac_h5_quiet(&quiet);
    err = tac_alloc(ctx, size, 1, &plan->path);
    if (!err) {
        snprintf(plan->path, size, "%s/frames.h5", dir);
        err = first ? plan_frames(ctx, scene, dir, past, plan) : TAC_OK;
    }
    if (!err && first && here)
        err = find_reported_frames(ctx, past, plan);
    /* A run that began from a checkpoint has no frames before it. */
    for (int64_t k = first ? past->entry_count : 0; k-- > 0;)
        plan->first = past->entry[k].frame ? past->entry[k].index : plan->first;
    TAC_TRY(tac_agree(ctx, err));
    MPI_Bcast(&plan->there, 1, MPI_C_BOOL, 0, ctx->comm);
    MPI_Bcast(&plan->count, 1, MPI_INT64_T, 0, ctx->comm);
    if (!first)
        err = tac_alloc(ctx, (size_t)plan->count, sizeof *plan->kept, &plan->kept);
    TAC_TRY(tac_agree(ctx, err));
    if (plan->there) {
        MPI_Bcast(plan->kept, (int)(plan->count * (int64_t)sizeof *plan->kept), MPI_BYTE, 0, ctx->comm);
        TAC_TRY(tac_frames_check(ctx, plan->path, plan->kept, plan->count, past->next_frame));
    }
done:
    tac_h5_restore(&quiet);
    return err;
}

/* Rank 0: carries out the plan. A file that cannot be written any more is renamed too. */
static enum tac_err carry_out_plan(struct tac_ctx *ctx, struct tac_frames_plan *plan)
{
    enum tac_err err = TAC_OK;
    struct tac_ctx alone;
    int64_t removed = 0;
    tac_ctx_init(&alone, MPI_COMM_SELF);
    alone.quiet = true;
    struct removal removal = {plan->path, plan->kept, plan->count};
    if (plan->there && plan->late)
        err = tac_child_try(&alone, plan->path, plan->bytes, remove_late_frames, &removal, &removed);
    if (err && err != TAC_ERR_INPUT)
        return tac_fail(ctx, err, "%s", alone.error);
    plan->there = plan->there && !err;
    if (err)
        snprintf(plan->aside, sizeof plan->aside, "%.500s", alone.error);
    return plan->aside[0] != '\0' ? tac_frames_put_aside(ctx, plan->path, &plan->aside_path) : TAC_OK;
}

void tac_frames_plan_clear(struct tac_frames_plan *plan)
{
    free(plan->path);
    free(plan->kept);
    free(plan->aside_path);
    *plan = (struct tac_frames_plan){.path = NULL};
}

enum tac_err tac_frames_open_file(struct tac_ctx *ctx, struct tac_frames *w, const char *group)
{
    enum tac_err err = TAC_OK;
    const bool writes = tac_frames_writes(ctx);
    hid_t access = writes ? tac_frames_access(w) : -1;
    w->file = access >= 0 ? H5Fopen(w->path, H5F_ACC_RDWR, access) : -1;
    TAC_TRY(tac_frames_step(ctx, w, group, !writes || w->file >= 0));
    w->open = true;
    w->frames = writes ? H5Gopen2(w->file, group, H5P_DEFAULT) : -1;
    TAC_TRY(tac_frames_step(ctx, w, group, !writes || w->frames >= 0));
done:
    if (access >= 0)
        H5Pclose(access);
    return err;
}

enum tac_err tac_frames_resume(struct tac_ctx *ctx, const struct tac_scene *scene, const struct tac_pieces *pieces,
                               const char *dir, int64_t next, struct tac_frames_plan *plan, struct tac_frames **out)
{
    enum tac_err err = TAC_OK;
    struct tac_frames *w = NULL;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    *out = NULL;
    TAC_TRY(tac_agree(ctx, ctx->rank == 0 ? carry_out_plan(ctx, plan) : TAC_OK));
    MPI_Bcast(&plan->there, 1, MPI_C_BOOL, 0, ctx->comm);
    if (!plan->there) {
        plan->count = 0;
        TAC_TRY(tac_frames_create(ctx, scene, pieces, dir, &w));
        TAC_TRY(tac_agree(ctx, plan->aside_path != NULL ? salvage_frames(ctx, scene, next, plan, w) : TAC_OK));
        TAC_TRY(tac_frames_flush(ctx, w, "frames"));
        *out = w;
        w = NULL;
        goto done;
    }
    TAC_TRY(tac_frames_blank(ctx, scene, dir, false, &w));
    tac_frames_count(w, scene);
    TAC_TRY(tac_frames_open_file(ctx, w, "frames"));
    *out = w;
    w = NULL;
done:
    if (w != NULL)
        w->broken = true;
    tac_frames_destroy(ctx, &w);
    tac_h5_restore(&quiet);
    return err;
}
