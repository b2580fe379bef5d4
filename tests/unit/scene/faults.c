/* faults.c: every allocation of the reader and of the description fails once.  If it fails, a machine that runs out of
 * memory crashes, leaks (the sanitized build looks), or worse: goes on with a scene that is not the one in the file. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/check.h>
#include <unistd.h>

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strndup(const char *text, size_t length);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strndup(const char *text, size_t length);

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

char *__wrap_strndup(const char *text, size_t length)
{
    return fails() ? NULL : __real_strndup(text, length);
}

static void *json_memory(size_t size)
{
    return fails() ? NULL : malloc(size);
}

static const char text[] =
    "{\"format\": \"tactus-scene/1\", \"name\": \"n\", \"time\": {\"end\": 1, \"frame\": 0.1},"
    " \"contact\": {\"thickness\": 0.01, \"ignore\": [[\"a\", \"f\"]]},"
    " \"materials\": {\"m\": {\"density\": 1, \"stretch\": {\"model\": \"cst\", \"stiffness\": 1},"
    "   \"bend\": {\"model\": \"hinge\", \"stiffness\": 1}}},"
    " \"bodies\": [{\"name\": \"a\", \"material\": \"m\", \"mesh\": {\"kind\": \"grid\", \"size\": [1, 1], \"cells\": "
    "[2, 2]}},"
    "  {\"name\": \"f\", \"fixed\": true, \"position\": [0, -1, 0], \"mesh\": {\"kind\": \"points\", \"vertices\": "
    "[[0, 0, 0]]}}],"
    " \"loads\": [{\"body\": \"a\", \"pressure\": 1, \"path\": [[0, 1], [1, 0]]}, {\"body\": \"a\", \"vertices\": [0], "
    "\"force\": [1, 0, 0]}],"
    " \"motions\": [{\"body\": \"a\", \"vertices\": {\"box\": [[-1, -1, -1], [0, 3, 1]]}, \"path\": [[0, [0, 0, 0]]]},"
    "  {\"body\": \"a\", \"vertices\": [8], \"rotate\": {\"axis\": [0, 1, 0], \"path\": [[0, 0]]}}]}";

static const char *const set[] = {"contact.restitution=0.5", "bodies.a.position.1=2", "output={}"};

/* One reading and description; allocation n fails.  Tells whether that one was reached. */
static bool attempt(struct tac_ctx *ctx, const char *path, long n, char sha256[65], char **report_text)
{
    struct tac_scene *scene = NULL;
    json_t *report = json_object();
    ctx->error[0] = '\0';
    left = n;
    enum tac_err err = tac_scene_read(ctx, path, set, 3, &scene);
    CHECK((err == TAC_OK) == (scene != NULL), "allocation %ld: %d", n, err);
    if (err == TAC_OK)
        err = tac_check_describe(ctx, scene, report, NULL);
    bool reached = left < 0;
    left = -1;
    CHECK(err == TAC_OK || ctx->error[0] != '\0', "allocation %ld: code %d without a sentence", n, err);
    CHECK(err == TAC_OK || reached, "allocation %ld: code %d though memory was there: %s", n, err, ctx->error);
    if (err == TAC_OK) {
        char *dump = json_dumps(report, JSON_COMPACT);
        CHECK(*report_text == NULL || (strcmp(dump, *report_text) == 0 && strcmp(sha256, scene->settings->sha256) == 0),
              "allocation %ld failed and the scene became another", n);
        strcpy(sha256, scene->settings->sha256);
        free(*report_text);
        *report_text = dump;
    }
    json_decref(report);
    tac_scene_destroy(&scene);
    return reached;
}

/* The same for a scene that goes on from a checkpoint, where it is another one (change) or not. */
static bool attempt_resume(struct tac_ctx *ctx, const struct tac_scene *from, long n, const char *change)
{
    struct tac_scene *scene = NULL;
    tac_gid triangle[3 * 64];
    TAC_CHECK(from->mesh->triangle_count <= 64);
    for (tac_lid i = 0; i < 3 * from->mesh->triangle_count; i++)
        triangle[i] = from->mesh->triangle[i];
    const struct tac_geometry geometry = {.vertex_count = from->mesh->vertex_count,
                                          .triangle_count = from->mesh->triangle_count,
                                          .x = from->mesh->x,
                                          .mass = from->mesh->mass,
                                          .triangle = triangle,
                                          .segment = triangle};
    ctx->error[0] = '\0';
    left = n;
    json_t *stored = tac_scene_stored_json(from);
    enum tac_err err = TAC_ERR_RUN;
    if (stored != NULL)
        err = tac_scene_resume(ctx, NULL, &change, change != NULL, stored, from->settings->sha256, &geometry, &scene);
    bool reached = left < 0;
    left = -1;
    CHECK(stored == NULL || (err == TAC_OK) == (scene != NULL), "allocation %ld: %d", n, err);
    CHECK(stored == NULL || err == TAC_OK || ctx->error[0] != '\0', "allocation %ld: code %d, no sentence", n, err);
    CHECK(err == TAC_OK || reached || change != NULL, "allocation %ld: code %d: %s", n, err, ctx->error);
    CHECK(change == NULL || err != TAC_OK, "allocation %ld: another scene is taken", n);
    CHECK(scene == NULL || strcmp(scene->settings->sha256, from->settings->sha256) == 0,
          "allocation %ld: another scene", n);
    json_decref(stored);
    tac_scene_destroy(&scene);
    return reached;
}

static void test_resume(struct tac_ctx *ctx, const char *path)
{
    static const char *const change[] = {NULL, "contact.restitution=0.25"};
    struct tac_scene *from = NULL;
    ctx->error[0] = '\0';
    CHECK(tac_scene_read(ctx, path, set, 3, &from) == TAC_OK, "%s", ctx->error);
    TAC_CHECK(from != NULL);
    for (int i = 0; i < 2; i++) {
        long n = 0;
        while (n < 100000 && attempt_resume(ctx, from, n, change[i]))
            n++;
        CHECK(n > 200 && n < 100000, "%ld allocations", n);
    }
    tac_scene_destroy(&from);
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/tactus-faults-XXXXXX", sha256[65], *report = NULL;
    struct tac_ctx ctx;
    long n = 0;
    MPI_Init(&argc, &argv);
    tac_ctx_init(&ctx, MPI_COMM_WORLD);
    ctx.quiet = true;
    json_set_alloc_funcs(json_memory, free);
    int file = mkstemp(path);
    TAC_CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && close(file) == 0);
    attempt(&ctx, path, -1, sha256, &report);
    CHECK(report != NULL, "%s", ctx.error);
    while (n < 100000 && attempt(&ctx, path, n, sha256, &report))
        n++;
    CHECK(n > 200 && n < 100000, "%ld allocations", n);
    free(report);
    test_resume(&ctx, path);
    unlink(path);
    MPI_Finalize();
    return check_result();
}
