/* probe.c: reads many scenes in one process, for the Python tests: a line {"scene": path, "text": "...", "set":
 * [...], "resolved": true} on stdin (with "text" it is written to the path first), a line {"code", "error", "sha256",
 * "warnings", "resolved"} on stdout. */
#include <stdlib.h>
#include <string.h>
#include <tactus/scene.h>

/* Only the file of the last question is left: thousands would take longer to remove than to read. */
static void write_text(const char *path, const json_t *text)
{
    FILE *file = fopen(path, "wb");
    TAC_CHECK(file != NULL);
    TAC_CHECK(fwrite(json_string_value(text), 1, json_string_length(text), file) == json_string_length(text));
    fclose(file);
}

static json_t *answer(json_t *question)
{
    struct tac_ctx ctx;
    struct tac_scene *scene = NULL;
    const char *set[64];
    int count = 0;
    size_t i;
    json_t *item;
    tac_ctx_init(&ctx, MPI_COMM_SELF);
    ctx.quiet = true;
    json_array_foreach(json_object_get(question, "set"), i, item)
    {
        if (count < 64)
            set[count++] = json_string_value(item);
    }
    const char *path = json_string_value(json_object_get(question, "scene"));
    if (json_object_get(question, "text") != NULL)
        write_text(path, json_object_get(question, "text"));
    enum tac_err err = tac_scene_read(&ctx, path, set, count, &scene);
    TAC_CHECK((err == TAC_OK) == (scene != NULL));
    TAC_CHECK((err == TAC_OK) == (ctx.error[0] == '\0'));
    json_t *reply = json_pack("{s:i, s:s%, s:s, s:i}", "code", (int)err, "error", ctx.error, strlen(ctx.error),
                              "sha256", scene ? scene->settings->sha256 : "", "warnings", ctx.warnings);
    if (scene != NULL && json_is_true(json_object_get(question, "resolved")))
        json_object_set(reply, "resolved", scene->settings->json);
    tac_scene_destroy(&scene);
    TAC_CHECK(scene == NULL);
    return reply;
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t size = 0;
    MPI_Init(&argc, &argv);
    while (getline(&line, &size, stdin) > 0) {
        json_t *question = json_loads(line, 0, NULL);
        TAC_CHECK(question != NULL);
        json_t *reply = answer(question);
        TAC_CHECK(reply != NULL); /* an error sentence is UTF-8 */
        json_dumpf(reply, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
        putchar('\n');
        json_decref(reply);
        json_decref(question);
    }
    fflush(stdout); /* a leak checker may end the process before stdio does */
    free(line);
    MPI_Finalize();
    return 0;
}
