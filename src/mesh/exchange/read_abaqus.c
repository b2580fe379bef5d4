/* read_abaqus.c: Abaqus .inp: the blocks *NODE and *ELEMENT of one part.  Other keywords describe what a scene says
 * itself (materials, sets, steps) and are passed over; those that would bring or move nodes are refused by name. */
#include "mesh/read.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What becomes of an element. */
enum fate { TETRAHEDRON, TRIANGLE, QUAD, LINE };
static const int CORNERS[] = {4, 3, 4, 2};

static const struct {
    const char *type;
    enum fate fate;
} TYPES[] = {
    {"C3D4", TETRAHEDRON}, {"C3D4H", TETRAHEDRON}, {"C3D4T", TETRAHEDRON}, {"S3", TRIANGLE},   {"S3R", TRIANGLE},
    {"S3RS", TRIANGLE},    {"STRI3", TRIANGLE},    {"CPS3", TRIANGLE},     {"CPE3", TRIANGLE}, {"CPE3H", TRIANGLE},
    {"M3D3", TRIANGLE},    {"R3D3", TRIANGLE},     {"SFM3D3", TRIANGLE},   {"S4", QUAD},       {"S4R", QUAD},
    {"S4RS", QUAD},        {"S4R5", QUAD},         {"CPS4", QUAD},         {"CPS4R", QUAD},    {"CPE4", QUAD},
    {"CPE4R", QUAD},       {"M3D4", QUAD},         {"M3D4R", QUAD},        {"R3D4", QUAD},     {"SFM3D4", QUAD},
    {"SFM3D4R", QUAD},     {"T2D2", LINE},         {"T3D2", LINE},         {"T3D2H", LINE},    {"B21", LINE},
    {"B23", LINE},         {"B31", LINE},          {"B33", LINE},          {"R2D2", LINE}};

struct node {
    int64_t tag;
    tac_lid vertex;
};

struct element {
    int64_t line, node[4];
    enum fate fate;
};

struct inp {
    struct tac_builder *b; /* borrowed */
    struct tac_text text;
    bool assembly, instance; /* inside of these blocks */
    struct node *node;       /* owned; sorted by tag once all are read */
    size_t node_count, node_capacity;
    struct element *element; /* owned; nodes may follow their elements, so these wait for the end */
    size_t element_count, element_capacity;
};

/* Returns the next field of this line: the text before the next comma, without blanks around it. *more: a comma
 * follows. */
static struct tac_word next_field(struct tac_text *t, bool *more)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\r'))
        t->at++;
    struct tac_word word = {t->at, 0};
    while (t->at < t->end && *t->at != ',' && *t->at != '\n')
        t->at++;
    word.size = (size_t)(t->at - word.at);
    while (word.size > 0 && strchr(" \t\r", word.at[word.size - 1]) != NULL)
        word.size--;
    *more = t->at < t->end && *t->at == ',';
    t->at += *more;
    return word;
}

/* A line that begins with ** is a comment. */
static bool is_comment(const struct tac_text *t)
{
    return t->end - t->at >= 2 && t->at[0] == '*' && t->at[1] == '*';
}

/* To the next line that is no comment; false at the end of the file. */
static bool next_line(struct tac_text *t)
{
    do {
        if (!tac_text_next_line(t))
            return false;
    } while (is_comment(t));
    return true;
}

/* Is this line a keyword, or are there no data any more? */
static bool at_keyword(const struct tac_text *t)
{
    return t->at >= t->end || *t->at == '*';
}

static bool is_abaqus_blank(const struct tac_text *t)
{
    const char *c = t->at;
    while (c < t->end && strchr(" \t\r", *c) != NULL && *c != '\0')
        c++;
    return c == t->end || *c == '\n';
}

/* "TYPE=C3D4": the value, if that is the name. */
static bool parameter(struct tac_word field, const char *name, struct tac_word *value)
{
    const char *equals = memchr(field.at, '=', field.size);
    if (equals == NULL)
        return false;
    struct tac_word left = {field.at, (size_t)(equals - field.at)};
    while (left.size > 0 && strchr(" \t", left.at[left.size - 1]) != NULL)
        left.size--;
    *value = (struct tac_word){equals + 1, field.size - (size_t)(equals + 1 - field.at)};
    while (value->size > 0 && strchr(" \t", value->at[0]) != NULL) {
        value->at++;
        value->size--;
    }
    return tac_word_is_nocase(left, name);
}

/* What a keyword line says that matters here. */
struct keyword {
    struct tac_word name, type, input, system; /* size 0: not there */
};

/* The keyword under the line's '*', and its parameters; a line that ends with a comma goes on in the next one. */
static struct keyword read_keyword(struct tac_text *t)
{
    struct keyword k = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    bool more;
    t->at++;
    k.name = next_field(t, &more);
    while (more) {
        if (is_abaqus_blank(t) && !next_line(t))
            break;
        const struct tac_word field = next_field(t, &more);
        struct tac_word value;
        if (parameter(field, "TYPE", &value))
            k.type = value;
        if (parameter(field, "INPUT", &value) || parameter(field, "FILE", &value))
            k.input = value;
        if (parameter(field, "SYSTEM", &value))
            k.system = value;
    }
    return k;
}

static enum tac_err read_node(struct inp *r)
{
    static const char *const coordinate[3] = {"x of a node", "y of a node", "z of a node"};
    enum tac_err err = TAC_OK;
    double x[3] = {0, 0, 0};
    int64_t tag = 0;
    bool more;
    TAC_TRY(tac_text_integer(&r->text, next_field(&r->text, &more), "the number of a node", &tag));
    for (int k = 0; k < 3 && more; k++) {
        const struct tac_word word = next_field(&r->text, &more);
        if (word.size > 0) /* an empty field is 0 */
            TAC_TRY(tac_text_number(&r->text, word, coordinate[k], &x[k]));
    }
    TAC_TRY(tac_grow(r->b->ctx, &r->node, &r->node_capacity, r->node_count + 1, sizeof *r->node));
    r->node[r->node_count] = (struct node){tag, (tac_lid)r->node_count};
    r->node_count++;
    TAC_TRY(tac_builder_vertex(r->b, x[0], x[1], x[2]));
done:
    return err;
}

static enum tac_err read_nodes(struct inp *r)
{
    enum tac_err err = TAC_OK;
    bool more = next_line(&r->text);
    for (; more && !at_keyword(&r->text); more = next_line(&r->text))
        if (!is_abaqus_blank(&r->text))
            TAC_TRY(read_node(r));
done:
    return err;
}

/* One element, whose nodes may go on in the next lines. */
static enum tac_err read_abaqus_element(struct inp *r, enum fate fate)
{
    enum tac_err err = TAC_OK;
    struct element e = {.line = r->text.line, .fate = fate};
    int64_t unused = 0;
    bool more;
    TAC_TRY(tac_text_integer(&r->text, next_field(&r->text, &more), "the number of an element", &unused));
    for (int k = 0; k < CORNERS[fate]; k++) {
        if (more && is_abaqus_blank(&r->text) && !(next_line(&r->text) && !at_keyword(&r->text)))
            more = false;
        if (!more) {
            err = tac_text_fail(&r->text, "the element has %d nodes; its type has %d", k, CORNERS[fate]);
            goto done;
        }
        TAC_TRY(tac_text_integer(&r->text, next_field(&r->text, &more), "a node of an element", &e.node[k]));
    }
    if (more && !is_abaqus_blank(&r->text)) {
        err = tac_text_fail(&r->text, "the element has more nodes than its type has, which are %d", CORNERS[fate]);
        goto done;
    }
    if (r->element_count >= (size_t)TAC_MESH_LIMIT) {
        err = tac_text_fail(&r->text, "more elements than one mesh may have (%" PRId64 ")", TAC_MESH_LIMIT);
        goto done;
    }
    TAC_TRY(tac_grow(r->b->ctx, &r->element, &r->element_capacity, r->element_count + 1, sizeof *r->element));
    r->element[r->element_count++] = e;
done:
    return err;
}

static enum tac_err read_elements(struct inp *r, const struct keyword *k)
{
    enum tac_err err = TAC_OK;
    char text[48];
    size_t t = 0;
    while (t < sizeof TYPES / sizeof TYPES[0] && !tac_word_is_nocase(k->type, TYPES[t].type))
        t++;
    if (t == sizeof TYPES / sizeof TYPES[0]) {
        err = k->type.size == 0
                  ? tac_text_fail(&r->text, "*ELEMENT does not say its TYPE; give one such as TYPE=C3D4")
                  : tac_text_fail(&r->text,
                                  "elements of TYPE=%s are not read; tetrahedra (C3D4), triangles (S3, CPS3, M3D3), "
                                  "quadrangles (S4) and lines (T3D2, B31) of first order are",
                                  tac_word_show(k->type, text));
        goto done;
    }
    bool more = next_line(&r->text);
    for (; more && !at_keyword(&r->text); more = next_line(&r->text))
        if (!is_abaqus_blank(&r->text))
            TAC_TRY(read_abaqus_element(r, TYPES[t].fate));
done:
    return err;
}

/* To the next keyword. */
static void skip_data(struct inp *r)
{
    while (next_line(&r->text) && !at_keyword(&r->text))
        ;
}

/* The data lines of *INSTANCE move its part. */
static enum tac_err begin_instance(struct inp *r)
{
    r->instance = true;
    bool more = next_line(&r->text);
    for (; more && !at_keyword(&r->text); more = next_line(&r->text))
        if (!is_abaqus_blank(&r->text))
            return tac_text_fail(&r->text,
                                 "the instance is moved by this line, which is not followed; place the body by "
                                 "\"position\" and \"rotation\" of the scene, and take the line out");
    return TAC_OK;
}

static enum tac_err refuse_keyword(struct inp *r, const struct keyword *k)
{
    static const char *const makers[] = {"NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY", "SYSTEM"};
    char text[48];
    if (tac_word_is_nocase(k->name, "INCLUDE"))
        return tac_text_fail(&r->text, "*INCLUDE of '%s' is not followed; put its lines in its place",
                             tac_word_show(k->input, text));
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
        if (tac_word_is_nocase(k->name, makers[i]))
            return tac_text_fail(&r->text,
                                 "*%s makes or moves nodes or elements, and is not followed; write the file with all "
                                 "of them in *NODE and *ELEMENT",
                                 makers[i]);
    return TAC_OK;
}

static enum tac_err read_block(struct inp *r)
{
    enum tac_err err = TAC_OK;
    char text[48];
    const struct keyword k = read_keyword(&r->text);
    const bool nodes = tac_word_is_nocase(k.name, "NODE"), elements = tac_word_is_nocase(k.name, "ELEMENT");
    const bool mesh = nodes || elements, outside = r->assembly && !r->instance;
    TAC_TRY(refuse_keyword(r, &k));
    if (mesh && k.input.size > 0) {
        err = tac_text_fail(&r->text, "*%s is in another file, '%s', which is not followed; put its lines here",
                            nodes ? "NODE" : "ELEMENT", tac_word_show(k.input, text));
        goto done;
    }
    if (nodes && k.system.size > 0 && !tac_word_is_nocase(k.system, "R")) {
        err =
            tac_text_fail(&r->text, "*NODE has SYSTEM=%s; give rectangular coordinates", tac_word_show(k.system, text));
        goto done;
    }
    r->assembly =
        (r->assembly || tac_word_is_nocase(k.name, "ASSEMBLY")) && !tac_word_is_nocase(k.name, "END ASSEMBLY");
    if (tac_word_is_nocase(k.name, "END INSTANCE"))
        r->instance = false;
    if (tac_word_is_nocase(k.name, "INSTANCE"))
        TAC_TRY(begin_instance(r));
    else if (tac_word_is_nocase(k.name, "PART") && r->node_count > 0)
        err = tac_text_fail(&r->text, "a second part begins; save each part in a file of its own, one for each body");
    else if (nodes && !outside) /* nodes of the assembly itself are reference points */
        err = read_nodes(r);
    else if (elements && !outside)
        err = read_elements(r, &k);
    else
        skip_data(r);
done:
    return err;
}

static int by_abaqus_tag(const void *a, const void *b)
{
    const struct node *p = a, *q = b;
    if (p->tag != q->tag)
        return p->tag < q->tag ? -1 : 1;
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

static enum tac_err find_abaqus_node(struct inp *r, int64_t tag, int64_t *vertex)
{
    const struct node key = {tag, 0};
    size_t low = 0, high = r->node_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (r->node[middle].tag < key.tag)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == r->node_count || r->node[low].tag != tag)
        return tac_text_fail(&r->text, "the element names node %" PRId64 ", which does not exist", tag);
    *vertex = r->node[low].vertex;
    return TAC_OK;
}

/* Now that all nodes are known. */
static enum tac_err add_elements(struct inp *r)
{
    enum tac_err err = TAC_OK;
    if (r->node_count > 0)
        qsort(r->node, r->node_count, sizeof *r->node, by_abaqus_tag);
    for (size_t i = 1; i < r->node_count; i++)
        if (r->node[i - 1].tag == r->node[i].tag) {
            err = tac_fail(r->b->ctx, TAC_ERR_INPUT,
                           "%s: node %" PRId64 " is there twice; save each part in a file of its own", r->text.path,
                           r->node[i].tag);
            goto done;
        }
    for (size_t i = 0; i < r->element_count; i++) {
        const struct element *e = &r->element[i];
        int64_t v[4] = {0};
        r->text.line = r->b->place = e->line;
        for (int k = 0; k < CORNERS[e->fate]; k++)
            TAC_TRY(find_abaqus_node(r, e->node[k], &v[k]));
        if (e->fate == TETRAHEDRON)
            TAC_TRY(tac_builder_tetrahedron(r->b, v));
        if (e->fate == TRIANGLE || e->fate == QUAD)
            TAC_TRY(tac_builder_triangle(r->b, v[0], v[1], v[2]));
        if (e->fate == QUAD)
            TAC_TRY(tac_builder_triangle(r->b, v[0], v[2], v[3]));
        if (e->fate == LINE)
            TAC_TRY(tac_builder_segment(r->b, v[0], v[1]));
    }
done:
    return err;
}

enum tac_err tac_read_abaqus(const struct tac_file *file, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct inp r = {.b = b, .text = tac_text_begin(file)};
    char text[48];
    b->unit = "line";
    bool more = !is_comment(&r.text) || next_line(&r.text);
    while (more && r.text.at < r.text.end) {
        if (is_abaqus_blank(&r.text)) {
            more = next_line(&r.text);
            continue;
        }
        if (!at_keyword(&r.text)) {
            bool unused;
            err = tac_text_fail(&r.text, "expected a keyword such as *NODE, not '%s'",
                                tac_word_show(next_field(&r.text, &unused), text));
            goto done;
        }
        TAC_TRY(read_block(&r));
    }
    if (r.node_count == 0) {
        err = tac_text_fail(&r.text, "the file has no *NODE; it is cut off or no mesh");
        goto done;
    }
    TAC_TRY(add_elements(&r));
done:
    free(r.node);
    free(r.element);
    return err;
}
