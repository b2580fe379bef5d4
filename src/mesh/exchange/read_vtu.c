/* read_vtu.c: VTK's XML files of unstructured grids (.vtu): points, and cells that are lines, triangles, polygons or
 * tetrahedra, of all pieces.  The XML is read by expat. */
#include "mesh/exchange/vtu.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

enum which { POINTS, CONNECTIVITY, OFFSETS, TYPES, ARRAYS };
static const char *const NAMES[ARRAYS] = {"Points", "connectivity", "offsets", "types"};

struct piece {
    int64_t points, cells;
    struct tac_vtu_array array[ARRAYS];
};

struct vtu {
    struct tac_ctx *ctx;   /* borrowed */
    struct tac_builder *b; /* borrowed */
    const struct tac_file *file;
    XML_Parser parser;
    struct tac_vtu_format format;
    bool grid, in_points, in_cells;
    struct piece *piece; /* owned */
    size_t piece_count, piece_capacity;
    struct tac_vtu_array *into; /* the array whose text is read now; NULL: none */
    size_t text_capacity;
    enum tac_err err; /* of a handler */
};

static enum tac_err fail_at_line(struct vtu *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
static enum tac_err fail_at_line(struct vtu *v, const char *format, ...)
{
    char sentence[512];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return tac_fail(v->ctx, TAC_ERR_INPUT, "%s, line %lu: %s", v->file->path,
                    (unsigned long)XML_GetCurrentLineNumber(v->parser), sentence);
}

/* ---- the elements of the file ---- */

static const char *attribute(const char *const *list, const char *name)
{
    for (; list[0] != NULL; list += 2)
        if (strcmp(list[0], name) == 0)
            return list[1];
    return NULL;
}

static bool says(const char *const *list, const char *name, const char *value)
{
    const char *found = attribute(list, name);
    return found != NULL && strcmp(found, value) == 0;
}

static enum tac_err begin_file(struct vtu *v, const char *const *list)
{
    const char *type = attribute(list, "type"), *compressor = attribute(list, "compressor");
    if (type == NULL || strcmp(type, "UnstructuredGrid") != 0)
        return fail_at_line(v, "the file is a VTK file of type '%.40s'; only those of type UnstructuredGrid are read",
                            type ? type : "");
    v->format.big_endian = says(list, "byte_order", "BigEndian");
    v->format.header = says(list, "header_type", "UInt64") ? 8 : 4;
    v->format.compressed = compressor != NULL;
    if (compressor != NULL && strcmp(compressor, "vtkZLibDataCompressor") != 0)
        return fail_at_line(v, "the data are packed by '%.40s'; only vtkZLibDataCompressor is known here, or none",
                            compressor);
    return TAC_OK;
}

static enum tac_err count_of(struct vtu *v, const char *const *list, const char *name, int64_t *out)
{
    const char *text = attribute(list, name);
    char *end = NULL;
    const long long value = text ? strtoll(text, &end, 10) : -1;
    if (text == NULL || end == text || *end != '\0' || value < 0 || value > TAC_MESH_LIMIT)
        return fail_at_line(v, "%s must be a whole number from 0 to %" PRId64 ", not '%.40s'", name, TAC_MESH_LIMIT,
                            text ? text : "");
    *out = value;
    return TAC_OK;
}

static enum tac_err begin_piece(struct vtu *v, const char *const *list)
{
    enum tac_err err = TAC_OK;
    v->into = NULL;
    TAC_TRY(tac_grow(v->ctx, &v->piece, &v->piece_capacity, v->piece_count + 1, sizeof *v->piece));
    struct piece *p = &v->piece[v->piece_count++];
    memset(p, 0, sizeof *p);
    for (int k = 0; k < ARRAYS; k++)
        p->array[k].name = NAMES[k];
    TAC_TRY(count_of(v, list, "NumberOfPoints", &p->points));
    TAC_TRY(count_of(v, list, "NumberOfCells", &p->cells));
done:
    return err;
}

static enum tac_err vtu_type_of(struct vtu *v, const char *const *list, struct tac_vtu_array *a)
{
    static const struct {
        const char *name;
        enum tac_vtu_kind kind;
        int width;
    } types[] = {{"Float32", TAC_VTU_FLOAT, 4},  {"Float64", TAC_VTU_FLOAT, 8},   {"Int8", TAC_VTU_SIGNED, 1},
                 {"Int16", TAC_VTU_SIGNED, 2},   {"Int32", TAC_VTU_SIGNED, 4},    {"Int64", TAC_VTU_SIGNED, 8},
                 {"UInt8", TAC_VTU_UNSIGNED, 1}, {"UInt16", TAC_VTU_UNSIGNED, 2}, {"UInt32", TAC_VTU_UNSIGNED, 4},
                 {"UInt64", TAC_VTU_UNSIGNED, 8}};
    const char *type = attribute(list, "type");
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
        if (type != NULL && strcmp(type, types[k].name) == 0) {
            a->kind = types[k].kind;
            a->width = types[k].width;
            return TAC_OK;
        }
    return fail_at_line(v, "the array \"%s\" is of the type '%.40s', which is none", a->name, type ? type : "");
}

static enum tac_err begin_array(struct vtu *v, const char *const *list, struct tac_vtu_array *a)
{
    enum tac_err err = TAC_OK;
    const char *format = attribute(list, "format"), *offset = attribute(list, "offset");
    char *end = NULL;
    if (a->kind != TAC_VTU_MISSING)
        return fail_at_line(v, "a second array \"%s\" begins", a->name);
    TAC_TRY(vtu_type_of(v, list, a));
    a->line = (int64_t)XML_GetCurrentLineNumber(v->parser);
    if (a != &v->piece[v->piece_count - 1].array[POINTS] && a->kind == TAC_VTU_FLOAT)
        TAC_TRY(fail_at_line(v, "the array \"%s\" holds no whole numbers", a->name));
    if (format != NULL && strcmp(format, "appended") == 0) {
        a->format = TAC_VTU_APPENDED;
        a->offset = offset ? strtoull(offset, &end, 10) : 0;
        if (offset == NULL || end == offset || *end != '\0')
            TAC_TRY(fail_at_line(v, "the array \"%s\" does not say its offset", a->name));
        goto done;
    }
    a->format = format != NULL && strcmp(format, "binary") == 0 ? TAC_VTU_BINARY : TAC_VTU_ASCII;
    if (a->format == TAC_VTU_ASCII && format != NULL && strcmp(format, "ascii") != 0)
        TAC_TRY(fail_at_line(v, "the array \"%s\" has the format '%.40s'; ascii, binary and appended are known",
                             a->name, format));
    v->into = a;
    v->text_capacity = 0;
done:
    return err;
}

/* The data after the '_' need not be XML: the parser stops here. */
static enum tac_err begin_appended(struct vtu *v, const char *const *list)
{
    const long at = XML_GetCurrentByteIndex(v->parser) + XML_GetCurrentByteCount(v->parser);
    const char *mark = memchr(v->file->data + at, '_', v->file->size - (size_t)at);
    v->format.raw = says(list, "encoding", "raw");
    if (mark == NULL)
        return fail_at_line(v, "no '_' follows, after which the appended data begin; the file is cut off");
    v->format.data = mark + 1;
    v->format.data_end = v->file->data + v->file->size;
    XML_StopParser(v->parser, XML_FALSE);
    return TAC_OK;
}

static void XMLCALL begin_element(void *user, const char *name, const char **list)
{
    struct vtu *v = user;
    struct piece *p = v->piece_count > 0 ? &v->piece[v->piece_count - 1] : NULL;
    if (v->err)
        return;
    if (strcmp(name, "VTKFile") == 0) {
        v->err = begin_file(v, list);
        v->grid = true;
    } else if (!v->grid) {
        v->err = fail_at_line(v, "expected <VTKFile>, not <%.40s>", name);
    } else if (strcmp(name, "Piece") == 0) {
        v->err = begin_piece(v, list);
    } else if (strcmp(name, "Points") == 0) {
        v->in_points = p != NULL;
    } else if (strcmp(name, "Cells") == 0) {
        v->in_cells = p != NULL;
    } else if (strcmp(name, "AppendedData") == 0) {
        v->err = begin_appended(v, list);
    } else if (strcmp(name, "DataArray") == 0 && v->in_points) {
        v->err = begin_array(v, list, &p->array[POINTS]);
    } else if (strcmp(name, "DataArray") == 0 && v->in_cells) {
        for (int k = CONNECTIVITY; k <= TYPES && !v->err; k++)
            if (says(list, "Name", NAMES[k]))
                v->err = begin_array(v, list, &p->array[k]);
    }
    if (v->err)
        XML_StopParser(v->parser, XML_FALSE);
}

static void XMLCALL end_element(void *user, const char *name)
{
    struct vtu *v = user;
    if (strcmp(name, "Points") == 0)
        v->in_points = false;
    if (strcmp(name, "Cells") == 0)
        v->in_cells = false;
    if (strcmp(name, "DataArray") == 0)
        v->into = NULL;
}

static void XMLCALL add_text(void *user, const char *text, int length)
{
    struct vtu *v = user;
    struct tac_vtu_array *a = v->into;
    if (a == NULL || v->err)
        return;
    v->err = tac_grow(v->ctx, &a->text, &v->text_capacity, a->text_size + (size_t)length + 1, 1);
    if (v->err) {
        XML_StopParser(v->parser, XML_FALSE);
        return;
    }
    memcpy(a->text + a->text_size, text, (size_t)length);
    a->text_size += (size_t)length;
    a->text[a->text_size] = '\0';
}

/* Entities could make a small file large without end; no mesh has any. */
static void XMLCALL refuse_doctype(void *user, const char *name, const char *system, const char *public, int internal)
{
    struct vtu *v = user;
    if (!v->err)
        v->err = fail_at_line(v, "the file has a DOCTYPE, which no mesh needs; take it out");
    XML_StopParser(v->parser, XML_FALSE);
}

static enum tac_err parse(struct vtu *v)
{
    enum { PORTION = 1 << 24 };
    const char *at = v->file->data;
    XML_SetUserData(v->parser, v);
    XML_SetElementHandler(v->parser, begin_element, end_element);
    XML_SetCharacterDataHandler(v->parser, add_text);
    XML_SetStartDoctypeDeclHandler(v->parser, refuse_doctype);
    for (size_t left = v->file->size; v->format.data == NULL;) {
        const int size = left < PORTION ? (int)left : PORTION;
        const bool last = (size_t)size == left;
        const enum XML_Status status = XML_Parse(v->parser, at, size, last);
        if (v->err)
            return v->err;
        if (status != XML_STATUS_OK && v->format.data == NULL)
            return XML_GetErrorCode(v->parser) == XML_ERROR_NO_MEMORY
                       ? tac_fail(v->ctx, TAC_ERR_RUN, "out of memory while reading '%s'", v->file->path)
                       : fail_at_line(v, "the XML is wrong: %s", XML_ErrorString(XML_GetErrorCode(v->parser)));
        at += size;
        left -= (size_t)size;
        if (last)
            break;
    }
    return TAC_OK;
}

/* ---- cells ---- */

static enum tac_err polygon(struct vtu *v, const int64_t *node, size_t count, int64_t first)
{
    enum tac_err err = TAC_OK;
    for (size_t k = 2; k < count; k++)
        TAC_TRY(tac_builder_triangle(v->b, first + node[0], first + node[k - 1], first + node[k]));
done:
    return err;
}

static enum tac_err strip(struct vtu *v, const int64_t *node, size_t count, int64_t first)
{
    enum tac_err err = TAC_OK;
    for (size_t k = 2; k < count; k++)
        TAC_TRY(tac_builder_triangle(v->b, first + node[k - 2 + k % 2], first + node[k - 1 - k % 2], first + node[k]));
done:
    return err;
}

static enum tac_err chain(struct vtu *v, const int64_t *node, size_t count, int64_t first)
{
    enum tac_err err = TAC_OK;
    for (size_t k = 1; k < count; k++)
        TAC_TRY(tac_builder_segment(v->b, first + node[k - 1], first + node[k]));
done:
    return err;
}

/* How many nodes a type has, 0: any number. */
static size_t nodes_of(int64_t type)
{
    return type == 3 ? 2 : type == 5 ? 3 : type == 8 || type == 9 || type == 10 ? 4 : 0;
}

/* node: within the piece, checked; first: of the piece's points. */
static enum tac_err add_cell(struct vtu *v, size_t cell, int64_t type, const int64_t *node, size_t count, int64_t first)
{
    enum { VERTEX = 1, VERTICES, EDGE, EDGES, TRIANGLE, STRIP, POLYGON, PIXEL, QUAD, TETRAHEDRON };
    if (nodes_of(type) != 0 && nodes_of(type) != count)
        return tac_fail(v->ctx, TAC_ERR_INPUT, "%s: cell %zu of VTK's type %" PRId64 " has %zu points instead of %zu",
                        v->file->path, cell, type, count, nodes_of(type));
    switch (type) {
    case VERTEX:
    case VERTICES:
        return TAC_OK;
    case EDGE:
    case EDGES:
        return chain(v, node, count, first);
    case STRIP:
        return strip(v, node, count, first);
    case TRIANGLE:
    case POLYGON:
    case QUAD:
        return polygon(v, node, count, first);
    case PIXEL:
        return polygon(v, (const int64_t[4]){node[0], node[1], node[3], node[2]}, 4, first);
    case TETRAHEDRON:
        return tac_builder_tetrahedron(
            v->b, (const int64_t[4]){first + node[0], first + node[1], first + node[2], first + node[3]});
    default:
        break;
    }
    if ((type >= 11 && type <= 16) || type == 42) { /* voxels, hexahedra, wedges, pyramids, prisms, polyhedra */
        v->b->left_out++;
        return TAC_OK;
    }
    return tac_fail(v->ctx, TAC_ERR_INPUT,
                    "%s: cell %zu is of VTK's type %" PRId64
                    ", which is not read; save the mesh with cells of first order: lines, triangles, polygons, "
                    "tetrahedra",
                    v->file->path, cell, type);
}

static enum tac_err wrong_cell(struct vtu *v, size_t cell, const char *what)
{
    return tac_fail(v->ctx, TAC_ERR_INPUT, "%s: cell %zu %s; the file is damaged", v->file->path, cell, what);
}

static enum tac_err add_cells(struct vtu *v, const struct piece *p, int64_t first)
{
    enum tac_err err = TAC_OK;
    int64_t *node = NULL;
    size_t capacity = 0;
    for (size_t c = 0, begin = 0; c < (size_t)p->cells; c++) {
        const int64_t end = tac_vtu_integer(&p->array[OFFSETS], c);
        if (end < (int64_t)begin || end > (int64_t)p->array[CONNECTIVITY].count) {
            err = wrong_cell(v, c, "has an offset that cannot be");
            goto done;
        }
        const size_t count = (size_t)end - begin;
        TAC_TRY(tac_grow(v->ctx, &node, &capacity, count + 1, sizeof *node));
        for (size_t k = 0; k < count; k++) {
            node[k] = tac_vtu_integer(&p->array[CONNECTIVITY], begin + k);
            if (node[k] < 0 || node[k] >= p->points) {
                err = wrong_cell(v, c, "names a point that does not exist");
                goto done;
            }
        }
        TAC_TRY(add_cell(v, c, tac_vtu_integer(&p->array[TYPES], c), node, count, first));
        begin = (size_t)end;
    }
done:
    free(node);
    return err;
}

static enum tac_err add_piece(struct vtu *v, struct piece *p)
{
    enum tac_err err = TAC_OK;
    const int64_t first = (int64_t)v->b->vertex_count;
    const size_t wanted[ARRAYS] = {3 * (size_t)p->points, 0, (size_t)p->cells, (size_t)p->cells};
    for (int k = 0; k < ARRAYS; k++) {
        struct tac_vtu_array *a = &p->array[k];
        const bool needed = k == POINTS ? p->points > 0 : p->cells > 0;
        if (a->kind == TAC_VTU_MISSING && needed) {
            err = tac_fail(v->ctx, TAC_ERR_INPUT, "%s: a piece has no array \"%s\"; the file is cut off or damaged",
                           v->file->path, a->name);
            goto done;
        }
        if (!needed)
            continue;
        TAC_TRY(tac_vtu_decode(v->ctx, v->file->path, &v->format, a,
                               k == CONNECTIVITY ? 8 * (size_t)TAC_MESH_LIMIT : wanted[k]));
        if (k != CONNECTIVITY && a->count != wanted[k]) {
            err =
                tac_fail(v->ctx, TAC_ERR_INPUT, "%s, line %" PRId64 ": the array \"%s\" has %zu numbers instead of %zu",
                         v->file->path, a->line, a->name, a->count, wanted[k]);
            goto done;
        }
    }
    for (size_t i = 0; i < (size_t)p->points; i++)
        TAC_TRY(tac_builder_vertex(v->b, tac_vtu_double(&p->array[POINTS], 3 * i),
                                   tac_vtu_double(&p->array[POINTS], 3 * i + 1),
                                   tac_vtu_double(&p->array[POINTS], 3 * i + 2)));
    if (p->cells > 0)
        TAC_TRY(add_cells(v, p, first));
done:
    return err;
}

enum tac_err tac_read_vtu(const struct tac_file *file, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct vtu v = {.ctx = file->ctx, .b = b, .file = file, .parser = XML_ParserCreate(NULL)};
    if (v.parser == NULL) {
        err = tac_fail(file->ctx, TAC_ERR_RUN, "out of memory while reading '%s'", file->path);
        goto done;
    }
    TAC_TRY(parse(&v));
    if (v.piece_count == 0) {
        err = tac_fail(file->ctx, TAC_ERR_INPUT, "%s: has no <Piece>; it is cut off or no mesh", file->path);
        goto done;
    }
    for (size_t k = 0; k < v.piece_count; k++)
        TAC_TRY(add_piece(&v, &v.piece[k]));
done:
    for (size_t k = 0; k < v.piece_count; k++)
        for (int a = 0; a < ARRAYS; a++) {
            free(v.piece[k].array[a].text);
            free(v.piece[k].array[a].number);
        }
    free(v.piece);
    if (v.parser != NULL)
        XML_ParserFree(v.parser);
    return err;
}
