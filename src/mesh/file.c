/* file.c: reads a whole mesh file into memory, and refuses files that are not regular. */
#include "mesh/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum tac_err cannot(struct tac_ctx *ctx, const char *path, const char *from, const char *why)
{
    return tac_fail(ctx, TAC_ERR_INPUT, "%s%scannot read the mesh file '%s': %s", from ? from : "", from ? ": " : "",
                    path, why);
}

enum tac_err tac_file_check(struct tac_ctx *ctx, const char *path, const char *from)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return cannot(ctx, path, from, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return cannot(ctx, path, from, "it is a folder");
    if (!S_ISREG(info.st_mode))
        return cannot(ctx, path, from, "it is not a regular file");
    if (info.st_size == 0)
        return cannot(ctx, path, from, "it is empty");
    return TAC_OK;
}

enum tac_err tac_file_load(struct tac_ctx *ctx, const char *path, const char *from, struct tac_file *out)
{
    enum tac_err err = TAC_OK;
    struct tac_file file = {.ctx = ctx, .path = path};
    FILE *stream = NULL;
    struct stat info;
    TAC_TRY(tac_file_check(ctx, path, from));
    stream = fopen(path, "rb");
    if (stream == NULL || fstat(fileno(stream), &info) != 0) {
        err = cannot(ctx, path, from, strerror(errno));
        goto done;
    }
    file.size = (size_t)info.st_size;
    TAC_TRY(tac_alloc(ctx, file.size + 1, 1, &file.data));
    if (fread(file.data, 1, file.size, stream) != file.size) {
        err = cannot(ctx, path, from, ferror(stream) ? strerror(errno) : "it became shorter while it was read");
        goto done;
    }
    *out = file;
    file.data = NULL;
done:
    if (stream != NULL)
        fclose(stream);
    free(file.data);
    return err;
}

void tac_file_free(struct tac_file *file)
{
    free(file->data);
    file->data = NULL;
}
