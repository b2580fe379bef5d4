/* mark.c: reads status.json, the mark of a run folder, and refuses a new run in a folder that has one. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_read.h"
#include "io/folder/output.h"

enum tac_err tac_folder_mark(struct tac_ctx *ctx, int folder, json_t **mark)
{
    enum tac_err err = TAC_OK;
    json_error_t error;
    struct stat s;
    *mark = NULL;
    const int fd = openat(folder, "status.json", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return TAC_OK;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode)) {
        *mark = tac_json_read_fd(fd, 0, &error);
        if (*mark == NULL && tac_json_no_memory(&error))
            err =
                tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading a run's status.json; use a machine with more");
    }
    close(fd);
    const char *format = json_string_value(json_object_get(*mark, "format"));
    if (format == NULL || strncmp(format, "tactus-status/", strlen("tactus-status/")) != 0) {
        json_decref(*mark);
        *mark = NULL;
    }
    return err;
}

enum tac_err tac_folder_refuse_run(struct tac_ctx *ctx, const char *dir, const json_t *mark)
{
    if (mark == NULL)
        return TAC_OK;
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "'%s' already holds a run; give --overwrite to replace it, or choose another folder with -o", dir);
}

enum tac_err tac_folder_taken(struct tac_ctx *ctx, const char *dir)
{
    enum tac_err err = TAC_OK;
    json_t *mark = NULL;
    const int fd = ctx->rank == 0 ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        err = tac_folder_mark(ctx, fd, &mark);
        if (err == TAC_OK)
            err = tac_folder_refuse_run(ctx, dir, mark);
        json_decref(mark);
        close(fd);
    }
    return tac_agree(ctx, err);
}
