/* read_stl.c: reads STL, ascii and binary. Vertices of equal coordinates are merged, in order of appearance. */
#include "mesh/read.h"

#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* A table from coordinates to vertices: open addressing, at most half full. */
struct merger {
    struct tac_builder *b;
    tac_lid *slot; /* owned, (mask + 1); -1: empty */
    size_t mask;
};

static size_t hash_position(const struct merger *m, const double x[3])
{
    uint64_t h = 0, bits;
    for (int k = 0; k < 3; k++) {
        memcpy(&bits, &x[k], sizeof bits);
        h = tac_hash64(h, bits);
    }
    return (size_t)h & m->mask;
}

/* The slot of the vertex at x, or the empty one where it belongs. */
static size_t find_slot(const struct merger *m, const double x[3])
{
    size_t s = hash_position(m, x);
    while (m->slot[s] >= 0 && memcmp(m->b->x + 3 * (size_t)m->slot[s], x, 3 * sizeof *x) != 0)
        s = (s + 1) & m->mask;
    return s;
}

static enum tac_err grow(struct merger *m)
{
    enum tac_err err = TAC_OK;
    const size_t size = m->slot == NULL ? 1024 : 2 * (m->mask + 1);
    tac_lid *slot = NULL;
    TAC_TRY(tac_alloc(m->b->ctx, size, sizeof *slot, &slot));
    free(m->slot);
    m->slot = slot;
    m->mask = size - 1;
    memset(slot, 0xff, size * sizeof *slot);
    for (size_t i = 0; i < m->b->vertex_count; i++)
        slot[find_slot(m, m->b->x + 3 * i)] = (tac_lid)i;
done:
    return err;
}

static enum tac_err merge_vertices(struct merger *m, const double corner[3], int64_t *out)
{
    enum tac_err err = TAC_OK;
    /* -0 is +0, here as in the builder, or the two would not merge. */
    const double x[3] = {corner[0] + 0.0, corner[1] + 0.0, corner[2] + 0.0};
    if (m->slot == NULL || 2 * (m->b->vertex_count + 1) > m->mask)
        TAC_TRY(grow(m));
    const size_t s = find_slot(m, x);
    if (m->slot[s] < 0) {
        m->slot[s] = (tac_lid)m->b->vertex_count;
        TAC_TRY(tac_builder_vertex(m->b, x[0], x[1], x[2]));
    }
    *out = m->slot[s];
done:
    return err;
}

static enum tac_err expect(struct tac_text *t, const char *keyword)
{
    char text[48];
    const struct tac_word word = tac_text_any_word(t);
    if (tac_word_is_nocase(word, keyword))
        return TAC_OK;
    if (word.size == 0)
        return tac_text_fail(t, "the file ends where '%s' should follow; it is cut off", keyword);
    return tac_text_fail(t, "expected '%s', not '%s'", keyword, tac_word_show(word, text));
}

/* "facet" has been read. */
static enum tac_err text_facet(struct tac_text *t, struct merger *m)
{
    static const char *const coordinate[3] = {"x of a vertex", "y of a vertex", "z of a vertex"};
    enum tac_err err = TAC_OK;
    int64_t v[3];
    double x[3];
    m->b->place = t->line;
    TAC_TRY(expect(t, "normal"));
    for (int k = 0; k < 3; k++)
        tac_text_any_word(t); /* the vertices say it better; some programs write nan here */
    TAC_TRY(expect(t, "outer"));
    TAC_TRY(expect(t, "loop"));
    for (int corner = 0; corner < 3; corner++) {
        TAC_TRY(expect(t, "vertex"));
        for (int k = 0; k < 3; k++)
            TAC_TRY(tac_text_number(t, tac_text_any_word(t), coordinate[k], &x[k]));
        TAC_TRY(merge_vertices(m, x, &v[corner]));
    }
    TAC_TRY(expect(t, "endloop"));
    TAC_TRY(expect(t, "endfacet"));
    TAC_TRY(tac_builder_triangle(m->b, v[0], v[1], v[2]));
done:
    return err;
}

enum tac_err tac_read_stl_text(const struct tac_file *file, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct tac_text t = tac_text_begin(file);
    struct merger m = {.b = b};
    bool inside = false;
    char text[48];
    b->unit = "line";
    for (struct tac_word word = tac_text_any_word(&t); word.size > 0; word = tac_text_any_word(&t)) {
        if (inside && tac_word_is_nocase(word, "facet")) {
            TAC_TRY(text_facet(&t, &m));
        } else if (tac_word_is_nocase(word, inside ? "endsolid" : "solid")) {
            inside = !inside;
            tac_text_next_line(&t); /* the rest of the line is a name */
        } else {
            err = tac_text_fail(&t, "expected %s, not '%s'", inside ? "'facet' or 'endsolid'" : "'solid'",
                                tac_word_show(word, text));
            goto done;
        }
    }
    if (inside)
        err = tac_text_fail(&t, "the file ends without 'endsolid'; it is cut off");
done:
    free(m.slot);
    return err;
}

enum tac_err tac_read_stl_binary(const struct tac_file *file, struct tac_builder *b)
{
    enum tac_err err = TAC_OK;
    struct tac_bytes bytes = tac_bytes_begin(file, 0, false);
    struct merger m = {.b = b};
    uint64_t count = 0;
    b->unit = "facet";
    TAC_TRY(tac_bytes_skip(&bytes, 80, "the header of a binary STL file"));
    TAC_TRY(tac_bytes_unsigned(&bytes, 4, "the number of facets", &count));
    if (tac_bytes_left(&bytes) < 50 * count) {
        err = tac_bytes_fail(
            &bytes, "%" PRIu64 " facets need %" PRIu64 " more bytes, but %zu follow; the file is cut off or no STL",
            count, 50 * count, tac_bytes_left(&bytes));
        goto done;
    }
    if (tac_bytes_left(&bytes) > 50 * count)
        tac_warn(b->ctx, "%s: %zu bytes after the last of %" PRIu64 " facets are left out", file->path,
                 tac_bytes_left(&bytes) - (size_t)(50 * count), count);
    for (uint64_t f = 0; f < count; f++) {
        int64_t v[3];
        double x[3];
        b->place = (int64_t)f;
        TAC_TRY(tac_bytes_skip(&bytes, 12, "a facet"));
        for (int corner = 0; corner < 3; corner++) {
            for (int k = 0; k < 3; k++)
                TAC_TRY(tac_bytes_float(&bytes, 4, "a facet", &x[k]));
            TAC_TRY(merge_vertices(&m, x, &v[corner]));
        }
        TAC_TRY(tac_bytes_skip(&bytes, 2, "a facet"));
        TAC_TRY(tac_builder_triangle(b, v[0], v[1], v[2]));
    }
done:
    free(m.slot);
    return err;
}
