/* base.c: has the functions of the context: errors and warnings in one sentence, agreement of all ranks on an error
 * code, memory, and the wall clock. */
#include "base/hooks.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void tac_ctx_init(struct tac_ctx *ctx, MPI_Comm comm)
{
    memset(ctx, 0, sizeof *ctx);
    ctx->comm = comm;
    MPI_Comm_rank(comm, &ctx->rank);
    MPI_Comm_size(comm, &ctx->size);
    tac_hooks_read(&ctx->hooks);
}

char *tac_tame(char *text)
{
    /* Those of ISO 6429's second set have two bytes in UTF-8. */
    for (unsigned char *c = (unsigned char *)text; *c != '\0'; c++)
        if (*c < 32 || *c == 127)
            *c = '?';
        else if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
            c[0] = c[1] = '?';
    return text;
}

enum tac_err tac_fail(struct tac_ctx *ctx, enum tac_err err, const char *format, ...)
{
    if (ctx->error[0] == '\0') {
        va_list args;
        va_start(args, format);
        vsnprintf(ctx->error, sizeof ctx->error, format, args);
        va_end(args);
        tac_tame(ctx->error);
    }
    return err;
}

/* aloud: it is printed. */
static void warn(struct tac_ctx *ctx, bool aloud, const char *format, va_list args)
{
    ctx->warnings++;
    if ((!aloud && ctx->warned == NULL) || ctx->rank != 0)
        return;
    char sentence[sizeof ctx->error];
    vsnprintf(sentence, sizeof sentence, format, args);
    tac_tame(sentence);
    if (ctx->warned != NULL)
        ctx->warned(ctx->warned_user, sentence);
    if (aloud)
        fprintf(stderr, "tactus: warning: %s\n", sentence);
}

void tac_warn(struct tac_ctx *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    warn(ctx, !ctx->quiet, format, args);
    va_end(args);
}

void tac_warn_loss(struct tac_ctx *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    warn(ctx, !ctx->quiet || ctx->warned == NULL, format, args);
    va_end(args);
}

_Noreturn void tac_give_up(const struct tac_ctx *ctx)
{
    /* Several ranks may wait in vain for one that took another branch, with the same sentence.  They give up one after
     * the other, so that the first of them ends the others before they speak. */
    enum { LATER_NS = 300000000, MOST_LATER = 30 };
    const struct timespec later = {.tv_nsec = LATER_NS};
    for (int i = 0; i < ctx->rank && i < MOST_LATER; i++)
        nanosleep(&later, NULL);
    fprintf(stderr, "tactus: %s\n", ctx->error[0] != '\0' ? ctx->error : "the ranks cannot come together any more");
    fflush(stderr);
    MPI_Abort(ctx->comm, TAC_ERR_RUN);
    _Exit(TAC_ERR_RUN);
}

enum { USUAL_S = 60 };

/* How long a rank with an error waits for the others, s. */
static double patience_s(const struct tac_ctx *ctx)
{
    return ctx->hooks.patience_s > 0 ? ctx->hooks.patience_s : USUAL_S;
}

static void wait_with_patience(const struct tac_ctx *ctx, MPI_Request *request, double most_s)
{
    const struct timespec pause = {.tv_nsec = 200000};
    const double until_s = tac_wall_s() + most_s;
    for (int done = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE), !done; nanosleep(&pause, NULL))
        if (tac_wall_s() > until_s)
            tac_give_up(ctx);
}

void tac_meet(struct tac_ctx *ctx)
{
    /* A test's patience is short, and a busy machine starts the ranks some seconds apart. The first rank that gives up
     * ends the others before they speak. */
    enum { TIMES = 4, LATEST_S = 30 };
    const double most_s = ctx->hooks.patience_s > 0 ? TIMES * ctx->hooks.patience_s : USUAL_S;
    MPI_Request request;
    if (ctx->size == 1)
        return;
    tac_fail(ctx, TAC_ERR_RUN,
             "rank %d has heard nothing of other ranks since MPI started; does its machine have memory left, and does "
             "the network between the machines work?",
             ctx->rank);
    MPI_Ibarrier(ctx->comm, &request);
    wait_with_patience(ctx, &request, most_s + (ctx->rank < LATEST_S ? ctx->rank : LATEST_S));
    ctx->error[0] = '\0';
}

enum tac_err tac_agree(struct tac_ctx *ctx, enum tac_err err)
{
    if (ctx->size == 1)
        return err;
    struct {
        int value, rank;
    } mine = {0, ctx->rank}, worst;
    if (err) /* of those with the worst error, one that can say why */
        mine.value = 2 * (int)err + (ctx->error[0] != '\0');
    MPI_Request request;
    MPI_Iallreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, ctx->comm, &request);
    if (err)
        wait_with_patience(ctx, &request, patience_s(ctx));
    else
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (worst.value != TAC_OK) {
        char text[sizeof ctx->error];
        memcpy(text, ctx->error, sizeof text);
        MPI_Bcast(text, (int)sizeof text, MPI_CHAR, worst.rank, ctx->comm);
        memcpy(ctx->error, text, sizeof text);
    }
    return (enum tac_err)(worst.value / 2);
}

enum tac_err tac_agree_step(struct tac_ctx *ctx, enum tac_err err)
{
    const enum tac_err worst = tac_agree(ctx, err);
    int failed = err != TAC_OK, all = failed;
    if (worst == TAC_OK || ctx->size == 1)
        return worst;
    MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_MIN, ctx->comm);
    ctx->torn = ctx->torn || !all;
    return worst;
}

void tac_abort(const char *file, int line, const char *condition)
{
    fprintf(stderr, "tactus: internal error at %s:%d: %s does not hold; please report it with the scene\n", file, line,
            condition);
    fflush(stderr);
    abort();
}

static enum tac_err no_room(struct tac_ctx *ctx, size_t count, size_t size)
{
    return tac_fail(ctx, TAC_ERR_RUN,
                    "out of memory: %zu bytes were requested; use a smaller scene or a machine with more memory",
                    count * size);
}

/* SIZE_MAX: more than there can be. */
static size_t bytes_of(size_t count, size_t size)
{
    return size == 0 || count <= SIZE_MAX / 2 / size ? count * size : SIZE_MAX;
}

enum tac_err tac_alloc(struct tac_ctx *ctx, size_t count, size_t size, void *out)
{
    /* Large arrays start on a cache line: no 32-byte record straddles two. */
    const size_t bytes = bytes_of(count, size);
    if (bytes < 4096)
        return tac_alloc_brief(ctx, count, size, out);
    void *memory = bytes < SIZE_MAX ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
    if (memory == NULL)
        return no_room(ctx, count, size);
    memset(memory, 0, bytes);
    memcpy(out, &memory, sizeof memory);
    return TAC_OK;
}

enum tac_err tac_alloc_brief(struct tac_ctx *ctx, size_t count, size_t size, void *out)
{
    const size_t bytes = bytes_of(count, size);
    void *memory = bytes < SIZE_MAX ? calloc(bytes ? bytes : 1, 1) : NULL;
    if (memory == NULL)
        return no_room(ctx, count, size);
    memcpy(out, &memory, sizeof memory);
    return TAC_OK;
}

/* To what an array that is too small for `need` elements is to grow. */
static size_t grown(size_t capacity, size_t need)
{
    const size_t more = capacity < 8 ? 16 : capacity * 2;
    return more < need ? need : more;
}

enum tac_err tac_grow(struct tac_ctx *ctx, void *array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return TAC_OK;
    const size_t more = grown(*capacity, need);
    void *old, *memory;
    memcpy(&old, array, sizeof old);
    memory = realloc(old, more * size);
    if (memory == NULL)
        return no_room(ctx, more, size);
    memcpy(array, &memory, sizeof memory);
    *capacity = more;
    return TAC_OK;
}

enum tac_err tac_grow_lines(struct tac_ctx *ctx, void *array, size_t *capacity, size_t count, size_t need, size_t size)
{
    if (need <= *capacity)
        return TAC_OK;
    const size_t more = grown(*capacity, need), bytes = bytes_of(more, size);
    void *old, *memory = bytes < SIZE_MAX ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
    if (memory == NULL)
        return no_room(ctx, more, size);
    memcpy(&old, array, sizeof old);
    if (old != NULL)
        memcpy(memory, old, count * size);
    free(old);
    memcpy(array, &memory, sizeof memory);
    *capacity = more;
    return TAC_OK;
}

static size_t edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 64 };
    size_t row[LONGEST + 1], na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            if (above + 1 < best)
                best = above + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[nb];
}

const char *tac_nearest(const char *word, const char *const *known, size_t count)
{
    const char *best = NULL;
    size_t best_distance = strlen(word) / 2 + 2;
    for (size_t i = 0; i < count; i++) {
        size_t d = edit_distance(word, known[i]);
        if (d < best_distance) {
            best_distance = d;
            best = known[i];
        }
    }
    return best;
}

double tac_wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *tac_version(void)
{
    return TAC_VERSION;
}

const char *tac_commit(void)
{
#ifdef TACTUS_COMMIT
    return TACTUS_COMMIT;
#else
    return "unknown";
#endif
}
