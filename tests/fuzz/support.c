#include "fuzz.h"

#include <ftw.h>
#include <hdf5.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256];
static pid_t owner;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    remove(path);
    return 0;
}

static void clear(void)
{
    if (getpid() == owner)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#if FUZZ_SANITIZED
void __lsan_disable(void);
void __lsan_enable(void);
void __sanitizer_set_death_callback(void (*callback)(void));
#else
static void __lsan_disable(void)
{
}
static void __lsan_enable(void)
{
}
static void __sanitizer_set_death_callback(void (*callback)(void))
{
    (void)callback;
}
#endif

void fuzz_leaks_begin(void)
{
    __lsan_disable();
}

void fuzz_leaks_end(void)
{
    __lsan_enable();
}

/* The readers let a child process look into HDF5 files first, because the library crashes on some.  That child's
 * death is no finding: libFuzzer must not hear of it. */
static void in_child(void)
{
    __sanitizer_set_death_callback(NULL);
}

void fuzz_setup(void)
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] == '\0')
        base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    const int n = snprintf(folder, sizeof folder, "%s/tactus-fuzz-XXXXXX", base);
    if (n < 0 || (size_t)n >= sizeof folder || mkdtemp(folder) == NULL) {
        fprintf(stderr, "cannot make a folder in %s\n", base);
        exit(1);
    }
    owner = getpid();
    atexit(clear);
    pthread_atfork(NULL, NULL, in_child);
    H5dont_atexit();
    fuzz_begin();
}

_Noreturn void fuzz_broken(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: a promise is broken: %s\n", file, line, what);
    fflush(stderr);
    abort();
}

/* The second set of control characters has two bytes in UTF-8. */
static void check_characters(const char *text, bool lines, const char *what)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if ((*c < 32 && !(lines && *c == '\n')) || *c == 127 || (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)) {
            fprintf(stderr, "character %d in: %s\n", *c, text);
            fuzz_broken(__FILE__, __LINE__, what);
        }
}

static void check_sentence(const struct tac_ctx *ctx, enum tac_err err)
{
    const bool memory = err == TAC_ERR_RUN && strstr(ctx->error, "memory") != NULL;
    if (err != TAC_OK && err != TAC_ERR_INPUT && !memory)
        fprintf(stderr, "code %d: %s\n", (int)err, ctx->error);
    fuzz_must(err == TAC_OK || err == TAC_ERR_INPUT || memory, "bad input has the exit code 2");
    fuzz_must(!memory || !FUZZ_SANITIZED, "a small input asks for no gigabytes");
    fuzz_must((err == TAC_OK) == (ctx->error[0] == '\0'), "there is a sentence exactly if the input is refused");
    check_characters(ctx->error, false, "sentences have no control characters");
}

static FILE *kept_stdout;
static char *printed;
static size_t printed_size;

void fuzz_output_begin(void)
{
    kept_stdout = stdout;
    stdout = open_memstream(&printed, &printed_size);
    fuzz_must(stdout != NULL, "there is memory");
}

void fuzz_output_end(void)
{
    fclose(stdout);
    stdout = kept_stdout;
    check_characters(printed, true, "what is printed has no control characters");
    free(printed);
    printed = NULL;
}

enum tac_err fuzz_input(const uint8_t *data, size_t size)
{
    /* As the program's own commands that look at files: alone, without MPI. */
    struct tac_ctx ctx = {.comm = MPI_COMM_SELF, .size = 1, .quiet = getenv("FUZZ_TALK") == NULL};
    const enum tac_err err = fuzz_read(&ctx, data, size);
    check_sentence(&ctx, err);
    if (!ctx.quiet)
        fprintf(stderr, "code %d: %s\n", (int)err, ctx.error);
    fuzz_must(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) <= 0, "no HDF5 object is left open");
    return err;
}

const char *fuzz_path(const char *name)
{
    static char paths[16][512];
    static unsigned next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

const char *fuzz_put(const char *name, const void *data, size_t size)
{
    const char *path = fuzz_path(name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(data, 1, size, f) != size || fclose(f) != 0) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    return path;
}

/* ---- libFuzzer's side ---- */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_setup();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input(data, size);
    return 0;
}
