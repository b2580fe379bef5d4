#include "io/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int child_main(int64_t bytes, int (*work)(void *data), void *data)
{
    /* MPI and sanitizers catch these to print where they were; here they just end the child. */
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGALRM};
    enum { LEAST_S = 60, BYTES_PER_S = 10000000, MOST_S = 86400 };
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        signal(fatal[i], SIG_DFL);
    int64_t more = bytes / BYTES_PER_S;
    alarm(LEAST_S + (unsigned)(more < MOST_S ? more : MOST_S));
    return work(data);
}

enum tac_err tac_child_try(struct tac_ctx *ctx, int64_t bytes, int (*work)(void *data), void *data, int *result)
{
    int status = 0;
    *result = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return tac_fail(ctx, TAC_ERR_RUN, "cannot start a process to look into a file: %s", strerror(errno));
    if (child == 0)
        _exit(child_main(bytes, work, data));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return tac_fail(ctx, TAC_ERR_RUN, "cannot wait for a process that looks into a file: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 255)
        *result = WEXITSTATUS(status);
    return TAC_OK;
}
