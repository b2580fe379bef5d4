/* read_gmsh_elements.c: elements of a Gmsh file: lines, triangles, quadrangles as two triangles each, and tetrahedra.
 */
#include "mesh/gmsh.h"

/* Element types by number: how many nodes, and what becomes of them. */
enum fate { UNKNOWN, KEEP_LINE, KEEP_TRIANGLE, KEEP_QUAD, KEEP_TETRAHEDRON, LEAVE_OUT, COUNT_VOLUME, TOO_HIGH };
static const struct {
    unsigned char nodes, fate;
} ELEMENT_TYPE[94] = {
    [1] = {2, KEEP_LINE},       [2] = {3, KEEP_TRIANGLE},  [3] = {4, KEEP_QUAD},      [4] = {4, KEEP_TETRAHEDRON},
    [5] = {8, COUNT_VOLUME},    [6] = {6, COUNT_VOLUME},   [7] = {5, COUNT_VOLUME},   [8] = {3, TOO_HIGH},
    [9] = {6, TOO_HIGH},        [10] = {9, TOO_HIGH},      [11] = {10, COUNT_VOLUME}, [12] = {27, COUNT_VOLUME},
    [13] = {18, COUNT_VOLUME},  [14] = {14, COUNT_VOLUME}, [15] = {1, LEAVE_OUT},     [16] = {8, TOO_HIGH},
    [17] = {20, COUNT_VOLUME},  [18] = {15, COUNT_VOLUME}, [19] = {13, COUNT_VOLUME}, [20] = {9, TOO_HIGH},
    [21] = {10, TOO_HIGH},      [22] = {12, TOO_HIGH},     [23] = {15, TOO_HIGH},     [24] = {15, TOO_HIGH},
    [25] = {21, TOO_HIGH},      [26] = {4, TOO_HIGH},      [27] = {5, TOO_HIGH},      [28] = {6, TOO_HIGH},
    [29] = {20, COUNT_VOLUME},  [30] = {35, COUNT_VOLUME}, [31] = {56, COUNT_VOLUME}, [92] = {64, COUNT_VOLUME},
    [93] = {125, COUNT_VOLUME},
};

static enum tac_err find_gmsh_node(const struct tac_gmsh *g, int64_t tag, int64_t *vertex)
{
    /* Nearly always the tags are 1, 2, 3, ... */
    if (tag >= 1 && tag <= (int64_t)g->node_count && g->node[tag - 1].tag == tag) {
        *vertex = g->node[tag - 1].vertex;
        return TAC_OK;
    }
    const struct tac_gmsh_node key = {tag, 0};
    size_t low = 0, high = g->node_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (g->node[middle].tag < key.tag)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == g->node_count || g->node[low].tag != tag)
        return tac_gmsh_fail(g, "an element names node %" PRId64 ", which does not exist", tag);
    *vertex = g->node[low].vertex;
    return TAC_OK;
}

static enum tac_err check_type(const struct tac_gmsh *g, int64_t type)
{
    if (type < 0 || type >= (int64_t)(sizeof ELEMENT_TYPE / sizeof ELEMENT_TYPE[0]) ||
        ELEMENT_TYPE[type].fate == UNKNOWN)
        return tac_gmsh_fail(g, "there is no element type %" PRId64 " that is known here", type);
    if (ELEMENT_TYPE[type].fate == TOO_HIGH)
        return tac_gmsh_fail(g, "element type %" PRId64 " is curved; save the mesh with elements of order 1", type);
    return TAC_OK;
}

/* The nodes of an element of a checked type. */
static enum tac_err read_gmsh_corners(struct tac_gmsh *g, int64_t type)
{
    enum tac_err err = TAC_OK;
    int64_t tag = 0, v[4] = {0};
    const enum fate fate = (enum fate)ELEMENT_TYPE[type].fate;
    for (int k = 0; k < ELEMENT_TYPE[type].nodes; k++) {
        TAC_TRY(g->version4 ? tac_gmsh_size(g, "a node of an element", &tag)
                            : tac_gmsh_int(g, "a node of an element", &tag));
        if (fate >= KEEP_LINE && fate <= KEEP_TETRAHEDRON)
            TAC_TRY(find_gmsh_node(g, tag, &v[k]));
    }
    if (fate == KEEP_LINE)
        TAC_TRY(tac_builder_segment(g->b, v[0], v[1]));
    if (fate == KEEP_TRIANGLE || fate == KEEP_QUAD)
        TAC_TRY(tac_builder_triangle(g->b, v[0], v[1], v[2]));
    if (fate == KEEP_QUAD)
        TAC_TRY(tac_builder_triangle(g->b, v[0], v[2], v[3]));
    if (fate == KEEP_TETRAHEDRON)
        TAC_TRY(tac_builder_tetrahedron(g->b, v));
    g->b->left_out += fate == COUNT_VOLUME;
done:
    return err;
}

static void note_place(struct tac_gmsh *g)
{
    if (!g->binary)
        tac_text_seek(&g->text);
    g->b->place = g->binary ? (int64_t)g->bytes.at : g->text.line;
}

/* A block of `count` elements with `tags` tags each; in ascii files every element is a block of its own. */
static enum tac_err read_block2(struct tac_gmsh *g, int64_t type, int64_t count, int64_t tags)
{
    enum tac_err err = TAC_OK;
    int64_t unused = 0;
    TAC_TRY(check_type(g, type));
    if (tags < 0) {
        err = tac_gmsh_fail(g, "an element cannot have %" PRId64 " tags", tags);
        goto done;
    }
    for (int64_t i = 0; i < count; i++) {
        if (g->binary) {
            note_place(g);
            TAC_TRY(tac_gmsh_int(g, "the number of an element", &unused));
        }
        for (int64_t k = 0; k < tags; k++)
            TAC_TRY(tac_gmsh_int(g, "a tag of an element", &unused));
        TAC_TRY(read_gmsh_corners(g, type));
    }
done:
    return err;
}

enum tac_err tac_gmsh_elements2(struct tac_gmsh *g)
{
    enum tac_err err = TAC_OK;
    int64_t total = 0, type = 0, tags = 0;
    TAC_TRY(tac_gmsh_count_line(g, "the number of elements", &total));
    for (int64_t done_so_far = 0; done_so_far < total;) {
        int64_t count = 1, unused = 0;
        note_place(g);
        if (!g->binary)
            TAC_TRY(tac_gmsh_int(g, "the number of an element", &unused));
        TAC_TRY(tac_gmsh_int(g, "the type of an element", &type));
        if (g->binary)
            TAC_TRY(tac_gmsh_int(g, "the number of elements of a block", &count));
        TAC_TRY(tac_gmsh_int(g, "the number of tags", &tags));
        if (count < 1 || count > total - done_so_far) {
            err = tac_gmsh_fail(g, "a block cannot have %" PRId64 " elements: none, or more than are announced", count);
            goto done;
        }
        TAC_TRY(read_block2(g, type, count, tags));
        done_so_far += count;
    }
done:
    return err;
}

enum tac_err tac_gmsh_elements4(struct tac_gmsh *g)
{
    enum tac_err err = TAC_OK;
    int64_t blocks = 0, total = 0, unused = 0, seen = 0;
    tac_gmsh_enter(g);
    TAC_TRY(tac_gmsh_count(g, "the number of element blocks", &blocks));
    TAC_TRY(tac_gmsh_count(g, "the number of elements", &total));
    TAC_TRY(tac_gmsh_size(g, "the smallest element tag", &unused));
    TAC_TRY(tac_gmsh_size(g, "the largest element tag", &unused));
    for (int64_t block = 0; block < blocks; block++) {
        int64_t type = 0, count = 0;
        TAC_TRY(tac_gmsh_int(g, "the dimension of an entity", &unused));
        TAC_TRY(tac_gmsh_int(g, "the tag of an entity", &unused));
        TAC_TRY(tac_gmsh_int(g, "the type of elements", &type));
        TAC_TRY(tac_gmsh_count(g, "the number of elements of a block", &count));
        TAC_TRY(check_type(g, type));
        for (int64_t i = 0; i < count; i++, seen++) {
            note_place(g);
            TAC_TRY(tac_gmsh_size(g, "the tag of an element", &unused));
            TAC_TRY(read_gmsh_corners(g, type));
        }
    }
    if (seen != total)
        err = tac_gmsh_fail(g, "the blocks do not hold as many elements as announced, %" PRId64, total);
done:
    return err;
}
