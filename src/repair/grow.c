/* grow.c: lets bodies that were shrunk grow back to their shape, while what can deform gives way.
 *
 * This is a simulation of a scene of its own, which is made here: the same bodies, without gravity and friction, by the
 * implicit integrator, in which what was shrunk is moved by a file of positions and what has no loose vertex stays
 * where it is.  Still air brakes what has triangles, so that it goes little farther than it is pushed.
 */
#include "mesh/cache/point_cache.h"
#include "repair/repair_room.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>
#include <tactus/report.h>
#include <tactus/simulation.h>
#include <unistd.h>

enum { KNOTS = 17 };
enum { MOST_STEPS = 500 }; /* halved ones count; 100 are planned */
#define DURATION 1.25      /* s */
#define GROWN 1.           /* s: when it has its shape again */
#define STEP .0125         /* s */
#define BRAKE 1000.        /* drag of the air on a sheet, times its density over the largest extent of the scene */

struct grow {
    struct tac_repair *r;
    const char *folder;
    double size; /* m, of the scene */
};

static char *file_name(char *out, size_t size, const struct grow *g, const char *kind, tac_lid b)
{
    snprintf(out, size, "%s/%s-%d.h5", g->folder, kind, (int)b);
    return out;
}

/* The path of a shrunk body: fast at first, slow at the end. */
static enum tac_err write_path(const struct grow *g, tac_lid b, const char *path)
{
    const struct tac_body *body = &g->r->scene->settings->body[b];
    const size_t n = 3 * (size_t)(tac_body_mesh_end(body) - body->vertex_begin);
    const double *from = &g->r->small[3 * (size_t)body->vertex_begin],
                 *to = &g->r->placed[3 * (size_t)body->vertex_begin];
    double *x = NULL, t[KNOTS];
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_alloc(g->r->ctx, KNOTS * n, sizeof *x, &x));
    for (int k = 0; k < KNOTS; k++) {
        const double s = (double)k / (KNOTS - 1), part = 1 - (1 - s) * (1 - s);
        t[k] = GROWN * s;
        for (size_t i = 0; i < n; i++)
            x[n * (size_t)k + i] = k == KNOTS - 1 ? to[i] : from[i] + part * (to[i] - from[i]);
    }
    err = tac_point_cache_write(g->r->ctx, path, KNOTS, t, (int64_t)n / 3, x);
done:
    free(x);
    return err;
}

static void copy_keys(json_t **to, const json_t *from, const char *const *keys)
{
    for (; *keys != NULL; keys++)
        if (json_object_get(from, *keys) != NULL)
            tac_json_put(to, *keys, json_deep_copy(json_object_get(from, *keys)));
}

static enum tac_err add_body(const struct grow *g, tac_lid b, json_t **bodies)
{
    static const char *const keys[] = {"name",     "mesh",  "material", "mass", "radius",
                                       "position", "scale", "rotation", "self", NULL};
    const struct tac_scene *s = g->r->scene;
    const struct tac_body *body = &s->settings->body[b];
    const json_t *from = json_array_get(json_object_get(s->settings->json, "bodies"), (size_t)b);
    char path[1024];
    json_t *made = json_object();
    enum tac_err err = TAC_OK;
    copy_keys(&made, from, keys);
    if (body->fixed) {
        json_object_del(made, "material"); /* it would have other vertices as a solid */
        if (!g->r->shrunk[b])
            tac_json_put(&made, "fixed", json_true());
    }
    file_name(path, sizeof path, g, "start", b);
    tac_json_put(&made, "start", json_pack("{s:s}", "file", path));
    tac_json_append(bodies, made);
    TAC_TRY(tac_start_rows_write(g->r->ctx, path, tac_body_mesh_end(body) - body->vertex_begin,
                                 &s->mesh->x[3 * (size_t)body->vertex_begin], NULL));
done:
    return err;
}

static json_t *stay(const char *name, const json_t *vertices)
{
    json_t *made = json_pack("{s:o, s:[[i, [i, i, i]]]}", "body", tac_json_text(name), "path", 0, 0, 0, 0);
    if (vertices != NULL)
        tac_json_put(&made, "vertices", json_deep_copy(vertices));
    return made;
}

/* What grows, and what is held. */
static enum tac_err add_motions(const struct grow *g, json_t **motions)
{
    const struct tac_settings *s = g->r->scene->settings;
    const json_t *given = json_object_get(s->json, "motions");
    char path[1024];
    enum tac_err err = TAC_OK;
    for (tac_lid b = 0; b < s->body_count; b++)
        if (g->r->shrunk[b]) {
            file_name(path, sizeof path, g, "path", b);
            TAC_TRY(write_path(g, b, path));
            tac_json_append(motions, json_pack("{s:o, s:{s:s}}", "body", tac_json_text(s->body[b].name), "positions",
                                               "file", path));
        } else if (!g->r->loose[b] && !s->body[b].fixed) {
            tac_json_append(motions, stay(s->body[b].name, NULL));
        }
    for (tac_lid m = 0; m < s->motion_count; m++) {
        const tac_lid b = s->motion[m].body;
        const json_t *vertices = json_object_get(json_array_get(given, (size_t)m), "vertices");
        if (g->r->loose[b] && !g->r->shrunk[b])
            tac_json_append(motions, stay(s->body[b].name, vertices));
    }
done:
    return err;
}

/* The air that brakes sheets, by their mean density. */
static void add_air(const struct grow *g, json_t **loads)
{
    const struct tac_scene *s = g->r->scene;
    for (tac_lid b = 0; b < s->settings->body_count; b++) {
        const struct tac_body *body = &s->settings->body[b];
        double mass = 0, area = 0;
        for (tac_lid v = body->vertex_begin; v < body->vertex_end; v++)
            mass += s->mesh->mass[v];
        for (tac_lid t = body->triangle_begin; t < body->triangle_end; t++) {
            const tac_lid *v = &s->mesh->triangle[3 * (size_t)t];
            double p[3], q[3], n[3];
            tac_sub(p, &g->r->placed[3 * (size_t)v[1]], &g->r->placed[3 * (size_t)v[0]]);
            tac_sub(q, &g->r->placed[3 * (size_t)v[2]], &g->r->placed[3 * (size_t)v[0]]);
            tac_cross(n, p, q);
            area += .5 * sqrt(tac_dot(n, n));
        }
        if (g->r->loose[b] && !g->r->shrunk[b] && area > 0 && mass > 0)
            tac_json_append(loads, json_pack("{s:o, s:[i, i, i], s:f}", "body", tac_json_text(body->name), "wind", 0, 0,
                                             0, "drag", BRAKE * mass / area / g->size));
    }
}

/* The materials without limits of stretch: cloth that cannot give way far enough within them would halve steps without
 * end. A result beyond them is refused when it is read again. */
static json_t *materials_of(const json_t *scene)
{
    json_t *made = json_deep_copy(json_object_get(scene, "materials")), *material;
    const char *name;
    json_object_foreach(made, name, material)
    {
        json_object_del(json_object_get(material, "stretch"), "limit");
        json_object_del(json_object_get(material, "stretch"), "limit_principal");
    }
    return made;
}

static enum tac_err make_scene(struct grow *g, char **text)
{
    const struct tac_settings *s = g->r->scene->settings;
    const json_t *contact = json_object_get(s->json, "contact");
    static const char *const kept[] = {"ignore", "rest_fraction", NULL};
    json_t *bodies = json_array(), *motions = json_array(), *loads = json_array(), *root = NULL, *made;
    enum tac_err err = TAC_OK;
    for (tac_lid b = 0; b < s->body_count; b++)
        TAC_TRY(add_body(g, b, &bodies));
    TAC_TRY(add_motions(g, &motions));
    add_air(g, &loads);
    made = json_pack("{s:f}", "thickness", s->contact.thickness);
    copy_keys(&made, contact, kept);
    root = json_pack("{s:s, s:{s:f, s:f}, s:[i, i, i], s:{s:s, s:f}, s:o, s:O, s:O, s:O}", "format", "tactus-scene/1",
                     "time", "end", DURATION, "frame", DURATION, "gravity", 0, 0, 0, "integrator", "kind", "implicit",
                     "step_s", STEP, "contact", made, "bodies", bodies, "motions", motions, "loads", loads);
    if (json_object_get(s->json, "materials") != NULL)
        tac_json_put(&root, "materials", materials_of(s->json));
    *text = root != NULL ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (*text == NULL)
        err = tac_fail(g->r->ctx, TAC_ERR_RUN, "out of memory while a scene was repaired");
done:
    json_decref(root);
    json_decref(bodies);
    json_decref(motions);
    json_decref(loads);
    return err;
}

static void remove_files(const struct grow *g)
{
    char path[1024];
    for (tac_lid b = 0; b < g->r->scene->settings->body_count; b++) {
        unlink(file_name(path, sizeof path, g, "start", b));
        unlink(file_name(path, sizeof path, g, "path", b));
    }
}

/* What cannot give way makes steps ever smaller; then there is no end. */
static bool is_worth_it(void *user)
{
    return ++*(int *)user < MOST_STEPS;
}

static enum tac_err simulate(struct grow *g, struct tac_ctx *ctx, const char *text)
{
    const struct tac_scene_source source = {.text = text, .folder = g->folder};
    struct tac_local_mesh *m = g->r->scene->mesh;
    struct tac_simulation *sim = NULL;
    struct tac_vectors x;
    int steps = 0;
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_simulation_create(ctx, &source, &sim));
    tac_simulation_watch(sim, is_worth_it, &steps);
    err = tac_simulation_advance(sim, DURATION);
    if (err == TAC_ERR_STOPPED)
        snprintf(ctx->error, sizeof ctx->error, "what is around it cannot give way so far (at %.2g of its way)",
                 fmin(1, tac_simulation_time(sim) / GROWN));
    TAC_TRY(err);
    TAC_TRY(tac_simulation_positions(sim, &x));
    TAC_CHECK(x.count == m->vertex_count);
    for (tac_lid v = 0; v < m->vertex_count; v++) {
        const tac_lid b = m->vertex_body[v];
        const double *from = (const double *)(const void *)((const char *)x.data + (size_t)v * x.stride);
        if (g->r->yields[v] && !g->r->shrunk[b])
            memcpy(&m->x[3 * (size_t)v], from, 3 * sizeof *from);
        else if (g->r->shrunk[b])
            memcpy(&m->x[3 * (size_t)v], &g->r->placed[3 * (size_t)v], 3 * sizeof *from);
    }
done:
    tac_simulation_destroy(&sim);
    return err;
}

enum tac_err tac_repair_grow(struct tac_repair *r, const char *folder)
{
    struct grow g = {r, folder, 0};
    const struct tac_local_mesh *m = r->scene->mesh;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    struct tac_ctx ctx = *r->ctx; /* what it has to say is of no scene that the user knows */
    char *text = NULL;
    enum tac_err err = TAC_OK;
    for (size_t i = 0; i < 3 * (size_t)m->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], r->placed[i]);
        high[i % 3] = fmax(high[i % 3], r->placed[i]);
    }
    for (int c = 0; c < 3; c++)
        g.size = fmax(g.size, high[c] - low[c]);
    TAC_TRY(make_scene(&g, &text));
    ctx.quiet = true;
    ctx.warned = NULL;
    ctx.error[0] = '\0';
    if (simulate(&g, &ctx, text) != TAC_OK)
        snprintf(r->why, sizeof r->why, "what was shrunk cannot grow again: %.500s", ctx.error);
done:
    remove_files(&g);
    free(text);
    return err;
}
