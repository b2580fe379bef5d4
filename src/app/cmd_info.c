/* cmd_info.c: tactus info FILE|DIR: what a frames file, a checkpoint, a run folder or a mesh holds. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tactus/mesh.h>

#include "app/app.h"
#include <tactus/reader.h>
#include <tactus/report.h>
#include <tactus/stored.h>
#include <tactus/table.h>

struct box {
    double low[3], high[3];
    bool finite, empty;
};

static struct box box_of(const double *x, tac_lid count)
{
    struct box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, true, count == 0};
    for (size_t i = 0; i < 3 * (size_t)count; i++) {
        b.low[i % 3] = fmin(b.low[i % 3], x[i]);
        b.high[i % 3] = fmax(b.high[i % 3], x[i]);
        b.finite = b.finite && isfinite(x[i]);
    }
    return b;
}

static json_t *box_json(const struct box *b)
{
    json_t *low = json_array(), *high = json_array();
    for (int k = 0; k < 3; k++) {
        tac_json_append(&low, tac_json_real(b->low[k]));
        tac_json_append(&high, tac_json_real(b->high[k]));
    }
    return json_pack("{s:o, s:o}", "low", low, "high", high);
}

static void print_box(const struct box *b, const char *what)
{
    if (b->empty)
        return;
    printf("  %-10s [%.6g, %.6g, %.6g] to [%.6g, %.6g, %.6g] m%s\n", what, b->low[0], b->low[1], b->low[2], b->high[0],
           b->high[1], b->high[2], b->finite ? "" : ", and values that are not finite");
}

/* ---- meshes ---- */

struct edges {
    tac_lid count, boundary, non_manifold;
};

static enum tac_err count_edges(struct tac_ctx *ctx, const struct tac_mesh *mesh, struct edges *e)
{
    struct tac_topology *topology = NULL;
    enum tac_err err = tac_topology_create(ctx, mesh->vertex_count, mesh->triangle_count, mesh->triangle,
                                           mesh->segment_count, mesh->segment, &topology);
    if (err)
        return err;
    *e = (struct edges){.count = topology->edge_count};
    for (tac_lid i = 0; i < topology->edge_count; i++) {
        e->boundary += topology->edge_valence[i] == 1;
        e->non_manifold += topology->edge_valence[i] > 2;
    }
    tac_topology_destroy(&topology);
    return TAC_OK;
}

static enum tac_err info_mesh(struct tac_ctx *ctx, const char *path, bool as_json)
{
    enum tac_err err = TAC_OK;
    struct tac_mesh *mesh = NULL;
    struct edges e;
    TAC_TRY(tac_mesh_read(ctx, path, &mesh));
    TAC_TRY(count_edges(ctx, mesh, &e));
    struct box b = box_of(mesh->x, mesh->vertex_count);
    bool closed = mesh->triangle_count > 0 && e.boundary == 0 && e.non_manifold == 0;
    if (as_json) {
        err = tac_json_print(
            ctx, json_pack("{s:s, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:o}", "kind", "mesh", "path",
                           tac_json_text(path), "vertices", (int)mesh->vertex_count, "triangles",
                           (int)mesh->triangle_count, "segments", (int)mesh->segment_count, "tetrahedra",
                           (int)mesh->tetrahedron_count, "edges", (int)e.count, "boundary_edges", (int)e.boundary,
                           "non_manifold_edges", (int)e.non_manifold, "closed", (int)closed, "box", box_json(&b)));
        goto done;
    }
    printf("%s: mesh\n", path);
    printf("  vertices   %" TAC_PRILID "\n  triangles  %" TAC_PRILID "\n  segments   %" TAC_PRILID "\n",
           mesh->vertex_count, mesh->triangle_count, mesh->segment_count);
    printf("  edges      %" TAC_PRILID ", %" TAC_PRILID " at a boundary, %" TAC_PRILID
           " with more than two triangles%s\n",
           e.count, e.boundary, e.non_manifold, closed ? "; the surface is closed" : "");
    if (mesh->tetrahedron_count > 0)
        printf("  tetrahedra %" TAC_PRILID "; the triangles are their surface\n", mesh->tetrahedron_count);
    print_box(&b, "box");
done:
    tac_mesh_destroy(&mesh);
    return err;
}

/* ---- frames ---- */

struct body_info {
    tac_lid vertices, triangles, segments;
    double radius; /* m */
};

struct frames_info {
    struct tac_reader *r;
    struct body_info *body; /* owned, (body_count) */
    double *x;              /* owned: positions in the last frame */
    struct box box;         /* of those */
};

static enum tac_err read_frames(struct tac_ctx *ctx, const char *path, struct frames_info *f)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_reader_open(ctx, path, &f->r));
    TAC_TRY(tac_reader_mesh(ctx, f->r));
    const struct tac_reader *r = f->r;
    TAC_TRY(tac_alloc(ctx, (size_t)r->body_count, sizeof *f->body, &f->body));
    TAC_TRY(tac_alloc(ctx, 3 * (size_t)r->vertex_count, sizeof *f->x, &f->x));
    for (tac_lid i = 0; i < r->vertex_count; i++) {
        f->body[r->body[i]].vertices++;
        f->body[r->body[i]].radius = r->radius[i];
    }
    for (tac_lid i = 0; i < r->triangle_count; i++)
        f->body[r->body[r->triangle[3 * (size_t)i]]].triangles++;
    for (tac_lid i = 0; i < r->segment_count; i++)
        f->body[r->body[r->segment[2 * (size_t)i]]].segments++;
    if (r->frame_count > 0)
        TAC_TRY(tac_reader_frame(ctx, r, r->frame_count - 1, f->x, NULL, NULL));
    f->box = box_of(f->x, r->frame_count > 0 ? r->vertex_count : 0);
done:
    return err;
}

static void close_frames(struct frames_info *f)
{
    tac_reader_close(&f->r);
    free(f->body);
    free(f->x);
}

static json_t *frames_json(const struct frames_info *f)
{
    const struct tac_reader *r = f->r;
    json_t *bodies = json_array(), *o;
    for (tac_lid b = 0; b < r->body_count; b++)
        tac_json_append(&bodies,
                        json_pack("{s:o, s:i, s:i, s:i, s:o}", "name", tac_json_text(r->body_name[b]), "vertices",
                                  (int)f->body[b].vertices, "triangles", (int)f->body[b].triangles, "segments",
                                  (int)f->body[b].segments, "radius", tac_json_real(f->body[b].radius)));
    o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:o, s:I, s:I}", "path", tac_json_text(r->path),
                  "name", tac_json_text(r->name), "version", tac_json_text(r->version), "commit",
                  tac_json_text(r->commit), "scene_sha256", tac_json_text(r->sha256), "vertices", (int)r->vertex_count,
                  "triangles", (int)r->triangle_count, "segments", (int)r->segment_count, "points", (int)r->point_count,
                  "tetrahedra", (int)r->tetrahedron_count, "bodies", bodies, "frames", (json_int_t)r->frame_count,
                  "incomplete_frames", (json_int_t)r->incomplete);
    if (o != NULL && r->frame_count > 0) {
        const struct tac_reader_frame *first = &r->frame[0], *last = &r->frame[r->frame_count - 1];
        tac_json_put(&o, "first_frame",
                     json_pack("{s:I, s:f}", "index", (json_int_t)first->index, "time", first->time_s));
        tac_json_put(&o, "last_frame", json_pack("{s:I, s:f}", "index", (json_int_t)last->index, "time", last->time_s));
        if (!f->box.empty)
            tac_json_put(&o, "last_box", box_json(&f->box));
    }
    return o;
}

static void print_frames(const struct frames_info *f)
{
    enum { BODIES_SHOWN = 20 };
    const struct tac_reader *r = f->r;
    printf("%s: frames of %s%s%s (tactus %s, commit %s)\n", r->path,
           r->name[0] != '\0' ? "'" : "a scene without a name", r->name, r->name[0] != '\0' ? "'" : "", r->version,
           r->commit);
    printf("  scene      sha256 %s\n", r->sha256);
    printf("  vertices   %" TAC_PRILID ": %" TAC_PRILID " triangles, %" TAC_PRILID " segments, %" TAC_PRILID
           " points\n",
           r->vertex_count, r->triangle_count, r->segment_count, r->point_count);
    if (r->tetrahedron_count > 0)
        printf("  tetrahedra %" TAC_PRILID "\n", r->tetrahedron_count);
    if (r->frame_count > 0)
        printf("  frames     %" PRId64 ": %s to %s, t = %.9g to %.9g s\n", r->frame_count, r->frame[0].name,
               r->frame[r->frame_count - 1].name, r->frame[0].time_s, r->frame[r->frame_count - 1].time_s);
    else
        printf("  frames     none\n");
    print_box(&f->box, "last box");
    for (tac_lid b = 0; b < r->body_count && b < BODIES_SHOWN; b++)
        printf("  body %-5" TAC_PRILID " '%s': %" TAC_PRILID " vertices, %" TAC_PRILID " triangles, %" TAC_PRILID
               " segments, radius %.6g m\n",
               b, r->body_name[b], f->body[b].vertices, f->body[b].triangles, f->body[b].segments, f->body[b].radius);
    if (r->body_count > BODIES_SHOWN)
        printf("  and %" TAC_PRILID " more bodies (--json lists all)\n", r->body_count - BODIES_SHOWN);
}

static enum tac_err info_frames(struct tac_ctx *ctx, const char *path, bool as_json)
{
    enum tac_err err = TAC_OK;
    struct frames_info f = {.r = NULL};
    TAC_TRY(read_frames(ctx, path, &f));
    if (as_json) {
        json_t *o = frames_json(&f);
        tac_json_put(&o, "kind", json_string("frames"));
        err = tac_json_print(ctx, o);
    } else {
        print_frames(&f);
    }
done:
    close_frames(&f);
    return err;
}

/* The digest of all frames, after which two runs can be compared without their files. */
static enum tac_err info_digest(struct tac_ctx *ctx, const char *path, bool as_json)
{
    enum tac_err err = TAC_OK;
    char sha256[65];
    struct tac_reader *r = NULL;
    TAC_TRY(tac_reader_open(ctx, path, &r));
    TAC_TRY(tac_reader_digest(ctx, r, sha256));
    if (as_json)
        err = tac_json_print(ctx, json_pack("{s:s, s:o, s:I, s:s}", "kind", "digest", "path", tac_json_text(path),
                                            "frames", (json_int_t)r->frame_count, "sha256", sha256));
    else
        printf("%s  %s: %" PRId64 " frame%s\n", sha256, path, r->frame_count, r->frame_count == 1 ? "" : "s");
done:
    tac_reader_close(&r);
    return err;
}

/* ---- run folders ---- */

static const char *info_text(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text != NULL ? text : "?";
}

static const char *state_text(const json_t *status)
{
    const char *state = info_text(status, "state");
    if (strcmp(state, "running") == 0 && tac_process_alive(status) == TAC_ALIVE_NO)
        return "ended without saying so";
    return state;
}

static enum tac_err count_rows(struct tac_ctx *ctx, const char *dir, int64_t *rows)
{
    enum tac_err err = TAC_OK;
    char *path = NULL;
    struct tac_table *table = NULL;
    size_t size = strlen(dir) + sizeof "/energy.csv";
    *rows = 0;
    TAC_TRY(tac_alloc(ctx, size, 1, &path));
    snprintf(path, size, "%s/energy.csv", dir);
    TAC_TRY(tac_table_read(ctx, path, &table));
    *rows = table->row_count;
done:
    tac_table_destroy(&table);
    free(path);
    return err;
}

static void print_run(const char *dir, const json_t *status, const json_t *run, int64_t rows)
{
    char wall[32];
    printf("%s: run, %s\n", dir, state_text(status));
    if (run != NULL) {
        const json_t *total = json_object_get(run, "wall_total_s"); /* older runs do not have it */
        total = total != NULL ? total : json_object_get(run, "wall_s");
        tac_duration_text(json_number_value(total), wall, sizeof wall);
        printf("  ran        on %lld rank%s, wall time %s\n",
               (long long)json_integer_value(json_object_get(run, "ranks")),
               json_integer_value(json_object_get(run, "ranks")) == 1 ? "" : "s", wall);
    }
    const json_t *units = json_object_get(status, "units");
    if (units != NULL)
        printf("  units      %s, %s, %s (energies in %s)\n", json_string_value(json_object_get(units, "length")),
               json_string_value(json_object_get(units, "mass")), json_string_value(json_object_get(units, "time")),
               json_string_value(json_object_get(units, "energy")));
    printf("  energy.csv %" PRId64 " rows\n", rows);
}

static enum tac_err info_run(struct tac_ctx *ctx, const char *dir, bool as_json)
{
    enum tac_err err = TAC_OK;
    json_t *status = NULL, *run = NULL, *checkpoints = NULL, *record = NULL;
    int64_t rows;
    struct frames_info f = {.r = NULL};
    TAC_TRY(tac_folder_status(ctx, dir, &status));
    TAC_TRY(tac_folder_run(ctx, dir, &run));
    err = read_frames(ctx, dir, &f);
    bool live = strcmp(state_text(status), "running") == 0 && tac_process_alive(status) == TAC_ALIVE_YES;
    if (err == TAC_ERR_INPUT && live) {
        /* Between two flushes a reader may see an inconsistent file; that is no fault of the run. */
        close_frames(&f);
        f = (struct frames_info){.r = NULL};
        ctx->error[0] = '\0';
        err = TAC_OK;
    }
    TAC_TRY(err);
    TAC_TRY(count_rows(ctx, dir, &rows));
    TAC_TRY(tac_list_checkpoints(ctx, dir, &checkpoints));
    TAC_TRY(tac_record_summary(ctx, dir, &record));
    if (as_json) {
        json_t *o = json_pack("{s:s, s:o, s:s, s:I, s:o, s:O, s:O?, s:O, s:O}", "kind", "run", "path",
                              tac_json_text(dir), "state", state_text(status), "rows", (json_int_t)rows, "frames",
                              f.r != NULL ? frames_json(&f) : json_null(), "status", status, "run", run, "checkpoints",
                              checkpoints, "record", record);
        err = tac_json_print(ctx, o);
    } else {
        print_run(dir, status, run, rows);
        tac_print_checkpoints(checkpoints, stdout);
        tac_print_record_summary(record, stdout);
        if (f.r != NULL)
            print_frames(&f);
        else
            puts("  frames.h5  is being written and cannot be read right now");
    }
done:
    close_frames(&f);
    json_decref(status);
    json_decref(run);
    json_decref(checkpoints);
    json_decref(record);
    return err;
}

enum tac_err tac_cmd_info(struct tac_ctx *ctx, int argc, char **argv)
{
    enum tac_err err = TAC_OK;
    bool as_json = false, digest = false, help, frames, record;
    const char *path;
    int count;
    struct stat s;
    const struct tac_option option[] = {
        {"--digest", TAC_OPTION_FLAG, &digest, NULL, "only the SHA-256 of all frames of a run"},
        {"--json", TAC_OPTION_FLAG, &as_json, NULL, "print JSON"},
    };
    enum { OPTIONS = sizeof option / sizeof *option };
    TAC_TRY(tac_options_parse(ctx, "info", argc, argv, option, OPTIONS, &path, 1, &count, &help));
    if (help) {
        tac_options_help(
            "info", "FILE|DIR [--digest] [--json]",
            "Describes a run folder, a frames.h5, a checkpoint, a record.h5 or a mesh (OBJ, PLY, STL, Gmsh, HDF5) "
            "holds.\n"
            "With --digest it prints the SHA-256 of the positions and velocities of all frames of a run: runs of one\n"
            "scene have the same, on any number of ranks and on any machine.",
            option, OPTIONS);
        goto done;
    }
    if (count != 1)
        err = tac_fail(ctx, TAC_ERR_INPUT, "tactus info needs a file or a run folder: tactus info FILE|DIR");
    else if (stat(path, &s) != 0)
        err = tac_fail(ctx, TAC_ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
    if (err)
        goto done;
    if (digest) {
        err = info_digest(ctx, path, as_json);
        goto done;
    }
    if (S_ISDIR(s.st_mode)) {
        err = info_run(ctx, path, as_json);
        goto done;
    }
    if (tac_checkpoint_is(path)) {
        err = tac_info_checkpoint(ctx, path, as_json, stdout);
        goto done;
    }
    TAC_TRY(tac_record_stored_is(ctx, path, &record));
    if (record) {
        err = tac_info_record(ctx, path, as_json, stdout);
        goto done;
    }
    TAC_TRY(tac_reader_is_frames(ctx, path, &frames));
    err = frames ? info_frames(ctx, path, as_json) : info_mesh(ctx, path, as_json);
done:
    return err;
}
