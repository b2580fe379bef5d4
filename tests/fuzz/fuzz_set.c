/* --set path=value, one a line, on a scene that has something of everything. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "scene/scene_read.h"

static const char scene_text[] =
    "{\"format\": \"tactus-scene/1\", \"name\": \"n\", \"time\": {\"end\": 1, \"frame\": 0.5},\n"
    " \"contact\": {\"thickness\": 0.01, \"stiffness\": 10, \"ignore\": [[\"a\", \"b.c\"]]},\n"
    " \"materials\": {\"m\": {\"density\": 0.1, \"stretch\": {\"model\": \"cst\", \"stiffness\": 9, \"poisson\": "
    "0.2},\n"
    "   \"bend\": {\"model\": \"hinge\", \"stiffness\": 0.01}},\n"
    "   \"o\": {\"density\": 0.2, \"stretch\": {\"model\": \"spring\", \"stiffness\": 7}}},\n"
    " \"bodies\": [{\"name\": \"a\", \"material\": \"m\", \"mesh\": {\"kind\": \"grid\", \"size\": [1, 1], \"cells\": "
    "[2, "
    "2]}},\n"
    "  {\"name\": \"b.c\", \"material\": \"o\", \"position\": [0, 1, 0], \"mesh\": {\"kind\": \"sphere\", \"radius\": "
    "0.1}},\n"
    "  {\"name\": \"p\", \"mass\": 1, \"radius\": 0.1, \"mesh\": {\"kind\": \"points\", \"vertices\": [[0, 3, 0]]}}],\n"
    " \"motions\": [{\"body\": \"a\", \"vertices\": [0, 1], \"path\": [[0, [0, 0, 0]], [1, [0, 1, 0]]]},\n"
    "  {\"body\": \"b.c\", \"rotate\": {\"axis\": [0, 1, 0], \"path\": [[0, 0], [1, 90]]}}]}\n";

static const char *path;

void fuzz_begin(void)
{
    static char kept[512];
    snprintf(kept, sizeof kept, "%s", fuzz_put("base.json", scene_text, sizeof scene_text - 1));
    path = kept;
}

/* As fuzz_scene_is_large(), once the settings are made. */
static bool is_large(const char *const *set, int count)
{
    struct tac_ctx ctx = {.comm = MPI_COMM_SELF, .size = 1, .quiet = true};
    struct tac_reader reader = {.ctx = &ctx, .file = path};
    json_t *root = NULL;
    bool good = tac_scene_load(&reader, &root) == TAC_OK;
    for (int i = 0; good && i < count; i++)
        good = tac_scene_set(&reader, root, set[i]) == TAC_OK;
    const bool large = good && fuzz_scene_is_large(root, 2e4);
    json_decref(root);
    return large;
}

enum tac_err fuzz_read(struct tac_ctx *ctx, const uint8_t *data, size_t size)
{
    enum { MOST = 8 };
    const char *set[MOST];
    int count = 0;
    enum tac_err err = TAC_OK;
    struct tac_scene *scene = NULL;
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0'; /* what comes from a command line holds no zero byte */
    for (char *rest = text, *line; count < MOST && (line = strsep(&rest, "\n")) != NULL;)
        set[count++] = line;
    if (!is_large(set, count)) {
        err = tac_scene_read(ctx, path, set, count, &scene);
        if (err == TAC_OK)
            fuzz_scene_again(scene);
    }
    tac_scene_destroy(&scene);
    free(text);
    return err;
}
