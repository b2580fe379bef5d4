/* kill_write.c: a library to be loaded before all others (LD_PRELOAD) that kills the process at a chosen change of a
 * chosen file, whoever makes it: the program or HDF5.
 *
 * Counted are writes, truncations, and new, changed and removed names, of files whose name matches.  Environment:
 *
 *   TACTUS_KILL_FILE=glob   which names (without the folder); not set: nothing is counted
 *   TACTUS_KILL_AT=n        the process is killed (kill -9) at the n-th change, from 1; not set: never
 *   TACTUS_KILL_PART=1      a write is made by half first, else it is not made
 *   TACTUS_KILL_RANK=r      on rank r alone (default 0), by OMPI_COMM_WORLD_RANK
 *   TACTUS_KILL_REPORT=f    each change is told in f.RANK: its file's name
 *
 * inject.c counts the program's own calls alone, of all files together. */
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long count;

static const char *setting(const char *name)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static bool this_rank(void)
{
    const char *mine = setting("OMPI_COMM_WORLD_RANK"), *rank = setting("TACTUS_KILL_RANK");
    return strcmp(mine != NULL ? mine : "0", rank != NULL ? rank : "0") == 0;
}

static void tell(const char *name)
{
    const char *report = setting("TACTUS_KILL_REPORT"), *rank = setting("OMPI_COMM_WORLD_RANK");
    char path[4200], line[300];
    if (report == NULL)
        return;
    snprintf(path, sizeof path, "%.4000s.%.20s", report, rank != NULL ? rank : "0");
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const int length = snprintf(line, sizeof line, "%.255s\n", name);
    if (fd >= 0) {
        if (syscall(SYS_write, fd, line, (size_t)length) != length)
            abort();
        close(fd);
    }
}

/* Is this the change to be killed at? */
static bool strikes(const char *path)
{
    const char *glob = setting("TACTUS_KILL_FILE"), *at = setting("TACTUS_KILL_AT"), *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (glob == NULL || fnmatch(glob, name, 0) != 0)
        return false;
    tell(name);
    return this_rank() && at != NULL && atomic_fetch_add(&count, 1) + 1 == atol(at);
}

static bool strikes_file(int fd)
{
    char link[64], path[4096];
    if (setting("TACTUS_KILL_FILE") == NULL)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return false;
    path[n] = '\0';
    return path[0] == '/' && strikes(path);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static size_t part(size_t size)
{
    return setting("TACTUS_KILL_PART") != NULL ? size / 2 : 0;
}

#define NEXT(name, ...) (((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__))

ssize_t write(int fd, const void *data, size_t size)
{
    if (!strikes_file(fd))
        return NEXT(write, fd, data, size);
    if (part(size) > 0 && NEXT(write, fd, data, part(size)) < 0)
        abort();
    die();
    return -1;
}

#define POSITIONED(name)                                                                                               \
    ssize_t name(int fd, const void *data, size_t size, off_t at)                                                      \
    {                                                                                                                  \
        if (!strikes_file(fd))                                                                                         \
            return NEXT(name, fd, data, size, at);                                                                     \
        if (part(size) > 0 && NEXT(name, fd, data, part(size), at) < 0)                                                \
            abort();                                                                                                   \
        die();                                                                                                         \
        return -1;                                                                                                     \
    }
POSITIONED(pwrite)
POSITIONED(pwrite64)

#define GATHERED(name, arguments, ...)                                                                                 \
    ssize_t name arguments                                                                                             \
    {                                                                                                                  \
        if (strikes_file(fd))                                                                                          \
            die();                                                                                                     \
        return NEXT(name, __VA_ARGS__);                                                                                \
    }
GATHERED(writev, (int fd, const struct iovec *piece, int pieces), fd, piece, pieces)
GATHERED(pwritev, (int fd, const struct iovec *piece, int pieces, off_t at), fd, piece, pieces, at)
GATHERED(pwritev64, (int fd, const struct iovec *piece, int pieces, off_t at), fd, piece, pieces, at)

#define ON_FILE(name, arguments, ...)                                                                                  \
    int name arguments                                                                                                 \
    {                                                                                                                  \
        if (strikes_file(fd))                                                                                          \
            die();                                                                                                     \
        return NEXT(name, __VA_ARGS__);                                                                                \
    }
ON_FILE(ftruncate, (int fd, off_t size), fd, size)
ON_FILE(ftruncate64, (int fd, off_t size), fd, size)
ON_FILE(fsync, (int fd), fd)

#define ON_NAME(name, arguments, which, ...)                                                                           \
    int name arguments                                                                                                 \
    {                                                                                                                  \
        if (setting("TACTUS_KILL_FILE") != NULL && strikes(which))                                                     \
            die();                                                                                                     \
        return NEXT(name, __VA_ARGS__);                                                                                \
    }
ON_NAME(rename, (const char *from, const char *to), to, from, to)
ON_NAME(renameat, (int a, const char *from, int b, const char *to), to, a, from, b, to)
ON_NAME(link, (const char *from, const char *to), to, from, to)
ON_NAME(linkat, (int a, const char *from, int b, const char *to, int flags), to, a, from, b, to, flags)
ON_NAME(symlink, (const char *from, const char *to), to, from, to)
ON_NAME(symlinkat, (const char *from, int a, const char *to), to, from, a, to)
ON_NAME(unlink, (const char *path), path, path)
ON_NAME(unlinkat, (int a, const char *path, int flags), path, a, path, flags)
