/* A scene file, by the command `check`: besides its reading, what the engine makes of it before a run. */
#include "fuzz.h"

#include <stdlib.h>

#include "app/app.h"

void fuzz_begin(void)
{
}

enum tac_err fuzz_read(struct tac_ctx *ctx, const uint8_t *data, size_t size)
{
    char path[512], option[] = "--json";
    char *argv[] = {path, option, NULL};
    json_t *root = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    const bool large = fuzz_scene_is_large(root, 1000);
    json_decref(root);
    if (large)
        return TAC_OK;
    snprintf(path, sizeof path, "%s", fuzz_put("scene.json", data, size));
    fuzz_output_begin();
    enum tac_err err = tac_cmd_check(ctx, 1, argv);
    if (err == TAC_OK) {
        struct tac_ctx again = {.comm = MPI_COMM_SELF, .size = 1, .quiet = true};
        fuzz_must(tac_cmd_check(&again, 2, argv) == TAC_OK, "what is told as text can be told as JSON");
    }
    fuzz_output_end();
    return err;
}
