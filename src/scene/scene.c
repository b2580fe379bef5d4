/* scene.c: a scene from its file to its arrays: load, --set, then the parts in their order; the rest is in settings.c,
 * material.c, body.c, motion.c, mass.c and hash.c; resume.c does the same for a scene that goes on from a checkpoint.
 */
#include "partition/part.h"
#include "read.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum tac_err tac_scene_resolve(struct tac_reader *reader, json_t *root)
{
    struct tac_scene *scene = reader->scene;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_scene_read_settings(reader, root));
    TAC_TRY(tac_scene_read_materials(reader, root));
    TAC_TRY(tac_scene_read_bodies(reader, root));
    TAC_TRY(tac_scene_read_ignore(reader, json_object_get(root, "contact")));
    TAC_TRY(tac_scene_read_motions(reader, root));
    TAC_TRY(tac_scene_masses(reader));
    TAC_TRY(tac_scene_velocities(reader));
    TAC_TRY(tac_topology_create(reader->ctx, scene->vertex_count, scene->triangle_count, scene->triangle,
                                scene->segment_count, scene->segment, &scene->topology));
    TAC_TRY(tac_scene_check_elements(reader));
    TAC_TRY(tac_scene_hash(reader));
done:
    return err;
}

enum tac_err tac_scene_load(struct tac_reader *reader, json_t **out)
{
    struct tac_ctx *ctx = reader->ctx;
    struct stat status;
    json_error_t error;
    FILE *stream = fopen(reader->file, "rb");
    if (stream == NULL)
        return tac_fail(ctx, TAC_ERR_INPUT, "%s: cannot be opened: %s; check the path", reader->file, strerror(errno));
    if (fstat(fileno(stream), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(stream);
        return tac_fail(ctx, TAC_ERR_INPUT, "%s: is a folder; give the scene file (a run folder holds scene.json)",
                        reader->file);
    }
    *out = json_loadf(stream, JSON_REJECT_DUPLICATES, &error);
    bool broken = ferror(stream) != 0;
    fclose(stream);
    if (broken)
        return tac_fail(ctx, TAC_ERR_INPUT, "%s: cannot be read; check the file and its disk", reader->file);
    if (*out == NULL && (json_error_code(&error) == json_error_out_of_memory || error.text[0] == '\0'))
        return tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
    if (*out == NULL)
        return tac_scene_fail(reader, "", "line %d column %d: %s; correct the JSON", error.line, error.column,
                              error.text);
    return TAC_OK;
}

enum tac_err tac_scene_find_base(struct tac_reader *reader)
{
    char *copy = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_copy(reader->ctx, reader->file, &copy));
    reader->base_dir = realpath(dirname(copy), NULL);
    if (reader->base_dir == NULL)
        err = tac_fail(reader->ctx, TAC_ERR_INPUT, "%s: its folder cannot be found: %s; check the path", reader->file,
                       strerror(errno));
done:
    free(copy);
    return err;
}

static enum tac_err read_local(struct tac_reader *reader, const char *const *set, int set_count)
{
    enum tac_err err = TAC_OK;
    struct tac_scene *scene = reader->scene;
    TAC_TRY(tac_copy(reader->ctx, reader->file, &scene->path));
    TAC_TRY(tac_scene_load(reader, &scene->json));
    TAC_TRY(tac_scene_find_base(reader));
    for (int i = 0; i < set_count; i++)
        TAC_TRY(tac_scene_set(reader, scene->json, set[i]));
    TAC_TRY(tac_scene_resolve(reader, scene->json));
done:
    return err;
}

enum tac_err tac_scene_read(struct tac_ctx *ctx, const char *path, const char *const *set, int set_count,
                            struct tac_scene **out)
{
    struct tac_reader reader = {.ctx = ctx, .file = path};
    enum tac_err err;
    *out = NULL;
    err = tac_alloc(ctx, 1, sizeof *reader.scene, &reader.scene);
    if (err == TAC_OK)
        err = read_local(&reader, set, set_count);
    free(reader.base_dir);
    json_decref(reader.names);
    err = tac_agree(ctx, err);
    if (err == TAC_OK && ctx->size > 1) {
        /* Every rank read the file itself: they must have read the same. */
        char first[sizeof reader.scene->sha256];
        memcpy(first, reader.scene->sha256, sizeof first);
        MPI_Bcast(first, (int)sizeof first, MPI_CHAR, 0, ctx->comm);
        if (strcmp(first, reader.scene->sha256) != 0)
            err = tac_fail(ctx, TAC_ERR_INPUT, "%s: rank %d reads another scene than rank 0; put it on a shared disk",
                           path, ctx->rank);
        err = tac_agree(ctx, err);
    }
    if (err)
        tac_scene_destroy(&reader.scene);
    *out = reader.scene;
    return err;
}

void tac_scene_destroy(struct tac_scene **scene)
{
    struct tac_scene *s = *scene;
    if (s == NULL)
        return;
    for (tac_lid i = 0; i < s->material_count; i++)
        free(s->material[i].name);
    for (tac_lid i = 0; i < s->body_count; i++)
        free(s->body[i].name);
    for (tac_lid i = 0; i < s->motion_count; i++) {
        free(s->motion[i].vertex);
        free(s->motion[i].knot_t_s);
        free(s->motion[i].displacement);
        free(s->motion[i].degrees);
    }
    tac_topology_destroy(&s->topology);
    tac_part_destroy(&s->part);
    json_decref(s->json);
    free(s->name);
    free(s->path);
    free(s->contact.ignore);
    free(s->material);
    free(s->body);
    free(s->motion);
    free(s->x);
    free(s->v);
    free(s->mass);
    free(s->ever_free);
    free(s->vertex_body);
    free(s->triangle);
    free(s->segment);
    free(s);
    *scene = NULL;
}
