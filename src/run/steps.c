/* steps.c: writes steps.csv. */
#include "run/steps.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 512 };

static enum tac_err fail(struct tac_ctx *ctx, const char *path)
{
    return tac_fail(ctx, TAC_ERR_RUN, "cannot write %s: %s; make room, or write to another folder with -o", path,
                    strerror(errno));
}

/* The rows of `from` up to step `last`, behind the header. */
static void copy(FILE *from, FILE *to, int64_t last)
{
    char row[ROW];
    if (fgets(row, sizeof row, from) == NULL)
        return;
    while (fgets(row, sizeof row, from) != NULL && strchr(row, '\n') != NULL)
        if (strtoll(row, NULL, 10) <= last)
            fputs(row, to);
}

enum tac_err tac_steps_open(struct tac_ctx *ctx, const struct tac_integrator *way, const void *state, const char *dir,
                            FILE **out)
{
    enum tac_err err = TAC_OK;
    char *path = NULL, *whole = NULL;
    const size_t size = strlen(dir) + sizeof "/steps.csv.part";
    FILE *old = NULL;
    *out = NULL;
    if (ctx->rank != 0 || way->step_head == NULL)
        return TAC_OK;
    TAC_TRY(tac_alloc(ctx, size, 1, &path));
    TAC_TRY(tac_alloc(ctx, size, 1, &whole));
    snprintf(path, size, "%s/steps.csv.part", dir);
    snprintf(whole, size, "%s/steps.csv", dir);
    *out = fopen(path, "w");
    if (*out == NULL)
        TAC_TRY(fail(ctx, path));
    fprintf(*out, "%s\n", way->step_head);
    old = fopen(whole, "r");
    if (old != NULL)
        copy(old, *out, way->step_number(state));
    if (fflush(*out) != 0 || ferror(*out) || rename(path, whole) != 0)
        TAC_TRY(fail(ctx, whole));
done:
    if (old != NULL)
        fclose(old);
    free(path);
    free(whole);
    return err;
}

enum tac_err tac_steps_row(struct tac_ctx *ctx, const struct tac_integrator *way, const void *state, FILE *out)
{
    char row[ROW];
    if (out == NULL)
        return TAC_OK;
    way->step_row(state, row, sizeof row);
    return fprintf(out, "%s\n", row) < 0 || fflush(out) != 0 ? fail(ctx, "steps.csv") : TAC_OK;
}

void tac_steps_close(FILE **out)
{
    if (*out != NULL)
        fclose(*out);
    *out = NULL;
}
