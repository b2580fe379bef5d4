/* process_alive.c: finds whether the process that writes a run folder is alive, because a run that was killed leaves
 * "running" in its status.json. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/folder/output.h"

/* When the process began, in the kernel's ticks since boot, which distinguishes it from a later process with the same
 * number. -1: unknown; 0: it has ended, but its parent has not read its exit code. */
static int64_t process_start(int64_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    /* The second field, the program's name in brackets, may hold anything; count from its end. */
    char *field = strrchr(text, ')');
    if (field != NULL && field[1] == ' ' && (field[2] == 'Z' || field[2] == 'X'))
        return 0;
    for (int i = 2; field != NULL && i < 22; i++) {
        field = strchr(field, ' ');
        if (field != NULL)
            field++;
    }
    return field != NULL ? strtoll(field, NULL, 10) : -1;
}

void tac_process_machine(char *text, size_t size)
{
    char host[128] = "", boot[64] = "";
    gethostname(host, sizeof host - 1);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, boot, sizeof boot - 1);
        boot[n > 0 ? n : 0] = '\0';
        boot[strcspn(boot, "\n")] = '\0';
        close(fd);
    }
    snprintf(text, size, "%s %s", host, boot);
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 32 || (unsigned char)*c > 126)
            *c = '?'; /* JSON needs UTF-8 */
}

bool tac_process_describe(json_t *status)
{
    char text[256];
    tac_process_machine(text, sizeof text);
    int64_t pid = getpid();
    return json_object_set_new(status, "machine", json_string(text)) == 0 &&
           json_object_set_new(status, "pid", json_integer(pid)) == 0 &&
           json_object_set_new(status, "pid_start", json_integer(process_start(pid))) == 0 &&
           json_object_set_new(status, "updated", json_integer((json_int_t)time(NULL))) == 0;
}

enum tac_alive tac_process_alive(const json_t *status)
{
    char here[256];
    const char *where = json_string_value(json_object_get(status, "machine"));
    const json_t *pid_value = json_object_get(status, "pid");
    tac_process_machine(here, sizeof here);
    if (where == NULL || strcmp(where, here) != 0 || !json_is_integer(pid_value))
        return TAC_ALIVE_UNKNOWN;
    int64_t pid = json_integer_value(pid_value);
    int64_t start = json_integer_value(json_object_get(status, "pid_start"));
    if (pid <= 0 || pid > INT32_MAX)
        return TAC_ALIVE_UNKNOWN;
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return TAC_ALIVE_NO;
    int64_t now = process_start(pid);
    if (now == 0 || (now > 0 && start > 0 && now != start))
        return TAC_ALIVE_NO;
    return TAC_ALIVE_YES;
}
