/* read_obj.c: reads Wavefront OBJ: v, f (polygons fan from their first vertex), l (polylines become segments). */
#include "mesh/read.h"

#include <string.h>

/* Keywords that carry nothing a mesh needs. Free-form curves and surfaces are not among them: leaving those out would
 * silently lose geometry. */
static const char *const PASSED_OVER[] = {
    "vt",  "vn",         "vp",        "p",     "g",        "s",        "o",      "mg",  "usemtl", "mtllib",
    "lod", "usemap",     "maplib",    "bevel", "c_interp", "d_interp", "cstype", "deg", "bmat",   "step",
    "end", "shadow_obj", "trace_obj", "ctech", "stech",    "con",      "call",   "csh", "scmp",
};

static enum tac_err read_vertex(struct tac_text *t, struct tac_builder *b)
{
    static const char *const name[3] = {"x of a vertex", "y of a vertex", "z of a vertex"};
    enum tac_err err = TAC_OK;
    double x[3], more;
    for (int k = 0; k < 3; k++)
        TAC_TRY(tac_text_number(t, tac_text_word(t), name[k], &x[k]));
    /* A weight or a colour may follow. */
    for (struct tac_word word = tac_text_word(t); word.size > 0 && word.at[0] != '#'; word = tac_text_word(t))
        TAC_TRY(tac_text_number(t, word, "what follows x y z", &more));
    TAC_TRY(tac_builder_vertex(b, x[0], x[1], x[2]));
done:
    return err;
}

/* The vertex of a corner "v", "v/t", "v//n" or "v/t/n", counted from 0. */
static enum tac_err read_corner(const struct tac_text *t, struct tac_word word, const struct tac_builder *b,
                                int64_t *out)
{
    struct tac_word first = {word.at, 0};
    char text[48];
    while (first.size < word.size && first.at[first.size] != '/')
        first.size++;
    for (size_t i = first.size; i < word.size; i++) {
        if (strchr("0123456789/-", word.at[i]) == NULL || word.at[i] == '\0')
            return tac_text_fail(t, "'%s' is no corner of the form v, v/t, v//n or v/t/n", tac_word_show(word, text));
    }
    int64_t index = 0;
    enum tac_err err = tac_text_integer(t, first, "the vertex of a corner", &index);
    if (err != TAC_OK)
        return err;
    if (index == 0)
        return tac_text_fail(t, "there is no vertex 0; OBJ counts vertices from 1, and from -1 backwards");
    if (index < -(int64_t)b->vertex_count)
        return tac_text_fail(t, "vertex %" PRId64 " is before the first; %zu vertices stand above this line", index,
                             b->vertex_count);
    *out = index > 0 ? index - 1 : index + (int64_t)b->vertex_count;
    return TAC_OK;
}

static enum tac_err read_obj_element(struct tac_text *t, struct tac_builder *b, bool face)
{
    enum tac_err err = TAC_OK;
    int64_t first = 0, last = 0, corner = 0, count = 0;
    b->place = t->line;
    for (struct tac_word word = tac_text_word(t); word.size > 0 && word.at[0] != '#'; word = tac_text_word(t)) {
        TAC_TRY(read_corner(t, word, b, &corner));
        count++;
        if (count == 1)
            first = corner;
        else if (!face)
            TAC_TRY(tac_builder_segment(b, last, corner));
        else if (count > 2)
            TAC_TRY(tac_builder_triangle(b, first, last, corner));
        last = corner;
    }
    if (count < (face ? 3 : 2))
        err = tac_text_fail(t, "a %s needs at least %d corners, not %" PRId64, face ? "face" : "line", face ? 3 : 2,
                            count);
done:
    return err;
}

enum tac_err tac_read_obj(const struct tac_file *file, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct tac_text t = tac_text_begin(file);
    char text[48];
    t.continuation = true;
    b->unit = "line";
    do {
        const struct tac_word word = tac_text_word(&t);
        bool known = word.size == 0 || word.at[0] == '#';
        if (tac_word_is(word, "v")) {
            TAC_TRY(read_vertex(&t, b));
            known = true;
        } else if (tac_word_is(word, "f") || tac_word_is(word, "fo")) {
            TAC_TRY(read_obj_element(&t, b, true));
            known = true;
        } else if (tac_word_is(word, "l")) {
            TAC_TRY(read_obj_element(&t, b, false));
            known = true;
        }
        for (size_t i = 0; !known && i < sizeof PASSED_OVER / sizeof PASSED_OVER[0]; i++)
            known = tac_word_is(word, PASSED_OVER[i]);
        if (!known) {
            err = tac_text_fail(&t, "'%s' is not read from OBJ files; faces (f), lines (l) and vertices (v) are",
                                tac_word_show(word, text));
            goto done;
        }
    } while (tac_text_next_line(&t));
done:
    return err;
}
