/* frames_mesh.c: writes /mesh of frames.h5. */
#include <stdlib.h>
#include <string.h>

#include "base/exchange.h"
#include "io/frames/frames.h"
#include "partition/part.h"

/* Where elements come from: the whole scene, or its pieces, of which those are fetched that this rank writes. */
struct source {
    const struct tac_scene *scene;
    const struct tac_pieces *pieces; /* NULL: the scene is whole */
    struct fetched {
        tac_gid begin;
        tac_gid *vertex; /* owned */
    } triangle, segment, tetrahedron;
    /* The body whose particles were requested last, and the number of particles before them. */
    tac_lid body;
    tac_gid before, points; /* points: of the scene */
};

/* A list of vertex ids of the scene as 64-bit values: the i-th value, so that each rank makes its own part only. */
typedef int64_t (*value_at)(struct source *source, int64_t i);

static int64_t triangle_value(struct source *s, int64_t i)
{
    return s->pieces ? s->triangle.vertex[i - 3 * s->triangle.begin] : s->scene->mesh->triangle[i];
}

static int64_t segment_value(struct source *s, int64_t i)
{
    return s->pieces ? s->segment.vertex[i - 2 * s->segment.begin] : s->scene->mesh->segment[i];
}

static int64_t tetrahedron_value(struct source *s, int64_t i)
{
    return s->pieces ? s->tetrahedron.vertex[i - 4 * s->tetrahedron.begin] : s->scene->mesh->tetrahedron[i];
}

static tac_gid points_of(const struct tac_body *body)
{
    return body->has_elements ? 0 : body->vertex_end - body->vertex_begin;
}

static int64_t point_value(struct source *s, int64_t i)
{
    const struct tac_body *body = s->scene->settings->body;
    if (i < s->before)
        s->before = s->body = 0;
    while (i - s->before >= points_of(&body[s->body]))
        s->before += points_of(&body[s->body++]);
    return body[s->body].vertex_begin + (i - s->before);
}

/* XDMF's mixed topology: 4 a b c (triangle), 2 2 a b (polyline of two), 1 1 a (polyvertex of one), 6 a b c d
 * (tetrahedron). */
static int64_t cell_value(struct source *s, int64_t i)
{
    int64_t triangles = 4 * (int64_t)s->scene->mesh->triangle_count,
            segments = 4 * (int64_t)s->scene->mesh->segment_count;
    if (i < triangles)
        return i % 4 == 0 ? 4 : triangle_value(s, i / 4 * 3 + i % 4 - 1);
    i -= triangles;
    if (i < segments)
        return i % 4 < 2 ? 2 : segment_value(s, i / 4 * 2 + i % 4 - 2);
    i -= segments;
    if (i < 3 * s->points)
        return i % 3 < 2 ? 1 : point_value(s, i / 3);
    i -= 3 * s->points;
    return i % 5 == 0 ? 6 : tetrahedron_value(s, i / 5 * 4 + i % 5 - 1);
}

struct element_row {
    tac_gid id, vertex[4];
};

/* Sends elements to the ranks that write them. Element i is at place + i * scale of a list of `rows` values; an element
 * whose values two ranks write is sent to both. all: how many elements there are. */
static enum tac_err fetch_rows(struct tac_ctx *ctx, tac_gid rows, tac_gid place, tac_gid scale, tac_gid all,
                               tac_lid count, const tac_gid *id, const tac_gid *vertex, int corners,
                               struct fetched *out)
{
    enum tac_err err = TAC_OK;
    const size_t width = (size_t)corners;
    struct element_row *row = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t n = 0, total = 0;
    tac_gid begin, end;
    tac_rows_of_rank(rows, ctx->rank, ctx->size, &begin, &end);
    const bool none = begin == end; /* also within an element */
    begin = begin < place ? 0 : (begin - place) / scale < all ? (begin - place) / scale : all;
    end = end < place ? 0 : (end - place + scale - 1) / scale < all ? (end - place + scale - 1) / scale : all;
    end = none ? begin : end;
    TAC_TRY(tac_alloc(ctx, 2 * (size_t)count, sizeof *row, &row));
    TAC_TRY(tac_alloc(ctx, 2 * (size_t)count, sizeof *to, &to));
    for (size_t k = 0; k < (size_t)count; k++) {
        const int32_t first = tac_rank_of_row(ctx, rows, place + scale * id[k]);
        const int32_t last = tac_rank_of_row(ctx, rows, place + scale * id[k] + scale - 1);
        for (int32_t r = first; r <= last; r += last > first ? last - first : 1) {
            row[n].id = id[k];
            memcpy(row[n].vertex, vertex + width * k, width * sizeof *vertex);
            to[n++] = r;
        }
    }
done:
    err = tac_distribute(ctx, err, n, to, row, sizeof *row, &came, &total);
    free(row);
    free(to);
    free(out->vertex);
    out->vertex = NULL;
    out->begin = begin;
    if (!err)
        err = tac_agree(ctx, tac_alloc(ctx, width * (size_t)(end - begin), sizeof *out->vertex, &out->vertex));
    if (!err)
        TAC_CHECK(total == (size_t)(end - begin));
    for (size_t k = 0; k < total && !err; k++)
        memcpy(out->vertex + width * (size_t)(came[k].id - begin), came[k].vertex, width * sizeof *vertex);
    free(came);
    return err;
}

static enum tac_err fetch_triangles(struct tac_ctx *ctx, struct source *s, tac_gid rows, tac_gid scale)
{
    const struct tac_pieces *p = s->pieces;
    if (p == NULL)
        return TAC_OK;
    return fetch_rows(ctx, rows, 0, scale, p->triangle_total, p->triangle_count, p->triangle_id, p->triangle, 3,
                      &s->triangle);
}

static enum tac_err fetch_segments(struct tac_ctx *ctx, struct source *s, tac_gid rows, tac_gid place, tac_gid scale)
{
    const struct tac_pieces *p = s->pieces;
    if (p == NULL)
        return TAC_OK;
    return fetch_rows(ctx, rows, place, scale, p->segment_total, p->segment_count, p->segment_id, p->segment, 2,
                      &s->segment);
}

static enum tac_err fetch_tetrahedra(struct tac_ctx *ctx, struct source *s, tac_gid rows, tac_gid place, tac_gid scale)
{
    const struct tac_pieces *p = s->pieces;
    if (p == NULL)
        return TAC_OK;
    return fetch_rows(ctx, rows, place, scale, p->tetrahedron_total, p->tetrahedron_count, p->tetrahedron_id,
                      p->tetrahedron, 4, &s->tetrahedron);
}

static enum tac_err write_ids(struct tac_ctx *ctx, struct tac_frames *w, hid_t mesh, const char *name, tac_gid rows,
                              int columns, struct source *source, value_at value)
{
    enum tac_err err = TAC_OK;
    struct tac_dataset d = {mesh, name, NULL, TAC_GID_HDF5, columns, rows, 0, 0, NULL};
    int64_t width = columns > 0 ? columns : 1, *part = NULL;
    tac_rows_of_rank(rows, ctx->rank, ctx->size, &d.begin, &d.end);
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)((d.end - d.begin) * width), sizeof *part, &part)));
    for (int64_t i = 0, n = (d.end - d.begin) * width; i < n; i++)
        part[i] = value(source, d.begin * width + i);
    d.data = part;
    TAC_TRY(tac_dataset_write(ctx, w, &d));
done:
    free(part);
    return err;
}

/* Body and radius of every vertex. */
static enum tac_err write_bodies(struct tac_ctx *ctx, struct tac_frames *w, hid_t mesh, const struct tac_scene *scene)
{
    enum tac_err err = TAC_OK;
    tac_lid *body = NULL, b = 0;
    double *radius = NULL;
    const size_t n = (size_t)(w->row_end - w->row_begin);
    struct tac_dataset d = {mesh, "body", NULL, TAC_LID_HDF5, 0, w->vertex_count, w->row_begin, w->row_end, NULL};
    err = tac_alloc(ctx, n, sizeof *body, &body);
    if (!err)
        err = tac_alloc(ctx, n, sizeof *radius, &radius);
    TAC_TRY(tac_agree(ctx, err));
    for (size_t i = 0; i < n; i++) {
        while (w->row_begin + (tac_gid)i >= scene->settings->body[b].vertex_end)
            b++;
        body[i] = b;
        radius[i] = scene->settings->body[b].radius;
    }
    d.data = body;
    TAC_TRY(tac_dataset_write(ctx, w, &d));
    d.name = "radius";
    d.units = "m";
    d.type = H5T_NATIVE_DOUBLE;
    d.data = radius;
    TAC_TRY(tac_dataset_write(ctx, w, &d));
done:
    free(body);
    free(radius);
    return err;
}

struct free_row {
    tac_gid id;
    int64_t free;
};

/* 1 where a vertex can ever be free.  From pieces every vertex goes to the rank that writes its row. */
static enum tac_err gather_free(struct tac_ctx *ctx, const struct tac_frames *w, const struct tac_pieces *p,
                                uint8_t *out)
{
    enum tac_err err = TAC_OK;
    const size_t n = (size_t)p->vertex_count;
    struct free_row *row = NULL, *came = NULL;
    int32_t *to = NULL;
    size_t total = 0;
    TAC_TRY(tac_alloc(ctx, n, sizeof *row, &row));
    TAC_TRY(tac_alloc(ctx, n, sizeof *to, &to));
    for (size_t k = 0; k < n; k++) {
        row[k] = (struct free_row){p->vertex_id[k], p->ever_free[k]};
        to[k] = tac_rank_of_row(ctx, w->vertex_count, p->vertex_id[k]);
    }
done:
    err = tac_distribute(ctx, err, n, to, row, sizeof *row, &came, &total);
    if (!err)
        TAC_CHECK(total == (size_t)(w->row_end - w->row_begin));
    for (size_t k = 0; k < total && !err; k++)
        out[came[k].id - w->row_begin] = came[k].free != 0;
    free(came);
    free(row);
    free(to);
    return err;
}

static enum tac_err write_free(struct tac_ctx *ctx, struct tac_frames *w, hid_t mesh, const struct tac_scene *scene,
                               const struct tac_pieces *pieces)
{
    enum tac_err err;
    const size_t n = (size_t)(w->row_end - w->row_begin);
    struct tac_dataset d = {mesh, "free", NULL, H5T_NATIVE_UINT8, 0, w->vertex_count, w->row_begin, w->row_end, NULL};
    uint8_t *list = NULL;
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, n, 1, &list)));
    if (pieces != NULL)
        TAC_TRY(gather_free(ctx, w, pieces, list));
    for (size_t i = 0; i < n && pieces == NULL; i++)
        list[i] = scene->mesh->ever_free[w->row_begin + (tac_gid)i] != 0;
    d.data = list;
    TAC_TRY(tac_dataset_write(ctx, w, &d));
done:
    free(list);
    return err;
}

enum tac_err tac_frames_body_names(struct tac_ctx *ctx, struct tac_frames *w, hid_t parent,
                                   const struct tac_scene *scene)
{
    enum tac_err err = TAC_OK;
    size_t longest = 1;
    char *text = NULL;
    hid_t type = -1;
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        if (strlen(scene->settings->body[b].name) > longest)
            longest = strlen(scene->settings->body[b].name);
    TAC_TRY(tac_frames_reserve(ctx, w, (int64_t)longest * scene->settings->body_count));
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)scene->settings->body_count, longest, &text)));
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        memcpy(text + (size_t)b * longest, scene->settings->body[b].name, strlen(scene->settings->body[b].name));
    type = H5Tcopy(H5T_C_S1);
    TAC_TRY(tac_frames_step(ctx, w, "body_names",
                            type >= 0 && H5Tset_size(type, longest) >= 0 && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                                H5Tset_cset(type, H5T_CSET_UTF8) >= 0));
    struct tac_dataset d = {parent, "body_names",
                            NULL,   type,
                            0,      scene->settings->body_count,
                            0,      ctx->rank == 0 ? scene->settings->body_count : 0,
                            text};
    TAC_TRY(tac_dataset_write(ctx, w, &d));
done:
    if (type >= 0)
        H5Tclose(type);
    free(text);
    return err;
}

void tac_frames_count(struct tac_frames *w, const struct tac_scene *scene)
{
    w->point_count = 0;
    for (tac_lid b = 0; b < scene->settings->body_count; b++)
        w->point_count += points_of(&scene->settings->body[b]);
    w->mixed = (scene->mesh->triangle_count > 0) + (scene->mesh->segment_count > 0) + (w->point_count > 0) +
                   (scene->mesh->tetrahedron_count > 0) >
               1;
}

enum tac_err tac_frames_mesh(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_scene *scene,
                             const struct tac_pieces *pieces)
{
    enum tac_err err = TAC_OK;
    bool closed;
    struct source source = {.scene = scene, .pieces = pieces};
    hid_t mesh = -1;
    tac_frames_count(w, scene);
    tac_gid triangles = scene->mesh->triangle_count, segments = scene->mesh->segment_count;
    const tac_gid tetrahedra = scene->mesh->tetrahedron_count,
                  before = 4 * triangles + 4 * segments + 3 * w->point_count;
    tac_gid cells = w->mixed ? before + 5 * tetrahedra : 0;
    source.points = w->point_count;
    TAC_TRY(tac_frames_reserve(ctx, w,
                               tac_dataset_space(triangles, 24) + tac_dataset_space(segments, 16) +
                                   tac_dataset_space(tetrahedra, 32) + tac_dataset_space(w->point_count, 8) +
                                   tac_dataset_space(cells, 8) + tac_dataset_space(w->vertex_count, 13)));
    TAC_TRY(tac_frames_group(ctx, w, w->file, "mesh", "/mesh", &mesh));
    TAC_TRY(fetch_triangles(ctx, &source, triangles, 1));
    TAC_TRY(write_ids(ctx, w, mesh, "triangles", triangles, 3, &source, triangle_value));
    TAC_TRY(fetch_segments(ctx, &source, segments, 0, 1));
    TAC_TRY(write_ids(ctx, w, mesh, "segments", segments, 2, &source, segment_value));
    TAC_TRY(write_ids(ctx, w, mesh, "points", w->point_count, 0, &source, point_value));
    if (tetrahedra > 0) { /* only then is there the list */
        TAC_TRY(fetch_tetrahedra(ctx, &source, tetrahedra, 0, 1));
        TAC_TRY(write_ids(ctx, w, mesh, "tetrahedra", tetrahedra, 4, &source, tetrahedron_value));
    }
    if (w->mixed) {
        if (tetrahedra > 0)
            TAC_TRY(fetch_tetrahedra(ctx, &source, cells, before, 5));
        TAC_TRY(fetch_triangles(ctx, &source, cells, 4));
        TAC_TRY(fetch_segments(ctx, &source, cells, 4 * triangles, 4));
        TAC_TRY(write_ids(ctx, w, mesh, "cells", cells, 0, &source, cell_value));
    }
    TAC_TRY(write_bodies(ctx, w, mesh, scene));
    TAC_TRY(write_free(ctx, w, mesh, scene, pieces));
    TAC_TRY(tac_frames_body_names(ctx, w, mesh, scene));
done:
    closed = mesh < 0 || H5Gclose(mesh) >= 0;
    free(source.triangle.vertex);
    free(source.segment.vertex);
    free(source.tetrahedron.vertex);
    return err ? err : tac_frames_step(ctx, w, "/mesh", closed);
}
