/* cmd_pack.c: tactus pack DIR -o FILE: writes all frames of a run to one new file; the run folder does not change. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/app.h"
#include <tactus/export.h>
#include <tactus/reader.h>

/* Returns FILE with the extension .xdmf. */
static enum tac_err index_name(struct tac_ctx *ctx, const char *path, char **out)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const bool ends = dot != NULL && (slash == NULL || dot > slash + 1);
    const size_t stem = ends ? (size_t)(dot - path) : strlen(path), size = stem + sizeof ".xdmf";
    const enum tac_err err = tac_alloc(ctx, size, 1, out);
    if (!err)
        snprintf(*out, size, "%.*s.xdmf", (int)stem, path);
    return err;
}

/* Checks that the file may be written, before it is. */
static enum tac_err check_target(struct tac_ctx *ctx, const struct tac_reader *r, const char *path, bool overwrite)
{
    struct stat a, b;
    if (lstat(path, &a) != 0)
        return TAC_OK;
    if (stat(path, &a) == 0 && stat(r->path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is the file that is to be packed; choose another name with -o", path);
    if (S_ISDIR(a.st_mode))
        return tac_fail(ctx, TAC_ERR_INPUT, "'%s' is a folder; name a file with -o, such as %s/frames.h5", path, path);
    if (!overwrite)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "'%s' exists; give --overwrite to replace it, or choose another name with -o", path);
    return TAC_OK;
}

static enum tac_err pack_frames(struct tac_ctx *ctx, const struct tac_reader *r, const char *path, bool overwrite)
{
    enum tac_err err;
    struct tac_packed packed;
    char *index = NULL;
    bool made = false;
    const double mib = 1.0 / 1048576.0;
    TAC_TRY(index_name(ctx, path, &index));
    TAC_TRY(check_target(ctx, r, path, overwrite));
    TAC_TRY(check_target(ctx, r, index, overwrite));
    TAC_TRY(tac_frames_pack(ctx, r, path, &packed));
    TAC_TRY(tac_frames_pack_index(ctx, r, path, index, &made));
    printf("%s: %" PRId64 " frames, %.1f MiB (%.1f MiB in %s)%s%s\n", path, packed.frames, (double)packed.bytes * mib,
           (double)packed.bytes_before * mib, r->path, made ? "; for ParaView: " : "", made ? index : "");
    if (packed.lost == 0)
        goto done;
    const bool many = packed.lost > 1;
    tac_warn_loss(ctx,
                  "'%s' is damaged: frame%s %s could not be read and %s not in '%s'; a restart of the run from a "
                  "checkpoint before makes %s again",
                  r->path, many ? "s" : "", packed.lost_frames, many ? "are" : "is", path, many ? "them" : "it");
    err = TAC_ERR_NO;
done:
    free(index);
    return err;
}

enum tac_err tac_cmd_pack(struct tac_ctx *ctx, int argc, char **argv)
{
    enum tac_err err = TAC_OK;
    struct tac_reader *r = NULL;
    const char *run, *path = NULL;
    bool help, overwrite = false;
    int count;
    const struct tac_option option[] = {
        {"-o", TAC_OPTION_STRING, &path, "FILE", "the file to write; its index for ParaView is FILE's name with .xdmf"},
        {"--overwrite", TAC_OPTION_FLAG, &overwrite, NULL, "replace files that are there"},
    };
    const size_t options = sizeof option / sizeof option[0];
    TAC_TRY(tac_options_parse(ctx, "pack", argc, argv, option, options, &run, 1, &count, &help));
    if (help) {
        tac_options_help(
            "pack", "DIR -o FILE [--overwrite]",
            "Copies the mesh and all frames of a run folder (or frames.h5) into one new HDF5 file, without\n"
            "the room that removed frames have left, and compares each frame with its checksums. The run\n"
            "folder stays as it is. Ends with code 1 if a frame is damaged and left out.",
            option, options);
        goto done;
    }
    if (count != 1)
        err = tac_fail(ctx, TAC_ERR_INPUT, "tactus pack needs a run folder: tactus pack DIR -o FILE");
    else if (path == NULL || path[0] == '\0')
        err = tac_fail(ctx, TAC_ERR_INPUT, "tactus pack needs a file to write to: -o FILE");
    if (err)
        goto done;
    TAC_TRY(tac_reader_open(ctx, run, &r));
    err = pack_frames(ctx, r, path, overwrite);
done:
    tac_reader_close(&r);
    return err;
}
