/* lock.c: keeps two runs from writing to one folder, with locks of the kernel. Rank 0 locks the folder, and every rank
 * has a shared lock on ranks.lock, so that a restart waits for ranks that outlive their mpirun. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/folder/output.h"

enum tac_err tac_folder_lock(struct tac_ctx *ctx, const struct tac_folder *f)
{
    if (flock(f->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return TAC_OK;
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "a run is still writing to '%s'; stop it first or choose another folder with -o", f->dir);
}

/* Opens ranks.lock, or makes it. The file is never written, so it must be removed only if it is a link. */
static int open_ranks(struct tac_folder *f)
{
    enum { TRIES = 3 };
    int fd = -1;
    for (int i = 0; fd < 0 && i < TRIES; i++) {
        fd = openat(f->fd, TAC_RANKS_LOCK, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno == ELOOP && unlinkat(f->fd, TAC_RANKS_LOCK, 0) != 0)
            return -1;
        if (fd < 0 && (errno == ENOENT || errno == ELOOP))
            fd = openat(f->fd, TAC_RANKS_LOCK, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

/* Does the file still have its name? An earlier holder may have removed it after it was opened here. */
static bool has_name(const struct tac_folder *f, int fd)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && fstatat(f->fd, TAC_RANKS_LOCK, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* After how many seconds of waiting a warning is printed; after six times as many the run is refused. */
static double tell_after_s(const struct tac_ctx *ctx)
{
    enum { USUAL_S = 10 };
    return ctx->hooks.lock_s > 0 ? ctx->hooks.lock_s : USUAL_S;
}

/* Waits until no other process has the lock. Returns 0, EWOULDBLOCK (others still have it), or the errno that says why
 * there are no locks. */
static int wait_for_ranks(struct tac_ctx *ctx, const struct tac_folder *f, int fd)
{
    enum { EVERY_US = 50000, REFUSED = 6 };
    const double begin_s = tac_wall_s(), tell_s = tell_after_s(ctx);
    bool reported = false;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        const double waited_s = tac_wall_s() - begin_s;
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK || waited_s > REFUSED * tell_s)
            return errno;
        if (!reported && waited_s > tell_s)
            tac_warn(ctx, "waiting for ranks of an earlier run that hold '%s/%s' (see them with 'fuser -v %s/%s')",
                     f->dir, TAC_RANKS_LOCK, f->dir, TAC_RANKS_LOCK);
        reported = reported || waited_s > tell_s;
        usleep(EVERY_US);
    }
    return 0;
}

enum tac_err tac_folder_lock_ranks(struct tac_ctx *ctx, struct tac_folder *f, bool old)
{
    int why = 0;
    for (;;) {
        f->ranks = open_ranks(f);
        if (f->ranks < 0)
            return tac_fail(ctx, TAC_ERR_INPUT, "cannot write to the folder '%s': %s; choose another with -o", f->dir,
                            strerror(errno));
        why = wait_for_ranks(ctx, f, f->ranks);
        if (why != 0 || has_name(f, f->ranks))
            break;
        tac_lock_release(&f->ranks);
    }
    if (why == EWOULDBLOCK) {
        close(f->ranks);
        f->ranks = -1;
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "ranks of an earlier run are still alive in '%s' (they hold its %s; 'fuser -v %s/%s' lists "
                        "them); end them, or choose another folder with -o",
                        f->dir, TAC_RANKS_LOCK, f->dir, TAC_RANKS_LOCK);
    }
    if (why != 0 && old)
        tac_warn(ctx,
                 "'%s' lies on a file system without locks (%s), so only status.json shows whether an earlier run is "
                 "alive; make sure that none of its ranks is left",
                 f->dir, strerror(why));
    flock(f->ranks, LOCK_SH | LOCK_NB); /* the lock on the folder keeps others away meanwhile */
    return TAC_OK;
}

/* Can this rank, on another machine, get the exclusive lock while rank 0 has a shared one? Then locks do not work
 * between the machines. */
static bool has_alone(int fd, const char *first)
{
    char here[256];
    tac_process_machine(here, sizeof here);
    return strcmp(here, first) != 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Takes the shared lock; returns 0 or the errno. It may have to wait, because another rank of this machine may be
 * trying the exclusive lock. */
static int share_lock(int fd)
{
    enum { TRIES = 100, EVERY_US = 10000 };
    for (int i = 0; i < TRIES; i++) {
        if (flock(fd, LOCK_SH | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return errno;
        usleep(EVERY_US);
    }
    return EWOULDBLOCK;
}

void tac_folder_share_ranks(struct tac_ctx *ctx, const char *dir, struct tac_folder *f)
{
    char path[4200], first[256] = "";
    int reported[2] = {0, 0}; /* some lock does not reach another machine; errno of a rank that has no lock */
    if (ctx->size == 1)
        return;
    tac_process_machine(first, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, ctx->comm);
    if (ctx->rank > 0) {
        snprintf(path, sizeof path, "%.4096s/%s", dir, TAC_RANKS_LOCK);
        f->ranks = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        reported[1] = f->ranks < 0 ? errno : 0;
        reported[0] = f->ranks >= 0 && has_alone(f->ranks, first);
    }
    MPI_Allreduce(MPI_IN_PLACE, reported, 2, MPI_INT, MPI_MAX, ctx->comm);
    if (ctx->rank > 0 && f->ranks >= 0)
        reported[1] = share_lock(f->ranks);
    MPI_Allreduce(MPI_IN_PLACE, &reported[1], 1, MPI_INT, MPI_MAX, ctx->comm);
    if (reported[0])
        tac_warn(ctx,
                 "locks in '%s' do not reach from one machine to the other, so a restart cannot see ranks of this run "
                 "that are left: status.json alone decides (a Lustre file system is mounted with 'flock' for that)",
                 dir);
    else if (reported[1] != 0)
        tac_warn(ctx,
                 "not every rank can hold '%s/%s' (%s), so a restart cannot see ranks of this run that are left: "
                 "status.json alone decides",
                 dir, TAC_RANKS_LOCK, strerror(reported[1]));
}

void tac_lock_release(int *fd)
{
    /* Closing alone would leave the lock with a child process that was forked meanwhile. */
    if (*fd >= 0) {
        flock(*fd, LOCK_UN);
        close(*fd);
    }
    *fd = -1;
}
