/* repair.c: opens a scene for repair, and tries one way after the other. */
#include "repair/repair_room.h"
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>
#include <tactus/repair.h>
#include <unistd.h>

enum tac_err tac_repair_look(struct tac_repair *r, struct tac_overlaps **out)
{
    return tac_overlap_find(r->ctx, r->scene, out);
}

/* A body is closed if it has triangles, and each of their edges has two of them. */
static void find_closed(struct tac_repair *r)
{
    const struct tac_settings *s = r->scene->settings;
    const struct tac_topology *t = r->scene->mesh->topology;
    for (tac_lid b = 0; b < s->body_count; b++)
        r->closed[b] =
            s->body[b].triangle_end > s->body[b].triangle_begin && s->body[b].segment_end == s->body[b].segment_begin;
    for (tac_lid e = 0; e < t->edge_count; e++)
        if (t->edge_valence[e] != 2)
            r->closed[r->scene->mesh->vertex_body[t->edge[2 * (size_t)e]]] = 0;
}

static void find_yielding(struct tac_repair *r)
{
    const struct tac_local_mesh *m = r->scene->mesh;
    for (tac_lid v = 0; v < m->vertex_count; v++) {
        const struct tac_body *body = &r->scene->settings->body[m->vertex_body[v]];
        r->yields[v] = m->ever_free[v] && body->rigid < 0 && v < tac_body_mesh_end(body);
    }
    for (tac_lid k = 0; k < m->moved_count; k++)
        for (tac_lid i = 0; i < m->moved[k].vertex_count; i++)
            r->yields[m->moved[k].vertex[i]] = 0;
    for (tac_lid v = 0; v < m->vertex_count; v++)
        r->loose[m->vertex_body[v]] |= r->yields[v];
}

static void close_scene(struct tac_repair *r)
{
    tac_scene_destroy(&r->scene);
    free(r->placed);
    free(r->small);
    free(r->yields);
    free(r->loose);
    free(r->closed);
    free(r->shrunk);
    memset(r, 0, sizeof *r);
}

static enum tac_err open_scene(struct tac_ctx *ctx, const char *path, struct tac_repair *r)
{
    enum tac_err err = TAC_OK;
    struct tac_overlaps *overlaps = NULL;
    *r = (struct tac_repair){.ctx = ctx};
    TAC_TRY(tac_scene_read(ctx, path, NULL, 0, &r->scene));
    const size_t n = (size_t)r->scene->mesh->vertex_count, bodies = (size_t)r->scene->settings->body_count;
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *r->placed, &r->placed));
    TAC_TRY(tac_alloc(ctx, 3 * n, sizeof *r->small, &r->small));
    TAC_TRY(tac_alloc(ctx, n, 1, &r->yields));
    TAC_TRY(tac_alloc(ctx, bodies, 1, &r->loose));
    TAC_TRY(tac_alloc(ctx, bodies, 1, &r->closed));
    TAC_TRY(tac_alloc(ctx, bodies, 1, &r->shrunk));
    memcpy(r->placed, r->scene->mesh->x, 3 * n * sizeof *r->placed);
    find_yielding(r);
    find_closed(r);
    TAC_TRY(tac_repair_look(r, &overlaps));
    r->before = overlaps->count;
    r->more = overlaps->more;
done:
    tac_overlap_destroy(&overlaps);
    if (err)
        close_scene(r);
    return err;
}

/* What is left when nothing helps. */
static void tell_left(struct tac_repair *r, const struct tac_overlaps *left)
{
    char text[512];
    if (r->why[0] != '\0' || left->count == 0)
        return;
    tac_overlap_describe(r->scene, &left->overlap[0], text, sizeof text);
    snprintf(r->why, sizeof r->why, "%zu place%s still overlap%s, the worst: %s", left->count,
             left->count == 1 ? "" : "s", left->count == 1 ? "s" : "", text);
}

/* When closed bodies are small: the others are pushed apart, and it grows. */
static enum tac_err push_and_grow(struct tac_repair *r, const char *folder)
{
    struct tac_overlaps *left = NULL;
    bool done = false;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_repair_push(r, &done));
    if (done)
        TAC_TRY(tac_repair_grow(r, folder));
    if (done && r->why[0] == '\0')
        TAC_TRY(tac_repair_push(r, &done));
    TAC_TRY(tac_repair_look(r, &left));
    tell_left(r, left);
done:
    tac_overlap_destroy(&left);
    return err;
}

static enum tac_err find_start(struct tac_repair *r, const char *folder)
{
    struct tac_overlaps *overlaps = NULL;
    bool done = r->before == 0;
    enum tac_err err = TAC_OK;
    if (!done)
        TAC_TRY(tac_repair_push(r, &done));
    if (done)
        return TAC_OK;
    if (r->scene->settings->joint_count > 0) {
        snprintf(r->why, sizeof r->why, "a scene with joints is repaired only where a little push is enough");
        return TAC_OK;
    }
    TAC_TRY(tac_repair_look(r, &overlaps));
    TAC_TRY(tac_repair_shrink(r, overlaps, &done));
    if (done)
        TAC_TRY(push_and_grow(r, folder));
done:
    tac_overlap_destroy(&overlaps);
    return err;
}

tac_lid tac_repair_moved(const struct tac_repair *r, tac_lid b, double *largest, double *mean)
{
    const struct tac_body *body = &r->scene->settings->body[b];
    const tac_lid end = tac_body_mesh_end(body);
    tac_lid moved = 0;
    *largest = *mean = 0;
    for (tac_lid v = body->vertex_begin; v < end; v++) {
        double d[3];
        tac_sub(d, &r->scene->mesh->x[3 * (size_t)v], &r->placed[3 * (size_t)v]);
        const double far = sqrt(tac_dot(d, d));
        moved += far > 0;
        *largest = fmax(*largest, far);
        *mean += far;
    }
    *mean = fmin(*largest, *mean / (end - body->vertex_begin)); /* the quotient is rounded */
    return moved;
}

/* ---- from file to file ---- */

/* A folder beside the result, for files that are removed again. */
static enum tac_err make_folder(struct tac_ctx *ctx, const char *out, char *folder, size_t size)
{
    char copy[PATH_MAX], real[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", out);
    if (realpath(dirname(copy), real) != NULL) {
        snprintf(folder, size, "%.900s/.tactus-repair-XXXXXX", real);
        if (mkdtemp(folder) != NULL)
            return TAC_OK;
    }
    folder[0] = '\0';
    return tac_fail(ctx, TAC_ERR_INPUT, "%s: cannot be written: %s; choose another folder", out, strerror(errno));
}

static enum tac_err tell(const struct tac_repair *r, struct tac_repaired *out)
{
    const struct tac_settings *s = r->scene->settings;
    enum tac_err err = TAC_OK;
    out->overlaps = r->before;
    out->more = r->more;
    TAC_TRY(tac_alloc(r->ctx, (size_t)s->body_count, sizeof *out->body, &out->body));
    for (tac_lid b = 0; b < s->body_count; b++) {
        const struct tac_body *body = &s->body[b];
        struct tac_repaired_body *to = &out->body[out->count];
        to->moved = tac_repair_moved(r, b, &to->largest, &to->mean);
        to->vertices = tac_body_mesh_end(body) - body->vertex_begin;
        to->grown = r->shrunk[b];
        if (to->moved == 0 && !to->grown)
            continue;
        TAC_TRY(tac_alloc(r->ctx, strlen(body->name) + 1, 1, &to->name));
        memcpy(to->name, body->name, strlen(body->name));
        out->count++;
    }
done:
    return err;
}

enum tac_err tac_repair(struct tac_ctx *ctx, const char *scene, const char *out, struct tac_repaired *repaired)
{
    struct tac_repair r = {.ctx = ctx};
    char folder[PATH_MAX] = "", one[PATH_MAX], two[PATH_MAX];
    enum tac_err err = TAC_OK;
    *repaired = (struct tac_repaired){0};
    if (realpath(scene, one) != NULL && realpath(out, two) != NULL && strcmp(one, two) == 0)
        TAC_TRY(tac_fail(ctx, TAC_ERR_INPUT, "%s: is the scene itself; give the result another name", out));
    TAC_TRY(open_scene(ctx, scene, &r));
    TAC_TRY(make_folder(ctx, out, folder, sizeof folder));
    TAC_TRY(find_start(&r, folder));
    if (r.why[0] == '\0')
        TAC_TRY(tac_repair_write(&r, scene, out));
    if (r.why[0] != '\0')
        TAC_TRY(tac_fail(ctx, TAC_ERR_NO, "%s: cannot be repaired: %s", scene, r.why));
    err = tell(&r, repaired);
done:
    if (folder[0] != '\0')
        rmdir(folder);
    close_scene(&r);
    if (err)
        tac_repaired_free(repaired);
    return err;
}

void tac_repaired_free(struct tac_repaired *repaired)
{
    for (tac_lid i = 0; i < repaired->count; i++)
        free(repaired->body[i].name);
    free(repaired->body);
    *repaired = (struct tac_repaired){0};
}
