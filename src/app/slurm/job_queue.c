/* job_queue.c: gets the state of jobs from Slurm's squeue. */
#include "app/slurm/job_look.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_TEXT = 1 << 22, PATIENCE_MS = 10000 };
extern char **environ;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads the pipe until its end; false: it did not end in time. */
static bool read_all(int pipe, char *text, size_t size)
{
    size_t length = 0;
    const int64_t begin_ms = now_ms();
    while (length < size - 1) {
        struct pollfd wait = {pipe, POLLIN, 0};
        const int64_t left_ms = begin_ms + PATIENCE_MS - now_ms();
        if (left_ms <= 0 || (poll(&wait, 1, (int)left_ms) <= 0 && errno != EINTR))
            return false;
        const ssize_t n = read(pipe, text + length, size - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            text[length] = '\0';
            return n == 0;
        }
        length += (size_t)n;
    }
    return false;
}

/* Starts squeue, its output and errors into the pipe; 0: it is not there. */
static pid_t start_squeue(char *jobs, int pipe)
{
    char command[] = "squeue", option_0[] = "--noheader", option_1[] = "--array", option_2[] = "--states=all",
         option_3[] = "--format=%i|%T|%r";
    char *argv[] = {command, option_0, option_1, option_2, option_3, jobs, NULL};
    posix_spawn_file_actions_t files;
    pid_t child = 0;
    if (posix_spawn_file_actions_init(&files) != 0)
        return 0;
    if (posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_adddup2(&files, pipe, 1) != 0 ||
        posix_spawn_file_actions_adddup2(&files, pipe, 2) != 0 ||
        posix_spawnp(&child, command, &files, NULL, argv, environ) != 0)
        child = 0;
    posix_spawn_file_actions_destroy(&files);
    return child;
}

/* Reads lines such as "17|PENDING|Resources", and puts each to the folder of its job. */
static void read_answer(char *text, struct tac_look *look, int count)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *state = strchr(line, '|'), *reason = state != NULL ? strchr(state + 1, '|') : NULL;
        if (reason == NULL)
            continue;
        *state++ = *reason++ = '\0';
        for (int i = 0; i < count; i++) {
            const char *job = tac_look_job(&look[i]);
            if (job == NULL || strcmp(job, line) != 0)
                continue;
            look[i].queue = TAC_QUEUE_KNOWN;
            snprintf(look[i].queue_state, sizeof look[i].queue_state, "%s", tac_tame(state));
            snprintf(look[i].queue_reason, sizeof look[i].queue_reason, "%s", tac_tame(reason));
        }
    }
}

/* "--jobs=17,18_2", or NULL: none of them has a job, or memory is out. */
static char *list_jobs(const struct tac_look *look, int count)
{
    size_t size = sizeof "--jobs=";
    for (int i = 0; i < count; i++)
        size += tac_look_job(&look[i]) != NULL ? strlen(tac_look_job(&look[i])) + 1 : 0;
    char *jobs = size > sizeof "--jobs=" ? malloc(size) : NULL;
    if (jobs == NULL)
        return NULL;
    size_t at = (size_t)snprintf(jobs, size, "--jobs=");
    for (int i = 0; i < count; i++)
        if (tac_look_job(&look[i]) != NULL)
            at += (size_t)snprintf(jobs + at, size - at, "%s%s", at > strlen("--jobs=") ? "," : "",
                                   tac_look_job(&look[i]));
    return jobs;
}

/* Runs squeue and reads its answer; false: there is none. */
static bool run_squeue(char *jobs, char *text)
{
    int ends[2], how = -1;
    if (pipe(ends) != 0)
        return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const pid_t child = start_squeue(jobs, ends[1]);
    close(ends[1]);
    const bool answered = child > 0 && read_all(ends[0], text, MOST_TEXT);
    close(ends[0]);
    if (child > 0 && !answered)
        kill(child, SIGKILL);
    while (child > 0 && waitpid(child, &how, 0) < 0 && errno == EINTR)
        continue;
    /* For a single job that Slurm has forgotten squeue fails with this message. */
    return answered && ((WIFEXITED(how) && WEXITSTATUS(how) == 0) || strstr(text, "Invalid job id") != NULL);
}

void tac_queue_ask(struct tac_look *look, int count)
{
    char *jobs = list_jobs(look, count), *text = jobs != NULL ? malloc(MOST_TEXT) : NULL;
    for (int i = 0; i < count; i++)
        look[i].queue = TAC_QUEUE_SILENT;
    if (text != NULL && run_squeue(jobs, text)) {
        for (int i = 0; i < count; i++)
            if (tac_look_job(&look[i]) != NULL)
                look[i].queue = TAC_QUEUE_UNKNOWN;
        read_answer(text, look, count);
    }
    free(text);
    free(jobs);
}
