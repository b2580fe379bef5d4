/* checkpoint_tell.c: prints what a checkpoint holds, and how two of them differ, for `tactus info` and `tactus diff`.
 */
#include <tactus/stored.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inspect/checkpoint_compare.h"
#include <tactus/report.h>

/* ---- info ---- */

struct active {
    int64_t layers, groups, deepest;
};

static struct active count_active(const struct tac_checkpoint *c)
{
    struct active w = {0, 0, 0};
    for (tac_lid k = 0; k < c->pair_count; k++) {
        w.layers += c->pair[k].depth;
        w.groups += c->pair[k].groups;
        w.deepest = c->pair[k].depth > w.deepest ? c->pair[k].depth : w.deepest;
    }
    return w;
}

static json_int_t count_of(const json_t *geometry, const char *kind, size_t body)
{
    return json_integer_value(json_array_get(json_object_get(geometry, kind), body));
}

static json_t *bodies_json(const struct tac_state_file *f)
{
    const json_t *geometry = json_object_get(f->json, "geometry"), *body;
    json_t *list = json_array();
    size_t b;
    json_array_foreach(json_object_get(f->json, "bodies"), b, body)
    {
        const char *name = json_string_value(json_object_get(body, "name"));
        tac_json_append(&list,
                        json_pack("{s:s, s:I, s:I, s:I}", "name", name != NULL ? name : "?", "vertices",
                                  count_of(geometry, "vertices", b), "triangles", count_of(geometry, "triangles", b),
                                  "segments", count_of(geometry, "segments", b)));
    }
    return list;
}

static json_t *checkpoint_json(const struct tac_state_file *f)
{
    const struct tac_checkpoint *c = f->state;
    const struct tac_checkpoint_about *a = &f->about;
    const struct active w = count_active(c);
    json_t *o =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I}", "kind", "checkpoint", "path", tac_json_text(f->path), "name",
                  tac_json_text(a->name), "version", tac_json_text(a->version), "commit", tac_json_text(a->commit),
                  "scene_sha256", tac_json_text(a->sha256), "ranks", (json_int_t)a->ranks);
    json_t *more =
        json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "time",
                  tac_json_real((double)c->now * tac_state_quantum_s(f)), "quanta", (json_int_t)c->now, "next_frame",
                  (json_int_t)c->frame, "vertices", (json_int_t)c->vertex_total, "triangles",
                  (json_int_t)c->triangle_total, "segments", (json_int_t)c->segment_total, "scripted",
                  (json_int_t)c->script_count, "pairs", (json_int_t)c->pair_count, "layers", (json_int_t)w.layers,
                  "layer_groups", (json_int_t)w.groups, "deepest_watched_layer", (json_int_t)w.deepest,
                  "damped_or_plastic_elements", (json_int_t)tac_checkpoint_elements(c), "restarts",
                  (json_int_t)c->restarts, "wall_s", c->wall_s, "bodies", bodies_json(f));
    if (o == NULL || more == NULL || json_object_update(o, more) != 0) {
        json_decref(o);
        o = NULL;
    }
    json_decref(more);
    return o;
}

static void print_checkpoint(FILE *out, const struct tac_state_file *f)
{
    enum { BODIES_SHOWN = 20 };
    const struct tac_checkpoint *c = f->state;
    const struct tac_checkpoint_about *a = &f->about;
    const struct active w = count_active(c);
    const json_t *geometry = json_object_get(f->json, "geometry"), *body;
    char wall[32];
    size_t b;
    tac_duration_text(c->wall_s, wall, sizeof wall);
    fprintf(out, "%s: checkpoint of %s%s%s (tactus %s, commit %s)\n", f->path,
            a->name[0] != '\0' ? "'" : "a scene without a name", a->name, a->name[0] != '\0' ? "'" : "", a->version,
            a->commit);
    fprintf(out, "  scene      sha256 %s\n", a->sha256);
    fprintf(out, "  time       t = %.9g s (%" TAC_PRITIME " quanta); the next frame is %" PRId64 "\n",
            (double)c->now * tac_state_quantum_s(f), c->now, c->frame);
    fprintf(out,
            "  vertices   %" TAC_PRIGID ": %" TAC_PRIGID " triangles, %" TAC_PRIGID " segments; %" TAC_PRILID
            " vertices in motions\n",
            c->vertex_total, c->triangle_total, c->segment_total, c->script_count);
    fprintf(out,
            "  contacts   %" TAC_PRILID " pairs watched, %" PRId64 " layers in %" PRId64
            " layer groups, the deepest is %" PRId64 "\n",
            c->pair_count, w.layers, w.groups, w.deepest);
    if (tac_checkpoint_elements(c) > 0)
        fprintf(out, "  elements   %" TAC_PRILID " damped or plastic, with strains of their last ticks and at rest\n",
                tac_checkpoint_elements(c));
    fprintf(out, "  written    by %" PRId64 " rank%s, after a wall time of %s and %" PRId64 " restart%s\n", a->ranks,
            a->ranks == 1 ? "" : "s", wall, c->restarts, c->restarts == 1 ? "" : "s");
    json_array_foreach(json_object_get(f->json, "bodies"), b, body)
    {
        const char *name = json_string_value(json_object_get(body, "name"));
        if (b < BODIES_SHOWN)
            fprintf(out, "  body %-5zu '%s': %lld vertices, %lld triangles, %lld segments\n", b,
                    name != NULL ? name : "?", (long long)count_of(geometry, "vertices", b),
                    (long long)count_of(geometry, "triangles", b), (long long)count_of(geometry, "segments", b));
    }
    if (b > BODIES_SHOWN)
        fprintf(out, "  and %zu more bodies (--json lists all)\n", b - BODIES_SHOWN);
}

enum tac_err tac_info_checkpoint(struct tac_ctx *ctx, const char *path, bool as_json, FILE *out)
{
    struct tac_state_file f;
    enum tac_err err = tac_state_open(ctx, path, &f);
    if (!err && as_json)
        err = tac_json_write(ctx, checkpoint_json(&f), out);
    else if (!err)
        print_checkpoint(out, &f);
    tac_state_close(&f);
    return err;
}

/* ---- of a folder ---- */

enum tac_err tac_list_checkpoints(struct tac_ctx *ctx, const char *dir, json_t **out)
{
    enum tac_err err = TAC_OK;
    const size_t size = strlen(dir) + 64;
    char *path = NULL, why[256];
    int64_t *list = NULL;
    size_t count = 0;
    struct stat s;
    *out = json_array();
    TAC_TRY(tac_alloc(ctx, size, 1, &path));
    TAC_TRY(tac_checkpoint_list(ctx, dir, &list, &count));
    for (size_t k = 0; k < count; k++) {
        snprintf(path, size, "%s/checkpoint-%06" PRId64 ".h5", dir, list[k]);
        TAC_TRY(tac_checkpoint_examine(ctx, path, why, sizeof why));
        if (stat(path, &s) != 0 && errno == ENOENT)
            continue; /* the run is alive and has removed it meanwhile */
        json_t *o = json_pack("{s:s, s:I, s:b}", "file", path + strlen(dir) + 1, "bytes", (json_int_t)s.st_size,
                              "whole", why[0] == '\0');
        tac_json_put(&o, "problem", why[0] != '\0' ? tac_json_text(why) : json_null());
        tac_json_append(out, o);
    }
    if (*out == NULL)
        err = tac_fail(ctx, TAC_ERR_RUN, "out of memory while listing checkpoints");
done:
    free(path);
    free(list);
    if (err) {
        json_decref(*out);
        *out = NULL;
    }
    return err;
}

void tac_print_checkpoints(const json_t *list, FILE *out)
{
    const json_t *o;
    size_t k;
    json_array_foreach(list, k, o)
    {
        const char *problem = json_string_value(json_object_get(o, "problem"));
        fprintf(out, "  checkpoint %s: %s%s\n", json_string_value(json_object_get(o, "file")),
                problem != NULL ? "not whole: " : "whole", problem != NULL ? problem : "");
    }
}

/* ---- diff ---- */

static const char *axis_name(const struct tac_tally *t)
{
    static const char *const names[3] = {"x", "y", "z"};
    return t->component >= 0 ? names[t->component] : "";
}

static void print_tally(FILE *out, const struct tac_state_comparison *c, const struct tac_tally *t)
{
    char where[256];
    tac_gid within = 0;
    if (t->differing == 0) {
        if (t->compared > 0)
            fprintf(out, "  %-14s %" PRId64 " values, none differs\n", t->name, t->compared);
        return;
    }
    const char *body = t->vertex >= 0 ? tac_state_body(&c->a, t->vertex, &within) : NULL;
    if (t->vertex < 0)
        snprintf(where, sizeof where, "%s", t->column);
    else
        snprintf(where, sizeof where, "body '%.100s', vertex %" TAC_PRIGID " (%" TAC_PRILID " of the scene)%s%s",
                 body != NULL ? body : "?", within, t->vertex, t->component >= 0 ? ", " : "", axis_name(t));
    fprintf(out,
            "  %-14s %" PRId64 " values, %" PRId64 " differ%s; the largest difference is %.3g: %s: %.17g and %.17g\n",
            t->name, t->compared, t->differing, t->differing == 1 ? "s" : "", t->largest, where, t->a, t->b);
}

static void print_state_comparison(FILE *out, const struct tac_state_comparison *c)
{
    char how[64] = "to the last bit";
    if (!isnan(c->tolerance))
        snprintf(how, sizeof how, "within %g", c->tolerance);
    fprintf(out, "compared checkpoints at t = %.17g and %.17g s, of %" TAC_PRILID " vertices, %s\n",
            (double)c->a.state->now * tac_state_quantum_s(&c->a), (double)c->b.state->now * tac_state_quantum_s(&c->b),
            c->a.state->vertices.count, how);
    for (int i = 0; i < TAC_STATE_COUNT; i++)
        print_tally(out, c, &c->tally[i]);
    if (strcmp(c->a.about.sha256, c->b.about.sha256) != 0)
        fprintf(out, "  they are of two different scenes (by their hashes)\n");
    fprintf(out, "%s\n", tac_state_equal(c) ? "equal" : "different");
}

static json_t *state_tally_json(const struct tac_state_comparison *c, const struct tac_tally *t)
{
    tac_gid within = 0;
    json_t *o = json_pack("{s:I, s:I}", "compared", (json_int_t)t->compared, "differing", (json_int_t)t->differing);
    if (o == NULL || t->differing == 0)
        return o;
    json_t *largest = json_pack("{s:o, s:o, s:o}", "difference", tac_json_real(t->largest), "a", tac_json_real(t->a),
                                "b", tac_json_real(t->b));
    if (t->vertex >= 0) {
        const char *body = tac_state_body(&c->a, t->vertex, &within);
        tac_json_put(&largest, "body", body != NULL ? tac_json_text(body) : json_null());
        tac_json_put(&largest, "vertex", json_integer(t->vertex));
        if (t->component >= 0)
            tac_json_put(&largest, "component", json_string(axis_name(t)));
    } else {
        tac_json_put(&largest, "where", tac_json_text(t->column));
    }
    tac_json_put(&o, "largest", largest);
    return o;
}

static enum tac_err print_comparison_json(struct tac_ctx *ctx, FILE *out, const struct tac_state_comparison *c)
{
    json_t *o = json_pack("{s:b, s:o, s:o, s:o, s:b}", "equal", tac_state_equal(c), "a", tac_json_text(c->a.path), "b",
                          tac_json_text(c->b.path), "tolerance", tac_json_real(c->tolerance), "same_scene",
                          strcmp(c->a.about.sha256, c->b.about.sha256) == 0);
    for (int i = 0; i < TAC_STATE_COUNT; i++)
        tac_json_put(&o, c->tally[i].name, state_tally_json(c, &c->tally[i]));
    return tac_json_write(ctx, o, out);
}

enum tac_err tac_diff_checkpoints(struct tac_ctx *ctx, const char *a, const char *b, double tolerance, bool as_json,
                                  FILE *out)
{
    enum tac_err err;
    struct tac_state_comparison c;
    TAC_TRY(tac_state_compare(ctx, a, b, tolerance, &c));
    if (as_json)
        err = print_comparison_json(ctx, out, &c);
    else
        print_state_comparison(out, &c);
    if (!err)
        err = tac_state_equal(&c) ? TAC_OK : TAC_ERR_NO;
    tac_state_comparison_close(&c);
done:
    return err;
}
