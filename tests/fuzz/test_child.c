/* A child process that crashes, aborts or never ends is a refusal of the file, whatever HDF5 makes of the files of the
 * corpus; what it says and finds arrives.  If this failed, a damaged file could take the program down. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"

static enum tac_err crash(struct tac_ctx *ctx, void *data, int64_t *result)
{
    raise(SIGSEGV);
    return TAC_OK;
}

static enum tac_err give_up(struct tac_ctx *ctx, void *data, int64_t *result)
{
    abort();
}

static enum tac_err leave(struct tac_ctx *ctx, void *data, int64_t *result)
{
    _Exit(0);
}

static enum tac_err circle(struct tac_ctx *ctx, void *data, int64_t *result)
{
    for (volatile int i = 0;; i = !i)
        ;
    return TAC_OK;
}

static enum tac_err refuse(struct tac_ctx *ctx, void *data, int64_t *result)
{
    return tac_fail(ctx, TAC_ERR_INPUT, "line %d is wrong", *(int *)data);
}

static enum tac_err count(struct tac_ctx *ctx, void *data, int64_t *result)
{
    *result = *(int *)data;
    *(int *)data = 0; /* the child's own */
    return TAC_OK;
}

static void try_dying(enum tac_err (*work)(struct tac_ctx *ctx, void *data, int64_t *result), const char *what)
{
    struct tac_ctx ctx = {.comm = MPI_COMM_SELF, .size = 1};
    const enum tac_err err = tac_child_try(&ctx, "some file", 0, work, NULL, NULL);
    CHECK(err == TAC_ERR_INPUT && strstr(ctx.error, "'some file' is damaged") != NULL, "%s: %d, '%s'", what, (int)err,
          ctx.error);
}

int main(void)
{
    struct tac_ctx ctx = {.comm = MPI_COMM_SELF, .size = 1};
    int number = 7;
    int64_t result = 0;
    try_dying(crash, "crash");
    try_dying(give_up, "abort");
    try_dying(leave, "exit");
    try_dying(circle, "endless");
    CHECK(tac_child_try(&ctx, "f", 0, count, &number, &result) == TAC_OK && result == 7 && number == 7, "%d",
          (int)result);
    CHECK(tac_child_try(&ctx, "f", 0, refuse, &number, NULL) == TAC_ERR_INPUT &&
              strcmp(ctx.error, "line 7 is wrong") == 0,
          "'%s'", ctx.error);
    return check_result();
}
