/* read_ply.c: reads PLY: ascii, binary_little_endian and binary_big_endian. vertex {x, y, z}, face {list
 * vertex_indices}, edge {vertex1, vertex2}; any other element or property is skipped. */
#include "mesh/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum type { INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64, TYPE_COUNT, NO_TYPE = TYPE_COUNT };
static const int TYPE_WIDTH[TYPE_COUNT] = {1, 1, 2, 2, 4, 4, 4, 8};

/* What a property is to a mesh. */
enum role { OTHER, X, Y, Z, CORNERS, END1, END2 };
enum element_kind { SKIPPED, VERTEX, FACE, EDGE };

struct property {
    enum type type, count_type; /* count_type: of a list's length; NO_TYPE: not a list */
    enum role role;
};

struct element {
    enum element_kind kind;
    char name[48];
    int64_t count;
    size_t property_begin, property_end;
};

struct ply {
    struct tac_builder *b;
    struct tac_text text;   /* of the header, then of ascii data */
    struct tac_bytes bytes; /* of binary data */
    bool ascii;
    struct element *element; /* owned */
    size_t element_count, element_capacity;
    struct property *property; /* owned */
    size_t property_count, property_capacity;
};

static enum type ply_type_of(struct tac_word word)
{
    static const char *const name[TYPE_COUNT][2] = {{"char", "int8"},     {"uchar", "uint8"},   {"short", "int16"},
                                                    {"ushort", "uint16"}, {"int", "int32"},     {"uint", "uint32"},
                                                    {"float", "float32"}, {"double", "float64"}};
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (tac_word_is(word, name[i][0]) || tac_word_is(word, name[i][1]))
            return (enum type)i;
    }
    return NO_TYPE;
}

static enum role role_of(enum element_kind kind, struct tac_word name)
{
    static const struct {
        enum element_kind kind;
        const char *name;
        enum role role;
    } known[] = {{VERTEX, "x", X},
                 {VERTEX, "y", Y},
                 {VERTEX, "z", Z},
                 {FACE, "vertex_indices", CORNERS},
                 {FACE, "vertex_index", CORNERS},
                 {EDGE, "vertex1", END1},
                 {EDGE, "vertex2", END2}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].kind == kind && tac_word_is(name, known[i].name))
            return known[i].role;
    }
    return OTHER;
}

static enum tac_err read_ply_format(struct ply *p, bool *big_endian)
{
    char text[48];
    const struct tac_word format = tac_text_word(&p->text), version = tac_text_word(&p->text);
    p->ascii = tac_word_is(format, "ascii");
    *big_endian = tac_word_is(format, "binary_big_endian");
    if (!p->ascii && !*big_endian && !tac_word_is(format, "binary_little_endian"))
        return tac_text_fail(&p->text, "the format must be ascii, binary_little_endian or binary_big_endian, not '%s'",
                             tac_word_show(format, text));
    if (!tac_word_is(version, "1.0"))
        return tac_text_fail(&p->text, "the format's version must be 1.0, not '%s'", tac_word_show(version, text));
    return TAC_OK;
}

static enum tac_err read_ply_element(struct ply *p)
{
    enum tac_err err = TAC_OK;
    struct element e = {.property_begin = p->property_count, .property_end = p->property_count};
    const struct tac_word name = tac_text_word(&p->text);
    if (name.size == 0) {
        err = tac_text_fail(&p->text, "an element needs a name and a count");
        goto done;
    }
    e.kind = tac_word_is(name, "vertex") ? VERTEX
             : tac_word_is(name, "face") ? FACE
             : tac_word_is(name, "edge") ? EDGE
                                         : SKIPPED;
    tac_word_show(name, e.name);
    TAC_TRY(tac_text_integer(&p->text, tac_text_word(&p->text), "the count of an element", &e.count));
    if (e.count < 0) {
        err = tac_text_fail(&p->text, "element '%s' cannot have a count of %" PRId64, e.name, e.count);
        goto done;
    }
    if (tac_word_is(name, "tristrips") && e.count > 0) {
        err = tac_text_fail(&p->text, "triangle strips are not read; convert them to faces");
        goto done;
    }
    for (size_t i = 0; i < p->element_count; i++) {
        if (e.kind != SKIPPED && p->element[i].kind == e.kind) {
            err = tac_text_fail(&p->text, "element '%s' is declared twice", e.name);
            goto done;
        }
    }
    TAC_TRY(tac_grow(p->b->ctx, &p->element, &p->element_capacity, p->element_count + 1, sizeof e));
    p->element[p->element_count++] = e;
done:
    return err;
}

static enum tac_err read_property(struct ply *p)
{
    enum tac_err err = TAC_OK;
    char text[48];
    struct property property = {.count_type = NO_TYPE};
    struct tac_word word = tac_text_word(&p->text);
    if (p->element_count == 0) {
        err = tac_text_fail(&p->text, "a property must come after the element it belongs to");
        goto done;
    }
    struct element *e = &p->element[p->element_count - 1];
    const bool list = tac_word_is(word, "list");
    if (list) {
        word = tac_text_word(&p->text);
        property.count_type = ply_type_of(word);
        if (property.count_type >= FLOAT32) {
            err = tac_text_fail(&p->text, "the length of a list must be of a whole-number type, not '%s'",
                                tac_word_show(word, text));
            goto done;
        }
        word = tac_text_word(&p->text);
    }
    property.type = ply_type_of(word);
    if (property.type == NO_TYPE) {
        err = tac_text_fail(&p->text, "'%s' is no type of PLY", tac_word_show(word, text));
        goto done;
    }
    word = tac_text_word(&p->text);
    if (word.size == 0) {
        err = tac_text_fail(&p->text, "the property has no name");
        goto done;
    }
    property.role = role_of(e->kind, word);
    if (property.role != OTHER && (property.role == CORNERS) != list) {
        err = tac_text_fail(&p->text, "property '%s' must %sbe a list", tac_word_show(word, text), list ? "not " : "");
        goto done;
    }
    for (size_t i = e->property_begin; i < e->property_end; i++) {
        if (property.role != OTHER && p->property[i].role == property.role) {
            err = tac_text_fail(&p->text, "property '%s' is declared twice", tac_word_show(word, text));
            goto done;
        }
    }
    TAC_TRY(tac_grow(p->b->ctx, &p->property, &p->property_capacity, p->property_count + 1, sizeof property));
    p->property[p->property_count++] = property;
    e->property_end = p->property_count;
done:
    return err;
}

static bool has_role(const struct ply *p, const struct element *e, enum role role)
{
    for (size_t i = e->property_begin; i < e->property_end; i++) {
        if (p->property[i].role == role)
            return true;
    }
    return false;
}

static enum tac_err check_header(const struct ply *p)
{
    static const struct {
        enum element_kind kind;
        enum role role;
        const char *name;
    } needed[] = {{VERTEX, X, "x"},        {VERTEX, Y, "y"},       {VERTEX, Z, "z"}, {FACE, CORNERS, "vertex_indices"},
                  {EDGE, END1, "vertex1"}, {EDGE, END2, "vertex2"}};
    bool vertices = false;
    for (size_t i = 0; i < p->element_count; i++) {
        const struct element *e = &p->element[i];
        vertices = vertices || e->kind == VERTEX;
        for (size_t k = 0; k < sizeof needed / sizeof needed[0]; k++) {
            if (needed[k].kind == e->kind && e->count > 0 && !has_role(p, e, needed[k].role))
                return tac_text_fail(&p->text, "element '%s' has no property '%s'", e->name, needed[k].name);
        }
    }
    return vertices ? TAC_OK : tac_text_fail(&p->text, "the header has no element 'vertex'");
}

/* Up to and with "end_header", after which the data begins. */
static enum tac_err read_header(struct ply *p, const struct tac_file *file)
{
    enum tac_err err = TAC_OK;
    bool big_endian = false, format = false;
    char text[48];
    for (;;) {
        if (!tac_text_next_line(&p->text)) {
            err = tac_text_fail(&p->text, "the header has no 'end_header'; the file is cut off");
            goto done;
        }
        const struct tac_word word = tac_text_word(&p->text);
        if (tac_word_is(word, "end_header"))
            break;
        if (word.size == 0 || tac_word_is(word, "comment") || tac_word_is(word, "obj_info"))
            continue;
        if (tac_word_is(word, "format")) {
            format = true;
            TAC_TRY(read_ply_format(p, &big_endian));
        } else if (tac_word_is(word, "element")) {
            TAC_TRY(read_ply_element(p));
        } else if (tac_word_is(word, "property")) {
            TAC_TRY(read_property(p));
        } else {
            err = tac_text_fail(&p->text, "'%s' is no keyword of a PLY header", tac_word_show(word, text));
            goto done;
        }
    }
    if (!format) {
        err = tac_text_fail(&p->text, "the header has no 'format' line");
        goto done;
    }
    TAC_TRY(check_header(p));
    tac_text_next_line(&p->text);
    p->bytes = tac_bytes_begin(file, (size_t)(p->text.at - file->data), big_endian);
done:
    return err;
}

static enum tac_err fail_here(const struct ply *p, const char *sentence)
{
    return p->ascii ? tac_text_fail(&p->text, "%s", sentence) : tac_bytes_fail(&p->bytes, "%s", sentence);
}

/* One number of any type. All of PLY's whole numbers fit a double. */
static enum tac_err read_value(struct ply *p, enum type type, const char *what, double *out)
{
    if (p->ascii)
        return tac_text_number(&p->text, tac_text_any_word(&p->text), what, out);
    if (type == FLOAT32 || type == FLOAT64)
        return tac_bytes_float(&p->bytes, TYPE_WIDTH[type], what, out);
    uint64_t value = 0;
    int64_t with_sign = 0;
    enum tac_err err;
    if (type == UINT8 || type == UINT16 || type == UINT32) {
        err = tac_bytes_unsigned(&p->bytes, TYPE_WIDTH[type], what, &value);
        *out = (double)value;
    } else {
        err = tac_bytes_signed(&p->bytes, TYPE_WIDTH[type], what, &with_sign);
        *out = (double)with_sign;
    }
    return err;
}

/* A whole number from 0 that indices and lengths can have. */
static enum tac_err read_whole(struct ply *p, enum type type, const char *what, int64_t *out)
{
    char sentence[128];
    double value = 0;
    enum tac_err err = read_value(p, type, what, &value);
    if (err != TAC_OK)
        return err;
    if (!(value >= 0 && value <= 4294967295.0 && value == floor(value))) {
        snprintf(sentence, sizeof sentence, "%s cannot be %g", what, value);
        return fail_here(p, sentence);
    }
    *out = (int64_t)value;
    return TAC_OK;
}

/* A face: its corners fan from the first. */
static enum tac_err read_ply_corners(struct ply *p, const struct property *property)
{
    enum tac_err err = TAC_OK;
    int64_t count = 0, first = 0, last = 0, corner = 0;
    TAC_TRY(read_whole(p, property->count_type, "the number of corners of a face", &count));
    if (count < 3) {
        err = fail_here(p, "a face needs at least 3 corners");
        goto done;
    }
    for (int64_t k = 0; k < count; k++) {
        TAC_TRY(read_whole(p, property->type, "a corner of a face", &corner));
        if (k == 0)
            first = corner;
        else if (k > 1)
            TAC_TRY(tac_builder_triangle(p->b, first, last, corner));
        last = corner;
    }
done:
    return err;
}

static enum tac_err step_over(struct ply *p, const struct property *property)
{
    enum tac_err err = TAC_OK;
    int64_t count = 1;
    double value;
    if (property->count_type != NO_TYPE)
        TAC_TRY(read_whole(p, property->count_type, "the length of a list", &count));
    if (!p->ascii)
        return tac_bytes_skip(&p->bytes, (uint64_t)count * (uint64_t)TYPE_WIDTH[property->type], "a property");
    for (int64_t k = 0; k < count; k++)
        TAC_TRY(tac_text_any_word(&p->text).size > 0
                    ? TAC_OK
                    : read_value(p, property->type, "the value of a property", &value));
done:
    return err;
}

static enum tac_err read_one(struct ply *p, const struct element *e)
{
    enum tac_err err = TAC_OK;
    double x[3] = {0, 0, 0};
    int64_t end[2] = {0, 0};
    for (size_t i = e->property_begin; i < e->property_end; i++) {
        const struct property *property = &p->property[i];
        if (property->role == CORNERS)
            TAC_TRY(read_ply_corners(p, property));
        else if (property->role == X || property->role == Y || property->role == Z)
            TAC_TRY(read_value(p, property->type, "a coordinate of a vertex", &x[property->role - X]));
        else if (property->role == END1 || property->role == END2)
            TAC_TRY(read_whole(p, property->type, "an end of an edge", &end[property->role - END1]));
        else
            TAC_TRY(step_over(p, property));
    }
    if (e->kind == VERTEX)
        TAC_TRY(tac_builder_vertex(p->b, x[0], x[1], x[2]));
    else if (e->kind == EDGE)
        TAC_TRY(tac_builder_segment(p->b, end[0], end[1]));
done:
    return err;
}

static enum tac_err read_data(struct ply *p)
{
    enum tac_err err = TAC_OK;
    for (size_t i = 0; i < p->element_count; i++) {
        const struct element *e = &p->element[i];
        /* An element without properties takes no space: its count proves nothing and is not looped over. */
        if (e->property_begin == e->property_end)
            continue;
        for (int64_t k = 0; k < e->count; k++) {
            if (p->ascii)
                tac_text_seek(&p->text);
            p->b->place = p->ascii ? p->text.line : (int64_t)p->bytes.at;
            TAC_TRY(read_one(p, e));
        }
    }
    if (p->ascii ? tac_text_any_word(&p->text).size > 0 : tac_bytes_left(&p->bytes) > 0)
        tac_warn(p->b->ctx, "%s: more follows after the last element that its header announces; it is left out",
                 p->b->where);
done:
    return err;
}

enum tac_err tac_read_ply(const struct tac_file *file, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct ply p = {.b = b, .text = tac_text_begin(file)};
    TAC_TRY(read_header(&p, file));
    b->unit = p.ascii ? "line" : "byte";
    TAC_TRY(read_data(&p));
done:
    free(p.element);
    free(p.property);
    return err;
}
