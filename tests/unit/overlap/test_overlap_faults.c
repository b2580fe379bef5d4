/* Every allocation of the search fails once, and the disk is full: one clear sentence, nothing half-written, no leak
 * (the sanitized build looks for leaks). The linker hands calloc and realloc to the two functions below. */
#include "check.h"
#include "overlap/overlap.h"
#include "unit/overlap/build_scene.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static long left = -1; /* allocations until one fails; -1: none does */

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

static struct tac_scene *two_cubes(struct tac_ctx *ctx)
{
    struct tac_scene *scene = build_scene();
    for (int i = 0; i < 2; i++)
        build_body(scene, i ? "b" : "a", true, 0, (double[]){0.5 * i, 0.25 * i, 0.75 * i}, cube_x, 8, cube_t, 12, NULL,
                   0);
    build_finish(ctx, scene);
    return scene;
}

static void test_memory(struct tac_ctx *ctx)
{
    struct tac_scene *scene = two_cubes(ctx);
    long failures = 0;
    for (long n = 0;; n++, failures++) {
        struct tac_overlaps *found = NULL;
        ctx->error[0] = '\0';
        left = n;
        enum tac_err err = tac_overlap_find(ctx, scene, &found);
        bool over = left >= 0;
        left = -1;
        CHECK(over ? err == TAC_OK && found != NULL : err == TAC_ERR_RUN && found == NULL, "allocation %ld: %d", n,
              err);
        CHECK(over || strstr(ctx->error, "out of memory") != NULL, "allocation %ld: %s", n, ctx->error);
        tac_overlap_destroy(&found);
        if (over || n > 1000)
            break;
    }
    CHECK(failures >= 8, "only %ld allocations were seen to fail", failures);
    build_destroy(&scene);
}

static void test_disk(struct tac_ctx *ctx)
{
    char dir[] = "/tmp/tactus-overlap-XXXXXX", path[128];
    struct tac_scene *scene = two_cubes(ctx);
    struct tac_overlaps *found = NULL;
    struct rlimit limit, small;
    CHECK(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/overlaps.obj", dir);
    ctx->error[0] = '\0';
    CHECK(tac_overlap_find(ctx, scene, &found) == TAC_OK && found->count > 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &small);
    enum tac_err err = tac_overlap_write_obj(ctx, scene, found, path);
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK(err == TAC_ERR_RUN && strstr(ctx->error, "overlaps.obj") && strstr(ctx->error, strerror(EFBIG)), "%s",
          ctx->error);
    CHECK(rmdir(dir) == 0, "something is left in %s", dir);
    tac_overlap_destroy(&found);
    build_destroy(&scene);
}

int main(void)
{
    struct tac_ctx ctx = {.size = 1}; /* a rank alone needs no MPI */
    test_memory(&ctx);
    test_disk(&ctx);
    return check_result();
}
