/* slow.c: a library to be loaded before all others, for tests that need a run which takes long and computes little.
 * While the file named by TACTUS_TEST_GATE exists, the program tactus waits before each rename, and it renames a file
 * for each frame. A signal ends the waiting for good, so that a run that shall stop stops at once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void gate(void)
{
    static int opened;
    const char *file = getenv("TACTUS_TEST_GATE");
    const struct timespec pause = {1, 500000000};
    if (opened || file == NULL || strcmp(program_invocation_short_name, "tactus") != 0)
        return;
    if (access(file, F_OK) == 0 && nanosleep(&pause, NULL) != 0)
        opened = 1;
}

int rename(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "rename");
    gate();
    return next(from, to);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    int (*next)(int, const char *, int, const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "renameat");
    gate();
    return next(from_dir, from, to_dir, to);
}
