/* xdmf.c: writes frames.xdmf, with which ParaView opens frames.h5: a temporal collection with one grid per frame.  All
 * grids share topology, body and radius; every frame has datasets of its own, because ParaView's Xdmf3 readers drop
 * parts of datasets (hyperslabs) without a message. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "io/folder/output.h"

static enum tac_err append_text(struct tac_ctx *ctx, char **text, size_t *length, size_t *capacity, const char *format,
                                ...) __attribute__((format(printf, 5, 6)));

static enum tac_err append_text(struct tac_ctx *ctx, char **text, size_t *length, size_t *capacity, const char *format,
                                ...)
{
    enum tac_err err = TAC_OK;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    TAC_CHECK(n >= 0);
    TAC_TRY(tac_grow(ctx, text, capacity, *length + (size_t)n + 1, 1));
    vsnprintf(*text + *length, (size_t)n + 1, format, again);
    *length += (size_t)n;
done:
    va_end(again);
    va_end(args);
    return err;
}

static enum tac_err add_topology(struct tac_ctx *ctx, struct tac_output *out)
{
    const struct tac_frames *w = out->frames;
    struct tac_xdmf *x = &out->xdmf;
    tac_gid triangles = out->scene->mesh->triangle_count, segments = out->scene->mesh->segment_count,
            points = w->point_count, tetrahedra = out->scene->mesh->tetrahedron_count;
    char type[96], size[64];
    const char *name;
    if (w->mixed) {
        snprintf(type, sizeof type, "Mixed\" NumberOfElements=\"%" TAC_PRIGID,
                 triangles + segments + points + tetrahedra);
        snprintf(size, sizeof size, "%" TAC_PRIGID, 4 * triangles + 4 * segments + 3 * points + 5 * tetrahedra);
        name = "cells";
    } else if (triangles > 0) {
        snprintf(type, sizeof type, "Triangle\" NumberOfElements=\"%" TAC_PRIGID, triangles);
        snprintf(size, sizeof size, "%" TAC_PRIGID " 3", triangles);
        name = "triangles";
    } else if (segments > 0) {
        snprintf(type, sizeof type, "Polyline\" NodesPerElement=\"2\" NumberOfElements=\"%" TAC_PRIGID, segments);
        snprintf(size, sizeof size, "%" TAC_PRIGID " 2", segments);
        name = "segments";
    } else {
        snprintf(type, sizeof type, "Polyvertex\" NodesPerElement=\"1\" NumberOfElements=\"%" TAC_PRIGID, points);
        snprintf(size, sizeof size, "%" TAC_PRIGID " 1", points);
        name = "points";
    }
    return append_text(
        ctx, &x->text, &x->length, &x->capacity,
        "        <Topology TopologyType=\"%s\"><DataItem Dimensions=\"%s\" NumberType=\"Int\" Precision=\"8\" "
        "Format=\"HDF\">frames.h5:/mesh/%s</DataItem></Topology>\n",
        type, size, name);
}

/* A field on the vertices or, of `cells` > 0 of them, on the cells. */
static enum tac_err add_field(struct tac_ctx *ctx, struct tac_output *out, tac_gid cells, const char *name, bool vector,
                              const char *number, int precision, const char *path)
{
    struct tac_xdmf *x = &out->xdmf;
    return append_text(
        ctx, &x->text, &x->length, &x->capacity,
        "        <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"%s\"><DataItem Dimensions=\"%" TAC_PRIGID
        "%s\" NumberType=\"%s\" Precision=\"%d\" Format=\"HDF\">frames.h5:%s</DataItem></Attribute>\n",
        name, vector ? "Vector" : "Scalar", cells > 0 ? "Cell" : "Node",
        cells > 0 ? cells : (tac_gid)out->scene->mesh->vertex_count, vector ? " 3" : "", number, precision, path);
}

/* Writes the requested fields that belong to vertices or cells; lists of contacts and of rigid bodies are no part of
 * the mesh. */
static enum tac_err add_requested(struct tac_ctx *ctx, struct tac_output *out, int64_t index, unsigned fields)
{
    enum tac_err err = TAC_OK;
    const tac_gid cells = out->scene->mesh->triangle_count + (tac_gid)out->scene->mesh->segment_count +
                          out->frames->point_count + out->scene->mesh->tetrahedron_count;
    for (int k = 0; k < TAC_DATASETS; k++) {
        const struct tac_field_info *f = &tac_field_table()[k];
        char path[96];
        if (!(fields >> k & 1) || f->at == TAC_AT_CONTACTS || f->at == TAC_AT_RIGID)
            continue;
        snprintf(path, sizeof path, "/frames/%06" PRId64 "/%s", index, f->name);
        TAC_TRY(add_field(ctx, out, f->at == TAC_AT_CELLS ? cells : 0, f->name, f->columns == 3,
                          f->value == TAC_VALUE_INT32 ? "Int" : "Float", f->value == TAC_VALUE_DOUBLE ? 8 : 4, path));
    }
done:
    return err;
}

enum tac_err tac_xdmf_add(struct tac_ctx *ctx, struct tac_output *out, int64_t index, double time_s, unsigned fields)
{
    enum tac_err err = TAC_OK;
    struct tac_xdmf *x = &out->xdmf;
    size_t before = x->length;
    char position[64], velocity[64], force[64];
    snprintf(position, sizeof position, "/frames/%06" PRId64 "/position", index);
    snprintf(velocity, sizeof velocity, "/frames/%06" PRId64 "/velocity", index);
    snprintf(force, sizeof force, "/frames/%06" PRId64 "/contact_force", index);
    TAC_TRY(tac_grow(ctx, &x->frame, &x->frame_capacity, (size_t)x->frame_count + 1, sizeof *x->frame));
    TAC_TRY(append_text(ctx, &x->text, &x->length, &x->capacity,
                        "      <Grid Name=\"%06" PRId64 "\" GridType=\"Uniform\">\n        <Time Value=\"%.17g\"/>\n",
                        index, time_s));
    TAC_TRY(add_topology(ctx, out));
    TAC_TRY(append_text(ctx, &x->text, &x->length, &x->capacity,
                        "        <Geometry GeometryType=\"XYZ\"><DataItem Dimensions=\"%" TAC_PRILID
                        " 3\" NumberType=\"Float\" Precision=\"8\" Format=\"HDF\">frames.h5:%s</DataItem></Geometry>\n",
                        out->scene->mesh->vertex_count, position));
    TAC_TRY(add_field(ctx, out, 0, "velocity", true, "Float", 8, velocity));
    TAC_TRY(add_field(ctx, out, 0, "contact_force", true, "Float", 4, force));
    TAC_TRY(add_field(ctx, out, 0, "body", false, "Int", 4, "/mesh/body"));
    TAC_TRY(add_field(ctx, out, 0, "radius", false, "Float", 8, "/mesh/radius"));
    TAC_TRY(add_requested(ctx, out, index, fields));
    TAC_TRY(append_text(ctx, &x->text, &x->length, &x->capacity, "      </Grid>\n"));
    x->frame[x->frame_count++] = (struct tac_kept_frame){index, time_s, fields};
done:
    if (err)
        x->length = before;
    return err;
}

enum tac_err tac_xdmf_write(struct tac_ctx *ctx, struct tac_output *out, bool force)
{
    static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n"
                               "    <Grid Name=\"frames\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
    static const char tail[] = "    </Grid>\n  </Domain>\n</Xdmf>\n";
    enum { SHORT = 256 }; /* frames: always rewritten */
    enum tac_err err = TAC_OK;
    struct tac_xdmf *x = &out->xdmf;
    char *text = NULL;
    double begin = tac_wall_s();
    if (x->frames_written == x->frame_count && x->frames_written > 0)
        return TAC_OK;
    /* Rewriting n frames n times is quadratic: a long list waits until that costs a few percent at most. */
    if (!force && x->frame_count > SHORT && begin - x->written_at < 30 * x->seconds)
        return TAC_OK;
    size_t length = sizeof head - 1 + x->length + sizeof tail - 1;
    TAC_TRY(tac_alloc(ctx, length, 1, &text));
    memcpy(text, head, sizeof head - 1);
    if (x->length > 0)
        memcpy(text + sizeof head - 1, x->text, x->length);
    memcpy(text + length - (sizeof tail - 1), tail, sizeof tail - 1);
    TAC_TRY(tac_folder_replace(ctx, &out->folder, "frames.xdmf", text, length, false));
    x->frames_written = x->frame_count;
    x->written_at = tac_wall_s();
    x->seconds = x->written_at - begin;
done:
    free(text);
    return err;
}
