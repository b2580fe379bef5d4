/* pack.c: copies the frames of a run to one new file, without the holes that removed frames leave, and writes its index
 * for ParaView.
 *
 * Each frame is compared with its checksums and copied as it is in the file, so it keeps its bits. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/create.h"
#include "inspect/export_room.h"
#include "io/frames/frames.h"
#include "io/h5/disk.h"

/* A file that is written under another name first. */
struct packing {
    const char *path;
    char *temporary; /* owned */
    hid_t file, frames;
    hid_t disk;
    int disk_error;
};

static enum tac_err fail_write(struct tac_ctx *ctx, const struct packing *p, int why)
{
    return tac_fail(ctx, TAC_ERR_RUN, "cannot write '%s': %s; free some space or write elsewhere with -o", p->path,
                    why != 0 ? strerror(why) : "the HDF5 library gives no reason");
}

static enum tac_err begin_packing(struct tac_ctx *ctx, const struct tac_reader *r, struct packing *p)
{
    enum tac_err err;
    const size_t size = strlen(p->path) + sizeof ".tmp";
    hid_t access = -1;
    TAC_TRY(tac_alloc(ctx, size, 1, &p->temporary));
    snprintf(p->temporary, size, "%s.tmp", p->path);
    const int made = tac_create_new(AT_FDCWD, p->temporary, O_WRONLY);
    if (made < 0)
        TAC_TRY(fail_write(ctx, p, errno));
    close(made);
    access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        tac_disk_use(access, &p->disk_error, &p->disk))
        p->file = H5Fcreate(p->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (p->file < 0 || !tac_h5_put_text(p->file, "format", TAC_FRAMES_FORMAT) ||
        !tac_h5_put_text(p->file, "version", r->version) || !tac_h5_put_text(p->file, "commit", r->commit) ||
        !tac_h5_put_text(p->file, "name", r->name) || !tac_h5_put_text(p->file, "scene_sha256", r->sha256) ||
        H5Ocopy((hid_t)r->file, "mesh", p->file, "mesh", H5P_DEFAULT, H5P_DEFAULT) < 0)
        TAC_TRY(fail_write(ctx, p, p->disk_error));
    p->frames = H5Gcreate2(p->file, "frames", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (p->frames < 0)
        err = fail_write(ctx, p, p->disk_error);
done:
    if (access >= 0)
        H5Pclose(access);
    return err;
}

/* The file gets its name when all of it is on the disk. */
static enum tac_err finish_packing(struct tac_ctx *ctx, struct packing *p)
{
    const bool closed = H5Gclose(p->frames) >= 0 && H5Fclose(p->file) >= 0;
    p->file = p->frames = -1;
    if (!closed || p->disk_error != 0)
        return fail_write(ctx, p, p->disk_error);
    const int fd = open(p->temporary, O_RDONLY | O_CLOEXEC);
    const bool synced = fd >= 0 && fsync(fd) == 0;
    const int why = errno;
    if (fd >= 0)
        close(fd);
    if (!synced)
        return fail_write(ctx, p, why);
    return rename(p->temporary, p->path) == 0 ? TAC_OK : fail_write(ctx, p, errno);
}

static enum tac_err copy_frames(struct tac_ctx *ctx, const struct tac_reader *r, struct packing *p,
                                struct tac_packed *packed)
{
    enum tac_err err = TAC_OK;
    struct tac_ctx alone;
    struct tac_ranges lost = {.count = 0};
    for (int64_t k = 0; k < r->frame_count; k++) {
        alone = *ctx; /* an error of one frame is no error of the function yet */
        alone.quiet = true;
        if (!tac_frames_frame_sound(&alone, r->file, r->path, r->frame[k].index)) {
            tac_ranges_add(&lost, r->frame[k].index);
            continue;
        }
        char from[64];
        snprintf(from, sizeof from, "/frames/%s", r->frame[k].name);
        if (H5Ocopy((hid_t)r->file, from, p->frames, r->frame[k].name, H5P_DEFAULT, H5P_DEFAULT) < 0 ||
            p->disk_error != 0)
            TAC_TRY(fail_write(ctx, p, p->disk_error));
        packed->frames++;
    }
    packed->lost = lost.count;
    snprintf(packed->lost_frames, sizeof packed->lost_frames, "%s", tac_ranges_text(&lost));
done:
    return err;
}

enum tac_err tac_frames_pack(struct tac_ctx *ctx, const struct tac_reader *r, const char *path,
                             struct tac_packed *packed)
{
    enum tac_err err;
    struct packing p = {path, NULL, -1, -1, -1, 0};
    struct stat s;
    struct tac_h5_quiet quiet;
    tac_h5_quiet(&quiet);
    *packed = (struct tac_packed){.frames = 0};
    TAC_TRY(begin_packing(ctx, r, &p));
    TAC_TRY(copy_frames(ctx, r, &p, packed));
    TAC_TRY(finish_packing(ctx, &p));
    packed->bytes = stat(path, &s) == 0 ? (int64_t)s.st_size : 0;
    packed->bytes_before = stat(r->path, &s) == 0 ? (int64_t)s.st_size : 0;
done:
    if (p.file >= 0)
        H5Fclose(p.file);
    tac_disk_release(&p.disk);
    if (err && p.temporary != NULL)
        unlink(p.temporary);
    free(p.temporary);
    tac_h5_restore(&quiet);
    return err;
}

/* ---- the index ---- */

static char *read_text(const char *path, size_t *length)
{
    FILE *file = fopen(path, "re");
    struct stat s;
    char *text = NULL;
    if (file != NULL && fstat(fileno(file), &s) == 0 && S_ISREG(s.st_mode) &&
        (text = malloc((size_t)s.st_size + 1)) != NULL) {
        *length = fread(text, 1, (size_t)s.st_size, file);
        text[*length] = '\0';
    }
    if (file != NULL)
        fclose(file);
    return text;
}

/* A frames.xdmf, and the name that its file has there. */
struct index {
    const char *text, *name;
};

static void write_index(FILE *f, const void *data)
{
    static const char before[] = ">frames.h5:";
    const struct index *index = data;
    const char *at = index->text;
    for (const char *next; (next = strstr(at, before)) != NULL; at = next + sizeof before - 1)
        fprintf(f, "%.*s>%s:", (int)(next - at), at, index->name);
    fputs(at, f);
}

enum tac_err tac_frames_pack_index(struct tac_ctx *ctx, const struct tac_reader *r, const char *path, const char *index,
                                   bool *made)
{
    enum tac_err err = TAC_OK;
    const char *slash = strrchr(path, '/'), *of = strrchr(r->path, '/');
    const size_t size = strlen(r->path) + sizeof "frames.xdmf";
    char *from = NULL, *text = NULL;
    size_t length = 0;
    TAC_TRY(tac_alloc(ctx, size, 1, &from));
    snprintf(from, size, "%.*sframes.xdmf", of != NULL ? (int)(of + 1 - r->path) : 0, r->path);
    text = read_text(from, &length);
    *made = text != NULL; /* a file that was copied alone has none */
    if (text != NULL)
        err = tac_export_file(ctx, index, write_index, &(struct index){text, slash != NULL ? slash + 1 : path});
done:
    free(from);
    free(text);
    return err;
}
