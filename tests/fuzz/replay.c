/* replay.c: reads files once each, in any build: replay_NAME FILE|FOLDER ...
 *
 * A file named good-* must be accepted and one named bad-* refused; what another name says is only how it was found.
 * Reading one may take a few seconds and a few gigabytes at most.  A file named *.txt in a folder is not an input.
 */
#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_S = 60, MOST_CPU_S = 5, SLOWER = 4, MOST_BYTES = 1 << 22 };

static char current[4096];
static int files, accepted, failures;

static void fell_silent(int number)
{
    static const char text[] = ": takes too long\n";
    (void)number;
    if (write(STDERR_FILENO, current, strlen(current)) > 0 && write(STDERR_FILENO, text, sizeof text - 1) > 0)
        _exit(1);
    _exit(1);
}

static double cpu_s(void)
{
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    const struct timeval *t[4] = {&self.ru_utime, &self.ru_stime, &children.ru_utime, &children.ru_stime};
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (double)t[i]->tv_sec + 1e-6 * (double)t[i]->tv_usec;
    return sum;
}

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", current, what);
    failures++;
}

static void replay_file(void)
{
    const char *slash = strrchr(current, '/'), *name = slash != NULL ? slash + 1 : current;
    uint8_t *data = malloc(MOST_BYTES);
    FILE *f = fopen(current, "rb");
    if (f == NULL || data == NULL) {
        fail("cannot be read");
    } else {
        const size_t size = fread(data, 1, MOST_BYTES, f);
        /* To its size: what reads beyond it is seen. */
        uint8_t *exact = malloc(size > 0 ? size : 1);
        memcpy(exact, data, size);
        alarm(MOST_S);
        const double begin = cpu_s();
        const enum tac_err err = fuzz_input(exact, size);
        const double took = cpu_s() - begin;
        alarm(0);
        files++;
        accepted += err == TAC_OK;
        if (strncmp(name, "good-", 5) == 0 && err != TAC_OK)
            fail("is refused");
        if (strncmp(name, "bad-", 4) == 0 && err != TAC_ERR_INPUT)
            fail(err == TAC_OK ? "is accepted" : "is not refused for what it is, but asks for too much memory");
        if (took > MOST_CPU_S * (FUZZ_SANITIZED ? SLOWER : 1)) {
            fprintf(stderr, "%.1f s: ", took);
            fail("takes too long");
        }
        free(exact);
    }
    if (f != NULL)
        fclose(f);
    free(data);
}

static void replay(const char *path)
{
    struct dirent **entry;
    const int count = scandir(path, &entry, NULL, alphasort);
    if (count < 0) {
        snprintf(current, sizeof current, "%s", path);
        replay_file();
        return;
    }
    for (int i = 0; i < count; i++) {
        const char *name = entry[i]->d_name;
        const size_t length = strlen(name);
        snprintf(current, sizeof current, "%s/%s", path, name);
        if (name[0] != '.' && !(length > 4 && strcmp(name + length - 4, ".txt") == 0))
            replay_file();
        free(entry[i]);
    }
    free(entry);
}

int main(int argc, char **argv)
{
    const struct rlimit most = {4000000000u, 4000000000u};
    if (!FUZZ_SANITIZED && setrlimit(RLIMIT_AS, &most) != 0)
        return 1;
    signal(SIGALRM, fell_silent);
    fuzz_setup();
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    fprintf(stderr, "%d files, %d accepted, %d failures\n", files, accepted, failures);
    return failures > 0 || files == 0;
}
