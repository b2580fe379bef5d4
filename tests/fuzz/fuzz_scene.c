/* A scene file: JSON, keys, materials, generators, inline meshes, mesh files, motions; and what `check` tells of it. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tactus/check.h>

/* Files that the seeds name. */
void fuzz_begin(void)
{
    static const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 1\nf 1 2 4 3\nl 1 2\n";
    fuzz_put("m.obj", obj, sizeof obj - 1);
    if (mkdir(fuzz_path("folder"), 0700) != 0 || mkfifo(fuzz_path("fifo"), 0600) != 0)
        exit(1);
}

enum tac_err fuzz_read(struct tac_ctx *ctx, const uint8_t *data, size_t size)
{
    struct tac_scene *scene = NULL;
    json_t *root = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL), *report;
    const bool large = fuzz_scene_is_large(root, 2e4);
    json_decref(root);
    if (large)
        return TAC_OK;
    const enum tac_err err = tac_scene_read(ctx, fuzz_put("scene.json", data, size), NULL, 0, &scene);
    if (err != TAC_OK) {
        fuzz_must(scene == NULL, "a scene that is refused is none");
        return err;
    }
    report = json_object();
    fuzz_output_begin();
    fuzz_must(tac_check_describe(ctx, scene, report, stdout) == TAC_OK, "a scene that was read can be described");
    fuzz_output_end();
    json_decref(report);
    fuzz_scene_again(scene);
    tac_scene_destroy(&scene);
    return TAC_OK;
}
