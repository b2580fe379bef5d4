/* Gmsh .msh 2.x and 4.1, ascii and binary of either byte order: nodes, lines, triangles, and quadrangles as two
 * triangles each. */
#include "mesh/read.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int64_t tag;
    tac_lid vertex;
};

struct gmsh {
    struct tac_builder *b;
    const struct tac_file *file; /* borrowed */
    struct tac_text text;        /* where we are, outside binary data */
    struct tac_bytes bytes;      /* where we are, inside */
    bool binary, version4, has_format, has_nodes, has_elements;
    struct node *node; /* owned; sorted by tag once all are read */
    size_t node_count, node_capacity;
    int64_t volumes; /* elements left out */
};

/* Element types by number: how many nodes, and what becomes of them. */
enum fate { UNKNOWN, KEEP_LINE, KEEP_TRIANGLE, KEEP_QUAD, LEAVE_OUT, COUNT_VOLUME, TOO_HIGH };
static const struct {
    unsigned char nodes, fate;
} ELEMENT_TYPE[94] = {
    [1] = {2, KEEP_LINE},       [2] = {3, KEEP_TRIANGLE},  [3] = {4, KEEP_QUAD},      [4] = {4, COUNT_VOLUME},
    [5] = {8, COUNT_VOLUME},    [6] = {6, COUNT_VOLUME},   [7] = {5, COUNT_VOLUME},   [8] = {3, TOO_HIGH},
    [9] = {6, TOO_HIGH},        [10] = {9, TOO_HIGH},      [11] = {10, COUNT_VOLUME}, [12] = {27, COUNT_VOLUME},
    [13] = {18, COUNT_VOLUME},  [14] = {14, COUNT_VOLUME}, [15] = {1, LEAVE_OUT},     [16] = {8, TOO_HIGH},
    [17] = {20, COUNT_VOLUME},  [18] = {15, COUNT_VOLUME}, [19] = {13, COUNT_VOLUME}, [20] = {9, TOO_HIGH},
    [21] = {10, TOO_HIGH},      [22] = {12, TOO_HIGH},     [23] = {15, TOO_HIGH},     [24] = {15, TOO_HIGH},
    [25] = {21, TOO_HIGH},      [26] = {4, TOO_HIGH},      [27] = {5, TOO_HIGH},      [28] = {6, TOO_HIGH},
    [29] = {20, COUNT_VOLUME},  [30] = {35, COUNT_VOLUME}, [31] = {56, COUNT_VOLUME}, [92] = {64, COUNT_VOLUME},
    [93] = {125, COUNT_VOLUME},
};

static enum tac_err fail_here(const struct gmsh *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

static enum tac_err fail_here(const struct gmsh *g, const char *format, ...)
{
    char sentence[256];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return g->binary ? tac_bytes_fail(&g->bytes, "%s", sentence) : tac_text_fail(&g->text, "%s", sentence);
}

/* `int` and `size_t` of the format. */
static enum tac_err read_int(struct gmsh *g, const char *what, int64_t *out)
{
    if (!g->binary)
        return tac_text_integer(&g->text, tac_text_any_word(&g->text), what, out);
    return tac_bytes_signed(&g->bytes, 4, what, out);
}

static enum tac_err read_size(struct gmsh *g, const char *what, int64_t *out)
{
    if (!g->binary)
        return tac_text_integer(&g->text, tac_text_any_word(&g->text), what, out);
    return tac_bytes_signed(&g->bytes, 8, what, out);
}

static enum tac_err read_double(struct gmsh *g, const char *what, double *out)
{
    if (!g->binary)
        return tac_text_number(&g->text, tac_text_any_word(&g->text), what, out);
    return tac_bytes_float(&g->bytes, 8, what, out);
}

static enum tac_err read_count(struct gmsh *g, const char *what, int64_t *out)
{
    enum tac_err err = read_size(g, what, out);
    if (err == TAC_OK && *out < 0)
        err = fail_here(g, "a count cannot be %" PRId64, *out);
    return err;
}

/* From lines to bytes and back. The line number is not kept through binary data. */
static void enter_data(struct gmsh *g)
{
    g->bytes.at = (size_t)(g->text.at - g->file->data);
}

static void leave_data(struct gmsh *g)
{
    if (g->binary)
        g->text.at = g->file->data + g->bytes.at;
}

static enum tac_err read_format(struct gmsh *g)
{
    enum tac_err err = TAC_OK;
    char text[48];
    double version = 0;
    int64_t type = 0, width = 0;
    const struct tac_word word = tac_text_any_word(&g->text);
    TAC_TRY(tac_text_number(&g->text, word, "the version", &version));
    TAC_TRY(tac_text_integer(&g->text, tac_text_word(&g->text), "the file type", &type));
    TAC_TRY(tac_text_integer(&g->text, tac_text_word(&g->text), "the data size", &width));
    g->version4 = version == 4.1;
    if (!g->version4 && !(version >= 2 && version < 3)) {
        err = tac_text_fail(&g->text, "version %s of the format is not read; save as version 4.1 or 2.2",
                            tac_word_show(word, text));
        goto done;
    }
    if ((type != 0 && type != 1) || width != 8) {
        err = tac_text_fail(
            &g->text, "the file type must be 0 (ascii) or 1 (binary) and the data size 8, not %" PRId64 " and %" PRId64,
            type, width);
        goto done;
    }
    if (type == 1) {
        int64_t one = 0;
        tac_text_next_line(&g->text);
        g->binary = true;
        enter_data(g);
        TAC_TRY(read_int(g, "the mark of the byte order", &one));
        if (one == 1 << 24) {
            g->bytes.big_endian = true;
        } else if (one != 1) {
            err = fail_here(g, "the mark of the byte order is %" PRId64 ", not 1", one);
            goto done;
        }
        leave_data(g);
    }
    g->b->unit = g->binary ? "byte" : "line";
    g->has_format = true;
done:
    return err;
}

static enum tac_err add_tag(struct gmsh *g, int64_t tag)
{
    enum tac_err err = TAC_OK;
    if (g->node_count >= (size_t)TAC_MESH_LIMIT) {
        err = fail_here(g, "more nodes than one mesh may have (%" PRId64 ")", TAC_MESH_LIMIT);
        goto done;
    }
    TAC_TRY(tac_grow(g->b->ctx, &g->node, &g->node_capacity, g->node_count + 1, sizeof *g->node));
    g->node[g->node_count] = (struct node){tag, (tac_lid)g->node_count};
    g->node_count++;
done:
    return err;
}

static enum tac_err add_point(struct gmsh *g)
{
    enum tac_err err = TAC_OK;
    double x[3];
    for (int k = 0; k < 3; k++)
        TAC_TRY(read_double(g, "a coordinate of a node", &x[k]));
    TAC_TRY(tac_builder_vertex(g->b, x[0], x[1], x[2]));
done:
    return err;
}

/* The count on a line of its own, text also in binary files of version 2. */
static enum tac_err read_count_line(struct gmsh *g, const char *what, int64_t *count)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_text_integer(&g->text, tac_text_any_word(&g->text), what, count));
    if (*count < 0) {
        err = tac_text_fail(&g->text, "%s cannot be %" PRId64, what, *count);
        goto done;
    }
    if (g->binary) {
        tac_text_next_line(&g->text);
        enter_data(g);
    }
done:
    return err;
}

static enum tac_err read_nodes2(struct gmsh *g)
{
    enum tac_err err = TAC_OK;
    int64_t count = 0, tag = 0;
    TAC_TRY(read_count_line(g, "the number of nodes", &count));
    for (int64_t i = 0; i < count; i++) {
        TAC_TRY(read_int(g, "the number of a node", &tag));
        TAC_TRY(add_tag(g, tag));
        TAC_TRY(add_point(g));
    }
done:
    return err;
}

static enum tac_err read_nodes4(struct gmsh *g)
{
    enum tac_err err = TAC_OK;
    int64_t blocks = 0, total = 0, unused = 0;
    enter_data(g);
    TAC_TRY(read_count(g, "the number of node blocks", &blocks));
    TAC_TRY(read_count(g, "the number of nodes", &total));
    TAC_TRY(read_size(g, "the smallest node tag", &unused));
    TAC_TRY(read_size(g, "the largest node tag", &unused));
    for (int64_t block = 0; block < blocks; block++) {
        int64_t dimension = 0, parametric = 0, count = 0, tag = 0;
        double parameter;
        TAC_TRY(read_int(g, "the dimension of an entity", &dimension));
        TAC_TRY(read_int(g, "the tag of an entity", &unused));
        TAC_TRY(read_int(g, "whether nodes are parametric", &parametric));
        TAC_TRY(read_count(g, "the number of nodes of a block", &count));
        if (dimension < 0 || dimension > 3) {
            err = fail_here(g, "the dimension of an entity is 0 to 3, not %" PRId64, dimension);
            goto done;
        }
        for (int64_t i = 0; i < count; i++) {
            TAC_TRY(read_size(g, "the tag of a node", &tag));
            TAC_TRY(add_tag(g, tag));
        }
        for (int64_t i = 0; i < count; i++) {
            TAC_TRY(add_point(g));
            for (int64_t k = 0; parametric != 0 && k < dimension; k++)
                TAC_TRY(read_double(g, "a parameter of a node", &parameter));
        }
    }
    if (total != (int64_t)g->node_count)
        err = fail_here(g, "the blocks do not hold as many nodes as announced, %" PRId64, total);
done:
    return err;
}

static int by_tag(const void *a, const void *b)
{
    const struct node *p = a, *q = b;
    if (p->tag != q->tag)
        return p->tag < q->tag ? -1 : 1;
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

static enum tac_err sort_nodes(struct gmsh *g)
{
    size_t i = 1;
    while (i < g->node_count && g->node[i - 1].tag < g->node[i].tag)
        i++;
    if (i < g->node_count)
        qsort(g->node, g->node_count, sizeof *g->node, by_tag);
    for (i = 1; i < g->node_count; i++) {
        if (g->node[i - 1].tag == g->node[i].tag)
            return fail_here(g, "node %" PRId64 " is there twice", g->node[i].tag);
    }
    return TAC_OK;
}

static enum tac_err find_node(const struct gmsh *g, int64_t tag, int64_t *vertex)
{
    /* Nearly always the tags are 1, 2, 3, ... */
    if (tag >= 1 && tag <= (int64_t)g->node_count && g->node[tag - 1].tag == tag) {
        *vertex = g->node[tag - 1].vertex;
        return TAC_OK;
    }
    const struct node key = {tag, 0};
    size_t low = 0, high = g->node_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (g->node[middle].tag < key.tag)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == g->node_count || g->node[low].tag != tag)
        return fail_here(g, "an element names node %" PRId64 ", which does not exist", tag);
    *vertex = g->node[low].vertex;
    return TAC_OK;
}

static enum tac_err check_type(const struct gmsh *g, int64_t type)
{
    if (type < 0 || type >= (int64_t)(sizeof ELEMENT_TYPE / sizeof ELEMENT_TYPE[0]) ||
        ELEMENT_TYPE[type].fate == UNKNOWN)
        return fail_here(g, "there is no element type %" PRId64 " that is known here", type);
    if (ELEMENT_TYPE[type].fate == TOO_HIGH)
        return fail_here(g, "element type %" PRId64 " is curved; save the mesh with elements of order 1", type);
    return TAC_OK;
}

/* The nodes of an element of a checked type. */
static enum tac_err read_corners(struct gmsh *g, int64_t type)
{
    enum tac_err err = TAC_OK;
    int64_t tag = 0, v[4] = {0};
    const enum fate fate = (enum fate)ELEMENT_TYPE[type].fate;
    for (int k = 0; k < ELEMENT_TYPE[type].nodes; k++) {
        TAC_TRY(g->version4 ? read_size(g, "a node of an element", &tag) : read_int(g, "a node of an element", &tag));
        if (fate == KEEP_LINE || fate == KEEP_TRIANGLE || fate == KEEP_QUAD)
            TAC_TRY(find_node(g, tag, &v[k]));
    }
    if (fate == KEEP_LINE)
        TAC_TRY(tac_builder_segment(g->b, v[0], v[1]));
    if (fate == KEEP_TRIANGLE || fate == KEEP_QUAD)
        TAC_TRY(tac_builder_triangle(g->b, v[0], v[1], v[2]));
    if (fate == KEEP_QUAD)
        TAC_TRY(tac_builder_triangle(g->b, v[0], v[2], v[3]));
    g->volumes += fate == COUNT_VOLUME;
done:
    return err;
}

static void note_place(struct gmsh *g)
{
    if (!g->binary)
        tac_text_seek(&g->text);
    g->b->place = g->binary ? (int64_t)g->bytes.at : g->text.line;
}

/* A block of `count` elements with `tags` tags each; in ascii files every element is a block of its own. */
static enum tac_err read_block2(struct gmsh *g, int64_t type, int64_t count, int64_t tags)
{
    enum tac_err err = TAC_OK;
    int64_t unused = 0;
    TAC_TRY(check_type(g, type));
    if (tags < 0) {
        err = fail_here(g, "an element cannot have %" PRId64 " tags", tags);
        goto done;
    }
    for (int64_t i = 0; i < count; i++) {
        if (g->binary) {
            note_place(g);
            TAC_TRY(read_int(g, "the number of an element", &unused));
        }
        for (int64_t k = 0; k < tags; k++)
            TAC_TRY(read_int(g, "a tag of an element", &unused));
        TAC_TRY(read_corners(g, type));
    }
done:
    return err;
}

static enum tac_err read_elements2(struct gmsh *g)
{
    enum tac_err err = TAC_OK;
    int64_t total = 0, type = 0, tags = 0;
    TAC_TRY(read_count_line(g, "the number of elements", &total));
    for (int64_t done_so_far = 0; done_so_far < total;) {
        int64_t count = 1, unused = 0;
        note_place(g);
        if (!g->binary)
            TAC_TRY(read_int(g, "the number of an element", &unused));
        TAC_TRY(read_int(g, "the type of an element", &type));
        if (g->binary)
            TAC_TRY(read_int(g, "the number of elements of a block", &count));
        TAC_TRY(read_int(g, "the number of tags", &tags));
        if (count < 1 || count > total - done_so_far) {
            err = fail_here(g, "a block cannot have %" PRId64 " elements: none, or more than are announced", count);
            goto done;
        }
        TAC_TRY(read_block2(g, type, count, tags));
        done_so_far += count;
    }
done:
    return err;
}

static enum tac_err read_elements4(struct gmsh *g)
{
    enum tac_err err = TAC_OK;
    int64_t blocks = 0, total = 0, unused = 0, seen = 0;
    enter_data(g);
    TAC_TRY(read_count(g, "the number of element blocks", &blocks));
    TAC_TRY(read_count(g, "the number of elements", &total));
    TAC_TRY(read_size(g, "the smallest element tag", &unused));
    TAC_TRY(read_size(g, "the largest element tag", &unused));
    for (int64_t block = 0; block < blocks; block++) {
        int64_t type = 0, count = 0;
        TAC_TRY(read_int(g, "the dimension of an entity", &unused));
        TAC_TRY(read_int(g, "the tag of an entity", &unused));
        TAC_TRY(read_int(g, "the type of elements", &type));
        TAC_TRY(read_count(g, "the number of elements of a block", &count));
        TAC_TRY(check_type(g, type));
        for (int64_t i = 0; i < count; i++, seen++) {
            note_place(g);
            TAC_TRY(read_size(g, "the tag of an element", &unused));
            TAC_TRY(read_corners(g, type));
        }
    }
    if (seen != total)
        err = fail_here(g, "the blocks do not hold as many elements as announced, %" PRId64, total);
done:
    return err;
}

/* To the end mark of a section. `name` is its opening, "$Nodes". */
static enum tac_err end_section(struct gmsh *g, struct tac_word name, bool anywhere)
{
    char mark[64], shown[48], text[48];
    snprintf(mark, sizeof mark, "$End%.*s", (int)(name.size < 50 ? name.size - 1 : 49), name.at + 1);
    tac_word_show((struct tac_word){mark, strlen(mark)}, shown);
    if (!anywhere) {
        const struct tac_word word = tac_text_any_word(&g->text);
        if (tac_word_is(word, mark))
            return TAC_OK;
        return tac_text_fail(&g->text, "expected '%s', not '%s'", shown, tac_word_show(word, text));
    }
    const char *found = memmem(g->text.at, (size_t)(g->text.end - g->text.at), mark, strlen(mark));
    if (found == NULL)
        return tac_text_fail(&g->text, "'%s' does not follow; the file is cut off", shown);
    while (g->text.at < found && tac_text_next_line(&g->text))
        ;
    if (g->text.at < found + strlen(mark))
        g->text.at = found + strlen(mark);
    return TAC_OK;
}

static enum tac_err read_section(struct gmsh *g, struct tac_word name)
{
    enum tac_err err = TAC_OK;
    const bool format = tac_word_is(name, "$MeshFormat"), nodes = tac_word_is(name, "$Nodes");
    const bool elements = tac_word_is(name, "$Elements");
    char text[48];
    if ((format && g->has_format) || (nodes && g->has_nodes) || (elements && g->has_elements)) {
        err = tac_text_fail(&g->text, "section %s is there twice", tac_word_show(name, text));
        goto done;
    }
    if ((nodes && !g->has_format) || (elements && !g->has_nodes)) {
        err = tac_text_fail(&g->text, "section %s comes before %s", tac_word_show(name, text),
                            nodes ? "$MeshFormat" : "$Nodes");
        goto done;
    }
    if (format)
        TAC_TRY(read_format(g));
    if (nodes || elements)
        tac_text_next_line(&g->text); /* binary data begins right after the line's end */
    if (nodes) {
        TAC_TRY(g->version4 ? read_nodes4(g) : read_nodes2(g));
        TAC_TRY(sort_nodes(g));
        g->has_nodes = true;
        leave_data(g);
    }
    if (elements) {
        TAC_TRY(g->version4 ? read_elements4(g) : read_elements2(g));
        g->has_elements = true;
        leave_data(g);
    }
    TAC_TRY(end_section(g, name, !format && !nodes && !elements));
done:
    return err;
}

enum tac_err tac_read_gmsh(const struct tac_file *file, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct gmsh g = {.b = b, .file = file, .text = tac_text_begin(file), .bytes = tac_bytes_begin(file, 0, false)};
    char text[48];
    for (struct tac_word word = tac_text_any_word(&g.text); word.size > 0; word = tac_text_any_word(&g.text)) {
        if (word.at[0] != '$' || word.size < 2) {
            err = tac_text_fail(&g.text, "expected a section such as $Nodes, not '%s'", tac_word_show(word, text));
            goto done;
        }
        TAC_TRY(read_section(&g, word));
    }
    if (!g.has_nodes) {
        err = tac_text_fail(&g.text, "the file has no $%s section; it is cut off or no mesh",
                            g.has_format ? "Nodes" : "MeshFormat");
        goto done;
    }
    if (g.volumes > 0)
        tac_warn(b->ctx, "%s: %" PRId64 " volume elements are left out; only triangles, quadrangles and lines are read",
                 file->path, g.volumes);
done:
    free(g.node);
    return err;
}
