/* checkpoint_write.c: writes a checkpoint: one HDF5 file, its CRC, and its name.
 *
 * Only rank 0 opens the file, and the others send it their chunks (io/h5/dataset_gather.c). HDF5 and MPI-IO do not
 * survive a rank that has no memory for its part of a common call: it leaves the call, and the others wait in it for
 * ever (docs/lab/2026-11-28-memory-that-ends.md). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/create.h"
#include "io/checkpoint/checkpoint_room.h"
#include "io/h5/disk.h"

/* First the file itself, then the link: so that nothing else can be left over. */
#define TEMPORARY "checkpoint.h5.tmp"

static void put_sum(const struct tac_accum *sum, int64_t row[TAC_ACCUM_LIMBS + 1])
{
    memcpy(row, sum->limb, sizeof sum->limb);
    row[TAC_ACCUM_LIMBS] = sum->bad;
}

/* The parts of what was dissipated, where they are known; written by rank 0. */
static enum tac_err write_losses(struct tac_ctx *ctx, struct tac_checkpoint_writer *w, const struct tac_checkpoint *c)
{
    enum tac_err err = TAC_OK;
    int64_t sums[TAC_CHECKPOINT_LOSSES * (TAC_ACCUM_LIMBS + 1)];
    double value[TAC_CHECKPOINT_LOST];
    struct tac_energy_row row = c->row;
    const tac_gid mine = ctx->rank == 0, size = TAC_CHECKPOINT_LOSSES * (TAC_ACCUM_LIMBS + 1);
    if (!c->has_losses)
        return TAC_OK;
    for (int k = 0; k < TAC_CHECKPOINT_LOSSES; k++)
        put_sum(&c->lost[k], &sums[k * (TAC_ACCUM_LIMBS + 1)]);
    const struct tac_dataset d = {w->file.file, "losses", NULL, H5T_NATIVE_INT64, 0, size, 0, mine * size, sums};
    TAC_TRY(tac_dataset_write(ctx, &w->file, &d));
    tac_checkpoint_row_losses(&row, value, true);
    const struct tac_dataset more = {
        w->file.file, "row_losses", NULL, H5T_NATIVE_DOUBLE, 0, TAC_CHECKPOINT_LOST, 0, mine * TAC_CHECKPOINT_LOST,
        value};
    if (c->has_row)
        TAC_TRY(tac_dataset_write(ctx, &w->file, &more));
done:
    return err;
}

/* Writes what is the same on all ranks; rank 0 writes it. */
static enum tac_err write_common(struct tac_ctx *ctx, struct tac_checkpoint_writer *w, const struct tac_checkpoint *c)
{
    enum tac_err err = TAC_OK;
    int64_t sums[TAC_CHECKPOINT_SUMS * (TAC_ACCUM_LIMBS + 1)];
    struct tac_checkpoint_numbers n;
    const struct tac_accum *const sum[TAC_CHECKPOINT_SUMS] = {&c->dissipated, &c->work,      &c->total_start,
                                                              &c->couple[0],  &c->couple[1], &c->couple[2]};
    const tac_gid length = (tac_gid)strlen(w->scene);
    const tac_gid first = ctx->rank == 0;
    tac_checkpoint_pack(c, &n);
    for (int k = 0; k < TAC_CHECKPOINT_SUMS; k++)
        put_sum(sum[k], &sums[k * (TAC_ACCUM_LIMBS + 1)]);
    const hid_t file = w->file.file;
    enum { DATASETS = 6, SUMS = TAC_CHECKPOINT_SUMS * (TAC_ACCUM_LIMBS + 1) };
    const struct tac_dataset d[DATASETS] = {
        {file, "integers", NULL, H5T_NATIVE_INT64, 0, TAC_CHECKPOINT_INTEGERS, 0, first * TAC_CHECKPOINT_INTEGERS,
         n.integer},
        {file, "counters", NULL, H5T_NATIVE_INT64, 0, TAC_CHECKPOINT_COUNTERS, 0, first * TAC_CHECKPOINT_COUNTERS,
         n.counter},
        {file, "ticks", NULL, H5T_NATIVE_INT64, 2, TAC_COUNTED_KINDS, 0, first * TAC_COUNTED_KINDS, n.ticks},
        {file, "reals", NULL, H5T_NATIVE_DOUBLE, 0, TAC_CHECKPOINT_REALS, 0, first * TAC_CHECKPOINT_REALS, n.real},
        {file, "sums", NULL, H5T_NATIVE_INT64, 0, SUMS, 0, first * SUMS, sums},
        {file, "scene", NULL, H5T_NATIVE_UCHAR, 0, length, 0, first * length, w->scene},
    };
    for (int k = 0; k < DATASETS; k++)
        TAC_TRY(tac_dataset_write(ctx, &w->file, &d[k]));
    TAC_TRY(write_losses(ctx, w, c));
done:
    return err;
}

/* Writes what the folder must have at a restart; rank 0 writes it. */
static enum tac_err write_folder(struct tac_ctx *ctx, struct tac_checkpoint_writer *w, const struct tac_checkpoint *c)
{
    enum tac_err err = TAC_OK;
    double value[TAC_CHECKPOINT_ROW];
    struct tac_energy_row row = c->row;
    const tac_gid mine = ctx->rank == 0;
    tac_checkpoint_row(&row, value, true);
    const struct tac_dataset d = {
        w->file.file, "row", NULL, H5T_NATIVE_DOUBLE, 0, TAC_CHECKPOINT_ROW, 0, mine * TAC_CHECKPOINT_ROW, value};
    if (c->has_row)
        TAC_TRY(tac_dataset_write(ctx, &w->file, &d));
    const struct tac_dataset follow = {w->file.file,           "follow", NULL, H5T_NATIVE_INT64, 0, c->follow_count, 0,
                                       mine * c->follow_count, c->follow};
    if (c->follow_count > 0)
        TAC_TRY(tac_dataset_write(ctx, &w->file, &follow));
    if (c->folder.entry_count > 0)
        TAC_TRY(tac_checkpoint_write_columns(ctx, w, TAC_ENTRY_COLUMNS, 3, (const char *)c->folder.entry,
                                             sizeof *c->folder.entry, (size_t)(mine * c->folder.entry_count)));
    for (int k = 0; k < TAC_LINES; k++)
        if (c->folder.sums[k].count > 0)
            TAC_TRY(tac_checkpoint_write_columns(ctx, w, &TAC_SUM_COLUMNS[k], 1, (const char *)c->folder.sums[k].line,
                                                 sizeof *c->folder.sums[k].line,
                                                 (size_t)(mine * c->folder.sums[k].count)));
done:
    return err;
}

/* Rank 0 makes the file, so that the reason why it cannot be made is the system's own.  What an earlier run left there
 * is removed, not written over: it may be a link to a good checkpoint. */
static enum tac_err make_file(struct tac_ctx *ctx, struct tac_checkpoint_writer *w, const struct tac_scene *scene,
                              const char *dir)
{
    enum tac_err err;
    const size_t size = strlen(dir) + sizeof "/" TEMPORARY;
    json_t *json = NULL;
    TAC_TRY(tac_alloc(ctx, size, 1, &w->file.path));
    snprintf(w->file.path, size, "%s/" TEMPORARY, dir);
    json = tac_scene_stored_json(scene);
    w->scene = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (w->scene == NULL) {
        err = tac_fail(ctx, TAC_ERR_RUN, "out of memory while writing a checkpoint");
    } else if (ctx->rank == 0) {
        w->file.space_fd = tac_create_new(AT_FDCWD, w->file.path, O_RDWR);
        if (w->file.space_fd < 0)
            err = tac_fail(ctx, TAC_ERR_RUN, "cannot create %s: %s; %s", w->file.path, strerror(errno),
                           errno == ENOENT ? "was the folder removed or renamed while the run was writing to it?"
                                           : "free some space or write elsewhere with -o");
    }
done:
    json_decref(json);
    return err;
}

/* At most what the file takes. */
static int64_t space_of(const struct tac_checkpoint_writer *w, const struct tac_checkpoint *c, int64_t pairs,
                        int64_t lasts, int64_t scripts, const int64_t elements[TAC_KINDS], int64_t friction_states)
{
    enum { DATASETS = 50, EACH = 2048 };
    int64_t lines = 0, states = 0;
    for (int kind = 0; kind < TAC_KINDS; kind++)
        if (elements[kind] > 0)
            states += tac_dataset_space(elements[kind], (int64_t)tac_element_row_size(&c->element[kind])) +
                      TAC_ELEMENT_COLUMNS * EACH;
    for (int k = 0; k < TAC_LINES; k++)
        lines += tac_dataset_space(c->folder.sums[k].count, sizeof *c->folder.sums[k].line);
    return tac_dataset_space(c->vertex_total, sizeof(struct tac_vertex_record)) +
           tac_dataset_space(c->triangle_total, 24) + tac_dataset_space(c->segment_total, 16) +
           tac_dataset_space(c->tetrahedron_total, 32) + tac_dataset_space(scripts, sizeof(struct tac_script_record)) +
           tac_dataset_space(pairs, sizeof(struct tac_pair_record)) + tac_dataset_space(lasts, 8) + states +
           tac_dataset_space(friction_states, sizeof(struct tac_friction_row)) +
           tac_dataset_space((tac_gid)strlen(w->scene), 1) +
           tac_dataset_space(c->folder.entry_count, sizeof *c->folder.entry) + lines +
           tac_dataset_space(c->follow_count, 8) + tac_dataset_space(c->rigid.total, sizeof *c->rigid.row) +
           DATASETS * EACH;
}

static bool put_whole_number(hid_t object, const char *name, int64_t value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t id = space >= 0 ? H5Acreate2(object, name, H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
    bool ok = id >= 0 && H5Awrite(id, H5T_NATIVE_INT64, &value) >= 0;
    if (id >= 0)
        H5Aclose(id);
    if (space >= 0)
        H5Sclose(space);
    return ok;
}

static bool put_attributes(hid_t file, const struct tac_scene *scene, int ranks)
{
    return tac_h5_put_text(file, "format", TAC_CHECKPOINT_FORMAT) && tac_h5_put_text(file, "version", tac_version()) &&
           tac_h5_put_text(file, "commit", tac_commit()) && tac_h5_put_text(file, "name", scene->settings->name) &&
           tac_h5_put_text(file, "scene_sha256", scene->settings->sha256) && put_whole_number(file, "ranks", ranks);
}

static enum tac_err create_file(struct tac_ctx *ctx, struct tac_checkpoint_writer *w, const struct tac_scene *scene,
                                const char *dir, const struct tac_checkpoint *c)
{
    enum tac_err err;
    const bool writes = tac_frames_writes(ctx);
    hid_t access = -1, creation = -1;
    enum { TABLES = 4 };
    int64_t rows[TABLES + TAC_KINDS] = {c->pair_count, c->last_count, c->script_count, c->friction_state_count};
    for (int kind = 0; kind < TAC_KINDS; kind++)
        rows[TABLES + kind] = c->element[kind].count;
    TAC_TRY(tac_agree(ctx, make_file(ctx, w, scene, dir)));
    MPI_Allreduce(MPI_IN_PLACE, rows, TABLES + TAC_KINDS, MPI_INT64_T, MPI_SUM, ctx->comm);
    if (writes) {
        access = tac_frames_access(&w->file);
        creation = H5Pcreate(H5P_FILE_CREATE);
        if (access >= 0 && creation >= 0 && H5Pset_userblock(creation, TAC_CHECKPOINT_BLOCK) >= 0)
            w->file.file = H5Fcreate(w->file.path, H5F_ACC_TRUNC, creation, access);
    }
    TAC_TRY(tac_frames_step(ctx, &w->file, "a checkpoint", !writes || w->file.file >= 0));
    TAC_TRY(tac_frames_reserve(ctx, &w->file, space_of(w, c, rows[0], rows[1], rows[2], rows + TABLES, rows[3])));
    TAC_TRY(tac_frames_step(ctx, &w->file, "a checkpoint", !writes || put_attributes(w->file.file, scene, ctx->size)));
    TAC_TRY(tac_frames_body_names(ctx, &w->file, w->file.file, scene));
done:
    if (access >= 0)
        H5Pclose(access);
    if (creation >= 0)
        H5Pclose(creation);
    return err;
}

static enum tac_err close_file(struct tac_ctx *ctx, struct tac_checkpoint_writer *w)
{
    bool ok = true;
    if (w->file.file >= 0)
        ok = H5Fclose(w->file.file) >= 0;
    w->file.file = -1;
    w->file.stuck = w->file.stuck || !ok;
    if (!w->file.stuck)
        tac_disk_release(&w->file.disk);
    return w->file.broken ? TAC_ERR_RUN : tac_frames_step(ctx, &w->file, "a checkpoint", ok);
}

/* Removes the checkpoints that are older than the `keep` newest.  Only files of their full length count as kept: a
 * crash of the machine may have left shorter ones. */
static void remove_old(const char *dir, int folder, int keep, const int64_t *list, size_t count)
{
    char name[64];
    int kept = 1; /* the new one */
    for (size_t k = count; k-- > 0;) {
        snprintf(name, sizeof name, "checkpoint-%06" PRId64 ".h5", list[k]);
        if (kept >= keep)
            unlinkat(folder, name, 0);
        else
            kept += tac_checkpoint_full_length(folder, name);
    }
}

/* Makes DIR/checkpoint.h5 a link to it. */
static void point_to(struct tac_ctx *ctx, const char *dir, int folder, const char *name)
{
    if (symlinkat(name, folder, TEMPORARY) == 0 && renameat(folder, TEMPORARY, folder, "checkpoint.h5") == 0)
        return;
    tac_warn(ctx, "cannot make %s/checkpoint.h5 point to %s: %s", dir, name, strerror(errno));
    unlinkat(folder, TEMPORARY, 0);
}

void tac_checkpoint_lead(struct tac_ctx *ctx, const char *dir, const char *file, char *name, size_t size)
{
    int64_t *list = NULL;
    size_t count = 0;
    char real[64], link[256] = "";
    const char *slash = strrchr(file, '/');
    const int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(name, size, "%s", slash != NULL ? slash + 1 : file);
    if (folder < 0 || tac_checkpoint_list(ctx, dir, &list, &count) != TAC_OK)
        goto done; /* the next write there will report why */
    if (count > 0 && tac_checkpoint_number(name) < list[count - 1]) {
        snprintf(real, sizeof real, "checkpoint-%06" PRId64 ".h5", list[count - 1] + 1);
        /* Without it a run that is killed before its first checkpoint goes on from the later one, whose frames are
         * gone: that would be found, and refused. */
        if (linkat(AT_FDCWD, file, folder, real, 0) == 0)
            snprintf(name, size, "%s", real);
    }
    unlinkat(folder, TEMPORARY, 0);
    if (readlinkat(folder, "checkpoint.h5", link, sizeof link - 1) < 0 || strcmp(link, name) != 0)
        point_to(ctx, dir, folder, name);
    fsync(folder);
done:
    if (folder >= 0)
        close(folder);
    free(list);
}

/* Rank 0: writes the head, flushes to the disk, renames the file, sets the link, and removes old checkpoints. */
static enum tac_err publish_file(struct tac_ctx *ctx, struct tac_checkpoint_writer *w, const char *dir, int keep,
                                 uint32_t crc, int64_t length, char *name, size_t size)
{
    enum tac_err err = TAC_OK;
    int64_t *list = NULL;
    size_t count = 0;
    unsigned char block[TAC_CHECKPOINT_BLOCK];
    tac_checkpoint_head_pack(length, crc, block);
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || pwrite(w->file.space_fd, block, sizeof block, 0) != (ssize_t)sizeof block ||
        fsync(w->file.space_fd) != 0) {
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot write %s: %s; free some space or write elsewhere with -o",
                       w->file.path, strerror(errno));
        goto done;
    }
    TAC_TRY(tac_checkpoint_list(ctx, dir, &list, &count));
    snprintf(name, size, "checkpoint-%06" PRId64 ".h5", count > 0 ? list[count - 1] + 1 : 1);
    if (renameat(folder, TEMPORARY, folder, name) != 0 || fsync(folder) != 0) {
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot name %s/%s: %s", dir, name, strerror(errno));
        goto done;
    }
    point_to(ctx, dir, folder, name);
    remove_old(dir, folder, keep, list, count);
    fsync(folder);
done:
    if (folder >= 0)
        close(folder);
    free(list);
    return err;
}

/* Collective. The file is closed: its CRC, and its name. */
static enum tac_err finish_file(struct tac_ctx *ctx, struct tac_checkpoint_writer *w, const char *dir, int keep,
                                char *name, size_t size)
{
    enum tac_err err = TAC_OK;
    struct stat file;
    uint32_t crc = 0;
    int64_t length = 0;
    if (ctx->rank == 0) {
        /* What was reserved and not used must not count as length. */
        tac_space_release(w->file.space_fd);
        if (fstat(w->file.space_fd, &file) != 0 || file.st_size <= TAC_CHECKPOINT_BLOCK)
            err = tac_fail(ctx, TAC_ERR_RUN, "cannot look at %s: %s", w->file.path, strerror(errno));
        else
            length = file.st_size - TAC_CHECKPOINT_BLOCK;
    }
    TAC_TRY(tac_agree(ctx, err));
    MPI_Bcast(&length, 1, MPI_INT64_T, 0, ctx->comm);
    if (tac_checkpoint_crc_all(ctx, w->file.path, length, &crc) != TAC_OK)
        return TAC_ERR_RUN; /* agreed upon there */
    if (ctx->rank == 0)
        err = publish_file(ctx, w, dir, keep, crc, length, name, size);
    TAC_TRY(tac_agree(ctx, err));
    MPI_Bcast(name, (int)size, MPI_CHAR, 0, ctx->comm);
done:
    return err;
}

static void put_away(struct tac_ctx *ctx, struct tac_checkpoint_writer **w, enum tac_err err)
{
    struct tac_frames *file = &(*w)->file;
    if (err) {
        file->broken = true; /* the file is not whole, so no rank needs to wait for it */
        if (file->file >= 0)
            close_file(ctx, *w);
        if (file->space_fd >= 0)
            unlink(file->path);
    }
    if (!file->stuck)
        tac_disk_release(&file->disk);
    if (file->space_fd >= 0)
        close(file->space_fd);
    free((*w)->scene);
    free(file->path);
    if (!file->stuck) /* else the driver notes its failures there until the process ends */
        free(*w);
    *w = NULL;
}

enum tac_err tac_checkpoint_write(struct tac_ctx *ctx, const struct tac_scene *scene, const char *dir, int keep,
                                  const struct tac_checkpoint *c, char *name, size_t size)
{
    enum tac_err err;
    struct tac_checkpoint_writer *w = NULL;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    err = tac_alloc(ctx, 1, sizeof *w, &w);
    if (w != NULL) /* before the ranks agree: a rank that has a file closes it, even if another has none */
        w->file = (struct tac_frames){.file = -1, .frames = -1, .space_fd = -1, .disk = -1};
    TAC_TRY(tac_agree(ctx, err));
    TAC_TRY(create_file(ctx, w, scene, dir, c));
    TAC_TRY(write_common(ctx, w, c));
    TAC_TRY(write_folder(ctx, w, c));
    TAC_TRY(tac_checkpoint_write_rows(ctx, w, c));
    TAC_TRY(close_file(ctx, w));
    TAC_TRY(finish_file(ctx, w, dir, keep, name, size));
done:
    if (w != NULL)
        put_away(ctx, &w, err);
    tac_h5_restore(&quiet);
    return err;
}
