/* start.c: reads a checkpoint and the scene that continues from it. */
#include "run/start.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/geometry.h"
#include "partition/part.h"
#include <stdlib.h>
#include <string.h>

/* Reads the scene. For a large scene on several ranks no rank gets the whole geometry, unless the scene is another one
 * than the checkpoint's; then the whole geometry is needed to say what differs. */
static enum tac_err read_scene(struct tac_ctx *ctx, const struct tac_scene_source *source, const json_t *json,
                               const char *sha256, struct tac_start *out)
{
    enum tac_err err = TAC_OK;
    struct tac_gathered gathered = {0};
    const struct tac_geometry here = tac_geometry_here(out->checkpoint);
    if (ctx->size > 1 && tac_scene_is_large(ctx, &here))
        TAC_TRY(tac_scene_resume_pieces(ctx, source, json, sha256, &here, &out->scene, &out->pieces));
    if (out->scene != NULL)
        goto done;
    TAC_TRY(tac_geometry_gather(ctx, out->checkpoint, &gathered));
    TAC_TRY(tac_scene_resume(ctx, source->path, source->set, source->set_count, json, sha256, &gathered.geometry,
                             &out->scene));
done:
    tac_gathered_clear(&gathered);
    return err;
}

/* Could a surface of the body keep its shape and have flat parts (contact/flat.h)? */
static bool may_be_flat(const struct tac_settings *s, tac_lid b)
{
    const struct tac_body *body = &s->body[b];
    bool keeps = body->fixed || body->rigid >= 0;
    for (tac_lid m = 0; m < s->motion_count; m++)
        keeps = keeps || (s->motion[m].body == b && !s->motion[m].release);
    return keeps && body->triangle_end - body->triangle_begin > 1;
}

/* The trajectory generations in which steps changed last (docs/reference/compatibility.md): all of the implicit
 * integrator, with joints later than without; those of the asynchronous one in scenes with flat parts, and with rigid
 * bodies. */
enum { IMPLICIT = 4, IMPLICIT_JOINTS = 6, FLAT_PARTS = 5, RIGID = 6 };

static int64_t implicit_changed_last(const json_t *scene)
{
    const json_t *kind = json_object_get(json_object_get(scene, "integrator"), "kind");
    if (!json_is_string(kind) || strcmp(json_string_value(kind), "implicit") != 0)
        return 0;
    return json_array_size(json_object_get(scene, "joints")) > 0 ? IMPLICIT_JOINTS : IMPLICIT;
}

static int64_t asynchronous_changed_last(const struct tac_settings *s)
{
    if (s->integrator == TAC_INTEGRATOR_ASYNCHRONOUS && s->rigid_count > 0)
        return RIGID;
    for (tac_lid b = 0; b < s->body_count && s->integrator == TAC_INTEGRATOR_ASYNCHRONOUS; b++)
        if (s->contact.thickness > 0 && may_be_flat(s, b))
            return FLAT_PARTS;
    return 0;
}

/* Refuses a checkpoint if this program would not make the same steps as the program that wrote it: the generation of
 * the checkpoint is under `least`. */
static enum tac_err check_generation(struct tac_ctx *ctx, const struct tac_start *start,
                                     const struct tac_checkpoint_about *about, int64_t least)
{
    const int64_t generation = start->checkpoint->trajectory.generation;
    if (generation >= least && generation <= TAC_TRAJECTORY_GENERATION)
        return TAC_OK;
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "'%.1000s' is of trajectory generation %lld, written by tactus %s (commit %s), and this program "
                    "goes on with generation %d: its steps would differ from the run's; finish the run with the "
                    "program that wrote it, or run the scene from its beginning",
                    start->file, (long long)generation, about->version, about->commit, TAC_TRAJECTORY_GENERATION);
}

enum tac_err tac_start_resume(struct tac_ctx *ctx, const char *path, const struct tac_scene_source *source,
                              struct tac_start *out)
{
    enum tac_err err;
    json_t *json = NULL;
    struct tac_checkpoint_about about;
    TAC_TRY(tac_checkpoint_read_about(ctx, path, &out->file, &json, &about, &out->checkpoint));
    TAC_TRY(check_generation(ctx, out, &about, implicit_changed_last(json)));
    TAC_TRY(read_scene(ctx, source, json, about.sha256, out));
    TAC_TRY(check_generation(ctx, out, &about, asynchronous_changed_last(out->scene->settings)));
done:
    json_decref(json);
    return err;
}

void tac_start_clear(struct tac_start *start)
{
    tac_checkpoint_destroy(&start->checkpoint);
    tac_scene_destroy(&start->scene);
    tac_pieces_destroy(&start->pieces);
    free(start->file);
    memset(start, 0, sizeof *start);
}
