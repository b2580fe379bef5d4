/* frames_mesh.c: /mesh of frames.h5. */
#include <stdlib.h>
#include <string.h>

#include "io/frames.h"

/* A list of vertex ids of the scene as 64-bit values: the i-th value, so that each rank makes its own part only. */
typedef int64_t (*value_at)(const struct tac_scene *scene, const tac_lid *points, int64_t i);

static int64_t triangle_value(const struct tac_scene *scene, const tac_lid *points, int64_t i)
{
    return scene->triangle[i];
}

static int64_t segment_value(const struct tac_scene *scene, const tac_lid *points, int64_t i)
{
    return scene->segment[i];
}

static int64_t point_value(const struct tac_scene *scene, const tac_lid *points, int64_t i)
{
    return points[i];
}

/* XDMF's mixed topology: 4 a b c (triangle), 2 2 a b (polyline of two), 1 1 a (polyvertex of one). */
static int64_t cell_value(const struct tac_scene *scene, const tac_lid *points, int64_t i)
{
    int64_t triangles = 4 * (int64_t)scene->triangle_count, segments = 4 * (int64_t)scene->segment_count;
    if (i < triangles)
        return i % 4 == 0 ? 4 : scene->triangle[i / 4 * 3 + i % 4 - 1];
    i -= triangles;
    if (i < segments)
        return i % 4 < 2 ? 2 : scene->segment[i / 4 * 2 + i % 4 - 2];
    i -= segments;
    return i % 3 < 2 ? 1 : points[i / 3];
}

static enum tac_err write_ids(struct tac_ctx *ctx, struct tac_frames *w, hid_t mesh, const char *name, tac_gid rows,
                              int columns, const struct tac_scene *scene, const tac_lid *points, value_at value)
{
    enum tac_err err = TAC_OK;
    struct tac_dataset d = {mesh, name, NULL, TAC_GID_HDF5, columns, rows, 0, 0, NULL};
    int64_t width = columns > 0 ? columns : 1, *part = NULL;
    tac_rows_of_rank(rows, ctx->rank, ctx->size, &d.begin, &d.end);
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)((d.end - d.begin) * width), sizeof *part, &part)));
    for (int64_t i = 0, n = (d.end - d.begin) * width; i < n; i++)
        part[i] = value(scene, points, d.begin * width + i);
    d.data = part;
    TAC_TRY(tac_dataset_write(ctx, w, &d));
done:
    free(part);
    return err;
}

static enum tac_err write_radius(struct tac_ctx *ctx, struct tac_frames *w, hid_t mesh, const struct tac_scene *scene)
{
    enum tac_err err = TAC_OK;
    double *radius = NULL;
    struct tac_dataset d = {mesh,         "radius",   "m", H5T_NATIVE_DOUBLE, 0, scene->vertex_count,
                            w->row_begin, w->row_end, NULL};
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)(d.end - d.begin), sizeof *radius, &radius)));
    for (tac_gid i = d.begin; i < d.end; i++)
        radius[i - d.begin] = scene->body[scene->vertex_body[i]].radius;
    d.data = radius;
    TAC_TRY(tac_dataset_write(ctx, w, &d));
done:
    free(radius);
    return err;
}

/* Fixed-length strings, for parallel HDF5 cannot write those of variable length; rank 0 writes. */
static enum tac_err write_body_names(struct tac_ctx *ctx, struct tac_frames *w, hid_t mesh,
                                     const struct tac_scene *scene)
{
    enum tac_err err = TAC_OK;
    size_t longest = 1;
    char *text = NULL;
    hid_t type = -1;
    for (tac_lid b = 0; b < scene->body_count; b++)
        if (strlen(scene->body[b].name) > longest)
            longest = strlen(scene->body[b].name);
    TAC_TRY(tac_frames_reserve(ctx, w, (int64_t)longest * scene->body_count));
    TAC_TRY(tac_agree(ctx, tac_alloc(ctx, (size_t)scene->body_count, longest, &text)));
    for (tac_lid b = 0; b < scene->body_count; b++)
        memcpy(text + (size_t)b * longest, scene->body[b].name, strlen(scene->body[b].name));
    type = H5Tcopy(H5T_C_S1);
    TAC_TRY(tac_frames_step(ctx, w, "body_names",
                            type >= 0 && H5Tset_size(type, longest) >= 0 && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                                H5Tset_cset(type, H5T_CSET_UTF8) >= 0));
    struct tac_dataset d = {
        mesh, "body_names", NULL, type, 0, scene->body_count, 0, ctx->rank == 0 ? scene->body_count : 0, text};
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
    for (tac_lid b = 0; b < scene->body_count; b++)
        if (!scene->body[b].has_elements)
            w->point_count += scene->body[b].vertex_end - scene->body[b].vertex_begin;
    w->mixed = (scene->triangle_count > 0) + (scene->segment_count > 0) + (w->point_count > 0) > 1;
}

static enum tac_err list_points(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_scene *scene,
                                tac_lid **points)
{
    tac_lid count = 0;
    enum tac_err err = tac_alloc(ctx, (size_t)w->point_count, sizeof **points, points);
    for (tac_lid b = 0; !err && b < scene->body_count; b++)
        for (tac_lid i = scene->body[b].vertex_begin; !scene->body[b].has_elements && i < scene->body[b].vertex_end;
             i++)
            (*points)[count++] = i;
    return tac_agree(ctx, err);
}

enum tac_err tac_frames_mesh(struct tac_ctx *ctx, struct tac_frames *w, const struct tac_scene *scene)
{
    enum tac_err err = TAC_OK;
    tac_lid *points = NULL;
    hid_t mesh = -1;
    tac_frames_count(w, scene);
    TAC_TRY(list_points(ctx, w, scene, &points));
    tac_gid triangles = scene->triangle_count, segments = scene->segment_count;
    tac_gid cells = w->mixed ? 4 * triangles + 4 * segments + 3 * w->point_count : 0;
    TAC_TRY(tac_frames_reserve(ctx, w,
                               tac_dataset_space(triangles, 24) + tac_dataset_space(segments, 16) +
                                   tac_dataset_space(w->point_count, 8) + tac_dataset_space(cells, 8) +
                                   tac_dataset_space(w->vertex_count, 12)));
    mesh = H5Gcreate2(w->file, "mesh", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    TAC_TRY(tac_frames_step(ctx, w, "/mesh", mesh >= 0));
    TAC_TRY(write_ids(ctx, w, mesh, "triangles", triangles, 3, scene, points, triangle_value));
    TAC_TRY(write_ids(ctx, w, mesh, "segments", segments, 2, scene, points, segment_value));
    TAC_TRY(write_ids(ctx, w, mesh, "points", w->point_count, 0, scene, points, point_value));
    if (w->mixed)
        TAC_TRY(write_ids(ctx, w, mesh, "cells", cells, 0, scene, points, cell_value));
    struct tac_dataset body = {mesh,         "body",     NULL,
                               TAC_LID_HDF5, 0,          w->vertex_count,
                               w->row_begin, w->row_end, scene->vertex_body + w->row_begin};
    TAC_TRY(tac_dataset_write(ctx, w, &body));
    TAC_TRY(write_radius(ctx, w, mesh, scene));
    TAC_TRY(write_body_names(ctx, w, mesh, scene));
done:
    if (mesh >= 0 && H5Gclose(mesh) < 0)
        w->broken = true;
    free(points);
    return err;
}
