/* status.json and run.json of a run folder, which get the same input: what `status` and `info` tell.  Accepted is what
 * is either. */
#include "fuzz.h"

#include "app/app.h"
#include <tactus/report.h>

void fuzz_begin(void)
{
}

static enum tac_err call(enum tac_err (*command)(struct tac_ctx *ctx, int argc, char **argv), const char *option)
{
    struct tac_ctx ctx = {.comm = MPI_COMM_SELF, .size = 1, .quiet = true};
    char dir[512], word[16], *argv[3] = {dir, word, NULL};
    snprintf(dir, sizeof dir, "%s", fuzz_path(""));
    snprintf(word, sizeof word, "%s", option);
    fuzz_output_begin();
    const enum tac_err err = command(&ctx, option[0] != '\0' ? 2 : 1, argv);
    fuzz_output_end();
    fuzz_must(err == TAC_OK || (err == TAC_ERR_INPUT && ctx.error[0] != '\0'), "a command says what is wrong");
    return err;
}

enum tac_err fuzz_read(struct tac_ctx *ctx, const uint8_t *data, size_t size)
{
    enum tac_err err;
    json_t *status = NULL, *run = NULL;
    const char *dir = fuzz_path("");
    fuzz_put("status.json", data, size);
    fuzz_put("run.json", data, size);
    err = tac_folder_status(ctx, dir, &status);
    if (err == TAC_OK) {
        fuzz_must(call(tac_cmd_status, "") == TAC_OK && call(tac_cmd_status, "--json") == TAC_OK,
                  "a status can be told");
    } else {
        ctx->error[0] = '\0';
        err = tac_folder_run(ctx, dir, &run);
    }
    json_decref(status);
    json_decref(run);
    /* The folder has no frames: but for the sentence that says so, all that comes before is read. */
    call(tac_cmd_info, "");
    return err;
}
