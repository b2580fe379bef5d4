/* repair_write.c: writes a repaired scene and the positions of what was moved beside it, and proves what is written. */
#include "base/create.h"
#include "mesh/cache/point_cache.h"
#include "repair/repair_room.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/report.h>
#include <unistd.h>

/* The file of a body: REPAIRED-BODY.h5, with the body's number where its name cannot be that of a file. */
static void name_file(const struct tac_repair *r, const char *path, tac_lid b, char *out, size_t size)
{
    const char *name = r->scene->settings->body[b].name, *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    const int stem = dot != NULL && (slash == NULL || dot > slash) ? (int)(dot - path) : (int)strlen(path);
    char plain[64];
    size_t n = 0;
    bool same = true;
    for (; name[n] != '\0' && n + 1 < sizeof plain; n++) {
        const bool good = isalnum((unsigned char)name[n]) || name[n] == '_' || name[n] == '-';
        plain[n] = (char)(good ? name[n] : '-');
        same = same && good;
    }
    plain[n] = '\0';
    if (same && name[n] == '\0')
        snprintf(out, size, "%.*s-%s.h5", stem, path, plain);
    else
        snprintf(out, size, "%.*s-%d-%s.h5", stem, path, (int)b, plain);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Takes an absolute path from the resolved scene. */
static void take_path(json_t *to, const json_t *from, const char *key)
{
    const json_t *path = json_object_get(from, key);
    if (json_object_get(to, key) != NULL && json_is_string(path))
        json_object_set(to, key, (json_t *)path);
}

/* A scene that goes to another folder has its files by absolute paths. */
static void take_paths(const struct tac_repair *r, json_t *root)
{
    const json_t *from = r->scene->settings->json;
    json_t *list = json_object_get(root, "bodies");
    for (size_t b = 0; b < json_array_size(list); b++) {
        json_t *body = json_array_get(list, b);
        const json_t *resolved = json_array_get(json_object_get(from, "bodies"), b);
        take_path(json_object_get(body, "mesh"), json_object_get(resolved, "mesh"), "path");
        take_path(json_object_get(body, "start"), json_object_get(resolved, "start"), "file");
    }
    list = json_object_get(root, "motions");
    for (size_t m = 0; m < json_array_size(list); m++)
        take_path(json_object_get(json_array_get(list, m), "positions"),
                  json_object_get(json_array_get(json_object_get(from, "motions"), m), "positions"), "file");
}

static enum tac_err write_text(struct tac_repair *r, const json_t *root, const char *path)
{
    char temporary[PATH_MAX];
    enum tac_err err = TAC_OK;
    snprintf(temporary, sizeof temporary, "%.*s.tmp", (int)sizeof temporary - 8, path);
    FILE *file = tac_create_stream(AT_FDCWD, temporary);
    bool good = file != NULL && json_dumpf(root, file, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0;
    good = good && fputc('\n', file) != EOF;
    if (file != NULL)
        good = fclose(file) == 0 && good;
    if (!good || rename(temporary, path) != 0) {
        err = tac_fail(r->ctx, TAC_ERR_RUN, "cannot write %s: %s; make room or choose another folder", path,
                       strerror(errno));
        unlink(temporary);
    }
    return err;
}

static bool same_folder(const char *a, const char *b)
{
    char one[PATH_MAX], two[PATH_MAX], real[2][PATH_MAX];
    snprintf(one, sizeof one, "%s", a);
    snprintf(two, sizeof two, "%s", b);
    return realpath(dirname(one), real[0]) != NULL && realpath(dirname(two), real[1]) != NULL &&
           strcmp(real[0], real[1]) == 0;
}

static void remove_all(const struct tac_repair *r, const char *path)
{
    char file[PATH_MAX];
    double largest, mean;
    unlink(path);
    for (tac_lid b = 0; b < r->scene->settings->body_count; b++)
        if (tac_repair_moved(r, b, &largest, &mean) > 0) {
            name_file(r, path, b, file, sizeof file);
            unlink(file);
        }
}

/* The proof: of the files, by what refuses a scene. */
static enum tac_err prove(struct tac_repair *r, const char *path)
{
    struct tac_scene *scene = NULL;
    struct tac_overlaps *left = NULL;
    struct tac_ctx quiet = *r->ctx;
    quiet.quiet = true;
    quiet.warned = NULL;
    quiet.error[0] = '\0';
    enum tac_err err = tac_scene_read(&quiet, path, NULL, 0, &scene);
    if (!err)
        err = tac_overlap_find(&quiet, scene, &left);
    if (err == TAC_ERR_INPUT) {
        snprintf(r->why, sizeof r->why, "the repaired scene is refused: %.500s", quiet.error);
        err = TAC_OK;
    } else if (err) {
        memcpy(r->ctx->error, quiet.error, sizeof r->ctx->error);
    } else if (left->count > 0) {
        snprintf(r->why, sizeof r->why, "the repaired scene still overlaps in %zu places", left->count);
    }
    tac_overlap_destroy(&left);
    tac_scene_destroy(&scene);
    return err;
}

/* The new positions, and the velocities of the file that they come instead of. */
static enum tac_err write_start(struct tac_repair *r, tac_lid b, const char *path)
{
    const struct tac_settings *s = r->scene->settings;
    const struct tac_body *body = &s->body[b];
    const json_t *old = json_object_get(json_array_get(json_object_get(s->json, "bodies"), (size_t)b), "start");
    struct tac_start_rows file = {{0}, {NULL}};
    enum tac_err err = TAC_OK;
    if (body->start_sha256[0] != '\0')
        TAC_TRY(tac_start_rows_read(r->ctx, json_string_value(json_object_get(old, "file")), "", &file));
    err = tac_start_rows_write(r->ctx, path, tac_body_mesh_end(body) - body->vertex_begin,
                               &r->scene->mesh->x[3 * (size_t)body->vertex_begin], file.x[TAC_START_VELOCITY]);
done:
    tac_start_rows_clear(&file);
    return err;
}

enum tac_err tac_repair_write(struct tac_repair *r, const char *scene, const char *path)
{
    const struct tac_settings *s = r->scene->settings;
    json_t *root = json_load_file(scene, 0, NULL);
    char file[PATH_MAX];
    double largest, mean;
    enum tac_err err = TAC_OK;
    if (root == NULL)
        TAC_TRY(tac_fail(r->ctx, TAC_ERR_INPUT, "%s: cannot be read again; was it changed meanwhile?", scene));
    if (!same_folder(scene, path))
        take_paths(r, root);
    for (tac_lid b = 0; b < s->body_count; b++) {
        if (tac_repair_moved(r, b, &largest, &mean) == 0)
            continue;
        name_file(r, path, b, file, sizeof file);
        TAC_TRY(write_start(r, b, file));
        json_object_set_new(json_array_get(json_object_get(root, "bodies"), (size_t)b), "start",
                            json_pack("{s:o}", "file", tac_json_text(last_part(file))));
    }
    TAC_TRY(write_text(r, root, path));
    TAC_TRY(prove(r, path));
    if (r->why[0] != '\0')
        remove_all(r, path);
done:
    json_decref(root);
    return err;
}
