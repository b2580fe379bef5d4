/* cmd_repair.c: `tactus repair SCENE -o OUT.json`: finds a start without overlaps. */
#include "app/app.h"
#include <jansson.h>
#include <stdio.h>
#include <tactus/repair.h>
#include <tactus/report.h>

static const char usage[] = "SCENE -o REPAIRED.json [--json]";
static const char about[] =
    "Finds a start without overlaps for a scene whose surfaces cross, touch or are nearer than their radii allow.\n"
    "Surfaces are pushed apart where a little is enough; else closed obstacles are shrunk, and grow again while cloth\n"
    "and other bodies that deform give way.  Writes the scene, and beside it REPAIRED-BODY.h5 with the positions of\n"
    "every body that it moved (key start); the rest shapes stay. Then it checks the files as 'tactus check' would.\n"
    "Exit code 0: REPAIRED.json is proven to be free of overlaps; 1: it could not be done, and nothing is written;\n"
    "2: the scene is wrong; 3: the disk or memory failed.";

struct arguments {
    const char *scene, *out;
    bool json, help;
};

static void print_text(const struct tac_repaired *done, const char *out)
{
    bool any = false;
    printf("found      %s%zu place%s where surfaces overlap\n", done->more ? "more than " : "", done->overlaps,
           done->overlaps == 1 ? "" : "s");
    for (tac_lid i = 0; i < done->count; i++) {
        const struct tac_repaired_body *b = &done->body[i];
        if (b->moved > 0)
            printf("moved      \"%s\": %d of %d vertices, by %.3g m at most and %.3g m in the mean\n", b->name,
                   (int)b->moved, (int)b->vertices, b->largest, b->mean);
        if (b->grown)
            printf("grew       \"%s\", which was shrunk meanwhile and has its shape and place again\n", b->name);
        any = any || b->moved > 0;
    }
    printf("proven     %s has no overlaps%s\n", out, any ? "" : ", and nothing was moved");
}

static enum tac_err print_json(struct tac_ctx *ctx, const struct tac_repaired *done)
{
    json_t *bodies = json_array();
    for (tac_lid i = 0; i < done->count; i++) {
        const struct tac_repaired_body *b = &done->body[i];
        tac_json_append(&bodies, json_pack("{s:o, s:i, s:i, s:f, s:f, s:b}", "name", tac_json_text(b->name), "vertices",
                                           (int)b->vertices, "moved", (int)b->moved, "largest", b->largest, "mean",
                                           b->mean, "grown", (int)b->grown));
    }
    return tac_json_print(
        ctx, json_pack("{s:I, s:b, s:o}", "overlaps", (json_int_t)done->overlaps, "proven", 1, "bodies", bodies));
}

enum tac_err tac_cmd_repair(struct tac_ctx *ctx, int argc, char **argv)
{
    struct arguments a = {0};
    struct tac_repaired done = {0};
    int count = 0;
    const struct tac_option option[] = {
        {"-o", TAC_OPTION_STRING, &a.out, "REPAIRED.json", "the scene to write; it may lie in another folder"},
        {"--json", TAC_OPTION_FLAG, &a.json, NULL, "print what was done as JSON"},
    };
    const size_t options = sizeof option / sizeof option[0];
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_options_parse(ctx, "repair", argc, argv, option, options, &a.scene, 1, &count, &a.help));
    if (a.help) {
        tac_options_help("repair", usage, about, option, options);
        goto done;
    }
    if (count < 1 || a.out == NULL)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "tactus repair needs a scene and a name for the result: tactus repair %s",
                         usage));
    err = tac_repair(ctx, a.scene, a.out, &done);
    if (err == TAC_ERR_NO) /* an answer, and no failure of the program */
        fprintf(stderr, "tactus: %s\n", ctx->error);
    if (!err && a.json)
        err = print_json(ctx, &done);
    else if (!err)
        print_text(&done, a.out);
done:
    tac_repaired_free(&done);
    return err;
}
