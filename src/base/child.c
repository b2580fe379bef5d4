/* child.c: runs a reader in a child process first, so that a file that crashes a library does not crash this program.
 */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The result of the child, in memory that both processes share. */
struct reported {
    bool done;
    enum tac_err err;
    int64_t result;
    char error[sizeof((struct tac_ctx *)0)->error];
};

/* The address space that this process has now, bytes; 0: not known. */
static int64_t space_now(void)
{
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%lld", &pages) != 1)
        pages = 0;
    fclose(file);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* deflate, the only filter that makes data smaller, makes at most 1032 bytes of one.  What asks for more memory than
 * the file can unpack to is damaged, and would take the machine's memory from others. */
static void limit_memory(int64_t bytes)
{
    enum { UNPACKED = 1032, LEAST = 1 << 30 };
    const int64_t now = space_now(), most = INT64_MAX / 4;
    struct rlimit space;
    if (now <= 0 || getrlimit(RLIMIT_AS, &space) != 0)
        return;
    const rlim_t wanted =
        (rlim_t)(now < most ? now : most) + LEAST + (rlim_t)(bytes < most / UNPACKED ? UNPACKED * bytes : most);
    if (space.rlim_cur == RLIM_INFINITY || wanted < space.rlim_cur)
        space.rlim_cur = wanted;
    setrlimit(RLIMIT_AS, &space);
}

static void child_begin(int64_t bytes)
{
    /* MPI and sanitizers catch these to print where they were; here they just end the child. */
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGALRM, SIGXCPU};
    enum { LEAST_S = 60, LEAST_CPU_S = 5, BYTES_PER_S = 10000000, MOST_S = 86400 };
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        signal(fatal[i], SIG_DFL);
    int64_t more = bytes / BYTES_PER_S;
    if (more > MOST_S)
        more = MOST_S;
    alarm(LEAST_S + (unsigned)more);
    /* A slow disk takes wall time, but a reader that follows pointers in a circle takes processor time. */
    const struct rlimit cpu = {LEAST_CPU_S + (rlim_t)more, LEAST_CPU_S + (rlim_t)more};
    setrlimit(RLIMIT_CPU, &cpu);
    limit_memory(bytes);
    /* The process that waits for it may be killed. Then it is not needed, and it would keep the locks of a run's
     * folder. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

enum tac_err tac_child_try(struct tac_ctx *ctx, const char *name, int64_t bytes,
                           enum tac_err (*work)(struct tac_ctx *ctx, void *data, int64_t *result), void *data,
                           int64_t *result)
{
    enum tac_err err = TAC_OK;
    struct reported *reported = mmap(NULL, sizeof *reported, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reported == MAP_FAILED)
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory while looking into '%.1000s'", name);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        child_begin(bytes);
        reported->err = work(ctx, data, &reported->result);
        memcpy(reported->error, ctx->error, sizeof reported->error);
        reported->done = true;
        _exit(0);
    }
    if (child < 0) {
        err = tac_fail(ctx, TAC_ERR_RUN, "cannot start a process to look into '%.1000s': %s", name, strerror(errno));
        goto done;
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (!reported->done)
        err = tac_fail(ctx, TAC_ERR_INPUT, "'%.1000s' is damaged: the HDF5 library crashes when it reads it", name);
    else if (reported->err)
        err = tac_fail(ctx, reported->err, "%s", reported->error);
    if (result != NULL)
        *result = reported->result;
done:
    munmap(reported, sizeof *reported);
    return err;
}
