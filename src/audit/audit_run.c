/* audit_run.c: checks that the files of a folder belong to one run.  Record, frames, mesh, scene.json and run.json
 * belong to one scene if all of them contain its hash, and if their contents have that hash (docs/reference/audit.md,
 * Of which run). */
#include "io/record/record_read.h"
#include <tactus/audit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tactus/report.h>

/* ---- how it ended ---- */

static enum tac_audit_end end_of_status(const json_t *o)
{
    static const char *const name[] = {[TAC_AUDIT_UNTOLD] = "",
                                       [TAC_AUDIT_FINISHED] = "finished",
                                       [TAC_AUDIT_STOPPED] = "stopped",
                                       [TAC_AUDIT_FAILED] = "failed",
                                       [TAC_AUDIT_RUNNING] = "running"};
    const char *state = json_string_value(json_object_get(o, "state"));
    for (int k = 1; state != NULL && k < (int)(sizeof name / sizeof name[0]); k++)
        if (strcmp(state, name[k]) == 0)
            return k == TAC_AUDIT_RUNNING && tac_process_alive(o) == TAC_ALIVE_NO ? TAC_AUDIT_KILLED
                                                                                  : (enum tac_audit_end)k;
    return TAC_AUDIT_UNTOLD;
}

static void read_end(const json_t *o, const char *from, struct tac_audit_run *run)
{
    const char *sha256 = json_string_value(json_object_get(o, "scene_sha256"));
    const json_t *time = json_object_get(o, "time");
    run->end = end_of_status(o);
    snprintf(run->from, sizeof run->from, "%s", from);
    snprintf(run->sha256, sizeof run->sha256, "%s", sha256 != NULL ? sha256 : "");
    /* A run that failed may not have stored the time that it reached. */
    if (json_is_number(time) && (run->end == TAC_AUDIT_FINISHED || run->end == TAC_AUDIT_STOPPED))
        run->time_s = json_number_value(time);
}

/* run.json is written when a run ends, and removed when it is gone on with. */
static enum tac_err read_run(struct tac_ctx *ctx, const char *dir, struct tac_audit_run *run)
{
    enum tac_err err;
    json_t *o = NULL;
    struct tac_ctx alone = *ctx; /* that there is no status.json is no error here */
    TAC_TRY(tac_folder_run(ctx, dir, &o));
    if (o != NULL)
        read_end(o, "run.json", run);
    else if (tac_folder_status(&alone, dir, &o) == TAC_OK)
        read_end(o, "status.json", run);
done:
    json_decref(o);
    return err;
}

enum tac_err tac_audit_run_read(struct tac_ctx *ctx, const char *dir, struct tac_audit_run *run)
{
    enum tac_err err;
    memset(run, 0, sizeof *run);
    run->time_s = NAN;
    TAC_TRY(tac_agree(ctx, ctx->rank == 0 ? read_run(ctx, dir, run) : TAC_OK));
    if (ctx->size > 1)
        MPI_Bcast(run, (int)sizeof *run, MPI_BYTE, 0, ctx->comm);
done:
    return err;
}

enum tac_audit_clash tac_audit_frames_clash(const struct tac_audit_run *run, const struct tac_reader *frames)
{
    const double last_s = frames->frame_count > 0 ? frames->frame[frames->frame_count - 1].time_s : NAN;
    if (isnan(run->time_s))
        return TAC_AUDIT_NO_CLASH;
    const bool agree = run->end == TAC_AUDIT_FINISHED ? last_s == run->time_s : !(last_s > run->time_s);
    return agree ? TAC_AUDIT_NO_CLASH : TAC_AUDIT_FRAMES_END;
}

void tac_audit_part_fill(struct tac_audit_part *part, const struct tac_audit_run *run, const struct tac_reader *frames,
                         const bool late[2])
{
    const double *looked = part->looked_s;
    part->begin_s = frames->frame_count > 0 ? frames->frame[0].time_s : NAN;
    const bool begins = looked[0] <= part->begin_s;
    const bool ends = run->end == TAC_AUDIT_FINISHED && looked[1] >= run->time_s;
    part->reaches[0] = isnan(part->asked_s[0]) ? begins : !isnan(looked[0]) && !late[0];
    part->reaches[1] = isnan(part->asked_s[1]) ? ends : !isnan(looked[1]) && !late[1];
    part->whole = begins && ends;
}

/* ---- of which scene ---- */

static enum tac_err no_hash(struct tac_ctx *ctx, const char *path)
{
    return tac_fail(ctx, TAC_ERR_INPUT,
                    "'%.1000s' does not say of which scene it is (it has no attribute scene_sha256): an older version "
                    "or another program wrote it; run the scene again",
                    path);
}

static enum tac_err same_hash(struct tac_ctx *ctx, const struct tac_audit_folder *f)
{
    const char *frames = f->frames->sha256, *record = f->recorded != NULL ? f->recorded->file->sha256 : frames;
    if (frames[0] == '\0')
        return no_hash(ctx, f->frames->path);
    if (record[0] == '\0')
        return no_hash(ctx, f->recorded->file->path);
    if (strcmp(frames, record) != 0)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "'%.1000s' is the record of another scene than the frames beside it (scene_sha256 %.12s..., "
                        "not %.12s...); put back the record of this run",
                        f->recorded->file->path, record, frames);
    if (f->run->from[0] != '\0' && strcmp(f->run->sha256, frames) != 0)
        return tac_fail(ctx, TAC_ERR_INPUT,
                        "'%.1000s' is of another scene than the %s beside it (scene_sha256 %.12s..., not %.12s...); "
                        "put back the files of one run",
                        f->frames->path, f->run->from, frames, f->run->sha256);
    return TAC_OK;
}

/* Adds how many vertices, triangles and segments each body has, in the form for tac_scene_resume(). */
static enum tac_err put_counts(struct tac_ctx *ctx, const struct tac_scene *s, json_t *json)
{
    json_t *counts[4] = {json_array(), json_array(), json_array(), json_array()};
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        const struct tac_body *body = &s->settings->body[b];
        tac_json_append(&counts[0], json_integer(body->vertex_end - body->vertex_begin));
        tac_json_append(&counts[1], json_integer(body->triangle_end - body->triangle_begin));
        tac_json_append(&counts[2], json_integer(body->segment_end - body->segment_begin));
        tac_json_append(&counts[3], json_integer(body->tetrahedron_end - body->tetrahedron_begin));
    }
    json_t *geometry = json_pack("{s:o, s:o, s:o, s:o}", "vertices", counts[0], "triangles", counts[1], "segments",
                                 counts[2], "tetrahedra", counts[3]);
    if (geometry == NULL || json_object_set_new(json, "geometry", geometry) != 0)
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading a scene");
    return TAC_OK;
}

static enum tac_err widen_time(struct tac_ctx *ctx, const tac_lid *from, size_t count, tac_gid **out)
{
    enum tac_err err = tac_alloc(ctx, count, sizeof **out, out);
    for (size_t i = 0; i < count && !err; i++)
        (*out)[i] = from[i];
    return err;
}

/* Returns the first property that the audit uses and that the mesh and scene.json give otherwise than the scene made
 * from them; NULL: none. text: work space. */
static const char *difference(const struct tac_audit_folder *f, const struct tac_scene *s, struct tac_scene *made,
                              char text[160])
{
    if (f->recorded != NULL && f->recorded->file->quantum_s != made->settings->quantum_s)
        return "the record's quantum_s is not the scene's";
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        snprintf(text, 160, "the radius of body `%.60s` is not the scene's", made->settings->body[b].name);
        if (s->settings->body[b].radius != made->settings->body[b].radius)
            return text;
        if (strcmp(s->settings->body[b].name, tac_tame(made->settings->body[b].name)) !=
            0) /* contact.ignore goes by names */
            return "/mesh/body_names are not the scene's";
    }
    for (tac_lid i = 0; i < s->mesh->vertex_count && f->frames->free != NULL; i++)
        if (s->mesh->ever_free[i] != made->mesh->ever_free[i])
            return "/mesh/free is not the scene's";
    return NULL;
}

static enum tac_err read_scene_json(struct tac_ctx *ctx, const char *dir, const struct tac_scene *s, json_t **out)
{
    enum tac_err err;
    char *path = NULL;
    const size_t size = strlen(dir) + sizeof "/scene.json";
    TAC_TRY(tac_alloc(ctx, size, 1, &path));
    snprintf(path, size, "%s/scene.json", dir);
    *out = json_load_file(path, 0, NULL);
    if (*out == NULL)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%s'", path));
    TAC_TRY(put_counts(ctx, s, *out));
done:
    free(path);
    return err;
}

/* Makes the scene once more from scene.json, the mesh and frame 0, whose positions are the start positions; on one
 * rank, for it takes memory. */
static enum tac_err make_scene(struct tac_ctx *ctx, const struct tac_audit_folder *f, const struct tac_scene *s)
{
    enum tac_err err;
    struct tac_ctx alone = {.comm = ctx->comm, .size = 1, .quiet = true};
    struct tac_scene *made = NULL;
    json_t *json = NULL;
    double *x = NULL;
    tac_gid *triangle = NULL, *segment = NULL, *tetrahedron = NULL;
    const char *why;
    char text[160];
    TAC_TRY(read_scene_json(ctx, f->dir, s, &json));
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)s->mesh->vertex_count, sizeof *x, &x));
    TAC_TRY(widen_time(ctx, s->mesh->triangle, 3 * (size_t)s->mesh->triangle_count, &triangle));
    TAC_TRY(widen_time(ctx, s->mesh->segment, 2 * (size_t)s->mesh->segment_count, &segment));
    TAC_TRY(widen_time(ctx, s->mesh->tetrahedron, 4 * (size_t)s->mesh->tetrahedron_count, &tetrahedron));
    TAC_TRY(tac_reader_frame(ctx, f->frames, 0, x, NULL, NULL));
    const struct tac_geometry geometry = {.vertex_count = s->mesh->vertex_count,
                                          .triangle_count = s->mesh->triangle_count,
                                          .segment_count = s->mesh->segment_count,
                                          .tetrahedron_count = s->mesh->tetrahedron_count,
                                          .x = x,
                                          .triangle = triangle,
                                          .segment = segment,
                                          .tetrahedron = tetrahedron};
    err = tac_scene_resume(&alone, NULL, NULL, 0, json, NULL, &geometry, &made);
    if (err == TAC_ERR_RUN)
        TAC_TRY(tac_fail(ctx, err, "%s", alone.error));
    why = err                                                      ? "they make none"
          : strcmp(made->settings->sha256, f->frames->sha256) != 0 ? "they make another one"
                                                                   : NULL;
    why = why != NULL ? why : difference(f, s, made, text);
    err = why == NULL
              ? TAC_OK
              : tac_fail(ctx, TAC_ERR_INPUT,
                         "'%.500s/scene.json', the mesh of frames.h5 and its frame 0 are not those of the scene "
                         "that was run (scene_sha256 %.12s...): %s; put back the files of one run",
                         f->dir, f->frames->sha256, why);
done:
    tac_scene_destroy(&made);
    json_decref(json);
    free(x);
    free(triangle);
    free(tetrahedron);
    free(segment);
    return err;
}

enum tac_err tac_audit_scene_tie(struct tac_ctx *ctx, const struct tac_audit_folder *f, const struct tac_scene *scene,
                                 bool *made)
{
    enum tac_err err;
    *made = f->frames->frame_count > 0 && f->frames->frame[0].index == 0 && f->frames->frame[0].time_s == 0;
    TAC_TRY(tac_agree(ctx, same_hash(ctx, f)));
    TAC_TRY(tac_agree(ctx, *made && ctx->rank == 0 ? make_scene(ctx, f, scene) : TAC_OK));
    if (!*made && f->frames->frame_count > 0)
        tac_warn(ctx,
                 "'%s' has no frame of t = 0: that its mesh and scene.json are those of the scene that was run is "
                 "taken from scene_sha256 alone",
                 f->frames->path);
done:
    return err;
}
