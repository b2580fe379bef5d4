/* read_gmsh.c: reads Gmsh .msh 2.x and 4.1, ascii and binary of either byte order: nodes, lines, triangles, quadrangles
 * as two triangles each, and tetrahedra. */
#include "mesh/gmsh.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum tac_err tac_gmsh_fail(const struct tac_gmsh *g, const char *format, ...)
{
    char sentence[256];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return g->binary ? tac_bytes_fail(&g->bytes, "%s", sentence) : tac_text_fail(&g->text, "%s", sentence);
}

/* `int` and `size_t` of the format. */
enum tac_err tac_gmsh_int(struct tac_gmsh *g, const char *what, int64_t *out)
{
    if (!g->binary)
        return tac_text_integer(&g->text, tac_text_any_word(&g->text), what, out);
    return tac_bytes_signed(&g->bytes, 4, what, out);
}

enum tac_err tac_gmsh_size(struct tac_gmsh *g, const char *what, int64_t *out)
{
    if (!g->binary)
        return tac_text_integer(&g->text, tac_text_any_word(&g->text), what, out);
    return tac_bytes_signed(&g->bytes, 8, what, out);
}

enum tac_err tac_gmsh_double(struct tac_gmsh *g, const char *what, double *out)
{
    if (!g->binary)
        return tac_text_number(&g->text, tac_text_any_word(&g->text), what, out);
    return tac_bytes_float(&g->bytes, 8, what, out);
}

enum tac_err tac_gmsh_count(struct tac_gmsh *g, const char *what, int64_t *out)
{
    enum tac_err err = tac_gmsh_size(g, what, out);
    if (err == TAC_OK && *out < 0)
        err = tac_gmsh_fail(g, "a count cannot be %" PRId64, *out);
    return err;
}

void tac_gmsh_enter(struct tac_gmsh *g)
{
    g->bytes.at = (size_t)(g->text.at - g->file->data);
}

/* Back to lines. Line ends among the binary data count too, as they do for an editor. */
static void leave_data(struct tac_gmsh *g)
{
    if (!g->binary)
        return;
    for (const char *end = g->file->data + g->bytes.at; g->text.at < end; g->text.at++)
        g->text.line += *g->text.at == '\n';
}

static enum tac_err read_gmsh_format(struct tac_gmsh *g)
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
        tac_gmsh_enter(g);
        TAC_TRY(tac_gmsh_int(g, "the mark of the byte order", &one));
        if (one == 1 << 24) {
            g->bytes.big_endian = true;
        } else if (one != 1) {
            err = tac_gmsh_fail(g, "the mark of the byte order is %" PRId64 ", not 1", one);
            goto done;
        }
        leave_data(g);
    }
    g->b->unit = g->binary ? "byte" : "line";
    g->has_format = true;
done:
    return err;
}

static enum tac_err add_tag(struct tac_gmsh *g, int64_t tag)
{
    enum tac_err err = TAC_OK;
    if (g->node_count >= (size_t)TAC_MESH_LIMIT) {
        err = tac_gmsh_fail(g, "more nodes than one mesh may have (%" PRId64 ")", TAC_MESH_LIMIT);
        goto done;
    }
    TAC_TRY(tac_grow(g->b->ctx, &g->node, &g->node_capacity, g->node_count + 1, sizeof *g->node));
    g->node[g->node_count] = (struct tac_gmsh_node){tag, (tac_lid)g->node_count};
    g->node_count++;
done:
    return err;
}

static enum tac_err add_point(struct tac_gmsh *g)
{
    enum tac_err err = TAC_OK;
    double x[3];
    for (int k = 0; k < 3; k++)
        TAC_TRY(tac_gmsh_double(g, "a coordinate of a node", &x[k]));
    TAC_TRY(tac_builder_vertex(g->b, x[0], x[1], x[2]));
done:
    return err;
}

/* The count on a line of its own, text also in binary files of version 2. */
enum tac_err tac_gmsh_count_line(struct tac_gmsh *g, const char *what, int64_t *count)
{
    enum tac_err err = TAC_OK;
    TAC_TRY(tac_text_integer(&g->text, tac_text_any_word(&g->text), what, count));
    if (*count < 0) {
        err = tac_text_fail(&g->text, "%s cannot be %" PRId64, what, *count);
        goto done;
    }
    if (g->binary) {
        tac_text_next_line(&g->text);
        tac_gmsh_enter(g);
    }
done:
    return err;
}

static enum tac_err read_nodes2(struct tac_gmsh *g)
{
    enum tac_err err = TAC_OK;
    int64_t count = 0, tag = 0;
    TAC_TRY(tac_gmsh_count_line(g, "the number of nodes", &count));
    for (int64_t i = 0; i < count; i++) {
        TAC_TRY(tac_gmsh_int(g, "the number of a node", &tag));
        TAC_TRY(add_tag(g, tag));
        TAC_TRY(add_point(g));
    }
done:
    return err;
}

static enum tac_err read_nodes4(struct tac_gmsh *g)
{
    enum tac_err err = TAC_OK;
    int64_t blocks = 0, total = 0, unused = 0;
    tac_gmsh_enter(g);
    TAC_TRY(tac_gmsh_count(g, "the number of node blocks", &blocks));
    TAC_TRY(tac_gmsh_count(g, "the number of nodes", &total));
    TAC_TRY(tac_gmsh_size(g, "the smallest node tag", &unused));
    TAC_TRY(tac_gmsh_size(g, "the largest node tag", &unused));
    for (int64_t block = 0; block < blocks; block++) {
        int64_t dimension = 0, parametric = 0, count = 0, tag = 0;
        double parameter;
        TAC_TRY(tac_gmsh_int(g, "the dimension of an entity", &dimension));
        TAC_TRY(tac_gmsh_int(g, "the tag of an entity", &unused));
        TAC_TRY(tac_gmsh_int(g, "whether nodes are parametric", &parametric));
        TAC_TRY(tac_gmsh_count(g, "the number of nodes of a block", &count));
        if (dimension < 0 || dimension > 3) {
            err = tac_gmsh_fail(g, "the dimension of an entity is 0 to 3, not %" PRId64, dimension);
            goto done;
        }
        for (int64_t i = 0; i < count; i++) {
            TAC_TRY(tac_gmsh_size(g, "the tag of a node", &tag));
            TAC_TRY(add_tag(g, tag));
        }
        for (int64_t i = 0; i < count; i++) {
            TAC_TRY(add_point(g));
            for (int64_t k = 0; parametric != 0 && k < dimension; k++)
                TAC_TRY(tac_gmsh_double(g, "a parameter of a node", &parameter));
        }
    }
    if (total != (int64_t)g->node_count)
        err = tac_gmsh_fail(g, "the blocks do not hold as many nodes as announced, %" PRId64, total);
done:
    return err;
}

static int by_gmsh_tag(const void *a, const void *b)
{
    const struct tac_gmsh_node *p = a, *q = b;
    if (p->tag != q->tag)
        return p->tag < q->tag ? -1 : 1;
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

static enum tac_err sort_nodes(struct tac_gmsh *g)
{
    size_t i = 1;
    while (i < g->node_count && g->node[i - 1].tag < g->node[i].tag)
        i++;
    if (i < g->node_count)
        qsort(g->node, g->node_count, sizeof *g->node, by_gmsh_tag);
    for (i = 1; i < g->node_count; i++) {
        if (g->node[i - 1].tag == g->node[i].tag)
            return tac_gmsh_fail(g, "node %" PRId64 " is there twice", g->node[i].tag);
    }
    return TAC_OK;
}
/* To the end mark of a section. `name` is its opening, "$Nodes". */
static enum tac_err end_section(struct tac_gmsh *g, struct tac_word name, bool anywhere)
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

static enum tac_err read_section(struct tac_gmsh *g, struct tac_word name)
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
        TAC_TRY(read_gmsh_format(g));
    if (nodes || elements)
        tac_text_next_line(&g->text); /* binary data begins right after the line's end */
    if (nodes) {
        TAC_TRY(g->version4 ? read_nodes4(g) : read_nodes2(g));
        TAC_TRY(sort_nodes(g));
        g->has_nodes = true;
        leave_data(g);
    }
    if (elements) {
        TAC_TRY(g->version4 ? tac_gmsh_elements4(g) : tac_gmsh_elements2(g));
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
    struct tac_gmsh g = {.b = b, .file = file, .text = tac_text_begin(file), .bytes = tac_bytes_begin(file, 0, false)};
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
done:
    free(g.node);
    return err;
}
