/* export_vtk.c: writes frames as XML files of VTK (.vtu, .vtp), and the list of them (.pvd).  Arrays are appended after
 * the XML, each compressed by zlib in blocks: a header of 64-bit numbers (blocks, bytes of a block, bytes of the last
 * one if it is shorter, compressed bytes of each block), then the blocks. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "inspect/export_room.h"
#include <tactus/output.h>

enum { BLOCK = 1 << 18, ARRAYS = 12 + TAC_DATASETS };

struct array {
    const char *name, *type; /* of VTK */
    int columns;
    int64_t rows;
    uint64_t offset;
};

struct file {
    struct tac_ctx *ctx;
    const struct tac_reader *r;
    double time_s;
    bool polygons;
    struct array array[ARRAYS];
    int count, points_end, cells_end; /* arrays: the points' data, the cells' data, then topology */
    unsigned char *bytes;             /* owned: appended data */
    size_t length, capacity;
};

static enum tac_err append_array(struct file *f, const char *name, const char *type, int columns, int64_t rows,
                                 size_t bytes, const void *data)
{
    enum tac_err err = TAC_OK;
    const size_t size = bytes * (size_t)columns * (size_t)rows, blocks = (size + BLOCK - 1) / BLOCK;
    const size_t head = 8 * (3 + blocks), room = head + blocks * compressBound(BLOCK);
    uint64_t *header = NULL;
    TAC_CHECK(f->count < ARRAYS);
    f->array[f->count++] = (struct array){name, type, columns, rows, f->length};
    TAC_TRY(tac_grow(f->ctx, &f->bytes, &f->capacity, f->length + room, 1));
    TAC_TRY(tac_alloc(f->ctx, 3 + blocks, sizeof *header, &header));
    header[0] = blocks;
    header[1] = BLOCK;
    header[2] = size % BLOCK;
    unsigned char *at = f->bytes + f->length + head;
    for (size_t b = 0; b < blocks; b++) {
        const size_t left = size - b * BLOCK;
        uLongf packed = compressBound(BLOCK);
        if (compress2(at, &packed, (const Bytef *)data + b * BLOCK, left < BLOCK ? left : BLOCK, 1) != Z_OK)
            TAC_TRY(tac_fail(f->ctx, TAC_ERR_RUN, "out of memory while compressing a frame"));
        header[3 + b] = packed;
        at += packed;
    }
    memcpy(f->bytes + f->length, header, head);
    f->length = (size_t)(at - f->bytes);
done:
    free(header);
    return err;
}

static const char *type_of(const struct tac_field_info *info)
{
    static const char *const name[] = {"Float32", "Float64", "Int32", "Int64"};
    return name[info->value];
}

/* VTK has vertices, lines and polygons of .vtp in this order; frames have triangles, segments, points. */
static enum tac_err append_cells(struct file *f, const struct tac_field_info *info, const char *data)
{
    const struct tac_reader *r = f->r;
    const size_t bytes = tac_field_row_bytes(info), t = bytes * (size_t)r->triangle_count,
                 s = bytes * (size_t)r->segment_count, p = bytes * (size_t)r->point_count,
                 k = f->polygons ? 0 : bytes * (size_t)r->tetrahedron_count; /* a VTP has the surface alone */
    char *turned = NULL;
    enum tac_err err;
    TAC_TRY(tac_alloc(f->ctx, t + s + p + k, 1, &turned));
    memcpy(turned, f->polygons ? data + t + s : data, f->polygons ? p : t);
    memcpy(turned + (f->polygons ? p : t), data + t, s);
    memcpy(turned + (f->polygons ? p : t) + s, f->polygons ? data : data + t + s, f->polygons ? t : p);
    memcpy(turned + t + s + p, data + t + s + p, k);
    TAC_TRY(append_array(f, info->name, type_of(info), 1, (int64_t)((t + s + p + k) / bytes), bytes, turned));
done:
    free(turned);
    return err;
}

static enum tac_err append_fields(struct file *f, const struct tac_export_frame *frame, enum tac_field_at at)
{
    enum tac_err err = TAC_OK;
    for (int k = 0; k < TAC_DATASETS; k++) {
        const struct tac_field_info *info = &tac_field_table()[k];
        if (frame->field[k] == NULL || info->at != at)
            continue;
        if (at == TAC_AT_CELLS)
            TAC_TRY(append_cells(f, info, frame->field[k]));
        else {
            const int columns = info->columns > 0 ? info->columns : 1;
            TAC_TRY(append_array(f, info->name, type_of(info), columns, f->r->vertex_count,
                                 tac_field_row_bytes(info) / (size_t)columns, frame->field[k]));
        }
    }
done:
    return err;
}

struct list {
    const tac_lid *vertex;
    tac_lid count;
    int corners;
    unsigned char type;
};

/* Connectivity and offsets of one kind of cells, or of all of them. */
static enum tac_err append_topology(struct file *f, const struct list *list, int lists)
{
    enum tac_err err;
    int64_t *connectivity = NULL, *offset = NULL, cells = 0, corners = 0, n = 0, c = 0;
    unsigned char *type = NULL;
    for (int k = 0; k < lists; k++) {
        cells += list[k].count;
        corners += (int64_t)list[k].corners * list[k].count;
    }
    TAC_TRY(tac_alloc(f->ctx, (size_t)corners, sizeof *connectivity, &connectivity));
    TAC_TRY(tac_alloc(f->ctx, (size_t)cells, sizeof *offset, &offset));
    TAC_TRY(tac_alloc(f->ctx, (size_t)cells, 1, &type));
    for (int k = 0; k < lists; k++)
        for (tac_lid i = 0; i < list[k].count; i++) {
            for (int j = 0; j < list[k].corners; j++)
                connectivity[n++] = list[k].vertex[(size_t)list[k].corners * (size_t)i + (size_t)j];
            offset[c] = n;
            type[c++] = list[k].type;
        }
    TAC_TRY(append_array(f, "connectivity", "Int64", 1, corners, 8, connectivity));
    TAC_TRY(append_array(f, "offsets", "Int64", 1, cells, 8, offset));
    if (!f->polygons)
        TAC_TRY(append_array(f, "types", "UInt8", 1, cells, 1, type));
done:
    free(connectivity);
    free(offset);
    free(type);
    return err;
}

static void put_array(FILE *out, const struct array *a, bool tuples)
{
    fprintf(out, "<DataArray type=\"%s\" Name=\"%s\"", a->type, a->name);
    if (a->columns > 1)
        fprintf(out, " NumberOfComponents=\"%d\"", a->columns);
    if (tuples)
        fprintf(out, " NumberOfTuples=\"%" PRId64 "\"", a->rows);
    fprintf(out, " format=\"appended\" offset=\"%" PRIu64 "\"/>\n", a->offset);
}

static void put_arrays(FILE *out, const char *section, const struct array *a, int count)
{
    fprintf(out, "<%s>\n", section);
    for (int k = 0; k < count; k++)
        put_array(out, &a[k], false);
    fprintf(out, "</%s>\n", section);
}

/* The arrays are: time, points, those on vertices, those on cells, topology. */
static void write_vtk(FILE *out, const void *data)
{
    static const uint16_t one = 1;
    static const char *const sections[] = {"Verts", "Lines", "Polys"};
    const struct file *f = data;
    const struct tac_reader *r = f->r;
    const char *kind = f->polygons ? "PolyData" : "UnstructuredGrid";
    fprintf(out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\" "
            "compressor=\"vtkZLibDataCompressor\">\n<%s>\n<FieldData>\n",
            kind, *(const unsigned char *)&one == 1 ? "LittleEndian" : "BigEndian", kind);
    put_array(out, &f->array[0], true);
    fprintf(out, "</FieldData>\n<Piece NumberOfPoints=\"%" TAC_PRILID "\"", r->vertex_count);
    if (f->polygons)
        fprintf(out,
                " NumberOfVerts=\"%" TAC_PRILID "\" NumberOfLines=\"%" TAC_PRILID "\" NumberOfStrips=\"0\" "
                "NumberOfPolys=\"%" TAC_PRILID "\">\n",
                r->point_count, r->segment_count, r->triangle_count);
    else
        fprintf(out, " NumberOfCells=\"%" PRId64 "\">\n",
                (int64_t)r->triangle_count + r->segment_count + r->point_count + r->tetrahedron_count);
    put_arrays(out, "PointData", &f->array[2], f->points_end - 2);
    put_arrays(out, "CellData", &f->array[f->points_end], f->cells_end - f->points_end);
    put_arrays(out, "Points", &f->array[1], 1);
    if (f->polygons)
        for (int k = 0; k < 3; k++)
            put_arrays(out, sections[k], &f->array[f->cells_end + 2 * k], 2);
    else
        put_arrays(out, "Cells", &f->array[f->cells_end], 3);
    fprintf(out, "</Piece>\n</%s>\n<AppendedData encoding=\"raw\">\n_", kind);
    fwrite(f->bytes, 1, f->length, out);
    fputs("\n</AppendedData>\n</VTKFile>\n", out);
}

enum tac_err tac_export_vtk(struct tac_ctx *ctx, const struct tac_reader *r, const struct tac_export_frame *frame,
                            bool polygons, const char *path)
{
    enum { VTK_VERTEX = 1, VTK_LINE = 3, VTK_TRIANGLE = 5, VTK_TETRA = 10 };
    const struct list cells[] = {{r->triangle, r->triangle_count, 3, VTK_TRIANGLE},
                                 {r->segment, r->segment_count, 2, VTK_LINE},
                                 {r->point, r->point_count, 1, VTK_VERTEX},
                                 {r->tetrahedron, r->tetrahedron_count, 4, VTK_TETRA}};
    struct file f = {.ctx = ctx, .r = r, .time_s = frame->time_s, .polygons = polygons};
    enum tac_err err;
    TAC_TRY(append_array(&f, "TimeValue", "Float64", 1, 1, 8, &f.time_s));
    TAC_TRY(append_array(&f, "Points", "Float64", 3, r->vertex_count, 8, frame->position));
    TAC_TRY(append_array(&f, "velocity", "Float64", 3, r->vertex_count, 8, frame->velocity));
    TAC_TRY(append_array(&f, "contact_force", "Float32", 3, r->vertex_count, 4, frame->contact_force));
    TAC_TRY(append_array(&f, "body", "Int32", 1, r->vertex_count, 4, r->body));
    TAC_TRY(append_array(&f, "radius", "Float64", 1, r->vertex_count, 8, r->radius));
    TAC_TRY(append_fields(&f, frame, TAC_AT_VERTICES));
    f.points_end = f.count;
    TAC_TRY(append_fields(&f, frame, TAC_AT_CELLS));
    f.cells_end = f.count;
    if (!polygons)
        TAC_TRY(append_topology(&f, cells, 4));
    for (int k = 2; k >= 0 && polygons; k--)
        TAC_TRY(append_topology(&f, &cells[k], 1));
    err = tac_export_file(ctx, path, write_vtk, &f);
done:
    free(f.bytes);
    return err;
}

/* ---- the list ---- */

struct pvd {
    const struct tac_reader *r;
    const bool *chosen;
    const char *extension;
};

static void pvd_content(FILE *out, const void *data)
{
    const struct pvd *p = data;
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n", out);
    for (int64_t k = 0; k < p->r->frame_count; k++)
        if (p->chosen[k])
            fprintf(out, "<DataSet timestep=\"%.17g\" part=\"0\" file=\"frame-%s.%s\"/>\n", p->r->frame[k].time_s,
                    p->r->frame[k].name, p->extension);
    fputs("</Collection>\n</VTKFile>\n", out);
}

enum tac_err tac_export_pvd(struct tac_ctx *ctx, const struct tac_reader *r, const bool *chosen, const char *extension,
                            const char *path)
{
    const struct pvd p = {r, chosen, extension};
    return tac_export_file(ctx, path, pvd_content, &p);
}
