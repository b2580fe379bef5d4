/* weld.c: vertices that lie nearer to each other than a length become one (mesh.weld): the seams of a file whose parts
 * do not name the same vertices. */
#include "mesh/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tactus/math.h>

/* A table from cells of a grid to the vertices that stay: open addressing, at most half full. A cell is as wide as the
 * length, so nearer vertices lie in the same cell or in a neighbouring one. */
struct grid {
    const double *x; /* borrowed, (vertices, 3) */
    tac_lid *slot;   /* owned, (mask + 1); -1: empty */
    size_t mask;
    double cell; /* m */
};

static void cell_of(const struct grid *g, const double *x, double cell[3])
{
    for (int k = 0; k < 3; k++)
        cell[k] = floor(x[k] / g->cell) + 0.0;
}

static size_t hash_cell(const struct grid *g, const double cell[3])
{
    uint64_t h = 0, bits;
    for (int k = 0; k < 3; k++) {
        const double c = cell[k] + 0.0; /* -0 is +0 */
        memcpy(&bits, &c, sizeof bits);
        h = tac_hash64(h, bits);
    }
    return (size_t)h & g->mask;
}

/* The lowest of the vertices that stay and lie nearer than `weld` to x; `best` if there is no lower one. */
static tac_lid lowest_near(const struct grid *g, const double *x, double weld, tac_lid best)
{
    double middle[3], cell[3], apart[3];
    cell_of(g, x, middle);
    for (int n = 0; n < 27; n++) {
        const int step[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        for (int k = 0; k < 3; k++)
            cell[k] = middle[k] + step[k];
        for (size_t s = hash_cell(g, cell); g->slot[s] >= 0; s = (s + 1) & g->mask) {
            if (g->slot[s] >= best)
                continue;
            tac_sub(apart, x, g->x + 3 * (size_t)g->slot[s]);
            if (sqrt(tac_dot(apart, apart)) < weld)
                best = g->slot[s];
        }
    }
    return best;
}

/* number (vertex_count): which vertex each becomes, itself or a lower one. */
static enum tac_err find_welded(struct tac_builder *b, double weld, tac_lid *number)
{
    enum tac_err err = TAC_OK;
    struct grid g = {.x = b->x, .mask = 1023};
    double largest = 0, cell[3];
    while (g.mask < 2 * b->vertex_count)
        g.mask = 2 * g.mask + 1;
    TAC_TRY(tac_alloc(b->ctx, g.mask + 1, sizeof *g.slot, &g.slot));
    memset(g.slot, 0xff, (g.mask + 1) * sizeof *g.slot);
    for (size_t k = 0; k < 3 * b->vertex_count; k++)
        largest = fmax(largest, fabs(b->x[k]));
    g.cell = fmax(weld, 1e-15 * largest); /* so that numbers of cells are whole */
    for (size_t i = 0; i < b->vertex_count; i++) {
        number[i] = lowest_near(&g, b->x + 3 * i, weld, (tac_lid)i);
        if (number[i] < (tac_lid)i)
            continue;
        cell_of(&g, b->x + 3 * i, cell);
        size_t s = hash_cell(&g, cell);
        while (g.slot[s] >= 0)
            s = (s + 1) & g.mask;
        g.slot[s] = (tac_lid)i;
    }
done:
    free(g.slot);
    return err;
}

/* Renames the vertices of elements, and takes out those that have one twice now; returns how many.  renamed: (`most`)
 * the new number of each old one. */
static size_t rename_elements(int width, size_t *count, tac_lid *element, int64_t *place, const tac_lid *renamed,
                              size_t most)
{
    const size_t w = (size_t)width;
    size_t kept = 0;
    for (size_t e = 0; e < *count; e++) {
        tac_lid v[4];
        bool collapsed = false;
        for (size_t k = 0; k < w; k++) {
            const tac_lid old = element[w * e + k];
            v[k] = old >= 0 && (size_t)old < most ? renamed[old] : old; /* what no vertex has is refused later */
            for (size_t m = 0; m < k; m++)
                collapsed = collapsed || v[m] == v[k];
        }
        if (collapsed)
            continue;
        memcpy(element + w * kept, v, w * sizeof *v);
        if (place != NULL)
            place[kept] = place[e];
        kept++;
    }
    const size_t dropped = *count - kept;
    *count = kept;
    return dropped;
}

enum tac_err tac_builder_weld(struct tac_builder *b, double weld)
{
    enum tac_err err = TAC_OK;
    tac_lid *number = NULL;
    const size_t before = b->vertex_count, elements = b->triangle_count + b->segment_count + b->tetrahedron_count;
    size_t kept = 0, dropped = 0;
    TAC_TRY(tac_check_vertices(b));
    TAC_TRY(tac_alloc(b->ctx, before, sizeof *number, &number));
    TAC_TRY(find_welded(b, weld, number));
    for (size_t i = 0; i < before; i++) {
        if (number[i] < (tac_lid)i) { /* a lower vertex, which has its new number already */
            number[i] = number[number[i]];
            continue;
        }
        memmove(b->x + 3 * kept, b->x + 3 * i, 3 * sizeof *b->x);
        number[i] = (tac_lid)kept++;
    }
    if (kept == before)
        goto done;
    b->vertex_count = kept;
    dropped += rename_elements(3, &b->triangle_count, b->triangle, b->triangle_place, number, before);
    dropped += rename_elements(2, &b->segment_count, b->segment, b->segment_place, number, before);
    dropped += rename_elements(4, &b->tetrahedron_count, b->tetrahedron, b->tetrahedron_place, number, before);
    if (dropped > 0 && dropped == elements) {
        err = tac_fail(b->ctx, TAC_ERR_INPUT, "%s: weld: with %g m every element collapses; make it smaller", b->where,
                       weld);
        goto done;
    }
    tac_warn(b->ctx,
             "%s: weld: %zu of %zu vertices lie nearer than %g m to an earlier one and become that one; %zu elements "
             "have collapsed and are dropped",
             b->where, before - kept, before, weld, dropped);
done:
    free(number);
    return err;
}
