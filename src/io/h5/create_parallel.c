/* create_parallel.c: opens a new file with parallel HDF5 (create_parallel.h). */
#include "io/h5/create_parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* While a rank is in MPI_File_open(), a timer looks whether the file still has its name. */
#define TAC_LOOK_US 250000 /* between two looks */
#define TAC_LOOKS 12       /* in a row that must find no file, on rank 0 */
#define TAC_LOOKS_LATER                                                                                                \
    12 /* more on each further rank, for the first rank that ends also ends those that still wait, */
#define TAC_LOOKS_LATEST 240 /* but at most these */

/* A signal comes to a process, and a process opens one file at a time. */
static struct {
    const char *path;
    char sentence[4400];
    size_t length;
    int missed, most;
} watch;

static void look(int number)
{
    const int saved = errno;
    struct stat file;
    (void)number;
    watch.missed = stat(watch.path, &file) != 0 ? watch.missed + 1 : 0;
    if (watch.missed > watch.most) {
        const ssize_t ignored = write(STDERR_FILENO, watch.sentence, watch.length);
        (void)ignored; /* the process ends in any case */
        _exit(TAC_ERR_RUN);
    }
    errno = saved;
}

static void begin_watch(const struct tac_ctx *ctx, const char *path, struct sigaction *before)
{
    const struct itimerval every = {{0, TAC_LOOK_US}, {0, TAC_LOOK_US}};
    struct sigaction action;
    const int length = snprintf(watch.sentence, sizeof watch.sentence,
                                "tactus: %s was removed while the ranks were opening it\n", path);
    watch.path = path;
    watch.length = length < (int)sizeof watch.sentence ? (size_t)length : sizeof watch.sentence - 1;
    watch.missed = 0;
    const int later = ctx->rank < TAC_LOOKS_LATEST / TAC_LOOKS_LATER ? TAC_LOOKS_LATER * ctx->rank : TAC_LOOKS_LATEST;
    watch.most = TAC_LOOKS + later;
    memset(&action, 0, sizeof action);
    action.sa_handler = look;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, before);
    setitimer(ITIMER_REAL, &every, NULL);
}

static void end_watch(const struct sigaction *before)
{
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, before, NULL);
}

enum tac_err tac_h5_create_parallel(struct tac_ctx *ctx, const char *path, hid_t creation, hid_t access, hid_t *file)
{
    enum tac_err err = TAC_OK;
    struct sigaction before;
    *file = -1;
    if (ctx->size > 1) {
        const int fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd >= 0)
            close(fd);
        else
            err = tac_fail(ctx, TAC_ERR_RUN, "rank %d cannot open %s: %s; %s", ctx->rank, path, strerror(errno),
                           errno == ENOENT ? "was the folder removed or renamed while the run was writing to it?"
                                           : "is the folder on a file system that all nodes of the run share?");
        TAC_TRY(tac_agree(ctx, err));
        begin_watch(ctx, path, &before);
    }
    *file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
    if (ctx->size > 1)
        end_watch(&before);
done:
    return err;
}
