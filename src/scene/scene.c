/* scene.c: reads a scene from its file into its arrays: it loads the text, applies --set, and calls the parts in their
 * order. The parts are in settings.c, material.c, body.c, motion.c, mass.c and hash.c. resume.c does the same for a
 * scene that goes on from a checkpoint.
 */
#include "scene/scene_read.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tactus/math.h>

#include "base/json_read.h"

enum tac_err tac_scene_resolve(struct tac_reader *reader, json_t *root)
{
    struct tac_scene *scene = reader->scene;
    const bool sets_thickness = json_object_get(json_object_get(root, "contact"), "thickness") != NULL;
    enum tac_err err = TAC_OK;
    reader->sets_rest_fraction = json_object_get(json_object_get(root, "contact"), "rest_fraction") != NULL;
    TAC_TRY(tac_scene_read_settings(reader, root));
    TAC_TRY(tac_scene_read_materials(reader, root));
    TAC_TRY(tac_scene_read_laws(reader, json_object_get(root, "contact")));
    TAC_TRY(tac_scene_read_joints(reader, root));
    TAC_TRY(tac_scene_read_bodies(reader, root));
    TAC_TRY(tac_scene_check_joints(reader));
    TAC_TRY(tac_scene_read_ignore(reader, json_object_get(root, "contact")));
    TAC_TRY(tac_scene_read_motions(reader, root));
    TAC_TRY(tac_scene_read_loads(reader, root));
    TAC_TRY(tac_scene_read_histories(reader, root));
    tac_scene_hold_pins(reader);
    TAC_TRY(tac_scene_check_joined(reader));
    TAC_TRY(tac_scene_masses(reader));
    TAC_TRY(tac_scene_velocities(reader));
    TAC_TRY(tac_scene_check_loads(reader));
    TAC_TRY(tac_scene_check_rigid(reader));
    TAC_TRY(tac_scene_set_motors(reader));
    TAC_TRY(tac_scene_check_implicit(reader));
    TAC_TRY(tac_scene_check_impact(reader));
    TAC_TRY(tac_scene_check_speeds(reader));
    if (reader->resume == NULL) /* a run that goes on has said it */
        TAC_TRY(tac_scene_doubts(reader, sets_thickness));
    if (reader->spread) {
        TAC_TRY(tac_scene_hash(reader));
        TAC_TRY(tac_scene_add_start_velocities(reader));
        TAC_TRY(reader->spread->pieces(reader));
        TAC_TRY(tac_scene_check_elements(reader));
        goto done;
    }
    TAC_TRY(tac_topology_create(reader->ctx, scene->mesh->vertex_count, scene->mesh->triangle_count,
                                scene->mesh->triangle, scene->mesh->segment_count, scene->mesh->segment,
                                &scene->mesh->topology));
    TAC_TRY(tac_scene_check_elements(reader));
    TAC_TRY(tac_scene_hash(reader));
    TAC_TRY(tac_scene_add_start_velocities(reader));
done:
    return err;
}

static enum tac_err fail_json(struct tac_reader *reader, const json_error_t *error)
{
    if (tac_json_no_memory(error))
        return tac_fail(reader->ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
    return tac_scene_fail(reader, "", "line %d column %d: %s; correct the JSON", error->line, error->column,
                          error->text);
}

enum tac_err tac_scene_load(struct tac_reader *reader, json_t **out)
{
    struct tac_ctx *ctx = reader->ctx;
    struct stat status;
    json_error_t error;
    if (reader->text != NULL) {
        *out = tac_json_read_text(reader->text, strlen(reader->text), JSON_REJECT_DUPLICATES, &error);
        return *out != NULL ? TAC_OK : fail_json(reader, &error);
    }
    FILE *stream = fopen(reader->file, "rb");
    if (stream == NULL)
        return tac_fail(ctx, TAC_ERR_INPUT, "%s: cannot be opened: %s; check the path", reader->file, strerror(errno));
    if (fstat(fileno(stream), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(stream);
        return tac_fail(ctx, TAC_ERR_INPUT, "%s: is a folder; give the scene file (a run folder holds scene.json)",
                        reader->file);
    }
    *out = tac_json_read_stream(stream, JSON_REJECT_DUPLICATES, &error);
    bool broken = ferror(stream) != 0;
    fclose(stream);
    if (broken)
        return tac_fail(ctx, TAC_ERR_INPUT, "%s: cannot be read; check the file and its disk", reader->file);
    return *out != NULL ? TAC_OK : fail_json(reader, &error);
}

enum tac_err tac_scene_find_base(struct tac_reader *reader)
{
    char *copy = NULL;
    enum tac_err err = TAC_OK;
    if (reader->text != NULL) {
        const char *folder = reader->folder != NULL ? reader->folder : ".";
        reader->base_dir = realpath(folder, NULL);
        return reader->base_dir != NULL
                   ? TAC_OK
                   : tac_fail(reader->ctx, TAC_ERR_INPUT, "the folder '%s' of the scene's paths cannot be found: %s",
                              folder, strerror(errno));
    }
    TAC_TRY(tac_copy(reader->ctx, reader->file, &copy));
    reader->base_dir = realpath(dirname(copy), NULL);
    if (reader->base_dir == NULL)
        err = tac_fail(reader->ctx, TAC_ERR_INPUT, "%s: its folder cannot be found: %s; check the path", reader->file,
                       strerror(errno));
done:
    free(copy);
    return err;
}

enum tac_err tac_reader_compare_texts(struct tac_reader *reader)
{
    struct tac_ctx *ctx = reader->ctx;
    char *text = json_dumps(reader->scene->settings->json, JSON_COMPACT | JSON_REAL_PRECISION(17));
    uint64_t mine = 0, first;
    enum tac_err err = TAC_OK;
    if (text == NULL)
        err = tac_fail(ctx, TAC_ERR_RUN, "out of memory while reading %s", reader->file);
    TAC_TRY(tac_reader_agree(reader, err));
    for (const char *c = text; *c != '\0'; c++)
        mine = tac_hash64(mine, (unsigned char)*c);
    first = mine;
    MPI_Bcast(&first, 1, MPI_UINT64_T, 0, ctx->comm);
    if (first != mine)
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: rank %d reads another scene than rank 0; put it on a shared disk",
                       reader->file, ctx->rank);
    TAC_TRY(tac_reader_agree(reader, err));
done:
    free(text);
    return err;
}

static enum tac_err read_local(struct tac_reader *reader, const char *const *set, int set_count)
{
    enum tac_err err = TAC_OK;
    struct tac_scene *scene = reader->scene;
    TAC_TRY(tac_copy(reader->ctx, reader->file, &scene->settings->path));
    TAC_TRY(tac_scene_load(reader, &scene->settings->json));
    TAC_TRY(tac_scene_find_base(reader));
    for (int i = 0; i < set_count; i++)
        TAC_TRY(tac_scene_set(reader, scene->settings->json, set[i]));
    if (reader->spread)
        TAC_TRY(tac_reader_compare_texts(reader));
    TAC_TRY(tac_scene_resolve(reader, scene->settings->json));
done:
    return err;
}

enum tac_err tac_reader_agree(struct tac_reader *reader, enum tac_err err)
{
    return reader->spread ? tac_reader_agreed(reader, tac_agree(reader->ctx, err)) : err;
}

enum tac_err tac_reader_agreed(struct tac_reader *reader, enum tac_err err)
{
    reader->agreed = err != TAC_OK;
    return err;
}

/* Every rank reads the file itself: they must read the same. */
static enum tac_err compare_ranks(struct tac_reader *reader)
{
    struct tac_ctx *ctx = reader->ctx;
    enum tac_err err = TAC_OK;
    char first[sizeof reader->scene->settings->sha256];
    memcpy(first, reader->scene->settings->sha256, sizeof first);
    MPI_Bcast(first, (int)sizeof first, MPI_CHAR, 0, ctx->comm);
    if (strcmp(first, reader->scene->settings->sha256) != 0)
        err = tac_fail(ctx, TAC_ERR_INPUT, "%s: rank %d reads another scene than rank 0; put it on a shared disk",
                       reader->file, ctx->rank);
    return tac_agree(ctx, err);
}

enum tac_err tac_scene_read_by(struct tac_reader *reader, const char *const *set, int set_count)
{
    struct tac_ctx *ctx = reader->ctx;
    enum tac_err err = tac_scene_make(ctx, NULL, &reader->scene);
    if (err == TAC_OK)
        err = read_local(reader, set, set_count);
    free(reader->base_dir);
    free(reader->rows);
    free(reader->motion);
    json_decref(reader->names);
    /* While rows are spread over the ranks, the ranks may have agreed on the failure already; then none calls this
     * function for it. */
    if (!reader->agreed)
        err = tac_agree(ctx, err);
    if (err == TAC_OK && ctx->size > 1)
        err = compare_ranks(reader);
    if (err) {
        tac_scene_destroy(&reader->scene);
        if (reader->spread)
            reader->spread->destroy(reader);
    }
    return err;
}

enum tac_err tac_scene_read(struct tac_ctx *ctx, const char *path, const char *const *set, int set_count,
                            struct tac_scene **out)
{
    struct tac_reader reader = {.ctx = ctx, .file = path};
    enum tac_err err = tac_scene_read_by(&reader, set, set_count);
    *out = reader.scene;
    return err;
}

#define TEXT_NAME "the scene's text"

struct tac_reader tac_reader_of(struct tac_ctx *ctx, const struct tac_scene_source *source)
{
    const bool file = source->path != NULL;
    return (struct tac_reader){.ctx = ctx,
                               .file = file ? source->path : TEXT_NAME,
                               .text = file ? NULL : source->text,
                               .folder = source->folder};
}

enum tac_err tac_scene_source_read(struct tac_ctx *ctx, const struct tac_scene_source *source, struct tac_scene **out)
{
    struct tac_reader reader = tac_reader_of(ctx, source);
    enum tac_err err = tac_scene_read_by(&reader, source->set, source->set_count);
    *out = reader.scene;
    return err;
}

enum tac_err tac_scene_parse(struct tac_ctx *ctx, const char *text, const char *folder, const char *const *set,
                             int set_count, struct tac_scene **out)
{
    const struct tac_scene_source source = {.text = text, .folder = folder, .set = set, .set_count = set_count};
    return tac_scene_source_read(ctx, &source, out);
}

enum tac_err tac_scene_make(struct tac_ctx *ctx, struct tac_settings *settings, struct tac_scene **out)
{
    struct tac_scene *s = NULL;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(ctx, 1, sizeof *s, &s));
    TAC_TRY(tac_alloc(ctx, 1, sizeof *s->mesh, &s->mesh));
    if (settings == NULL)
        TAC_TRY(tac_alloc(ctx, 1, sizeof *s->settings, &s->settings));
    else
        s->settings = settings;
    s->settings->users++;
    *out = s;
    s = NULL;
done:
    tac_scene_destroy(&s);
    return err;
}

static void settings_release(struct tac_settings *s)
{
    if (s == NULL || --s->users > 0)
        return;
    for (tac_lid i = 0; i < s->material_count; i++)
        free(s->material[i].name);
    for (tac_lid i = 0; i < s->body_count; i++) {
        free(s->body[i].name);
        free(s->body[i].rest);
        free(s->body[i].start_velocity);
    }
    for (tac_lid i = 0; i < s->motion_count; i++)
        tac_motion_clear(&s->motion[i]);
    for (tac_lid i = 0; i < s->load_count; i++) {
        free(s->load[i].knot_t_s);
        free(s->load[i].factor);
    }
    for (tac_lid i = 0; i < s->joint_count; i++) {
        free(s->joint[i].name);
        free(s->joint[i].motor.knot_t_s);
        free(s->joint[i].motor.factor);
    }
    json_decref(s->json);
    tac_scene_free_histories(&s->output);
    free(s->name);
    free(s->path);
    free(s->row_digest.value);
    free(s->contact.ignore);
    free(s->contact.law);
    free(s->material);
    free(s->body);
    free(s->rigid);
    free(s->joint);
    free(s->anchor);
    free(s->motion);
    free(s->load);
    free(s->load_set);
    free(s);
}

static void mesh_destroy(struct tac_local_mesh *m)
{
    if (m == NULL)
        return;
    for (tac_lid i = 0; i < m->moved_count; i++)
        free(m->moved[i].vertex);
    tac_topology_destroy(&m->topology);
    free(m->moved);
    free(m->joint_point);
    free(m->vertex_load);
    free(m->x);
    free(m->v);
    free(m->mass);
    free(m->ever_free);
    free(m->vertex_body);
    free(m->flat);
    free(m->triangle);
    free(m->segment);
    free(m->tetrahedron);
    free(m);
}

void tac_scene_destroy(struct tac_scene **scene)
{
    struct tac_scene *s = *scene;
    if (s == NULL)
        return;
    mesh_destroy(s->mesh);
    settings_release(s->settings);
    free(s);
    *scene = NULL;
}

tac_lid tac_load_next(const struct tac_scene *s, tac_lid *set, int n)
{
    for (;;) {
        tac_lid least = INT32_MAX;
        bool same = true;
        for (int k = 0; k < n; k++) {
            if (set[k] < 0)
                return -1;
            const tac_lid load = s->settings->load_set[set[k]].load;
            same = same && (k == 0 || load == least);
            least = load < least ? load : least;
        }
        for (int k = 0; k < n; k++)
            if (same || s->settings->load_set[set[k]].load > least)
                set[k] = s->settings->load_set[set[k]].rest;
        if (same)
            return least;
    }
}

tac_lid tac_scene_body_of(const struct tac_scene *s, tac_gid vertex)
{
    tac_lid lo = 0, hi = s->settings->body_count;
    while (hi - lo > 1) {
        tac_lid mid = lo + (hi - lo) / 2;
        if (s->settings->body[mid].vertex_begin <= vertex)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}
